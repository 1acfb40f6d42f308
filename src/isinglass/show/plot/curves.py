"""Curves and points: couplings along the penalty, ROC curves, recovery, stability, and the check of a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator

from isinglass.arguments import check_count, check_kind, check_not_negative
from isinglass.arrays import FloatArray
from isinglass.coupling_graph import union_keys
from isinglass.errors import DataError, plural
from isinglass.evaluate.agreement import RocCurve
from isinglass.evaluate.checking import ModelCheck
from isinglass.fit import Fit
from isinglass.pairs import pairs_of
from isinglass.results import Path
from isinglass.select.bootstrap_result import Bootstrap
from isinglass.select.sample_size import SampleSizeStudy
from isinglass.show.palette import NAMED, NEGATIVE, NEUTRAL, POSITIVE, SIGNS
from isinglass.show.plot.canvas import PLAIN, SMALL, axes_or_new, ink, is_narrow, letters, readable, write_legend

LINES = ("-", "--", "-.", ":")
COLORS = [POSITIVE, NEGATIVE, NAMED["green"], NAMED["orange"], NAMED["purple"], NAMED["sky blue"]]


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
        ax.annotate(f"α = {alpha:.3g}", (alpha, 1.0), fontsize=letters(ax), **where)
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
            text, (alpha, value), xytext=place, fontsize=letters(ax) - 1.0, arrowprops=leader, **beside, **PLAIN
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
    that are not reproduced are red, with their interval.

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
        shown = np.flatnonzero(flagged)[:200]
        middle, reach = one.expected[shown], one.half_width[shown]
        ax.vlines(middle, middle - reach, middle + reach, colors=NEUTRAL, linewidth=0.6, zorder=1)
        label = f"{one.what}: {one.n_flagged} of {len(flagged)} not reproduced"
        color = NEGATIVE if one.n_flagged else POSITIVE
        entries.append((Line2D([], [], marker=markers[one.what], linestyle="", color=color, markersize=5), label))
    ax.set(xlabel="share in simulated rows", ylabel="share in the data", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    write_legend(ax, entries, loc="upper left", frameon=False)
    return ax
