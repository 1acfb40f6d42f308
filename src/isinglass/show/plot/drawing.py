"""The drawing of a network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.lines import Line2D
from matplotlib.path import Path
from numpy.typing import NDArray

from isinglass.arguments import as_numbers, check_flag, check_positive, check_word
from isinglass.arrays import FloatArray, plain_value
from isinglass.errors import ArgumentError, DataError, plural
from isinglass.evaluate.centrality import MEASURES, node_measure
from isinglass.export.attributes import Positions, check_positions
from isinglass.names import NodeValues, by_node
from isinglass.network import Network
from isinglass.results import NetworkLike, as_network
from isinglass.show.layout import force_layout
from isinglass.show.palette import BETWEEN, NEUTRAL, SIGNS, GroupColors, read_groups
from isinglass.show.plot import labels as node_labels
from isinglass.show.plot.arrange import RING, Arrangement, Edges, Nodes, arrange, node_spacing
from isinglass.show.plot.canvas import axes_or_new, ink, readable, write_below

MARKERS = "osD^vPX"  # shapes of nodes: the next one each time the colors of groups repeat
FAINTEST = 0.4  # opacity of an edge of weight zero
DASHES = (0, (3.0, 1.2))  # of negative edges
GAPS = 0.45  # opacity of their gaps relative to the dashes: they are as visible as the others
WORDS: Mapping[int, str] = {1: "positive coupling", -1: "negative coupling", 0: "no sign: norm of a table"}
SIZE, LARGE = (8.0, 6.0), (12.0, 9.0)  # of figures in inches, LARGE above 40 nodes
HOLE, EMPTY = 1.06, 0.15
"""Inner diameter of a ring relative to its node, and the opacity of its empty part."""
SMALLEST, LARGEST = 0.55, 1.45
"""Diameters of the nodes with the smallest and the largest measure, relative to nodes without one."""
SHORT = 4  # characters up to which labels go inside by themselves


def network(
    result: NetworkLike,
    ax: Axes | None = None,
    *,
    groups: NodeValues | None = None,
    group_colors: GroupColors | None = None,
    positions: Positions | None = None,
    labels: bool | str | NodeValues = True,
    sizes: str | NodeValues | None = None,
    rings: NodeValues | None = None,
    legend: bool = True,
    edge_color: str = "sign",
    positive_only: bool = False,
    max_weight: float | None = None,
    inside: bool | None = None,
) -> Axes:
    """Draw a network: near nodes are strongly coupled, thick edges are large couplings, negative ones are dashed.

    Set the size of the figure first: nodes, edges and labels are placed for the size it has now. Up to 60 nodes
    edges go around nodes that they do not join, where there is room; in larger networks they are straight.

    Parameters
    ----------
    result : Network, Solution or fitted estimator
        The network.
    ax : Axes, optional
        Where to draw; a new figure by default, larger for more nodes. `paper_axes` makes axes of a given width in
        millimeters.
    groups, labels, sizes, rings : sequence, mapping or pandas Series, optional
        One entry per node, in order or by name. ``groups`` decide the color; None or NaN is no group. ``labels`` are
        written instead of the names; False: none, "wording": the variable labels of the file. They do not overlap:
        those of the weakest nodes are left out where there is no room, and the figure says how many. The area of a
        node shows ``sizes``, numbers or a measure such as "strength" or "betweenness". ``rings`` around the nodes are
        shares between 0 and 1, such as predictability. The name of a Series is in the legend.
    group_colors : mapping, optional
        Colors of some groups: ``"#rrggbb"``, or names of our palette such as "red". The others are chosen.
    positions : array-like of shape (n_features, 2) or mapping, optional
        Positions of the nodes, in order or by name; by default `isinglass.layout.force_layout` of the edges that are
        drawn, with nodes moved apart that would touch. `isinglass.layout.shared_layout` gives several networks the same
        positions, and both layouts take a seed.
    legend : bool, default True
        Whether to explain the colors below the drawing.
    edge_color : {"sign", "group"}, default "sign"
        Blue for positive, vermillion for negative couplings, gray for edges without a sign; or the color of the group
        for edges within it, and purple between groups.
    positive_only : bool, default False
        Draw positive couplings only; the figure says how many others there are.
    max_weight : float, optional
        The weight of the widest edge, for several figures on one scale; by default the largest that is drawn.
    inside : bool, optional
        Write the labels into the nodes, which are then larger, if all of them fit at 5 points or more. By default only
        labels of up to four characters, unless positions or sizes are given.

    Examples
    --------
    >>> from isinglass import Network, plot
    >>> found = Network([0, 0, 0], [[0, 1], [1, 2]], [2, -1], names=["rain", "umbrella", "sun"])
    >>> ax = plot.network(found, groups={"rain": "sky", "sun": "sky", "umbrella": "street"})
    >>> len(ax.collections[0].get_segments()), sorted(text.get_text() for text in ax.texts)
    (2, ['rain', 'sun', 'umbrella'])
    """
    check_word("edge_color", edge_color, ("sign", "group"))
    check_flag("legend", legend)
    graph = as_network(result).without_covariates()
    texts = _label_texts(labels, graph)
    if inside is None:
        inside = positions is None and sizes is None and max(map(len, texts), default=0) <= SHORT
    members, colors = read_groups(groups, group_colors, graph.names)
    scale = scale_sizes(None if sizes is None else node_values(sizes, graph, "sizes"), graph.n_features)
    shares = None if rings is None else read_rings(rings, graph)
    nodes = Nodes(texts, check_flag("inside", inside) and any(texts), members, colors, scale, shares, graph.strength)
    shown = graph.by_strength[::-1]  # the weakest first: strong ones lie on top
    if check_flag("positive_only", positive_only):
        shown = shown[graph.edge_signs[shown] > 0]
    edges = _read_edges(graph, shown, nodes, edge_color, max_weight)
    if positions is None:
        xy = force_layout(graph.n_features, graph.edge_index[shown], graph.weights[shown])
    else:
        xy = check_positions(positions, graph.names)
    ax = axes_or_new(ax, LARGE if graph.n_features > 40 else SIZE)
    ax.set_axis_off()
    ax.figure.canvas.figure.draw_without_rendering()  # which gives the axes their place
    size = float(np.clip(0.12 * node_spacing(ax, graph.n_features), node_labels.LEAST_FONT, 10.0))
    entries = explain_groups(colors) + explain_edges(edges.signs, edges.widest, between=edges.between)
    entries += _explain_nodes(sizes, rings)
    if legend and entries:
        write_below(ax, entries, size)
    drawn = arrange(ax, xy, nodes, edges, is_fixed=positions is not None)
    _draw_edges(ax, drawn, edges)
    _draw_nodes(ax, drawn, nodes)
    left_out = (graph.n_edges - len(shown), "edge"), (_draw_labels(ax, drawn, nodes, size), "label")
    said = [f"{plural(count, what)} not drawn" for count, what in left_out if count]
    if said:
        ax.set_title(", ".join(said), loc="left", y=0.005, pad=0, fontsize=6)
    for artist in (*ax.collections, *ax.texts):
        artist.set_in_layout(False)  # they were placed for the axes as they are now
    return ax


def _read_edges(
    graph: Network, shown: NDArray[np.intp], nodes: Nodes, edge_color: str, max_weight: float | None
) -> Edges:
    if max_weight is not None:
        check_positive("max_weight", max_weight)
    pairs, signs, weights = graph.edge_index[shown], graph.edge_signs[shown], graph.weights[shown]
    widest = max_weight or float(weights.max(initial=0.0))
    shares = np.minimum(weights / max(widest, 1e-300), 1.0)
    if edge_color == "sign":
        return Edges(pairs, signs, shares, [SIGNS[sign] for sign in signs.tolist()], widest, None)
    if set(nodes.colors) == {None}:
        raise DataError('edge_color must be "sign" where there are no groups; got "group". Pass groups as well.')
    ends = [(nodes.members[s], nodes.members[t]) for s, t in pairs]
    colors = [nodes.colors[one] if one == two else BETWEEN for one, two in ends]
    return Edges(pairs, signs, shares, colors, widest, any(one != two for one, two in ends))


def _label_texts(labels: bool | str | NodeValues, graph: Network) -> list[str]:
    names = graph.names
    if labels is False:
        return [""] * len(names)
    if isinstance(labels, str) and labels == "wording":
        labels = [text or name for text, name in zip(graph.variables.wording or names, names, strict=True)]
    chosen = names if isinstance(labels, bool) else by_node(labels, names, "labels")
    return [readable("" if text is None else text) for text in chosen]


def _draw_edges(ax: Axes, drawn: Arrangement, edges: Edges) -> None:
    opacity = FAINTEST + (1.0 - FAINTEST) * edges.shares
    lines = LineCollection(
        drawn.lines,
        colors=[to_rgba(color, part) for color, part in zip(edges.colors, opacity, strict=True)],
        gapcolor=[to_rgba(color, GAPS * part) for color, part in zip(edges.colors, opacity, strict=True)] or None,
        linewidths=drawn.widths,
        linestyles=[_dashes(sign) for sign in edges.signs] or "-",
        capstyle="butt",
        zorder=1,
    )
    ax.add_collection(lines, autolim=False)


def _dashes(sign: int) -> Literal["-"] | tuple[float, tuple[float, float]]:
    """Return the style of a line: negative edges are visible in gray print and without color vision."""
    return DASHES if sign < 0 else "-"


def _draw_nodes(ax: Axes, drawn: Arrangement, nodes: Nodes) -> None:
    if nodes.rings is not None:
        draw_rings(ax, drawn.xy, nodes.rings, drawn.diameters)
    rim: dict[str, Any] = {"edgecolors": ink(), "linewidths": min(0.6, 0.06 * float(np.median(drawn.diameters)))}
    for group, color, marker in _shapes(nodes.colors):
        chosen = [k for k, member in enumerate(nodes.members) if member == group]
        x, y = drawn.xy[chosen].T
        ax.scatter(x, y, s=drawn.diameters[chosen] ** 2, c=color, marker=marker, zorder=2, clip_on=False, **rim)


def _draw_labels(ax: Axes, drawn: Arrangement, nodes: Nodes, size: float) -> int:
    """Write the labels, beside the nodes in a font of this size; return how many are left out."""
    if not any(nodes.texts):
        return 0
    if drawn.font_sizes is None:
        outer = nodes.outer * drawn.diameters
        return node_labels.draw_beside(ax, drawn.xy, drawn.lines, nodes.texts, nodes.strength, outer, size)
    colors = [nodes.colors[member] for member in nodes.members]
    node_labels.draw_inside(ax, drawn.xy, nodes.texts, drawn.font_sizes, colors)
    return 0


def _shapes(colors: Mapping[str | None, str]) -> list[tuple[str | None, str, str]]:
    """Return every group with its color and shape; groups of the same color differ in shape."""
    given = list(colors.values())
    counts = [given[:k].count(color) for k, color in enumerate(given)]
    return [(*item, MARKERS[count % len(MARKERS)]) for item, count in zip(colors.items(), counts, strict=True)]


def explain_groups(colors: Mapping[str | None, str]) -> list[tuple[Line2D, str]]:
    """Return the entries of the legend for groups of nodes."""
    if set(colors) == {None}:
        return []
    style: dict[str, Any] = {"linestyle": "none", "markeredgecolor": ink()}
    return [
        (Line2D([], [], color=color, marker=marker, **style), "no group" if group is None else readable(group))
        for group, color, marker in _shapes(colors)
    ]


def explain_edges(
    signs: NDArray[np.integer],
    widest: float,
    words: Mapping[int, str] = WORDS,
    scale: str | None = None,
    between: bool | None = None,
) -> list[tuple[Line2D, str]]:
    """Return the entries of the legend for edges of these signs.

    ``scale`` is what the widths show, ``between`` whether there are edges between groups; without groups it is None.
    """
    present = set(signs.tolist())
    lines = [(SIGNS[sign], words[sign], sign) for sign in (1, -1, 0) if sign in present]
    if between is not None:
        lines = [(BETWEEN, "between groups", 1)] * between + [(ink(), words[-1], -1)] * (-1 in present)
    entries = [
        (Line2D([], [], color=color, linewidth=2, linestyle=_dashes(sign), gapcolor=to_rgba(color, GAPS)), text)
        for color, text, sign in lines
    ]
    if present and widest:
        word = "|coupling|" if 0 not in present else "norm" if present == {0} else "|coupling| or norm"
        entries.append((Line2D([], [], color=ink(), linewidth=2.5, alpha=0.6), f"widest: {scale or word} {widest:.2g}"))
    return entries


def _explain_nodes(sizes: str | NodeValues | None, rings: NodeValues | None) -> list[tuple[Line2D, str]]:
    """Return the entries of the legend for sizes and rings; a Series or a measure has a name."""
    size_name, ring_name = (
        given if isinstance(given, str) else readable(getattr(given, "name", None) or otherwise)
        for given, otherwise in ((sizes, "as given"), (rings, "share"))
    )
    style: dict[str, Any] = {"linestyle": "none", "markeredgecolor": ink()}
    dot = Line2D([], [], color=NEUTRAL, marker="o", **style)
    ring = Line2D([], [], color=ink(), marker=arc(0.7), markersize=8, markeredgewidth=0, **style)
    entries = [(dot, f"area of a node: {size_name.replace('_', ' ')}")] if sizes is not None else []
    return entries + ([(ring, f"ring: {ring_name.replace('_', ' ')}, full at 1")] if rings is not None else [])


def node_values(given: str | NodeValues, network: Network, what: str) -> FloatArray:
    """Return one finite number per node: a measure given by its name, or values in order or by node.

    Nodes without the measure have the smallest value of the others.
    """
    if isinstance(given, str):
        check_word(what, given, MEASURES)
        measured = node_measure(network, given)
        known = measured[np.isfinite(measured)]  # a node without a sign has no expected influence
        return np.nan_to_num(measured, nan=float(known.min()) if len(known) else 0.0)
    listed = by_node(given, network.names, what)
    missing = [name for name, value in zip(network.names, listed, strict=True) if plain_value(value) is None]
    if missing:
        raise DataError(f"{what} must be finite, one per node; got none for {', '.join(map(repr, missing[:3]))}.")
    return as_numbers(what, listed, (network.n_features,))


def read_rings(given: NodeValues, network: Network) -> FloatArray:
    """Return one share per node."""
    shares = node_values(given, network, "rings")
    wrong = shares[(shares < 0) | (shares > 1)]
    if len(wrong):
        raise ArgumentError("rings", "must be shares between 0 and 1", float(wrong[0]))
    return shares


def scale_sizes(values: FloatArray | None, n_nodes: int) -> FloatArray:
    """Return the diameter of every node, relative to nodes without a measure; its area grows linearly with that."""
    if values is None or np.ptp(values) == 0:
        return np.ones(n_nodes)
    share = (values - values.min()) / np.ptp(values)
    return np.asarray(np.sqrt(SMALLEST**2 + (LARGEST**2 - SMALLEST**2) * share))


def draw_rings(ax: Axes, xy: FloatArray, shares: FloatArray, diameters: FloatArray) -> None:
    """Draw a ring around every node, filled clockwise from the top."""
    (x, y), sizes, paper = xy.T, (RING * diameters) ** 2, to_hex(ax.figure.get_facecolor())
    flat: dict[str, Any] = {"linewidths": 0, "clip_on": False}
    ax.scatter(x, y, s=sizes, c=paper, zorder=1.8, **flat)
    ax.scatter(x, y, s=sizes, c=ink(), alpha=EMPTY, marker=arc(1.0), zorder=1.9, **flat)
    for k in np.flatnonzero(shares):
        ax.scatter(x[k], y[k], s=sizes[k], c=ink(), marker=arc(shares[k]), zorder=1.9, **flat)
    ax.scatter(x, y, s=sizes, c="none", edgecolors=ink(), linewidths=0.3, zorder=1.9, clip_on=False)


def arc(share: float) -> Path:
    """Return a part of a ring of outer radius 1, clockwise from the top."""
    angles = np.pi / 2 - 2 * np.pi * np.linspace(0.0, min(share, 0.9999), 60)
    outer = np.column_stack([np.cos(angles), np.sin(angles)])
    inner = outer[::-1] * HOLE / RING
    return Path(np.vstack([outer, inner, outer[:1]]), closed=True)
