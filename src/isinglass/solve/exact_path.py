"""The path of the exact likelihood of few columns, by enumeration of all states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arguments import check_count
from isinglass.errors import ArgumentError
from isinglass.results import Path, Solution
from isinglass.solve.alphas import alpha_grid
from isinglass.solve.columns import warn_constant
from isinglass.solve.exact_certificate import certify
from isinglass.solve.exact_likelihood import Likelihood, minimize
from isinglass.solve.path import ends_path, warn_if_not_converged


def exact_path(
    X: ArrayLike,
    alphas: int | float | ArrayLike = 30,
    *,
    sample_weight: ArrayLike | None = None,
    penalty_weights: ArrayLike | str | None = None,
    tol: float = 1e-7,
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

    Warns
    -----
    ConstantColumnWarning
        If a column takes one value only: zero couplings and a smoothed field (docs/math.md).
    ConvergenceWarning
        If some solution missed ``tol``.

    Examples
    --------
    >>> X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [4, 1, 1, 4], axis=0)
    >>> path = exact_path(X, [1e-9])
    >>> round(float(path[0].couplings[0, 1]), 6)  # log (4·4 / (1·1))
    2.772589
    """
    if not 0 < tol < 1:
        raise ArgumentError("tol", "must be between 0 and 1", tol)
    check_count("max_iter", max_iter)
    problem = Likelihood.of(X, sample_weight, penalty_weights)
    null, alpha_max = problem.independent, _largest_ratio(problem)
    grid = alpha_grid(alpha_max, alphas, alpha_min_ratio=alpha_min_ratio)
    warn_constant(problem.reduction.variables, problem.reduction.counts)
    if grid[-1] == 0 < alpha_max:
        raise ArgumentError("alphas", "must be positive for the exact likelihood", 0.0, "Use 1e-9 to have almost none.")
    scale = max(problem.objective(null, problem.penalty(0.0))[0], 1e-12)
    solutions, state = [], null
    for alpha in grid:
        # From alpha_max on the null model is the optimum; starting there keeps it exactly zero.
        start = null if alpha >= alpha_max else state
        penalty = problem.penalty(float(alpha))
        state, n_iter = minimize(problem, penalty, start, tol=tol * min(scale, 1.0), max_iter=max_iter)
        proof = certify(problem, state, penalty)
        solutions.append(
            replace(
                Solution.from_dense(float(alpha), *problem.decode(state), problem.reduction.variables),
                objective=problem.objective(state, penalty)[0],
                kkt_residual=proof.kkt_residual,
                duality_gap=proof.duality_gap,
                certified_zeros=proof.n_zeros,
                n_iter=n_iter,
                converged=bool(proof.duality_gap <= tol * scale and proof.kkt_residual <= tol),
            )
        )
        if ends_path(callback, solutions[-1]):
            break
    path = Path(tuple(solutions), tol)
    warn_if_not_converged(path, scale, max_iter)
    return path


def exact_alpha_max(
    X: ArrayLike, sample_weight: ArrayLike | None = None, *, penalty_weights: ArrayLike | str | None = None
) -> float:
    """Return the smallest alpha whose exact optimum has no edge: max |cov(x_s, x_t)| / ω_st."""
    return _largest_ratio(Likelihood.of(X, sample_weight, penalty_weights))


def _largest_ratio(problem: Likelihood) -> float:
    """Return the largest |g| / ω of a pair without edges; 0 where it is within rounding."""
    allowed = np.isfinite(problem.omega)
    g, _ = problem.derivatives(problem.independent)
    moments, n = problem.statistics, problem.n_varying
    s, t = problem.pairs
    noise = (2 * n + 24) * np.finfo(np.float64).eps * (2.0 * moments[n:] + moments[s] * moments[t])
    noise += np.abs(g[s]) + np.abs(g[t])
    edge = np.where(np.abs(g[n:]) <= noise, 0.0, np.abs(g[n:]))
    with np.errstate(over="ignore"):
        ratio = float(np.max(edge[allowed] / problem.omega[allowed], initial=0.0))
    return ratio * (1 + 4 * np.finfo(np.float64).eps)
