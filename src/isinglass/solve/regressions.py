"""The regressions of all nodes as records, the choice among them, and the networks that a rule makes of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass.arguments import check_not_negative, check_word
from isinglass.arrays import FloatArray, Frozen, count_within
from isinglass.network import Network
from isinglass.pairs import block_coordinates, pairs_of
from isinglass.results import Solution
from isinglass.variables import Variables

RULES = ("and", "or", "mean")
# Matrices of NodeFits, and their entries for columns without regression and beyond the end of a list.
MATRICES = {"losses": np.nan, "objectives": np.nan, "kkt_residuals": np.nan, "duality_gaps": np.nan}
MATRICES |= {"n_iter": 0, "n_working": 0}


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

    def coordinate_matrix(self) -> sp.csr_array:
        """Return B of every node (rows) and predictor (columns), by their coordinates."""
        ends = block_coordinates(self.variables, self.pairs)
        is_turned = np.repeat(self.node > self.column, self.variables.block_sizes(self.pairs))
        ends = np.where(is_turned, ends[::-1], ends)
        return sp.csr_array((self.parameters, tuple(ends)), shape=(self.variables.n_coordinates,) * 2)

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
        matrices = {name: getattr(self, name)[numbers, nodes][None] for name in ("alphas", *MATRICES)}
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
