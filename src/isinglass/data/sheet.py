"""A table out of a file before it is read as 0 and 1: its cells, header and row names, and what can be done to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.data.cells import Vocabulary
from isinglass.data.sources import Column, Grid, Source, open_source
from isinglass.errors import ArgumentError, DataError, setting

# Headers of a first column that names the rows. pandas and R leave the header empty.
ID_NAMES = frozenset({"", "id", "index", "row", "rowname", "rownames", "row_names", "unnamed: 0", "__index_level_0__"})


@dataclass(frozen=True, eq=False)
class Sheet:
    """Cells with the labels around them."""

    cells: Source  # the table without names
    header: list[str] | None = None  # names of the columns
    row_names: list[str] | None = None  # names of the rows
    words: list[str] | None = None  # what the values of ``cells.grid`` were before they were interpreted
    numbers: tuple[int, ...] | None = None  # where the columns stood in the file, counted from 0
    declared: int | None = None  # the column that names the rows, if the file says so
    describe_row: Callable[[int], str] = lambda row: f"row {row + 1}"  # what messages call a row

    def as_source(self, *, may_have_row_names: bool = False) -> Source:
        """Return the cells with their names, and with messages that speak of the file."""
        numbers = self.numbers or range(self.cells.shape[1])

        def describe_column(j: int) -> str:
            return f"column {numbers[j] + 1} of the file" if self.header is None else f"column {self.header[j]!r}"

        def remark_column(j: int) -> str:
            values = [] if numbers[j] or not may_have_row_names else self.cells.column(j).values.tolist()
            distinct = len(values) > 1 and None not in values and len(set(map(str, values))) == len(values)
            return f" If it names the rows, pass {setting('id_column', 0)}." if distinct else ""

        return replace(
            self.cells,
            names=self.header,
            row_names=self.row_names,
            describe_row=self.describe_row,
            describe_column=describe_column,
            remark_column=remark_column,
        )

    def column_words(self, j: int) -> list[str]:
        """Return a column as text."""
        if self.cells.grid is not None and self.words is not None:
            return [self.words[code].strip() for code in self.cells.grid.codes[:, j]]
        return [str(value) for value in self.cells.column(j).values]

    def find(self, key: str | int, argument: str) -> int:
        """Return the position of the column with this name or number."""
        n_columns = self.cells.shape[1]
        if isinstance(key, int | np.integer) and not isinstance(key, bool):
            if not -n_columns <= key < n_columns:
                raise DataError(
                    f"{setting(argument)} must be a column of the table, which has {n_columns}; got number {key}."
                )
            return int(key) % n_columns
        found = [] if self.header is None else [j for j, name in enumerate(self.header) if name == key]
        if len(found) == 1:
            return found[0]
        if found:
            raise DataError(
                f"{setting(argument)} must be one column; got {key!r}, the name of {len(found)}. Give its number."
            )
        known = "no names" if self.header is None else ", ".join(map(repr, self.header[:5]))
        more = "" if self.header is None or len(self.header) <= 5 else f" and {len(self.header) - 5} more"
        raise ArgumentError(argument, "must be a column of the table", key, f"The table has {known}{more}.")

    def find_all(self, key: str | int, argument: str) -> list[int]:
        """Return the positions of the columns that a name, number, range ``A1:A5`` or pattern ``A*`` stands for."""
        names = self.header or []
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

    def take(self, kept: Sequence[int]) -> Sheet:
        """Return some of the columns, in this order."""
        if not len(kept):
            raise DataError(
                f"the options {setting('columns')}, {setting('drop')}, {setting('weights')} and "
                f"{setting('id_column')} must leave a column; nothing is left."
            )
        numbers = self.numbers or range(self.cells.shape[1])
        return replace(
            self,
            cells=self.cells.take(list(kept)),
            header=None if self.header is None else [self.header[j] for j in kept],
            numbers=tuple(numbers[j] for j in kept),
        )

    def without(self, j: int) -> Sheet:
        """Return all columns but one."""
        return self.take([k for k in range(self.cells.shape[1]) if k != j])

    def with_row_names(self, j: int) -> Sheet:
        """Take a column out and make it the names of the rows."""
        return replace(self.without(j), row_names=self.column_words(j))

    def find_id_column(self, *, numbers_are_data: bool) -> int | None:
        """Tell whether the first column names the rows.

        It does if its header says so, or if it has more than two values, all different and none missing, that are text,
        or whole numbers in ascending order; numbers only if they cannot be data. A column that the file itself declares
        comes first.
        """
        if self.cells.shape[1] < 2:
            return None
        if self.declared is not None:
            return self.declared
        if self.header is not None and self.header[0].strip().casefold() in ID_NAMES:
            return 0
        values = self.cells.column(0).values.tolist()
        if len(values) < 3 or len(set(map(str, values))) < len(values) or any(value is None for value in values):
            return None
        if any(isinstance(value, str) for value in values):
            return 0
        whole = all(isinstance(value, int) or (isinstance(value, float) and value.is_integer()) for value in values)
        ascending = whole and all(before < after for before, after in pairwise(values))
        return 0 if ascending and not numbers_are_data else None

    def transpose(self) -> Sheet:
        """Exchange rows and columns, with their names."""
        names = self.header
        return replace(
            self,
            cells=_transpose(self.cells),
            header=self.row_names,
            row_names=names,
            numbers=None,
            describe_row=lambda row: f"row {row + 1}" if names is None else f"row {names[row]!r}",
        )

    def mark_missing(self, vocabulary: Vocabulary) -> Sheet:
        """Read the spellings of missing cells in a table that has types of its own."""
        cells = self.cells
        if cells.grid is not None:
            grid = replace(cells.grid, values=[vocabulary.read_value(value) for value in cells.grid.values])
            return replace(self, cells=replace(cells, column=grid.column, grid=grid))
        numbers = list(vocabulary.missing_numbers)
        masked = cells.masked
        if cells.block is not None and numbers:
            hits = np.isin(cells.block, numbers)
            masked = hits if masked is None else masked | hits

        def column(j: int) -> Column:
            source = cells.column(j)
            if source.values.dtype.kind != "O":
                hits = np.isin(source.values, numbers) if numbers else None
                if hits is not None and source.masked is not None:
                    hits = hits | source.masked
                return replace(source, masked=source.masked if hits is None else hits)
            values = np.empty(len(source.values), dtype=object)
            values[:] = [vocabulary.read_value(value) for value in source.values]
            kept = source.categories
            if kept is not None:
                kept = tuple(value for value in kept if vocabulary.read_value(value) is not None)
            return replace(source, values=values, categories=kept)

        sparse = None if numbers else cells.sparse
        return replace(self, cells=replace(cells, masked=masked, column=column, sparse=sparse))

    def mark_missing_in(self, words: Mapping[int, Vocabulary]) -> Sheet:
        """Read the spellings of missing cells that hold for some columns only, by their numbers."""
        cells = self.cells

        def column(j: int) -> Column:
            source = cells.column(j)
            if j not in words:
                return source
            values = np.empty(len(source.values), dtype=object)
            values[:] = [words[j].read_value(value) for value in source.values.tolist()]
            return replace(source, values=values)

        # Column by column: the faster ways know one rule for the whole table.
        return replace(self, cells=replace(cells, column=column, block=None, masked=None, sparse=None, grid=None))


def _number(word: str) -> str | int:
    """Read ``#3`` as the number of the third column."""
    return int(word[1:]) - 1 if word[:1] == "#" and word[1:].isdecimal() and int(word[1:]) > 0 else word


def _transpose(cells: Source) -> Source:
    shape = (cells.shape[1], cells.shape[0])
    if cells.grid is not None:
        grid = Grid(cells.grid.codes.T, cells.grid.values)
        return replace(cells, shape=shape, column=grid.column, grid=grid)
    if cells.block is not None:
        table, masked = cells.block.T, None if cells.masked is None else cells.masked.T
        return Source(shape, lambda j: Column(table[:, j], None if masked is None else masked[:, j]), table, masked)
    if cells.sparse is not None:
        return open_source(cells.sparse.T)
    objects: NDArray[Any] = np.empty(shape, dtype=object)
    for j in range(cells.shape[1]):
        column = cells.column(j)
        objects[j] = column.values
        if column.masked is not None:
            objects[j, column.masked] = None
    return Source(shape, lambda j: Column(objects[:, j]))
