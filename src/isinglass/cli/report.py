"""isinglass report: one HTML page about a model."""

from __future__ import annotations

import csv
import math
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from isinglass.cli.console import Console
from isinglass.cli.groups import GROUPS, WORDING, Groups
from isinglass.cli.models import SAME_OPTIONS, Loaded
from isinglass.cli.options import ADVANCED, IN_FILE, MODEL, SEED, Option, command, command_line
from isinglass.cli.output import check_target, read_record
from isinglass.cli.reading import READING, Reading
from isinglass.cli.values import ALPHAS

SAME_COUPLING = 1e-3
"""Difference up to which two fits of one table count as one: beyond their tolerance, below what anybody reads."""


@command(
    "report",
    MODEL,
    click.Argument(["table"], type=IN_FILE, required=False),
    Option(
        "-o",
        "--output",
        type=click.Path(dir_okay=False, path_type=Path),
        default="report.html",
        metavar="FILE",
        help="The page.",
    ),
    Option("--title", otherwise="the name of the folder", help="Heading of the page."),
    Option(
        "--alphas",
        type=ALPHAS,
        default=30,
        section=ADVANCED,
        help="Steps of the slider, if the model has no path of its own and TABLE is given.",
    ),
    Option(
        "--bootstrap",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="FOLDER",
        help="Add the intervals that `isinglass bootstrap -o FOLDER` wrote.",
    ),
    Option(
        "--max-edges", type=click.IntRange(min=1), default=6000, section=ADVANCED, help="Most pairs to put on the page."
    ),
    SEED.under(ADVANCED),
    bundles=[GROUPS, READING],
)
def report(
    console: Console,
    model: str,
    table: str | None,
    output: Path,
    title: str | None,
    alphas: int | list[float],
    bootstrap: Path | None,
    max_edges: int,
    random_state: int,
    groups: Groups,
    reading: Reading,
) -> None:
    """Make a self-contained HTML page about MODEL, the folder or the model.npz that `fit` wrote.

    The page shows the network, a slider along the penalty, tables, and the certificate. TABLE, the table of the
    fit, adds how well nodes are predicted, and the slider if the fit was at one penalty; - is stdin.
    """
    from isinglass.evaluate.metrics import node_table
    from isinglass.show.report import write_report

    check_target(output, [model, table, groups.groups])
    loaded = Loaded.open(model)
    columns, color_by = groups.read(loaded.model.names)
    recipe, summary = _recipe(Path(model))
    options: dict[str, Any] = {}
    fitted_to: dict[str, str] = {}
    if table is not None:
        reading = loaded.recall(reading)
        data = loaded.read_completed(console, reading, table)
        loaded.check_fitted_to(data, SAME_OPTIONS)
        fitted_to = {"Table": reading.describe(data, table)}
        options = {"X": data, "node_table": node_table(loaded.model, data)}
        if loaded.can_follow:
            with console.progress("Path"):
                options["path"] = loaded.follow(data, alphas)
    if bootstrap is not None:
        resampled = Resampled.read(bootstrap, loaded)
        options["edge_table"] = resampled.edges
        options["node_table"] = resampled.beside(options.get("node_table"))
        fitted_to["Bootstrap"] = resampled.summary
    output.parent.mkdir(parents=True, exist_ok=True)
    with console.progress("Page"):
        write_report(
            loaded.network,
            output,
            groups=None if color_by is None else columns[color_by],
            wording=columns.get(WORDING),
            title=title or (Path(model).resolve().parent.name if Path(model).stem == "model" else Path(model).stem),
            command=recipe,
            settings={**summary, **loaded.describe(summary), **fitted_to},
            max_edges=max_edges,
            random_state=random_state,
            **options,
        )
    console.say_facts({"Wrote": f"{output}, {output.stat().st_size / 1e6:.1f} MB; open it in a browser"})
    if console.as_json:
        console.write_json("report", {"model": model, "file": str(output)})


@dataclass(frozen=True)
class Resampled:
    """What `isinglass bootstrap` wrote into a folder."""

    edges: dict[str, list[Any]]
    nodes: dict[str, list[Any]]
    summary: str

    @classmethod
    def read(cls, folder: Path, loaded: Loaded) -> Resampled:
        """Read the folder, and refuse it if it is about another network."""
        from isinglass.errors import DataError

        record = read_record(folder)
        if not {"edges.csv", "nodes.csv"} <= record.files.keys():
            raise click.BadParameter(
                f"{str(folder)!r} must be a folder that `isinglass bootstrap --kind rows -o FOLDER` wrote.",
                param_hint="'--bootstrap'",
            )
        edges, nodes = (_columns(folder / name) for name in ("edges.csv", "nodes.csv"))
        network = {
            frozenset(pair): value
            for *pair, value in zip(edges["source"], edges["target"], edges["coupling"], strict=True)
            if value
        }
        ours = loaded.model.edges()
        same = len(network) == loaded.model.n_edges and all(
            abs(network.get(frozenset(pair), math.inf) - value) <= SAME_COUPLING * max(1.0, abs(value))
            for *pair, value in zip(ours["source"], ours["target"], ours["coupling"], strict=True)
        )
        if not same or nodes["name"] != list(loaded.model.names):
            raise DataError(
                f"--bootstrap must belong to the network of MODEL; {str(folder)!r} has other edges. Run `isinglass "
                "bootstrap` with the options of the fit."
            )
        return cls(edges, nodes, record.summary.get("Resamples", ""))

    def beside(self, measures: Any) -> dict[str, list[Any]]:
        """Return the measures of the nodes with the intervals of their strengths."""
        columns = {} if measures is None else dict(measures.columns)
        return columns | {f"strength {name}": self.nodes[name] for name in ("q2.5", "q97.5")}


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

    The page itself puts its name in the place of {page}: equal pages are equal files, whatever their name.
    """
    record = read_record(model.parent)
    here = f"{shlex.join(command_line())} -o {{page}}"
    if model.name not in record.files:
        return here, {}
    return f"{record.command} -o {shlex.quote(str(model.parent))} && {here}", record.summary
