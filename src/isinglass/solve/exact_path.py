"""The path of the exact likelihood of few columns, by enumeration of all states, with its certificates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arguments import check_callable, check_count, is_real
from isinglass.arrays import FloatArray
from isinglass.errors import ArgumentError
from isinglass.penalties import EPSILON, Penalty
from isinglass.results import Path, Solution
from isinglass.solve.alphas import AlphasLike, alpha_grid
from isinglass.solve.columns import warn_constant
from isinglass.solve.exact_certificate import certify, rounding_of_sums
from isinglass.solve.exact_likelihood import Likelihood, minimize
from isinglass.solve.following import TOLERANCE, collect, warn_if_not_converged


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
    if not is_real(tol) or not 0 < tol < 1:
        raise ArgumentError("tol", "must be between 0 and 1", tol)
    check_count("max_iter", max_iter)
    check_callable("callback", callback)
    problem = Likelihood.of(X, sample_weight, penalty_weights)
    alpha_max = _largest_ratio(problem)
    grid = alpha_grid(alpha_max, alphas, alpha_min_ratio=alpha_min_ratio)
    warn_constant(problem.reduction.variables, problem.reduction.counts)
    if grid[-1] == 0 < alpha_max:
        raise ArgumentError("alpha", "must be positive for the exact likelihood", 0.0, "Use 1e-9 to have almost none.")
    scale = max(problem.objective(problem.independent, problem.penalty(0.0))[0], 1e-12)
    path = Path(collect(_descend(problem, grid, alpha_max, scale, tol, max_iter), callback), tol)
    warn_if_not_converged(path, scale, max_iter)
    return path


def _descend(
    problem: Likelihood, grid: FloatArray, alpha_max: float, scale: float, tol: float, max_iter: int
) -> Iterator[Solution]:
    """Yield the certified solution of every alpha of the grid; gaps are relative to ``scale``."""
    state = problem.independent
    for alpha in grid.tolist():
        # From alpha_max on the null model is the optimum; starting there keeps it exactly zero.
        start = problem.independent if alpha >= alpha_max else state
        penalty = problem.penalty(alpha)
        state, n_iter = minimize(problem, penalty, start, tol=tol * min(scale, 1.0), max_iter=max_iter)
        proof = certify(problem, state, penalty)
        solution = Solution.from_dense(alpha, *problem.decode(state), problem.reduction.variables)
        converged = bool(proof["duality_gap"] <= tol * scale and proof["kkt_residual"] <= tol)
        yield replace(solution, **proof, n_iter=n_iter, converged=converged)


def exact_alpha_max(X: ArrayLike, sample_weight: ArrayLike | None = None, *, penalty_weights: Penalty = None) -> float:
    """Return the smallest alpha whose exact optimum has no edge: max |cov(x_s, x_t)| / ω_st."""
    return _largest_ratio(Likelihood.of(X, sample_weight, penalty_weights))


def _largest_ratio(problem: Likelihood) -> float:
    """Return the largest |g| / ω of a pair without edges; 0 where it is within rounding."""
    allowed = np.isfinite(problem.omega)
    g, _ = problem.derivatives(problem.independent)
    moments, n = problem.statistics, problem.n_varying
    s, t = problem.pairs
    noise = rounding_of_sums(n) * (2.0 * moments[n:] + moments[s] * moments[t])
    noise += np.abs(g[s]) + np.abs(g[t])
    edge = np.where(np.abs(g[n:]) <= noise, 0.0, np.abs(g[n:]))
    with np.errstate(over="ignore"):
        ratio = float(np.max(edge[allowed] / problem.omega[allowed], initial=0.0))
    return ratio * (1 + 4 * EPSILON)
