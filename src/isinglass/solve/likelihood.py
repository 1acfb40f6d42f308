"""The exact penalized likelihood of a small table: sufficient statistics, objective and derivatives by enumeration.

The columns that vary, with their rarer answer coded as 1: every moment is then a sum of small positive numbers, which
floating point knows to a small relative error even if one row outweighs all others by thirteen decades. Θ in this
coding, φ, is one vector, fields then pairs in the order of ``np.triu_indices``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray
from isinglass.data import read_binary, to_weighted
from isinglass.objective import penalty_matrix, smoothed_field
from isinglass.objective.reduced import NEGLIGIBLE, refuse_vanishing
from isinglass.solve.enumeration import log_sum, log_weights, refuse_above_limit, superset_sums

__all__ = ["Likelihood", "penalty_value"]

IntArray = NDArray[np.int64]

_RIDGE = 1e-12  # relative; keeps the Newton matrix invertible, changes the rate and not the optimum


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Sufficient statistics of a table, over the columns that vary."""

    varying: IntArray  # positions of the columns that vary
    is_flipped: NDArray[np.bool_]  # of these: 1 stands for the answer 0
    smoothed: FloatArray  # fields of all columns if they were constant
    omega: FloatArray  # one per pair
    empirical: FloatArray  # share of each state in the table
    names: tuple[str, ...] | None  # of all columns, if they have any

    @classmethod
    def of(cls, X: ArrayLike, sample_weight: ArrayLike | None, penalty_weights: ArrayLike | str | None) -> Likelihood:
        """Check the arguments and count the states."""
        source = read_binary(X)
        table, raw = to_weighted(source, sample_weight)
        refuse_above_limit(table.shape[1])
        raw = np.ones(len(table)) if raw is None else raw
        total, used = float(raw.sum()), raw > NEGLIGIBLE * raw.max()
        table, weight = table[used], raw[used] / raw.max()  # first, so that the sum of huge weights does not overflow
        weight /= weight.sum()
        varying = np.flatnonzero((table != table[0]).any(axis=0))
        ones, zeros = weight @ table, weight @ (1.0 - table)
        is_flipped = (ones > zeros)[varying]
        p = len(varying)
        states = (table[:, varying] ^ is_flipped).astype(np.int64) @ (1 << np.arange(p))
        empirical = np.asarray(np.bincount(states, weights=weight, minlength=1 << p), dtype=np.float64)
        omega = penalty_matrix(np.sqrt(ones * zeros), penalty_weights)[np.ix_(varying, varying)]
        smoothed = smoothed_field(np.where(table[0] > 0, total, 0.0), total)
        return cls(varying, is_flipped, smoothed, omega[np.triu_indices(p, 1)], empirical, source.names)

    @property
    def n_varying(self) -> int:
        """Number of columns that vary."""
        return len(self.varying)

    @property
    def n_features(self) -> int:
        """Number of all columns."""
        return len(self.smoothed)

    @cached_property
    def pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The nodes s < t of every pair."""
        return np.triu_indices(self.n_varying, 1)

    @cached_property
    def masks(self) -> IntArray:
        """The set of nodes of each statistic, numbered like the states."""
        s, t = self.pairs
        return np.concatenate([1 << np.arange(self.n_varying), (1 << s) | (1 << t)])

    @cached_property
    def statistics(self) -> FloatArray:
        """m̂: means of the varying columns, then pair moments."""
        return superset_sums(self.empirical)[self.masks]

    @cached_property
    def independent(self) -> FloatArray:
        """φ without edges: log odds."""
        ones, zeros = (
            self.statistics[: self.n_varying],
            superset_sums(self.empirical[::-1])[1 << np.arange(self.n_varying)],
        )
        return np.concatenate([np.log(ones) - np.log(zeros), np.zeros(len(self.omega))])

    def penalty(self, alpha: float) -> FloatArray:
        """α ω per statistic: 0 for fields and free pairs, inf for forbidden ones (never inf·0)."""
        pairs = np.full(len(self.omega), np.inf)
        finite = np.isfinite(self.omega)
        refuse_vanishing(alpha, self.omega)
        with np.errstate(over="ignore"):
            pairs[finite] = alpha * self.omega[finite]
        return np.concatenate([np.zeros(self.n_varying), pairs])

    def unpack(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return (couplings, fields) of the varying columns, in this coding."""
        p = self.n_varying
        couplings = np.zeros((p, p))
        s, t = self.pairs
        couplings[s, t] = couplings[t, s] = theta[p:]
        return couplings, theta[:p]

    def decode(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return (couplings, fields) of the whole table: φ in its own coding, smoothed fields where it is constant."""
        inner, field = self.unpack(theta)
        sign = np.where(self.is_flipped, -1.0, 1.0)
        couplings, fields = np.zeros((self.n_features, self.n_features)), self.smoothed.copy()
        couplings[np.ix_(self.varying, self.varying)] = sign[:, None] * inner * sign + 0.0
        fields[self.varying] = sign * (field + inner @ self.is_flipped)
        return couplings, fields

    def log_probabilities(self, theta: FloatArray) -> tuple[FloatArray, float]:
        """Return log P of all states, and Ψ."""
        weights = log_weights(*self.unpack(theta))
        psi = log_sum(weights)
        return weights - psi, psi

    def objective(self, theta: FloatArray, penalty: FloatArray) -> tuple[float, float]:
        """Return F, and the size of the terms it is a sum of."""
        psi = log_sum(log_weights(*self.unpack(theta)))
        price = penalty_value(theta, penalty)
        return psi - float(theta @ self.statistics) + price, abs(psi) + float(np.abs(theta) @ self.statistics) + price

    def derivatives(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mismatch of moments g and the covariance of the statistics H."""
        sums = superset_sums(np.exp(self.log_probabilities(theta)[0]))
        expected = sums[self.masks]
        hessian = sums[self.masks[:, None] | self.masks] - np.outer(expected, expected)
        hessian[np.diag_indices_from(hessian)] += _RIDGE * expected + np.finfo(np.float64).tiny
        return expected - self.statistics, hessian

    def describe(self, statistic: int) -> tuple[int, int]:
        """Return the columns of the whole table that make up the statistic of a pair."""
        k = statistic - self.n_varying
        return int(self.varying[self.pairs[0][k]]), int(self.varying[self.pairs[1][k]])


def penalty_value(theta: FloatArray, penalty: FloatArray) -> float:
    """Return Σ penalty |φ|."""
    used = theta != 0  # forbidden pairs are zero: no inf·0
    return float(penalty[used] @ np.abs(theta[used]))
