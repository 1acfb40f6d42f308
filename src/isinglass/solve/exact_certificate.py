"""The certificate of the exact likelihood: how far a point is from the optimum, and which pairs are zero there."""

from __future__ import annotations

from typing import Any

import numpy as np

from isinglass.arrays import FloatArray, Mask
from isinglass.penalties import EPSILON, violations
from isinglass.solve.exact_likelihood import Likelihood, superset_sums

_LARGEST_CHANGE = 0.25  # of a probability: up to here P″ is a distribution, and the bounds of what it costs hold


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

    error = rounding_of_sums(n) * (expected + problem.statistics)  # (E1)
    mean_error = np.abs(g[:n]) + error[:n]
    share, flip_cost = _match_means(log_p, mean_error)  # (E2)
    error[n:] += mean_error[s] + mean_error[t]
    if share > _LARGEST_CHANGE:
        return proof

    reach = np.abs(g) + error
    c = _scale(reach, penalty)  # (E3)
    gap = _penalty_terms(theta, g, error, penalty, c)  # (E4), whose terms follow one by one
    gap += _mixture_divergence(problem.empirical, log_p, c) * (1 + rounding_of_sums(n))
    gap += flip_cost + share * (1 - c) * trivial_gap
    drift = (8 + 2 * n) * EPSILON * (1.0 + float(np.abs(theta).sum()))  # relative error of probabilities
    gap += drift * ((1 - c) * float(np.abs(problem.empirical - p).sum()) + share) + drift**2
    gap += float(np.sum(drift * mean_error + drift**2 * expected[:n]))  # `Likelihood.decode` rounds the fields
    gap = min(gap, trivial_gap)

    penalized = _is_penalized(penalty)
    is_zero = c * reach[penalized] + np.sqrt(gap / 2) * (1 + 4 * EPSILON) < penalty[penalized]  # (E5)
    return {**proof, "duality_gap": gap, "certified_zeros": int(np.count_nonzero(is_zero))}


def rounding_of_sums(n: int) -> float:
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
