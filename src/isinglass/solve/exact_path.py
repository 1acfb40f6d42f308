"""The path of the exact likelihood of few columns, by enumeration of all states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import check_count
from isinglass.arrays import FloatArray
from isinglass.errors import ArgumentError, SeparationError
from isinglass.results import Path, Solution
from isinglass.separation import solve_program
from isinglass.solve.alphas import alpha_grid
from isinglass.solve.columns import warn_constant
from isinglass.solve.exact_certificate import certify
from isinglass.solve.exact_likelihood import Likelihood, log_weights, minimize
from isinglass.solve.path import ends_path, warn_if_not_converged

_LP_TOL = 1e-7  # of the linear programming solver


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
        As for `ising_path`; 30 alphas and 200 steps by default.

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
        If alpha = 0 or ω = 0 leads to an infinite estimate.

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
    warn_constant(problem.reduction.variables, problem.reduction.counts)
    if grid[-1] == 0 < alpha_max:
        refuse_separation(problem, problem.penalty(0.0))
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
    """Return the smallest alpha whose exact optimum has no penalized edge: max |cov(x_s, x_t)| / ω_st."""
    problem = Likelihood.of(X, sample_weight, penalty_weights)
    return _largest_ratio(problem, _fit_null(problem, 1e-7, 200))


def _fit_null(problem: Likelihood, tol: float, max_iter: int) -> FloatArray:
    """Return the optimum without penalized edges: log odds, or the fit of the free edges too."""
    if not (problem.omega == 0).any():
        return problem.independent
    penalty = np.where(np.r_[np.zeros(problem.n_varying), problem.omega] > 0, np.inf, 0.0)
    refuse_separation(problem, penalty)
    return minimize(problem, penalty, problem.independent, tol=tol, max_iter=max_iter)[0]


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


def refuse_separation(problem: Likelihood, penalty: FloatArray) -> None:
    """Raise if the optimum over fields and unpenalized pairs lies at infinity."""
    free = np.flatnonzero(penalty == 0)
    if (free < problem.n_varying).all():  # varying columns always have a finite field
        return
    worst = separating_statistic(problem, free)
    if worst is not None:
        pair = problem.reduction.columns[[nodes[worst - problem.n_varying] for nodes in problem.pairs]].tolist()
        raise SeparationError.of_pair(*map(problem.reduction.variables.called, pair))


def separating_statistic(problem: Likelihood, free: NDArray[np.intp]) -> int | None:
    """Return the statistic of a pair whose unpenalized estimate is infinite, or None."""
    observed = np.flatnonzero(problem.empirical)
    rows = (observed[:, None] >> np.arange(problem.n_varying) & 1).astype(bool)
    for k in free[free >= problem.n_varying]:  # cheap and sufficient: an empty cell of the pair's own 2×2 table
        s, t = (nodes[k - problem.n_varying] for nodes in problem.pairs)
        if len(np.unique(2 * rows[:, s] + rows[:, t])) < 4:
            return int(k)
    direction = _separating_direction(problem, free)
    if direction is None:
        return None
    return int(free[np.argmax(np.where(free < problem.n_varying, 0.0, np.abs(direction)))])


def _separating_direction(problem: Likelihood, free: NDArray[np.intp]) -> FloatArray | None:
    """Return δ ≠ 0 over the free statistics t with δ·t(x) largest at every observed row, or None.

    Such a δ exists if and only if the likelihood has no finite maximum: the observed moments lie on a face of the
    polytope of all moments. Observed rows must tie, so δ lives in the null space of their differences (usually {0}).
    Among those a linear program maximizes δ·(t(observed) − mean of t over all states), which is 0 only for δ = 0; the
    states it violates are added until there are none.
    """
    states = np.flatnonzero(problem.empirical)
    observed = _statistics_of(states, problem.masks[free])
    anchor = observed[0]
    # Through the Gram matrix of small integers: exact entries, and its size does not grow with the rows.
    values, vectors = np.linalg.eigh((observed - anchor).T @ (observed - anchor))
    basis = vectors[:, values <= 1e-9 * max(1.0, float(values[-1]))]
    if basis.shape[1] == 0:
        return None
    uniform = np.where(free < problem.n_varying, 0.5, 0.25)
    profit = (anchor - uniform) @ basis
    cut_states = np.unique(states[:, None] ^ (1 << np.arange(problem.n_varying)))  # neighbors: good first cuts
    while True:
        cuts = (_statistics_of(cut_states, problem.masks[free]) - anchor) @ basis
        direction = basis @ solve_program(profit, cuts)
        if float((anchor - uniform) @ direction) <= _LP_TOL:
            return None
        theta = np.zeros(len(problem.masks))
        theta[free] = direction
        excess = log_weights(*problem.unpack(theta)) - float(anchor @ direction)
        worst = np.argpartition(-excess, min(200, len(excess)) - 1)[:200]
        added = np.setdiff1d(worst[excess[worst] > _LP_TOL], cut_states)
        if not added.size:  # nothing violated beyond what the program itself tolerates
            return direction
        cut_states = np.concatenate([cut_states, added])


def _statistics_of(states: NDArray[np.intp], masks: NDArray[np.int64]) -> FloatArray:
    return np.asarray((states[:, None] & masks) == masks, dtype=np.float64)
