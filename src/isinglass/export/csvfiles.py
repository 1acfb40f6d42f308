"""Edges, their blocks, nodes and the weight matrix as tables and as CSV files.

CSV is UTF-8 with line feeds, quoted as RFC 4180 says. Names are written as they are: a file is read back with the names
it was made from. Only ``spreadsheet_safe=True`` changes them, where a spreadsheet would take a name for a formula.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from isinglass.export.annotated import Annotated, annotate, list_blocks
from isinglass.export.escaping import csv_line
from isinglass.export.streams import Target, write_lines
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
    return _edge_columns(annotate(network, **attributes))


def write_edges(network: Any, path: Target, *, spreadsheet_safe: bool = False, **attributes: Any) -> None:
    """Write the edge table as CSV; the arguments are those of `write_network`.

    Examples
    --------
    >>> from isinglass import Network
    >>> write_edges(Network.from_couplings([[0, 1.5], [1.5, 0]], [0, 0], names=["tea, green", "rain"]), "-")
    source,target,coupling,sign,weight
    "tea, green",rain,1.5,1,1.5
    """
    write_lines(_lines(edge_table(network, **attributes), spreadsheet_safe), path)


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
    rows: Iterator[Sequence[Any]] = chain([header], list_blocks(as_network(network, names)))
    write_lines((csv_line(list(row), spreadsheet_safe=spreadsheet_safe) for row in rows), path)


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
    write_lines(_lines(columns, spreadsheet_safe), path)


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
    write_lines(_matrix_lines(as_network(network, names), fields, spreadsheet_safe), path)


def _edge_columns(graph: Annotated) -> dict[str, list[Any]]:
    table = {name: column.tolist() for name, column in graph.network.edges().items()}
    return table | {name: list(column.values) for name, column in graph.edge_columns.items()}


def _lines(columns: Mapping[str, Sequence[Any]], spreadsheet_safe: bool) -> Iterator[str]:
    yield csv_line(list(columns), spreadsheet_safe=spreadsheet_safe)
    for row in zip(*columns.values(), strict=True):
        yield csv_line(list(row), spreadsheet_safe=spreadsheet_safe)


def _matrix_lines(network: Network, fields: bool, spreadsheet_safe: bool) -> Iterator[str]:
    """Yield one line per node; only one row is ever dense."""
    yield csv_line(["", *network.names], spreadsheet_safe=spreadsheet_safe)
    rows = network.couplings_sparse
    for k, name in enumerate(network.names):
        row = rows[[k]].toarray().ravel()
        if fields:
            row[k] = network.fields[k]
        yield csv_line([name, *row.tolist()], spreadsheet_safe=spreadsheet_safe)
