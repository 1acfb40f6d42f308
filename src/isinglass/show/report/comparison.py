"""A self-contained HTML page about a comparison of groups, without scripts."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from isinglass.arguments import check_kind
from isinglass.arrays import Arrays, FloatArray
from isinglass.atomic import Target
from isinglass.errors import plural
from isinglass.export.escaping import xml_element
from isinglass.export.printing import P_VALUES, heading_of, print_cell
from isinglass.names import NodeValues
from isinglass.network import Network
from isinglass.select.group_comparison_result import LEVEL, GroupComparison
from isinglass.show.label_places import place_labels, points_along
from isinglass.show.layout import shared_layout
from isinglass.show.report.methods import describe_comparison
from isinglass.show.report.nodes import read_wording
from isinglass.show.report.page import read_part, write_page

SIZE, MARGIN = 440.0, 46.0  # side of a drawing and room for labels around it
LONGEST, LETTER = 18, 0.62  # characters of a label, and the width of a letter relative to the font size
THIN = 0.6  # width of the thinnest edge
MOST_ROWS = 2000  # rows of a table that a browser shows without trouble


def write_comparison(
    result: GroupComparison, filename: Target, *, title: str | None = None, wording: NodeValues | None = None
) -> None:
    """Write a self-contained HTML page about a comparison of groups.

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
    xy = shared_layout(result.networks)
    n_edges, draft = len(result.edge_index), describe_comparison(result)
    compared = result.pairs()
    pairs = list(zip(compared["first"], compared["second"], strict=True))
    differences = [result.difference(*pair) for pair in pairs]
    widest = max(float(one.weights.max(initial=0.0)) for one in (*result.networks, *differences))
    left_out = f", {n_edges - MOST_ROWS} with smaller differences are not listed" if n_edges > MOST_ROWS else ""
    if any((one.edge_signs == 0).any() for one in result.networks):
        left_out += "; where a column has no order, the edge weight is the norm of a table"
        left_out += ", and the difference is the norm of the difference of the tables, without a sign"
    networks = [
        _drawing(f"{group} ({n_rows} rows, {plural(network.n_edges, 'edge')})", network, xy, said, widest)
        for network, group, n_rows in zip(result.networks, result.groups, result.n_rows, strict=True)
    ]
    drawn = []
    for (first, second), network in zip(pairs, differences, strict=True):
        found = {(s, t) for s, t in result.edge_index[result.edge_p_between(first, second) <= LEVEL].tolist()}
        counted = {0: "no edge differs", 1: "one edge differs"}.get(len(found), f"{len(found)} edges differ")
        if result.least_p > LEVEL:
            counted = "too few permutations to find any"
        caption = f"{first} minus {second}: {counted} at family-wise p ≤ {LEVEL:g}"
        drawn.append(_drawing(caption, network, xy, said, widest, found))
    parts = {
        "LEVEL": f"{LEVEL:g}",
        "FIGURES": _figures(result),
        "NETWORKS": "".join(networks),
        "DIFFERENCE": "".join(drawn),
        "HISTOGRAMS": _histogram(result, "structure") + _histogram(result, "strength"),
        "PAIRS": _table(result.pairs(), {}) if len(result.groups) > 2 else "",
        "EDGESASIDE": f"{plural(n_edges, 'pair')} with an edge in at least one group{left_out}",
        "EDGES": _table(result.edges(), said),
        "NODES": _table(result.nodes(), said),
        "METHODS": html.escape(draft.text),
        "CITATION": "".join(f"<li>{html.escape(one)}</li>" for one in draft.references.split("\n")),
    }
    style = read_part("page.css") + read_part("comparison.css")
    write_page(filename, "comparison.html", "Comparison of groups" if title is None else str(title), style, **parts)


def _figures(result: GroupComparison) -> str:
    facts = [
        ("Rows", " + ".join(map(str, result.n_rows)), ""),
        ("Nodes", str(len(result.names)), ""),
        ("Edges", " / ".join(str(one.n_edges) for one in result.networks), ""),
        ("Largest difference", f"{result.structure:.3g}", f"p = {result.p_structure:.3g}"),
        ("Global strength", " / ".join(f"{x:.3g}" for x in result.global_strengths), f"p = {result.p_strength:.3g}"),
        ("Permutations", str(result.n_permutations), "paired" if result.paired else ""),
    ]
    return "".join(f"<div><dt>{name}</dt><dd>{value}<small>{small}</small></dd></div>" for name, value, small in facts)


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


def _drawing(
    caption: str,
    network: Network,
    xy: FloatArray,
    said: Mapping[str, str],
    widest: float,
    found: set[tuple[int, int]] | None = None,
) -> str:
    """Return the network as a figure in SVG: edges by strength and sign, nodes, names where there is room.

    ``widest`` is the coupling, or difference of two, that is drawn widest. If some edges are ``found``, the others are
    thin and gray.
    """
    middle, extent = (xy.min(axis=0) + xy.max(axis=0)) / 2, np.ptp(xy, axis=0)
    scale = (SIZE - 2 * MARGIN) / max(float(extent.max()), 1e-9)
    tall = scale * float(extent[1]) + 2 * MARGIN
    places = np.array([SIZE, tall]) / 2 + scale * (xy - middle) * [1, -1]  # the second axis of SVG goes down
    radius = float(np.clip(40.0 / np.sqrt(len(places)), 2.5, 8.0))
    parts = [
        *_edges(network, places, widest, found),
        *_nodes(network.names, places, radius, said),
        *_names(network, places, radius, tall),  # above all nodes
    ]
    return _figure(caption, SIZE, tall, parts, label=plural(network.n_edges, "edge"))


def _edges(network: Network, places: FloatArray, widest: float, found: set[tuple[int, int]] | None) -> Iterator[str]:
    """Yield the lines of the edges, the strongest on top."""
    for k in network.by_strength[::-1]:
        s, t = network.edge_index[k].tolist()
        is_gray = found is not None and (s, t) not in found
        share = float(network.weights[k] / widest)
        sign = int(network.edge_signs[k])
        opacity, width = (0.5, THIN) if is_gray else (0.4 + 0.6 * share, THIN + 4.4 * share)
        ends = dict(zip(("x1", "y1", "x2", "y2"), (*places[s], *places[t]), strict=True))
        number = f"{network.edge_values[k]:{'+' if sign else ''}.3g}".replace("-", "−")
        yield _element(
            "line",
            f"{network.names[s]} – {network.names[t]}: {number}",
            class_="level" if is_gray else {1: "up", -1: "down", 0: "level"}[sign],
            **ends,
            stroke_width=f"{width:.2f}",
            stroke_opacity=f"{opacity:.2f}",
        )


def _nodes(names: Sequence[str], places: FloatArray, radius: float, said: Mapping[str, str]) -> Iterator[str]:
    """Yield the circles of the nodes, whose titles have the wording of their items."""
    for (x, y), name in zip(places, names, strict=True):
        title = f"{name}: {said[name]}" if name in said else name
        yield _element("circle", title, class_="node", cx=x, cy=y, r=radius)


def _names(network: Network, places: FloatArray, radius: float, tall: float) -> Iterator[str]:
    """Yield the names of the nodes, those of the strongest first where there is not room for all."""
    letters = 11 if len(places) <= 40 else 8 if len(places) <= 80 else 5
    shown = [name if len(name) <= LONGEST else name[: LONGEST - 1] + "…" for name in network.names]
    centers, placed = place_labels(
        places,
        letters * np.array([[LETTER * len(text), 1.2] for text in shown]),
        np.full(len(places), radius + 1.0),
        (0.0, 0.0, SIZE, tall),
        order=np.argsort(-network.strength, kind="stable"),
        edges=points_along(list(places[network.edge_index]), 3.0),
    )
    for text, (x, y), has_room in zip(shown, centers, placed, strict=True):
        if has_room:
            middle = {"text_anchor": "middle", "dominant_baseline": "central"}
            yield _element("text", text=text, x=x, y=y, **middle, font_size=letters)


def _element(tag: str, title: str = "", *, text: str = "", **attributes: object) -> str:
    """Return an element of SVG with a title and a text, all escaped; ``stroke_width`` is ``stroke-width``.

    Places and lengths have one decimal.
    """
    texts = {name: f"{value:.1f}" if isinstance(value, float) else str(value) for name, value in attributes.items()}
    given = {name.rstrip("_").replace("_", "-"): value for name, value in texts.items()}
    inside = (f"<title>{html.escape(title)}</title>" if title else "") + html.escape(text)
    return xml_element(tag, given, closed=not inside) + (f"{inside}</{tag}>" if inside else "")


def _figure(caption: str, width: float, height: float, parts: Iterable[str], *, label: str) -> str:
    """Return elements as a figure in SVG; ``label`` is for readers who do not see it."""
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{html.escape(label)}"'
    return f"<figure><figcaption>{html.escape(caption)}</figcaption><svg {size}>{''.join(parts)}</svg></figure>"


def _histogram(result: GroupComparison, of: str) -> str:
    """Return a histogram of the permutations as SVG, with a line at what was observed."""
    null, observed = getattr(result, f"null_{of}"), float(getattr(result, of))
    top = max(float(null.max(initial=0.0)), observed, 1e-12) * 1.05
    counts, _ = np.histogram(null, bins=40, range=(0.0, top))
    width, height, base = 400.0, 170.0, 140.0
    step, tallest = width / 40, max(int(counts.max(initial=0)), 1)
    x, y = observed / top * width, base - base * 0.9 * counts / tallest
    name = {"structure": "largest difference in a coupling", "strength": "difference in global strength"}[of]
    bars = [
        _element("rect", class_="column", x=k * step, y=y[k], width=step - 1, height=base - y[k]) for k in range(40)
    ]
    ticks = [
        _element(
            "text", text=f"{share * top:.2g}", x=f"{share * width:.0f}", y=base + 14, text_anchor=anchor, font_size=11
        )
        for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end"))
    ]
    lines = [
        _element("line", class_="axis", x1=0, x2=f"{width:.0f}", y1=base, y2=base),
        _element("line", class_="observed", x1=x, x2=x, y1=0, y2=base),
    ]
    caption = f"{name}: {observed:.3g}, p = {getattr(result, f'p_{of}'):.3g}"
    return _figure(caption, width, height, [*bars, *lines, *ticks], label=caption)
