"""What is drawn of a network, and where: nodes do not touch, and edges go around nodes that they do not join.

All lengths are in points, 72 to an inch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from isinglass.arrays import FloatArray
from isinglass.show.layout import separate_circles
from isinglass.show.plot import labels

RING = 1.3  # diameter of a ring relative to its node
AIR = 1.5  # least distance between an edge and a node that it passes, and between nodes
LEAST_DIAMETER = 4.0  # diameter that nodes always have
STEPS = 20  # straight pieces of a bent edge
BENDS = (0.12, 0.2, 0.3, 0.42, 0.56, 0.75, 1.0)
"""How far the arc of an edge leaves the straight line, to either side, in lengths of the edge."""
SKEWS = (0.5, 0.25, 0.75)  # where along the edge it leaves the line most
BENT_UP_TO = 60  # largest number of nodes between which edges are bent
THINNEST, THICKEST = 0.5, 6.0
"""Width in points of an edge of weight zero, and of the strongest edge unless nodes are small."""
LARGEST_SHARE = 0.2  # of the area, for nodes that are enlarged for the labels inside


@dataclass(frozen=True)
class Nodes:
    """What is drawn of the nodes, in their order."""

    texts: list[str]
    inside: bool  # whether the texts are written into the nodes if all have room
    members: list[str | None]  # the group of every node
    colors: dict[str | None, str]  # of the groups
    scale: FloatArray  # diameters relative to those of nodes without a measure
    rings: FloatArray | None  # shares
    strength: FloatArray

    @property
    def outer(self) -> float:
        """Diameter with the ring, relative to that of the node."""
        return 1.0 if self.rings is None else RING


@dataclass(frozen=True)
class Edges:
    """What is drawn of the edges, the weakest first: strong ones lie on top."""

    pairs: NDArray[np.integer]
    signs: NDArray[np.int64]
    shares: FloatArray  # weights relative to the widest
    colors: list[str]
    widest: float
    between: bool | None  # whether there are edges between groups; None if colors show signs


@dataclass(frozen=True)
class Arrangement:
    """What is where: positions of nodes and lines of edges in data coordinates, diameters and widths in points."""

    xy: FloatArray
    lines: list[FloatArray]
    widths: FloatArray  # of the lines
    diameters: FloatArray
    font_sizes: FloatArray | None = None  # of labels inside; None: they are beside the nodes


def arrange(ax: Axes, xy: FloatArray, nodes: Nodes, edges: Edges, *, is_fixed: bool) -> Arrangement:
    """Find places and sizes for the axes as they are now; nodes stay at positions that are fixed.

    Labels that are to be inside the nodes are so if all of them fit.
    """
    _frame(ax, xy, keep_aspect=is_fixed)
    spacing, outer = node_spacing(ax, len(xy)), nodes.outer
    if nodes.inside:
        needed = labels.least_diameters(ax, nodes.texts)
        diameters = nodes.scale * np.clip(0.35 * spacing, 8, 40) / outer
        if not is_fixed:  # as large as labels of 1.5 times the smallest font need, if the nodes leave room for edges
            largest = spacing * np.sqrt(4 / np.pi * LARGEST_SHARE / np.mean((outer * diameters) ** 2))
            diameters = diameters * max(1.0, min(float((1.5 * needed / diameters).max()), largest))
        drawn = _place(ax, xy, outer * diameters, edges, is_fixed=is_fixed)
        diameters = drawn.diameters / outer
        if (needed <= diameters + 1e-6).all():
            return replace(drawn, diameters=diameters, font_sizes=labels.font_sizes_inside(diameters, needed))
    drawn = _place(ax, xy, nodes.scale * np.clip(0.17 * spacing, 4, 26), edges, is_fixed=is_fixed)
    return replace(drawn, diameters=drawn.diameters / outer)


def _place(ax: Axes, xy: FloatArray, diameters: FloatArray, edges: Edges, *, is_fixed: bool) -> Arrangement:
    """Find places for nodes of these diameters, rings included, or smaller ones, and for the edges between them."""
    pixel, box = ax.figure.dpi / 72.0, ax.get_window_extent()
    frame, places = np.array([box.p0, box.p1]) / pixel, ax.transData.transform(xy) / pixel
    if not is_fixed:  # first with room for edges
        roomy = np.maximum(0.22 * node_spacing(ax, len(xy)), 0.65 * diameters)
        for radii in (roomy, diameters / 2):
            places = separate_circles(places, radii, AIR, frame)
    diameters = diameters * shrink_factor(places, diameters / 2)
    widths = THINNEST + (min(THICKEST, 0.4 * float(np.median(diameters))) - THINNEST) * edges.shares
    lines = route_edges(places, diameters / 2, edges.pairs, widths, frame)
    back = ax.transData.inverted().transform
    return Arrangement(
        xy if is_fixed else back(places * pixel), [back(line * pixel) for line in lines], widths, diameters
    )


def node_spacing(ax: Axes, n_nodes: int) -> float:
    """Return the side of a square with the area that a node has to itself, in points."""
    return float(np.sqrt(np.prod(ax.get_window_extent().size) / max(n_nodes, 1)) * 72.0 / ax.figure.dpi)


def _frame(ax: Axes, xy: FloatArray, *, keep_aspect: bool) -> None:
    low, high = xy.min(axis=0), xy.max(axis=0)
    half = np.maximum(0.58 * (high - low), 0.05 * max(float((high - low).max()), 1.0))
    if keep_aspect:
        # By hand: matplotlib would change the limits while drawing, after the labels were placed.
        frame = np.array(ax.get_window_extent().size)
        half = frame * float((half / frame).max())
    middle = (low + high) / 2
    ax.set(xlim=(middle[0] - half[0], middle[0] + half[0]), ylim=(middle[1] - half[1], middle[1] + half[1]))


def shrink_factor(points: FloatArray, radii: FloatArray) -> float:
    """Return the factor, at most 1, by which radii must shrink for circles around the points not to touch.

    Circles stay LEAST_DIAMETER, even where they touch.
    """
    s, t = cKDTree(points).query_pairs(2 * float(radii.max(initial=0.0)) + AIR, output_type="ndarray").T
    allowed = (np.hypot(*(points[s] - points[t]).T) - AIR / 2) / (radii[s] + radii[t])
    return float(min(1.0, max(allowed.min(initial=1.0), LEAST_DIAMETER / 2 / radii.max(initial=LEAST_DIAMETER))))


def route_edges(
    points: FloatArray, radii: FloatArray, pairs: NDArray[np.integer], widths: FloatArray, frame: FloatArray
) -> list[FloatArray]:
    """Return a line for every pair: straight, or in small networks bent as little as possible around other nodes."""
    if len(points) > BENT_UP_TO:
        return list(points[pairs])
    lines = []
    for (s, t), width in zip(pairs, widths, strict=True):
        others = np.delete(np.arange(len(points)), [s, t])
        centers, distances = points[others], radii[others] + width / 2 + AIR
        line = points[[s, t]]
        if depth_in_circles(line[None], centers, distances)[0] > 0:
            curves = _curves(points[s], points[t])
            outside = np.maximum(frame[0] - curves, curves - frame[1]).max(axis=(1, 2))
            line = curves[(depth_in_circles(curves, centers, distances) + np.maximum(outside, 0.0)).argmin()]
        lines.append(line)
    return lines


def depth_in_circles(lines: FloatArray, points: FloatArray, radii: FloatArray) -> FloatArray:
    """Return how far every line (n, k, 2) runs into circles, summed over these."""
    (x, y), (dx, dy) = np.moveaxis(lines[:, None, :-1], -1, 0), np.moveaxis(np.diff(lines, axis=1)[:, None], -1, 0)
    to_x, to_y = points[:, :1] - x, points[:, 1:] - y
    along = np.clip((to_x * dx + to_y * dy) / np.maximum(dx**2 + dy**2, 1e-12), 0.0, 1.0)
    distance = np.sqrt(((to_x - along * dx) ** 2 + (to_y - along * dy) ** 2).min(axis=-1))
    return np.asarray(np.maximum(radii - distance, 0.0).sum(axis=1))


def _curves(start: FloatArray, end: FloatArray) -> FloatArray:
    """Return the straight line between two points and arcs, the flattest first."""
    along = end - start
    across = np.array([-along[1], along[0]])
    t = np.linspace(0.0, 1.0, STEPS + 1)
    base = start + t[:, None] * along
    arcs = [np.sin(np.pi * t ** (np.log(0.5) / np.log(skew))) for skew in SKEWS]
    heights = [0.0 * t, *(side * far * arc for far in BENDS for arc in arcs for side in (1, -1))]
    return np.array([base + height[:, None] * across for height in heights])
