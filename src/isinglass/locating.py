"""How options find columns: by name, number, range or pattern."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import is_whole
from isinglass.column_keys import read_column
from isinglass.errors import ArgumentError, DataError, called, listed, setting
from isinglass.names import tidy_name

Entry = TypeVar("Entry")
_Said: TypeAlias = dict[int, list[tuple[str | int, Entry]]]  # by the places of columns
NAMES_SHOWN = 8
"""Names of columns that a message lists."""


@dataclass(frozen=True)
class Origin:
    """The table that columns are from, by whose names and numbers options find them.

    An option names columns by name, number, range ``A1:A5`` or pattern ``A*``.
    """

    width: int  # how many columns it has, row names apart
    names: Sequence[str] | None  # of all of them
    has_number_labels: bool  # whether some names were numbers, the labels of a frame
    places: Sequence[int]  # which of its columns are meant, from 0

    def find(self, key: str | int, argument: str) -> int:
        """Return where the column with this name or number is; a number that is a label of a frame means that column.

        ``#3`` is the third column, unless it is a name.
        Errors name the argument.
        """
        names = self.names or ()
        if self.has_number_labels and is_whole(key) and str(key) in names:
            key = str(key)
        if is_whole(key):
            if not -self.width <= key < self.width:
                size, got = self.width, setting("column", int(key), python=f"number {key}")
                labels = f" Its labels are {listed(names, NAMES_SHOWN)}." if self.has_number_labels else ""
                raise DataError(
                    f"{setting(argument)} must name a column of the table, which has {size}; got {got}.{labels}"
                )
            return int(key) % self.width
        places = [j for j, name in enumerate(names) if name == key] or [
            j for j, name in enumerate(names) if name == tidy_name(key)
        ]
        if len(places) == 1:
            return places[0]
        if places:
            raise DataError(
                f"{setting(argument)} must name one column; got {key!r}, the name of {len(places)}. Give its number."
            )
        if isinstance(key, str) and is_whole(number := read_column(key)):
            return self.find(number, argument)
        same = [name for name in names if name.casefold() == str(key).casefold()]
        near = same or get_close_matches(str(key), names, n=1)
        known = f"The table has {listed(list(map(repr, names)), NAMES_SHOWN) if names else 'no names'}."
        remedy = f"Did you mean {near[0]!r}?" if near else known
        raise ArgumentError(argument, "must name a column of the table", key, remedy)

    def find_all(self, key: str | int, argument: str) -> list[int]:
        """Return where the columns are that a name, number, range or pattern stands for, as `find`."""
        several = self._find_several(key, argument)
        return [self.find(key, argument)] if several is None else several

    def _find_several(self, key: str | int, argument: str) -> list[int] | None:
        """Return where the columns of a range or pattern are; None if the key is a name or a number."""
        names = self.names or ()
        if not isinstance(key, str) or key in names:
            return None
        first, colon, last = key.partition(":")
        if colon and first and last:
            try:
                ends = [self.find(read_column(end), argument) for end in (first, last)]
            except ArgumentError as error:
                remedy = f"It is an end of the range {key[:200]!r}. {error.remedy}"
                raise ArgumentError(argument, error.constraint, error.got, remedy) from None
            if ends[0] > ends[1]:
                raise ArgumentError(argument, "must name a range from left to right", key)
            return list(range(ends[0], ends[1] + 1))
        fitting = [j for j, name in enumerate(names) if fnmatchcase(name, key)] if set("*?[") & set(key) else []
        return fitting or None

    def locate(self, entries: Iterable[tuple[str | int, Entry]], argument: str) -> dict[int, Entry]:
        """Return what an argument says about columns, by their places among those that are meant.

        An entry under the name or number of a column goes before those of ranges and patterns, in any order; entries
        of one rank must agree. Where the argument is "kinds", messages name the option of the kind.
        """
        ranks: tuple[_Said[Entry], _Said[Entry]] = {}, {}  # of ranges and patterns; of names and numbers
        for key, entry in entries:
            option = entry if argument == "kinds" and isinstance(entry, str) else argument
            several = self._find_several(key, option)
            for place in [self.find(key, option)] if several is None else several:
                ranks[several is None].setdefault(place, []).append((key, entry))
        said = {place: each for rank in ranks for place, each in rank.items()}
        for place, each in said.items():
            self._refuse_contradictions(place, each, argument)
        return {j: said[place][0][1] for j, place in enumerate(self.places) if place in said}

    def _refuse_contradictions(self, place: int, said: Sequence[tuple[str | int, object]], argument: str) -> None:
        """Refuse two different entries about one column."""
        first, *others = said
        other = next((each for each in others if repr(each[1]) != repr(first[1])), None)  # arrays have no single ==
        if other is None:
            return
        shown = []
        for key, entry in (first, other):
            text = f"{key!r}: {entry!r}"  # on the command line, every kind is an option
            shown.append(setting("kinds", {key: entry}, python=text) if argument == "kinds" else text)
        what = "kind" if argument == "kinds" else f"entry in {setting(argument)}"
        column = called(self.names[place] if self.names else place)
        raise DataError(
            f"column {column} must have one {what}; got {shown[0]} and {shown[1]}. A single entry by its name goes "
            "before ranges and patterns."
        )


def choose_places(columns: ArrayLike, width: int) -> NDArray[np.intp]:
    """Return the places of different columns, given by their numbers or a mask; only an array may be empty."""
    try:
        places = np.asarray(np.arange(width)[np.asarray(columns)])
    except (IndexError, ValueError):
        places = np.empty((0, 0))
    if places.ndim != 1:
        raise ArgumentError("columns", f"must be numbers of some of the {width} columns, or a mask", columns)
    if len(np.unique(places)) < len(places):
        raise ArgumentError("columns", "must have each column once", columns)
    return places
