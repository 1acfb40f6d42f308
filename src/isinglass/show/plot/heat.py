"""Fields of cells: how often edges occur, which of them differ, and the table of an edge between categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from isinglass.arguments import check_count
from isinglass.arrays import FloatArray
from isinglass.categories import CategoryNetwork
from isinglass.errors import ArgumentError, DataError
from isinglass.names import check_names
from isinglass.network import as_network
from isinglass.select.spread import Bootstrap
from isinglass.show.palette import NEGATIVE, POSITIVE
from isinglass.show.plot.canvas import PLAIN, SMALL, axes_or_new, explain_colors, is_narrow, readable
from isinglass.show.plot.curves import read_stability
from isinglass.show.plot.rows import BOTH_SIDES, explain_above, read_resamples, row_font

WRITTEN_UP_TO = 150
"""Cells up to which a heat map writes its numbers."""
SMALLEST = 3.5
"""Points of letters below which the names of a field of rows and columns are left out."""
NAMES_UP_TO = 60
"""Nodes up to which a heat map names its rows and columns."""


def edge_frequencies(
    result: Any,
    ax: Axes | None = None,
    *,
    index: int | None = None,
    names: Sequence[str] | None = None,
    order: str | Sequence[int] = "similar",
) -> Axes:
    """Draw the share of subsamples that have each edge, as a heat map.

    Parameters
    ----------
    result : Stability or fitted IsingLassoStARS
        What `isinglass.stars` returned.
    ax : Axes, optional
        Where to draw; a new figure by default.
    index : int, optional
        Number of the alpha in ``result.alphas``; the choice by default.
    names : sequence of str, optional
        Names of the nodes; x0, x1, … by default. Written for up to 60 nodes.
    order : {"similar", "given"} or sequence of int, default "similar"
        Nodes with the same neighbors side by side, by average linkage; as in the table; or this order.

    Returns
    -------
    Axes
        The shares are its first image.

    Examples
    --------
    >>> from isinglass import plot, simulate, stars
    >>> model = simulate.chain_network(12, strength=2.0, fields="balanced")
    >>> found = stars(simulate.exact_sample(model, 2000, random_state=0), random_state=0)
    >>> plot.edge_frequencies(found, order="given").images[0].get_array().shape
    (12, 12)
    """
    stability = read_stability(result)
    last = len(stability.edge_frequencies) - 1
    number = stability.index if index is None else check_count("index", index, least=0)
    if number > last:
        raise ArgumentError("index", f"must be at most {last}, the last alpha that all subsamples ran", index)
    shares = stability.frequencies(number)
    labels = check_names(names, len(shares))
    chosen = _order(shares, order)
    ax = axes_or_new(ax, (7.5, 6.5))
    image = ax.imshow(shares[np.ix_(chosen, chosen)], cmap="Blues", vmin=0.0, vmax=1.0, interpolation="none")
    explain_colors(ax, image, f"share of {stability.n_subsamples} subsamples with the edge", shrink=0.85)
    ax.set_title(f"α = {stability.alphas[number]:.3g}", fontsize=SMALL if is_narrow(ax) else 10.0)
    _name_sides(ax, [readable(labels[k], 20) for k in chosen], "node", len(shares) <= NAMES_UP_TO)
    return ax


def bootstrap_differences(
    result: Bootstrap,
    ax: Axes | None = None,
    *,
    of: str = "edges",
    level: float = 0.95,
    names: Sequence[str] | None = None,
) -> Axes:
    """Draw which edges, or which node strengths, differ: the interval of their difference does not hold zero.

    A cell is blue where the one in its row is larger than the one in its column, vermillion where it is smaller, and
    gray where the resamples do not tell. There is no correction for the number of comparisons.

    Parameters
    ----------
    result : Bootstrap
        What `isinglass.bootstrap` returned.
    ax : Axes, optional
        Where to draw; a new figure by default.
    of : {"edges", "strength"}, default "edges"
        What to compare; all edges of the whole table, or all nodes.
    level : float, default 0.95
        Coverage of the intervals.
    names : sequence of str, optional
        Names of the nodes, in place of those the result has.

    Returns
    -------
    Axes
        The largest first; 1, 0 and -1 for larger, not known and smaller are its first image, the diagonal is empty.

    Examples
    --------
    >>> import networkx
    >>> from isinglass import bootstrap, plot, simulate
    >>> star = simulate.graph_network(networkx.star_graph(3), strength=2.0, fields="balanced")
    >>> X = simulate.exact_sample(star, 500, random_state=0)
    >>> ax = plot.bootstrap_differences(bootstrap(X, 0.02, n_boot=50, random_state=0), of="strength")
    >>> ax.images[0].get_array()[0].tolist()  # the center of the star, against the others
    [None, 1.0, 1.0, 1.0]
    """
    read_resamples(result)
    named = result.solution.network.with_names(names).names
    found = result.differences(of, level=level)
    pairs = result.solution.edge_index if of == "edges" else np.arange(len(named))[:, None]
    order = np.argsort(-found.values, kind="stable")
    signs = (np.sign(found.lower + found.upper) * found.different)[np.ix_(order, order)]
    size = 2.5 + min(0.2 * max(len(order), 8), 38.0)
    ax = axes_or_new(ax, (size + 1.0, size))
    hidden = np.ma.masked_array(signs, np.eye(len(order), dtype=bool))
    if len(order):
        ax.imshow(hidden, cmap=ListedColormap([NEGATIVE, "#eeeeee", POSITIVE]), vmin=-1, vmax=1, interpolation="none")
    longest = 9 if is_narrow(ax) else 20
    texts = [" – ".join(readable(named[node], longest) for node in pairs[k]) for k in order]
    _name_sides(ax, texts, f"{len(texts)} {'edges' if of == 'edges' else 'nodes'}, the largest first")
    ax.tick_params(length=0)
    entries = [(Patch(color=POSITIVE), "row larger"), (Patch(color=NEGATIVE), "row smaller")]
    explain_above(ax, [*entries, (Patch(color="#eeeeee"), f"no difference at level {level:g}")])
    return ax


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


def _order(shares: FloatArray, order: str | Sequence[int]) -> NDArray[np.intp]:
    p = len(shares)
    if isinstance(order, str):
        if order not in ("similar", "given"):
            raise ArgumentError("order", 'must be "similar", "given" or a list of all nodes', order)
        if order == "given" or p < 3:
            return np.arange(p)
        # A node counts as its own neighbor: two nodes that are joined are the nearer for it.
        rows = shares + np.eye(p)
        scale = np.sqrt((rows**2).sum(axis=1))
        distance = np.clip(1.0 - (rows @ rows.T) / np.outer(scale, scale), 0.0, 1.0)
        np.fill_diagonal(distance, 0.0)
        found: NDArray[np.intp] = leaves_list(
            linkage(squareform(distance, checks=False), "average", optimal_ordering=p <= 200)
        )
        return found
    given = np.asarray(order)
    if sorted(given.tolist()) != list(range(p)):
        raise ArgumentError("order", f"must name every node from 0 to {p - 1} once", order)
    return given.astype(np.intp)


def _name_sides(ax: Axes, texts: list[str], otherwise: str, few: bool = True) -> None:
    """Name rows and columns of a square field in letters with which it and the names fit; or say what they are.

    Names take the more from the field the larger they are: lines are 1.15 times as high as letters are large, and these
    0.55 times as wide.
    """
    side = 72.0 * (min(ax.figure.canvas.figure.get_size_inches()) - 0.7)
    size = side / (1.15 * max(len(texts), 1) + 0.55 * max(map(len, texts), default=0))
    if few and size >= SMALLEST:
        size = min(size, row_font(ax, len(texts)))
        ax.set_xticks(range(len(texts)), texts, fontsize=size, rotation=90, **PLAIN)
        ax.set_yticks(range(len(texts)), texts, fontsize=size, **PLAIN)
    else:
        ax.set(xlabel=otherwise, ylabel=otherwise, xticks=[], yticks=[])


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
