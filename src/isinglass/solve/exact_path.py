"""The path of the exact likelihood of few columns, by enumeration of all states, with its certificates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arguments import check_callable, check_count, is_real
from isinglass.arrays import FloatArray, Mask
from isinglass.errors import ArgumentError
from isinglass.penalties import EPSILON, violations
from isinglass.results import Path, Solution
from isinglass.solve.alphas import alpha_grid
from isinglass.solve.columns import warn_constant
from isinglass.solve.exact_likelihood import Likelihood, minimize, superset_sums
from isinglass.solve.path import collect, warn_if_not_converged

_LARGEST_CHANGE = 0.25  # of a probability: up to here P″ is a distribution, and the bounds of what it costs hold


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
    noise = _rounding(n) * (2.0 * moments[n:] + moments[s] * moments[t])
    noise += np.abs(g[s]) + np.abs(g[t])
    edge = np.where(np.abs(g[n:]) <= noise, 0.0, np.abs(g[n:]))
    with np.errstate(over="ignore"):
        ratio = float(np.max(edge[allowed] / problem.omega[allowed], initial=0.0))
    return ratio * (1 + 4 * EPSILON)


def certify(problem: Likelihood, theta: FloatArray, penalty: FloatArray) -> dict[str, Any]:  # Any: of a field
    """Return the certificate of a `Solution`, with a bound of F − min F that holds in floating point.

        primal  min  Ψ(Θ) − Σ_s θ_ss m̂_s − Σ_{s<t} θ_st m̂_st + α Σ_{s<t} ω_st |θ_st|
        dual    max  entropy(q)  over distributions q of x with  E_q x_s = m̂_s,  |E_q x_s x_t − m̂_st| ≤ α ω_st

    m̂ are the moments of the table, P the model at Θ, and g = E_P − m̂ the gradient. The dual point is a mixture,
    q = (1−c)·table + c·P″, where P″ is P changed a little until its means are those of the table. The numbers (E1) to
    (E5) are those of the equations in docs/math.md, "Exact likelihood".
    """
    n, (s, t) = problem.n_varying, problem.pairs
    log_p, _ = problem.log_probabilities(theta)
    p = np.exp(log_p)
    expected = superset_sums(p)[problem.masks]
    g = expected - problem.statistics
    kkt_residual = float(np.max(violations(theta, g, penalty), initial=0.0))
    value, size = problem.objective(theta, penalty)
    trivial_gap = value + 16 * EPSILON * size  # at c = 0, where q is the table
    proof = {"objective": value, "kkt_residual": kkt_residual, "duality_gap": trivial_gap, "certified_zeros": 0}

    error = _rounding(n) * (expected + problem.statistics)  # (E1)
    mean_error = np.abs(g[:n]) + error[:n]
    share, flip_cost = _match_means(log_p, mean_error)  # (E2)
    error[n:] += mean_error[s] + mean_error[t]
    if share > _LARGEST_CHANGE:
        return proof

    reach = np.abs(g) + error
    c = _scale(reach, penalty)  # (E3)
    gap = _penalty_terms(theta, g, error, penalty, c)  # (E4), whose terms follow one by one
    gap += _mixture_divergence(problem.empirical, log_p, c) * (1 + _rounding(n))
    gap += flip_cost + share * (1 - c) * trivial_gap
    drift = (8 + 2 * n) * EPSILON * (1.0 + float(np.abs(theta).sum()))  # relative error of probabilities
    gap += drift * ((1 - c) * float(np.abs(problem.empirical - p).sum()) + share) + drift**2
    gap += float(np.sum(drift * mean_error + drift**2 * expected[:n]))  # `Likelihood.decode` rounds the fields
    gap = min(gap, trivial_gap)

    penalized = _is_penalized(penalty)
    is_zero = c * reach[penalized] + np.sqrt(gap / 2) * (1 + 4 * EPSILON) < penalty[penalized]  # (E5)
    return {**proof, "duality_gap": gap, "certified_zeros": int(np.count_nonzero(is_zero))}


def _rounding(n: int) -> float:
    """Return γ, a bound of the relative error of a sum of 2^n positive terms that are added by halves."""
    return (2 * n + 24) * EPSILON


def _is_penalized(penalty: FloatArray) -> Mask:
    return np.asarray((penalty > 0) & np.isfinite(penalty))


def _match_means(log_p: FloatArray, mean_error: FloatArray) -> tuple[float, float]:
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


def _scale(reach: FloatArray, penalty: FloatArray) -> float:
    """Return c, the largest share of P″ with which no penalized moment is further off than its penalty (E3)."""
    limit = penalty * (1 - 4 * EPSILON)
    over = _is_penalized(penalty) & (reach > limit)
    return float(np.min(limit[over] / reach[over], initial=1.0))


def _penalty_terms(theta: FloatArray, g: FloatArray, error: FloatArray, penalty: FloatArray, c: float) -> float:
    """Return Σ (α ω |θ| + c g θ) over penalized pairs, none of which is negative, and what rounding can add."""
    used = _is_penalized(penalty) & (theta != 0)
    terms = np.maximum(penalty[used] * np.abs(theta[used]) + c * g[used] * theta[used], 0.0)
    terms += (c * error[used] + 4 * EPSILON * penalty[used]) * np.abs(theta[used])
    return float(terms.sum())


def _mixture_divergence(empirical: FloatArray, log_p: FloatArray, c: float) -> float:
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
