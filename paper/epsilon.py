"""Table of relative differences: how far PLG and BMN are from each other, and each of them from the optimum."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from isinglass import objective
from isinglass.evaluate.metrics import relative_difference
from paper import figures, lambdas, markdown, published, study
from paper.contract import Cell, Claim, Config, Row, Verdict
from paper.data import paper_table
from paper.methods import Fit, Table, fit_bmn, fit_glmnet, fit_isinglass, fit_plg, prepare
from paper.plain_bmn import CHECK
from paper.summary import column, geometric_mean, group
from paper.timing import SOURCES

NAME = "epsilon"
TITLE = "Relative difference ε"
VERSION = 3
TIMED = False

PLG_THRESHOLDS = (1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-12, 1e-14)
PLG_DEFAULT = 1e-7
BMN_TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7)
BMN_DEFAULT = 1e-5
BMN_STEPS = 10_000
"""The published limit of steps; where the tolerance is varied there are ten times as many."""
OPTIMUM_TOL = 1e-10
SAME, NEAR = 1e-5, 1e-3
"""Relative differences of objective values up to which they count as the same, and as near."""
WITHIN = 2.0
"""Factor within which ε has to agree with the printed one."""
FARTHER = 2.0
"""Factor beyond which PLG, farther from the optimum than BMN, has lost accuracy."""
OTHER_EDGES = 0.05
"""By how much the share of fits with other edges than the optimum may exceed that of BMN: systematic beyond it."""
DROP = 10.0
"""Factor by which a distance that the stopping rule makes has to shrink when the rule is tightened."""
TINY = 1e-16


def cells(config: Config) -> list[Cell]:
    """Return one cell per table, with both λ."""
    return lambdas.cells_at_both(config)


def run_cell(cell: Cell) -> list[Row]:
    """Fit one table at both λ with every threshold."""
    _, table = paper_table(cell["p"], cell["P"], cell["trial"], cell["seed"])
    return [
        {"p": cell["p"], "P": cell["P"], "trial": cell["trial"], "source": source, **measure(table, cell[source])}
        for source in SOURCES
    ]


def measure(table: Table, alpha: float) -> dict[str, Any]:
    """Return distances to the certified optimum and between the methods, and excesses of the objective."""
    best = fit_isinglass(table, alpha, tol=OPTIMUM_TOL)
    plg = {thresh: fit_plg(table, alpha, thresh=thresh, max_iter=10_000_000) for thresh in PLG_THRESHOLDS}
    bmn = {tol: fit_bmn(table, alpha, tolerance=tol, max_iter=10 * BMN_STEPS) for tol in BMN_TOLERANCES}
    published_bmn = fit_bmn(table, alpha, tolerance=BMN_DEFAULT, max_iter=BMN_STEPS)
    plain = {"plg": plg[PLG_DEFAULT], "bmn": published_bmn}
    row: dict[str, Any] = {"lambda": alpha, "optimum_converged": best.converged}
    row["eps"] = relative_difference(plain["plg"].theta, plain["bmn"].theta)
    if prepare(table, ["plg-glmnet"]):
        found = fit_glmnet(table, alpha, mode="stacked")
        row["plg_from_glmnet"] = relative_difference(found.theta, plain["plg"].theta)
    value = value_at(table, alpha)
    optimum = value(best)
    row |= {"objective": optimum}
    row |= {f"objective_{name}": value(fit) for name, fit in plain.items()}
    row |= {f"excess_{name}": (row[f"objective_{name}"] - optimum) / optimum for name in plain}
    row |= {f"other_edges_{name}": other_edges(fit, best) for name, fit in plain.items()}
    row["plg_converged"] = all(fit.converged for fit in plg.values())
    row["bmn_converged"] = published_bmn.converged
    row["bmn_cycles"] = None if published_bmn.converged else returns_after_two_steps(table, alpha)
    row |= {f"plg_{thresh:.0e}": relative_difference(fit.theta, best.theta) for thresh, fit in plg.items()}
    row |= {f"bmn_{tol:.0e}": relative_difference(fit.theta, best.theta) for tol, fit in bmn.items()}
    row["bmn"] = relative_difference(published_bmn.theta, best.theta)
    row |= {f"plg_passes_{thresh:.0e}": fit.n_iter for thresh, fit in plg.items()}
    row |= {f"bmn_steps_{tol:.0e}": fit.n_iter for tol, fit in bmn.items()}
    return row | {"bmn_steps": published_bmn.n_iter}


def returns_after_two_steps(table: Table, alpha: float) -> bool:
    """Tell whether BMN, out of steps, goes to and fro between two points: two steps more lead back, one does not."""
    here, one, two = (fit_bmn(table, alpha, max_iter=BMN_STEPS + more).theta for more in range(3))
    return bool(np.abs(two - here).max() < 1e-9 < np.abs(one - here).max())


def value_at(table: Table, alpha: float) -> Callable[[Fit], float]:
    """Return the function that evaluates the objective at a fit."""

    def value(fit: Fit) -> float:
        fields = fit.theta.diagonal()
        return objective.value(table, fit.theta - np.diag(fields), fields, alpha)

    return value


def other_edges(fit: Fit, best: Fit) -> int:
    """Return the number of pairs that are joined in one of two fits only."""
    return int(np.triu((fit.theta != 0) != (best.theta != 0), k=1).sum())


def run(config: Config) -> list[Row]:
    """Return the rows of all tables."""
    return study.run_item(sys.modules[__name__], config)


# ------------------------------------------------------------------------------------------- what the rows say


def by_size(rows: list[Row], name: str, source: str = "paper") -> dict[int, float]:
    """Return the mean of a column for every p, over trials and P, as the paper averages."""
    return {p: average(found, name) for p, found in group(usable(rows, name, source), "p").items()}


def usable(rows: list[Row], name: str, source: str | None = None) -> list[Row]:
    """Return the fits that count for a column: all for those of PLG alone, else those in which BMN finished."""
    if name.startswith(("plg", "excess_plg")):
        return [row for row in rows if source in (None, row["source"])]
    return finished(rows, source)


def finished(rows: list[Row], source: str | None = None) -> list[Row]:
    """Return the fits in which BMN met its own stopping rule; where it did not, ε would say nothing about PLG."""
    return [row for row in rows if row["bmn_converged"] and source in (None, row["source"])]


def average(rows: list[Row], name: str) -> float:
    """Return the mean of a column."""
    return float(np.mean(column(rows, name)))


def by_cell(rows: list[Row], name: str, source: str = "paper") -> dict[tuple[int, float], float]:
    """Return the mean of a column over the trials for every (p, P)."""
    return {key: average(found, name) for key, found in group(usable(rows, name, source), "p", "P").items()}


def farther(rows: list[Row], threshold: float) -> float:
    """Return PLG's distance from the optimum over BMN's, geometric mean over all fits, stuck ones included."""
    name = f"plg_{threshold:.0e}"
    return geometric_mean(max(row[name], TINY) / max(row["bmn"], TINY) for row in rows)


def sufficient_threshold(rows: list[Row]) -> float | None:
    """Return the loosest threshold at which PLG is no farther from the optimum than BMN; None if there is none."""
    return next((threshold for threshold in PLG_THRESHOLDS if farther(rows, threshold) <= 1.0), None)


def passes_factor(rows: list[Row], threshold: float) -> float:
    """Return the passes that PLG needs with a threshold over those with the default one, geometric mean."""
    names = [f"plg_passes_{value:.0e}" for value in (threshold, PLG_DEFAULT)]
    return geometric_mean(row[names[0]] / row[names[1]] for row in rows)


def share_of_other_edges(rows: list[Row], method: str) -> float:
    """Return the share of fits whose network is not that of the optimum."""
    return float(np.mean([row[f"other_edges_{method}"] > 0 for row in rows]))


def largest_disagreement(rows: list[Row]) -> float:
    """Return the largest relative difference of the objective values of PLG and BMN over all fits."""
    return max(abs(row["excess_plg"] - row["excess_bmn"]) for row in finished(rows))


def draw(rows: list[Row]) -> figures.Figure:
    """Draw ε against p beside the paper's, and the distance to the optimum against the stopping rules."""
    figure, grid = figures.new_figure(3, size=(11.0, 4.2))
    draw_sizes(grid[0, 0], rows)
    for axes, (prefix, settings, text) in zip(
        grid[0, 1:],
        (("plg", PLG_THRESHOLDS, "glmnet's threshold"), ("bmn", BMN_TOLERANCES, "BMN's tolerance")),
        strict=True,
    ):
        for p, shade in zip(group(rows, "p"), np.linspace(0.15, 0.85, len(group(rows, "p"))), strict=True):
            means = [by_size(rows, f"{prefix}_{value:.0e}")[p] for value in settings]
            axes.plot(settings, means, marker="o", color=figures.shade(shade), label=f"p = {p}")
        default = PLG_DEFAULT if prefix == "plg" else BMN_DEFAULT
        axes.axvline(default, color="#777777", linewidth=1, linestyle=":")
        axes.set(
            xscale="log", yscale="log", xlabel=f"{text} (dotted: default)", title=f"{prefix.upper()} to the optimum"
        )
        axes.invert_xaxis()
    grid[0, 2].sharey(grid[0, 1])
    grid[0, 2].legend(fontsize=8)
    grid[0, 1].set_ylabel("mean ε to the certified optimum")
    return figure


def draw_sizes(axes: Any, rows: list[Row]) -> None:
    """Draw ε between PLG and BMN against p, and the distance of each from the optimum."""
    sizes = list(group(rows, "p"))
    paper = [np.mean(published.EPSILON[p]) for p in sizes]
    axes.plot(sizes, paper, color="#777777", marker="x", linestyle=":", label="PLG – BMN, the paper")
    lines = (
        ("eps", "paper", "PLG – BMN, paper's λ", "#000000", "o", "-"),
        ("eps", "selected", "PLG – BMN, λ selected here", "#000000", "o", "--"),
        (f"plg_{PLG_DEFAULT:.0e}", "paper", "PLG – optimum, paper's λ", "#0072B2", "^", "-"),
        ("bmn", "paper", "BMN – optimum, paper's λ", "#D55E00", "s", "-"),
    )
    for name, source, text, color, marker, line in lines:
        values = by_size(rows, name, source)
        axes.plot(list(values), list(values.values()), color=color, marker=marker, linestyle=line, label=text)
    axes.set(xlabel="p", ylabel="mean ε", xticks=sizes, title="default stopping rules")
    figures.log_axis(axes.yaxis)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, fontsize=7)


# ------------------------------------------------------------------------------------------- the page


def section(rows: list[Row]) -> str:
    """Return ε beside the paper's, distances to the optimum, and where the error comes from."""
    trials = len({row["trial"] for row in rows})
    return f"""\
ε = ‖Θ_PLG − Θ_BMN‖ / ‖Θ_BMN‖ with default stopping rules (glmnet's threshold {PLG_DEFAULT:.0e}, BMN's tolerance
{BMN_DEFAULT:.0e}), mean over {trials} tables per cell. Then the distance of each method from the certified optimum
(`ising_path` with tolerance {OPTIMUM_TOL:.0e}), and how much larger than the minimum the objective is, relative to it.
{stuck_sentence(rows)}

At the paper's λ:

{epsilon_table(rows, "paper")}
At the λ selected here:

{epsilon_table(rows, "selected")}
{glmnet_sentence(rows)}

Where the error comes from: mean distance to the optimum at the paper's λ when the stopping rules are varied, and the
mean number of passes of coordinate descent (PLG) or steps (BMN) that it takes.

{threshold_table(rows)}
{source_sentence(rows)}

{repeated_remark()} {published.misprint_note(rows)}
"""


VALUES = ("objective", "objective_plg", "objective_bmn")


def epsilon_table(rows: list[Row], source: str) -> str:
    """Return the paper's ε beside ours."""
    names = ("eps", f"plg_{PLG_DEFAULT:.0e}", "bmn", *VALUES, "excess_plg", "excess_bmn")
    means = {name: by_cell(rows, name, source) for name in names}
    lines = [
        [
            *key,
            markdown.number(published.value(published.EPSILON, *key)),
            *(markdown.number(means[name].get(key), 6 if name in VALUES else 3) for name in names),
        ]
        for key in means["objective"]
    ]
    header = [
        "p",
        "P",
        "ε, paper",
        "ε, here",
        "PLG to optimum",
        "BMN to optimum",
        "least F",
        "F, PLG",
        "F, BMN",
        "excess of F, PLG",
        "excess of F, BMN",
    ]
    return markdown.table(header, lines, text_columns=0)


def threshold_table(rows: list[Row]) -> str:
    """Return mean distances to the optimum by p for every stopping rule."""
    settings = [("plg", t) for t in PLG_THRESHOLDS] + [("bmn", t) for t in BMN_TOLERANCES]
    names, units = {"plg": "PLG, threshold", "bmn": "BMN, tolerance"}, {"plg": "passes", "bmn": "steps"}
    lines = [
        [
            f"{names[kind]} {value:.0e}",
            *(markdown.number(v) for v in by_size(rows, f"{kind}_{value:.0e}").values()),
            *(f"{v:.0f}" for v in by_size(rows, f"{kind}_{units[kind]}_{value:.0e}").values()),
        ]
        for kind, value in settings
    ]
    sizes = list(group(rows, "p"))
    header = ["", *(f"p = {p}" for p in sizes), *(f"passes or steps, p = {p}" for p in sizes)]
    return markdown.table(header, lines)


def stuck_sentence(rows: list[Row]) -> str:
    """Say in how many fits BMN ran out of steps, and what it had reached then."""
    stuck = [row for row in rows if not row["bmn_converged"]]
    if not stuck:
        return "BMN met its own stopping rule in every fit."
    cycles = sum(column(stuck, "bmn_cycles"))
    return (
        f"In {markdown.share(len(stuck), len(rows))} fits BMN ran out of its {BMN_STEPS} steps, in {cycles} of them "
        f"going to and fro between two points: its check, every {CHECK} steps, meets the same one each time. It "
        f"was {markdown.number(average(stuck, 'bmn'))} away from the optimum on average. Means that involve BMN leave "
        "these fits out; those of PLG alone have all fits."
    )


def source_sentence(rows: list[Row]) -> str:
    """Say how the distances depend on the stopping rules, and whose distance the paper's ε is."""
    found = finished(rows, "paper")
    slopes = {}
    for kind, settings in (("plg", PLG_THRESHOLDS), ("bmn", BMN_TOLERANCES)):
        means = [average(found, f"{kind}_{value:.0e}") for value in settings]
        slopes[kind] = np.polyfit(np.log(settings), np.log(means), 1)[0]
    distances = {"plg": average(found, f"plg_{PLG_DEFAULT:.0e}"), "bmn": average(found, "bmn")}
    shares = {kind: distance / average(found, "eps") for kind, distance in distances.items()}
    return (
        f"PLG's distance goes with the power {slopes['plg']:.2f} of glmnet's threshold, which bounds the square of the "
        f"last step, and BMN's with the power {slopes['bmn']:.2f} of its tolerance, which bounds the step itself. At "
        f"the defaults PLG's distance from the optimum is {shares['plg']:.2f} of the mean ε and BMN's "
        f"{shares['bmn']:.2f}: what the table of ε measures is the stopping rule of "
        f"{'glmnet' if shares['plg'] > shares['bmn'] else 'BMN'}."
    )


def glmnet_sentence(rows: list[Row]) -> str:
    """Say how far glmnet in R is from our implementation of its algorithm."""
    found = column(rows, "plg_from_glmnet")
    if not found:
        return "glmnet in R was not installed; PLG is our implementation of its algorithm."
    return (
        "PLG is our implementation of glmnet's algorithm; glmnet in R differs from it by at most "
        f"{max(found):.1e}, relative to the size of Θ, in {len(found)} fits."
    )


def repeated_remark() -> str:
    """Return the remark on numbers that occur twice in the paper's table."""
    values = [(row["epsilon"], row["p"], row["P"]) for row in published.rows()]
    twice = sorted({value for value, *_ in values if sum(value == other for other, *_ in values) > 1})
    places = "; ".join(
        f"{value * 1e4:.5g}e-4 at " + " and ".join(f"p = {p}, P = {q}" for found, p, q in values if found == value)
        for value in twice
    )
    return f"Numbers that stand twice in the paper's table: {places}. One of the two is likely a slip of copying."


def claims(rows: list[Row]) -> list[Claim]:
    """Judge what the paper says about accuracy."""
    return [judge_values(rows), judge_objective(rows), judge_rise(rows), judge_cause(rows), judge_accuracy(rows)]


def judge_values(rows: list[Row]) -> Claim:
    """Compare ε with the paper's table, cell by cell."""
    found = by_cell(rows, "eps")
    ratios = [value / published.value(published.EPSILON, *key) for key, value in found.items()]
    mean, spread = geometric_mean(ratios), max(max(r, 1 / r) for r in ratios)
    close = 1 / WITHIN <= mean <= WITHIN
    verdict = Verdict.REPRODUCED if spread <= WITHIN else Verdict.REMARK if close else Verdict.NOT
    finding = (
        f"At the paper's λ our ε are {mean:.2f} times the printed ones in the geometric mean, cell by cell between "
        f"{min(ratios):.2f} and {max(ratios):.2f} times."
    )
    rule = (
        f"reproduced if every cell is within a factor of {WITHIN:g}, with a remark if the geometric mean is, else not."
    )
    text = "PLG and BMN reach nearly the same parameters: ε between 8e-4 and 5e-3"
    return Claim(text, "Table of ε", verdict, finding, rule)


def judge_objective(rows: list[Row]) -> Claim:
    """Compare the objective values of PLG and BMN."""
    worst, stuck = largest_disagreement(rows), sum(not row["bmn_converged"] for row in rows)
    verdict = Verdict.REPRODUCED if worst <= SAME and not stuck else Verdict.REMARK if worst <= NEAR else Verdict.NOT
    finding = (
        f"The objective values differ by at most {worst:.1e} of their size over {len(rows) - stuck} fits; PLG's is "
        f"above the minimum by {max(column(rows, 'excess_plg')):.1e} at most."
    )
    if stuck:
        finding += f" In {markdown.share(stuck, len(rows))} fits BMN ran out of steps."
    rule = (
        f"reproduced if no fit differs by more than {SAME:.0e} and BMN always converged, with a remark if it did not "
        f"or up to {NEAR:.0e}, else not."
    )
    return Claim("PLG achieves the same objective value as BMN", "Numerical experiments", verdict, finding, rule)


def judge_rise(rows: list[Row]) -> Claim:
    """Look at ε along p."""
    values = {source: list(by_size(rows, "eps", source).values()) for source in SOURCES}
    monotone = {source: bool(np.all(np.diff(found) > 0)) for source, found in values.items()}
    grown = values["paper"][-1] > values["paper"][0]
    verdict = Verdict.REPRODUCED if monotone["paper"] else Verdict.REMARK if grown else Verdict.NOT
    listed = {source: ", ".join(map(markdown.number, found)) for source, found in values.items()}
    finding = (
        f"Mean ε for p = {', '.join(map(str, group(rows, 'p')))}: {listed['paper']} at the paper's λ; "
        f"{listed['selected']} at the λ selected here."
    )
    rule = (
        "reproduced if the mean of ε rises from each p to the next at the paper's λ, with a remark if it is larger at "
        "the last p than at the first, else not."
    )
    return Claim("ε rises with p", "Table of ε", verdict, finding, rule)


def judge_cause(rows: list[Row]) -> Claim:
    """Ask whether ε is made by the stopping rule, and whether one rule lets larger networks end farther away."""
    sizes, name = list(group(rows, "p")), f"plg_{PLG_DEFAULT:.0e}"
    loose, tight = by_size(rows, name), by_size(rows, f"plg_{PLG_THRESHOLDS[-1]:.0e}")
    drops = {p: loose[p] / max(tight[p], TINY) for p in sizes}
    needed = [threshold_for(rows, p, loose[sizes[0]]) for p in sizes]
    made, tighter = min(drops.values()) >= DROP, needed[-1] < needed[0]
    verdict = Verdict.REPRODUCED if made and tighter else Verdict.REMARK if made else Verdict.NOT
    finding = (
        f"From the threshold {PLG_DEFAULT:.0e} to {PLG_THRESHOLDS[-1]:.0e} PLG's distance from the optimum falls by a "
        f"factor of {min(drops.values()):.2g} or more at every p. To be as near as at p = {sizes[0]} with the default, "
        f"the threshold would have to be {', '.join(f'{value:.1e}' for value in needed)} for p = "
        f"{', '.join(map(str, sizes))}."
    )
    rule = (
        f"reproduced if tightening glmnet's threshold brings PLG at least {DROP:g} times nearer to the optimum at "
        "every p and the largest networks need a tighter one than the smallest for the same distance, with a remark if "
        "only the former, else not."
    )
    return Claim("ε rises because the stopping criterion is the same", "Section on efficiency", verdict, finding, rule)


def threshold_for(rows: list[Row], p: int, distance: float) -> float:
    """Return the threshold at which PLG's mean distance has a value, interpolated on logarithmic scales."""
    means = [max(by_size(rows, f"plg_{value:.0e}")[p], TINY) for value in PLG_THRESHOLDS]
    order = np.argsort(means)
    where_ = np.interp(np.log(distance), np.log(means)[order], np.log(PLG_THRESHOLDS)[order])
    return float(np.exp(where_))


def judge_accuracy(rows: list[Row]) -> Claim:
    """Compare the distances of PLG and BMN from the optimum, and their edges."""
    factor, enough = farther(rows, PLG_DEFAULT), sufficient_threshold(rows)
    shares = {method: share_of_other_edges(rows, method) for method in ("plg", "bmn")}
    edges = shares["plg"] - shares["bmn"] <= OTHER_EDGES
    medians = [float(np.median(column(rows, name))) for name in (f"plg_{PLG_DEFAULT:.0e}", "bmn")]
    verdict = (
        Verdict.NOT
        if factor > FARTHER or not edges
        else Verdict.REPRODUCED
        if factor <= 1.0 and shares["plg"] <= shares["bmn"]
        else Verdict.REMARK
    )
    finding = (
        f"With its default threshold PLG is {factor:.3g} times as far from the optimum as BMN (geometric mean over all "
        f"{len(rows)} fits; median distance {markdown.number(medians[0])} against "
        f"{markdown.number(medians[1])}). PLG's network has other edges than the optimum in "
        f"{100 * shares['plg']:.1f} % of the fits, BMN's in {100 * shares['bmn']:.1f} %. "
    )
    finding += (
        f"No threshold down to {PLG_THRESHOLDS[-1]:.0e} makes it as near as BMN."
        if enough is None
        else f"It is as near as BMN from the threshold {enough:.0e} on, which takes {passes_factor(rows, enough):.2g} "
        "times the passes of the default: that is the price of losing no accuracy."
    )
    rule = (
        f"not reproduced if PLG with its default threshold is more than {FARTHER:g} times as far from the optimum as "
        f"BMN or has other edges than the optimum in a share of fits that exceeds BMN's by more than "
        f"{100 * OTHER_EDGES:.0f} %; reproduced if it is neither farther nor has other edges more often; else "
        "with a remark."
    )
    text = "PLG is faster without losing any accuracy"
    return Claim(text, "Abstract, introduction, section on efficiency", verdict, finding, rule)
