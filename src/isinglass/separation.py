"""Whether an unpenalized optimum is finite, and a pair of columns that separates the table if not."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray
from isinglass.errors import LimitError, setting
from isinglass.machine.signals import call_interruptibly, defer_signals

Matrix: TypeAlias = Any  # dense or sparse: scipy has no type for both
SUSPICIOUS_ETA = 10.0  # largest |η| above which an unpenalized optimum is checked for lying at infinity
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

    This depends only on which of the eight patterns of three columns occur, and each such set is decided once.
    """
    joined = np.zeros((columns.shape[1],) * 2, dtype=bool)
    joined[tuple(pairs.T)] = True
    table = np.ascontiguousarray(columns.T).view(np.uint8)
    decided: dict[int, tuple[int, int] | None] = {}
    for s, t in pairs.tolist():
        others = np.flatnonzero(joined[s] & joined[t])  # behind both
        patterns = 4 * table[s] + 2 * table[t] + table[others]
        occurring = np.bitwise_or.reduce(np.uint8(1) << patterns, axis=1)  # one bit per pattern
        for u, bits in zip(others.tolist(), occurring.tolist(), strict=True):
            if bits not in decided:
                rows = np.array([[k >> 2 & 1, k >> 1 & 1, k & 1] for k in range(8) if bits >> k & 1], dtype=bool)
                decided[bits] = _separating_direction(rows, np.array([(0, 1), (0, 2), (1, 2)]))
            if (found := decided[bits]) is not None:
                return (s, t, u)[found[0]], (s, t, u)[found[1]]
    return None


def _separating_direction(columns: NDArray[np.bool_], pairs: NDArray[np.intp]) -> tuple[int, int] | None:
    """Return the pair with the largest part in a direction δ with d ≥ 0 everywhere and > 0 somewhere, or None."""
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
    margins = sp.vstack(blocks, format="csr")
    direction = _largest_margins(margins)
    # The δ form a cone, so a separation is scaled up to the box; what HiGHS tolerates (1e-7 per cell) stays far below.
    if np.abs(direction).max() < 0.5 or (margins @ direction).max() < 1e-5:
        return None
    s, t = pairs[np.argmax(np.abs(direction[: len(pairs)]))]
    return int(s), int(t)


def _largest_margins(margins: Matrix) -> FloatArray:
    """Return the δ with the largest Σ d, d = margins @ δ, subject to d ≥ 0 and |δ| ≤ 1.

    Raises LimitError where that takes longer than ``SEPARATION_SECONDS``; no other answer depends on time.
    """
    with defer_signals():  # the extension modules of scipy turn an interrupt into an ImportError
        from scipy.optimize import linprog  # 0.2 s, and almost never needed

    limit = {"time_limit": SEPARATION_SECONDS}
    given = {"A_ub": -margins, "b_ub": np.zeros(margins.shape[0]), "bounds": (-1, 1), "options": limit}
    answer = call_interruptibly(lambda: linprog(-margins.sum(axis=0), **given))
    if answer.status == 1:
        raise LimitError(
            f"Could not decide within {SEPARATION_SECONDS:g} s if {margins.shape[1]} unpenalized parameters have a "
            f"finite optimum. Use {setting('alpha')} > 0, or leave fewer pairs unpenalized."
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
