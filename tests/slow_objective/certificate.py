"""A bound of F(Θ) − min F that holds in floating point, from an exactly feasible point of the dual (docs/math.md).

Step 1: fields and free edges at their optimum while the penalized couplings stay. How close to stationary a point is
counts relative to the size of its terms: with a few rows of overwhelming weight, every gradient is small in absolute
terms, at the optimum or not.

Step 2: the residuals of a profiled Θ nearly satisfy the equations of the dual, Σ_n w_n a_ns = 0. "Nearly" is no proof:
what is missing may be most of a column whose ones have a weight of 1e-13. The heavier side of every column, the cells
with x = 0 or those with x = 1, is therefore scaled down to the weight of the other. The equations of free edges, and of
those whose penalty is below their rounding errors, are met by a further change of the residuals, which is not computed
but shown to exist and to be small. Every sum comes with a bound of its rounding error, which is added to the gap or
subtracted from what feasibility leaves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # its parts are loaded when they are needed
from numpy.typing import NDArray

from isinglass.arrays import FloatArray, Mask
from isinglass.errors import SeparationError, setting
from isinglass.penalties import EPSILON
from isinglass.separation import find_separation, free_neighbors
from slow_objective.reduced import Reduced

_STATIONARY = 1e-14  # |g| over Σ w |r| at which Newton stops; the bound accounts for what is left
_FAR = 10.0  # margins beyond this may be on their way to infinity: ask the linear program
_STEPS = 200  # far more than the bisections between two adjacent floats; Newton needs about 6
_RESERVE = 4.0 * EPSILON  # of products and quotients of rounded numbers
_NEGLIGIBLE_PENALTY = 1000.0  # rounding errors below which a penalty counts as zero


def null_point(problem: Reduced) -> tuple[FloatArray, FloatArray]:
    """Return the optimum without penalized edges."""
    theta = np.zeros_like(problem.penalty)
    return profiled(problem, theta, problem.logit) if problem.free.any() else (theta, problem.logit)


def profiled(problem: Reduced, theta: FloatArray, field: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Θ′ of docs/math.md: all fields by safeguarded Newton, then fields and free edges of the touched nodes."""
    field = _profile_fields(problem, problem.table @ theta, field)
    pairs = np.argwhere(np.triu(problem.free))
    return (theta, field) if not len(pairs) else _profile_free(problem, theta, field, pairs)


def _profile_fields(problem: Reduced, offset: FloatArray, start: FloatArray) -> FloatArray:
    """Solve g_ss(θ_ss) = 0 for every node at once.

    As log(P/M) = 0 for the masses P of the positive and M of the negative residuals: without edges this is linear in
    the field, even where an answer is rare. It is increasing and changes sign inside the first bracket.
    """
    low, high = problem.logit - offset.max(axis=0), problem.logit - offset.min(axis=0)
    field = np.clip(start, low, high)
    best, smallest = field.copy(), np.full_like(field, np.inf)
    sign, log_weight = 2.0 * problem.table - 1.0, np.log(problem.weight)[:, None]
    for _ in range(_STEPS):
        margin = sign * (offset + field)
        log_miss = log_weight - np.logaddexp(0.0, margin)
        excess, slope = _balance(log_miss, margin, problem.table > 0)
        low, high = np.where(excess <= 0, field, low), np.where(excess >= 0, field, high)
        better = np.abs(excess) < smallest
        best, smallest = np.where(better, field, best), np.where(better, np.abs(excess), smallest)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            newton = field - excess / slope
        # Bisect where Newton leaves the bracket (a staircase when couplings are huge).
        inside = (newton > low) & (newton < high)
        following = np.where(inside, newton, low + 0.5 * (high - low))
        if ((smallest <= _STATIONARY) | (following == field) | ~(high > low)).all():
            break
        field = following
    return best


def _balance(log_miss: FloatArray, margin: FloatArray, is_one: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Return log(P/M) of every column and its derivative by the field."""
    above, below = np.where(is_one, -np.inf, log_miss), np.where(is_one, log_miss, -np.inf)
    log_above, log_below = scipy.special.logsumexp(above, axis=0), scipy.special.logsumexp(below, axis=0)
    hit = scipy.special.expit(margin)
    slope = (np.exp(above - log_above) * hit).sum(axis=0) + (np.exp(below - log_below) * hit).sum(axis=0)
    return np.asarray(log_above - log_below), np.asarray(slope)


def _profile_free(
    problem: Reduced, theta: FloatArray, field: FloatArray, pairs: NDArray[np.intp]
) -> tuple[FloatArray, FloatArray]:
    """Minimize the loss over the free edges and the fields of their nodes; refuse if the optimum is at infinity."""
    block = _FreeBlock.of(problem, pairs)
    offset = problem.table @ np.where(problem.free, 0.0, theta)[:, block.nodes]
    start = np.r_[theta[pairs[:, 0], pairs[:, 1]], field[block.nodes]]
    z, reached = block.minimize(offset, start)
    margin = block.sign * (offset + block.predict(z))
    # A row of small weight has to go further before its share of the gradient fades.
    distance = margin - np.log(problem.weight / problem.weight.max())[:, None]
    if not reached or distance.max() > _FAR:
        found = find_separation(problem.table, pairs)
        if found is not None:
            s, t = problem.columns[list(found)]
            raise SeparationError(
                f"{setting('penalty_weights')} must be positive where columns separate; got 0 for the pair ({s}, "
                f"{t}), whose free coupling is infinite at the optimum. Give the pair a positive weight, or "
                "forbid it with inf."
            )
    theta, field = theta.copy(), field.copy()
    theta[pairs[:, 0], pairs[:, 1]] = theta[pairs[:, 1], pairs[:, 0]] = z[: len(pairs)]
    field[block.nodes] = z[len(pairs) :]
    return theta, field


@dataclass(frozen=True)
class _FreeBlock:
    """The unpenalized logistic problem in z = (free couplings, fields of their nodes), with dense Newton steps."""

    nodes: NDArray[np.intp]
    designs: tuple[tuple[FloatArray, NDArray[np.intp]], ...]  # per node: [x_neighbors, 1] and their places in z
    sign: FloatArray  # 2x − 1 of the nodes
    weight: FloatArray

    @classmethod
    def of(cls, problem: Reduced, pairs: NDArray[np.intp]) -> _FreeBlock:
        neighbors = free_neighbors(pairs)
        nodes, one = np.array(list(neighbors), dtype=np.intp), np.ones((len(problem.table), 1))
        designs = tuple(
            (np.hstack([problem.table[:, near], one]), np.array([*position, len(pairs) + k], dtype=np.intp))
            for k, (near, position) in enumerate(neighbors.values())
        )
        return cls(nodes, designs, 2.0 * problem.table[:, nodes] - 1.0, problem.weight)

    def predict(self, z: FloatArray) -> FloatArray:
        return np.stack([design @ z[place] for design, place in self.designs], axis=1)

    def residual(self, eta: FloatArray) -> FloatArray:
        return np.asarray(-self.weight[:, None] * self.sign * scipy.special.expit(-self.sign * eta))

    def collect(self, cells: FloatArray, size: int) -> FloatArray:
        """Return the sum over cells times design, per coordinate of z."""
        result = np.zeros(size)
        for (design, place), column in zip(self.designs, cells.T, strict=True):
            result[place] += column @ design
        return result

    def curvature(self, eta: FloatArray, size: int) -> FloatArray:
        result = np.zeros((size, size))
        variance = self.weight[:, None] * scipy.special.expit(eta) * scipy.special.expit(-eta)
        for (design, place), v in zip(self.designs, variance.T, strict=True):
            result[np.ix_(place, place)] += design.T @ (v[:, None] * design)
        return result

    def minimize(self, offset: FloatArray, z: FloatArray) -> tuple[FloatArray, bool]:
        """Return the minimizer from start ``z`` and whether every slope is small next to its terms."""
        best, smallest = z, np.inf
        for _ in range(_STEPS):
            eta = offset + self.predict(z)
            residual = self.residual(eta)
            slope, mass = self.collect(residual, len(z)), self.collect(np.abs(residual), len(z))
            share = float(np.max(np.abs(slope) / np.maximum(mass, np.finfo(np.float64).tiny)))
            if share < smallest:
                best, smallest = z, share
            if share <= _STATIONARY:
                break
            hessian = self.curvature(eta, len(z))
            # μ ∝ |g| keeps Newton quadratic where the Hessian is singular (Li, Fukushima, Qi and Yamashita 2004).
            damping = (1e-3 * share + 1e-15) * mass + np.finfo(np.float64).tiny
            step: FloatArray = np.asarray(-np.linalg.solve(hessian + np.diag(damping), slope), dtype=np.float64)
            length = self.search(eta, self.predict(step))
            if np.array_equal(z + length * step, z):
                break
            z = z + length * step
        return best, smallest <= 10.0 * _STATIONARY

    def search(self, eta: FloatArray, direction: FloatArray) -> float:
        """Return a length where the directional derivative, which increases, has lost half of its size or more."""

        def derivative(length: float) -> float:
            return float((self.residual(eta + length * direction) * direction).sum())

        first, low, high, length = derivative(0.0), 0.0, np.inf, 1.0
        for _ in range(60):
            slope = derivative(length)
            if 0.5 * first <= slope <= -0.1 * first:
                break
            low, high = (length, high) if slope < 0 else (low, length)
            length = 2.0 * length if np.isinf(high) else 0.5 * (low + high)
        return length


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
    negligible = problem.penalized & (limits < _NEGLIGIBLE_PENALTY * point.error)
    if not negligible.any():
        return plain
    return min(plain, _prove(problem, point, alpha, problem.free | negligible), key=lambda proof: proof.gap)


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
    norm, moment = repair
    error = point.error + np.add.outer(moment, moment)
    moments, reach = np.where(zeroed, 0.0, point.moments), np.where(zeroed, 0.0, np.abs(point.moments) + error)
    over = problem.penalized & (reach > limits * (1.0 - _RESERVE))
    scale = float((limits[over] * (1.0 - _RESERVE) / reach[over]).min(initial=1.0))
    used = np.triu(problem.penalized & (theta != 0.0))
    size, bound = np.abs(theta[used]), limits[used]
    pairs = np.maximum(bound * size + scale * moments[used] * theta[used], 0.0)
    pairs += (scale * error[used] + _RESERVE * bound) * size
    gap = float(pairs.sum()) + _divergence_bound(problem, theta, point.field, point.margin, scale * point.side)
    gap += _repair_cost(norm, scale, point.side)
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


def _repair_cost(norm: FloatArray, scale: float, side: FloatArray) -> float:
    """Return what a change of that norm may add to the divergence at residuals scaled by ``scale`` and ``side``."""
    least = scale * side.min(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = 0.5 * -np.log(least) + 0.81 * np.sqrt(1.0 - least)
        first = np.where(norm > 0.0, norm * slope, 0.0)
    return float(scale * (first + 2.0 * norm**2).sum())


def _repair(problem: Reduced, point: _Point, zeroed: Mask) -> tuple[FloatArray, FloatArray] | None:
    """Bound the change v ζ of every node's residuals that makes the moments of some pairs exactly zero.

    Return its norm, Σ w v ζ² ≤ norm², and the most by which it changes a moment. Either node of a pair takes half.
    Node s needs G λ = e for the Gram matrix G of [x_neighbors, 1] under w v; all that enters is a lower bound of the
    smallest eigenvalue of G with unit diagonal. None if that proves nothing.
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
    return norm, moment
