"""Figure of ROC curves: how well each method finds the edges of networks with 15 nodes."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from isinglass import ising_path
from isinglass.evaluate.metrics import roc_curve
from isinglass.solve.published import baselines
from isinglass.solve.published.glm import logistic_path
from paper import figures, markdown, published, study
from paper.contract import Cell, Claim, Config, Row, Verdict
from paper.data import Table, paper_table
from paper.summary import Mean, column, group, mean_of, where

NAME = "roc"
TITLE = "Structure estimation"
VERSION = 1
TIMED = False

P_NODES = 15
GRID = np.geomspace(0.4, 0.0004, 60)
"""Joint penalties; node-wise methods get half of each."""
PLACES = np.linspace(0.0, 1.0, 41)
"""False positive rates at which a curve is kept."""
METHODS = ("bmn", "plg", "nlr-and", "nlr-or", "isinglass")
NEAR = 0.01
"""Difference of mean AUC up to which two methods are nearly equal."""


def cells(config: Config) -> list[Cell]:
    """Return one cell per table."""
    probabilities = published.PROBABILITIES[:1] if config.quick else published.PROBABILITIES
    return [
        {"p": P_NODES, "P": probability, "trial": trial, "seed": config.seed, "n_alphas": 20 if config.quick else 60}
        for probability in probabilities
        for trial in range(2 if config.quick else published.TRIALS)
    ]


def run_cell(cell: Cell) -> list[Row]:
    """Follow every method along the penalties on one table."""
    model, table = paper_table(cell["p"], cell["P"], cell["trial"], cell["seed"])
    alphas = np.geomspace(GRID[0], GRID[-1], cell["n_alphas"])
    key = {"P": cell["P"], "trial": cell["trial"], "n_edges": model.n_edges}
    rows = []
    for method, networks in follow(table, alphas).items():
        curve = roc_curve(networks, model)
        # The highest point at each rate: where a curve rises straight up, all of it counts.
        heights = [float(np.interp(place, *upper_hull_of_steps(curve.fpr, curve.tpr))) for place in PLACES]
        kept = {f"tpr_{place:.3f}": height for place, height in zip(PLACES, heights, strict=True)}
        rows.append({**key, "method": method, "auc": curve.auc, "n_edges_last": edges_of(networks[-1]), **kept})
    return rows


def follow(table: Table, alphas: NDArray[np.float64]) -> dict[str, list]:
    """Return the networks of every method, from sparse to dense."""
    nodes = follow_nodes(table, alphas)
    return {
        "bmn": list(baselines.bmn(table, alphas)),
        "plg": list(baselines.plg(table, alphas)),
        "nlr-and": [merge(theta, both=True) for theta in nodes],
        "nlr-or": [merge(theta, both=False) for theta in nodes],
        "isinglass": list(ising_path(table, alphas, n_threads=1)),
    }


def follow_nodes(table: Table, alphas: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the coefficients of one regression per node along the penalties, by glmnet's algorithm."""
    p = table.shape[1]
    found = np.zeros((len(alphas), p, p))
    for s in range(p):
        path = logistic_path(np.delete(table, s, axis=1), table[:, s], alphas / 2)
        found[:, s] = np.insert(path.coefficients, s, 0.0, axis=1)
    return found


def merge(coefficients: NDArray[np.float64], *, both: bool) -> NDArray[np.float64]:
    """Return the network of the pairs that both regressions found, or that one did."""
    there = coefficients != 0
    return (there & there.T if both else there | there.T).astype(float)


def edges_of(network: object) -> int:
    """Return the number of edges."""
    return int(np.count_nonzero(network)) // 2 if isinstance(network, np.ndarray) else network.n_edges


def upper_hull_of_steps(
    fpr: NDArray[np.float64], tpr: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the curve with one point per false positive rate, the highest."""
    rates = np.unique(fpr)
    return rates, np.array([tpr[fpr == rate].max() for rate in rates])


def run(config: Config) -> list[Row]:
    """Return the rows of all tables."""
    return study.run_item(sys.modules[__name__], config)


# ------------------------------------------------------------------------------------------- what the rows say


def auc(rows: list[Row], method: str, probability: float) -> Mean:
    """Return the mean area under the curve with its confidence interval."""
    return mean_of(column(where(rows, method=method, P=probability), "auc"))


def difference(rows: list[Row], method: str, other: str, probability: float) -> Mean:
    """Return the mean of the paired differences of the areas, table by table."""
    one, two = (
        {row["trial"]: row["auc"] for row in where(rows, method=name, P=probability)} for name in (method, other)
    )
    return mean_of(one[trial] - two[trial] for trial in one)


def draw(rows: list[Row]) -> figures.Figure:
    """Draw the mean curves, one panel for each P."""
    panels = list(group(rows, "P"))
    figure, grid = figures.new_figure(len(panels), size=(2.5 * len(panels) + 0.6, 3.5), sharey=True)
    names = [f"tpr_{place:.3f}" for place in PLACES]
    # The joint methods coincide: wide, narrow and dashed lines let one see all three.
    looks = {"bmn": {"linewidth": 5.0, "alpha": 0.45}, "plg": {"linewidth": 2.6}, "isinglass": {"linestyle": ":"}}
    for axes, probability in zip(grid[0], panels, strict=True):
        axes.plot([0, 1], [0, 1], color="#bbbbbb", linewidth=0.8)
        for method in METHODS:
            found = where(rows, method=method, P=probability)
            means = [np.mean(column(found, name)) for name in names]
            figures.draw_line(axes, method, PLACES, means, marker="", **looks.get(method, {}))
        axes.set(title=f"P = {probability}", xlabel="false positive rate", xlim=(0, 1), ylim=(0, 1.01), aspect="equal")
    grid[0, 0].set_ylabel("true positive rate")
    figures.add_legend(figure, grid[0, 0], columns=5)
    return figure


# ------------------------------------------------------------------------------------------- the page


def section(rows: list[Row]) -> str:
    """Return the areas under the curves with confidence intervals."""
    trials = len({row["trial"] for row in rows})
    lines = [
        [figures.label(method), *(show(auc(rows, method, probability)) for probability in group(rows, "P"))]
        for method in METHODS
    ]
    table = markdown.table(["AUC", *(f"P = {probability}" for probability in group(rows, "P"))], lines)
    return f"""\
Networks with p = {P_NODES} nodes, N = {published.N_SAMPLES}; a curve runs along λ from {GRID[0]:g} down to {GRID[-1]:g}
and ends in (1, 1). Area under the curve, mean of {trials} tables with 95 % confidence interval; curves in the figure
are means of the true positive rate at equal false positive rates. They use what each method returned, whether or not
it met its own stopping rule.

{table}
PLG, BMN and isinglass solve the same problem, so that their curves differ by stopping rules only: the largest
difference between PLG's and isinglass's AUC on a table is {largest(rows, "plg"):.1e}, between BMN's and isinglass's
{largest(rows, "bmn"):.1e}.
"""


def show(value: Mean) -> str:
    """Return a mean with its interval."""
    return f"{value.mean:.3f} ± {value.half_width:.3f}"


def largest(rows: list[Row], method: str) -> float:
    """Return the largest difference of AUC from isinglass on one table."""
    ours = {(row["P"], row["trial"]): row["auc"] for row in where(rows, method="isinglass")}
    return max(abs(row["auc"] - ours[row["P"], row["trial"]]) for row in where(rows, method=method))


def claims(rows: list[Row]) -> list[Claim]:
    """Judge whether the curves are nearly equal."""
    names = [name for name in METHODS if name != "isinglass"]
    found = {
        (a, b, probability): difference(rows, a, b, probability)
        for probability in group(rows, "P")
        for k, a in enumerate(names)
        for b in names[:k]
        if not (a.startswith("nlr") and b.startswith("nlr"))  # two readings of one method
    }
    a, b, probability = worst = max(found, key=lambda key: abs(found[key].mean))
    size = abs(found[worst].mean)
    verdict = Verdict.REPRODUCED if size <= NEAR else Verdict.REMARK if size <= 5 * NEAR else Verdict.NOT
    finding = (
        f"The largest difference of mean AUC between two of the methods is {size:.4f} ± {found[worst].half_width:.4f} "
        f"({figures.label(a)} against {figures.label(b)}, P = {probability})."
    )
    rule = (
        f"reproduced if no two of BMN, PLG and NLR (AND and OR, each against the others) differ by more than {NEAR} in "
        f"mean AUC for any P, with a remark up to {5 * NEAR}, else not."
    )
    return [
        Claim("The ROC curves of all three methods are nearly equal", "Figure of ROC curves", verdict, finding, rule)
    ]
