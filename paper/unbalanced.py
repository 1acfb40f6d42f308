"""Figure of unbalanced data: time, passes and convergence against λ where nodes are nearly constant.

One node with θ_11 = 5 is the paper's design, and what the verdicts are about; five such nodes are a harder case.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from paper import figures, imbalance, markdown, page, published, study
from paper.contract import Cell, Claim, Config, Row, Verdict
from paper.imbalance import DATA, drop_constant, make_table, minorities
from paper.methods import time_fits
from paper.regressions import FEWEST
from paper.summary import column, group, original, present, where

NAME = "unbalanced"
TITLE = "Learning from unbalanced data"
VERSION = 2
TIMED = True

METHODS = ("isinglass", "isinglass-nodewise", "plg", "plg-glmnet", "nlr", "nlr-glmnet")
NODEWISE = ("isinglass-nodewise", "nlr", "nlr-glmnet")
PAPER, SEVERAL = "paper", "5 rare"
KINDS = {PAPER: "one rare node (the paper's design)", SEVERAL: "five rare nodes"}
SEVERAL_TRIALS = 10
ALPHAS = tuple(float(f"{alpha:.3g}") for alpha in np.geomspace(1e-1, 1e-5, 9))
DECAY = 2.0
"""A method slows down if it takes this many times as long at the smallest λ as at the largest."""


def cells(config: Config) -> list[Cell]:
    """Return one cell per table and λ; with five rare nodes fewer tables and every other λ, as NLR takes long there."""
    wanted = {PAPER: (published.TRIALS, ALPHAS), SEVERAL: (SEVERAL_TRIALS, ALPHAS[::2])}
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
    facts = {"n_constant": n_constant, "minority": int(few.min())}
    rows = []
    for method, fit in time_fits(table, cell["alpha"], METHODS).items():
        refused = int((few < FEWEST).sum()) if method == "nlr-glmnet" else 0
        regressions = table.shape[1] if method in NODEWISE else 1
        measured = {"seconds": fit.seconds, "n_iter": fit.n_iter, "table_passes": fit.n_iter / regressions}
        key = {name: cell[name] for name in ("data", "trial", "alpha")}
        flags = {"n_refused": refused, "converged": fit.converged, "rounds": fit.rounds}
        rows.append({**key, **facts, "method": method, **measured, **flags})
    return rows


def run(config: Config) -> list[Row]:
    """Return the rows of all tables."""
    return study.run_item(sys.modules[__name__], config)


# ------------------------------------------------------------------------------------------- what the rows say


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
    """Return the ratio of the mean times of two methods."""
    return mean_by_alpha(rows, one, "seconds")[alpha] / mean_by_alpha(rows, two, "seconds")[alpha]


def draw(rows: list[Row]) -> figures.Figure:
    """Draw time, passes over the table and the share of tables on which all converged, for both kinds of tables."""
    kinds = [data for data in KINDS if where(rows, data=data)]
    figure, grid = figures.new_figure(3, len(kinds), size=(10.2, 2.9 * len(kinds) + 0.7))
    for line, data in zip(grid, kinds, strict=True):
        draw_kind(line, where(rows, data=data), KINDS[data])
    figures.add_legend(figure, grid[0, 0], columns=3)
    return figure


def draw_kind(line: Any, rows: list[Row], text: str) -> None:
    """Draw the three panels of one kind of tables."""
    panels = {
        "seconds": f"{text}:\nseconds (mean)",
        "table_passes": "passes over the table (mean;\nNewton steps for isinglass)",
        "converged": "tables with all regressions converged (%)\n(refused nodes not counted)",
    }
    for axes, (name, label) in zip(line, panels.items(), strict=True):
        for method in present(rows, METHODS):
            found = mean_by_alpha(rows, method, name)
            if name == "converged":
                found = {alpha: 100 * value for alpha, value in found.items()}
            else:  # where nothing enters the network there is nothing to iterate
                found = {alpha: value for alpha, value in found.items() if value > 0}
            figures.draw_line(axes, method, list(found), list(found.values()))
        axes.set(xscale="log", xlabel="λ", ylabel=label)
        axes.set(**({"ylim": (-4, 106)} if name == "converged" else {"yscale": "log"}))
        axes.invert_xaxis()


# ------------------------------------------------------------------------------------------- the page


def section(rows: list[Row]) -> str:
    """Return the times and passes by λ, and what glmnet refuses."""
    paper, several = (where(rows, data=data) for data in (PAPER, SEVERAL))
    trials = {row["trial"]: row for row in paper}
    rare = sorted(row["minority"] for row in trials.values())
    return f"""\
The paper's design: p = 10, P = 0.3, N = {published.N_SAMPLES}, θ_11 = 5, {len(trials)} tables. The first node then
differs from 1 in {rare[0]} to {rare[-1]} of the {published.N_SAMPLES} rows (median {int(np.median(rare))}).
{refused_sentence(paper)}A pass over the table is one visit to every coefficient of every node: a pass of the stacked
regression, or one pass of each of the p regressions of NLR. Times are means over the tables, as in the paper.

{time_table(paper)}
Passes over the table (Newton steps for isinglass):

{pass_table(paper)}
The verdicts below are about these tables. Those with five nodes of θ_ss = 5 ({len(group(several, "trial"))} tables) are
not the paper's: they were added after a first trial with one rare node had shown no slow-down, to see what it takes.
Seconds:

{time_table(several)}
Passes over the table:

{pass_table(several)}
"""


def refused_sentence(rows: list[Row]) -> str:
    """Say what glmnet would not fit; nothing where it was not run."""
    if not where(rows, method="nlr-glmnet"):
        return ""
    refused = len({row["trial"] for row in rows if row["n_refused"]})
    return (
        "glmnet refuses a response one of whose values occurs in fewer than two rows, so that NLR in R lacks a node on "
        f"{refused} of these tables; PLG does not notice. "
    )


def time_table(rows: list[Row]) -> str:
    """Return mean seconds by λ."""
    return table_of_means(rows, "seconds", markdown.seconds)


def pass_table(rows: list[Row]) -> str:
    """Return mean passes over the table by λ."""
    return table_of_means(rows, "table_passes", "{:.1f}".format)


def table_of_means(rows: list[Row], name: str, show: Callable[[float], str]) -> str:
    """Return the mean of a column for every λ and method."""
    methods = present(rows, METHODS)
    means = {method: mean_by_alpha(rows, method, name) for method in methods}
    lines = [
        [markdown.number(alpha), *(show(means[method][alpha]) for method in methods)] for alpha in group(rows, "alpha")
    ]
    return markdown.table(["λ", *map(figures.label, methods)], lines, text_columns=0)


def claims(rows: list[Row]) -> list[Claim]:
    """Judge the two curves of the paper's figure and where they meet, all on the paper's own design."""
    return [judge_nlr(rows), judge_plg(rows), judge_large(rows)]


WHERE = "Sections on unbalanced data, figure"
CAUSES = f"Conditions, accuracy and causes: [{imbalance.TITLE}](#{page.anchor(imbalance.TITLE)})."


def stuck(rows: list[Row], method: str) -> int:
    """Return the number of fits that did not meet the method's stopping rule."""
    return sum(not row["converged"] for row in where(rows, method=method))


def compiled(rows: list[Row], alpha: float, one: str, two: str) -> str:
    """Return the ratio of the times with our compiled code, as an aside; nothing where it is that already."""
    plain = [method.removesuffix("-glmnet") for method in (one, two)]
    return f" ({ratio_at(rows, alpha, *plain):.2g} times if both are re-implemented)" if plain[0] != one else ""


def compare(rows: list[Row], one: str, two: str) -> str:
    """Say how the time of a method changes with λ and compares with another's, in seconds, in passes, and compiled."""
    small = min(row["alpha"] for row in rows)
    passes = [mean_by_alpha(rows, method, "table_passes")[small] for method in (one, two)]
    return (
        f"its mean time at the smallest λ is {growth(rows, one):.2g} times that at the largest; at λ = {small:g} it "
        f"takes {ratio_at(rows, small, one, two):.2g} times as long as "
        f"{figures.label(two)}{compiled(rows, small, one, two)}, with "
        f"{markdown.number(passes[0])} against {markdown.number(passes[1])} passes over the table; "
        f"{markdown.share(stuck(rows, one), len(where(rows, method=one)))} fits did not converge"
    )


def judge_nlr(rows: list[Row]) -> Claim:
    """Ask whether NLR slows down as λ falls, or fails."""
    nlr, plg = original(rows, "nlr"), original(rows, "plg")
    paper, several = (where(rows, data=data) for data in (PAPER, SEVERAL))
    slows, slower = growth(paper, nlr) >= DECAY, ratio_at(paper, min(row["alpha"] for row in paper), nlr, plg) > 1
    partly = slows or slower or stuck(paper, nlr) > 0
    verdict = Verdict.REPRODUCED if slows and slower else Verdict.REMARK if partly else Verdict.NOT
    finding = (
        f"{figures.label(nlr)} on the paper's design: {compare(paper, nlr, plg)}. With five rare nodes, which the "
        f"verdict leaves out: {compare(several, nlr, plg)}. {CAUSES}"
    )
    rule = (
        f"reproduced if on the paper's design NLR takes at least {DECAY:g} times as long at the smallest λ as at the "
        "largest, and longer than PLG there; with a remark if one of the two holds or a fit does not converge; else "
        "not. Means over tables; nodes that glmnet refuses are not counted."
    )
    text = "NLR is extremely slow on unbalanced data with small λ and may fail to converge"
    return Claim(text, WHERE, verdict, finding, rule)


def judge_plg(rows: list[Row]) -> Claim:
    """Ask whether PLG is stable and stays fast as λ falls."""
    nlr, plg = original(rows, "nlr"), original(rows, "plg")
    paper, several = (where(rows, data=data) for data in (PAPER, SEVERAL))
    small = min(row["alpha"] for row in paper)
    parts = [not stuck(paper, plg), growth(paper, plg) < DECAY, ratio_at(paper, small, plg, nlr) < 1]
    verdict = Verdict.REPRODUCED if all(parts) else Verdict.REMARK if sum(parts) == 2 else Verdict.NOT
    finding = (
        f"{figures.label(plg)} on the paper's design: {compare(paper, plg, nlr)}. With five rare nodes, which the "
        f"verdict leaves out: {compare(several, plg, nlr)}. isinglass, which solves the same problem, takes "
        f"{markdown.number(ratio_at(paper, small, 'isinglass', plg), 2)} times as long as PLG on the paper's design. "
        f"{CAUSES}"
    )
    rule = (
        "reproduced if on the paper's design every fit of PLG meets its stopping rule, its time grows by less than a "
        f"factor of {DECAY:g} from the largest to the smallest λ, and it is shorter than NLR's there; with a remark if "
        "two of the three hold; else not. Means over tables."
    )
    text = "PLG is stable on unbalanced data with small λ, keeps its efficiency and outperforms NLR"
    return Claim(text, WHERE, verdict, finding, rule)


def judge_large(rows: list[Row]) -> Claim:
    """Compare the two at the largest λ."""
    nlr, plg = original(rows, "nlr"), original(rows, "plg")
    large = max(row["alpha"] for row in rows)
    paper = where(rows, data=PAPER)
    found = ratio_at(paper, large, plg, nlr)
    verdict = Verdict.REPRODUCED if 1 / 2 <= found <= 2 else Verdict.REMARK if 1 / 5 <= found <= 5 else Verdict.NOT
    finding = (
        f"At λ = {large:g} {figures.label(plg)} takes {found:.2g} times as long as "
        f"{figures.label(nlr)}{compiled(paper, large, plg, nlr)}."
    )
    rule = "reproduced if the ratio of the times is within a factor of 2, with a remark within 5, else not."
    return Claim("At large λ the two take about the same time", "Section on unbalanced data", verdict, finding, rule)
