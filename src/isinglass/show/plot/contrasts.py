"""Figures of a comparison of groups: their networks, and the difference of two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from numpy.typing import NDArray

from isinglass.network import Network
from isinglass.select.comparison import GroupComparison
from isinglass.show.layout import shared_layout
from isinglass.show.plot.canvas import MILLIMETERS, NARROW, PLAIN, expect, panels, readable
from isinglass.show.plot.drawing import network


def group_networks(
    result: GroupComparison, axes: Sequence[Axes] | None = None, *, width: float = 180.0, **options: Any
) -> NDArray[Any]:
    """Draw the networks of the groups side by side, in one layout and with one scale of edge widths.

    ``result`` is what `isinglass.compare_groups` returned, ``width`` that of a new figure in millimeters; other options
    are those of `network`.
    """
    expect(result, GroupComparison, "compare_groups")
    n_groups, wide = len(result.groups), width / MILLIMETERS
    n_rows = -(-n_groups // (1 if wide < NARROW else 3))
    columns = -(-n_groups // n_rows)
    tall = n_rows * (wide / columns + 0.25)
    places = panels(axes, n_groups, "groups", (wide, tall), columns, layout="none")
    if axes is None:
        places[0].figure.subplots_adjust(0.01, 0.01, 0.99, 1 - 0.3 / tall, 0.04, 0.12)
    shared = {
        "positions": shared_layout(result.networks),
        "max_weight": max((float(one.weights.max(initial=0.0)) for one in result.networks), default=0.0) or None,
        "legend": False,
    }
    for ax, one, group, count in zip(places, result.networks, result.groups, result.n_rows, strict=True):
        network(one, ax, **{**shared, **options})
        ax.set_title(f"{readable(group)} ({count} rows)", fontsize=9, **PLAIN)
    return places


def group_difference(
    result: GroupComparison,
    ax: Axes | None = None,
    *,
    first: str | None = None,
    second: str | None = None,
    level: float | None = None,
    **options: Any,
) -> Axes:
    """Draw the couplings of one group minus those of another: blue where the first is larger, vermillion if smaller.

    ``result`` is what `isinglass.compare_groups` returned. The groups are the first two by default. With ``level`` only
    the edges whose family-wise p-value is at most this are drawn. Other options are those of `network`.
    """
    expect(result, GroupComparison, "compare_groups")
    whole = result.difference(first, second)
    drawn = whole
    if level is not None:
        kept = result.edge_p_family <= level
        values = whole.couplings[result.edge_index[kept, 0], result.edge_index[kept, 1]]
        drawn = Network(whole.fields, result.edge_index[kept], values, whole.names)
    ax = network(drawn, ax, **{"positions": shared_layout(result.networks), "legend": False, **options})
    one, two = first or result.groups[0], second or result.groups[1]
    found = "" if level is None else f": {drawn.n_edges} of {whole.n_edges} edges at p ≤ {level:g}"
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + 0.06 * (high - low))  # room for the title above the highest label
    ax.set_title(f"{readable(one)} minus {readable(two)}{found}", fontsize=8, y=0.96, pad=0, **PLAIN)
    return ax
