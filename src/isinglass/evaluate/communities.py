"""Communities of a network: groups of nodes with many strong edges inside, found by networkx."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.arguments import RandomSource, as_generator, check_positive
from isinglass.errors import ArgumentError
from isinglass.network import as_network

METHODS = ("louvain", "greedy")


def communities(
    network: Any,
    *,
    method: str = "louvain",
    resolution: float = 1.0,
    positive_only: bool = True,
    random_state: RandomSource = 0,
) -> NDArray[np.intp]:
    """Return the community of every node, numbered from 0, the largest first.

    Parameters
    ----------
    network : Network, Solution, fitted estimator or matrix
        The network.
    method : {"louvain", "greedy"}, default "louvain"
        How modularity is maximized: Louvain's moves from a random order, or merging (Clauset, Newman and Moore).
    resolution : float, default 1
        Above 1 for more and smaller communities.
    positive_only : bool, default True
        Whether negative couplings are left out, as they keep nodes apart; otherwise |θ_st| counts.
    random_state : int, Generator, RandomState, SeedSequence or None, default 0
        Seed of Louvain's order: the same seed gives the same communities.

    Returns
    -------
    ndarray of int, shape (n_features,)
        A node without edges is a community of its own.

    Raises
    ------
    ImportError
        If networkx is not installed: ``pip install "isinglass[graph]"``.

    Examples
    --------
    >>> triangles = np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6)
    >>> communities(triangles).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    read = as_network(network)
    resolution = check_positive("resolution", resolution)
    if method not in METHODS:
        raise ArgumentError("method", f"must be one of {', '.join(METHODS)}", method)
    try:
        networkx = import_module("networkx")
    except ImportError as error:
        raise ImportError('networkx is not installed. Install it: pip install "isinglass[graph]".') from error
    graph, search = networkx.Graph(), networkx.algorithms.community
    graph.add_nodes_from(range(read.n_features))
    for (s, t), value in zip(read.edge_index.tolist(), read.edge_values.tolist(), strict=True):
        if value > 0 or not positive_only:
            graph.add_edge(s, t, weight=abs(value))
    seed = int(as_generator(random_state).integers(2**31))
    if not graph.number_of_edges():
        found = [{k} for k in range(read.n_features)]
    elif method == "louvain":
        found = search.louvain_communities(graph, weight="weight", resolution=resolution, seed=seed)
    else:
        found = search.greedy_modularity_communities(graph, weight="weight", resolution=resolution)
    member = np.empty(read.n_features, dtype=np.intp)
    for number, nodes in enumerate(sorted(map(sorted, found), key=lambda nodes: (-len(nodes), nodes[0]))):
        member[nodes] = number
    return member


def modularity(network: Any, members: Any, *, resolution: float = 1.0, positive_only: bool = True) -> float:
    """Return how much more weight lies within communities than if edges were joined at random.

    Parameters
    ----------
    network : Network, Solution, fitted estimator or matrix
        The network.
    members : sequence
        The community of every node, in order.
    resolution, positive_only
        As for `communities`.

    Examples
    --------
    >>> triangles = np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6)
    >>> modularity(triangles, [0, 0, 0, 1, 1, 1])
    0.5
    """
    read = as_network(network)
    listed = list(members)
    if len(listed) != read.n_features:
        raise ArgumentError("members", f"must have one entry per node ({read.n_features})", len(listed))
    s, t = read.edge_index.T
    weight = np.maximum(read.edge_values, 0.0) if positive_only else read.weights
    if not weight.any():
        return float("nan")
    labels = np.unique(np.asarray(listed, dtype=str), return_inverse=True)[1]
    inside = float(weight[labels[s] == labels[t]].sum() / weight.sum())
    ends = np.bincount(labels, weights=read.node_sums(weight)) / (2.0 * weight.sum())
    return inside - resolution * float((ends**2).sum())
