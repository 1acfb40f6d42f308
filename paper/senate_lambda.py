"""λ of the Senate network by StARS, for several settings, against the paper's 0.06."""

from __future__ import annotations

import math
import sys

import numpy as np
from matplotlib.ticker import NullLocator

from isinglass import ising_path, stars
from isinglass.datasets import load_senate109
from paper import figures, markdown, published, study
from paper.contract import Cell, Claim, Config, Row, Verdict
from paper.senators import EIGHTY_PERCENT
from paper.summary import column, geometric_mean, group, where

NAME = "senate_lambda"
TITLE = "Senate: λ selected by StARS"
VERSION = 1
TIMED = False

RATIO = 1.05
GRID = tuple(float(f"{published.SENATE_LAMBDA * RATIO**k:.5g}") for k in range(44, -33, -1))
"""From 0.51, above the largest λ any subsample can have an edge at, to 0.0126; the paper's 0.06 is one of them."""
BETAS = (0.025, 0.05, 0.075, 0.1)
STANDARD = {"b": 167, "B": 20}
"""Liu, Roeder and Wasserman's size, 10 √N, and number; their β is 0.05."""
STANDARD_BETA = 0.05
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
    found = stars(
        X,
        alphas=GRID,
        n_subsamples=cell["B"],
        subsample_size=cell["b"],
        bounded=False,
        random_state=np.random.SeedSequence([cell["seed"], cell["draw"]]),
        n_jobs=1,
        progress=False,
    )
    path = ising_path(X, GRID, n_threads=1)
    key = {name: cell[name] for name in ("b", "B", "draw")}
    return [
        {**key, "alpha": float(alpha), "instability": float(value), "n_edges": network.n_edges}
        for alpha, value, network in zip(found.alphas, found.instability, path, strict=True)
    ]


def run(config: Config) -> list[Row]:
    """Return the rows of all settings."""
    return study.run_item(sys.modules[__name__], config)


# ------------------------------------------------------------------------------------------- what the rows say


def select(rows: list[Row], beta: float) -> float | None:
    """Return the smallest λ of one run before its instability first exceeds β; None if it never does."""
    below = np.maximum.accumulate(column(rows, "instability")) <= beta
    return None if below.all() else rows[max(int(below.sum()) - 1, 0)]["alpha"]


def choices(rows: list[Row], beta: float, *, b: int, B: int) -> list[float]:
    """Return what the runs with a setting choose, without those whose instability never exceeds β."""
    found = (select(run_, beta) for run_ in group(where(rows, b=b, B=B), "draw").values())
    return [value for value in found if value is not None]


def count_runs(rows: list[Row], *, b: int, B: int) -> int:
    """Return the number of runs with a setting."""
    return len(group(where(rows, b=b, B=B), "draw"))


def settings(rows: list[Row]) -> list[dict[str, int]]:
    """Return the settings (b, B) that were run."""
    return [{"b": b, "B": n} for b, n in group(rows, "b", "B")]


def standard(rows: list[Row]) -> dict[str, int]:
    """Return the standard setting, with as many subsamples as were run."""
    return next(setting for setting in settings(rows) if setting["b"] == STANDARD["b"])


def nearest(rows: list[Row]) -> tuple[dict[str, int], float, float]:
    """Return the setting and β whose choice comes nearest to the paper's, and that choice."""
    found = [
        (setting, beta, geometric_mean(chosen))
        for setting in settings(rows)
        for beta in BETAS
        if (chosen := choices(rows, beta, **setting))
    ]
    return min(found, key=lambda entry: abs(math.log(entry[2] / published.SENATE_LAMBDA)))


def edges_at(rows: list[Row], alpha: float) -> int:
    """Return the number of edges of the network of all rows at the λ of the grid nearest to ``alpha``."""
    return min(rows, key=lambda row: abs(math.log(row["alpha"] / alpha)))["n_edges"]


def draw(rows: list[Row]) -> figures.Figure:
    """Draw the instability along λ for every subsample size, with the thresholds and the paper's λ."""
    figure, grid = figures.new_figure(size=(6.4, 4.0))
    axes = grid[0, 0]
    colors = ("#CC79A7", "#000000", "#0072B2", "#E69F00")
    fewest = min(row["B"] for row in rows)
    for (b, found), color in zip(group(where(rows, B=fewest), "b").items(), colors, strict=False):
        label = f"b = {b}" + (" = 10√N" if b == STANDARD["b"] else f" = {b / len(load_senate109().X):.2g} N")
        for k, run_ in enumerate(group(found, "draw").values()):
            y = np.maximum.accumulate(column(run_, "instability"))
            axes.plot(column(run_, "alpha"), y, color=color, linewidth=1.2, alpha=0.8, label=None if k else label)
    axes.axvline(published.SENATE_LAMBDA, color="#D55E00", linewidth=1.2)
    axes.annotate(
        "the paper's λ", (published.SENATE_LAMBDA, 0.163), (4, 0), textcoords="offset points", color="#D55E00"
    )
    for beta in (0.05, 0.1):
        axes.axhline(beta, color="#888888", linewidth=0.9, linestyle="--")
        axes.annotate(f"β = {beta}", (0.5, beta), (0, 3), textcoords="offset points", color="#555555", ha="left")
    axes.set(xscale="log", xlabel="λ", ylabel="instability (running maximum)", ylim=(0, 0.18))
    axes.set_xticks([0.5, 0.2, 0.1, 0.06, 0.03, 0.02], labels=["0.5", "0.2", "0.1", "0.06", "0.03", "0.02"])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.invert_xaxis()
    axes.legend(frameon=False, loc="upper left", title=f"{fewest} subsamples of b rows; one line per seed")
    return figure


# ------------------------------------------------------------------------------------------- the page


def section(rows: list[Row]) -> str:
    """Return the choices for every setting."""
    at = {(row["b"], row["B"]): [] for row in rows}
    for row in where(rows, alpha=published.SENATE_LAMBDA):
        at[row["b"], row["B"]].append(row["instability"])
    lines = []
    for setting in settings(rows):
        chosen = [choices(rows, beta, **setting) for beta in BETAS]
        unstable = at[setting["b"], setting["B"]]
        total = count_runs(rows, **setting)
        shown = [show(values, total) for values in chosen]
        lines.append([f"b = {setting['b']}, B = {setting['B']}", *shown, f"{np.mean(unstable):.3f}"])
    header = ["", *(f"β = {beta}" for beta in BETAS), f"instability at {published.SENATE_LAMBDA}"]
    return f"""\
λ chosen for the table of {load_senate109().X.shape[0]} roll calls (geometric mean over seeds of the subsamples, and its
range), for every size b and number B of the subsamples and every threshold β. Runs whose instability exceeds β nowhere
on the grid, down to λ = {min(row["alpha"] for row in rows):.3g}, choose nothing; they are counted. The paper reports
{published.SENATE_LAMBDA} and no settings.

{markdown.table(header, lines)}
"""


def show(chosen: list[float], total: int) -> str:
    """Return a mean and its range, and how many of the runs chose nothing."""
    never = f"{total - len(chosen)} of {total} never exceed β"
    if not chosen:
        return never
    spread = f" ({min(chosen):.3f}…{max(chosen):.3f})" if max(chosen) > min(chosen) else ""
    return f"{geometric_mean(chosen):.3f}{spread}" + (f"; {never}" if len(chosen) < total else "")


def claims(rows: list[Row]) -> list[Claim]:
    """Judge the paper's λ."""
    target, setting = published.SENATE_LAMBDA, standard(rows)
    usual = geometric_mean(choices(rows, STANDARD_BETA, **setting))
    close, beta, best = nearest(rows)
    near = [abs(math.log(value / target)) <= math.log(CLOSE) for value in (usual, best)]
    verdict = Verdict.REPRODUCED if near[0] else Verdict.REMARK if near[1] else Verdict.NOT
    chosen = f"{usual:.3f}, a network of {edges_at(rows, usual)} edges" if usual > 0 else "nothing on this grid"
    most = show(
        choices(rows, STANDARD_BETA, b=EIGHTY_PERCENT, B=setting["B"]),
        count_runs(rows, b=EIGHTY_PERCENT, B=setting["B"]),
    )
    finding = (
        f"With the standard settings (b = {setting['b']}, β = {STANDARD_BETA}, B = {setting['B']}) StARS chooses "
        f"{chosen}, against {edges_at(rows, target)} edges at {target}; the nearest setting, b = {close['b']}, β = "
        f"{beta} and B = {close['B']}, gives {best:.3f}; b = {EIGHTY_PERCENT}, "
        f"{100 * EIGHTY_PERCENT / len(load_senate109().X):.0f} % of the rows, with β and B as in the standard settings "
        f"{most}."
    )
    rule = (
        f"reproduced if the standard settings choose a λ within a factor of {CLOSE:g} of the paper's, with a remark if "
        "another setting of the scan does, else not."
    )
    return [Claim(f"StARS selects λ = {target} for the Senate", "Section on real data", verdict, finding, rule)]
