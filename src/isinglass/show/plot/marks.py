"""Nodes: their size, rings around them, and labels inside or beside them that do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.path import Path
from matplotlib.text import Annotation, Text

from isinglass.arguments import as_numbers, check_word
from isinglass.arrays import FloatArray, plain_value
from isinglass.errors import ArgumentError, DataError
from isinglass.evaluate.centrality import MEASURES, node_measure
from isinglass.names import NodeValues, by_node
from isinglass.network import Network
from isinglass.show.palette import channels
from isinglass.show.plot.canvas import PLAIN, ink
from isinglass.show.plot.label_places import place_labels, points_along

RING, HOLE, EMPTY = 1.3, 1.06, 0.15
"""Outer and inner diameter of a ring relative to its node, and the opacity of its empty part."""
SMALLEST, LARGEST = 0.55, 1.45
"""Diameters of the nodes with the smallest and the largest measure, relative to nodes without one."""
_GAP = 1.5  # points between a node and its label
LEAST_LETTERS, LARGEST_LETTERS = 5.0, 11.0  # font sizes of labels in points
INSIDE, CAPITALS = 0.84, 0.72
"""Diagonal of a label relative to the node around it, and height of capital letters relative to the line."""


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


def least_diameters(ax: Axes, texts: Sequence[str]) -> FloatArray:
    """Return the diameter that a node needs for its label inside at the smallest font size, with room around it."""
    shown = [ax.text(0.0, 0.0, text, fontsize=10 * LEAST_LETTERS, **PLAIN) for text in texts]  # large: exact widths
    boxes = [Text.get_window_extent(label) for label in shown]
    for label in shown:
        label.remove()
    diagonals = np.array([np.hypot(box.width, CAPITALS * box.height) for box in boxes]) * 72.0 / ax.figure.dpi
    return np.asarray(diagonals / 10 / INSIDE)


def letters_inside(diameters: FloatArray, least: FloatArray) -> FloatArray:
    """Return font sizes of labels inside nodes, given the least diameters; none is much larger than the smallest."""
    sizes = LEAST_LETTERS * diameters / np.maximum(least, 1e-9)
    return np.asarray(np.clip(sizes, LEAST_LETTERS, min(LARGEST_LETTERS, 1.3 * sizes.min())))


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
    """Draw lines from nodes to distant labels."""
    ends = np.clip(anchors, centers - sizes / 2, centers + sizes / 2)
    far = np.hypot(*(ends - anchors).T) > nearest
    segments = ax.transData.inverted().transform(np.stack([anchors[far], ends[far]], axis=1).reshape(-1, 2))
    leaders = LineCollection(list(segments.reshape(-1, 2, 2)), colors=ink(), linewidths=0.4, zorder=3)
    ax.add_collection(leaders, autolim=False)
