"""Which pairs to work on: the sequential strong rule and the check that repairs it.

Pure functions on index arrays. ``pairs`` is an int32 array of shape (k, 2) with s < t, and
``strength`` the |g_st| / ω_st of these pairs (infinite for free ones).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["all_pairs", "kkt_violations", "strong_threshold", "union", "waypoints"]

Pairs = NDArray[np.int32]

STEEPEST = 0.7
"""Smallest ratio of consecutive alphas at which the strong rule still discards most pairs."""


def strong_threshold(alpha: float, previous: float) -> float:
    """Return the |g|/ω from which a pair is kept at ``alpha``, g being taken at ``previous``.

    The sequential strong rule: if g moves no faster than alpha (it usually does not), a pair below
    2·alpha − previous stays below alpha. Ties are kept, so that at alpha_max the first edge enters.
    """
    return max(2.0 * alpha - previous, 0.0)


def kkt_violations(pairs: Pairs, strength: NDArray[np.float64], alpha: float, working: Pairs) -> Pairs:
    """Return the pairs outside the working set whose gradient exceeds the penalty.

    Examples
    --------
    >>> pairs = np.array([[0, 1], [0, 2], [1, 2]], dtype=np.int32)
    >>> kkt_violations(pairs, np.array([0.5, 0.2, 0.4]), 0.3, pairs[:1]).tolist()
    [[1, 2]]
    """
    suspects = pairs[strength > alpha]
    return suspects[~np.isin(_key(suspects), _key(working))]


def union(*sets: Pairs) -> Pairs:
    """Return the pairs of all sets, once each, in lexicographic order."""
    key = np.unique(np.concatenate([_key(pairs) for pairs in sets]))
    return np.column_stack([key >> 32, key & 0xFFFFFFFF]).astype(np.int32)


def all_pairs(n_features: int) -> Pairs:
    """Return every pair s < t in lexicographic order."""
    return np.column_stack(np.triu_indices(n_features, 1)).astype(np.int32)


def waypoints(previous: float, alpha: float) -> list[float]:
    """Return alphas between ``previous`` and ``alpha``, both excluded, so that no ratio is below STEEPEST.

    A short homotopy: with one large step the strong rule would keep every pair.

    Examples
    --------
    >>> [round(value, 3) for value in waypoints(1.0, 0.4)]
    [0.737, 0.543]
    """
    if not 0.0 < alpha < previous:
        return []
    steps = int(np.ceil(np.log(alpha / previous) / np.log(STEEPEST)))
    return list(np.geomspace(previous, alpha, steps + 1)[1:-1])


def _key(pairs: Pairs) -> NDArray[np.int64]:
    return (pairs[:, 0].astype(np.int64) << 32) | pairs[:, 1]
