"""A table before its values have a meaning: its columns, how options name them, and what messages call them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from itertools import chain, pairwise
from typing import Any, TypeVar

import numpy as np

from isinglass.arguments import is_whole
from isinglass.arrays import FloatArray, Mask
from isinglass.data.column import Column, UnhashableError, as_spelled, has_short_fractions, number_objects
from isinglass.data.meaning.advice import advise_missing, remark_decimals, remark_identifier
from isinglass.data.meaning.coding import NO_FILE, Coding, Layout
from isinglass.data.meaning.rules import Cells
from isinglass.data.meaning.values import AMOUNT, Value, is_number, read_word, show_value, spell_out
from isinglass.errors import ArgumentError, CellTypeError, DataError, listed, setting
from isinglass.names import check_names, read_column, tidy_name

Entry = TypeVar("Entry")
NAMES_SHOWN = 8
"""Names of columns that a message lists."""
# Headers of a first column that names the rows. pandas and R leave the header empty.
ID_NAMES = frozenset({"", "id", "index", "row", "rowname", "rownames", "row_names", "unnamed: 0", "__index_level_0__"})


@dataclass(frozen=True)
class FileFacts:
    """What is known of a file beside its cells, if a table came from one."""

    row_names_at: int | None = None  # the column that names the rows: where the file says it is, or where it was
    wording: Mapping[str, str] = field(default_factory=dict)  # what the file says about its columns, by name
    detected: Mapping[str, str] = field(default_factory=dict)  # what was found out about it, for the user


@dataclass(frozen=True, eq=False)
class Source:
    """A table before its values have a meaning, from memory or from a file; its columns are loaded when needed."""

    shape: tuple[int, int]  # rows and columns, at least one of each
    load: Callable[[int], Column]  # the column of a given number
    block: Cells | None = None  # the whole table, if it is dense and holds numbers
    names: Sequence[Value] | None = None  # labels of columns and rows
    row_names: Sequence[Value] | None = None
    is_file: bool = False
    facts: FileFacts = FileFacts()
    is_part: bool = False  # of a table in parts, whose columns have two values
    # what holds for other tables like this one; also where the columns were, if they were chosen from a table
    layout: Layout = NO_FILE
    all_names: Sequence[Value] | None = None  # of the columns of that table, by which options name these
    has_number_labels: bool = False  # whether some names were numbers, the labels of a frame
    describe_row: Callable[[int], str] = "row {}".format  # what messages call a row of a given number
    weight: FloatArray | None = None  # of its rows
    apart: Mapping[str, Cells] = field(default_factory=dict)  # columns that are not variables, such as groups

    def of_file(self, **fields: Any) -> Source:  # Any: of the record
        """Return the table as that of a file, whose rows and columns are counted from 1."""
        return replace(self, **{"is_file": True, "describe_row": lambda row: f"row {row + 1}", **fields})

    def with_facts(self, **facts: Any) -> Source:  # Any: fields of the record
        """Return the table of a file of which more is known."""
        return replace(self, facts=replace(self.facts, **facts))

    def named(self, names: Sequence[str] | None) -> Source:
        """Return the table with names of columns that are text and differ: those given, or its own."""
        own = None if self.names is None else [str(name) for name in self.names]
        chosen = own if names is None else names
        if chosen is None:
            return self
        layout = self.layout if own is None or names is None else replace(self.layout, names=tuple(own))
        had_numbers = self.has_number_labels or any(map(is_whole, self.names or ()))
        has_number_labels = had_numbers and (names is None or list(names) == own)
        checked = check_names(chosen, self.shape[1])
        return replace(self, names=checked, layout=layout, has_number_labels=has_number_labels)

    @property
    def labels(self) -> Sequence[Hashable]:
        """What options call the columns: their names, or their numbers in the table that columns were chosen from."""
        return self.names or self.places

    @property
    def is_chosen(self) -> bool:
        """Whether options chose the columns from a table."""
        return self.layout.numbers is not None

    @property
    def places(self) -> Sequence[int]:
        """Where the columns are in the table that columns were chosen from, row names apart."""
        return self.layout.numbers or range(self.shape[1])

    @property
    def width(self) -> int:
        """How many columns the table has that columns were chosen from, row names apart."""
        return self.layout.width or self.shape[1]

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
        index = self.facts.row_names_at
        return self.places[j] + (1 if index is None or self.places[j] < index else 2)

    def remark_column(self, j: int) -> str:
        """Return what messages add about the values of a column, sentences or nothing."""
        values = self.column(j).distinct
        is_first = self.is_file and self.row_names is None and self.places[j] == 0
        identifier = remark_identifier(len(values), self.shape[0], self.labels[j], is_first=is_first)
        missing = advise_missing(j, self.labels, lambda k: self.column(k).distinct)
        return missing + identifier + remark_decimals(values, self.decimal)

    def changed(self, change: Callable[[int, Column], Column]) -> Source:
        """Return the table whose columns, given by place, are changed when they are loaded.

        Column by column: the faster ways know one rule for the whole table.
        """
        return replace(self, load=functools.cache(lambda j: change(j, self.load(j))), block=None)

    def mark_missing(self, values: Mapping[int, Collection[Value]]) -> Source:
        """Return the table in which more values stand for missing cells, given for some of its columns."""
        lists = {id(some): some for some in values.values()}
        spelled = {key: spell_out(some, self.decimal) for key, some in lists.items()}
        gone = {j: spelled[id(some)] for j, some in values.items()}
        return self.changed(lambda j, column: replace(column, gone=gone[j]) if j in gone else column) if gone else self

    def label_values(self, labels: Mapping[Any, Mapping[Value, str]], apart: Collection[int]) -> Source:  # Any: a key
        """Return the table in which the values of some columns have these labels: all, unless they are 0 and 1.

        All of columns ``apart``, which are no variables.
        """
        by_place = {
            j: {read_word(value): label for value, label in entries.items()}
            for j, entries in self.locate(labels, "value_labels").items()
        }

        def label(j: int, column: Column) -> Column:
            unknown = [value for value in column.distinct if value not in by_place[j]] if j in by_place else []
            if unknown and (j in apart or not set(column.distinct) <= {0, 1}):
                raise ArgumentError(
                    "value_labels", f"must label every value of {self.where(j)}", unknown[0], "Add its label."
                )
            return column.with_labels(by_place[j]) if j in by_place else column

        return self.changed(label) if by_place else self

    @property
    def _known_names(self) -> Sequence[Value]:
        """The names by which options find columns."""
        return (self.all_names if self.is_chosen else self.names) or ()

    def find(self, key: str | int, argument: str) -> int:
        """Return where the column with this name or number is in the table that columns were chosen from.

        A number that is the label of a column of a frame means that column.
        """
        n_columns, names = self.width, self._known_names
        if self.has_number_labels and is_whole(key) and str(key) in names:
            key = str(key)  # the label of a column comes before its number
        if is_whole(key):
            if not -n_columns <= key < n_columns:
                got = setting("column", int(key), python=f"number {key}")
                raise DataError(f"{setting(argument)} must be a column of the table, which has {n_columns}; got {got}.")
            return int(key) % n_columns
        places = [j for j, name in enumerate(names) if name == key] or [
            j for j, name in enumerate(names) if name == tidy_name(key)
        ]
        if len(places) == 1:
            return places[0]
        if places:
            raise DataError(
                f"{setting(argument)} must be one column; got {key!r}, the name of {len(places)}. Give its number."
            )
        near = get_close_matches(str(key), names, n=1)
        if near:
            raise ArgumentError(argument, "must be a column of the table", key, f"Did you mean {near[0]!r}?")
        known = f"The table has {listed(list(map(repr, names)), NAMES_SHOWN) if names else 'no names'}."
        raise ArgumentError(argument, "must be a column of the table", key, known)

    def find_all(self, key: str | int, argument: str) -> list[int]:
        """Return where the columns are that a name, number, range ``A1:A5`` or pattern ``A*`` stands for, as `find`."""
        names = self._known_names
        if isinstance(key, str) and key not in names:
            first, colon, last = key.partition(":")
            if colon and first and last:
                ends = [self.find(read_column(end), argument) for end in (first, last)]
                if ends[0] > ends[1]:
                    raise ArgumentError(argument, "must name a range from left to right", key)
                return list(range(ends[0], ends[1] + 1))
            fitting = [j for j, name in enumerate(names) if fnmatchcase(name, key)] if set("*?[") & set(key) else []
            if fitting:
                return fitting
        return [self.find(key, argument)]

    def locate(self, entries: Mapping[Any, Entry], argument: str) -> dict[int, Entry]:  # Any: a name or a number
        """Return what an argument says about columns, by their places here; it may name others of the file.

        Where the argument is "kinds", messages name the option of the kind.
        """
        found: dict[int, Entry] = {}
        for key, entry in entries.items():
            called = entry if argument == "kinds" and isinstance(entry, str) else argument
            found |= dict.fromkeys(self.find_all(key, called), entry)
        return {j: found[place] for j, place in enumerate(self.places) if place in found}

    def choose(self, kept: Sequence[int]) -> Source:
        """Return some of the columns, in this order; options still name those of this table."""
        if self.is_chosen:
            return self.take(kept)
        layout = replace(self.layout, numbers=tuple(range(self.shape[1])), width=self.shape[1])
        return replace(self, layout=layout, all_names=self.names).take(kept)

    def take(self, kept: Sequence[int]) -> Source:
        """Return some of the columns, in this order, as a table of its own."""
        if not len(kept):
            raise DataError(
                f"the options {setting('columns')}, {setting('drop')}, {setting('weights')} and "
                f"{setting('id_column')} must leave at least one column; none is left."
            )
        adjacent = list(kept) == list(range(kept[0], kept[0] + len(kept)))
        part = slice(kept[0], kept[0] + len(kept)) if adjacent else kept  # a slice is not copied
        return replace(
            self,
            shape=(self.shape[0], len(kept)),
            load=lambda j: self.load(kept[j]),
            block=None if self.block is None else self.block[:, part],
            names=None if self.names is None else [self.names[j] for j in kept],
            layout=replace(self.layout, numbers=tuple(self.places[j] for j in kept)) if self.is_chosen else self.layout,
        )

    def without(self, *gone: int | None) -> Source:
        """Return all columns but some."""
        return self.take([k for k in range(self.shape[1]) if k not in gone])

    def find_id_column(self, *, numbers_are_data: bool) -> int | None:
        """Tell whether the first column names the rows.

        It does if its header says so, or if it has more than two values, all different and none missing, and more than
        half of them are text other than amounts such as $1,200 or 84%, or all are whole numbers in ascending order;
        numbers only if they cannot be data. A column that the file itself declares comes first.
        """
        if self.shape[1] < 2:
            return None
        if self.facts.row_names_at is not None:
            return self.facts.row_names_at
        if self.names is not None and self.names[0].strip().casefold() in ID_NAMES:
            return 0
        column, n_rows = self.column(0), self.shape[0]
        if n_rows < 3 or len(column.distinct) < n_rows:  # the same value in two rows, or a missing one
            return None
        values = column.entries.tolist()
        n_texts = sum(isinstance(value, str) and not AMOUNT.fullmatch(value) for value in values)
        if 2 * n_texts > n_rows:  # fewer, beside numbers, are values that cannot be read
            return 0
        whole = all(isinstance(value, int) or (isinstance(value, float) and value.is_integer()) for value in values)
        ascending = whole and all(before < after for before, after in pairwise(values))
        return 0 if ascending and not numbers_are_data else None

    def read_weights(self, place: int) -> FloatArray:
        """Return the column of row weights."""
        values = self.column(place).entries
        for row, value in enumerate(values):
            if not is_number(value) or not np.isfinite(float(value)) or value < 0:
                shown = "a missing cell" if value is None else show_value(value)
                raise DataError(
                    f"{setting('weights')} must be finite and not negative; got {shown} in column "
                    f"{self.labels[place]!r} ({self.describe_row(row)}).{remark_decimals([value], self.decimal)}"
                )
        return np.asarray(values, dtype=np.float64)

    @property
    def is_unlabeled(self) -> Mask:
        """Which rows lack a label, in a column that is not a variable."""
        blank = [entries == None for entries in self.apart.values()]  # noqa: E711 - of each entry
        return np.any(blank, axis=0) if blank else np.zeros(self.shape[0], dtype=bool)

    def find_weights(self, coding: object) -> int | None:
        """Return the column of row weights that the table of a coding had, if it is here."""
        known = coding.layout.weights if isinstance(coding, Coding) else None
        names = [str(name) for name in self.names or ()]
        return names.index(known) if known in names else None

    def condensed(self) -> Source:
        """Return the columns with every value that occurs once, to be sent to another process."""
        columns = [self.column(j).condensed() for j in range(self.shape[1])]
        kept = ("names", "is_file", "facts", "is_part", "layout", "all_names", "has_number_labels")
        known = {name: getattr(self, name) for name in kept}
        return Source(self.shape, columns.__getitem__, **known)

    def transpose(self) -> Source:
        """Exchange rows and columns of a file, with their names."""
        names = self.names
        fields: dict[str, Any] = {"layout": self.layout, "names": self.row_names, "row_names": names}
        fields["facts"] = FileFacts(detected=self.facts.detected)
        if names is not None:
            fields["describe_row"] = lambda row: f"row {names[row]!r}"
        if self.block is not None:
            return of_numbers(self.block.T).of_file(**fields)
        number_of: dict[tuple[type, Value, str], int] = {}  # 1, 01 and True are different words of a text
        codes = np.empty(self.shape[::-1], dtype=np.int32)
        blanks = self.column(0).blanks
        for j in range(self.shape[1]):
            column = self.column(j)
            column = column if column.values is not None else number_objects(column.entries)
            words = column.words or [""] * len(column.values or ())
            spelled = zip([*(column.values or ()), None], [*words, ""], strict=True)
            numbers = [number_of.setdefault((type(value), value, word), len(number_of)) for value, word in spelled]
            codes[j] = np.array(numbers)[column.cells]
        keys, has_words = list(number_of), self.column(0).words is not None

        def column_of(j: int) -> Column:
            places, cells = np.unique(codes[:, j], return_inverse=True)
            _, values, words = zip(*(keys[k] for k in places.tolist()), strict=True)
            return Column(cells, values, blanks=blanks, words=words if has_words else None)

        return Source(codes.shape, column_of).of_file(**fields)


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


def of_numbers(table: Cells) -> Source:
    """Return an array of numbers as a table."""
    block = None if has_short_fractions(table) else table
    return Source((table.shape[0], table.shape[1]), lambda j: Column(as_spelled(table[:, j])), block=block)
