"""GEXF, the format of Gephi.

Written as version 1.2draft: networkx reads version 1.3 from its release 3.6 on only, and Gephi reads both. Nothing that
was added in 1.3 is needed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from isinglass.export.annotated import Annotated, annotate
from isinglass.export.columns import Column
from isinglass.export.output import Target, write_lines
from isinglass.export.text import cell_text, number_text, xml_element
from isinglass.show.palette import channels

__all__ = ["write_gexf"]

SPREAD = 1000.0
"""Gephi draws a node about 10 units wide, so that a layout in [−1, 1]² has to be spread out."""
_NAMESPACE = "http://www.gexf.net/1.2draft"
_TYPES = {"text": "string", "real": "double", "integer": "long", "boolean": "boolean"}


def write_gexf(
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
    """Write a network for Gephi.

    An edge has ``weight`` = |coupling|, because Gephi's layouts and statistics do not work with negative weights, and
    ``coupling``, ``sign`` and ``color`` beside it. A node has ``field``, ``degree``, ``strength`` and its attributes.
    Nodes are called n0, n1, … in the file; their names are the labels.

    Parameters
    ----------
    network, names, node_attributes, edge_attributes, color_by, group_colors, positions
        As for `write_network`. Positions are multiplied by 1000, so that [−1, 1]² fills Gephi's window.
    path : path, "-" or text stream
        Where to; "-" is the standard output.

    Examples
    --------
    >>> from isinglass import Network
    >>> import io
    >>> file = io.StringIO()
    >>> write_gexf(Network.from_couplings([[0, -1.5], [-1.5, 0]], [0, 0], names=["R&D", "sales"]), file)
    >>> [line for line in file.getvalue().splitlines() if "<node " in line]
    ['<node id="n0" label="R&amp;D">', '<node id="n1" label="sales">']
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
    colors, nodes, edges = graph.edge_colors, graph.node_values, graph.edge_values
    weights = edges.pop("weight").values  # an attribute of the edge itself
    edges["color"] = Column("text", colors)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield xml_element("gexf", {"xmlns": _NAMESPACE, "xmlns:viz": f"{_NAMESPACE}/viz", "version": "1.2"}, closed=False)
    yield "<meta><creator>isinglass</creator></meta>"
    yield xml_element("graph", {"mode": "static", "defaultedgetype": "undirected", "idtype": "string"}, closed=False)
    yield from _declarations("node", nodes)
    yield from _declarations("edge", edges)
    yield "<nodes>"
    for k, name in enumerate(graph.network.names):
        yield xml_element("node", {"id": f"n{k}", "label": name}, closed=False)
        yield from _values(nodes, k)
        if graph.node_colors is not None:
            yield _color(graph.node_colors[k])
        if graph.positions is not None:
            x, y = (number_text(SPREAD * value) for value in graph.positions[k].tolist())
            yield xml_element("viz:position", {"x": x, "y": y, "z": "0.0"})
        yield "</node>"
    yield "</nodes>"
    yield "<edges>"
    for k, (s, t) in enumerate(graph.pairs):
        ends = {"id": str(k), "source": f"n{s}", "target": f"n{t}", "weight": cell_text(weights[k])}  # type: ignore[arg-type]
        yield xml_element("edge", ends, closed=False)
        yield from _values(edges, k)
        yield _color(colors[k])
        yield "</edge>"
    yield from ("</edges>", "</graph>", "</gexf>")


def _declarations(of: str, columns: Mapping[str, Column]) -> Iterator[str]:
    yield xml_element("attributes", {"class": of, "mode": "static"}, closed=False)
    for number, (name, column) in enumerate(columns.items()):
        yield xml_element("attribute", {"id": str(number), "title": name, "type": _TYPES[column.kind]})
    yield "</attributes>"


def _values(columns: Mapping[str, Column], k: int) -> Iterator[str]:
    yield "<attvalues>"
    for number, column in enumerate(columns.values()):
        if (value := column.values[k]) is not None:
            yield xml_element("attvalue", {"for": str(number), "value": cell_text(value)})
    yield "</attvalues>"


def _color(color: str) -> str:
    red, green, blue = channels(color)
    return xml_element("viz:color", {"r": str(red), "g": str(green), "b": str(blue)})
