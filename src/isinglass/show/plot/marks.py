"""Nodes: their size, rings around them, and labels inside or beside them that do not overlap."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.path import Path

from isinglass.arguments import as_numbers, check_word
from isinglass.arrays import FloatArray, plain_value
from isinglass.errors import ArgumentError, DataError
from isinglass.evaluate.centrality import MEASURES, node_measure
from isinglass.names import NodeValues, by_node
from isinglass.network import Network
from isinglass.show.plot.canvas import ink

RING, HOLE, EMPTY = 1.3, 1.06, 0.15
"""Outer and inner diameter of a ring relative to its node, and the opacity of its empty part."""
SMALLEST, LARGEST = 0.55, 1.45
"""Diameters of the nodes with the smallest and the largest measure, relative to nodes without one."""


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
