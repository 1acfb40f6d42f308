"""isinglass path: networks along decreasing penalties."""

from __future__ import annotations

from pathlib import Path

import click

from isinglass.cli.console import Console, csv_text, format_seconds, plural
from isinglass.cli.methods import METHOD, Method
from isinglass.cli.options import ALPHAS, FORCE, IN_FILE, Number, Option, command, out_folder
from isinglass.cli.output import OutputFolder
from isinglass.cli.reading import READING, Reading

__all__ = ["path"]

EDGE_COLUMNS = ["alpha", "source", "target", "coupling", "sign", "weight"]


@command(
    "path",
    click.Argument(["table"], type=IN_FILE),
    Option(
        "--alphas",
        type=ALPHAS,
        default=50,
        show_default=True,
        help="How many, geometric from the smallest without edges; or which.",
    ),
    Option(
        "--alpha-min-ratio",
        type=Number(0, 1, min_open=True, max_open=True),
        default=0.01,
        show_default=True,
        help="Last alpha over first, where --alphas is a count.",
    ),
    out_folder("path.csv, and edges.csv with the edges of every alpha,"),
    FORCE,
    bundles=[METHOD, READING],
    strict=True,
)
def path(
    console: Console,
    table: str,
    alphas: int | list[float],
    alpha_min_ratio: float,
    output: Path | None,
    force: bool,
    method: Method,
    reading: Reading,
) -> None:
    """Estimate the networks of TABLE along decreasing penalties alpha.

    Prints one line per alpha as CSV: the number of edges, and the certificate. With -o the edges of every alpha are
    written, too. TABLE may be - for stdin.
    """
    from isinglass.cli import results

    folder = OutputFolder(output, ["path.csv", "edges.csv"], force=force, inputs=[table]) if output else None
    data = reading.read_to_fit(console, table)
    console.restart_clock()
    with console.progress("Path", total=alphas if isinstance(alphas, int) else len(alphas)) as advance:
        found = method.fit_path(data, alphas, alpha_min_ratio=alpha_min_ratio, advance=advance)
    rows = results.tabulate_path(found)
    if folder is not None:
        edges = [[s.alpha, *edge.values()] for s in found for edge in results.list_edges(s.network)]
        with folder.filling() as here:
            (here / "path.csv").write_text(csv_text(results.PATH_COLUMNS, rows), encoding="utf-8")
            (here / "edges.csv").write_text(csv_text(EDGE_COLUMNS, edges), encoding="utf-8")
    console.say_facts(
        {
            "Table": reading.describe(data, table),
            "Method": str(method),
            "Path": f"{plural(len(found), 'alpha')} from {found[0].alpha:.4g} to {found[-1].alpha:.4g}, "
            f"{found[0].n_edges} to {plural(found[-1].n_edges, 'edge')}",
            **results.judge(found.solutions, found.tol, proved=method.proves),
            "Time": format_seconds(console.seconds),
            **({"Wrote": folder.summary} if folder else {}),
        }
    )
    if console.as_json:
        record = {
            "table": results.describe_table(data),
            "method": method.record,
            "tol": found.tol,
            "solutions": [dict(zip(results.PATH_COLUMNS, row, strict=True)) for row in rows],
        }
        console.write_json("path", record)
    elif folder is None:
        console.write_csv(results.PATH_COLUMNS, rows)
