"""isinglass fit: the network of a table."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isinglass.atomic import write_text
from isinglass.cli.command import command
from isinglass.cli.console import Console, text_of
from isinglass.cli.descriptions import (
    describe_coding,
    describe_imputation,
    describe_solution,
    describe_table,
    records,
)
from isinglass.cli.models import Attributes
from isinglass.cli.options import TABLE_OR_PATTERN, files_of
from isinglass.cli.output import output_folder, write_results
from isinglass.cli.settings import ESTIMATE, READING, Estimate, Reading
from isinglass.json_text import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isinglass.data import Table
    from isinglass.fit import Fit
    from isinglass.network import Network

FILES = ["edges.csv", "nodes.csv", "model.npz", "network.gexf", "methods.txt", "blocks.csv", "covariates.csv"]
ACCURACIES = ("accuracy", "marginal_accuracy", "normalized_accuracy", "deviance_explained", "r_squared")


@command("fit", TABLE_OR_PATTERN, bundles=[ESTIMATE, READING], general="strict as_json")
def fit(
    console: Console,
    table: str,
    output: Path | None,
    force: bool,
    attributes: str | None,
    device: str | None,
    max_time: float | None,
    fdr: float | None,
    estimate: Estimate,
    reading: Reading,
) -> None:
    """Estimate the network of TABLE.

    TABLE has one row per case, such as a respondent, and one column per variable. Use - for stdin, or a quoted pattern
    such as 'parts/*.parquet' to read many files as one table. By default the penalty is selected in two stages, as
    IsingNetwork does in Python; choose another criterion with --select, or the penalty itself with --alpha.

    Prints the edges as CSV. With -o, writes edges.csv, nodes.csv, model.npz, network.gexf for Gephi, methods.txt with a
    paragraph for the methods section of a paper (with categories also blocks.csv, with --covariates also
    covariates.csv) and run.json to a folder.
    """
    from isinglass.evaluate.centrality import BRIDGES, MEASURES
    from isinglass.export import write_network

    run = estimate.run(console, device=device, max_time=max_time)
    folder = output_folder(output, FILES, force=force, inputs=[*files_of(table), attributes])
    raw = reading.read_to_fit(console, table)
    known = Attributes.read(attributes, raw.variables, {*ACCURACIES, *MEASURES, *BRIDGES})
    console.restart_clock()
    found = replace(estimate.method.replace(fdr=fdr).fit(raw, run=run), reading=reading.said)
    settings = {
        "Table": reading.describe(raw, table),
        **describe_imputation(found.missing, raw.shape[1]),
        **describe_coding(raw.coding),
        "Method": str(estimate),
    }
    edges = text_of(lambda file: write_network(found.network, file, "edges", edge_attributes=found.edge_attributes))
    tables: dict[str, Any] = {"edges.csv": edges}
    if found.network.variables.has_covariates:
        tables["covariates.csv"] = found.covariate_edges()
    record = {"table": describe_table(raw), "method": estimate.record, **_describe(found, estimate.criterion)}

    def write(here: Path) -> None:
        _write_files(here, raw if found.imputation is None else found.imputation.table, found, known)

    write_results(console, folder, settings | found.facts(), tables, record, write)


def _describe(found: Fit, criterion: str | None) -> JsonObject:
    """Return what was found, as --json prints it."""
    network, stages = found.network, found.selection.stages
    return {
        "selection": {"criterion": criterion, "description": found.chosen_by, "stages": stages and asdict(stages)},
        "tol": found.method.tolerance,
        "missing": found.missing,
        "network": describe_solution(found.solution),
        "nodes": records(_nodes(network.without_covariates())),
        "edges": records(found.edges()),
    }


def _nodes(network: Network) -> dict[str, Iterable[object]]:
    """Return the nodes by column: names and fields, and of categories what they are."""
    if network.variables.is_binary:
        return {"name": network.names, "field": network.fields}
    fields = network.variables.split(network.category_fields)
    return {"name": network.names, "kind": network.kinds, "categories": network.variables.labels, "fields": fields}


def _write_files(here: Path, data: Table, found: Fit, known: Attributes) -> None:
    """Write nodes, model, GEXF and methods of a fit into a folder, and the blocks of categories."""
    from isinglass.evaluate.centrality import further_measures
    from isinglass.evaluate.nodes import node_table
    from isinglass.export import write_network
    from isinglass.model_file import save
    from isinglass.show.layout import force_layout
    from isinglass.show.report.methods import describe_fit

    model = found.network.without_covariates()
    columns = node_table(data, found)
    measured = {name: columns[name] for name in ("expected_influence", *ACCURACIES)}
    nodes: dict[str, Any] = {**known.columns, **further_measures(model, known.groups), **measured}
    write_network(model, here / "nodes.csv", "nodes", node_attributes=nodes)
    if not model.variables.is_binary:
        write_network(model, here / "blocks.csv", "blocks")
    save(found, here / "model.npz")
    write_text(str(describe_fit(found)), here / "methods.txt")
    write_network(
        model,
        here / "network.gexf",
        node_attributes=nodes,
        edge_attributes=found.edge_attributes,
        color_by=known.color_by,
        positions=force_layout(model.n_features, model.edge_index, model.weights),
    )
