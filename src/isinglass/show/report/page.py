"""Putting the page together: one HTML file that asks nobody for anything."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from isinglass.arguments import check_count
from isinglass.atomic import Target, write_lines
from isinglass.randomness import RandomSource
from isinglass.results import Path, Solution, Stability
from isinglass.show.report.assembly import digest, fill_template, read_part
from isinglass.show.report.contents import gather
from isinglass.show.report.payload import make_payload

SCRIPTS = ("data.js", "elements.js", "view.js", "tables.js", "charts.js", "missing.js", "heatmap.js", "page.js")
"""Parts of the page's script, in order."""


def build_report(
    result: Any,
    *,
    X: Any = None,
    names: Sequence[str] | None = None,
    path: Path | None = None,
    selected: int | float | None = None,
    solution: Solution | None = None,
    stability: Stability | None = None,
    criterion: Any = None,
    node_table: Any = None,
    edge_table: Any = None,
    groups: Mapping[str, Any] | Sequence[Any] | None = None,
    group_colors: Mapping[Any, str] | None = None,
    title: str = "Network",
    notes: str | Iterable[str] = (),
    settings: Mapping[str, Any] | None = None,
    command: str | None = None,
    wording: Any = None,
    max_edges: int = 6000,
    random_state: RandomSource = 0,
) -> str:
    """Return an HTML page about a network that works from the file system and loads nothing.

    Parameters
    ----------
    result : Network, Solution or fitted estimator
        The network the report is about. What an estimator knows (its path, certificate, stability and parameters) is
        used where the arguments below do not say otherwise.
    X : table, optional
        The rows of 0 and 1 (array, data frame, sparse matrix or BinaryTable), or of categories (CategoryTable, or
        category numbers), from which the page tells how well the nodes can be predicted and, of categories, how many
        rows have each.
    names : sequence of str, optional
        Names of the nodes; default those of the model.
    path : Path, optional
        The networks along the slider. Without one the page has no slider.
    selected : int or float, optional
        Number on the path, or alpha, of the network the report is about; default what the other arguments imply.
    solution : Solution, optional
        That network with its certificate. If its alpha is not on the path, it is put there.
    stability : Stability, optional
        The result of ``stars``, for the instability curve and a column of the edge table.
    criterion : EbicSelection or CrossValidation, optional
        Another criterion, for its curve.
    node_table : NodeTable, data frame or mapping of columns, optional
        Measures of the nodes; default computed from ``X``.
    edge_table : data frame or mapping of columns, optional
        Further columns for the edge table, with ``source`` and ``target``, beside the ``edges()`` of an estimator: for
        example the ``edges()`` of a Bootstrap.
    groups : mapping or sequence, optional
        Group of each node, by name or in order, for colors and a legend.
    group_colors : mapping, optional
        Colors of groups, ``"#rrggbb"`` or a name such as ``"blue"``; default a color-blind-safe palette.
    title : str, default "Network"
        Heading.
    notes : str or iterable of str, default ()
        Paragraphs below the heading.
    settings : mapping, optional
        What the network was made with, shown as a table.
    command : str, optional
        The command that makes this report again.
    wording : mapping, sequence or pandas Series, optional
        The wording of the items behind the nodes, by name or in order, for the table of nodes and the drawing.
    max_edges : int, default 6000
        Most pairs that the page stores, over the whole path; the page says so where there were more.
    random_state : int, Generator, RandomState, SeedSequence or None, default 0
        Of the drawing.

    Returns
    -------
    str
        The page; equal arguments give equal pages.

    Examples
    --------
    >>> from isinglass import Network
    >>> page = build_report(Network.from_couplings([[0, 2.0], [2.0, 0]], [-1.0, 0.0], names=["rain", "umbrella"]))
    >>> page[:15], "umbrella" in page
    ('<!DOCTYPE html>', True)
    """
    asked = {name: value for name, value in locals().items() if name not in ("max_edges", "random_state")}
    check_count("max_edges", max_edges)
    contents = gather(**asked)
    return _assemble(contents.title, make_payload(contents, max_edges=max_edges, random_state=random_state))


def write_report(result: Any, filename: Target, **options: Any) -> None:
    """Write the page of ``build_report`` to a file; a reader never sees half of it.

    Parameters
    ----------
    result : Network, Solution or fitted estimator
        As for ``build_report``.
    filename : path, "-" or text stream
        Where to; "-" is the standard output. A file of that name is replaced.
    **options
        As for ``build_report``.

    Examples
    --------
    >>> import tempfile
    >>> from isinglass import Network
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(Network.from_couplings([[0.0]], [0.0]), folder + "/report.html")
    """
    write_lines([build_report(result, **options).rstrip("\n")], filename)


def _assemble(title: str, payload: Mapping[str, Any]) -> str:
    style = read_part("page.css")
    script = "\n".join(read_part(name) for name in SCRIPTS)
    parts = {
        "POLICY": f"default-src 'none'; script-src '{digest(script)}'; style-src '{digest(style)}'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'",
        "TITLE": html.escape(title.encode("utf-8", "replace").decode()),
        "STYLE": style,
        "SCRIPT": script,
        "DATA": _as_script_text(payload),
    }
    return fill_template("page.html", parts)


def _as_script_text(payload: Mapping[str, Any]) -> str:
    """Return JSON that ends no script, opens no comment, and is all ASCII."""
    text = json.dumps(payload, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
