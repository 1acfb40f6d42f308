"""λ of the Senate network by StARS, for several settings, against the paper's 0.06."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.ticker import NullLocator

from isinglass import Method, Run, StARS
from isinglass.datasets import load_senate109
from isinglass.errors import GridEndWarning, suppress_warnings
from paper import figures, printed
from paper.evidence import geometric_mean, judge, pick, within
from paper.study import Cell, Config, Row

VERSION = 1
TIMED = False

RATIO = 1.05
GRID = tuple(float(f"{printed.SENATE_LAMBDA * RATIO**k:.5g}") for k in range(44, -33, -1))
"""From 0.51, above the largest λ any subsample can have an edge at, to 0.0126; the paper's 0.06 is one of them."""
BETAS = (0.025, 0.05, 0.075, 0.1)
STANDARD = {"b": 167, "B": 20}
"""Liu, Roeder and Wasserman's size, 10 √N, and number; their β is 0.05."""
STANDARD_BETA = 0.05
EIGHTY_PERCENT = 223
SIZES = (139, 167, EIGHTY_PERCENT, 251)
"""Rows of a subsample: N/2, 10 √N, 0.8 N, 0.9 N."""
MANY = 100
SEEDS = 5
CLOSE = 1.25
"""Factor up to which two λ count as the same."""


def cells(config: Config) -> list[Cell]:
    """Return one cell per setting and seed of the subsamples."""
    sizes, numbers = ((STANDARD["b"], EIGHTY_PERCENT), (5,)) if config.quick else (SIZES, (20, MANY))
    seeds = 1 if config.quick else SEEDS
    return [
        {"b": b, "B": n, "draw": k, "seed": config.seed}
        for n in numbers
        for b in sizes
        for k in range(seeds if n != MANY else 1)
    ]


def run_cell(cell: Cell) -> list[Row]:
    """Return the instability at every λ, beside the size of the network of all rows."""
    X = load_senate109().X
    # With this threshold nothing is unstable, and all subsamples run the whole grid.
    seed = np.random.SeedSequence([cell["seed"], cell["draw"]])
    stars = StARS(GRID, 0.5, cell["B"], cell["b"], random_state=seed)
    with suppress_warnings(GridEndWarning):
        chosen = Method(selector=stars).choose(X, run=Run(n_jobs=1, n_threads=1, progress=False))
    found, path = chosen.stability, chosen.path
    assert found is not None
    assert path is not None
    key = {name: cell[name] for name in ("b", "B", "draw")}
    return [
        {**key, "alpha": float(alpha), "instability": float(value), "n_edges": network.n_edges}
        for alpha, value, network in zip(found.alphas, found.instability, path, strict=True)
    ]


# ------------------------------------------------------------------------------------------- what the rows say


def choices(rows: pd.DataFrame) -> pd.DataFrame:
    """Return what every run (B, b, draw) chooses for every β: the smallest λ before its instability first exceeds β.

    NaN if it never does.
    """
    found = {}
    for key, run in rows.groupby(["B", "b", "draw"]):
        below = run["instability"].cummax().to_numpy()[:, None] <= np.array(BETAS)
        chosen = run["alpha"].to_numpy()[np.maximum(below.sum(axis=0) - 1, 0)]
        found[key] = np.where(below.all(axis=0), np.nan, chosen)
    index = pd.MultiIndex.from_tuples(found, names=["B", "b", "draw"])
    return pd.DataFrame(list(found.values()), index, pd.Index(BETAS, name="beta"))


def show(chosen: pd.Series) -> str:
    """Return the geometric mean of the choices of some runs and its range, and how many runs chose nothing."""
    known = chosen.dropna()
    never = f"{len(chosen) - len(known)} of {len(chosen)} never exceed β"
    if known.empty:
        return never
    spread = f" ({known.min():.3f}…{known.max():.3f})" if known.max() > known.min() else ""
    return f"{geometric_mean(known):.3f}{spread}" + (f"; {never}" if len(known) < len(chosen) else "")


def facts(rows: pd.DataFrame) -> dict[str, Any]:
    """Return what the text says."""
    chosen, target = choices(rows), printed.SENATE_LAMBDA
    runs = chosen.groupby(["B", "b"])
    table, means = runs.agg(show), runs.agg(geometric_mean).stack()
    table.columns = [f"β = {beta}" for beta in BETAS]
    at_paper = rows[np.isclose(rows["alpha"], target)].groupby(["B", "b"])["instability"].mean()
    table[f"instability at {target}"] = at_paper.map("{:.3f}".format)
    B = rows["B"].min()
    standard = means.get((B, STANDARD["b"], STANDARD_BETA), math.nan)
    nearest = np.log(means / target).abs().idxmin()
    return {
        "n_rows": len(load_senate109().X),
        "least": rows["alpha"].min(),
        "table": table.set_axis([f"b = {b}, B = {n}" for n, b in table.index]),
        "B": B,
        "standard": standard,
        "edges": {at: edges_at(rows, at) for at in (standard, target) if at > 0},
        "nearest": {**dict(zip(("B", "b", "beta"), nearest, strict=True)), "mean": means[nearest]},
        "eighty": show(chosen.loc[(B, EIGHTY_PERCENT), STANDARD_BETA]),
        "verdicts": {"selects": judge(within(standard / target, CLOSE), within(means[nearest] / target, CLOSE))},
    }


def edges_at(rows: pd.DataFrame, alpha: float) -> int:
    """Return the number of edges of the network of all rows at the λ of the grid nearest to ``alpha``."""
    return int(rows.loc[np.log(rows["alpha"] / alpha).abs().idxmin(), "n_edges"])


def draw(rows: pd.DataFrame) -> figures.Figure:
    """Draw the instability along λ for every subsample size, with the thresholds and the paper's λ."""
    figure, grid = figures.new_figure(size=(6.4, 4.0))
    axes = grid[0, 0]
    colors = ("#CC79A7", "#000000", "#0072B2", "#E69F00")
    fewest = rows["B"].min()
    for (b, found), color in zip(pick(rows, B=fewest).groupby("b", sort=False), colors, strict=False):
        label = f"b = {b}" + (" = 10√N" if b == STANDARD["b"] else f" = {b / len(load_senate109().X):.2g} N")
        for k, run in found.groupby("draw"):
            options = {"color": color, "linewidth": 1.2, "alpha": 0.8, "label": None if k else label}
            axes.plot(run["alpha"], run["instability"].cummax(), **options)
    axes.axvline(printed.SENATE_LAMBDA, color="#D55E00", linewidth=1.2)
    place = (printed.SENATE_LAMBDA, 0.163)
    axes.annotate("the paper's λ", place, (4, 0), textcoords="offset points", color="#D55E00")
    for beta in (0.05, 0.1):
        axes.axhline(beta, color="#888888", linewidth=0.9, linestyle="--")
        axes.annotate(f"β = {beta}", (0.5, beta), (0, 3), textcoords="offset points", color="#555555", ha="left")
    axes.set(xscale="log", xlabel="λ", ylabel="instability (running maximum)", ylim=(0, 0.18))
    axes.set_xticks([0.5, 0.2, 0.1, 0.06, 0.03, 0.02], labels=["0.5", "0.2", "0.1", "0.06", "0.03", "0.02"])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.invert_xaxis()
    axes.legend(frameon=False, loc="upper left", title=f"{fewest} subsamples of b rows; one line per seed")
    return figure
