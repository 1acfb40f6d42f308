"""isinglass fit: the network of a table, or all networks along a path of penalties."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.console import Console, csv_text, plural, rows_of, text_of
from isinglass.cli.descriptions import describe_missing, describe_solution, describe_table, records
from isinglass.cli.estimate import ESTIMATE, Estimate, describe_fit
from isinglass.cli.options import ADVANCED, Option, command, flag, under
from isinglass.cli.output import OutputFolder, deliver, out_folder
from isinglass.cli.reading import GROUPS, READING, Groups, Reading, describe_coding, describe_imputation, impute_holes
from isinglass.cli.values import TABLES, files_of

if TYPE_CHECKING:
    from isinglass.data import Table
    from isinglass.fit import Fit
    from isinglass.network import Network

FILES, BLOCKS = ["edges.csv", "nodes.csv", "model.npz", "network.gexf"], "blocks.csv"
PATH_FILES = ["path.csv", "edges.csv"]
NODE_MEASURES = (
    "expected_influence",
    "accuracy",
    "marginal_accuracy",
    "normalized_accuracy",
    "deviance_explained",
    "r_squared",
)


@command(
    "fit",
    click.Argument(["table"], type=TABLES),
    flag("--path", "Fit every penalty in --alphas: one line for each, and with -o its edges."),
    *under(ADVANCED, Option("--cluster", str, "Keep TABLE on the workers of this Dask scheduler.", metavar="ADDRESS")),
    bundles=[
        out_folder("edges.csv, nodes.csv, model.npz, network.gexf (with categories also blocks.csv)"),
        *(ESTIMATE, GROUPS, READING),
    ],
    strict=True,
)
def fit(
    console: Console,
    table: str,
    path: bool,
    cluster: str | None,
    open_folder: Any,
    estimate: Estimate,
    groups: Groups,
    reading: Reading,
) -> None:
    """Estimate the network of TABLE.

    TABLE has one row per case and one yes/no column per node. Use - for stdin, or a quoted pattern such as
    'parts/*.parquet' to read many files as one table. By default the penalty is selected in two stages, as IsingNetwork
    does in Python; choose another criterion with --select, or the penalty itself with --alpha.

    Prints the edges as CSV. With -o, writes the edges, the nodes, the model and a Gephi file to a folder.
    """
    names = PATH_FILES if path else FILES + ([BLOCKS] if "kinds" in reading.said else [])
    if path and (estimate.said.keys() & {"alpha", "select"}):
        raise click.UsageError("--path fits all penalties: leave --alpha and --select out, or list them with --alphas.")
    criterion = None if path else estimate.criterion
    folder = open_folder(names, inputs=[*files_of(table), groups.groups], others=[BLOCKS])
    raw = reading.read_to_fit(console, table, cluster)
    facts = {"Table": reading.describe(raw, table)}
    if path:
        data, imputed = impute_holes(console, raw)
        facts |= {**describe_imputation(imputed), **describe_coding(data.coding), "Method": str(estimate)}
        _fit_path(console, data, estimate, folder, facts)
        return
    attributes = groups.read(raw.names)
    found = estimate.fit(console, raw, reading.remembered)
    facts |= {**describe_imputation(found.imputation), **describe_coding(raw.coding), "Method": str(estimate)}
    data = raw if found.imputation is None else found.imputation.table
    from isinglass.export import write_network

    edges = text_of(lambda file: write_network(found.network, file, "edges", edge_attributes=found.edge_attributes))
    record = {"table": describe_table(raw), "method": estimate.record}
    if console.as_json:
        record["selection"] = {"criterion": criterion, "description": found.chosen, "stages": found.stages}
        record |= _describe(found)
    deliver(
        *(console, folder, facts | describe_fit(found), {"edges.csv": edges}, record),
        kept=("Table", "Values", "Method", "Alpha"),
        write=lambda here: write_files(here, found, data, *attributes),
    )


def _describe(found: Fit) -> dict[str, Any]:
    network = found.network
    return {
        "tol": found.tol,
        "missing": describe_missing(found.missing, network.names),
        "network": describe_solution(found.solution),
        "nodes": records(_nodes(network)),
        "edges": records(found.edges()),
    }


def _nodes(network: Network) -> dict[str, Any]:
    """Return the nodes by column: names and fields, and of categories what they are."""
    if network.variables.is_binary:
        return {"name": network.names, "field": network.fields}
    fields = network.variables.split(network.category_fields)
    return {"name": network.names, "kind": network.kinds, "categories": network.labels, "fields": fields}


def _fit_path(
    console: Console, data: Table, estimate: Estimate, folder: OutputFolder | None, facts: dict[str, str]
) -> None:
    """Fit all penalties, and write one line for each, or also the edges of each."""
    found = estimate.fit_path(console, data)
    solutions = [describe_solution(solution) for solution in found]
    edges = [[one.alpha, *edge] for one in found for edge in rows_of(one.network.edges())] if folder else []
    facts["Path"] = (
        f"{plural(len(found), 'alpha')} from {found[0].alpha:.4g} to {found[-1].alpha:.4g}, "
        f"{found[0].n_edges} to {plural(found[-1].n_edges, 'edge')}"
    )
    tables = {
        "path.csv": csv_text(list(solutions[0]), [list(solution.values()) for solution in solutions]),
        "edges.csv": csv_text(["alpha", *found[0].network.edges()], edges),
    }
    record = {"table": describe_table(data), "method": estimate.record, "tol": found.tol, "solutions": solutions}
    console.command = "path"  # a schema of its own
    deliver(console, folder, facts | estimate.judge_path(found, data), tables, record)


def write_files(
    here: Path, found: Fit, data: Table, columns: dict[str, list[str | None]], color_by: str | None
) -> None:
    """Write nodes, model and GEXF of a fit into a folder, and the blocks of categories."""
    from isinglass.evaluate.metrics import node_table
    from isinglass.export import write_network
    from isinglass.model_file import save
    from isinglass.show.layout import force_layout

    model = found.network
    measured = node_table(data, model).columns
    nodes: dict[str, Any] = {**columns, **{name: measured[name] for name in NODE_MEASURES}}
    write_network(model, here / "nodes.csv", "nodes", node_attributes=nodes)
    if not model.variables.is_binary:
        write_network(model, here / BLOCKS, "blocks")
    save(found, here / "model.npz")
    write_network(
        model,
        here / "network.gexf",
        node_attributes=nodes,
        edge_attributes=found.edge_attributes,
        color_by=color_by,
        positions=force_layout(model.n_features, model.edge_index, model.weights),
    )
