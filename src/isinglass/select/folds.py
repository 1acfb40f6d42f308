"""The rows that fits are given: split into folds, some of them, or repeated by their counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from isinglass.arrays import AnyArray, FloatArray
from isinglass.data import AnyTable, PartedTable, Table, are_counts
from isinglass.data.parts.parted_table import Fold
from isinglass.errors import DataError, LimitError

RowSet = AnyArray | Fold
"""Rows by number, or how many of each, as floats; of a table in parts, a fold that is drawn in every part by itself."""
Split = tuple[RowSet, RowSet]
"""The rows that a fold is fitted to, and those that it holds out."""
MOST_EXACT = 10**9  # rows up to which NumPy draws from the multivariate hypergeometric distribution
MOST_CELLS = 1 << 33  # of a table of all rows that counts stand for


def counts_rows(table: Table) -> bool:
    """Tell whether weights say how many equal rows each row stands for, and are not sampling weights or shares."""
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


def check_splits(splits: Sequence[tuple[AnyArray, AnyArray]], table: Table) -> list[Split]:
    """Return pairs of training rows and held-out rows without the rows of weight zero, if they are folds of a table."""
    n_rows, rows, counted = len(table), table.weighted_rows, list[Split]()
    for k, pair in enumerate(splits):
        for part in pair:
            is_list = part.ndim == 1 and part.dtype.kind in "iu" and len(part)
            if not is_list or not 0 <= part.min() <= part.max() < n_rows or not np.isin(part, rows).any():
                must = f"must hold row numbers from 0 to {n_rows - 1}, some of them of positive weight"
                raise DataError(f"Each side of given folds {must}; got others in pair {k}.")
        train, held_out = (part[np.isin(part, rows)] for part in pair)
        if len(np.intersect1d(train, held_out)):
            raise DataError(f"Given folds must not hold out training rows; got some of them in pair {k}.")
        counted.append((train, held_out))
    return counted


def one_by_one(table: Table) -> tuple[Table, NDArray[np.intp]]:
    """Return the equal rows of a count one by one, none of weight zero, and the row that each of them is."""
    rows, weight = table.weighted_rows, table.sample_weight
    if weight is None or not counts_rows(table):
        return table if len(rows) == len(table) else table[rows], rows
    if weight.sum() * table.shape[1] > MOST_CELLS:
        raise LimitError(
            f"The counts stand for {weight.sum():.3g} rows of {table.shape[1]} columns, and at most {MOST_CELLS:.3g} "
            "cells can be drawn row by row. Take a sample of them."
        )
    rows = np.repeat(np.arange(len(table)), np.rint(weight).astype(np.intp))
    return table[rows].bare().with_weight(None), rows
