"""isinglass bootstrap: how stable the edges are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.command import command
from isinglass.cli.console import Console, plural
from isinglass.cli.descriptions import describe_solution, describe_table, records
from isinglass.cli.estimate import ESTIMATE, Estimate
from isinglass.cli.options import TABLE
from isinglass.cli.output import OutputFolder, deliver
from isinglass.cli.reading import READING, Reading

if TYPE_CHECKING:
    from isinglass.select import Bootstrap

# File -> what is in it, by kind.
ROWS: dict[str, Callable[[Bootstrap], dict[str, Any]]]
ROWS = {"edges.csv": lambda found: found.edges(), "nodes.csv": lambda found: found.nodes()}
FILES = {
    "rows": ROWS,
    "differences": {
        **ROWS,
        "edge_differences.csv": lambda found: found.differences("edges").table(),
        "node_differences.csv": lambda found: found.differences("strength").table(),
    },
    "case-drop": {"drops.csv": lambda found: found.drops()},
}


@command(
    "bootstrap",
    TABLE,
    *("n_resamples", "kind", "reselect", "checkpoint", "output", "force"),
    bundles=[ESTIMATE, READING],
    general="strict as_json",
)
def bootstrap(
    console: Console,
    table: str,
    n_resamples: int | None,
    kind: str,
    reselect: bool | None,
    checkpoint: str | None,
    output: Path | None,
    force: bool,
    estimate: Estimate,
    reading: Reading,
) -> None:
    """Assess edge stability by resampling the rows of TABLE.

    Refits the network that `fit` gives with the same options, selecting its penalty anew in every resample. Prints the
    mean and quantiles of each edge and the share of resamples that have it, as CSV; with --kind case-drop, how well
    nodes and edges keep their order when rows are dropped. TABLE may be - for stdin.

    With -o, writes edges.csv and nodes.csv (case-drop: drops.csv; differences: also edge_differences.csv and
    node_differences.csv) and run.json to a folder.
    """
    from isinglass.select.bootstrap import bootstrap as resample

    if kind == "differences" and output is None:
        raise click.UsageError("--kind differences needs -o FOLDER.")
    files = FILES[kind]
    every = [name for names in FILES.values() for name in names]
    folder = OutputFolder.open(output, list(files), force=force, inputs=[table], others=every)
    data = reading.read_to_fit(console, table)
    console.restart_clock()
    reselect = reselect is not False
    found = resample(
        data,
        estimate.method,
        n_boot=n_resamples or 1000,
        kind="case-drop" if kind == "case-drop" else "rows",
        reselect=reselect,
        checkpoint=checkpoint,
        random_state=estimate.seed,
        **estimate.run_options(console),
    )
    tables = {name: make(found) for name, make in files.items()}
    facts = {
        "Table": reading.describe(data, table),
        "Method": estimate.summarize(", selected anew in every resample" if reselect else ", kept"),
        "Resamples": f'{found.n_boot}, kind "{found.kind}", seed {estimate.seed}',
        **_describe(found),
    }
    dropped = found.kind == "case-drop"
    record = {
        "table": describe_table(data),
        "method": estimate.record,
        "kind": found.kind,
        "n_resamples": found.n_boot,
        "seed": estimate.seed,
        "network": describe_solution(found.solution),
        "cs_coefficient": found.cs_coefficient() if dropped else None,
        "cs_coefficient_edges": found.cs_coefficient("edges") if dropped else None,
        **{name.removesuffix(".csv"): records(columns) for name, columns in tables.items()},
    }
    deliver(console, folder, facts, tables, record, kept=("Table", "Method", "Resamples"))


def _describe(found: Bootstrap) -> dict[str, str]:
    """Say in words what was found."""
    often = int((found.inclusion[found.edge_values != 0] >= 0.95).sum())
    facts = {
        "Network": f"{plural(found.solution.n_edges, 'edge')}, {often} of them in at least 95 % of the resamples; "
        f"{plural(len(found.edge_index), 'pair')} seen at least once"
    }
    if found.kind == "case-drop":
        both = f"strength {found.cs_coefficient():g}, edges {found.cs_coefficient('edges'):g}"
        facts["Stability"] = f"CS-coefficients: {both} (interpret from 0.25 on, better 0.5)"
    if found.n_constant:
        facts["Constant"] = f"a column that varies in the table is constant in {plural(found.n_constant, 'resample')}"
    return facts
