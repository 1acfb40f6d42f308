"""Names of columns and nodes: what those without one are called, and how options find columns and values join nodes.

Options call a column by its name, its number such as ``#3``, a range ``A1:A5`` or a pattern ``A*``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import chain, count
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import as_ordered, is_whole
from isinglass.column_keys import read_column
from isinglass.errors import ArgumentError, DataError, called, listed, setting

Entry = TypeVar("Entry")
NodeValues: TypeAlias = Mapping[str, object] | Iterable[object]  # by name or in order; a pandas Series by its labels
_Said: TypeAlias = dict[int, list[tuple[str | int, Entry]]]  # by the places of columns
NAMES_SHOWN = 8
"""Names of columns that a message lists."""


@lru_cache(maxsize=16)
def default_names(n_features: int) -> tuple[str, ...]:
    """Return ``x0``, ``x1``, …: what nodes without names are called."""
    return tuple(f"x{k}" for k in range(n_features))


def tidy_name(name: object) -> str:
    """Return a name of a column as text without blanks around it, and with one blank in place of several."""
    return " ".join(str(name).split())


def unused_name(name: str, taken: Collection[str]) -> str:
    """Return a name that is not taken: the same, or with the first number that makes it differ."""
    return next(free for free in chain([name], (f"{name} ({k})" for k in count(2))) if free not in taken)


def check_names(names: Sequence[str] | None, n_features: int) -> tuple[str, ...]:
    """Return one distinct name per variable; those of `default_names` if there are none."""
    if names is None:
        return default_names(n_features)
    checked = tuple(as_ordered("names", names, "must be a list of strings, one per variable"))
    if len(checked) != n_features:
        raise DataError(f"names must have one entry per variable ({n_features}); got {len(checked)}.")
    for name in checked:
        if not isinstance(name, str):
            raise ArgumentError("names", "must be strings", name, "Use [str(name) for name in names].")
    refuse_repeated(checked)
    return tuple(str(name) for name in checked)  # plain str, not numpy.str_


def refuse_repeated(names: Sequence[str], what: str = "names", remedy: str = "") -> None:
    """Refuse a name that stands for two columns."""
    if len(set(names)) < len(names):
        ((repeated, _),) = Counter(names).most_common(1)
        raise DataError(f"{what} must be different from each other; got {repeated!r} twice.{remedy}")


# --- values of nodes --------------------------------------------------------------------------------------------------


def by_node(values: NodeValues, names: Sequence[str], what: str) -> list[Any]:  # Any: values of the user
    """Return one value per node, in the order of the nodes.

    A mapping or a labeled series is joined by name, and nodes that it does not mention get None. Everything else
    is taken by position, as is a series whose index only counts its rows. Errors call the values ``what``.
    """
    is_in_order = hasattr(values, "__iter__") and not isinstance(values, str | Set)
    if not is_in_order or len(getattr(values, "shape", (0,))) != 1:
        raise ArgumentError(what, "must have one entry per node, by name or in order", values)
    entries = list(values.values() if isinstance(values, Mapping) else values)
    labels: Any = list(values) if isinstance(values, Mapping) else getattr(values, "index", None)
    if not hasattr(labels, "__len__"):  # of a list, a method
        labels = range(len(entries))
    return [None if place is None else entries[place] for place in _find_nodes(labels, names, what)]


def _find_nodes(labels: Sequence[object], names: Sequence[str], what: str) -> list[int | None]:
    """Return the place of every node among the labels of a series, a mapping or one side of a matrix."""
    # The numbers 0, 1, 2, … that pandas makes up are no names.
    counts: Any = labels
    if type(labels).__name__ in ("range", "RangeIndex") and (counts.start, counts.step) == (0, 1):
        if len(labels) != len(names):
            raise DataError(f"{what} must have one entry per node ({len(names)}); got {len(labels)}.")
        return list(range(len(names)))
    node = {name: k for k, name in enumerate(names)}
    if tuple(names) == default_names(len(names)):  # nodes without names go by their numbers, too
        node |= {str(k): k for k in range(len(names))}
    found: list[int | None] = [None] * len(names)
    for place, label in enumerate(labels):
        k = node.get(str(label), node.get(tidy_name(label)))
        if k is None or found[k] is not None:
            problem = f"{label!r}, which is not a node" if k is None else f"{label!r} twice"
            raise DataError(
                f"{what} must be labeled by the names of the nodes ({listed([*map(repr, names)], 3)}); got {problem}. "
                "Pass a plain list to assign values by position."
            )
        found[k] = place
    return found


# --- columns of tables ------------------------------------------------------------------------------------------------


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


@dataclass(frozen=True)
class Origin:
    """The table that columns are from, by whose names and numbers options find them."""

    width: int  # how many columns it has, row names apart
    names: Sequence[str] | None  # of all of them
    has_number_labels: bool  # whether some names were numbers, the labels of a frame
    places: Sequence[int]  # which of its columns are meant, from 0

    def find(self, key: str | int, argument: str) -> int:
        """Return where the column with this name or number is; errors name the argument.

        A number that is a label of a frame means that column; ``#3`` is the third column, unless it is a name.
        """
        names = self.names or ()
        if self.has_number_labels and is_whole(key) and str(key) in names:
            key = str(key)
        if is_whole(key):
            return self._find_number(key, argument)
        tidy = tidy_name(key)
        places = [j for j, name in enumerate(names) if name == key] or [
            j for j, name in enumerate(names) if name == tidy
        ]
        if len(places) > 1:
            raise DataError(
                f"{setting(argument)} must name one column; got {key!r}, the name of {len(places)}. Give its number."
            )
        if places:
            return places[0]
        if isinstance(key, str) and is_whole(number := read_column(key)):
            return self._find_number(number, argument)
        raise ArgumentError(argument, "must name a column of the table", key, self._suggest(str(key)))

    def _find_number(self, number: int, argument: str) -> int:
        if -self.width <= number < self.width:
            return int(number) % self.width
        got = setting("column", int(number), python=f"number {number}")
        labels = f" Its labels are {listed(self.names or (), NAMES_SHOWN)}." if self.has_number_labels else ""
        raise DataError(
            f"{setting(argument)} must name a column of the table, which has {self.width}; got {got}.{labels}"
        )

    def _suggest(self, word: str) -> str:
        from difflib import get_close_matches  # not needed otherwise

        if near := get_close_matches(word, self.names or (), n=1):
            return f"Did you mean {near[0]!r}?"
        return f"The table has {listed(list(map(repr, self.names)), NAMES_SHOWN) if self.names else 'no names'}."

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
            start, end = (self.find(read_column(word), argument) for word in (first, last))
            if start > end:
                raise ArgumentError(argument, "must name a range from left to right", key)
            return list(range(start, end + 1))
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
        different = next((each for each in said if repr(each[1]) != repr(said[0][1])), None)  # arrays have no single ==
        if different is None:
            return
        shown = [f"{called(key)}: {entry!r}" for key, entry in (said[0], different)]
        what = "kind" if argument == "kinds" else f"entry in {setting(argument)}"
        raise DataError(
            f"column {called(self.names[place] if self.names else place)} must have one {what}; got "
            f"{' and '.join(shown)}. A single entry by its name goes before ranges and patterns."
        )
