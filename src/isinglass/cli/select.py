"""isinglass select: which penalty each criterion chooses."""

from __future__ import annotations

from typing import Any

from isinglass.cli.console import Console
from isinglass.cli.descriptions import describe_stability, describe_table, records
from isinglass.cli.estimate import SELECTING, Estimate
from isinglass.cli.options import TABLE, command
from isinglass.cli.output import deliver
from isinglass.cli.reading import READING, Reading, describe_imputation, impute_holes

COLUMNS = ["criterion", "alpha", "n_edges", "n_positive", "ebic", "held_out"]


@command("select", TABLE, bundles=[SELECTING, READING], strict=True)
def select(console: Console, table: str, estimate: Estimate, reading: Reading) -> None:
    """Show which penalty each criterion selects for TABLE.

    Prints one line per criterion as CSV: the two-stage network that `fit` gives (with --method joint), EBIC at three
    values of gamma, cross-validation with both rules, and StARS (stability). Each choice comes with its EBIC (at
    --gamma) and its score on held-out rows. TABLE may be - for stdin.
    """
    from isinglass.select import compare_criteria

    raw = reading.read_to_fit(console, table)
    data, imputed = impute_holes(console, raw)
    console.restart_clock()
    run = estimate.run(console)
    stability = estimate.to_method("stars").choose(data, run=run).stability
    assert stability is not None
    others: dict[str, Any] = {"StARS": stability.alpha}
    if estimate.method == "joint":
        others["two-stage"] = estimate.to_method("two-stage").choose(data, run=run)
    gamma = estimate.said.get("gamma", 0.25)
    if estimate.said.get("relaxed"):
        others[f"EBIC γ={gamma:g} relaxed"] = estimate.to_method("ebic").choose(data, run=run).alpha
    found = compare_criteria(
        data,
        ebic_gamma=gamma,
        others=others,
        paths=estimate.to_method("stars"),
        random_state=estimate.seed,
        run=run,
        **{name: estimate.said[name] for name in ("alphas", "n_folds", "alpha_min_ratio") if name in estimate.said},
    )
    known = ([None if value != value else value for value in column] for column in found.columns.values())
    columns = dict(zip(COLUMNS, known, strict=True))
    facts = {
        "Table": reading.describe(raw, table),
        **describe_imputation(imputed),
        "Method": str(estimate),
        "Path": f"{len(found.path)} alphas from {found.path[0].alpha:.4g} to {found.path[-1].alpha:.4g}",
        **estimate.judge_path(found.path, data),
    }
    record = {
        "table": describe_table(raw),
        "method": estimate.record,
        "ebic_gamma": found.ebic_gamma,
        "criteria": records(columns),
        "stability": describe_stability(stability),
    }
    deliver(console, None, facts, {"criteria": columns}, record)
