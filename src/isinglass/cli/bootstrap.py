"""isinglass bootstrap: how far to trust the edges."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.choosing import CHOOSING, Choosing
from isinglass.cli.console import Console, csv_text, format_seconds, plural
from isinglass.cli.fitting import ALPHA, SELECT, criterion_of, fit_function
from isinglass.cli.methods import METHOD, Method
from isinglass.cli.options import FORCE, IN_FILE, Option, command, out_folder
from isinglass.cli.output import OutputFolder
from isinglass.cli.reading import READING, Reading

if TYPE_CHECKING:
    from collections.abc import Callable

    from isinglass.select import Bootstrap

__all__ = ["bootstrap"]

FILES = {
    "rows": ["edges.csv", "nodes.csv"],
    "case-drop": ["drops.csv"],
    "differences": ["edge_differences.csv", "node_differences.csv"],
}


@command(
    "bootstrap",
    click.Argument(["table"], type=IN_FILE),
    ALPHA,
    SELECT,
    Option("-B", "--resamples", type=click.IntRange(min=1), default=1000, show_default=True, help="How many."),
    Option(
        "--kind",
        type=click.Choice(["rows", "case-drop"]),
        default="rows",
        show_default=True,
        help="Draw rows with replacement, or leave a share of them out.",
    ),
    Option(
        "--reselect/--keep-penalty",
        default=True,
        show_default=True,
        help="Choose the penalty again in every resample, or keep that of the whole table.",
    ),
    Option("--differences", is_flag=True, help="Also test which edges, and which node strengths, differ; needs -o."),
    Option(
        "--checkpoint",
        type=click.Path(file_okay=False),
        metavar="FOLDER",
        help="Keep finished fits here; the same command resumes after an interruption.",
    ),
    out_folder("edges.csv and nodes.csv, or drops.csv,"),
    FORCE,
    bundles=[CHOOSING, METHOD, READING],
    strict=True,
)
def bootstrap(
    console: Console,
    table: str,
    resamples: int,
    kind: str,
    output: Path | None,
    force: bool,
    choosing: Choosing,
    method: Method,
    reading: Reading,
    **options: Any,
) -> None:
    """Estimate the network of TABLE again from resampled rows.

    The network is the one that `fit` gives with the same options, and its penalty is chosen again in every resample.
    Prints as CSV for every edge its mean, its quantiles and the share of the resamples that have it. With --kind
    case-drop: how far nodes and edges keep their order when rows are left out. TABLE may be - for stdin.
    """
    from isinglass.select.bootstrap import bootstrap as resample

    alpha, differences = options["alpha"], options["differences"]
    criterion = criterion_of(alpha, options["select"], choosing, method)
    if differences and (output is None or kind != "rows"):
        raise click.UsageError("--differences needs -o FOLDER and --kind rows.")
    files = FILES[kind] + (FILES["differences"] if differences else [])
    others = [name for names in FILES.values() for name in names]
    folder = OutputFolder(output, files, force=force, inputs=[table], others=others) if output else None
    data = reading.read_to_fit(console, table)
    console.restart_clock()
    found = resample(
        data,
        fit_function(method, choosing, alpha, criterion),
        n_boot=resamples,
        kind=kind,
        reselect=options["reselect"],
        random_state=choosing.seed,
        n_jobs=choosing.n_jobs,
        checkpoint=options["checkpoint"],
        progress=console.progress_wanted,
    )
    tables = _tabulate(found, files)
    per_node = found.solution.alphas_per_node is not None
    chosen = "alpha given" if criterion is None else choosing.describe(criterion, per_node=per_node)
    again = "" if criterion is None else ", chosen again in every resample" if options["reselect"] else ", kept"
    facts = {
        "Table": reading.describe(data, table),
        "Method": f"{method}; {chosen}{again}",
        "Resamples": f'{resamples}, kind "{kind}", seed {choosing.seed}',
        **_describe(found),
        "Time": format_seconds(console.seconds),
    }
    if folder is not None:
        with folder.filling({name: facts[name] for name in ("Table", "Method", "Resamples")}) as here:
            for name, columns in tables.items():
                text = csv_text(list(columns), zip(*columns.values(), strict=True))
                (here / name).write_text(text, encoding="utf-8")
    console.say_facts(facts | ({"Wrote": folder.summary} if folder else {}))
    if console.as_json:
        _write_json(console, found, tables, data, method, {"n_resamples": resamples, "seed": choosing.seed})
    elif folder is None:
        columns = next(iter(tables.values()))
        console.write_csv(list(columns), zip(*columns.values(), strict=True))


def _tabulate(found: Bootstrap, files: list[str]) -> dict[str, dict[str, list[Any]]]:
    """Return the columns of every file, as plain values."""
    makers: dict[str, Callable[[], dict[str, Any]]] = {
        "edges.csv": found.edges,
        "nodes.csv": found.nodes,
        "drops.csv": found.drops,
        "edge_differences.csv": lambda: found.differences("edges").table(),
        "node_differences.csv": lambda: found.differences("strength").table(),
    }
    return {file: {name: column.tolist() for name, column in makers[file]().items()} for file in files}


def _describe(found: Bootstrap) -> dict[str, str]:
    """Say in words what was found."""
    often = int((found.inclusion[found.edge_values != 0] >= 0.95).sum())
    facts = {
        "Network": f"{plural(found.solution.n_edges, 'edge')}, {often} of them in at least 95 % of the resamples; "
        f"{plural(len(found.edge_index), 'pair')} seen at least once"
    }
    if found.kind == "case-drop":
        both = f"strength {found.cs_coefficient():g}, edges {found.cs_coefficient('edges'):g}"
        facts["Stability"] = f"CS-coefficients: {both} (0.25 is the least to interpret)"
    if found.n_constant:
        facts["Constant"] = f"a column that varies in the table is constant in {plural(found.n_constant, 'resample')}"
    return facts


def _write_json(
    console: Console,
    found: Bootstrap,
    tables: dict[str, dict[str, list[Any]]],
    data: Any,
    method: Method,
    settings: dict[str, Any],
) -> None:
    from isinglass.cli import results

    record: dict[str, Any] = {
        "table": results.describe_table(data),
        "method": method.record,
        "kind": found.kind,
        **settings,
        "network": results.describe_solution(found.solution),
        "cs_coefficient": found.cs_coefficient() if found.kind == "case-drop" else None,
        "cs_coefficient_edges": found.cs_coefficient("edges") if found.kind == "case-drop" else None,
    }
    for name, columns in tables.items():
        record[name.removesuffix(".csv")] = [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ]
    console.write_json("bootstrap", record)
