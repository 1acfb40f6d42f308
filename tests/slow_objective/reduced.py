"""The sums over rows that objective and certificate are made of.

Notation as in docs/math.md; ``margin`` is m = (2x−1)η, so that a cell costs log(1+exp(−m)) and |r| = 1/(1+exp(m))
without ever rounding σ to 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy
from numpy.typing import NDArray

from isinglass.arguments import check_not_negative
from isinglass.arrays import FloatArray, Mask
from isinglass.data import Table
from isinglass.network import Network
from isinglass.penalties import (
    EPSILON,
    NEGLIGIBLE,
    Penalty,
    penalty_matrix,
    refuse_vanishing,
    smoothed_field,
)


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
        return cls(table[:, columns], weight, raw, sd[columns], omega, columns, smoothed)

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

    def largest_ratio(self, edge: FloatArray) -> float:
        """Return the largest |g| / ω of a penalized pair, rounded up: a solver that rounds otherwise finds no edge."""
        mask = self.penalized
        with np.errstate(over="ignore"):
            ratios = np.abs(edge[mask]) / self.penalty[mask]
        return float(ratios.max(initial=0.0)) * (1.0 + 4.0 * EPSILON)

    @property
    def logit(self) -> FloatArray:
        """Log odds of the columns: the fields without any edge."""
        return np.log(self.raw @ self.table) - np.log(self.raw @ (1.0 - self.table))

    def at(self, alpha: float) -> Reduced:
        """Return the problem whose free pairs are those that ``alpha`` leaves free: all of them at 0."""
        if alpha > 0.0:
            return self
        return replace(self, penalty=np.where(np.isinf(self.penalty), np.inf, 0.0))

    def limits(self, alpha: float) -> FloatArray:
        """Return α ω of the penalized pairs and 0 elsewhere; infinite where the product overflows."""
        mask = self.penalized
        result = np.zeros_like(self.penalty)
        refuse_vanishing(check_not_negative("alpha", alpha), self.penalty[mask])
        with np.errstate(over="ignore"):
            result[mask] = alpha * self.penalty[mask]
        return result

    def restrict(self, network: Network) -> tuple[FloatArray, FloatArray, bool]:
        """Return Θ on the varying columns without forbidden couplings, and whether these were zero."""
        inner = network.couplings[np.ix_(self.columns, self.columns)]
        kept = np.where(np.isinf(self.penalty), 0.0, inner)
        return kept, network.fields[self.columns], np.count_nonzero(kept) == 2 * network.n_edges

    def margin(self, theta: FloatArray, field: FloatArray) -> FloatArray:
        """Return m = (2x−1)η of every cell."""
        return (2.0 * self.table - 1.0) * (self.table @ theta + field)

    def loss(self, margin: FloatArray) -> float:
        """Return F without its penalty."""
        return float(self.weight @ np.logaddexp(0.0, -margin).sum(axis=1))

    def value(self, theta: FloatArray, field: FloatArray, alpha: float) -> float:
        """Return F(Θ)."""
        used = np.triu(theta) != 0.0  # an infinite penalty of a zero coupling costs nothing
        penalty = self.limits(alpha)[used] @ np.abs(theta[used])
        return self.loss(self.margin(theta, field)) + float(penalty)

    def signed(self, margin: FloatArray) -> FloatArray:
        """Return w r, cell by cell."""
        return np.asarray(self.weight[:, None] * (1.0 - 2.0 * self.table) * scipy.special.expit(-margin))

    def gradient(self, margin: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return g_st = C_st + C_ts with C_st = Σ_n w_n r_ns x_nt, and g_ss = Σ_n w_n r_ns."""
        weighted = self.signed(margin)
        return self.pair_sums(weighted), weighted.sum(axis=0)

    def pair_sums(self, cells: FloatArray) -> FloatArray:
        """Return Σ_n (c_ns x_nt + c_nt x_ns) for every pair."""
        cross = cells.T @ self.table
        sums = cross + cross.T
        np.fill_diagonal(sums, 0.0)
        return np.asarray(sums)

    def balanced_sums(self, cells: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return Σ_n (c_ns x_nt + c_nt x_ns), and the sum of the sizes of its terms, for columns of c that sum to zero.

        Then x may be replaced by x − 1. With the rarer answer of every column coded as 1, the terms are as small as
        they can be, and so is their rounding error.
        """
        flipped = self.weight @ self.table > 0.5
        rare = np.abs(self.table - flipped)
        cross = np.where(flipped, -1.0, 1.0) * (cells.T @ rare)
        size = np.abs(cells).T @ rare
        sums, sizes = cross + cross.T, size + size.T
        np.fill_diagonal(sums, 0.0)
        np.fill_diagonal(sizes, 0.0)
        return np.asarray(sums), np.asarray(sizes)
