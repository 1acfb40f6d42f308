"""Figure of ROC curves: how well each method finds the edges of networks with 15 nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isinglass import ising_path, metrics
from paper import figures, printed, published
from paper.data import Table, paper_table
from paper.evidence import half_width, judge
from paper.study import Cell, Config, Row

VERSION = 1
TIMED = False

P_NODES = 15
GRID = np.geomspace(0.4, 0.0004, 60)
"""Joint penalties; node-wise methods get half of each."""
PLACES = np.linspace(0.0, 1.0, 41)
"""False positive rates at which a curve is kept."""
METHODS = ("bmn", "plg", "nlr-and", "nlr-or", "isinglass")
PAIRS = (("plg", "bmn"), ("nlr-and", "bmn"), ("nlr-and", "plg"), ("nlr-or", "bmn"), ("nlr-or", "plg"))
"""What is compared: AND and OR are two readings of one method, not two methods."""
NEAR = 0.01
"""Difference of mean AUC up to which two methods are nearly equal."""


def cells(config: Config) -> list[Cell]:
    """Return one cell per table."""
    probabilities = printed.PROBABILITIES[:1] if config.quick else printed.PROBABILITIES
    return [
        {"p": P_NODES, "P": P, "trial": trial, "seed": config.seed, "n_alphas": 10 if config.quick else 60}
        for P in probabilities
        for trial in range(2 if config.quick else printed.TRIALS)
    ]


def run_cell(cell: Cell) -> list[Row]:
    """Follow every method along the penalties on one table."""
    model, table = paper_table(cell["p"], cell["P"], cell["trial"], cell["seed"])
    alphas = np.geomspace(GRID[0], GRID[-1], cell["n_alphas"])
    key = {"P": cell["P"], "trial": cell["trial"], "n_edges": model.n_edges}
    rows = []
    for method, networks in follow(table, alphas).items():
        curve = metrics.roc_curve(networks, model)
        # The highest point at each rate: where a curve rises straight up, all of it counts.
        highest = pd.Series(curve.tpr).groupby(curve.fpr).max()
        heights = np.interp(PLACES, highest.index, highest).tolist()
        kept = {f"tpr_{place:.3f}": height for place, height in zip(PLACES, heights, strict=True)}
        rows.append({**key, "method": method, "auc": curve.auc, "n_edges_last": edges_of(networks[-1]), **kept})
    return rows


def follow(table: Table, alphas: NDArray[np.float64]) -> dict[str, list[Any]]:
    """Return the networks of every method, from sparse to dense."""
    nodes = follow_nodes(table, alphas)
    return {
        "bmn": list(published.bmn(table, alphas)),
        "plg": list(published.plg(table, alphas)),
        "nlr-and": [merge(theta, both=True) for theta in nodes],
        "nlr-or": [merge(theta, both=False) for theta in nodes],
        "isinglass": list(ising_path(table, alphas, n_threads=1)),
    }


def follow_nodes(table: Table, alphas: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the coefficients of one regression per node along the penalties, by glmnet's algorithm."""
    p = table.shape[1]
    found = np.zeros((len(alphas), p, p))
    for s in range(p):
        path = published.logistic_path(np.delete(table, s, axis=1), table[:, s], alphas / 2)
        found[:, s] = np.insert(path.coefficients, s, 0.0, axis=1)
    return found


def merge(coefficients: NDArray[np.float64], *, both: bool) -> NDArray[np.float64]:
    """Return the network of the pairs that both regressions found, or that one did."""
    there = coefficients != 0
    return (there & there.T if both else there | there.T).astype(float)


def edges_of(network: Any) -> int:
    """Return the number of edges."""
    return int(np.count_nonzero(network)) // 2 if isinstance(network, np.ndarray) else network.n_edges


# ------------------------------------------------------------------------------------------- what the rows say


def facts(rows: pd.DataFrame) -> dict[str, Any]:
    """Return what the text says."""
    auc = rows.pivot(index=["P", "trial"], columns="method", values="auc")
    summary = rows.groupby(["method", "P"])["auc"].agg(["mean", half_width])
    cells_ = [f"{row.mean:.3f} ± {row.half_width:.3f}" for row in summary.itertuples()]
    table = pd.Series(cells_, summary.index).unstack("P").loc[list(METHODS)]
    differences = pd.concat({pair: auc[pair[0]] - auc[pair[1]] for pair in PAIRS}, names=["one", "two"])
    means = differences.groupby(["one", "two", "P"]).agg(["mean", half_width])
    worst = means["mean"].abs().idxmax()
    size = abs(means["mean"][worst])
    return {
        "trials": rows["trial"].nunique(),
        "table": table.rename_axis("AUC").rename(index=figures.label),
        "largest": {name: (auc[name] - auc["isinglass"]).abs().max() for name in ("plg", "bmn")},
        "worst": worst,
        "size": size,
        "width": means["half_width"][worst],
        "verdicts": {"equal": judge(size <= NEAR, size <= 5 * NEAR)},
    }


def draw(rows: pd.DataFrame) -> figures.Figure:
    """Draw the mean curves, one panel for each P."""
    means = rows.groupby(["P", "method"])[[f"tpr_{place:.3f}" for place in PLACES]].mean()
    panels = rows["P"].unique()
    figure, grid = figures.new_figure(len(panels), size=(2.5 * len(panels) + 0.6, 3.5), sharey=True)
    # The joint methods coincide: wide, narrow and dashed lines let one see all three.
    looks = {"bmn": {"linewidth": 5.0, "alpha": 0.45}, "plg": {"linewidth": 2.6}, "isinglass": {"linestyle": ":"}}
    for axes, P in zip(grid[0], panels, strict=True):
        axes.plot([0, 1], [0, 1], color="#bbbbbb", linewidth=0.8)
        for method in METHODS:
            figures.draw_line(axes, method, PLACES, means.loc[(P, method)], marker="", **looks.get(method, {}))
        axes.set(title=f"P = {P}", xlabel="false positive rate", xlim=(0, 1), ylim=(0, 1.01), aspect="equal")
    grid[0, 0].set_ylabel("true positive rate")
    figures.add_legend(figure, grid[0, 0], columns=5)
    return figure
