"""isinglass select: which penalty each criterion chooses."""

from __future__ import annotations

from typing import Any

import click

from isinglass.cli.console import Console, csv_text, format_seconds
from isinglass.cli.estimate import SELECTING, Estimate
from isinglass.cli.options import TABLE, command, was_given
from isinglass.cli.reading import READING, Reading, describe_imputation, impute_holes

COLUMNS = ["criterion", "alpha", "n_edges", "n_positive", "ebic", "held_out"]


@command("select", TABLE, bundles=[SELECTING, READING], strict=True)
def select(console: Console, table: str, estimate: Estimate, reading: Reading) -> None:
    """Show which penalty each criterion selects for TABLE.

    Prints one line per criterion as CSV: the two-stage network that `fit` gives (with --method joint), EBIC at three
    values of gamma, cross-validation with both rules, and StARS (stability). Each choice comes with its EBIC (at
    --gamma) and its score on held-out rows. TABLE may be - for stdin.
    """
    from isinglass.cli import descriptions
    from isinglass.select import compare_criteria

    if was_given("cv_rule"):
        raise click.UsageError("--cv-rule has no effect here: both rules are shown.")
    raw = reading.read_to_fit(console, table)
    data, imputed = impute_holes(console, raw)
    console.restart_clock()
    run: dict[str, Any] = {"n_jobs": estimate.n_jobs, "progress": console.progress_wanted}
    stability = estimate.function("stars")(data, **run)
    others: dict[str, Any] = {"StARS": stability.alpha}
    if estimate.method == "joint":
        others["two-stage"] = estimate.function("two-stage", errors=False)(data, **run)
    gamma = estimate.said.get("gamma", 0.25)
    if estimate.said.get("relaxed"):
        others[f"EBIC γ={gamma:g} relaxed"] = estimate.function("ebic")(data).alpha
    found = compare_criteria(
        data,
        ebic_gamma=gamma,
        others=others,
        path_function=estimate.grid_function,
        random_state=estimate.seed,
        **{name: estimate.said[name] for name in ("alphas", "n_folds") if name in estimate.said},
        **run,
    )
    rows = [list(row) for row in zip(*(descriptions.plain(column) for column in found.columns.values()), strict=True)]
    console.say_facts(
        {
            "Table": reading.describe(raw, table),
            **describe_imputation(imputed),
            "Method": str(estimate),
            "Path": f"{len(found.path)} alphas from {found.path[0].alpha:.4g} to {found.path[-1].alpha:.4g}",
            **descriptions.judge(
                found.path.solutions, found.path.tol, descriptions.shares_of(data), proved=estimate.proves
            ),
            "Time": format_seconds(console.seconds),
        }
    )
    if console.as_json:
        record = {
            "table": descriptions.describe_table(raw),
            "method": estimate.record,
            "ebic_gamma": found.ebic_gamma,
            "criteria": [dict(zip(COLUMNS, row, strict=True)) for row in rows],
            "stability": descriptions.describe_stability(stability),
        }
        console.write_json("select", record)
    else:
        console.write(csv_text(COLUMNS, rows))
