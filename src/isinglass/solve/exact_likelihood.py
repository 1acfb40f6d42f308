"""The exact penalized likelihood of a small table by enumeration of all 2^p states, and its certificate.

    min  F(Θ) = Ψ(Θ) − Σ_s θ_ss m̂_s − Σ_{s<t} θ_st m̂_st + α Σ_{s<t} ω_st |θ_st|       (docs/math.md)

with m̂ the weighted means and pair moments of the table. Vectors of length 2^p are in the order of `solve.states`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import check_callable, check_count, check_positive
from isinglass.arrays import FloatArray, Mask
from isinglass.data import as_table
from isinglass.errors import ArgumentError, setting
from isinglass.penalties import EPSILON, Penalty, penalty_matrix, refuse_vanishing, violations
from isinglass.results import Path, Solution
from isinglass.solve.alphas import TOLERANCE, AlphasLike, alpha_grid, collect, warn_if_not_converged
from isinglass.solve.reduction import Reduction, warn_constant
from isinglass.solve.states import log_sum, log_weights, refuse_above_limit, rounding_of_sums, superset_sums

_MATCHED = 1e-15  # relative mismatch of means aimed at
_RIDGE = 1e-12  # relative; keeps the Newton matrix invertible, changes the rate and not the optimum
_LARGEST_CHANGE = 0.25  # of a probability: up to here P″ is a distribution, and the bounds of what it costs hold


@dataclass(eq=False)
class Likelihood:
    """The exact likelihood of a small table: its sufficient statistics, and the way to the parameters of its columns.

    Of the columns that vary, with their rarer answer coded as 1: every moment is then a sum of small positive numbers,
    which floating point knows to a small relative error even if one row outweighs all others by thirteen decades. Θ in
    this coding, φ, is one vector, fields then pairs in the order of ``np.triu_indices``.
    """

    reduction: Reduction  # of the table to the columns that vary
    is_frequent: Mask  # of these, whether the ones outweigh the zeros
    omega: FloatArray  # ω, one per pair
    empirical: FloatArray  # share of each state in the table
    n: int = field(init=False)  # columns that vary
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]] = field(init=False)
    masks: NDArray[np.int64] = field(init=False)  # nodes of each statistic, as states are
    statistics: FloatArray = field(init=False)  # m̂: means, then pair moments
    independent: FloatArray = field(init=False)  # φ without edges

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

    def __post_init__(self) -> None:
        """Prepare what does not depend on φ."""
        self.n = n = len(self.is_frequent)
        self.pairs = s, t = np.triu_indices(n, 1)
        self.masks = np.concatenate([1 << np.arange(n), (1 << s) | (1 << t)])
        self.statistics = superset_sums(self.empirical)[self.masks]
        zeros = superset_sums(self.empirical[::-1])[self.masks[:n]]
        log_odds = np.log(self.statistics[:n]) - np.log(zeros)
        self.independent = np.concatenate([log_odds, np.zeros(len(s))])

    def penalty(self, alpha: float) -> FloatArray:
        """Return α ω of every statistic: 0 for fields, inf for forbidden pairs (never inf·0)."""
        refuse_vanishing(alpha, self.omega)
        with np.errstate(over="ignore", invalid="ignore"):
            pairs = np.where(np.isinf(self.omega), np.inf, alpha * self.omega)
        return np.concatenate([np.zeros(self.n), pairs])

    def unpack(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return (couplings, fields) of the varying columns, in this coding."""
        couplings, (s, t) = np.zeros((self.n, self.n)), self.pairs
        couplings[s, t] = couplings[t, s] = theta[self.n :]
        return couplings, theta[: self.n]

    def decode(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return (couplings, fields) of the whole table: φ in its own coding, smoothed fields where it is constant."""
        (inner, field), columns = self.unpack(theta), self.reduction.columns
        sign = np.where(self.is_frequent, -1.0, 1.0)
        couplings, fields = np.zeros((self.reduction.n_features,) * 2), self.reduction.constant_fields.copy()
        couplings[np.ix_(columns, columns)] = sign[:, None] * inner * sign + 0.0
        fields[columns] = sign * (field + inner @ self.is_frequent)
        return couplings, fields


@dataclass(frozen=True, eq=False)
class Point:
    """A network φ with what the enumeration of all states says about it, found when it is asked for."""

    likelihood: Likelihood
    penalty: FloatArray  # of every statistic
    theta: FloatArray  # φ

    def at(self, theta: FloatArray) -> Point:
        """Return another point of the same problem."""
        return Point(self.likelihood, self.penalty, theta)

    @cached_property
    def _states(self) -> tuple[FloatArray, float]:
        """Log P of all states, and Ψ."""
        weights = log_weights(*self.likelihood.unpack(self.theta))
        psi = log_sum(weights)
        return weights - psi, psi

    @cached_property
    def probabilities(self) -> FloatArray:
        """P of all states."""
        return np.asarray(np.exp(self._states[0]))

    @cached_property
    def moments(self) -> FloatArray:
        """E[Π x_s] of every set of nodes."""
        return superset_sums(self.probabilities)

    @cached_property
    def gradient(self) -> FloatArray:
        """Difference of the moments from those of the table, g."""
        return np.asarray(self.moments[self.likelihood.masks] - self.likelihood.statistics)

    @cached_property
    def hessian(self) -> FloatArray:
        """Covariance of the statistics, H."""
        masks = self.likelihood.masks
        expected = self.moments[masks]
        hessian = self.moments[masks[:, None] | masks] - np.outer(expected, expected)
        hessian[np.diag_indices_from(hessian)] += _RIDGE * expected + np.finfo(np.float64).tiny
        return np.asarray(hessian)

    @cached_property
    def price(self) -> float:
        """Σ α ω |φ|."""
        used = self.theta != 0  # forbidden pairs are zero: no inf·0
        return float(self.penalty[used] @ np.abs(self.theta[used]))

    @property
    def objective(self) -> float:
        """F."""
        return self._states[1] - float(self.theta @ self.likelihood.statistics) + self.price

    @property
    def size(self) -> float:
        """Size of the terms of F: by a few units in its last place, F may be off."""
        return abs(self._states[1]) + float(np.abs(self.theta) @ self.likelihood.statistics) + self.price

    @property
    def kkt_residual(self) -> float:
        """Largest violation of the optimality conditions."""
        return float(np.max(violations(self.theta, self.gradient, self.penalty), initial=0.0))

    def certify(self) -> dict[str, Any]:  # Any: of a field
        """Return the certificate of a `Solution`, with a bound of F − min F that holds in floating point.

            dual    max  entropy(q)  over distributions q of x with  E_q x_s = m̂_s,  |E_q x_s x_t − m̂_st| ≤ α ω_st

        The dual point is a mixture, q = (1−c)·table + c·P″, where P″ is P changed a little until its means are those of
        the table. (E1) to (E5) are the equations in docs/math.md, "Exact likelihood".
        """
        problem, theta, penalty, g = self.likelihood, self.theta, self.penalty, self.gradient
        n, (s, t), log_p, p = problem.n, problem.pairs, self._states[0], self.probabilities
        trivial_gap = self.objective + 16 * EPSILON * self.size  # at c = 0, where q is the table
        proof = {"objective": self.objective, "kkt_residual": self.kkt_residual}

        expected = self.moments[problem.masks]
        error = rounding_of_sums(n) * (expected + problem.statistics)  # (E1)
        mean_error = np.abs(g[:n]) + error[:n]
        share, flip_cost = match_means(log_p, mean_error)  # (E2)
        error[n:] += mean_error[s] + mean_error[t]
        if share > _LARGEST_CHANGE:
            return {**proof, "duality_gap": trivial_gap, "certified_zeros": 0}

        penalized = (penalty > 0) & np.isfinite(penalty)
        reach = np.abs(g) + error
        c = mixture_share(reach[penalized], penalty[penalized])  # (E3)
        used = penalized & (theta != 0)
        slack = (c * error[used] + 4 * EPSILON * penalty[used]) * np.abs(theta[used])
        terms = np.maximum(penalty[used] * np.abs(theta[used]) + c * g[used] * theta[used], 0.0) + slack
        gap = float(terms.sum())  # (E4)
        gap += mixture_divergence(problem.empirical, log_p, c) * (1 + rounding_of_sums(n))
        gap += flip_cost + share * (1 - c) * trivial_gap
        drift = (8 + 2 * n) * EPSILON * (1.0 + float(np.abs(theta).sum()))  # relative error of probabilities
        gap += drift * ((1 - c) * float(np.abs(problem.empirical - p).sum()) + share) + drift**2
        gap += float(np.sum(drift * mean_error + drift**2 * expected[:n]))  # `Likelihood.decode` rounds the fields
        gap = min(gap, trivial_gap)
        is_zero = c * reach[penalized] + np.sqrt(gap / 2) * (1 + 4 * EPSILON) < penalty[penalized]  # (E5)
        return {**proof, "duality_gap": gap, "certified_zeros": int(np.count_nonzero(is_zero))}


def match_means(log_p: FloatArray, mean_error: FloatArray) -> tuple[float, float]:
    """Return Σ f_s, and what moving these shares adds to the divergence (E2).

    To change the mean of s alone, a share f_s of the states with x_s = 0 (or 1) is moved to those that differ in x_s.
    Moving all of them gives a P′ with KL(P′ ‖ P) = −E log P(other side | rest), and moving a share f of them at most f
    times that, because KL is convex.
    """
    p = np.exp(log_p)
    total = cost = 0.0
    for s in np.flatnonzero(mean_error > 0.0).tolist():
        log_zero, log_one = (log_p.reshape(-1, 2, 1 << s)[:, k] for k in (0, 1))
        weight = p.reshape(-1, 2, 1 << s).sum(axis=1)
        up = float((weight * np.logaddexp(0.0, log_zero - log_one)).sum())  # −E log P(x_s = 1 | rest)
        down = float((weight * np.logaddexp(0.0, log_one - log_zero)).sum())
        zero, one = (float(np.exp(side).sum()) for side in (log_zero, log_one))
        share_up, share_down = mean_error[s] / max(zero, 1e-300), mean_error[s] / max(one, 1e-300)
        total += max(share_up, share_down)
        cost += max(share_up * up, share_down * down)
    return total, cost


def mixture_share(reach: FloatArray, penalty: FloatArray) -> float:
    """Return c, the largest share of P″ with which no penalized moment is further off than its penalty (E3)."""
    limit = penalty * (1 - 4 * EPSILON)
    over = reach > limit
    return float(np.min(limit[over] / reach[over], initial=1.0))


def mixture_divergence(empirical: FloatArray, log_p: FloatArray, c: float) -> float:
    """Return KL(q ‖ P) of q = (1−c)·empirical + c·P as a sum of non-negative terms."""
    if c == 1:
        return 0.0
    p = np.exp(log_p)
    q = (1 - c) * empirical + c * p
    log_q = np.log(q, where=q > 0, out=np.zeros_like(q))
    terms = q * (log_q - log_p) - (q - p)
    terms = np.maximum(terms, 0.0) + 4 * EPSILON * q * (1.0 + np.abs(log_q) + np.abs(log_p))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        u = (1 - c) * (np.abs(empirical - p) + 2 * EPSILON * (empirical + p)) / p
    close = u < 1e-3  # (1+u)·log(1+u) − u cancels here: a bound from its series
    v = u[close]
    terms[close] = p[close] * v**2 * (1 / 2 + v / 6 + v**2 / 6)
    return float(terms.sum())


def minimize(point: Point, *, tol: float, max_iter: int) -> tuple[Point, int]:
    """Return the minimizer of the exact objective and the number of Newton steps."""
    # Far below tol: the gap is of the order of residual·Σ|θ| and, where the penalty is tiny, of residual / penalty.
    enough, previous, penalty = 1e-4 * tol, np.inf, point.penalty
    target = enough * min(1.0, 1e3 * float(np.min(penalty[penalty > 0], initial=np.inf)))
    for n_iter in range(max_iter):
        residual = point.kkt_residual
        if residual <= target or 0.5 * previous < residual <= enough:  # reached, or rounding is all that is left
            return fit_fields(point), n_iter
        previous = residual
        lower = _search_line(point, _minimize_model(point, residual * min(0.1, residual)))
        if lower is None:  # F cannot tell the two points apart any more
            return fit_fields(point), n_iter
        point = lower
    return fit_fields(point), max_iter


def _minimize_model(point: Point, goal: float) -> FloatArray:
    """Minimize g·(u−θ) + ½(u−θ)ᵀH(u−θ) + Σ penalty|u|: sweeps find the support, Newton's steps end a slow tail."""
    hessian, penalty, g = point.hessian, point.penalty, point.gradient
    u, slope = point.theta.copy(), g.copy()
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


def _search_line(point: Point, aim: FloatArray) -> Point | None:
    """Return the first of the points at 1, ½, ¼, … (less if the step is enormous) of the way with a lower objective."""
    direction = aim - point.theta
    expected = float(point.gradient @ direction) + point.at(aim).price - point.price
    slack = 1e-14 * point.size  # near the optimum the Newton step is right and F is flat
    # A pair that the model expects once in 1e26 has next to no curvature; a useful coupling is not far from this size.
    step = first = min(1.0, 64.0 / float(np.abs(direction).max(initial=1.0)))
    while step > 1e-10 * first:
        candidate = point.at(aim if step == 1 else point.theta + step * direction)
        if candidate.objective <= point.objective + 1e-4 * step * expected + slack:
            return candidate
        step /= 2
    return None


def fit_fields(point: Point) -> Point:
    """Return the point after Newton's steps on the fields until the means match, so that the dual point is feasible."""
    free = np.flatnonzero(point.penalty == 0)
    best, smallest = point, np.inf
    for _ in range(20):
        # Relative, because means may be tiny.
        mismatch = float(np.max(np.abs(point.gradient[free]) / point.likelihood.statistics[free], initial=0.0))
        if mismatch >= smallest:  # rounding, or too far away for undamped steps: keep the best point
            break
        best, smallest = point, mismatch
        if mismatch <= _MATCHED:
            break
        theta = point.theta.copy()
        theta[free] -= np.linalg.solve(point.hessian[np.ix_(free, free)], point.gradient[free])
        point = point.at(theta)
    return best


def exact_path(
    X: ArrayLike,
    alphas: AlphasLike = 30,
    *,
    sample_weight: ArrayLike | None = None,
    penalty_weights: Penalty = None,
    tol: float = TOLERANCE,
    max_iter: int = 200,
    alpha_min_ratio: float = 0.01,
    callback: Callable[[Solution], object] | None = None,
) -> Path:
    """Minimize the exact negative log-likelihood with an L1 penalty, for decreasing alpha.

    Per row: Ψ(Θ) − Σ_{s≤t} θ_st m̂_st + α Σ_{s<t} ω_st |θ_st|. Fields are not penalized. The penalty is as strong as
    that of the joint pseudo-likelihood at 2α, so alpha_max is half of the joint one.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Table of 0 and 1 with at most `MAX_NODES` columns.
    alphas, sample_weight, penalty_weights, tol, max_iter, alpha_min_ratio, callback
        As for `ising_path`, but every pair has a penalty; 30 alphas and 200 steps by default.

    Returns
    -------
    Path
        Objective, KKT residual, duality gap and certified zeros are those of the exact problem; all are
        evaluated at the returned parameters by enumeration. ``n_screened`` is 0: nothing is screened.

    Examples
    --------
    >>> X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [4, 1, 1, 4], axis=0)
    >>> path = exact_path(X, [1e-9])
    >>> round(float(path[0].couplings[0, 1]), 6)  # log (4·4 / (1·1))
    2.772589
    """
    check_positive("tol", tol)
    check_count("max_iter", max_iter)
    check_callable("callback", callback)
    problem = Likelihood.of(X, sample_weight, penalty_weights)
    top = _largest_ratio(problem)
    grid = alpha_grid(top, alphas, alpha_min_ratio=alpha_min_ratio)
    warn_constant(problem.reduction.variables, problem.reduction.counts)
    if grid[-1] == 0 < top:
        raise ArgumentError("alpha", "must be positive for the exact likelihood", 0.0, "Use 1e-9 to have almost none.")
    scale = max(Point(problem, problem.penalty(0.0), problem.independent).objective, 1e-12)
    path = Path(collect(_descend(problem, grid, top, scale, tol, max_iter), callback), tol)
    warn_if_not_converged(path, scale, max_iter)
    return path


def _descend(
    problem: Likelihood, grid: FloatArray, top: float, scale: float, tol: float, max_iter: int
) -> Iterator[Solution]:
    """Yield the certified solution of every alpha of the grid; gaps are relative to ``scale``."""
    theta = problem.independent
    for alpha in grid.tolist():
        # From alpha_max on the null model is the optimum; starting there keeps it exactly zero.
        start = Point(problem, problem.penalty(alpha), problem.independent if alpha >= top else theta)
        point, n_iter = minimize(start, tol=tol * min(scale, 1.0), max_iter=max_iter)
        theta, proof = point.theta, point.certify()
        solution = Solution.from_dense(alpha, *problem.decode(theta), problem.reduction.variables)
        converged = bool(proof["duality_gap"] <= tol * scale and proof["kkt_residual"] <= tol)
        yield replace(solution, **proof, n_iter=n_iter, converged=converged)


def exact_alpha_max(X: ArrayLike, sample_weight: ArrayLike | None = None, *, penalty_weights: Penalty = None) -> float:
    """Return the smallest alpha whose exact optimum has no edge: max |cov(x_s, x_t)| / ω_st."""
    return _largest_ratio(Likelihood.of(X, sample_weight, penalty_weights))


def _largest_ratio(problem: Likelihood) -> float:
    """Return the largest |g| / ω of a pair without edges; 0 where it is within rounding."""
    allowed = np.isfinite(problem.omega)
    g = Point(problem, problem.penalty(0.0), problem.independent).gradient
    moments, n, (s, t) = problem.statistics, problem.n, problem.pairs
    noise = rounding_of_sums(n) * (2.0 * moments[n:] + moments[s] * moments[t])
    noise += np.abs(g[s]) + np.abs(g[t])
    edge = np.where(np.abs(g[n:]) <= noise, 0.0, np.abs(g[n:]))
    with np.errstate(over="ignore"):
        ratio = float(np.max(edge[allowed] / problem.omega[allowed], initial=0.0))
    return ratio * (1 + 4 * EPSILON)
