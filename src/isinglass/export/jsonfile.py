"""JSON of nodes and links, with a version."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from isinglass.export.annotated import Annotated, annotate
from isinglass.export.columns import Cell, Column
from isinglass.export.output import Target, write_lines
from isinglass.export.text import number_text, storable

__all__ = ["KIND", "VERSION", "to_json", "write_json"]

KIND, VERSION = "isinglass network", 1


def to_json(
    network: Any,
    *,
    names: Sequence[str] | None = None,
    node_attributes: Mapping[str, Sequence[Any]] | None = None,
    edge_attributes: Mapping[str, ArrayLike] | None = None,
    color_by: str | None = None,
    group_colors: Mapping[Any, str] | None = None,
    positions: ArrayLike | None = None,
) -> str:
    """Return a network as JSON: ``kind``, ``version``, ``graph``, ``nodes`` and ``edges``.

    The ``id`` of a node is its number, and ``source`` and ``target`` of an edge are such numbers, so that both
    ``networkx.node_link_graph(data, edges="edges")`` and d3-force read it. ``graph`` holds alpha and the certificate
    where they are known. Missing attributes are null, infinite ones the texts "Infinity" and "-Infinity".

    Parameters
    ----------
    network, names, node_attributes, edge_attributes, color_by, group_colors, positions
        As for `write_network`; positions are ``x`` and ``y`` of the nodes, as they are.

    Examples
    --------
    >>> from isinglass import Network
    >>> found = json.loads(to_json(Network.from_couplings([[0, -1.5], [-1.5, 0]], [0, 0], names=["tea", "coffee"])))
    >>> found["nodes"][0]["name"], found["edges"]
    ('tea', [{'source': 0, 'target': 1, 'coupling': -1.5, 'sign': -1, 'weight': 1.5}])
    """
    annotated = annotate(
        network,
        names=names,
        node_attributes=node_attributes,
        edge_attributes=edge_attributes,
        color_by=color_by,
        group_colors=group_colors,
        positions=positions,
    )
    return "\n".join(_lines(annotated))


def write_json(
    network: Any,
    path: Target,
    *,
    names: Sequence[str] | None = None,
    node_attributes: Mapping[str, Sequence[Any]] | None = None,
    edge_attributes: Mapping[str, ArrayLike] | None = None,
    color_by: str | None = None,
    group_colors: Mapping[Any, str] | None = None,
    positions: ArrayLike | None = None,
) -> None:
    """Write what `to_json` returns, one node or edge per line.

    Parameters
    ----------
    network, names, node_attributes, edge_attributes, color_by, group_colors, positions
        As for `write_network`.
    path : path, "-" or text stream
        Where to; "-" is the standard output.

    Examples
    --------
    >>> from isinglass import Network
    >>> write_json(Network.from_couplings([[0.0]], [0.5], names=["alone"]), "-")
    {"kind": "isinglass network", "version": 1, "directed": false, "multigraph": false, "graph": {},
    "nodes": [
    {"id": 0, "name": "alone", "field": 0.5, "degree": 0, "strength": 0.0}
    ],
    "edges": [
    ]}
    """
    annotated = annotate(
        network,
        names=names,
        node_attributes=node_attributes,
        edge_attributes=edge_attributes,
        color_by=color_by,
        group_colors=group_colors,
        positions=positions,
    )
    write_lines(_lines(annotated), path)


def _lines(graph: Annotated) -> Iterator[str]:
    facts = {name: _cell(value) for name, value in graph.facts.items()}
    head = {"kind": KIND, "version": VERSION, "directed": False, "multigraph": False, "graph": facts}
    yield _dump(head)[:-1] + ","
    yield '"nodes": ['
    columns = graph.node_values
    if graph.positions is not None:
        x, y = graph.positions.T.tolist()
        columns |= {"x": Column("real", tuple(x)), "y": Column("real", tuple(y))}
    for k, name in enumerate(graph.network.names):
        node = {"id": k, "name": storable(name), **_cells(columns, k)}
        yield _dump(node) + ("," if k + 1 < graph.network.n_features else "")
    yield "],"
    yield '"edges": ['
    columns = graph.edge_values
    for k, (s, t) in enumerate(graph.pairs):
        edge = {"source": s, "target": t, **_cells(columns, k)}
        yield _dump(edge) + ("," if k + 1 < graph.network.n_edges else "")
    yield "]}"


def _cells(columns: Mapping[str, Column], k: int) -> dict[str, Cell]:
    return {name: _cell(column.values[k]) for name, column in columns.items()}


def _cell(value: Cell) -> Cell:
    """Return what strict JSON can hold: it has no infinity."""
    return number_text(value) if isinstance(value, float) and value in (float("inf"), -float("inf")) else value


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
