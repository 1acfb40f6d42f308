"""Figures of a comparison of groups: their networks, and the difference of two."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from isinglass.arguments import check_kind, check_level, check_positive
from isinglass.arrays import AnyArray
from isinglass.export.attributes import Positions
from isinglass.names import NodeValues
from isinglass.network import Network
from isinglass.pairs import pair_keys
from isinglass.select.group_comparison_result import LEVEL, GroupComparison
from isinglass.show.layout import shared_layout
from isinglass.show.palette import read_groups
from isinglass.show.plot import canvas
from isinglass.show.plot.canvas import PLAIN, SMALL, axes_or_new, readable, write_below, write_legend
from isinglass.show.plot.drawing import USUAL, explain_edges, explain_groups, network


def group_networks(
    result: GroupComparison,
    axes: Sequence[Axes] | None = None,
    *,
    width: float = 180.0,
    groups: NodeValues | None = None,
    positions: Positions | None = None,
    labels: bool | str | NodeValues = True,
) -> AnyArray:
    """Draw the networks of the groups side by side, in one layout, with one scale of edge widths and one legend.

    ``result`` is what `isinglass.compare_groups` returned, ``width`` that of a new figure in millimeters; the other
    parameters are those of `network`.
    """
    n_groups = len(check_kind("result", result, GroupComparison, "compare_groups").groups)
    wide = check_positive("width", width) / canvas.MILLIMETERS
    n_rows = -(-n_groups // (1 if wide < canvas.NARROW else 3))
    columns = -(-n_groups // n_rows)
    tall = n_rows * (wide / columns + 0.25) + 0.25
    places = canvas.panels(axes, n_groups, "groups", (wide, tall), columns, layout="none")
    if axes is None:
        places[0].figure.subplots_adjust(0.01, 0.25 / tall, 0.99, 1 - 0.3 / tall, 0.04, 0.12)
    widest = max(float(one.weights.max(initial=0.0)) for one in result.networks)
    positions = shared_layout(result.networks) if positions is None else positions
    for ax, one, group, count in zip(places, result.networks, result.groups, result.n_rows, strict=True):
        network(one, ax, groups=groups, positions=positions, labels=labels, legend=False, max_weight=widest or None)
        ax.set_title(f"{readable(group)} ({count} rows)", fontsize=9, **PLAIN)
    entries = explain_groups(read_groups(groups, None, result.names)[1])
    entries += explain_edges(np.concatenate([one.edge_signs for one in result.networks]), widest)
    if axes is None and entries:
        options = {"loc": "lower center", "ncols": len(entries), "fontsize": SMALL, "frameon": False}
        write_legend(places[0].figure, entries, **options)
    return places


def group_difference(
    result: GroupComparison,
    ax: Axes | None = None,
    *,
    first: str | None = None,
    second: str | None = None,
    level: float | None = LEVEL,
    groups: NodeValues | None = None,
    positions: Positions | None = None,
    labels: bool | str | NodeValues = True,
) -> Axes:
    """Draw the couplings of one group minus those of another: blue where the first is larger, vermillion if smaller.

    A pair whose difference is a table, because a column has no order, is gray: its norm has no sign.

    ``result`` is what `isinglass.compare_groups` returned. A group that is not named is the first of the others. Only
    edges whose family-wise p-value is at most ``level`` are drawn, and the figure says how many there are; all with
    None. The other parameters are those of `network`.
    """
    whole = check_kind("result", result, GroupComparison, "compare_groups").difference(first, second)
    level = None if level is None else check_level(level)
    is_found = result.edge_p_between(first, second) <= (1.0 if level is None else level)
    kept = np.isin(whole.edge_keys, pair_keys(result.edge_index[is_found], whole.n_features))
    blocks = whole.parameters[np.repeat(kept, whole.variables.block_sizes(whole.edge_index))]
    drawn = Network(whole.fields, whole.edge_index[kept], variables=whole.variables, pair_parameters=blocks)
    one, two = (readable(group) for group in result.two_groups(first, second))
    found = "all differences" if level is None else f"{drawn.n_edges} of {whole.n_edges} differences with p ≤ {level:g}"
    ax = axes_or_new(ax, USUAL, fill=True)
    words = {1: f"larger in {one}", -1: f"larger in {two}", 0: "differs: norm of a table"}
    widest = float(drawn.weights.max(initial=0.0))
    entries = explain_groups(read_groups(groups, None, whole.names)[1])
    entries += explain_edges(drawn.edge_signs, widest, words, "difference")
    write_below(ax, entries, 7.0, title=f"{one} minus {two}: {found}")
    positions = shared_layout(result.networks) if positions is None else positions
    return network(drawn, ax, groups=groups, positions=positions, labels=labels, legend=False)
