"""isinglass fit: the network of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.choosing import CHOOSING, Choosing
from isinglass.cli.console import Console, format_seconds
from isinglass.cli.fitting import ALPHA, SELECT, criterion_of, describe_fit, fit_network
from isinglass.cli.groups import GROUPS, Groups
from isinglass.cli.methods import METHOD, Method
from isinglass.cli.options import FORCE, IN_FILE, command, out_folder
from isinglass.cli.output import OutputFolder
from isinglass.cli.reading import READING, Reading

if TYPE_CHECKING:
    from isinglass.cli.groups import Attributes
    from isinglass.data import BinaryTable
    from isinglass.fit import Fit

__all__ = ["FILES", "fit", "write_files"]

FILES = ["edges.csv", "nodes.csv", "model.npz", "network.gexf"]
NODE_MEASURES = ("expected_influence", "accuracy", "marginal_accuracy", "normalised_accuracy", "deviance_explained")


@command(
    "fit",
    click.Argument(["table"], type=IN_FILE),
    ALPHA,
    SELECT,
    out_folder("edges.csv, nodes.csv, model.npz and network.gexf"),
    FORCE,
    bundles=[CHOOSING, METHOD, GROUPS, READING],
    strict=True,
)
def fit(
    console: Console,
    table: str,
    alpha: float | None,
    select: str | None,
    output: Path | None,
    force: bool,
    choosing: Choosing,
    method: Method,
    groups: Groups,
    reading: Reading,
) -> None:
    """Estimate the network of TABLE.

    TABLE has one row per case and one yes/no column per node; - is stdin. By default nothing has to be chosen: the
    network is estimated in two stages, as IsingNetwork does in Python. --select chooses one penalty by another
    criterion, --alpha takes one that is given.

    The edges go to stdout as CSV, or with -o into a folder with the nodes, the model and a file for Gephi.
    """
    from isinglass.cli.results import describe_solution, describe_table, names_of
    from isinglass.export import edge_table, write_edges

    criterion = criterion_of(alpha, select, choosing, method)
    folder = OutputFolder(output, FILES, force=force, inputs=[table, groups.groups]) if output else None
    data = reading.read_to_fit(console, table)
    attributes = groups.read(names_of(data))
    found = fit_network(console, data, method, choosing, alpha, criterion, reading.remembered)
    facts = {"Table": reading.describe(data, table), "Method": str(method), **describe_fit(found)}
    if folder is not None:
        with folder.filling({name: facts[name] for name in ("Table", "Method", "Alpha")}) as here:
            write_files(here, found, data, attributes)
    console.say_facts(
        {
            **facts,
            "Time": format_seconds(console.seconds),
            **({"Wrote": folder.summary} if folder else {}),
        }
    )
    if console.as_json:
        columns = edge_table(found.network, edge_attributes=found.edge_attributes)
        record = {
            "table": describe_table(data),
            "method": method.record,
            "selection": {
                "criterion": criterion,
                "description": found.chosen,
                "stages": found.stages,
            },
            "tol": found.tol,
            "network": describe_solution(found.solution),
            "nodes": [
                {"name": name, "field": field}
                for name, field in zip(found.network.names, found.network.fields.tolist(), strict=True)
            ],
            "edges": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        }
        console.write_json("fit", record)
    elif folder is None:
        console.write_text(lambda stream: write_edges(found.network, stream, edge_attributes=found.edge_attributes))


def write_files(here: Path, found: Fit, data: BinaryTable, attributes: Attributes) -> None:
    """Write edges, nodes, model and GEXF of a fit into a folder."""
    from isinglass.evaluate.metrics import node_table
    from isinglass.export import write_edges, write_gexf, write_nodes
    from isinglass.fit import save
    from isinglass.show.layout import force_layout

    model = found.network
    measured = node_table(model, data).columns
    nodes: dict[str, Any] = {**attributes.columns, **{name: measured[name] for name in NODE_MEASURES}}
    positions = force_layout(model.n_features, model.edge_index, model.weights)
    write_edges(model, here / "edges.csv", edge_attributes=found.edge_attributes)
    write_nodes(model, here / "nodes.csv", node_attributes=nodes)
    save(found, here / "model.npz")
    write_gexf(
        model,
        here / "network.gexf",
        node_attributes=nodes,
        edge_attributes=found.edge_attributes,
        color_by=attributes.color_by,
        positions=positions,
    )
