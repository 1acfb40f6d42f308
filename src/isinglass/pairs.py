"""Pairs of nodes, and the couplings of pairs: checks of what a user passes, one number per pair, sparse matrices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import as_numbers
from isinglass.arrays import FloatArray, count_within, read_only
from isinglass.errors import ArgumentError, DataError, listed
from isinglass.names import by_node
from isinglass.variables import Variables

# Rounding that survives an export or a product such as Q @ D @ Q.T; anything larger is a mistake.
SYMMETRY_RTOL = 1e-12
CENTERED_RTOL = 1e-10  # the same for the sums of blocks
Unchecked: TypeAlias = Any  # what a caller passes, before it is checked


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


def strongest_first(values: FloatArray) -> NDArray[np.intp]:
    """Return the numbers of some couplings, the largest absolute value first, ties as they are."""
    return np.argsort(-np.abs(values), kind="stable")


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


# --- fields and couplings of a user -----------------------------------------------------------------------------------


def check_vector(values: Unchecked, name: str, names: Sequence[str] | None = None) -> FloatArray:
    """Return a vector of finite numbers; where nodes have names, those of a series are found by them."""
    if names is not None and hasattr(values, "iloc"):
        values = by_node(values, names, name)
    vector = as_numbers(name, values)
    if vector.ndim != 1:
        raise DataError(f"{name} must be a vector; got shape {vector.shape}.")
    return vector


def read_fields(fields: Unchecked, names: Sequence[str] | None) -> FloatArray:
    """Return the fields as one vector; where each node has one, those of a series are found by the names of nodes."""
    if isinstance(fields, list | tuple) and any(np.ndim(each) == 1 for each in fields):
        fields = np.concatenate([check_vector(each, "fields") for each in fields])
    has_one_each = names is not None and np.shape(fields) == (len(names),)
    vector = check_vector(fields, "fields", names if has_one_each else None)
    if not len(vector):
        raise DataError("fields must be a vector with one value per node; got shape (0,).")
    return vector


def read_couplings(
    pairs: Unchecked, pair_values: Unchecked, pair_parameters: Unchecked, variables: Variables
) -> tuple[FloatArray | None, NDArray[np.int32], FloatArray]:
    """Return what blocks add to the fields, the pairs s < t in order, and their parameters.

    Pairs that are zero are left out; the first value is None where all blocks are centered.
    """
    if (pair_parameters is None) == (pair_values is None):
        raise DataError("Exactly one of pair_values and pair_parameters must be given.")
    given = check_pairs(pairs, variables.n_features, "pairs")
    index = np.sort(given, axis=1)
    order = _sorted_order(index, variables.n_features)
    entries, shifts = _read_entries(given, pair_values, pair_parameters, variables), None
    if variables.has_scores.all():
        entries = entries[order]
    else:
        blocks = variables.split_blocks(given, entries)
        ordered = [blocks[k].T if given[k, 0] > given[k, 1] else blocks[k] for k in order.tolist()]
        shifts, ordered = _center(index[order], ordered, variables)
        entries = np.concatenate([*(block.ravel() for block in ordered), np.empty(0)])
    index = index[order]
    kept = variables.block_values(index, entries) != 0.0
    return shifts, index[kept], entries[np.repeat(kept, variables.block_sizes(index))]


def _center(
    pairs: NDArray[np.int32], blocks: list[FloatArray], variables: Variables
) -> tuple[FloatArray | None, list[FloatArray]]:
    """Return what the means of blocks over the categories of nominal variables add to fields, and the blocks without.

    Σ_k B(k, l) = 0 is what makes B, and so the value of its edge, unique.
    """
    shifts: list[FloatArray] = [np.zeros(size) for size in variables.sizes.tolist()]
    centered = []
    for nodes, block in zip(pairs.tolist(), blocks, strict=True):
        largest = np.abs(block).max()
        for axis, node in enumerate(nodes):
            if variables.scores[node] is not None:
                continue
            mean = block.mean(axis=axis, keepdims=True)
            if np.abs(mean).max() > CENTERED_RTOL * largest:
                other = nodes[1 - axis]
                points = variables.scores[other]
                block = block - mean
                shifts[other] += mean.ravel() if points is None else float(mean.item()) * np.asarray(points)
        centered.append(block)
    added = np.concatenate([shift[1:] - shift[0] for shift in shifts])
    return (added if added.any() else None), centered


def _read_entries(
    pairs: NDArray[np.int32], pair_values: Unchecked, pair_parameters: Unchecked, variables: Variables
) -> FloatArray:
    """Return the entries of the blocks of all pairs, one after the other as given, from values, entries or blocks."""
    name, numbers = ("pair_values", pair_values) if pair_parameters is None else ("pair_parameters", pair_parameters)
    if pair_parameters is None and not variables.has_sign(pairs).all():
        raise DataError("pair_parameters must be given where a node is nominal.")
    if pair_values is None and np.iterable(numbers) and not np.isscalar(next(iter(numbers), 0)):
        blocks = [as_numbers(name, block) for block in numbers]
        shapes = list(map(tuple, variables.widths[pairs].tolist()))
        if [block.shape for block in blocks] != shapes:
            got = next((each for each in zip(blocks, shapes, strict=False) if each[0].shape != each[1]), None)
            shown = f"{got[0].shape} in place of {got[1]}" if got else f"{len(blocks)} of them"
            raise DataError(f"pair_parameters must have one block per pair ({len(pairs)}), of its shape; got {shown}.")
        numbers = np.concatenate([*(block.ravel() for block in blocks), np.empty(0)])
    entries, expected = check_vector(numbers, name), int(variables.block_sizes(pairs).sum())
    if len(entries) != expected:
        what = "one value per pair" if pair_parameters is None else "the entries of all blocks"
        raise DataError(f"{name} must have {what} ({expected}); got {len(entries)}.")
    return entries


def _sorted_order(pairs: NDArray[np.int32], n_features: int) -> NDArray[np.intp]:
    """Return the lexicographic order of pairs s < t, each of which may occur once."""
    keys = pair_keys(pairs, n_features)
    order = np.argsort(keys, kind="stable")
    wrong = (pairs[:, 0] == pairs[:, 1])[order] | (np.diff(keys[order], prepend=-1) == 0)
    if wrong.any():
        one = pairs[order[np.argmax(wrong)]].tolist()
        raise ArgumentError("pairs", "must join two different nodes, each pair once", one)
    return order


def read_coupling_matrix(
    matrix: Unchecked, fields: FloatArray | None, name: str
) -> tuple[FloatArray, NDArray[np.int32], FloatArray]:
    """Return fields, pairs and values of a coupling matrix, whose diagonal must be zero."""
    index, values, diagonal = read_matrix(matrix, name)
    if diagonal.any():
        remedy = "Put these values into the fields, or use Network.from_theta."
        raise ArgumentError(name, "must be zero on the diagonal", float(diagonal[diagonal != 0][0]), remedy)
    if fields is not None and fields.shape != diagonal.shape:
        raise DataError(f"{name} must have one row per field ({len(fields)}); got {len(diagonal)}.")
    return diagonal if fields is None else fields, index, values


def read_matrix(values: Unchecked, name: str) -> tuple[NDArray[np.int32], FloatArray, FloatArray]:
    """Return pairs and entries of the upper triangle of a symmetric matrix, and its diagonal."""
    given = values if sp.issparse(values) else as_numbers(name, values)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or not given.shape[0]:
        raise DataError(f"{name} must be a square matrix with at least one row; got shape {given.shape}.")
    matrix = sp.csr_array(given)
    matrix.data = as_numbers(name, matrix.data)
    difference = abs(matrix - matrix.T).tocoo()
    if difference.nnz and difference.data.max() > SYMMETRY_RTOL * abs(matrix).max():
        worst = int(difference.data.argmax())
        s, t = (int(axis[worst]) for axis in difference.coords)
        raise DataError(
            f"{name} must be symmetric; got {float(matrix[s, t])!r} at ({s}, {t}) and {float(matrix[t, s])!r} "
            f"at ({t}, {s}). Average the two directions first: (A + A.T) / 2."
        )
    upper = sp.coo_array(sp.triu(matrix, 1))
    return np.column_stack(upper.coords).astype(np.int32), upper.data, np.asarray(matrix.diagonal(), dtype=np.float64)


def labels_of(matrix: Unchecked, names: Sequence[str] | None = None) -> Sequence[str] | None:
    """Return the names that are given, or else those of a frame, whose rows and columns must have the same."""
    columns = list(getattr(matrix, "column_names", getattr(matrix, "columns", ())))
    counts = list(range(len(columns)))
    if names is not None or columns in ([], counts):
        return names
    rows = list(getattr(matrix, "index", ()))  # only frames of pandas have one
    if rows not in ([], columns, counts):
        raise DataError(
            f"the rows of a matrix must have the names of its columns, {listed(columns)}; got {listed(rows)}."
        )
    return list(map(str, columns))
