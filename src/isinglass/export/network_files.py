"""Networks as CSV, GEXF (Gephi), GraphML and JSON files, and as networkx graphs.

CSV is UTF-8 with line feeds, quoted as in RFC 4180. GEXF is version 1.2draft: networkx before 3.6 does not read 1.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from isinglass.arguments import check_word
from isinglass.atomic import Target, write_lines
from isinglass.errors import ArgumentError, DataError
from isinglass.evaluate.centrality import import_networkx
from isinglass.export.attributes import Annotated, AttributeTable, Columns, Positions, annotate, xml_type
from isinglass.export.escaping import Cell, csv_line, storable, value_text, xml_characters
from isinglass.export.printing import SPELLINGS, ending_of, print_columns
from isinglass.json_text import JsonObject, json_text
from isinglass.network import Network
from isinglass.results import NetworkLike
from isinglass.show.palette import SIGNS, GroupColors, channels

KIND, VERSION = "isinglass network", 1
SUFFIXES = {".csv": "edges", ".md": "edges", ".tex": "edges", ".gexf": "gexf", ".graphml": "graphml", ".json": "json"}
SPREAD = 1000.0  # factor of positions in GEXF: Gephi draws a node about 10 units wide, and a layout lies in [−1, 1]²
_GEXF = "http://www.gexf.net/1.2draft"
_GRAPHML = "http://graphml.graphdrawing.org/xmlns"


def write_network(
    network: NetworkLike,
    path: Target,
    format: str | None = None,
    *,
    node_attributes: AttributeTable | None = None,
    edge_attributes: AttributeTable | None = None,
    color_by: str | None = None,
    group_colors: GroupColors | None = None,
    positions: Positions | None = None,
) -> None:
    """Write a network to a file.

    Parameters
    ----------
    network : Network, Solution or fitted estimator
        The network.
    path : path, "-" or text stream
        Where to; "-" is the standard output. A file appears when it is complete.
    format : {"edges", "blocks", "nodes", "fields", "matrix", "gexf", "graphml", "json"}, optional
        By default from the ending of the name: ``.csv`` (the edges), ``.gexf``, ``.graphml`` or ``.json``. ``blocks``
        is a CSV file with one line for every two categories of every edge; the category is empty, and the coupling per
        unit of score, where a column is not nominal. ``fields`` (thresholds) has one line for every category of every
        node, ``matrix`` the signed couplings (norms for pairs without a sign). A file whose name ends in ``.md`` or
        ``.tex`` has the same table for print, rounded to three digits (`write_table`). In GEXF nodes are called n0,
        n1, …, and the weight of an edge is |coupling|, as Gephi's layouts do not work with negative weights.
    node_attributes, edge_attributes : mapping of str to sequence, or data frame, optional
        Columns with one value per node, or per edge in the order of ``network.edges()``: the largest absolute coupling
        first. Values are texts, numbers, booleans, None where there is none.
    color_by : str, optional
        The node attribute whose values are groups with a color each, in the column ``color``.
    group_colors : mapping, optional
        Colors of some of these groups, ``#rrggbb`` or a name such as "red"; the others are chosen.
    positions : array-like of shape (n_features, 2) or mapping, optional
        Positions of the nodes, in order or by name, for example from `isinglass.layout`; in GEXF (times 1000) and JSON.

    Examples
    --------
    >>> from isinglass import Network
    >>> model = Network.from_couplings([[0, 1.5], [1.5, 0]], [0.5, 0], names=["tea, green", "rain"])
    >>> write_network(model, "-", "edges")
    source,target,coupling,sign,weight
    "tea, green",rain,1.5,1,1.5
    >>> write_network(model, "-", "nodes", node_attributes={"cups": [3, None]})
    name,field,degree,strength,cups
    "tea, green",0.5,1,1.5,3
    rain,0.0,1,1.5,
    """
    ending = ending_of(path)
    if format is None:
        if ending not in SUFFIXES:
            remedy = f"Or say the format: {', '.join([*ROWS, *LINES])}."
            raise ArgumentError("path", f"must end in {', '.join(SUFFIXES)}", str(path), remedy)
        format = SUFFIXES[ending]
    check_word("format", format, (*ROWS, *LINES))
    is_print = ending in (".md", ".tex") and format in ROWS
    if is_print and format == "matrix":
        raise DataError("a matrix is written as CSV: its columns are nodes, too many for print. Write .csv.")
    graph = annotate(network, node_attributes, edge_attributes, color_by, group_colors, positions)
    if format in LINES:
        write_lines(LINES[format](graph), path)
    elif is_print:
        head, *rows = ROWS[format](graph)
        columns = [(str(name), [row[k] for row in rows]) for k, name in enumerate(head)]
        write_lines(print_columns(columns, SPELLINGS[ending], 3), path)
    else:
        write_lines(map(csv_line, ROWS[format](graph)), path)


def to_networkx(network: NetworkLike) -> Any:  # Any: a graph of networkx, which has no types
    """Return a ``networkx.Graph`` whose nodes are the names.

    Nodes have ``field`` (or ``kind`` and ``categories``), ``degree`` and ``strength``, edges ``coupling``, ``sign`` and
    ``weight`` (|coupling|). Add others by ``networkx.set_node_attributes``; networkx comes with
    ``pip install "isinglass[graph]"``.

    Examples
    --------
    >>> from isinglass import Network
    >>> graph = to_networkx(Network.from_couplings([[0, -1.5], [-1.5, 0]], [0, 0], names=["tea", "coffee"]))
    >>> graph.edges["tea", "coffee"]
    {'coupling': -1.5, 'sign': -1, 'weight': 1.5}
    """
    networkx = import_networkx()
    graph = annotate(network)
    result, nodes = networkx.Graph(), graph.network.names
    result.add_nodes_from((name, _cells(graph.nodes, k)) for k, name in enumerate(nodes))
    result.add_edges_from((nodes[s], nodes[t], _cells(graph.edges, k)) for k, (s, t) in enumerate(graph.pairs))
    return result


def _cells(columns: Columns, k: int) -> dict[str, Cell]:
    return {name: column[k] for name, column in columns.items()}


def _edge_rows(graph: Annotated) -> Iterator[Sequence[Cell]]:
    names = graph.network.names
    yield ["source", "target", *graph.edges]
    for (s, t), *values in zip(graph.pairs, *graph.edges.values(), strict=True):
        yield [names[s], names[t], *values]


def _node_rows(graph: Annotated) -> Iterator[Sequence[Cell]]:
    yield ["name", *graph.nodes]
    yield from zip(graph.network.names, *graph.nodes.values(), strict=True)


def _matrix_rows(graph: Annotated) -> Iterator[Sequence[Cell]]:
    """Yield one row per node; only one is dense at a time."""
    names, couplings = graph.network.names, graph.network.couplings_sparse
    yield ["", *names]
    for k, name in enumerate(names):
        yield [name, *couplings[[k]].toarray().ravel().tolist()]


def _block_rows(graph: Annotated) -> Iterator[Sequence[Cell]]:
    yield ["source", "target", "source_category", "target_category", "coupling"]
    network = graph.network
    for k, (s, t) in zip(network.by_strength.tolist(), graph.pairs, strict=True):
        ends = network.names[s], network.names[t]
        if network.edge_signs[k]:
            yield *ends, None, None, network.edge_values[k].item()
            continue
        rows, columns = (
            [None] if network.variables.has_scores[node] else network.variables.labels[node] for node in (s, t)
        )
        for row, line in zip(rows, network.blocks[k].tolist(), strict=True):
            for column, coupling in zip(columns, line, strict=True):
                yield *ends, row, column, coupling


def _field_rows(graph: Annotated) -> Iterator[Sequence[Cell]]:
    yield ["name", "category", "field"]
    network = graph.network
    fields = network.variables.split(network.category_fields)
    for name, labels, values in zip(network.names, network.variables.labels, fields, strict=True):
        for label, value in zip(labels, values.tolist(), strict=True):
            yield name, label, value


def _json_lines(graph: Annotated) -> Iterator[str]:
    """Yield the node-link layout of networkx, a line per node and per edge; infinite numbers become null."""
    network = graph.network
    nodes = [
        {"id": k, "name": storable(name), **_cells(graph.nodes, k), **_json_categories(network, k)}
        for k, name in enumerate(network.names)
    ]
    if graph.positions is not None:
        nodes = [{**node, "x": x, "y": y} for node, (x, y) in zip(nodes, graph.positions.tolist(), strict=True)]
    edges = [{"source": s, "target": t, **_cells(graph.edges, k)} for k, (s, t) in enumerate(graph.pairs)]
    for edge, k in zip(edges, network.by_strength.tolist(), strict=True):
        edge |= {} if network.edge_signs[k] else {"block": network.blocks[k]}
    head = {"kind": KIND, "version": VERSION, "directed": False, "multigraph": False, "graph": graph.facts}
    yield json_text(head).removesuffix("}") + ","
    yield from ('"nodes": [', ",\n".join(map(json_text, nodes)), "],")
    yield from ('"edges": [', ",\n".join(map(json_text, edges)), "]}")


def _json_categories(network: Network, node: int) -> JsonObject:
    """Return what the categories of a node are, in place of the text about them; nothing for 0 and 1."""
    variables = network.variables
    if variables.is_binary:
        return {}
    texts = [None if value is None else storable(str(value)) for value in variables.categories[node]]
    fields = variables.split(network.category_fields)[node]
    return {"categories": texts, "scores": variables.score(node), "fields": fields}


def _gexf_lines(graph: Annotated) -> Iterator[str]:
    """Yield the lines of a GEXF file; nodes are called n0, n1, …, and their names are labels."""
    edge_columns = dict(graph.edges)
    weights = edge_columns.pop("weight")  # an attribute of the edge itself
    signs = graph.network.edge_signs[graph.network.by_strength].tolist()
    edge_columns["color"] = [SIGNS[sign] for sign in signs]
    root = Element("gexf", {"xmlns": _GEXF, "xmlns:viz": f"{_GEXF}/viz", "version": "1.2"})
    body = SubElement(root, "graph", mode="static", defaultedgetype="undirected", idtype="string")
    for of, columns in (("node", graph.nodes), ("edge", edge_columns)):
        declared = SubElement(body, "attributes", {"class": of, "mode": "static"})
        for name, column in columns.items():
            SubElement(declared, "attribute", id=name, title=name, type=xml_type(column))
    nodes, edges = SubElement(body, "nodes"), SubElement(body, "edges")
    for k, name in enumerate(graph.network.names):
        node = SubElement(nodes, "node", id=f"n{k}", label=xml_characters(name))
        _add_gexf_values(node, graph.nodes, k)
        if graph.positions is not None:
            x, y = (value_text(SPREAD * value) for value in graph.positions[k].tolist())
            SubElement(node, "viz:position", x=x, y=y, z="0.0")
    for k, (s, t) in enumerate(graph.pairs):
        edge = SubElement(edges, "edge", id=f"{k}", source=f"n{s}", target=f"n{t}", weight=value_text(weights[k]))
        _add_gexf_values(edge, edge_columns, k)
    yield from _xml_lines(root)


def _add_gexf_values(element: Element, columns: Columns, k: int) -> None:
    """Add the attributes of a node or an edge, and its color if it has one."""
    values = SubElement(element, "attvalues")
    for name, value in _present(columns, k).items():
        SubElement(values, "attvalue", {"for": name, "value": value})
    if "color" in columns:
        color = channels(str(columns["color"][k]))
        SubElement(element, "viz:color", dict(zip("rgb", map(str, color), strict=True)))


def _graphml_lines(graph: Annotated) -> Iterator[str]:
    """Yield the lines of a GraphML file, in which nodes are identified by their names."""
    names = [xml_characters(name) or "(no name)" for name in graph.network.names]  # igraph refuses an empty id
    if len(set(names)) < len(names):
        raise DataError("names must differ in more than control characters for GraphML. Rename nodes, or write GEXF.")
    root = Element("graphml", xmlns=_GRAPHML)
    for of, columns in (("node", graph.nodes), ("edge", graph.edges)):
        for name, column in columns.items():
            key = {"id": f"{of} {name}", "for": of, "attr.name": name, "attr.type": xml_type(column)}
            SubElement(root, "key", key)
    body = SubElement(root, "graph", edgedefault="undirected")
    for k, name in enumerate(names):
        node = SubElement(body, "node", id=name)
        _add_graphml_values(node, "node", _present(graph.nodes, k))
    for k, (s, t) in enumerate(graph.pairs):
        edge = SubElement(body, "edge", source=names[s], target=names[t])
        _add_graphml_values(edge, "edge", _present(graph.edges, k))
    yield from _xml_lines(root)


def _add_graphml_values(element: Element, of: str, values: Mapping[str, str]) -> None:
    for name, value in values.items():
        SubElement(element, "data", key=f"{of} {name}").text = value


def _present(columns: Columns, k: int) -> dict[str, str]:
    return {name: xml_characters(value_text(value)) for name, value in _cells(columns, k).items() if value is not None}


def _xml_lines(root: Element) -> Iterator[str]:
    indent(root)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield tostring(root, encoding="unicode")


ROWS: Mapping[str, Callable[[Annotated], Iterator[Sequence[Cell]]]] = {
    "edges": _edge_rows,
    "blocks": _block_rows,
    "nodes": _node_rows,
    "fields": _field_rows,
    "matrix": _matrix_rows,
}
"""Formats that are tables, CSV or for print: their rows, the header first."""
LINES: dict[str, Callable[[Annotated], Iterator[str]]] = {
    "gexf": _gexf_lines,
    "graphml": _graphml_lines,
    "json": _json_lines,
}
"""All other formats: their lines."""
WITH_POSITIONS = ("gexf", "json")
"""Formats that hold the positions of nodes."""
