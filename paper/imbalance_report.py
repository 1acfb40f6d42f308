"""What the rows of ``imbalance`` say: figure, text and verdicts."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from paper import figures, markdown
from paper.contract import Claim, Row, Verdict
from paper.regressions import FEWEST, MAX_ITER, OLDER_MIN_PROBABILITY, STEPS, TOP
from paper.summary import column, group, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMALL = 1e-5
"""The smallest λ of the paper's range."""
MATTERS = 2.0
"""Factor by which a variant must change the passes to matter."""
PAPER, SEVERAL, BALANCED = "paper", "5 rare", "balanced"
PUBLISHED, SWAPPED, OLDER, TIGHT = "published", "start swapped", "older glmnet", "threshold 1e-10"
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
VARIED = {PAPER: "the paper's design", SEVERAL: "five rare nodes"}
"""Kinds of tables on which the variants are tried."""
VARIANTS = {
    "published": "glmnet's algorithm with its defaults on columns as they are, at one penalty, from its own start",
    "standardised": "columns scaled to unit variance, as glmnet does unless told otherwise; the penalties are then "
    "others, so that there is no ε",
    "warm starts": f"{STEPS} penalties, from {TOP:g} down to the one wanted, each fit starting from the last one; the "
    f"passes of all {STEPS} are summed",
    "older glmnet": f"fitted probabilities count as 0 or 1 from {OLDER_MIN_PROBABILITY:g} on, as in older versions of "
    "glmnet, so that weights cannot become as small",
    "threshold 1e-5": "a looser stopping rule than glmnet's 1e-7",
    "threshold 1e-10": "a tighter one",
    "start swapped": "nodes start from 0, the stacked regression from its fitted fields",
    "glmnet in R": "glmnet itself, to confirm the re-implementation",
    "bounded Hessian": "glmnet in R with its option `modified.Newton`: an upper bound in place of the Hessian, with "
    "which no step overshoots, at the price of more of them",
}
"""What the variants are."""


class Summary:
    """The rows of one kind of table, variant, method and λ, of all trials or of some."""

    def __init__(
        self,
        rows: list[Row],
        data: str,
        variant: str,
        method: str,
        alpha: float = SMALL,
        *,
        trials: Collection[int] | None = None,
    ) -> None:
        found = where(rows, data=data, variant=variant, method=method, alpha=alpha)
        self.rows = [row for row in found if trials is None or row["trial"] in trials]

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
            (TIGHT, TIGHT, "--"),
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
    labels, trials = [], {row["trial"] for row in Summary(rows, SEVERAL, SWAPPED, "nlr").rows}
    for k, (method, variant) in enumerate(bars):
        found = Summary(rows, SEVERAL, variant, method, trials=trials)
        good = len(found) - found.failed
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
The verdicts on the speed and the stability of the two methods are those of the section before, on the paper's design;
here is under which conditions they come out differently, and why. Passes of coordinate descent do not depend on the
machine. All numbers in the tables below are at λ = {SMALL:g}. A pass *over the table* is one visit to every coefficient
of every node; the mean over tables is what an average of computation times follows. *Redrawn*: tables whose first chain
had a node meant to be rare with fewer than {FEWEST} rows of one kind, which glmnet does not fit, so that another chain
was drawn. *Separated*: without a penalty the coefficients of the rarest node's regression would grow without bound.
*Refused*: tables with another node that glmnet does not fit. *Failed*: tables on which a regression used up glmnet's
{count_words(MAX_ITER)} passes, in brackets without the nodes that glmnet refuses. isinglass converged on
{markdown.share(*ours_converged(rows))} fits.

{kind_table(rows)}
{conditions_sentence(rows)}

Variants of the algorithm, tried on tables of {" and of ".join(VARIED.values())} (*published*: on all of them; the
others: on the first ones):

{variant_list(rows)}
{variant_table(rows)}
{older_sentence(rows)}

{mechanism(rows)}
"""


def count_words(value: int) -> str:
    """Return a number with its thousands set apart."""
    return f"{value:,}".replace(",", " ")


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
                sum(row["n_redraws"] > 0 for row in nlr.rows),
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
    header = ["tables", "minority", "redrawn", "separated", "refused", "NLR: rare node", "NLR: table", "PLG: table"]
    return markdown.table([*header, "NLR failed", "PLG failed", "NLR: ε", "PLG: ε"], lines)


def variant_table(rows: list[Row]) -> str:
    """Return one line per variant and kind of table it was tried on."""
    lines = []
    for variant in group(rows, "variant"):
        for data in VARIED:
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


def variant_list(rows: list[Row]) -> str:
    """Return what the variants are that were run."""
    present = group(rows, "variant")
    return "".join(f"- *{variant}*: {text}.\n" for variant, text in VARIANTS.items() if variant in present)


def conditions_sentence(rows: list[Row]) -> str:
    """Say on which kinds of tables NLR fails or needs more passes than PLG; balanced ones are there to compare with."""
    kinds = [data for data in KINDS if where(rows, data=data, variant=PUBLISHED)]
    listed: dict[bool, list[str]] = {True: [], False: []}
    for data in kinds:
        nlr, plg = (Summary(rows, data, PUBLISHED, method) for method in ("nlr", "plg"))
        counts = f"{nlr.mean('table_passes'):.0f} against {plg.mean('table_passes'):.0f} passes"
        words = f"{KINDS[data]} ({counts}, {markdown.share(nlr.failed_accepted, len(nlr))} failed)"
        if data != BALANCED:
            listed[is_trouble(rows, data)].append(words)
    found = [
        f"Of the kinds of unbalanced tables NLR fails on a table, or needs more passes than PLG in the mean, on "
        f"{len(listed[True])} of {sum(map(len, listed.values()))}: {'; '.join(listed[True]) or 'none'}."
    ]
    if listed[False]:
        found.append(f"It does not on: {'; '.join(listed[False])}.")
    if BALANCED in kinds and is_trouble(rows, BALANCED):
        found.append("It does so on balanced tables as well, so that imbalance is not what makes the difference.")
    return " ".join(found)


def is_trouble(rows: list[Row], data: str) -> bool:
    """Tell whether NLR fails on a kind of table, or needs more passes over it than PLG in the mean."""
    nlr, plg = (Summary(rows, data, PUBLISHED, method) for method in ("nlr", "plg"))
    return len(nlr) > 0 and (nlr.failed_accepted > 0 or nlr.mean("table_passes") > plg.mean("table_passes"))


def older_sentence(rows: list[Row]) -> str:
    """Say whether the rule of older versions of glmnet makes a difference to NLR, on the tables tried with both."""
    parts, matters = [], False
    for data in VARIED:
        trials = {row["trial"] for row in Summary(rows, data, OLDER, "nlr").rows}
        if not trials:
            continue
        new, old = (Summary(rows, data, variant, "nlr", trials=trials) for variant in (PUBLISHED, OLDER))
        factor = old.mean("table_passes") / new.mean("table_passes")
        matters |= old.failed != new.failed or not 1 / MATTERS <= factor <= MATTERS
        parts.append(
            f"on {VARIED[data]} NLR takes {old.mean('table_passes'):.0f} instead of {new.mean('table_passes'):.0f} "
            f"passes and fails on {old.failed} instead of {new.failed} of {len(trials)} tables"
        )
    if not parts:
        return ""
    verdict = "matters" if matters else "does not matter"
    return (
        f"The rule of older versions of glmnet {verdict} (other failures, or passes changed by more than a factor of "
        f"{MATTERS:g}): {'; '.join(parts)}."
    )


# ------------------------------------------------------------------------------------------- causes


def mechanism(rows: list[Row]) -> str:
    """Give the explanation, and what the rows say to each of its steps."""
    return f"""\
Two things can happen to a rare node. Where the other columns separate its few rows, its coefficients grow like log(1/λ)
and coordinate descent needs more and more passes. That is slow, not wrong, and it strikes this regression of the p.
{separation_sentence(rows)} The stopping rule of the stacked regression compares each step with the deviance of the
whole table. {stopping_sentence(rows)}

The other is failure. glmnet's algorithm takes full Newton steps, without checking that the objective falls. NLR starts
from the intercept, where a node with a share q of rare rows has weights q(1 − q) and a step can be as long as 1/q. If
another rare column points at one of its rare rows, and λ is too small to hold that coefficient, the step overshoots,
fitted probabilities become 0 and 1, and the next quadratic model is no better. If so, it is the nodes that share a rare
row that fail. {meeting_sentence(rows)} {steps_sentence(rows)}PLG has no intercept; it starts from 0, where every weight
is 1/4 and no step is long. If that is what protects it, exchanging the starting points exchanges the failures.
{swap_sentence(rows)}
"""


def separation_sentence(rows: list[Row]) -> str:
    """Say how separation and passes go together, and whether the stacked problem is separated too."""
    one = Summary(rows, PAPER, PUBLISHED, "nlr").rows
    passes = {
        text: np.median(found)
        for flag, text in ((True, "is"), (False, "is not"))
        if (found := [row["rare_passes"] for row in one if row["node_separated"] is flag])
    }
    medians = " and ".join(f"{value:.0f} passes where it {text} separated" for text, value in passes.items())
    sentence = f"On the paper's tables the rarest node takes, in the median, {medians}." if passes else ""
    known = [
        row
        for row in where(rows, variant=PUBLISHED, method="nlr", alpha=SMALL)
        if row["node_separated"] and row["joint_separated"] is not None
    ]
    if known:
        joint = sum(row["joint_separated"] for row in known)
        words = "does not escape" if joint == len(known) else "escapes in part" if joint else "escapes"
        sentence += (
            f" The stacked problem {words}: it is separated on {markdown.share(joint, len(known))} tables with a "
            "separated node (of those small enough to tell)."
        )
    return sentence


def stopping_sentence(rows: list[Row]) -> str:
    """Say how long PLG goes on, and what its result is worth beside NLR's."""
    nlr, plg, ours = (Summary(rows, PAPER, PUBLISHED, method) for method in ("nlr", "plg", "isinglass"))
    early = plg.median("epsilon") > nlr.median("epsilon")
    words = "too early to come as near to the optimum as NLR" if early else "and comes at least as near as NLR"
    found = (
        f"On the paper's design it stops after {plg.mean('table_passes'):.0f} passes in the mean (the rare node alone "
        f"takes {nlr.mean('rare_passes'):.0f} in NLR), {words}: ε is {markdown.number(plg.median('epsilon'), 2)} in "
        f"the median against {markdown.number(nlr.median('epsilon'), 2)} of NLR and "
        f"{markdown.number(ours.median('epsilon'), 2)} of isinglass."
    )
    tight = Summary(rows, PAPER, TIGHT, "plg")
    if len(tight):
        found += (
            f" With *{TIGHT}* it takes {tight.mean('table_passes'):.0f} passes, and ε is "
            f"{markdown.number(tight.median('epsilon'), 2)}."
        )
    return found


def meeting_sentence(rows: list[Row]) -> str:
    """Say how failures depend on a rare row shared with another rare column."""
    found = where(rows, variant=PUBLISHED, method="nlr", alpha=SMALL)
    names = ("n_alone", "n_failed_alone", "n_meeting", "n_failed_meeting", "n_failed_common")
    total = {name: sum(column(found, name)) for name in names}
    shares = [total[f"n_failed_{name}"] / max(total[f"n_{name}"], 1) for name in ("meeting", "alone")]
    verdict = "It is so" if shares[0] > shares[1] else "It is not so"
    return (
        f"{verdict}: over all kinds of tables, as published, "
        f"{markdown.share(total['n_failed_meeting'], total['n_meeting'])} rare nodes that share a rare row with "
        f"another rare column failed, and {markdown.share(total['n_failed_alone'], total['n_alone'])} rare nodes that "
        f"do not; {total['n_failed_common']} failures were of nodes that are not rare (rare: at least {FEWEST} and at "
        "most 5 % of the rows)."
    )


def steps_sentence(rows: list[Row]) -> str:
    """Say on how many Newton steps failing runs spent their passes; nothing where none failed."""
    tables = where(rows, variant=PUBLISHED, method="nlr", alpha=SMALL)
    steps = [row["newton_steps"] for row in tables if not row["converged"]]
    if not steps:
        return ""
    return f"The runs that used up their passes spent them on {min(steps)} to {max(steps)} Newton steps. "


def swap_counts(rows: list[Row]) -> tuple[dict[tuple[str, str], int], int]:
    """Return the failures of both methods from either starting point, on the tables tried with both."""
    trials = {row["trial"] for row in Summary(rows, SEVERAL, SWAPPED, "nlr").rows}
    counts = {
        (method, variant): Summary(rows, SEVERAL, variant, method, trials=trials).failed
        for method in ("nlr", "plg")
        for variant in (PUBLISHED, SWAPPED)
    }
    return counts, len(trials)


def swap_effect(rows: list[Row]) -> str:
    """Return what exchanging the starting points does to the failures, in one word."""
    failed, total = swap_counts(rows)
    change = {method: failed[method, SWAPPED] - failed[method, PUBLISHED] for method in ("nlr", "plg")}
    if not total or not any(failed.values()):
        return "unknown"
    if change["plg"] > 0 and change["nlr"] <= 0:
        return "exchanged"
    return "untouched" if change["plg"] == change["nlr"] == 0 else "partly"


SWAP_WORDS = {
    "exchanged": "Exchanging the starting points exchanges the failures",
    "untouched": "Exchanging the starting points leaves the failures as they are",
    "partly": "Exchanging the starting points changes the failures, but does not exchange them",
    "unknown": "There are no failures that exchanging the starting points could exchange",
}


def swap_sentence(rows: list[Row]) -> str:
    """Say what exchanging the starting points does."""
    counts, total = swap_counts(rows)
    return (
        f"{SWAP_WORDS[swap_effect(rows)]}: on {total} tables with five rare nodes at λ = {SMALL:g} NLR fails on "
        f"{counts['nlr', PUBLISHED]} from the intercept and on {counts['nlr', SWAPPED]} from 0; PLG fails on "
        f"{counts['plg', PUBLISHED]} from 0 and on {counts['plg', SWAPPED]} from its fitted fields (limit "
        f"{count_words(MAX_ITER)} passes for all)."
    )


def ours_converged(rows: list[Row]) -> tuple[int, int]:
    """Return how many fits of isinglass converged, of how many."""
    found = [row for row in rows if row["method"].startswith("isinglass")]
    return sum(row["converged"] for row in found), len(found)


# ------------------------------------------------------------------------------------------- verdict


def claims(rows: list[Row]) -> list[Claim]:
    """Judge the paper's reason; ``unbalanced`` judges what it is the reason for."""
    verdicts = {"exchanged": Verdict.NOT, "untouched": Verdict.REPRODUCED}
    rule = (
        "not reproduced if exchanging the starting points, with the responses as they are, makes PLG fail more often "
        "and NLR not more often; reproduced if something fails and it changes nothing; else with a remark."
    )
    text = "PLG is stable because its response, all columns in one, is balanced"
    verdict = verdicts.get(swap_effect(rows), Verdict.REMARK)
    return [Claim(text, "Sections on unbalanced data", verdict, swap_sentence(rows), rule)]
