"""Fields and free edges at their optimum while the penalized couplings stay: step 1 of the certificate in docs/math.md.

How close to stationary a point is counts relative to the size of its terms: with a few rows of overwhelming weight,
every gradient is small in absolute terms, at the optimum or not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # its parts are loaded when they are needed
from numpy.typing import NDArray

from isinglass.arrays import FloatArray
from isinglass.errors import SeparationError, setting
from isinglass.objective.reduced import Reduced
from isinglass.separation import free_neighbors, separating_pair

_STATIONARY = 1e-14  # |g| over Σ w |r| at which Newton stops; the bound accounts for what is left
_FAR = 10.0  # margins beyond this may be on their way to infinity: ask the linear program
_STEPS = 200  # far more than the bisections between two adjacent floats; Newton needs about 6


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
    the field, however rare an answer is. It is increasing and changes sign inside the first bracket.
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
        found = separating_pair(problem.table, pairs)
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
