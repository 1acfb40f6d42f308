"""Which pairs to work on: the sequential strong rule and the check that repairs it.

Pure functions on index arrays. ``pairs`` is an int32 array of shape (k, 2) with s < t, and
``strength`` the |g_st| / ω_st of these pairs (infinite for free ones).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Stop", "all_pairs", "batches", "itinerary", "kkt_violations", "strong_threshold", "union"]

Pairs = NDArray[np.int32]

TIGHT = 0.9
"""The strong rule keeps everything after a step by one half; it is never taken to keep pairs below this
share of alpha. What that misses, the check finds."""


def strong_threshold(alpha: float, previous: float) -> float:
    """Return the |g|/ω from which a pair is kept at ``alpha``, g being taken at ``previous``.

    The sequential strong rule: if g moves no faster than alpha (it usually does not), a pair below
    2·alpha − previous stays below alpha. Ties are kept, so that at alpha_max the first edge enters.

    Examples
    --------
    >>> strong_threshold(0.95, 1.0), strong_threshold(0.5, 1.0)
    (0.8999999999999999, 0.45)
    """
    return max(2.0 * alpha - previous, TIGHT * alpha)


def kkt_violations(pairs: Pairs, strength: NDArray[np.float64], alpha: float, working: Pairs) -> Pairs:
    """Return the pairs outside the working set whose gradient exceeds the penalty.

    ``working`` is in lexicographic order, as ``union`` gives it.

    Examples
    --------
    >>> pairs = np.array([[0, 1], [0, 2], [1, 2]], dtype=np.int32)
    >>> kkt_violations(pairs, np.array([0.5, 0.2, 0.4]), 0.3, pairs[:1]).tolist()
    [[1, 2]]
    """
    suspects = pairs[strength > alpha]
    if len(working) == 0:
        return suspects
    key, known = _key(suspects), _key(working)
    place = np.minimum(np.searchsorted(known, key), len(known) - 1)
    violations: Pairs = suspects[known[place] != key]
    return violations


def union(first: Pairs, second: Pairs) -> Pairs:
    """Return the pairs of both sets, once each, in lexicographic order (``second`` is in it already)."""
    if len(first) == 0:
        return second
    key = np.sort(np.concatenate([_key(first), _key(second)]), kind="stable")  # merges two sorted runs
    key = key[np.r_[True, key[1:] != key[:-1]]]
    return np.column_stack([key >> 32, key & 0xFFFFFFFF]).astype(np.int32)


@lru_cache(maxsize=8)
def all_pairs(n_features: int) -> Pairs:
    """Return every pair s < t in lexicographic order."""
    pairs = np.column_stack(np.triu_indices(n_features, 1)).astype(np.int32)
    pairs.flags.writeable = False
    return pairs


class Stop(NamedTuple):
    """One alpha of the journey; stops that are not wanted only lead to the next."""

    alpha: float
    wanted: bool


def itinerary(top: float, grid: Iterable[float], steepest: float) -> list[Stop]:
    """Return the alphas to solve, from ``top`` down the grid, with no ratio of neighbours below ``steepest``.

    A short homotopy: a large step would put many pairs into the working set that the first edges explain away.

    Examples
    --------
    >>> [(round(stop.alpha, 3), stop.wanted) for stop in itinerary(1.0, [0.3, 0.2], 0.6)]
    [(0.669, False), (0.448, False), (0.3, True), (0.2, True)]
    """
    stops = []
    previous = top
    for alpha in map(float, grid):
        if 0.0 < alpha < previous:
            steps = math.ceil(math.log(alpha / previous) / math.log(steepest))
            stops += [Stop(previous * (alpha / previous) ** (k / steps), False) for k in range(1, steps)]
        stops.append(Stop(alpha, True))
        previous = alpha
    return stops


def batches(stops: list[Stop], most: int) -> Iterator[tuple[bool, list[Stop]]]:
    """Yield runs of stops that are all wanted or all not, no longer than ``most``.

    Examples
    --------
    >>> stops = [Stop(0.5, False), Stop(0.3, True), Stop(0.2, True), Stop(0.1, True)]
    >>> [(wanted, len(run)) for wanted, run in batches(stops, 2)]
    [(False, 1), (True, 2), (True, 1)]
    """
    for wanted, group in groupby(stops, key=attrgetter("wanted")):
        run = list(group)
        yield from ((wanted, run[k : k + most]) for k in range(0, len(run), most))


def _key(pairs: Pairs) -> NDArray[np.int64]:
    return (pairs[:, 0].astype(np.int64) << 32) | pairs[:, 1]
