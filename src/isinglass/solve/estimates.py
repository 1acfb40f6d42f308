"""The two estimates of every pair by the regressions of its nodes, and the rules that make one of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass.arrays import FloatArray, Frozen
from isinglass.errors import ArgumentError
from isinglass.variables import Variables

RULES = ("and", "or", "mean")


def check_rule(rule: str) -> None:
    """Refuse an unknown rule by which two regressions decide on an edge."""
    if rule not in RULES:
        raise ArgumentError("rule", f"must be one of {', '.join(RULES)}", rule)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Estimates(Frozen):
    """The coefficients of regressions that are not zero: node after node, and alpha after alpha within a node."""

    variables: Variables  #: the nodes
    counts: NDArray[np.int32]  #: number of coefficients by alpha and node
    column: NDArray[np.int32]  #: predictor of each
    parameters: FloatArray  #: B of each, one after the other, with a row for each category of the lower column

    @cached_property
    def _owners(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        owner = np.repeat(np.arange(self.counts.size), self.counts.T.ravel())
        node, alpha = np.divmod(owner, len(self.counts))
        return alpha, node

    @property
    def alpha(self) -> NDArray[np.int64]:
        """The number of the alpha of every coefficient."""
        return self._owners[0]

    @property
    def node(self) -> NDArray[np.int64]:
        """The column that every coefficient is a regression of."""
        return self._owners[1]

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

    def take(self, choice: NDArray[np.intp]) -> Estimates:
        """Return those at one alpha number for each node, as a list of length one."""
        wanted = self.alpha == choice[self.node]
        parameters = self.parameters[np.repeat(wanted, self.variables.block_sizes(self.pairs))]
        counts = self.counts[choice, np.arange(len(choice))][None]
        return replace(self, counts=counts, column=self.column[wanted], parameters=parameters)

    def matrix(self, k: int) -> sp.csr_array:
        """Return row s = the coefficients of node s's regression at alpha number k."""
        p = self.variables.n_features
        some = self.take(np.full(p, k))
        indptr = np.r_[0, np.cumsum(some.counts[0])]
        # Copies: scipy may sort or convert in place, and a frozen record shares its arrays.
        return sp.csr_array((some.values, some.column, indptr), shape=(p, p), copy=True)

    def merge(self, rule: str) -> tuple[NDArray[np.int64], NDArray[np.int32], FloatArray]:
        """Return alpha number, pair s < t and B of the edges that a rule makes of the estimates, sorted.

        The rules are explained in `nodewise_path`.
        """
        check_rule(rule)
        estimates, entries = np.column_stack([self.alpha, self.pairs]), self.parameters
        sizes = self.variables.block_sizes(self.pairs)
        if self.variables.has_covariates:  # has no regression of its own: its one estimate stands for both
            once = ~self.variables.is_modeled[self.column]
            entries = np.r_[entries, entries[np.repeat(once, sizes)]]
            estimates, sizes = np.r_[estimates, estimates[once]], np.r_[sizes, sizes[once]]
        p = self.variables.n_features
        keys = (estimates[:, 0] * p + estimates[:, 1]) * p + estimates[:, 2]
        edges, first, edge, n_estimates = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        edge_sizes = sizes[first]
        starts = np.cumsum(edge_sizes) - edge_sizes
        within = np.arange(len(entries)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        sums = np.bincount(np.repeat(starts[edge], sizes) + within, entries, int(edge_sizes.sum()))
        factor = {"and": n_estimates // 2 / 2.0, "or": 1.0 / n_estimates, "mean": np.full(len(edges), 0.5)}[rule]
        merged = np.asarray(np.repeat(factor, edge_sizes) * sums, dtype=np.float64)
        kept = np.bincount(np.repeat(np.arange(len(edges)), edge_sizes), merged != 0.0, len(edges)) > 0
        alpha, s, t = estimates[first[kept]].T
        return alpha, np.column_stack([s, t]).astype(np.int32), merged[np.repeat(kept, edge_sizes)]
