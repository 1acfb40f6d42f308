"""Networks as CSV files, and one function for all formats.

CSV is UTF-8 with line feeds, quoted as RFC 4180 says. Names are written as they are: a file is read back with the names
it was made from. Only ``spreadsheet_safe=True`` changes them, where a spreadsheet would take a name for a formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from isinglass.atomic import Target, TextStream, write_lines
from isinglass.categories import CategoryNetwork
from isinglass.errors import ArgumentError
from isinglass.export.annotated import annotate
from isinglass.export.escaping import csv_line
from isinglass.export.graphfiles import write_gexf, write_json
from isinglass.network import Network, as_network


def edge_table(network: Any, **attributes: Any) -> dict[str, list[Any]]:
    """Return the edges as columns, ready for a data frame: the largest |coupling| first, ties in node order.

    Parameters
    ----------
    network : Network, Solution or fitted estimator
        The network.
    **attributes
        ``names`` and ``edge_attributes``, as for `write_network`.

    Returns
    -------
    dict of str to list
        ``source``, ``target``, ``coupling`` (θ_st), ``sign`` (1 or -1), ``weight`` (|θ_st|) and the attributes. The
        sign of an edge with more than one parameter is 0, and its coupling the norm that is penalized.

    Examples
    --------
    >>> from isinglass import Network
    >>> model = Network.from_couplings([[0, 1, 0], [1, 0, -2], [0, -2, 0]], [0, 0, 0], names=["a", "b", "c"])
    >>> edge_table(model)["source"], edge_table(model)["coupling"], edge_table(model)["sign"]
    (['b', 'a'], [-2.0, 1.0], [-1, 1])
    """
    graph = annotate(network, **attributes)
    table = {name: column.tolist() for name, column in graph.network.edges().items()}
    return table | {name: list(column.values) for name, column in graph.edge_columns.items()}


def write_edges(network: Any, path: Target, *, spreadsheet_safe: bool = False, **attributes: Any) -> None:
    """Write the edge table as CSV; the arguments are those of `write_network`.

    Examples
    --------
    >>> from isinglass import Network
    >>> write_edges(Network.from_couplings([[0, 1.5], [1.5, 0]], [0, 0], names=["tea, green", "rain"]), "-")
    source,target,coupling,sign,weight
    "tea, green",rain,1.5,1,1.5
    """
    _write_table(edge_table(network, **attributes), path, spreadsheet_safe)


def write_blocks(
    network: Any, path: Target, *, names: Sequence[str] | None = None, spreadsheet_safe: bool = False
) -> None:
    """Write the couplings of all categories as CSV, one line for each two categories of each edge.

    An edge of a nominal column has a table of couplings that sum to zero over its categories. For any other column the
    category is empty, and the coupling is per unit of its score. The arguments are those of `write_network`.

    Examples
    --------
    >>> from isinglass import CategoryNetwork
    >>> fields, labels = [[0, 0, 0], [0, 0]], [["tea", "milk", "water"], ["no", "yes"]]
    >>> block = [[1.0], [0.5], [-1.5]]
    >>> network = CategoryNetwork(
    ...     fields, [None, [0, 1]], [[0, 1]], names=["drink", "tired"], categories=labels, blocks=[block]
    ... )
    >>> write_blocks(network, "-")
    source,target,source_category,target_category,coupling
    drink,tired,tea,,1.0
    drink,tired,milk,,0.5
    drink,tired,water,,-1.5
    """
    header = ["source", "target", "source_category", "target_category", "coupling"]
    _write_rows(chain([header], _block_rows(as_network(network, names))), path, spreadsheet_safe)


def write_nodes(network: Any, path: Target, *, spreadsheet_safe: bool = False, **attributes: Any) -> None:
    """Write name, field, degree, strength and the attributes of every node as CSV, in the order of the nodes.

    Where columns have more than two categories there is ``kind`` and ``categories`` instead of the field. The arguments
    are those of `write_network`.

    Examples
    --------
    >>> from isinglass import Network
    >>> model = Network.from_couplings([[0, -1.5], [-1.5, 0]], [0.5, 0], names=["tea", "coffee"])
    >>> write_nodes(model, "-", node_attributes={"cups": [3, None]})
    name,field,degree,strength,cups
    tea,0.5,1,1.5,3
    coffee,0.0,1,1.5,
    """
    graph = annotate(network, **attributes)
    columns = {"name": graph.network.names, **{name: column.values for name, column in graph.node_values.items()}}
    _write_table(columns, path, spreadsheet_safe)


def write_matrix(
    network: Any,
    path: Target,
    *,
    names: Sequence[str] | None = None,
    fields: bool = False,
    spreadsheet_safe: bool = False,
) -> None:
    """Write the signed couplings as a square CSV with the names in the first line and in the first column.

    With ``fields`` the diagonal holds the fields: the paper's Θ, which `Network.from_theta` reads; zeros otherwise. The
    other arguments are those of `write_network`.

    Examples
    --------
    >>> from isinglass import Network
    >>> network = Network([0.5, 0], [[0, 1]], [-1.5], names=["tea", "coffee"])
    >>> write_matrix(network, "-", fields=True)
    "",tea,coffee
    tea,0.5,-1.5
    coffee,-1.5,0.0
    """
    _write_rows(_matrix_rows(as_network(network, names), fields), path, spreadsheet_safe)


def _write_rows(rows: Iterable[Iterable[Any]], path: Target, spreadsheet_safe: bool) -> None:
    write_lines((csv_line(row, spreadsheet_safe=spreadsheet_safe) for row in rows), path)


def _write_table(columns: Mapping[str, Iterable[Any]], path: Target, spreadsheet_safe: bool) -> None:
    _write_rows(chain([columns], zip(*columns.values(), strict=True)), path, spreadsheet_safe)


def _matrix_rows(network: Network, fields: bool) -> Iterator[list[Any]]:
    """Yield one row per node; only one is ever dense."""
    yield ["", *network.names]
    for k, name in enumerate(network.names):
        row = network.couplings_sparse[[k]].toarray().ravel()
        if fields:
            row[k] = network.fields[k]
        yield [name, *row.tolist()]


def _block_rows(network: Network) -> Iterator[tuple[str, str, str | None, str | None, float]]:
    """Yield source, target, category of the source, category of the target and coupling, the strongest edge first.

    A category is None where its node has no categories of its own in the edge: the coupling is then per unit of score.
    """
    pairs, values = network.edge_index.tolist(), network.edge_values.tolist()
    for k in network.by_strength.tolist():
        s, t = pairs[k]
        ends = network.names[s], network.names[t]
        if not isinstance(network, CategoryNetwork) or network.is_signed[k]:
            yield *ends, None, None, values[k]
            continue
        rows, columns = ([None] if network.scores[node] is not None else network.labels[node] for node in (s, t))
        for row, line in zip(rows, network.blocks[k].tolist(), strict=True):
            for column, coupling in zip(columns, line, strict=True):
                yield *ends, row, column, coupling


_EVERYTHING = ("names", "node_attributes", "edge_attributes", "color_by", "group_colors", "positions")
# Format -> its writer, and the options it can hold.
FORMATS: Mapping[str, tuple[Callable[..., None], tuple[str, ...]]] = {
    "edges": (write_edges, ("names", "edge_attributes", "spreadsheet_safe")),
    "blocks": (write_blocks, ("names", "spreadsheet_safe")),
    "nodes": (write_nodes, ("names", "node_attributes", "spreadsheet_safe")),
    "matrix": (write_matrix, ("names", "spreadsheet_safe")),
    "gexf": (write_gexf, _EVERYTHING),
    "json": (write_json, _EVERYTHING),
}
SUFFIXES = {".csv": "edges", ".gexf": "gexf", ".json": "json"}


def write_network(
    network: Any,
    path: Target,
    format: str | None = None,
    *,
    names: Sequence[str] | None = None,
    node_attributes: Mapping[str, Sequence[Any]] | None = None,
    edge_attributes: Mapping[str, ArrayLike] | None = None,
    color_by: str | None = None,
    group_colors: Mapping[Any, str] | None = None,
    positions: ArrayLike | None = None,
    spreadsheet_safe: bool = False,
) -> None:
    """Write a network in the format that the name of the file asks for.

    A format takes of the following what it can hold: CSV has no colors and no places.

    Parameters
    ----------
    network : Network, Solution or fitted estimator
        The network.
    path : path, "-" or text stream
        Where to; "-" is the standard output. A file appears when it is complete.
    format : {"edges", "blocks", "nodes", "matrix", "gexf", "json"}, optional
        By default what the name ends in: ``.csv`` (the edges), ``.gexf`` or ``.json``.
    names : sequence of str, optional
        Names of the nodes, in place of those the network has: a Solution has none but x0, x1, ….
    node_attributes : mapping of str to sequence, optional
        Columns with one value per node: texts, numbers, booleans, None where there is none. A data frame will do.
    edge_attributes : mapping of str to matrix, optional
        Columns for the edges, each a symmetric matrix, dense or sparse, with one row per node.
    color_by : str, optional
        The node attribute whose values are the groups that get a color each.
    group_colors : mapping, optional
        Colors of some of these groups, ``#rrggbb`` or a name such as "red"; the others are chosen.
    positions : array-like of shape (n_features, 2), optional
        Where the nodes lie, for example from `isinglass.show.layout`.
    spreadsheet_safe : bool, default False
        Keep spreadsheets from running names in a CSV file as formulas; an apostrophe goes before names that
        begin with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return, which are then no longer the same.

    Examples
    --------
    >>> from isinglass import Network
    >>> model = Network.from_couplings([[0, 1.5], [1.5, 0]], [0, 0], names=["rain", "umbrella"])
    >>> write_network(model, "-", "edges")
    source,target,coupling,sign,weight
    rain,umbrella,1.5,1,1.5
    """
    options = locals()
    chosen = format or _by_name(path)
    if chosen not in FORMATS:
        raise ArgumentError("format", f"must be one of {', '.join(FORMATS)}", format)
    write, taken = FORMATS[chosen]
    write(network, path, **{name: options[name] for name in taken})


def _by_name(path: Target) -> str:
    ending = "" if isinstance(path, TextStream) or path == "-" else Path(path).suffix.lower()
    if ending not in SUFFIXES:
        raise ArgumentError(
            "path", f"must end in {', '.join(SUFFIXES)}", str(path), f"Or say the format: {', '.join(FORMATS)}."
        )
    return SUFFIXES[ending]
