"""One function for all formats of a network file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from isinglass.errors import ArgumentError
from isinglass.export.csvfiles import write_blocks, write_edges, write_matrix, write_nodes
from isinglass.export.graphfiles import write_gexf, write_json
from isinglass.export.streams import Target, TextStream

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
    chosen = format or _by_name(path)
    if chosen not in FORMATS:
        raise ArgumentError("format", f"must be one of {', '.join(FORMATS)}", format)
    write, taken = FORMATS[chosen]
    options: dict[str, Any] = {
        "names": names,
        "node_attributes": node_attributes,
        "edge_attributes": edge_attributes,
        "color_by": color_by,
        "group_colors": group_colors,
        "positions": positions,
        "spreadsheet_safe": spreadsheet_safe,
    }
    write(network, path, **{name: options[name] for name in taken})


def _by_name(path: Target) -> str:
    ending = "" if isinstance(path, TextStream) or path == "-" else Path(path).suffix.lower()
    if ending not in SUFFIXES:
        raise ArgumentError(
            "path", f"must end in {', '.join(SUFFIXES)}", str(path), f"Or say the format: {', '.join(FORMATS)}."
        )
    return SUFFIXES[ending]
