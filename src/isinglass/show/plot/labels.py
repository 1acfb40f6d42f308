"""Labels of nodes: inside them, or beside them where they do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.text import Annotation, Text
from numpy.typing import NDArray

from isinglass.arrays import FloatArray
from isinglass.show.palette import channels
from isinglass.show.plot.canvas import PLAIN, ink

LEAST_FONT, LARGEST_FONT = 5.0, 11.0  # font sizes of labels in points
INSIDE, CAPITALS = 0.84, 0.72
"""Diagonal of a label relative to the node around it, and height of capital letters relative to the line."""
GAP = 1.5  # points between a node and its label
DIRECTIONS = 16
RINGS = (0.0, 0.35, 0.8, 1.4, 2.2, 3.2, 4.5)
"""Candidate distances between a node and its label, in heights of the label."""
OVER_NODE, OVER_EDGE = 4.0, 0.03  # cost of covering a node and a point of an edge, in heights of the label
NEAR, NEAR_NODE = 0.75, 1.0  # distance up to which a label seems to be that of another node, and its cost; the same


def least_diameters(ax: Axes, texts: Sequence[str]) -> FloatArray:
    """Return the diameter that a node needs for its label inside at the smallest font size, with room around it."""
    shown = [ax.text(0.0, 0.0, text, fontsize=10 * LEAST_FONT, **PLAIN) for text in texts]  # large: exact widths
    boxes = [Text.get_window_extent(label) for label in shown]
    for label in shown:
        label.remove()
    diagonals = np.array([np.hypot(box.width, CAPITALS * box.height) for box in boxes]) * 72.0 / ax.figure.dpi
    return np.asarray(diagonals / 10 / INSIDE)


def font_sizes_inside(diameters: FloatArray, least: FloatArray) -> FloatArray:
    """Return font sizes of labels inside nodes, given the least diameters; none is much larger than the smallest."""
    sizes = LEAST_FONT * diameters / np.maximum(least, 1e-9)
    return np.asarray(np.clip(sizes, LEAST_FONT, min(LARGEST_FONT, 1.3 * sizes.min())))


def draw_inside(ax: Axes, xy: FloatArray, texts: Sequence[str], font_sizes: FloatArray, colors: Sequence[str]) -> None:
    """Write labels into nodes of these colors, black or white."""
    for (x, y), text, size, node_color in zip(xy, texts, font_sizes, colors, strict=True):
        red, green, blue = channels(node_color)
        color = "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 110 else "white"
        ax.text(x, y, text, fontsize=size, color=color, ha="center", va="center", zorder=4, **PLAIN)


def draw_beside(
    ax: Axes,
    xy: FloatArray,
    lines: list[FloatArray],
    texts: list[str],
    strength: FloatArray,
    diameters: FloatArray,
    font_size: float,
) -> int:
    """Write labels where they do not overlap, with a thin line to distant ones; return how many are left out."""
    labels = [_label(ax, point, text, font_size) for point, text in zip(xy, texts, strict=True)]
    # Measured without the annotation's own arrow, in pixels of the figure as it is now.
    boxes = [Text.get_window_extent(label) for label in labels]
    pixel = ax.figure.dpi / 72.0
    sizes = np.array([[box.width, box.height] for box in boxes]) + 2 * GAP * pixel
    anchors, frame = ax.transData.transform(xy), ax.get_window_extent().extents
    radii = (diameters / 2 + GAP) * pixel
    order = np.argsort(-strength, kind="stable")
    along = points_along([ax.transData.transform(line) for line in lines], 3.0 * pixel)
    centers, placed = place_labels(anchors, sizes, radii, frame, order=order, edges=along)
    for label, anchor, center, has_room in zip(labels, anchors, centers, placed, strict=True):
        if has_room and label.get_text():
            label.set_position(tuple((center - anchor) / pixel))
        else:
            label.remove()
    _draw_leaders(ax, anchors[placed], centers[placed], sizes[placed], 1.6 * radii[placed])
    return int((~placed).sum())


def _label(ax: Axes, point: FloatArray, text: str, font_size: float) -> Annotation:
    centered: dict[str, Any] = {"xytext": (0.0, 0.0), "textcoords": "offset points", "ha": "center", "va": "center"}
    label = ax.annotate(text, tuple(point), fontsize=font_size, zorder=4, annotation_clip=False, **centered, **PLAIN)
    paper = to_hex(ax.figure.get_facecolor())
    label.set_path_effects([patheffects.withStroke(linewidth=1.6, foreground=paper, alpha=0.85)])
    return label


def _draw_leaders(ax: Axes, anchors: FloatArray, centers: FloatArray, sizes: FloatArray, nearest: FloatArray) -> None:
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
    edges: FloatArray,
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the center of every label and whether there was room for it, in the unit of the arguments.

    Labels are placed greedily around their nodes in ``order``, as near as possible. They never overlap each other,
    keep away from other nodes, and cover as few as possible of the points that ``edges`` are.
    """
    centers, placed = anchors.astype(np.float64), np.zeros(len(anchors), dtype=bool)
    nodes = np.column_stack([anchors - radii[:, None], anchors + radii[:, None]])
    middle = anchors.mean(axis=0) if len(anchors) else np.zeros(2)
    for k in order:
        height = sizes[k, 1]
        places, price = _candidates(anchors[k], sizes[k], radii[k], middle)
        boxes = boxes_at(places, sizes[k])
        inside = (boxes[:, :2] >= bounds[:2]).all(axis=1) & (boxes[:, 2:] <= bounds[2:]).all(axis=1)
        free = inside & ~_overlaps(boxes, boxes_at(centers[placed], sizes[placed])).any(axis=1)
        if not free.any():
            continue
        others = np.delete(nodes, k, axis=0)
        covered, near = _overlaps(boxes, others), _overlaps(boxes_at(places, sizes[k] + 2 * NEAR * height), others)
        reach = sizes[k] + radii[k] + max(RINGS) * height
        points = edges[(np.abs(edges - anchors[k]) <= reach).all(axis=1)]
        over = OVER_EDGE / np.ceil(sizes[k, 0] / height) * _overlaps(boxes, np.tile(points, 2)).sum(axis=1)
        price = price + height * (OVER_NODE * covered.sum(axis=1) + NEAR_NODE * near.sum(axis=1) + over)
        centers[k], placed[k] = places[np.where(free, price, np.inf).argmin()], True
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
    outwards = directions @ ((anchor - middle) / max(float(np.hypot(*(anchor - middle))), 1e-12))
    return places, (rings[:, None] + 0.2 * size[1] * (1.0 - outwards)).ravel()


def _overlaps(one: FloatArray, two: FloatArray) -> NDArray[np.bool_]:
    """Tell which boxes overlap which others; one whose corners are equal is a point."""
    return np.asarray((one[:, None, :2] < two[:, 2:]).all(axis=2) & (one[:, None, 2:] > two[:, :2]).all(axis=2))


def points_along(lines: Sequence[FloatArray], apart: float) -> FloatArray:
    """Return points on the lines at about this distance from each other."""
    ends = np.concatenate([np.stack([line[:-1], line[1:]], axis=1) for line in lines]) if lines else np.empty((0, 2, 2))
    count = np.maximum(np.ceil(np.hypot(*(ends[:, 1] - ends[:, 0]).T) / apart), 1).astype(int)
    which = np.repeat(np.arange(len(ends)), count)
    share = (np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count) + 0.5) / count[which]
    return np.asarray(ends[which, 0] + share[:, None] * (ends[which, 1] - ends[which, 0]))
