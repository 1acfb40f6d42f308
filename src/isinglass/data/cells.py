"""What the words of a text file stand for: numbers, truth values, missing cells or text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from isinglass.data.coding import Value, by_column
from isinglass.errors import DataError, setting

NA_VALUES = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None", ".", "?")

_TRUTH = {"TRUE": True, "True": True, "true": True, "FALSE": False, "False": False, "false": False}
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_SWAPPED = str.maketrans(",.", ".,")


@dataclass(frozen=True)
class Vocabulary:
    """How words are read."""

    missing: frozenset[str] = frozenset(NA_VALUES)  # spellings of a missing cell
    # numbers that stand for a missing cell, however they are spelled
    missing_numbers: frozenset[float] = field(default_factory=frozenset)
    decimal: str = "."  # what separates the decimals of a number

    @classmethod
    def build(cls, na_values: Iterable[Value], encode: Value = None) -> Vocabulary:
        """Add spellings to the usual ones; words that ``encode`` gives a meaning to are not missing."""
        if isinstance(na_values, str):
            raise DataError(f"{setting('na_values')} must be a sequence of spellings; got the text {na_values!r}.")
        added = {str(value).strip() for value in na_values}
        meant = {word for word in _encoded_words(encode) if isinstance(word, str)}
        numbers = (_read_number(word) for word in added - meant)
        return cls(
            frozenset({*NA_VALUES, *added} - meant),
            frozenset(number for number in numbers if number is not None),
        )

    def read(self, word: str) -> Value:
        """Return the number, truth value or text that a word stands for, or None if it stands for a missing cell."""
        word = word.strip()
        if word in self.missing:
            return None
        if word in _TRUTH:
            return _TRUTH[word]
        number = _read_number(word, self.decimal)
        if number is None:
            return word
        return None if number in self.missing_numbers else number

    def is_missing(self, value: Value) -> bool:
        """Tell whether a value of a file that has types of its own stands for a missing cell."""
        if isinstance(value, str):
            return value.strip() in self.missing
        return isinstance(value, int | float | np.number) and value in self.missing_numbers

    def with_decimal(self, columns: Iterable[Iterable[str]]) -> Vocabulary:
        """Return how words are read with a decimal comma, if a column has only numbers of this kind."""
        comma = replace(self, decimal=",")
        for words in columns:
            read = [comma.read(word) for word in words]
            numbers = all(value is None or isinstance(value, int | float) for value in read)
            if numbers and any("," in word for word in words):
                return comma
        return self

    def read_encode(self, encode: Value) -> Value:
        """Return ``encode`` with its words read as the cells of a text file are."""
        if by_column(encode):
            return {label: self._read_entry(entry) for label, entry in encode.items()}
        return self._read_entry(encode) if isinstance(encode, Mapping) else encode

    def _read_entry(self, entry: Value) -> Value:
        if isinstance(entry, tuple):
            return tuple(self._read_entry(side) if isinstance(side, tuple) else self._read_key(side) for side in entry)
        return {self._read_key(word): bit for word, bit in entry.items()}

    def _read_key(self, word: Value) -> Value:
        return self.read(word) if isinstance(word, str) else word


def _read_number(word: str, decimal: str = ".") -> float | int | None:
    if decimal == ",":
        word = word.translate(_SWAPPED)
    if not _NUMBER.fullmatch(word):
        return None
    number = float(word)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def read_word(value: object) -> object:
    """Return the number that a text spells, or the value as it is."""
    number = _read_number(value.strip()) if isinstance(value, str) else None
    return value if number is None else number


def _encoded_words(encode: Value) -> Iterable[Value]:
    if isinstance(encode, Mapping):
        for key, entry in encode.items():
            if isinstance(entry, Mapping):
                yield from entry
            elif isinstance(entry, tuple):
                for side in entry:
                    yield from side if isinstance(side, tuple) else (side,)
            else:
                yield key
