"""One row or cell for every edge or node: intervals, centrality, differences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, ListedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from isinglass.arguments import check_count, check_kind, check_positive, check_word
from isinglass.arrays import AnyArray, FloatArray, IntArray
from isinglass.errors import ArgumentError, DataError, plural
from isinglass.evaluate.centrality import BRIDGES, MEASURES, node_measure
from isinglass.names import NodeValues
from isinglass.network_like import NetworkLike, as_network
from isinglass.select.bootstrap_result import Bootstrap
from isinglass.show.palette import NEGATIVE, NEUTRAL, POSITIVE, SIGNS
from isinglass.show.plot import canvas
from isinglass.show.plot.canvas import PLAIN, SMALL, axes_or_new, ink, is_narrow, readable, write_legend

UNDECIDED = "#eeeeee"
CROWDED, TALLEST = 60, 200.0
"""Number of rows above which they move closer, and the largest height in inches: image files have 65536 dots."""
CLOSE = 40  # number of rows above which those of a centrality plot, or of differences, move closer
MOST_ROWS = 60  # intervals on one page by default
SMALLEST = 3.5  # font size in points below which rows and columns of a square are not named


def bootstrap_intervals(result: Bootstrap, ax: Axes | None = None, *, n_edges: int = MOST_ROWS) -> Axes:
    """Draw the estimate and the bootstrap interval of every edge, sorted by the estimate.

    The line goes from the 2.5 % to the 97.5 % quantile over the resamples, the bar is their median, the dot the
    estimate from the whole table, and the number on the right the share of resamples with the edge. For a penalized
    fit this is the variation of the shrunken estimate, not a confidence interval.

    Parameters
    ----------
    result : Bootstrap
        What `isinglass.bootstrap` returned.
    ax : Axes, optional
        Where to draw; by default a new figure as high as the edges need.
    n_edges : int, default 60
        Number of pairs: first the edges of the whole table by the size of their coupling, then others by
        inclusion. The axis says how many are not shown. Pairs whose estimate and interval are zero are left out.
    """
    network = _of_rows(result).solution.network
    ranked = np.lexsort((-result.inclusion, -np.abs(result.edge_values)))
    varies = (result.edge_values != 0) | (result.edge_quantiles != 0).any(axis=0)
    every = ranked[varies[ranked]]
    shown = every[: check_count("n_edges", n_edges)]
    shown = shown[np.argsort(result.edge_values[shown], kind="stable")]
    pairs, values = result.edge_index[shown], result.edge_values[shown]
    low, median, high = result.edge_quantiles[:, shown]
    ax = axes_or_new(ax, (7.5, _height(len(shown))), rows=True)
    y, font = np.arange(len(shown)), _row_font(ax, len(shown))
    signed = network.variables.has_sign(pairs)
    signs = np.where(signed, np.sign(values), 0)
    colors = [SIGNS[sign] if value else NEUTRAL for value, sign in zip(values, signs, strict=True)]
    ax.hlines(y, low, high, colors=colors, linewidth=2.0, alpha=0.6)
    middle = ax.scatter(median, y, marker="|", c=ink(), s=60, linewidths=1.0, zorder=3)
    ax.scatter(values, y, c=colors, s=28, edgecolors=ink(), linewidths=0.6, zorder=4)
    marks: dict[str, Any] = {"color": NEUTRAL, "markeredgecolor": ink(), "markeredgewidth": 0.6, "markersize": 5.3}
    entries = [
        (Line2D([], [], marker="o", linestyle="none", **marks), "all rows"),
        (middle, "median of resamples"),
        (Line2D([], [], color=NEUTRAL, linewidth=2.0), "95% of resamples"),
    ]
    _explain_above(ax, entries, 9.0)
    ax.axvline(0.0, color=ink(), linewidth=0.6)
    ax.set_yticks(y, _pair_names(pairs, network.names, 12 if is_narrow(ax) else 20), fontsize=font, **PLAIN)
    ax.set_ylim(-0.7, max(len(shown), 1) - 0.3)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    n, total = len(shown), len(every)
    hidden = "" if n == total else f"\n(the {n} strongest of {total} pairs; {total - n} are not shown)"
    ax.set_xlabel(("coupling" if signed.all() else "coupling, or norm (gray)") + hidden)
    shares = ax.secondary_yaxis("right")
    shares.set_yticks(y, [f"{share:.0%}" for share in result.inclusion[shown]], fontsize=font)
    shares.tick_params(length=0)
    resamples = plural(result.n_boot, "resample")
    shares.set_ylabel(f"share of {resamples}\nwith the edge", fontsize=SMALL if is_narrow(ax) else 9.0)
    return ax


def bootstrap_differences(result: Bootstrap, ax: Axes | None = None, *, of: str = "edges", level: float = 0.95) -> Axes:
    """Draw which edges, or which node strengths, differ: those whose difference has an interval without zero.

    A cell is blue where its row is larger than its column, vermillion where it is smaller, and gray where the interval
    contains zero. The largest come first. The diagonal has the estimates: the darker, the larger, and as numbers where
    there is room. There is no correction for the number of comparisons.

    Parameters
    ----------
    result : Bootstrap
        What `isinglass.bootstrap` returned.
    ax : Axes, optional
        Where to draw; a new figure by default.
    of : {"edges", "strength"}, default "edges"
        What to compare: all edges of the whole table, or all nodes.
    level : float, default 0.95
        Coverage of the intervals.
    """
    named = _of_rows(result).solution.network.names
    found = result.differences(check_word("of", of, ("edges", "strength")), level=level)
    pairs = result.solution.edge_index if of == "edges" else np.arange(len(named))[:, None]
    order = np.argsort(-found.values, kind="stable")
    signs = (np.sign(found.lower + found.upper) * found.different)[np.ix_(order, order)]
    rows = max(len(order), 8)
    size = 2.5 + min(0.2 * min(rows, CLOSE) + 0.08 * max(rows - CLOSE, 0), 38.0)  # names of 5 points still fit
    ax = axes_or_new(ax, (size + 1.0, size))
    shown = np.ma.masked_array(signs, np.eye(len(order), dtype=bool))
    if len(order):
        _fill_cells(ax, shown, ListedColormap([NEGATIVE, UNDECIDED, POSITIVE]), -1.0, 1.0)
        _shade_diagonal(ax, found.values[order])
        ax.set(aspect="equal", ylim=(len(order) - 0.5, -0.5))
    texts = _pair_names(pairs[order], named, 9 if is_narrow(ax) else 20)
    _name_sides(ax, texts, f"{len(texts)} {'edges' if of == 'edges' else 'nodes'}, the largest first")
    ax.tick_params(length=0)
    words = {POSITIVE: "row larger", NEGATIVE: "row smaller", UNDECIDED: f"not decided at level {level:g}"}
    _explain_above(ax, [(Patch(color=color), text) for color, text in words.items()], 10.0)
    return ax


def _explain_above(ax: Axes, entries: Sequence[tuple[Artist, str]], font_size: float) -> None:
    """Write a legend above the axes, in one line unless the figure is narrow."""
    narrow: dict[str, Any] = {"ncols": 1, "fontsize": SMALL} if is_narrow(ax) else {}
    options: dict[str, Any] = {"ncols": len(entries), "fontsize": font_size, "frameon": False, "borderaxespad": 0.2}
    write_legend(ax, entries, loc="lower center", bbox_to_anchor=(0.5, 1.0), **{**options, **narrow})


def centrality(
    result: NetworkLike | Bootstrap,
    axes: Sequence[Axes] | Axes | None = None,
    *,
    of: Sequence[str] | str = MEASURES,
    communities: NodeValues | None = None,
    width: float = 180.0,
) -> AnyArray:
    """Draw measures of all nodes side by side, with intervals if the result is a bootstrap; return one axes each.

    Nodes are sorted by the first measure, the largest on top. The lower scale has the values, the upper one their
    z-scores: (value − mean over the nodes) / standard deviation. A node without expected influence, whose edges are
    all norms, has no point.

    Parameters
    ----------
    result : Bootstrap, Network, Solution or fitted estimator
        The network. A Bootstrap adds intervals, from the 2.5 % to the 97.5 % quantile over the resamples.
    axes : Axes or sequence of Axes, optional
        Where to draw, one for each measure; a new figure by default.
    of : str or sequence of str
        The measures: "strength", "expected_influence", "closeness", "betweenness", "bridge_strength",
        "bridge_expected_influence".
    communities : sequence, mapping or pandas Series, optional
        The community of each node, for bridges.
    width : float, default 180
        Width of a new figure in millimeters.
    """
    measures = [of] if isinstance(of, str) else list(of) if isinstance(of, Iterable) else []
    if not measures:
        raise ArgumentError("of", f"must be one or more of {', '.join((*MEASURES, *BRIDGES))}", of)
    check_positive("width", width)
    resampled = _of_rows(result) if isinstance(result, Bootstrap) else None
    network = as_network(result if resampled is None else resampled.solution).without_covariates()
    values = {name: node_measure(network, name, communities) for name in measures}
    sorted_nodes = np.argsort(np.nan_to_num(values[measures[0]], nan=-np.inf), kind="stable")
    columns = min(len(measures), 2) if axes is None and width < canvas.MILLIMETERS * canvas.NARROW else len(measures)
    y = np.arange(len(sorted_nodes))
    height = 0.7 + min(0.15 * max(len(y), 6), 0.15 * CLOSE + 0.075 * max(len(y) - CLOSE, 0))
    size = width / canvas.MILLIMETERS, -(-len(measures) // columns) * height
    places = canvas.panels(axes, len(measures), "measures", size, columns)
    for ax, name in zip(places, measures, strict=True):
        if resampled is not None:
            low, high = np.quantile(resampled.node_draws(name, communities), (0.025, 0.975), axis=0)[:, sorted_nodes]
            ax.hlines(y, low, high, colors=POSITIVE, linewidth=2.0, alpha=0.45)
        ax.plot(values[name][sorted_nodes], y, "o", color=POSITIVE, markersize=3.2, markeredgecolor=ink(), mew=0.4)
        ax.set_xlabel(name.replace("_", "\n"), fontsize=8)  # narrow: all measures are side by side
        ax.tick_params(axis="x", labelsize=7)
        ax.grid(axis="y", linewidth=0.3)
        ax.set_ylim(-0.7, len(y) - 0.3)
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_yticks(y, [""] * len(y))
        _add_z_scores(ax, values[name][np.isfinite(values[name])])
    font = float(np.clip(300.0 / max(len(y), 1), 5.0, 8.0))
    for ax in places[::columns]:
        ax.set_yticks(y, [readable(network.names[k], 24) for k in sorted_nodes], fontsize=font, **PLAIN)
    return places


def _add_z_scores(ax: Axes, values: FloatArray) -> None:
    """Add a scale of z-scores on top; if all values are the same, name only that one below."""
    mean, deviation = (float(values.mean()), float(values.std())) if len(values) else (0.0, 0.0)
    if deviation > 1e-9 * max(abs(mean), 1e-300):
        to_z, back = (lambda x: (x - mean) / deviation), (lambda z: z * deviation + mean)
        scores = ax.secondary_xaxis("top", functions=(to_z, back))
        scores.set_xlabel("z-score", fontsize=7)
        scores.tick_params(labelsize=6)
    else:
        ax.set_xticks(values[:1])


def _of_rows(result: Bootstrap) -> Bootstrap:
    """Return a bootstrap of rows; other kinds have no intervals."""
    if check_kind("result", result, Bootstrap, "bootstrap").kind != "rows":
        raise DataError(f'result must be a bootstrap of kind "rows"; got {result.kind!r}, which has no intervals.')
    return result


def _height(n_rows: int) -> float:
    """Return the height in inches of a figure with this number of rows."""
    return 1.5 + min((0.22 if n_rows <= CROWDED else 0.12) * max(n_rows, 4), TALLEST)


def _row_font(ax: Axes, n_rows: int) -> float:
    """Return the font size of the names of rows, in points."""
    return float(np.clip(360.0 / max(n_rows, 1), 5.0, SMALL if is_narrow(ax) else 9.0))


def _pair_names(pairs: IntArray, names: Sequence[str], longest: int) -> list[str]:
    """Return a short name for each row of node numbers."""
    return [" – ".join(readable(names[node], longest) for node in pair) for pair in pairs.tolist()]


def _name_sides(ax: Axes, texts: list[str], otherwise: str) -> None:
    """Name rows and columns of a square if the font can be large enough; otherwise say what they are.

    Lines of text take 1.15, and characters 0.55 times the font size.
    """
    side = 72.0 * (min(ax.figure.canvas.figure.get_size_inches()) - 0.7)
    size = side / (1.15 * max(len(texts), 1) + 0.55 * max(map(len, texts), default=0))
    if size >= SMALLEST:
        size = min(size, _row_font(ax, len(texts)))
        ax.set_xticks(range(len(texts)), texts, fontsize=size, rotation=90, **PLAIN)
        ax.set_yticks(range(len(texts)), texts, fontsize=size, **PLAIN)
    else:
        ax.set(xlabel=otherwise, ylabel=otherwise, xticks=[], yticks=[])


def _fill_cells(ax: Axes, values: np.ma.MaskedArray, colors: str | Colormap, low: float, high: float) -> None:
    """Fill the cells of a square; a mesh, because resampling an image to a page of 300 dpi takes ten times as long."""
    places = np.arange(len(values))
    ax.pcolormesh(places, places, values, cmap=colors, vmin=low, vmax=high, rasterized=True)


def _shade_diagonal(ax: Axes, values: FloatArray) -> None:
    """Show values on the diagonal of a square: the darker, the larger, and in numbers if they fit."""
    n, reach = len(values), float(np.abs(values).max(initial=0.0)) or 1.0
    shown = np.ma.masked_array(np.diag(np.abs(values)), ~np.eye(n, dtype=bool))
    _fill_cells(ax, shown, "Greys", 0.0, 1.5 * reach)
    # About half of the width is left for the square, and a number of four characters takes 2.6 times the font size.
    size = min(7.0, 0.5 * 72.0 * ax.figure.canvas.figure.get_figwidth() / n / 2.6)
    for k, value in enumerate(values if size >= SMALLEST else ()):
        shade = "white" if abs(value) > 0.8 * reach else "black"
        ax.text(k, k, f"{value:.2f}", ha="center", va="center", fontsize=size, color=shade)
