"""Nodes: their size, rings around them, and labels inside or beside them that do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.legend import Legend
from matplotlib.path import Path
from matplotlib.text import Annotation, Text
from numpy.typing import NDArray

from isinglass.arrays import FloatArray
from isinglass.errors import ArgumentError, DataError
from isinglass.evaluate.centrality import node_measure
from isinglass.names import NodeValues, by_node
from isinglass.network import Network
from isinglass.show.palette import channels
from isinglass.show.plot.canvas import PLAIN, ink

RING, HOLE, EMPTY = 1.3, 1.06, 0.15
"""Outer and inner diameter of a ring relative to its node, and the opacity of its empty part."""
SMALLEST, LARGEST = 0.55, 1.45
"""Diameters of the nodes with the smallest and the largest measure, relative to nodes without one."""
_GAP = 1.5  # points between a node and its label
LEAST_LETTERS, LARGEST_LETTERS = 5.0, 11.0  # font sizes of labels in points
INSIDE, CAPITALS = 0.84, 0.72
"""Diagonal of a label relative to the node around it, and height of capital letters relative to the line."""
DIRECTIONS = 16
RINGS = (0.0, 0.35, 0.8, 1.4, 2.2, 3.2, 4.5)
"""Candidate distances between a node and its label, in heights of the label."""
SWEEPS = 3  # passes over all labels in which each may move to a better place
OVER_NODE, OVER_EDGE = 4.0, 0.03  # cost of covering a node and a point of an edge, in heights of the label


def node_values(given: str | NodeValues, network: Network, what: str) -> FloatArray:
    """Return one finite number per node: a measure given by its name, or values in order or by node."""
    if isinstance(given, str):
        return np.nan_to_num(node_measure(network, given))  # a node without a sign has no expected influence
    try:
        values = np.array(by_node(given, network.names, what), dtype=np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise ArgumentError(what, "must be numbers, one per node", given) from None
    if not np.isfinite(values).all():
        missing = [network.names[k] for k in np.flatnonzero(~np.isfinite(values))[:3]]
        raise DataError(f"{what} must be finite, one per node; got none for {', '.join(map(repr, missing))}.")
    return values


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
    for (x, y), share, diameter in zip(xy, shares, diameters, strict=True):
        size = (RING * diameter) ** 2
        ax.scatter(x, y, s=size, c=to_hex(ax.figure.get_facecolor()), marker="o", linewidths=0, zorder=1.8)
        for part, opacity in ((1.0, EMPTY), (share, 1.0)):
            if part > 0:
                mark: dict[str, Any] = {"marker": arc(part), "linewidths": 0, "zorder": 1.9, "clip_on": False}
                ax.scatter(x, y, s=size, c=ink(), alpha=opacity, **mark)
        ax.scatter(x, y, s=size, c="none", marker="o", edgecolors=ink(), linewidths=0.3, zorder=1.9, clip_on=False)


def arc(share: float) -> Path:
    """Return a part of a ring of outer radius 1, clockwise from the top."""
    angles = np.pi / 2 - 2 * np.pi * np.linspace(0.0, min(share, 0.9999), 60)
    outer = np.column_stack([np.cos(angles), np.sin(angles)])
    inner = outer[::-1] * HOLE / RING
    return Path(np.vstack([outer, inner, outer[:1]]), closed=True)


def least_diameters(ax: Axes, texts: Sequence[str]) -> FloatArray:
    """Return the diameter that a node needs for its label inside at the smallest font size, with room around it."""
    shown = [ax.text(0.0, 0.0, text, fontsize=10 * LEAST_LETTERS, **PLAIN) for text in texts]  # large: exact widths
    boxes = [Text.get_window_extent(label) for label in shown]
    for label in shown:
        label.remove()
    diagonals = np.array([np.hypot(box.width, CAPITALS * box.height) for box in boxes]) * 72.0 / ax.figure.dpi
    return np.asarray(diagonals / 10 / INSIDE)


def letters_inside(diameters: FloatArray, least: FloatArray, largest: float | None) -> FloatArray:
    """Return font sizes of labels inside nodes, given the least diameters; none is much larger than the smallest."""
    sizes = LEAST_LETTERS * diameters / np.maximum(least, 1e-9)
    return np.asarray(np.clip(sizes, LEAST_LETTERS, min(largest or LARGEST_LETTERS, 1.3 * sizes.min())))


def draw_inside(ax: Axes, xy: FloatArray, texts: Sequence[str], font_sizes: FloatArray, colors: Sequence[str]) -> None:
    """Write labels into the nodes."""
    for (x, y), text, size, color in zip(xy, texts, font_sizes, colors, strict=True):
        style: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 4, "color": _contrast(color)}
        ax.text(x, y, text, fontsize=size, **style, **PLAIN)


def _contrast(color: str) -> str:
    red, green, blue = channels(color)
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 110 else "white"


def draw_beside(
    ax: Axes,
    xy: FloatArray,
    lines: list[FloatArray],
    texts: list[str],
    strength: FloatArray,
    diameters: FloatArray,
    font_size: float,
    legend: Legend | None,
) -> int:
    """Write labels where they do not overlap, with a thin line to distant ones; return how many are left out."""
    labels = [_label(ax, point, text, font_size) for point, text in zip(xy, texts, strict=True)]
    # Measured without the annotation's own arrow, in pixels of the figure as it is now.
    boxes = [Text.get_window_extent(label) for label in labels]
    pixel = ax.figure.dpi / 72.0
    sizes = np.array([[box.width, box.height] for box in boxes]) + 2 * _GAP * pixel
    anchors, frame = ax.transData.transform(xy), ax.get_window_extent().extents
    radii = (diameters / 2 + _GAP) * pixel
    order = np.argsort(-strength, kind="stable")
    obstacles = None if legend is None else np.array([legend.get_window_extent().extents])
    along = _points_along([ax.transData.transform(line) for line in lines], 3.0 * pixel)
    centers, placed = place_labels(anchors, sizes, radii, frame, order=order, obstacles=obstacles, edges=along)
    for label, anchor, center, has_room in zip(labels, anchors, centers, placed, strict=True):
        if has_room and label.get_text():
            label.set_position(tuple((center - anchor) / pixel))
        else:
            label.remove()
    _draw_leaders(ax, anchors[placed], centers[placed], sizes[placed], 1.6 * radii[placed])
    return int((~placed).sum())


def _points_along(lines: Sequence[FloatArray], apart: float) -> FloatArray:
    """Return points on the lines at about this distance from each other."""
    ends = np.concatenate([np.stack([line[:-1], line[1:]], axis=1) for line in lines]) if lines else np.empty((0, 2, 2))
    count = np.maximum(np.ceil(np.hypot(*(ends[:, 1] - ends[:, 0]).T) / apart), 1).astype(int)
    which = np.repeat(np.arange(len(ends)), count)
    share = (np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count) + 0.5) / count[which]
    return np.asarray(ends[which, 0] + share[:, None] * (ends[which, 1] - ends[which, 0]))


def _label(ax: Axes, point: FloatArray, text: str, font_size: float) -> Annotation:
    centered: dict[str, Any] = {"xytext": (0.0, 0.0), "textcoords": "offset points", "ha": "center", "va": "center"}
    label = ax.annotate(text, tuple(point), fontsize=font_size, zorder=4, annotation_clip=False, **centered, **PLAIN)
    paper = to_hex(ax.figure.get_facecolor())
    label.set_path_effects([patheffects.withStroke(linewidth=1.6, foreground=paper, alpha=0.85)])
    return label


def _draw_leaders(ax: Axes, anchors: FloatArray, centers: FloatArray, sizes: FloatArray, nearest: FloatArray) -> None:
    """Draw lines from nodes to distant labels."""
    ends = np.clip(anchors, centers - sizes / 2, centers + sizes / 2)
    far = np.hypot(*(ends - anchors).T) > nearest
    segments = ax.transData.inverted().transform(np.stack([anchors[far], ends[far]], axis=1).reshape(-1, 2))
    leaders = LineCollection(list(segments.reshape(-1, 2, 2)), colors=ink(), linewidths=0.4, zorder=3)
    ax.add_collection(leaders, autolim=False)


def place_labels(
    anchors: FloatArray,
    sizes: FloatArray,
    radii: FloatArray,
    bounds: Sequence[float],
    *,
    order: NDArray[np.intp],
    obstacles: FloatArray | None = None,
    edges: FloatArray | None = None,
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the center of every label and whether there was room for it, in the unit of the arguments.

    Labels are placed greedily around their nodes in ``order``, as near as possible. They never overlap each other or an
    obstacle, cover other nodes only if all free places do, and as few as possible of the points that ``edges`` are.
    """
    n = len(anchors)
    centers, placed = anchors.astype(np.float64), np.zeros(n, dtype=bool)
    taken = np.empty((0, 4)) if obstacles is None else np.asarray(obstacles, dtype=np.float64).reshape(-1, 4)
    nodes = np.column_stack([anchors - radii[:, None], anchors + radii[:, None]])
    middle = anchors.mean(axis=0) if n else np.zeros(2)
    for sweep in range(1 + SWEEPS):
        before = centers.copy()
        for k in order:
            places, prices = _candidates(anchors[k], sizes[k], radii[k], middle)
            boxes = boxes_at(places, sizes[k])
            around = np.r_[boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)][None]  # others cannot overlap
            placed[k] = False
            others = np.vstack([taken, boxes_at(centers[placed], sizes[placed])])
            others = others[_overlaps(around, others)[0]]
            inside = (boxes[:, :2] >= bounds[:2]).all(axis=1) & (boxes[:, 2:] <= bounds[2:]).all(axis=1)
            free = inside & ~_overlaps(boxes, others).any(axis=1)
            if free.any():
                covered = _share_covered(boxes, nodes[_overlaps(around, nodes)[0]])
                price = prices + OVER_NODE * sizes[k, 1] * covered
                if edges is not None:
                    inner = edges[_contain(around, edges)[0]]
                    over = _contain(boxes[free], inner).sum(axis=1)
                    price[free] += OVER_EDGE * sizes[k, 1] * over / np.ceil(sizes[k, 0] / sizes[k, 1])
                centers[k] = places[np.where(free, price, np.inf).argmin()]
                placed[k] = True
        if sweep and np.array_equal(centers, before):
            break
    return centers, placed


def boxes_at(centers: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return left, bottom, right and top of boxes."""
    return np.column_stack([centers - sizes / 2, centers + sizes / 2])


def _candidates(
    anchor: FloatArray, size: FloatArray, radius: float, middle: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return candidate places around a node and their costs: near, and away from the middle, is better."""
    angles = np.linspace(0.0, 2.0 * np.pi, DIRECTIONS, endpoint=False)
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    rings = np.array(RINGS) * size[1]
    reach = size / 2 + radius + rings[:, None]
    # On the border of a rectangle, not on an ellipse: the nearest place touches the node and does not cover it.
    square = directions / np.abs(directions).max(axis=1, keepdims=True)
    places = anchor + (square * reach[:, None, :]).reshape(-1, 2)
    length = float(np.hypot(*(anchor - middle)))
    towards = directions @ ((anchor - middle) / length if length > 0 else np.zeros(2))
    prices = rings[:, None] + 0.2 * size[1] * (1.0 - towards)
    return places, prices.ravel()


def _common(one: FloatArray, two: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return width and height of the intersection of each box with each other one; negative if they are apart."""
    shared = np.minimum(one[:, None, 2:], two[:, 2:]) - np.maximum(one[:, None, :2], two[:, :2])
    return shared[:, :, 0], shared[:, :, 1]


def _overlaps(one: FloatArray, two: FloatArray) -> NDArray[np.bool_]:
    width, height = _common(one, two)
    return np.asarray((width > 0) & (height > 0))


def _contain(boxes: FloatArray, points: FloatArray) -> NDArray[np.bool_]:
    """Tell which points are in which box."""
    left, bottom, right, top = boxes.T[:, :, None]
    x, y = points.T
    return np.asarray((x > left) & (x < right) & (y > bottom) & (y < top))


def _share_covered(boxes: FloatArray, nodes: FloatArray) -> FloatArray:
    """Return the number of nodes that every box covers, in fractions of nodes."""
    width, height = (np.maximum(extent, 0.0) for extent in _common(boxes, nodes))
    area = np.maximum((nodes[:, 2] - nodes[:, 0]) * (nodes[:, 3] - nodes[:, 1]), 1e-12)
    return np.asarray((width * height / area).sum(axis=1))
