"""A table out of a file before its cells have a meaning: header and row names, and what can be done to its columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Self

import numpy as np

from isinglass.data.cells import NA_VALUES, Vocabulary
from isinglass.data.coding import Value, is_number
from isinglass.data.sources import Column, Source, number_objects, open_source
from isinglass.data.text import Records
from isinglass.errors import ArgumentError, DataError, setting

# Headers of a first column that names the rows. pandas and R leave the header empty.
ID_NAMES = frozenset({"", "id", "index", "row", "rowname", "rownames", "row_names", "unnamed: 0", "__index_level_0__"})


@dataclass(frozen=True, eq=False)
class RawTable(Source):
    """A table out of a file: columns can be found, left out, or made the names of its rows."""

    index: int | None = None  # the column that names the rows, if the file says so
    described: Mapping[str, str] = field(default_factory=dict)  # what the file says about its columns, by name
    describe_row: Callable[[int], str] = lambda row: f"row {row + 1}"

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", self.numbers or range(self.shape[1]))

    def find(self, key: str | int, argument: str) -> int:
        """Return the position of the column with this name or number."""
        n_columns = self.shape[1]
        if isinstance(key, int | np.integer) and not isinstance(key, bool):
            if not -n_columns <= key < n_columns:
                got = setting(argument, int(key), python=f"number {key}")
                raise DataError(f"{setting(argument)} must be a column of the table, which has {n_columns}; got {got}.")
            return int(key) % n_columns
        names = self.names or []
        found = [j for j, name in enumerate(names) if name == key]
        if len(found) == 1:
            return found[0]
        if found:
            raise DataError(
                f"{setting(argument)} must be one column; got {key!r}, the name of {len(found)}. Give its number."
            )
        known = ", ".join(map(repr, names[:5])) or "no names"
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        raise ArgumentError(argument, "must be a column of the table", key, f"The table has {known}{more}.")

    def find_all(self, key: str | int, argument: str) -> list[int]:
        """Return the positions of the columns that a name, number, range ``A1:A5`` or pattern ``A*`` stands for."""
        names = self.names or []
        if isinstance(key, str) and key not in names:
            first, colon, last = key.partition(":")
            if colon and first and last:
                ends = [self.find(_number(end), argument) for end in (first, last)]
                if ends[0] > ends[1]:
                    raise ArgumentError(argument, "must name a range from left to right", key)
                return list(range(ends[0], ends[1] + 1))
            fitting = [j for j, name in enumerate(names) if fnmatchcase(name, key)] if set("*?[") & set(key) else []
            if fitting:
                return fitting
        return [self.find(key, argument)]

    def take(self, kept: Sequence[int]) -> Self:
        """Return some of the columns, in this order."""
        if not len(kept):
            raise DataError(
                f"the options {setting('columns')}, {setting('drop')}, {setting('weights')} and "
                f"{setting('id_column')} must leave a column; nothing is left."
            )
        return super().take(kept)

    def without(self, *gone: int | None) -> Self:
        """Return all columns but some."""
        return self.take([k for k in range(self.shape[1]) if k not in gone])

    def find_id_column(self, *, numbers_are_data: bool) -> int | None:
        """Tell whether the first column names the rows.

        It does if its header says so, or if it has more than two values, all different and none missing, that are text,
        or whole numbers in ascending order; numbers only if they cannot be data. A column that the file itself declares
        comes first.
        """
        if self.shape[1] < 2:
            return None
        if self.index is not None:
            return self.index
        if self.names is not None and self.names[0].strip().casefold() in ID_NAMES:
            return 0
        column = self.column(0)
        if self.shape[0] < 3 or len(set(map(str, column.distinct))) < self.shape[0]:
            return None
        values = column.entries.tolist()
        if any(isinstance(value, str) for value in values):
            return 0
        whole = all(isinstance(value, int) or (isinstance(value, float) and value.is_integer()) for value in values)
        ascending = whole and all(before < after for before, after in pairwise(values))
        return 0 if ascending and not numbers_are_data else None

    def transpose(self) -> RawTable:
        """Exchange rows and columns, with their names."""
        names = self.names
        return as_raw(
            _transpose(self),
            names=self.row_names,
            row_names=names,
            describe_row=lambda row: f"row {row + 1}" if names is None else f"row {names[row]!r}",
        )


def as_raw(source: Source, **known: object) -> RawTable:
    """Return a table in memory as one out of a file."""
    return RawTable(**{**vars(source), "describe_row": RawTable.describe_row, **known})


def _number(word: str) -> str | int:
    """Read ``#3`` as the number of the third column."""
    return int(word[1:]) - 1 if word[:1] == "#" and word[1:].isdecimal() and int(word[1:]) > 0 else word


def _transpose(cells: Source) -> Source:
    if cells.block is not None:
        return open_source(cells.block.T if cells.masked is None else np.ma.MaskedArray(cells.block.T, cells.masked.T))
    if cells.sparse is not None:
        return open_source(cells.sparse.T)
    known: dict[tuple[type, Value], int] = {}
    codes = np.empty(cells.shape[::-1], dtype=np.int32)
    for j in range(cells.shape[1]):
        column = cells.column(j)
        column = column if column.values is not None else number_objects(column.entries)
        values = [*(column.values or ()), None]
        codes[j] = np.array([known.setdefault((type(value), value), len(known)) for value in values])[column.cells]
    every = [value for _, value in known]
    return Source(codes.shape, lambda j: Column(codes[:, j], every))


def lay_out(records: Records, vocabulary: Vocabulary, header: bool | str) -> RawTable:
    """Interpret the fields and split off the header."""
    memory: dict[str, Value] = {}  # most columns share their words
    for words in records.words:
        memory.update((word, vocabulary.read(word)) for word in words if word not in memory)
    values = [[memory[word] for word in words] for words in records.words]
    headed = _has_header(records, values, vocabulary) if header == "auto" else bool(header)
    missing_corner = len(records.first) < len(records.codes)
    names = ["", *records.first] if missing_corner else records.first
    start = int(headed or missing_corner)
    n_rows = len(records.codes[0]) - start
    if n_rows == 0:
        raise DataError(
            f"the file must be a table with rows; got a header only. Pass {setting('header', False)} if it holds data."
        )
    if not start:  # the first record is a row
        for codes, words, read, word in zip(records.codes, records.words, values, records.first, strict=True):
            codes[0] = len(words)
            words.append(word)
            read.append(vocabulary.read(word))
    columns = [Column(c[start:], v, words=w) for c, v, w in zip(records.codes, values, records.words, strict=True)]
    table = RawTable(
        (n_rows, len(columns)),
        columns.__getitem__,
        names=[" ".join(name.split()) for name in names] if start else None,
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
    own = int(width > 1)
    read = [vocabulary.read(word) for word in first]
    texts = [value for value in read[own:] if isinstance(value, str)]
    if texts:
        named = own and (first[0].strip().casefold() in ID_NAMES or (n_rows > 2 and len(values[0]) == n_rows))
        below = {value for column in values[int(named) :] for value in column if isinstance(value, str)}
        return 2 * sum(text not in below for text in texts) > len(texts)
    words = {word.strip() for word in first}
    if width > 1 and len(words) == width and words <= {*NA_VALUES[1:]}:  # names, unless one of them is a cell
        return not any(word.strip() in words for column in records.words for word in column)
    if own and all(value is None for value in read[1:]):
        return isinstance(read[0], str) and not any(isinstance(value, str) for value in values[0])
    other = any(value is not None and value not in (0, 1) for value in read[own:])
    return other and all(
        value is None or (is_number(value) and value in (0, 1)) for column in values[own:] for value in column
    )
