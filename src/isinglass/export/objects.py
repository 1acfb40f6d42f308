"""Networks as objects of networkx, which is loaded only when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from numpy.typing import ArrayLike

from isinglass.export.annotated import annotate
from isinglass.export.columns import Cell, Column

__all__ = ["to_networkx"]


def to_networkx(
    network: Any,
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
    >>> from isinglass import Network
    >>> graph = to_networkx(Network.from_couplings([[0, -1.5], [-1.5, 0]], [0, 0], names=["tea", "coffee"]))
    >>> graph.edges["tea", "coffee"]
    {'coupling': -1.5, 'sign': -1, 'weight': 1.5}
    """
    try:
        networkx = import_module("networkx")
    except ImportError as error:
        raise ImportError('networkx is not installed. Install it: pip install "isinglass[graph]".') from error
    graph = annotate(network, names=names, node_attributes=node_attributes, edge_attributes=edge_attributes)
    result = networkx.Graph()
    names, nodes, edges = graph.network.names, graph.node_values, graph.edge_values
    result.add_nodes_from((name, _present(nodes, k)) for k, name in enumerate(names))
    result.add_edges_from((names[s], names[t], _present(edges, k)) for k, (s, t) in enumerate(graph.pairs))
    return result


def _present(columns: Mapping[str, Column], k: int) -> dict[str, Cell]:
    return {name: column.values[k] for name, column in columns.items() if column.values[k] is not None}
