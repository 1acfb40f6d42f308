"""Objective, optimality and duality gap of a network with categories, in NumPy: what the solver certifies, once more.

F = Σ_n w_n Σ_s −log P(x_ns | rest) + α Σ_{s<t} ω_st ‖Θ_st‖, with weights that sum to one. Categories that do not occur
are left out. A dual point is π = (1 − c) e_x + c P for the probabilities P at stationary fields, which Newton's method
gives to rounding; unlike the solver's own, the gap is therefore true up to rounding only.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray, Frozen
from isinglass.data import Table, as_table, category_counts, check_penalty_weights, column_sd
from isinglass.errors import ArgumentError
from isinglass.network import Network
from isinglass.objective.reduced import Penalty

_STEPS = 100
_STATIONARY = 1e-14


@dataclass(frozen=True, eq=False)
class CategoryCertificate(Frozen):
    """What a network with categories proves about the minimum of the objective."""

    objective: float  #: F at the network
    kkt_residual: float  #: largest violation of the optimality conditions, of scores with a range of 1
    duality_gap: float  #: F minus a lower bound of its minimum
    certified_zeros: NDArray[np.bool_]  #: pairs that are zero in every optimum, as a symmetric matrix


def category_certificate(
    X: Table,
    network: Network,
    alpha: float,
    *,
    sample_weight: ArrayLike | None = None,
    penalty_weights: ArrayLike | str | None = None,
) -> CategoryCertificate:
    """Return objective, KKT residual, duality gap and proved zeros of a network for a table with categories.

    Parameters
    ----------
    X : Table
        The table.
    network : Network
        Any network of its columns, such as ``solution.network`` of a path.
    alpha : float
        Penalty strength, positive.
    sample_weight, penalty_weights
        As for `isinglass.ising_path`.

    Examples
    --------
    >>> from isinglass import ising_path
    >>> table = as_table([[0, 0], [1, 2], [2, 2], [2, 1], [0, 1]], kinds="ordinal")
    >>> solution = ising_path(table, [0.2])[0]
    >>> again = category_certificate(table, solution.network, 0.2)
    >>> abs(again.objective - solution.objective) < 1e-12, again.duality_gap < 1e-6
    (True, True)
    """
    table = network.table(as_table(X, sample_weight, variables=network.variables)).without_holes()
    if not (np.isfinite(alpha) and alpha > 0.0):
        raise ArgumentError("alpha", "must be positive and finite", alpha)
    return _Problem(table, network, alpha, penalty_weights).certify()


class _Problem:
    """A table and the couplings of a network; fields vary."""

    def __init__(self, table: Table, network: Network, alpha: float, weights: Penalty) -> None:
        raw = np.ones(len(table)) if table.sample_weight is None else table.sample_weight
        self.network, self.points, self.codes = network, network.variables, table.codes
        self.weight = raw / raw.sum()
        self.absent = category_counts(table) == 0.0
        self.seen = self.points.flat(self.codes)
        self.sd, self.widths = column_sd(table), table.variables.ranges
        penalty = check_penalty_weights(weights, table.shape[1])
        if isinstance(penalty, str):
            half = np.multiply.outer(self.sd, self.widths)
            penalty = half + half.T
        self.limits = alpha * (np.ones((table.shape[1],) * 2) if penalty is None else penalty)
        # What the rest of a row says for every category, without the fields.
        self.said = network.logits(self.codes) - network.category_fields[:, None]
        self.observed = np.zeros_like(self.said)
        np.put_along_axis(self.observed, self.seen, 1.0, axis=0)

    def logs(self, fields: FloatArray) -> FloatArray:
        """Return log P of every category, row by row; −inf for those that do not occur."""
        logits = self.said + fields[:, None]
        logits[self.absent] = -np.inf
        return self.points.log_softmax(logits)

    def value(self, logs: FloatArray) -> float:
        """Return F."""
        chosen = np.take_along_axis(logs, self.seen, axis=0)
        s, t = self.network.edge_index.T
        return float(-(chosen @ self.weight).sum() + self.limits[s, t] @ np.abs(self.network.edge_values))

    def profile(self) -> FloatArray:
        """Return the fields at their optimum given the couplings: Newton's method, column by column."""
        fields = self.network.category_fields.copy()
        bounds = [*self.points.starts.tolist(), len(fields)]
        for _ in range(_STEPS):
            P = np.exp(self.logs(fields))
            slopes = (P - self.observed) @ self.weight
            if np.abs(slopes).max() <= _STATIONARY:
                break
            step = np.zeros_like(fields)
            for first, end in pairwise(bounds):
                part = P[first:end]
                curve = np.diag(part @ self.weight) - (part * self.weight) @ part.T
                step[first:end] = np.linalg.lstsq(curve, slopes[first:end], rcond=1e-12)[0]
            fields -= step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        return fields

    def pair_gradients(self, P: FloatArray) -> dict[tuple[int, int], FloatArray]:
        """Return G_st of every pair in coordinates whose norm is that of Θ's."""
        coordinates = self.points.place(self.seen)
        residual = np.zeros_like(coordinates)
        np.add.at(residual, self.points.coordinate, self.points.factor[:, None] * (P - self.observed))
        cross = (residual * self.weight) @ coordinates.T
        both = cross + cross.T
        bounds = np.r_[self.points.first, len(coordinates)]
        found = {}
        has_scores = self.points.has_scores
        for s, t in combinations(range(self.network.n_features), 2):
            block = both[bounds[s] : bounds[s + 1], bounds[t] : bounds[t + 1]]
            for axis, node in enumerate((s, t)):
                block = block if has_scores[node] else block - block.mean(axis=axis, keepdims=True)
            found[s, t] = block / float(self.points.block_scale(np.array([[s, t]]))[0])
        return found

    def certify(self) -> CategoryCertificate:
        """Put everything together."""
        network, (s, t) = self.network, np.triu_indices(self.network.n_features, 1)
        given, best = self.logs(network.category_fields), self.logs(self.profile())
        norms = np.array([np.linalg.norm(block) for block in self.pair_gradients(np.exp(best)).values()])
        limits = self.limits[s, t]
        c = float(min(1.0, (limits / np.maximum(norms, 1e-300)).min(initial=1.0)))
        mixed = c * np.exp(best) + (1.0 - c) * self.observed
        entropy = -np.where(mixed > 0.0, mixed * np.log(np.where(mixed > 0.0, mixed, 1.0)), 0.0).sum(axis=0)
        dual = float(self.weight @ entropy)
        gap = max(self.value(best) - dual, 0.0)
        radius = np.sqrt((self.widths[s] * self.sd[t]) ** 2 + (self.widths[t] * self.sd[s]) ** 2)
        proved = np.zeros((network.n_features,) * 2, dtype=bool)
        proved[s, t] = c * norms + np.sqrt(gap / 2.0) * radius < limits
        value = self.value(given)
        return CategoryCertificate(value, self._residual(np.exp(given)), max(value - dual, 0.0), proved | proved.T)

    def _residual(self, P: FloatArray) -> float:
        """Return the largest violation of the optimality conditions."""
        worst = float(np.abs((P - self.observed) @ self.weight).max())
        blocks = dict(zip(map(tuple, self.network.edge_index.tolist()), self.network.blocks, strict=True))
        for pair, slope in self.pair_gradients(P).items():
            if pair in blocks:
                violation = np.linalg.norm(slope + self.limits[pair] * blocks[pair] / np.linalg.norm(blocks[pair]))
            else:
                violation = np.linalg.norm(slope) - self.limits[pair]
            worst = max(worst, float(violation) / float(self.widths[list(pair)].prod()))
        return worst
