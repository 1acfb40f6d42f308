"""What the words of a text file stand for: names of columns, numbers, truth values, missing cells or text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from isinglass.data.coding import Codes, Value, by_column, is_bit, read_number
from isinglass.data.source import ID_NAMES, Column, Source
from isinglass.errors import DataError, setting

NA_VALUES = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None", ".", "?")

_TRUTH = {"TRUE": True, "True": True, "true": True, "FALSE": False, "False": False, "false": False}


@dataclass(frozen=True, eq=False)
class Records:
    """The records of a text file or a spreadsheet. The first is kept apart: it may be a header."""

    first: list[str]  # fields of the first record
    codes: list[Codes]  # of each column the fields, as positions in its words; entry 0 is for the first record
    words: list[list[str]]  # what the fields of each column say
    # the line on which the record of a given number ends; the first record has number 0, lines count from 1
    line_of: Callable[[int], int]


@dataclass(frozen=True)
class Vocabulary:
    """How words are read."""

    missing: frozenset[str] = frozenset(NA_VALUES)  # spellings of a missing cell
    # numbers that stand for a missing cell, however they are spelled
    missing_numbers: frozenset[float] = field(default_factory=frozenset)
    decimal: str = "."  # what separates the decimals of a number
    # spellings of a missing cell that are an answer beside words: how many cigarettes? None, some, many
    doubtful: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def build(cls, na_values: Iterable[Value], encode: Value = None) -> Vocabulary:
        """Add spellings to the usual ones; words that ``encode`` gives a meaning to are not missing."""
        added = {str(value).strip() for value in na_values}
        encoded = encode.values() if by_column(encode) else [encode] if isinstance(encode, Mapping) else []
        meant = {word for entry in encoded for word in entry if isinstance(word, str)}
        numbers = (read_number(word) for word in added - meant)
        return cls(
            frozenset({*NA_VALUES, *added} - meant),
            frozenset(number for number in numbers if number is not None),
            doubtful=frozenset({"None"} - added - meant),
        )

    def read(self, word: str) -> Value:
        """Return the number, truth value or text that a word stands for, or None if it stands for a missing cell."""
        word = word.strip()
        if word in self.missing:
            return None
        if word in _TRUTH:
            return _TRUTH[word]
        number = read_number(word, self.decimal)
        if number is None:
            return word
        return None if number in self.missing_numbers else number

    def read_column(self, words: Sequence[str], memory: dict[str, Value]) -> list[Value]:
        """Return what the words of a column stand for; ``memory`` has those that other columns share."""
        memory.update((word, self.read(word)) for word in words if word not in memory)
        values = [memory[word] for word in words]
        if self.doubtful.isdisjoint(map(str.strip, words)) or not any(isinstance(value, str) for value in values):
            return values
        kept = [word.strip() if word.strip() in self.doubtful else None for word in words]
        return [value if word is None else word for value, word in zip(values, kept, strict=True)]

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
            return {label: self.read_encode(entry) for label, entry in encode.items()}
        if not isinstance(encode, Mapping):
            return encode
        return {self.read(word) if isinstance(word, str) else word: bit for word, bit in encode.items()}


def count_titles(records: Iterable[Sequence[str]]) -> int:
    """Return how many records are titles above a header: at most one field, then three or more different words.

    Examples
    --------
    >>> count_titles([["Survey 2020", "", ""], ["a", "b", "c"], ["1", "0", "1"]]), count_titles([["a"], ["b"]])
    (1, 0)
    """
    for k, record in enumerate(records):
        fields = [field for field in record if field.strip()]
        if len(fields) > 1:
            are_names = len(set(fields)) == len(fields) and all(read_number(field.strip()) is None for field in fields)
            return k if len(fields) > 2 and are_names else 0
    return 0


def lay_out(records: Records, vocabulary: Vocabulary, header: bool | str) -> Source:
    """Interpret the fields and split off the header."""
    memory: dict[str, Value] = {}  # most columns share their words
    values = [vocabulary.read_column(words, memory) for words in records.words]
    headed = _has_header(records, values, vocabulary) if header == "auto" else bool(header)
    missing_corner = len(records.first) < len(records.codes)
    names = ["", *records.first] if missing_corner else records.first
    start = int(headed or missing_corner)
    n_rows = len(records.codes[0]) - start
    if n_rows == 0:
        raise DataError(
            f"the file has a header and no rows. Pass {setting('header', False)} if its first line holds data."
        )
    if not start:  # the first record is a row
        for codes, words, word in zip(records.codes, records.words, records.first, strict=True):
            codes[0] = len(words)
            words.append(word)
        values = [vocabulary.read_column(words, memory) for words in records.words]
    columns = [Column(c[start:], v, words=w) for c, v, w in zip(records.codes, values, records.words, strict=True)]
    table = Source(
        (n_rows, len(columns)),
        columns.__getitem__,
        names=[" ".join(name.split()) for name in names] if start else None,
        numbers=range(len(columns)),
        describe_row=lambda row: f"row {row + 1}, line {records.line_of(row + start)}",
    )
    last = len(columns) - 1  # without name and values where lines end with a delimiter
    empty = last > 0 and not any(word.strip() for word in records.words[last]) and not (start and names[last].strip())
    return table.without(last) if empty else table


def _has_header(records: Records, values: list[list[Value]], vocabulary: Vocabulary) -> bool:
    """Tell whether the first record names the columns; a first column is left aside, it may hold row names.

    It does if more than half of its texts occur nowhere below, row names apart; or, if it has no text, if it holds a
    number other than 0 and 1 while everything below is 0, 1 or missing. Of a record that is empty but for its first
    field, that field decides: a text is a name, unless there is text below it as well, which would be row names.
    """
    first, width, n_rows = records.first, len(records.codes), len(records.codes[0]) - 1
    if len(first) < width:
        return True
    start = int(width > 1)
    read = [vocabulary.read(word) for word in first]
    texts = [value for value in read[start:] if isinstance(value, str)]
    if texts:
        named = start and (first[0].strip().casefold() in ID_NAMES or (n_rows > 2 and len(values[0]) == n_rows))
        below = {value for column in values[int(named) :] for value in column if isinstance(value, str)}
        return 2 * sum(text not in below for text in texts) > len(texts)
    words = {word.strip() for word in first}
    if width > 1 and len(words) == width and words <= {*NA_VALUES[1:]}:  # names, unless one of them is a cell
        return not any(word.strip() in words for column in records.words for word in column)
    if start and all(value is None for value in read[1:]):
        return isinstance(read[0], str) and not any(isinstance(value, str) for value in values[0])
    other = any(value is not None and value not in (0, 1) for value in read[start:])
    return other and all(value is None or is_bit(value) for column in values[start:] for value in column)
