"""A bound of F(Θ) − min F that holds in floating point, from an exactly feasible point of the dual (docs/math.md).

The residuals of a profiled Θ nearly satisfy the equations of the dual, Σ_n w_n a_ns = 0. "Nearly" is no proof: what is
missing may be most of a column whose ones have a weight of 1e-13. The heavier side of every column, the cells with
x = 0 or those with x = 1, is therefore scaled down to the weight of the other. The equations of free edges, and of
those whose penalty drowns in rounding, are met by a further change of the residuals, which is not computed but shown
to exist and to be small. Every sum comes with a bound of its rounding error, which is added to the gap or subtracted
from what feasibility leaves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # its parts are loaded when they are needed

from isinglass.arrays import FloatArray, Mask
from isinglass.objective.reduced import EPSILON, Reduced

_RESERVE = 4.0 * EPSILON  # of products and quotients of rounded numbers
_FAINT = 1000.0  # a penalty below so many rounding errors is drowned by them


@dataclass(frozen=True)
class Certificate:
    """What the dual point a proves."""

    gap: float  # F(Θ) − min F is at most this
    moments: FloatArray  # (q, q), |Σ_n w_n (a_ns x_nt + a_nt x_ns)| at most, rounding included


def certify(problem: Reduced, theta: FloatArray, field: FloatArray, alpha: float) -> Certificate:
    """Return the bound at Θ; it is tight where fields and free edges are at their optimum."""
    margin, limits = problem.margin(theta, field), problem.limits(alpha)
    side = _balanced(problem, margin)
    moments, sizes = problem.balanced_sums(problem.signed(margin) * side)
    point = _Point(theta, field, margin, side, moments, 4.0 * problem.rounding * sizes)
    plain = _prove(problem, point, alpha, problem.free)
    faint = problem.penalized & (limits < _FAINT * point.error)
    if not faint.any():
        return plain
    return min(plain, _prove(problem, point, alpha, problem.free | faint), key=lambda proof: proof.gap)


@dataclass(frozen=True)
class _Point:
    """Parameters with their balanced residuals."""

    theta: FloatArray
    field: FloatArray
    margin: FloatArray
    side: FloatArray  # the factor that balances a cell
    moments: FloatArray
    error: FloatArray  # of a moment, from rounding


def _prove(problem: Reduced, point: _Point, alpha: float, zeroed: Mask) -> Certificate:
    """Return the bound if the moments of the pairs ``zeroed`` are made exactly zero and the others scaled down."""
    theta, limits = point.theta, problem.limits(alpha)
    value = problem.value(theta, point.field, alpha) * (1.0 + problem.rounding)
    repair = _repair(problem, point, zeroed)
    if repair is None:  # no small change of the residuals makes them feasible: all that is known is D(0) = 0
        return Certificate(value, np.full_like(limits, np.inf))
    error = point.error + np.add.outer(repair.moment, repair.moment)
    moments, reach = np.where(zeroed, 0.0, point.moments), np.where(zeroed, 0.0, np.abs(point.moments) + error)
    over = problem.penalized & (reach > limits * (1.0 - _RESERVE))
    scale = float((limits[over] * (1.0 - _RESERVE) / reach[over]).min(initial=1.0))
    used = np.triu(problem.penalized & (theta != 0.0))
    size, bound = np.abs(theta[used]), limits[used]
    pairs = np.maximum(bound * size + scale * moments[used] * theta[used], 0.0)
    pairs += (scale * error[used] + _RESERVE * bound) * size
    gap = float(pairs.sum()) + _divergence_bound(problem, theta, point.field, point.margin, scale * point.side)
    gap += repair.cost(scale, point.side)
    return Certificate(min(gap * (1.0 + problem.rounding), value), scale * reach)


def _balanced(problem: Reduced, margin: FloatArray) -> FloatArray:
    """Return per cell the factor of at most 1 that makes the weighted residuals of every column sum to zero."""
    mass = problem.weight[:, None] * scipy.special.expit(-margin)
    above, below = (mass * (1.0 - problem.table)).sum(axis=0), (mass * problem.table).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shrink_zeros = np.where(above > below, below / above, 1.0)
        shrink_ones = np.where(below > above, above / below, 1.0)
    return np.asarray(np.where(problem.table > 0, shrink_ones, shrink_zeros))


def _divergence_bound(
    problem: Reduced, theta: FloatArray, field: FloatArray, margin: FloatArray, scale: FloatArray
) -> float:
    """Return Σ w KL(x + a ‖ σ), the divergence of the cells, with the rounding of the margins and of a."""
    # KL falls as the scale rises to 1, so that a smaller one bounds it.
    cells = divergence(margin, np.maximum(scale - 4.0 * problem.rounding, 0.0))
    miss, hit = scipy.special.expit(-margin), scipy.special.expit(margin)
    drift = (len(field) + 2) * EPSILON * (problem.table @ np.abs(theta) + np.abs(field))
    cells += (1.0 - scale) * miss * drift + miss * hit * np.exp(np.minimum(drift, 1.0)) * drift**2
    return float(problem.weight @ cells.sum(axis=1))


def divergence(margin: FloatArray, scale: FloatArray) -> FloatArray:
    """Return KL(x + c r ‖ σ) = c e log c + (1 − c e) softplus(log(1−c) − m), e = 1/(1+exp(m)), per cell."""
    miss, hit = scipy.special.expit(-margin), scipy.special.expit(margin)
    kept = (1.0 - scale) + scale * hit  # 1 − c e, without canceling when e rounds to 1
    with np.errstate(divide="ignore", invalid="ignore"):
        shrunk = np.where(scale > 0.0, scale * miss * np.log(scale), 0.0)
        cell = shrunk + kept * np.logaddexp(0.0, np.log1p(-scale) - margin)
    # Close to 1 the two terms cancel; there (1−c)² e / (1 − e) bounds the divergence (chi-squared).
    with np.errstate(over="ignore"):
        bound = (1.0 - scale) ** 2 * np.exp(-margin)
    return np.asarray(np.minimum(np.maximum(cell, 0.0) + 8.0 * EPSILON * miss * (1.0 - scale), bound))


@dataclass(frozen=True)
class _Repair:
    """How much making moments zero may cost: a change v ζ of a node's residuals with Σ w v ζ² ≤ norm²."""

    norm: FloatArray
    moment: FloatArray  # the most by which it changes a pair moment

    def cost(self, scale: float, side: FloatArray) -> float:
        """Return what it may add to the divergence at residuals scaled by ``scale`` and ``side``."""
        least = scale * side.min(axis=0)
        with np.errstate(divide="ignore"):
            slope = 0.5 * -np.log(least) + 0.81 * np.sqrt(1.0 - least)
        with np.errstate(invalid="ignore"):
            first = np.where(self.norm > 0.0, self.norm * slope, 0.0)
        return float(scale * (first + 2.0 * self.norm**2).sum())


def _repair(problem: Reduced, point: _Point, zeroed: Mask) -> _Repair | None:
    """Bound the change of the residuals that makes the moments of some pairs exactly zero.

    Either node of a pair takes half. Node s needs G λ = e for the Gram matrix G of [x_neighbors, 1] under w v;
    all that enters is a lower bound of the smallest eigenvalue of G with unit diagonal. None if that proves nothing.
    """
    miss, q = np.abs(point.moments) + point.error, len(problem.columns)
    norm, moment = np.zeros(q), np.zeros(q)
    for s in np.flatnonzero(zeroed.any(axis=1)):
        margin = point.margin[:, s]
        design = np.hstack([problem.table[:, zeroed[s]], np.ones((len(margin), 1))])
        curve = problem.weight * scipy.special.expit(margin) * scipy.special.expit(-margin)
        diagonal = curve @ design
        if not (diagonal > 0.0).all():
            return None
        unit = design / np.sqrt(diagonal)
        gram = unit.T @ (curve[:, None] * unit)
        smallest = float(np.linalg.eigvalsh(gram)[0])
        smallest -= 2.0 * len(diagonal) * (problem.rounding + 2.0 * EPSILON * len(diagonal))
        missing = float(np.linalg.norm(np.r_[0.5 * miss[s, zeroed[s]], 0.0] / np.sqrt(diagonal)))
        largest = np.linalg.norm(unit, axis=1).max() * missing  # |ζ| of any row, times the eigenvalue
        # Up to |ζ| = u/2, u the factor of the side, probabilities stay probabilities and KL at most doubles.
        if smallest <= 0.0 or point.side[:, s].min() < 0.5 or largest > 0.25 * smallest:
            return None
        norm[s] = missing / np.sqrt(smallest)
        moment[s] = norm[s] * np.sqrt(curve.sum()) * (1.0 + problem.rounding)
    return _Repair(norm, moment)
