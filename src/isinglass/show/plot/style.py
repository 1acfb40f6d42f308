"""The options of a drawing as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from isinglass.arguments import RandomSource, check_positive
from isinglass.arrays import FloatArray
from isinglass.errors import ArgumentError
from isinglass.show.plot.marks import room_for_nodes

USUAL = (8.0, 6.0)
"""Inches of a figure in which nodes and labels have their usual size; they are smaller in smaller ones."""


@dataclass(frozen=True)
class Style:
    """How a network is drawn; keywords of `network`.

    Parameters
    ----------
    edge_color : {"sign", "group"}, default "sign"
        Blue and vermillion for positive and negative couplings, gray for edges without a sign; or the color of the
        group for edges within it and purple for those between groups. Negative edges are dashed either way.
    positive_only : bool, default False
        Leave out all but positive couplings.
    min_weight : float, default 0
        Leave out couplings smaller than this in absolute value. The figure says how many edges are not drawn.
    max_weight : float, optional
        The weight of the widest edge, for several figures on one scale; the largest that is drawn by default.
    inside : bool, default False
        Write the labels into the nodes, which are then as large as they can be. Where labels are too long for that,
        nodes are numbered and the legend lists the names.
    longest_label : int, default 30
        Longer labels end in an ellipsis.
    font_size : float, optional
        Of the labels, in points; smaller for more nodes by default.
    node_size : float, optional
        Diameter in points; smaller for more nodes by default.
    random_state : int, Generator, RandomState, SeedSequence or None, default 0
        Seed of the layout.
    """

    edge_color: str = "sign"
    positive_only: bool = False
    min_weight: float = 0.0
    max_weight: float | None = None
    inside: bool = False
    longest_label: int = 30
    font_size: float | None = None
    node_size: float | None = None
    random_state: RandomSource = 0

    def __post_init__(self) -> None:
        if self.edge_color not in ("sign", "group"):
            raise ArgumentError("edge_color", 'must be "sign" or "group"', self.edge_color)
        for name in ("max_weight", "font_size", "node_size"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))

    def diameter(self, ax: Axes, xy: FloatArray) -> float:
        """Return the diameter of a node, in points."""
        n = len(xy)
        if self.node_size is not None:
            return self.node_size
        if self.inside:
            return room_for_nodes(ax, xy)
        return float(np.clip(60.0 / np.sqrt(n), 5.0, 14.0)) * max(0.5, _shrink(ax))

    def letters(self, ax: Axes, n_nodes: int) -> float:
        """Return the size of the labels, in points."""
        if self.font_size is not None:
            return self.font_size
        usual = 9.0 if n_nodes <= 40 else 7.0 if n_nodes <= 120 else 6.0
        return max(5.0, usual * max(0.7, _shrink(ax)))


def read_style(given: Mapping[str, Any]) -> Style:
    """Return the options that were given as keywords of `network`."""
    unknown = [name for name in given if name not in {item.name for item in fields(Style)}]
    if unknown:
        raise TypeError(f"network() got an unexpected keyword argument {unknown[0]!r}")
    return Style(**given)


def _shrink(ax: Axes) -> float:
    """Return how much smaller than a usual figure the axes are, at most 1."""
    box = ax.get_window_extent()
    return float(min(1.0, np.sqrt(box.width * box.height / (USUAL[0] * USUAL[1])) / ax.figure.dpi))
