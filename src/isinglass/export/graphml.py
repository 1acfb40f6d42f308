"""GraphML, which Cytoscape, Gephi, yEd, igraph and networkx read.

Programs look for different names of the same thing, so that some things are said twice: a node's name is its ``name``
for Cytoscape and igraph and its ``label`` for Gephi and yEd; a colour is ``color`` for Cytoscape and r, g, b for Gephi.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from isinglass.export.columns import Cell, Column
from isinglass.export.graph import Graph, Network, read_graph
from isinglass.export.output import Target, write_lines
from isinglass.export.text import cell_text, xml_element, xml_text
from isinglass.show.palette import channels

__all__ = ["write_graphml"]

SPREAD = 1000.0
"""As in GEXF: programs draw a node some 10 units wide."""
_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_TYPES = {"text": "string", "real": "double", "integer": "long", "boolean": "boolean"}


def write_graphml(
    network: Network,
    path: Target,
    *,
    names: Sequence[str] | None = None,
    node_attributes: Mapping[str, Sequence[Any]] | None = None,
    edge_attributes: Mapping[str, ArrayLike] | None = None,
    color_by: str | None = None,
    group_colors: Mapping[Any, str] | None = None,
    positions: ArrayLike | None = None,
) -> None:
    """Write a network for Cytoscape, Gephi, yEd or igraph.

    An edge has ``weight`` = |coupling|, because most layouts and statistics want weights that are not negative, and
    ``coupling``, ``sign`` and ``color`` beside it. A node has ``field``, ``degree``, ``strength`` and its attributes.
    Nodes are called n0, n1, … in the file; their names are in ``name`` and ``label``.

    Parameters
    ----------
    network, names, node_attributes, edge_attributes, color_by, group_colors, positions
        As for `write_network`. Positions are multiplied by 1000 and called ``x`` and ``y``.
    path : path, "-" or text stream
        Where to; "-" is the standard output.

    Examples
    --------
    >>> from isinglass import IsingModel
    >>> import io
    >>> file = io.StringIO()
    >>> write_graphml(IsingModel([[0, -1.5], [-1.5, 0]], [0, 0], names=["R&D", "sales"]), file)
    >>> [line for line in file.getvalue().splitlines() if "<edge" in line]
    ['<edge source="n0" target="n1">']
    """
    graph = read_graph(
        network,
        names=names,
        node_attributes=node_attributes,
        edge_attributes=edge_attributes,
        color_by=color_by,
        group_colors=group_colors,
        positions=positions,
    )
    write_lines(_lines(graph), path)


def _lines(graph: Graph) -> Iterator[str]:
    nodes, edges = _node_values(graph), {**graph.edge_values, **_color_columns(graph.edge_colors)}
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield xml_element("graphml", {"xmlns": _NAMESPACE}, closed=False)
    yield from _declarations("node", nodes)
    yield from _declarations("edge", edges)
    yield xml_element("graph", {"id": "network", "edgedefault": "undirected"}, closed=False)
    for k in range(graph.n_nodes):
        yield xml_element("node", {"id": f"n{k}"}, closed=False)
        yield from _values("node", nodes, k)
        yield "</node>"
    for k, (s, t, _) in enumerate(graph.pairs()):
        yield xml_element("edge", {"source": f"n{s}", "target": f"n{t}"}, closed=False)
        yield from _values("edge", edges, k)
        yield "</edge>"
    yield from ("</graph>", "</graphml>")


def _node_values(graph: Graph) -> dict[str, Column]:
    columns = {"name": Column("text", graph.names), "label": Column("text", graph.names), **graph.node_values}
    if graph.node_colors is not None:
        columns |= _color_columns(graph.node_colors)
    if graph.positions is not None:
        x, y = SPREAD * graph.positions.T
        columns |= {"x": Column("real", tuple(x.tolist())), "y": Column("real", tuple(y.tolist()))}
    return columns


def _color_columns(colors: Sequence[str]) -> dict[str, Column]:
    parts: list[tuple[Cell, ...]] = list(zip(*map(channels, colors), strict=True)) or [(), (), ()]
    return {
        "color": Column("text", tuple(colors)),
        **{name: Column("integer", part) for name, part in zip("rgb", parts, strict=True)},
    }


def _type(column: Column) -> str:
    """Return the narrowest type: some readers know int but not long."""
    whole = [value for value in column.values if isinstance(value, int)]
    if column.kind == "integer" and all(-(2**31) <= value < 2**31 for value in whole):
        return "int"
    return _TYPES[column.kind]


# Gephi takes the keys d3 and d7 for labels, whatever their names.
def _declarations(of: str, columns: Mapping[str, Column]) -> Iterator[str]:
    for number, (name, column) in enumerate(columns.items()):
        key = {"id": f"{of}{number}", "for": of, "attr.name": name, "attr.type": _type(column)}
        yield xml_element("key", key)


def _values(of: str, columns: Mapping[str, Column], k: int) -> Iterator[str]:
    for number, column in enumerate(columns.values()):
        if (value := column.values[k]) is not None:
            yield f'<data key="{of}{number}">{xml_text(cell_text(value))}</data>'
