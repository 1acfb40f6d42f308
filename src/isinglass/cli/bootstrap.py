"""isinglass bootstrap: how far to trust the edges."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.choosing import CHOOSING, Choosing
from isinglass.cli.console import Console, csv_text, format_seconds
from isinglass.cli.fitting import ALPHA, SELECT, criterion_of, fit_function
from isinglass.cli.methods import METHOD, Method
from isinglass.cli.options import FORCE, IN_FILE, Option, command, out_folder
from isinglass.cli.output import OutputFolder
from isinglass.cli.reading import READING, Reading
from isinglass.cli.wording import plural

if TYPE_CHECKING:
    from isinglass.select import Bootstrap

__all__ = ["bootstrap"]

EDGE_COLUMNS = ["source", "target", "coupling", "mean", "q2.5", "q50", "q97.5", "inclusion"]
NODE_COLUMNS = ["name", "strength", "q2.5", "q50", "q97.5"]
DROP_COLUMNS = ["dropped", "correlation", "q5"]


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
        "--checkpoint",
        type=click.Path(file_okay=False),
        metavar="DIR",
        help="Keep finished fits in this folder; the same command resumes after an interruption.",
    ),
    out_folder("edges.csv and nodes.csv, or drops.csv,"),
    FORCE,
    bundles=[CHOOSING, METHOD, READING],
    strict=True,
)
def bootstrap(
    console: Console,
    table: str,
    alpha: float | None,
    select: str | None,
    resamples: int,
    kind: str,
    checkpoint: str | None,
    output: Path | None,
    force: bool,
    choosing: Choosing,
    method: Method,
    reading: Reading,
) -> None:
    """Estimate the network of TABLE again from resampled rows.

    Prints as CSV for every edge its mean, its quantiles and the share of the resamples that have it. With --kind
    case-drop: how the order of the nodes by strength survives when rows are left out. The two-stage network is chosen
    again in every resample; an alpha is given, or chosen once from the whole table and the same in all resamples. TABLE
    may be - for stdin.
    """
    from isinglass.cli import results
    from isinglass.select.bootstrap import bootstrap as resample

    criterion = criterion_of(alpha, select, choosing, method)
    reading.refuse_weights("bootstrap draws rows, each as likely as the other")
    files = ["edges.csv", "nodes.csv"] if kind == "rows" else ["drops.csv"]
    others = ["edges.csv", "nodes.csv", "drops.csv"]
    folder = OutputFolder(output, files, force=force, inputs=[table], others=others) if output else None
    data = reading.read_to_fit(console, table)
    console.restart_clock()
    if criterion in ("stars", "ebic", "cv"):  # chosen once, and kept
        alpha, _ = choosing.choose_alpha(console, data, method, criterion)
    fit = fit_function(method, choosing, alpha, criterion if alpha is None else None)
    found = resample(
        data.X,
        fit,
        n_boot=resamples,
        kind=kind,
        random_state=choosing.seed,
        n_jobs=choosing.n_jobs,
        checkpoint=checkpoint,
        progress=console.progress_wanted,
    )
    tables = _tabulate(found, results.names_of(data))
    if folder is not None:
        with folder.filling() as here:
            for name, (header, rows) in zip(files, tables, strict=True):
                (here / name).write_text(csv_text(header, rows), encoding="utf-8")
    chosen = "given" if criterion is None else choosing.describe(criterion)
    chosen = chosen if alpha is None else f"alpha {alpha:.6g}, {chosen}"
    facts = {
        "Table": reading.describe(data, table),
        "Method": f"{method}; {chosen}",
        "Resamples": f'{resamples}, kind "{kind}", seed {choosing.seed}',
        "Network": f"{plural(found.solution.n_edges, 'edge')}, "
        f"{int((found.inclusion[found.edge_values != 0] >= 0.95).sum())} of them in at least 95 % of the resamples",
    }
    if kind == "case-drop":
        facts["Stability"] = f"CS-coefficient of strength {found.cs_coefficient():g} (0.25 is the least to interpret)"
    facts["Time"] = format_seconds(console.seconds)
    console.say_facts(facts | ({"Wrote": folder.summary} if folder else {}))
    if console.as_json:
        record: dict[str, Any] = {
            "table": results.describe_table(data),
            "method": method.record,
            "kind": kind,
            "n_resamples": resamples,
            "seed": choosing.seed,
            "network": results.describe_solution(found.solution),
            "cs_coefficient": found.cs_coefficient() if kind == "case-drop" else None,
        }
        for name, (header, rows) in zip(files, tables, strict=True):
            record[name.removesuffix(".csv")] = [dict(zip(header, row, strict=True)) for row in rows]
        console.write_json("bootstrap", record)
    elif folder is None:
        console.write_csv(*tables[0])


def _tabulate(found: Bootstrap, names: tuple[str, ...]) -> list[tuple[list[str], list[list[Any]]]]:
    """Return header and rows of every table."""
    import numpy as np

    if found.kind == "case-drop":
        kept = np.nan_to_num(found.correlations, nan=0.0)
        shares = np.unique(found.dropped)
        drops = [(share, kept[found.dropped == share]) for share in shares]
        return [(DROP_COLUMNS, [[float(s), float(r.mean()), float(np.quantile(r, 0.05))] for s, r in drops])]
    columns = [found.edge_values, found.edge_means, *found.edge_quantiles, found.inclusion]
    numbers = np.column_stack(columns).tolist()
    order = np.lexsort([-found.inclusion, -np.abs(found.edge_values)]).tolist()
    pairs = found.edge_index.tolist()
    edges = [[names[pairs[k][0]], names[pairs[k][1]], *numbers[k]] for k in order]
    strengths = np.column_stack([found.strength, *found.strength_quantiles]).tolist()
    return [(EDGE_COLUMNS, edges), (NODE_COLUMNS, [[name, *row] for name, row in zip(names, strengths, strict=True)])]
