"""isinglass bootstrap: how stable the edges are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.console import Console, format_seconds, plural
from isinglass.cli.estimate import ESTIMATE, Estimate, constants_named
from isinglass.cli.options import FORCE, TABLE, Option, checkpoint_folder, command, out_folder
from isinglass.cli.output import OutputFolder, deliver
from isinglass.cli.reading import READING, Reading
from isinglass.cli.values import OneOf

if TYPE_CHECKING:
    from collections.abc import Callable

    from isinglass.data import BinaryTable
    from isinglass.select import Bootstrap

FILES = {
    "rows": ["edges.csv", "nodes.csv"],
    "case-drop": ["drops.csv"],
    "differences": ["edge_differences.csv", "node_differences.csv"],
}


@command(
    "bootstrap",
    TABLE,
    Option(*("-B", "--resamples", "n_boot"), type=click.IntRange(min=1), default=1000, help="Number of resamples."),
    Option(
        "--kind",
        type=OneOf(["rows", "case-drop"]),
        default="rows",
        help="Draw rows with replacement, or drop a share of them.",
    ),
    Option(
        "--reselect/--keep-penalty",
        default=True,
        help="Select the penalty anew in every resample, or keep that of the whole table.",
    ),
    Option("--differences", is_flag=True, help="Also test which edges and which node strengths differ; needs -o."),
    checkpoint_folder("resamples"),
    out_folder("edges.csv, nodes.csv (case-drop: drops.csv)"),
    FORCE,
    bundles=[ESTIMATE, READING],
    strict=True,
)
def bootstrap(
    console: Console,
    table: str,
    output: Path | None,
    force: bool,
    differences: bool,
    estimate: Estimate,
    reading: Reading,
    **options: Any,
) -> None:
    """Assess edge stability by resampling the rows of TABLE.

    Refits the network that `fit` gives with the same options, selecting its penalty anew in every resample. Prints the
    mean and quantiles of each edge and the share of resamples that have it, as CSV; with --kind case-drop, how well
    nodes and edges keep their order when rows are dropped. TABLE may be - for stdin.
    """
    from isinglass.select.bootstrap import bootstrap as resample

    criterion, kind = estimate.criterion, options["kind"]
    if differences and (output is None or kind != "rows"):
        raise click.UsageError("--differences needs -o FOLDER and --kind rows.")
    files = FILES[kind] + (FILES["differences"] if differences else [])
    others = [name for names in FILES.values() for name in names]
    folder = OutputFolder(output, files, force=force, inputs=[table], others=others) if output else None
    data = reading.read_to_fit(console, table)
    console.restart_clock()
    with constants_named(data):
        found = resample(
            data,
            estimate.function(criterion),
            **estimate.run_options(console),
            **options,
        )
    tables = _tabulate(found, files)
    again = "selected anew in every resample" if options["reselect"] else "kept"
    chosen = "alpha given" if criterion is None else f"{estimate.describe(criterion)}, {again}"
    facts = {
        "Table": reading.describe(data, table),
        "Method": f"{estimate}; {chosen}",
        "Resamples": f'{options["n_boot"]}, kind "{kind}", seed {estimate.seed}',
        **_describe(found),
        "Time": format_seconds(console.seconds),
    }
    deliver(
        *(console, "bootstrap", folder, facts, ("Table", "Method", "Resamples"), tables),
        record=lambda: _record(found, tables, data, estimate),
    )


def _tabulate(found: Bootstrap, files: list[str]) -> dict[str, dict[str, Any]]:
    """Return the columns of every file."""
    makers: dict[str, Callable[[], dict[str, Any]]] = {
        "edges.csv": found.edges,
        "nodes.csv": found.nodes,
        "drops.csv": found.drops,
        "edge_differences.csv": lambda: found.differences("edges").table(),
        "node_differences.csv": lambda: found.differences("strength").table(),
    }
    return {file: makers[file]() for file in files}


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


def _record(
    found: Bootstrap, tables: dict[str, dict[str, Any]], data: BinaryTable, estimate: Estimate
) -> dict[str, Any]:
    from isinglass.cli import descriptions

    dropped = found.kind == "case-drop"
    return {
        "table": descriptions.describe_table(data),
        "method": estimate.record,
        "kind": found.kind,
        "n_resamples": found.n_boot,
        "seed": estimate.seed,
        "network": descriptions.describe_solution(found.solution),
        "cs_coefficient": found.cs_coefficient() if dropped else None,
        "cs_coefficient_edges": found.cs_coefficient("edges") if dropped else None,
        **{name.removesuffix(".csv"): descriptions.records(columns) for name, columns in tables.items()},
    }
