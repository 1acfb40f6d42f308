"""Pairs of nodes: the one way to number them, and the symmetric matrix they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass.arrays import FloatArray, read_only


@lru_cache(maxsize=8)
def all_pairs(n_features: int) -> NDArray[np.int32]:
    """Return every pair s < t in lexicographic order."""
    return read_only(np.column_stack(np.triu_indices(n_features, 1)).astype(np.int32))


def pair_keys(edge_index: NDArray[np.integer[Any]], n_features: int) -> NDArray[np.int64]:
    """Return one number per pair, s · n_features + t: sorted wherever pairs are in lexicographic order."""
    s, t = edge_index.astype(np.int64).T
    return np.asarray(s * n_features + t)


def pairs_of(keys: NDArray[np.int64], n_features: int) -> NDArray[np.int32]:
    """Return the pairs of `pair_keys`, shape (n, 2)."""
    return np.column_stack(np.divmod(keys, max(n_features, 1))).astype(np.int32)


def union_keys(networks: Sequence[Any]) -> NDArray[np.int64]:
    """Return the sorted keys of the pairs that have an edge in at least one of some networks."""
    return np.unique(np.concatenate([pair_keys(one.edge_index, one.n_features) for one in networks]))


def spread(values: NDArray[Any], keys: NDArray[np.int64], over: NDArray[np.int64]) -> FloatArray:
    """Return an array over the sorted keys ``over``, with values at those of ``keys`` that are there, else zero."""
    found = np.zeros(len(over))
    if len(over):
        place = np.minimum(np.searchsorted(over, keys), len(over) - 1)
        there = over[place] == keys
        found[place[there]] = values[there]
    return found


def symmetric_matrix(edge_index: NDArray[Any], values: NDArray[Any], n_features: int) -> sp.csr_array:
    """Return the symmetric matrix, in compressed and sorted rows, that has these values at the pairs."""
    s, t = edge_index.T
    matrix = sp.csr_array((np.r_[values, values], (np.r_[s, t], np.r_[t, s])), shape=(n_features, n_features))
    matrix.sort_indices()
    return matrix
