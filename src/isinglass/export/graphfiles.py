"""Networks for programs that draw graphs: GEXF for Gephi, JSON with a version, and objects of networkx.

GEXF is written as version 1.2draft: networkx reads version 1.3 from its release 3.6 on only, and Gephi reads both.
Nothing that was added in 1.3 is needed here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from isinglass.atomic import Target, write_lines
from isinglass.categories import CategoryNetwork
from isinglass.export.annotated import Annotated, Cell, Column, annotate
from isinglass.export.escaping import cell_text, storable, xml_element
from isinglass.network import Network
from isinglass.show.palette import channels

SPREAD = 1000.0
"""Gephi draws a node about 10 units wide: a layout in [−1, 1]² has to be spread out."""
KIND, VERSION = "isinglass network", 1
_NAMESPACE = "http://www.gexf.net/1.2draft"
_TYPES = {"text": "string", "real": "double", "integer": "long", "boolean": "boolean"}


def write_gexf(network: Any, path: Target, **attributes: Any) -> None:
    """Write a network for Gephi; the arguments are those of `write_network`.

    An edge has ``weight`` = |coupling|, because Gephi's layouts and statistics do not work with negative weights, and
    ``coupling``, ``sign`` and ``color`` beside it; an edge without a sign has sign 0 and is gray. A node has ``field``
    (or ``kind`` and ``categories``), ``degree``, ``strength`` and its attributes.
    Nodes are called n0, n1, … in the file; their names are the labels. Positions are multiplied by 1000, so that
    [−1, 1]² fills Gephi's window.

    Examples
    --------
    >>> from isinglass import Network
    >>> import io
    >>> file = io.StringIO()
    >>> write_gexf(Network.from_couplings([[0, -1.5], [-1.5, 0]], [0, 0], names=["R&D", "sales"]), file)
    >>> [line for line in file.getvalue().splitlines() if "<node " in line]
    ['<node id="n0" label="R&amp;D">', '<node id="n1" label="sales">']
    """
    write_lines(_gexf_lines(annotate(network, **attributes)), path)


def to_json(network: Any, **attributes: Any) -> str:
    """Return a network as JSON: ``kind``, ``version``, ``graph``, ``nodes`` and ``edges``.

    The ``id`` of a node is its number, and ``source`` and ``target`` of an edge are such numbers: both
    ``networkx.node_link_graph(data, edges="edges")`` and d3-force read it. ``graph`` holds alpha and the certificate
    where they are known. Missing attributes are null, infinite ones the texts "Infinity" and "-Infinity". Positions are
    ``x`` and ``y`` of the nodes. The arguments are those of `write_network`.

    Where columns have more than two categories, nodes have ``kind``, ``categories``, ``scores`` (null for a nominal
    column) and in ``fields`` one for each category; an edge without a sign has its table of couplings in ``block``.

    Examples
    --------
    >>> from isinglass import Network
    >>> found = json.loads(to_json(Network.from_couplings([[0, -1.5], [-1.5, 0]], [0, 0], names=["tea", "coffee"])))
    >>> found["nodes"][0]["name"], found["edges"]
    ('tea', [{'source': 0, 'target': 1, 'coupling': -1.5, 'sign': -1, 'weight': 1.5}])
    """
    return "\n".join(_json_lines(annotate(network, **attributes)))


def write_json(network: Any, path: Target, **attributes: Any) -> None:
    """Write what `to_json` returns, one node or edge per line.

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
    write_lines(_json_lines(annotate(network, **attributes)), path)


def to_networkx(network: Any, **attributes: Any) -> Any:
    """Return a ``networkx.Graph`` whose nodes are the names, isolated ones included.

    Nodes have ``field`` (or ``kind`` and ``categories``), ``degree``, ``strength`` and the attributes; edges
    ``coupling``, ``sign``, ``weight`` (|coupling|) and theirs. Missing values are left out. The arguments are
    ``names``, ``node_attributes`` and ``edge_attributes`` of `write_network`; networkx comes with
    ``pip install "isinglass[graph]"``.

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
    graph = annotate(network, **attributes)
    result = networkx.Graph()
    labels, nodes, edges = graph.network.names, graph.node_values, graph.edge_values
    result.add_nodes_from((name, _present(nodes, k)) for k, name in enumerate(labels))
    result.add_edges_from((labels[s], labels[t], _present(edges, k)) for k, (s, t) in enumerate(graph.pairs))
    return result


def _present(columns: Mapping[str, Column], k: int) -> dict[str, Cell]:
    return {name: column.values[k] for name, column in columns.items() if column.values[k] is not None}


def _gexf_lines(graph: Annotated) -> Iterator[str]:
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
            x, y = (cell_text(SPREAD * value) for value in graph.positions[k].tolist())
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


def _json_lines(graph: Annotated) -> Iterator[str]:
    facts = {name: _cell(value) for name, value in graph.facts.items()}
    head = {"kind": KIND, "version": VERSION, "directed": False, "multigraph": False, "graph": facts}
    yield _dump(head)[:-1] + ","
    yield '"nodes": ['
    columns = graph.node_values
    if graph.positions is not None:
        x, y = graph.positions.T.tolist()
        columns |= {"x": Column("real", tuple(x)), "y": Column("real", tuple(y))}
    for k, name in enumerate(graph.network.names):
        node = {"id": k, "name": storable(name), **_cells(columns, k), **_categories(graph.network, k)}
        yield _dump(node) + ("," if k + 1 < graph.network.n_features else "")
    yield "],"
    yield '"edges": ['
    columns, order = graph.edge_values, graph.network.by_strength
    for k, (s, t) in enumerate(graph.pairs):
        edge = {"source": s, "target": t, **_cells(columns, k), **_block(graph.network, int(order[k]))}
        yield _dump(edge) + ("," if k + 1 < graph.network.n_edges else "")
    yield "]}"


def _categories(network: Network, k: int) -> dict[str, Any]:
    """Return the categories of a node, what they are called, their scores and their fields."""
    if not isinstance(network, CategoryNetwork):
        return {}
    score = network.scores[k]
    return {
        "categories": [storable(label) for label in network.labels[k]],
        "scores": None if score is None else score.tolist(),
        "fields": network.category_fields[k].tolist(),
    }


def _block(network: Network, k: int) -> dict[str, Any]:
    """Return the table of an edge that has more than one number."""
    if not isinstance(network, CategoryNetwork) or network.is_signed[k]:
        return {}
    return {"block": network.blocks[k].tolist()}


def _cells(columns: Mapping[str, Column], k: int) -> dict[str, Cell]:
    return {name: _cell(column.values[k]) for name, column in columns.items()}


def _cell(value: Cell) -> Cell:
    """Return what strict JSON can hold: it has no infinity."""
    return cell_text(value) if isinstance(value, float) and math.isinf(value) else value


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
