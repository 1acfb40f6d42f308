"""The sums over rows that objective and certificate are made of.

Notation as in docs/math.md; ``margin`` is m = (2x−1)η, so that a cell costs log(1+exp(−m)) and |r| = 1/(1+exp(m))
without ever rounding σ to 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy

from isinglass.arrays import FloatArray
from isinglass.network import Network
from isinglass.penalties import check_alpha, refuse_vanishing
from isinglass.solve import dense


@dataclass(frozen=True)
class Reduced(dense.Reduced):
    """The rows of positive weight and the columns that vary over them: all that depends on the data alone."""

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
        refuse_vanishing(check_alpha(alpha), self.penalty[mask])
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
