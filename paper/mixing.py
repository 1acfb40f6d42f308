"""How the edges of a network follow groups of its nodes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.arguments import RandomSource, as_generator, check_count
from isinglass.arrays import read_only
from isinglass.errors import ArgumentError
from isinglass.evaluate.agreement import ratio
from isinglass.evaluate.nodes import explained_share
from isinglass.names import by_node
from isinglass.network import Network
from isinglass.results import as_network

__all__ = ["GroupMixing", "MixingTest", "mixing_by_group", "mixing_test"]

FloatArray = NDArray[np.float64]

_LABELS_AT_ONCE = 4_000_000  # of permuted groups, so that their memory does not grow with the number of permutations


@dataclass(frozen=True, eq=False, repr=False)
class GroupMixing:
    """How the edges of a network follow groups of its nodes.

    Parameters
    ----------
    names : tuple of str
        The nodes.
    groups : tuple
        The different groups, in the order in which the nodes mention them.
    members : ndarray of int, shape (n_nodes,)
        Each node's group, as a position in ``groups``.
    node_edges : ndarray of int, shape (n_nodes, n_groups)
        Number of edges from each node into each group.
    node_weights : ndarray of shape (n_nodes, n_groups)
        Sum of their |θ_st|.
    """

    names: tuple[str, ...]
    groups: tuple[Hashable, ...]
    members: NDArray[np.intp]
    node_edges: NDArray[np.int64]
    node_weights: FloatArray

    def __post_init__(self) -> None:
        for array in (self.members, self.node_edges, self.node_weights):
            read_only(array)

    @property
    def n_edges(self) -> int:
        """Number of edges that were counted."""
        return int(self.node_edges.sum()) // 2

    @property
    def n_within(self) -> int:
        """Number of them that join two nodes of one group."""
        return int(self._own(self.node_edges).sum()) // 2

    @property
    def within_edges(self) -> float:
        """Share of the edges that join two nodes of one group; NaN without edges."""
        return ratio(self.n_within, self.n_edges)

    @property
    def within_weight(self) -> float:
        """Share of the weight on such edges; NaN without edges."""
        return ratio(float(self._own(self.node_weights).sum()), float(self.node_weights.sum()))

    @property
    def outside_edges(self) -> FloatArray:
        """Share of each node's edges that lead to other groups; NaN for a node without edges."""
        return self._outside(self.node_edges.astype(np.float64))

    @property
    def outside_weight(self) -> FloatArray:
        """Share of each node's weight that leads to other groups; NaN for a node without edges."""
        return self._outside(self.node_weights)

    @property
    def n_pairs(self) -> int:
        """Number of pairs of nodes."""
        return len(self.members) * (len(self.members) - 1) // 2

    @property
    def n_pairs_within(self) -> int:
        """Number of pairs of nodes of one group."""
        sizes = np.bincount(self.members)
        return int((sizes * (sizes - 1)).sum()) // 2

    @property
    def joined(self) -> float:
        """Share of all pairs that have an edge."""
        return ratio(self.n_edges, self.n_pairs)

    @property
    def joined_within(self) -> float:
        """Share of the pairs of one group that have an edge; NaN if every group has one member."""
        return ratio(self.n_within, self.n_pairs_within)

    @property
    def joined_between(self) -> float:
        """Share of the pairs of different groups that have an edge; NaN if there is one group."""
        return ratio(self.n_edges - self.n_within, self.n_pairs - self.n_pairs_within)

    def _own(self, table: NDArray[Any]) -> NDArray[Any]:
        own: NDArray[Any] = table[np.arange(len(table)), self.members]
        return own

    def _outside(self, table: FloatArray) -> FloatArray:
        total = table.sum(axis=1)
        return explained_share(total > 0, total - self._own(table), total)

    def __repr__(self) -> str:
        return (
            f"GroupMixing({len(self.names)} nodes in {len(self.groups)} groups; {self.n_within} of {self.n_edges} "
            f"edges within a group; {self.joined_within:.1%} of the pairs within a group joined, "
            f"{self.joined_between:.1%} of the others)"
        )


def mixing_by_group(network: Any, groups: Any, *, sign: str = "positive") -> GroupMixing:
    """Count the edges within and between groups of nodes, for the network and for every node.

    Parameters
    ----------
    network : Network, Solution or matrix
        The network.
    groups : sequence, mapping or pandas Series
        The group of each node, in order or by name: any labels that can be compared, for instance strings, or
        tuples to combine two attributes.
    sign : {"positive", "negative", "all"}, default "positive"
        Which edges count.

    Returns
    -------
    GroupMixing

    Examples
    --------
    >>> mixing_by_group([[0, 2, 1, 0], [2, 0, 0, 0], [1, 0, 0, -1], [0, 0, -1, 0]], ["a", "a", "b", "b"])
    GroupMixing(4 nodes in 2 groups; 1 of 2 edges within a group; 50.0% of the pairs within a group joined, \
25.0% of the others)
    """
    edges = as_network(network)
    labels, members = _check_groups("groups", groups, edges.names)
    s, t, weight = _signed(edges, sign)
    shape = (edges.n_features, len(labels))
    counts, weights = np.zeros(shape, dtype=np.int64), np.zeros(shape)
    for one, other in ((s, t), (t, s)):
        np.add.at(counts, (one, members[other]), 1)
        np.add.at(weights, (one, members[other]), weight)
    return GroupMixing(tuple(edges.names), labels, members, counts, weights)


@dataclass(frozen=True)
class MixingTest:
    """Edges within groups against the same network with the groups dealt out anew.

    Parameters
    ----------
    observed : float
        Number of edges within a group, or their weight.
    expected, spread : float
        Mean and standard deviation over the permutations.
    p_value : float
        (1 + permutations with at least the observed value) / (1 + permutations): valid for any number of them.
    n_permutations : int
        How many were drawn.
    """

    observed: float
    expected: float
    spread: float
    p_value: float
    n_permutations: int


def mixing_test(
    network: Any,
    groups: Any,
    *,
    strata: Any = None,
    sign: str = "positive",
    weighted: bool = False,
    n_permutations: int = 9999,
    random_state: RandomSource = None,
) -> MixingTest:
    """Test whether more edges join nodes of one group than if the groups had been dealt out at random.

    Parameters
    ----------
    network : Network, Solution or matrix
        The network; it stays as it is, only the labels move.
    groups : sequence, mapping or pandas Series
        The group of each node, in order or by name.
    strata : sequence, optional
        A second attribute; groups are then permuted among nodes of the same stratum only, which leaves what the
        strata explain out of the comparison.
    sign : {"positive", "negative", "all"}, default "positive"
        Which edges count.
    weighted : bool, default False
        Compare the weight |θ_st| within groups instead of the number of edges.
    n_permutations : int, default 9999
        Number of permutations.
    random_state : int, Generator, RandomState, SeedSequence or None
        Seed of the permutations.

    Returns
    -------
    MixingTest

    Examples
    --------
    >>> triangles = np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6)
    >>> found = mixing_test(triangles, ["a", "a", "a", "b", "b", "b"], random_state=0)
    >>> found.observed, found.p_value < 0.15  # 2 of the 20 ways to choose three nodes
    (6.0, True)
    """
    edges = as_network(network)
    n_permutations = check_count("n_permutations", n_permutations)
    _, members = _check_groups("groups", groups, edges.names)
    stratum = np.zeros_like(members) if strata is None else _check_groups("strata", strata, edges.names)[1]
    s, t, weight = _signed(edges, sign)
    weight = weight if weighted else np.ones(len(s))
    rng = as_generator(random_state)
    observed = float(weight @ (members[s] == members[t]))
    places = np.argsort(stratum, kind="stable")
    drawn = []
    for first in range(0, n_permutations, at_once := _LABELS_AT_ONCE // (edges.n_features + len(s)) + 1):
        shape = (min(at_once, n_permutations - first), edges.n_features)
        # Strata are integers and the keys below 1: sorting shuffles within each stratum and keeps strata apart.
        order = np.argsort(stratum + rng.random(shape), axis=1)
        dealt = np.empty(shape, dtype=members.dtype)
        dealt[:, places] = members[order]
        drawn.append((dealt[:, s] == dealt[:, t]) @ weight)
    values = np.concatenate(drawn)
    # Sums of the same weights in another order differ by rounding; such a draw counts as reaching the observed value.
    reached = int(np.count_nonzero(values >= observed - 1e-9 * max(abs(observed), 1.0)))
    return MixingTest(
        observed, float(values.mean()), float(values.std()), (1 + reached) / (1 + n_permutations), n_permutations
    )


def _check_groups(name: str, groups: Any, names: Sequence[str]) -> tuple[tuple[Hashable, ...], NDArray[np.intp]]:
    """Return the different labels in order of appearance, and each node's position among them."""
    labels = by_node(groups, names, name)
    position = {label: k for k, label in enumerate(dict.fromkeys(labels))}
    return tuple(position), np.array([position[label] for label in labels], dtype=np.intp)


def _signed(network: Network, sign: str) -> tuple[NDArray[np.int32], NDArray[np.int32], FloatArray]:
    """Return (s, t, |θ_st|) of the edges with the sign asked for."""
    values = network.edge_values
    chosen = {"positive": values > 0, "negative": values < 0, "all": values != 0}
    if sign not in chosen:
        raise ArgumentError("sign", f"must be one of {', '.join(chosen)}", sign)
    s, t = network.edge_index[chosen[sign]].T
    return s, t, np.abs(values[chosen[sign]])
