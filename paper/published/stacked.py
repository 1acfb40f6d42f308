"""The paper's section 3: the pseudo-likelihood of an Ising network as one logistic regression.

The stacked design is kept for comparison and teaching: it has N·p rows and of the order of N·p² entries, which the
solver of this package never builds.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray
from isinglass.data import as_table
from isinglass.errors import DataError, LimitError
from isinglass.machine.memory import available_memory

_DEFAULT_LIMIT = 4 * 2**30
_INT32_MAX = np.iinfo(np.int32).max


def edge_position(s: int, t: int) -> int:
    """Return the column of the edge between two nodes in the stacked design.

    min(s,t) + max(s,t)·(max(s,t)−1)/2, nodes and columns counted from 0. The paper counts them from 1,
    j_st = min(s,t) + (max(s,t)−2)(max(s,t)−1)/2: with s+1 and t+1 put in, its formula minus 1.

    Examples
    --------
    >>> [edge_position(0, 1), edge_position(0, 2), edge_position(2, 1)]
    [0, 1, 2]
    """
    low, high = min(s, t), max(s, t)
    if low < 0 or low == high:
        raise DataError(f"s and t must be two different nodes counted from 0; got {(s, t)!r}.")
    return low + high * (high - 1) // 2


def vectorize(theta: ArrayLike) -> FloatArray:
    """Return Θ̃ of a symmetric Θ: its upper triangle column by column, then its diagonal.

    Examples
    --------
    >>> vectorize([[11, 12, 13], [12, 22, 23], [13, 23, 33]]).tolist()
    [12.0, 13.0, 23.0, 11.0, 22.0, 33.0]
    """
    matrix = np.asarray(theta, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise DataError(f"theta must be a square matrix with at least one row; got shape {matrix.shape}.")
    if not np.array_equal(matrix, matrix.T):
        raise DataError("theta must be symmetric; got a matrix that differs from its transpose. Use Network.theta.")
    # The lower triangle row by row is the upper one column by column.
    return np.concatenate([matrix[np.tril_indices(len(matrix), -1)], np.diag(matrix)])


def unvectorize(vector: ArrayLike) -> FloatArray:
    """Return the symmetric Θ of Θ̃; the inverse of `vectorize`.

    Examples
    --------
    >>> unvectorize([12.0, 11.0, 22.0]).tolist()
    [[11.0, 12.0], [12.0, 22.0]]
    """
    values = np.asarray(vector, dtype=np.float64)
    p = (math.isqrt(8 * values.size + 1) - 1) // 2
    if values.ndim != 1 or p == 0 or p * (p + 1) // 2 != values.size:
        raise DataError(f"vector must have length p(p+1)/2 for some p ≥ 1; got shape {values.shape}.")
    n_pairs = values.size - p
    theta = np.diag(values[n_pairs:])
    t, s = np.tril_indices(p, -1)
    theta[t, s] = theta[s, t] = values[:n_pairs]
    return theta


def stacked_design(X: ArrayLike, *, max_bytes: int | None = None) -> tuple[sp.csc_array, FloatArray]:
    """Build the one logistic regression whose log-likelihood is the log pseudo-likelihood of X.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Table of 0 and 1.
    max_bytes : int, optional
        Largest design to build; by default 4 GiB or the memory available, whichever is smaller.

    Returns
    -------
    design : scipy.sparse.csc_array of shape (n_samples * n_features, m + n_features)
        X̃, m = p(p−1)/2. Row N·s + n (counted from 0) holds X[n, t] in column ``edge_position(s, t)``
        for every t ≠ s, and 1 in column m + s.
    response : ndarray of shape (n_samples * n_features,)
        ỹ, the columns of X one below the other.

    Examples
    --------
    >>> design, response = stacked_design([[1, 0], [1, 1]])
    >>> design.toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 0.0, 1.0]]
    >>> response.tolist()
    [1.0, 1.0, 0.0, 1.0]
    """
    read = as_table(X).whole().without_holes()
    read.variables.require_two_values("X")
    table = read.codes
    n, p = table.shape
    m = p * (p - 1) // 2
    ones = np.count_nonzero(table, axis=0)
    n_entries = (p - 1) * int(ones.sum()) + n * p
    index_type = np.dtype(np.int32 if max(n_entries, n * p, m + p) <= _INT32_MAX else np.int64)
    needed = n_entries * (8 + index_type.itemsize) + (m + p + 1) * index_type.itemsize + 8 * n * p
    limit = min(_DEFAULT_LIMIT, available_memory()) if max_bytes is None else max_bytes
    if needed > limit:
        raise LimitError(
            f"The stacked design must be at most {limit / 2**30:.3g} GiB; got {n * p} × {m + p} "
            f"taking {needed / 2**30:.3g} GiB. Use ising_path, which never builds it, or raise max_bytes."
        )
    s, t = np.tril_indices(p, -1)[::-1]
    lengths = np.concatenate([ones[s] + ones[t], np.full(p, n)])
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(index_type)
    indices = np.empty(n_entries, dtype=index_type)
    _fill_edges(indices, table, ones)
    indices[indptr[m] :] = np.arange(n * p)
    design = sp.csc_array((np.ones(n_entries), indices, indptr), shape=(n * p, m + p))
    return design, np.asarray(table.T.ravel(), dtype=np.float64)


def _fill_edges(indices: NDArray[np.signedinteger], table: NDArray[np.uint8], ones: NDArray[np.intp]) -> None:
    """Write the rows of all edge columns: of (s, t), s < t, those with x_t = 1 in block s, then x_s = 1 in block t."""
    n, p = table.shape
    rows_of_ones = np.nonzero(table.T)[1]
    starts = np.concatenate([[0], np.cumsum(ones)])
    filled = 0
    for t in range(1, p):  # over t only: temporaries stay at 1/p of the result
        source = np.column_stack([np.full(t, t), np.arange(t)]).ravel()  # whose ones: t, s
        block = np.column_stack([np.arange(t), np.full(t, t)]).ravel()  # in whose block: s, t
        length = ones[source]
        total = int(length.sum())
        within = np.arange(total) - np.repeat(np.cumsum(length) - length, length)
        rows = rows_of_ones[np.repeat(starts[source], length) + within]
        indices[filled : filled + total] = rows + np.repeat(n * block, length)
        filled += total
