"""Table of relative differences: how far PLG and BMN are from each other, and each of them from the optimum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from isinglass import metrics
from paper import figures, lambdas, printed
from paper.data import Table, paper_table
from paper.evidence import Verdict, geometric_mean, judge, pick, within
from paper.methods import Fit, fit_bmn, fit_glmnet, fit_isinglass, fit_plg, prepare, value_of
from paper.plain_bmn import CHECK
from paper.study import Cell, Row
from paper.timing import SOURCES

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
PLG = f"plg_{PLG_DEFAULT:.0e}"
"""Column with the distance of PLG from the optimum at its default threshold."""

cells = lambdas.cells_at_both


def run_cell(cell: Cell) -> list[Row]:
    """Fit one table at both λ with every threshold."""
    _, table = paper_table(cell["p"], cell["P"], cell["trial"], cell["seed"])
    return [
        {"p": cell["p"], "P": cell["P"], "trial": cell["trial"], "source": source, **measure(table, cell[source])}
        for source in SOURCES
    ]


def measure(table: Table, alpha: float) -> Row:
    """Return distances to the certified optimum and between the methods, and excesses of the objective."""
    best = fit_isinglass(table, alpha, tol=OPTIMUM_TOL)
    plg = {thresh: fit_plg(table, alpha, thresh=thresh, max_iter=10_000_000) for thresh in PLG_THRESHOLDS}
    bmn = {tol: fit_bmn(table, alpha, tolerance=tol, max_iter=10 * BMN_STEPS) for tol in BMN_TOLERANCES}
    published = {"plg": plg[PLG_DEFAULT], "bmn": fit_bmn(table, alpha, tolerance=BMN_DEFAULT, max_iter=BMN_STEPS)}
    ended = published["bmn"].converged
    row: Row = {"lambda": alpha, "optimum_converged": best.converged}
    row["eps"] = metrics.relative_difference(published["plg"].theta, published["bmn"].theta)
    if prepare(table, ["plg-glmnet"]):
        found = fit_glmnet(table, alpha, mode="stacked")
        row["plg_from_glmnet"] = metrics.relative_difference(found.theta, published["plg"].theta)
    optimum = row["objective"] = value_of(table, best.theta, alpha)
    row |= {f"objective_{name}": value_of(table, fit.theta, alpha) for name, fit in published.items()}
    row |= {f"excess_{name}": (row[f"objective_{name}"] - optimum) / optimum for name in published}
    row |= {f"other_edges_{name}": other_edges(fit, best) for name, fit in published.items()}
    row |= {"plg_converged": all(fit.converged for fit in plg.values()), "bmn_converged": ended}
    row["bmn_cycles"] = None if ended else returns_after_two_steps(table, alpha)
    row |= {f"plg_{thresh:.0e}": metrics.relative_difference(fit.theta, best.theta) for thresh, fit in plg.items()}
    row |= {f"bmn_{tol:.0e}": metrics.relative_difference(fit.theta, best.theta) for tol, fit in bmn.items()}
    row["bmn"] = metrics.relative_difference(published["bmn"].theta, best.theta)
    row |= {f"plg_passes_{thresh:.0e}": fit.n_iter for thresh, fit in plg.items()}
    row |= {f"bmn_steps_{tol:.0e}": fit.n_iter for tol, fit in bmn.items()}
    return row | {"bmn_steps": published["bmn"].n_iter}


def returns_after_two_steps(table: Table, alpha: float) -> bool:
    """Tell whether BMN, out of steps, goes to and fro between two points: two more steps lead back, one does not."""
    here, one, two = (fit_bmn(table, alpha, max_iter=BMN_STEPS + more).theta for more in range(3))
    return bool(np.abs(two - here).max() < 1e-9 < np.abs(one - here).max())


def other_edges(fit: Fit, best: Fit) -> int:
    """Return the number of pairs that are joined in one of two fits only."""
    return int(np.triu((fit.theta != 0) != (best.theta != 0), k=1).sum())


# ------------------------------------------------------------------------------------------- what the rows say


def usable(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with nothing about BMN where it ran out of steps: ε would then say nothing about PLG."""
    about_plg = rows.columns.str.startswith(("plg", "excess_plg"))
    measured = rows.columns[~about_plg & ~rows.columns.isin(["p", "P", "trial", "source", "bmn_converged"])]
    return rows.assign(**{name: rows[name].where(rows["bmn_converged"]) for name in measured})


def means_of(rows: pd.DataFrame, by: list[str], source: str = "paper") -> pd.DataFrame:
    """Return the means of all columns, as the paper averages."""
    return usable(pick(rows, source=source)).groupby(by).mean(numeric_only=True)


def sufficient_threshold(rows: pd.DataFrame) -> float | None:
    """Return the loosest threshold at which PLG is no farther from the optimum than BMN; None if there is none."""
    return next((threshold for threshold in PLG_THRESHOLDS if farther(rows, threshold) <= 1.0), None)


def farther(rows: pd.DataFrame, threshold: float) -> float:
    """Return PLG's distance from the optimum over BMN's, geometric mean over all fits, stuck ones included."""
    return geometric_mean(rows[f"plg_{threshold:.0e}"].clip(lower=TINY) / rows["bmn"].clip(lower=TINY))


def passes_factor(rows: pd.DataFrame, threshold: float) -> float:
    """Return the passes that PLG needs with a threshold over those with the default one, geometric mean."""
    return geometric_mean(rows[f"plg_passes_{threshold:.0e}"] / rows[f"plg_passes_{PLG_DEFAULT:.0e}"])


def threshold_for(rows: pd.DataFrame, p: int, distance: float) -> float:
    """Return the threshold at which PLG's mean distance has a value, interpolated on logarithmic scales."""
    means = means_of(rows, ["p"]).loc[p, [f"plg_{value:.0e}" for value in PLG_THRESHOLDS]].clip(lower=TINY)
    order = np.argsort(means.to_numpy())
    known = np.log(means.to_numpy(dtype=float))[order], np.log(PLG_THRESHOLDS)[order]
    return float(np.exp(np.interp(np.log(distance), *known)))


def by_rule(sizes: pd.DataFrame, passes: str = "", steps: str = "", header: str = "p = {}") -> pd.DataFrame:
    """Return mean distances to the optimum, or passes and steps, for every stopping rule (rows) and p (columns)."""
    rules = {f"PLG, threshold {value:.0e}": f"plg_{passes}{value:.0e}" for value in PLG_THRESHOLDS}
    rules |= {f"BMN, tolerance {value:.0e}": f"bmn_{steps}{value:.0e}" for value in BMN_TOLERANCES}
    found = sizes[list(rules.values())].T.set_axis(list(rules))
    return found.set_axis([header.format(p) for p in sizes.index], axis=1)


def power(found: pd.DataFrame, kind: str, settings: tuple[float, ...]) -> float:
    """Return the power of the setting that the mean distance goes with."""
    means = [found[f"{kind}_{value:.0e}"].mean() for value in settings]
    return float(np.polyfit(np.log(settings), np.log(means), 1)[0])


def judge_accuracy(factor: float, plg: float, bmn: float) -> Verdict:
    """Judge by PLG's distance over BMN's and by the shares of fits with other edges than the optimum."""
    lost = factor > FARTHER or plg - bmn > OTHER_EDGES
    return judge(not lost and factor <= 1.0 and plg <= bmn, not lost)


def facts(rows: pd.DataFrame) -> dict[str, Any]:
    """Return what the text says."""
    tables = {source: means_of(rows, ["p", "P"], source).join(printed.GRID["epsilon"]) for source in SOURCES}
    sizes, selected = (means_of(rows, ["p"], source) for source in SOURCES)
    ended, stuck = rows[rows["bmn_converged"]], rows[~rows["bmn_converged"]]
    found = pick(ended, source="paper")
    ratios = tables["paper"]["eps"] / tables["paper"]["epsilon"]
    spread = max(ratios.max(), 1 / ratios.min())
    disagreement = (ended["excess_plg"] - ended["excess_bmn"]).abs().max()
    drop = (sizes[PLG] / sizes[f"plg_{PLG_THRESHOLDS[-1]:.0e}"].clip(lower=TINY)).min()
    needed = [threshold_for(rows, p, sizes[PLG].iloc[0]) for p in sizes.index]
    factor, enough = farther(rows, PLG_DEFAULT), sufficient_threshold(rows)
    others = {method: float((rows[f"other_edges_{method}"] > 0).mean()) for method in ("plg", "bmn")}
    grown = sizes["eps"].iloc[-1] > sizes["eps"].iloc[0]
    return {
        "check": CHECK,
        "rows": rows,
        "ended": ended,
        "stuck": stuck,
        "sizes": sizes,
        "selected": selected,
        "tables": tables,
        "misprint": printed.MISPRINT in ratios.index,
        "ratios": ratios,
        "ratio": geometric_mean(ratios),
        "disagreement": disagreement,
        "distances": by_rule(sizes),
        "counts": by_rule(sizes, "passes_", "steps_", "passes or steps, p = {}"),
        "powers": {"plg": power(found, "plg", PLG_THRESHOLDS), "bmn": power(found, "bmn", BMN_TOLERANCES)},
        "shares": {kind: found[name].mean() / found["eps"].mean() for kind, name in (("plg", PLG), ("bmn", "bmn"))},
        "drop": drop,
        "needed": needed,
        "farther": factor,
        "enough": enough,
        "price": passes_factor(rows, enough) if enough else None,
        "others": others,
        "verdicts": {
            "epsilon": judge(spread <= WITHIN, within(geometric_mean(ratios), WITHIN)),
            "objective": judge(disagreement <= SAME and stuck.empty, disagreement <= NEAR),
            "rise": judge(sizes["eps"].is_monotonic_increasing and sizes["eps"].is_unique, grown),
            "cause": judge(drop >= DROP and needed[-1] < needed[0], drop >= DROP),
            "accuracy": judge_accuracy(factor, **others),
        },
    }


def draw(rows: pd.DataFrame) -> figures.Figure:
    """Draw ε against p beside the paper's, and the distance to the optimum against the stopping rules."""
    figure, grid = figures.new_figure(3, size=(11.0, 4.2))
    draw_sizes(grid[0, 0], rows)
    means = means_of(rows, ["p"])
    for axes, prefix, settings, default, text in (
        (grid[0, 1], "plg", PLG_THRESHOLDS, PLG_DEFAULT, "glmnet's threshold"),
        (grid[0, 2], "bmn", BMN_TOLERANCES, BMN_DEFAULT, "BMN's tolerance"),
    ):
        for p, shade in zip(means.index, np.linspace(0.15, 0.85, len(means)), strict=True):
            y = means.loc[p, [f"{prefix}_{value:.0e}" for value in settings]]
            axes.plot(settings, y, marker="o", color=figures.shade(shade), label=f"p = {p}")
        axes.axvline(default, color="#777777", linewidth=1, linestyle=":")
        axes.set(xscale="log", yscale="log", xlabel=f"{text} (dotted: default)")
        axes.set(title=f"{prefix.upper()} to the optimum")
        axes.invert_xaxis()
    grid[0, 2].sharey(grid[0, 1])
    grid[0, 2].legend(fontsize=8)
    grid[0, 1].set_ylabel("mean ε to the certified optimum")
    return figure


def draw_sizes(axes: Any, rows: pd.DataFrame) -> None:
    """Draw ε between PLG and BMN against p, and the distance of each from the optimum."""
    means = {source: means_of(rows, ["p"], source) for source in SOURCES}
    sizes = means["paper"].index
    paper = printed.GRID["epsilon"].groupby("p").mean()[sizes]
    axes.plot(sizes, paper, color="#777777", marker="x", linestyle=":", label="PLG – BMN, the paper")
    for name, source, text, color, marker, line in (
        ("eps", "paper", "PLG – BMN, paper's λ", "#000000", "o", "-"),
        ("eps", "selected", "PLG – BMN, λ selected here", "#000000", "o", "--"),
        (PLG, "paper", "PLG – optimum, paper's λ", "#0072B2", "^", "-"),
        ("bmn", "paper", "BMN – optimum, paper's λ", "#D55E00", "s", "-"),
    ):
        axes.plot(sizes, means[source][name], color=color, marker=marker, linestyle=line, label=text)
    axes.set(xlabel="p", ylabel="mean ε", xticks=sizes, title="default stopping rules")
    figures.log_axis(axes.yaxis)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, fontsize=7)
