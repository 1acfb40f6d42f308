"""Networks as CSV, GEXF (Gephi), GraphML and JSON files, and as networkx graphs.

CSV is UTF-8 with line feeds, quoted as in RFC 4180. GEXF is version 1.2draft: networkx before 3.6 does not read 1.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from isinglass.arguments import check_flag, check_word
from isinglass.atomic import Target, write_lines
from isinglass.errors import ArgumentError
from isinglass.evaluate.centrality import import_networkx
from isinglass.export.attributes import Annotated, AttributeTable, Cell, Column, Positions, annotate
from isinglass.export.escaping import csv_line, storable, value_text, xml_element, xml_ids, xml_text
from isinglass.export.printing import SPELLINGS, ending_of, print_columns
from isinglass.json_text import json_text
from isinglass.network import Network
from isinglass.network_like import NetworkLike
from isinglass.show.palette import SIGNS, GroupColors, channels

KIND, VERSION = "isinglass network", 1
SUFFIXES = {".csv": "edges", ".md": "edges", ".tex": "edges", ".gexf": "gexf", ".graphml": "graphml", ".json": "json"}
SPREAD = 1000.0  # factor of positions in GEXF: Gephi draws a node about 10 units wide, and a layout lies in [−1, 1]²
_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
_GEXF = "http://www.gexf.net/1.2draft"
_GRAPHML = "http://graphml.graphdrawing.org/xmlns"
_TYPES = {"text": "string", "real": "double", "integer": "long", "boolean": "boolean"}


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
    spreadsheet_safe: bool = False,
) -> None:
    """Write a network to a file.

    CSV files have no colors and no positions, GraphML files no positions. In GEXF nodes are called n0, n1, …, and their
    names are the labels; the weight of an edge is |coupling|, as Gephi's layouts and statistics do not work with
    negative weights. Positions are multiplied by 1000 there.

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
        ``.tex`` has the same table for print, rounded to three digits (`write_table`).
    node_attributes : mapping of str to sequence, or data frame, optional
        Columns with one value per node: texts, numbers, booleans, None where there is none.
    edge_attributes : mapping of str to sequence, or data frame, optional
        Columns with one value per edge, in the order of ``network.edges()``: the largest absolute coupling first.
    color_by : str, optional
        The node attribute whose values are groups with a color each.
    group_colors : mapping, optional
        Colors of some of these groups, ``#rrggbb`` or a name such as "red"; the others are chosen.
    positions : array-like of shape (n_features, 2) or mapping, optional
        Positions of the nodes, in order or by name, for example from `isinglass.layout`.
    spreadsheet_safe : bool, default False
        Put an apostrophe before texts in a CSV file that a spreadsheet would run as formulas: those that begin with
        ``=``, ``+``, ``-``, ``@``, a tab or a carriage return.

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
    check_flag("spreadsheet_safe", spreadsheet_safe)
    graph = annotate(
        network,
        node_attributes=node_attributes,
        edge_attributes=edge_attributes,
        color_by=color_by,
        group_colors=group_colors,
        positions=positions,
    )
    if format in LINES:
        write_lines(LINES[format](graph), path)
    elif ending in (".md", ".tex"):
        head, *rows = ROWS[format](graph)
        columns = [(str(name), [row[k] for row in rows]) for k, name in enumerate(head)]
        write_lines(print_columns(columns, SPELLINGS[ending], 3, of_nodes=format == "matrix"), path)
    else:
        write_lines((csv_line(row, spreadsheet_safe=spreadsheet_safe) for row in ROWS[format](graph)), path)


def to_networkx(
    network: NetworkLike,
    *,
    node_attributes: AttributeTable | None = None,
    edge_attributes: AttributeTable | None = None,
) -> Any:  # Any: a graph of networkx, which has no types
    """Return a ``networkx.Graph`` whose nodes are the names.

    Nodes have ``field`` (or ``kind`` and ``categories``), ``degree``, ``strength`` and the attributes; edges
    ``coupling``, ``sign``, ``weight`` (|coupling|) and theirs. Missing values are left out. The other
    parameters are those of `write_network`; networkx comes with ``pip install "isinglass[graph]"``.

    Examples
    --------
    >>> from isinglass import Network
    >>> graph = to_networkx(Network.from_couplings([[0, -1.5], [-1.5, 0]], [0, 0], names=["tea", "coffee"]))
    >>> graph.edges["tea", "coffee"]
    {'coupling': -1.5, 'sign': -1, 'weight': 1.5}
    """
    networkx = import_networkx()
    graph = annotate(network, node_attributes=node_attributes, edge_attributes=edge_attributes)
    result, nodes = networkx.Graph(), graph.network.names
    result.add_nodes_from((name, _present(graph.nodes, k)) for k, name in enumerate(nodes))
    result.add_edges_from((nodes[s], nodes[t], _present(graph.edges, k)) for k, (s, t) in enumerate(graph.pairs))
    return result


def _present(columns: Mapping[str, Column], k: int) -> dict[str, Cell]:
    return {name: column.values[k] for name, column in columns.items() if column.values[k] is not None}


def _edge_rows(graph: Annotated) -> Iterator[Sequence[Cell]]:
    names, columns = graph.network.names, [column.values for column in graph.edges.values()]
    yield ["source", "target", *graph.edges]
    for (s, t), *values in zip(graph.pairs, *columns, strict=True):
        yield [names[s], names[t], *values]


def _node_rows(graph: Annotated) -> Iterator[Sequence[Cell]]:
    yield ["name", *graph.nodes]
    yield from zip(graph.network.names, *(column.values for column in graph.nodes.values()), strict=True)


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
    """Yield the node-link layout of networkx, a line per node and per edge."""
    network, nodes = graph.network, graph.colored_nodes
    if graph.positions is not None:
        nodes |= {axis: Column("real", tuple(graph.positions[:, k].tolist())) for k, axis in enumerate("xy")}
    facts = {name: _json_cell(value) for name, value in graph.facts.items()}
    head = json_text({"kind": KIND, "version": VERSION, "directed": False, "multigraph": False, "graph": facts})
    yield head.removesuffix("}") + ","
    yield '"nodes": ['
    yield ",\n".join(
        json_text({"id": k, "name": storable(name), **_json_cells(nodes, k), **_json_categories(network, k)})
        for k, name in enumerate(network.names)
    )
    yield "],"
    yield '"edges": ['
    numbers = network.by_strength.tolist()
    blocks = ({} if network.edge_signs[k] else {"block": network.blocks[k].tolist()} for k in numbers)
    each = enumerate(zip(graph.pairs, blocks, strict=True))
    edges = ({"source": s, "target": t, **_json_cells(graph.edges, k), **block} for k, ((s, t), block) in each)
    yield ",\n".join(map(json_text, edges))
    yield "]}"


def _json_categories(network: Network, node: int) -> dict[str, object]:
    """Return what the categories of a node are, in place of the text about them; nothing for 0 and 1."""
    if network.variables.is_binary:
        return {}
    return {
        "categories": [None if value is None else storable(str(value)) for value in network.variables.categories[node]],
        "scores": network.variables.score(node),
        "fields": network.variables.split(network.category_fields)[node],
    }


def _json_cells(columns: Mapping[str, Column], k: int) -> dict[str, Cell]:
    return {name: _json_cell(column.values[k]) for name, column in columns.items()}


def _json_cell(value: Cell) -> Cell:
    """Return the value, or a text for infinity, which strict JSON does not have."""
    return value_text(value) if isinstance(value, float) and math.isinf(value) else value


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
            x, y = (value_text(SPREAD * value) for value in graph.positions[k].tolist())
            yield xml_element("viz:position", {"x": x, "y": y, "z": "0.0"})
        yield "</node>"
    yield "</nodes>"
    yield "<edges>"
    for k, (s, t) in enumerate(graph.pairs):
        ends = {"id": str(k), "source": f"n{s}", "target": f"n{t}", "weight": value_text(weights[k])}
        yield xml_element("edge", ends, closed=False)
        yield from _gexf_values(edges, k)
        yield _gexf_color(colors[k])
        yield "</edge>"
    yield from ("</edges>", "</graph>", "</gexf>")


def _gexf_values(columns: Mapping[str, Column], k: int) -> Iterator[str]:
    yield "<attvalues>"
    for number, column in enumerate(columns.values()):
        if (value := column.values[k]) is not None:
            yield xml_element("attvalue", {"for": str(number), "value": value_text(value)})
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
            yield xml_element("data", {"key": f"{of}{number}"}, closed=False) + xml_text(value_text(value)) + "</data>"


ROWS: Mapping[str, Callable[[Annotated], Iterator[Sequence[Cell]]]] = {
    "edges": _edge_rows,
    "blocks": _block_rows,
    "nodes": _node_rows,
    "fields": _field_rows,
    "matrix": _matrix_rows,
}
"""Formats that are tables, CSV or for print: their rows, the header first."""
LINES: dict[str, Callable[[Annotated], Iterator[str]]] = {
    "gexf": gexf_lines,
    "graphml": graphml_lines,
    "json": _json_lines,
}
"""All other formats: their lines."""
WITH_POSITIONS = ("gexf", "json")
"""Formats that hold the positions of nodes."""
