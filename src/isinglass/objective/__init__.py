"""The objective of docs/math.md in plain NumPy: value, gradient, KKT residual, duality gap and proofs.

This is the yardstick, not the solver: the tests recompute here whatever the solver certifies. With row weights w
normalized to sum to one, η_ns = θ_ss + Σ_t θ_st x_nt, and penalty weights ω,

    F(Θ) = Σ_n w_n Σ_s [ log(1+exp η_ns) − x_ns η_ns ]  +  α Σ_{s<t} ω_st |θ_st|        (docs/math.md)

Common to all functions: ``X`` is a 0/1 table, ``couplings`` the symmetric matrix θ_st with zero diagonal, ``fields``
the vector θ_ss; ``sample_weight`` is None or one weight per row; ``penalty_weights`` is None (all 1),
``"standardized"`` (sd_s + sd_t) or a symmetric matrix of ω in [0, inf]. A pair is *free* if ω = 0, *penalized* if
0 < ω < inf, *forbidden* if ω = inf or one of its columns is constant over the rows with positive weight. F is
extended-valued: a non-zero forbidden coupling makes the value, the KKT residual and the gap infinite, a zero one is
skipped in every sum. Constant columns are left out altogether, and fields given for them are ignored (docs/math.md).

Legend: ``theta``, ``field``: Θ on the varying columns. ``edge``, ``node``: g_st and g_ss.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy  # its parts are loaded when they are needed
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray
from isinglass.errors import ArgumentError, SeparationError
from isinglass.objective.category_certificate import CategoryCertificate, category_certificate
from isinglass.objective.certificate import certify, null_point, profiled
from isinglass.objective.reduced import (
    EPSILON,
    Penalty,
    Reduced,
    Weights,
    penalty_matrix,
    refuse_vanishing,
    smoothed_field,
    violations,
)
from isinglass.separation import find_separation

__all__ = [
    "CategoryCertificate",
    "alpha_max",
    "category_certificate",
    "certified_zeros",
    "duality_gap",
    "find_separation",
    "gradient",
    "kkt_residual",
    "null_model",
    "penalty_matrix",
    "profile",
    "refuse_vanishing",
    "relative_gap",
    "smoothed_field",
    "value",
]


def value(
    X: ArrayLike,
    couplings: ArrayLike,
    fields: ArrayLike,
    alpha: float = 0.0,
    *,
    sample_weight: Weights = None,
    penalty_weights: Penalty = None,
) -> float:
    """Return F(Θ); with ``alpha=0`` the mean negative log pseudo-likelihood per row.

    Examples
    --------
    >>> round(value([[0, 1], [1, 0]], np.zeros((2, 2)), np.zeros(2)), 6)  # 2 log 2
    1.386294
    """
    problem, alpha = Reduced.of(X, sample_weight, penalty_weights), _check_alpha(alpha)
    theta, field, allowed = problem.restrict(couplings, fields)
    return problem.value(theta, field, alpha) if allowed else float("inf")


def gradient(
    X: ArrayLike, couplings: ArrayLike, fields: ArrayLike, *, sample_weight: Weights = None
) -> tuple[FloatArray, FloatArray]:
    """Return the derivatives of the loss (F without penalty): g_st as a symmetric matrix and g_ss as a vector.

    The entries of constant columns, which F does not contain, are zero.

    Examples
    --------
    >>> edge, node = gradient([[0, 1], [1, 0]], np.zeros((2, 2)), np.zeros(2))
    >>> edge.tolist(), node.tolist()
    ([[0.0, 0.5], [0.5, 0.0]], [0.0, 0.0])
    """
    problem = Reduced.of(X, sample_weight, None)
    theta, field, _ = problem.restrict(couplings, fields)
    edge, node = problem.gradient(problem.margin(theta, field))
    full_edge, full_node = np.zeros((problem.n_features,) * 2), np.zeros(problem.n_features)
    full_edge[np.ix_(problem.columns, problem.columns)], full_node[problem.columns] = edge, node
    return full_edge, full_node


def alpha_max(X: ArrayLike, sample_weight: Weights = None, *, penalty_weights: Penalty = None) -> float:
    """Return the smallest alpha at which every penalized coupling is zero; 0 if nothing is penalized.

    Also 0 if no pair depends on each other, up to rounding: if changing the weights in their last digits could make
    all columns independent.

    Examples
    --------
    >>> round(alpha_max([[0, 0], [1, 1]]), 12)  # 2 |cov| = 2 · 1/4
    0.5
    """
    problem = Reduced.of(X, sample_weight, penalty_weights)
    mask = problem.penalized
    edge = _null_gradient(problem) if problem.free.any() else 2.0 * problem.covariance()
    with np.errstate(over="ignore"):
        ratios = np.abs(edge[mask]) / problem.penalty[mask]
    # Rounded up, so that a solver whose own rounding differs finds no edge there.
    return float(ratios.max(initial=0.0)) * (1.0 + 4.0 * EPSILON)


def _null_gradient(problem: Reduced) -> FloatArray:
    """Return g_st without penalized edges, exactly zero where it cannot be told from rounding."""
    margin = problem.margin(*null_point(problem))
    edge, node = problem.gradient(margin)
    noise = 4.0 * problem.rounding * problem.pair_sums(np.abs(problem.signed(margin)))
    return np.where(np.abs(edge) <= noise + np.add.outer(np.abs(node), np.abs(node)), 0.0, edge)


def null_model(
    X: ArrayLike, *, sample_weight: Weights = None, penalty_weights: Penalty = None
) -> tuple[FloatArray, FloatArray]:
    """Return (couplings, fields) of the optimum without penalized edges: logit means, or the fit of the free edges too.

    Raises
    ------
    SeparationError
        If the free edges have no finite optimum.

    Examples
    --------
    >>> couplings, fields = null_model([[0, 1], [1, 0], [1, 1], [1, 0]])
    >>> np.exp(fields).round(6).tolist()  # odds 3:1 and 2:2
    [3.0, 1.0]
    """
    problem = Reduced.of(X, sample_weight, penalty_weights)
    return problem.expand(*null_point(problem))


def kkt_residual(
    X: ArrayLike,
    couplings: ArrayLike,
    fields: ArrayLike,
    alpha: float,
    *,
    sample_weight: Weights = None,
    penalty_weights: Penalty = None,
) -> float:
    """Return the largest violation of the optimality conditions (docs/math.md) over all fields and pairs.

    Examples
    --------
    >>> kkt_residual([[0, 0], [1, 1]], np.zeros((2, 2)), np.zeros(2), 0.4)  # |g| = 0.5 at zero
    0.09999999999999998
    """
    problem, alpha = Reduced.of(X, sample_weight, penalty_weights), _check_alpha(alpha)
    theta, field, allowed = problem.restrict(couplings, fields)
    if not allowed:
        return float("inf")
    edge, node = problem.gradient(problem.margin(theta, field))
    violation = violations(theta, edge, problem.limits(alpha))[problem.penalized | problem.free]
    return float(np.r_[np.abs(node), violation].max(initial=0.0))


def profile(
    X: ArrayLike,
    couplings: ArrayLike,
    fields: ArrayLike,
    *,
    sample_weight: Weights = None,
    penalty_weights: Penalty = None,
) -> tuple[FloatArray, FloatArray]:
    """Return Θ′: fields and free edges at their optimum given the penalized couplings, which stay (docs/math.md (i)).

    Forbidden couplings are set to zero and constant columns get their smoothed field, so that Θ′ is always admissible.

    Raises
    ------
    SeparationError
        If the free edges have no finite optimum.

    Examples
    --------
    >>> profile([[0, 1], [1, 0], [1, 1], [0, 0]], [[0, 2], [2, 0]], [7, 7])[1].round(6).tolist()
    [-1.0, -1.0]
    """
    problem = Reduced.of(X, sample_weight, penalty_weights)
    theta, field, _ = problem.restrict(couplings, fields)
    return problem.expand(*profiled(problem, theta, field))


def duality_gap(
    X: ArrayLike,
    couplings: ArrayLike,
    fields: ArrayLike,
    alpha: float,
    *,
    sample_weight: Weights = None,
    penalty_weights: Penalty = None,
) -> float:
    """Return an upper bound of F(Θ) − min F from a feasible point of the dual (docs/math.md).

    Rounding is part of the bound: it holds for the Θ, the weights and the penalties as given, whatever their size.
    At ``alpha=0`` every pair is free, as with ω = 0. Where the unpenalized optimum lies at infinity, the gap is
    then F(Θ): a valid but vacuous bound.

    Examples
    --------
    >>> X = [[0, 0], [1, 1]]
    >>> duality_gap(X, np.zeros((2, 2)), np.zeros(2), 0.5) < 1e-15
    True
    """
    problem, alpha = Reduced.of(X, sample_weight, penalty_weights), _check_alpha(alpha)
    theta, field, allowed = problem.restrict(couplings, fields)
    return _gap(problem, theta, field, alpha) if allowed else float("inf")


def relative_gap(
    X: ArrayLike,
    couplings: ArrayLike,
    fields: ArrayLike,
    alpha: float,
    *,
    sample_weight: Weights = None,
    penalty_weights: Penalty = None,
) -> float:
    """Return the duality gap divided by max(F(null model), 1e-12).

    Examples
    --------
    >>> round(relative_gap([[0, 0], [1, 1]], np.zeros((2, 2)), np.zeros(2), 0.0), 12)  # separated: nothing is known
    1.0
    """
    weights: dict[str, Any] = {"sample_weight": sample_weight, "penalty_weights": penalty_weights}
    gap = duality_gap(X, couplings, fields, alpha, **weights)
    return gap / max(value(X, *null_model(X, **weights), **weights), 1e-12)


def certified_zeros(
    X: ArrayLike,
    couplings: ArrayLike,
    fields: ArrayLike,
    alpha: float,
    *,
    sample_weight: Weights = None,
    penalty_weights: Penalty = None,
) -> NDArray[np.bool_]:
    """Return the symmetric matrix of penalized pairs proved to be zero in *every* optimum, whatever Θ is.

    Forbidden pairs are zero by decree, not by proof, and stay False.

    Examples
    --------
    >>> certified_zeros([[0, 0], [1, 1]], np.zeros((2, 2)), np.zeros(2), 0.6).tolist()
    [[False, True], [True, False]]
    """
    problem, alpha = Reduced.of(X, sample_weight, penalty_weights), _check_alpha(alpha)
    theta, field = profiled(problem, *problem.restrict(couplings, fields)[:2])
    certificate = certify(problem, theta, field, alpha)
    # The dual is strongly concave: |a's moment| + sqrt(gap · (sd_s² + sd_t²)/2) < α ω_st (docs/math.md).
    variance = np.add.outer(problem.sd**2, problem.sd**2) * (1.0 + problem.rounding)
    reach = certificate.moments + np.sqrt(certificate.gap * variance / 2.0) * (1.0 + 4.0 * EPSILON)
    proved = np.zeros((problem.n_features,) * 2, dtype=bool)
    proved[np.ix_(problem.columns, problem.columns)] = problem.penalized & (reach < problem.limits(alpha))
    return proved


def _gap(problem: Reduced, theta: FloatArray, field: FloatArray, alpha: float) -> float:
    """Return F(Θ) − F(Θ′) + the gap of Θ′; the penalties of Θ and Θ′ are equal, so only margins differ."""
    problem = problem.at(alpha)
    try:
        best_theta, best_field = profiled(problem, theta, field)
    except SeparationError:
        if alpha > 0.0:  # then it is ω = 0 that asks for what does not exist
            raise
        return problem.value(theta, field, 0.0) * (1.0 + problem.rounding)
    best = problem.margin(best_theta, best_field)
    step = problem.margin(theta - best_theta, field - best_field)
    # log(1+exp(−m)) − log(1+exp(−m′)) = log1p(e′ expm1(m′−m)): exact for small steps, where the difference cancels.
    small = np.log1p(scipy.special.expit(-best) * np.expm1(-np.clip(step, -1.0, 1.0)))
    descent = np.where(np.abs(step) < 1.0, small, np.logaddexp(0.0, -best - step) - np.logaddexp(0.0, -best))
    drift = (len(field) + 2) * EPSILON * (problem.table @ np.abs(best_theta) + np.abs(best_field))
    descent += (problem.rounding + drift) * np.abs(descent)
    excess = max(float(problem.weight @ descent.sum(axis=1)), 0.0)
    # Far from the optimum the residuals of Θ itself may prove more than those of Θ′.
    direct = certify(problem, theta, field, alpha).gap
    return min(excess + certify(problem, best_theta, best_field, alpha).gap, direct)


def _check_alpha(alpha: float) -> float:
    if np.ndim(alpha) != 0 or not 0.0 <= alpha < np.inf:
        raise ArgumentError("alpha", "must be a finite number that is not negative", alpha)
    return float(alpha)
