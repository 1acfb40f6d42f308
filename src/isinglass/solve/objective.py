"""The objective of a table at any network, also one from another program: value, gradient, optimality and gap.

With row weights w normalized to sum to one and penalty weights ω,

    F = Σ_n w_n Σ_s −log P(x_ns | the rest of the row)  +  α Σ_{s<t} ω_st ‖Θ_st‖        (docs/math.md)

A pair is *forbidden* if ω = inf or one of its columns is constant. F is extended-valued: a non-zero forbidden coupling
makes the value, the KKT residual and the gap infinite.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from isinglass._core import free_ridge
from isinglass.arguments import check_not_negative
from isinglass.arrays import FloatArray, Mask
from isinglass.conditionals import log_probabilities, logits
from isinglass.data import as_table, category_counts, column_sd
from isinglass.data.counts import varying_among
from isinglass.errors import ConstantColumnWarning, suppress_warnings
from isinglass.matching import require_same, require_same_names
from isinglass.network import Network
from isinglass.pairs import coordinate_matrix
from isinglass.penalties import Penalty, condition_on_covariates, penalty_matrix
from isinglass.results import NetworkLike, Solution, as_network
from isinglass.solve.path import alpha_max, ising_path


class Objective:
    """F of a table: its value at any network, its optimality conditions and its duality gap.

    A ``network`` is any network of the columns of the table, or what has one: a solution, a fit or a matrix. Where a
    pair with categories has no penalty, all have a ridge (docs/math.md). A covariate has no loss.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        A 0/1 or categorical table, or anything `as_table` accepts.
    sample_weight : array-like of shape (n_samples,), optional
        One weight per row.
    penalty_weights : None, "standardized" or symmetric matrix, default None
        ω in [0, inf], as for `isinglass.ising_path`.

    Examples
    --------
    >>> problem = Objective([[0, 0], [1, 1]])
    >>> round(problem.alpha_max(), 12)  # 2 |cov| = 2 · 1/4
    0.5
    >>> empty = Network([0.0, 0.0], [], [])
    >>> round(problem.value(empty), 6)  # 2 log 2
    1.386294
    >>> round(problem.kkt_residual(empty, 0.4), 12)  # |g| = 0.5 at zero
    0.1
    >>> problem.certified_zeros(0.6).tolist()
    [[False, True], [True, False]]
    """

    def __init__(
        self, X: ArrayLike, sample_weight: ArrayLike | None = None, *, penalty_weights: Penalty = None
    ) -> None:
        table = as_table(X, sample_weight).whole().without_holes()
        used = table.weighted_rows  # a value of a row of weight zero may have probability 0
        table = table if len(used) == len(table) else table[used]
        self.table, self.penalty_weights, self.variables = table, penalty_weights, table.variables
        self.weight = table.unit_weight / table.unit_weight.sum()
        self.counts = category_counts(table)
        self.sd, self.ranges = column_sd(table), self.variables.ranges
        self.penalty = penalty_matrix(self.sd, penalty_weights, self.ranges)
        if self.variables.has_covariates:
            self.penalty = condition_on_covariates(self.penalty, self.variables)
        constant = ~varying_among(self.counts, self.variables)
        self.penalty[constant] = self.penalty[:, constant] = np.inf
        apart = ~np.eye(len(self.penalty), dtype=bool)
        has_free = not self.variables.is_binary and bool((self.penalty[apart] == 0.0).any())
        has_ridge = apart & np.isfinite(self.penalty) & has_free
        self.ridge = np.where(has_ridge, free_ridge * np.outer(self.ranges, self.ranges) ** 2, 0.0)
        self.owner = np.repeat(np.arange(self.variables.n_features), self.variables.widths)
        self.seen = self.variables.flat(table.codes)

    def value(self, network: NetworkLike, alpha: float = 0.0) -> float:
        """Return F; with ``alpha=0`` the mean negative log pseudo-likelihood per row."""
        network = as_network(network)
        chosen = np.take_along_axis(self._logs(network), self.seen, axis=0)
        (s, t), values = network.pairs.T, network.pair_values
        penalty = self._limits(alpha)[s, t] @ np.abs(values) + self.ridge[s, t] @ values**2 / 2.0
        return float(-(chosen @ self.weight).sum() + penalty)

    def gradient(self, network: NetworkLike) -> tuple[FloatArray, FloatArray]:
        """Return the derivatives of F without its penalty, by couplings (a symmetric matrix) and by fields.

        Rows of the matrix are the coordinates of the variables: one for a column with scores, else one per category.
        """
        residual = np.exp(self._logs(as_network(network)))
        np.put_along_axis(residual, self.seen, np.take_along_axis(residual, self.seen, axis=0) - 1.0, axis=0)
        coordinates = self.variables.place(self.seen)
        moved = np.zeros_like(coordinates)
        np.add.at(moved, self.variables.coordinate, self.variables.factor[:, None] * residual)
        cross = (moved * self.weight) @ coordinates.T
        edge = cross + cross.T
        edge[self.owner[:, None] == self.owner] = 0.0
        return edge, (residual @ self.weight)[self.variables.is_later]

    def edge_slopes(self, network: NetworkLike) -> FloatArray:
        """Return the norm of the gradient without penalty at every edge; at an optimum, it is α ω."""
        network = as_network(network)
        return np.asarray(self._norms(self._slopes(network)[0])[tuple(network.edge_index.T)])

    def kkt_residual(self, network: NetworkLike, alpha: float) -> float:
        """Return the largest violation of the optimality conditions over all fields and pairs (docs/math.md).

        Scores count as if they had a range of 1.
        """
        network = as_network(network)
        limits, (slopes, node) = self._limits(alpha), self._slopes(network)
        blocks = coordinate_matrix(self.variables, network.pairs, network.pair_parameters).toarray()
        norms = self._norms(blocks)
        with np.errstate(divide="ignore", invalid="ignore"):
            pull = np.where(norms > 0.0, limits / norms, 0.0)[np.ix_(self.owner, self.owner)]
        pull += self.ridge[np.ix_(self.owner, self.owner)] * self._scale()
        pull[blocks == 0.0] = 0.0  # no inf · 0 outside the edges
        violations = self._norms(slopes + pull * blocks)
        absent = norms == 0.0
        violations[absent] = np.maximum(violations[absent] - limits[absent], 0.0)
        scaled = violations / np.outer(self.ranges, self.ranges)
        return float(np.r_[np.abs(node), scaled[np.triu_indices(len(scaled), 1)]].max(initial=0.0))

    def optimum(self, alpha: float, start: NetworkLike | None = None) -> Solution:
        """Return the solution of `ising_path` at one penalty, with its certificate."""
        near = None if start is None else Solution(as_network(start), alpha)
        with suppress_warnings(ConstantColumnWarning):
            return ising_path(self.table, [alpha], penalty_weights=self.penalty_weights, start=near)[0]

    def duality_gap(self, network: NetworkLike, alpha: float) -> float:
        """Return an upper bound of F − min F: F less the lower bound that the certificate of the optimum proves."""
        value = self.value(network, alpha)
        if not np.isfinite(value):
            return value
        best = self.optimum(alpha, network)
        return max(value - best.objective, 0.0) + best.duality_gap

    def relative_gap(self, network: NetworkLike, alpha: float) -> float:
        """Return the duality gap divided by max(F without penalized edges, 1e-12)."""
        return self.duality_gap(network, alpha) / max(self.value(self.null_model()), 1e-12)

    def certified_zeros(self, alpha: float) -> Mask:
        """Return the symmetric matrix of penalized pairs proved to be zero in *every* optimum.

        Forbidden pairs are False: they are zero by definition, and nothing is proved about them. The gradient counts in
        full, not times the scale c of the certificate (docs/math.md), so that a solution's ``certified_zeros`` may be
        larger.
        """
        best, limits = self.optimum(alpha), self._limits(alpha)
        spread = np.multiply.outer(self.ranges, self.sd) ** 2
        reach = self._norms(self._slopes(best.network)[0]) + np.sqrt(best.duality_gap / 2.0 * (spread + spread.T))
        return np.asarray((reach < limits) & np.isfinite(self.penalty) & ~np.eye(len(limits), dtype=bool))

    def alpha_max(self) -> float:
        """Return the smallest alpha at which every penalized coupling is zero; 0 if nothing is penalized."""
        return alpha_max(self.table, penalty_weights=self.penalty_weights)

    def null_model(self) -> Network:
        """Return the optimum without penalized edges."""
        with suppress_warnings(ConstantColumnWarning):
            return ising_path(self.table, 1, penalty_weights=self.penalty_weights)[0].network

    def __repr__(self) -> str:
        return "Objective({} rows, {} columns)".format(*self.table.shape)

    def _limits(self, alpha: float) -> FloatArray:
        """Return α ω of every pair; infinite where it is forbidden."""
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(self.penalty), np.inf, check_not_negative("alpha", alpha) * self.penalty)

    def _logs(self, network: Network) -> FloatArray:
        """Return log P of every category, row by row; −inf for those that do not occur."""
        require_same_names(self.variables, network.variables)
        require_same(self.variables, network.variables)
        each = logits(network, self.table.codes)
        each[self.counts == 0.0] = -np.inf
        return log_probabilities(self.variables, each, self.table.codes)

    def _slopes(self, network: Network) -> tuple[FloatArray, FloatArray]:
        """Return the gradient with blocks whose norm is that of Θ's: centered over the categories of nominal sides."""
        edge, node = self.gradient(network)
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
