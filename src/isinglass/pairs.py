"""Pairs of nodes: all of them, checks, one number per pair, and sparse matrices made of values at pairs."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray, count_within, read_only
from isinglass.errors import ArgumentError, DataError
from isinglass.variables import Variables


@lru_cache(maxsize=8)
def all_pairs(n_features: int) -> NDArray[np.int32]:
    """Return every pair s < t in lexicographic order."""
    return read_only(np.column_stack(np.triu_indices(n_features, 1)).astype(np.int32))


def check_pairs(pairs: ArrayLike, n_features: int, name: str = "edge_index") -> NDArray[np.int32]:
    """Return pairs of nodes as they are given, shape (n_pairs, 2); ``name`` is the argument that messages name."""
    index = np.asarray(pairs)
    if index.size == 0:
        return np.empty((0, 2), dtype=np.int32)
    if index.ndim != 2 or index.shape[1] != 2 or index.dtype.kind not in "iu":
        raise DataError(f"{name} must be integers of shape (n_pairs, 2); got {index.dtype} {index.shape}.")
    if not (index.min() >= 0 and index.max() < n_features):
        wrong = index[((index < 0) | (index >= n_features)).any(axis=1)][0]
        raise ArgumentError(name, f"must name nodes from 0 to {n_features - 1}", wrong.tolist())
    return index.astype(np.int32)


def pair_keys(edge_index: NDArray[np.integer], n_features: int) -> NDArray[np.int64]:
    """Return one number per pair, s · n_features + t: sorted wherever pairs are in lexicographic order."""
    s, t = edge_index.astype(np.int64).T
    return np.asarray(s * n_features + t)


def pairs_of(keys: NDArray[np.int64], n_features: int) -> NDArray[np.int32]:
    """Return the pairs of `pair_keys`, shape (n, 2)."""
    return np.column_stack(np.divmod(keys, max(n_features, 1))).astype(np.int32)


def values_at(values: NDArray[np.generic], keys: NDArray[np.int64], over: NDArray[np.int64]) -> FloatArray:
    """Return an array over the sorted keys ``over``, with values at those of ``keys`` that are there, else zero."""
    found = np.zeros(len(over))
    if len(over):
        place = np.minimum(np.searchsorted(over, keys), len(over) - 1)
        there = over[place] == keys
        found[place[there]] = values[there]
    return found


def symmetric_matrix(edge_index: NDArray[np.integer], values: NDArray[np.generic], n_features: int) -> sp.csr_array:
    """Return the symmetric matrix, in compressed and sorted rows, that has these values at the pairs."""
    s, t = edge_index.astype(np.int32).T  # graph functions of scipy before 1.15 take no others
    matrix = sp.csr_array((np.r_[values, values], (np.r_[s, t], np.r_[t, s])), shape=(n_features, n_features))
    matrix.sort_indices()
    return matrix


def block_coordinates(variables: Variables, edge_index: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the two coordinates that every parameter of the blocks of pairs belongs to, shape (2, n_parameters)."""
    first = variables.first[edge_index.T]
    if variables.has_scores.all():
        return np.asarray(first)
    sizes = variables.block_sizes(edge_index)
    edge = np.repeat(np.arange(len(sizes)), sizes)
    return np.asarray(first[:, edge] + np.divmod(count_within(sizes), variables.widths[edge_index[edge, 1]]))


def coordinate_matrix(variables: Variables, edge_index: NDArray[np.integer], parameters: FloatArray) -> sp.csr_array:
    """Return the blocks of pairs as a symmetric matrix over the coordinates of all variables."""
    rows, columns = block_coordinates(variables, edge_index)
    ends = np.r_[rows, columns], np.r_[columns, rows]
    return sp.csr_array((np.r_[parameters, parameters], ends), shape=(variables.n_coordinates,) * 2)
