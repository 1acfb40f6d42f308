"""Places of labels beside the nodes of a drawing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray

DIRECTIONS = 16
RINGS = (0.0, 0.35, 0.8, 1.4, 2.2, 3.2, 4.5)
"""Candidate distances between a node and its label, in heights of the label."""
SWEEPS = 3  # passes over all labels in which each may move to a better place
OVER_NODE, OVER_EDGE = 4.0, 0.03  # cost of covering a node and a point of an edge, in heights of the label
NEAR, NEAR_NODE = 0.75, 1.0  # distance up to which a label seems to be that of another node, and its cost; the same


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
    cover other nodes only if all free places do, keep away from these, and cover as few as possible of the points that
    ``edges`` are.
    """
    n = len(anchors)
    centers, placed = anchors.astype(np.float64), np.zeros(n, dtype=bool)
    nodes = np.column_stack([anchors - radii[:, None], anchors + radii[:, None]])
    middle = anchors.mean(axis=0) if n else np.zeros(2)
    for sweep in range(1 + SWEEPS):
        before = centers.copy()
        for k in order:
            places, prices = _candidates(anchors[k], sizes[k], radii[k], middle)
            boxes, near = boxes_at(places, sizes[k]), boxes_at(places, sizes[k] + 2 * NEAR * sizes[k, 1])
            around = np.r_[near[:, :2].min(axis=0), near[:, 2:].max(axis=0)][None]  # others cannot overlap
            placed[k] = False
            others = boxes_at(centers[placed], sizes[placed])
            others = others[_overlaps(around, others)[0]]
            inside = (boxes[:, :2] >= bounds[:2]).all(axis=1) & (boxes[:, 2:] <= bounds[2:]).all(axis=1)
            free = inside & ~_overlaps(boxes, others).any(axis=1)
            if free.any():
                foreign = nodes[_overlaps(around, nodes)[0] & (np.arange(n) != k)]
                covered, n_near = _share_covered(boxes, foreign), _overlaps(near, foreign).sum(axis=1)
                price = prices + sizes[k, 1] * (OVER_NODE * covered + NEAR_NODE * n_near)
                over = _contain(boxes[free], edges[_contain(around, edges)[0]]).sum(axis=1)
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


def points_along(lines: Sequence[FloatArray], apart: float) -> FloatArray:
    """Return points on the lines at about this distance from each other."""
    ends = np.concatenate([np.stack([line[:-1], line[1:]], axis=1) for line in lines]) if lines else np.empty((0, 2, 2))
    count = np.maximum(np.ceil(np.hypot(*(ends[:, 1] - ends[:, 0]).T) / apart), 1).astype(int)
    which = np.repeat(np.arange(len(ends)), count)
    share = (np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count) + 0.5) / count[which]
    return np.asarray(ends[which, 0] + share[:, None] * (ends[which, 1] - ends[which, 0]))
