"""The picture of a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Annotation, Text
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import check_positive
from isinglass.errors import ArgumentError, DataError
from isinglass.export.annotated import check_positions
from isinglass.export.columns import plain_value
from isinglass.names import by_node
from isinglass.network import Network, as_network
from isinglass.randomness import RandomSource
from isinglass.show.layout import force_layout
from isinglass.show.palette import BETWEEN, NEGATIVE, NEUTRAL, POSITIVE, color_groups
from isinglass.show.plot.canvas import PLAIN, any_color, axes_or_new, ink, readable, write_legend
from isinglass.show.plot.labels import place_labels

__all__ = ["network"]

FloatArray = NDArray[np.float64]

Corner: TypeAlias = Literal["upper left", "upper right", "lower left", "lower right"]
CORNERS: tuple[Corner, ...] = ("upper left", "upper right", "lower left", "lower right")
MARKERS = "osD^vPX"
"""Shapes of the nodes: the next one each time the colours of groups come round again."""
THINNEST, THICKEST = 0.5, 4.5
"""Width in points of an edge of weight zero and, but for small nodes, of the strongest edge."""
DASHES = (0, (3.0, 1.2))
"""Negative edges are dashed, so that their sign can be seen in print and without colour vision."""
_GAP = 1.0  # points between a node and its label


def network(
    result: Any,
    ax: Axes | None = None,
    *,
    names: Sequence[str] | None = None,
    groups: Any = None,
    group_colors: Mapping[Any, Any] | None = None,
    edge_color: str = "sign",
    positive_only: bool = False,
    min_weight: float = 0.0,
    positions: ArrayLike | None = None,
    random_state: RandomSource = 0,
    labels: bool | Sequence[str] = True,
    longest_label: int = 30,
    font_size: float | None = None,
    node_size: float | None = None,
    legend: bool = True,
) -> Axes:
    """Draw a network: near nodes are strongly coupled, thick edges are large couplings.

    Parameters
    ----------
    result : Network, Solution or fitted estimator
        The network.
    ax : Axes, optional
        Where to draw; a new figure by default, larger for more nodes.
    names : sequence of str, optional
        Names of the nodes, in place of those the network has.
    groups : sequence, mapping or pandas Series, optional
        The group of every node, in order or by name, which decides its colour; None or NaN is no group.
    group_colors : mapping, optional
        Colours of some groups: names of our palette, such as "red", or whatever matplotlib knows. The others are
        chosen.
    edge_color : {"sign", "group"}, default "sign"
        Blue and vermillion for positive and negative couplings; or the colour of the group for edges within it and
        purple for those between groups. Negative edges are dashed either way.
    positive_only : bool, default False
        Leave out negative couplings.
    min_weight : float, default 0
        Leave out couplings smaller than this in absolute value.
    positions : array-like of shape (n_features, 2), optional
        Where the nodes lie; by default `isinglass.show.layout.force_layout` of the edges that are drawn.
    random_state : int, Generator, RandomState, SeedSequence or None, default 0
        Seed of that layout.
    labels : bool or sequence of str, default True
        Whether to write the names, or what to write instead. Labels do not overlap: those of the weakest nodes are left
        out where there is no room.
    longest_label : int, default 30
        Longer labels end in an ellipsis.
    font_size : float, optional
        Of the labels, in points; smaller for more nodes by default.
    node_size : float, optional
        Diameter in points; smaller for more nodes by default.
    legend : bool, default True
        Whether to explain the colours.

    Returns
    -------
    Axes
        The edges are its first collection, one segment per edge, the weakest first; the nodes are one collection
        for each group.

    Notes
    -----
    Labels are placed for the size that the figure has now. Set that first, rather than afterwards.

    Examples
    --------
    >>> from isinglass import Network, plot
    >>> found = Network([0, 0, 0], [[0, 1], [1, 2]], [2, -1], names=["rain", "umbrella", "sun"])
    >>> ax = plot.network(found, groups={"rain": "sky", "sun": "sky", "umbrella": "street"})
    >>> len(ax.collections[0].get_segments()), sorted(text.get_text() for text in ax.texts)
    (2, ['rain', 'sun', 'umbrella'])
    """
    graph = as_network(result, names)
    members, colors = _read_groups(groups, group_colors, graph.names)
    if edge_color not in ("sign", "group"):
        raise ArgumentError("edge_color", 'must be "sign" or "group"', edge_color)
    if edge_color == "group" and groups is None:
        raise DataError('edge_color must be "sign" where there are no groups; got "group". Pass groups as well.')
    shown = _choose_edges(graph, positive_only, min_weight)
    texts = _label_texts(labels, graph.names, longest_label)
    xy = _place_nodes(graph, shown, positions, random_state)
    n = graph.n_features
    diameter = check_positive("node_size", np.clip(60.0 / np.sqrt(n), 5.0, 14.0) if node_size is None else node_size)
    letters = 9.0 if n <= 40 else 7.0 if n <= 120 else 6.0
    letters = check_positive("font_size", letters if font_size is None else font_size)
    ax = axes_or_new(ax, (12.0, 9.0) if n > 40 else (8.0, 6.0), fill=True)

    _frame(ax, xy, keep_aspect=positions is not None)
    edge_colors = _edge_colors(graph, shown, members, colors, edge_color)
    thickest = min(THICKEST, 0.55 * diameter)
    _draw_edges(ax, graph, shown, xy, edge_colors, thickest)
    _draw_nodes(ax, xy, members, colors, diameter)
    entries = _explain(graph, shown, members, colors, edge_color) if legend else []
    if entries and len(shown):
        widest = Line2D([], [], color=ink(), linewidth=thickest, alpha=0.6)
        entries.append((widest, f"widest: |coupling| {graph.weights[shown].max():.2g}"))
    box = _draw_legend(ax, entries, xy, keep_aspect=positions is not None)
    if labels is not False:
        _draw_labels(ax, xy, texts, graph.strength, diameter, letters, box)
    return ax


# ------------------------------------------------------------------------------------------- what is drawn


def _read_groups(
    groups: Any, group_colors: Mapping[Any, Any] | None, names: Sequence[str]
) -> tuple[list[Any], dict[Any, str]]:
    """Return the group of every node and the colour of every group."""
    if groups is None:
        if group_colors is not None:
            raise DataError("group_colors must come with groups, one per node; got None.")
        return [None] * len(names), {None: NEUTRAL}
    members = [plain_value(group) for group in by_node(groups, names, "groups")]
    return members, color_groups(members, {group: any_color(c) for group, c in (group_colors or {}).items()})


def _choose_edges(graph: Network, positive_only: bool, min_weight: float) -> NDArray[np.intp]:
    """Return the numbers of the edges to draw, the weakest first, so that strong ones lie on top."""
    if not (isinstance(min_weight, int | float | np.number) and min_weight >= 0):
        raise ArgumentError("min_weight", "must be a number that is not negative", min_weight)
    kept = graph.weights >= min_weight
    if positive_only:
        kept &= graph.edge_values > 0
    weakest_first = graph.by_strength[::-1]
    return weakest_first[kept[weakest_first]]


def _label_texts(labels: bool | Sequence[str], names: Sequence[str], longest: int) -> list[str]:
    chosen = names if isinstance(labels, bool) else list(labels)
    if isinstance(labels, str) or len(chosen) != len(names):
        raise ArgumentError("labels", f"must be True, False or one text per node ({len(names)})", labels)
    return [readable(name, longest) for name in chosen]


def _place_nodes(
    graph: Network, shown: NDArray[np.intp], positions: ArrayLike | None, random_state: RandomSource
) -> FloatArray:
    if positions is not None:
        return check_positions(positions, graph.n_features)
    return force_layout(graph.n_features, graph.edge_index[shown], graph.weights[shown], random_state=random_state)


def _edge_colors(
    graph: Network, shown: NDArray[np.intp], members: list[Any], colors: Mapping[Any, str], edge_color: str
) -> list[str]:
    if edge_color == "sign":
        return [POSITIVE if graph.edge_values[k] > 0 else NEGATIVE for k in shown]
    ends = [(members[s], members[t]) for s, t in graph.edge_index[shown]]
    return [colors[one] if one == two else BETWEEN for one, two in ends]


# ------------------------------------------------------------------------------------------- drawing


def _frame(ax: Axes, xy: FloatArray, *, keep_aspect: bool) -> None:
    """Make room for the nodes, and let the figure settle: labels are measured in it."""
    ax.set_axis_off()
    figure = ax.figure.canvas.figure  # the whole one, if these axes are part of a subfigure
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()
    low, high = xy.min(axis=0), xy.max(axis=0)
    half = np.maximum(0.58 * (high - low), 0.05 * max(float((high - low).max()), 1.0))
    if keep_aspect:
        # By hand: matplotlib would change the limits while drawing, after the labels were placed.
        frame = np.array(ax.get_window_extent().size)
        half = frame * float((half / frame).max())
    middle = (low + high) / 2
    ax.set_xlim(middle[0] - half[0], middle[0] + half[0])
    ax.set_ylim(middle[1] - half[1], middle[1] + half[1])


def _draw_edges(
    ax: Axes, graph: Network, shown: NDArray[np.intp], xy: FloatArray, colors: list[str], thickest: float
) -> None:
    weights = graph.weights[shown]
    share = weights / weights.max() if len(weights) else weights
    ax.add_collection(
        LineCollection(
            list(xy[graph.edge_index[shown]]),
            colors=[to_rgba(color, _opacity(color, part)) for color, part in zip(colors, share, strict=True)],
            linewidths=THINNEST + (thickest - THINNEST) * share,
            linestyles=[DASHES if graph.edge_values[k] < 0 else "-" for k in shown] or "-",
            capstyle="butt",
            zorder=1,
        ),
        autolim=False,
    )


def _opacity(color: str, share: float) -> float:
    """Let strong edges be seen, and the edges between groups, which are few and light in colour."""
    return 0.75 + 0.2 * share if color == BETWEEN else 0.35 + 0.5 * share


def _draw_nodes(ax: Axes, xy: FloatArray, members: list[Any], colors: Mapping[Any, str], diameter: float) -> None:
    for (group, color), marker in zip(colors.items(), _markers(colors), strict=True):
        chosen = [k for k, member in enumerate(members) if member == group]
        ax.scatter(
            xy[chosen, 0],
            xy[chosen, 1],
            s=diameter**2,
            c=color,
            marker=marker,
            edgecolors=ink(),
            linewidths=0.6,
            zorder=2,
            clip_on=False,
        )


def _markers(colors: Mapping[Any, str]) -> list[str]:
    """Return a shape for every group: groups of one colour differ in shape."""
    seen: dict[str, int] = {}
    shapes = []
    for color in colors.values():
        shapes.append(MARKERS[seen.get(color, 0) % len(MARKERS)])
        seen[color] = seen.get(color, 0) + 1
    return shapes


def _explain(
    graph: Network, shown: NDArray[np.intp], members: list[Any], colors: Mapping[Any, str], edge_color: str
) -> list[tuple[Line2D, str]]:
    """Return what the legend has to say: only what there is to see."""
    entries: list[tuple[Line2D, str]] = []
    if set(colors) != {None}:
        for (group, color), marker in zip(colors.items(), _markers(colors), strict=True):
            handle = Line2D([], [], color=color, marker=marker, linestyle="none", markeredgecolor=ink())
            entries.append((handle, "no group" if group is None else readable(group)))
    couplings = graph.edge_values[shown]
    if edge_color == "sign" and (couplings > 0).any():
        entries.append((Line2D([], [], color=POSITIVE, linewidth=2), "positive coupling"))
    if edge_color == "group" and any(members[s] != members[t] for s, t in graph.edge_index[shown]):
        entries.append((Line2D([], [], color=BETWEEN, linewidth=2), "between groups"))
    if (couplings < 0).any():
        color = NEGATIVE if edge_color == "sign" else ink()
        entries.append((Line2D([], [], color=color, linewidth=2, linestyle=DASHES), "negative coupling"))
    return entries


def _draw_legend(ax: Axes, entries: list[tuple[Line2D, str]], xy: FloatArray, *, keep_aspect: bool) -> Legend | None:
    """Write the legend into the corner where it covers the fewest nodes, and move the drawing aside if it must."""
    if not entries:
        return None
    legend = write_legend(ax, entries, loc="upper left")
    covered: dict[Corner, int] = {}
    for corner in CORNERS:
        legend.set_loc(corner)
        covered[corner] = _count_inside(ax, xy, legend)
    best = min(covered, key=lambda corner: covered[corner])
    legend.set_loc(best)
    if covered[best]:
        left, right = ax.get_xlim()
        share = min(legend.get_window_extent().width / ax.get_window_extent().width, 0.4)
        room = (right - left) * share / (1.0 - share)
        ax.set_xlim(left - room * best.endswith("left"), right + room * best.endswith("right"))
        if keep_aspect:
            bottom, top = ax.get_ylim()
            room = (top - bottom) * share / (1.0 - share) / 2
            ax.set_ylim(bottom - room, top + room)
    return legend


def _count_inside(ax: Axes, xy: FloatArray, legend: Legend) -> int:
    points, box = ax.transData.transform(xy), legend.get_window_extent().padded(10.0)
    inside = (points > box.p0) & (points < box.p1)
    return int(inside.all(axis=1).sum())


def _draw_labels(
    ax: Axes,
    xy: FloatArray,
    texts: list[str],
    strength: FloatArray,
    diameter: float,
    font_size: float,
    legend: Legend | None,
) -> None:
    """Write the names where they do not touch, with a thin line to those that had to move away."""
    labels = [_label(ax, point, text, font_size) for point, text in zip(xy, texts, strict=True)]
    # Measured without the annotation's own arrow, in pixels of the figure as it is now.
    boxes = [Text.get_window_extent(label) for label in labels]
    pixel = ax.figure.dpi / 72.0
    sizes = np.array([[box.width, box.height] for box in boxes]) + 2 * _GAP * pixel
    anchors, frame = ax.transData.transform(xy), ax.get_window_extent()
    radius = (diameter / 2 + _GAP) * pixel
    centres, placed = place_labels(
        anchors,
        sizes,
        np.full(len(xy), radius),
        (frame.x0, frame.y0, frame.x1, frame.y1),
        order=np.argsort(-strength, kind="stable"),
        obstacles=None if legend is None else np.array([legend.get_window_extent().extents]),
    )
    for label, anchor, centre, has_room in zip(labels, anchors, centres, placed, strict=True):
        if has_room and label.get_text():
            label.set_position(tuple((centre - anchor) / pixel))
        else:
            label.remove()
    _draw_leaders(ax, anchors[placed], centres[placed], sizes[placed], 1.6 * radius)


def _label(ax: Axes, point: FloatArray, text: str, font_size: float) -> Annotation:
    label = ax.annotate(
        text,
        tuple(point),
        xytext=(0.0, 0.0),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=font_size,
        zorder=4,
        annotation_clip=False,
        **PLAIN,
    )
    paper = to_hex(ax.figure.get_facecolor())
    label.set_path_effects([patheffects.withStroke(linewidth=1.6, foreground=paper, alpha=0.85)])
    return label


def _draw_leaders(ax: Axes, anchors: FloatArray, centres: FloatArray, sizes: FloatArray, nearest: float) -> None:
    """Join labels to their nodes where the gap is wide enough to ask whose label it is."""
    ends = np.clip(anchors, centres - sizes / 2, centres + sizes / 2)
    far = np.hypot(*(ends - anchors).T) > nearest
    segments = ax.transData.inverted().transform(np.stack([anchors[far], ends[far]], axis=1).reshape(-1, 2))
    leaders = LineCollection(list(segments.reshape(-1, 2, 2)), colors=ink(), linewidths=0.4, zorder=3)
    ax.add_collection(leaders, autolim=False)
