"""A self-contained HTML page about a comparison of groups, without scripts."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from isinglass.arguments import check_kind
from isinglass.arrays import Arrays
from isinglass.atomic import Target
from isinglass.errors import plural
from isinglass.export.printing import P_VALUES, heading_of, print_cell
from isinglass.names import NodeValues
from isinglass.select.group_comparison_result import LEVEL, GroupComparison
from isinglass.show.layout import shared_layout
from isinglass.show.report.methods import describe_comparison
from isinglass.show.report.page import read_part, write_page
from isinglass.show.report.page_data import read_wording

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 130.0  # of figures in millimeters, which decides how large letters are
MOST_ROWS = 2000  # rows of a table that a browser shows without trouble


def write_comparison(
    result: GroupComparison, filename: Target, *, title: str | None = None, wording: NodeValues | None = None
) -> None:
    """Write a self-contained HTML page about a comparison of groups; without matplotlib it has no figures.

    Parameters
    ----------
    result : GroupComparison
        What `isinglass.compare_groups` returned.
    filename : str, path or text stream
        Where the page goes; "-" is the standard output. A file appears when it is complete.
    title : str, optional
        Heading; default "Comparison of groups".
    wording : mapping, sequence or pandas Series, optional
        The wording of the items behind the nodes, by name or in order; default that of the file, if it had some.

    Examples
    --------
    >>> from io import StringIO
    >>> import numpy as np
    >>> from isinglass import compare_groups
    >>> X = np.random.default_rng(0).integers(0, 2, (80, 3))
    >>> found = compare_groups(X, np.repeat(["a", "b"], 40), 0.02, n_permutations=9, random_state=0)
    >>> page = StringIO()
    >>> write_comparison(found, page)
    >>> page.getvalue()[:15], "<script" in page.getvalue()
    ('<!DOCTYPE html>', False)
    """
    check_kind("result", result, GroupComparison, "compare_groups")
    texts = read_wording(wording, result.networks[0]) or []
    said = {name: text for name, text in zip(result.names, texts, strict=False) if text}
    n_edges, draft = len(result.edge_index), describe_comparison(result)
    left_out = f", {n_edges - MOST_ROWS} with smaller differences are not listed" if n_edges > MOST_ROWS else ""
    if any((one.edge_signs == 0).any() for one in result.networks):
        left_out += "; where a column has no order, the edge weight is the norm of a table"
        left_out += ", and the difference is the norm of the difference of the tables, without a sign"
    parts = {
        "FIGURES": _list_facts(result),
        "PAIRS": _table(result.pairs(), {}) if len(result.groups) > 2 else "",
        "EDGESASIDE": f"{plural(n_edges, 'pair')} with an edge in at least one group{left_out}",
        "EDGES": _table(result.edges(), said),
        "NODES": _table(result.nodes(), said),
        "METHODS": html.escape(draft.text),
        "CITATION": "".join(f"<li>{html.escape(one)}</li>" for one in draft.references.split("\n")),
        **_draw_figures(result),
    }
    style = read_part("page.css") + read_part("comparison.css")
    write_page(filename, "comparison.html", "Comparison of groups" if title is None else str(title), style, **parts)


def _list_facts(result: GroupComparison) -> str:
    facts = [
        ("Rows", " + ".join(map(str, result.n_rows)), ""),
        ("Nodes", str(len(result.names)), ""),
        ("Edges", " / ".join(str(one.n_edges) for one in result.networks), ""),
        ("Largest difference", f"{result.structure:.3g}", f"p = {result.p_structure:.3g}"),
        ("Global strength", " / ".join(f"{x:.3g}" for x in result.global_strengths), f"p = {result.p_strength:.3g}"),
        ("Permutations", str(result.n_permutations), "paired" if result.paired else ""),
    ]
    return "".join(f"<div><dt>{name}</dt><dd>{value}<small>{small}</small></dd></div>" for name, value, small in facts)


def _draw_figures(result: GroupComparison) -> dict[str, str]:
    """Return the networks, their differences and the tests as figures; what to install where matplotlib is not."""
    try:
        from isinglass.show import plot
        from isinglass.show.plot.comparison import largest_weight, permutation_test
    except ImportError as missing:
        return dict.fromkeys(("NETWORKS", "DIFFERENCE", "TESTS"), f'<p class="note">{html.escape(str(missing))}</p>')
    xy, widest, pairs = shared_layout(result.networks), largest_weight(result), result.pairs()
    networks = [
        _figure(
            f"{group} ({n_rows} rows, {plural(network.n_edges, 'edge')})",
            partial(plot.network, network, positions=xy, legend=False, max_weight=widest or None),
        )
        for network, group, n_rows in zip(result.networks, result.groups, result.n_rows, strict=True)
    ]
    which = "too few permutations to find any" if result.least_p > LEVEL else f"only family-wise p ≤ {LEVEL:g}"
    differences = [
        _figure(
            f"{first} minus {second}: {which}",
            partial(plot.group_difference, result, first=first, second=second, positions=xy),
        )
        for first, second in zip(pairs["first"], pairs["second"], strict=True)
    ]
    tests = [
        _figure(f"{name}: p = {getattr(result, f'p_{of}'):.3g}", partial(permutation_test, result, of=of))
        for of, name in (("structure", "Largest difference in a coupling"), ("strength", "Global strength"))
    ]
    return {"NETWORKS": "".join(networks), "DIFFERENCE": "".join(differences), "TESTS": "".join(tests)}


def _figure(caption: str, draw: Callable[[Axes], Axes]) -> str:
    from isinglass.show.plot.canvas import figure_bytes, paper_axes

    picture = base64.b64encode(figure_bytes(lambda: draw(paper_axes(WIDTH, 0.7 * WIDTH)), ".svg")).decode("ascii")
    text, source = html.escape(caption), f"data:image/svg+xml;base64,{picture}"
    return f'<figure><figcaption>{text}</figcaption><img alt="{text}" src="{source}"></figure>'


def _table(columns: Arrays, said: Mapping[str, str]) -> str:
    """Return the columns as a table; rows found at a family-wise level are bold, names come with their wording."""
    texts = {name for name, values in columns.items() if len(values) and isinstance(values[0], str)}
    heads = {name: html.escape(heading_of(name)) for name in columns}
    head = "".join(f"<th{' class=name' if name in texts else ''}>{text}</th>" for name, text in heads.items())
    family = columns.get("p_family")
    lines = []
    for k, row in enumerate(islice(zip(*columns.values(), strict=True), MOST_ROWS)):
        kind = ' class="found"' if family is not None and family[k] <= LEVEL else ""
        cells = (_cell(value, name in P_VALUES, said) for name, value in zip(columns, row, strict=True))
        lines.append(f"<tr{kind}>{''.join(cells)}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _cell(value: str | float, is_p: bool, said: Mapping[str, str]) -> str:
    if isinstance(value, str):
        more = f"<br><small>{html.escape(said[value])}</small>" if value in said else ""
        return f'<td class="name">{html.escape(value)}{more}</td>'
    return f"<td>{html.escape(print_cell(value, is_p))}</td>"
