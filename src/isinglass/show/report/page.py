"""A self-contained HTML page about a network."""

from __future__ import annotations

import base64
import hashlib
import html
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files

import numpy as np
import scipy

from isinglass.arguments import RandomSource, check_count
from isinglass.atomic import Target, write_text
from isinglass.data import TableLike
from isinglass.evaluate.nodes import node_table as measure_nodes
from isinglass.json_text import json_text
from isinglass.names import NodeValues
from isinglass.network import NetworkLike
from isinglass.results import Path, Stability
from isinglass.select.bootstrap_result import Bootstrap
from isinglass.show.palette import GroupColors
from isinglass.show.report import contents
from isinglass.show.report.methods import citation, methods_text
from isinglass.version import __version__

SCRIPTS = (
    *("data.js", "elements.js", "marks.js", "view.js"),
    *("tables.js", "charts.js", "missing.js", "heatmap.js", "page.js"),
)
"""Parts of the page's script, in order."""
FORMAT = 1  # version of the layout of its data


def write_report(
    result: NetworkLike,
    filename: Target,
    *,
    X: TableLike | None = None,
    names: Sequence[str] | None = None,
    path: Path | None = None,
    stability: Stability | None = None,
    node_table: object = None,
    edge_table: object = None,
    bootstrap: Bootstrap | None = None,
    case_drops: Bootstrap | None = None,
    groups: NodeValues | None = None,
    group_colors: GroupColors | None = None,
    title: str = "Network",
    notes: str | Iterable[str] = (),
    settings: Mapping[str, object] | None = None,
    command: str | None = None,
    wording: NodeValues | None = None,
    max_edges: int = 6000,
    random_state: RandomSource = 0,
) -> None:
    """Write a self-contained HTML page about a network.

    Parameters
    ----------
    result : Network, Solution, Fit or fitted estimator
        The network. The path, certificate, stability and settings of a fit are shown unless given below.
    filename : str, path or text stream
        Where the page goes; "-" is the standard output. A file appears when it is complete.
    X : table, optional
        The table of the fit, for the predictability of nodes and the counts of categories.
    names : sequence of str, optional
        Names of the nodes; default those of the model.
    path : Path, optional
        The networks along the slider. A Solution whose alpha is not on it is inserted.
    stability : Stability, optional
        What StARS found, for the instability curve and a column of the edge table; default that of the fit.
    node_table : NodeTable, Centrality, data frame or mapping of columns, optional
        Measures of the nodes, beside those computed from ``X`` and, in networks that are not large, closeness and
        betweenness. `isinglass.metrics.centrality` with communities adds these and bridges.
    edge_table : data frame or mapping of columns, optional
        Further columns for the edge table, with ``source`` and ``target``, such as the ``edges()`` of a Bootstrap.
    bootstrap : Bootstrap, optional
        Resamples of the same table, which the methods text then mentions.
    case_drops : Bootstrap, optional
        Resamples of kind "case-drop", whose CS-coefficients are shown; a ``bootstrap`` of that kind does as well.
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
        The wording of the items behind the nodes, by name or in order, for the table of nodes and the drawing; default
        the variable labels of the file that the table came from.
    max_edges : int, default 6000
        Largest number of pairs on the page, over the whole path; the page says if there were more.
    random_state : int, Generator, RandomState, SeedSequence or None, default 0
        Seed of the layout.

    Examples
    --------
    >>> from io import StringIO
    >>> from isinglass import Network
    >>> page = StringIO()
    >>> write_report(Network.from_couplings([[0, 2.0], [2.0, 0]], [-1.0, 0.0], names=["rain", "umbrella"]), page)
    >>> page.getvalue()[:15], "umbrella" in page.getvalue()
    ('<!DOCTYPE html>', True)
    """
    check_count("max_edges", max_edges)
    subject = contents.Subject.of(result, names, X, path, stability)
    whole, whole_fit = subject.network, subject.fit
    measured = None if subject.table is None else measure_nodes(subject.table, whole)
    subject = subject.without_covariates()  # what follows is about the variables that are modelled
    model, fit, table = subject.network, subject.fit, subject.table
    solutions, index = contents.line_up(model, subject.path, subject.solution)
    drops = next((one for one in (case_drops, bootstrap) if one is not None and one.kind == "case-drop"), None)
    resampled = (None if bootstrap is drops else bootstrap, drops)
    shares, edge_counts = contents.count_values(table, model, fit)
    nodes = contents.node_columns(model, wording, (measured, node_table), getattr(fit, "missing", None))
    edges = {} if fit is None else contents.edge_columns(fit.edges(), fit.network.names)
    edges |= contents.edge_columns(edge_table, model.names)
    members, colors = contents.read_groups(groups, group_colors, model.names)
    drawn, stored = solutions[index], contents.stored_pairs(solutions, index, max_edges)
    tol = subject.tolerances(solutions, index)
    data = {
        "format": FORMAT,
        "title": str(title),
        "notes": [notes] if isinstance(notes, str) else [str(note) for note in notes],
        **contents.count_rows(table, fit),
        "nodes": {
            "names": model.names,
            "groups": [-1 if member is None else list(colors).index(member) for member in members],
            **contents.place_nodes(solutions, index, random_state),
            "columns": [{"label": label, "values": values} for label, values in nodes.items()],
        },
        "categories": contents.describe_categories(drawn.network, shares),
        "groups": [{"name": name, "color": color} for name, color in colors.items()],
        "path": contents.describe_path(solutions, index, stored),
        "edge_columns": contents.list_edge_columns(drawn, subject.stability, edges, stored),
        "edge_tables": contents.list_tables(drawn.network, edge_counts, stored, shares),
        "cs": None if drops is None else drops.cs_coefficients(),
        "curve": contents.read_curve(subject.stability, getattr(fit, "evidence", None)),
        "missing": contents.describe_missing(getattr(fit, "missing", None)),
        "check": contents.check_rows(table, whole),
        "certificate": contents.describe_certificate(solutions, subject.solution, fit, tol, shares),
        "covariates": contents.list_covariates(whole if whole_fit is None else whole_fit),
        "settings": contents.read_settings(settings, result, whole_fit),
        "command": None if command is None else str(command),
        "methods": None if whole_fit is None else methods_text(whole_fit, *resampled),
        "citation": citation(whole_fit, *resampled),
        "versions": {
            "isinglass": __version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "python": platform.python_version(),
        },
    }
    write_text(_assemble(str(title), data), filename)


def _assemble(title: str, payload: Mapping[str, object]) -> str:
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


def _as_script_text(payload: Mapping[str, object]) -> str:
    """Return JSON in ASCII that cannot end the script or open a comment."""
    text = json_text(payload, compact=True)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def fill_template(name: str, parts: Mapping[str, str]) -> str:
    """Return a template with every ``@@PART@@`` filled in."""
    # One pass: what is put in is not searched again, so that a label cannot name a part.
    return re.sub("@@([A-Z]+)@@", lambda match: parts[match[1]], read_part(name))


def digest(text: str) -> str:
    """Return the hash by which the policy admits an inline script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def read_part(name: str) -> str:
    """Return a file of this folder."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
