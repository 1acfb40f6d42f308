"""The rows that fits are given: split into folds, some of them, or repeated by their counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import AnyArray, FloatArray
from isinglass.data import AnyTable, PartedTable, Table, are_counts
from isinglass.data.parts.selection import Fold
from isinglass.errors import DataError, LimitError

RowNumbers = NDArray[np.intp]
RowSet = AnyArray | Fold
"""Rows by number, or how many of each, as floats; of a table in parts, a fold that is drawn in every part by itself."""
Split = tuple[RowSet, RowSet]
"""The rows that a fold is fitted to, and those that it holds out."""
MOST_EXACT = 10**9
"""Rows up to which NumPy draws from the multivariate hypergeometric distribution."""
MOST_CELLS = 1 << 33
"""Of a table of all rows that counts stand for."""


def counts_rows(table: Table) -> bool:
    """Tell whether the scaled weights of a table say how many equal rows each row stands for, none or more.

    Sampling weights do not, and neither do the shares that copies of a row have of its weight.
    """
    return table.units is None and are_counts(table.sample_weight)


def has_counts(table: Table) -> bool:
    """Tell whether a row of the table stands for several equal rows, which are different respondents."""
    return counts_rows(table) and table.weight_range[1] > 1.0


def units_of(table: Table, groups: AnyArray | None) -> AnyArray:
    """Return which rows stay together: those of a group, or copies of a row in a completed table."""
    if groups is not None:
        return groups
    return np.arange(len(table)) if table.units is None else table.units


def count_units(table: Table, groups: AnyArray | None = None) -> int:
    """Return how many rows, or groups of rows that stay together, have a positive weight."""
    if groups is None and has_counts(table):
        return int(table.total_weight)
    return len(np.unique(units_of(table, groups)[table.weighted_rows]))


def split_rows(table: Table, groups: AnyArray | None, n_folds: int, rng: Generator) -> list[Split]:
    """Return the rows of each fold: rows of one group together, rows of weight zero nowhere.

    Without groups, the copies of a row in a completed table stay together, and the equal rows that a count stands for
    are divided among the folds.
    """
    if groups is None and has_counts(table):
        counts = table.unit_weight
        return [(counts - held, held) for held in _divide_counts(counts, n_folds, rng)]
    rows = table.weighted_rows
    units, member = np.unique(units_of(table, groups)[rows], return_inverse=True)
    parts = np.array_split(rng.permutation(len(units)), n_folds)
    is_held = [np.isin(member, part) for part in parts]
    return [(rows[~held], rows[held]) for held in is_held]


def split_parts(n_folds: int, rng: Generator) -> list[Split]:
    """Return the rows of each fold of a table in parts."""
    seed = int(rng.integers(2**32))
    return [(Fold(seed, n_folds, k, held=False), Fold(seed, n_folds, k, held=True)) for k in range(n_folds)]


def _divide_counts(counts: FloatArray, n_folds: int, rng: Generator) -> list[FloatArray]:
    """Return how many of each row every fold holds out: as equal in number as possible, but for a billion rows."""
    left, held = np.rint(counts).astype(np.int64), []
    for folds in range(n_folds, 1, -1):
        part = draw_without_replacement(left, int(left.sum()) // folds, rng)
        held.append(part.astype(np.float64))
        left = left - part
    return [*held, left.astype(np.float64)]


def draw_without_replacement(counts: NDArray[np.int64], size: int, rng: Generator) -> NDArray[np.int64]:
    """Return how many of each kind are among ``size`` that are drawn; of a billion or more, about so many."""
    total = int(counts.sum())
    if total < MOST_EXACT:
        return rng.multivariate_hypergeometric(counts, size, method="marginals")
    return rng.binomial(counts, size / total)


def take_part(table: AnyTable, part: RowSet) -> AnyTable:
    """Return some rows of a table."""
    if isinstance(part, Fold):
        return cast(PartedTable, table).take_fold(part)
    whole = table.whole()
    if part.dtype.kind == "f":
        rows = np.flatnonzero(part)
        return whole[rows].with_weight(part[rows])
    return whole[part]


def check_splits(
    splits: Iterable[Iterable[ArrayLike]], table: Table, groups: AnyArray | None = None
) -> list[tuple[RowNumbers, RowNumbers]]:
    """Return pairs of training rows and held-out rows as arrays, without the rows of weight zero.

    ``splits`` are such pairs, or an object whose ``split(X)``, with ``groups`` if there are any, gives them, as
    scikit-learn's splitters do.
    """
    rows, n_rows = table.weighted_rows, len(table)
    pairs = splits
    try:
        if hasattr(splits, "split"):
            pairs = splits.split(np.asarray(table), **({} if groups is None else {"groups": groups}))
        parts: Sequence[Any] = [(np.asarray(train), np.asarray(held_out)) for train, held_out in pairs]
    except (TypeError, ValueError) as error:
        if hasattr(splits, "split"):
            failed = f"The splitter {type(splits).__name__} has failed: {str(error).rstrip('.')}"
            remedy = "Pass groups to one that needs them, or pairs of row numbers instead of a splitter"
            raise DataError(f"{failed}. {remedy}.") from None
        got = f"got {type(splits).__name__}. The reason: {error}"
        raise DataError(f"Given folds must be pairs of row numbers, (training, held out); {got}") from None
    if len(parts) < 2:
        raise DataError(f"Given folds must be at least 2 pairs; got {len(parts)}.")
    for k, part in ((k, part) for k, pair in enumerate(parts) for part in pair):
        if part.ndim != 1 or part.dtype.kind not in "iu" or (part.size and not 0 <= part.min() <= part.max() < n_rows):
            raise DataError(f"Given folds must hold row numbers from 0 to {n_rows - 1}; got others in pair {k}.")
        if not np.isin(part, rows).any():
            raise DataError(f"Given folds must have a row of positive weight on either side; got none in pair {k}.")
    counted = [(train[np.isin(train, rows)], held_out[np.isin(held_out, rows)]) for train, held_out in parts]
    for k, pair in enumerate(counted):
        both = np.intersect1d(*pair)
        if len(both):
            raise DataError(f"Given folds must not hold out training rows; got {len(both)} of them in pair {k}.")
    return counted


def repeated(table: Table) -> tuple[Table, NDArray[np.intp]]:
    """Return a table without weights, each row as often as its count says, and the row that each of them is."""
    if table.sample_weight is None:
        return table, np.arange(len(table))
    if not are_counts(table.sample_weight):
        raise DataError(
            "the method is a function of a table without weights, and the weights are not counts, so rows "
            "cannot be repeated instead. Pass a Method, or leave out the weights; in place of a completed table, pass "
            "the table with its missing cells, or one of impute(X).tables()."
        )
    n_rows = float(table.sample_weight.sum())
    if n_rows * table.shape[1] > MOST_CELLS:
        raise LimitError(
            f"The counts stand for {n_rows:.3g} rows of {table.shape[1]} columns, and at most {MOST_CELLS:.3g} cells "
            "can be drawn row by row. Take a sample of them."
        )
    rows = np.repeat(np.arange(len(table)), np.rint(table.sample_weight).astype(np.intp))
    return table[rows].bare().with_weight(None), rows


def one_by_one(table: Table) -> tuple[Table, NDArray[np.intp]]:
    """Return the equal rows of a count one by one, none of weight zero, and the row that each of them is."""
    if counts_rows(table):
        return repeated(table)
    rows = table.weighted_rows
    return table if len(rows) == len(table) else table[rows], rows
