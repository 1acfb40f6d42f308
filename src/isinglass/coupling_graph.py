"""The couplings of variables as a graph: edges with values and signs, and what every node has of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray, Mask, read_only
from isinglass.pairs import pair_keys, symmetric_matrix, values_at
from isinglass.text_tables import Columns
from isinglass.variables import Variables


class CouplingGraph:
    """The graph of a network: a pair of two modeled variables is an edge, one with a covariate is none."""

    variables: Variables
    pairs: NDArray[np.int32]  # all pairs with a coupling, s < t in lexicographic order
    pair_parameters: FloatArray  # their blocks, one after the other

    @property
    def n_features(self) -> int:
        """Number of variables, covariates included."""
        return self.variables.n_features

    @property
    def n_nodes(self) -> int:
        """Number of nodes, isolated ones included: the variables that are no covariates."""
        return int(np.count_nonzero(self.variables.is_modeled))

    @property
    def n_pairs(self) -> int:
        """Number of pairs of nodes."""
        return self.n_nodes * (self.n_nodes - 1) // 2

    @property
    def n_edges(self) -> int:
        """Number of non-zero couplings."""
        return len(self.edge_values)

    @cached_property
    def pair_values(self) -> FloatArray:
        """The signed coupling of every pair with one parameter, and the norm ‖Θ_st‖, which is penalized, of any other.

        ‖Θ_st‖ is 2‖B_st‖ for two nominal variables, and √2‖B_st‖ for one.
        """
        return read_only(self.variables.block_values(self.pairs, self.pair_parameters))

    @cached_property
    def is_edge(self) -> Mask:
        """Which of `pairs` are edges: those without a covariate."""
        return read_only(np.asarray(self.variables.is_modeled[self.pairs].all(axis=1)))

    @cached_property
    def edge_index(self) -> NDArray[np.int32]:
        """The pairs that are edges, s < t in lexicographic order, shape (n_edges, 2)."""
        return read_only(self.pairs[self.is_edge]) if self.variables.has_covariates else self.pairs

    @cached_property
    def edge_values(self) -> FloatArray:
        """The signed coupling of every edge, or the norm of its block where it has several parameters."""
        return read_only(self.pair_values[self.is_edge]) if self.variables.has_covariates else self.pair_values

    @cached_property
    def parameters(self) -> FloatArray:
        """The blocks of all edges, one after the other; `edge_values` where each is one number."""
        if not self.variables.has_covariates:
            return self.pair_parameters
        return read_only(self.pair_parameters[np.repeat(self.is_edge, self.variables.block_sizes(self.pairs))])

    @cached_property
    def blocks(self) -> list[FloatArray]:
        """B of every edge: a row or column per category of a nominal node, one of any other."""
        return self.variables.split_blocks(self.edge_index, self.parameters)

    @property
    def weights(self) -> FloatArray:
        """|θ_st| of the edges."""
        return np.abs(self.edge_values)

    @property
    def edge_signs(self) -> NDArray[np.int64]:
        """1 or -1 for every edge, 0 where it has several parameters, and so no sign."""
        return np.sign(self.edge_values).astype(np.int64) * self.variables.has_sign(self.edge_index)

    @cached_property
    def edge_keys(self) -> NDArray[np.int64]:
        """One number per edge, in increasing order; see `isinglass.pairs.pair_keys`."""
        return read_only(pair_keys(self.edge_index, self.n_features))

    def values_at(self, keys: NDArray[np.int64]) -> FloatArray:
        """Return ``edge_values`` of pairs, given by their sorted keys; 0 for those without an edge."""
        return values_at(self.edge_values, self.edge_keys, keys)

    @property
    def by_strength(self) -> NDArray[np.intp]:
        """Numbers of the edges, the largest |θ_st| first, ties in node order: the order of every edge table."""
        return strongest_first(self.edge_values)

    def edges(self) -> Columns:
        """Return the edge table as columns, ready for a data frame: the largest |θ_st| first, ties in node order.

        ``source`` and ``target`` (names), ``coupling`` (θ_st), ``sign`` (1 or -1; 0 for an edge without one) and
        ``weight`` (|θ_st|).
        """
        return self._coupling_table("source", "target", self.edge_index, self.edge_values)

    @property
    def covariate_pairs(self) -> NDArray[np.int32]:
        """The pairs of a variable and a covariate, in the order of `pairs`."""
        return self.pairs[~self.is_edge]

    @property
    def covariate_values(self) -> FloatArray:
        """Their values, as `edge_values` has those of the edges."""
        return self.pair_values[~self.is_edge]

    def covariate_edges(self) -> Columns:
        """Return the couplings with covariates as columns, the largest first; see `edges`.

        ``covariate`` and ``variable`` (names), ``coupling`` per unit of both scores, ``sign`` and ``weight``.
        """
        given, index = ~self.variables.is_modeled, self.covariate_pairs
        pairs = np.where(given[index[:, :1]], index, index[:, ::-1])
        return self._coupling_table("covariate", "variable", pairs, self.covariate_values)

    def _coupling_table(self, first: str, second: str, pairs: NDArray[np.int32], values: FloatArray) -> Columns:
        """Return couplings as columns, the largest absolute value first; two of them have the names of the pairs."""
        order = strongest_first(values)
        pairs, values = pairs[order], values[order]
        nodes = dict(zip((first, second), np.array(self.variables.names, dtype=object)[pairs].T, strict=True))
        signs = np.sign(values).astype(np.int64) * self.variables.has_sign(pairs)
        return Columns(**nodes, coupling=values, sign=signs, weight=np.abs(values))

    @cached_property
    def couplings(self) -> FloatArray:
        """Dense symmetric matrix with zero diagonal: the signed couplings, and norms for pairs without a sign."""
        return read_only(self.couplings_sparse.toarray())

    @cached_property
    def couplings_sparse(self) -> sp.csr_array:
        """Symmetric coupling matrix in compressed rows."""
        matrix = symmetric_matrix(self.edge_index, self.edge_values, self.n_features)
        read_only(matrix.data)
        return matrix

    @property
    def degree(self) -> NDArray[np.int64]:
        """Number of edges of every node."""
        return np.bincount(self.edge_index.ravel(), minlength=self.n_features)

    @property
    def strength(self) -> FloatArray:
        """Σ_t |θ_st| of every node."""
        return self.node_sums(self.weights)

    @property
    def expected_influence(self) -> FloatArray:
        """Σ_t θ_st of every node, over the edges that have a sign; NaN if it has edges and none of them has one."""
        return self.signed_sums(np.ones(self.n_edges, dtype=np.bool_))

    def signed_sums(self, among: Mask) -> FloatArray:
        """Return the expected influence of every node over the edges ``among``; NaN for nominal nodes."""
        signed = self.edge_signs * among
        is_known = (self.node_sums(abs(signed)) > 0) | (self.node_sums(among) == 0)
        return np.where(is_known & self.variables.has_scores, self.node_sums(self.weights * signed), np.nan)

    def node_sums(self, values: ArrayLike) -> FloatArray:
        """Return, for every node, the sum of a value over its edges."""
        sums = np.bincount(self.edge_index.T.ravel(), weights=np.tile(values, 2), minlength=self.n_features)
        return sums.astype(np.float64)  # bincount of nothing counts


def strongest_first(values: FloatArray) -> NDArray[np.intp]:
    """Return the numbers of some couplings, the largest absolute value first, ties as they are."""
    return np.argsort(-np.abs(values), kind="stable")


def union_keys(networks: Sequence[CouplingGraph]) -> NDArray[np.int64]:
    """Return the sorted keys of the pairs that have an edge in at least one of some networks."""
    return np.unique(np.concatenate([one.edge_keys for one in networks]))
