"""Pictures of the nodes' measures, with bootstrap intervals, and of studies of sample size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from isinglass.errors import ArgumentError
from isinglass.evaluate.nodes import MEASURES, node_measure
from isinglass.network import as_network
from isinglass.select.sample_size import SampleSizeStudy
from isinglass.select.spread import Bootstrap
from isinglass.show.palette import GROUPS, POSITIVE
from isinglass.show.plot.canvas import MILLIMETERS, NARROW, PLAIN, axes_or_new, ink, readable, write_legend

CROWDED = 40
"""Nodes beyond which rows move closer together."""
LINES = ("-", "--", ":", "-.")


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
    resampled = result if isinstance(result, Bootstrap) else None
    if resampled is not None and resampled.kind != "rows":
        raise ArgumentError("result", 'must be a bootstrap of kind "rows" for intervals', resampled.kind)
    network = as_network(result if resampled is None else resampled.solution)
    values = {
        name: node_measure(network, name, communities) for name in dict.fromkeys([*measures, order or measures[0]])
    }
    sorted_nodes = np.argsort(values[order or measures[0]], kind="stable")
    columns = min(len(measures), 2) if axes is None and width < MILLIMETERS * NARROW else len(measures)
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
        listed = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
        if len(listed) != n_measures:
            raise ArgumentError("axes", f"must be one for each of {n_measures} measures", len(listed))
        return listed
    from matplotlib import pyplot

    height = 0.7 + min(0.15 * max(n_nodes, 6), 0.15 * CROWDED + 0.075 * max(n_nodes - CROWDED, 0))
    n_rows = -(-n_measures // columns)
    figure = pyplot.figure(figsize=(width / MILLIMETERS, n_rows * height), layout="constrained")
    panels = np.ravel(figure.subplots(n_rows, columns))
    for unused in panels[n_measures:]:
        unused.remove()
    return panels[:n_measures]


def sample_size(result: SampleSizeStudy, ax: Axes | None = None) -> Axes:
    """Draw how well a network is found again, against the number of rows: means and middle 90 % of the repeats.

    Parameters
    ----------
    result : SampleSizeStudy
        What `isinglass.select.sample_size` returned.
    ax : Axes, optional
        Where to draw; a new figure by default.
    """
    if not isinstance(result, SampleSizeStudy):
        raise ArgumentError("result", "must be a SampleSizeStudy, as sample_size returns it", type(result).__name__)
    ax = axes_or_new(ax, (4.6, 3.2))
    entries = []
    for k, name in enumerate(result.measures):
        low, mean, high = result.summary(name)
        color = [POSITIVE, *GROUPS][k % (1 + len(GROUPS))]
        (line,) = ax.plot(result.rows, mean, LINES[k % len(LINES)], marker="o", markersize=3.5, color=color)
        ax.fill_between(result.rows, low, high, color=color, alpha=0.15, linewidth=0)
        entries.append((line, name.replace("_", " ")))
    ax.set_xscale("log")
    ax.set_xticks(result.rows, [str(n) for n in result.rows], fontsize=7)
    ax.minorticks_off()
    ax.set_ylim(min(0.0, *(float(np.nanmin(result.summary(name))) for name in result.measures)), 1.02)
    ax.set(xlabel="rows", ylabel=f"mean of {result.n_repeats} repeats")
    write_legend(ax, entries, loc="lower right", fontsize=8)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
