"""Beyond the paper: what pseudo-likelihood loses against the exact penalized likelihood, where that can be computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from isinglass import Network, exact_path, ising_path, metrics, nodewise_path, objective
from paper import figures, printed
from paper.data import paper_table
from paper.evidence import geometric_mean, judge, pick
from paper.study import Cell, Config, Row

VERSION = 1
TIMED = False

SIZES = (5, 10, 15)
ROWS = (100, 300, 1000, 3000, 10_000)
PROBABILITY = 0.3
METHODS = ("exact", "isinglass", "isinglass-nodewise")
LITTLE, TOLERABLE = 1.05, 1.25
"""Ratios of estimation errors that count as equal, and as near."""


def cells(config: Config) -> list[Cell]:
    """Return one cell per table."""
    sizes, lengths, trials = (SIZES[:2], ROWS[1:2], 2) if config.quick else (SIZES, ROWS, printed.TRIALS)
    return [
        {"p": p, "N": n, "P": PROBABILITY, "trial": trial, "seed": config.seed, "n_alphas": 12 if config.quick else 30}
        for p in sizes
        for n in lengths
        for trial in range(trials)
    ]


def run_cell(cell: Cell) -> list[Row]:
    """Fit one table by all methods along the same penalties, and compare with the truth."""
    truth, table = paper_table(cell["p"], cell["P"], cell["trial"], cell["seed"], n_samples=cell["N"])
    top = 1.001 * objective.Objective(table).alpha_max()
    alphas = np.geomspace(top, 0.005 * top, cell["n_alphas"])
    paths = {
        "exact": exact_path(table, alphas / 2),
        "isinglass": ising_path(table, alphas, n_threads=1),
        "isinglass-nodewise": nodewise_path(table, alphas / 2, n_threads=1),
    }
    key = {name: cell[name] for name in ("p", "N", "trial")}
    return [{**key, "method": name, **score(path, truth, paths["exact"])} for name, path in paths.items()]


def score(path: Any, truth: Network, exact: Any) -> Row:
    """Return the errors at the best penalty, the AUC, and the distance from the exact estimate at equal strength."""
    errors = [metrics.relative_difference(solution, truth) for solution in path]
    best = int(np.argmin(errors))
    n_pairs = truth.n_features * (truth.n_features - 1) // 2
    return {
        "error": errors[best],
        "alpha": path[best].alpha,
        "auc": metrics.roc_curve(path, truth).auc if 0 < truth.n_edges < n_pairs else None,
        "f1": max(metrics.edge_confusion(solution, truth).f1 for solution in path),
        "from_exact": metrics.relative_difference(path[best], exact[best]),
        "converged": bool(path.converged.all()),
    }


# ------------------------------------------------------------------------------------------- what the rows say


def facts(rows: pd.DataFrame) -> dict[str, Any]:
    """Return what the text says."""
    means = rows.pivot_table(["error", "auc", "f1"], ["p", "N"], "method")
    errors = rows.pivot(index=["p", "N", "trial"], columns="method", values="error")
    ratios = np.exp(np.log(errors["isinglass"] / errors["exact"]).groupby(["p", "N"]).mean())
    return {
        "trials": rows["trial"].nunique(),
        "means": means[[(measure, method) for measure in ("error", "auc", "f1") for method in METHODS]],
        "from_exact": pick(rows, method="isinglass")["from_exact"].mean(),
        "ratios": ratios,
        "ratio": geometric_mean(ratios),
        "verdicts": {"accuracy": judge(ratios.max() <= LITTLE, ratios.max() <= TOLERABLE)},
    }


def draw(rows: pd.DataFrame) -> figures.Figure:
    """Draw estimation error and AUC against N, one column for each p."""
    means = rows.groupby(["p", "method", "N"])[["error", "auc"]].mean()
    panels, lengths = rows["p"].unique(), sorted(rows["N"].unique())
    figure, grid = figures.new_figure(len(panels), 2, size=(3.0 * len(panels) + 0.4, 5.2), sharex=True, sharey="row")
    looks: dict[str, dict[str, Any]] = {
        "exact": {"linewidth": 4.5, "alpha": 0.6},
        "isinglass": {"label": "pseudo-likelihood"},
        "isinglass-nodewise": {"linestyle": "--", "label": "node-wise, AND"},
    }
    for k, p in enumerate(panels):
        for name, axes in (("error", grid[0, k]), ("auc", grid[1, k])):
            for method in METHODS:
                figures.draw_line(axes, method, lengths, means.loc[(p, method), name][lengths], **looks[method])
            figures.log_axis(axes.xaxis, lengths)
        figures.log_axis(grid[0, k].yaxis)
        grid[0, k].set(title=f"p = {p}")
        grid[1, k].set(xlabel="N")
    grid[0, 0].set_ylabel("relative error at the best λ")
    grid[1, 0].set_ylabel("AUC of the edges")
    figures.add_legend(figure, grid[0, 0])
    return figure
