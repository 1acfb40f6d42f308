"""isinglass report: one HTML page about a model."""

from __future__ import annotations

import csv
import shlex
from pathlib import Path
from typing import Any

import click

from isinglass.cli.command import command, command_line
from isinglass.cli.console import Console
from isinglass.cli.models import Loaded
from isinglass.cli.options import MAYBE_TABLE, MODEL
from isinglass.cli.output import check_target, read_record
from isinglass.cli.reading import READING_AGAIN, WORDING, Reading, read_attributes
from isinglass.errors import DataError

SAME_COUPLING = 1e-3
"""Difference of couplings up to which two fits of one table are the same."""
STEPS = 30  # of the slider, if the model has no path of its own
COUPLINGS = ("source", "target", "coupling")


@command(
    "report",
    *(MODEL, MAYBE_TABLE, "output", "bootstrap", "attributes", "random_state"),
    bundles=[READING_AGAIN],
    general="",
)
def report(
    console: Console,
    model: str,
    table: str | None,
    output: Path | None,
    bootstrap: Path | None,
    attributes: str | None,
    random_state: int,
    reading: Reading,
) -> None:
    """Make a self-contained HTML page about MODEL, the folder or the model.npz that `fit` wrote.

    The page shows the network, a slider along the penalty, tables, and the certificate. TABLE, the table of the
    fit, adds how well nodes are predicted, and the slider if the fit was at one penalty; - is stdin. The page is the
    file -o, report.html unless you say otherwise.
    """
    from isinglass.evaluate.metrics import node_table
    from isinglass.show.report import write_report

    output = output or Path("report.html")
    check_target(output, [model, table, attributes])
    loaded = Loaded.open(model)
    columns, color_by = read_attributes(attributes, loaded.model.names)
    recipe, summary = _recipe(Path(model))
    options: dict[str, Any] = {}
    fitted_to: dict[str, str] = {}
    if table is not None:
        reading = loaded.recall(reading)
        data = loaded.read_completed(console, reading, table)
        loaded.check_fitted_to(data)
        fitted_to = {"Table": reading.describe(data, table)}
        options = {"X": data, "node_table": node_table(data, loaded.model)}
        if loaded.can_follow:
            with console.progress("Path"):
                options["path"] = loaded.follow(data, STEPS)
    if bootstrap is not None:
        options["edge_table"], nodes, fitted_to["Bootstrap"] = _read_resamples(bootstrap, loaded)
        measures = dict(options["node_table"].columns) if "node_table" in options else {}
        options["node_table"] = measures | {f"strength {name}": nodes[name] for name in ("q2.5", "q97.5")}
    output.parent.mkdir(parents=True, exist_ok=True)
    with console.progress("Page"):
        write_report(
            loaded.network,
            output,
            groups=None if color_by is None else columns[color_by],
            wording=columns.get(WORDING),
            title=Path(model).resolve().parent.name if Path(model).stem == "model" else Path(model).stem,
            command=recipe,
            settings={**summary, **(loaded.describe() | summary), **fitted_to},
            random_state=random_state,
            **options,
        )
    console.say_facts({"Wrote": f"{output}, {output.stat().st_size / 1e6:.1f} MB; open it in a browser"})


def _read_resamples(folder: Path, loaded: Loaded) -> tuple[dict[str, list[Any]], dict[str, list[Any]], str]:
    """Return the edges, the nodes and the words that `isinglass bootstrap` wrote, if it was about the same network."""
    record = read_record(folder)
    if not {"edges.csv", "nodes.csv"} <= record.files.keys() or "Resamples" not in record.summary:
        raise click.BadParameter(
            f"{str(folder)!r} must be a folder that `isinglass bootstrap --kind rows -o FOLDER` wrote.",
            param_hint="'--bootstrap'",
        )
    edges, nodes = (_columns(folder / name) for name in ("edges.csv", "nodes.csv"))
    theirs, ours = (
        {frozenset(pair): value for *pair, value in zip(*(columns[name] for name in COUPLINGS), strict=True) if value}
        for columns in (edges, loaded.model.edges())
    )
    same = theirs.keys() == ours.keys() and all(
        abs(theirs[pair] - value) <= SAME_COUPLING * max(1.0, abs(value)) for pair, value in ours.items()
    )
    if not same or nodes["name"] != list(loaded.model.names):
        raise DataError(
            f"--bootstrap must belong to the network of MODEL; {str(folder)!r} has other edges. Run `isinglass "
            "bootstrap` with the options of the fit."
        )
    return edges, nodes, record.summary["Resamples"]


def _columns(file: Path) -> dict[str, list[Any]]:
    """Return the columns of a CSV file of ours: names as they are, everything else as numbers."""
    with file.open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    return {
        name: list(cells) if name in ("source", "target", "name") else [float(cell) for cell in cells]
        for name, cells in zip(header, zip(*rows, strict=True) if rows else [()] * len(header), strict=True)
    }


def _recipe(model: Path) -> tuple[str, dict[str, str]]:
    """Return the commands that make this page, and the summary of the fit, if its folder tells.

    The page replaces {page} by its own name: equal pages are equal files under any name.
    """
    record = read_record(model.parent)
    here = f"{shlex.join(command_line())} -o {{page}}"
    if model.name not in record.files:
        return here, {}
    return f"{record.command} -o {shlex.quote(str(model.parent))} && {here}", record.summary
