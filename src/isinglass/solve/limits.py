"""What fits into memory: tables that are refused, and tables that are cut into parts."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass._core import path_bytes
from isinglass.data import AnyTable, PartedTable
from isinglass.data.parts.backends import RARE
from isinglass.data.parts.read_parts import cut_into_parts
from isinglass.data.weights import check_sample_weight
from isinglass.errors import LimitError
from isinglass.machine.memory import available_memory, memory_for

LARGE = 500_000_000  # cells from which a table is worked on in parts, which takes 2 bytes per cell instead of 20
CELLS_THAT_FIT = 10_000_000  # cells up to which the free memory is not checked
SPARSE_COLUMNS = 1000  # columns from which on a table with few ones is worked on in parts too, as lists of ones
CELLS_OF_A_PART = 50_000_000
_PER_PAIR_OF_CATEGORIES, _PER_CELL = 4, 24  # bytes that every table of categories takes; measured


def split_sparse(X: object, sample_weight: ArrayLike | None) -> PartedTable | None:
    """Return a large sparse matrix as a table in parts, never dense as a whole; None if it is something else."""
    if not (hasattr(X, "tocsr") and hasattr(X, "nnz") and hasattr(X, "shape") and _is_large(X.shape, lambda: X.nnz)):
        return None
    return cut_into_parts(X.tocsr(), check_sample_weight(sample_weight, X.shape[0]), CELLS_OF_A_PART)


def cut_if_large(table: AnyTable) -> AnyTable:
    """Return a table of two-valued columns in parts, if it is better worked on like that."""
    if table.is_whole and _is_large(table.shape, lambda: int(np.count_nonzero(table.codes))):
        return cut_into_parts(table.codes, table.sample_weight, CELLS_OF_A_PART)
    return table


def _is_large(shape: tuple[int, int], count_ones: Callable[[], int]) -> bool:
    """Tell whether a table is better worked on in parts: it is large, memory has no room for it, or ones are rare."""
    (n_rows, n_features), size = shape, math.prod(shape)
    if size <= CELLS_THAT_FIT:
        return False
    if size > LARGE or path_bytes(n_rows, n_features, 0) > available_memory():
        return True
    return n_features >= SPARSE_COLUMNS and count_ones() < RARE * size


def refuse_categories(n_rows: int, sizes: NDArray[np.intp]) -> None:
    """Refuse a table whose moments alone, of all pairs of categories, would not fit into memory."""
    numbers = int(sizes.sum())
    _refuse_above(
        (_PER_PAIR_OF_CATEGORIES * numbers + _PER_CELL * n_rows) * numbers,
        f"A joint fit of {len(sizes)} columns with {numbers} categories in all needs",
        "Fit node by node (nodewise_path), which takes one column at a time, merge rare categories, or leave columns "
        "out.",
    )


def refuse_pairs(p: int) -> None:
    """Refuse a table in parts whose pairs do not fit: their gradients are here, once as they come and once added up."""
    what = f"The gradients of {p * (p - 1) // 2} pairs need"
    _refuse_above(2 * path_bytes(1, p, 0), what, "Use fewer columns, or a computer with more memory.")


def _refuse_above(needed: int, what: str, remedy: str) -> None:
    free = memory_for(needed)
    if needed > free:
        raise LimitError(f"{what} about {needed / 1e9:.3g} GB of memory, and {free / 1e9:.3g} GB are free. {remedy}")


def refuse_unpenalized(table: AnyTable) -> None:
    """Refuse pairs without a penalty in a large table in parts: whether their optimum is finite takes all its rows."""
    if not table.is_whole and math.prod(table.shape) > LARGE:
        raise LimitError(
            f"Every pair of a table with more than {LARGE} cells needs a penalty. Pass alphas above 0 and penalty "
            "weights above 0."
        )
