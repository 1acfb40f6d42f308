"""isinglass bootstrap, compare and power: networks of many tables, which are resampled, shuffled or simulated."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from isinglass.atomic import write_text
from isinglass.cli.command import command
from isinglass.cli.console import Console
from isinglass.cli.descriptions import describe_imputation, describe_solution, fields, records
from isinglass.cli.grammar import spell_column
from isinglass.cli.models import RESAMPLES, Attributes, Loaded
from isinglass.cli.options import MODEL, TABLE
from isinglass.cli.output import output_folder, write_results
from isinglass.cli.settings import ESTIMATE, READING, Estimate, Reading
from isinglass.errors import IsinglassWarning, LimitError, plural, warn
from isinglass.json_text import JsonObject

if TYPE_CHECKING:
    from isinglass.arrays import Arrays
    from isinglass.select import Bootstrap, GroupComparison

Communities = list[str | None] | None  # of every node, if they are given
MOST_NODES = 60
"""Nodes up to which closeness and betweenness are computed in every resample."""
LEAST_DROPS = 10
"""Resamples of "case-drop": one for each share of the rows that is dropped."""
DIFFERENCES = {"edge_differences.csv": "edges", "node_differences.csv": "strength"}
BOOTSTRAP_FILES = ["edges.csv", "nodes.csv", *DIFFERENCES, "drops.csv", *RESAMPLES.values()]
COMPARE_FILES = ["edges.csv", "nodes.csv", "groups.csv", "report.html", "methods.txt"]
POWER_FILES = ["power.csv", "power.pdf", "power.png"]


@command("bootstrap", TABLE, bundles=[ESTIMATE, READING], general="strict as_json")
def bootstrap(
    console: Console,
    table: str,
    n_resamples: int | None,
    kind: str,
    reselect: bool | None,
    checkpoint: str | None,
    attributes: str | None,
    output: Path | None,
    force: bool,
    estimate: Estimate,
    reading: Reading,
) -> None:
    """Assess edge stability by resampling the rows of TABLE.

    Fits the network as `fit` does with the same options, and selects the penalty again in every resample. Prints, as
    CSV, the mean and the quantiles of each edge and the share of resamples that have it; with --kind case-drop, how
    well nodes and edges keep their order when rows are dropped. TABLE may be - for stdin.

    With -o, writes a folder with edges.csv, nodes.csv with intervals of the centralities (with --attributes also of
    bridges between the groups of nodes), and the tests of differences between edges and between nodes
    (edge_differences.csv, node_differences.csv); with --kind case-drop, drops.csv. The folder also holds the resamples,
    which `plot` and `report` read.
    """
    from isinglass.model_file import save
    from isinglass.select.bootstrap import bootstrap as resample
    from isinglass.select.checkpoint import make_folder

    n_boot, reselect = n_resamples or 1000, reselect is not False
    kinds = [*RESAMPLES] if kind == "all" else [kind]
    if kind == "all" and output is None:
        raise click.UsageError("--kind all needs -o FOLDER.")
    if kind != "rows" and n_boot < LEAST_DROPS:
        raise click.UsageError(f"--kind {kind} needs at least {LEAST_DROPS} --resamples; got {n_boot}.")
    folder = output_folder(output, BOOTSTRAP_FILES, force=force, inputs=[table, attributes])
    data = reading.read_to_fit(console, table)
    communities = Attributes.read(attributes, data.variables).groups
    console.restart_clock()
    found = {}
    for each in kinds:
        run = estimate.run(console, checkpoint=None if checkpoint is None else make_folder(checkpoint) / each)
        found[each] = resample(
            data, estimate.method, n_boot=n_boot, kind=each, reselect=reselect, random_state=estimate.seed, run=run
        )
    tables = _resample_tables(found, communities, differences=folder is not None)
    facts = {name: text for one in found.values() for name, text in one.facts().items()}
    settings = {
        "Table": reading.describe(data, table),
        "Method": estimate.summarize(f", penalty {'selected again in every resample' if reselect else 'kept'}"),
        "Resamples": f"{n_boot}, kind {' and '.join(found)}, seed {estimate.seed}",
    }
    record = {
        **estimate.describe(data),
        "kind": kind,
        "n_resamples": n_boot,
        "network": describe_solution(next(iter(found.values())).solution),
        "cs_coefficients": found["case-drop"].cs_coefficients() or None if "case-drop" in found else None,
    }

    def write(here: Path) -> None:
        for each, one in found.items():
            save(one, here / RESAMPLES[each])

    write_results(console, folder, settings | facts, tables, record, write)


def _resample_tables(
    found: Mapping[str, Bootstrap], communities: Communities, *, differences: bool
) -> dict[str, Arrays]:
    """Return what was found as tables, by the names of their files; differences unless they are too many."""
    tables: dict[str, Arrays] = {}
    if rows := found.get("rows"):
        tables |= {"edges.csv": rows.edges(), "nodes.csv": _measure_nodes(rows, communities)}
        for file, of in DIFFERENCES.items():
            try:
                tables |= {file: rows.differences(of)} if differences else {}
            except LimitError as error:
                warn(IsinglassWarning(f"{file} is not written. {error.marked}"))
    if drops := found.get("case-drop"):
        tables["drops.csv"] = drops.drops()
    return tables


def _measure_nodes(found: Bootstrap, communities: Communities) -> Arrays:
    """Return the centralities of all nodes with their intervals, one after the other; of paths in small networks."""
    import numpy as np

    from isinglass.evaluate.centrality import BRIDGES, MEASURES
    from isinglass.select.bootstrap_result import COLUMNS

    wanted = MEASURES if len(found.names) <= MOST_NODES else MEASURES[:2]
    parts = {of: found.nodes(of, communities) for of in (*wanted, *(BRIDGES if communities else ()))}
    measured = [{**part, "measure": np.full(len(part["name"]), of), "value": part[of]} for of, part in parts.items()]
    columns = ("name", "measure", "value", "mean", *COLUMNS)
    return {name: np.concatenate([part[name] for part in measured]) for name in columns}


@command("compare", TABLE, bundles=[ESTIMATE, READING], general="strict as_json")
def compare(
    console: Console,
    table: str,
    groups: str | int,
    paired: str | int | None,
    n_resamples: int | None,
    reselect: bool | None,
    checkpoint: str | None,
    output: Path | None,
    force: bool,
    estimate: Estimate,
    reading: Reading,
) -> None:
    """Test whether groups of rows have the same network.

    A permutation test: shuffles the group labels of TABLE many times and compares the networks each time by their
    largest difference in a coupling, their global strength, each edge and the strength of each node. Prints the edges
    with their p-values as CSV. TABLE may be - for stdin.

    With -o, writes edges.csv, nodes.csv, groups.csv, report.html with the networks side by side, methods.txt with a
    paragraph for the methods section of a paper, and run.json to a folder.
    """
    from isinglass.select.group_comparison import compare_groups
    from isinglass.show.report import write_comparison
    from isinglass.show.report.methods import describe_comparison

    if groups == paired:
        raise click.UsageError("--groups and --paired must be different columns.")
    folder = output_folder(output, COMPARE_FILES, force=force, inputs=[table])
    keys = [groups] if paired is None else [groups, paired]
    data = reading.with_defaults(labels=keys).read_to_fit(console, table)
    console.restart_clock()
    found = compare_groups(
        data,
        data.labels[str(groups)],
        estimate.method,
        paired=None if paired is None else data.labels[str(paired)],
        n_permutations=n_resamples or 1000,
        reselect=bool(reselect),
        random_state=estimate.seed,
        run=estimate.run(console, checkpoint=checkpoint),
    )
    again = "penalty selected again in every permutation" if found.reselect else "penalty selected on all rows and kept"
    told = found.facts()
    facts = {
        "Table": reading.describe(data, table),
        "Method": estimate.summarize(f", {again}"),
        **describe_imputation(found.missing, data.shape[1], "from one two-stage network of all rows, ignoring groups"),
        **told,
        "Groups": f"{spell_column(groups)}: {told['Groups']}",
    }
    tables = {"edges.csv": found.edges(), "nodes.csv": found.nodes(), "groups.csv": found.pairs()}
    draft = describe_comparison(found)
    record = {**estimate.describe(data), **_record(found), "methods": draft.text, "citation": draft.references}

    def write(here: Path) -> None:
        write_comparison(found, here / "report.html", title=f"Networks by {spell_column(groups)}")
        write_text(str(draft), here / "methods.txt")

    write_results(console, folder, facts, tables, record, write)


def _record(found: GroupComparison) -> JsonObject:
    """Return what was found, as --json prints it beside the edges and nodes."""
    each = zip(found.groups, found.n_rows, found.solutions, strict=True)
    return {
        **fields(found, "n_permutations", "paired", "reselect", "covariates"),
        "groups": [{"group": group, "n_rows": n, **describe_solution(network)} for group, n, network in each],
        **fields(found, "structure", "p_structure", "global_strengths", "strength", "p_strength"),
        "pairs": records(found.pairs()),
    }


@command("power", MODEL, bundles=[ESTIMATE], general="strict as_json")
def power(
    console: Console,
    model: str,
    rows: list[int],
    n_resamples: int | None,
    checkpoint: str | None,
    output: Path | None,
    force: bool,
    estimate: Estimate,
) -> None:
    """Estimate how many rows it takes to recover a network.

    Simulates tables of several sizes from MODEL, such as the model.npz of a pilot study, and estimates a network from
    each. Prints, as CSV, the mean and quantiles of sensitivity, specificity and the correlation of the couplings for
    every size. With -o, writes power.csv, the figures power.pdf and power.png, and run.json to a folder.
    """
    from isinglass.select.sample_size import sample_size

    folder = output_folder(output, POWER_FILES, force=force, inputs=[model])
    if folder is not None:
        import isinglass.show.plot  # noqa: F401 - which needs packages that may be missing
    network, n_repeats = Loaded.open(model).network, n_resamples or 20
    console.restart_clock()
    run = estimate.run(console, checkpoint=checkpoint)
    found = sample_size(network, rows, estimate.method, n_repeats=n_repeats, random_state=estimate.seed, run=run)
    enough = found.rows_for("sensitivity", 0.8)
    number = "none of these numbers of rows" if enough is None else f"{enough} rows or more"
    facts = {
        "Network": f"{plural(network.n_features, 'node')}, {plural(network.n_edges, 'edge')}",
        "Method": estimate.summarize(),
        "Tables": f"{n_repeats} of each of {', '.join(map(str, found.rows))} rows, seed {estimate.seed}",
        "Enough": f"to find 80 % of the edges on average: {number}",
    }
    record = {
        "n_nodes": network.n_features,
        "n_edges": network.n_edges,
        "method": estimate.record,
        "n_repeats": n_repeats,
        "seed": estimate.seed,
    }

    def draw(here: Path) -> None:
        from isinglass.show import plot
        from isinglass.show.plot.canvas import figure_bytes

        for name in ("power.pdf", "power.png"):
            (here / name).write_bytes(figure_bytes(lambda: plot.sample_size(found), Path(name).suffix))

    write_results(console, folder, facts, {"power.csv": found.sizes()}, record, draw)
