"""The gate of every function that takes a table: whole, or in parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.data import conversion
from isinglass.data.blocks import is_in_parts
from isinglass.data.category_table import CategoryTable
from isinglass.data.parts import PartedTable, read_parts
from isinglass.data.table import BinaryTable
from isinglass.errors import DataError

AnyTable: TypeAlias = BinaryTable | CategoryTable | PartedTable


def read_rows(X: Any, **options: Any) -> Any:
    """Return a `BinaryTable`, a `CategoryTable` as it is, or a `PartedTable` of what comes in parts.

    The options are those of `read_categories`.

    Examples
    --------
    >>> read_rows([[0, 1]]), read_rows([np.eye(2), np.eye(2)])
    (BinaryTable(1 rows × 2 columns), PartedTable(4 rows × 2 columns in 2 parts, in this process))
    """
    if isinstance(X, PartedTable | CategoryTable):
        return X
    return read_parts(X, **options) if is_in_parts(X) else conversion.read_categories(X, **options)


def open_rows(X: Any, sample_weight: ArrayLike | None) -> tuple[Any, Any, NDArray[np.float64] | None]:
    """Return what was read, and what `to_weighted` returns."""
    if not isinstance(X, PartedTable) and is_in_parts(X):
        X, sample_weight = read_parts(X, sample_weight=sample_weight), None
    if not isinstance(X, PartedTable):
        source = conversion.read_categories(X)
        if isinstance(source, CategoryTable):
            conversion.refuse_holes(source)
            return source, source.X, conversion.weights_of(source, sample_weight)
        return source, *conversion.to_weighted(source, sample_weight)
    if sample_weight is not None:
        raise DataError("sample_weight must be given to read_parts for a table in parts; got it beside the table.")
    return X, X, None


def bare_rows(table: BinaryTable | CategoryTable) -> Any:
    """Return what resamples are made of: bytes, or categories without weights, holes and row numbers.

    Examples
    --------
    >>> bare_rows(BinaryTable(np.array([[0, 1]], dtype=np.uint8))).tolist()
    [[0, 1]]
    """
    if isinstance(table, BinaryTable):
        return table.X
    return replace(table, sample_weight=None, holes=None, rows=None, row_names=None, n_missing=0, labels={})


def to_weighted(X: Any, sample_weight: ArrayLike | None) -> tuple[Any, NDArray[np.float64] | None]:
    """Return the table and the weights of its rows: bytes and an array, or a table in parts, which has its own.

    A table with categories stays one, without its weights.

    Examples
    --------
    >>> to_weighted([[0, 1], [1, 1]], [1, 2])[1].tolist()
    [1.0, 2.0]
    """
    return open_rows(X, sample_weight)[1:]
