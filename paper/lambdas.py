"""Table of λ: what StARS selects on the paper's grid, joint and node-wise, and which of its settings come nearest.

The paper does not say how StARS was set up. One run of it gives the choice for every instability threshold β, so β is a
column here, and the size b and the number B of the subsamples are rows.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pandas as pd

from isinglass import Method, Run, Stability, StARS
from isinglass.errors import GridEndWarning, suppress_warnings
from paper import figures, printed, study
from paper.data import Table, paper_table
from paper.evidence import geometric_mean, half_width, judge, pick
from paper.study import Cell, Config, Row

VERSION = 3
TIMED = False

GRID = np.geomspace(0.4, 0.004, 60)
"""Joint penalties, 8 % apart, for all tables alike; half of them for the node-wise methods."""
BETAS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
STANDARD = {"method": "joint", "b": 316, "B": 20}
"""Liu, Roeder and Wasserman's subsample size, 10 √N; their β is 0.05."""
STANDARD_BETA = 0.05
SCAN = tuple({"method": "joint", "b": b, "B": 20} for b in (316, 500, 800, 900))
MANY = ({"method": "joint", "b": 316, "B": 100}, {"method": "joint", "b": 800, "B": 100})
"""More subsamples, for a few trials."""
NODEWISE = tuple({"method": f"nodewise-{rule}", "b": 316, "B": 20} for rule in ("and", "or"))
MANY_TRIALS = 2
CLOSE = math.log(1.25)
"""Distance on the log scale up to which two tables of λ count as the same: a quarter."""
CENSORED = 0.1
"""Share of choices at an end of the grid beyond which a setting is marked."""
HALF_CLOSE, HALF_NEAR = 1.1, 1.5
"""Factors from one half within which the independent λ of NLR counts as half of the joint one, and as near to it."""
STEP = 0.0009
"""Step of the grid that the paper's λ seem to come from."""


def cells(config: Config) -> list[Cell]:
    """Return one cell per table."""
    sizes = printed.SIZES[:2] if config.quick else printed.SIZES
    probabilities = printed.PROBABILITIES[1:2] if config.quick else printed.PROBABILITIES
    return [
        {"p": p, "P": P, "trial": trial, "seed": config.seed, "many": trial < MANY_TRIALS and not config.quick}
        for p in sizes
        for P in probabilities
        for trial in range(2 if config.quick else printed.TRIALS)
    ]


def run_cell(cell: Cell) -> list[Row]:
    """Run StARS on one table with every setting."""
    _, table = paper_table(cell["p"], cell["P"], cell["trial"], cell["seed"])
    key = {name: cell[name] for name in ("p", "P", "trial")}
    target = float(printed.GRID.at[(cell["p"], cell["P"]), "lambda_joint"])
    settings = [*SCAN, *(MANY if cell["many"] else ()), *NODEWISE]
    return [{**key, **setting, **choose(table, setting, target, cell["seed"])} for setting in settings]


def choose(table: Table, setting: dict[str, Any], target: float, seed: int) -> dict[str, float]:
    """Return λ for every β, and how unstable the paper's λ is."""
    joint = setting["method"] == "joint"
    rule = setting["method"].removeprefix("nodewise-")
    grid = GRID if joint else GRID / 2
    # With this threshold nothing is unstable, and all subsamples run the whole grid.
    stars = StARS(grid, 0.5, setting["B"], setting["b"], random_state=seed)
    method = Method(selector=stars) if joint else Method("nodewise", stars, rule=rule)
    with suppress_warnings(GridEndWarning):
        found = method.choose(table, run=Run(n_jobs=1, progress=False)).stability
    assert found is not None
    nearest = int(np.abs(np.log(grid / (target if joint else target / 2))).argmin())
    chosen = {f"beta_{beta}": select(found, beta) for beta in BETAS}
    return {**chosen, "instability_at_paper": float(found.instability[nearest])}


def select(found: Stability, beta: float) -> float:
    """Return the smallest λ before the instability first exceeds β: the end of the grid if it never does."""
    return float(found.alphas[max(int((found.monotone <= beta).sum()) - 1, 0)])


def cells_at_both(config: Config) -> list[Cell]:
    """Return one cell per table of the grid with our standard choice of λ, rounded, and the paper's own.

    Other items fit at these.
    """
    chosen = selected(pd.DataFrame(study.run(sys.modules[__name__], config)))
    paper = printed.GRID["lambda_joint"]
    return [
        {"p": p, "P": P, "trial": trial, "seed": config.seed, "selected": float(f"{mean:.4g}"), "paper": paper[p, P]}
        for (p, P), mean in chosen.items()
        for trial in range(2 if config.quick else printed.TRIALS)
    ]


# ------------------------------------------------------------------------------------------- what the rows say


def selected(rows: pd.DataFrame, beta: float = STANDARD_BETA, aggregate: Any = "mean", **setting: Any) -> pd.Series:
    """Return the mean of λ over the trials, or another aggregate, for every (p, P)."""
    return pick(rows, **(STANDARD | setting)).groupby(["p", "P"])[f"beta_{beta}"].agg(aggregate)


def paper_lambda() -> pd.Series:
    """Return the paper's joint λ, in the misprinted cell twice the node-wise one."""
    joint = printed.GRID["lambda_joint"].copy()
    joint[printed.MISPRINT] = 2 * printed.GRID.at[printed.MISPRINT, "lambda_nodewise"]
    return joint


def scan(rows: pd.DataFrame) -> pd.DataFrame:
    """Return for every (B, b, β) how far our table is from the paper's, and how many choices are an end of the grid.

    The distance is the root mean square of log(λ/λ_paper) over the cells, the ratio its geometric mean.
    """
    names = {f"beta_{beta}": beta for beta in BETAS}
    found = pick(rows, method="joint").rename(columns=names).melt(["p", "P", "B", "b"], BETAS, "beta", "chosen")
    found["end"] = np.isclose(found["chosen"].to_numpy()[:, None], GRID[[0, -1]], rtol=1e-4, atol=0).any(axis=1)
    settings = ["B", "b", "beta"]
    means = found.groupby([*settings, "p", "P"])["chosen"].mean().unstack(["p", "P"])
    logs = np.log(means / paper_lambda().reindex(means.columns))
    ends = found.groupby(settings)["end"]
    return pd.DataFrame(
        {
            "distance": np.sqrt((logs**2).mean(axis=1)),
            "ratio": np.exp(logs.mean(axis=1)),
            "ends": ends.sum(),
            "choices": ends.count(),
        }
    )


def nodewise_ratios(rows: pd.DataFrame) -> pd.DataFrame:
    """Return λ chosen for node-wise regression over λ chosen for the joint method, table by table, for both rules."""
    found = pick(rows, b=STANDARD["b"], B=STANDARD["B"])
    chosen = found.pivot(index=["p", "P", "trial"], columns="method", values=f"beta_{STANDARD_BETA}")
    return pd.DataFrame({rule: chosen[f"nodewise-{rule.lower()}"] / chosen["joint"] for rule in ("AND", "OR")})


def subsample_ratios(rows: pd.DataFrame) -> dict[int, pd.Series]:
    """Return λ from many subsamples over λ from few, by b, on the tables that have both."""
    found = {}
    for setting in MANY:
        joint = pick(rows, method="joint", b=setting["b"])
        chosen = joint.pivot(index=["p", "P", "trial"], columns="B", values=f"beta_{STANDARD_BETA}")
        if setting["B"] in chosen:
            found[setting["b"]] = (chosen[setting["B"]] / chosen[STANDARD["B"]]).dropna()
    return found


def facts(rows: pd.DataFrame) -> dict[str, Any]:
    """Return what the text says."""
    scanned = scan(rows)
    marked = scanned["ends"] > CENSORED * scanned["choices"]
    few = scanned.loc[STANDARD["B"]]
    nearest, free = few.distance.idxmin(), few[~marked.loc[STANDARD["B"]]]
    unmarked = nearest if free.empty else free.distance.idxmin()
    standard, halves = few.loc[STANDARD["b"], STANDARD_BETA], nodewise_ratios(rows)
    b, beta = nearest
    table = printed.GRID[["lambda_joint"]].join(selected(rows).rename("standard"), how="right")
    table["nearest"] = selected(rows, beta, b=b)
    table["lambda_nodewise"] = printed.GRID["lambda_nodewise"]
    table["half"] = table["standard"] / 2
    for rule in ("and", "or"):
        table[rule] = selected(rows, method=f"nodewise-{rule}")
    cells_ = [
        f"{row.distance:.2f} ({row.ratio:.2f})" + r"\*" * star
        for row, star in zip(scanned.itertuples(), marked, strict=True)
    ]
    distances = pd.Series(cells_, scanned.index).unstack("beta")
    distances.index = pd.Index([f"b = {b}, B = {n}" for n, b in distances.index])
    steps = printed.GRID["lambda_joint"] / (STEP / printed.TRIALS)
    half_off = max(abs(math.log(2 * mean)) for mean in halves.mean())
    return {
        "trials": rows["trial"].nunique(),
        "table": table,
        "distances": distances,
        "standard": standard,
        "nearest": {"b": b, "beta": beta, **few.loc[nearest]},
        "unmarked": {"b": unmarked[0], "beta": unmarked[1], **few.loc[unmarked]},
        "instability": pick(rows, **STANDARD)["instability_at_paper"].mean(),
        "subsamples": subsample_ratios(rows),
        "geometric_mean": geometric_mean,
        "odd": printed.GRID["lambda_joint"][~np.isclose(steps, steps.round(), rtol=1e-9, atol=0)],
        "halves": {rule: (ratios.mean(), half_width(ratios)) for rule, ratios in halves.items()},
        "verdicts": {
            "table": judge(standard.distance <= CLOSE, few.distance.min() <= CLOSE),
            "half": judge(half_off <= math.log(HALF_CLOSE), half_off <= math.log(HALF_NEAR)),
        },
    }


def draw(rows: pd.DataFrame) -> figures.Figure:
    """Draw λ against p for every P: the paper's, the standard choice, the nearest setting."""
    few = scan(rows).loc[STANDARD["B"]]
    b, beta = few.distance.idxmin()
    panels, sizes = rows["P"].unique(), sorted(rows["p"].unique())
    figure, grid = figures.new_figure(len(panels), size=(2.4 * len(panels) + 0.6, 3.2), sharey=True)
    aggregates = ["mean", half_width]
    ours = {
        f"StARS, b = {STANDARD['b']}, β = {STANDARD_BETA}": selected(rows, aggregate=aggregates),
        f"StARS, b = {b}, β = {beta} (nearest)": selected(rows, beta, aggregates, b=b),
        "node-wise (AND), chosen independently": selected(rows, aggregate=aggregates, method="nodewise-and"),
    }
    styles = (("#000000", "o", "-"), ("#D55E00", "s", "-"), ("#009E73", "D", "--"))
    for axes, P in zip(grid[0], panels, strict=True):
        paper = printed.GRID["lambda_joint"].xs(P, level="P")[sizes]
        axes.plot(sizes, paper, color="#0072B2", marker="^", linestyle=":", label="the paper (BMN & PLG)")
        for (text, found), (color, marker, line) in zip(ours.items(), styles, strict=True):
            y = found.xs(P, level="P").loc[sizes]
            style = {"color": color, "marker": marker, "linestyle": line, "capsize": 2}
            axes.errorbar(sizes, y["mean"], y["half_width"], label=text, **style)
        axes.set(title=f"P = {P}", xlabel="p", xticks=sizes)
        figures.log_axis(axes.yaxis)
    grid[0, 0].set_ylabel("λ (mean of the trials)")
    figures.add_legend(figure, grid[0, 0], columns=2)
    return figure
