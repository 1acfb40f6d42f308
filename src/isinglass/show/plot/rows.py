"""Intervals, bars and the heat map: one row for every edge or node."""

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
from isinglass.errors import ArgumentError, DataError
from isinglass.evaluate.nodes import NodeTable
from isinglass.names import check_names
from isinglass.network import as_network
from isinglass.select.spread import Bootstrap
from isinglass.show.palette import NEGATIVE, NEUTRAL, POSITIVE, SIGNS, UNSIGNED
from isinglass.show.plot.canvas import PLAIN, SMALL, axes_or_new, explain_colors, ink, is_narrow, readable, write_legend
from isinglass.show.plot.curves import read_stability

LOSS: dict[str, Any] = {"facecolor": NEGATIVE, "hatch": "///", "edgecolor": "white", "linewidth": 0}
"""What is negative is also hatched, so that it can be seen without colors."""
CROWDED, TALLEST = 60, 200.0
"""Rows beyond which they move closer together, and inches that no figure exceeds: files have at most 65536 dots."""
MOST_ROWS = 200
"""Bars or intervals that are drawn unless another number is asked for; a figure of more cannot be read."""
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
    texts = [readable(labels[k], 20) for k in chosen]
    size = _field_font(ax, texts)
    if size and len(shares) <= NAMES_UP_TO:
        ax.set_xticks(range(len(texts)), texts, rotation=90, fontsize=size, **PLAIN)
        ax.set_yticks(range(len(texts)), texts, fontsize=size, **PLAIN)
    else:
        ax.set(xlabel="node", ylabel="node", xticks=[], yticks=[])
    return ax


def bootstrap_intervals(
    result: Bootstrap,
    ax: Axes | None = None,
    *,
    names: Sequence[str] | None = None,
    n_edges: int | None = None,
) -> Axes:
    """Draw estimate and bootstrap interval of every edge.

    The line goes from the 2.5 % to the 97.5 % quantile over the resamples, the bar marks their median, the dot is the
    estimate from the whole table, and the number on the right is the share of resamples with the edge. For a penalized
    fit this is the spread of the shrunken estimate: see the page about trust.

    Parameters
    ----------
    result : Bootstrap
        What `isinglass.bootstrap` returned.
    ax : Axes, optional
        Where to draw; by default a new figure that is as high as the edges need.
    names : sequence of str, optional
        Names of the nodes, in place of those the result has.
    n_edges : int, optional
        How many pairs: those of the whole table with the largest couplings first, then the others by inclusion. By
        default every edge of the whole table, and others until there are 200. The figure says how many are not drawn.
        Pairs whose estimate and whole interval are zero are left out.

    Returns
    -------
    Axes
        Rows from top to bottom by the estimate.

    Examples
    --------
    >>> import numpy as np
    >>> from isinglass import bootstrap, plot
    >>> X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [40, 10, 10, 40], axis=0)
    >>> ax = plot.bootstrap_intervals(bootstrap(X, 0.05, n_boot=50, random_state=0), names=["rain", "umbrella"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['rain – umbrella']
    """
    _check_resampled(result)
    labels = result.solution.network.with_names(names).names
    ranked = np.lexsort((-result.inclusion, -np.abs(result.edge_values)))
    something = (result.edge_values != 0) | (result.edge_quantiles != 0).any(axis=0)
    every = ranked[something[ranked]]
    ranked = every[: max(MOST_ROWS, result.solution.n_edges) if n_edges is None else check_count("n_edges", n_edges)]
    rows = ranked[np.argsort(result.edge_values[ranked], kind="stable")]
    low, median, high = result.edge_quantiles[:, rows]
    ax = axes_or_new(ax, (7.5, _height(len(rows))), rows=True)
    y = np.arange(len(rows))
    signed = result.solution.network.has_sign(result.edge_index[rows])
    colors = [_sign_color(value, has) for value, has in zip(result.edge_values[rows], signed, strict=True)]
    ax.hlines(y, low, high, colors=colors, linewidth=2.0, alpha=0.6)
    ax.scatter(median, y, marker="|", c=ink(), s=60, linewidths=1.0, zorder=3)
    ax.scatter(result.edge_values[rows], y, c=colors, s=28, edgecolors=ink(), linewidths=0.6, zorder=4)
    ax.axvline(0.0, color=ink(), linewidth=0.6)
    pairs = result.edge_index[rows]
    longest = 12 if is_narrow(ax) else 20
    _name_rows(ax, [f"{readable(labels[s], longest)} – {readable(labels[t], longest)}" for s, t in pairs])
    what = "coupling" if signed.all() else "coupling, or norm (gray)"
    ax.set_xlabel(what + _left_out(len(ranked), len(every), "pairs", "strongest"))
    shares = ax.secondary_yaxis("right")
    shares.set_yticks(y, [f"{share:.0%}" for share in result.inclusion[rows]], fontsize=_row_font(ax, len(rows)))
    shares.tick_params(length=0)
    shares.set_ylabel(f"share of {result.n_boot} resamples with the edge", fontsize=SMALL if is_narrow(ax) else 9.0)
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
    _check_resampled(result)
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
    font = _field_font(ax, texts)
    if font:
        ax.set_yticks(range(len(texts)), texts, fontsize=font, **PLAIN)
        ax.set_xticks(range(len(texts)), texts, fontsize=font, rotation=90, **PLAIN)
    else:
        what = f"{len(texts)} {'edges' if of == 'edges' else 'nodes'}, the largest first"
        ax.set(xlabel=what, ylabel=what, xticks=[], yticks=[])
    ax.tick_params(length=0)
    entries = [(Patch(color=POSITIVE), "row larger"), (Patch(color=NEGATIVE), "row smaller")]
    _explain_above(ax, [*entries, (Patch(color="#eeeeee"), f"no difference at level {level:g}")])
    return ax


def node_strength(
    result: Any, ax: Axes | None = None, *, names: Sequence[str] | None = None, n_nodes: int | None = None
) -> Axes:
    """Draw the strength Σ_t |θ_st| of the nodes as bars: positive and negative couplings, and norms, apart.

    Parameters
    ----------
    result : Network, Solution or fitted estimator
        The network.
    ax : Axes, optional
        Where to draw; a new figure by default.
    names : sequence of str, optional
        Names of the nodes, in place of those the network has.
    n_nodes : int, optional
        How many nodes: the strongest; all up to 200 by default. The figure says how many are not drawn.

    Returns
    -------
    Axes
        The strongest node on top; its first bars are the positive parts, then come the negative ones and, if there are
        any, the norms of edges without a sign.

    Examples
    --------
    >>> from isinglass import Network, plot
    >>> ax = plot.node_strength(Network([0, 0, 0], [[0, 1], [1, 2]], [2, -1], names=["a", "b", "c"]))
    >>> [label.get_text() for label in ax.get_yticklabels()], [float(bar.get_width()) for bar in ax.patches]
    (['c', 'a', 'b'], [0.0, 2.0, 2.0, 1.0, 0.0, 1.0])
    """
    network = as_network(result, names)
    strength, signs = network.strength, network.edge_signs
    positive, negative, unsigned = (network.node_sums(network.weights * (signs == sign)) for sign in (1, -1, 0))
    strongest = np.argsort(-strength, kind="stable")[: _limit("n_nodes", n_nodes)][::-1]
    ax = axes_or_new(ax, (6.5, 1.2 + 0.22 * max(len(strongest), 4)), rows=True)
    y = np.arange(len(strongest))
    ax.barh(y, positive[strongest], color=POSITIVE)
    ax.barh(y, negative[strongest], left=positive[strongest], **LOSS)
    if unsigned.any():
        ax.barh(y, unsigned[strongest], left=(positive + negative)[strongest], color=UNSIGNED)
    _name_rows(ax, [readable(network.names[k]) for k in strongest])
    ax.set_xlim(0.0, 1.05 * float(strength.max()) or 1.0)
    left_out = _left_out(len(strongest), network.n_features, "nodes", "strongest")
    ax.set_xlabel("strength: sum of absolute couplings" + left_out)
    entries = [(Patch(color=POSITIVE), "positive couplings")] if positive.any() or not unsigned.any() else []
    if negative[strongest].any():
        entries.append((Patch(**LOSS), "negative couplings"))
    if unsigned.any():
        entries.append((Patch(color=UNSIGNED), "norms of edges without a sign"))
    _explain_above(ax, entries)
    return ax


def predictability(result: NodeTable, ax: Axes | None = None, *, n_nodes: int | None = None) -> Axes:
    """Draw how well the network predicts every node, beside what its mean alone would give.

    Gray is the share of rows that the more frequent value gets right, blue what the rest of the row adds to it. Where
    the network does worse than the mean, the loss is vermillion and hatched.

    Parameters
    ----------
    result : NodeTable
        What `isinglass.evaluate.metrics.node_table` returned.
    ax : Axes, optional
        Where to draw; a new figure by default.
    n_nodes : int, optional
        How many nodes: those with the largest accuracy; all up to 200 by default. The figure says how many are not
        drawn.

    Returns
    -------
    Axes
        The best predicted node on top; its first bars are what the mean gives, then come gains and losses.

    Examples
    --------
    >>> import numpy as np
    >>> from isinglass import metrics, plot
    >>> X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [4, 1, 1, 4], axis=0)
    >>> ax = plot.predictability(metrics.node_table([[-1.4, 2.8], [2.8, -1.4]], X))
    >>> [round(float(bar.get_width()), 3) for bar in ax.patches]
    [0.5, 0.5, 0.3, 0.3]
    """
    if not isinstance(result, NodeTable):
        raise DataError(f"result must be a NodeTable, as metrics.node_table returns it; got {type(result).__name__}.")
    best = np.argsort(-result.accuracy, kind="stable")[: _limit("n_nodes", n_nodes)][::-1]
    accuracy, marginal = result.accuracy[best], result.marginal_accuracy[best]
    ax = axes_or_new(ax, (6.5, 1.2 + 0.22 * max(len(best), 4)), rows=True)
    y = np.arange(len(best))
    ax.barh(y, marginal, color=NEUTRAL)
    gains = ax.barh(y, np.abs(accuracy - marginal), left=np.minimum(accuracy, marginal), color=POSITIVE)
    loses = accuracy < marginal
    for bar in np.array(gains.patches)[loses]:
        bar.set(**LOSS)
    _name_rows(ax, [readable(result.names[k]) for k in best])
    ax.set_xlim(min(0.5, float(accuracy.min(initial=1.0))), 1.0)
    ax.set_xlabel("share of rows predicted right" + _left_out(len(best), len(result), "nodes", "best predicted"))
    entries = [(Patch(color=NEUTRAL), "by the node's mean"), (Patch(color=POSITIVE), "added by the network")]
    if loses.any():
        entries.append((Patch(**LOSS), "lost by the network"))
    _explain_above(ax, entries)
    return ax


# ------------------------------------------------------------------------------------------- rows


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


def _check_resampled(result: Any) -> None:
    if not isinstance(result, Bootstrap):
        raise DataError(f"result must be a Bootstrap, as bootstrap returns it; got {type(result).__name__}.")
    if result.kind != "rows":
        raise DataError(f'result must be a bootstrap of kind "rows"; got {result.kind!r}, which has no intervals.')


def _height(n_rows: int) -> float:
    """Return the height in inches at which so many rows can be read; what is beyond is crowded."""
    return 1.5 + min((0.22 if n_rows <= CROWDED else 0.12) * max(n_rows, 4), TALLEST)


def _limit(name: str, asked: int | None) -> int:
    return MOST_ROWS if asked is None else check_count(name, asked)


def _left_out(shown: int, of: int, what: str, which: str) -> str:
    """Return what an axis says about rows that are not drawn; nothing if all are."""
    return "" if shown == of else f"\n(the {shown} {which} of {of} {what}; {of - shown} are not shown)"


def _sign_color(value: float, has_sign: bool) -> str:
    return NEUTRAL if value == 0 else SIGNS[int(np.sign(value)) if has_sign else 0]


def _row_font(ax: Axes, n_rows: int) -> float:
    return float(np.clip(360.0 / max(n_rows, 1), 5.0, SMALL if is_narrow(ax) else 9.0))


def _field_font(ax: Axes, texts: list[str]) -> float:
    """Return the size of letters with which a square field and the names beside it and below it fit; 0 if none does.

    Names take the more from the field the larger they are: lines are 1.15 times as high as letters are large, and these
    0.55 times as wide.
    """
    side = 72.0 * (min(ax.figure.canvas.figure.get_size_inches()) - 0.7)
    size = side / (1.15 * max(len(texts), 1) + 0.55 * max(map(len, texts), default=0))
    return min(size, _row_font(ax, len(texts))) if size >= SMALLEST else 0.0


def _explain_above(ax: Axes, entries: list[tuple[Patch, str]]) -> None:
    """Write the legend in one line above the axes, where it covers no bar."""
    columns = 1 if is_narrow(ax) else len(entries)
    write_legend(ax, entries, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns, frameon=False)


def _name_rows(ax: Axes, texts: list[str]) -> None:
    ax.set_yticks(range(len(texts)), texts, fontsize=_row_font(ax, len(texts)), **PLAIN)
    ax.set_ylim(-0.7, max(len(texts), 1) - 0.3)
    ax.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
