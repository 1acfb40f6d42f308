"""Networks as objects of other packages, which are loaded only when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from numpy.typing import ArrayLike

from isinglass.export.columns import Cell, Column
from isinglass.export.graph import Network, read_graph

__all__ = ["to_igraph", "to_networkx"]


def to_networkx(
    network: Network,
    *,
    names: Sequence[str] | None = None,
    node_attributes: Mapping[str, Sequence[Any]] | None = None,
    edge_attributes: Mapping[str, ArrayLike] | None = None,
) -> Any:
    """Return a ``networkx.Graph`` whose nodes are the names, isolated ones included.

    Parameters
    ----------
    network, names, node_attributes, edge_attributes
        As for `write_network`. Missing values are left out.

    Returns
    -------
    networkx.Graph
        Nodes have ``field``, ``degree``, ``strength`` and the attributes; edges ``coupling``, ``sign``, ``weight``
        (|coupling|) and theirs.

    Raises
    ------
    ImportError
        If networkx is not installed: ``pip install "isinglass[graph]"``.

    Examples
    --------
    >>> from isinglass import IsingModel
    >>> graph = to_networkx(IsingModel([[0, -1.5], [-1.5, 0]], [0, 0], names=["tea", "coffee"]))
    >>> graph.edges["tea", "coffee"]
    {'coupling': -1.5, 'sign': -1, 'weight': 1.5}
    """
    networkx = _load("networkx", 'pip install "isinglass[graph]"')
    graph = read_graph(network, names=names, node_attributes=node_attributes, edge_attributes=edge_attributes)
    result = networkx.Graph()
    nodes, edges = graph.node_values, graph.edge_values
    result.add_nodes_from((name, _present(nodes, k)) for k, name in enumerate(graph.names))
    result.add_edges_from(
        (graph.names[s], graph.names[t], _present(edges, k)) for k, (s, t, _) in enumerate(graph.pairs())
    )
    return result


def to_igraph(
    network: Network,
    *,
    names: Sequence[str] | None = None,
    node_attributes: Mapping[str, Sequence[Any]] | None = None,
    edge_attributes: Mapping[str, ArrayLike] | None = None,
) -> Any:
    """Return an undirected ``igraph.Graph`` with the names as vertex attribute ``name``.

    igraph is distributed under the GPL. isinglass does not depend on it and uses it only if you have installed it.

    Parameters
    ----------
    network, names, node_attributes, edge_attributes
        As for `write_network`. Missing values are None.

    Returns
    -------
    igraph.Graph
        With the attributes of `to_networkx`, on vertices and edges.

    Raises
    ------
    ImportError
        If igraph is not installed.
    """
    igraph = _load("igraph", "pip install igraph")
    graph = read_graph(network, names=names, node_attributes=node_attributes, edge_attributes=edge_attributes)
    result = igraph.Graph(n=graph.n_nodes, edges=graph.edge_index.tolist(), directed=False)
    result.vs["name"] = list(graph.names)
    for name, column in graph.node_values.items():
        result.vs[name] = list(column.values)
    for name, column in graph.edge_values.items():
        result.es[name] = list(column.values)
    return result


def _present(columns: Mapping[str, Column], k: int) -> dict[str, Cell]:
    return {name: column.values[k] for name, column in columns.items() if column.values[k] is not None}


def _load(package: str, remedy: str) -> Any:
    try:
        return import_module(package)
    except ImportError as error:
        raise ImportError(f"{package} is not installed. Install it: {remedy}.") from error
