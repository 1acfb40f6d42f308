"""isinglass export: a model for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from isinglass.cli.attributes_file import Attributes
from isinglass.cli.command import command
from isinglass.cli.console import Console, text_of
from isinglass.cli.models import Loaded
from isinglass.cli.option_table import MODEL
from isinglass.cli.output import check_ending, check_target


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
