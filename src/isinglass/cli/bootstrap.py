"""isinglass bootstrap: how stable the edges are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.console import Console, plural
from isinglass.cli.descriptions import describe_solution, describe_table, records
from isinglass.cli.estimate import ESTIMATE, Estimate
from isinglass.cli.options import TABLE, Option, checkpoint_folder, command, flag, was_given
from isinglass.cli.output import deliver, out_folder
from isinglass.cli.reading import READING, Reading
from isinglass.cli.values import OneOf

if TYPE_CHECKING:
    from isinglass.select import Bootstrap

# Kind -> file -> what is in it.
FILES: dict[str, dict[str, Callable[[Bootstrap], dict[str, Any]]]] = {
    "rows": {"edges.csv": lambda found: found.edges(), "nodes.csv": lambda found: found.nodes()},
    "case-drop": {"drops.csv": lambda found: found.drops()},
    "differences": {
        "edge_differences.csv": lambda found: found.differences("edges").table(),
        "node_differences.csv": lambda found: found.differences("strength").table(),
    },
}


@command(
    "bootstrap",
    TABLE,
    Option("-B --resamples n_boot", click.IntRange(1), "Number of resamples.", default=1000),
    Option(
        "--kind", OneOf("rows", "case-drop"), "Draw rows with replacement, or drop a share of them.", default="rows"
    ),
    Option(
        "--reselect/--keep-penalty",
        None,
        "Select the penalty anew in every resample, or keep that of the whole table.",
        default=True,
    ),
    flag("--differences", "Also test which edges and which node strengths differ; needs -o."),
    checkpoint_folder("resamples"),
    bundles=[out_folder("edges.csv, nodes.csv (case-drop: drops.csv)"), ESTIMATE, READING],
    strict=True,
)
def bootstrap(
    console: Console, table: str, differences: bool, open_folder: Any, estimate: Estimate, reading: Reading, **run: Any
) -> None:
    """Assess edge stability by resampling the rows of TABLE.

    Refits the network that `fit` gives with the same options, selecting its penalty anew in every resample. Prints the
    mean and quantiles of each edge and the share of resamples that have it, as CSV; with --kind case-drop, how well
    nodes and edges keep their order when rows are dropped. TABLE may be - for stdin.
    """
    from isinglass.select.bootstrap import bootstrap as resample

    kind = run["kind"]
    if differences and (not was_given("output") or kind != "rows"):
        raise click.UsageError("--differences needs -o FOLDER and --kind rows.")
    files = FILES[kind] | (FILES["differences"] if differences else {})
    folder = open_folder(list(files), inputs=[table], others=[name for names in FILES.values() for name in names])
    data = reading.read_to_fit(console, table)
    console.restart_clock()
    run |= {"random_state": estimate.seed, **estimate.run_options(console)}
    found = resample(data, estimate.to_method(estimate.criterion), **run)
    tables = {name: make(found) for name, make in files.items()}
    facts = {
        "Table": reading.describe(data, table),
        "Method": estimate.summarize(", selected anew in every resample" if run["reselect"] else ", kept"),
        "Resamples": f'{found.n_boot}, kind "{kind}", seed {estimate.seed}',
        **_describe(found),
    }
    dropped = kind == "case-drop"
    record = {
        "table": describe_table(data),
        "method": estimate.record,
        "kind": kind,
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
