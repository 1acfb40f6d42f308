"""Which nodes matter in a network: strength, influence, closeness, betweenness, and bridges between communities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass.arrays import FloatArray, read_only
from isinglass.errors import ArgumentError
from isinglass.evaluate.nodes import SHOWN_NODES, text_table
from isinglass.names import by_node
from isinglass.network import Network, as_network
from isinglass.pairs import symmetric_matrix

MEASURES = ("strength", "expected_influence", "closeness", "betweenness")
BRIDGES = ("bridge_strength", "bridge_expected_influence")
"""Measures that need the community of every node."""
SAME = 1e-10
"""Two paths are equally short if their lengths differ by less, relative to their length."""
_CELLS_AT_ONCE = 4_000_000  # sources × directed edges


@dataclass(frozen=True, eq=False, repr=False)
class Centrality:
    """Measures of every node.

    Parameters
    ----------
    names : tuple of str
        The nodes.
    measures : mapping of str to ndarray
        One array per measure.
    communities : tuple, optional
        The community of every node; None if nobody said.
    """

    names: tuple[str, ...]
    measures: Mapping[str, FloatArray]
    communities: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        for values in self.measures.values():
            read_only(values)

    @property
    def columns(self) -> dict[str, Any]:
        """All columns by name, ready for a data frame."""
        known = {} if self.communities is None else {"community": self.communities}
        return {"name": self.names, **known, **self.measures}

    def __getitem__(self, measure: str) -> FloatArray:
        return self.measures[measure]

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        header = [name.replace("_", " ") for name in ("name", *self.measures)]
        shown = range(min(len(self), SHOWN_NODES))
        rows = [[self.names[k], *(f"{values[k]:.3f}" for values in self.measures.values())] for k in shown]
        more = f"\n… and {len(self) - SHOWN_NODES} more nodes" if len(self) > SHOWN_NODES else ""
        return text_table(header, rows) + more


def centrality(network: Any, communities: Any = None) -> Centrality:
    """Return strength, expected influence, closeness and betweenness of every node, and how it bridges communities.

    The length of an edge is 1 / |θ_st|. Closeness and betweenness are those of networkx for such lengths: closeness is
    scaled by the share of nodes within reach, betweenness by the number of pairs of other nodes.

    Parameters
    ----------
    network : Network, Solution, fitted estimator or matrix
        The network.
    communities : sequence, mapping or pandas Series, optional
        The community or group of each node, in order or by name, such as what `communities` found or the scales of a
        questionnaire. Bridge strength is Σ |θ_st| and bridge expected influence Σ θ_st over the edges that lead to
        other communities. A node without one is a community of its own.


    Examples
    --------
    >>> centrality([[0, 2.0, 0], [2.0, 0, -1.0], [0, -1.0, 0]], ["a", "a", "b"])
    name  strength  expected influence  closeness  betweenness  bridge strength  bridge expected influence
    x0       2.000               2.000      1.000        0.000            0.000                      0.000
    x1       3.000               1.000      1.333        1.000            1.000                     -1.000
    x2       1.000              -1.000      0.800        0.000            1.000                     -1.000
    """
    read = as_network(network)
    member = None if communities is None else _members(communities, read)
    wanted = MEASURES if member is None else (*MEASURES, *BRIDGES)
    labels = None if communities is None else tuple(by_node(communities, read.names, "communities"))
    return Centrality(tuple(read.names), {of: node_measure(read, of, member) for of in wanted}, labels)


def node_measure(network: Network, of: str, communities: Any = None) -> FloatArray:
    """Return one measure of every node.

    ``of`` is one of ``MEASURES``, or of ``BRIDGES`` where communities are given.
    """
    if of in ("strength", "expected_influence"):
        return np.asarray(getattr(network, of))
    if of == "closeness":
        return _closeness(_distances(_lengths(network)))
    if of == "betweenness":
        return _betweenness(network)
    if of not in BRIDGES:
        raise ArgumentError("of", f"must be one of {', '.join((*MEASURES, *BRIDGES))}", of)
    if communities is None:
        raise ArgumentError("communities", f"must be given, one per node, for {of!r}", None)
    member = _members(communities, network)
    between = member[network.edge_index[:, 0]] != member[network.edge_index[:, 1]]
    signs = 1 if of == "bridge_strength" else network.edge_signs
    return network.node_sums(network.weights * signs * between)


def _members(communities: Any, network: Network) -> NDArray[np.intp]:
    """Return the community of every node as a number; a node without one is alone."""
    numbers: dict[Any, int] = {}
    given = enumerate(by_node(communities, network.names, "communities"))
    keys = [("alone", k) if label is None or label != label else ("in", label) for k, label in given]
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)


# ------------------------------------------------------------------------------------------- shortest paths


def _lengths(network: Network) -> sp.csr_array:
    return symmetric_matrix(network.edge_index, 1.0 / network.weights, network.n_features)


def _distances(lengths: sp.csr_array, sources: NDArray[np.intp] | None = None) -> FloatArray:
    from scipy.sparse.csgraph import dijkstra  # slow to import, and only these measures need it

    return np.atleast_2d(np.asarray(dijkstra(lengths, directed=False, indices=sources)))


def _closeness(distances: FloatArray) -> FloatArray:
    n = len(distances)
    within = np.isfinite(distances)
    total, reached = np.where(within, distances, 0.0).sum(axis=1), within.sum(axis=1) - 1
    share = np.divide(reached, total, out=np.zeros(n), where=total > 0)
    return np.asarray(share * reached / max(n - 1, 1))


def _betweenness(network: Network) -> FloatArray:
    """Return the share of shortest paths between two other nodes that pass through each node.

    Brandes' recursion, for many sources at once. Instead of visiting nodes in the order of their distance, paths grow
    by one edge per round; there are as many rounds as the longest shortest path has edges.
    """
    n = network.n_features
    total = np.zeros(n)
    if n < 3 or not network.n_edges:
        return total
    lengths = _lengths(network)
    tail, head = np.vstack([network.edge_index, network.edge_index[:, ::-1]]).T  # both directions
    edge = np.tile(1.0 / network.weights, 2)
    every = np.arange(len(edge))
    into, out_of = (sp.csr_array((np.ones(len(edge)), (every, end)), shape=(len(edge), n)) for end in (head, tail))
    step = max(1, _CELLS_AT_ONCE // len(edge))
    for first in range(0, n, step):
        sources = np.arange(first, min(first + step, n))
        distance = _distances(lengths, sources)
        before, after = distance[:, tail], distance[:, head]
        with np.errstate(invalid="ignore"):  # infinity minus infinity: out of reach
            last = np.abs(before + edge - after) <= SAME * np.maximum(after, edge)
        grown = np.zeros((len(sources), n))
        grown[np.arange(len(sources)), sources] = 1.0
        paths = grown.copy()  # number of shortest paths from the source
        while grown.any():
            grown = np.asarray((last * grown[:, tail]) @ into)
            paths += grown
        share = np.divide(1.0, paths, out=np.zeros_like(paths), where=paths > 0)
        carried = (paths > 0).astype(np.float64)  # what flows through a node of what goes to nodes behind it
        passing = np.zeros_like(paths)
        while carried.any():
            carried = paths * np.asarray((last * (carried * share)[:, head]) @ out_of)
            passing += carried
        passing[np.arange(len(sources)), sources] = 0.0
        total += passing.sum(axis=0)
    return np.asarray(total / ((n - 1) * (n - 2)))
