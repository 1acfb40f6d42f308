"""What can be proved about the exact likelihood: a bound of F − min F that holds in floating point, and finiteness.

    primal  min  Ψ(Θ) − Σ_s θ_ss m̂_s − Σ_{s<t} θ_st m̂_st + α Σ_{s<t} ω_st |θ_st|
    dual    max  entropy(q)  over distributions q of x with  E_q x_s = m̂_s,  |E_q x_s x_t − m̂_st| ≤ α ω_st

The gradient is a mismatch of moments, g = E_Θ − m̂. Were the means matched exactly, q = (1−c)·table + c·P_Θ would be
feasible for c = min(1, min α ω_st / |g_st|). They are matched up to rounding; so a share f_s of the states with x_s = 1
(or 0) is moved to the states that differ from them in x_s alone, which changes the mean of s and no other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray
from isinglass.penalties import violations
from isinglass.separation import solve_program
from isinglass.solve.exact_likelihood import Likelihood, log_weights, superset_sums

_EPSILON = float(np.finfo(np.float64).eps)
_LP_TOL = 1e-7  # of the linear programming solver


@dataclass(frozen=True)
class Proof:
    """A certificate of one point."""

    gap: float
    kkt_residual: float
    n_zeros: int


def certify(problem: Likelihood, theta: FloatArray, penalty: FloatArray) -> Proof:
    """Return duality gap, KKT residual and the number of pairs proved to be zero."""
    n = problem.n_varying
    log_p, _ = problem.log_probabilities(theta)
    p = np.exp(log_p)
    expected = superset_sums(p)[problem.masks]
    g = expected - problem.statistics
    residual = float(np.max(violations(theta, g, penalty), initial=0.0))
    value, size = problem.objective(theta, penalty)
    vacuous = value + 16 * _EPSILON * size  # the gap at q = table is at most F
    # Relative errors: of sums of 2^p positive terms, by halves; of probabilities, from the size of log P.
    rounding, drift = (2 * n + 24) * _EPSILON, (8 + 2 * n) * _EPSILON * (1.0 + float(np.abs(theta).sum()))
    error = rounding * (expected + problem.statistics)
    moved = np.abs(g[:n]) + error[:n]
    flips, cost = _flips(log_p, p, moved, n)
    error[n:] += moved[problem.pairs[0]] + moved[problem.pairs[1]]
    free = np.flatnonzero(penalty == 0)
    repair = 0.0
    if (free >= n).any():
        repair = _repair(problem, p, free, (np.abs(g) + error)[free])
        error[n:] += repair
    if flips > 0.25 or not np.isfinite(repair):
        return Proof(vacuous, residual, 0)
    penalized = (penalty > 0) & np.isfinite(penalty)
    reach = np.abs(g) + error
    over = penalized & (reach > penalty * (1 - 4 * _EPSILON))
    c = float(np.min(penalty[over] * (1 - 4 * _EPSILON) / reach[over], initial=1.0))
    used = penalized & (theta != 0)
    pairs = np.maximum(penalty[used] * np.abs(theta[used]) + c * g[used] * theta[used], 0.0)
    pairs += (c * error[used] + 4 * _EPSILON * penalty[used]) * np.abs(theta[used])
    gap = float(pairs.sum()) + _mixture_divergence(problem.empirical, log_p, c) * (1 + rounding)
    gap += cost + flips * (1 - c) * vacuous + _repair_cost(problem.empirical, log_p, c, repair)
    gap += drift * ((1 - c) * float(np.abs(problem.empirical - p).sum()) + flips) + drift**2
    # Decoding rounds the fields, by which Ψ − φ·m̂ moves in second order.
    gap += float(np.sum(drift * moved + drift**2 * expected[:n]))
    gap = min(gap, vacuous)
    # H(q*) − H(q) ≥ KL(q ‖ q*) at the dual optimum q*, and by Pinsker no event's probability differs by more
    # than sqrt(KL/2): a moment that far inside its bound is inside it at the optimum, and its edge is zero.
    n_zeros = np.count_nonzero(c * reach[penalized] + np.sqrt(gap / 2) * (1 + 4 * _EPSILON) < penalty[penalized])
    return Proof(gap, residual, int(n_zeros))


def _flips(log_p: FloatArray, p: FloatArray, missing: FloatArray, n: int) -> tuple[float, float]:
    """Return the sum of the shares f_s moved between x_s = 0 and 1, and what that adds to the divergence.

    Moving all of a side to the other gives a P′ with KL(P′ ‖ P) = −E log P(other side | rest), and moving a share f
    of it at most f times that, because KL is convex.
    """
    total = cost = 0.0
    for s in range(n):
        log_zero, log_one = (log_p.reshape(-1, 2, 1 << s)[:, k] for k in (0, 1))
        weight = p.reshape(-1, 2, 1 << s).sum(axis=1)
        up = float((weight * np.logaddexp(0.0, log_zero - log_one)).sum())  # −E log P(x_s = 1 | rest)
        down = float((weight * np.logaddexp(0.0, log_one - log_zero)).sum())
        zero, one = (float(np.exp(side).sum()) for side in (log_zero, log_one))
        if missing[s] > 0.0:
            share_up, share_down = missing[s] / max(zero, 1e-300), missing[s] / max(one, 1e-300)
            total += max(share_up, share_down)
            cost += max(share_up * up, share_down * down)
    return total, cost


def _repair(problem: Likelihood, p: FloatArray, free: NDArray[np.intp], missing: FloatArray) -> float:
    """Return a bound of the norm of ζ, a change P ζ of the model that matches the free moments; infinite if unknown."""
    sums = superset_sums(p)
    masks = problem.masks[free]
    expected = sums[masks]
    covariance = sums[masks[:, None] | masks] - np.outer(expected, expected)
    diagonal = np.diag(covariance)
    if not (diagonal > 0).all():
        return np.inf
    unit = covariance / np.sqrt(np.outer(diagonal, diagonal))
    noise = (2 * problem.n_varying + 24) * _EPSILON * float((expected / diagonal).max()) * len(free)
    smallest = float(np.linalg.eigvalsh(unit)[0]) - noise - 4 * _EPSILON * len(free) ** 2
    norm = float(np.linalg.norm(np.where(free < problem.n_varying, 0.0, missing) / np.sqrt(diagonal)))
    if smallest <= 0 or np.sqrt(np.sum(1.0 / diagonal)) * norm > 0.25 * smallest:
        return np.inf
    return norm / float(np.sqrt(smallest))


def _repair_cost(empirical: FloatArray, log_p: FloatArray, c: float, norm: float) -> float:
    """Return what that change may add to the divergence of the mixture."""
    if norm == 0.0:
        return 0.0
    p = np.exp(log_p)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slope = np.where(p > 0, np.log(c + (1 - c) * empirical / p), 0.0)
    return c * norm * float(np.sqrt(np.sum(p * slope**2))) + 2 * c * norm**2


def _mixture_divergence(empirical: FloatArray, log_p: FloatArray, c: float) -> float:
    """Return KL(q ‖ P) of q = (1−c)·empirical + c·P as a sum of non-negative terms."""
    if c == 1:
        return 0.0
    p = np.exp(log_p)
    q = (1 - c) * empirical + c * p
    log_q = np.log(q, where=q > 0, out=np.zeros_like(q))
    terms = q * (log_q - log_p) - (q - p)
    terms = np.maximum(terms, 0.0) + 4 * _EPSILON * q * (1.0 + np.abs(log_q) + np.abs(log_p))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        u = (1 - c) * (np.abs(empirical - p) + 2 * _EPSILON * (empirical + p)) / p
    close = u < 1e-3  # (1+u)·log(1+u) − u cancels here: a bound from its series
    v = u[close]
    terms[close] = p[close] * v**2 * (1 / 2 + v / 6 + v**2 / 6)
    return float(terms.sum())


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
