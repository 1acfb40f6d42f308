"""What the rows of ``imbalance`` say: figure, text and verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from experiments import figures, markdown
from experiments.contract import Claim, Row, Verdict
from experiments.summary import column, group, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMALL = 1e-5
"""The smallest λ of the paper's range."""
PAPER, SEVERAL, BALANCED, PUBLISHED, SWAPPED = "paper", "5 rare", "balanced", "published", "start swapped"
WHERE = "Sections on unbalanced data"
KINDS = {
    "balanced": "balanced: θ_11 as the others",
    "paper": "the paper's: θ_11 = 5",
    "θ_11 = 7": "rarer: θ_11 = 7",
    "3 rare": "three nodes with θ_ss = 5",
    "5 rare": "five nodes with θ_ss = 5",
    "N = 200": "the paper's, N = 200",
    "N = 5000": "the paper's, N = 5000",
    "p = 25": "the paper's, p = 25",
}


class Summary:
    """The rows of one kind of table, variant, method and λ."""

    def __init__(self, rows: list[Row], data: str, variant: str, method: str, alpha: float = SMALL) -> None:
        self.rows = where(rows, data=data, variant=variant, method=method, alpha=alpha)

    def __len__(self) -> int:
        return len(self.rows)

    def mean(self, name: str) -> float:
        """Return the mean of a column; NaN where there is none."""
        return float(np.mean(column(self.rows, name) or [np.nan]))

    def median(self, name: str) -> float:
        """Return the median of a column; NaN where there is none."""
        return float(np.median(column(self.rows, name) or [np.nan]))

    @property
    def failed(self) -> int:
        """Number of tables on which a regression did not meet its stopping rule."""
        return sum(not row["converged"] for row in self.rows)

    @property
    def failed_accepted(self) -> int:
        """The same without the nodes that glmnet would refuse."""
        return sum((row["n_failed_accepted"] or 0) > 0 for row in self.rows)


# ------------------------------------------------------------------------------------------- figure


def draw(rows: list[Row]) -> figures.Figure:
    """Draw passes with one rare node and with five, what the fits are worth, and the swapped starts."""
    figure, grid = figures.new_figure(2, 2, size=(9.0, 7.4))
    draw_passes(grid[0, 0], rows)
    draw_tables(grid[0, 1], rows)
    draw_accuracy(grid[1, 0], rows)
    draw_starts(grid[1, 1], rows)
    for axes in grid.ravel()[:3]:
        axes.set(xscale="log", yscale="log", xlabel="λ")
        axes.invert_xaxis()
    return figure


def curve(
    rows: list[Row], data: str, method: str, name: str, variant: str = PUBLISHED
) -> tuple[list[float], list[float]]:
    """Return λ and the mean of a column over the tables (of ε, which may be huge where a fit failed, the median)."""
    alphas = list(group(where(rows, data=data, variant=variant, method=method), "alpha"))
    found = [Summary(rows, data, variant, method, alpha) for alpha in alphas]
    return alphas, [entry.median(name) if name == "epsilon" else entry.mean(name) for entry in found]


def draw_passes(axes: Axes, rows: list[Row]) -> None:
    """Draw the paper's design against balanced tables."""
    for method in ("nlr", "plg"):
        color = figures.METHODS[method].color
        marker = figures.METHODS[method].marker
        name = method.upper()
        axes.plot(*curve(rows, PAPER, method, "table_passes"), color=color, marker=marker, label=name)
        grey = {"color": color, "marker": marker, "linestyle": ":", "alpha": 0.6, "markersize": 3.5}
        axes.plot(*curve(rows, BALANCED, method, "table_passes"), label=f"{name}, balanced tables", **grey)
    style = {"color": figures.METHODS["nlr"].color, "marker": "x", "linestyle": "--"}
    axes.plot(*curve(rows, PAPER, "nlr", "rare_passes"), label="NLR, the rare node alone", **style)
    axes.set(title="One rare node: the paper's design", ylabel="passes over the table (mean)")
    axes.legend(frameon=False, fontsize=8)


def draw_tables(axes: Axes, rows: list[Row]) -> None:
    """Draw every table with five rare nodes."""
    rng = np.random.default_rng(0)
    for method, shift in (("nlr", 1.12), ("plg", 1 / 1.12)):
        style = figures.METHODS[method]
        found = where(rows, data=SEVERAL, variant=PUBLISHED, method=method)
        for stuck, size in ((False, 9), (True, 22)):
            some = [row for row in found if row["converged"] != stuck]
            x = [row["alpha"] * shift * float(np.exp(rng.uniform(-0.12, 0.12))) for row in some]
            options: dict[str, Any] = {"marker": "x", "linewidths": 1.1} if stuck else {"marker": "o", "linewidths": 0}
            y = [row["table_passes"] for row in some]
            axes.scatter(x, y, s=size, color=style.color, alpha=0.65, **options)
        axes.plot(*curve(rows, SEVERAL, method, "table_passes"), color=style.color, label=f"{method.upper()}, mean")
    axes.scatter([], [], s=22, color="#555555", marker="x", linewidths=1.1, label="not converged")
    axes.set(title="Five rare nodes: every table", ylabel="passes over the table")
    axes.legend(frameon=False, fontsize=8)


def draw_accuracy(axes: Axes, rows: list[Row]) -> None:
    """Draw how far from the optimum the fits stop."""
    for method in ("nlr", "plg"):
        style = figures.METHODS[method]
        for variant, text, line in (
            (PUBLISHED, "default threshold", "-"),
            ("threshold 1e-10", "threshold 1e-10", "--"),
        ):
            alphas, values = curve(rows, PAPER, method, "epsilon", variant)
            shown = [(a, v) for a, v in zip(alphas, values, strict=True) if v > 1e-13]  # nothing entered: exact
            if shown:
                label = f"{method.upper()}, {text}"
                axes.plot(
                    *zip(*shown, strict=True), color=style.color, marker=style.marker, linestyle=line, label=label
                )
    shown = [(a, v) for a, v in zip(*curve(rows, PAPER, "isinglass", "epsilon"), strict=True) if v > 1e-13]
    axes.plot(*zip(*shown, strict=True), color="#000000", marker="o", label="isinglass")
    axes.axhline(1, color="#888888", linewidth=0.8)
    axes.set(title="One rare node: error of what is returned", ylabel="ε to the optimum (median)")
    axes.set_ylim(bottom=1e-12)
    axes.legend(frameon=False, fontsize=8, loc="lower right")


def draw_starts(axes: Axes, rows: list[Row]) -> None:
    """Draw the share of tables on which everything converged, by starting point."""
    bars = [(method, variant) for method in ("nlr", "plg") for variant in (PUBLISHED, SWAPPED)]
    labels, trials = [], {row["trial"] for row in where(rows, variant=SWAPPED)}
    for k, (method, variant) in enumerate(bars):
        found = [row for row in Summary(rows, SEVERAL, variant, method).rows if row["trial"] in trials]
        good = sum(row["converged"] for row in found)
        axes.bar(
            k, 100 * good / len(found), color=figures.METHODS[method].color, alpha=1 if variant == PUBLISHED else 0.5
        )
        axes.annotate(
            f"{good} of {len(found)}", (k, 100 * good / len(found)), (0, 3), textcoords="offset points", ha="center"
        )
        start = "null model" if (method == "nlr") == (variant == PUBLISHED) else "zero"
        labels.append(f"{method.upper()}\nfrom {start}" + ("\n(published)" if variant == PUBLISHED else ""))
    axes.set_xticks(range(len(bars)), labels=labels)
    axes.set(
        ylim=(0, 115), ylabel="tables converged (%)", title=f"Five rare nodes, λ = {SMALL:g}: where the fit starts"
    )
    axes.grid(visible=False, axis="x")


# ------------------------------------------------------------------------------------------- the page


def section(rows: list[Row]) -> str:
    """Return the factorial and what explains it."""
    return f"""\
Passes of coordinate descent do not depend on the machine. All numbers in the tables below are at λ = {SMALL:g}. A pass
*over the table* is one visit to every coefficient of every node; the mean over tables is what an average of computation
times follows. *Separated*: without a penalty the coefficients of the rarest node's regression would grow without bound.
*Refused*: tables with a node that has fewer than two rows of one kind, which glmnet does not fit. *Failed*: tables on
which a regression used up glmnet's 100 000 passes, in brackets without the nodes that glmnet refuses. isinglass
converged on {markdown.share(*ours_converged(rows))} fits.

{kind_table(rows)}
Variants of the algorithm:

{variant_table(rows)}
{mechanism(rows)}
"""


def kind_table(rows: list[Row]) -> str:
    """Return one line per kind of table, fitted as published."""
    lines = []
    for data, text in KINDS.items():
        nlr, plg = (Summary(rows, data, PUBLISHED, method) for method in ("nlr", "plg"))
        if not len(nlr):
            continue
        lines.append(
            [
                text,
                f"{nlr.median('minority'):.0f}",
                markdown.share(sum(row["node_separated"] for row in nlr.rows), len(nlr)),
                sum(row["n_refused"] > 0 for row in nlr.rows),
                f"{nlr.median('rare_passes'):.0f}",
                f"{nlr.mean('table_passes'):.0f}",
                f"{plg.mean('table_passes'):.0f}",
                f"{nlr.failed} ({nlr.failed_accepted})",
                plg.failed,
                markdown.number(nlr.median("epsilon"), 2),
                markdown.number(plg.median("epsilon"), 2),
            ]
        )
    header = ["tables", "minority", "separated", "refused", "NLR: rare node", "NLR: table", "PLG: table"]
    return markdown.table([*header, "NLR failed", "PLG failed", "NLR: ε", "PLG: ε"], lines)


def variant_table(rows: list[Row]) -> str:
    """Return one line per variant and kind of table it was tried on."""
    lines = []
    for variant in group(rows, "variant"):
        for data in (PAPER, SEVERAL):
            nlr, plg = (Summary(rows, data, variant, method) for method in ("nlr", "plg"))
            if len(nlr):
                lines.append(
                    [
                        variant,
                        KINDS[data],
                        len(nlr),
                        f"{nlr.mean('table_passes'):.0f}",
                        f"{plg.mean('table_passes'):.0f}",
                        f"{nlr.failed} ({nlr.failed_accepted})",
                        plg.failed,
                        markdown.number(nlr.median("epsilon"), 2),
                        markdown.number(plg.median("epsilon"), 2),
                    ]
                )
    header = ["variant", "tables", "number", "NLR: table", "PLG: table", "NLR failed", "PLG failed", "NLR: ε", "PLG: ε"]
    return markdown.table(header, lines, text_columns=2)


def mechanism(rows: list[Row]) -> str:
    """Say what the rows show about the cause."""
    tables = where(rows, variant=PUBLISHED, method="nlr", alpha=SMALL)
    known = [row for row in tables if row["joint_separated"] is not None]
    agree = sum(row["joint_separated"] == row["node_separated"] for row in known)
    one = where(tables, data=PAPER)
    passes = {
        flag: float(np.median([row["rare_passes"] for row in one if row["node_separated"] is flag] or [np.nan]))
        for flag in (True, False)
    }
    steps = [row["newton_steps"] for row in tables if not row["converged"]]
    return f"""\
Two things happen to a rare node. Where the other columns separate its few rows, its coefficients grow like log(1/λ) and
coordinate descent needs more and more passes: on the paper's tables the median is {passes[True]:.0f} passes where the
node is separated and {passes[False]:.0f} where it is not. That is slow, not wrong, and it strikes one regression of the
p. The stacked problem does not escape it: it is separated whenever the node is (the two agree on
{markdown.share(agree, len(known))} tables). It has to sweep all nodes as often as the worst of them needs, and stops
early instead, because its rule compares each step with the deviance of the whole table: hence its large ε.

Failures have another cause. glmnet's algorithm takes full Newton steps, without checking that the objective falls. NLR
starts from the intercept, where a node with a share q of rare rows has weights q(1 − q) and a step can be as long as
1/q. If another rare column points at one of its rare rows, and λ is too small to hold that coefficient, the step
overshoots, fitted probabilities become 0 and 1, and the next quadratic model is no better. {meeting_sentence(rows)} The
runs that used up their passes spent them on {min(steps, default=0)} to {max(steps, default=0)} Newton steps. PLG has no
intercept; it starts from 0, where every weight is 1/4 and no step is long. {swap_sentence(rows)}
"""


def meeting_sentence(rows: list[Row]) -> str:
    """Say how failures depend on a rare row shared with another rare column."""
    found = where(rows, variant=PUBLISHED, method="nlr", alpha=SMALL)
    names = ("n_alone", "n_failed_alone", "n_meeting", "n_failed_meeting", "n_failed_common")
    total = {name: sum(column(found, name)) for name in names}
    return (
        f"Over all kinds of tables, as published, {markdown.share(total['n_failed_meeting'], total['n_meeting'])} rare "
        f"nodes that share a rare row with another rare column failed, and "
        f"{markdown.share(total['n_failed_alone'], total['n_alone'])} rare nodes that do not; "
        f"{total['n_failed_common']} failures were of nodes that are not rare (rare: at least 2 and at most 5 % of the "
        "rows)."
    )


def swap_sentence(rows: list[Row]) -> str:
    """Say what exchanging the starting points does."""
    trials = {row["trial"] for row in where(rows, variant=SWAPPED)}
    counts = {}
    for method in ("nlr", "plg"):
        for variant in (PUBLISHED, SWAPPED):
            found = [row for row in Summary(rows, SEVERAL, variant, method).rows if row["trial"] in trials]
            counts[method, variant] = sum(not row["converged"] for row in found)
    total = len(Summary(rows, SEVERAL, SWAPPED, "nlr"))
    return (
        f"Exchanging the starting points exchanges the failures: on {total} tables with five rare nodes NLR fails on "
        f"{counts['nlr', PUBLISHED]} from the intercept and on {counts['nlr', SWAPPED]} from 0; PLG fails on "
        f"{counts['plg', PUBLISHED]} from 0 and on {counts['plg', SWAPPED]} from its fitted fields (limit 20 000 "
        "passes)."
    )


def ours_converged(rows: list[Row]) -> tuple[int, int]:
    """Return how many fits of isinglass converged, of how many."""
    found = [row for row in rows if row["method"].startswith("isinglass")]
    return sum(row["converged"] for row in found), len(found)


# ------------------------------------------------------------------------------------------- verdicts


def claims(rows: list[Row]) -> list[Claim]:
    """Judge what the paper says about NLR, about PLG, and why."""
    return [judge_nlr(rows), judge_plg(rows), judge_reason(rows)]


def is_trouble(rows: list[Row], data: str) -> bool:
    """Tell whether NLR fails on a kind of table, or needs more passes over it than PLG in the mean."""
    nlr, plg = (Summary(rows, data, PUBLISHED, method) for method in ("nlr", "plg"))
    return len(nlr) > 0 and (nlr.failed_accepted > 0 or nlr.mean("table_passes") > plg.mean("table_passes"))


def judge_nlr(rows: list[Row]) -> Claim:
    """Ask under which conditions NLR is slower than PLG or fails."""
    kinds = [data for data in KINDS if where(rows, data=data, variant=PUBLISHED)]
    troubled = [data for data in kinds if is_trouble(rows, data)]
    verdict = Verdict.REPRODUCED if PAPER in troubled else Verdict.REMARK if troubled else Verdict.NOT
    paper, worst = (Summary(rows, data, PUBLISHED, "nlr") for data in (PAPER, SEVERAL))
    finding = (
        f"On the paper's design at λ = {SMALL:g} the rare node takes {paper.median('rare_passes'):.0f} passes "
        f"(median), but {paper.failed} of {len(paper)} tables fail and the mean over all nodes is "
        f"{paper.mean('table_passes'):.0f} against {Summary(rows, PAPER, PUBLISHED, 'plg').mean('table_passes'):.0f} "
        f"passes of PLG. With five rare nodes NLR fails on {worst.failed} of {len(worst)} tables "
        f"({worst.failed_accepted} not counting nodes that glmnet refuses) and takes {worst.mean('table_passes'):.0f} "
        f"passes in the mean against {Summary(rows, SEVERAL, PUBLISHED, 'plg').mean('table_passes'):.0f}. "
    )
    finding += f"It fails, or needs more passes than PLG, for: {', '.join(KINDS[data] for data in troubled) or 'none'}."
    rule = (
        f"reproduced if at λ = {SMALL:g} on the paper's design NLR fails on a table, or needs more passes over the "
        "table than PLG in the mean, with a remark if it does so on another kind of unbalanced tables, else not. "
        "Nodes that glmnet refuses do not count as failures."
    )
    text = "NLR is extremely slow on unbalanced data with small λ and may fail to converge"
    return Claim(text, WHERE, verdict, finding, rule)


def judge_plg(rows: list[Row]) -> Claim:
    """Ask whether PLG keeps its speed, and what its results are worth."""
    fits = [row for row in where(rows, variant=PUBLISHED, method="plg") if row["data"] != BALANCED]
    failed = sum(not row["converged"] for row in fits)
    paper, balanced = (Summary(rows, data, PUBLISHED, "plg") for data in (PAPER, BALANCED))
    factor = paper.mean("table_passes") / balanced.mean("table_passes")
    verdict = Verdict.NOT if failed else Verdict.REPRODUCED if factor <= 2 else Verdict.REMARK
    tight = Summary(rows, PAPER, "threshold 1e-10", "plg")
    finding = (
        f"PLG met its stopping rule in {markdown.share(len(fits) - failed, len(fits))} fits of unbalanced tables. At λ "
        f"= {SMALL:g} it takes {factor:.2g} times as many passes as on balanced tables, and what it returns is off by "
        f"{100 * paper.median('epsilon'):.0f} % (median ε; NLR "
        f"{100 * Summary(rows, PAPER, PUBLISHED, 'nlr').median('epsilon'):.1g} %, isinglass "
        f"{markdown.number(Summary(rows, PAPER, PUBLISHED, 'isinglass').median('epsilon'), 2)})."
    )
    if len(tight):
        finding += (
            f" With a threshold of 1e-10 it takes {tight.mean('table_passes'):.0f} passes and is still off by "
            f"{100 * tight.median('epsilon'):.0f} %."
        )
    rule = (
        f"reproduced if PLG always meets its stopping rule and takes at most twice as many passes at λ = {SMALL:g} as "
        "on balanced tables, with a remark if it takes more, not reproduced if it fails."
    )
    text = "PLG is stable on unbalanced data and keeps its efficiency"
    return Claim(text, WHERE, verdict, finding, rule)


def judge_reason(rows: list[Row]) -> Claim:
    """Ask whether the balance of the response is what makes the difference."""
    trials = {row["trial"] for row in where(rows, variant=SWAPPED)}
    failed = {
        (method, variant): sum(
            not row["converged"] for row in Summary(rows, SEVERAL, variant, method).rows if row["trial"] in trials
        )
        for method in ("nlr", "plg")
        for variant in (PUBLISHED, SWAPPED)
    }
    exchanged = failed["plg", SWAPPED] > failed["plg", PUBLISHED] and failed["nlr", SWAPPED] <= failed["nlr", PUBLISHED]
    untouched = (
        failed["plg", SWAPPED] == failed["plg", PUBLISHED] and failed["nlr", SWAPPED] == failed["nlr", PUBLISHED]
    )
    verdict = Verdict.NOT if exchanged else Verdict.REPRODUCED if untouched else Verdict.REMARK
    rule = (
        "not reproduced if exchanging the starting points, with the responses as they are, makes PLG fail more often "
        "and NLR not more often; reproduced if it changes nothing; else with a remark."
    )
    text = "PLG is stable because its response, all columns in one, is balanced"
    return Claim(text, WHERE, verdict, swap_sentence(rows), rule)
