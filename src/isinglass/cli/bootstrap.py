"""isinglass bootstrap: how stable the edges are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from isinglass.cli.attributes_file import Attributes
from isinglass.cli.command import command
from isinglass.cli.console import Console
from isinglass.cli.descriptions import describe_solution, records
from isinglass.cli.estimate import ESTIMATE, Estimate
from isinglass.cli.option_table import TABLE
from isinglass.cli.output import OutputFolder, write_results
from isinglass.cli.reading import READING, Reading
from isinglass.errors import plural

if TYPE_CHECKING:
    from isinglass.arrays import Arrays
    from isinglass.select import Bootstrap

Communities = list[str | None] | None  # of every node, if they are given
RESAMPLES = {"rows": "resamples.npz", "case-drop": "case_drop.npz"}
"""What `plot` and `report` read again, by kind."""
MOST_NODES = 60
"""Nodes up to which closeness and betweenness are computed in every resample."""
LEAST_DROPS = 10
"""Resamples of "case-drop": one for each share of the rows that is dropped."""
FILES = ["edges.csv", "nodes.csv", "edge_differences.csv", "node_differences.csv", "drops.csv", *RESAMPLES.values()]


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
    if kind == "all" and output is None:
        raise click.UsageError("--kind all needs -o FOLDER.")
    if kind != "rows" and n_boot < LEAST_DROPS:
        raise click.UsageError(f"--kind {kind} needs at least {LEAST_DROPS} --resamples; got {n_boot}.")
    folder = None if output is None else OutputFolder(output, FILES, force=force, inputs=[table, attributes])
    data = reading.read_to_fit(console, table)
    communities = Attributes.read(attributes, data.variables).groups
    console.restart_clock()
    if checkpoint is not None:
        make_folder(checkpoint)
    found = {}
    for each in RESAMPLES if kind == "all" else [kind]:
        run = estimate.run(console, checkpoint=None if checkpoint is None else str(Path(checkpoint) / each))
        found[each] = resample(
            data, estimate.method, n_boot=n_boot, kind=each, reselect=reselect, random_state=estimate.seed, run=run
        )
    tables, findings = _tables(found, communities, differences=folder is not None), _describe(found)
    settings = {
        "Table": reading.describe(data, table),
        "Method": estimate.summarize(f", penalty {'selected again in every resample' if reselect else 'kept'}"),
        "Resamples": f"{n_boot}, kind {' and '.join(found)}, seed {estimate.seed}",
    }
    drops = found.get("case-drop")
    record = {
        **estimate.describe(data),
        "kind": kind,
        "n_resamples": n_boot,
        "network": describe_solution(next(iter(found.values())).solution),
        "cs_coefficients": None if drops is None else drops.cs_coefficients() or None,
        **{name.removesuffix(".csv"): records(columns) for name, columns in tables.items()},
    }

    def write(here: Path) -> None:
        for each, one in found.items():
            save(one, here / RESAMPLES[each])

    write_results(console, folder, settings, findings, tables, record, write)


def _tables(found: Mapping[str, Bootstrap], communities: Communities, *, differences: bool) -> dict[str, Arrays]:
    """Return what was found as tables, by the names of their files."""
    tables: dict[str, Arrays] = {}
    if rows := found.get("rows"):
        tables |= {"edges.csv": rows.edges(), "nodes.csv": _measure_nodes(rows, communities)}
        if differences:
            tables |= {f"{of}_differences.csv": _differences(rows, of) for of in ("edge", "node")}
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


def _differences(found: Bootstrap, of: str) -> Arrays:
    """Return which edges differ, or which nodes in their strength; no rows, and a warning, if they are too many."""
    import numpy as np

    from isinglass.errors import IsinglassWarning, LimitError, warn

    try:
        return found.differences({"edge": "edges", "node": "strength"}[of])
    except LimitError as error:
        warn(IsinglassWarning(f"{of}_differences.csv has no rows. {error.marked}"))
        return {name: np.empty(0) for name in ("first", "second", "difference", "lower", "upper", "different")}


def _describe(found: Mapping[str, Bootstrap]) -> dict[str, str]:
    """Say in words what was found."""
    facts = {}
    if rows := found.get("rows"):
        often = int((rows.inclusion[rows.edge_values != 0] >= 0.95).sum())
        facts["Network"] = (
            f"{plural(rows.solution.n_edges, 'edge')}, {often} of them in at least 95 % of the resamples; "
            f"{plural(len(rows.edge_index), 'pair')} seen at least once"
        )
    if drops := found.get("case-drop"):
        each = ", ".join(f"{of.replace('_', ' ')} {value:.2f}" for of, value in drops.cs_coefficients().items())
        known = f"{each} (interpret an order only if at least 0.25, preferably 0.5)"
        facts["Stability"] = f"CS-coefficients: {known if each else 'none, because the network has no edges'}"
        if drops.has_few_subsets:
            facts["Caution"] = (
                f"only about {plural(drops.n_per_share, 'subset')} per share of rows left out, too few for a "
                "statement about 95 % of them; take more resamples, which are divided among the shares"
            )
    return facts
