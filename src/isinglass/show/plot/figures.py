"""Figures with scales: paths, ROC curves, recovery, stability, checks, intervals, differences, centrality."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, NullLocator

from isinglass.arguments import check_count, check_kind, check_not_negative, check_positive, check_word
from isinglass.arrays import AnyArray, FloatArray, IntArray
from isinglass.errors import ArgumentError, DataError, plural
from isinglass.evaluate.agreement import RocCurve
from isinglass.evaluate.centrality import BRIDGES, MEASURES, node_measure
from isinglass.evaluate.checking import ModelCheck
from isinglass.fit import Fit
from isinglass.names import NodeValues
from isinglass.network import union_keys
from isinglass.pairs import pairs_of
from isinglass.results import NetworkLike, Path, as_network
from isinglass.select.bootstrap_result import Bootstrap
from isinglass.select.sample_size import SampleSizeStudy
from isinglass.show.palette import NAMED, NEGATIVE, NEUTRAL, POSITIVE, SIGNS
from isinglass.show.plot import canvas
from isinglass.show.plot.canvas import PLAIN, SMALL, axes_or_new, font_size, ink, is_narrow, readable, write_legend

LINES = ("-", "--", "-.", ":")
COLORS = [POSITIVE, NEGATIVE, NAMED["green"], NAMED["orange"], NAMED["purple"], NAMED["sky blue"]]
UNDECIDED = "#eeeeee"
TALLEST = 200.0  # height in inches of rows: image files have 65536 dots
MOST_ROWS = 60  # intervals on one page by default
LEAST_FONT = 3.5  # font size in points below which rows and columns of a square are not named


def path(result: Path, ax: Axes | None = None, *, alpha: float | None = None, n_labels: int = 8) -> Axes:
    """Draw every coupling along a path, from sparse on the left to dense on the right; norms are gray.

    Parameters
    ----------
    result : Path
        What `isinglass.ising_path` or another path function returned; of a fit or a fitted estimator, its path.
    ax : Axes, optional
        Where to draw; a new figure by default.
    alpha : float, optional
        A penalty to mark.
    n_labels : int, default 8
        Number of pairs named at the right end: those with the largest couplings there.
    """
    record = getattr(result, "fit_", result)
    solutions = record.selection.path if isinstance(record, Fit) else result
    if not isinstance(solutions, Path) or not len(solutions):
        raise DataError(f"result must be a Path with at least one solution; got {type(result).__name__}.")
    network, alphas = solutions[0].network, solutions.alphas
    keys = union_keys([solution.network for solution in solutions])
    pairs = pairs_of(keys, network.n_features)
    values = np.array([one.network.values_at(keys) for one in solutions])
    ax = axes_or_new(ax, (8.0, 5.0))
    signed = network.variables.has_sign(pairs)
    signs = np.where(signed, np.where(values.sum(axis=0) >= 0, 1, -1), 0)
    lines = [np.column_stack([alphas, column]) for column in values.T]
    thin = float(np.clip(20.0 / np.sqrt(len(lines) + 1.0), 0.35, 1.2))  # thousands of lines must not become one area
    colors = [SIGNS[sign] for sign in signs.tolist()]
    ax.add_collection(LineCollection(lines, colors=colors, linewidths=thin, alpha=0.7))
    ax.axhline(0.0, color=ink(), linewidth=0.6)
    _scale_alphas(ax, alphas)
    ax.set_ylabel("coupling" if signed.all() else "norm" if not signed.any() else "coupling, or norm (gray)")
    if alpha is not None:
        ax.axvline(check_not_negative("alpha", alpha), color=NAMED["orange"], linewidth=1.2, zorder=0, label="choice")
        where: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "ha": "center", "va": "bottom"}
        ax.annotate(f"α = {alpha:.3g}", (alpha, 1.0), fontsize=font_size(ax), **where)
    strongest = np.argsort(-np.abs(values[-1]), kind="stable")[: check_count("n_labels", n_labels, least=0)]
    longest = 10 if is_narrow(ax) else 18
    names = [" – ".join(readable(network.names[node], longest) for node in pairs[k]) for k in strongest]
    _name_ends(ax, float(alphas[-1]), [end for end in zip(values[-1, strongest], names, strict=True) if end[0]])
    return ax


def _scale_alphas(ax: Axes, alphas: FloatArray) -> None:
    """Let the penalty decrease from left to right, on a logarithmic scale unless it reaches zero."""
    low, high = float(alphas.min()), float(alphas.max()) or 1.0
    ax.set_xlim(1.03 * high, low / 1.03 if low > 0 else -0.03 * high)
    if low > 0:
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0,) if is_narrow(ax) else (1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("penalty α")


def _name_ends(ax: Axes, alpha: float, ends: Sequence[tuple[float, str]]) -> None:
    """Write names beside the ends of their lines, the largest on top, moved down where they would overlap."""
    leader = {"arrowstyle": "-", "color": NEUTRAL, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 0, "relpos": (0, 0.5)}
    leader["patchA"] = None  # up to the text, not up to a margin around it
    beside: dict[str, Any] = {"textcoords": ("axes fraction", "data"), "va": "center", "annotation_clip": False}
    height, apart = np.inf, 0.045 * float(np.diff(ax.get_ylim())[0])
    for value, text in sorted(ends, reverse=True):
        height = min(value, height - apart)
        place = 1.02, height
        ax.annotate(
            text, (alpha, value), xytext=place, fontsize=font_size(ax) - 1.0, arrowprops=leader, **beside, **PLAIN
        )


def roc(result: RocCurve | Mapping[str, RocCurve], ax: Axes | None = None) -> Axes:
    """Draw the true against the false positive rate of edges, one line per curve, and the diagonal of guessing.

    ``result`` is what `isinglass.metrics.roc_curve` returned, or several by name.
    """
    curves = {"": result} if isinstance(result, RocCurve) else result if isinstance(result, Mapping) else {}
    if not curves or not all(isinstance(curve, RocCurve) for curve in curves.values()):
        raise DataError(f"result must be one or more RocCurve, as roc_curve returns them; got {type(result).__name__}.")
    ax = axes_or_new(ax, (5.5, 5.5))
    entries: list[tuple[Line2D, str]] = []
    for k, (name, curve) in enumerate(curves.items()):
        style = LINES[k % len(LINES)]
        (line,) = ax.plot(curve.fpr, curve.tpr, style, color=COLORS[k % len(COLORS)], marker=".", markersize=4)
        entries.append((line, f"{readable(name, 40)} (AUC {curve.auc:.3f})".strip()))
    ax.plot([0, 1], [0, 1], color=NEUTRAL, linewidth=1.0, zorder=0)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    ax.set(xlabel="false positive rate", ylabel="true positive rate")
    write_legend(ax, entries, loc="lower right")
    return ax


def sample_size(result: SampleSizeStudy, ax: Axes | None = None) -> Axes:
    """Draw how well a network is recovered by the number of rows: means and middle 90 % of the repeats.

    ``result`` is what `isinglass.select.sample_size` returned.
    """
    check_kind("result", result, SampleSizeStudy, "select.sample_size")
    ax = axes_or_new(ax, (4.6, 3.2))
    sizes = result.sizes()
    bands = {name: np.array([sizes[f"{name}_q5"], sizes[name], sizes[f"{name}_q95"]]) for name in result.scores}
    bands = {name: band for name, band in bands.items() if not np.isnan(band).all()}
    _draw_bands(ax, np.array(result.rows), bands, "lower right")
    ax.set_xscale("log")
    ax.set_xticks(result.rows, [str(n) for n in result.rows], fontsize=SMALL)
    ax.minorticks_off()
    ax.set(xlabel="rows", ylabel=f"mean of {plural(result.n_repeats, 'repeat')}")
    return ax


def stability(result: Bootstrap, ax: Axes | None = None) -> Axes:
    """Draw how centralities and edges keep their order as more rows are dropped: means and middle 90 %.

    ``result`` is what ``bootstrap(X, kind="case-drop")`` returned. The legend has the CS-coefficients; the line at 0.7
    is the correlation that they refer to. Without edges there is no order, and nothing is drawn.
    """
    drops = check_kind("result", result, Bootstrap, 'bootstrap(kind="case-drop")').drops()
    ax = axes_or_new(ax, (4.6, 3.2))
    kept = 100.0 * (1.0 - drops["dropped"])
    bands = {
        f"{of.replace('_', ' ')} (CS {coefficient:.2f})": np.array([drops[f"{of}_q5"], drops[of], drops[f"{of}_q95"]])
        for of, coefficient in result.cs_coefficients().items()
    }
    _draw_bands(ax, kept, bands, "lower left")
    ax.axhline(0.7, color=NEUTRAL, linewidth=0.8, linestyle=":")
    ax.set_xlim(102.0, min(float(kept.min()) - 2.0, 98.0))
    ax.set(xlabel="rows kept (%)", ylabel="correlation with the whole table")
    return ax


def _draw_bands(ax: Axes, x: FloatArray, bands: Mapping[str, FloatArray], corner: str) -> None:
    """Draw a line for the middle and a band from low to high for each of them, up to 1, with a legend."""
    entries = []
    for k, (text, (low, middle, high)) in enumerate(bands.items()):
        color, dashes = COLORS[k % len(COLORS)], LINES[k % len(LINES)]
        (line,) = ax.plot(x, middle, dashes, marker="o", markersize=3.5, color=color)
        ax.fill_between(x, low, high, color=color, alpha=0.13, linewidth=0)
        entries.append((line, text))
    ax.set_ylim(min([0.0, *(float(np.nanmin(low)) for low, _, _ in bands.values())]), 1.02)
    if entries:
        write_legend(ax, entries, loc=corner, fontsize=SMALL)
    ax.spines[["top", "right"]].set_visible(False)


def check(result: ModelCheck, ax: Axes | None = None) -> Axes:
    """Draw what `isinglass.metrics.check_model` compared: shares in the data over shares in simulated rows.

    A point is a column, a pair, a triple or a number of ones per row. On the diagonal the network reproduces it; those
    that are not reproduced are red.

    Parameters
    ----------
    result : ModelCheck
        What `isinglass.metrics.check_model`, or ``check`` of a fit or an estimator, returned.
    ax : Axes, optional
        Where to draw; a new figure by default.
    """
    check_kind("result", result, ModelCheck, "metrics.check_model")
    ax = axes_or_new(ax, (5.0, 5.0))
    ax.plot([0, 1], [0, 1], color=NEUTRAL, linewidth=0.8, zorder=1)
    markers = dict(zip(("means", "pairs", "triples", "counts"), "os^D", strict=True))
    entries = []
    for one in result.comparisons:
        flagged, size = one.flagged, 22 if len(one.observed) < 200 else 8
        for chosen, color, alpha in ((~flagged, POSITIVE, 0.5), (flagged, NEGATIVE, 1.0)):
            points = one.expected[chosen], one.observed[chosen]
            ax.scatter(*points, s=size, color=color, alpha=alpha, marker=markers[one.what], linewidths=0, zorder=2)
        label = f"{one.what}: {one.n_flagged} of {len(flagged)} not reproduced"
        color = NEGATIVE if one.n_flagged else POSITIVE
        entries.append((Line2D([], [], marker=markers[one.what], linestyle="", color=color, markersize=5), label))
    ax.set(xlabel="share in simulated rows", ylabel="share in the data", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    write_legend(ax, entries, loc="upper left", frameon=False)
    return ax


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
    every = np.lexsort((-result.inclusion, -np.abs(result.edge_values)))
    every = every[(result.edge_values[every] != 0) | (result.edge_quantiles[:, every] != 0).any(axis=0)]
    shown = every[: check_count("n_edges", n_edges)]
    shown = shown[np.argsort(result.edge_values[shown], kind="stable")]
    pairs, values = result.edge_index[shown], result.edge_values[shown]
    n, n_hidden = len(shown), len(every) - len(shown)
    ax = axes_or_new(ax, (7.5, row_height(n)), grows=True)
    signed = network.variables.has_sign(pairs)
    colors = [SIGNS[s] if v else NEUTRAL for s, v in zip(np.where(signed, np.sign(values), 0), values, strict=True)]
    _draw_intervals(ax, values, result.edge_quantiles[:, shown], colors)
    y, font = np.arange(n), float(np.clip(360.0 / max(n, 1), 5.0, font_size(ax)))
    ax.set_yticks(y, _pair_names(pairs, network.names, 12 if is_narrow(ax) else 20), fontsize=font, **PLAIN)
    ax.set_ylim(-0.7, max(n, 1) - 0.3)
    hidden = f"\n({n} of {len(every)} pairs; {n_hidden} are not shown)" if n_hidden else ""
    ax.set_xlabel(("coupling" if signed.all() else "coupling, or norm (gray)") + hidden)
    shares = ax.secondary_yaxis("right")
    shares.set_yticks(y, [f"{share:.0%}" for share in result.inclusion[shown]], fontsize=font)
    shares.set_ylabel(f"share of {plural(result.n_boot, 'resample')}\nwith the edge", fontsize=font_size(ax))
    for axis in (ax, shares):
        axis.tick_params(axis="y", length=0)
    return ax


def _draw_intervals(ax: Axes, values: FloatArray, quantiles: FloatArray, colors: Sequence[str]) -> None:
    """Draw a line, a bar and a dot for each row, and explain them above."""
    y, (low, median, high) = np.arange(len(values)), quantiles
    ax.axvline(0.0, color=ink(), linewidth=0.6)
    ax.hlines(y, low, high, colors=colors, linewidth=2.0, alpha=0.6)
    middle = ax.scatter(median, y, marker="|", c=ink(), s=60, linewidths=1.0, zorder=3)
    ax.scatter(values, y, c=colors, s=28, edgecolors=ink(), linewidths=0.6, zorder=4)
    ax.spines[["top", "right", "left"]].set_visible(False)
    dot = Line2D([], [], color=NEUTRAL, marker="o", linestyle="none", markeredgecolor=ink(), markersize=5.3)
    line = Line2D([], [], color=NEUTRAL, linewidth=2.0)
    _explain_above(ax, [(dot, "all rows"), (middle, "median of resamples"), (line, "95% of resamples")])


def bootstrap_differences(result: Bootstrap, ax: Axes | None = None, *, of: str = "edges", level: float = 0.95) -> Axes:
    """Draw which edges, or which node strengths, differ: those whose difference has an interval without zero.

    A cell is blue where its row is larger than its column, vermillion where it is smaller, and gray where the interval
    contains zero. The largest come first. The diagonal has the estimates where there is room. There is no correction
    for the number of comparisons.

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
    values = result.solution.edge_values if of == "edges" else result.solution.network.strength
    order = np.argsort(-values, kind="stable")
    signs = np.zeros((len(values), len(values)))
    signs[np.triu_indices(len(values), 1)] = np.sign(found["lower"] + found["upper"]) * found["different"]
    signs = (signs - signs.T)[np.ix_(order, order)]
    n = len(order)
    size = 3.0 + min(0.15 * max(n, 8), 37.0)  # in inches: names of 5 points still fit
    ax = axes_or_new(ax, (size + 1.0, size))
    if n:
        cells = np.ma.masked_array(signs, np.eye(n, dtype=bool))
        colors = ListedColormap([NEGATIVE, UNDECIDED, POSITIVE])
        # A mesh: resampling an image to a page of 300 dpi takes ten times as long.
        ax.pcolormesh(np.arange(n), np.arange(n), cells, cmap=colors, vmin=-1.0, vmax=1.0, rasterized=True)
        ax.set(aspect="equal", ylim=(n - 0.5, -0.5))
    texts = _pair_names(pairs[order], named, 9 if is_narrow(ax) else 20)
    _label_square(ax, texts, values[order], f"{n} {'edges' if of == 'edges' else 'nodes'}, the largest first")
    words = {POSITIVE: "row larger", NEGATIVE: "row smaller", UNDECIDED: f"not decided at level {level:g}"}
    _explain_above(ax, [(Patch(color=color), text) for color, text in words.items()])
    return ax


def _label_square(ax: Axes, texts: list[str], values: FloatArray, otherwise: str) -> None:
    """Name rows and columns of a square and write values on its diagonal if they fit; otherwise say what it shows.

    Lines of text take 1.15, and characters 0.55 times the font size.
    """
    side = 72.0 * (min(ax.figure.canvas.figure.get_size_inches()) - 0.7)
    longest = max(map(len, texts), default=0)
    size = min(side / (1.15 * max(len(texts), 1) + 0.55 * longest), font_size(ax))
    ax.tick_params(length=0)
    if size < LEAST_FONT:
        ax.set(xlabel=otherwise, ylabel=otherwise, xticks=[], yticks=[])
        return
    ax.set_xticks(range(len(texts)), texts, fontsize=size, rotation=90, **PLAIN)
    ax.set_yticks(range(len(texts)), texts, fontsize=size, **PLAIN)
    cell = (side - 0.55 * size * longest) / max(len(texts), 1)
    for k, value in enumerate(values if cell > 2.6 * LEAST_FONT else ()):  # a number of four characters
        ax.text(k, k, f"{value:.2f}", ha="center", va="center", fontsize=min(cell / 2.6, size))


def _explain_above(ax: Axes, entries: Sequence[tuple[Artist, str]]) -> None:
    """Write a legend above the axes, in one line unless the figure is narrow."""
    options: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "frameon": False}
    write_legend(ax, entries, ncols=1 if is_narrow(ax) else len(entries), borderaxespad=0.2, **options)


def centrality(
    result: NetworkLike | Bootstrap,
    axes: Sequence[Axes] | Axes | None = None,
    *,
    of: Sequence[str] | str = MEASURES,
    communities: NodeValues | None = None,
    width: float = 180.0,
) -> AnyArray:
    """Draw measures of all nodes side by side, with intervals if the result is a bootstrap; return one axes each.

    Nodes are sorted by the first measure, the largest on top. A node without expected influence, whose edges are all
    norms, has no point.

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
    wide = check_positive("width", width) / canvas.MILLIMETERS
    resampled = _of_rows(result) if isinstance(result, Bootstrap) else None
    network = as_network(result if resampled is None else resampled.solution).without_covariates()
    values = {name: node_measure(network, name, communities) for name in measures}
    order = np.argsort(np.nan_to_num(values[measures[0]], nan=-np.inf), kind="stable")
    columns = min(len(measures), 2) if axes is None and wide < canvas.NARROW else len(measures)
    y = np.arange(len(order))
    height = -(-len(measures) // columns) * (0.7 + min(0.12 * max(len(y), 8), TALLEST / len(measures)))
    places = canvas.panels(axes, len(measures), "measures", (wide, height), columns)
    for ax, name in zip(places, measures, strict=True):
        if resampled is not None:
            low, high = np.quantile(resampled.node_draws(name, communities), (0.025, 0.975), axis=0)[:, order]
            ax.hlines(y, low, high, colors=POSITIVE, linewidth=2.0, alpha=0.45)
        ax.plot(values[name][order], y, "o", color=POSITIVE, markersize=3.2, markeredgecolor=ink(), mew=0.4)
        ax.set_xlabel(name.replace("_", "\n"), fontsize=8)  # narrow: all measures are side by side
        ax.tick_params(axis="x", labelsize=canvas.SMALL)
        ax.grid(axis="y", linewidth=0.3)
        ax.set_ylim(-0.7, len(y) - 0.3)
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_yticks(y, [""] * len(y))
    font = float(np.clip(300.0 / max(len(y), 1), 5.0, 8.0))
    for ax in places[::columns]:
        ax.set_yticks(y, [readable(network.names[k], 24) for k in order], fontsize=font, **PLAIN)
    return places


def _of_rows(result: Bootstrap) -> Bootstrap:
    """Return a bootstrap of rows; other kinds have no intervals."""
    if check_kind("result", result, Bootstrap, "bootstrap").kind != "rows":
        raise DataError(f'result must be a bootstrap of kind "rows"; got {result.kind!r}, which has no intervals.')
    return result


def row_height(n_rows: int) -> float:
    """Return the height in inches of a figure with this number of rows."""
    return 1.5 + min((0.22 if n_rows <= MOST_ROWS else 0.12) * max(n_rows, 4), TALLEST)


def _pair_names(pairs: IntArray, names: Sequence[str], longest: int) -> list[str]:
    return [" – ".join(readable(names[node], longest) for node in pair) for pair in pairs.tolist()]
