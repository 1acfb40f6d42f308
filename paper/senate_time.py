"""Figure of Senate times: every method against λ, with its accuracy and its edges, BMN included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.ticker import NullLocator

from isinglass import ising_path, nodewise_path
from isinglass.datasets import load_senate109
from paper import figures, printed
from paper.data import Table
from paper.evidence import judge, original, pick, present, within
from paper.methods import NODEWISE, Fit, accuracy, time_fits
from paper.study import Cell, Config, Row

VERSION = 3
TIMED = True

METHODS = ("isinglass", "isinglass-nodewise", "bmn", "bmn-plain", "plg", "plg-glmnet", "nlr", "nlr-glmnet")
ALPHAS = (0.4, 0.3, 0.2, 0.1, 0.06, 0.04, 0.02, 0.01)
SLOW = 3.0
"""Seconds beyond which a fit is not repeated."""
EQUAL = 1.5
"""Factor up to which two times count as almost the same."""
REMARKABLE = 5.0
"""Factor up to which they are similar enough for a remark."""
TOO_SLOW = 10.0
"""Factor from which on BMN counts as too slow to be included."""


def cells(config: Config) -> list[Cell]:
    """Return one cell per λ."""
    alphas = (0.3, printed.SENATE_LAMBDA) if config.quick else ALPHAS
    methods = [method for method in METHODS if method != "bmn-plain" or not config.quick]
    rounds = 1 if config.quick else 3
    return [{"alpha": alpha, "rounds": rounds, "methods": methods, "seed": config.seed} for alpha in alphas]


def run_cell(cell: Cell) -> list[Row]:
    """Time every method at one λ and compare what it returns with the certified optimum."""
    X, alpha = np.array(load_senate109().X), cell["alpha"]
    fits = time_fits(X, alpha, cell["methods"], rounds=cell["rounds"], slow=SLOW)
    joint = ising_path(X, [alpha], tol=1e-9)[0]
    nodes = nodewise_path(X, [alpha / 2], tol=1e-9)[0]
    return [
        {"alpha": alpha, "method": method}
        | describe(X, alpha, method, fit, (nodes if method in NODEWISE else joint).couplings)
        for method, fit in fits.items()
    ]


def describe(X: Table, alpha: float, method: str, fit: Fit, optimum: np.ndarray) -> Row:
    """Return time, iterations, accuracy and how many edges differ from the certified network's (NLR: rule AND)."""
    found = (fit.theta != 0) & (fit.theta.T != 0)
    excess, epsilon = accuracy(X, method, fit.theta, alpha)
    return {
        "seconds": fit.seconds,
        "design_seconds": fit.design_seconds,
        "n_iter": fit.n_iter,
        "table_passes": fit.n_iter / (X.shape[1] if method in NODEWISE else 1),
        "converged": fit.converged,
        "rounds": fit.rounds,
        "n_edges": int(np.triu(found, 1).sum()),
        "n_different": int(np.triu(found != (optimum != 0), 1).sum()),
        "excess": excess,
        "epsilon": epsilon,
    }


# ------------------------------------------------------------------------------------------- what the rows say


def facts(rows: pd.DataFrame) -> dict[str, Any]:
    """Return what the text says."""
    plg, nlr = original(rows, "plg"), original(rows, "nlr")
    bmn, at = present(rows, ["bmn-plain", "bmn"])[0], printed.SENATE_LAMBDA
    times = rows.pivot(index="alpha", columns="method", values="seconds").sort_index(ascending=False)
    nodes, slow = times[plg] / times[nlr], times[bmn] / times[plg]
    stuck = int((~pick(rows, method=bmn)["converged"]).sum())
    here = pick(rows, alpha=at).set_index("method")
    inside = {factor: nodes.map(lambda ratio, factor=factor: within(ratio, factor)) for factor in (EQUAL, REMARKABLE)}
    near = inside[EQUAL][at] or inside[REMARKABLE].all()
    return {
        "shape": load_senate109().X.shape,
        "rows": rows,
        "methods": present(rows, METHODS),
        "times": times,
        "here": here,
        "plg": plg,
        "nlr": nlr,
        "bmn": bmn,
        "nodes": nodes,
        "compiled": times["plg"] / times["nlr"],
        "slow": slow,
        "kernels": times["bmn"][at] / times[plg][at],
        "stuck": stuck,
        "verdicts": {
            "nodes": judge(inside[EQUAL].all(), near),
            "slow": judge(slow[at] >= TOO_SLOW, slow.max() > 2 or stuck > 0),
        },
    }


def draw(rows: pd.DataFrame) -> figures.Figure:
    """Draw time and distance to the optimum against λ."""
    figure, grid = figures.new_figure(2, size=(8.6, 4.2))
    alphas = rows["alpha"].unique()
    for axes, name, text in (
        (grid[0, 0], "seconds", "seconds of one fit"),
        (grid[0, 1], "epsilon", "ε to the certified optimum"),
    ):
        for method in present(rows, METHODS):
            if name == "epsilon" and (method.endswith("-glmnet") or method.startswith("isinglass")):
                continue  # pass for pass the same as ours; and isinglass is the optimum
            found = pick(rows, method=method)
            figures.draw_line(axes, method, found["alpha"], found[name])
        axes.axvline(printed.SENATE_LAMBDA, color="#888888", linewidth=0.9, linestyle=":")
        axes.set(xscale="log", yscale="log", xlabel="λ", ylabel=text)
        axes.set_xticks(alphas, labels=[f"{alpha:g}" for alpha in alphas])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.invert_xaxis()
    place = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
    grid[0, 0].annotate("the paper's λ", (printed.SENATE_LAMBDA, 1.0), (3, -9), color="#555555", fontsize=8, **place)
    figures.add_legend(figure, grid[0, 0], columns=3)
    return figure
