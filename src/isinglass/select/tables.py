"""Rows of a table as a selector or a resample needs them: repeated by their counts, or some of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray
from isinglass.data import AnyTable, Table, are_counts
from isinglass.errors import DataError, LimitError

MOST_CELLS = 1 << 33
"""Of a table of all rows that counts stand for."""


def has_counts(table: Table) -> bool:
    """Tell whether the scaled weights of a table count equal rows, more than one of some."""
    weight = table.sample_weight
    return weight is not None and weight.max() > 1.0 and table.units is None and are_counts(weight)


def square_weight(table: AnyTable) -> FloatArray | bool | None:
    """Return what the outer product of every row's score is weighted by in the variance of their sum.

    A row that was drawn with sampling weight w has the score w u and adds w² u uᵀ, a count of w equal rows adds w u uᵀ;
    copies of one row share its weight. A table in parts has weights of its own: whether these are squared.
    """
    if not table.is_whole:
        return table.weight_kind == "sampling"
    weight, units = table.sample_weight, table.units
    if weight is None:
        return None
    own = weight if units is None else np.asarray(np.bincount(units, weight), dtype=np.float64)[units]
    return weight if are_counts(own) else weight * own


def repeated(table: Table) -> tuple[Table, NDArray[np.intp]]:
    """Return a table without weights, each row as often as its count says, and the row that each of them is."""
    if table.sample_weight is None:
        return table, np.arange(len(table))
    if not are_counts(table.sample_weight):
        raise DataError(
            "the method is a function of a table without weights, and the weights are not counts, so that rows cannot "
            "be repeated instead. Pass a Method, or leave out the weights."
        )
    n_rows = float(table.sample_weight.sum())
    if n_rows * table.shape[1] > MOST_CELLS:
        raise LimitError(
            f"the rows that counts stand for must have at most {MOST_CELLS:.3g} cells where they are drawn one by one; "
            f"got {n_rows:.3g} rows of {table.shape[1]} columns. Take a sample of them."
        )
    rows = np.repeat(np.arange(len(table)), np.rint(table.sample_weight).astype(np.intp))
    return table[rows].bare().without_weight(), rows
