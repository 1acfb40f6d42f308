"""The result of a permutation test: the differences between the networks of groups, and their p-values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from isinglass.arguments import check_word, require
from isinglass.arrays import Arrays, FloatArray, Frozen, IntArray, Mask
from isinglass.data import Coding
from isinglass.errors import ArgumentError, plural
from isinglass.evaluate.agreement import edge_distances
from isinglass.network import Network, union_keys
from isinglass.pairs import check_pairs, pair_keys, values_at
from isinglass.records import Missing, TwoStageRecord
from isinglass.results import Solution
from isinglass.select.error_rates import false_discovery
from isinglass.select.method import Method
from isinglass.text_tables import Columns, show_columns

LEVEL = 0.05
"""Family-wise p-value up to which an edge is said to differ."""
ROUNDING = 1e-6
"""Statistics that differ by less, relative to their size, are equal: fits agree to their tolerance, not to the bit."""
_SHOWN_EDGES = 5  # in the repr


def least_equal(observed: FloatArray | float) -> FloatArray:
    """Return the smallest differences that are at least as large as what was observed, up to rounding."""
    return np.asarray(observed - ROUNDING * np.maximum(observed, 1.0))


@dataclass(frozen=True)
class Differing:
    """How far some networks of the same nodes differ; with more than two, the two that are furthest apart."""

    structure: float  # the largest difference of a coupling
    strength: float  # the difference of the global strengths Σ_{s<t} |θ_st|
    edges: FloatArray  # ‖Θ_st − Θ'_st‖ of the pairs asked for: |θ_st − θ'_st| where a pair has one parameter
    nodes: FloatArray  # the differences of the node strengths Σ_t |θ_st|

    @classmethod
    def of(cls, networks: Sequence[Network], pairs: NDArray[np.int64] | None = None) -> Differing:
        """Compare networks; ``pairs`` are keys of pairs, by default all that have an edge somewhere."""
        every = union_keys(networks)
        ranges = np.max([edge_distances(one, other, every) for one, other in combinations(networks, 2)], axis=0)
        totals = [float(network.weights.sum()) for network in networks]
        return cls(
            float(ranges.max(initial=0.0)),
            max(totals) - min(totals),
            ranges if pairs is None else values_at(ranges, every, pairs),
            np.ptp([network.strength for network in networks], axis=0),
        )


@dataclass(frozen=True, eq=False, repr=False)
class GroupComparison(Frozen):
    """The networks of two or more groups, their differences, and those of the permutations.

    A p-value is (1 + number of permutations with at least the observed difference) / (1 + number of permutations). With
    more than two groups, a difference is that between the two groups that are furthest apart.
    """

    groups: tuple[str, ...]  #: the groups
    n_rows: tuple[int, ...]  #: rows of each
    solutions: tuple[Solution, ...]  #: the network of each
    #: pairs with an edge in at least one group, shape (n_edges, 2); all others differ by 0, with a p-value of 1
    edge_index: NDArray[np.int32]
    null_structure: FloatArray  #: largest difference in a coupling in every permutation
    null_strength: FloatArray  #: difference of global strength in every permutation
    null_nodes: FloatArray  #: largest difference of a node's strength in every permutation
    edges_reached: NDArray[np.int64]  #: permutations in which the pair differs at least as much as it does
    nodes_reached: NDArray[np.int64]  #: the same for the strength of each node
    paired: bool = False  #: whether labels were exchanged within subjects only
    reselect: bool = False  #: whether the penalty was chosen again in every permutation
    n_unconverged: int = 0  #: permutations with a network that is not proved optimal to its tolerance
    method: Method = field(default=Method())  #: how the networks were estimated
    stages: TwoStageRecord | None = None  #: what chose the penalty of all rows, if two stages did
    covariates: tuple[str, ...] = ()  #: columns that the networks are adjusted for
    coding: Coding | None = None  #: how the columns were read
    missing: Missing | None = None  #: which cells were missing, and how they were treated
    weight_kind: str | None = None  #: what row weights stand for, "counts" or "sampling"; None if there were none
    seed: int | None = None  #: of the permutations, if it is a number

    def __post_init__(self) -> None:
        super().__post_init__()
        n_pairs, p = len(self.edge_index), self.solutions[0].network.n_features
        sizes = {len(self.groups), len(self.n_rows), len(self.solutions)}
        require(sizes == {len(self.groups)} and len(self.groups) > 1, "A comparison has one network per group.")
        of_pairs = check_pairs(self.edge_index, p).shape == self.edge_index.shape and self.edges_reached.shape == (
            n_pairs,
        )
        require(of_pairs and self.nodes_reached.shape == (p,), "A comparison is about pairs of its nodes.")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the nodes."""
        return self.solutions[0].network.names

    @property
    def networks(self) -> tuple[Network, ...]:
        """The network of each group."""
        return tuple(solution.network for solution in self.solutions)

    @property
    def n_permutations(self) -> int:
        """Number of permutations."""
        return len(self.null_structure)

    @property
    def least_p(self) -> float:
        """The smallest p-value that this number of permutations can give."""
        return 1 / (1 + self.n_permutations)

    @cached_property
    def _keys(self) -> NDArray[np.int64]:
        return pair_keys(self.edge_index, len(self.names))

    @cached_property
    def _observed(self) -> Differing:
        return Differing.of(self.networks, self._keys)

    @property
    def structure(self) -> float:
        """Largest difference in a coupling (M of NetworkComparisonTest)."""
        return self._observed.structure

    @property
    def strength(self) -> float:
        """Difference in global strength (S of NetworkComparisonTest)."""
        return self._observed.strength

    @property
    def global_strengths(self) -> FloatArray:
        """Σ_{s<t} |θ_st| of each group."""
        return np.array([network.weights.sum() for network in self.networks])

    @property
    def p_structure(self) -> float:
        """P-value of the largest difference in a coupling."""
        return float(self._p_family(self.structure, self.null_structure))

    @property
    def p_strength(self) -> float:
        """P-value of the difference in global strength."""
        return float(self._p_family(self.strength, self.null_strength))

    @property
    def edge_p_family(self) -> FloatArray:
        """P-value of each pair of ``edge_index``, corrected for all pairs (max-T); `edges` has the others."""
        return self._p_family(self._observed.edges, self.null_structure)

    def edge_p_between(self, first: str | None = None, second: str | None = None) -> FloatArray:
        """Return the max-T p-values of the difference of two groups, as for `difference`, for each of these pairs.

        With more than two groups they differ from ``edge_p_family``, which is about the two groups furthest apart. They
        are corrected for the choice of the two groups as well.
        """
        return self._p_family(edge_distances(*self._networks_of(first, second), self._keys), self.null_structure)

    def _p(self, reached: IntArray | np.intp) -> FloatArray:
        return np.asarray((1 + reached) / (1 + self.n_permutations))

    def _p_family(self, differences: FloatArray | float, null: FloatArray) -> FloatArray:
        """Return p-values against the largest difference of every permutation (single-step max-T)."""
        return self._p(self.n_permutations - np.searchsorted(np.sort(null), least_equal(differences)))

    def methods_text(self) -> str:
        """Return a paragraph for the methods section of a paper: data, estimate, test, and what was found."""
        from isinglass.show.report.methods import describe_comparison

        return describe_comparison(self).text

    def edges(self) -> Columns:
        """Return one row per pair with an edge in some group as columns, the largest difference first.

        Columns are ``source``, ``target``, ``coupling in G`` for each group G, ``difference`` (first minus second
        group, as for `difference`; with more groups that of the two furthest apart), ``p``, ``p_family`` (max-T) and
        ``q`` (false discovery rate).
        """
        s, t = np.array(self.names, dtype=object)[self.edge_index.T]
        p, signed = len(self.names), self.networks[0].variables.has_sign(self.edge_index)
        measured = {f"coupling in {group}": row for group, row in zip(self.groups, self.couplings(), strict=True)}
        tests = self._tests(self._observed.edges, self.null_structure, self.edges_reached, p * (p - 1) // 2)
        return self._ranked({"source": s, "target": t}, measured, tests, signed)

    def nodes(self) -> Columns:
        """Return one row per node as columns, the largest difference in strength first.

        Columns are ``name``, ``strength in G`` for each group G, ``difference``, ``p``, ``p_family`` and ``q``, as for
        edges.
        """
        names = np.array(self.names, dtype=object)
        measured = {f"strength in {group}": one.strength for group, one in zip(self.groups, self.networks, strict=True)}
        tests = self._tests(self._observed.nodes, self.null_nodes, self.nodes_reached, len(names))
        return self._ranked({"name": names}, measured, tests)

    def _tests(self, differences: FloatArray, null: FloatArray, reached: IntArray, n_tests: int) -> Arrays:
        """Return what permutations say about differences; those of ``n_tests`` that are not listed are 0."""
        p = self._p(reached)
        q = false_discovery(np.r_[p, np.ones(n_tests - len(p))])[: len(p)]
        return {"difference": differences, "p": p, "p_family": self._p_family(differences, null), "q": q}

    def _ranked(self, labels: Arrays, measured: Arrays, tests: Arrays, signed: Mask | bool = True) -> Columns:
        """Return the largest difference first; those of two groups with a sign, where what was measured has one."""
        size, values = tests["difference"], list(measured.values())
        falls = signed & (values[0] < values[1]) if len(values) == 2 else np.zeros(len(size), dtype=bool)
        columns = Columns({**labels, **measured, **tests, "difference": np.where(falls, -size, size)})
        return columns.take(np.argsort(-size, kind="stable"))

    def pairs(self) -> Columns:
        """Return one row per two groups as columns.

        Columns are ``first``, ``second``, ``structure``, ``p_structure``, ``strength`` and ``p_strength``. The p-values
        are corrected for the number of pairs: they compare with the two groups furthest apart in every permutation.
        """
        first, second = np.array(list(combinations(self.groups, 2)), dtype=object).T
        differences = [Differing.of(pair) for pair in combinations(self.networks, 2)]
        structure = np.array([pair.structure for pair in differences])
        strength = np.array([pair.strength for pair in differences])
        return Columns(
            first=first,
            second=second,
            structure=structure,
            p_structure=self._p_family(structure, self.null_structure),
            strength=strength,
            p_strength=self._p_family(strength, self.null_strength),
        )

    def couplings(self) -> FloatArray:
        """Return the couplings of the pairs of ``edge_index`` in every group, shape (n_groups, n_edges)."""
        return np.array([network.values_at(self._keys) for network in self.networks])

    def difference(self, first: str | None = None, second: str | None = None) -> Network:
        """Return the couplings of one group minus those of another as a network, whose fields are the same difference.

        A group that is not named is the first of the others. For a pair with more than one parameter, whose difference
        is a table, the value is its norm ‖Θ_st − Θ'_st‖, without a sign.
        """
        one, other = self._networks_of(first, second)
        blocks = one.parameters_at(self._keys) - other.parameters_at(self._keys)
        return Network(one.fields - other.fields, self.edge_index, variables=one.variables, pair_parameters=blocks)

    def two_groups(self, first: str | None = None, second: str | None = None) -> tuple[str, str]:
        """Return two different groups; one that is not named is the first of the others."""
        given = {"first": first, "second": second}
        one, other = (None if group is None else check_word(of, str(group), self.groups) for of, group in given.items())
        one = one or next(group for group in self.groups if group != other)
        other = other or next(group for group in self.groups if group != one)
        if one == other:
            raise ArgumentError("second", "must be another group than the first one", other)
        return one, other

    def _networks_of(self, first: str | None, second: str | None) -> tuple[Network, Network]:
        one, other = map(self.groups.index, self.two_groups(first, second))
        return self.networks[one], self.networks[other]

    def facts(self) -> dict[str, str]:
        """Return in words what was compared, and what was found."""
        sizes = ", ".join(f"{group} ({plural(n, 'row')})" for group, n in zip(self.groups, self.n_rows, strict=True))
        n_unlabeled = 0 if self.missing is None else self.missing.n_unlabeled
        left_out = f"; {plural(n_unlabeled, 'row')} without a label left out" if n_unlabeled else ""
        each = zip(self.groups, self.global_strengths, strict=True)
        strengths = ", ".join(f"{value:.4g} in {group}" for group, value in each)
        different = int((self.edge_p_family <= LEVEL).sum())
        facts = {
            "Groups": f"{sizes}{'; paired' if self.paired else ''}{left_out}",
            **({"Adjusted for": ", ".join(self.covariates)} if self.covariates else {}),
            "Permutations": f"{self.n_permutations}" + ("" if self.seed is None else f", seed {self.seed}"),
            "Structure": f"largest difference in a coupling {self.structure:.4g}, p = {self.p_structure:.4g}",
            "Strength": f"{strengths}; difference {self.strength:.4g}, p = {self.p_strength:.4g}",
            "Edges": f"different at family-wise p ≤ {LEVEL:g}: {different} of {len(self.edge_index)}",
        }
        if self.least_p > LEVEL:
            permutations = plural(self.n_permutations, "permutation")
            facts["Caution"] = f"no p can be below {self.least_p:.2g} with {permutations}; take 1000"
        return facts

    def __repr__(self) -> str:
        lines = ["GroupComparison", *(f"  {name}: {text}" for name, text in self.facts().items())]
        if len(self.edge_index):
            lines.append(show_columns(self.edges(), "pair", _SHOWN_EDGES))
        return "\n".join(lines)
