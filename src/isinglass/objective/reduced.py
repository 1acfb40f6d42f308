"""A table reduced to what can be estimated, and the sums over its rows that objective and certificate are made of.

Rows of weight zero and constant columns are gone, weights sum to one. Notation as in docs/math.md; ``margin`` is
m = (2x−1)η, so that a cell costs log(1+exp(−m)) and |r| = 1/(1+exp(m)) without ever rounding σ to 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy  # its parts are loaded when they are needed
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray, Mask
from isinglass.data import Table, check_penalty_weights
from isinglass.data.table import check_width
from isinglass.errors import ArgumentError, DataError
from isinglass.network import Network
from isinglass.variables import Variables

Penalty = ArrayLike | str | None

EPSILON = float(np.finfo(np.float64).eps)
# Rows with a smaller share of the largest weight count as absent: no sum feels them, and their inverse overflows.
NEGLIGIBLE = 1e-200


def smoothed_field(n_ones: ArrayLike, n_total: float) -> FloatArray:
    """Return logit((n₁+½)/(N+1)), the finite field of a constant column; N is the sum of the raw weights.

    Examples
    --------
    >>> float(smoothed_field(0, 9).round(6)), float(smoothed_field(4.5, 9))
    (-2.944439, 0.0)
    """
    ones = np.asarray(n_ones, dtype=np.float64)
    zeros = np.maximum(n_total - ones, 0.0)  # sums in another order may differ in the last digit
    return np.asarray(np.log(ones + 0.5) - np.log(zeros + 0.5))


def penalty_matrix(sd: FloatArray, penalty_weights: Penalty, ranges: float | FloatArray = 1.0) -> FloatArray:
    """Return ω as a dense matrix with zero diagonal, given each column's population sd and the range of its scores.

    Examples
    --------
    >>> penalty_matrix(np.array([0.5, 0.3]), "standardized").tolist()
    [[0.0, 0.8], [0.8, 0.0]]
    """
    checked = check_penalty_weights(penalty_weights, len(sd))
    if checked is None:
        omega = np.ones((len(sd), len(sd)))
    elif isinstance(checked, str):
        half = np.multiply.outer(sd, np.broadcast_to(ranges, sd.shape))
        omega = half + half.T
    else:
        omega = np.array(checked)
    np.fill_diagonal(omega, 0.0)
    return omega


def condition_on_covariates(omega: FloatArray, variables: Variables) -> FloatArray:
    """Return penalty weights with pairs of two covariates forbidden, and pairs with one free.

    Examples
    --------
    >>> condition_on_covariates(np.ones((3, 3)), Variables.binary(3).with_covariates([1, 2])).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, inf], [0.0, inf, 1.0]]
    """
    given = ~variables.is_modelled
    omega = np.where(given[:, None] != given, 0.0, omega)
    omega[np.logical_and.outer(given, given) & ~np.eye(len(given), dtype=bool)] = np.inf
    return np.asarray(omega)


def refuse_vanishing(alpha: float, penalty_weights: FloatArray) -> None:
    """Raise if the product of ``alpha`` and a weight underflows: it would pass for no penalty."""
    positive = penalty_weights[penalty_weights > 0.0]
    if alpha > 0.0 and len(positive) and float(positive.min()) < np.finfo(np.float64).tiny / alpha:
        raise DataError(
            "alpha times a penalty weight must be at least 2.3e-308, or it cannot be told from no penalty; got "
            f"{float(alpha)!r} times {float(positive.min())!r}. Rescale the penalty weights, or use 0 for no penalty."
        )


def check_alpha(alpha: float) -> float:
    """Return ``alpha``, or refuse it."""
    if np.ndim(alpha) != 0 or not 0.0 <= alpha < np.inf:
        raise ArgumentError("alpha", "must be a finite number that is not negative", alpha)
    return float(alpha)


def check_network(network: Network, variables: Variables) -> None:
    """Refuse a network that is not one of these columns."""
    check_width(variables.n_features, network.variables)
    if network.variables.scores is not variables.scores and network.variables.scores != variables.scores:
        raise DataError("the network must have the categories and scores of the table; got others.")


def violations(theta: FloatArray, g: FloatArray, penalty: FloatArray) -> FloatArray:
    """Return how far each coordinate of Θ is from its optimality condition (docs/math.md)."""
    with np.errstate(invalid="ignore"):  # inf·sign(0) in the branch that is not taken
        away = np.abs(g + penalty * np.sign(theta))
    at_zero = np.maximum(np.abs(g) - penalty, 0.0)
    return np.where(theta != 0, away, at_zero)


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
    def of(cls, given: Table, penalty_weights: Penalty) -> Reduced:
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
    def logit(self) -> FloatArray:
        """Log odds of the columns: the fields without any edge."""
        return np.log(self.raw @ self.table) - np.log(self.raw @ (1.0 - self.table))

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

    def expand(self, theta: FloatArray, field: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return (couplings, fields) of all columns."""
        couplings, fields = np.zeros((self.n_features,) * 2), self.smoothed.copy()
        couplings[np.ix_(self.columns, self.columns)], fields[self.columns] = theta, field
        return couplings, fields

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
