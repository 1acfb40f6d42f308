"""Figure of Senate times: every method against λ, with its accuracy and its edges, BMN included."""

from __future__ import annotations

import sys

import numpy as np
from matplotlib.ticker import NullLocator

from isinglass import ising_path, nodewise_path
from isinglass.datasets import load_senate109
from paper import figures, markdown, published, study
from paper.contract import Cell, Claim, Config, Row, Verdict
from paper.data import Table
from paper.methods import Fit, time_fits
from paper.regressions import joint_accuracy, node_accuracy
from paper.summary import group, original, present, where

NAME = "senate_time"
TITLE = "Senate: computation time and accuracy"
VERSION = 3
TIMED = True

METHODS = ("isinglass", "isinglass-nodewise", "bmn", "bmn-plain", "plg", "plg-glmnet", "nlr", "nlr-glmnet")
NODEWISE = ("isinglass-nodewise", "nlr", "nlr-glmnet")
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
    alphas = (0.3, published.SENATE_LAMBDA) if config.quick else ALPHAS
    methods = [method for method in METHODS if method != "bmn-plain" or not config.quick]
    rounds = 1 if config.quick else 3
    return [{"alpha": alpha, "rounds": rounds, "methods": methods, "seed": config.seed} for alpha in alphas]


def run_cell(cell: Cell) -> list[Row]:
    """Time every method at one λ and compare what it returns with the certified optimum."""
    X, alpha = np.array(load_senate109().X), cell["alpha"]
    fits = time_fits(X, alpha, cell["methods"], rounds=cell["rounds"], slow=SLOW)
    joint = ising_path(X, [alpha], tol=1e-9)[0]
    nodes = nodewise_path(X, [alpha / 2], tol=1e-9)[0]
    rows = []
    for method, fit in fits.items():
        network = nodes if method in NODEWISE else joint
        rows.append({"alpha": alpha, "method": method, **describe(X, alpha, method, fit, network.couplings)})
    return rows


def describe(X: Table, alpha: float, method: str, fit: Fit, optimum: np.ndarray) -> Row:
    """Return time, iterations, accuracy and how many edges differ from the certified network's (NLR: rule AND)."""
    nodewise = method in NODEWISE
    found = (fit.theta != 0) & (fit.theta.T != 0)
    differs = np.triu(found != (optimum != 0), 1)
    excess, epsilon = (node_accuracy if nodewise else joint_accuracy)(X, fit.theta, alpha)
    return {
        "seconds": fit.seconds,
        "design_seconds": fit.design_seconds,
        "n_iter": fit.n_iter,
        "table_passes": fit.n_iter / (X.shape[1] if nodewise else 1),
        "converged": fit.converged,
        "rounds": fit.rounds,
        "n_edges": int(np.triu(found, 1).sum()),
        "n_different": int(differs.sum()),
        "excess": excess,
        "epsilon": epsilon,
    }


def run(config: Config) -> list[Row]:
    """Return the rows of all λ."""
    return study.run_item(sys.modules[__name__], config)


# ------------------------------------------------------------------------------------------- what the rows say


def ratios(rows: list[Row], one: str, two: str) -> dict[float, float]:
    """Return one method's time over the other's for every λ."""
    times = {method: {row["alpha"]: row["seconds"] for row in where(rows, method=method)} for method in (one, two)}
    return {alpha: times[one][alpha] / times[two][alpha] for alpha in times[one]}


def draw(rows: list[Row]) -> figures.Figure:
    """Draw time and distance to the optimum against λ."""
    figure, grid = figures.new_figure(2, size=(8.6, 4.2))
    panels = (("seconds", "seconds of one fit"), ("epsilon", "ε to the certified optimum"))
    for axes, (name, text) in zip(grid[0], panels, strict=True):
        for method in present(rows, METHODS):
            if name == "epsilon" and (method.endswith("-glmnet") or method.startswith("isinglass")):
                continue  # pass for pass the same as ours; and isinglass is the optimum
            found = where(rows, method=method)
            figures.draw_line(axes, method, [row["alpha"] for row in found], [row[name] for row in found])
        axes.axvline(published.SENATE_LAMBDA, color="#888888", linewidth=0.9, linestyle=":")
        axes.set(xscale="log", yscale="log", xlabel="λ", ylabel=text)
        alphas = list(group(rows, "alpha"))
        axes.set_xticks(alphas, labels=[f"{alpha:g}" for alpha in alphas])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.invert_xaxis()
    grid[0, 0].annotate(
        "the paper's λ",
        (published.SENATE_LAMBDA, 1.0),
        (3, -9),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        color="#555555",
        fontsize=8,
    )
    figures.add_legend(figure, grid[0, 0], columns=3)
    return figure


# ------------------------------------------------------------------------------------------- the page


def section(rows: list[Row]) -> str:
    """Return times by λ, and everything about the fits at the paper's λ."""
    lines = [
        [
            f"{alpha:g}",
            *(markdown.seconds(where(found, method=method)[0]["seconds"]) for method in present(rows, METHODS)),
        ]
        for alpha, found in group(rows, "alpha").items()
    ]
    times = markdown.table(["λ", *map(figures.label, present(rows, METHODS))], lines, text_columns=0)
    details = [
        [
            figures.label(row["method"]),
            markdown.seconds(row["seconds"]),
            row["n_iter"],
            "yes" if row["converged"] else "no",
            row["n_edges"],
            row["n_different"],
            markdown.number(max(row["excess"], 0.0), 2),
            markdown.number(row["epsilon"], 2),
        ]
        for row in where(rows, alpha=published.SENATE_LAMBDA)
    ]
    header = ["method", "time", "iterations", "converged", "edges", "other edges", "excess of F", "ε"]
    (n, p), rounds = load_senate109().X.shape, max(row["rounds"] for row in rows)
    return f"""\
One fit at a given λ of the table of {n} roll calls and {p} senators, median of up to {rounds} rounds in which the
methods take turns (one if a fit takes longer than {SLOW:g} s), one thread. {bmn_sentence(rows)}The paper's figure has
no printed numbers and its range of λ is not stated.

{times}
At λ = {published.SENATE_LAMBDA}: edges, how many of them differ from those of the certified optimum (of the joint
problem, or of node-wise regression with the rule AND), and the distance to that optimum: excess of the objective over
its minimum, relative to that of the network without edges, and ε of the parameters. Iterations are Newton steps for
isinglass, proximal steps for BMN and passes of coordinate descent for PLG and NLR (NLR: sum over the nodes).

{markdown.table(header, details)}
"""


def bmn_sentence(rows: list[Row]) -> str:
    """Say what the two measurements of BMN are; nothing where there is one."""
    if not where(rows, method="bmn-plain"):
        return ""
    return (
        "BMN is measured twice, with the same steps: in plain NumPy over all rows, as the R package that the paper had "
        "computes them, and with our kernels, which merge equal rows. "
    )


def claims(rows: list[Row]) -> list[Claim]:
    """Judge the comparison with NLR, and that BMN takes too long."""
    return [judge_nlr(rows), judge_bmn(rows)]


def judge_nlr(rows: list[Row]) -> Claim:
    """Compare PLG with NLR at every λ."""
    plg, nlr = original(rows, "plg"), original(rows, "nlr")
    found = ratios(rows, plg, nlr)
    at, low, high = found[published.SENATE_LAMBDA], min(found.values()), max(found.values())
    inside = {factor: all(1 / factor <= value <= factor for value in found.values()) for factor in (EQUAL, REMARKABLE)}
    near = 1 / EQUAL <= at <= EQUAL
    verdict = Verdict.REPRODUCED if inside[EQUAL] else Verdict.REMARK if near or inside[REMARKABLE] else Verdict.NOT
    finding = (
        f"{figures.label(plg)} takes {at:.2g} times as long as {figures.label(nlr)} at λ = {published.SENATE_LAMBDA}, "
        f"and between {low:.2g} and {high:.2g} times over the range."
    )
    if plg != "plg":
        compiled = ratios(rows, "plg", "nlr")
        finding += (
            f" Re-implemented, with compiled code throughout, PLG takes {compiled[published.SENATE_LAMBDA]:.2g} times "
            f"as long as NLR there, and between {min(compiled.values()):.2g} and {max(compiled.values()):.2g} times "
            "over the range."
        )
    rule = (
        f"reproduced if the times are within a factor of {EQUAL:g} at every λ, with a remark if they are at the "
        f"paper's λ, or within {REMARKABLE:g} everywhere, else not. Both with glmnet in R where it was measured."
    )
    return Claim(
        "On the Senate PLG takes almost the same time as NLR", "Figure of Senate times", verdict, finding, rule
    )


def judge_bmn(rows: list[Row]) -> Claim:
    """Ask what BMN would have taken."""
    plg, at = original(rows, "plg"), published.SENATE_LAMBDA
    bmn = "bmn-plain" if where(rows, method="bmn-plain") else "bmn"
    row, found = where(rows, method=bmn, alpha=at)[0], ratios(rows, bmn, plg)
    stuck = sum(not entry["converged"] for entry in where(rows, method=bmn))
    worst = max(found.values())
    verdict = Verdict.REPRODUCED if found[at] >= TOO_SLOW else Verdict.REMARK if worst > 2 or stuck else Verdict.NOT
    finding = (
        f"At λ = {at} {figures.label(bmn)} takes {markdown.seconds(row['seconds'])}, {found[at]:.2g} times as long as "
        f"{figures.label(plg)}, and up to {worst:.2g} times over the range; at {stuck} of {len(found)} λ it used up "
        f"its steps. Its ε at {at} is {markdown.number(row['epsilon'], 2)}, that of PLG "
        f"{markdown.number(where(rows, method='plg', alpha=at)[0]['epsilon'], 2)}. "
    )
    if bmn == "bmn-plain":
        fast = where(rows, method="bmn", alpha=at)[0]["seconds"]
        finding += (
            f"With our kernels the same steps take {markdown.seconds(fast)}, {ratios(rows, 'bmn', plg)[at]:.2g} times "
            "as long as PLG."
        )
    rule = (
        f"reproduced if BMN, in plain NumPy over all rows where that was measured, takes at least {TOO_SLOW:g} times "
        "as long as PLG at the paper's λ, with a remark if it takes more than twice as long at some λ or uses up its "
        "steps at one, else not."
    )
    return Claim("BMN takes too long for the Senate table", "Section on real data", verdict, finding, rule)
