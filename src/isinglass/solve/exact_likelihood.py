"""The exact penalized likelihood of a small table by enumeration of all 2^p states, and its minimum.

    min  Ψ(Θ) − Σ_s θ_ss m̂_s − Σ_{s<t} θ_st m̂_st + α Σ_{s<t} ω_st |θ_st|       (docs/math.md)

with m̂ the weighted means and pair moments of the table. States are numbered so that bit s of the number is x_s: state 0
is all zeros, state 1 has x_0 = 1 alone, state 2 has x_1 = 1 alone. Every vector of length 2^p is in this order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray, Mask
from isinglass.data import as_table
from isinglass.errors import ArgumentError, LimitError, setting
from isinglass.penalties import EPSILON, Penalty, penalty_matrix, refuse_vanishing, violations
from isinglass.solve.reduction import Reduction

MAX_NODES = 20  # 2^20 states: 8 MB per vector, about 0.2 s per Newton step on one core
_MATCHED = 1e-15  # relative mismatch of means aimed at
_RIDGE = 1e-12  # relative; keeps the Newton matrix invertible, changes the rate and not the optimum


def refuse_above_limit(n_features: int, remedy: str) -> None:
    """Raise where 2^p states are too many."""
    if n_features > MAX_NODES:
        raise LimitError(f"The number of nodes must be at most {MAX_NODES} for enumeration; got {n_features}. {remedy}")


def log_weights(couplings: FloatArray, fields: FloatArray) -> FloatArray:
    """Return −energy of all states by doubling: about 2^{p+2} additions and no 2^p × p table."""
    weights = np.zeros(1)
    for k, field in enumerate(fields):
        logit = np.full(1, field)  # θ_kk + Σ_{t<k} θ_kt x_t over the states of the nodes below k
        for t in range(k):
            logit = np.concatenate([logit, logit + couplings[k, t]])
        weights = np.concatenate([weights, weights + logit])
    return weights


def superset_sums(probabilities: FloatArray) -> FloatArray:
    """Return E[Π_{s in S} x_s] for every set S of nodes, numbered like the states: all moments at once."""
    sums = probabilities.copy()
    for s in range(len(sums).bit_length() - 1):
        halves = sums.reshape(-1, 2, 1 << s)
        halves[:, 0] += halves[:, 1]
    return sums


def log_sum(weights: FloatArray) -> float:
    """Return log Σ exp(weights), to a small relative error also where one term is nearly all of it."""
    top = int(weights.argmax())
    terms = np.exp(weights - weights[top])
    terms[top] = 0.0
    return float(weights[top] + np.log1p(terms.sum()))


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The exact penalized likelihood of a small table: sufficient statistics, objective and derivatives by enumeration.

    Of the columns that vary, with their rarer answer coded as 1: every moment is then a sum of small positive numbers,
    which floating point knows to a small relative error even if one row outweighs all others by thirteen decades. Θ in
    this coding, φ, is one vector, fields then pairs in the order of ``np.triu_indices``.
    """

    reduction: Reduction  # of the table to the columns that vary
    is_frequent: Mask  # of these, whether the ones outweigh the zeros
    omega: FloatArray  # ω, one per pair
    empirical: FloatArray  # share of each state in the table

    @classmethod
    def of(cls, X: ArrayLike, sample_weight: ArrayLike | None, penalty_weights: Penalty) -> Likelihood:
        """Check the arguments and count the states."""
        table = as_table(X, sample_weight).whole().without_holes()
        table.variables.require_two_values("X")
        other = setting("method", "joint", python="ising_path")
        refuse_above_limit(table.shape[1], f"Use {other}, whose pseudo-likelihood needs no enumeration.")
        reduction = Reduction.of(table)
        kept, columns = reduction.table.whole(), reduction.columns
        codes, raw = kept.codes, kept.unit_weight
        weight = raw / raw.max()  # first, so that weights near the limits of floating point survive the division
        weight /= weight.sum()
        # Ones and zeros are summed apart: the difference from 1 would lose the digits of a rare answer.
        ones, zeros = weight @ codes, weight @ (1 - codes)
        sd = np.zeros(reduction.n_features)
        sd[columns] = np.sqrt(ones * zeros)
        is_frequent, p = ones > zeros, len(columns)
        pairs = np.triu_indices(p, 1)
        omega = penalty_matrix(sd, penalty_weights)[np.ix_(columns, columns)][pairs]
        if (omega == 0).any():
            remedy = "Use 1e-9 to have almost none."
            raise ArgumentError("penalty_weights", "must be positive for the exact likelihood", 0.0, remedy)
        states = (codes != is_frequent).astype(np.int64) @ (1 << np.arange(p))
        empirical = np.bincount(states, weights=weight, minlength=1 << p)
        return cls(reduction, is_frequent, omega, np.asarray(empirical, dtype=np.float64))

    @property
    def n_varying(self) -> int:
        """Number of columns that vary."""
        return len(self.reduction.columns)

    @cached_property
    def pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The nodes s < t of every pair."""
        return np.triu_indices(self.n_varying, 1)

    @cached_property
    def masks(self) -> NDArray[np.int64]:
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
        n = self.n_varying
        ones, zeros = self.statistics[:n], superset_sums(self.empirical[::-1])[self.masks[:n]]
        return np.concatenate([np.log(ones) - np.log(zeros), np.zeros(len(self.omega))])

    def penalty(self, alpha: float) -> FloatArray:
        """α ω per statistic: 0 for fields, inf for forbidden pairs (never inf·0)."""
        refuse_vanishing(alpha, self.omega)
        with np.errstate(over="ignore", invalid="ignore"):
            pairs = np.where(np.isinf(self.omega), np.inf, alpha * self.omega)
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
        (inner, field), columns = self.unpack(theta), self.reduction.columns
        sign = np.where(self.is_frequent, -1.0, 1.0)
        couplings, fields = np.zeros((self.reduction.n_features,) * 2), self.reduction.constant_fields.copy()
        couplings[np.ix_(columns, columns)] = sign[:, None] * inner * sign + 0.0
        fields[columns] = sign * (field + inner @ self.is_frequent)
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


def penalty_value(theta: FloatArray, penalty: FloatArray) -> float:
    """Return Σ penalty |φ|."""
    used = theta != 0  # forbidden pairs are zero: no inf·0
    return float(penalty[used] @ np.abs(theta[used]))


def minimize(
    problem: Likelihood, penalty: FloatArray, theta: FloatArray, *, tol: float, max_iter: int
) -> tuple[FloatArray, int]:
    """Return the minimizer of the exact objective and the number of Newton steps."""
    # Far below tol: the gap is of the order of residual·Σ|θ| and, where the penalty is tiny, of residual / penalty.
    enough, previous = 1e-4 * tol, np.inf
    target = enough * min(1.0, 1e3 * float(np.min(penalty[penalty > 0], initial=np.inf)))
    for n_iter in range(max_iter):
        g, hessian = problem.derivatives(theta)
        residual = float(np.max(violations(theta, g, penalty), initial=0.0))
        if residual <= target or 0.5 * previous < residual <= enough:  # reached, or rounding is all that is left
            return match_moments(problem, penalty, theta), n_iter
        previous = residual
        aim = _minimize_model(hessian, g, theta, penalty, residual * min(0.1, residual))
        step = _search_line(problem, penalty, theta, aim - theta, g)
        if step == 0:  # F cannot tell the two points apart any more
            break
        theta = aim if step == 1 else theta + step * (aim - theta)
    else:
        n_iter = max_iter
    return match_moments(problem, penalty, theta), n_iter


def _minimize_model(
    hessian: FloatArray, g: FloatArray, theta: FloatArray, penalty: FloatArray, goal: float
) -> FloatArray:
    """Minimize g·(u−θ) + ½(u−θ)ᵀH(u−θ) + Σ penalty|u|: sweeps find the support, Newton's steps end a slow tail."""
    u, slope = theta.copy(), g.copy()
    diagonal = np.diag(hessian)
    allowed = np.flatnonzero(np.isfinite(penalty))
    for _ in range(200):
        for j in allowed:
            pull = u[j] * diagonal[j] - slope[j]
            new = np.sign(pull) * max(abs(pull) - penalty[j], 0.0) / diagonal[j]
            if new != u[j]:
                slope += hessian[j] * (new - u[j])
                u[j] = new
        while _newton_on_support(hessian, slope, u, penalty):
            pass  # going on keeps two sweeps from undoing each other without end
        # By less than this no slope changes when a coordinate moves by a unit in its last place.
        rounding = EPSILON * float((np.abs(g) + diagonal * np.abs(u)).max(initial=0.0))
        if np.max(violations(u, slope, penalty), initial=0.0) <= max(goal, rounding):
            break
    return u


def _newton_on_support(hessian: FloatArray, slope: FloatArray, u: FloatArray, penalty: FloatArray) -> bool:
    """Move ``u`` and ``slope`` towards the optimum of the orthant; return whether a coordinate became zero."""
    support = np.flatnonzero((u != 0) | (penalty == 0))
    if not support.size:
        return False
    signs = np.where(penalty[support] > 0, np.sign(u[support]), 0.0)
    pull = slope[support] + np.where(signs != 0, penalty[support], 0.0) * signs
    move = -np.linalg.solve(hessian[np.ix_(support, support)], pull)
    crossing = (signs != 0) & (signs * (u[support] + move) < 0)
    ratios = -u[support][crossing] / move[crossing]
    step = float(np.min(ratios, initial=1.0))
    new = u[support] + step * move
    new[np.flatnonzero(crossing)[ratios <= step]] = 0.0
    slope += hessian[:, support] @ (new - u[support])
    u[support] = new
    return bool(crossing.any())


def _search_line(
    problem: Likelihood, penalty: FloatArray, theta: FloatArray, direction: FloatArray, g: FloatArray
) -> float:
    """Return the first of 1, ½, ¼, … (less if the step is enormous) with sufficient decrease of the objective, or 0."""
    here, size = problem.objective(theta, penalty)
    expected = float(g @ direction) + penalty_value(theta + direction, penalty) - penalty_value(theta, penalty)
    slack = 1e-14 * size  # rounding of F: near the optimum the Newton step is right and F is flat
    # A pair that the model expects once in 1e26 has next to no curvature; a useful coupling is not far from this size.
    step = first = min(1.0, 64.0 / float(np.abs(direction).max(initial=1.0)))
    while step > 1e-10 * first:
        if problem.objective(theta + step * direction, penalty)[0] <= here + 1e-4 * step * expected + slack:
            return step
        step /= 2
    return 0.0


def match_moments(problem: Likelihood, penalty: FloatArray, theta: FloatArray) -> FloatArray:
    """Newton on the fields until the means match, so that the dual point is feasible."""
    free = np.flatnonzero(penalty == 0)
    best, smallest = theta, np.inf
    for _ in range(20):
        g, hessian = problem.derivatives(theta)
        mismatch = float(np.max(np.abs(g[free]) / problem.statistics[free], initial=0.0))  # relative: means may be tiny
        if mismatch >= smallest:  # rounding, or too far away for undamped steps: keep the best point
            break
        best, smallest = theta, mismatch
        if mismatch <= _MATCHED:
            break
        theta = theta.copy()
        theta[free] -= np.linalg.solve(hessian[np.ix_(free, free)], g[free])
    return best
