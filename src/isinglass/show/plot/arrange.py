"""Edges on paper, which go around nodes that they do not join, and room for nodes.

All lengths are in points, 72 to an inch.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from isinglass.arrays import FloatArray

AIR = 1.5  # least distance between an edge and a node that it passes, and between nodes
SMALLEST = 4.0  # diameter that nodes always have
STEPS = 20  # straight pieces of a bent edge
BENDS, FAR_BENDS = (0.12, 0.2, 0.3), (0.42, 0.56, 0.75, 1.0)
"""How far control points lie from the straight line, in lengths of the edge; far ones in small networks only."""
SHAPES = tuple((side * a, side * b) for a, b in ((1, 1), (1, 0.2), (0.2, 1), (1, -0.7), (0.7, -1)) for side in (1, -1))
"""Where the two control points lie, relative to that: on one side, more to one end, or on both sides."""
BENT_FAR_UP_TO, BENT_UP_TO = 25, 60  # largest numbers of nodes between which edges may be bent far, and at all


def room(points: FloatArray, radii: FloatArray) -> float:
    """Return the factor, at most 1, by which radii must shrink for circles around the points not to touch.

    Circles stay SMALLEST, even where they touch.
    """
    s, t = cKDTree(points).query_pairs(2 * float(radii.max(initial=0.0)) + AIR, output_type="ndarray").T
    allowed = (np.hypot(*(points[s] - points[t]).T) - AIR / 2) / (radii[s] + radii[t])
    return float(min(1.0, max(allowed.min(initial=1.0), SMALLEST / 2 / radii.max(initial=SMALLEST))))


def bend(
    points: FloatArray, radii: FloatArray, pairs: NDArray[np.integer], widths: FloatArray, frame: FloatArray
) -> tuple[list[FloatArray], bool]:
    """Return a line for every pair: straight, or bent around the nodes in between as little as possible.

    Also tell whether all of them pass those nodes. Networks whose edges may not be bent far count as if they did:
    smaller nodes would not help.
    """
    if len(points) > BENT_UP_TO:
        return list(points[pairs]), True
    lines, n_hidden, is_small = [], 0, len(points) <= BENT_FAR_UP_TO
    for (s, t), width in zip(pairs, widths, strict=True):
        line = points[[s, t]]
        others = np.delete(np.arange(len(points)), [s, t])
        centers, distances = points[others], radii[others] + width / 2 + AIR
        covered = hidden(line[None], centers, distances)[0]
        if covered > 0:
            curves = _curves(points[s], points[t], BENDS + FAR_BENDS if is_small else BENDS)
            outside = np.maximum(frame[0] - curves, curves - frame[1]).max(axis=(1, 2))
            price = hidden(curves, centers, distances) + np.maximum(outside, 0.0)
            if price.min() < covered:
                line, covered = curves[price.argmin()], price.min()
        lines.append(line)
        n_hidden += covered > 0
    return lines, not (is_small and n_hidden)


def hidden(lines: FloatArray, points: FloatArray, radii: FloatArray) -> FloatArray:
    """Return how far every line (n, k, 2) runs into circles, summed over these."""
    (x, y), (dx, dy) = np.moveaxis(lines[:, None, :-1], -1, 0), np.moveaxis(np.diff(lines, axis=1)[:, None], -1, 0)
    to_x, to_y = points[:, :1] - x, points[:, 1:] - y
    along = np.clip((to_x * dx + to_y * dy) / np.maximum(dx**2 + dy**2, 1e-12), 0.0, 1.0)
    distance = np.sqrt(((to_x - along * dx) ** 2 + (to_y - along * dy) ** 2).min(axis=-1))
    return np.asarray(np.maximum(radii - distance, 0.0).sum(axis=1))


def _curves(start: FloatArray, end: FloatArray, bends: tuple[float, ...]) -> FloatArray:
    """Return cubic curves between two points, the flattest first."""
    along = end - start
    across = np.array([-along[1], along[0]])
    t = np.linspace(0.0, 1.0, STEPS + 1)
    base = start + t[:, None] * along
    first, second = 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t)
    heights = [far * (a * first + b * second) for far, (a, b) in product(bends, SHAPES)]
    return np.array([base + height[:, None] * across for height in heights])
