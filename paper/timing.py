"""Figure of computation times: every method on the paper's grid, single fits after the choice of λ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from paper import figures, lambdas, printed
from paper.data import paper_table
from paper.evidence import judge, original, pick, present, within
from paper.methods import ROUNDS, SLOW, time_fits
from paper.study import Cell, Row

VERSION = 3
TIMED = True

METHODS = ("isinglass", "isinglass-nodewise", "bmn", "bmn-plain", "plg", "plg-glmnet", "nlr", "nlr-glmnet")
BMN = ("bmn-plain", "bmn")
JUDGE = "bmn-plain"
"""The BMN that stands for the R package in the rules: it too computes every row."""
SOURCES = {"paper": "the paper's λ", "selected": "the λ selected here"}
MUCH = 5.0
"""Factor from which on a method counts as much faster."""
COMPARABLE = 3.0
"""Factor up to which two times count as comparable."""
FIT = ["p", "P", "trial", "source"]
"""Columns that say which fit a row is about."""

cells = lambdas.cells_at_both


def run_cell(cell: Cell) -> list[Row]:
    """Time every method on one table at both λ."""
    _, table = paper_table(cell["p"], cell["P"], cell["trial"], cell["seed"])
    rows = []
    for source in SOURCES:
        key = {"p": cell["p"], "P": cell["P"], "trial": cell["trial"], "source": source, "lambda": cell[source]}
        for method, fit in time_fits(table, cell[source], METHODS).items():
            measured = {"seconds": fit.seconds, "design_seconds": fit.design_seconds, "n_iter": fit.n_iter}
            rows.append({**key, "method": method, **measured, "converged": fit.converged, "rounds": fit.rounds})
    return rows


# ------------------------------------------------------------------------------------------- what the rows say


def times_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the seconds of every method by fit; PLG in R gets the time that building its design took here."""
    times = rows.pivot(index=FIT, columns="method", values="seconds")
    if "plg-glmnet" in times:
        times["plg-glmnet"] += pick(rows, method="plg").set_index(FIT)["design_seconds"]
    return times


def ratios_of(times: pd.DataFrame, slow: str, fast: str) -> pd.DataFrame:
    """Return one method's time over the other's, geometric mean over tables: a row per p, a column per source of λ."""
    logs = np.log(times[slow] / times[fast])
    return np.exp(logs.groupby(["p", "source"]).mean()).unstack("source")


def calibration(rows: pd.DataFrame) -> pd.DataFrame:
    """Return what the plain BMN took beside the R package itself, and how far it is out of that range, by p.

    Fits in which it ran out of steps do not count.
    """
    found = pick(rows, source="paper", method=JUDGE, converged=True).groupby("p")["seconds"].mean().to_frame()
    found = found.join(printed.BMN_SECONDS, how="inner")
    least, most = found["bmn_seconds_least"], found["bmn_seconds_most"]
    return found.assign(off=np.maximum(np.maximum(least / found["seconds"], found["seconds"] / most), 1.0))


def time_table(rows: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return mean times by p, as the paper reports them, and of building the stacked design."""
    found = pick(rows, source=source)
    means = found.pivot_table("seconds", "p", "method")[present(found, METHODS)]
    return means.assign(design=pick(found, method="plg").groupby("p")["design_seconds"].mean())


def facts(rows: pd.DataFrame) -> dict[str, Any]:
    """Return what the text says."""
    times, plg, nlr = times_of(rows), original(rows, "plg"), original(rows, "nlr")
    ended = times[pick(rows, method=JUDGE).set_index(FIT)["converged"].reindex(times.index)]
    growth = {
        name: {
            "fast": fast,
            "ratios": {bmn: ratios_of(times, bmn, fast) for bmn in BMN},
            "ended": ratios_of(ended, JUDGE, fast),
        }
        for name, fast in (("plg", plg), ("nlr", nlr))
    }
    nodes = ratios_of(times, plg, nlr).stack()
    inside = nodes.map(lambda ratio: within(ratio, COMPARABLE))
    stuck = (~rows["converged"]).groupby(rows["method"], sort=False).agg(["sum", "count"])
    largest = {bmn: growth["plg"]["ratios"][bmn].iloc[-1] for bmn in BMN}
    judged = {name: found["ratios"][JUDGE][list(SOURCES)] for name, found in growth.items()}
    return {
        "rounds": ROUNDS,
        "slow": SLOW,
        "trials": rows["trial"].nunique(),
        "sizes": rows["p"].unique(),
        "tables": {text: time_table(rows, source) for source, text in SOURCES.items()},
        "methods": present(rows, METHODS),
        "calibration": calibration(rows),
        "misprint": printed.MISPRINT in times.index.droplevel(["trial", "source"]),
        "stuck": stuck[stuck["sum"] > 0],
        "unended": len(times) - len(ended),
        "plg": plg,
        "nlr": nlr,
        "largest": largest,
        "same_steps": 1 / ratios_of(times, JUDGE, "bmn")["paper"].iloc[-1],
        "ours": ratios_of(times, plg, "isinglass").iloc[-1],
        "growth": growth,
        "nodes": nodes,
        "verdicts": {
            "faster": judge(largest[JUDGE]["paper"] >= MUCH, largest[JUDGE]["paper"] > 1),
            **{
                name: judge((found.diff().iloc[1:] > 0).all(axis=None), (found.iloc[-1] > found.iloc[0]).all())
                for name, found in judged.items()
            },
            "nodes": judge(inside.all(), inside.mean() >= 0.5),
        },
    }


def draw(rows: pd.DataFrame) -> figures.Figure:
    """Draw time against p: a row of panels for each choice of λ, a column for each P."""
    panels, sizes = rows["P"].unique(), sorted(rows["p"].unique())
    size = (2.4 * len(panels) + 0.6, 5.4)
    figure, grid = figures.new_figure(len(panels), len(SOURCES), size=size, sharey=True, sharex=True)
    means = rows.pivot_table("seconds", ["source", "P", "p"], "method")
    for line, (source, text) in zip(grid, SOURCES.items(), strict=True):
        for axes, P in zip(line, panels, strict=True):
            for method in present(rows, METHODS):
                figures.draw_line(axes, method, sizes, means.loc[(source, P), method][sizes])
            axes.set(title=f"P = {P}, {text}", yscale="log", xticks=sizes)
        line[0].set_ylabel("seconds (mean of the trials)")
    for axes in grid[-1]:
        axes.set_xlabel("p")
    figures.add_legend(figure, grid[0, 0])
    return figure
