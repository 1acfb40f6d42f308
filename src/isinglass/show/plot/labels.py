"""Where the labels of a drawing go, so that no two of them touch: geometry only, in whatever unit is given."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray

DIRECTIONS = 16
RINGS = (0.0, 0.35, 0.8, 1.4, 2.2, 3.2, 4.5)
"""Distances between a node and its label that are tried, in heights of the label; further away nobody finds it."""
SWEEPS = 3
"""How often every label may look for a better place once all have one."""
OVER_NODE = 4.0
"""Price of covering a node, in heights of the label."""


def place_labels(
    anchors: FloatArray,
    sizes: FloatArray,
    radii: FloatArray,
    bounds: tuple[float, float, float, float],
    *,
    order: NDArray[np.intp],
    obstacles: FloatArray | None = None,
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the center of every label and whether there was room for it.

    Labels stand around their nodes, as near as they can: they never overlap each other or an obstacle, and cover other
    nodes only where it cannot be helped. Those that come last in ``order`` go without if there is no room.

    Examples
    --------
    >>> anchors, sizes = np.array([[0.0, 0.0], [1.0, 0.0]]), np.full((2, 2), [30.0, 8.0])
    >>> centers, placed = place_labels(anchors, sizes, np.ones(2), (-50, -50, 50, 50), order=np.array([0, 1]))
    >>> placed.tolist(), bool((np.abs(centers[0] - centers[1]) >= [30.0, 8.0]).any())
    ([True, True], True)
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
            around = np.r_[boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)][None]  # all that matters is in here
            placed[k] = False
            others = np.vstack([taken, boxes_at(centers[placed], sizes[placed])])
            others = others[_overlaps(around, others)[0]]
            free = _inside(boxes, bounds) & ~_overlaps(boxes, others).any(axis=1)
            if free.any():
                covered = _share_covered(boxes, nodes[_overlaps(around, nodes)[0]])
                price = prices + OVER_NODE * sizes[k, 1] * covered
                centers[k] = places[np.where(free, price, np.inf).argmin()]
                placed[k] = True
        if sweep and np.array_equal(centers, before):
            break
    return centers, placed


def boxes_at(centers: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return left, bottom, right and top of boxes.

    Examples
    --------
    >>> boxes_at(np.array([[0.0, 0.0]]), np.array([[4.0, 2.0]])).tolist()
    [[-2.0, -1.0, 2.0, 1.0]]
    """
    return np.column_stack([centers - sizes / 2, centers + sizes / 2])


def _candidates(
    anchor: FloatArray, size: FloatArray, radius: float, middle: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return places on rings around a node, and their prices: near is better, and so is away from the middle."""
    angles = np.linspace(0.0, 2.0 * np.pi, DIRECTIONS, endpoint=False)
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    rings = np.array(RINGS) * size[1]
    reach = size / 2 + radius + rings[:, None]
    # On the border of a rectangle, not on an ellipse: the nearest ring then touches the node and never covers it.
    square = directions / np.abs(directions).max(axis=1, keepdims=True)
    places = anchor + (square[None, :, :] * reach[:, None, :]).reshape(-1, 2)
    outward = anchor - middle
    length = float(np.hypot(*outward))
    towards = directions @ (outward / length if length > 0 else np.zeros(2))
    prices = rings[:, None] + 0.2 * size[1] * (1.0 - towards)[None, :]
    return places, prices.ravel()


def _inside(boxes: FloatArray, bounds: tuple[float, float, float, float]) -> NDArray[np.bool_]:
    left, bottom, right, top = bounds
    inside: NDArray[np.bool_] = (
        (boxes[:, 0] >= left) & (boxes[:, 1] >= bottom) & (boxes[:, 2] <= right) & (boxes[:, 3] <= top)
    )
    return inside


def _common(one: FloatArray, two: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return width and height of what each box of one list has in common with each of the other; negative if apart."""
    width = np.minimum(one[:, None, 2], two[None, :, 2]) - np.maximum(one[:, None, 0], two[None, :, 0])
    height = np.minimum(one[:, None, 3], two[None, :, 3]) - np.maximum(one[:, None, 1], two[None, :, 1])
    return width, height


def _overlaps(one: FloatArray, two: FloatArray) -> NDArray[np.bool_]:
    width, height = _common(one, two)
    return np.asarray((width > 0) & (height > 0))


def _share_covered(boxes: FloatArray, nodes: FloatArray) -> FloatArray:
    """Return, for every box, how many nodes it covers, parts of nodes counted as parts."""
    width, height = (np.maximum(extent, 0.0) for extent in _common(boxes, nodes))
    area = np.maximum((nodes[:, 2] - nodes[:, 0]) * (nodes[:, 3] - nodes[:, 1]), 1e-12)
    return np.asarray((width * height / area).sum(axis=1))
