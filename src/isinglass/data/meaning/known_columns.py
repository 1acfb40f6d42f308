"""The columns of another table that a coding means; indicator columns become one column."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from os.path import commonprefix

import numpy as np

from isinglass.data.column import Column
from isinglass.data.meaning.coding import Coding
from isinglass.data.meaning.redundancy import indicator_sets
from isinglass.data.meaning.rules import ABSENT, BITS, UNKNOWN, Levels, Rule, apply_rule
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
        return _join(found, coding)
    return found if source.names is None or coding.names is None else replace(found, names=coding.names)


def _take_by_number(source: Source, coding: Coding) -> Source:
    """Return the columns that a coding means by number, in a table of equal width."""
    n = len(coding.called[0]) if coding.has_indicators else len(coding.columns)
    numbers, width = coding.layout.numbers or range(n), coding.layout.width or n
    places = {place: j for j, place in enumerate(source.origin.places)}
    is_alike = source.origin.width == width and places.keys() >= set(numbers)
    are_alone = source.shape[1] == n and (not source.is_file or source.chosen_from is not None)
    if are_alone and not (source.is_file and is_alike):
        return source
    if not is_alike:
        first = "the table that was read first" if source.is_part else "the fitted table or network"
        others = f", or all {width} that these were chosen from" if width > n else ""
        here, all_columns = source.shape[1], source.origin.width
        got = f"{here} of {all_columns}" if here < all_columns else f"{all_columns}"
        raise DataError(
            f"{setting('X')} must have the {n} columns of {first}{others}; got {got}. Without names, columns are found "
            "by number, in a table of equal width: choose these columns in their order, or give names to both tables."
        )
    order = [places[j] for j in numbers]
    if order == list(range(source.shape[1])):
        return source
    return source.choose(order) if source.is_file else source.take(order)


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
    taken = {name for j, name in enumerate(source.names) if j not in combined}
    names, rules, indicators = list[str](), list[Levels](), list[Indicators]()
    for group in groups:
        members = [source.names[j] for j in group]
        name, rule, made_of = members[0], BITS, dict[str, str]()
        if len(group) > 1:
            name, words = split_names(members)
            name, made_of = unused_name(name, taken), dict(zip(members, words, strict=True))
            has_one = (codes[:, group] == 1) | ((codes[:, group] == ABSENT) & (missing != "zero"))
            words += [] if has_one.any(axis=1).all() else [unused_name("other", words)]
            rule = Levels({word: k for k, word in enumerate(words)}, "nominal", None)
        taken.add(name)
        names.append(name)
        rules.append(rule)
        indicators.append(made_of)
    coding = Coding(tuple(names), tuple(rules), missing, indicators=tuple(indicators))
    return _join(source.take(list(chain(*groups))), coding), coding.indicators


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


def _join(source: Source, coding: Coding) -> Source:
    """Return the columns of a coding; ``source`` has those that they are made of, in order."""
    ends = np.cumsum([len(made_of) or 1 for made_of in coding.indicators]).tolist()

    def load(j: int) -> Column:
        made_of = coding.indicators[j]
        if not made_of:
            return source.column(ends[j] - 1)
        return _join_set(source, range(ends[j] - len(made_of), ends[j]), coding.columns[j], coding.missing)

    shape, load = (source.shape[0], len(coding.columns)), functools.cache(load)
    return replace(source, shape=shape, load=load, block=None, names=coding.names, chosen_from=None)


def _join_set(source: Source, places: Sequence[int], rule: Rule, missing: str) -> Column:
    """Return one column of the categories of a rule, made of indicators; missing if none is 1 and some are missing."""
    bits = np.array([apply_rule(BITS.with_missing(rule.missing), source.column(j)) for j in places])
    n_ones, is_gone = (bits == 1).sum(axis=0), (bits == ABSENT).any(axis=0) & (missing != "zero")
    has_other = rule.n_categories > len(places)
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
    cells = np.where(n_ones == 1, (bits == 1).argmax(axis=0), np.where(is_gone, -1, len(places)))
    return Column(cells, rule.values, declared="nominal", categories=rule.values)
