"""What a table can come in: arrays, lists, sparse matrices and data frames, all read column by column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import DataError, setting

_NUMBERS = "buif"  # kinds of NumPy types that are compared as numbers


@dataclass(frozen=True, eq=False)
class Column:
    """One column as it came."""

    values: NDArray[Any]  # numbers or objects
    masked: NDArray[np.bool_] | None = None  # cells that are missing whatever they hold
    categories: tuple[Any, ...] | None = None  # the categories of a categorical column, if their order means something
    ordered: bool = False  # whether the source declares that order
    by_code: bool = False  # whether it is that of numbers which the categories label

    @property
    def entries(self) -> NDArray[Any]:
        """The cells as objects, None where they are masked."""
        cells = self.values.astype(object)
        if self.masked is not None:
            cells[self.masked] = None
        return cells


UNTYPED = Column(np.empty(0))
"""A column whose type says nothing about its values."""


@dataclass(frozen=True, eq=False)
class Grid:
    """A table of few distinct values, kept as their numbers."""

    codes: NDArray[Any]  # position in `values` of every cell
    values: list[Any]  # numbers, text, or None for a missing cell; not necessarily distinct

    def column(self, j: int) -> Column:
        """Return one column as objects."""
        values = np.empty(len(self.values), dtype=object)
        values[:] = self.values
        return Column(values[self.codes[:, j]])


@dataclass(frozen=True, eq=False)
class Source:
    """A table of any kind."""

    shape: tuple[int, int]  # rows and columns, at least one of each
    column: Callable[[int], Column]  # the column of a given number
    block: NDArray[Any] | None = None  # the whole table, if it is dense and holds numbers
    masked: NDArray[np.bool_] | None = None  # missing cells of `block` that are not NaN
    sparse: Any = None  # the whole table by rows, without duplicate entries
    grid: Grid | None = None  # the whole table, if its distinct values have been numbered
    declared: tuple[str | None, ...] | None = None  # kinds of the columns whose type says that they are categorical
    names: Sequence[Any] | None = None  # labels of columns and rows
    row_names: Sequence[Any] | None = None
    numbers: Sequence[int] = ()  # where the columns stood in a file, counted from 0; none if it comes from no file
    may_have_row_names: bool = False  # whether the first column of the file could be no variable
    describe_row: Callable[[int], str] = "row {}".format  # what messages call a row of a given number

    @classmethod
    def of_grid(cls, grid: Grid, **known: Any) -> Self:
        """Return a table whose distinct values have been numbered."""
        return cls(grid.codes.shape, grid.column, grid=grid, **known)

    def where(self, j: int) -> str:
        """Return what messages call a column."""
        if self.names is None and self.numbers:
            return f"column {self.numbers[j] + 1} of the file"
        return f"column {(j if self.names is None else self.names[j])!r}"

    def typed(self, j: int) -> Column:
        """Return a column, or an empty one if only its values could say what they mean."""
        return UNTYPED if self.grid is not None or self.block is not None else self.column(j)

    def remark_column(self, j: int) -> str:
        """Return what messages add about the values of a column, a sentence or nothing."""
        values = self.column(j).values.tolist() if self.may_have_row_names and self.numbers[j] == 0 else []
        distinct = len(values) > 1 and None not in values and len(set(map(str, values))) == len(values)
        return f" If it names the rows, pass {setting('id_column', 0)}." if distinct else ""

    def take(self, kept: Sequence[int]) -> Self:
        """Return some of the columns, in this order."""
        adjacent = list(kept) == list(range(kept[0], kept[0] + len(kept)))
        part = slice(kept[0], kept[0] + len(kept)) if adjacent else kept  # a slice is not copied
        return replace(
            self,
            shape=(self.shape[0], len(kept)),
            column=lambda j: self.column(kept[j]),
            block=None if self.block is None else self.block[:, part],
            masked=None if self.masked is None else self.masked[:, part],
            sparse=None if self.sparse is None else self.sparse[:, part],
            grid=None if self.grid is None else replace(self.grid, codes=self.grid.codes[:, part]),
            declared=None if self.declared is None else tuple(self.declared[j] for j in kept),
            names=None if self.names is None else [self.names[j] for j in kept],
            numbers=[self.numbers[j] for j in kept] if self.numbers else (),
        )


def open_source(X: Any) -> Source:
    """Find out what ``X`` is; nothing is converted yet."""
    if isinstance(X, str | bytes) or hasattr(X, "__fspath__"):
        raise DataError(f"X must be a table; got the text {X!r}. To read a file use isinglass.read_table(path).")
    if hasattr(X, "tocsr") and hasattr(X, "nnz"):
        return _sparse_source(X)
    if not isinstance(X, np.ndarray | list | tuple):
        frame = _as_frame(X)
        if frame is not None:
            return _frame_source(frame)
    return _array_source(X)


def _array_source(X: Any) -> Source:
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
        values = table[:, j] if is_numbers else table[:, j].astype(object)
        return Column(values, None if masked is None else masked[:, j])

    return Source((table.shape[0], table.shape[1]), column, block=table if is_numbers else None, masked=masked)


def _check_shape(shape: tuple[int, ...], X: Any) -> None:
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


def _sparse_source(X: Any) -> Source:
    _check_shape(X.shape, X)
    if X.dtype.kind not in _NUMBERS:
        hint = "Complex data not supported." if X.dtype.kind == "c" else "Use numbers."
        raise DataError(f"X must hold 0 and 1; got a sparse matrix of dtype {X.dtype}. {hint}")
    rows = X.tocsr()
    if not rows.has_canonical_format:  # entries that scipy would add up; the caller's matrix is left alone
        rows = rows.copy()
        rows.sum_duplicates()
    by_column: list[Any] = []  # converted once, and only if columns are asked for

    def column(j: int) -> Column:
        if not by_column:
            by_column.append(rows.tocsc())
        matrix = by_column[0]
        values = np.zeros(matrix.shape[0], dtype=matrix.dtype)
        entries = slice(matrix.indptr[j], matrix.indptr[j + 1])
        values[matrix.indices[entries]] = matrix.data[entries]
        return Column(values)

    return Source((rows.shape[0], rows.shape[1]), column, sparse=rows)


def _as_frame(X: Any) -> Any:
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

            return nw.from_native(pyarrow.table(X), eager_only=True)
    return None


def _frame_source(frame: Any) -> Source:
    import narwhals.stable.v1 as nw

    _check_shape(frame.shape, nw.to_native(frame))
    pandas_like, declared = frame.implementation.is_pandas_like(), _declared_kinds(frame)

    def column(j: int) -> Column:
        series = frame[:, j]
        if series.dtype == nw.Boolean or series.dtype.is_numeric():
            values = series.to_numpy()
            values = values if values.dtype.kind in _NUMBERS else values.astype(object)
        else:  # as a list: pyarrow's arrays of categories lose their missing cells on the way to NumPy
            values = np.empty(len(series), dtype=object)
            values[:] = series.to_list()
        # Categories of polars and pyarrow, unless declared as ordered, stand in the order of their first appearance.
        in_order = declared is not None and declared[j] == "ordinal"
        if in_order or (pandas_like and hasattr(nw.to_native(series), "cat")):
            categories = tuple(series.cat.get_categories().to_list())
            return Column(values, categories=categories, ordered=nw.is_ordered_categorical(series))
        return Column(values)

    index: Any = nw.maybe_get_index(frame)
    plain = index is None or type(index).__name__ == "RangeIndex"
    labels, types = list(frame.columns), set(frame.schema.values())
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


def _declared_kinds(frame: Any) -> tuple[str | None, ...] | None:
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
