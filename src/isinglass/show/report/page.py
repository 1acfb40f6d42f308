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

from isinglass.arguments import RandomSource, check_count, check_kind
from isinglass.atomic import Target, write_text
from isinglass.data import TableLike
from isinglass.json_text import JsonObject, json_text
from isinglass.names import NodeValues
from isinglass.results import NetworkLike, Path
from isinglass.select.bootstrap_result import Bootstrap
from isinglass.show.palette import GroupColors, read_groups
from isinglass.show.report import page_data
from isinglass.show.report.methods import Draft, describe_fit
from isinglass.show.report.subject import Subject
from isinglass.version import __version__

SCRIPTS = (
    *("data.js", "elements.js", "marks.js", "panels.js"),  # what the others are made of
    *("view.js", "painting.js", "labels.js", "pointing.js"),  # the drawing
    *("tables.js", "charts.js", "edge.js", "node.js"),
    *("certificate.js", "summary.js", "choice.js", "missing.js", "check.js"),  # sections
    *("columns.js", "controls.js", "page.js"),  # what follows the slider, and the page itself
)
"""Parts of the page's script, in order. Only `page.js` runs something; it has the one state that changes."""


def write_report(
    result: NetworkLike,
    filename: Target,
    *,
    X: TableLike | None = None,
    path: Path | None = None,
    bootstrap: Bootstrap | Iterable[Bootstrap] = (),
    groups: NodeValues | None = None,
    group_colors: GroupColors | None = None,
    title: str | None = None,
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
        The network. The certificate and stability of a fit are shown, and its path and settings unless given below.
    filename : str, path or text stream
        Where the page goes; "-" is the standard output. A file appears when it is complete.
    X : table, optional
        The table of the fit, for the predictability of nodes and the counts of categories.
    path : Path, optional
        The networks along the slider. A Solution whose alpha is not on it is inserted.
    bootstrap : Bootstrap or iterable of them, optional
        Resamples of the same table, which the methods text then mentions. Those of kind "rows" add intervals to the
        tables of edges and nodes, and of those of kind "case-drop" the CS-coefficients are shown.
    groups, wording : mapping, sequence or pandas Series, optional
        One entry per node, by name or in order: its group, for colors and a legend, and the wording of its item, for
        the table of nodes and the drawing; default the variable labels of the file that the table came from.
    group_colors : mapping, optional
        Colors of groups, ``"#rrggbb"`` or a name such as ``"blue"``; default a color-blind-safe palette.
    title : str, optional
        Heading; default "Network".
    settings : mapping, optional
        What the network was made with, shown as a table.
    command : str, optional
        The command that makes this report again.
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
    heading = "Network" if title is None else str(title)
    subject = Subject.of(result, X, path, check_count("max_edges", max_edges))
    listed = bootstrap if isinstance(bootstrap, Iterable) else [bootstrap]
    resamples = [check_kind("bootstrap", each, Bootstrap, "bootstrap") for each in listed]
    data = {
        "title": heading,
        **_nodes_and_edges(subject, resamples, groups, group_colors, wording, random_state),
        **_fit_and_text(subject, resamples),
        "settings": page_data.read_settings(settings, subject.fit),
        "command": None if command is None else str(command),
        "versions": {
            "isinglass": __version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "python": platform.python_version(),
        },
        "format": 1,  # version of this layout
    }
    script = "\n".join(read_part(name) for name in SCRIPTS)
    write_page(filename, "page.html", heading, read_part("page.css"), script, DATA=_as_script_text(data))


def _nodes_and_edges(
    subject: Subject,
    resamples: Sequence[Bootstrap],
    groups: NodeValues | None,
    group_colors: GroupColors | None,
    wording: NodeValues | None,
    random_state: RandomSource,
) -> JsonObject:
    """Return what the page's script reads about nodes and edges."""
    members, colors = read_groups(groups, group_colors, subject.network.names)
    colors.pop(None, None)  # nodes without a group have the color of the theme
    numbers = {group: number for number, group in enumerate(colors)}
    of_rows = [each for each in resamples if each.kind == "rows"]  # the others have no intervals
    columns = page_data.list_node_columns(subject, members, wording, of_rows)
    of_nodes = [numbers.get(member, -1) for member in members]
    return {
        "nodes": page_data.list_nodes(subject, of_nodes, columns, random_state),
        "categories": page_data.list_categories(subject),
        "groups": [{"name": group, "color": color} for group, color in colors.items()],
        "path": page_data.list_pairs(subject),
        "edge_columns": page_data.list_edge_columns(subject, of_rows),  # in the order of the stored pairs
        "edge_tables": page_data.list_tables(subject),
        "covariates": page_data.list_covariates(subject.fit or subject.whole.network),
    }


def _fit_and_text(subject: Subject, resamples: Sequence[Bootstrap]) -> JsonObject:
    """Return what the page's script reads about rows, certificate, choice, resamples and check, and the texts."""
    rows, check = subject.whole.data, page_data.check_rows(subject)
    draft = Draft("") if subject.fit is None else describe_fit(subject.fit, *resamples, check=check)
    return {
        "n_rows": None if rows is None else rows.n_observations,
        "effective_rows": rows.n_rows if rows is not None and rows.weight_kind == "sampling" else None,
        "certificate": page_data.list_certificates(subject),
        "curve": page_data.read_curve(subject),
        "missing": page_data.describe_missing(subject),
        "n_resamples": {each.kind: each.n_boot for each in resamples},
        "cs": next((page_data.describe_stability(each) for each in resamples if each.kind == "case-drop"), None),
        "check": page_data.describe_check(check),
        "methods": draft.text or None,
        "citation": draft.references,
    }


def _as_script_text(payload: object) -> str:
    """Return JSON in ASCII that cannot end the script or open a comment."""
    text = json_text(payload, compact=True)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def write_page(filename: Target, template: str, title: str, style: str, script: str = "", **parts: str) -> None:
    """Write a page whose policy admits nothing but its own style and script."""
    allowed = f"style-src '{_digest(style)}'; " + (f"script-src '{_digest(script)}'; " if script else "")
    policy = f"default-src 'none'; {allowed}img-src data: blob:; base-uri 'none'; form-action 'none'"
    heading = html.escape(title.encode("utf-8", "replace").decode())
    head = _fill_template("head.html", {"POLICY": policy, "TITLE": heading, "STYLE": style})
    page = _fill_template(template, {"HEAD": head, "TITLE": heading, "SCRIPT": script, **parts})
    write_text(page, filename)


def _fill_template(name: str, parts: Mapping[str, str]) -> str:
    # One pass: what is put in is not searched again, so that a label cannot name a part.
    return re.sub("@@([A-Z]+)@@", lambda match: parts[match[1]], read_part(name))


def _digest(text: str) -> str:
    """Return the hash by which the policy admits an inline script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def read_part(name: str) -> str:
    """Return a file of this folder."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
