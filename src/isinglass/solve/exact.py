"""Small networks by enumeration of all 2^p states: partition function, moments, samples, exact likelihood path.

States are numbered so that bit s of the number is x_s: state 0 is all zeros, state 1 has x_0 = 1 alone,
state 2 has x_1 = 1 alone. Every vector of length 2^p below is in this order.

The exact problem (docs/math.md), with m̂ the weighted means and pair moments of the table:

    primal  min  Ψ(Θ) − Σ_s θ_ss m̂_s − Σ_{s<t} θ_st m̂_st + α Σ_{s<t} ω_st |θ_st|
    dual    max  entropy(q)  over distributions q of x with  E_q x_s = m̂_s,  |E_q x_s x_t − m̂_st| ≤ α ω_st

Its gradient is a mismatch of moments, g = E_Θ[x_s x_t] − m̂_st. If the means match, the mixture
q = (1−c)·table + c·P_Θ with c = min(1, min α ω_st / |g_st|) is feasible for the dual, and

    gap = KL(q ‖ P_Θ) + Σ_{s<t} (α ω_st |θ_st| + c g_st θ_st) + c Σ_s g_ss θ_ss
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, xlogy

from isinglass.data import check_sample_weight, to_weighted
from isinglass.errors import (
    ConvergenceWarning,
    DataError,
    LimitError,
    SeparationError,
)
from isinglass.model import IsingModel
from isinglass.objective import penalty_matrix, smoothed_field
from isinglass.randomness import RandomSource, as_generator
from isinglass.results import Path, Solution
from isinglass.solve.estimable import warn_constant
from isinglass.solve.grid import alpha_grid

__all__ = [
    "MAX_NODES",
    "Moments",
    "exact_path",
    "exact_sample",
    "log_likelihood",
    "log_partition",
    "moments",
    "state_probabilities",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MAX_NODES = 20  # 2^20 states: 8 MB per vector, about 0.2 s per Newton step on one core
_MATCHED = 1e-13  # mismatch of means and free moments aimed at
_FEASIBLE = 1e-11  # … and the largest at which the dual point counts as feasible
_RIDGE = 1e-12  # keeps the Newton matrix invertible where σ(1−σ) underflows; changes the rate, not the optimum
_LP_TOL = 1e-7  # of the linear programming solver


class Moments(NamedTuple):
    """E[x_s] as a vector and E[x_s x_t] as a symmetric matrix whose diagonal is E[x_s]."""

    means: FloatArray
    pairs: FloatArray


# ------------------------------------------------------------------------------------------- one model


def log_partition(model: IsingModel) -> float:
    """Return Ψ(Θ), the logarithm of the sum of exp(−energy) over all 2^p states.

    Examples
    --------
    >>> model = IsingModel([[0.0]], [0.0])
    >>> round(log_partition(model), 6)  # log 2
    0.693147
    """
    return float(logsumexp(_log_weights(model.couplings, model.fields)))


def state_probabilities(model: IsingModel) -> FloatArray:
    """Return P(x) of all 2^p states; bit s of the position is x_s.

    Examples
    --------
    >>> model = IsingModel([[0, 0], [0, 0]], np.log([3.0, 1.0]))
    >>> state_probabilities(model).round(3).tolist()  # 00, 10, 01, 11
    [0.125, 0.375, 0.125, 0.375]
    """
    weights = _log_weights(model.couplings, model.fields)
    probabilities: FloatArray = np.exp(weights - logsumexp(weights))
    return probabilities


def moments(model: IsingModel) -> Moments:
    """Return the means and pair moments of the model.

    Examples
    --------
    >>> model = IsingModel([[0, 0], [0, 0]], np.log([3.0, 1.0]))
    >>> moments(model).pairs.round(3).tolist()
    [[0.75, 0.375], [0.375, 0.5]]
    """
    sums = _superset_sums(state_probabilities(model))
    bits = 1 << np.arange(model.n_features)
    pairs = sums[bits[:, None] | bits]
    return Moments(np.diag(pairs).copy(), pairs)


def log_likelihood(model: IsingModel, X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return the weighted mean of log P(x) over the rows of X.

    The mean, not the sum: its negative is the exact objective without penalty. The value of single
    rows is ``-model.energy(X) - log_partition(model)``.

    Examples
    --------
    >>> model = IsingModel([[0, 0], [0, 0]], np.log([3.0, 1.0]))
    >>> round(log_likelihood(model, [[1, 0], [1, 1]]), 6)  # log 0.375
    -0.980829
    """
    energies = model.energy(X)
    weight = check_sample_weight(sample_weight, len(energies))
    return float(-np.average(energies, weights=weight)) - log_partition(model)


def exact_sample(
    model: IsingModel,
    n_samples: int,
    *,
    random_state: RandomSource = None,
) -> NDArray[np.uint8]:
    """Draw independent rows from the model by enumeration: no Markov chain, no burn-in.

    Parameters
    ----------
    model : IsingModel
        At most `MAX_NODES` nodes.
    n_samples : int
        Number of rows, at least 1.
    random_state : int, Generator, RandomState or None
        A Generator or a RandomState is advanced, so that the next call differs.

    Returns
    -------
    ndarray of uint8, shape (n_samples, n_features)

    Examples
    --------
    >>> model = IsingModel([[0, 50.0], [50.0, 0]], [-25.0, -25.0])
    >>> rows = exact_sample(model, 100, random_state=0)
    >>> bool((rows[:, 0] == rows[:, 1]).all())
    True
    """
    if isinstance(n_samples, bool) or not isinstance(n_samples, int | np.integer) or n_samples < 1:
        raise DataError(f"n_samples must be an integer of at least 1; got {n_samples!r}.")
    cumulative = np.cumsum(state_probabilities(model))
    # Scaling by the last entry instead of 1 keeps rounding from pointing past the last possible state.
    draws = as_generator(random_state).random(int(n_samples)) * cumulative[-1]
    states = np.searchsorted(cumulative, draws, side="right")
    rows: NDArray[np.uint8] = ((states[:, None] >> np.arange(model.n_features)) & 1).astype(np.uint8)
    return rows


# ------------------------------------------------------------------------------------------- enumeration


def _refuse_above_limit(n_features: int) -> None:
    if n_features > MAX_NODES:
        raise LimitError(
            f"The number of nodes must be at most {MAX_NODES} for enumeration; got {n_features}. "
            "Use ising_path, whose pseudo-likelihood needs no enumeration."
        )


def _log_weights(couplings: FloatArray, fields: FloatArray) -> FloatArray:
    """Return −energy of all states by doubling: about 2^{p+2} additions and no 2^p × p table."""
    _refuse_above_limit(len(fields))
    weights = np.zeros(1)
    for k, field in enumerate(fields):
        logit = np.full(1, field)  # θ_kk + Σ_{t<k} θ_kt x_t over the states of the nodes below k
        for t in range(k):
            logit = np.concatenate([logit, logit + couplings[k, t]])
        weights = np.concatenate([weights, weights + logit])
    return weights


def _superset_sums(probabilities: FloatArray) -> FloatArray:
    """Return E[Π_{s in S} x_s] for every set S of nodes, numbered like the states.

    One pass per node. It holds all moments at once, and so the Hessian of Ψ: the covariance of two
    statistics is E[union] − E[one]·E[other].
    """
    sums = probabilities.copy()
    for s in range(len(sums).bit_length() - 1):
        halves = sums.reshape(-1, 2, 1 << s)
        halves[:, 0] += halves[:, 1]
    return sums


# ------------------------------------------------------------------------------------------- the path


def exact_path(
    X: ArrayLike,
    alphas: int | float | ArrayLike = 30,
    *,
    sample_weight: ArrayLike | None = None,
    penalty_weights: ArrayLike | str | None = None,
    tol: float = 1e-7,
    max_iter: int = 200,
    alpha_min_ratio: float = 0.01,
) -> Path:
    """Minimise the exact negative log-likelihood with an L1 penalty, for decreasing alpha.

    Per row: Ψ(Θ) − Σ_{s≤t} θ_st m̂_st + α Σ_{s<t} ω_st |θ_st|. Fields are not penalised. The same
    strength as the joint pseudo-likelihood at 2α, so that alpha_max is half of the joint one.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Table of 0 and 1 with at most `MAX_NODES` columns.
    alphas : int, float or array-like
        Number of values, one value, or the values (see `isinglass.solve.grid.alpha_grid`).
    sample_weight : array-like of shape (n_samples,), optional
        Row weights; an integer weight equals repeated rows.
    penalty_weights : array-like of shape (n_features, n_features) or "standardized", optional
        ω_st: 0 is never penalised, inf is never an edge.
    tol : float
        For the relative duality gap and the KKT residual.
    max_iter : int
        Newton steps per alpha.
    alpha_min_ratio : float
        Last over first alpha of a counted grid.

    Returns
    -------
    Path
        Objective, KKT residual, duality gap and certified zeros are those of the exact problem; all are
        evaluated at the returned parameters by enumeration. ``n_screened`` is 0: nothing is screened.

    Warns
    -----
    ConstantColumnWarning
        If a column takes one value only: zero couplings and a smoothed field (docs/math.md).
    ConvergenceWarning
        If some solution missed ``tol``.

    Raises
    ------
    SeparationError
        If alpha = 0 or ω = 0 asks for an optimum that lies at infinity.

    Examples
    --------
    >>> X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [4, 1, 1, 4], axis=0)
    >>> path = exact_path(X, [0.0])
    >>> round(float(path[0].couplings[0, 1]), 6)  # log (4·4 / (1·1))
    2.772589
    """
    _check_controls(tol, max_iter)
    problem = _Problem.from_table(X, sample_weight, penalty_weights)
    null = problem.null(tol, max_iter)
    alpha_max = problem.alpha_max(null)
    grid = alpha_grid(alpha_max, alphas, alpha_min_ratio=alpha_min_ratio)
    problem.warn_constant()
    if grid[-1] == 0 < alpha_max:
        problem.refuse_separation(0.0)
    scale = max(problem.objective(null, problem.penalty(0.0)), 1e-12)
    solutions, state = [], null
    for alpha in grid:
        # From alpha_max on the null model is the optimum; starting there keeps it exactly zero.
        start = null if alpha >= alpha_max else state
        state, n_iter = _minimise(problem, problem.penalty(alpha), start, tol=tol, max_iter=max_iter)
        solutions.append(problem.solution(float(alpha), state, n_iter, scale=scale, tol=tol))
    _warn_unconverged(solutions, tol, max_iter)
    return Path(tuple(solutions), tol)


def _alpha_max(
    X: ArrayLike, sample_weight: ArrayLike | None = None, *, penalty_weights: ArrayLike | str | None = None
) -> float:
    """Return the smallest alpha whose exact optimum has no penalised edge: max |cov(x_s, x_t)| / ω_st."""
    problem = _Problem.from_table(X, sample_weight, penalty_weights)
    return problem.alpha_max(problem.null(1e-7, 200))


# The path contract (DESIGN.md §2): every path function knows where its own grid starts.
exact_path.alpha_max = _alpha_max  # type: ignore[attr-defined]


def _check_controls(tol: float, max_iter: int) -> None:
    if not 0 < tol < 1:
        raise DataError(f"tol must be between 0 and 1; got {tol!r}.")
    if isinstance(max_iter, bool) or not isinstance(max_iter, int | np.integer) or max_iter < 1:
        raise DataError(f"max_iter must be an integer of at least 1; got {max_iter!r}.")


def _warn_unconverged(solutions: list[Solution], tol: float, max_iter: int) -> None:
    missed = [solution for solution in solutions if not solution.converged]
    if missed:
        worst = max(missed, key=lambda solution: solution.kkt_residual)
        warnings.warn(
            f"{len(missed)} of {len(solutions)} solutions did not converge: at alpha={worst.alpha:.4g} the KKT "
            f"residual is {worst.kkt_residual:.1e} and the duality gap {worst.duality_gap:.1e}, tol={tol:.1e}. "
            f"Increase max_iter (now {max_iter}), or leave out the smallest alphas.",
            ConvergenceWarning,
            stacklevel=3,
        )


@dataclass(frozen=True, eq=False)
class _Problem:
    """Sufficient statistics of a table, over the columns that vary; θ is one vector, fields then pairs."""

    n_features: int  # all columns, constant ones included
    varying: IntArray  # positions of the columns that vary
    logits: FloatArray  # of the means of all columns, smoothed where a column is constant
    statistics: FloatArray  # m̂: means of the varying columns, then pair moments
    omega: FloatArray  # one per pair
    masks: IntArray  # the set of nodes of each statistic, numbered like the states
    empirical: FloatArray  # share of each state in the table

    @classmethod
    def from_table(
        cls, X: ArrayLike, sample_weight: ArrayLike | None, penalty_weights: ArrayLike | str | None
    ) -> _Problem:
        table, raw = to_weighted(X, sample_weight)
        _refuse_above_limit(table.shape[1])
        raw = np.ones(len(table)) if raw is None else raw
        weight = raw / raw.max()  # first, so that the sum of huge weights does not overflow
        weight /= weight.sum()
        used = table[weight > 0]
        varying = np.flatnonzero((used != used[0]).any(axis=0))
        p = len(varying)
        # Summed apart: a mean that rounds to 1 would have an infinite logit.
        ones, zeros = weight @ table, weight @ (1.0 - table)
        states = table[:, varying] @ (1 << np.arange(p))
        empirical = np.asarray(np.bincount(states, weights=weight, minlength=1 << p), dtype=np.float64)
        s, t = np.triu_indices(p, 1)
        masks = np.concatenate([1 << np.arange(p), (1 << s) | (1 << t)])
        omega = penalty_matrix(np.sqrt(ones * zeros), penalty_weights)[np.ix_(varying, varying)][s, t]
        fields = smoothed_field(raw @ table, float(raw.sum()))
        fields[varying] = np.log(ones[varying]) - np.log(zeros[varying])
        return cls(table.shape[1], varying, fields, _superset_sums(empirical)[masks], omega, masks, empirical)

    @property
    def n_varying(self) -> int:
        return len(self.varying)

    def penalty(self, alpha: float) -> FloatArray:
        """α ω per statistic: 0 for fields and free pairs, inf for forbidden ones (never inf·0)."""
        pairs = np.full(len(self.omega), np.inf)
        finite = np.isfinite(self.omega)
        pairs[finite] = alpha * self.omega[finite]
        return np.concatenate([np.zeros(self.n_varying), pairs])

    def unpack(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return (couplings, fields) of the varying columns."""
        p = self.n_varying
        couplings = np.zeros((p, p))
        s, t = np.triu_indices(p, 1)
        couplings[s, t] = couplings[t, s] = theta[p:]
        return couplings, theta[:p]

    def log_probabilities(self, theta: FloatArray) -> tuple[FloatArray, float]:
        """Return log P of all states, and Ψ."""
        weights = _log_weights(*self.unpack(theta))
        psi = float(logsumexp(weights))
        return weights - psi, psi

    def objective(self, theta: FloatArray, penalty: FloatArray) -> float:
        _, psi = self.log_probabilities(theta)
        return psi - float(theta @ self.statistics) + _penalty_value(theta, penalty)

    def derivatives(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mismatch of moments g and the covariance of the statistics H."""
        sums = _superset_sums(np.exp(self.log_probabilities(theta)[0]))
        expected = sums[self.masks]
        hessian = sums[self.masks[:, None] | self.masks] - np.outer(expected, expected)
        hessian[np.diag_indices_from(hessian)] += _RIDGE
        return expected - self.statistics, hessian

    def null(self, tol: float, max_iter: int) -> FloatArray:
        """Return the optimum without penalised edges: logits of the means, or the fit of the free edges too."""
        theta = np.concatenate([self.logits[self.varying], np.zeros(len(self.omega))])
        if not (self.omega == 0).any():
            return theta
        self.refuse_separation(1.0)
        penalty = np.where(self.penalty(1.0) > 0, np.inf, 0.0)
        return _minimise(self, penalty, theta, tol=tol, max_iter=max_iter)[0]

    def alpha_max(self, null: FloatArray) -> float:
        penalised = (self.omega > 0) & np.isfinite(self.omega)
        g = self.derivatives(null)[0][self.n_varying :][penalised]
        return float(np.max(np.abs(g) / self.omega[penalised], initial=0.0))

    def warn_constant(self) -> None:
        constant = np.setdiff1d(np.arange(self.n_features), self.varying)
        if constant.size:
            warn_constant(constant, self.logits > 0, stacklevel=4)

    def refuse_separation(self, alpha: float) -> None:
        """Raise if the optimum over fields and unpenalised pairs lies at infinity."""
        free = np.flatnonzero(self.penalty(alpha) == 0)
        if (free < self.n_varying).all():  # varying columns always have a finite field
            return
        worst = _separating_pair(self, free)
        if worst is not None:
            s, t = (int(self.varying[k]) for k in np.flatnonzero(self.masks[worst] >> np.arange(self.n_varying) & 1))
            raise SeparationError(
                f"The unpenalised edges must have a finite optimum; got a table in which the pair ({s}, {t}) "
                "separates: its estimate is infinite. Use alpha > 0 and a positive penalty weight."
            )

    def solution(self, alpha: float, theta: FloatArray, n_iter: int, *, scale: float, tol: float) -> Solution:
        """Certify θ, put the constant columns back and freeze."""
        penalty = self.penalty(alpha)
        gap, residual, n_zeros = _certify(self, theta, penalty)
        couplings, fields = np.zeros((self.n_features, self.n_features)), self.logits.copy()
        couplings[np.ix_(self.varying, self.varying)], fields[self.varying] = self.unpack(theta)
        diagnostics: dict[str, Any] = {
            "objective": self.objective(theta, penalty),
            "kkt_residual": residual,
            "duality_gap": gap,
            "certified_zeros": n_zeros,
            "n_iter": n_iter,
            "converged": bool(gap <= tol * scale and residual <= tol),
        }
        return Solution.from_dense(alpha, couplings, fields, **diagnostics)


# ------------------------------------------------------------------------------------------- certificate


def _penalty_value(theta: FloatArray, penalty: FloatArray) -> float:
    used = theta != 0  # forbidden pairs are zero: no inf·0
    return float(penalty[used] @ np.abs(theta[used]))


def _violations(theta: FloatArray, g: FloatArray, penalty: FloatArray) -> FloatArray:
    """Return how far each coordinate is from its optimality condition (docs/math.md)."""
    with np.errstate(invalid="ignore"):  # inf·sign(0) in the branch that is not taken
        away = np.abs(g + penalty * np.sign(theta))
    at_zero = np.maximum(np.abs(g) - penalty, 0.0)
    return np.where(theta != 0, away, at_zero)


def _certify(problem: _Problem, theta: FloatArray, penalty: FloatArray) -> tuple[float, float, int]:
    """Return duality gap, KKT residual and the number of pairs proved to be zero."""
    log_p, _ = problem.log_probabilities(theta)
    g = _superset_sums(np.exp(log_p))[problem.masks] - problem.statistics
    residual = float(np.max(_violations(theta, g, penalty), initial=0.0))
    penalised = (penalty > 0) & np.isfinite(penalty)
    with np.errstate(divide="ignore"):
        c = float(np.min(penalty[penalised] / np.abs(g[penalised]), initial=1.0))
    gap = _mixture_divergence(problem.empirical, log_p, c) + _penalty_value(theta, penalty) + c * float(g @ theta)
    if np.max(np.abs(g[penalty == 0]), initial=0.0) > _FEASIBLE:
        gap = np.inf  # stopped so early that the mixture is not feasible: no bound is known
    # H(q*) − H(q) ≥ KL(q ‖ q*) at the dual optimum q*, and by Pinsker no event's probability differs by more
    # than sqrt(KL/2): a moment that far inside its bound is inside it at the optimum, and its edge is zero.
    # Rounding is added to the gap, or a gap of exactly 0 would "prove" edges that sit on their bound.
    gap = max(gap, 0.0)
    radius = np.sqrt((gap + 1e-13 * (1 + float(np.abs(theta).sum()))) / 2)
    n_zeros = np.count_nonzero(np.abs(c * g[penalised]) + radius < penalty[penalised])
    return gap, residual, int(n_zeros)


def _mixture_divergence(empirical: FloatArray, log_p: FloatArray, c: float) -> float:
    """Return KL(q ‖ P) of q = (1−c)·empirical + c·P as a sum of non-negative terms."""
    if c == 1:
        return 0.0
    p = np.exp(log_p)
    q = (1 - c) * empirical + c * p
    terms = xlogy(q, q) - q * log_p - (q - p)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        u = (1 - c) * (empirical - p) / p
    close = np.abs(u) < 1e-3  # (1+u)·log(1+u) − u cancels here: its series
    v = u[close]
    terms[close] = p[close] * v**2 * (1 / 2 - v / 6 + v**2 / 12 - v**3 / 20)
    return float(np.maximum(terms, 0.0).sum())


# ------------------------------------------------------------------------------------------- proximal Newton


def _minimise(
    problem: _Problem, penalty: FloatArray, theta: FloatArray, *, tol: float, max_iter: int
) -> tuple[FloatArray, int]:
    """Return the minimiser of the exact objective and the number of Newton steps.

    Each step minimises the quadratic model with the L1 penalty and searches along the line. It aims
    far below ``tol``, because the gap is of the order of residual·Σ|θ| and, where the penalty is tiny, of
    residual / penalty; the last steps converge quadratically. The unpenalised moments are then matched
    to rounding, as the certificate needs.
    """
    enough, previous = 1e-4 * tol, np.inf
    target = enough * min(1.0, 1e3 * float(np.min(penalty[penalty > 0], initial=np.inf)))
    for n_iter in range(max_iter):
        g, hessian = problem.derivatives(theta)
        residual = float(np.max(_violations(theta, g, penalty), initial=0.0))
        if residual <= target or 0.5 * previous < residual <= enough:  # reached, or rounding is all that is left
            return _match_moments(problem, penalty, theta), n_iter
        previous = residual
        aim = _minimise_model(hessian, g, theta, penalty, residual * min(0.1, residual))
        step = _search_line(problem, penalty, theta, aim - theta, g)
        if step == 0:  # F cannot tell the two points apart any more
            break
        theta = aim if step == 1 else theta + step * (aim - theta)
    else:
        n_iter = max_iter
    return _match_moments(problem, penalty, theta), n_iter


def _minimise_model(
    hessian: FloatArray, g: FloatArray, theta: FloatArray, penalty: FloatArray, goal: float
) -> FloatArray:
    """Minimise g·(u−θ) + ½(u−θ)ᵀH(u−θ) + Σ penalty|u| by sweeps of coordinate descent and Newton on the support.

    The sweeps find the support, the solve on it with fixed signs ends what would be a slow tail for
    strongly correlated columns.
    """
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
        while _newton_on_support(hessian, slope, u, penalty) < 1:
            pass  # one coordinate became zero; without going on, two sweeps can undo each other for ever
        if np.max(_violations(u, slope, penalty)) <= max(goal, 1e-15):
            break
    return u


def _newton_on_support(hessian: FloatArray, slope: FloatArray, u: FloatArray, penalty: FloatArray) -> float:
    """Move ``u`` (and the model's ``slope``) towards the optimum of its orthant, up to the first sign change.

    Returns the length of the step: 1 if the optimum was reached, less if a coordinate became zero on the way.
    """
    support = np.flatnonzero((u != 0) | (penalty == 0))
    if not support.size:
        return 1.0
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
    return 1.0 if not crossing.any() else min(step, 0.5)


def _search_line(
    problem: _Problem, penalty: FloatArray, theta: FloatArray, direction: FloatArray, g: FloatArray
) -> float:
    """Return the first of 1, ½, ¼, … with sufficient decrease of the objective, or 0."""
    here = problem.objective(theta, penalty)
    expected = float(g @ direction) + _penalty_value(theta + direction, penalty) - _penalty_value(theta, penalty)
    slack = 1e-14 * max(1.0, abs(here))  # rounding of F: near the optimum the Newton step is right and F is flat
    step = 1.0
    while step > 1e-10:
        if problem.objective(theta + step * direction, penalty) <= here + 1e-4 * step * expected + slack:
            return step
        step /= 2
    return 0.0


def _match_moments(problem: _Problem, penalty: FloatArray, theta: FloatArray) -> FloatArray:
    """Newton on fields and unpenalised pairs until their moments match, so that the dual point is feasible."""
    free = np.flatnonzero(penalty == 0)
    best, smallest = theta, np.inf
    for _ in range(20):
        g, hessian = problem.derivatives(theta)
        mismatch = float(np.max(np.abs(g[free]), initial=0.0))
        if mismatch >= smallest:  # rounding, or too far away for undamped steps: keep the best point seen
            break
        best, smallest = theta, mismatch
        if mismatch <= _MATCHED:
            break
        theta = theta.copy()
        theta[free] -= np.linalg.solve(hessian[np.ix_(free, free)], g[free])
    return best


# ------------------------------------------------------------------------------------------- separation


def _separating_pair(problem: _Problem, free: NDArray[np.intp]) -> int | None:
    """Return the statistic of a pair whose unpenalised estimate is infinite, or None."""
    observed = np.flatnonzero(problem.empirical)
    rows = (observed[:, None] >> np.arange(problem.n_varying) & 1).astype(bool)
    for k in free[free >= problem.n_varying]:  # cheap and sufficient: an empty cell of the pair's own 2×2 table
        s, t = np.flatnonzero(problem.masks[k] >> np.arange(problem.n_varying) & 1)
        if len(np.unique(2 * rows[:, s] + rows[:, t])) < 4:
            return int(k)
    direction = _separating_direction(problem, free)
    if direction is None:
        return None
    return int(free[np.argmax(np.where(free < problem.n_varying, 0.0, np.abs(direction)))])


def _separating_direction(problem: _Problem, free: NDArray[np.intp]) -> FloatArray | None:
    """Return δ ≠ 0 over the free statistics t with δ·t(x) largest at every observed row, or None.

    Such a δ exists if and only if the likelihood has no finite maximum: the observed moments lie on a
    face of the polytope of all moments. Observed rows must tie, so δ lives in the null space of their
    differences (usually {0}, and nothing more is done). Among those a linear program maximises
    δ·(t(observed) − mean of t over all states), which is 0 only for δ = 0; the states it violates
    are added until there are none.
    """
    states = np.flatnonzero(problem.empirical)
    observed = _statistics_of(states, problem.masks[free])
    anchor = observed[0]
    basis = _null_space(observed - anchor)
    if basis.shape[1] == 0:
        return None
    uniform = np.where(free < problem.n_varying, 0.5, 0.25)
    profit = (anchor - uniform) @ basis
    cut_states = np.unique(states[:, None] ^ (1 << np.arange(problem.n_varying)))  # neighbours: good first cuts
    while True:
        cuts = (_statistics_of(cut_states, problem.masks[free]) - anchor) @ basis
        direction = basis @ _solve_program(profit, cuts)
        if float((anchor - uniform) @ direction) <= _LP_TOL:
            return None
        violated = _most_violated(problem, free, direction, float(anchor @ direction))
        added = np.setdiff1d(violated, cut_states)
        if not added.size:  # nothing violated beyond what the program itself tolerates
            return direction
        cut_states = np.concatenate([cut_states, added])


def _statistics_of(states: NDArray[np.intp], masks: IntArray) -> FloatArray:
    return np.asarray((states[:, None] & masks) == masks, dtype=np.float64)


def _null_space(differences: FloatArray) -> FloatArray:
    # Through the Gram matrix of small integers: exact entries, and its size does not grow with the rows.
    values, vectors = np.linalg.eigh(differences.T @ differences)
    basis: FloatArray = vectors[:, values <= 1e-9 * max(1.0, float(values[-1]))]
    return basis


def _solve_program(profit: FloatArray, cuts: FloatArray) -> FloatArray:
    from scipy.optimize import linprog  # 0.2 s to import, rarely needed

    answer = linprog(-profit, A_ub=cuts, b_ub=np.zeros(len(cuts)), bounds=(-1, 1), method="highs")
    if answer.status != 0:  # 0 is feasible and the box bounded: a failure of the solver, not of the data
        raise RuntimeError(f"The linear program for separation failed: {answer.message}")
    return np.asarray(answer.x, dtype=np.float64)


def _most_violated(problem: _Problem, free: NDArray[np.intp], direction: FloatArray, level: float) -> NDArray[np.intp]:
    theta = np.zeros(len(problem.masks))
    theta[free] = direction
    excess = _log_weights(*problem.unpack(theta)) - level
    worst = np.argpartition(-excess, min(200, len(excess)) - 1)[:200]
    return worst[excess[worst] > _LP_TOL]
