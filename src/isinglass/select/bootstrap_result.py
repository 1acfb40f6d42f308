"""The result of a bootstrap: intervals, inclusion, differences, and the stability of an order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass.arguments import check_level, check_share, require
from isinglass.arrays import FloatArray, Frozen, read_only
from isinglass.errors import ArgumentError, DataError, LimitError, plural
from isinglass.evaluate.agreement import correlate_rows
from isinglass.evaluate.centrality import MEASURES, node_measure
from isinglass.names import NodeValues, by_node
from isinglass.network import Network
from isinglass.pairs import check_pairs, pair_keys
from isinglass.results import Solution
from isinglass.text_tables import Columns, show_columns
from isinglass.variables import Variables

QUANTILES = (0.025, 0.5, 0.975)
COLUMNS = ("q2.5", "q50", "q97.5")
STATISTICS = (*MEASURES, "edges")
MAX_COMPARED = 3000
"""Edges or nodes that are compared with each other: the work grows with the square."""
_CELLS_PER_BLOCK = 4_000_000  # resamples × pairs that are dense at once
_FEW_SUBSETS = 20  # per share: below it, "95 % of the subsets" means all of them
_SHOWN_EDGES = 10  # in the repr


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap(Frozen):
    """The networks of resampled rows, and the network of the whole table.

    Pairs without an edge in the whole table and in all resamples are not stored: their couplings, quantiles and shares
    are zero.
    """

    kind: str  #: "rows" for rows drawn with replacement, "case-drop" for a share of the rows left out
    solution: Solution  #: the network of the whole table, with the names of the nodes
    edge_index: NDArray[np.int32]  #: pairs with an edge in the whole table or in a resample, in lexicographic order
    #: their couplings in every resample, shape (n_boot, n_pairs); norms of blocks, where a pair has more parameters
    draws: sp.csc_array
    fields: FloatArray  #: the fields in every resample, one row for each; with categories one per category
    alphas: FloatArray  #: the penalty of every resample; NaN where each node has its own
    dropped: FloatArray  #: share of the rows left out of every resample; 0 for the kind "rows"
    n_unconverged: int = 0  #: resamples whose network is not proved optimal to its tolerance
    reselect: bool = True  #: whether the penalty was chosen again in every resample

    def __post_init__(self) -> None:
        super().__post_init__()
        n_pairs, p = len(self.edge_index), self.solution.network.n_features
        require(self.kind in ("rows", "case-drop"), f"A bootstrap draws 'rows' or 'case-drop', not {self.kind!r}.")
        sizes = {len(self.dropped), len(self.alphas), len(self.fields), self.draws.shape[0]}
        require(len(sizes) == 1 and self.n_boot > 0, "A bootstrap has one entry per resample.")
        of_pairs = check_pairs(self.edge_index, p).shape == self.edge_index.shape and self.draws.shape[1] == n_pairs
        require(of_pairs, "The draws of a bootstrap belong to pairs of its nodes.")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the nodes."""
        return self.solution.network.names

    @property
    def n_boot(self) -> int:
        """Number of resamples."""
        return len(self.dropped)

    @cached_property
    def edge_values(self) -> FloatArray:
        """Couplings of the pairs in the whole table; 0 for those that have an edge in resamples only."""
        return read_only(self.solution.network.values_at(pair_keys(self.edge_index, len(self.names))))

    @property
    def inclusion(self) -> FloatArray:
        """Share of the resamples that have the edge."""
        return np.asarray(np.diff(self.draws.indptr) / self.n_boot)

    @cached_property
    def edge_quantiles(self) -> FloatArray:
        """Quantiles 2.5 %, 50 % and 97.5 % over the resamples, absent edges counted as zero, shape (3, n_pairs)."""
        quantiles = np.empty((3, len(self.edge_index)))
        step = max(1, _CELLS_PER_BLOCK // self.n_boot)
        for first in range(0, len(self.edge_index), step):
            block = self.draws[:, first : first + step].toarray()
            quantiles[:, first : first + step] = np.quantile(block, QUANTILES, axis=0)
        return read_only(quantiles)

    def edges(self) -> Columns:
        """Return the pairs as columns, ready for a data frame: strongest first, then those seen most often.

        Columns are ``source``, ``target``, ``coupling`` (in the whole table), ``mean``, ``q2.5``, ``q50``, ``q97.5``
        and ``inclusion``; an absent edge counts as zero.
        """
        s, t = np.array(self.names, dtype=object)[self.edge_index.T]
        means = np.asarray(self.draws.sum(axis=0)).ravel() / self.n_boot
        columns = Columns(source=s, target=t, coupling=self.edge_values, mean=means)
        columns |= {**dict(zip(COLUMNS, self.edge_quantiles, strict=True)), "inclusion": self.inclusion}
        return columns.take(np.lexsort([-self.inclusion, -np.abs(self.edge_values)]))

    def node_draws(self, of: str = "strength", communities: NodeValues | None = None) -> FloatArray:
        """Return a measure of every node in every resample, shape (n_boot, n_features).

        Parameters
        ----------
        of : str, default "strength"
            "strength", "expected_influence", "closeness", "betweenness", "bridge_strength" or
            "bridge_expected_influence", as `isinglass.metrics.centrality` defines them.
        communities : sequence, mapping or pandas Series, optional
            The community of each node, for bridges.
        """
        return self._measure(of, communities)[1]

    def _measure(self, of: str, communities: NodeValues | None) -> tuple[FloatArray, FloatArray]:
        """Return a measure of every node in the whole table, and in every resample."""
        labels = None if communities is None else tuple(by_node(communities, self.names, "communities"))
        if (of, labels) not in self._measured:
            whole = node_measure(self.solution.network, of, labels)
            self._measured[of, labels] = read_only(whole.copy()), read_only(self._measure_draws(of, labels))
        return self._measured[of, labels]

    @cached_property
    def _measured(self) -> dict[tuple[str, NodeValues | None], tuple[FloatArray, FloatArray]]:
        """What was measured already: paths take long."""
        return {}

    def _measure_draws(self, of: str, labels: NodeValues | None) -> FloatArray:
        """Return a measure of the networks of all resamples, which have a number for every pair."""
        draws, variables = self.draws, self.solution.network.variables
        needs_sign = of.endswith("expected_influence")
        if needs_sign:  # norms have none
            # The oldest SciPy has no diags_array.
            draws = draws @ sp.csr_array(sp.diags(variables.has_sign(self.edge_index).astype(np.float64)))
        rows, nodes, measured = sp.csr_array(draws), Variables.binary(self.names), []
        rows.eliminate_zeros()
        rows.sort_indices()
        by_resample = (np.split(entries, rows.indptr[1:-1]) for entries in (rows.indices, rows.data))
        for places, values in zip(*by_resample, strict=True):
            network = Network.trusted(nodes, np.zeros(len(self.names)), self.edge_index[places], values)
            measured.append(node_measure(network, of, labels))
        return np.where(needs_sign & ~variables.has_scores, np.nan, measured)

    def nodes(self, of: str = "strength", communities: NodeValues | None = None) -> Columns:
        """Return the nodes as columns, ready for a data frame, with a measure as for `node_draws`.

        Columns are ``name``, the measure in the whole table under its own name, and ``mean``, ``q2.5``, ``q50`` and
        ``q97.5`` of it over the resamples.
        """
        whole, draws = self._measure(of, communities)
        quantiles = dict(zip(COLUMNS, np.quantile(draws, QUANTILES, axis=0), strict=True))
        names = np.array(self.names, dtype=object)
        return Columns({"name": names, of: whole, "mean": draws.mean(axis=0), **quantiles})

    def differences(self, of: str = "edges", *, level: float = 0.95) -> Columns:
        """Compare the edges of the network with each other, or the strengths of its nodes, as columns.

        Columns are ``first``, ``second``, ``difference`` (first minus second, in the whole table), ``lower`` and
        ``upper`` (the ends of its interval over the resamples) and ``different``: whether the interval does not hold 0.
        This is the bootstrapped difference test of Epskamp, Borsboom and Fried (2018), without correction for the
        number of comparisons.

        Parameters
        ----------
        of : {"edges", "strength"}, default "edges"
            Couplings of the edges that the whole table has, with their signs; or node strengths.
        level : float, default 0.95
            Coverage of the intervals, between 0 and 1.
        """
        if self.kind != "rows":
            raise DataError(f'kind must be "rows" for a test of differences; got a bootstrap of kind {self.kind!r}.')
        tails = np.array([0.5 - check_level(level) / 2, 0.5 + level / 2])
        if of == "edges":
            which = np.flatnonzero(self.edge_values)
            labels = [f"{self.names[s]} – {self.names[t]}" for s, t in self.edge_index[which]]
            values, draws = self.edge_values[which], self.draws[:, which].toarray()
        elif of == "strength":
            labels, values, draws = list(self.names), self.solution.network.strength, self.node_draws()
        else:
            raise ArgumentError("of", 'must be "edges" or "strength"', of)
        n = len(values)
        if n > MAX_COMPARED:
            things = "edges" if of == "edges" else "nodes"
            raise LimitError(f"At most {MAX_COMPARED} {things} can be compared with each other; got {n}.")
        ends = [np.quantile(draws[:, k, None] - draws[:, k + 1 :], tails, axis=0) for k in range(n - 1)]
        lower, upper = np.concatenate([np.empty((2, 0)), *ends], axis=1)
        (i, j), named = np.triu_indices(n, 1), np.array(labels, dtype=object)
        columns = Columns(first=named[i], second=named[j], difference=values[i] - values[j])
        return Columns({**columns, "lower": lower, "upper": upper, "different": (lower > 0) | (upper < 0)})

    def correlations(self, of: str = "strength", communities: NodeValues | None = None) -> FloatArray:
        """Return how every resample correlates with the whole table; NaN without variation, as without edges.

        What is compared is a measure of the nodes, as for `node_draws`, or "edges", the couplings of all pairs.
        """
        if of == "edges":
            return correlate_rows(self.draws, self.edge_values, self.solution.network.n_pairs)
        whole, draws = self._measure(of, communities)
        known = np.isfinite(whole)  # others have no expected influence
        return correlate_rows(draws[:, known], whole[known], int(known.sum()))

    def cs_coefficient(
        self,
        of: str = "strength",
        *,
        correlation: float = 0.7,
        probability: float = 0.95,
        communities: NodeValues | None = None,
    ) -> float:
        """Return the largest share of rows that can be dropped while the order of nodes or edges stays.

        This is the correlation stability (CS) coefficient of Epskamp, Borsboom and Fried (2018): the largest share up
        to which the correlation with the whole table is at least ``correlation`` with probability ``probability``, at
        this share and at all smaller ones. They advise not to interpret the order below 0.25 and to prefer 0.5. A
        correlation that does not exist counts as too small.
        """
        for value, name in ((correlation, "correlation"), (probability, "probability")):
            check_share(name, value)
        shares = self.drop_shares
        enough = np.nan_to_num(self.correlations(of, communities), nan=-1.0) >= correlation
        stays = [enough[self.dropped == share].mean() >= probability for share in shares]
        return float(shares[np.logical_and.accumulate(stays)].max(initial=0.0))

    def cs_coefficients(self) -> dict[str, float]:
        """Return the CS-coefficient of the edges and of every centrality that exists; none without edges."""
        return {of: self.cs_coefficient(of) for of in self._existing}

    def drops(self) -> Columns:
        """Return as columns what becomes of nodes and edges as more rows are dropped.

        Columns are ``dropped``, the share; then for ``strength``, ``expected_influence``, ``closeness``,
        ``betweenness`` and ``edges`` the mean correlation with the whole table and, with ``_q5`` and ``_q95`` behind,
        its 5 % and 95 % quantiles; 0 for one that does not exist. All are NaN without edges in the whole table, and
        those of expected influence where no column has scores.
        """
        shares = self.drop_shares
        columns = Columns(dropped=shares)
        for of in STATISTICS:
            correlations = np.nan_to_num(self.correlations(of), nan=0.0 if of in self._existing else np.nan)
            parts = [correlations[self.dropped == share] for share in shares]
            columns[of] = np.array([part.mean() for part in parts])
            for percent in (5, 95):
                columns[f"{of}_q{percent}"] = np.array([np.quantile(part, percent / 100) for part in parts])
        return columns

    @property
    def _existing(self) -> tuple[str, ...]:
        """What resamples can be compared in: nominal columns have no expected influence."""
        has_signs = self.solution.network.variables.has_scores.any()
        return tuple(of for of in STATISTICS if self.solution.n_edges and (has_signs or of != "expected_influence"))

    @property
    def drop_shares(self) -> FloatArray:
        """The shares of rows that were left out, among which the resamples are divided."""
        if self.kind != "case-drop":
            raise DataError(f'kind must be "case-drop" for a CS-coefficient; got a bootstrap of kind {self.kind!r}.')
        return np.unique(self.dropped)

    @property
    def n_per_share(self) -> int:
        """About how many resamples each of these shares has."""
        return self.n_boot // len(self.drop_shares)

    @property
    def has_few_subsets(self) -> bool:
        """Whether a share has so few resamples that "95 % of the subsets" means all of them."""
        return self.n_per_share < _FEW_SUBSETS

    def facts(self) -> dict[str, str]:
        """Return in words what was found: how often edges are seen, or how stable the order of nodes is."""
        if self.kind == "rows":
            often = int((self.inclusion[self.edge_values != 0] >= 0.95).sum())
            edges, seen = plural(self.solution.n_edges, "edge"), plural(len(self.edge_index), "pair")
            found = f"{edges}, {often} of them in at least 95 % of the resamples; {seen} seen at least once"
            return {"Network": found}
        each = ", ".join(f"{of.replace('_', ' ')} {value:.2f}" for of, value in self.cs_coefficients().items())
        known = f"{each} (interpret an order only if at least 0.25, preferably 0.5)"
        facts = {"Stability": f"CS-coefficients: {known if each else 'none, because the network has no edges'}"}
        if self.has_few_subsets:
            facts["Caution"] = f"{plural(self.n_per_share, 'subset')} per share of rows left out are few; take more"
        return facts

    def __repr__(self) -> str:
        pairs, nodes = plural(len(self.edge_index), "pair"), plural(self.solution.network.n_nodes, "node")
        drawn = f'"{self.kind}": {plural(self.n_boot, "resample")}'
        head = f"Bootstrap({drawn}, {pairs} with an edge at least once among {nodes})"
        if self.kind == "rows":
            return f"{head}\n{show_columns(self.edges(), 'pair', _SHOWN_EDGES)}" if len(self.edge_index) else head
        shown = {name: column for name, column in self.drops().items() if name in ("dropped", *STATISTICS)}
        facts = (f"{name}: {text}" for name, text in self.facts().items())
        return "\n".join([f"{head}, mean correlations", show_columns(shown, "share"), *facts])
