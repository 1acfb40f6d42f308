"""Centrality of nodes, and communities."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.arguments import RandomSource, as_generator, check_positive
from isinglass.arrays import FloatArray
from isinglass.data.meaning.values import is_missing
from isinglass.errors import ArgumentError
from isinglass.names import NodeValues, by_node
from isinglass.network import Network
from isinglass.pairs import symmetric_matrix
from isinglass.results import NetworkLike, as_network
from isinglass.text_tables import Columns

MEASURES = ("strength", "expected_influence", "closeness", "betweenness")
BRIDGES = ("bridge_strength", "bridge_expected_influence")  # measures that need the community of every node
MOST_PATHS = 100_000  # nodes times edges up to which closeness and betweenness take less than a second
SAME = 1e-10  # relative difference below which two paths have the same length


def centrality(network: NetworkLike, communities: NodeValues | None = None) -> Columns:
    """Return strength, expected influence, closeness and betweenness of every node, and how it bridges communities.

    The result has a column per measure, ready for a data frame: ``centrality(network)["closeness"]``.
    The length of an edge is 1 / |θ_st|. Closeness and betweenness are those of networkx for such lengths: closeness is
    scaled by the share of nodes within reach, betweenness by the number of pairs of other nodes. Given the community of
    each node, in order or by name, bridge strength is Σ |θ_st| and bridge expected influence Σ θ_st over the edges to
    other communities; a node without one is a community of its own. Norms have no sign: expected influence is NaN for
    a nominal node, and for any node whose edges are all norms.

    Examples
    --------
    >>> centrality([[0, 2.0, 0], [2.0, 0, -1.0], [0, -1.0, 0]], ["a", "a", "b"])
    name  community  strength  expected_influence  closeness  betweenness  bridge_strength  bridge_expected_influence
    x0            a     2.000               2.000      1.000        0.000            0.000                      0.000
    x1            a     3.000               1.000      1.333        1.000            1.000                     -1.000
    x2            b     1.000              -1.000      0.800        0.000            1.000                     -1.000
    """
    read = as_network(network).without_covariates()
    found = Columns(name=np.array(read.names, dtype=object))
    wanted: tuple[str, ...] = MEASURES
    if communities is not None:
        communities, wanted = by_node(communities, read.names, "communities"), (*MEASURES, *BRIDGES)
        found["community"] = np.fromiter(communities, dtype=object)
    return Columns(found | {of: node_measure(read, of, communities) for of in wanted})


def node_measure(network: Network, of: str, communities: NodeValues | None = None) -> FloatArray:
    """Return one measure of every node: of ``MEASURES``, or of ``BRIDGES`` where communities are given."""
    if of in ("strength", "expected_influence"):
        return np.asarray(getattr(network, of))
    if of == "closeness":
        return _closeness(_distances(network))
    if of == "betweenness":
        return _betweenness(network)
    if of not in BRIDGES:
        raise ArgumentError("of", f"must be one of {', '.join((*MEASURES, *BRIDGES))}", of)
    if communities is None:
        raise ArgumentError("communities", f"must be given, one per node, for {of!r}", None)
    labels = by_node(communities, network.names, "communities")
    alone = [is_missing(label) for label in labels]
    ends = network.edge_index.tolist()
    between = np.array([alone[s] or alone[t] or labels[s] != labels[t] for s, t in ends], dtype=bool)
    return network.node_sums(network.weights * between) if of == "bridge_strength" else network.signed_sums(between)


def further_measures(network: Network, communities: NodeValues | None = None) -> dict[str, FloatArray]:
    """Return closeness and betweenness, unless the network is large, and bridges where communities are given."""
    of_paths = network.n_features * network.n_edges <= MOST_PATHS
    wanted = (*(MEASURES[2:] if of_paths else ()), *(BRIDGES if communities is not None else ()))
    return {of: node_measure(network, of, communities) for of in wanted}


def _distances(network: Network) -> FloatArray:
    from scipy.sparse.csgraph import dijkstra  # slow to import, and only two measures need it

    lengths = symmetric_matrix(network.edge_index, 1.0 / network.weights, network.n_features)
    return np.asarray(dijkstra(lengths, directed=False))


def _closeness(distances: FloatArray) -> FloatArray:
    within = np.isfinite(distances)
    total, reached = np.where(within, distances, 0.0).sum(axis=1), within.sum(axis=1) - 1
    share = np.divide(reached, total, out=np.zeros(total.shape), where=total > 0)
    return np.asarray(share * reached / max(len(distances) - 1, 1))


def _betweenness(network: Network) -> FloatArray:
    """Return the share of shortest paths between two other nodes that pass through each node (Brandes 2001)."""
    n = network.n_features
    tail, head = np.vstack([network.edge_index, network.edge_index[:, ::-1]]).T  # both directions
    total: FloatArray = np.zeros(n)
    length = np.tile(1.0 / network.weights, 2)
    for source, distance in enumerate(_distances(network)):
        before, after = distance[tail], distance[head]
        with np.errstate(invalid="ignore"):  # infinity minus infinity: out of reach
            is_last = np.abs(before + length - after) <= SAME * np.maximum(after, length)
        is_last &= before < after  # beside a much longer path, an edge is within `SAME` in both directions
        start, end = tail[is_last], head[is_last]  # of the last edges of shortest paths
        grown: FloatArray = np.zeros(n)
        grown[source] = 1.0
        paths = grown.copy()  # number of shortest paths to each node
        while grown.any():  # in each round, all paths grow by one edge
            grown = np.bincount(end, grown[start], n).astype(np.float64)
            paths += grown
        share = np.divide(1.0, paths, out=np.zeros(n), where=paths > 0)
        carried = (paths > 0).astype(np.float64)  # dependency of the source on each node
        while carried.any():
            carried = paths * np.bincount(start, (carried * share)[end], n)
            carried[source] = 0.0
            total += carried
    return total / max((n - 1) * (n - 2), 1)


def communities(
    network: NetworkLike, *, resolution: float = 1.0, positive_only: bool = True, random_state: RandomSource = 0
) -> NDArray[np.intp]:
    """Return the community of every node by Louvain's method, numbered from 0, the largest first.

    A node without edges is a community of its own. A ``resolution`` above 1 gives more and smaller communities.
    Negative couplings are left out, or count as |θ_st| without ``positive_only``. ``random_state`` is the seed of the
    order in which nodes are visited. networkx comes with ``pip install "isinglass[graph]"``.
    """
    read = as_network(network).without_covariates()
    resolution = check_positive("resolution", resolution)
    networkx, seed = import_networkx(), int(as_generator(random_state).integers(2**31))
    kept = (read.edge_values > 0) | (not positive_only)
    matrix = symmetric_matrix(read.edge_index[kept], read.weights[kept], read.n_features)
    graph = networkx.from_scipy_sparse_array(matrix)
    found = networkx.algorithms.community.louvain_communities(graph, resolution=resolution, seed=seed)
    member = np.empty(read.n_features, dtype=np.intp)
    for number, nodes in enumerate(sorted(map(sorted, found), key=lambda nodes: (-len(nodes), nodes[0]))):
        member[nodes] = number
    return member


def import_networkx() -> Any:  # Any: it has no types
    """Return the module networkx, or say how to install it."""
    try:
        return import_module("networkx")
    except ImportError as error:
        raise ImportError('networkx is not installed. Install it: pip install "isinglass[graph]".') from error
