"""One column of a table before its values have a meaning."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray
from isinglass.data.meaning.rules import Cells, Codes
from isinglass.data.meaning.values import (
    Value,
    as_whole,
    is_among,
    is_missing,
    is_number,
    read_cell,
    read_word,
)

NUMBER_TYPES = "buif"
"""Kinds of NumPy types that are compared as numbers."""
BLANKS = frozenset({"", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", ".", "?"})
"""Words for a missing cell, unless a rule gives them a meaning."""


@dataclass(frozen=True, eq=False)
class Column:
    """One column as it came: numbers, or the positions of its cells among its values."""

    cells: Cells  # numbers, NaN for a missing cell; if there are `values`, positions among them, -1 for a missing one
    values: Sequence[Value] | None = None  # numbers, text, or None for a missing cell; some may occur twice or never
    declared: str | None = None  # the kind that its type declares: ordinal or nominal
    categories: tuple[Value, ...] | None = None  # of a categorical column, if their order means something
    labels: Mapping[Value, Value] = field(default_factory=dict)  # what the source calls its values
    blanks: frozenset[str] = frozenset()  # words for a missing cell, unless a rule gives them a meaning
    gone: frozenset[Value] = frozenset()  # what the user declares missing, as `spell_out` returns it
    words: Sequence[str] | None = None  # how `values` are spelled, if they were read from texts

    @cached_property
    def _occurring(self) -> list[int]:
        """The positions of the values that occur and stand for no missing cell, as far as no rule says more."""
        values = self.values or ()
        places: Sequence[int] = range(len(values))
        if self.words is None:  # those that were read from texts all occur
            seen = self.cells if self.cells.dtype.kind == "u" else self.cells[self.cells >= 0]
            places = np.flatnonzero(np.bincount(seen, minlength=len(values))).tolist()
        kept = [k for k in places if not (values[k] is None or values[k] != values[k] or self.is_gone(values[k]))]
        return [k for k in kept if values[k] not in self.blanks and self.labels.get(values[k]) not in self.blanks]

    def is_gone(self, value: Value) -> bool:
        """Tell whether the user declares a value or its label missing."""
        return bool(self.gone) and (is_among(value, self.gone) or is_among(self.labels.get(value), self.gone))

    @property
    def distinct(self) -> list[Value]:
        """The values that occur and are not missing."""
        if self.values is not None:
            return list(dict.fromkeys(self.values[k] for k in self._occurring))
        return [number for number in _whole(np.unique(self.cells)) if number == number and not self.is_gone(number)]

    @property
    def has_fractions(self) -> bool:
        """Whether a number in it is not whole."""
        if self.values is not None:
            return any(isinstance(value, float) and value % 1.0 != 0.0 for value in self.values)
        cells = self.cells if self.cells.dtype.kind == "f" else np.empty(0)
        return bool((cells != np.floor(cells))[np.isfinite(cells)].any())

    @property
    def entries(self) -> Cells:
        """The cells as objects, None where they are missing."""
        if self.values is None:
            numbers = _whole(self.cells)
            return as_objects([None if each != each or self.is_gone(each) else each for each in numbers])
        kept = set(self._occurring)
        values = [value if k in kept else None for k, value in enumerate(self.values)]
        return np.asarray(as_objects([*values, None])[self.cells])

    def numbers(self, rows: slice | NDArray[np.intp] = slice(None)) -> FloatArray:
        """Return the cells of some rows as numbers, NaN where they are none."""
        cells = self.cells[rows]
        if self.values is None:
            return np.asarray(cells, dtype=np.float64)
        read = [*map(read_word, self.values), None]
        return np.array([value if is_number(value) else np.nan for value in read], dtype=np.float64)[cells]

    @property
    def as_given(self) -> Cells:
        """The cells as they came, as objects: texts as they are spelled."""
        given = self.values if self.words is None else self.words
        return as_objects(_whole(self.cells)) if given is None else np.asarray(as_objects([*given, None])[self.cells])

    def read(self, decimal: str | None = None) -> Column:
        """Return the column with its texts read as the fields of a text file are, unless its type has categories."""
        values = self.values or ()
        if self.declared is not None or not any(isinstance(value, str) for value in values):
            return self
        occur = np.bincount(self.cells + 1, minlength=len(values) + 1)[1:].tolist()
        read = [
            None if not n else read_cell(value, decimal or ".") if isinstance(value, str) else value
            for n, value in zip(occur, values, strict=True)
        ]
        return replace(self, values=read, blanks=BLANKS, words=list(map(str, values)))

    def spelled(self) -> Column:
        """Return the column with all values as text."""
        words = map(str, self.values or ()) if self.words is None else map(str.strip, self.words)
        values = [None if value is None else word for value, word in zip(self.values or (), words, strict=True)]
        return replace(self, values=values)

    def numbered(self) -> Column:
        """Return the column with positions among its values in place of numbers."""
        if self.values is not None:
            return self
        return replace(number_objects(as_objects(_whole(self.cells))), labels=self.labels, gone=self.gone)

    def condensed(self) -> Column:
        """Return the column with every value that occurs once."""
        seen = np.unique(self.cells)
        values = _whole(seen) if self.values is None else [self.values[k] for k in seen.tolist() if k >= 0]
        return replace(self, cells=np.arange(len(values)), values=values, words=None)


class UnhashableError(Exception):
    """A cell that can be neither a number nor text."""


UNTYPED = Column(np.empty(0))
"""A column whose type says nothing about its values."""


def number_distinct(values: Sequence[Value] | Cells) -> tuple[Codes, list[Value]]:
    """Return values as positions among the different ones, in order of appearance, and these."""
    number: dict[Value, int] = {}
    codes = np.fromiter((number.setdefault(value, len(number)) for value in values), np.int32, len(values))
    return codes, list(number)


def number_objects(objects: Sequence[Value] | Cells) -> Column:
    """Return a column of objects by the positions of its values."""
    try:
        cells, values = number_distinct(objects)
    except TypeError:
        raise UnhashableError(next(value for value in objects if not isinstance(value, Hashable))) from None
    return Column(cells, list(map(as_in_text, values)))


def as_in_text(value: Value) -> Value:
    """Return None for a missing cell, bytes as text, and a number of another type as the double of its spelling."""
    if is_missing(value):
        return None
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    if isinstance(value, np.float16 | np.float32):
        return float(str(value))
    return float(value) if isinstance(value, Decimal | Fraction) else value


def _whole(numbers: Cells) -> list[Value]:
    """Return numbers of Python: whole ones as such, though NaN among them makes all of them fractions."""
    if numbers.dtype.kind != "f":
        return numbers.tolist()  # type: ignore[no-any-return]
    return list(map(as_whole, numbers.tolist()))


def as_objects(values: Sequence[Value]) -> Cells:
    """Return values of any types as an array of objects."""
    return np.fromiter(values, dtype=object, count=len(values))


def has_short_fractions(numbers: Cells) -> bool:
    """Tell whether numbers of less than double precision are other doubles than those of the same spelling."""
    if numbers.dtype.kind != "f" or numbers.dtype.itemsize >= 8:
        return False
    return bool(((numbers != np.floor(numbers)) | (np.abs(numbers) >= np.float32(2**24)))[np.isfinite(numbers)].any())


def as_spelled(numbers: Cells) -> Cells:
    """Return numbers of less than double precision as the doubles of their shortest spelling, as in a text file."""
    if not has_short_fractions(numbers):
        return numbers
    distinct, places = np.unique(numbers, return_inverse=True)
    return np.asarray(distinct.astype(np.str_).astype(np.float64)[places])
