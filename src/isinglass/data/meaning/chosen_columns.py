"""Which columns of another table are those that a coding was made for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

from isinglass.data.meaning.coding import Coding
from isinglass.data.meaning.indicators import join_indicators
from isinglass.data.source import Source
from isinglass.errors import DataError, setting


def take_columns(source: Source, coding: Coding) -> Source:
    """Return the columns that a coding means, in its order: by name, or else by number in a table of equal width.

    An array, or columns that options chose from a file, may also be these columns alone, in this order.
    """
    if coding.single is not None:
        return join_indicators(take_columns(source, replace(coding.single, missing=coding.missing)), coding)
    if source.names is not None and coding.names is not None:
        is_renamed = source.layout.names not in (None, source.names)  # by the user: as in the coding
        called = coding.called[::-1] if is_renamed else coding.called
        return replace(source.take(find_columns(called, source.names)), names=coding.names)
    n = len(coding.columns)
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
