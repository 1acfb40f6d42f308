"""The columns of another table that a coding means; indicator columns become one column."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from os.path import commonprefix
from typing import NoReturn

import numpy as np

from isinglass.data.column import Column
from isinglass.data.meaning.coding import Coding
from isinglass.data.meaning.redundancy import indicator_sets
from isinglass.data.meaning.rules import ABSENT, BITS, UNKNOWN, Levels, apply_rule
from isinglass.data.source import Source
from isinglass.errors import DataError, DataWarning, setting, warn
from isinglass.names import unused_name

Indicators = Mapping[str, str]
"""Indicator columns of one variable, with the category for which each stands."""


def take_columns(source: Source, coding: Coding) -> Source:
    """Return the columns that a coding means, in its order: by name, or else by number in a table of equal width.

    An array, or columns that options chose from a file, may also be these columns alone, in this order.
    """
    if source.names is not None and coding.names is not None:
        is_renamed = source.layout.names not in (None, source.names)  # by the user: as in the coding
        called = coding.called[::-1] if is_renamed else coding.called
        found = source.take(find_columns(called, source.names))
    else:
        found = _take_by_number(source, coding)
    if coding.has_indicators:
        return _join_indicators(found, coding)
    return found if source.names is None or coding.names is None else replace(found, names=coding.names)


def _take_by_number(source: Source, coding: Coding) -> Source:
    """Return the columns that a coding means by number."""
    n = len(coding.called[0]) if coding.has_indicators else len(coding.columns)
    numbers, width = coding.layout.numbers or range(n), coding.layout.width or n
    places = {place: j for j, place in enumerate(source.origin.places)}
    are_alone = source.shape[1] == n and (not source.is_file or source.chosen_from is not None)
    is_alike = source.origin.width == width and places.keys() >= set(numbers)
    if are_alone and not (source.is_file and is_alike):
        return source
    if not is_alike:
        _refuse_width(source, n, width)
    order = [places[j] for j in numbers]
    if order == list(range(source.shape[1])):
        return source
    return source.choose(order) if source.is_file else source.take(order)


def _refuse_width(source: Source, n: int, width: int) -> NoReturn:
    """Say that columns without names cannot be found in a table of another width."""
    choose = setting("columns", python="columns=[…]") if source.is_file else "X[:, […]]"
    others = f", or all {width} that these were chosen from" if width > n else ""
    first = "the table that was read first" if source.is_part else "the fitted table or network"
    here, all_columns = source.shape[1], source.origin.width
    got = f"{here} of {all_columns}" if here < all_columns else f"{all_columns}"
    raise DataError(
        f"{setting('X')} must have the {n} columns of {first}{others}; got {got}. Without names, columns are found by "
        f"number, in a table of equal width: choose the {n} columns in their order ({choose}), or give names to both."
    )


def comparable_names(
    names: Sequence[str] | None, known: Sequence[str] | None, width: int
) -> tuple[Sequence[str] | None, Sequence[str] | None]:
    """Return the names of a frame and those of the table it is read like, None where there are none.

    In order, the labels 0, 1, 2, … of a frame are no names. They are names where the other side has them in another
    order: then they say which column is which.
    """
    counted = [str(place) for place in range(width)]
    if names is None:
        return (counted if known is not None and {*known} <= {*counted} else None), known
    return names, counted if known is None and {*names} == {*counted} else known


def find_columns(called: Sequence[Sequence[str]], names: Sequence[str]) -> list[int]:
    """Return the places of columns among the names of a table; ``called``: what they may be called, likeliest first."""
    places = {name: place for place, name in enumerate(names)}
    for wanted in called:
        if places.keys() >= set(wanted):
            return [places[name] for name in wanted]
    absent = next(name for name in called[-1] if name not in places)
    raise DataError(f"{setting('X')} must have the columns of the fitted table; {absent!r} cannot be found.")


def combine_indicators(source: Source, missing: str) -> tuple[Source, tuple[Indicators, ...]]:
    """Return a table in which every set of indicator columns is one nominal column, and what each column is made of.

    The column stands where the first indicator was, and is called after the common part of their names. Rows in which
    no indicator is 1 have a category of their own.
    """
    if source.names is None or source.layout.names is not None:
        raise DataError(
            f"{setting('combine_indicators')} needs the names of the columns as the table has them. Give an array or "
            "a file without a header some names; leave out other names for columns that have some."
        )
    columns = map(source.column, range(source.shape[1]))
    codes = np.stack([apply_rule(BITS, column) for column in columns], axis=1)
    sets = indicator_sets(np.asarray(codes == 1, dtype=np.uint8), (codes != UNKNOWN).all(axis=0))
    if not sets:
        warn(DataWarning(f"{setting('combine_indicators', True)} found no set of indicator columns of 0 and 1."))
    combined = set(chain(*sets))
    groups = sorted([*sets, *([j] for j in range(source.shape[1]) if j not in combined)])
    names, taken = list[str](), {name for j, name in enumerate(source.names) if j not in combined}
    indicators, words = list[Indicators](), list[list[str]]()
    for group in groups:
        name, made_of = source.names[group[0]], dict[str, str]()
        if len(group) > 1:
            members = [source.names[j] for j in group]
            common, of_members = split_names(members)
            name, made_of = unused_name(common, taken), dict(zip(members, of_members, strict=True))
        taken.add(name)
        names.append(name)
        indicators.append(made_of)
        has_one = (codes[:, group] == 1) | ((codes[:, group] == ABSENT) & (missing != "zero"))
        other = [] if has_one.any(axis=1).all() or not made_of else [unused_name("other", list(made_of.values()))]
        words.append([*made_of.values(), *other])
    ordered, bits = source.take(list(chain(*groups))), [BITS] * len(names)
    return _join(ordered, names, indicators, words, bits, missing), tuple(indicators)


def split_names(names: Sequence[str]) -> tuple[str, list[str]]:
    """Return the common part of the names of indicators, and what each has beside it.

    Examples
    --------
    >>> split_names(["color_red", "color_rose"]), split_names(["age10", "age12"]), split_names(["x3", "y4"])
    (('color', ['red', 'rose']), ('age', ['10', '12']), ('x3:y4', ['x3', 'y4']))
    """
    common = commonprefix(names)  # noqa: RUF071 - of names, not of paths
    common = re.sub(r"[^\W_]*$", "", common) if re.search(r"[\W_]", common) else common.rstrip("0123456789")
    words, shown = [name[len(common) :] for name in names], re.sub(r"[\W_]+$", "", common)
    return (shown, words) if shown and all(words) else (f"{names[0]}:{names[-1]}", list(names))


def _join_indicators(source: Source, coding: Coding) -> Source:
    """Return the columns of a coding; ``source`` has those that they are made of, in order."""
    assert coding.names is not None
    words = [list(rule.values) for rule in coding.columns]
    bits = [BITS.with_missing(rule.missing) for rule in coding.columns]
    return _join(source, coding.names, coding.indicators, words, bits, coding.missing)


def _join(
    source: Source,
    names: Sequence[str],
    indicators: Sequence[Indicators],
    words: Sequence[Sequence[str]],
    rules: Sequence[Levels],
    missing: str,
) -> Source:
    """Return columns made of those of a table, one or several each; of several, ``words`` are the categories.

    ``rules`` say what is 0, 1 and missing in the indicators of each.
    """
    ends = np.cumsum([len(made_of) or 1 for made_of in indicators]).tolist()

    def load(j: int) -> Column:
        if not indicators[j]:
            return source.column(ends[j] - 1)
        return _join_set(source, range(ends[j] - len(indicators[j]), ends[j]), words[j], rules[j], missing)

    shape = source.shape[0], len(names)
    return replace(source, shape=shape, load=functools.cache(load), block=None, names=tuple(names), chosen_from=None)


def _join_set(source: Source, places: Sequence[int], words: Sequence[str], rule: Levels, missing: str) -> Column:
    """Return one column of words made of indicators; missing if no indicator is 1 and some are missing."""
    bits = np.array([apply_rule(rule, source.column(j)) for j in places])
    n_ones, is_gone = (bits == 1).sum(axis=0), (bits == ABSENT).any(axis=0) & (missing != "zero")
    has_other = len(words) > len(places)
    problems = {
        "other values": (bits == UNKNOWN).any(axis=0),
        "several": n_ones > 1,
        "none": (n_ones == 0) & ~is_gone & (not has_other),
    }
    for got, wrong in problems.items():
        if wrong.any():
            asked, row = "at most" if has_other else "exactly", source.describe_row(int(wrong.argmax()))
            raise DataError(
                f"{setting('X')} must have {asked} one 1 in every row of the indicator columns "
                f"{source.labels[places[0]]!r} to {source.labels[places[-1]]!r}, and 0 in the others; got {got} in "
                f"{row}."
            )
    cells = np.where(n_ones == 1, (bits == 1).argmax(axis=0), np.where(is_gone, -1, len(words) - 1))
    return Column(cells, list(words), declared="nominal", categories=tuple(words))
