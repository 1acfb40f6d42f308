"""The exact likelihood path of small tables: proximal Newton by enumeration, with a certificate.

    min  Ψ(Θ) − Σ_s θ_ss m̂_s − Σ_{s<t} θ_st m̂_st + α Σ_{s<t} ω_st |θ_st|       (docs/math.md)

with m̂ the weighted means and pair moments of the table. `isinglass.solve.exact_proof` holds the dual.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arguments import check_count
from isinglass.arrays import FloatArray
from isinglass.errors import ArgumentError, SeparationError
from isinglass.objective.reduced import violations
from isinglass.results import Path, Solution
from isinglass.solve.enumeration import (
    MAX_NODES,
    Likelihood,
    Moments,
    exact_sample,
    log_likelihood,
    log_partition,
    moments,
    penalty_value,
    state_probabilities,
)
from isinglass.solve.estimable import warn_constant
from isinglass.solve.exact_proof import certify, separating_pair
from isinglass.solve.grid import alpha_grid
from isinglass.solve.path import warn_if_not_converged

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

_MATCHED = 1e-15  # relative mismatch of means and free moments aimed at


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
    """Minimize the exact negative log-likelihood with an L1 penalty, for decreasing alpha.

    Per row: Ψ(Θ) − Σ_{s≤t} θ_st m̂_st + α Σ_{s<t} ω_st |θ_st|. Fields are not penalized. The same
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
        ω_st: 0 is never penalized, inf is never an edge.
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
    if not 0 < tol < 1:
        raise ArgumentError("tol", "must be between 0 and 1", tol)
    check_count("max_iter", max_iter)
    problem = Likelihood.of(X, sample_weight, penalty_weights)
    null = _fit_null(problem, tol, max_iter)
    alpha_max = _largest_ratio(problem, null)
    grid = alpha_grid(alpha_max, alphas, alpha_min_ratio=alpha_min_ratio)
    smoothed = problem.reduced.smoothed
    constant = np.setdiff1d(np.arange(len(smoothed)), problem.reduced.columns)
    if constant.size:
        warn_constant(constant, smoothed > 0)
    if grid[-1] == 0 < alpha_max:
        _refuse_separation(problem, problem.penalty(0.0))
    scale = max(problem.objective(null, problem.penalty(0.0))[0], 1e-12)
    solutions, state = [], null
    for alpha in grid:
        # From alpha_max on the null model is the optimum; starting there keeps it exactly zero.
        start = null if alpha >= alpha_max else state
        penalty = problem.penalty(float(alpha))
        state, n_iter = _minimize(problem, penalty, start, tol=tol * min(scale, 1.0), max_iter=max_iter)
        proof = certify(problem, state, penalty)
        diagnostics: dict[str, Any] = {
            "objective": problem.objective(state, penalty)[0],
            "kkt_residual": proof.kkt_residual,
            "duality_gap": proof.gap,
            "certified_zeros": proof.n_zeros,
            "n_iter": n_iter,
            "converged": bool(proof.gap <= tol * scale and proof.kkt_residual <= tol),
        }
        solutions.append(Solution.from_dense(float(alpha), *problem.decode(state), problem.names, **diagnostics))
    path = Path(tuple(solutions), tol)
    warn_if_not_converged(path, scale, max_iter)
    return path


def _alpha_max(
    X: ArrayLike, sample_weight: ArrayLike | None = None, *, penalty_weights: ArrayLike | str | None = None
) -> float:
    """Return the smallest alpha whose exact optimum has no penalized edge: max |cov(x_s, x_t)| / ω_st."""
    problem = Likelihood.of(X, sample_weight, penalty_weights)
    return _largest_ratio(problem, _fit_null(problem, 1e-7, 200))


# Path contract: what `alphas=30` starts from (see docs/design.md).
exact_path.alpha_max = _alpha_max  # type: ignore[attr-defined]


def _fit_null(problem: Likelihood, tol: float, max_iter: int) -> FloatArray:
    """Return the optimum without penalized edges: log odds, or the fit of the free edges too."""
    if not (problem.omega == 0).any():
        return problem.independent
    penalty = np.where(np.r_[np.zeros(problem.n_varying), problem.omega] > 0, np.inf, 0.0)
    _refuse_separation(problem, penalty)
    return _minimize(problem, penalty, problem.independent, tol=tol, max_iter=max_iter)[0]


def _largest_ratio(problem: Likelihood, null: FloatArray) -> float:
    """Return the largest |g| / ω of a penalized pair without penalized edges; 0 where it is within rounding."""
    penalized = (problem.omega > 0) & np.isfinite(problem.omega)
    g, _ = problem.derivatives(null)
    moments, n = problem.statistics, problem.n_varying
    s, t = problem.pairs
    noise = (2 * n + 24) * np.finfo(np.float64).eps * (2.0 * moments[n:] + moments[s] * moments[t])
    noise += np.abs(g[s]) + np.abs(g[t])
    edge = np.where(np.abs(g[n:]) <= noise, 0.0, np.abs(g[n:]))
    with np.errstate(over="ignore"):
        ratio = float(np.max(edge[penalized] / problem.omega[penalized], initial=0.0))
    return ratio * (1 + 4 * np.finfo(np.float64).eps)


def _refuse_separation(problem: Likelihood, penalty: FloatArray) -> None:
    """Raise if the optimum over fields and unpenalized pairs lies at infinity."""
    free = np.flatnonzero(penalty == 0)
    if (free < problem.n_varying).all():  # varying columns always have a finite field
        return
    worst = separating_pair(problem, free)
    if worst is not None:
        s, t = problem.reduced.columns[[nodes[worst - problem.n_varying] for nodes in problem.pairs]].tolist()
        raise SeparationError(
            f"The unpenalized edges must have a finite optimum; got a table in which the pair ({s}, {t}) "
            "separates: its estimate is infinite. Use alpha > 0 and a positive penalty weight."
        )


def _minimize(
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
            return _match_moments(problem, penalty, theta), n_iter
        previous = residual
        aim = _minimize_model(hessian, g, theta, penalty, residual * min(0.1, residual))
        step = _search_line(problem, penalty, theta, aim - theta, g)
        if step == 0:  # F cannot tell the two points apart any more
            break
        theta = aim if step == 1 else theta + step * (aim - theta)
    else:
        n_iter = max_iter
    return _match_moments(problem, penalty, theta), n_iter


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
        while _newton_on_support(hessian, slope, u, penalty) < 1:
            pass  # one coordinate became zero; without going on, two sweeps can undo each other for ever
        # By less than this no slope changes when a coordinate moves by a unit in its last place.
        rounding = np.finfo(np.float64).eps * float((np.abs(g) + diagonal * np.abs(u)).max(initial=0.0))
        if np.max(violations(u, slope, penalty), initial=0.0) <= max(goal, rounding):
            break
    return u


def _newton_on_support(hessian: FloatArray, slope: FloatArray, u: FloatArray, penalty: FloatArray) -> float:
    """Move ``u`` and ``slope`` towards the optimum of the orthant; return 1, or less if a coordinate became zero."""
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
    problem: Likelihood, penalty: FloatArray, theta: FloatArray, direction: FloatArray, g: FloatArray
) -> float:
    """Return the first of 1, ½, ¼, … (less if the step is enormous) with sufficient decrease of the objective, or 0."""
    here, size = problem.objective(theta, penalty)
    expected = float(g @ direction) + penalty_value(theta + direction, penalty) - penalty_value(theta, penalty)
    slack = 1e-14 * size  # rounding of F: near the optimum the Newton step is right and F is flat
    # A pair that the model expects once in 1e26 has next to no curvature; no coupling of use is far from this size.
    step = first = min(1.0, 64.0 / float(np.abs(direction).max(initial=1.0)))
    while step > 1e-10 * first:
        if problem.objective(theta + step * direction, penalty)[0] <= here + 1e-4 * step * expected + slack:
            return step
        step /= 2
    return 0.0


def _match_moments(problem: Likelihood, penalty: FloatArray, theta: FloatArray) -> FloatArray:
    """Newton on fields and unpenalized pairs until their moments match, so that the dual point is feasible."""
    free = np.flatnonzero(penalty == 0)
    best, smallest = theta, np.inf
    for _ in range(20):
        g, hessian = problem.derivatives(theta)
        mismatch = float(np.max(np.abs(g[free]) / problem.statistics[free], initial=0.0))  # relative: means may be tiny
        if mismatch >= smallest:  # rounding, or too far away for undamped steps: keep the best point seen
            break
        best, smallest = theta, mismatch
        if mismatch <= _MATCHED:
            break
        theta = theta.copy()
        theta[free] -= np.linalg.solve(hessian[np.ix_(free, free)], g[free])
    return best
