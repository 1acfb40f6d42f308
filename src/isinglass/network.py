"""A network: nodes, their fields (thresholds), and the couplings (edge weights) of its edges; it is sparse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from isinglass import conditionals
from isinglass.arguments import check_kind
from isinglass.arrays import Bytes, FloatArray, Frozen, Mask, read_only
from isinglass.data import AnyTable, Coding, Table, TableLike, as_table
from isinglass.data.parts.blocks import is_in_parts
from isinglass.errors import DataError, MeaningWarning, plural, suppress_warnings
from isinglass.pairs import (
    check_vector,
    coordinate_matrix,
    labels_of,
    pair_keys,
    pairs_of,
    read_coupling_matrix,
    read_couplings,
    read_fields,
    read_matrix,
    strongest_first,
    symmetric_matrix,
    values_at,
)
from isinglass.text_tables import Columns
from isinglass.variables import Variables

if TYPE_CHECKING:
    from isinglass.evaluate.likelihood import LogPartition

_ITS_PARAMETERS = "Use coordinate_couplings and category_fields, the parameters of columns with categories."
_SHOWN_EDGES = 3  # in the repr


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Network(Frozen):
    """Distribution of p variables with categories, P(x) ∝ exp(Σ_s μ_s(x_s) + Σ_{s<t} e_st(x_s, x_t)).

    Category k of a binary or ordinal variable has the score φ_s(k). The term of two such variables is
    θ_st φ_s(x_s) φ_t(x_t): one coupling, with a sign. A nominal variable has no scores. The term of two of them is
    B_st(x_s, x_t), a table whose rows and columns sum to zero; that of a nominal and an ordinal variable is
    B_st(x_s) φ_t(x_t). With two values this is P(x) ∝ exp(Σ_s θ_ss x_s + Σ_{s<t} θ_st x_s x_t). A pair of a variable
    and a covariate is no edge: `covariate_edges` lists these couplings.

    The methods that take rows, such as `energy`, find the categories of arrays, frames and tables by their values. Rows
    that are numbers of categories are passed as ``Table(codes, network.variables)``. Arrays are copied and read-only.
    To start from a matrix, use `from_couplings` or `from_theta`.

    Parameters
    ----------
    fields : array-like
        μ_s(k) of every category but the first of each variable, where it is 0: one flat vector, or one array per
        variable. For two values θ_ss, shape (n_features,); those of a series are found by the names of the nodes.
    pairs : array-like of int, shape (n_pairs, 2)
        Pairs of nodes with a coupling. Stored with s < t, in lexicographic order.
    pair_values : array-like of shape (n_pairs,), optional
        The signed coupling of every pair, per unit of both scores, where all pairs have one parameter. Pairs whose
        coupling is zero are left out.
    names : sequence of str, optional
        One distinct name per node; ``x0``, ``x1``, … by default.
    variables : Variables, optional
        Kinds and categories of the nodes; by default 0/1.
    pair_parameters : array-like, optional
        Instead of ``pair_values``, where a pair has more than one parameter: B_st of every pair, of shape
        (q_s or 1) × (q_t or 1), with a row or column per category of a nominal variable and one of any other; one array
        per pair, or all of them in one flat vector. What rows and columns sum to is moved to the fields, which leaves
        the distribution as it is.

    Examples
    --------
    >>> network = Network([-1.0, 0.0], [[0, 1]], [2.0], names=["rain", "umbrella"])
    >>> network
    Network(2 nodes, 1 edge: rain–umbrella +2)
    >>> network.conditional_probabilities([[0, 1]]).round(3).tolist()
    [[0.731, 0.5]]
    >>> party = Variables.of([3, 2], ["nominal", "binary"], names=["party", "vote"])
    >>> Network([0, 0, 0], [[0, 1]], variables=party, pair_parameters=[[[1], [0], [-1]]]).edge_values
    array([2.])
    """

    variables: Variables
    fields: FloatArray  # one per category but the first of its variable
    pairs: NDArray[np.int32]  # all pairs with a coupling: the edges, and those of variables with covariates
    pair_parameters: FloatArray  # their blocks, one after the other

    def __init__(
        self,
        fields: ArrayLike | Sequence[ArrayLike],
        pairs: ArrayLike,
        pair_values: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        *,
        variables: Variables | None = None,
        pair_parameters: ArrayLike | Sequence[ArrayLike] | None = None,
    ) -> None:
        if variables is not None:
            variables = check_kind("variables", variables, Variables, "Variables.of").with_names(names)
        flat = read_fields(fields, names if variables is None else variables.names)
        if variables is None:
            variables = Variables.binary(len(flat)).with_names(names)
        n_fields = int(variables.sizes.sum()) - variables.n_features
        if len(flat) != n_fields:
            what = "one value per node" if variables.is_binary else "one value per category but the first of each node"
            raise DataError(f"fields must be a vector with {what} ({n_fields}); got {len(flat)}.")
        shifts, index, parameters = read_couplings(pairs, pair_values, pair_parameters, variables)
        self._hold(variables, flat if shifts is None else flat + shifts, index, parameters)

    @classmethod
    def trusted(
        cls, variables: Variables, fields: FloatArray, pairs: NDArray[np.int32], pair_parameters: FloatArray
    ) -> Network:
        """Take the solver's own arrays as they are: sorted pairs s < t, no zeros. Checks cost more than a small fit."""
        network = object.__new__(cls)
        network._hold(variables, fields, pairs, pair_parameters)
        return network

    def _hold(self, variables: Variables, fields: FloatArray, pairs: NDArray[np.int32], parameters: FloatArray) -> None:
        if variables.has_covariates and not variables.is_modeled[pairs].any(axis=1).all():
            raise DataError("a coupling must not join two covariates.")
        held = {"variables": variables, "fields": fields, "pairs": pairs, "pair_parameters": parameters}
        self.__dict__.update(held)  # a frozen record has no other way
        self.__post_init__()

    @classmethod
    def from_couplings(
        cls, couplings: ArrayLike, fields: ArrayLike | None = None, names: Sequence[str] | None = None
    ) -> Network:
        """Read a symmetric matrix with zero diagonal, dense or sparse; fields are zero unless given.

        ``names`` are by default those of the columns of a frame, which those of its rows must equal. A series of fields
        is joined by these names.

        Differences from the transpose of up to 1e-12 of the largest entry count as rounding: the upper triangle is
        kept.
        """
        names = labels_of(couplings, names)
        node_fields = None if fields is None else check_vector(fields, "fields", names)
        return cls(*read_coupling_matrix(couplings, node_fields, "couplings"), names)

    @classmethod
    def from_theta(cls, theta: ArrayLike, names: Sequence[str] | None = None) -> Network:
        """Read the paper's Θ, dense or sparse, which holds the fields on its diagonal."""
        index, values, diagonal = read_matrix(theta, "theta")
        return cls(diagonal, index, values, labels_of(theta, names))

    @classmethod
    def from_spins(cls, J: ArrayLike, h: ArrayLike, names: Sequence[str] | None = None) -> Network:
        """Convert from ±1 coding, P(z) ∝ exp(Σ_s h_s z_s + Σ_{s<t} J_st z_s z_t) with z = 2x − 1.

        θ_st = 4 J_st and θ_ss = 2 h_s − 2 Σ_t J_st.
        """
        names = labels_of(J, names)
        spins = cls(*read_coupling_matrix(J, check_vector(h, "h", names), "J"), names)
        fields = 2 * spins.fields - 2 * spins.expected_influence
        return cls(fields, spins.edge_index, 4 * spins.edge_values, names)

    def to_spins(self) -> tuple[FloatArray, FloatArray]:
        """Return (J, h) of the same distribution in ±1 coding; the inverse of `from_spins`.

        J_st = θ_st / 4 and h_s = θ_ss / 2 + Σ_t θ_st / 4. A field in one coding differs from the field in the other by
        the couplings of its node.
        """
        self.variables.require_two_values("The network", _ITS_PARAMETERS)
        return self.couplings / 4, self.fields / 2 + self.expected_influence / 4

    def with_names(self, names: Sequence[str] | None) -> Network:
        """Return the same network with other names; None keeps those it has."""
        return Network.trusted(self.variables.with_names(names), self.fields, self.pairs, self.pair_parameters)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the nodes."""
        return self.variables.names

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kind of every node."""
        return self.variables.kinds

    @property
    def categories(self) -> tuple[tuple[Any, ...], ...]:  # Any: cells of the source
        """What stands for the categories of every node in the source."""
        return self.variables.categories

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
        return read_only(self.pairs[self.is_edge])

    @cached_property
    def edge_values(self) -> FloatArray:
        """The signed coupling of every edge, or the norm of its block where it has several parameters."""
        return read_only(self.pair_values[self.is_edge])

    @cached_property
    def parameters(self) -> FloatArray:
        """The blocks of all edges, one after the other; `edge_values` where each is one number."""
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

    @cached_property
    def category_fields(self) -> FloatArray:
        """The field of every category, 0 for the first of each node, in the flat layout of the variables."""
        flat = np.zeros(len(self.variables.column))
        flat[self.variables.is_later] = self.fields
        return read_only(flat)

    def without_covariates(self) -> Network:
        """Return the network of the variables that are modeled, which is what is drawn, counted and compared.

        Its fields are those for covariates whose scores are 0.
        """
        if not self.variables.has_covariates:
            return self
        kept = self.variables.is_modeled
        place = (np.cumsum(kept) - 1).astype(np.int32)
        fields = self.fields[kept[self.variables.column[self.variables.is_later]]]
        variables = self.variables.take(np.flatnonzero(kept))
        return Network.trusted(variables, fields, place[self.edge_index], self.parameters)

    @property
    def theta(self) -> FloatArray:
        """The paper's Θ, dense: the couplings with the fields on the diagonal."""
        self.variables.require_two_values("The network", _ITS_PARAMETERS)
        return self.couplings + np.diag(self.fields)

    def parameters_at(self, keys: NDArray[np.int64]) -> FloatArray:
        """Return the blocks of pairs, given by their sorted keys, one after the other; 0 for pairs without a coupling.

        All pairs of the network must be among them.
        """
        sizes = self.variables.block_sizes(pairs_of(keys, self.n_features))
        found = np.zeros(int(sizes.sum()))
        found[np.repeat(np.isin(keys, pair_keys(self.pairs, self.n_features)), sizes)] = self.pair_parameters
        return found

    def conditional_probabilities(self, X: TableLike) -> FloatArray:
        """Return P(x_s = 1 | the rest) for every cell, shape (n_samples, n_features); for columns of two values."""
        self.variables.require_two_values("The network", "Use probabilities(X), which takes categories.")
        return conditionals.ones_given_rest(self, self._codes(X))

    def probabilities(self, X: TableLike) -> list[FloatArray]:
        """Return P(x_s = k | the rest of the row) for every node s: one array (n_samples, categories) each."""
        return [np.exp(logs.T, order="C") for logs in self.variables.split(self.log_conditionals(X))]

    def log_conditionals(self, X: TableLike) -> FloatArray:
        """Return log P(x_s = k | the rest of the row) for every category, in the variables' layout, (T, n_samples).

        A covariate is what it is, with probability 1.
        """
        return conditionals.log_conditionals(self, self._codes(X))

    def log_pseudolikelihood(self, X: TableLike) -> FloatArray:
        """Return Σ_s log P(x_s | the rest) of every row, shape (n_samples,)."""
        return conditionals.row_scores(self, self._codes(X))

    def energy(self, X: TableLike) -> FloatArray:
        """Return the energy of every row, with P(x) = exp(−energy(x) − Ψ); shape (n_samples,)."""
        return conditionals.energies(self, self._codes(X))

    def log_partition(self) -> LogPartition:
        """Return log Z with its error, computed once; `isinglass.metrics.log_partition` has options."""
        from isinglass.evaluate.likelihood import log_partition

        known: dict[str, LogPartition] = vars(self)
        if "_log_partition" not in known:
            known["_log_partition"] = log_partition(self)
        return known["_log_partition"]

    @cached_property
    def coordinate_couplings(self) -> sp.csr_array:
        """The parameters of all pairs as a symmetric matrix over the coordinates of the variables."""
        return coordinate_matrix(self.variables, self.pairs, self.pair_parameters)

    def table(self, X: TableLike) -> Table:
        """Return a table of the columns of this network, whose cells are values of the categories; they may be missing.

        Columns of a frame are found by name, and others are ignored. A `Table` must have the same categories, or
        numbers from 0 in their place.
        """
        return self.read(X).whole()

    def read(self, X: TableLike, sample_weight: ArrayLike | None = None) -> AnyTable:
        """Return such a table with row weights, in memory or in parts, which have no missing cells."""
        missing = "error" if is_in_parts(X) else "impute"
        with suppress_warnings(MeaningWarning):  # what the columns mean is known
            table: AnyTable = as_table(X, sample_weight, encode=Coding.of(self.variables), missing=missing)
        return table.with_variables(self.variables) if table.is_whole else table

    def _codes(self, X: TableLike) -> Bytes:
        """Return the numbers of the categories of cells, none of which may be missing."""
        return self.table(X).without_holes().codes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        names = ("fields", "pairs", "pair_parameters")
        same = all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)
        return same and self.variables == other.variables

    __hash__ = None  # type: ignore[assignment]  # holds arrays; equal networks need not be the same object

    def __repr__(self) -> str:
        table = self.edges()
        columns = (table[name][:_SHOWN_EDGES] for name in ("source", "target", "coupling", "sign"))
        shown = ", ".join(
            f"{source}–{target} {coupling:{'+' if sign else ''}.3g}"
            for source, target, coupling, sign in zip(*columns, strict=True)
        )
        more = ", …" if self.n_edges > _SHOWN_EDGES else ""
        counts = f"{plural(self.n_nodes, 'node')}, {plural(self.n_edges, 'edge')}"
        return f"{type(self).__name__}({counts}" + (f": {shown}{more})" if shown else ")")


def union_keys(networks: Sequence[Network]) -> NDArray[np.int64]:
    """Return the sorted keys of the pairs that have an edge in at least one of some networks."""
    return np.unique(np.concatenate([one.edge_keys for one in networks]))
