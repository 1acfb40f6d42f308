"""One regression per node, and the networks that are made of them.

Columns of two values have logistic regressions, columns with categories multinomial ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Self, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass._core import NodePaths, Nodewise
from isinglass.arguments import check_not_negative, check_word
from isinglass.arrays import FloatArray, Frozen, Mask, count_within
from isinglass.data import Table
from isinglass.data.counts import dimensions_of, sd_of
from isinglass.errors import SeparationError, setting
from isinglass.machine.threads import thread_count
from isinglass.network import Network
from isinglass.pairs import block_coordinates, pairs_of
from isinglass.penalties import refuse_vanishing
from isinglass.results import Solution
from isinglass.separation import SUSPICIOUS_ETA, separating_direction
from isinglass.solve.following import MAX_STEPS, TOLERANCE, strictness_among
from isinglass.solve.reduction import Reduction, refuse_free
from isinglass.variables import Variables

RULES = ("and", "or", "mean")
Number = TypeVar("Number", bound=np.generic)
# Matrices of NodeFits, and their entries for columns without regression and beyond the end of a list.
_FOUND = {"losses": np.nan, "objectives": np.nan, "kkt_residuals": np.nan, "duality_gaps": np.nan}
_FOUND |= {"n_iter": 0, "n_working": 0}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Estimates(Frozen):
    """The coefficients of regressions that are not zero: node after node, and alpha after alpha within a node."""

    variables: Variables  #: the nodes
    alpha: NDArray[np.int64]  #: number of the alpha of each
    node: NDArray[np.int64]  #: column that each is a regression of
    column: NDArray[np.int32]  #: predictor of each
    parameters: FloatArray  #: B of each, one after the other, with a row for each category of the lower column

    @cached_property
    def pairs(self) -> NDArray[np.int64]:
        """The node and the predictor of every coefficient, the lower one first."""
        return np.sort(np.column_stack([self.node, self.column]), axis=1)

    @property
    def values(self) -> FloatArray:
        """Signed couplings of pairs with one parameter, norms of others."""
        return self.variables.block_values(self.pairs, self.parameters)

    @property
    def blocks(self) -> list[FloatArray]:
        """B of every coefficient."""
        return self.variables.split_blocks(self.pairs, self.parameters)

    def take(self, choice: int | NDArray[np.intp]) -> Estimates:
        """Return those at one alpha number, or at one for each node, as a list of length one."""
        wanted = self.alpha == np.broadcast_to(choice, self.variables.n_features)[self.node]
        parameters = self.parameters[np.repeat(wanted, self.variables.block_sizes(self.pairs))]
        chosen = {"node": self.node[wanted], "column": self.column[wanted], "parameters": parameters}
        return replace(self, alpha=np.zeros(int(wanted.sum()), dtype=np.int64), **chosen)

    def matrix(self, k: int) -> sp.csr_array:
        """Return row s = the coefficients of node s's regression at alpha number k."""
        some = self.take(k)
        return sp.csr_array((some.values, (some.node, some.column)), shape=(self.variables.n_features,) * 2)

    def couplings(self, k: int) -> sp.csr_array:
        """Return B of every node (rows) and predictor (columns) at one alpha number, by their coordinates."""
        some = self.take(k)
        ends = block_coordinates(self.variables, some.pairs)
        is_turned = np.repeat(some.node > some.column, self.variables.block_sizes(some.pairs))
        ends = np.where(is_turned, ends[::-1], ends)
        return sp.csr_array((some.parameters, tuple(ends)), shape=(self.variables.n_coordinates,) * 2)

    def merge(self, rule: str) -> tuple[NDArray[np.int64], NDArray[np.int32], FloatArray]:
        """Return alpha number, pair s < t and B of the edges that a rule makes of the estimates, sorted.

        The rules are explained in `nodewise_path`.
        """
        check_word("rule", rule, RULES)
        variables, p = self.variables, self.variables.n_features
        keys = (self.alpha * p + self.pairs[:, 0]) * p + self.pairs[:, 1]
        edges, edge = np.unique(keys, return_inverse=True)
        # A covariate has no regression of its own: its one estimate stands for both.
        weight = np.where(variables.is_modeled[self.column], 1.0, 2.0)
        n_estimates = np.bincount(edge, weight, len(edges))
        factor = {"and": (n_estimates == 2) / 2.0, "or": 1.0 / n_estimates, "mean": np.full(len(edges), 0.5)}[rule]
        alpha, key = np.divmod(edges, p * p)
        pairs = pairs_of(key, p)
        starts = np.cumsum(edge_sizes := variables.block_sizes(pairs)) - edge_sizes
        sizes = variables.block_sizes(self.pairs)
        terms = np.repeat(weight, sizes) * self.parameters
        sums = np.bincount(np.repeat(starts[edge], sizes) + count_within(sizes), terms, int(edge_sizes.sum()))
        merged = np.asarray(np.repeat(factor, edge_sizes) * sums, dtype=np.float64)
        kept = np.bincount(np.repeat(np.arange(len(edges)), edge_sizes), merged != 0.0, len(edges)) > 0
        return alpha[kept], pairs[kept], merged[np.repeat(kept, edge_sizes)]


@dataclass(frozen=True, eq=False, repr=False)
class NodeFits(Frozen):
    """One penalized regression per node and alpha: what a node-wise network is made of.

    Matrices have one row per alpha and one column per node. NaN (or no coefficient) stands for constant columns and
    for alphas at which a node's list had already ended.
    """

    alphas: FloatArray  #: penalty of each fit; a node may have a list of its own
    #: intercepts, of every category but the first of its node; for a constant column its smoothed log odds
    fields: FloatArray
    losses: FloatArray  #: mean negative log-likelihood of each node, without and with the penalty
    objectives: FloatArray
    kkt_residuals: FloatArray  #: certificate of each fit, over all other columns
    duality_gaps: FloatArray
    n_iter: NDArray[np.int32]  #: newton steps, and predictors that were looked at
    n_working: NDArray[np.int32]
    estimates: Estimates  #: coefficients that are not zero
    null_losses: FloatArray  #: losses of the nodes without predictors: what the duality gap is relative to
    n_rows: float  #: number of rows: the sum of the weights
    dimensions: NDArray[np.intp]  #: m of every node

    def take(self, choice: int | NDArray[np.intp]) -> Self:
        """Return the fits at one alpha number, or at one for each node, as a list of length one."""
        variables = self.estimates.variables
        nodes = np.arange(variables.n_features)
        numbers = np.broadcast_to(choice, len(nodes))
        matrices = {name: getattr(self, name)[numbers, nodes][None] for name in ("alphas", *_FOUND)}
        node_of = variables.column[variables.is_later]
        fields = self.fields[numbers[node_of], np.arange(len(node_of))][None]
        return replace(self, **matrices, fields=fields, estimates=self.estimates.take(numbers))

    def choose_ebic(self, gamma: float) -> NDArray[np.intp]:
        """Return for every node the alpha number with the smallest −2ℓ + J log N + 2γ J log(p−1).

        With categories, a neighbor counts for m_s · m_t parameters before log N, and once before γ.
        """
        check_not_negative("gamma", gamma)
        estimates, shape = self.estimates, self.losses.shape
        others = max(int(np.isfinite(self.losses[0]).sum()) - 1, 1)  # constant columns are no predictors
        place = estimates.alpha * shape[1] + estimates.node
        parameters = self.dimensions[estimates.node] * self.dimensions[estimates.column]
        n_parameters, n_neighbors = (np.bincount(place, each, self.losses.size) for each in (parameters, None))
        prices = np.log(self.n_rows) * n_parameters + 2.0 * gamma * np.log(others) * n_neighbors
        criterion = 2.0 * self.n_rows * self.losses + prices.reshape(shape)
        return np.asarray(np.where(np.isnan(criterion), np.inf, criterion).argmin(axis=0))

    def solutions(self, rule: str, tol: float) -> list[Solution]:
        """Return the network at every alpha of a list that all nodes share."""
        n_features = self.losses.shape[1]
        varying = np.isfinite(self.losses)
        kkt, gap = (np.where(varying, m, 0.0) for m in (self.kkt_residuals, self.duality_gaps))
        open_gap = ~(gap <= tol * np.maximum(self.null_losses, 1e-12))
        failed = np.asarray((open_gap | (kkt > tol)).any(axis=1))
        objective = np.where(varying, self.objectives, 0.0).sum(axis=1)
        n_screened = n_features * (n_features - 1) - self.n_working.sum(axis=1)
        return [
            Solution(
                network,
                alpha=float(self.alphas[k, 0]),
                objective=float(objective[k]),
                kkt_residual=float(kkt[k].max(initial=0.0)),
                duality_gap=float(gap[k].sum()),
                n_iter=int(self.n_iter[k].max(initial=0)),
                n_screened=int(n_screened[k]),
                converged=not failed[k],
            )
            for k, network in enumerate(self._networks(rule))
        ]

    def _networks(self, rule: str) -> list[Network]:
        """Return what a rule makes of the two estimates of every pair, for every alpha."""
        variables = self.estimates.variables
        alpha, edges, parameters = self.estimates.merge(rule)
        ends = np.concatenate([[0], np.cumsum(variables.block_sizes(edges))])
        bounds = np.searchsorted(alpha, np.arange(len(self.losses) + 1))
        return [
            Network.trusted(variables, self.fields[k], edges[a:b], parameters[ends[a] : ends[b]])
            for k, (a, b) in enumerate(pairwise(bounds.tolist()))
        ]


@dataclass(frozen=True)
class NodewiseProblem:
    """The compiled regressions on the columns of a table that vary, and the way back.

    With categories, the solver's scores have a range of 1. A penalty α‖Θ_st‖ then is α/(D_s D) · D/D_t · ‖Θ‖ with D the
    largest range, and with standardized columns, α D_s sd_t ‖Θ_st‖, it is α · sd_t/D_t · ‖Θ‖.
    """

    compiled: Nodewise
    reduction: Reduction
    omega: FloatArray  # penalty weight of each column that varies
    units: FloatArray  # of all columns: what alpha is divided by
    null_losses: FloatArray  # 0 for constant columns

    @classmethod
    def of(cls, table: Table, standardize: bool, n_threads: int | None) -> NodewiseProblem:
        """Compile the columns that vary."""
        reduction = Reduction.of(table)
        compile_rows = cls._of_two_values if reduction.variables.is_binary else cls._of_categories
        return compile_rows(reduction, standardize, thread_count(n_threads))

    @classmethod
    def _of_two_values(cls, reduction: Reduction, standardize: bool, n_threads: int) -> NodewiseProblem:
        rows, columns, n_rows = reduction.table.whole(), reduction.columns, reduction.n_rows
        codes, weight = rows.codes, rows.sample_weight
        ones = reduction.counts[1::2][columns]
        zeros = n_rows - ones if weight is None else weight @ (1 - codes)  # not a difference of rounded sums
        share, rest = ones / n_rows, zeros / n_rows
        null_losses = np.zeros(reduction.n_features)
        null_losses[columns] = -share * np.log(share) - rest * np.log(rest)
        omega = np.sqrt(share * rest) if standardize else np.ones(len(columns))
        return cls(Nodewise(codes, weight, n_threads), reduction, omega, np.ones(len(null_losses)), null_losses)

    @classmethod
    def _of_categories(cls, reduction: Reduction, standardize: bool, n_threads: int) -> NodewiseProblem:
        rows, columns, variables = reduction.table.whole(), reduction.columns, reduction.variables
        cells, steps = reduction.units.cells(rows.codes)
        logs = np.log(np.where(reduction.counts > 0, reduction.units.shares, 1.0))
        null_losses = -np.add.reduceat(reduction.units.shares * logs, variables.starts)
        null_losses[~variables.is_modeled] = 0.0
        ranges = variables.ranges[columns]
        widest = ranges.max(initial=0.0)  # iterations do not depend on the units of scores
        omega = sd_of(reduction.counts, variables)[columns] / ranges if standardize else widest / ranges
        omega[~variables.is_modeled[columns]] = 0.0
        units = np.ones(reduction.n_features) if standardize else variables.ranges * widest
        compiled = Nodewise(cells, rows.sample_weight, n_threads, steps, ranges, reduction.modeled)
        return cls(compiled, reduction, omega, units, null_losses)

    @property
    def n_features(self) -> int:
        """Number of columns, constant ones included."""
        return self.reduction.n_features

    @property
    def solved(self) -> NDArray[np.intp]:
        """Where the columns with a regression are in the table: they vary and are no covariates."""
        return self.reduction.columns[self.reduction.variables.is_modeled[self.reduction.columns]]

    @property
    def alphas_at_zero(self) -> FloatArray:
        """The alpha of one row, for nodes whose alpha_max is 0."""
        return self.units * self.reduction.alpha_of_one_row

    def alpha_max(self) -> FloatArray:
        """Return every column's smallest alpha without penalized coefficients; 0 for a covariate, NaN if constant."""
        found = np.full(self.n_features, np.nan)
        found[self.reduction.columns] = self.compiled.alpha_max(self.omega, TOLERANCE, MAX_STEPS)
        return found * self.units

    def solve(self, alphas: FloatArray, tol: float, max_iter: int, *, stops_early: bool) -> NodeFits:
        """Run the regressions, one row of alphas per column of the whole table."""
        nodes = np.searchsorted(self.reduction.columns, self.solved).astype(np.int32)
        grids = alphas[self.solved] / self.units[self.solved, None]
        if not self.reduction.variables.is_binary:
            lowest = np.nanmin(grids, initial=np.inf)
            if lowest == 0.0:
                raise refuse_free()
            refuse_vanishing(float(lowest), self.omega)
        strictness = strictness_among(len(nodes))
        paths = self.compiled.solve(nodes, grids, self.omega, tol, max_iter, strictness, stops_early)
        if self.reduction.variables.is_binary:
            self._refuse_separation(paths)
        return self._fits(paths, alphas)

    def _fits(self, paths: NodePaths, alphas: FloatArray) -> NodeFits:
        """Put the regressions of the varying columns back into the whole table."""
        known = {name: self._spread(getattr(paths, name), value) for name, value in _FOUND.items()}
        variables = self.reduction.variables
        node, alpha = np.divmod(np.repeat(np.arange(paths.counts.size), paths.counts.ravel()), alphas.shape[1])
        column = self.reduction.columns[paths.columns].astype(np.int32)
        estimates = Estimates(
            variables=variables, alpha=alpha, node=self.solved[node], column=column, parameters=paths.values
        )
        if variables.is_binary:
            fields = self._spread(paths.fields, np.nan)
            fields = np.where(np.isnan(fields).all(axis=0), self.reduction.constant_fields, fields)
        else:
            parameters = self.reduction.units.network_blocks(estimates.pairs, paths.values)
            estimates = replace(estimates, parameters=parameters)
            fields = self._category_fields(paths, np.isfinite(known["losses"]), estimates)
        return NodeFits(
            alphas=alphas.T,
            fields=fields,
            estimates=estimates,
            null_losses=self.null_losses,
            n_rows=self.reduction.n_rows,
            dimensions=dimensions_of(self.reduction.counts, variables),
            **known,
        )

    def _spread(self, matrix: NDArray[Number], missing: float) -> NDArray[Number]:
        """Return a matrix of the varying columns with one row per alpha and one column per column of the table."""
        whole: NDArray[Number] = np.full((matrix.shape[1], self.n_features), missing, dtype=matrix.dtype)
        whole[:, self.solved] = matrix.T
        return whole

    def _refuse_separation(self, paths: NodePaths) -> None:
        """Refuse regressions without a finite optimum; looked for only where there may be none."""
        suspicious = max(SUSPICIOUS_ETA - self.reduction.log_spread, 0.0)  # of penalized regressions the largest η is 0
        nodes = np.flatnonzero((paths.largest_etas > suspicious).any(axis=1)).tolist()
        patterns = np.unique(self.reduction.table.codes, axis=0).astype(np.float64) if nodes else np.empty((0, 0))
        for node in nodes:
            design = patterns.copy()
            design[:, node] = 1.0  # the intercept takes the node's own place
            direction = separating_direction((2.0 * patterns[:, [node]] - 1.0) * design)
            if direction is not None:
                direction[node] = 0.0
                pair = self.reduction.columns[[node, int(np.abs(direction).argmax())]].tolist()
                s, t = map(self.reduction.variables.called, pair)
                raise SeparationError(
                    f"the unpenalized regression of column {s} must have a finite optimum; the other columns separate "
                    f"its zeros from its ones, so the coefficient of column {t} grows without bound. "
                    f"Use {setting('alpha')} > 0."
                )

    def _category_fields(self, paths: NodePaths, is_solved: Mask, estimates: Estimates) -> FloatArray:
        """Return the fields, one row per alpha; the solver's come node after node, and a list may end early."""
        variables, units = self.reduction.variables, self.reduction.units
        owner = variables.column[units.solved]  # of the fields of the solver
        solved = np.where(variables.is_modeled[owner], np.full((len(is_solved), 1), np.nan), 0.0)
        first = 0
        for s in self.solved.tolist():
            places = np.ix_(is_solved[:, s], owner == s)
            last = first + solved[places].size
            solved[places] = paths.category_fields[first:last].reshape(solved[places].shape)
            first = last
        return np.array([units.network_fields(row, estimates.couplings(k)) for k, row in enumerate(solved)])
