"""Figure of unbalanced data: time, passes and convergence against λ where nodes are nearly constant.

One node with θ_11 = 5 is the paper's design, and what the verdicts are about; five such nodes are a harder case.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from paper import figures, printed
from paper.evidence import judge, original, pick, present, within
from paper.glmnet import FEWEST
from paper.imbalance import DATA, PAPER, SEVERAL, drop_constant, make_table, minorities
from paper.methods import NODEWISE, time_fits
from paper.study import Cell, Config, Row

VERSION = 2
TIMED = True

METHODS = ("isinglass", "isinglass-nodewise", "plg", "plg-glmnet", "nlr", "nlr-glmnet")
KINDS = {PAPER: "one rare node (the paper's design)", SEVERAL: "five rare nodes"}
SEVERAL_TRIALS = 10
ALPHAS = tuple(float(f"{alpha:.3g}") for alpha in np.geomspace(1e-1, 1e-5, 9))
DECAY = 2.0
"""A method slows down if it takes this many times as long at the smallest λ as at the largest."""


def cells(config: Config) -> list[Cell]:
    """Return one cell per table and λ; with five rare nodes fewer tables and every other λ, as NLR takes long there."""
    wanted = {PAPER: (printed.TRIALS, ALPHAS), SEVERAL: (SEVERAL_TRIALS, ALPHAS[::2])}
    if config.quick:
        wanted = {PAPER: (2, ALPHAS[::8]), SEVERAL: (1, ALPHAS[::8])}
    return [
        {"data": data, "trial": trial, "alpha": alpha, "seed": config.seed}
        for data, (trials, alphas) in wanted.items()
        for trial in range(trials)
        for alpha in alphas
    ]


def run_cell(cell: Cell) -> list[Row]:
    """Time every method on one table at one λ; constant columns are left out, as every method leaves them out."""
    table, n_constant = drop_constant(make_table(cell["trial"], cell["seed"], **DATA[cell["data"]]))
    few = minorities(table)
    key = {name: cell[name] for name in ("data", "trial", "alpha")}
    key |= {"n_constant": n_constant, "minority": int(few.min())}
    rows = []
    for method, fit in time_fits(table, cell["alpha"], METHODS).items():
        refused = int((few < FEWEST).sum()) if method == "nlr-glmnet" else 0
        regressions = table.shape[1] if method in NODEWISE else 1
        measured = {"seconds": fit.seconds, "n_iter": fit.n_iter, "table_passes": fit.n_iter / regressions}
        flags = {"n_refused": refused, "converged": fit.converged, "rounds": fit.rounds}
        rows.append({**key, "method": method, **measured, **flags})
    return rows


# ------------------------------------------------------------------------------------------- what the rows say


def by_alpha(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the mean of a column over the trials, as the paper averages, for every λ (rows) and method (columns)."""
    return rows.pivot_table(name, "alpha", "method")[present(rows, METHODS)].sort_index(ascending=False)


def compare(rows: pd.DataFrame, one: str, two: str) -> dict[str, Any]:
    """Return how the time of a method changes with λ and compares with another's at the smallest λ."""
    times, passes = by_alpha(rows, "seconds"), by_alpha(rows, "table_passes").iloc[-1]
    compiled = [method.removesuffix("-glmnet") for method in (one, two)]
    met = pick(rows, method=one)["converged"]
    return {
        "one": one,
        "two": two,
        "growth": times[one].iloc[-1] / times[one].iloc[0],
        "small": times.index[-1],
        "ratio": times[one].iloc[-1] / times[two].iloc[-1],
        "compiled": None if compiled == [one, two] else times[compiled[0]].iloc[-1] / times[compiled[1]].iloc[-1],
        "passes": (passes[one], passes[two]),
        "failed": int((~met).sum()),
        "fits": len(met),
    }


def facts(rows: pd.DataFrame) -> dict[str, Any]:
    """Return what the text says."""
    nlr, plg = original(rows, "nlr"), original(rows, "plg")
    paper, several = (pick(rows, data=data) for data in (PAPER, SEVERAL))
    slow, fast = compare(paper, nlr, plg), compare(paper, plg, nlr)
    slows = [slow["growth"] >= DECAY, slow["ratio"] > 1]
    keeps = [fast["failed"] == 0, fast["growth"] < DECAY, fast["ratio"] < 1]
    times = by_alpha(paper, "seconds")
    large = times[plg].iloc[0] / times[nlr].iloc[0]
    tables = paper.groupby("trial").first()
    return {
        "trials": len(tables),
        "several_trials": several["trial"].nunique(),
        "minority": tables["minority"],
        "refused": pick(paper, method="nlr-glmnet").groupby("trial")["n_refused"].max(),
        "times": {data: by_alpha(pick(rows, data=data), "seconds") for data in KINDS},
        "passes": {data: by_alpha(pick(rows, data=data), "table_passes") for data in KINDS},
        "plg": plg,
        "nlr": nlr,
        "slow": {PAPER: slow, SEVERAL: compare(several, nlr, plg)},
        "fast": {PAPER: fast, SEVERAL: compare(several, plg, nlr)},
        "ours": times["isinglass"].iloc[-1] / times[plg].iloc[-1],
        "large": large,
        "large_compiled": times["plg"].iloc[0] / times["nlr"].iloc[0],
        "verdicts": {
            "nlr": judge(all(slows), any(slows) or slow["failed"] > 0),
            "plg": judge(all(keeps), sum(keeps) == 2),
            "large": judge(within(large, 2), within(large, 5)),
        },
    }


def draw(rows: pd.DataFrame) -> figures.Figure:
    """Draw time, passes over the table and the share of tables on which all converged, for both kinds of tables."""
    figure, grid = figures.new_figure(3, len(KINDS), size=(10.2, 2.9 * len(KINDS) + 0.7))
    for line, (data, text) in zip(grid, KINDS.items(), strict=True):
        draw_kind(line, pick(rows, data=data), text)
    figures.add_legend(figure, grid[0, 0], columns=3)
    return figure


def draw_kind(line: Any, rows: pd.DataFrame, text: str) -> None:
    """Draw the three panels of one kind of tables."""
    panels = {
        "seconds": f"{text}:\nseconds (mean)",
        "table_passes": "passes over the table (mean;\nNewton steps for isinglass)",
        "converged": "tables with all regressions converged (%)\n(refused nodes not counted)",
    }
    for axes, (name, label) in zip(line, panels.items(), strict=True):
        for method, means in by_alpha(rows.assign(converged=100.0 * rows["converged"]), name).items():
            shown = means if name == "converged" else means[means > 0]  # without edges there is nothing to iterate
            figures.draw_line(axes, method, shown.index, shown)
        axes.set(xscale="log", xlabel="λ", ylabel=label)
        axes.set(**({"ylim": (-4, 106)} if name == "converged" else {"yscale": "log"}))
        axes.invert_xaxis()
