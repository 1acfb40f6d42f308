"""Columns that depend on others exactly: copies, opposites, indicators of one variable, sums and differences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.variables import MAX_CATEGORIES

ROWS_TO_SCREEN = 4096
"""Rows that are compared first; they rule out most pairs."""
COLUMNS_AT_ONCE = 64
"""Columns that are copied together: one by one, each would read the memory of all."""
EXPECTED_ROWS, EXPECTED_IN_SET = 3.0, 10.0
"""Rows that chance would put together in a column and those before it, and in all columns of a set of indicators."""
COMPUTED, INVOLVED = 1e-4, 1e-3
"""Residual, relative to the spread of a column, below which it is computed from others: sums in single precision are;
and least coefficient of these, for columns of equal spread."""
FAR_AWAY = 1000.0
"""Distance from the median, in units of the usual one, beyond which a row is an outlier."""


def dependent_columns(codes: Bytes, is_binary: Mask, holes: Mask | None = None) -> list[list[int]]:
    """Return the groups of columns of which one determines the others: equal, opposite, or other names for the same.

    Columns of one value are in no group. Missing cells (``holes``) are a value of their own.
    """
    groups = [list(range(codes.shape[1]))]
    for n_rows in sorted({min(ROWS_TO_SCREEN, len(codes)), len(codes)}):
        gone = None if holes is None else holes[:n_rows]
        groups = [alike for group in groups for alike in _alike(codes[:n_rows], group, is_binary, gone)]
    return sorted(group for group in groups if np.ptp(codes[:, group[0]]) > 0)


def _alike(codes: Bytes, columns: Sequence[int], is_binary: Mask, holes: Mask | None) -> list[list[int]]:
    """Return the groups of some columns that partition the rows in the same way."""
    alike: dict[bytes, list[int]] = {}
    for start in range(0, len(columns), COLUMNS_AT_ONCE):
        some = columns[start : start + COLUMNS_AT_ONCE]
        cells = np.ascontiguousarray(codes[:, some].T)
        if holes is not None:
            cells = np.where(holes[:, some].T, -1, cells.astype(np.int16))
        for j, column in zip(some, cells, strict=True):
            partition = _partition(column, bool(is_binary[j]) and holes is None)
            alike.setdefault(partition.tobytes(), []).append(j)
    return [group for group in alike.values() if len(group) > 1]


def _partition(column: NDArray[np.integer], is_binary: bool) -> NDArray[np.uint8]:
    """Return the partition of the rows by category, whose parts are numbered by their first row."""
    if is_binary:
        return np.asarray(column ^ column[0], dtype=np.uint8)
    _, first, places = np.unique(column, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[places], dtype=np.uint8)


def indicator_sets(codes: Bytes, is_binary: Mask) -> list[list[int]]:
    """Return sets of three or more neighboring columns, of which at most one is 1 in any row.

    Constant columns are passed over. Either every row has exactly one 1 in a set, or chance would put several rows
    together in each of its columns.
    """
    ones = np.where(is_binary, np.count_nonzero(codes, axis=0), 0)
    columns = np.flatnonzero((ones > 0) & (ones < len(codes))).tolist()
    sets, start = [], 0
    while start < len(columns):
        found = _set_from(codes, columns[start:], ones)
        if len(found) > 2:
            sets.append(found)
        start += len(found) if len(found) > 2 else 1
    return sets


def _set_from(codes: Bytes, columns: Sequence[int], ones: NDArray[np.intp]) -> list[int]:
    """Return the set of indicators that begins with the first of these columns, or this column alone."""
    n_rows, n_ones, n_expected, probable = len(codes), int(ones[columns[0]]), 0.0, 1
    seen = codes[:ROWS_TO_SCREEN, columns[0]] > 0
    for k, j in enumerate(columns[1 : MAX_CATEGORIES - 1], 1):
        cells = codes[:ROWS_TO_SCREEN, j] > 0
        if n_ones + ones[j] > n_rows or (seen & cells).any() or codes[codes[:, j] > 0][:, columns[:k]].any():
            break
        by_chance = n_ones * int(ones[j]) / n_rows
        if probable == k and by_chance >= EXPECTED_ROWS:
            probable, n_expected = k + 1, n_expected + by_chance
        seen, n_ones = seen | cells, n_ones + int(ones[j])
        if n_ones == n_rows:  # each row has exactly one
            return list(columns[: k + 1])
    return list(columns[: probable if n_expected >= EXPECTED_IN_SET else 1])


def linear_relations(numbers: FloatArray) -> list[list[int]]:
    """Return groups of three or more columns of which the first is a linear combination of the others.

    NaN stands for a missing cell. Relations are looked for in the rows without any, among columns most of whose cells
    are there, and must hold in every row that has the cells of the group. There are none if the rows are too few to
    tell. The first is the last in the table.
    """
    columns = np.flatnonzero(np.isnan(numbers).mean(axis=0) <= 0.5)
    cells = _standardize(numbers[:, columns])
    usual = cells[(np.abs(cells) <= FAR_AWAY).all(axis=1)]  # a few rows far away would make or hide a relation
    usual = usual[:: max(1, len(usual) // ROWS_TO_SCREEN)]
    if len(usual) < 2 * len(columns) + 20:
        return []
    means, spreads = usual.mean(axis=0), usual.std(axis=0)
    varied = np.flatnonzero(spreads > 1e-9)
    cells, usual = ((rows[:, varied] - means[varied]) / spreads[varied] for rows in (cells, usual))
    dependent, coefficients = _explain(usual)
    involved = np.abs(coefficients) > INVOLVED
    holds = _hold(cells, coefficients, involved, dependent)
    relations = []
    for j, is_involved in zip(dependent[holds], involved.T[holds], strict=True):
        others = np.flatnonzero(is_involved)
        # As many rows as there are columns always have a linear relation: others must vary, too.
        n_varied = (np.abs(usual - np.median(usual, axis=0)) > COMPUTED)[:, [*others, j]].any(axis=1).sum()
        if len(others) > 1 and n_varied > 2 * len(others):
            relations.append(columns[varied[[j, *others]]].tolist())
    return relations


def _standardize(numbers: FloatArray) -> FloatArray:
    """Return columns as distances from their medians, in units of the usual one."""
    with np.errstate(over="ignore", invalid="ignore"):
        away = numbers - np.nanmedian(numbers, axis=0)
        sizes = np.abs(away)
        units = np.array([np.median(size[size > 0.0]) if (size > 0.0).any() else 1.0 for size in sizes.T])
        return np.asarray(away / units)


def _explain(rows: FloatArray) -> tuple[NDArray[np.intp], FloatArray]:
    """Return the standardized columns that those before them explain, and their coefficients, a column for each."""
    left = np.abs(np.diag(np.linalg.qr(rows, mode="r")))  # of every column, by what those before it do not explain
    is_explained = left <= COMPUTED * np.sqrt(len(rows))
    independent, dependent = np.flatnonzero(~is_explained), np.flatnonzero(is_explained)
    coefficients = np.zeros((rows.shape[1], len(dependent)))
    if len(dependent):
        coefficients[independent] = np.linalg.lstsq(rows[:, independent], rows[:, dependent])[0]
    return dependent, coefficients


def _hold(scaled: FloatArray, coefficients: FloatArray, involved: Mask, dependent: NDArray[np.intp]) -> Mask:
    """Tell which columns are the combinations with these coefficients in every row that has the cells involved."""
    holes = np.isnan(scaled)
    scaled = np.where(holes, 0.0, scaled)
    residuals = scaled[:, dependent] - scaled @ coefficients
    sizes = np.maximum(np.abs(scaled[:, dependent]) + np.abs(scaled) @ np.abs(coefficients), 1.0)
    unknown = holes[:, dependent] | (holes.astype(np.float64) @ involved > 0.0)
    return np.asarray((unknown | (np.abs(residuals) <= COMPUTED * sizes)).all(axis=0))
