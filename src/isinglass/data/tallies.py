"""Counts over the rows of a table, whole or in parts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass._core import count_ones
from isinglass.data.parts import PartedTable, over_rows
from isinglass.data.weights import measure_scale, warn_scale

__all__ = ["check_scale", "count_columns", "count_rows"]

FloatArray = NDArray[np.float64]


def count_rows(table: Any, weight: FloatArray | None) -> float:
    """Return the number of rows: the sum of the weights.

    Examples
    --------
    >>> count_rows(np.zeros((3, 1), np.uint8), None), count_rows(np.zeros((2, 1), np.uint8), np.array([1.0, 0.5]))
    (3.0, 1.5)
    """
    return float(over_rows(_count, table, weight))


def _count(table: Any, weight: FloatArray | None) -> float:
    return float(len(table)) if weight is None else float(weight.sum())


def check_scale(table: Any, weight: FloatArray | None) -> None:
    """Warn where the sum of the weights can hardly be meant as the number of rows."""
    warn_scale(*over_rows(_measure, table, weight))


def _measure(table: Any, weight: FloatArray | None) -> tuple[int, float, int]:
    return (0, float(len(table)), len(table)) if weight is None else measure_scale(weight)


def count_columns(table: Any, weight: FloatArray | None) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the weight of the ones of every column, and whether it takes both values in rows with weight.

    Examples
    --------
    >>> ones, varies = count_columns(np.array([[0, 1], [1, 1]], dtype=np.uint8), None)
    >>> ones.tolist(), varies.tolist()
    ([1.0, 2.0], [True, False])
    """
    if not isinstance(table, PartedTable):
        return count_ones(table, weight)
    ones, with_one, with_zero = over_rows(_count_both, table, weight)
    return ones, (with_one > 0) & (with_zero > 0)


def _count_both(table: Any, weight: FloatArray | None) -> tuple[FloatArray, NDArray[Any], NDArray[Any]]:
    """Return the weight of the ones, and 1 for every column with a one and with a zero."""
    if weight is not None and not weight.all():
        table, weight = np.ascontiguousarray(table[weight > 0]), weight[weight > 0]
    ones, varies = count_ones(table, weight)
    return ones, (ones > 0).astype(np.int64), (varies | (ones == 0)).astype(np.int64)
