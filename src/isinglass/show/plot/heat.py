"""Columns with categories: the table of an edge as a heat map, and the shares of all categories."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

from isinglass.categories import CategoryNetwork
from isinglass.data import CategoryTable, count_categories
from isinglass.errors import ArgumentError, DataError
from isinglass.network import as_network
from isinglass.show.palette import NEGATIVE, POSITIVE
from isinglass.show.plot.canvas import PLAIN, SMALL, axes_or_new, explain_colors, is_narrow, readable

LETTER, BESIDE = 0.055, 1.2
"""Width of a letter in a bar, and of the names beside the bars, in inches."""
WRITTEN_UP_TO = 150
"""Cells up to which a heat map writes its numbers."""
BOTH_SIDES = LinearSegmentedColormap.from_list("signs", [NEGATIVE, "#ffffff", POSITIVE])


def edge_block(result: Any, ax: Axes | None = None, *, source: str | int, target: str | int) -> Axes:
    """Draw the couplings of two columns as a heat map, one row or column for each category of a nominal one.

    Blue cells are pairs of categories that go together more often than the other columns explain, vermillion ones less
    often. Couplings sum to zero over the categories of a nominal column; for an ordinal or binary column there is one
    row or column, per unit of its score.

    Parameters
    ----------
    result : CategoryNetwork, Solution or fitted estimator
        The network.
    ax : Axes, optional
        Where to draw; a new figure by default.
    source, target : str or int
        The two columns, by name or number: rows and columns of the heat map.

    Returns
    -------
    Axes
        The couplings are its first image.

    Examples
    --------
    >>> from isinglass import CategoryNetwork, plot
    >>> network = CategoryNetwork([[0, 0, 0], [0, 0]], [None, [0, 1]], [[0, 1]], blocks=[[[1.0], [0.5], [-1.5]]])
    >>> plot.edge_block(network, source="x0", target="x1").images[0].get_array().tolist()
    [[1.0], [0.5], [-1.5]]
    """
    network = as_network(result)
    if not isinstance(network, CategoryNetwork):
        raise DataError(f"result must be a network with categories; got a {type(network).__name__}.")
    s, t = (_node(network, end, name) for end, name in ((source, "source"), (target, "target")))
    found = np.flatnonzero((np.sort([s, t]) == network.edge_index).all(axis=1))
    if not len(found):
        raise DataError(f"source and target must be joined by an edge; got {network.names[s]!r}, {network.names[t]!r}.")
    block = network.blocks[int(found[0])]
    block = block if s < t else block.T
    rows, columns = (_labels(network, node) for node in (s, t))
    ax = axes_or_new(ax, (2.2 + 0.55 * len(columns), 1.6 + 0.35 * len(rows)))
    reach = float(np.abs(block).max())
    image = ax.imshow(block, cmap=BOTH_SIDES, vmin=-reach, vmax=reach, interpolation="none", aspect="auto")
    explain_colors(ax, image, "coupling")
    size = SMALL if is_narrow(ax) else 8.0
    letters = sum(map(len, columns)) * 0.6 * size / 72.0  # inches of all names in one line
    turned = len(columns) > 4 or letters > 0.5 * ax.figure.canvas.figure.get_figwidth()
    ax.set_xticks(range(len(columns)), columns, rotation=90 if turned else 0, fontsize=size, **PLAIN)
    ax.set_yticks(range(len(rows)), rows, fontsize=size, **PLAIN)
    ax.set_xlabel(readable(network.names[t]), **PLAIN)
    ax.set_ylabel(readable(network.names[s]), **PLAIN)
    ax.tick_params(length=0)
    if block.size <= WRITTEN_UP_TO:
        for (a, b), value in np.ndenumerate(block):
            shade = "white" if abs(value) > 0.6 * reach else "black"
            ax.text(b, a, f"{value:.2f}", ha="center", va="center", fontsize=7, color=shade)
    return ax


def shares(result: CategoryTable, ax: Axes | None = None) -> Axes:
    """Draw the share of every category of every column as stacked bars.

    Categories of a column on a line go from light to dark in their order, those of a nominal one alternate. Shares are
    those of the rows' weights.

    Parameters
    ----------
    result : CategoryTable
        The table.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        One bar per category, column by column, the first column on top.

    Examples
    --------
    >>> import numpy as np
    >>> from isinglass import CategoryTable, plot
    >>> ax = plot.shares(CategoryTable(np.array([[0], [2], [2], [1]], dtype=np.uint8), "ordinal"))
    >>> [float(bar.get_width()) for bar in ax.patches]
    [0.25, 0.25, 0.5]
    """
    if not isinstance(result, CategoryTable):
        raise ArgumentError("result", "must be a CategoryTable", type(result).__name__)
    names = result.names or tuple(f"x{k}" for k in range(result.shape[1]))
    ax = axes_or_new(ax, (6.5, 1.0 + 0.25 * max(len(names), 4)), rows=True)
    letter = LETTER / max(ax.figure.canvas.figure.get_figwidth() - BESIDE, BESIDE)
    for k, counts in enumerate(count_categories(result, result.sample_weight)):
        share = counts / counts.sum()
        left = np.cumsum(share) - share
        steps = np.linspace(0.15, 1.0, len(share))
        tones = steps if result.scores[k] is not None else np.where(np.arange(len(share)) % 2, 0.75, 0.35)
        colors = [BOTH_SIDES(0.5 + 0.5 * tone) for tone in tones]
        ax.barh(np.full(len(share), k), share, left=left, color=colors, edgecolor="white", linewidth=0.5)
        for part, start, value, tone in zip(share, left, result.categories[k], tones, strict=True):
            if part >= letter * (2 + len(readable(value, 12))):
                style: dict[str, Any] = {
                    "ha": "center",
                    "va": "center",
                    "fontsize": 6,
                    "color": "white" if tone > 0.6 else "black",
                }
                ax.text(start + part / 2, k, readable(value, 12), **style, **PLAIN)
    longest, size = (18, SMALL) if is_narrow(ax) else (30, 8.0)
    ax.set_yticks(range(len(names)), [readable(name, longest) for name in names], fontsize=size, **PLAIN)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set(xlim=(0.0, 1.0), xlabel="share of rows")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def _node(network: CategoryNetwork, end: str | int, argument: str) -> int:
    if isinstance(end, str) and end in network.names:
        return network.names.index(end)
    if isinstance(end, int) and 0 <= end < network.n_features:
        return end
    raise ArgumentError(argument, "must be the name or the number of a node", end)


def _labels(network: CategoryNetwork, node: int) -> list[str]:
    if network.scores[node] is None:
        return [readable(label, 20) for label in network.labels[node]]
    return ["1 rather than 0" if network.kinds[node] == "binary" else "per point"]
