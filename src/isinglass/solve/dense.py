"""A table of 0 and 1 as a dense matrix of doubles, for what is computed from all of its pairs at once.

Rows of weight zero and constant columns are gone, weights sum to one. Notation as in docs/math.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray, Mask
from isinglass.data import Table
from isinglass.penalties import EPSILON, NEGLIGIBLE, Penalty, penalty_matrix, smoothed_field


@dataclass(frozen=True)
class Reduced:
    """The rows of positive weight and the columns that vary over them: all that depends on the data alone."""

    table: FloatArray  # (n, q) of 0.0 and 1.0
    weight: FloatArray  # (n,), sums to 1
    raw: FloatArray  # (n,), as given
    sd: FloatArray  # (q,), population
    penalty: FloatArray  # (q, q), ω
    columns: NDArray[np.intp]  # (q,), where the varying columns are in X
    smoothed: FloatArray  # (p,), the fields of constant columns (those of the others are not used)
    is_frequent: Mask  # (q,), whether the ones outweigh the zeros

    @classmethod
    def of(cls, given: Table, penalty_weights: Penalty) -> Self:
        """Leave out what cannot be estimated."""
        total = given.total_weight
        kept = given.above(NEGLIGIBLE * given.weight_range[1])
        table = kept.codes.astype(np.float64)
        raw = kept.unit_weight
        weight = raw / raw.max()  # first, so that weights near the limits of floating point survive the division
        weight /= weight.sum()
        # Ones and zeros are summed apart: the difference from 1 would lose the digits of a rare answer.
        ones, zeros = weight @ table, weight @ (1.0 - table)
        sd = np.sqrt(ones * zeros)
        varies = (table != table[0]).any(axis=0)
        columns = np.flatnonzero(varies)
        omega = penalty_matrix(sd, penalty_weights)[np.ix_(columns, columns)]
        smoothed = smoothed_field(np.where(table[0] > 0, total, 0.0), total)
        return cls(table[:, columns], weight, raw, sd[columns], omega, columns, smoothed, (ones > zeros)[columns])

    @property
    def n_features(self) -> int:
        """Number of all columns, constant ones included."""
        return len(self.smoothed)

    @property
    def penalized(self) -> Mask:
        """Pairs with 0 < ω < inf."""
        return (self.penalty > 0) & np.isfinite(self.penalty)

    @property
    def free(self) -> Mask:
        """Pairs with ω = 0."""
        return np.asarray((self.penalty == 0) & ~np.eye(len(self.columns), dtype=bool))

    @property
    def rounding(self) -> float:
        """Bound of the relative error of a sum of n rounded terms of one sign, with room for their own rounding."""
        return (len(self.table) + 16) * EPSILON / 2.0

    def expand(self, theta: FloatArray, field: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return (couplings, fields) of all columns."""
        couplings, fields = np.zeros((self.n_features,) * 2), self.smoothed.copy()
        couplings[np.ix_(self.columns, self.columns)], fields[self.columns] = theta, field
        return couplings, fields

    def covariance(self) -> FloatArray:
        """Return the covariance of every pair, exactly zero where it cannot be told from zero.

        As w₁₁w₀₀ − w₁₀w₀₁ of the pair's own 2×2 table: sums of positive numbers, so that the rounding of either
        product is a relative one. A difference within it means that changing the weights in their last digits makes
        the two columns independent. Counts are summed without any error.
        """
        counts = bool((self.raw == np.rint(self.raw)).all()) and self.raw.sum() < 2.0**53
        unit = self.raw if counts else self.raw / self.raw.max()
        ones = self.table
        both = ones.T @ (unit[:, None] * ones)
        if counts:
            first = np.diag(both)[:, None] - both
            neither = self.raw.sum() - np.diag(both) - first
        else:
            zeros = 1.0 - ones
            neither, first = zeros.T @ (unit[:, None] * zeros), ones.T @ (unit[:, None] * zeros)
        same, different = both * neither, first * first.T
        noise = (2.0 * EPSILON if counts else 2.0 * self.rounding) * (same + different)
        if counts and self.raw.sum() < 2.0**26:  # products of counts below 2⁵³ are exact too
            noise = np.zeros_like(same)
        result = np.where(np.abs(same - different) <= noise, 0.0, (same - different) / unit.sum() ** 2)
        np.fill_diagonal(result, 0.0)
        return np.asarray(result)

    def alpha_max(self) -> float:
        """Return the smallest alpha at which every penalized coupling is zero, if no pair is free: max 2|cov| / ω.

        It is 0 if nothing is penalized, or if no pair depends on each other, up to rounding.
        """
        return self.largest_ratio(2.0 * self.covariance())

    def largest_ratio(self, edge: FloatArray) -> float:
        """Return the largest |g| / ω of a penalized pair, rounded up: a solver that rounds otherwise finds no edge."""
        mask = self.penalized
        with np.errstate(over="ignore"):
            ratios = np.abs(edge[mask]) / self.penalty[mask]
        return float(ratios.max(initial=0.0)) * (1.0 + 4.0 * EPSILON)
