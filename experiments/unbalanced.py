"""Figure of unbalanced data: time, passes and convergence against λ where one node is nearly constant (θ_11 = 5)."""

from __future__ import annotations

import sys

import numpy as np

from experiments import figures, markdown, published, study
from experiments.contract import Cell, Claim, Config, Row, Verdict
from experiments.data import paper_table
from experiments.imbalance import drop_constant, minorities
from experiments.methods import time_fits
from experiments.summary import column, geometric_mean, group, where

NAME = "unbalanced"
TITLE = "Learning from unbalanced data"
VERSION = 1
TIMED = True

METHODS = ("isinglass", "isinglass-nodewise", "plg", "plg-glmnet", "nlr", "nlr-glmnet")
NODEWISE = ("isinglass-nodewise", "nlr", "nlr-glmnet")
SIZE, PROBABILITY = 10, 0.3
ALPHAS = tuple(float(f"{alpha:.3g}") for alpha in np.geomspace(1e-1, 1e-5, 9))
DECAY = 2.0
"""A method slows down if it takes this many times as long at the smallest λ as at the largest."""


def cells(config: Config) -> list[Cell]:
    """Return one cell per table and λ."""
    alphas = ALPHAS[::4] if config.quick else ALPHAS
    trials = 2 if config.quick else published.TRIALS
    return [{"trial": trial, "alpha": alpha, "seed": config.seed} for trial in range(trials) for alpha in alphas]


def run_cell(cell: Cell) -> list[Row]:
    """Time every method on one table at one λ; constant columns are left out, as every method leaves them out."""
    _, table = paper_table(SIZE, PROBABILITY, cell["trial"], cell["seed"], unbalanced=True)
    table, n_constant = drop_constant(table)
    few = minorities(table)
    key = {"trial": cell["trial"], "alpha": cell["alpha"], "n_constant": n_constant, "minority": int(few.min())}
    rows = []
    for method, fit in time_fits(table, cell["alpha"], METHODS).items():
        refused = int((few < 2).sum()) if method == "nlr-glmnet" else 0  # glmnet's rule for a binary response
        regressions = table.shape[1] if method in NODEWISE else 1
        measured = {"seconds": fit.seconds, "n_iter": fit.n_iter, "table_passes": fit.n_iter / regressions}
        rows.append({**key, "method": method, **measured, "n_refused": refused, "converged": fit.converged})
    return rows


def run(config: Config) -> list[Row]:
    """Return the rows of all tables."""
    return study.run_item(sys.modules[__name__], config)


# ------------------------------------------------------------------------------------------- what the rows say


def present(rows: list[Row]) -> list[str]:
    """Return the methods that were measured."""
    return [method for method in METHODS if where(rows, method=method)]


def original(rows: list[Row], method: str) -> str:
    """Return the method as the paper ran it, with glmnet in R, where that was measured."""
    return f"{method}-glmnet" if where(rows, method=f"{method}-glmnet") else method


def mean_by_alpha(rows: list[Row], method: str, name: str) -> dict[float, float]:
    """Return the mean of a column over the trials for every λ, as the paper averages."""
    return {
        alpha: float(np.mean(column(found, name)))
        for alpha, found in group(where(rows, method=method), "alpha").items()
    }


def growth(rows: list[Row], method: str, name: str = "seconds") -> float:
    """Return the mean at the smallest λ over that at the largest."""
    means = mean_by_alpha(rows, method, name)
    return means[min(means)] / means[max(means)]


def ratio_at(rows: list[Row], alpha: float, one: str, two: str) -> float:
    """Return the geometric mean over tables of one method's time over the other's."""
    first, second = (
        {row["trial"]: row["seconds"] for row in where(rows, alpha=alpha, method=method)} for method in (one, two)
    )
    return geometric_mean(first[trial] / second[trial] for trial in first if trial in second)


def draw(rows: list[Row]) -> figures.Figure:
    """Draw time, passes over the table and the share of fits that met their stopping rule, against λ."""
    figure, grid = figures.new_figure(3, size=(10.2, 3.6))
    panels = (("seconds", "seconds (mean of the trials)"), ("table_passes", "passes over the table (mean)"))
    for axes, (name, text) in zip(grid[0], panels, strict=False):
        for method in present(rows):
            found = mean_by_alpha(rows, method, name)
            figures.draw_line(axes, method, list(found), list(found.values()))
        axes.set(xscale="log", yscale="log", xlabel="λ", ylabel=text)
        axes.invert_xaxis()
    axes = grid[0, 2]
    for method in present(rows):
        found = group(where(rows, method=method), "alpha")
        shares = [100 * np.mean(column(trials, "converged")) for trials in found.values()]
        figures.draw_line(axes, method, list(found), shares)
    axes.set(xscale="log", xlabel="λ", ylabel="tables with all regressions converged (%)", ylim=(-3, 105))
    axes.invert_xaxis()
    grid[0, 1].set_title("Newton steps for isinglass", fontsize=8, color="#555555")
    figures.add_legend(figure, grid[0, 0], columns=3)
    return figure


# ------------------------------------------------------------------------------------------- the page


def section(rows: list[Row]) -> str:
    """Return the times and passes by λ, and what glmnet refuses."""
    trials = {row["trial"]: row for row in rows}
    rare = sorted(row["minority"] for row in trials.values())
    refused = len({row["trial"] for row in rows if row["n_refused"]})
    constant = sum(row["n_constant"] > 0 for row in trials.values())
    note = (
        " glmnet refuses a response one of whose values occurs in fewer than two rows, so that NLR in R lacks a node "
        f"on {refused} of these tables; PLG does not notice."
        if where(rows, method="nlr-glmnet")
        else ""
    )
    return f"""\
The paper's design: p = {SIZE}, P = {PROBABILITY}, N = {published.N_SAMPLES}, θ_11 = 5, {len(trials)} tables. The first
node then differs from 1 in {rare[0]} to {rare[-1]} of the {published.N_SAMPLES} rows (median
{int(np.median(rare))}){f", in {constant} tables in none: that column is left out" if constant else ""}.{note} A pass
over the table is one visit to every coefficient of every node: a pass of the stacked regression, or one pass of each of
the p regressions of NLR. Times are means over the tables, as in the paper.

{time_table(rows)}
Passes over the table (Newton steps for isinglass):

{pass_table(rows)}
"""


def time_table(rows: list[Row]) -> str:
    """Return mean seconds by λ."""
    lines = [
        [markdown.number(alpha), *(markdown.seconds(mean_by_alpha(found, m, "seconds")[alpha]) for m in present(rows))]
        for alpha, found in group(rows, "alpha").items()
    ]
    return markdown.table(["λ", *map(figures.label, present(rows))], lines, text_columns=0)


def pass_table(rows: list[Row]) -> str:
    """Return mean passes over the table by λ."""
    lines = [
        [markdown.number(alpha), *(f"{mean_by_alpha(found, m, 'table_passes')[alpha]:.1f}" for m in present(rows))]
        for alpha, found in group(rows, "alpha").items()
    ]
    return markdown.table(["λ", *map(figures.label, present(rows))], lines, text_columns=0)


def claims(rows: list[Row]) -> list[Claim]:
    """Judge the two curves of the paper's figure and where they meet."""
    return [judge_nlr(rows), judge_plg(rows), judge_large(rows)]


def judge_nlr(rows: list[Row]) -> Claim:
    """Ask whether NLR slows down as λ falls."""
    nlr, plg = original(rows, "nlr"), original(rows, "plg")
    slower, passes = growth(rows, nlr), growth(rows, nlr, "table_passes")
    small = min(row["alpha"] for row in rows)
    against = ratio_at(rows, small, nlr, plg)
    slow = slower >= DECAY
    verdict = Verdict.REPRODUCED if slow and against > 1 else Verdict.REMARK if slow else Verdict.NOT
    finding = (
        f"From the largest to the smallest λ the time of {figures.label(nlr)} changes by a factor of {slower:.2g} and "
        f"its passes by {passes:.2g}; at λ = {small:g} it takes {against:.2g} times as long as {figures.label(plg)}. "
        "What grows is the regression of the rare node, one of ten; see the next section for when that matters."
    )
    rule = (
        f"reproduced if NLR takes at least {DECAY:g} times as long at the smallest λ as at the largest and longer than "
        "PLG there, with a remark if its own time grows by that factor, else not."
    )
    where_ = "Section on unbalanced data, its figure"
    return Claim("On unbalanced data NLR slows down as λ falls", where_, verdict, finding, rule)


def judge_plg(rows: list[Row]) -> Claim:
    """Ask whether PLG stays fast as λ falls."""
    nlr, plg = original(rows, "nlr"), original(rows, "plg")
    slower, passes = growth(rows, plg), growth(rows, plg, "table_passes")
    small = min(row["alpha"] for row in rows)
    against = ratio_at(rows, small, plg, nlr)
    verdict = Verdict.NOT if against >= 1 else Verdict.REPRODUCED if slower < DECAY else Verdict.REMARK
    finding = (
        f"From the largest to the smallest λ the time of {figures.label(plg)} grows by a factor of {slower:.2g}, its "
        f"passes by {passes:.2g}; at λ = {small:g} it takes {against:.2g} times as long as {figures.label(nlr)}, and "
        f"{ratio_at(rows, small, plg, 'isinglass'):.2g} times as long as isinglass, which solves the same problem."
    )
    rule = (
        f"not reproduced if PLG takes longer than NLR at the smallest λ; else reproduced if its own time grows by less "
        f"than a factor of {DECAY:g}, with a remark if by more."
    )
    where_ = "Section on unbalanced data, its figure"
    return Claim(
        "On unbalanced data PLG keeps its speed as λ falls and outperforms NLR", where_, verdict, finding, rule
    )


def judge_large(rows: list[Row]) -> Claim:
    """Compare the two at the largest λ."""
    nlr, plg = original(rows, "nlr"), original(rows, "plg")
    large = max(row["alpha"] for row in rows)
    found = ratio_at(rows, large, plg, nlr)
    verdict = Verdict.REPRODUCED if 1 / 2 <= found <= 2 else Verdict.REMARK if 1 / 5 <= found <= 5 else Verdict.NOT
    finding = f"At λ = {large:g} {figures.label(plg)} takes {found:.2g} times as long as {figures.label(nlr)}."
    rule = "reproduced if the ratio of the times is within a factor of 2, with a remark within 5, else not."
    return Claim("At large λ the two take about the same time", "Section on unbalanced data", verdict, finding, rule)
