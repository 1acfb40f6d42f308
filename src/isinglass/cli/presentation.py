"""isinglass report, plot and export: a model as a page, as figures, and for other programs."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.command import command, command_line
from isinglass.cli.console import Console, text_of
from isinglass.cli.models import RESAMPLES, WORDING, Attributes, Loaded
from isinglass.cli.options import MAYBE_TABLE, MODEL, one_of
from isinglass.cli.output import check_ending, check_target, output_file, read_record, write_file
from isinglass.cli.settings import READING_AGAIN, Reading, require_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from isinglass import results
    from isinglass.data import Table

PAGES = (".html", ".htm")  # another file is probably a table, named by mistake
STEPS = 30  # of the slider of a page, if the model has no path of its own
FIGURES = (".png", ".svg", ".pdf")
FOLLOWED = 50  # alphas of a path that the fit did not make


@command("report", MODEL, MAYBE_TABLE, bundles=[READING_AGAIN], general="")
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
    """Make an HTML page about MODEL.

    MODEL is the folder or the model.npz that `fit` wrote. The page is one file, with the network, a slider along the
    penalty, tables, and the certificate. TABLE, the table of the fit, adds how well nodes are predicted, and the slider
    if the fit was at one penalty; - is stdin. -o names the file, by default report.html; -o - prints the page.
    """
    from isinglass.show.report import write_report

    output = output_file(output, "report.html", PAGES, [model, table, attributes])
    require_table(table, reading)
    loaded, place = Loaded.open(model), Path(model)
    known = Attributes.read(attributes, loaded.network.variables)
    settings = loaded.describe()
    options: dict[str, Any] = {}  # Any: arguments of the page
    if table is not None:
        reading = loaded.recall(reading)
        options["X"] = data = loaded.read_fitted(console, reading, table)
        settings["Table"] = reading.describe(data, table)
        if loaded.can_follow:
            options["path"] = loaded.follow(data, STEPS)
    if bootstrap is not None:
        kinds = [kind for kind in RESAMPLES if (bootstrap / RESAMPLES[kind]).exists()] or ["rows"]
        found = options["bootstrap"] = [loaded.resamples(bootstrap, kind) for kind in kinds]
        settings["Bootstrap"] = f"{found[0].n_boot} resamples, kind {' and '.join(kinds)}"
    options |= {"groups": known.groups, "wording": known.columns.get(WORDING), "random_state": random_state}
    options |= {"settings": settings, "command": _commands(place, bootstrap)}
    options["title"] = place.resolve().parent.name if place.stem == "model" else place.stem
    with console.progress("Page"):
        text = text_of(lambda page: write_report(loaded.result, page, **options))
    write_file(console, output, text, f", {len(text.encode()) / 1e6:.1f} MB; open it in a browser")


def _commands(model: Path, bootstrap: Path | None) -> str:
    """Return the commands that make this page, as far as the folders tell.

    The page replaces {page} by its own name: equal pages are equal files under any name.
    """
    folders = [model.parent] if model.name in read_record(model.parent).files else []
    folders += [] if bootstrap is None else [bootstrap]
    commands = [(read_record(folder).command, shlex.quote(str(folder))) for folder in folders]
    made = [f"{words} -o {folder}" for words, folder in commands if words]
    return " && ".join([*made, f"{shlex.join(command_line())} -o {{page}}"])


def _path(loaded: Loaded, data: Table | None) -> results.Path:
    """Return the path of the fit, or one made from the table."""
    fit = loaded.fit
    path = None if fit is None else fit.selection.path
    if path is None and not loaded.can_follow:
        raise click.UsageError(
            "MODEL has no path to draw: it is a network alone, or has a penalty for each node. Fit a table with one "
            "penalty for all nodes: --method joint, --select cv or --select stars."
        )
    return (path or loaded.follow(_require(data), FOLLOWED)).without_covariates()


def _require(data: Table | None) -> Table:
    if data is None:
        raise click.UsageError("This figure needs TABLE, the table of the fit.")
    return data


USED_BY: dict[str, tuple[str, ...]] = {"TABLE": ("path", "check"), "--attributes": ("network", "centrality")}
USED_BY["--bootstrap"] = ("centrality", "bootstrap", "differences", "strength-differences", "stability")
"""The figures that use what others do not."""
KINDS = tuple(dict.fromkeys(kind for kinds in USED_BY.values() for kind in kinds))
KIND = click.Argument(["kind"], type=one_of(*KINDS), metavar="KIND")


@command("plot", KIND, MODEL, MAYBE_TABLE, bundles=[READING_AGAIN], general="")
def plot(
    console: Console,
    kind: str,
    model: str,
    table: str | None,
    output: Path | None,
    attributes: str | None,
    width: float | None,
    bootstrap: Path | None,
    reading: Reading,
) -> None:
    r"""Draw a figure of MODEL.

    MODEL is the folder or the model.npz that `fit` wrote. The file -o ends in .png, .svg or .pdf.

    \b
      network               nodes and edges
      centrality            measures of every node (with --bootstrap: intervals)
      path                  couplings along the penalty (after --alpha: add TABLE)
      check                 rows simulated from the network against those of TABLE
      bootstrap             interval of every edge over resamples
      differences           which edges differ
      strength-differences  which nodes differ in strength
      stability             measures as rows are dropped (CS-coefficients)

    The last four show what `isinglass bootstrap TABLE --kind all -o FOLDER` found: add --bootstrap FOLDER.

    Without -o the file is KIND.png; -o - prints the PNG. The functions of isinglass.plot in Python have more
    options: sizes, rings, positions, colors of edges.
    """
    output = output_file(output, f"{kind}.png", FIGURES, [model, table, attributes])
    for word, given in (("TABLE", table), ("--attributes", attributes), ("--bootstrap", bootstrap)):
        if given is not None and kind not in USED_BY[word]:
            raise click.UsageError(f"{word} is for {', '.join(USED_BY[word])}; the figure {kind} does not use it.")
    require_table(table, reading)
    from isinglass.show.plot.canvas import figure_bytes

    loaded = Loaded.open(model)
    groups = Attributes.read(attributes, loaded.network.variables).groups
    data = None if table is None else loaded.read_fitted(console, loaded.recall(reading), table)
    draw = partial(_draw, kind, loaded, data, groups, width, bootstrap)
    write_file(console, output, figure_bytes(draw, ".png" if output is None else output.suffix.lower()))


def _draw(
    kind: str,
    loaded: Loaded,
    data: Table | None,
    groups: list[str | None] | None,
    width: float | None,
    bootstrap: Path | None,
) -> Axes:
    """Draw a figure of a kind; ``groups`` are those of the nodes, and ``width`` is in millimeters."""
    from isinglass.evaluate.centrality import BRIDGES, MEASURES
    from isinglass.evaluate.checking import check_model
    from isinglass.show import plot as figures

    if kind == "centrality":  # several axes, which share the width
        shown = loaded.network if bootstrap is None else loaded.resamples(bootstrap)
        of = MEASURES if groups is None else (*MEASURES, *BRIDGES)
        first: Axes = figures.centrality(shown, of=of, communities=groups, width=width or 180.0)[0]
        return first
    ax = None if width is None else figures.paper_axes(width)
    match kind:
        case "network":
            return figures.network(loaded.network, ax, groups=groups)
        case "path":
            return figures.path(_path(loaded, data), ax, alpha=loaded.alpha)
        case "check":
            return figures.check(check_model(_require(data), loaded.result), ax)
        case "bootstrap":
            return figures.bootstrap_intervals(loaded.resamples(bootstrap), ax)
        case "differences":
            return figures.bootstrap_differences(loaded.resamples(bootstrap), ax)
        case "strength-differences":
            return figures.bootstrap_differences(loaded.resamples(bootstrap), ax, of="strength")
    return figures.stability(loaded.resamples(bootstrap, "case-drop"), ax)


@command("export", MODEL, general="")
def export(console: Console, model: str, format: str | None, output: Path | None, attributes: str | None) -> None:
    r"""Convert MODEL for other programs.

    MODEL is the folder or the model.npz that `fit` wrote. Prints the result, or writes it to the file -o. A file that
    ends in .md or .tex has a table for print instead of CSV.

    \b
      edges    CSV of the edges: source, target, coupling, sign, weight
      blocks   CSV of the couplings between categories, one line per pair
      nodes    CSV of the nodes: name, field, degree, strength, attributes
      fields   CSV of the fields (thresholds) of all categories
      matrix   CSV of the couplings, one row and column per node
      gexf     Gephi
      graphml  Cytoscape, yEd, igraph
      json     nodes and edges, for your own programs
    """
    from isinglass.export import write_network
    from isinglass.export.network_files import SUFFIXES, WITH_POSITIONS
    from isinglass.show.layout import force_layout

    ending = "" if output is None else output.suffix.lower()
    if format is None:
        check_ending(output, SUFFIXES, "; or add --format")
    check_target(output, [model, attributes])
    loaded = Loaded.open(model)
    network = loaded.network.without_covariates()
    known = Attributes.read(attributes, network.variables, ())
    format = format or SUFFIXES.get(ending, "edges")
    options: dict[str, Any] = {
        "node_attributes": known.columns or None,
        "edge_attributes": loaded.fit.edge_attributes if loaded.fit else None,
        "color_by": known.color_by,
    }
    if format in WITH_POSITIONS:
        options["positions"] = force_layout(network.n_features, network.edge_index, network.weights)
    if output is None:
        console.write(text_of(lambda stream: write_network(loaded.result, stream, format, **options)))
    else:
        output.parent.mkdir(parents=True, exist_ok=True)
        write_network(loaded.result, output, format, **options)
        console.say_facts({"Wrote": str(output)})
