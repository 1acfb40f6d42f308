"""isinglass select: what each criterion chooses."""

from __future__ import annotations

from typing import Any

import click

from isinglass.cli.choosing import CHOOSING, Choosing
from isinglass.cli.console import Console, format_seconds
from isinglass.cli.methods import METHOD, Method
from isinglass.cli.options import IN_FILE, command, was_given
from isinglass.cli.reading import READING, Reading

__all__ = ["select"]

COLUMNS = ["criterion", "alpha", "n_edges", "n_positive", "ebic", "held_out"]


@command("select", click.Argument(["table"], type=IN_FILE), bundles=[CHOOSING, METHOD, READING], strict=True)
def select(console: Console, table: str, choosing: Choosing, method: Method, reading: Reading) -> None:
    """Show which penalty alpha each criterion chooses for TABLE.

    Prints one line per criterion as CSV: the two-stage network that `fit` gives (with --method joint), EBIC with three
    values of gamma, cross-validation with two rules, and StARS (stability). Every choice is judged by the EBIC (at
    --gamma) and by the score of held-out rows. TABLE may be - for stdin.
    """
    from isinglass.cli import results
    from isinglass.select import compare_criteria, two_stage

    if was_given("cv_rule"):
        raise click.UsageError("--cv-rule cannot be used here: both rules are shown.")
    data = reading.read_to_fit(console, table)
    console.restart_clock()
    stability = choosing.run_stars(console, data, method)
    others: dict[str, Any] = {"StARS": stability.alpha}
    if method.method == "joint":
        others["two-stage"] = two_stage(
            data.X,
            path_function=method.path_function,
            sample_weight=data.sample_weight,
            errors=False,
            n_jobs=choosing.n_jobs,
            progress=console.progress_wanted,
            **choosing.two_stage,
        )
    if choosing.relaxed:
        others[f"EBIC γ={choosing.gamma:g} relaxed"] = choosing.choose_alpha(console, data, method, "ebic")[0]
    found = compare_criteria(
        data.X,
        alphas=choosing.grid["alphas"],
        ebic_gamma=choosing.gamma,
        others=others,
        n_folds=choosing.n_folds("cv"),
        path_function=method.with_settings(alpha_min_ratio=choosing.grid["alpha_min_ratio"]),
        sample_weight=data.sample_weight,
        random_state=choosing.seed,
        n_jobs=choosing.n_jobs,
        progress=console.progress_wanted,
    )
    rows = [list(row) for row in zip(*(results.plain(column) for column in found.columns.values()), strict=True)]
    console.say_facts(
        {
            "Table": reading.describe(data, table),
            "Method": str(method),
            "Path": f"{len(found.path)} alphas from {found.path[0].alpha:.4g} to {found.path[-1].alpha:.4g}",
            **results.judge(found.path.solutions, found.path.tol, proved=method.proves),
            "Time": format_seconds(console.seconds),
        }
    )
    if console.as_json:
        record = {
            "table": results.describe_table(data),
            "method": method.record,
            "ebic_gamma": found.ebic_gamma,
            "criteria": [dict(zip(COLUMNS, row, strict=True)) for row in rows],
            "stability": results.describe_stability(stability),
        }
        console.write_json("select", record)
    else:
        console.write_csv(COLUMNS, rows)
