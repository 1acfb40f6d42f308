"""Figures of a comparison of groups: their networks, the difference of two, and the permutation tests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

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
from isinglass.show.palette import NEGATIVE, NEUTRAL, read_groups
from isinglass.show.plot import canvas
from isinglass.show.plot.canvas import PLAIN, axes_or_new, readable, write_below, write_legend
from isinglass.show.plot.drawing import SIZE, explain_edges, explain_groups, network


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
    parameters are those of `network`. The scale is that of `group_difference`, too.
    """
    n_groups = len(check_kind("result", result, GroupComparison, "compare_groups").groups)
    wide = check_positive("width", width) / canvas.MILLIMETERS
    columns = min(n_groups, 1 if wide < canvas.NARROW else 3)
    tall = -(-n_groups // columns) * (wide / columns + 0.25) + 0.25
    places = canvas.panels(axes, n_groups, "groups", (wide, tall), columns)
    widest = largest_weight(result)
    positions = shared_layout(result.networks) if positions is None else positions
    entries = explain_groups(read_groups(groups, None, result.names)[1])
    entries += explain_edges(np.concatenate([one.edge_signs for one in result.networks]), widest)
    if axes is None and entries:
        write_legend(places[0].figure, entries, loc="outside lower center", ncols=min(len(entries), 4), frameon=False)
    for ax, group, count in zip(places, result.groups, result.n_rows, strict=True):
        ax.set_title(f"{readable(group)} ({count} rows)", fontsize=canvas.USUAL, **PLAIN)
    for ax, one in zip(places, result.networks, strict=True):
        network(one, ax, groups=groups, positions=positions, labels=labels, legend=False, max_weight=widest or None)
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
    ax = axes_or_new(ax, SIZE)
    words = {1: f"larger in {one}", -1: f"larger in {two}", 0: "differs: norm of a table"}
    widest = largest_weight(result)
    entries = explain_groups(read_groups(groups, None, whole.names)[1])
    entries += explain_edges(drawn.edge_signs, widest, words, "difference")
    ax.set_axis_off()
    write_below(ax, entries, canvas.font_size(ax), title=f"{one} minus {two}: {found}")
    positions = shared_layout(result.networks) if positions is None else positions
    return network(
        drawn, ax, groups=groups, positions=positions, labels=labels, legend=False, max_weight=widest or None
    )


def largest_weight(result: GroupComparison) -> float:
    """Return the largest edge weight of the networks and of their differences."""
    differences = [result.difference(*pair) for pair in combinations(result.groups, 2)]
    return max(float(one.weights.max(initial=0.0)) for one in (*result.networks, *differences))


def permutation_test(result: GroupComparison, ax: Axes | None = None, *, of: str = "structure") -> Axes:
    """Draw the distribution of a statistic over the permutations, and a line at what was observed."""
    null, observed = getattr(result, f"null_{of}"), float(getattr(result, of))
    ax = axes_or_new(ax, (4.6, 2.4))
    ax.hist(null, bins=40, range=(0.0, 1.05 * max(float(null.max(initial=0.0)), observed, 1e-12)), color=NEUTRAL)
    ax.axvline(observed, color=NEGATIVE, linewidth=2.0)
    ax.set(xlabel={"structure": "largest difference", "strength": "difference in global strength"}[of])
    ax.set_ylabel("permutations")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
