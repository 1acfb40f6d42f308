"""The formats that are XML: GEXF (Gephi) and GraphML (Cytoscape, yEd, igraph).

GEXF is version 1.2draft: networkx before 3.6 does not read 1.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from isinglass.export.attributes import Annotated, Column
from isinglass.export.escaping import cell_text, xml_element, xml_ids, xml_text
from isinglass.show.palette import SIGNS, channels

SPREAD = 1000.0  # factor of positions in GEXF: Gephi draws a node about 10 units wide, and a layout lies in [−1, 1]²
_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
_GEXF = "http://www.gexf.net/1.2draft"
_GRAPHML = "http://graphml.graphdrawing.org/xmlns"
_TYPES = {"text": "string", "real": "double", "integer": "long", "boolean": "boolean"}


def gexf_lines(graph: Annotated) -> Iterator[str]:
    """Yield the lines of a GEXF file; nodes are called n0, n1, …, and their names are labels."""
    nodes, edges = graph.colored_nodes, dict(graph.edges)
    colors = [SIGNS[sign] for sign in edges["sign"].values]  # type: ignore[index]  # integers
    weights = edges.pop("weight").values  # an attribute of the edge itself
    edges["color"] = Column("text", tuple(colors))
    yield _DECLARATION
    yield xml_element("gexf", {"xmlns": _GEXF, "xmlns:viz": f"{_GEXF}/viz", "version": "1.2"}, closed=False)
    yield "<meta><creator>isinglass</creator></meta>"
    yield xml_element("graph", {"mode": "static", "defaultedgetype": "undirected", "idtype": "string"}, closed=False)
    for of, columns in (("node", nodes), ("edge", edges)):
        yield xml_element("attributes", {"class": of, "mode": "static"}, closed=False)
        for number, (name, column) in enumerate(columns.items()):
            yield xml_element("attribute", {"id": str(number), "title": name, "type": _TYPES[column.kind]})
        yield "</attributes>"
    yield "<nodes>"
    for k, name in enumerate(graph.network.names):
        yield xml_element("node", {"id": f"n{k}", "label": name}, closed=False)
        yield from _gexf_values(nodes, k)
        if graph.colors is not None:
            yield _gexf_color(str(graph.colors.values[k]))
        if graph.positions is not None:
            x, y = (cell_text(SPREAD * value) for value in graph.positions[k].tolist())
            yield xml_element("viz:position", {"x": x, "y": y, "z": "0.0"})
        yield "</node>"
    yield "</nodes>"
    yield "<edges>"
    for k, (s, t) in enumerate(graph.pairs):
        ends = {"id": str(k), "source": f"n{s}", "target": f"n{t}", "weight": cell_text(weights[k])}
        yield xml_element("edge", ends, closed=False)
        yield from _gexf_values(edges, k)
        yield _gexf_color(colors[k])
        yield "</edge>"
    yield from ("</edges>", "</graph>", "</gexf>")


def _gexf_values(columns: Mapping[str, Column], k: int) -> Iterator[str]:
    yield "<attvalues>"
    for number, column in enumerate(columns.values()):
        if (value := column.values[k]) is not None:
            yield xml_element("attvalue", {"for": str(number), "value": cell_text(value)})
    yield "</attvalues>"


def _gexf_color(color: str) -> str:
    red, green, blue = map(str, channels(color))
    return xml_element("viz:color", {"r": red, "g": green, "b": blue})


def graphml_lines(graph: Annotated) -> Iterator[str]:
    """Yield the lines of a GraphML file, in which nodes are identified by their names."""
    names, nodes, edges = xml_ids(graph.network.names), graph.colored_nodes, graph.edges
    yield _DECLARATION
    yield xml_element("graphml", {"xmlns": _GRAPHML}, closed=False)
    for of, columns in (("node", nodes), ("edge", edges)):
        for number, (name, column) in enumerate(columns.items()):
            key = {"id": f"{of}{number}", "for": of, "attr.name": name, "attr.type": _TYPES[column.kind]}
            yield xml_element("key", key)
    yield xml_element("graph", {"edgedefault": "undirected"}, closed=False)
    for k, name in enumerate(names):
        yield xml_element("node", {"id": name}, closed=False)
        yield from _graphml_values("node", nodes, k)
        yield "</node>"
    for k, (s, t) in enumerate(graph.pairs):
        yield xml_element("edge", {"source": names[s], "target": names[t]}, closed=False)
        yield from _graphml_values("edge", edges, k)
        yield "</edge>"
    yield from ("</graph>", "</graphml>")


def _graphml_values(of: str, columns: Mapping[str, Column], k: int) -> Iterator[str]:
    for number, column in enumerate(columns.values()):
        if (value := column.values[k]) is not None:
            yield xml_element("data", {"key": f"{of}{number}"}, closed=False) + xml_text(cell_text(value)) + "</data>"
