"""How nodes look: their size by a measure, rings of predictability, labels beside them or inside."""

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
from scipy.spatial import cKDTree

from isinglass.arrays import FloatArray
from isinglass.errors import ArgumentError, DataError
from isinglass.evaluate.nodes import node_measure
from isinglass.names import by_node
from isinglass.network import Network
from isinglass.show.palette import NEUTRAL
from isinglass.show.plot.canvas import PLAIN, ink
from isinglass.show.plot.labels import place_labels

RING, HOLE = 1.38, 1.08
"""Outer and inner diameter of a ring, relative to its node."""
SMALLEST, LARGEST = 0.55, 1.45
"""Diameters of the nodes with the least and the largest measure, relative to those without one."""
_GAP = 1.0  # points between a node and its label
LEAST_LETTERS = 3.6
"""Points below which nobody reads a label inside a node."""


def node_values(given: Any, network: Network, what: str) -> FloatArray:
    """Return one finite number per node: a measure by its name, or values in order or by name of the node."""
    if isinstance(given, str):
        return node_measure(network, given)
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


def scale_sizes(values: FloatArray | None, diameter: float, n_nodes: int) -> FloatArray:
    """Return the diameter of every node: areas grow in proportion to what a measure has above its least value."""
    if values is None or np.ptp(values) == 0:
        return np.full(n_nodes, diameter)
    share = (values - values.min()) / np.ptp(values)
    return np.asarray(diameter * np.sqrt(SMALLEST**2 + (LARGEST**2 - SMALLEST**2) * share))


def room_for_nodes(ax: Axes, xy: FloatArray) -> float:
    """Return the diameter in points at which nodes hardly ever touch: labels inside need all the room there is."""
    points = ax.transData.transform(xy) * 72.0 / ax.figure.dpi
    if len(points) < 2:
        return 26.0
    nearest = cKDTree(points).query(points, k=2)[0][:, 1]
    return float(np.clip(0.86 * nearest.min(), 5.0, 26.0))


def draw_rings(ax: Axes, xy: FloatArray, shares: FloatArray, diameters: FloatArray) -> None:
    """Draw a ring around every node, filled clockwise from the top by its share."""
    if not ((shares >= 0) & (shares <= 1)).all():
        wrong = shares[(shares < 0) | (shares > 1)][0]
        raise ArgumentError("rings", "must be shares between 0 and 1", float(wrong))
    for (x, y), share, diameter in zip(xy, shares, diameters, strict=True):
        size = (RING * diameter) ** 2
        for part, color in ((1.0, to_light(NEUTRAL)), (share, ink())):
            if part > 0:
                ax.scatter(x, y, s=size, c=color, marker=arc(part), linewidths=0, zorder=1.9, clip_on=False)
        ax.scatter(x, y, s=size, c="none", marker="o", edgecolors=ink(), linewidths=0.3, zorder=1.9, clip_on=False)


def to_light(color: str) -> str:
    """Return a color halfway to white.

    Examples
    --------
    >>> to_light("#000000")
    '#7f7f7f'
    """
    return "#" + "".join(f"{(int(color[k : k + 2], 16) + 255) // 2:02x}" for k in (1, 3, 5))


def arc(share: float) -> Path:
    """Return the part of a ring that starts at the top and goes clockwise, of outer radius 1.

    Examples
    --------
    >>> bool(np.allclose(arc(0.25).vertices[:1], [[0, 1]]))
    True
    """
    angles = np.pi / 2 - 2 * np.pi * np.linspace(0.0, min(share, 0.9999), 60)
    outer = np.column_stack([np.cos(angles), np.sin(angles)])
    inner = outer[::-1] * HOLE / RING
    return Path(np.vstack([outer, inner, outer[:1]]), closed=True)


def fits_inside(ax: Axes, xy: FloatArray, texts: Sequence[str], diameters: FloatArray, font_size: float) -> bool:
    """Tell whether labels inside the nodes would be large enough to read."""
    labels = [ax.text(x, y, text, fontsize=font_size, **PLAIN) for (x, y), text in zip(xy, texts, strict=True)]
    sizes = _letters_inside(ax, labels, diameters, font_size)
    for label in labels:
        label.remove()
    return bool(sizes.min(initial=np.inf) >= LEAST_LETTERS)


def draw_inside(
    ax: Axes, xy: FloatArray, texts: Sequence[str], diameters: FloatArray, font_size: float, colors: Sequence[str]
) -> None:
    """Write the labels into the nodes, as large as the nodes allow, but none much larger than the smallest."""
    labels = [
        ax.text(x, y, text, ha="center", va="center", fontsize=font_size, zorder=4, color=_contrast(color), **PLAIN)
        for (x, y), text, color in zip(xy, texts, colors, strict=True)
    ]
    sizes = _letters_inside(ax, labels, diameters, font_size)
    for label, size in zip(labels, np.minimum(sizes, 1.6 * sizes.min(initial=np.inf)), strict=True):
        label.set_fontsize(size)


def _letters_inside(ax: Axes, labels: Sequence[Text], diameters: FloatArray, font_size: float) -> FloatArray:
    pixel = ax.figure.dpi / 72.0
    boxes = [Text.get_window_extent(label) for label in labels]
    diagonal = np.array([np.hypot(box.width, 0.72 * box.height) for box in boxes]) / pixel
    return np.asarray(np.minimum(font_size, font_size * 0.96 * diameters / np.maximum(diagonal, 1e-9)))


def _contrast(color: str) -> str:
    red, green, blue = (int(color[k : k + 2], 16) for k in (1, 3, 5))
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 110 else "white"


def draw_beside(
    ax: Axes,
    xy: FloatArray,
    texts: list[str],
    strength: FloatArray,
    diameters: FloatArray,
    font_size: float,
    legend: Legend | None,
) -> int:
    """Write the names where they do not touch, with a thin line to those that had to move away."""
    labels = [_label(ax, point, text, font_size) for point, text in zip(xy, texts, strict=True)]
    # Measured without the annotation's own arrow, in pixels of the figure as it is now.
    boxes = [Text.get_window_extent(label) for label in labels]
    pixel = ax.figure.dpi / 72.0
    sizes = np.array([[box.width, box.height] for box in boxes]) + 2 * _GAP * pixel
    anchors, frame = ax.transData.transform(xy), ax.get_window_extent()
    radii = (diameters / 2 + _GAP) * pixel
    centers, placed = place_labels(
        anchors,
        sizes,
        radii,
        (frame.x0, frame.y0, frame.x1, frame.y1),
        order=np.argsort(-strength, kind="stable"),
        obstacles=None if legend is None else np.array([legend.get_window_extent().extents]),
    )
    for label, anchor, center, has_room in zip(labels, anchors, centers, placed, strict=True):
        if has_room and label.get_text():
            label.set_position(tuple((center - anchor) / pixel))
        else:
            label.remove()
    _draw_leaders(ax, anchors[placed], centers[placed], sizes[placed], 1.6 * radii[placed])
    return int((~placed).sum())


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


def _draw_leaders(ax: Axes, anchors: FloatArray, centers: FloatArray, sizes: FloatArray, nearest: FloatArray) -> None:
    """Join labels to their nodes where the gap is wide enough to ask whose label it is."""
    ends = np.clip(anchors, centers - sizes / 2, centers + sizes / 2)
    far = np.hypot(*(ends - anchors).T) > nearest
    segments = ax.transData.inverted().transform(np.stack([anchors[far], ends[far]], axis=1).reshape(-1, 2))
    leaders = LineCollection(list(segments.reshape(-1, 2, 2)), colors=ink(), linewidths=0.4, zorder=3)
    ax.add_collection(leaders, autolim=False)
