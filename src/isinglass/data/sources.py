"""What a table can come in: arrays, lists, sparse matrices and data frames, all read column by column."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from isinglass.data.coding import ABSENT, Cells, Codes, Rule, Value
from isinglass.data.guards import advise_missing, remark_decimals, remark_identifier
from isinglass.errors import CellTypeError, DataError, setting

if TYPE_CHECKING:
    import narwhals.stable.v1 as nw
    import pyarrow

SEEN = 10_000
"""Rows that show whether a column has fractions."""
_NUMBERS = "buif"  # kinds of NumPy types that are compared as numbers


@dataclass(frozen=True, eq=False)
class Column:
    """One column as it came: numbers, or the positions of its cells among its values."""

    cells: Cells  # numbers; if there are `values`, positions among them, -1 for a missing cell
    values: Sequence[Value] | None = None  # numbers, text, or None for a missing cell; some may occur twice or never
    masked: NDArray[np.bool_] | None = None  # numbers that stand for a missing cell
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
            counts = np.bincount(self.cells.astype(np.intp) + 1, minlength=len(self.values) + 1)[1:]
            found = (self.values[k] for k in np.flatnonzero(counts).tolist())
            return [value for value in dict.fromkeys(found) if value is not None]
        numbers = np.unique(self.cells if self.masked is None else self.cells[~self.masked])
        return (numbers[~np.isnan(numbers)] if numbers.dtype.kind == "f" else numbers).tolist()  # type: ignore[no-any-return]

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
        cells = self.cells.astype(object)
        if self.masked is not None:
            cells[self.masked] = None
        return cells

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which cells are missing."""
        if self.values is not None:
            absent = [value is None or value != value for value in self.values]
            return np.array([*absent, True])[self.cells]
        missing = np.isnan(self.cells) if self.cells.dtype.kind == "f" else np.zeros(len(self.cells), dtype=bool)
        return missing if self.masked is None else missing | self.masked

    @property
    def spellings(self) -> list[str]:
        """The cells as text."""
        if self.words is not None:
            return [self.words[position].strip() for position in self.cells]
        return [str(cell) for cell in self.entries]

    def convert(self, rule: Rule) -> Codes:
        """Return what every cell stands for by a rule of a `Coding`."""
        if self.values is None:
            return convert_numbers(self.cells, self.masked, rule)
        meant = [ABSENT if value is None else rule.target(value) for value in self.values]
        return np.asarray(np.array([*meant, ABSENT], dtype=rule.dtype)[self.cells])

    def without(self, is_gone: Callable[[Value], bool]) -> Column:
        """Return the column in which more values stand for a missing cell: one, or the number that it labels."""
        if self.values is None:
            found = [number for number in self.distinct if is_gone(number)]
            hits = np.isin(self.cells, found)
            return replace(self, masked=hits if self.masked is None else hits | self.masked) if found else self
        numbers = self.numbers or {}
        gone = {value for value in {*self.values, *numbers} if is_gone(value) or is_gone(numbers.get(value))}
        kept = None if self.categories is None else tuple(value for value in self.categories if value not in gone)
        return replace(self, values=[None if value in gone else value for value in self.values], categories=kept)


class _UnhashableError(Exception):
    """A cell that can be neither a number nor text."""


UNTYPED = Column(np.empty(0))
"""A column whose type says nothing about its values."""


def convert_numbers(numbers: Cells, masked: NDArray[np.bool_] | None, rule: Rule) -> Codes:
    """Return what an array of numbers stands for."""
    codes = rule.convert(numbers)
    if numbers.dtype.kind == "f":
        codes[np.isnan(numbers)] = ABSENT
    if masked is not None:
        codes[masked] = ABSENT
    return codes


def number_objects(objects: Sequence[Value] | Cells, masked: NDArray[np.bool_] | None = None) -> Column:
    """Return a column of objects by the positions of its values."""
    seen: dict[Value, int] = {}
    try:
        cells = np.fromiter((seen.setdefault(value, len(seen)) for value in objects), np.int32, len(objects))
    except TypeError:
        raise _UnhashableError(next(value for value in objects if not isinstance(value, Hashable))) from None
    if masked is not None:
        cells[masked] = -1
    return Column(cells, [None if is_missing(value) else value for value in seen])


def is_missing(value: Value) -> bool:
    """Tell whether a value stands for a missing cell whatever the rule."""
    if value is None or value is np.ma.masked or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating) and math.isnan(value)


def _objects(values: Sequence[Value]) -> Cells:
    """Return an array of objects, whatever these are."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@dataclass(frozen=True, eq=False)
class Source:
    """A table of any kind."""

    shape: tuple[int, int]  # rows and columns, at least one of each
    load: Callable[[int], Column]  # the column of a given number
    block: Cells | None = None  # the whole table, if it is dense and holds numbers
    masked: NDArray[np.bool_] | None = None  # missing cells of `block` that are not NaN
    sparse: Any = None  # the whole table by rows, without duplicate entries
    declared: tuple[str | None, ...] | None = None  # kinds of the columns whose type says that they are categorical
    names: Sequence[Value] | None = None  # labels of columns and rows
    row_names: Sequence[Value] | None = None
    numbers: Sequence[int] = ()  # where the columns stood in a file, counted from 0; none if it comes from no file
    may_have_row_names: bool = False  # whether the first column of the file could be no variable
    describe_row: Callable[[int], str] = "row {}".format  # what messages call a row of a given number

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

    def mark_missing(self, is_gone: Mapping[int, Callable[[Value], bool]]) -> Self:
        """Return the table in which more values stand for missing cells: of some columns, those that a function names.

        Column by column: the faster ways know one rule for the whole table.
        """
        load = self.load
        marked = {"load": lambda j: load(j).without(is_gone[j]) if j in is_gone else load(j)}
        return replace(self, **marked, block=None, masked=None, sparse=None) if is_gone else self  # type: ignore[arg-type]

    def take(self, kept: Sequence[int]) -> Self:
        """Return some of the columns, in this order."""
        adjacent = list(kept) == list(range(kept[0], kept[0] + len(kept)))
        part = slice(kept[0], kept[0] + len(kept)) if adjacent else kept  # a slice is not copied
        return replace(
            self,
            shape=(self.shape[0], len(kept)),
            load=lambda j: self.load(kept[j]),
            block=None if self.block is None else self.block[:, part],
            masked=None if self.masked is None else self.masked[:, part],
            sparse=None if self.sparse is None else self.sparse[:, part],
            declared=None if self.declared is None else tuple(self.declared[j] for j in kept),
            names=None if self.names is None else [self.names[j] for j in kept],
            numbers=[self.numbers[j] for j in kept] if self.numbers else (),
        )


def open_source(X: object) -> Source:
    """Find out what ``X`` is; nothing is converted yet."""
    if isinstance(X, str | bytes) or hasattr(X, "__fspath__"):
        raise DataError(f"X must be a table; got the text {X!r}. To read a file use isinglass.read_table(path).")
    if hasattr(X, "dims") and hasattr(X, "coords"):
        raise DataError(
            f"X must be an array, a data frame or a sparse matrix; got {type(X).__name__} of {type(X).__module__}, "
            "whose dimensions have names. Pass X.to_pandas(), rows first."
        )
    if hasattr(X, "tocsr") and hasattr(X, "nnz"):
        return _sparse_source(X)
    if not isinstance(X, np.ndarray | list | tuple):
        frame = _as_frame(X)
        if frame is not None:
            return _frame_source(frame)
    return _array_source(X)


def _array_source(X: object) -> Source:
    masked = np.ma.getmaskarray(X) if np.ma.isMaskedArray(X) and np.ma.getmaskarray(X).any() else None
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

    def column(j: int) -> Column:
        mask = None if masked is None else masked[:, j]
        return Column(table[:, j], masked=mask) if is_numbers else number_objects(table[:, j].astype(object), mask)

    return Source((table.shape[0], table.shape[1]), column, block=table if is_numbers else None, masked=masked)


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


def _sparse_source(X: Any) -> Source:  # Any: one of the many classes of scipy.sparse
    _check_shape(X.shape, X)
    if X.dtype.kind not in _NUMBERS:
        hint = "Complex data not supported." if X.dtype.kind == "c" else "Use numbers."
        raise DataError(f"X must hold 0 and 1; got a sparse matrix of dtype {X.dtype}. {hint}")
    rows = X.tocsr()
    if not rows.has_canonical_format:  # entries that scipy would add up; the caller's matrix is left alone
        rows = rows.copy()
        rows.sum_duplicates()
    by_column: list[Value] = []  # converted once, and only if columns are asked for

    def column(j: int) -> Column:
        if not by_column:
            by_column.append(rows.tocsc())
        matrix = by_column[0]
        values = np.zeros(matrix.shape[0], dtype=matrix.dtype)
        entries = slice(matrix.indptr[j], matrix.indptr[j + 1])
        values[matrix.indices[entries]] = matrix.data[entries]
        return Column(values)

    return Source((rows.shape[0], rows.shape[1]), column, sparse=rows)


def _as_frame(X: object) -> nw.DataFrame[Any] | None:
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

            table: nw.DataFrame[Any] = nw.from_native(pyarrow.table(X), eager_only=True)
            return table
    return None


def _frame_source(frame: nw.DataFrame[Any]) -> Source:
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
        raise DataError(f"{setting('X')} must have categories that differ as text; column {name!r} has not.")
    return text


def _declared_kinds(frame: nw.DataFrame[Any]) -> tuple[str | None, ...] | None:
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
