"""Bars and intervals: one row for every edge or node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Patch
from numpy.typing import NDArray

from isinglass.arguments import check_count
from isinglass.data import CategoryTable, count_categories
from isinglass.errors import DataError
from isinglass.evaluate.nodes import MEASURES, NodeTable, node_measure
from isinglass.names import check_names
from isinglass.network import as_network
from isinglass.select.spread import Bootstrap
from isinglass.show.palette import NEGATIVE, NEUTRAL, POSITIVE, SIGNS, UNSIGNED
from isinglass.show.plot import canvas
from isinglass.show.plot.canvas import PLAIN, SMALL, axes_or_new, expect, ink, is_narrow, readable

LOSS: dict[str, Any] = {"facecolor": NEGATIVE, "hatch": "///", "edgecolor": "white", "linewidth": 0}
"""What is negative is also hatched, so that it can be seen without colors."""
BOTH_SIDES = LinearSegmentedColormap.from_list("signs", [NEGATIVE, "#ffffff", POSITIVE])
CROWDED, TALLEST = 60, 200.0
"""Rows beyond which they move closer together, and inches that no figure exceeds: files have at most 65536 dots."""
CLOSE = 40
"""Nodes beyond which the rows of several measures move closer together."""
MOST_ROWS = 200
"""Bars or intervals that are drawn unless another number is asked for; a figure of more cannot be read."""
LETTER, BESIDE = 0.055, 1.2
"""Width of a letter in a bar, and of the names beside the bars, in inches."""


def bootstrap_intervals(
    result: Bootstrap, ax: Axes | None = None, *, names: Sequence[str] | None = None, n_edges: int | None = None
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
    read_resamples(result)
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
    signs = np.where(signed, np.sign(result.edge_values[rows]), 0)
    colors = [SIGNS[sign] if value else NEUTRAL for value, sign in zip(result.edge_values[rows], signs, strict=True)]
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
    shares.set_yticks(y, [f"{share:.0%}" for share in result.inclusion[rows]], fontsize=row_font(ax, len(rows)))
    shares.tick_params(length=0)
    shares.set_ylabel(f"share of {result.n_boot} resamples with the edge", fontsize=SMALL if is_narrow(ax) else 9.0)
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
    explain_above(ax, entries)
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
    expect(result, NodeTable, "metrics.node_table")
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
    ends_below = min(accuracy.min(initial=1.0), marginal.min(initial=1.0)) < 0.5  # with categories, as a rule
    ax.set_xlim(0.0 if ends_below else 0.5, 1.0)
    ax.set_xlabel("share of rows predicted right" + _left_out(len(best), len(result), "nodes", "best predicted"))
    entries = [(Patch(color=NEUTRAL), "by the node's mean"), (Patch(color=POSITIVE), "added by the network")]
    if loses.any():
        entries.append((Patch(**LOSS), "lost by the network"))
    explain_above(ax, entries)
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
    expect(result, CategoryTable, "read_categories")
    names = check_names(result.names, result.shape[1])
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
                center: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 6, **PLAIN}
                color = "white" if tone > 0.6 else "black"
                ax.text(start + part / 2, k, readable(value, 12), color=color, **center)
    longest, size = (18, SMALL) if is_narrow(ax) else (30, 8.0)
    ax.set_yticks(range(len(names)), [readable(name, longest) for name in names], fontsize=size, **PLAIN)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set(xlim=(0.0, 1.0), xlabel="share of rows")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def centrality(
    result: Any,
    axes: Sequence[Axes] | Axes | None = None,
    *,
    of: Sequence[str] | str = MEASURES,
    communities: Any = None,
    order: str | None = None,
    width: float = 180.0,
) -> NDArray[Any]:
    """Draw measures of all nodes side by side, with bootstrap intervals where resamples are known.

    Parameters
    ----------
    result : Bootstrap, Network, Solution or fitted estimator
        Intervals from the 2.5 % to the 97.5 % quantile over resampled rows come with a Bootstrap.
    axes : Axes or sequence of Axes, optional
        Where to draw, one for each measure; a new figure by default.
    of : str or sequence of str
        The measures: "strength", "expected_influence", "closeness", "betweenness", "bridge_strength",
        "bridge_expected_influence".
    communities : sequence, mapping or pandas Series, optional
        The community of each node, for bridges.
    order : str, optional
        The measure by which nodes are sorted, the largest on top; the first one by default.
    width : float, default 180
        Width of a new figure in millimeters.

    Returns
    -------
    ndarray of Axes
        One for each measure.

    Examples
    --------
    >>> from isinglass import Network, plot
    >>> found = Network([0, 0, 0], [[0, 1], [1, 2]], [2, -1], names=["a", "b", "c"])
    >>> axes = plot.centrality(found, of=["strength", "betweenness"])
    >>> [label.get_text() for label in axes[0].get_yticklabels()], axes[1].get_xlabel()
    (['c', 'a', 'b'], 'betweenness')
    """
    measures = [of] if isinstance(of, str) else list(of)
    resampled = read_resamples(result) if isinstance(result, Bootstrap) else None
    network = as_network(result if resampled is None else resampled.solution)
    by = order or measures[0]
    values = {name: node_measure(network, name, communities) for name in dict.fromkeys([*measures, by])}
    sorted_nodes = np.argsort(values[by], kind="stable")
    columns = min(len(measures), 2) if axes is None and width < canvas.MILLIMETERS * canvas.NARROW else len(measures)
    places = _panels(axes, len(measures), len(sorted_nodes), width, columns)
    y = np.arange(len(sorted_nodes))
    for ax, name in zip(places, measures, strict=True):
        if resampled is not None:
            low, high = np.quantile(resampled.node_draws(name, communities), (0.025, 0.975), axis=0)[:, sorted_nodes]
            ax.hlines(y, low, high, colors=POSITIVE, linewidth=2.0, alpha=0.45)
        ax.plot(values[name][sorted_nodes], y, "o", color=POSITIVE, markersize=3.2, markeredgecolor=ink(), mew=0.4)
        ax.set_xlabel(name.replace("_", " "), fontsize=8)
        ax.tick_params(axis="x", labelsize=7)
        ax.grid(axis="y", linewidth=0.3)
        ax.set_ylim(-0.7, len(y) - 0.3)
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_yticks(y, [""] * len(y))
    size = float(np.clip(300.0 / max(len(y), 1), 5.0, 8.0))
    for ax in places[::columns]:
        ax.set_yticks(y, [readable(network.names[k], 24) for k in sorted_nodes], fontsize=size, **PLAIN)
    return places


def _panels(axes: Any, n_measures: int, n_nodes: int, width: float, columns: int) -> NDArray[Any]:
    if axes is not None:
        return canvas.listed_axes(axes, n_measures, "measures")
    from matplotlib import pyplot

    height = 0.7 + min(0.15 * max(n_nodes, 6), 0.15 * CLOSE + 0.075 * max(n_nodes - CLOSE, 0))
    n_rows = -(-n_measures // columns)
    figure = pyplot.figure(figsize=(width / canvas.MILLIMETERS, n_rows * height), layout="constrained")
    panels = np.ravel(figure.subplots(n_rows, columns))
    for unused in panels[n_measures:]:
        unused.remove()
    return panels[:n_measures]


def read_resamples(result: Any) -> Bootstrap:
    """Return a bootstrap that resampled rows: others have no intervals."""
    found = expect(result, Bootstrap, "bootstrap")
    if found.kind != "rows":
        raise DataError(f'result must be a bootstrap of kind "rows"; got {found.kind!r}, which has no intervals.')
    return found


def _height(n_rows: int) -> float:
    """Return the height in inches at which so many rows can be read; what is beyond is crowded."""
    return 1.5 + min((0.22 if n_rows <= CROWDED else 0.12) * max(n_rows, 4), TALLEST)


def _limit(name: str, asked: int | None) -> int:
    return MOST_ROWS if asked is None else check_count(name, asked)


def _left_out(shown: int, of: int, what: str, which: str) -> str:
    """Return what an axis says about rows that are not drawn; nothing if all are."""
    return "" if shown == of else f"\n(the {shown} {which} of {of} {what}; {of - shown} are not shown)"


def row_font(ax: Axes, n_rows: int) -> float:
    """Return the size of the names of so many rows, in points."""
    return float(np.clip(360.0 / max(n_rows, 1), 5.0, SMALL if is_narrow(ax) else 9.0))


def explain_above(ax: Axes, entries: list[tuple[Patch, str]]) -> None:
    """Write the legend in one line above the axes, where it covers no bar."""
    columns = 1 if is_narrow(ax) else len(entries)
    canvas.write_legend(ax, entries, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns, frameon=False)


def _name_rows(ax: Axes, texts: list[str]) -> None:
    ax.set_yticks(range(len(texts)), texts, fontsize=row_font(ax, len(texts)), **PLAIN)
    ax.set_ylim(-0.7, max(len(texts), 1) - 0.3)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
