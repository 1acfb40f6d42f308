"""A table before its values have a meaning: its columns, what comes with them, and what messages call them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from isinglass.arrays import FloatArray, Mask
from isinglass.data.column import Column, UnhashableError, as_spelled, has_short_fractions, number_objects
from isinglass.data.meaning.coding import NO_FILE, Layout
from isinglass.data.meaning.rules import Cells
from isinglass.data.meaning.values import Value, spell_out
from isinglass.errors import CellTypeError, DataError, setting
from isinglass.names import Entry, Origin, check_names, refuse_repeated

_ROW = "row {}".format
"""What messages call a row of a table in memory."""


@dataclass(frozen=True, eq=False)
class Source:
    """A table before its values have a meaning, from memory or from a file; its columns are loaded when needed."""

    shape: tuple[int, int]  # rows and columns, at least one of each
    load: Callable[[int], Column]  # the column of a given number
    block: Cells | None = None  # the whole table, if it is dense and holds numbers
    names: Sequence[str] | None = None
    has_number_labels: bool = False  # as of an `Origin`
    row_names: Sequence[Value] | None = None
    row_names_at: int | None = None  # the column that names the rows: where the file says it is, or where it was
    chosen_from: Origin | None = None  # if options chose the columns; others do not change what options call these
    layout: Layout = NO_FILE  # what holds for other tables like this one, apart from their columns
    wording: Mapping[str, str] = field(default_factory=dict)  # what the file says about its columns, by name
    detected: Mapping[str, str] = field(default_factory=dict)  # what was found out about the file, for the user
    describe_row: Callable[[int], str] = _ROW  # what messages call a row of a given number
    weight: FloatArray | None = None  # of its rows
    apart: Mapping[str, Cells] = field(default_factory=dict)  # columns that are not variables, such as groups
    is_file: bool = False
    is_part: bool = False  # of a table in parts, whose columns have two values

    def of_file(self, **fields: Any) -> Source:  # Any: of the record
        """Return the table as that of a file, whose rows and columns are counted from 1."""
        return replace(self, **{"is_file": True, "describe_row": lambda row: f"row {row + 1}", **fields})

    def named(self, names: Sequence[str] | None) -> Source:
        """Return the table with other names of columns; None keeps those it has, which must differ."""
        own = None if self.names is None else tuple(self.names)
        if names is None:
            if own is None:
                return self
            last = {name: j for j, name in enumerate(own)}
            twice = [self.origin.places[last[name]] for j, name in enumerate(own) if last[name] != j]
            leave_out = (
                f", or use {setting('drop', twice[0], python=f'drop={twice[:1]}')}" if twice and self.is_file else ""
            )
            remedy = f" Rename a column{leave_out}. Blanks around a name do not count, and numbers are text."
            refuse_repeated(own, "names of columns", remedy)
            return replace(self, names=check_names(own, self.shape[1]))
        checked = check_names(names, self.shape[1])
        layout = self.layout if own is None else replace(self.layout, names=own)
        return replace(self, names=checked, layout=layout, has_number_labels=self.has_number_labels and checked == own)

    @property
    def origin(self) -> Origin:
        """The table that the columns are from: that which options chose them from, else this one."""
        here = Origin(self.shape[1], self.names, self.has_number_labels, range(self.shape[1]))
        return self.chosen_from or here

    @property
    def labels(self) -> Sequence[Hashable]:
        """What options call the columns: their names, or their numbers in the table that columns were chosen from."""
        return self.names or self.origin.places

    @property
    def decimal(self) -> str | None:
        """What separates the decimals of numbers in a text; None for other tables."""
        return self.layout.decimal

    @property
    def is_array(self) -> bool:
        """Whether the columns come without names from memory: one type holds for all."""
        return self.names is None and not self.is_file

    def column(self, j: int) -> Column:
        """Return one column."""
        try:
            return self.load(j)
        except UnhashableError as error:
            (cell,) = error.args
            raise CellTypeError(
                f"X must hold numbers or text; got {str(cell)[:40]} in {self.where(j)}. Each cell of this argument "
                f"must be a string or a number, not a {type(cell).__name__}."
            ) from None

    def where(self, j: int) -> str:
        """Return what messages call a column."""
        if self.names is None and self.is_file:
            return f"column {self.number(j)} of the file"
        return f"column {(j if self.names is None else self.names[j])!r}"

    def number(self, j: int) -> int:
        """Return where a column stood in the file, from 1, row names included."""
        place, index = self.origin.places[j], self.row_names_at
        return place + (1 if index is None or place < index else 2)

    def changed(self, change: Callable[[int, Column], Column]) -> Source:
        """Return the table whose columns, given by place, are changed when they are loaded.

        Column by column: the faster ways know one rule for the whole table.
        """
        return replace(self, load=functools.cache(lambda j: change(j, self.load(j))), block=None)

    def mark_missing(self, values: Mapping[int, Collection[Value]]) -> Source:
        """Return the table in which more values stand for missing cells, given for some of its columns."""
        if not values:
            return self
        lists = {id(some): some for some in values.values()}  # most columns share one
        spelled = {key: spell_out(some, self.decimal) for key, some in lists.items()}
        gone = {j: spelled[id(some)] for j, some in values.items()}
        return self.changed(lambda j, column: replace(column, gone=gone[j]) if j in gone else column)

    def locate(self, entries: Mapping[Any, Entry], argument: str) -> dict[int, Entry]:  # Any: a name or a number
        """Return what an argument says about columns, by their places here; it may name others of the file."""
        return self.origin.locate(entries.items(), argument)

    def choose(self, kept: Sequence[int]) -> Source:
        """Return some of the columns, in this order; options still name those of this table."""
        origin = self.origin
        return replace(self.take(kept), chosen_from=replace(origin, places=tuple(origin.places[j] for j in kept)))

    def take(self, kept: Sequence[int]) -> Source:
        """Return some of the columns, in this order, as a table of its own."""
        if not len(kept):
            raise DataError(
                f"{setting('drop', python='columns, drop')}, {setting('weights')} and {setting('id_column')} must "
                "leave at least one column; none is left."
            )
        adjacent = list(kept) == list(range(kept[0], kept[0] + len(kept)))
        part = slice(kept[0], kept[0] + len(kept)) if adjacent else kept  # a slice is not copied
        known = self.chosen_from
        return replace(
            self,
            shape=(self.shape[0], len(kept)),
            load=lambda j: self.load(kept[j]),
            block=None if self.block is None else self.block[:, part],
            names=None if self.names is None else [self.names[j] for j in kept],
            chosen_from=known and replace(known, places=tuple(known.places[j] for j in kept)),
        )

    def without(self, *gone: int | None) -> Source:
        """Return all columns but some."""
        return self.take([k for k in range(self.shape[1]) if k not in gone])

    @property
    def is_unlabeled(self) -> Mask:
        """Which rows lack a label, in a column that is not a variable."""
        blank = [entries == None for entries in self.apart.values()]  # noqa: E711 - of each entry
        return np.any(blank, axis=0) if blank else np.zeros(self.shape[0], dtype=bool)

    def condensed(self) -> Source:
        """Return the columns with every value that occurs once, to be sent to another process."""
        columns = [self.column(j).condensed() for j in range(self.shape[1])]
        without_rows = replace(self, row_names=None, weight=None, apart={}, describe_row=_ROW)
        return replace(without_rows, load=columns.__getitem__, block=None)


def join_values(sources: Sequence[Source]) -> Source:
    """Return the columns of the first of some condensed tables with the values of all of them."""

    def load(j: int) -> Column:
        columns = [source.column(j) for source in sources if source.shape[1] == first.shape[1]]
        values = dict.fromkeys(chain.from_iterable(column.values or () for column in columns))
        categories = dict.fromkeys(chain.from_iterable(column.categories or () for column in columns))
        return replace(
            columns[0],
            cells=np.arange(len(values)),
            values=list(values),
            categories=tuple(categories) or None,
            labels={value: label for column in columns for value, label in column.labels.items()},
        )

    first = sources[0]
    return replace(first, load=functools.cache(load))


def of_objects(table: Cells, decimal: str | None = None) -> Source:
    """Return an array of objects as a table, in which texts are numbered once."""
    load = functools.cache(lambda j: number_objects(table[:, j].astype(object)).read(decimal))
    return Source((table.shape[0], table.shape[1]), load)


def of_numbers(table: Cells) -> Source:
    """Return an array of numbers as a table."""
    block = None if has_short_fractions(table) else table
    return Source((table.shape[0], table.shape[1]), lambda j: Column(as_spelled(table[:, j])), block=block)
