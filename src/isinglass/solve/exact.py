"""Small networks by enumeration of all states: the exact likelihood path, probabilities, moments and samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import RandomSource, as_generator, check_count, is_whole
from isinglass.arrays import Bytes, FloatArray
from isinglass.data import Table
from isinglass.errors import ArgumentError, LimitError, SeparationError
from isinglass.network import Network, NetworkLike, as_network
from isinglass.results import Path, Solution
from isinglass.solve.alphas import alpha_grid
from isinglass.solve.columns import warn_constant
from isinglass.solve.enumeration import MAX_NODES, Likelihood, log_sum, log_weights, minimize, superset_sums
from isinglass.solve.exact_proof import certify, separating_statistic
from isinglass.solve.path import warn_if_not_converged

__all__ = [
    "MAX_NODES",
    "Moments",
    "exact_path",
    "exact_sample",
    "moments",
    "state_probabilities",
]

_STATES_AT_ONCE = 2**14


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

    Per row: Ψ(Θ) − Σ_{s≤t} θ_st m̂_st + α Σ_{s<t} ω_st |θ_st|. Fields are not penalized. The penalty is as strong as
    that of the joint pseudo-likelihood at 2α, so alpha_max is half of the joint one.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Table of 0 and 1 with at most `MAX_NODES` columns.
    alphas, sample_weight, penalty_weights, tol, max_iter, alpha_min_ratio
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
        _refuse_separation(problem, problem.penalty(0.0))
    scale = max(problem.objective(null, problem.penalty(0.0))[0], 1e-12)
    solutions, state = [], null
    for alpha in grid:
        # From alpha_max on the null model is the optimum; starting there keeps it exactly zero.
        start = null if alpha >= alpha_max else state
        penalty = problem.penalty(float(alpha))
        state, n_iter = minimize(problem, penalty, start, tol=tol * min(scale, 1.0), max_iter=max_iter)
        proof = certify(problem, state, penalty)
        solutions.append(
            Solution.from_dense(
                float(alpha),
                *problem.decode(state),
                problem.reduction.variables,
                objective=problem.objective(state, penalty)[0],
                kkt_residual=proof.kkt_residual,
                duality_gap=proof.gap,
                certified_zeros=proof.n_zeros,
                n_iter=n_iter,
                converged=bool(proof.gap <= tol * scale and proof.kkt_residual <= tol),
            )
        )
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
    _refuse_separation(problem, penalty)
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


def _refuse_separation(problem: Likelihood, penalty: FloatArray) -> None:
    """Raise if the optimum over fields and unpenalized pairs lies at infinity."""
    free = np.flatnonzero(penalty == 0)
    if (free < problem.n_varying).all():  # varying columns always have a finite field
        return
    worst = separating_statistic(problem, free)
    if worst is not None:
        s, t = problem.reduction.columns[[nodes[worst - problem.n_varying] for nodes in problem.pairs]].tolist()
        raise SeparationError(
            f"The unpenalized edges must have a finite optimum; got a table in which the pair ({s}, {t}) "
            "separates: its estimate is infinite. Use alpha > 0 and a positive penalty weight."
        )


class Moments(NamedTuple):
    """E[x_s] as a vector and E[x_s x_t] as a symmetric matrix whose diagonal is E[x_s]."""

    means: FloatArray
    pairs: FloatArray


def state_probabilities(network: NetworkLike) -> FloatArray:
    """Return P(x) of all 2^p states; bit s of the position is x_s.

    Examples
    --------
    >>> model = Network.from_couplings([[0, 0], [0, 0]], np.log([3.0, 1.0]))
    >>> state_probabilities(model).round(3).tolist()  # 00, 10, 01, 11
    [0.125, 0.375, 0.125, 0.375]
    """
    whole = as_network(network)
    whole.variables.require_two_values("The network")
    weights = log_weights(whole.couplings, whole.fields)
    return np.asarray(np.exp(weights - log_sum(weights)))


def moments(network: NetworkLike) -> Moments:
    """Return the means and pair moments of a network.

    Examples
    --------
    >>> model = Network.from_couplings([[0, 0], [0, 0]], np.log([3.0, 1.0]))
    >>> moments(model).pairs.round(3).tolist()
    [[0.75, 0.375], [0.375, 0.5]]
    """
    sums = superset_sums(state_probabilities(network))
    bits = 1 << np.arange(len(sums).bit_length() - 1)
    pairs = sums[bits[:, None] | bits]
    return Moments(np.diag(pairs).copy(), pairs)


def exact_sample(network: NetworkLike, n_samples: int, *, random_state: RandomSource = None) -> Bytes | Table:
    """Draw independent rows from a network by enumeration: no Markov chain, no burn-in.

    Parameters
    ----------
    network : Network, Solution, Fit or fitted estimator
        At most `MAX_NODES` nodes; with categories, at most 2^20 states.
    n_samples : int
        Number of rows, at least 1.
    random_state : int, Generator, RandomState or None
        A Generator or a RandomState is advanced, so that the next call differs.

    Returns
    -------
    ndarray of uint8, shape (n_samples, n_features)
        A `Table` of this shape, if the network has categories.

    Examples
    --------
    >>> model = Network.from_couplings([[0, 50.0], [50.0, 0]], [-25.0, -25.0])
    >>> rows = exact_sample(model, 100, random_state=0)
    >>> bool((rows[:, 0] == rows[:, 1]).all())
    True
    """
    if not is_whole(n_samples) or n_samples < 1:
        raise ArgumentError("n_samples", "must be an integer of at least 1", n_samples)
    whole = as_network(network)
    whole.variables.require_no_covariates("Sampling")
    two_values = whole.variables.is_binary
    probabilities = state_probabilities(whole) if two_values else _category_weights(whole)
    cumulative = np.cumsum(probabilities)
    # Scaling by the last entry instead of 1 keeps rounding from pointing past the last possible state.
    draws = as_generator(random_state).random(int(n_samples)) * cumulative[-1]
    states = np.searchsorted(cumulative, draws, side="right")
    if not two_values:
        return whole.table(_states(states, whole))
    return np.asarray((states[:, None] >> np.arange(whole.n_features)) & 1, dtype=np.uint8)


def _category_weights(network: Network) -> FloatArray:
    """Return exp(−energy) of all states, the largest of them 1."""
    n_states = _count_states(network)
    if not can_enumerate(network):
        raise LimitError(
            f"The network must have at most {2**MAX_NODES} states for enumeration; got {n_states}. "
            "Use simulate.gibbs_sample."
        )
    parts = [np.arange(first, min(first + _STATES_AT_ONCE, n_states)) for first in range(0, n_states, _STATES_AT_ONCE)]
    weights = np.concatenate([-network.energy(_states(part, network)) for part in parts])
    return np.asarray(np.exp(weights - weights.max()))


def _states(numbers: NDArray[np.intp], network: Network) -> NDArray[np.uint8]:
    return np.column_stack(np.unravel_index(numbers, network.variables.sizes)).astype(np.uint8)


def _count_states(network: Network) -> int:
    return int(network.variables.sizes.prod(dtype=object))


def can_enumerate(network: Network) -> bool:
    """Tell whether the states of a network are few enough to list them all: 2^20."""
    return _count_states(network) <= 1 << MAX_NODES
