"""Whether an unpenalized optimum is finite, and a pair of columns that separates the table if not."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray
from isinglass.errors import LimitError
from isinglass.machine.signals import call_interruptibly, defer_signals

Matrix: TypeAlias = Any  # dense or sparse: scipy has no type for both
SEPARATION_SECONDS = 120.0  # the linear program over all pairs of 60 columns takes minutes


def find_separation(codes: ArrayLike, pairs: ArrayLike) -> tuple[int, int] | None:
    """Return a pair that sends the unpenalized optimum on ``pairs`` to infinity, or None if that optimum is finite.

    ``codes`` are the rows of 0 and 1 that occur, at least once each. Exact: the optimum is infinite if and only if some
    direction δ of fields and pairs has d_ns = (2x_ns−1)(δ_ss + Σ_t δ_st x_nt) ≥ 0 in every cell and > 0 in one, which a
    linear program decides, after cheap and sufficient tests. A pair with a constant column always separates.
    """
    columns, index = np.asarray(codes, dtype=bool), np.sort(np.asarray(pairs, dtype=np.intp).reshape(-1, 2), axis=1)
    for s, t in index:  # an empty cell of the pair's own 2×2 table
        if len(np.unique(2 * columns[:, s] + columns[:, t].astype(int))) < 4:
            return int(s), int(t)
    if not len(index):
        return None
    return _separating_triple(columns, index) or _separating_direction(columns, index)


def _separating_triple(columns: NDArray[np.bool_], pairs: NDArray[np.intp]) -> tuple[int, int] | None:
    """Return a pair of three columns that separate on their own, if three do: then the whole table is separated.

    Which of the eight patterns of three columns occur follows from the counts of ones in one, two and three of them.
    Few sets of patterns occur in a table, and each is decided once.
    """
    table = columns.astype(np.float64)
    joined = np.zeros((columns.shape[1],) * 2, dtype=bool)
    joined[tuple(pairs.T)] = True
    decided: dict[int, tuple[int, int] | None] = {}
    for s in range(columns.shape[1]):
        later = np.flatnonzero(joined[s])
        t, u = np.nonzero(joined[np.ix_(later, later)])
        sets = _patterns(table[:, s], table[:, later])[t, u]
        for which in np.unique(sets):
            if which not in decided:
                rows = np.array([[k >> 2 & 1, k >> 1 & 1, k & 1] for k in range(8) if which >> k & 1], dtype=bool)
                decided[which] = _separating_direction(rows, np.array([(0, 1), (0, 2), (1, 2)]))
            found = decided[which]
            if found is not None:
                first = np.flatnonzero(sets == which)[0]
                names = (s, int(later[t[first]]), int(later[u[first]]))
                return names[found[0]], names[found[1]]
    return None


def _patterns(column: FloatArray, others: FloatArray) -> NDArray[np.intp]:
    """Return, for ``column`` with every two of ``others``, the patterns that occur: bit 4a + 2b + c for (a, b, c)."""
    n, both, triple = len(column), others.T @ others, (others * column[:, None]).T @ others
    with_column, ones = others.T @ column, others.sum(axis=0)
    n11 = {1: triple, 0: both - triple}
    n10 = {1: with_column[:, None] - triple, 0: (ones - with_column)[:, None] - n11[0]}
    n00 = {a: total - n11[a] - n10[a] - n10[a].T for a, total in ((1, column.sum()), (0, n - column.sum()))}
    sets = np.zeros(both.shape, dtype=np.intp)
    for a in (0, 1):
        for shift, count in ((0, n00[a]), (1, n10[a].T), (2, n10[a]), (3, n11[a])):
            sets |= (count > 0.5).astype(np.intp) << (4 * a + shift)
    return sets


def _separating_direction(columns: NDArray[np.bool_], pairs: NDArray[np.intp]) -> tuple[int, int] | None:
    import scipy.sparse as sp

    blocks = []
    for node, (neighbors, position) in free_neighbors(pairs).items():
        patterns = np.unique(columns[:, [*neighbors, node]], axis=0).astype(np.float64)  # repeated rows add nothing
        sign = 2.0 * patterns[:, -1:] - 1.0
        patterns[:, -1] = 1.0  # the field
        places = np.array([*position, len(pairs) + node])
        block = sp.coo_array(sign * patterns)
        shape = (len(patterns), len(pairs) + columns.shape[1])
        blocks.append(sp.coo_array((block.data, (block.row, places[block.col])), shape=shape))
    direction = separating_direction(sp.vstack(blocks, format="csr"))
    if direction is None:
        return None
    s, t = pairs[np.argmax(np.abs(direction[: len(pairs)]))]
    return int(s), int(t)


def separating_direction(margins: Matrix) -> FloatArray | None:
    """Return δ with d = margins @ δ ≥ 0 everywhere and > 0 somewhere, or None if there is none."""
    direction = solve_program(margins.sum(axis=0), -margins)  # Σ d is positive if and only if something separates
    # The δ form a cone, so a separation is scaled up to the box; what HiGHS tolerates (1e-7 per cell) stays far below.
    separates = np.abs(direction).max() >= 0.5 and (margins @ direction).max() >= 1e-5
    return direction if separates else None


def solve_program(profit: FloatArray, cuts: Matrix) -> FloatArray:
    """Return the δ with the largest profit @ δ subject to cuts @ δ ≤ 0 and |δ| ≤ 1.

    Raises LimitError where that takes longer than ``SEPARATION_SECONDS``; no other answer depends on time.
    """
    with defer_signals():  # the extension modules of scipy turn an interrupt into an ImportError
        from scipy.optimize import linprog  # 0.2 s, and almost never needed

    limit = {"time_limit": SEPARATION_SECONDS}
    given = {"A_ub": cuts, "b_ub": np.zeros(cuts.shape[0]), "bounds": (-1, 1), "options": limit}
    answer = call_interruptibly(lambda: linprog(-profit, **given))
    if answer.status == 1:
        raise LimitError(
            f"Could not decide within {SEPARATION_SECONDS:g} s whether {cuts.shape[1]} unpenalized parameters have a "
            "finite optimum. Use alpha > 0, or leave fewer pairs unpenalized."
        )
    if answer.status != 0:  # δ = 0 is feasible and the box is bounded: this is a failure of the LP code
        raise RuntimeError(f"the linear program for separation failed: {answer.message}")
    return np.asarray(answer.x, dtype=np.float64)


def free_neighbors(pairs: NDArray[np.intp]) -> dict[int, tuple[list[int], list[int]]]:
    """Map every node of ``pairs`` to its neighbors there and to the positions of these pairs."""
    result: dict[int, tuple[list[int], list[int]]] = {}
    for position, (s, t) in enumerate(pairs.tolist()):
        for node, other in ((s, t), (t, s)):
            neighbors, positions = result.setdefault(node, ([], []))
            neighbors.append(other)
            positions.append(position)
    return dict(sorted(result.items()))
