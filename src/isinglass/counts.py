"""How often the values of two columns occur together: the table of counts behind an edge."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray
from isinglass.data import BinaryTable, CategoryTable, count_categories, count_columns, count_rows, over_rows

COUNTS = ("n11", "n10", "n01", "n00")
CELLS_AT_ONCE = 1 << 22


def summarize(table: BinaryTable | CategoryTable, edge_index: NDArray[np.int32]) -> tuple[float, Any, Any]:
    """Return the number of rows, the shares of the values of every column, and the counts behind every edge.

    For columns of 0 and 1 these are the shares of ones, and an array of four counts per edge; for columns of categories
    a tuple of arrays, the shares of all categories, and a tuple of tables.
    """
    weight = table.sample_weight
    if not isinstance(table, CategoryTable):
        n_rows = count_rows(table.X, weight)
        ones = count_columns(table.X, weight)[0]
        return n_rows, ones / n_rows, over_rows(count_edges, table.X, weight, edge_index)
    n_rows = count_rows(table.codes, weight)
    shares = tuple(counts / n_rows for counts in count_categories(table, weight))
    return n_rows, shares, count_tables(table, weight, edge_index)


def count_edges(table: NDArray[np.uint8], weight: FloatArray | None, edge_index: NDArray[np.int32]) -> NDArray[Any]:
    """Return the rows (or their weights) with 11, 10, 01 and 00 in the columns of every edge; whole if these are."""
    unit = np.ones(len(table)) if weight is None else weight
    counts = np.empty((len(edge_index), 4))
    columns = table.T.astype(bool)
    step = max(1, CELLS_AT_ONCE // len(table))
    for first in range(0, len(edge_index), step):
        some = slice(first, first + step)
        s, t = columns[edge_index[some, 0]], columns[edge_index[some, 1]]
        # Four sums rather than one and differences: these are never negative by rounding.
        counts[some] = np.column_stack([both @ unit for both in (s & t, s & ~t, ~s & t, ~(s | t))])
    return counts.astype(np.int64) if _is_whole(weight) else counts


def count_tables(
    table: CategoryTable, weight: FloatArray | None, edge_index: NDArray[np.int32]
) -> tuple[NDArray[Any], ...]:
    """Return for every edge how many rows (or which weight) have category k and category l; whole if these are."""
    columns, sizes = np.ascontiguousarray(table.codes.T).astype(np.intp), table.n_categories.tolist()
    found = []
    for s, t in edge_index.tolist():
        both = np.bincount(columns[s] * sizes[t] + columns[t], weight, sizes[s] * sizes[t])
        found.append(both.reshape(sizes[s], sizes[t]).astype(np.int64 if _is_whole(weight) else np.float64))
    return tuple(found)


def _is_whole(weight: FloatArray | None) -> bool:
    return weight is None or bool((weight == np.rint(weight)).all() and weight.sum() < 2**53)
