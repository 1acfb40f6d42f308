"""Columns that depend on others exactly: copies, opposites, and indicators of one variable."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass._core import count_ones
from isinglass.arrays import Bytes, Mask
from isinglass.variables import MAX_CATEGORIES

ROWS_TO_SCREEN = 4096
"""Rows that are compared first; they rule out most pairs."""
COLUMNS_AT_ONCE = 64
"""Columns that are copied together: one by one, each would read the memory of all."""
EXPECTED_ROWS = 5.0
"""Expected rows with both columns 1 from which on two columns that are never 1 together are taken for indicators."""


def dependent_columns(codes: Bytes, is_binary: Mask) -> list[list[int]]:
    """Return the groups of columns of which one determines the others: equal, opposite, or other names for the same.

    Columns of one value are in no group.

    Examples
    --------
    >>> dependent_columns(np.array([[0, 1, 2, 0], [1, 0, 1, 0], [0, 1, 2, 0]], dtype=np.uint8), np.array([1, 1, 0, 1]))
    [[0, 1, 2]]
    """
    groups = _alike(codes[:ROWS_TO_SCREEN], range(codes.shape[1]), is_binary, keep_constant=len(codes) > ROWS_TO_SCREEN)
    if len(codes) > ROWS_TO_SCREEN:
        groups = [group for some in groups for group in _alike(codes, some, is_binary)]
    return sorted(groups)


def _alike(codes: Bytes, columns: Sequence[int], is_binary: Mask, *, keep_constant: bool = False) -> list[list[int]]:
    """Return the groups of columns that partition the rows in the same way."""
    found: dict[bytes, list[int]] = {}
    for start in range(0, len(columns), COLUMNS_AT_ONCE):
        some = columns[start : start + COLUMNS_AT_ONCE]
        for j, column in zip(some, np.ascontiguousarray(codes[:, some].T), strict=True):
            same = _partition(column, is_binary[j])
            if keep_constant or same.any():
                found.setdefault(same.tobytes(), []).append(j)
    return [group for group in found.values() if len(group) > 1]


def _partition(column: NDArray[np.uint8], is_binary: bool) -> NDArray[np.uint8]:
    """Return the partition of the rows by category, whose parts are numbered by their first row."""
    if is_binary:
        return np.asarray(column ^ column[0], dtype=np.uint8)
    _, first, places = np.unique(column, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[places], dtype=np.uint8)


def indicator_sets(codes: Bytes, is_binary: Mask, names: Sequence[str] | None) -> list[tuple[list[int], bool]]:
    """Return sets of neighboring columns with one 1 in every row (True), or with at most one (False).

    The latter only if they would be together in several rows by chance, and two of them only if they are named alike.
    A column and its complement are no set.

    Examples
    --------
    >>> rows = np.eye(3, dtype=np.uint8)[np.arange(30) % 3]
    >>> indicator_sets(rows, np.ones(3, dtype=bool), ["a_red", "a_green", "a_blue"])
    [([0, 1, 2], True)]
    """
    n_rows, counts = len(codes), np.zeros(codes.shape[1])
    if is_binary.any():
        two = codes if is_binary.all() else np.ascontiguousarray(codes[:, is_binary])
        counts[is_binary] = count_ones(two, None)[0]
    varied = np.flatnonzero((counts > 0) & (counts < n_rows))
    if len(varied) < 2:
        return []
    some = np.packbits(codes[:ROWS_TO_SCREEN, varied], axis=0).T  # enough to see that most columns are no set
    stems = ["" if names is None else _stem(names[j]) for j in varied.tolist()]
    sizes = [int(count) for count in counts[varied]]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    found: list[tuple[list[int], bool]] = []
    k = 0
    while k < len(varied):
        end = int(np.searchsorted(ends, ends[k] + n_rows))  # where the ones would suffice for one in every row
        whole = 3 <= end - k < MAX_CATEGORIES and end < len(ends) and ends[end] == ends[k] + n_rows
        if (
            whole
            and (codes[:ROWS_TO_SCREEN, varied[k:end]].any(axis=1)).all()
            and codes[:, varied[k:end]].any(axis=1).all()
        ):
            found.append((varied[k:end].tolist(), True))
            k = end
            continue
        begin, total, chance, seen = k, sizes[k], 0.0, some[k]
        k += 1
        while k < len(varied) and k - begin < MAX_CATEGORIES - 1:
            together, alike = total * sizes[k] / n_rows, stems[k] == stems[begin] != ""
            if not (together >= EXPECTED_ROWS or alike) or (seen & some[k]).any():
                break
            if n_rows > ROWS_TO_SCREEN and codes[codes[:, varied[k]] > 0][:, varied[begin:k]].any():
                break
            total, chance, seen = total + sizes[k], chance + together, seen | some[k]
            k += 1
        if chance >= 2 * EXPECTED_ROWS and (k - begin > 2 or stems[begin] == stems[k - 1] != "") and total < n_rows:
            found.append((varied[begin:k].tolist(), False))
        else:
            k = begin + 1
    return found


def _stem(name: str) -> str:
    """Return the part of a name before its last character that is neither a letter nor a digit."""
    return re.split(r"[\W_]+(?=[^\W_]*$)", name)[0] if re.search(r"[\W_]", name) else ""
