"""A table out of a file before it is read as 0 and 1: its cells, header and row names, and what can be done to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from isinglass.data.cells import NA_VALUES, Vocabulary
from isinglass.data.coding import is_number
from isinglass.data.sources import Column, Grid, Source, open_source
from isinglass.data.text import Records
from isinglass.errors import ArgumentError, DataError, setting

# Headers of a first column that names the rows. pandas and R leave the header empty.
ID_NAMES = frozenset({"", "id", "index", "row", "rowname", "rownames", "row_names", "unnamed: 0", "__index_level_0__"})


@dataclass(frozen=True, eq=False)
class Sheet(Source):
    """A table out of a file: columns can be found, left out, or made the names of its rows."""

    words: list[str] | None = None  # what the values of ``grid`` were before they were interpreted
    index: int | None = None  # the column that names the rows, if the file says so
    describe_row: Callable[[int], str] = lambda row: f"row {row + 1}"

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", self.numbers or range(self.shape[1]))

    def column_words(self, j: int) -> list[str]:
        """Return a column as text."""
        if self.grid is not None and self.words is not None:
            return [self.words[code].strip() for code in self.grid.codes[:, j]]
        return [str(value) for value in self.column(j).values]

    def find(self, key: str | int, argument: str) -> int:
        """Return the position of the column with this name or number."""
        n_columns = self.shape[1]
        if isinstance(key, int | np.integer) and not isinstance(key, bool):
            if not -n_columns <= key < n_columns:
                got = setting(argument, int(key), python=f"number {key}")
                raise DataError(f"{setting(argument)} must be a column of the table, which has {n_columns}; got {got}.")
            return int(key) % n_columns
        found = [] if self.names is None else [j for j, name in enumerate(self.names) if name == key]
        if len(found) == 1:
            return found[0]
        if found:
            raise DataError(
                f"{setting(argument)} must be one column; got {key!r}, the name of {len(found)}. Give its number."
            )
        names = self.names or []
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
        values = self.column(0).values.tolist()
        if len(values) < 3 or len(set(map(str, values))) < len(values) or any(value is None for value in values):
            return None
        if any(isinstance(value, str) for value in values):
            return 0
        whole = all(isinstance(value, int) or (isinstance(value, float) and value.is_integer()) for value in values)
        ascending = whole and all(before < after for before, after in pairwise(values))
        return 0 if ascending and not numbers_are_data else None

    def transpose(self) -> Sheet:
        """Exchange rows and columns, with their names."""
        names = self.names
        return as_sheet(
            _transpose(self),
            names=self.row_names,
            row_names=names,
            words=self.words,
            describe_row=lambda row: f"row {row + 1}" if names is None else f"row {names[row]!r}",
        )

    def mark_missing(self, vocabulary: Vocabulary) -> Sheet:
        """Read the spellings of missing cells in a table that has types of its own."""
        if self.grid is not None:
            grid = replace(self.grid, values=[vocabulary.read_value(value) for value in self.grid.values])
            return replace(self, column=grid.column, grid=grid)
        numbers, masked = list(vocabulary.missing_numbers), self.masked
        if self.block is not None and numbers:
            masked = np.isin(self.block, numbers) | (False if masked is None else masked)
        sparse = None if numbers else self.sparse
        return replace(self, masked=masked, column=lambda j: _mark(self.column(j), vocabulary), sparse=sparse)

    def mark_missing_in(self, words: Mapping[int, Vocabulary]) -> Sheet:
        """Read the spellings of missing cells that hold for some columns only, by their numbers."""

        def column(j: int) -> Column:
            return _mark(self.column(j), words[j]) if j in words else self.column(j)

        # Column by column: the faster ways know one rule for the whole table.
        return replace(self, column=column, block=None, masked=None, sparse=None, grid=None)


def as_sheet(source: Source, **known: Any) -> Sheet:
    """Return a table in memory as one out of a file."""
    return Sheet(**{**vars(source), "describe_row": Sheet.describe_row, **known})


def _mark(column: Column, vocabulary: Vocabulary) -> Column:
    """Read the spellings of missing cells in a column."""
    if column.values.dtype.kind != "O":
        hits = np.isin(column.values, list(vocabulary.missing_numbers))
        return replace(column, masked=hits if column.masked is None else hits | column.masked)
    values = np.empty(len(column.values), dtype=object)
    values[:] = [vocabulary.read_value(value) for value in column.values]
    kept = column.categories
    if kept is not None:
        kept = tuple(value for value in kept if vocabulary.read_value(value) is not None)
    return replace(column, values=values, categories=kept)


def _number(word: str) -> str | int:
    """Read ``#3`` as the number of the third column."""
    return int(word[1:]) - 1 if word[:1] == "#" and word[1:].isdecimal() and int(word[1:]) > 0 else word


def _transpose(cells: Source) -> Source:
    if cells.grid is not None:
        return Source.of_grid(Grid(cells.grid.codes.T, cells.grid.values))
    if cells.block is not None:
        return open_source(cells.block.T if cells.masked is None else np.ma.MaskedArray(cells.block.T, cells.masked.T))
    if cells.sparse is not None:
        return open_source(cells.sparse.T)
    objects = np.empty(cells.shape[::-1], dtype=object)
    for j in range(cells.shape[1]):
        objects[j] = cells.column(j).entries
    return open_source(objects)


def lay_out(records: Records, vocabulary: Vocabulary, header: bool | str) -> Sheet:
    """Interpret the fields and split off the header."""
    values = [vocabulary.read(word) for word in records.words]
    headed = _has_header(records, values, vocabulary) if header == "auto" else bool(header)
    missing_corner = len(records.first) < records.codes.shape[1]
    names = ["", *records.first] if missing_corner else records.first
    if headed or missing_corner:
        codes, words, start = records.codes, records.words, 1
    else:
        codes, words, values = _prepend(records, values, vocabulary)
        start = 0
    if len(codes) == 0:
        raise DataError(
            f"the file must be a table with rows; got a header only. Pass {setting('header', False)} if it holds data."
        )
    sheet = Sheet.of_grid(
        Grid(codes, values),
        names=[" ".join(name.split()) for name in names] if start else None,
        words=words,
        describe_row=lambda row: f"row {row + 1}, line {records.line_of(row + start)}",
    )
    last = codes.shape[1] - 1  # without name and values where lines end with a delimiter
    empty = last > 0 and not any(sheet.column_words(last)) and not (sheet.names and sheet.names[last])
    return sheet.without(last) if empty else sheet


def _has_header(records: Records, values: list[Any], vocabulary: Vocabulary) -> bool:
    """Tell whether the first record names the columns; a first column is left aside, it may hold row names.

    It does if more than half of its texts occur nowhere below, row names apart; or, if it has no text, if it holds a
    number other than 0 and 1 while everything below is 0, 1 or missing. Of a record that is empty but for its first
    field, that field decides: a text is a name, unless there is text below it as well, which would be row names.
    """
    codes = records.codes
    columns = range(1 if codes.shape[1] > 1 else 0, codes.shape[1])
    if len(records.first) < codes.shape[1]:
        return True
    read = [vocabulary.read(records.first[j]) for j in columns]
    texts = [(j, value) for j, value in zip(columns, read, strict=True) if isinstance(value, str)]
    if texts:
        positions: dict[str, list[int]] = {text: [] for _, text in texts}
        for position, value in enumerate(values):
            if isinstance(value, str) and value in positions:
                positions[value].append(position)
        used = _used_codes(records, values) if any(positions.values()) else None
        fresh = sum(used is None or not used[positions[text]].any() for _, text in texts)
        return 2 * fresh > len(texts)
    if _are_names(records):
        return True
    if codes.shape[1] > 1 and all(value is None for value in read):
        named = isinstance(vocabulary.read(records.first[0]), str)
        return named and not any(isinstance(values[code], str) for code in np.unique(codes[:, 0]))
    other = any(value is not None and value not in (0, 1) for value in read)
    bits = np.array([value is None or (is_number(value) and value in (0, 1)) for value in values], dtype=bool)
    return other and bool(bits[codes[:, columns]].all())


def _are_names(records: Records) -> bool:
    """Tell whether spellings of a missing cell are names: NA, nan and null, all different and none of them below."""
    first = [word.strip() for word in records.first]
    if len(first) < 2 or not all(word in NA_VALUES and word for word in first) or len(set(first)) < len(first):
        return False
    searched = [position for position, word in enumerate(records.words) if word.strip() in first]
    return not np.isin(records.codes, searched).any()


def _used_codes(records: Records, values: list[Any]) -> NDArray[np.bool_]:
    """Tell which words are cells, not only names of rows."""
    codes = records.codes
    named = codes.shape[1] > 1 and (
        records.first[0].strip().casefold() in ID_NAMES
        or (len(codes) > 2 and len(np.unique(codes[:, 0])) == len(codes))
    )
    used = np.zeros(len(values), dtype=bool)
    for j in range(int(named), codes.shape[1]):  # by column: a copy of the whole would be large
        used[codes[:, j]] = True
    return used


def _prepend(records: Records, values: list[Any], vocabulary: Vocabulary) -> tuple[Any, list[str], list[Any]]:
    """Return codes, words and values with the first record in front."""
    positions: dict[str, int] = {}
    searched = set(records.first)
    for position, word in enumerate(records.words):
        if word in searched:
            positions.setdefault(word, position)
    words, values = list(records.words), list(values)
    first = []
    for word in records.first:
        if word not in positions:
            positions[word] = len(words)
            words.append(word)
            values.append(vocabulary.read(word))
        first.append(positions[word])
    dtype = records.codes.dtype if len(words) <= 256 else np.int32
    return np.vstack([np.array([first], dtype=dtype), records.codes.astype(dtype, copy=False)]), words, values
