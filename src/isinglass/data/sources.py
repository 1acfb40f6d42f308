"""Containers of tables: arrays, lists, sparse matrices and data frames, all read column by column."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from difflib import get_close_matches
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from isinglass.data.coding import ABSENT, Cells, Codes, Rule, Value, is_one_of
from isinglass.data.guards import advise_missing, remark_decimals, remark_identifier
from isinglass.errors import ArgumentError, CellTypeError, DataError, setting
from isinglass.names import check_names

Entry = TypeVar("Entry")
if TYPE_CHECKING:
    import narwhals.stable.v1 as nw
    import pyarrow

    Frame = nw.DataFrame[Any]  # Any: of any library

SEEN = 10_000
"""Rows that show whether a column has fractions."""
# Headers of a first column that names the rows. pandas and R leave the header empty.
ID_NAMES = frozenset({"", "id", "index", "row", "rowname", "rownames", "row_names", "unnamed: 0", "__index_level_0__"})
_NUMBERS = "buif"  # kinds of NumPy types that are compared as numbers


@dataclass(frozen=True, eq=False)
class Column:
    """One column as it came: numbers, or the positions of its cells among its values."""

    cells: Cells  # numbers, NaN for a missing cell; if there are `values`, positions among them, -1 for a missing one
    values: Sequence[Value] | None = None  # numbers, text, or None for a missing cell; some may occur twice or never
    categories: tuple[Value, ...] | None = (
        None  # the categories of a categorical column, if their order means something
    )
    ordered: bool = False  # whether the source declares that order
    numbers: dict[Value, Value] | None = None  # the numbers that the categories label, which give their order
    words: Sequence[str] | None = None  # how a text file spells `values`

    @property
    def distinct(self) -> list[Value]:
        """The values that occur and are not missing."""
        if self.values is not None:
            cells = self.cells if self.cells.dtype.kind == "u" else self.cells[self.cells >= 0]
            counts = np.bincount(cells, minlength=len(self.values))
            found = (self.values[k] for k in np.flatnonzero(counts).tolist())
            return [value for value in dict.fromkeys(found) if value is not None]
        return [number for number in _whole(np.unique(self.cells)) if number == number]

    @property
    def has_fractions(self) -> bool:
        """Whether a number in it is not whole; of many numbers, one of the first."""
        if self.values is not None:
            return any(isinstance(value, float) and value % 1.0 != 0.0 for value in self.values)
        seen = self.cells[:SEEN] if self.cells.dtype.kind == "f" else np.empty(0)
        return bool((seen != np.floor(seen))[np.isfinite(seen)].any())

    @property
    def entries(self) -> Cells:
        """The cells as objects, None where they are missing."""
        if self.values is not None:
            return np.asarray(_objects([*self.values, None])[self.cells])
        return _objects([number if number == number else None for number in _whole(self.cells)])

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which cells are missing."""
        if self.values is not None:
            absent = [value is None or value != value for value in self.values]
            return np.array([*absent, True])[self.cells]
        return np.isnan(self.cells) if self.cells.dtype.kind == "f" else np.zeros(len(self.cells), dtype=bool)

    @property
    def spellings(self) -> list[str]:
        """The cells as text."""
        if self.words is not None:
            return [self.words[position].strip() for position in self.cells]
        return [str(cell) for cell in self.entries]

    def convert(self, rule: Rule) -> Codes:
        """Return what every cell stands for by a rule of a `Coding`."""
        if self.values is None:
            return convert_numbers(self.cells, rule)
        codes = rule.read([*self.values, None])
        codes[[value is None for value in (*self.values, None)]] = ABSENT
        if self.cells.dtype == np.uint8 and codes.dtype == np.int8:  # several times faster than an index
            return np.frombuffer(self.cells.tobytes().translate(codes.tobytes().ljust(256)), np.int8)
        return np.asarray(codes[self.cells])

    def without(self, is_gone: Callable[[Value], bool]) -> Column:
        """Return the column in which more values stand for a missing cell: one, or the number that it labels."""
        if self.values is None:
            found = [number for number in self.distinct if is_gone(number)]
            return replace(self, cells=np.where(np.isin(self.cells, found), np.nan, self.cells)) if found else self
        numbers = self.numbers or {}
        gone = {value for value in {*self.values, *numbers} if is_gone(value) or is_gone(numbers.get(value))}
        if not gone:
            return self
        kept = None if self.categories is None else tuple(value for value in self.categories if value not in gone)
        return replace(self, values=[None if value in gone else value for value in self.values], categories=kept)


class _UnhashableError(Exception):
    """A cell that can be neither a number nor text."""


UNTYPED = Column(np.empty(0))
"""A column whose type says nothing about its values."""


def convert_numbers(numbers: Cells, rule: Rule) -> Codes:
    """Return what an array of numbers stands for."""
    codes = rule.convert(numbers)
    if numbers.dtype.kind == "f":
        codes[np.isnan(numbers)] = ABSENT
    return codes


def number_objects(objects: Sequence[Value] | Cells) -> Column:
    """Return a column of objects by the positions of its values."""
    seen: dict[Value, int] = {}
    try:
        cells = np.fromiter((seen.setdefault(value, len(seen)) for value in objects), np.int32, len(objects))
    except TypeError:
        raise _UnhashableError(next(value for value in objects if not isinstance(value, Hashable))) from None
    return Column(cells, [None if is_missing(value) else value for value in seen])


def is_missing(value: Value) -> bool:
    """Tell whether a value stands for a missing cell under every rule."""
    if value is None or value is np.ma.masked or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating) and math.isnan(value)


def _whole(numbers: Cells) -> list[Value]:
    """Return numbers of Python: whole ones as such, though NaN among them makes all of them fractions."""
    if numbers.dtype.kind != "f":
        return numbers.tolist()  # type: ignore[no-any-return]
    return [int(each) if each.is_integer() and abs(each) < 2**53 else each for each in numbers.tolist()]


def _objects(values: Sequence[Value]) -> Cells:
    """Return an array of arbitrary objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@dataclass(frozen=True, eq=False)
class Source:
    """A table before its values have a meaning, from memory or from a file; its columns are loaded when needed."""

    shape: tuple[int, int]  # rows and columns, at least one of each
    load: Callable[[int], Column]  # the column of a given number
    block: Cells | None = None  # the whole table, if it is dense and holds numbers
    declared: tuple[str | None, ...] | None = None  # kinds of the columns whose type says that they are categorical
    names: Sequence[Value] | None = None  # labels of columns and rows
    row_names: Sequence[Value] | None = None
    numbers: Sequence[int] = ()  # where the columns stood in a file, counted from 0; none if it comes from no file
    whole: Source | None = None  # the table of the file, if columns were chosen from it: options name its columns
    index: int | None = None  # the column that names the rows, if the file says so
    may_have_row_names: bool = False  # whether the first column of the file could be no variable
    described: Mapping[str, str] = field(default_factory=dict)  # what the file says about its columns, by name
    detected: Mapping[str, str] = field(default_factory=dict)  # what was found out about the file
    describe_row: Callable[[int], str] = "row {}".format  # what messages call a row of a given number

    def of_file(self, **known: Any) -> Source:  # Any: fields of the record
        """Return the table as that of a file, whose rows and columns are counted from 1."""
        numbers = range(self.shape[1])
        return replace(self, **{"numbers": numbers, "describe_row": lambda row: f"row {row + 1}", **known})

    def named(self, names: Sequence[str] | None) -> Source:
        """Return the table with names of columns that are text and differ: those given, or its own."""
        given = names if names is not None or self.names is None else [str(name) for name in self.names]
        return self if given is None else replace(self, names=check_names(given, self.shape[1]))

    @property
    def labels(self) -> Sequence[Hashable]:
        """The names of the columns, or their numbers if they have none."""
        return range(self.shape[1]) if self.names is None else self.names

    @property
    def is_array(self) -> bool:
        """Whether the columns come without names from memory: one type holds for all."""
        return self.names is None and not self.numbers

    def column(self, j: int) -> Column:
        """Return one column."""
        try:
            return self.load(j)
        except _UnhashableError as error:
            (cell,) = error.args
            raise CellTypeError(
                f"X must hold numbers or text; got {str(cell)[:40]} in {self.where(j)}. Every cell that is an argument "
                f"must be a string or a number, not a {type(cell).__name__}."
            ) from None

    def where(self, j: int) -> str:
        """Return what messages call a column."""
        if self.names is None and self.numbers:
            return f"column {self.numbers[j] + 1} of the file"
        return f"column {(j if self.names is None else self.names[j])!r}"

    def remark_column(self, j: int) -> str:
        """Return what messages add about the values of a column, sentences or nothing."""
        values = self.column(j).distinct
        is_first = self.may_have_row_names and self.numbers[j] == 0
        label = self.names[j] if self.names is not None else self.numbers[j] if self.numbers else j
        return (
            advise_missing(values)
            + remark_identifier(len(values), self.shape[0], label, is_first)
            + remark_decimals(values)
        )

    def mark_missing(self, values: Mapping[int, Collection[Value]]) -> Source:
        """Return the table in which more values stand for missing cells, given for some of its columns.

        Column by column: the faster ways know one rule for the whole table.
        """
        if not values:
            return self
        tests = {tuple(some): is_one_of(some) for some in values.values()}
        is_gone = {j: tests[tuple(some)] for j, some in values.items()}
        load = self.load
        return replace(self, load=lambda j: load(j).without(is_gone[j]) if j in is_gone else load(j), block=None)

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
        near = get_close_matches(str(key), names, n=1)
        if near:
            raise ArgumentError(argument, "must be a column of the table", key, f"Did you mean {near[0]!r}?")
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

    def locate(self, entries: Mapping[Any, Entry], argument: str) -> dict[int, Entry]:  # Any: a name or a number
        """Return what an argument says about columns, by their places here; it may name others of the file."""
        found: dict[int, Entry] = {}
        whole = self.whole or self
        places = {number: j for j, number in enumerate(self.numbers or range(self.shape[1]))}
        for key, entry in entries.items():
            called = entry if argument == "kinds" and isinstance(entry, str) else argument
            for j in whole.find_all(key, called):
                number = whole.numbers[j] if whole.numbers else j
                found |= {places[number]: entry} if number in places else {}
        return found

    def take(self, kept: Sequence[int]) -> Source:
        """Return some of the columns, in this order."""
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
            declared=None if self.declared is None else tuple(self.declared[j] for j in kept),
            names=None if self.names is None else [self.names[j] for j in kept],
            numbers=[self.numbers[j] for j in kept] if self.numbers else (),
        )

    def without(self, *gone: int | None) -> Source:
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

    def transpose(self) -> Source:
        """Exchange rows and columns of a file, with their names."""
        names = self.names
        known: dict[str, Any] = {"detected": self.detected, "names": self.row_names, "row_names": names}
        if names is not None:
            known["describe_row"] = lambda row: f"row {names[row]!r}"
        if self.block is not None:
            return open_source(self.block.T).of_file(**known)
        seen: dict[tuple[type, Value], int] = {}
        codes = np.empty(self.shape[::-1], dtype=np.int32)
        for j in range(self.shape[1]):
            column = self.column(j)
            column = column if column.values is not None else number_objects(column.entries)
            values = [*(column.values or ()), None]
            codes[j] = np.array([seen.setdefault((type(value), value), len(seen)) for value in values])[column.cells]
        every = [value for _, value in seen]
        return Source(codes.shape, lambda j: Column(codes[:, j], every)).of_file(**known)


def _number(word: str) -> str | int:
    """Read ``#3`` as the number of the third column."""
    return int(word[1:]) - 1 if word[:1] == "#" and word[1:].isdecimal() and int(word[1:]) > 0 else word


def open_source(X: object) -> Source:
    """Determine what kind of container ``X`` is; nothing is converted yet."""
    if isinstance(X, str | bytes) or hasattr(X, "__fspath__"):
        raise DataError(f"X must be a table; got the text {X!r}. To read a file use isinglass.read_table(path).")
    if hasattr(X, "dims") and hasattr(X, "coords"):
        raise DataError(
            f"X must be an array, a data frame or a sparse matrix; got {type(X).__name__} of {type(X).__module__}, "
            "whose dimensions have names. Pass X.to_pandas(), rows first."
        )
    if hasattr(X, "tocsr") and hasattr(X, "nnz"):
        return _array_source(_to_dense(X))
    if not isinstance(X, np.ndarray | list | tuple):
        frame = _as_frame(X)
        if frame is not None:
            return _frame_source(frame)
    return _array_source(X)


def _array_source(X: object) -> Source:
    try:
        table = np.asarray(X)
    except DataError:  # a table of ours that says itself why it cannot be an array
        raise
    except (ValueError, TypeError):
        if isinstance(X, list | tuple):
            raise DataError("X must be a table whose rows have equal length; got rows of different lengths.") from None
        raise DataError(f"X must be an array, a data frame or a sparse matrix; got {type(X).__name__}.") from None
    if table.dtype.kind in "US" and not isinstance(X, np.ndarray):
        table = np.asarray(X, dtype=object)  # a list that mixes text and numbers keeps its numbers
    _check_shape(table.shape, X)
    if table.dtype.kind == "c":
        raise DataError(f"X must hold 0 and 1; got dtype {table.dtype}. Complex data not supported.")
    is_numbers = table.dtype.kind in _NUMBERS
    if np.ma.isMaskedArray(X) and np.ma.getmaskarray(X).any():
        table = np.where(np.ma.getmaskarray(X), *((np.nan, table) if is_numbers else (None, table.astype(object))))

    def column(j: int) -> Column:
        return Column(table[:, j]) if is_numbers else number_objects(table[:, j].astype(object))

    return Source((table.shape[0], table.shape[1]), column, block=table if is_numbers else None)


def _check_shape(shape: tuple[int, ...], X: object) -> None:
    kind = type(X).__name__
    if len(shape) == 1:
        how = "X.to_frame()" if hasattr(X, "to_frame") else "X.reshape(-1, 1)"
        raise DataError(
            f"X must be a table of shape (n_samples, n_features); got {kind} with 1 dimension(s). Reshape your data: "
            f"{how} if it is one column, X.reshape(1, -1) if it is one row."
        )
    if len(shape) != 2:
        raise DataError(
            f"X must be a table of shape (n_samples, n_features); got {kind} with {len(shape)} dimension(s)."
        )
    for axis, what in ((1, "feature"), (0, "sample")):
        if shape[axis] == 0:
            raise DataError(
                f"X must have at least one row and one column; got 0 {what}(s) (shape={tuple(shape)}) while a minimum "
                "of 1 is required."
            )


def _to_dense(X: Any) -> Cells:  # Any: one of the many classes of scipy.sparse
    """Return a sparse matrix as an array: of bytes, as the table will be, where these hold its numbers."""
    _check_shape(X.shape, X)
    if X.dtype.kind not in _NUMBERS:
        hint = "Complex data not supported." if X.dtype.kind == "c" else "Use numbers."
        raise DataError(f"X must hold 0 and 1; got a sparse matrix of dtype {X.dtype}. {hint}")
    rows = X.tocsr()
    if not rows.has_canonical_format:  # entries that scipy would add up; the caller's matrix is left alone
        rows = rows.copy()
        rows.sum_duplicates()
    return np.asarray(rows.astype(dense_type(rows)).toarray())


def dense_type(rows: Any) -> np.dtype[np.generic]:  # Any: a sparse array or matrix by rows
    """Return bytes if these hold the numbers of a sparse matrix, else its own type."""
    numbers = rows.data
    fits = numbers.size == 0 or (numbers.min() >= 0 and numbers.max() <= 255 and (numbers % 1 == 0).all())
    return np.dtype(np.uint8) if numbers.dtype == bool or fits else numbers.dtype


def _as_frame(X: object) -> Frame | None:
    """Return a narwhals frame, or None if ``X`` is not a data frame."""
    import narwhals.stable.v1 as nw  # imported here: arrays never need it

    is_dask = hasattr(X, "dask") and hasattr(X, "columns")
    try:
        frame = X if is_dask else nw.from_native(X, pass_through=True, allow_series=True)
    except Exception as error:  # which one depends on the version of narwhals
        labels = [str(label) for label in getattr(X, "columns", ())]
        twice = next((label for label in labels if labels.count(label) > 1), None)
        if twice is None:
            raise DataError(f"X must be a data frame that narwhals can read; got {type(X).__name__}: {error}") from None
        raise DataError(
            f"X must have distinct column names; got {twice!r} {labels.count(twice)} times. Rename these columns."
        ) from None
    if isinstance(frame, nw.Series):
        _check_shape((len(frame),), X)
    if is_dask or isinstance(frame, nw.LazyFrame):
        raise DataError(
            f"X must be a table in memory; got the lazy frame {type(X).__module__.split('.')[0]}.{type(X).__name__}. "
            "Run its query first: X.collect() (polars), X.compute() (Dask)."
        )
    if isinstance(frame, nw.DataFrame):
        if nw.get_level(frame) == "full":
            return frame
        if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
            import pyarrow

            table: Frame = nw.from_native(pyarrow.table(X), eager_only=True)
            return table
    return None


def _frame_source(frame: Frame) -> Source:
    import narwhals.stable.v1 as nw

    _check_shape(frame.shape, nw.to_native(frame))
    pandas_like, declared = frame.implementation.is_pandas_like(), _declared_kinds(frame)

    def column(j: int) -> Column:
        series = frame[:, j]
        native = nw.to_native(series)
        if series.dtype == nw.Boolean or series.dtype.is_numeric():
            values = series.to_numpy()
            return Column(values) if values.dtype.kind in _NUMBERS else number_objects(values)
        if pandas_like and hasattr(native, "cat"):
            found = Column(native.cat.codes.to_numpy(), native.cat.categories.tolist())
        elif series.dtype in (nw.String, nw.Categorical, nw.Enum):
            found = number_arrow(series.to_arrow())
        else:
            return number_objects(series.to_list())
        # Categories of polars and pyarrow, unless declared as ordered, stand in the order of their first appearance.
        if (declared is not None and declared[j] == "ordinal") or (pandas_like and hasattr(native, "cat")):
            categories = tuple(series.cat.get_categories().to_list())
            if not all(isinstance(value, str | numbers.Number | np.bool_) for value in categories):
                text = _texts(categories, labels[j])
                found = replace(found, values=[text.get(value, value) for value in found.values or ()])
                categories = tuple(text.values())
            return replace(found, categories=categories, ordered=nw.is_ordered_categorical(series))
        return found

    index: Any = nw.maybe_get_index(frame)
    plain = index is None or type(index).__name__ == "RangeIndex"
    labels: list[Value] = list(frame.columns)  # of pandas also numbers
    types = set(frame.schema.values())
    is_numbers = len(types) == 1 and all(kind == nw.Boolean or kind.is_numeric() for kind in types)
    block = frame.to_numpy() if is_numbers else None
    return Source(
        frame.shape,
        column,
        block=block if block is not None and block.dtype.kind in _NUMBERS else None,
        declared=declared,
        names=None if labels == list(range(len(labels))) else labels,
        row_names=None if plain else list(index),
    )


def number_arrow(array: pyarrow.Array | pyarrow.ChunkedArray) -> Column:
    """Return a column of Arrow by the positions of its values."""
    import pyarrow

    if isinstance(array, pyarrow.ChunkedArray):
        array = array.unify_dictionaries().combine_chunks()
    coded = array if pyarrow.types.is_dictionary(array.type) else array.dictionary_encode()
    cells = coded.indices.cast(pyarrow.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
    return Column(cells, [None if is_missing(value) else value for value in coded.dictionary.to_pylist()])


def _texts(categories: Sequence[Value], name: Hashable) -> dict[Value, str]:
    """Return the text of categories that are intervals, dates or the like: model files hold numbers and text."""
    text = {value: str(value) for value in categories}
    if len(set(text.values())) < len(text):
        raise DataError(f"{setting('X')} must have categories that differ as text; those of column {name!r} do not.")
    return text


def _declared_kinds(frame: Frame) -> tuple[str | None, ...] | None:
    """Return ordinal or nominal for every categorical column; None if there is none."""
    import narwhals.stable.v1 as nw

    types = list(frame.schema.values())
    if not any(kind in (nw.Categorical, nw.Enum) for kind in types):
        return None
    found: list[str | None] = []
    for j, kind in enumerate(types):
        ordered = kind == nw.Enum
        # The order of a Categorical of polars is that of first appearance, which says nothing.
        if kind == nw.Categorical and not frame.implementation.is_polars():
            series = nw.to_native(frame[:, j])
            is_plain = not frame.implementation.is_pandas_like() or hasattr(series, "cat")
            ordered = is_plain and nw.is_ordered_categorical(frame[:, j])
        found.append("ordinal" if ordered else "nominal" if kind == nw.Categorical else None)
    return tuple(found)


def is_frame(X: object) -> bool:
    """Tell whether something is a data frame of pandas, polars or pyarrow, or one of these in narwhals."""
    return type(_unwrapped(X)).__module__.split(".")[0] in ("pandas", "polars", "pyarrow")


def _unwrapped(X: Any) -> Any:  # Any: frames of three libraries
    return X.to_native() if hasattr(X, "to_native") else X


def complete_like(X: Any, values: Cells, names: Sequence[str] | None = None) -> Any:  # Any: a frame
    """Return the frame ``X`` with ``values`` in its columns of these names (None: in all), or ``values`` if it is none.

    Other columns stay as they are, and columns keep their order.
    """
    if not is_frame(X):
        return values
    import narwhals.stable.v1 as nw

    frame = nw.from_native(_unwrapped(X), eager_only=True)
    label = {str(each): each for each in frame.columns}
    wanted = list(label if names is None else names)
    if not label.keys() >= set(wanted) or len(wanted) != values.shape[1]:
        raise DataError(
            f"{setting('X')} must have all columns of the network as such; some were combined from indicator columns. "
            "Pass as_table(X, encode=fit.coding)."
        )
    cells = values.T.tolist() if values.dtype.kind == "O" else np.ascontiguousarray(values.T)
    library = nw.get_native_namespace(frame)
    each = zip(wanted, cells, strict=True)
    filled = [nw.new_series(label[name], own, native_namespace=library) for name, own in each]
    return nw.to_native(frame.with_columns(*filled))
