"""isinglass report: one HTML page about a model."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from isinglass.cli.console import Console
from isinglass.cli.groups import GROUPS, Groups
from isinglass.cli.models import MODEL, SAME_OPTIONS, Loaded
from isinglass.cli.options import ALPHAS, IN_FILE, SEED, Option, command, command_line
from isinglass.cli.output import check_target, read_record
from isinglass.cli.reading import READING, Reading

__all__ = ["report"]


@command(
    "report",
    MODEL,
    click.Argument(["table"], type=IN_FILE, required=False),
    Option(
        "-o",
        "--output",
        type=click.Path(dir_okay=False, path_type=Path),
        default="report.html",
        show_default=True,
        metavar="FILE",
        help="The page.",
    ),
    Option("--title", help="Heading.  [default: the name of the model or of its folder]"),
    Option(
        "--alphas",
        type=ALPHAS,
        default=30,
        show_default=True,
        help="Steps of the slider, if the model has no path and TABLE is given.",
    ),
    Option("--max-edges", type=click.IntRange(min=1), default=6000, show_default=True, help="Most pairs in the page."),
    SEED,
    bundles=[GROUPS, READING],
)
def report(
    console: Console,
    model: str,
    table: str | None,
    output: Path,
    title: str | None,
    alphas: int | list[float],
    max_edges: int,
    seed: int,
    groups: Groups,
    reading: Reading,
) -> None:
    """Make one HTML page of MODEL, the model.npz of a fit, that needs no network to be read.

    The page shows the network, a slider along the penalty, tables, and the certificate. TABLE, the table that was
    fitted, adds how well the nodes are predicted, and the slider where the fit was at one alpha; - is stdin.
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
        data = loaded.read_table(console, reading, table)
        loaded.check_fitted_to(data, SAME_OPTIONS)
        fitted_to = {"Table": reading.describe(data, table)}
        options = {"X": data, "node_table": node_table(loaded.model, data)}
        if loaded.can_follow:
            with console.progress("Path"):
                options["path"] = loaded.follow(data, alphas)
    output.parent.mkdir(parents=True, exist_ok=True)
    with console.progress("Page"):
        write_report(
            loaded.network,
            output,
            groups=None if color_by is None else columns[color_by],
            title=title or (Path(model).resolve().parent.name if Path(model).stem == "model" else Path(model).stem),
            command=recipe,
            settings={**summary, **loaded.describe(summary), **fitted_to},
            max_edges=max_edges,
            random_state=seed,
            **options,
        )
    console.say_facts({"Wrote": f"{output}, {output.stat().st_size / 1e6:.1f} MB; open it in a browser"})
    if console.as_json:
        console.write_json("report", {"model": model, "file": str(output)})


def _recipe(model: Path) -> tuple[str, dict[str, str]]:
    """Return the commands that make this page, and the summary of the fit, if its folder tells.

    The page itself puts its name in the place of {page}: equal pages are equal files, whatever their name.
    """
    record = read_record(model.parent)
    here = f"{shlex.join(command_line())} -o {{page}}"
    if model.name not in record.files:
        return here, {}
    return f"{record.command} -o {shlex.quote(str(model.parent))} && {here}", record.summary
