"""isinglass report: one HTML page about a model."""

from __future__ import annotations

import io
import shlex
from pathlib import Path

from isinglass.cli.attributes_file import Attributes
from isinglass.cli.command import command, command_line
from isinglass.cli.console import Console
from isinglass.cli.models import Loaded
from isinglass.cli.option_table import MAYBE_TABLE, MODEL
from isinglass.cli.output import Record, output_file, read_record, write_file
from isinglass.cli.reading import READING_AGAIN, Reading, require_table
from isinglass.json_text import JsonObject

ENDINGS = (".html", ".htm")  # another file is probably a table, named by mistake
STEPS = 30  # of the slider, if the model has no path of its own


@command("report", MODEL, MAYBE_TABLE, bundles=[READING_AGAIN], general="")
def report(
    console: Console,
    model: str,
    table: str | None,
    output: Path | None,
    title: str | None,
    bootstrap: Path | None,
    attributes: str | None,
    random_state: int,
    reading: Reading,
) -> None:
    """Make a self-contained HTML page about MODEL, the folder or the model.npz that `fit` wrote.

    The page shows the network, a slider along the penalty, tables, and the certificate. TABLE, the table of the fit,
    adds how well nodes are predicted, and the slider if the fit was at one penalty; - is stdin. -o names the file,
    by default report.html; -o - prints the page.
    """
    from isinglass.cli.bootstrap import RESAMPLES
    from isinglass.show.report import write_report

    output = output_file(output, "report.html", ENDINGS, [model, table, attributes])
    require_table(table, reading)
    loaded = Loaded.open(model)
    known = Attributes.read(attributes, loaded.network.variables)
    place = Path(model)
    recipe, summary = _recipe(place, bootstrap)
    options: JsonObject = {}
    settings = dict(summary)  # of two texts about one thing, that of the fit stays
    settings |= {name: text for name, text in loaded.describe().items() if name not in summary}
    if table is not None:
        reading = loaded.recall(reading)
        options, settings["Table"] = _read_rows(console, loaded, reading, table)
    if bootstrap is not None:
        kinds = [kind for kind in RESAMPLES if (bootstrap / RESAMPLES[kind]).exists()] or ["rows"]
        found = options["bootstrap"] = [loaded.resamples(bootstrap, kind) for kind in kinds]
        settings["Bootstrap"] = read_record(bootstrap).summary.get("Resamples", str(found[0].n_boot))
    page = io.StringIO()
    with console.progress("Page"):
        write_report(
            loaded.result,
            page,
            groups=known.groups,
            wording=known.wording,
            title=title or (place.resolve().parent.name if place.stem == "model" else place.stem),
            command=recipe,
            settings=settings,
            random_state=random_state,
            **options,
        )
    text = page.getvalue()
    write_file(console, output, text, f", {len(text.encode()) / 1e6:.1f} MB; open it in a browser")


def _read_rows(console: Console, loaded: Loaded, reading: Reading, table: str) -> tuple[JsonObject, str]:
    """Return what the table of the fit adds to the page, and what it is in words."""
    data = loaded.read_fitted(console, reading, table)
    options: JsonObject = {"X": data}
    if loaded.can_follow:
        with console.progress("Path"):
            options["path"] = loaded.follow(data, STEPS)
    return options, reading.describe(data, table)


def _recipe(model: Path, bootstrap: Path | None) -> tuple[str, dict[str, str]]:
    """Return the commands that make this page, and the summary of the fit, if the folders tell.

    The page replaces {page} by its own name: equal pages are equal files under any name.
    """
    fit, resampled = read_record(model.parent), Record() if bootstrap is None else read_record(bootstrap)
    made = [(fit, model.parent)] if model.name in fit.files else []
    made += [(resampled, bootstrap)] if resampled.command and bootstrap is not None else []
    commands = [f"{record.command} -o {shlex.quote(str(folder))}" for record, folder in made]
    here = f"{shlex.join(command_line())} -o {{page}}"
    return " && ".join([*commands, here]), fit.summary if model.name in fit.files else {}
