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


def dependent_columns(codes: Bytes, is_binary: Mask, holes: Mask | None = None) -> list[list[int]]:
    """Return the groups of columns of which one determines the others: equal, opposite, or other names for the same.

    Columns of one value are in no group. With missing cells (``holes``), columns are compared in the rows without any,
    and then with the first of their group in the rows in which neither is missing.
    """
    if holes is not None:
        complete = codes[~holes.any(axis=1)]
        found = dependent_columns(complete, is_binary) if len(complete) else []
        for group in found:
            both = [(j, ~holes[:, [group[0], j]].any(axis=1)) for j in group[1:]]
            group[1:] = [j for j, rows in both if _alike(codes[rows], [group[0], j], is_binary)]
        return [group for group in found if len(group) > 1]
    groups = _alike(codes[:ROWS_TO_SCREEN], range(codes.shape[1]), is_binary, keep_constant=len(codes) > ROWS_TO_SCREEN)
    if len(codes) > ROWS_TO_SCREEN:
        groups = [group for some in groups for group in _alike(codes, some, is_binary)]
    return sorted(groups)


def _alike(codes: Bytes, columns: Sequence[int], is_binary: Mask, *, keep_constant: bool = False) -> list[list[int]]:
    """Return the groups of columns that partition the rows in the same way."""
    groups: dict[bytes, list[int]] = {}
    for start in range(0, len(columns), COLUMNS_AT_ONCE):
        some = columns[start : start + COLUMNS_AT_ONCE]
        for j, column in zip(some, np.ascontiguousarray(codes[:, some].T), strict=True):
            partition = _partition(column, is_binary[j])
            if keep_constant or partition.any():
                groups.setdefault(partition.tobytes(), []).append(j)
    return [group for group in groups.values() if len(group) > 1]


def _partition(column: NDArray[np.uint8], is_binary: bool) -> NDArray[np.uint8]:
    """Return the partition of the rows by category, whose parts are numbered by their first row."""
    if is_binary:
        return np.asarray(column ^ column[0], dtype=np.uint8)
    _, first, places = np.unique(column, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[places], dtype=np.uint8)


def linear_relations(numbers: FloatArray) -> list[list[int]]:
    """Return groups of three or more columns of which the first is a linear combination of the others.

    NaN stands for a missing cell. Relations are looked for in the rows without any, among columns most of whose cells
    are there, and must hold in all rows that have the cells of the group. There are none if the rows are too few to
    tell. The first is the last in the table, unless one before three or more others is their sum or mean.
    """
    columns = np.flatnonzero(np.isnan(numbers).mean(axis=0) <= 0.5)
    rows = _complete(numbers[:, columns])
    if len(rows) < 2 * len(columns) + 20:
        return []
    scaled, relations, independent = _standardize(rows), list[list[int]](), list[int]()
    products = scaled.T @ scaled
    left = products.copy()  # of what the independent columns so far do not explain
    for j in np.flatnonzero(scaled.any(axis=0)).tolist():
        if left[j, j] > COMPUTED**2:
            left -= np.outer(left[:, j], left[j] / left[j, j])
            independent.append(j)
            continue
        coefficients = np.linalg.solve(products[np.ix_(independent, independent)], products[independent, j])
        others = [k for k, each in zip(independent, coefficients, strict=True) if abs(each) > INVOLVED]
        group = columns[[j, *others]].tolist()
        if len(others) > 1 and _explain(numbers[:, group]) is not None:
            turned = [*group[1:], group[0]]
            weights = _explain(numbers[:, turned]) if len(group) > 3 else None
            is_total = weights is not None and min(weights) > 0.99 * max(weights)
            relations.append(turned if is_total else group)
    return relations


def _complete(numbers: FloatArray) -> FloatArray:
    """Return the rows without missing cells, or as many of them as are enough."""
    rows = numbers[np.isfinite(numbers).all(axis=1)]
    return rows[:: max(1, len(rows) // ROWS_TO_SCREEN)]


def _standardize(numbers: FloatArray) -> FloatArray:
    """Return columns of mean 0 and norm 1; constant ones become 0."""
    sizes = np.abs(numbers).max(axis=0, initial=0.0)
    scaled = numbers / np.where(sizes > 0.0, sizes, 1.0)  # of which no square is infinite
    scaled -= scaled.mean(axis=0)
    norms = np.linalg.norm(scaled, axis=0)
    return np.where(norms > 1e-9, scaled / np.maximum(norms, 1e-9), 0.0)


def _explain(group: FloatArray) -> FloatArray | None:
    """Return by how much the first column rises with each of the others; None if these do not determine it."""
    rows = _complete(group)
    scaled = _standardize(rows)
    first, others = scaled[:, 0], scaled[:, 1:]
    coefficients = np.linalg.lstsq(others.T @ others, others.T @ first, rcond=None)[0]
    if np.linalg.norm(others @ coefficients - first) > COMPUTED:
        return None
    spread = rows.std(axis=0)
    return np.asarray(coefficients * spread[0] / spread[1:])


def indicator_sets(codes: Bytes, is_binary: Mask, names: Sequence[str] | None) -> list[tuple[list[int], bool]]:
    """Return sets of neighboring columns with one 1 in every row (True), or with at most one (False).

    The latter only if they would be together in several rows by chance, and two of them only if they are named alike.
    A column and its complement are no set.
    """
    counts = np.zeros(codes.shape[1])
    if is_binary.any():
        two = codes if is_binary.all() else np.ascontiguousarray(codes[:, is_binary])
        counts[is_binary] = count_ones(two, None)[0]
    varied = np.flatnonzero((counts > 0) & (counts < len(codes)))
    if len(varied) < 2:
        return []
    stems = ["" if names is None else _stem(names[j]) for j in varied.tolist()]
    neighbors = _Neighbors(codes, varied, counts[varied], stems)
    sets: list[tuple[list[int], bool]] = []
    start = 0
    while start < len(varied):
        whole = neighbors.end_of_whole(start)
        end = whole or neighbors.end_of_partial(start)
        if end is not None:
            sets.append((varied[start:end].tolist(), whole is not None))
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
        n_rows, stem = len(self.codes), self.stems[start]
        n_ones, n_expected, seen = self.ones[start], 0.0, self.first_rows[start]
        end = start + 1
        while end < min(len(self.columns), start + MAX_CATEGORIES - 1):
            by_chance, alike = n_ones * self.ones[end] / n_rows, self.stems[end] == stem != ""
            if not (by_chance >= EXPECTED_ROWS or alike) or self._meet(start, end, seen):
                break
            n_ones, n_expected, seen = n_ones + self.ones[end], n_expected + by_chance, seen | self.first_rows[end]
            end += 1
        enough = end - start > 2 or self.stems[end - 1] == stem != ""
        return end if enough and n_expected >= 2 * EXPECTED_ROWS and n_ones < n_rows else None

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
