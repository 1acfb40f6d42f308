"""Sums over the rows of a table, whole or in parts: how often categories occur, alone and in pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isinglass._core import count_ones
from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.data.parts.parted_table import AnyTable
from isinglass.variables import Variables


def category_counts(table: AnyTable) -> FloatArray:
    """Return the weight of the rows with each category, in the flat layout of the variables.

    Exactly 0 for a category that no row with weight has, and only then. Missing cells have no category.
    """
    if table.holes is not None or not table.variables.is_binary:
        return table.sum_rows(_count_categories, table.variables, table.holes)
    ones, with_one, with_zero = table.sum_rows(_count_bits)
    counts = np.zeros(2 * len(ones))
    counts[1::2] = ones
    total = table.total_weight
    zeros = np.maximum(total - ones, np.finfo(np.float64).tiny)  # never 0 by rounding
    counts[::2] = np.where(with_one > 0, np.where(with_zero > 0, zeros, 0.0), total)
    return counts


def _count_bits(codes: Bytes, weight: FloatArray | None) -> tuple[FloatArray, NDArray[np.int64], NDArray[np.int64]]:
    """Return the weight of the ones of every column, and 1 where a row with weight has a one, and where it has none."""
    if len(codes) == 0 or (weight is not None and not weight.any()):  # of a part
        nothing = np.zeros(codes.shape[1], dtype=np.int64)
        return np.zeros(codes.shape[1]), nothing, nothing
    ones, varies = count_ones(codes, weight)
    return ones, (ones > 0).astype(np.int64), (varies | (ones == 0)).astype(np.int64)


def _count_categories(codes: Bytes, weight: FloatArray | None, variables: Variables, holes: Mask | None) -> FloatArray:
    counts = []
    for j, size in enumerate(variables.sizes.tolist()):  # one by one: counting takes eight bytes per cell
        kept = slice(None) if holes is None else ~holes[:, j]
        counts.append(np.bincount(codes[kept, j], None if weight is None else weight[kept], size))
    return np.concatenate(counts).astype(np.float64)


def which_occur(table: AnyTable) -> Mask | None:
    """Tell which categories occur in rows with weight, in the flat layout of the variables; None for two values."""
    return None if table.variables.is_binary else category_counts(table) > 0.0


def which_vary(table: AnyTable) -> Mask:
    """Tell which columns have more than one category in rows with weight."""
    return varying_among(category_counts(table), table.variables)


def varying_among(counts: FloatArray, variables: Variables) -> Mask:
    """Tell which columns have more than one category, given `category_counts`."""
    return np.asarray(n_occurring(counts, variables) > 1)


def n_occurring(counts: FloatArray, variables: Variables) -> NDArray[np.intp]:
    """Return the number of categories of every column that occur, given `category_counts`."""
    return np.add.reduceat((counts > 0).astype(np.intp), variables.starts)


def dimensions_of(counts: FloatArray, variables: Variables) -> NDArray[np.intp]:
    """Return m of every column, given `category_counts`: a pair has m_s · m_t parameters.

    1 with scores, else the categories that occur less one.
    """
    return np.asarray(np.where(variables.has_scores, 1, np.maximum(n_occurring(counts, variables) - 1, 1)))


def column_sd(table: AnyTable) -> FloatArray:
    """Return the standard deviation of every column's points; a table with holes is refused.

    The categories of a nominal column are at distance 1 of each other.
    """
    variables, counts = table.variables, category_counts(table.without_holes())
    if variables.is_binary:
        share = counts[1::2] / table.total_weight
        return np.sqrt(share * (1.0 - share))
    return sd_of(counts, variables)


def sd_of(counts: FloatArray, variables: Variables) -> FloatArray:
    """Return the standard deviation of every column's points, given `category_counts`."""
    shares = counts / np.add.reduceat(counts, variables.starts)[variables.column]
    means = np.add.reduceat(shares * variables.factor, variables.starts)
    squares = np.add.reduceat(shares * (variables.factor - means[variables.column]) ** 2, variables.starts)
    # Half the mean square distance of two draws; sums of products keep the digits of a rare category.
    apart = [np.cumsum(share)[:-1] @ share[1:] for share in variables.split(shares)]
    return np.sqrt(np.where(variables.has_scores, squares, apart))


def pair_counts(table: AnyTable, pairs: NDArray[np.integer]) -> tuple[NDArray[np.generic], ...]:
    """Return for every pair of columns the weight of the rows with category k and category l; whole if weights are.

    A table with holes is refused.
    """
    counts, is_broken = table.without_holes().sum_rows(_count_pairs, pairs, table.variables.sizes)
    shapes = table.variables.sizes[pairs].tolist()
    whole = counts if is_broken or counts.sum(initial=0.0) >= 2**53 else counts.astype(np.int64)
    ends = np.cumsum([q * r for q, r in shapes], dtype=np.intp)[:-1]
    return tuple(part.reshape(shape) for part, shape in zip(np.split(whole, ends), shapes, strict=False))


def _count_pairs(
    codes: Bytes, weight: FloatArray | None, pairs: NDArray[np.integer], sizes: NDArray[np.intp]
) -> tuple[FloatArray, int]:
    columns = {j: np.ascontiguousarray(codes[:, j]) for j in np.unique(pairs).tolist()}
    each = [
        np.bincount(np.multiply(columns[s], q, dtype=np.intp) + columns[t], weight, p * q)
        for (s, t), (p, q) in zip(pairs.tolist(), sizes[pairs].tolist(), strict=True)
    ]
    is_broken = weight is not None and bool((weight != np.rint(weight)).any())
    return np.concatenate([*each, np.empty(0)]).astype(np.float64), int(is_broken)
