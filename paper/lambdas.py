"""Table of λ: what StARS selects on the paper's grid, joint and node-wise, and which of its settings come nearest.

The paper does not say how StARS was set up. One run of it gives the choice for every instability threshold β, so that
β is a column here, and the size b and the number B of the subsamples are rows.
"""

from __future__ import annotations

import functools
import math
import sys
from typing import Any

import numpy as np

from isinglass import ising_path, nodewise_path, stars
from isinglass.results import Stability
from paper import figures, markdown, published, study
from paper.contract import Cell, Claim, Config, Row, Verdict
from paper.data import paper_table
from paper.summary import Mean, column, geometric_mean, group, mean_of, where

NAME = "lambdas"
TITLE = "λ selected by StARS"
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


def cells(config: Config) -> list[Cell]:
    """Return one cell per table."""
    sizes = published.SIZES[:2] if config.quick else published.SIZES
    probabilities = published.PROBABILITIES[1:3] if config.quick else published.PROBABILITIES
    trials = 2 if config.quick else published.TRIALS
    return [
        {
            "p": p,
            "P": probability,
            "trial": trial,
            "seed": config.seed,
            "many": trial < MANY_TRIALS and not config.quick,
        }
        for p in sizes
        for probability in probabilities
        for trial in range(trials)
    ]


def run_cell(cell: Cell) -> list[Row]:
    """Run StARS on one table with every setting."""
    _, table = paper_table(cell["p"], cell["P"], cell["trial"], cell["seed"])
    key = {name: cell[name] for name in ("p", "P", "trial")}
    target = published.value(published.LAMBDA_JOINT, cell["p"], cell["P"])
    settings = [*SCAN, *(MANY if cell["many"] else ()), *NODEWISE]
    return [{**key, **setting, **choose(table, setting, target, cell["seed"])} for setting in settings]


def choose(table: Any, setting: dict[str, Any], target: float, seed: int) -> dict[str, float]:
    """Return λ for every β, and how unstable the paper's λ is."""
    joint = setting["method"] == "joint"
    rule = setting["method"].removeprefix("nodewise-")
    function = ising_path if joint else functools.partial(nodewise_path, rule=rule)
    grid = GRID if joint else GRID / 2
    found = stars(
        table,
        alphas=grid,
        n_subsamples=setting["B"],
        subsample_size=setting["b"],
        bounded=False,
        path_function=function,
        random_state=seed,
        n_jobs=1,
        progress=False,
    )
    nearest = int(np.abs(np.log(grid / (target if joint else target / 2))).argmin())
    chosen = {f"beta_{beta}": select(found, beta) for beta in BETAS}
    return {**chosen, "instability_at_paper": float(found.instability[nearest])}


def select(found: Stability, beta: float) -> float:
    """Return the smallest λ before the instability first exceeds β: the end of the grid if it never does."""
    return float(found.alphas[max(int((found.monotone <= beta).sum()) - 1, 0)])


def run(config: Config) -> list[Row]:
    """Return the rows of all tables."""
    return study.run_item(sys.modules[__name__], config)


# ------------------------------------------------------------------------------------------- what the rows say


def selected(rows: list[Row], beta: float = STANDARD_BETA, **setting: Any) -> dict[tuple[int, float], Mean]:
    """Return the mean of λ over the trials for every (p, P); other items fit at these."""
    wanted = where(rows, **(STANDARD | setting))
    return {key: mean_of(column(found, f"beta_{beta}")) for key, found in group(wanted, "p", "P").items()}


def both_lambdas(config: Config) -> dict[tuple[int, float], dict[str, float]]:
    """Return for every (p, P) the λ of our standard choice, rounded, and the paper's own: where other items fit."""
    found = selected(run(config))
    return {
        key: {"selected": float(f"{mean.mean:.4g}"), "paper": published.value(published.LAMBDA_JOINT, *key)}
        for key, mean in found.items()
    }


def cells_at_both(config: Config) -> list[Cell]:
    """Return one cell per table of the grid with both λ, for the items that fit there."""
    found = both_lambdas(config)
    trials = 2 if config.quick else published.TRIALS
    return [
        {"p": p, "P": probability, "trial": trial, "seed": config.seed, **found[p, probability]}
        for p, probability in found
        for trial in range(trials)
    ]


def distance(rows: list[Row], beta: float, **setting: Any) -> tuple[float, float]:
    """Return the root mean square of log(λ/λ_paper) over the cells of the table, and the geometric mean of the ratio.

    The cell with the misprint counts with twice its node-wise λ.
    """
    found = selected(rows, beta, **setting)
    ratios = [found[key].mean / paper_lambda(*key) for key in found]
    return math.sqrt(np.mean(np.log(ratios) ** 2)), geometric_mean(ratios)


def paper_lambda(p: int, probability: float) -> float:
    """Return the paper's joint λ, in the misprinted cell twice the node-wise one."""
    if (p, probability) == published.MISPRINT:
        return 2 * published.value(published.LAMBDA_NODEWISE, p, probability)
    return published.value(published.LAMBDA_JOINT, p, probability)


def scan(rows: list[Row]) -> dict[tuple[int, int, float], tuple[float, float]]:
    """Return distance and ratio for every (b, B, β)."""
    sizes = [(b, n) for method, b, n in group(rows, "method", "b", "B") if method == "joint"]
    return {(b, n, beta): distance(rows, beta, b=b, B=n) for b, n in sizes for beta in BETAS}


def nearest_setting(rows: list[Row]) -> tuple[int, int, float]:
    """Return the (b, B, β) whose table is nearest to the paper's, among those run in all trials."""
    found = scan(rows)
    return min((key for key in found if key[1] == STANDARD["B"]), key=lambda key: found[key][0])


def nodewise_ratio(rows: list[Row], rule: str) -> Mean:
    """Return λ chosen for the node-wise method over λ chosen for the joint one, table by table."""
    name = f"beta_{STANDARD_BETA}"
    joint = {key: found[0][name] for key, found in group(where(rows, **STANDARD), "p", "P", "trial").items()}
    own = group(where(rows, method=f"nodewise-{rule}"), "p", "P", "trial")
    return mean_of(found[0][name] / joint[key] for key, found in own.items())


def draw(rows: list[Row]) -> figures.Figure:
    """Draw λ against p for every P: the paper's, the standard choice, the nearest setting."""
    b, n, beta = nearest_setting(rows)
    panels = list(group(rows, "P"))
    figure, grid = figures.new_figure(len(panels), size=(2.4 * len(panels) + 0.6, 3.2), sharey=True)
    ours = selected(rows), selected(rows, beta, b=b, B=n), selected(rows, method="nodewise-and")
    names = (
        f"StARS, b = {STANDARD['b']}, β = {STANDARD_BETA}",
        f"StARS, b = {b}, β = {beta} (nearest)",
        "node-wise (AND), chosen independently",
    )
    styles = (("#000000", "o", "-"), ("#D55E00", "s", "-"), ("#009E73", "D", "--"))
    for axes, probability in zip(grid[0], panels, strict=True):
        sizes = sorted({row["p"] for row in rows})
        paper = [published.value(published.LAMBDA_JOINT, p, probability) for p in sizes]
        axes.plot(sizes, paper, color="#0072B2", marker="^", linestyle=":", label="the paper (BMN & PLG)")
        for means, text, (color, marker, line) in zip(ours, names, styles, strict=True):
            y = [means[p, probability] for p in sizes]
            axes.errorbar(
                sizes,
                [m.mean for m in y],
                [m.half_width for m in y],
                color=color,
                marker=marker,
                linestyle=line,
                label=text,
                capsize=2,
            )
        axes.set(title=f"P = {probability}", xlabel="p", xticks=sizes)
        figures.log_axis(axes.yaxis)
    grid[0, 0].set_ylabel("λ (mean of the trials)")
    figures.add_legend(figure, grid[0, 0], columns=2)
    return figure


# ------------------------------------------------------------------------------------------- the page


def section(rows: list[Row]) -> str:
    """Return the table of λ, the scan of the settings and the remarks on the paper's numbers."""
    b, n, beta = nearest_setting(rows)
    trials = len({row["trial"] for row in rows})
    return f"""\
Mean of λ over {trials} tables per cell, in the unit of `alpha`. *Standard* is StARS as published: subsamples of
b = {STANDARD["b"]} = 10√N rows, B = {STANDARD["B"]} of them, β = {STANDARD_BETA}. *Nearest* is the setting of the scan
below whose table comes nearest to the paper's. The paper takes half of the joint λ for node-wise regression (NLR);
*chosen* is what StARS selects for node-wise regression itself (standard settings, AND and OR).

{lambda_table(rows)}
The paper's StARS settings are not stated. Distance of our table from the paper's for every subsample size b and every
threshold β (root mean square of the difference of log λ over the cells; in brackets the geometric mean of ours over
theirs). Where the instability never exceeds β, StARS takes the end of the grid, here {GRID[-1]:g}, and where it does
from the start the other one, {GRID[0]:g}; a star marks settings that do so in more than {100 * CENSORED:.0f} % of their
choices, whose λ are the grid's and not StARS's.

{scan_table(rows)}
Nearest: b = {b}, B = {n}, β = {beta}, where {markdown.share(*at_an_end(rows, b, n, beta))} choices are an end of the
grid. {unmarked_sentence(rows)}
{instability_sentence(rows)} {subsamples_sentence(rows)}

{misprint_remark()}
"""


def lambda_table(rows: list[Row]) -> str:
    """Return the paper's λ beside ours."""
    b, n, beta = nearest_setting(rows)
    standard, nearest = selected(rows), selected(rows, beta, b=b, B=n)
    own = [selected(rows, method=f"nodewise-{rule}") for rule in ("and", "or")]
    lines = []
    for key in group(rows, "p", "P"):
        means = [found[key].mean for found in (standard, nearest, *own)]
        paper = [published.value(table, *key) for table in (published.LAMBDA_JOINT, published.LAMBDA_NODEWISE)]
        shown = [paper[0], means[0], means[1], paper[1], means[0] / 2, means[2], means[3]]
        lines.append([key[0], key[1], *(markdown.number(value) for value in shown)])
    header = [
        "p",
        "P",
        "joint: paper",
        "standard",
        "nearest",
        "NLR: paper",
        "half of standard",
        "chosen, AND",
        "chosen, OR",
    ]
    return markdown.table(header, lines, text_columns=0)


def scan_table(rows: list[Row]) -> str:
    """Return the distances of all settings."""
    found = scan(rows)
    lines = [
        [f"b = {b}, B = {n}", *(show_setting(rows, b, n, beta, *found[b, n, beta]) for beta in BETAS)]
        for b, n in dict.fromkeys(key[:2] for key in found)
    ]
    return markdown.table(["", *(f"β = {beta}" for beta in BETAS)], lines)


def show_setting(rows: list[Row], b: int, n: int, beta: float, distance: float, ratio: float) -> str:
    """Return distance and ratio of one setting, with a star if the grid and not StARS chose too often."""
    ends, choices = at_an_end(rows, b, n, beta)
    return f"{distance:.2f} ({ratio:.2f})" + (r"\*" if ends > CENSORED * choices else "")


def at_an_end(rows: list[Row], b: int, n: int, beta: float) -> tuple[int, int]:
    """Return how many choices of a setting are an end of the grid, and how many there are."""
    values = column(where(rows, method="joint", b=b, B=n), f"beta_{beta}")
    ends = sum(any(math.isclose(value, end, rel_tol=1e-4) for end in GRID[[0, -1]]) for value in values)
    return ends, len(values)


def unmarked_sentence(rows: list[Row]) -> str:
    """Name the nearest setting without a star where the nearest of all has one."""
    found = {key: value for key, value in scan(rows).items() if key[1] == STANDARD["B"]}
    free = [key for key in found if (ends := at_an_end(rows, *key))[0] <= CENSORED * ends[1]]
    if not free or nearest_setting(rows) in free:
        return ""
    b, _, beta = best = min(free, key=lambda key: found[key][0])
    return f"The nearest without a star is b = {b}, β = {beta}: {found[best][0]:.2f} ({found[best][1]:.2f})."


def subsamples_sentence(rows: list[Row]) -> str:
    """Compare many subsamples with few on the tables that have both; nothing where none has."""
    parts = []
    for setting in MANY:
        many, few = (
            {
                (row["p"], row["P"], row["trial"]): row[f"beta_{STANDARD_BETA}"]
                for row in where(rows, **setting | {"B": size})
            }
            for size in (setting["B"], STANDARD["B"])
        )
        ratios = [value / few[key] for key, value in many.items() if key in few]
        if ratios:
            parts.append(
                f"{geometric_mean(ratios):.3f} for b = {setting['b']} (between {min(ratios):.2f} and "
                f"{max(ratios):.2f}, {len(ratios)} tables)"
            )
    if not parts:
        return ""
    return (
        f"λ from B = {MANY[0]['B']} subsamples over λ from B = {STANDARD['B']} of the same tables, β = "
        f"{STANDARD_BETA}, is in the geometric mean {' and '.join(parts)}."
    )


def instability_sentence(rows: list[Row]) -> str:
    """Say how unstable the paper's λ are under the standard setting."""
    mean = float(np.mean(column(where(rows, **STANDARD), "instability_at_paper")))
    could = "could" if mean <= STANDARD_BETA else "cannot"
    return (
        f"At the paper's own λ the mean instability of subsamples of {STANDARD['b']} rows is {markdown.number(mean)} "
        f"(of at most 0.5), so that a threshold of {STANDARD_BETA} on such subsamples {could} have produced them."
    )


def misprint_remark() -> str:
    """Return the remark on the cell p = 15, P = 0.3 and on the grid the paper's λ seem to come from."""
    step = 0.0009 / published.TRIALS
    values = {(row["p"], row["P"]): row["lambda_joint"] for row in published.rows()}
    odd = [value for value in values.values() if not is_multiple(value, step)]
    p, probability = published.MISPRINT
    joint, half = values[p, probability], published.value(published.LAMBDA_NODEWISE, p, probability)
    fits = "is" if is_multiple(2 * half, step) else "is not"
    return (
        f"A slip in the paper: for p = {p}, P = {probability} it prints {joint} for BMN and PLG and {half} for NLR, "
        f"whose double is {2 * half:g}. The former is likely the misprint: {len(values) - len(odd)} of its "
        f"{len(values)} joint values are whole multiples of {step:g} = 0.0009/{published.TRIALS}, as means of "
        f"{published.TRIALS} choices from a grid with step 0.0009 would be; the exceptions are "
        f"{', '.join(map(str, odd))}, and "
        f"{2 * half:g} {fits} such a multiple. Our distances use {2 * half:g} there."
    )


def is_multiple(value: float, step: float) -> bool:
    """Tell whether a printed value is a whole number of steps."""
    return math.isclose(value / step, round(value / step), rel_tol=1e-9)


def claims(rows: list[Row]) -> list[Claim]:
    """Judge the table of λ and the rule that NLR gets half of it."""
    return [judge_table(rows), judge_half(rows)]


def judge_table(rows: list[Row]) -> Claim:
    """Compare our table with the paper's, at the standard settings and at the nearest ones."""
    standard, nearest = distance(rows, STANDARD_BETA), nearest_setting(rows)
    best = scan(rows)[nearest]
    verdict = Verdict.REPRODUCED if standard[0] <= CLOSE else Verdict.REMARK if best[0] <= CLOSE else Verdict.NOT
    b, _, beta = nearest
    finding = (
        f"With the standard settings our λ are {standard[1]:.2f} times the paper's (distance {standard[0]:.2f}); with "
        f"b = {b} and β = {beta}, the nearest of the scan, {best[1]:.2f} times (distance {best[0]:.2f})."
    )
    rule = (
        f"reproduced if the distance at the standard settings is at most log {math.exp(CLOSE):.3g} = "
        f"{CLOSE:.2f}, with a remark if that takes another setting of the scan, else not."
    )
    return Claim("StARS selects the λ of the table", "Table of λ", verdict, finding, rule)


def judge_half(rows: list[Row]) -> Claim:
    """Compare λ chosen for NLR with λ chosen for the joint method."""
    ratios = {rule: nodewise_ratio(rows, rule) for rule in ("and", "or")}
    within = {
        width: all(abs(math.log(ratio.mean / 0.5)) <= math.log(width) for ratio in ratios.values())
        for width in (HALF_CLOSE, HALF_NEAR)
    }
    verdict = Verdict.REPRODUCED if within[HALF_CLOSE] else Verdict.REMARK if within[HALF_NEAR] else Verdict.NOT
    finding = "Chosen independently on the same tables, λ of NLR is " + " and ".join(
        f"{ratio.mean:.3f} ± {ratio.half_width:.3f} ({rule.upper()})" for rule, ratio in ratios.items()
    )
    finding += " of the joint λ on average."
    rule = (
        f"reproduced if both means are within a factor of {HALF_CLOSE:g} of 0.5, with a remark within a factor of "
        f"{HALF_NEAR:g}, else not."
    )
    return Claim("The λ of NLR is half of that of BMN and PLG", "Section on model selection", verdict, finding, rule)
