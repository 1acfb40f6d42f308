"""The objective of a table with columns of any kind, and what a network proves about its minimum."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from isinglass._core import free_ridge
from isinglass.arrays import FloatArray, Mask
from isinglass.data import Table, category_counts, column_sd
from isinglass.data.counts import varying_among
from isinglass.errors import DataError
from isinglass.network import Network, coordinate_matrix
from isinglass.penalties import Penalty, check_alpha, check_network, condition_on_covariates, penalty_matrix

_STEPS = 100
_STATIONARY = 1e-14


class Objective:
    """F of a table: its value at a network, its optimality conditions and its duality gap; see `objective.of`.

    A ``network`` is any network of the columns of the table. A dual point is π = (1 − c) e_x + c P for the
    probabilities P at stationary fields, which Newton's method gives to rounding; gaps are true up to rounding only,
    unless all columns have two values. Where a pair has no penalty, all have a ridge (docs/math.md). A covariate has no
    loss.

    Examples
    --------
    >>> from isinglass import as_table, ising_path, objective
    >>> table = as_table([[0, 0], [1, 2], [2, 2], [2, 1], [0, 1]], kinds="ordinal")
    >>> problem, solution = objective.of(table), ising_path(table, [0.2])[0]
    >>> abs(problem.value(solution.network, 0.2) - solution.objective) < 1e-12
    True
    >>> problem.duality_gap(solution.network, 0.2) < 1e-6
    True
    """

    def __init__(self, table: Table, penalty_weights: Penalty) -> None:
        self.variables, self.codes = table.variables, table.codes
        self.weight = table.unit_weight / table.unit_weight.sum()
        self.counts = category_counts(table)
        self.sd, self.ranges = column_sd(table), self.variables.ranges
        self.penalty = penalty_matrix(self.sd, penalty_weights, self.ranges)
        if self.variables.has_covariates:
            self.penalty = condition_on_covariates(self.penalty, self.variables)
        constant = ~varying_among(self.counts, self.variables)
        self.penalty[constant] = self.penalty[:, constant] = np.inf
        apart = ~np.eye(len(self.penalty), dtype=bool)
        self.has_free = bool((self.penalty[apart] == 0.0).any())
        has_ridge = apart & np.isfinite(self.penalty) & self.has_free
        self.ridge = np.where(has_ridge, free_ridge * np.outer(self.ranges, self.ranges) ** 2, 0.0)
        self.owner = np.repeat(np.arange(self.variables.n_features), self.variables.widths)
        self.seen = self.variables.flat(self.codes)
        self.observed = np.zeros((len(self.counts), len(self.codes)))
        np.put_along_axis(self.observed, self.seen, 1.0, axis=0)

    def value(self, network: Network, alpha: float = 0.0) -> float:
        """Return F; with ``alpha=0`` the mean negative log pseudo-likelihood per row."""
        return self._value(self._logs(network), network, self._limits(alpha))

    def gradient(self, network: Network) -> tuple[FloatArray, FloatArray]:
        """Return the derivatives of F without its penalty: by the couplings, a symmetric matrix, and by the fields.

        Rows of the matrix are the coordinates of the variables: one for a column with scores, else one per category.
        """
        edge, node = self._gradient(np.exp(self._logs(network)))
        return edge, node[self.variables.is_later]

    def kkt_residual(self, network: Network, alpha: float) -> float:
        """Return the largest violation of the optimality conditions over all fields and pairs (docs/math.md).

        Scores count as if they had a range of 1.
        """
        limits, slopes, node = self._limits(alpha), *self._slopes(np.exp(self._logs(network)))
        blocks = coordinate_matrix(self.variables, network.pairs, network.pair_parameters).toarray()
        norms = self._norms(blocks)
        with np.errstate(divide="ignore", invalid="ignore"):
            pull = np.where(norms > 0.0, limits / norms, 0.0)[np.ix_(self.owner, self.owner)]
        pull += self.ridge[np.ix_(self.owner, self.owner)] * self._scale()
        pull[blocks == 0.0] = 0.0  # no inf · 0 outside the edges
        violations = self._norms(slopes + pull * blocks)
        violations[norms == 0.0] = np.maximum(violations - limits, 0.0)[norms == 0.0]
        scaled = violations / np.outer(self.ranges, self.ranges)
        return float(np.r_[np.abs(node), scaled[np.triu_indices(len(scaled), 1)]].max(initial=0.0))

    def duality_gap(self, network: Network, alpha: float) -> float:
        """Return an upper bound of F − min F from a feasible point of the dual (docs/math.md)."""
        return max(self.value(network, alpha) - self._dual(network, alpha)[0], 0.0)

    def relative_gap(self, network: Network, alpha: float) -> float:
        """Return the duality gap divided by max(F without penalized edges, 1e-12)."""
        return self.duality_gap(network, alpha) / max(self.value(self.null_model()), 1e-12)

    def certified_zeros(self, network: Network, alpha: float) -> Mask:
        """Return the symmetric matrix of penalized pairs proved to be zero in *every* optimum.

        Forbidden pairs are False: they are zero by definition, and nothing is proved about them.
        """
        (dual, best, moments), limits = self._dual(network, alpha), self._limits(alpha)
        spread = np.multiply.outer(self.ranges, self.sd) ** 2
        reach = moments + np.sqrt(max(self._value(best, network, limits) - dual, 0.0) / 2.0 * (spread + spread.T))
        return np.asarray((reach < limits) & np.isfinite(self.penalty) & ~np.eye(len(limits), dtype=bool))

    def alpha_max(self) -> float:
        """Return the smallest alpha at which every penalized coupling is zero; 0 if nothing is penalized."""
        norms = self._norms(self._slopes(np.exp(self._logs(self.null_model())))[0])
        penalized = (self.penalty > 0.0) & np.isfinite(self.penalty)
        return float((norms[penalized] / self.penalty[penalized]).max(initial=0.0))

    def null_model(self) -> Network:
        """Return the optimum without edges; a category that does not occur has the field of half a row."""
        if self.has_free:
            raise DataError(
                "every pair must be penalized here; some have no penalty. Use ising_path with a number of "
                "alphas: its first network has no penalized edges, and its first alpha is alpha_max."
            )
        logs = np.log(np.maximum(self.counts, 0.5))
        fields = (logs - logs[self.variables.starts][self.variables.column])[self.variables.is_later]
        return Network(fields, [], [], variables=self.variables)

    def profile(self, network: Network) -> Network:
        """Return the network with its fields at their optimum given the couplings, which stay."""
        fields = self._profile(network)
        fields -= fields[self.variables.starts][self.variables.column]
        later = fields[self.variables.is_later]
        return Network(later, network.pairs, variables=self.variables, parameters=network.pair_parameters)

    def _limits(self, alpha: float) -> FloatArray:
        """Return α ω of every pair; infinite where it is forbidden."""
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(self.penalty), np.inf, check_alpha(alpha) * self.penalty)

    def _logs(self, network: Network, fields: FloatArray | None = None) -> FloatArray:
        """Return log P of every category, row by row, at other fields if given; −inf for those that do not occur."""
        check_network(network, self.variables)
        logits = network.logits(self.codes)
        if fields is not None:
            logits += (fields - network.category_fields)[:, None]
        logits[self.counts == 0.0] = -np.inf
        return self.variables.condition(self.variables.log_softmax(logits), self.codes)

    def _value(self, logs: FloatArray, network: Network, limits: FloatArray) -> float:
        chosen = np.take_along_axis(logs, self.seen, axis=0)
        (s, t), values = network.pairs.T, network.pair_values
        penalty = limits[s, t] @ np.abs(values) + self.ridge[s, t] @ values**2 / 2.0
        return float(-(chosen @ self.weight).sum() + penalty)

    def _gradient(self, P: FloatArray) -> tuple[FloatArray, FloatArray]:
        residual = P - self.observed
        coordinates = self.variables.place(self.seen)
        moved = np.zeros_like(coordinates)
        np.add.at(moved, self.variables.coordinate, self.variables.factor[:, None] * residual)
        cross = (moved * self.weight) @ coordinates.T
        edge = cross + cross.T
        edge[self.owner[:, None] == self.owner] = 0.0
        return edge, residual @ self.weight

    def _slopes(self, P: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the gradient with blocks whose norm is that of Θ's: centered over the categories of nominal sides."""
        edge, node = self._gradient(P)
        nominal = ~self.variables.has_scores[self.owner]
        share = (self.owner[:, None] == self.owner) & nominal
        center = np.eye(len(edge)) - share / self.variables.widths[self.owner]
        return center @ edge @ center / self._scale(), node

    def _scale(self) -> FloatArray:
        """Return the norm of Θ over that of B of every pair of coordinates."""
        nominal = ~self.variables.has_scores[self.owner]
        return np.asarray(np.sqrt(2.0) ** np.add.outer(nominal, nominal, dtype=int))

    def _norms(self, matrix: FloatArray) -> FloatArray:
        """Return the norm of the block of every pair."""
        first = self.variables.first
        return np.sqrt(np.add.reduceat(np.add.reduceat(matrix**2, first, axis=0), first, axis=1))

    def _profile(self, network: Network) -> FloatArray:
        """Return the fields of all categories at their optimum: Newton's method, column by column."""
        fields = network.category_fields.copy()
        bounds = [*self.variables.starts.tolist(), len(fields)]
        for _ in range(_STEPS):
            P = np.exp(self._logs(network, fields))
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

    def _dual(self, network: Network, alpha: float) -> tuple[float, FloatArray, FloatArray]:
        """Return the dual objective at a feasible point, log P at stationary fields, and the norms of its moments."""
        limits, best = self._limits(alpha), self._logs(network, self._profile(network))
        P = np.exp(best)
        norms = self._norms(self._slopes(P)[0])
        shares = (limits / np.maximum(norms, 1e-300))[norms > 0.0]
        c = 1.0 if self.has_free else float(min(1.0, shares.min(initial=1.0)))
        mixed = c * P + (1.0 - c) * self.observed
        entropy = -np.where(mixed > 0.0, mixed * np.log(np.where(mixed > 0.0, mixed, 1.0)), 0.0).sum(axis=0)
        has_ridge = self.ridge > 0.0
        ridges = np.maximum(norms - limits, 0.0)[has_ridge] ** 2 / self.ridge[has_ridge]  # every pair twice
        return float(self.weight @ entropy - ridges.sum() / 4.0), best, c * norms
