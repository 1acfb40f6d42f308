"""isinglass export: a model for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from isinglass.cli.console import Console, text_of
from isinglass.cli.models import Loaded
from isinglass.cli.options import MODEL, OUT_TEXT, SEED, Option, command, flag
from isinglass.cli.output import check_target
from isinglass.cli.reading import GROUPS, Groups
from isinglass.cli.values import OneOf

WITH_PLACES = {"gexf", "json"}
ENDINGS = (".csv", ".gexf", ".json")


@command(
    "export",
    MODEL,
    Option(
        "--format",
        OneOf("edges", "blocks", "nodes", "matrix", "gexf", "json"),
        "What to write.",
        otherwise="by the ending of -o",
    ),
    OUT_TEXT,
    flag("--spreadsheet-safe", "Keep spreadsheets from running names as formulas."),
    Option("--layout/--no-layout", None, "Add node positions to gexf and json.", default=True),
    SEED,
    bundles=[GROUPS],
    as_json=False,
)
def export(
    console: Console,
    model: str,
    format: str | None,
    output: str,
    spreadsheet_safe: bool,
    layout: bool,
    random_state: int,
    groups: Groups,
) -> None:
    r"""Convert MODEL for other programs.

    MODEL is the folder or the model.npz that `fit` wrote.

    \b
      edges    CSV of the edges: source, target, coupling, sign, weight
      blocks   CSV of the couplings between categories, one line per pair
      nodes    CSV of the nodes: name, field, degree, strength, attributes
      matrix   CSV of the couplings, one row and column per node
      gexf     Gephi
      json     nodes and edges, for your own programs
    """
    from isinglass.export import write_network

    if format is None and output != "-" and Path(output).suffix.lower() not in ENDINGS:
        raise click.BadParameter(f"{output!r} must end in {', '.join(ENDINGS)}; or add --format.", param_hint="'-o'")
    check_target(output, [model, groups.groups])
    loaded = Loaded.open(model)
    columns, color_by = groups.read(loaded.model.names)
    placed = layout and (format or Path(output).suffix[1:].lower()) in WITH_PLACES
    options: dict[str, Any] = {
        "node_attributes": columns or None,
        "edge_attributes": loaded.fit.edge_attributes if loaded.fit else None,
        "color_by": color_by,
        "spreadsheet_safe": spreadsheet_safe,
        "positions": loaded.place_nodes(random_state) if placed else None,
    }
    if output == "-":
        console.write(text_of(lambda stream: write_network(loaded.model, stream, format or "edges", **options)))
    else:
        Path(output).parent.mkdir(parents=True, exist_ok=True)
        write_network(loaded.model, output, format, **options)
        console.say_facts({"Wrote": output})
