"""Columns that depend on others exactly: copies, opposites, indicators of one variable, sums and differences."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass._core import count_ones
from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.variables import MAX_CATEGORIES

ROWS_TO_SCREEN = 4096
"""Rows that are compared first; they rule out most pairs."""
COLUMNS_AT_ONCE = 64
"""Columns that are copied together: one by one, each would read the memory of all."""
EXPECTED_ROWS = 5.0
"""Expected rows with both columns 1 from which on two columns that are never 1 together are taken for indicators."""
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


def linear_relations(numbers: FloatArray) -> list[list[int]]:
    """Return groups of three or more columns of which the first is a linear combination of the others.

    NaN stands for a missing cell. Relations are looked for in the rows without any, among columns most of whose cells
    are there, and must hold in every row that has the cells of the group. There are none if the rows are too few to
    tell. The first is the last in the table, unless one before three or more others is their sum or mean.
    """
    columns = np.flatnonzero(np.isnan(numbers).mean(axis=0) <= 0.5)
    cells = numbers[:, columns]
    complete = ~np.isnan(cells).any(axis=1)
    enough_rows = 2 * len(columns) + 20
    if complete.sum() < enough_rows:
        return []
    largest = np.nanmax(np.abs(cells), axis=0)
    cells = cells / np.where(largest > 0.0, largest, 1.0)  # no square is infinite
    usual_rows = _without_outliers(cells[complete])
    usual_rows = usual_rows[:: max(1, len(usual_rows) // ROWS_TO_SCREEN)]
    if len(usual_rows) < enough_rows:
        return []
    means, spreads = usual_rows.mean(axis=0), usual_rows.std(axis=0)
    varied = np.flatnonzero(spreads > 1e-9)
    cells, usual_rows = ((rows[:, varied] - means[varied]) / spreads[varied] for rows in (cells, usual_rows))
    dependent, coefficients = _explain(usual_rows)
    involved = np.abs(coefficients) > INVOLVED
    holds = _hold(cells, coefficients, involved, dependent)
    varies = np.abs(usual_rows - np.median(usual_rows, axis=0)) > COMPUTED
    units = (spreads * largest)[varied]
    relations = []
    for k, j in enumerate(dependent):
        others = np.flatnonzero(involved[:, k])
        n_rows = varies[:, [*others, j]].any(axis=1).sum()  # as few rows as columns are always such a relation
        if holds[k] and len(others) > 1 and n_rows > 2 * len(others):
            slopes = (coefficients[:, k] * units[j] / units)[others]
            relations.append(columns[varied[_put_total_first(j, others, slopes)]].tolist())
    return relations


def _put_total_first(last: int, others: NDArray[np.intp], slopes: FloatArray) -> list[int]:
    """Return a column and the others that it is a combination of, with these slopes: that which is computed first.

    If i3 = total - i1 - i2, where the total comes before its items, it is the total.
    """
    is_last_item = len(others) > 2 and np.allclose(slopes[1:], -1.0, atol=0.01)
    return [*others, last] if is_last_item else [last, *others]


def _explain(rows: FloatArray) -> tuple[NDArray[np.intp], FloatArray]:
    """Return the standardized columns that those before them explain, and their coefficients, a column for each."""
    left = np.abs(np.diag(np.linalg.qr(rows, mode="r")))  # of every column, by what those before it do not explain
    is_explained = left <= COMPUTED * np.sqrt(len(rows))
    independent, dependent = np.flatnonzero(~is_explained), np.flatnonzero(is_explained)
    coefficients = np.zeros((rows.shape[1], len(dependent)))
    if len(dependent):
        coefficients[independent] = np.linalg.lstsq(rows[:, independent], rows[:, dependent])[0]
    return dependent, coefficients


def _without_outliers(rows: FloatArray) -> FloatArray:
    """Return the rows without a cell that is far from the others: a few of them would make a relation, or hide one."""
    away = np.abs(rows - np.median(rows, axis=0))
    usual = [np.median(column[column > 0.0]) if column.any() else 1.0 for column in away.T]
    return rows[(away <= np.multiply(FAR_AWAY, usual)).all(axis=1)]


def _hold(scaled: FloatArray, coefficients: FloatArray, involved: Mask, dependent: NDArray[np.intp]) -> Mask:
    """Tell which columns are the combinations with these coefficients in every row that has the cells involved."""
    holes = np.isnan(scaled)
    scaled = np.where(holes, 0.0, scaled)
    residuals = scaled[:, dependent] - scaled @ coefficients
    sizes = np.maximum(np.abs(scaled[:, dependent]) + np.abs(scaled) @ np.abs(coefficients), 1.0)
    unknown = holes[:, dependent] | (holes.astype(np.float64) @ involved > 0.0)
    return np.asarray((unknown | (np.abs(residuals) <= COMPUTED * sizes)).all(axis=0))


def indicator_sets(codes: Bytes, is_binary: Mask, names: Sequence[str] | None) -> list[list[int]]:
    """Return sets of neighboring columns with one 1 in every row, or with at most one.

    The latter only if they would be together in several rows by chance, and two of them only if they are named alike.
    A column and its complement are no set.
    """
    counts = np.zeros(codes.shape[1])
    if is_binary.any():
        two = codes if is_binary.all() else np.ascontiguousarray(codes[:, is_binary])
        counts[is_binary] = count_ones(two, None)[0]
    varied = np.flatnonzero((counts > 0) & (counts < len(codes)))
    stems = ["" if names is None else _stem(names[j]) for j in varied.tolist()]
    neighbors = _Neighbors(codes, varied, counts[varied], stems)
    sets = []
    start = 0
    while start < len(varied):
        end = neighbors.end_of_whole(start) or neighbors.end_of_partial(start)
        if end is not None:
            sets.append(varied[start:end].tolist())
        start = end or start + 1
    return sets


class _Neighbors:
    """Columns of 0 and 1 that vary, in the order of the table, among which sets of indicators are looked for."""

    def __init__(self, codes: Bytes, columns: NDArray[np.intp], ones: FloatArray, stems: Sequence[str]) -> None:
        self.codes, self.columns, self.stems = codes, columns, stems
        self.ones = [int(count) for count in ones]
        self.ones_before = np.concatenate([[0], np.cumsum(self.ones)])
        self.first_rows = np.packbits(codes[:ROWS_TO_SCREEN, columns], axis=0).T  # they rule out most sets

    def end_of_whole(self, start: int) -> int | None:
        """Return where a set ends of which every row has exactly one, None if none starts here."""
        n_rows, before = len(self.codes), self.ones_before
        end = int(np.searchsorted(before, before[start] + n_rows))  # where there are as many ones as rows
        if not 3 <= end - start < MAX_CATEGORIES or end == len(before) or before[end] != before[start] + n_rows:
            return None
        columns = self.columns[start:end]
        some_have_none = not self.codes[:ROWS_TO_SCREEN, columns].any(axis=1).all()
        return None if some_have_none or not self.codes[:, columns].any(axis=1).all() else end

    def end_of_partial(self, start: int) -> int | None:
        """Return where a set ends of which no row has two, None if none starts here."""
        n_rows = len(self.codes)
        n_ones, n_expected, seen = self.ones[start], 0.0, self.first_rows[start]
        end = start + 1
        while end < min(len(self.columns), start + MAX_CATEGORIES - 1):
            by_chance = n_ones * self.ones[end] / n_rows
            may_belong = by_chance >= EXPECTED_ROWS or self._are_named_alike(start, end)
            if not may_belong or self._meet(start, end, seen):
                break
            n_ones, n_expected, seen = n_ones + self.ones[end], n_expected + by_chance, seen | self.first_rows[end]
            end += 1
        enough = end - start > 2 or (end - start == 2 and self._are_named_alike(start, end - 1))
        return end if enough and n_expected >= 2 * EXPECTED_ROWS and n_ones < n_rows else None

    def _are_named_alike(self, one: int, other: int) -> bool:
        return self.stems[one] != "" and self.stems[one] == self.stems[other]

    def _meet(self, start: int, end: int, seen: NDArray[np.uint8]) -> bool:
        """Tell whether a row has a 1 in the column at ``end`` and in one before; ``seen``: which of the first rows."""
        if (seen & self.first_rows[end]).any():
            return True
        if len(self.codes) <= ROWS_TO_SCREEN:
            return False
        rows = self.codes[:, self.columns[end]] > 0
        return bool(self.codes[rows][:, self.columns[start:end]].any())


def _stem(name: str) -> str:
    """Return the part of a name before its last character that is neither a letter nor a digit."""
    return re.split(r"[\W_]+(?=[^\W_]*$)", name)[0] if re.search(r"[\W_]", name) else ""
