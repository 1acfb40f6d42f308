"""Counts over the rows of a table, whole or in parts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass._core import count_ones
from isinglass.arrays import FloatArray
from isinglass.data.parts import PartedTable, over_rows
from isinglass.data.table import CategoryTable


def count_rows(table: Any, weight: FloatArray | None) -> float:
    """Return the number of rows: the sum of the weights."""
    return float(over_rows(_count, table, weight))


def _count(table: Any, weight: FloatArray | None) -> float:
    return float(len(table)) if weight is None else float(weight.sum())


def count_columns(table: Any, weight: FloatArray | None) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the weight of the ones of every column, and whether it takes both values in rows with weight."""
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


def count_categories(table: CategoryTable, weight: FloatArray | None) -> list[FloatArray]:
    """Return the weight of every category of every column."""
    sizes = table.n_categories
    ends = np.cumsum(sizes)
    cells = (table.codes + (ends - sizes)).ravel()
    unit = None if weight is None else np.repeat(weight, table.shape[1])
    counts = np.bincount(cells, unit, ends[-1]).astype(np.float64)
    return np.split(counts, ends[:-1])


def which_vary(table: Any, weight: FloatArray | None) -> NDArray[np.bool_]:
    """Tell which columns take more than one value in rows with weight, whatever kind of table it is."""
    if isinstance(table, CategoryTable):
        return np.array([np.count_nonzero(counts) > 1 for counts in count_categories(table, weight)])
    return count_columns(table, weight)[1]


def column_spread(table: Any, weight: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Return the standard deviation of the points of every column, and the largest distance of two of its categories.

    The categories of a nominal column are at distance 1 of each other, those of a column of 0 and 1 too.
    """
    if not isinstance(table, CategoryTable):
        share = count_columns(table, weight)[0] / count_rows(table, weight)
        return np.sqrt(share * (1.0 - share)), np.ones(len(share))
    sd, widths = np.empty(table.shape[1]), np.ones(table.shape[1])
    for s, (counts, score) in enumerate(zip(count_categories(table, weight), table.scores, strict=True)):
        share = counts / counts.sum()
        if score is None:
            sd[s] = np.sqrt(0.5 * float(share @ (1.0 - share)))  # half the mean square distance of two draws
        else:
            sd[s], widths[s] = np.sqrt(share @ (score - share @ score) ** 2), np.ptp(score)
    return sd, widths
