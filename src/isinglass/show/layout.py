"""A seeded force-directed layout.

Edges attract and all nodes repel each other by powers of the distance (Noack 2007; Fruchterman and Reingold 1991 is a
special case). Components are laid out one by one and arranged in rows, nodes without edges last.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.spatial import cKDTree

from isinglass.arguments import RandomSource, as_generator, as_numbers, check_count
from isinglass.arrays import FloatArray
from isinglass.errors import DataError
from isinglass.pairs import check_pairs, symmetric_matrix
from isinglass.results import NetworkLike, as_network

__all__ = ["force_layout", "shared_layout"]

CONTRAST = 1.5  # exponent of the weights: many weak edges between clusters would pull them together
REPELLING = 400  # nodes that repel all others in a step: all of them, or a random sample (Gove 2019)
PIVOTS = 50  # nodes whose graph distances give the first positions
SPACING = 1.5  # square root of the area per node, in units of the distance between isolated nodes
CLEARANCE = 0.8  # least distance between two nodes, in the same units
ROUNDS = 100  # most rounds in which nodes move apart
MOVED = 0.55  # by which each of two nodes moves, of the distance that they lack


def force_layout(
    n_nodes: int, edge_index: ArrayLike, edge_weights: ArrayLike | None = None, *, random_state: RandomSource = 0
) -> FloatArray:
    """Return positions at which connected nodes are near each other and clusters stand apart.

    The positions, shape (n_nodes, 2), are distinct and fill the square from −1 to 1 in the wider direction.

    Parameters
    ----------
    n_nodes : int
        Number of nodes, isolated ones included.
    edge_index : array-like of int, shape (n_edges, 2)
        Pairs of nodes, in any order; repeated pairs add up.
    edge_weights : array-like of shape (n_edges,), optional
        Strength of the attraction, usually the absolute coupling; default 1. Edges whose weight is not positive do not
        attract.
    random_state : int, Generator, RandomState, SeedSequence or None, default 0
        Seed of the small shifts that separate nodes with the same neighbors.
    """
    check_count("n_nodes", n_nodes, least=0)
    graph = _attractions(n_nodes, edge_index, edge_weights)
    rng = as_generator(random_state)
    if n_nodes == 0:
        return np.empty((0, 2))
    n_parts, part = connected_components(graph, directed=False)
    members = np.split(np.argsort(part, kind="stable"), np.cumsum(np.bincount(part, minlength=n_parts))[:-1])
    boxes = [_lay_out(graph[nodes][:, nodes], rng) for nodes in members]
    xy = np.empty((n_nodes, 2))
    for nodes, box, corner in zip(members, boxes, _shelve(boxes), strict=True):
        xy[nodes] = box + corner
    xy -= (xy.min(axis=0) + xy.max(axis=0)) / 2
    largest = float(np.abs(xy).max())
    return xy / largest if largest > 0 else xy


def shared_layout(networks: Iterable[NetworkLike], *, random_state: RandomSource = 0) -> FloatArray:
    """Return one position per node for several networks of the same nodes: the layout of all their edges together.

    An edge attracts by the sum of |θ_st|^1.5 over the networks that have it. ``networks`` are Networks, Solutions,
    fitted estimators or matrices.
    """
    listed = networks if isinstance(networks, Iterable) else ()
    read = [as_network(network).without_covariates() for network in listed]
    if not read or any(one.names != read[0].names for one in read):
        raise DataError("networks must be one or more networks with the same nodes in the same order; got others.")
    pairs = np.concatenate([one.edge_index for one in read])
    weights = np.concatenate([one.weights for one in read])
    return force_layout(read[0].n_features, pairs, weights, random_state=random_state)


def _attractions(n_nodes: int, edge_index: ArrayLike, edge_weights: ArrayLike | None) -> sp.csr_array:
    """Return the symmetric matrix of positive weights to the power of CONTRAST, with mean 1."""
    edges = check_pairs(edge_index, n_nodes)
    weights = np.ones(len(edges)) if edge_weights is None else as_numbers("edge_weights", edge_weights, (len(edges),))
    s, t = edges.astype(np.int64).T
    attracts = (weights > 0) & (s != t)
    s, t, weights = s[attracts], t[attracts], weights[attracts]
    if len(weights):
        weights = weights / weights.max()  # first, so that no sum overflows
        weights **= CONTRAST
        weights = np.maximum(weights / weights.mean(), 1e-9)
    return symmetric_matrix(np.column_stack([s, t]), weights, n_nodes)


def _lay_out(graph: sp.csr_array, rng: Generator) -> FloatArray:
    """Return positions of one component, in units of the distance between isolated nodes; corner at (0, 0)."""
    n_nodes = graph.shape[0]
    if n_nodes < 3:
        return np.column_stack([np.arange(n_nodes), np.zeros(n_nodes)])
    xy = _turn_wide(_relax(_first_positions(graph, rng), graph, rng))
    width, height = np.ptp(xy, axis=0)
    # A drawing that is nearly a line counts as a fifth as high as wide.
    xy = xy * (SPACING * np.sqrt(n_nodes) / np.sqrt(width * max(height, width / 5)))
    xy = separate_circles(xy, np.full(n_nodes, CLEARANCE / 2))
    return np.asarray(xy - xy.min(axis=0))


def _first_positions(graph: sp.csr_array, rng: Generator) -> FloatArray:
    """Return the two main directions of graph distances to some nodes (pivot MDS, Brandes and Pich 2007), jittered."""
    n_nodes = graph.shape[0]
    pivots = rng.choice(n_nodes, min(PIVOTS, n_nodes), replace=False)
    hops = dijkstra(graph, directed=False, indices=pivots, unweighted=True) ** 2
    centered = hops - hops.mean(axis=0) - hops.mean(axis=1)[:, None] + hops.mean()
    _, vectors = np.linalg.eigh(centered @ centered.T)
    xy = centered.T @ vectors[:, -2:]
    xy = xy / max(float(np.abs(xy).max()), 1e-12)
    return np.asarray(xy + rng.normal(scale=0.1, size=xy.shape))


def _relax(xy: FloatArray, graph: sp.csr_array, rng: Generator) -> FloatArray:
    """Move all nodes at once, in decreasing steps, until attraction and repulsion balance.

    An edge attracts by its weight times the distance d; two nodes repel by the product of their masses times d^−2, and
    a mass is 1 plus the node's weights. Each force is treated as a spring towards a target (the other end of an edge,
    the mirror image for a repulsion), and a node moves towards the mean of its targets weighted by stiffness: there is
    no step size.
    """
    pull = graph.tocoo()
    s, t, weight = pull.row, pull.col, pull.data
    attraction = np.asarray(graph.sum(axis=1)).ravel()
    for step in np.linspace(1.0, 0.05, 250 if len(xy) <= REPELLING else 60):
        gap = xy[t] - xy[s]
        pulled = np.column_stack([np.bincount(s, weight * gap[:, k], len(xy)) for k in (0, 1)])
        push, push_stiffness = _repel(xy, 1.0 + attraction, rng)
        # Equal virials of repulsion and attraction: the drawing keeps its size.
        scale = (weight * (gap**2).sum(axis=1)).sum() / (2.0 * (xy * push).sum())
        xy = xy + step * (pulled + scale * push) / (attraction + scale * push_stiffness)[:, None]
        xy = (xy - xy.mean(axis=0)) / max(float(xy.std()), 1e-12)
    return xy


def _repel(xy: FloatArray, mass: FloatArray, rng: Generator) -> tuple[FloatArray, FloatArray]:
    """Return the repulsion of every node by the others, or by a sample of them, and its total stiffness."""
    others = np.arange(len(xy)) if len(xy) <= REPELLING else rng.choice(len(xy), REPELLING, replace=False)
    dx, dy = (xy[:, None, k] - xy[others, k] for k in (0, 1))
    # d^−2, and d^−3 per unit of distance. The usual repulsion d^−1 reaches further: clusters would be too far apart.
    squared = dx * dx + dy * dy + 1e-9
    stiff = mass[:, None] * mass[others] / (squared * np.sqrt(squared))  # not a power, which takes ten times as long
    stiff[others, np.arange(len(others))] = 0.0
    # Sums rather than products of matrices: the threads of a BLAS would decide about the last bits.
    return np.column_stack([np.einsum("ij,ij->i", stiff, gap) for gap in (dx, dy)]), stiff.sum(axis=1)


def _turn_wide(xy: FloatArray) -> FloatArray:
    _, axes = np.linalg.eigh(np.cov(xy.T))
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    return np.asarray(xy @ axes[:, ::-1])


def separate_circles(
    points: FloatArray, radii: FloatArray, air: float = 0.0, frame: FloatArray | None = None
) -> FloatArray:
    """Return the points moved so that circles around them are at least ``air`` apart.

    With a frame, given by two corners, the circles lie in it, if need be over each other.
    """
    low, high = (-np.inf, np.inf) if frame is None else (frame[0] + radii[:, None], frame[1] - radii[:, None])
    if frame is not None:
        low, high = np.minimum(low, (low + high) / 2), np.maximum(high, (low + high) / 2)
    points, reach = np.clip(points, low, high), 2 * float(radii.max(initial=0.0)) + air
    for _ in range(ROUNDS):
        s, t = cKDTree(points).query_pairs(reach, output_type="ndarray").T
        gap = points[t] - points[s]
        distance = np.hypot(*gap.T)
        lacking = radii[s] + radii[t] + air - distance
        touching = lacking > 1e-3 * reach
        if not touching.any():
            break
        s, t, gap, distance, lacking = s[touching], t[touching], gap[touching], distance[touching], lacking[touching]
        # Nodes at one place leave it in different directions.
        gap = np.where((distance > 1e-9)[:, None], gap, np.column_stack([np.cos(s + 2.0 * t), np.sin(s + 2.0 * t)]))
        shift = gap * (MOVED * lacking / np.maximum(np.hypot(*gap.T), 1e-9))[:, None]
        moves = [np.bincount(t, part, len(points)) - np.bincount(s, part, len(points)) for part in shift.T]
        points = np.clip(points + np.column_stack(moves), low, high)
    return points


def _shelve(boxes: list[FloatArray]) -> list[FloatArray]:
    """Return a corner for every component in centered rows without overlap, the largest first, single nodes last."""
    # Half a unit of margin around isolated nodes, one around others.
    margins = np.array([1.0 if len(box) == 1 else 2.0 for box in boxes])
    sizes = np.array([box.max(axis=0) for box in boxes]) + margins[:, None]
    width = max(float(sizes[:, 0].max()), float(np.sqrt(1.3 * sizes.prod(axis=1).sum())))
    rows: list[list[int]] = []
    for k in sorted(range(len(boxes)), key=lambda k: (-len(boxes[k]), k)):
        is_first_single = len(boxes[k]) == 1 and rows and len(boxes[rows[-1][-1]]) > 1
        if not rows or is_first_single or sizes[[*rows[-1], k], 0].sum() > width + 1e-9:
            rows.append([])
        rows[-1].append(k)
    corners, y = [np.zeros(2) for _ in boxes], 0.0
    for row in rows:
        height = sizes[row, 1].max()
        y -= height
        x = np.cumsum(sizes[row, 0]) - sizes[row, 0] - sizes[row, 0].sum() / 2
        for k, left in zip(row, x, strict=True):
            corners[k] = np.array([left, y + (height - sizes[k, 1]) / 2]) + margins[k] / 2
    return corners
