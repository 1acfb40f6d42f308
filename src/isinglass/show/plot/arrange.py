"""Where nodes and edges go on paper: nodes do not touch, and edges go around nodes that they do not join.

All lengths are in points, 72 to an inch.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from isinglass.arrays import FloatArray

ROUNDS = 100  # most rounds in which nodes move apart
AIR = 1.5  # least distance between an edge and a node that it passes, and between nodes
SMALLEST = 4.0  # diameter that nodes always have
STEPS = 20  # straight pieces of a bent edge
BENDS: tuple[tuple[float, ...], ...] = ((0.12, 0.2, 0.3), (0.42, 0.56, 0.75, 1.0))
"""How far control points lie from the straight line, in lengths of the edge; the small ones are tried first."""
SHAPES = tuple((side * a, side * b) for a, b in ((1, 1), (1, 0.2), (0.2, 1), (1, -0.7), (0.7, -1)) for side in (1, -1))
"""Where the two control points lie, relative to that: on one side, more to one end, or on both sides."""
BENT_FAR_UP_TO, BENT_UP_TO = 25, 60  # largest networks whose edges may be bent far, and at all


def move_apart(points: FloatArray, radii: FloatArray, frame: FloatArray) -> FloatArray:
    """Return the points moved so that circles around them lie in the frame (two corners) and do not touch."""
    low, high = frame[0] + radii[:, None], frame[1] - radii[:, None]
    low, high = np.minimum(low, (low + high) / 2), np.maximum(high, (low + high) / 2)
    points = np.clip(points, low, high)
    for _ in range(ROUNDS):
        s, t = cKDTree(points).query_pairs(2 * float(radii.max(initial=0.0)) + AIR, output_type="ndarray").T
        gap = points[t] - points[s]
        distance = np.hypot(*gap.T)
        lacking = radii[s] + radii[t] + AIR - distance
        touching = lacking > 1e-3
        if not touching.any():
            break
        s, t, gap, distance = s[touching], t[touching], gap[touching], distance[touching]
        # A little more than half of what lacks; nodes at one place leave it in different directions.
        gap = np.where((distance > 1e-9)[:, None], gap, np.column_stack([np.cos(s + 2.0 * t), np.sin(s + 2.0 * t)]))
        shift = gap * (0.55 * lacking[touching] / np.maximum(np.hypot(*gap.T), 1e-9))[:, None]
        moved = [np.bincount(t, part, len(points)) - np.bincount(s, part, len(points)) for part in shift.T]
        points = np.clip(points + np.column_stack(moved), low, high)
    return points


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

    Also tell whether all of them pass those nodes. Large networks have straight edges only, which counts as passing:
    bent ones would hide more than they show.
    """
    if len(points) > BENT_UP_TO:
        return list(points[pairs]), True
    lines, pass_all = [], True
    reaches = BENDS if len(points) <= BENT_FAR_UP_TO else BENDS[:1]
    for (s, t), width in zip(pairs, widths, strict=True):
        best = points[[s, t]]
        others = np.delete(np.arange(len(points)), [s, t])
        away, keep_off = points[others], radii[others] + width / 2 + AIR
        covered = hidden(best[None], away, keep_off)[0]
        for reach in reaches if covered > 0 else ():
            curves = _curves(points[s], points[t], reach)
            outside = np.maximum(frame[0] - curves, curves - frame[1]).max(axis=(1, 2))
            price = hidden(curves, away, keep_off) + np.maximum(outside, 0.0)
            if price.min() < covered:
                best, covered = curves[price.argmin()], price.min()
            if covered <= 0:
                break
        lines.append(best)
        pass_all &= covered <= 0 or reaches is not BENDS
    return lines, pass_all


def hidden(lines: FloatArray, points: FloatArray, radii: FloatArray) -> FloatArray:
    """Return how far every line (n, k, 2) runs into circles, summed over these."""
    (x, y), (dx, dy) = np.moveaxis(lines[:, None, :-1], -1, 0), np.moveaxis(np.diff(lines, axis=1)[:, None], -1, 0)
    to_x, to_y = points[:, :1] - x, points[:, 1:] - y
    along = np.clip((to_x * dx + to_y * dy) / np.maximum(dx**2 + dy**2, 1e-12), 0.0, 1.0)
    distance = np.sqrt(((to_x - along * dx) ** 2 + (to_y - along * dy) ** 2).min(axis=-1))
    return np.asarray(np.maximum(radii - distance, 0.0).sum(axis=1))


def _curves(start: FloatArray, end: FloatArray, reach: tuple[float, ...]) -> FloatArray:
    """Return cubic curves between two points, the flattest first."""
    along = end - start
    across = np.array([-along[1], along[0]])
    t = np.linspace(0.0, 1.0, STEPS + 1)
    base = start + t[:, None] * along
    first, second = 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t)
    heights = [far * (a * first + b * second) for far, (a, b) in product(reach, SHAPES)]
    return np.array([base + height[:, None] * across for height in heights])
