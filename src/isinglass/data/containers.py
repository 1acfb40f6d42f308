"""Tables in memory: arrays, lists, sparse matrices and data frames, all read column by column."""

from __future__ import annotations

import functools
import numbers
from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass.arguments import is_whole
from isinglass.data.column import NUMBER_TYPES, Column, as_in_text, as_spelled, has_short_fractions, number_objects
from isinglass.data.meaning.rules import Cells
from isinglass.data.source import Source, of_numbers, of_objects
from isinglass.errors import DataError, setting
from isinglass.names import tidy_name

if TYPE_CHECKING:
    import narwhals.stable.v1 as nw
    import pyarrow

    Frame = nw.DataFrame[Any]  # Any: of any library
    Series = nw.Series[Any]


def open_source(X: object) -> Source:
    """Determine what kind of container ``X`` is; nothing is converted yet."""
    if isinstance(X, Source):
        return X
    if _is_sparse(X):
        return _array_source(_to_dense(X))
    _refuse_no_table(X)
    frame = as_frame(X)
    return _array_source(X) if frame is None else _frame_source(frame)


def _refuse_no_table(X: object) -> None:
    """Refuse names of files, and containers whose axes or values have names of their own."""
    first, *others = X if isinstance(X, list | tuple) and len(X) > 0 else (X,)
    if all(isinstance(each, str | bytes | PathLike) for each in (first, *others)):
        raise DataError(
            f"X must be a table; got the text {first!r}. To read a file use isinglass.read_table(path), and several as "
            "one table isinglass.read_parts(paths)."
        )
    remedy = ""
    if hasattr(X, "dims") and hasattr(X, "coords"):
        remedy = "dimensions have names. Pass X.to_pandas(), rows first."
    elif isinstance(X, Mapping) or isinstance(first, Mapping) or getattr(getattr(X, "dtype", None), "names", None):
        remedy = "values have names. Pass pandas.DataFrame(X)."
    if remedy:
        raise DataError(f"X must be an array, a data frame or a sparse matrix; got {type(X).__name__}, whose {remedy}")


def _array_source(X: object) -> Source:
    table = _as_array(X)
    _check_shape(table.shape, X)
    if table.dtype.kind == "c":
        raise DataError(f"X must hold 0 and 1; got dtype {table.dtype}. Complex data not supported.")
    is_numbers = table.dtype.kind in NUMBER_TYPES
    if np.ma.isMaskedArray(X) and np.ma.getmaskarray(X).any():
        gone = np.ma.getmaskarray(X)
        table = np.where(gone, np.nan, table) if is_numbers else np.where(gone, np.array(None), table.astype(object))
    return of_numbers(table) if is_numbers else of_objects(table)


def _as_array(X: object) -> Cells:
    """Return what is neither a frame nor sparse as an array; a list that mixes text and numbers keeps its numbers."""
    try:
        table = np.asarray(X)
    except DataError:  # a table of ours that says itself why it cannot be an array
        raise
    except (ValueError, TypeError):
        kind = type(X).__name__
        got = f"a {kind} whose rows differ in length or hold lists" if isinstance(X, list | tuple) else kind
        raise DataError(f"X must be an array, a data frame, a sparse matrix or a list of rows; got {got}.") from None
    return np.asarray(X, dtype=object) if table.dtype.kind in "US" and not isinstance(X, np.ndarray) else table


def _check_shape(shape: tuple[int, ...], X: object) -> None:
    kind = type(X).__name__
    if shape == () and not isinstance(X, np.ndarray):
        raise DataError(f"X must be an array, a data frame or a sparse matrix; got {kind}.")
    if len(shape) != 2 and shape != (0,):
        remedy = " Reshape your data: numpy.reshape(X, (-1, 1)) if it is one column, (1, -1) if it is one row."
        raise DataError(
            f"X must be a table of shape (n_samples, n_features); got {kind} with {len(shape)} dimension(s)."
            + remedy * (len(shape) == 1)
        )
    for size, what in zip(shape[::-1], ("feature", "sample"), strict=False):
        if size == 0:
            raise DataError(
                f"X must have at least one row and one column; got 0 {what}(s) (shape={tuple(shape)}) while a minimum "
                "of 1 is required."
            )


def _to_dense(X: Any) -> Cells:  # Any: one of the many classes of scipy.sparse
    """Return a sparse matrix as an array: of bytes, as the table will be, where these hold its numbers."""
    _check_shape(X.shape, X)
    if X.dtype.kind not in NUMBER_TYPES:
        hint = "Complex data not supported." if X.dtype.kind == "c" else "Use numbers."
        raise DataError(f"X must hold 0 and 1; got a sparse matrix of dtype {X.dtype}. {hint}")
    rows = X.tocsr()
    if not rows.has_canonical_format:  # entries that scipy would add up; the caller's matrix is left alone
        rows = rows.copy()
        rows.sum_duplicates()
    numbers = rows.data
    fits = numbers.size == 0 or (numbers.min() >= 0 and numbers.max() <= 255 and (numbers % 1 == 0).all())
    return np.asarray(rows.astype(np.uint8 if numbers.dtype == bool or fits else numbers.dtype).toarray())


def as_frame(X: object) -> Frame | None:
    """Return a data frame of any library as one of narwhals, None if ``X`` is something else."""
    if isinstance(X, np.ndarray | list | tuple) or _is_sparse(X):
        return None
    import narwhals.stable.v1 as nw  # imported here: arrays never need it

    native = X.to_native() if hasattr(X, "to_native") else X
    try:
        frame = nw.from_native(native, pass_through=True, allow_series=True)
    except Exception as error:  # which one depends on the version of narwhals
        raise DataError(f"X must be a data frame that narwhals can read; got {type(X).__name__}: {error}") from None
    if isinstance(frame, nw.Series):
        _check_shape((len(frame),), X)
    if isinstance(frame, nw.LazyFrame):
        raise DataError(
            f"X must be a table in memory; got the lazy frame {type(X).__module__.split('.')[0]}.{type(X).__name__}. "
            "Run its query first: X.collect()."
        )
    if isinstance(frame, nw.DataFrame):
        if nw.get_level(frame) == "full":
            return frame
        if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
            import pyarrow

            return as_frame(pyarrow.table(X))
    return None


def _is_sparse(X: object) -> bool:
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def _frame_source(frame: Frame) -> Source:
    import narwhals.stable.v1 as nw

    _check_shape(frame.shape, nw.to_native(frame))
    labels: list[Any] = frame.columns  # of pandas also numbers, which are no names where they count the columns
    names = None if labels == list(range(len(labels))) else list(map(tidy_name, labels))
    types = set(frame.schema.values())
    is_numbers = len(types) == 1 and all(kind == nw.Boolean or kind.is_numeric() for kind in types)
    block = frame.to_numpy() if is_numbers else None
    is_block = block is not None and block.dtype.kind in NUMBER_TYPES and not has_short_fractions(block)
    index: Any = nw.maybe_get_index(frame)
    has_index = index is not None and type(index).__name__ != "RangeIndex"
    return Source(
        frame.shape,
        functools.cache(lambda j: _frame_column(frame[:, j], tidy_name(labels[j]))),  # texts are numbered once
        block=block if is_block else None,
        names=names,
        has_number_labels=any(map(is_whole, labels)),
        row_names=list(index) if has_index else None,
    )


def _frame_column(series: Series, name: Hashable) -> Column:
    """Return a column of a frame: numbers as they are, others as positions among their values."""
    import narwhals.stable.v1 as nw

    if series.dtype == nw.Boolean or series.dtype.is_numeric():
        values = series.to_numpy()
        return Column(as_spelled(values)) if values.dtype.kind in NUMBER_TYPES else number_objects(values)
    if series.dtype in (nw.Categorical, nw.Enum):
        return _categorical_column(series, name)
    if series.dtype == nw.String:
        with suppress(UnicodeEncodeError):  # of half a surrogate pair, which text of Arrow cannot have
            return number_arrow(series.to_arrow()).read()
    return number_objects(series.to_list()).read()


def _categorical_column(series: Series, name: Hashable) -> Column:
    """Return a column of categories with the kind that its type declares, and its categories if their order counts."""
    import narwhals.stable.v1 as nw

    native, library = nw.to_native(series), series.implementation
    is_pandas = library.is_pandas_like() and hasattr(native, "cat")
    if is_pandas:
        column = Column(native.cat.codes.to_numpy(), native.cat.categories.tolist())
    else:
        column = number_arrow(series.to_arrow())
    # A Categorical of polars, or of Arrow in pandas, has the order of first appearance, which says nothing.
    has_order = series.dtype == nw.Enum or is_pandas or not (library.is_polars() or library.is_pandas_like())
    is_ordered = has_order and nw.is_ordered_categorical(series)
    column = replace(column, declared="ordinal" if is_ordered else "nominal")
    if not (is_ordered or is_pandas):
        return column
    categories = tuple(series.cat.get_categories().to_list())
    if all(isinstance(value, str | numbers.Number | np.bool_) for value in categories):
        return replace(column, categories=categories)
    text = {value: str(value) for value in categories}  # intervals, dates: model files hold numbers and text
    if len(set(text.values())) < len(text):
        raise DataError(f"{setting('X')} must have categories that differ as text; those of column {name!r} do not.")
    values = [text.get(value, value) for value in column.values or ()]
    return replace(column, values=values, categories=tuple(text.values()))


def number_arrow(array: pyarrow.Array | pyarrow.ChunkedArray) -> Column:
    """Return a column of Arrow by the positions of its values."""
    import pyarrow

    if isinstance(array, pyarrow.ChunkedArray):
        array = array.unify_dictionaries().combine_chunks()
    coded = array if pyarrow.types.is_dictionary(array.type) else array.dictionary_encode()
    cells = coded.indices.cast(pyarrow.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
    return Column(cells, list(map(as_in_text, coded.dictionary.to_pylist())))
