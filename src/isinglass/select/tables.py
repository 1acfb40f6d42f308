"""Tables with their weights, and sums over their rows, whole or in parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray
from isinglass.data import (
    CategoryTable,
    PartedTable,
    are_counts,
    column_spread,
    count_categories,
    count_columns,
    count_rows,
    over_rows,
    read_parts,
    read_rows,
    units_of,
    weights_of,
    which_vary,
)
from isinglass.data.blocks import is_in_parts
from isinglass.data.conversion import refuse_holes
from isinglass.data.weights import kind_of, scale_weights
from isinglass.errors import DataError, LimitError, setting

MOST_CELLS = 1 << 33
"""Of a table of all rows that counts stand for."""
Table = Any
"""A BinaryTable, a CategoryTable or a PartedTable."""


def as_table(X: Any, sample_weight: ArrayLike | None = None, **reading: Any) -> Table:
    """Return anything that is a table, with the weights of its rows in it; ``reading`` as for `read_categories`."""
    if not isinstance(X, PartedTable) and is_in_parts(X):
        return read_parts(X, sample_weight=sample_weight, **reading)
    table = read_rows(X, **({} if isinstance(X, PartedTable) else reading))
    if isinstance(table, PartedTable):
        if sample_weight is not None:
            raise DataError(f"{setting('sample_weight')} must be given to read_parts for a table in parts.")
        return table
    if isinstance(table, CategoryTable):
        table = table.simplest()
    return with_weight(table, weights_of(table, sample_weight))


def without_holes(table: Table) -> Table:
    """Return a table that has no missing cells, or refuse it."""
    return table if isinstance(table, PartedTable) else refuse_holes(table)


def whole(table: Table) -> Table:
    """Return a table whose rows are in memory, or refuse it."""
    return table.refuse() if isinstance(table, PartedTable) else table


def is_in_memory(table: Table) -> bool:
    """Tell whether rows can be taken from a table."""
    return not isinstance(table, PartedTable)


def has_two_values(table: Table) -> bool:
    """Tell whether every column has two categories."""
    return not isinstance(table, CategoryTable)


def with_weight(table: Table, weight: FloatArray | None) -> Table:
    """Return the same rows with other weights of the same kind."""
    if weight is table.sample_weight:
        return table
    return replace(table, sample_weight=weight, weight_kind=None if weight is None else table.weight_kind)


def counted(table: Table, *, quiet: bool = False) -> Table:
    """Return the table with weights whose sum is the number of rows, N, of criteria and counts.

    ``quiet``: do not say how weights were understood whose kind was not stated.
    """
    if not is_in_memory(table) or table.sample_weight is None:
        return table
    units = units_of(table)
    scaled = scale_weights(table.sample_weight, table.weight_kind, units, quiet=quiet)
    return replace(table, sample_weight=scaled, weight_kind=kind_of(scaled, units))


def has_counts(table: Table) -> bool:
    """Tell whether the scaled weights of a table count equal rows, more than one of some."""
    weight = table.sample_weight
    return weight is not None and weight.max() > 1.0 and units_of(table) is None and are_counts(weight)


def square_weight(table: Table) -> Any:
    """Return what the outer product of every row's score is weighted by in the variance of their sum.

    A row that was drawn with sampling weight w has the score w u and adds w² u uᵀ, a count of w equal rows adds w u uᵀ;
    copies of one row share its weight. A table in parts has weights of its own: whether these are squared.
    """
    if not is_in_memory(table):
        return table.weight_kind == "sampling"
    weight, units = table.sample_weight, units_of(table)
    if weight is None:
        return None
    own = weight if units is None else np.asarray(np.bincount(units, weight), dtype=np.float64)[units]
    return weight if are_counts(own) else weight * own


def bare(table: Table) -> Table:
    """Return the cells, columns, weights and holes of a table, without what is known of single rows."""
    if isinstance(table, PartedTable):
        return table
    kind = table.weight_kind if table.units is None else None  # copies share a count
    return replace(table, rows=None, row_names=None, labels={}, weight_kind=kind)


def sum_rows(table: Table, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return ``function(cells, weight, *arguments)``, added up over the parts of a table in parts."""
    return over_rows(function, table.X, table.sample_weight, *arguments)


def total_weight(table: Table) -> float:
    """Return the number of rows: the sum of the weights."""
    return count_rows(table.X, table.sample_weight)


def unit_weight(table: Table) -> FloatArray:
    """Return the weights of the rows, 1 where there are none."""
    return np.ones(len(table)) if table.sample_weight is None else table.sample_weight


def weighted_rows(table: Table) -> NDArray[np.intp]:
    """Return the numbers of the rows with a positive weight."""
    return np.arange(len(table)) if table.sample_weight is None else np.flatnonzero(table.sample_weight)


def varying(table: Table) -> NDArray[np.bool_]:
    """Tell which columns take more than one value in rows with weight."""
    return which_vary(table.X, table.sample_weight)


def ones(table: Table) -> FloatArray:
    """Return the weight of the ones of every column of two values."""
    return count_columns(table.X, table.sample_weight)[0]


def category_counts(table: Table) -> list[FloatArray]:
    """Return the weight of every category of every column."""
    return count_categories(table, table.sample_weight)


def spreads(table: Table) -> tuple[FloatArray, FloatArray]:
    """Return the standard deviation of every column, and the largest distance of two of its categories."""
    return column_spread(table.X, table.sample_weight)


def take_part(table: Table, part: NDArray[Any]) -> Table:
    """Return some rows: by number, or as many of each as an array of floats says."""
    if part.dtype.kind == "f":
        rows = np.flatnonzero(part)
        return with_weight(table[rows], part[rows])
    return table[part]


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
    return with_weight(bare(table[rows]), None), rows
