"""isinglass power: how many rows it takes to find a network again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from isinglass.cli.command import command
from isinglass.cli.console import Console
from isinglass.cli.descriptions import records
from isinglass.cli.estimate import ESTIMATE, Estimate
from isinglass.cli.models import Loaded
from isinglass.cli.option_table import MODEL
from isinglass.cli.output import OutputFolder, require_matplotlib, write_results
from isinglass.errors import plural

if TYPE_CHECKING:
    from isinglass.select.sample_size import SampleSizeStudy

FILES = ["power.csv", "power.pdf", "power.png"]


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
    """Estimate how many rows it takes to recover the network of MODEL.

    Simulates tables of several sizes from MODEL, such as the model.npz of a pilot study, and estimates a network from
    each. Prints, as CSV, the mean and quantiles of sensitivity, specificity and the correlation of the couplings for
    every size. With -o, writes power.csv, the figures power.pdf and power.png, and run.json to a folder.
    """
    from isinglass.select.sample_size import sample_size

    folder = None if output is None else OutputFolder(output, FILES, force=force, inputs=[model])
    if folder is not None:
        require_matplotlib()
    network, n_repeats = Loaded.open(model).network, n_resamples or 20
    console.restart_clock()
    found = sample_size(
        network,
        rows,
        estimate.method,
        n_repeats=n_repeats,
        random_state=estimate.seed,
        run=estimate.run(console, checkpoint=checkpoint),
    )
    enough = found.rows_for("sensitivity", 0.8)
    settings = {
        "Network": f"{plural(network.n_features, 'node')}, {plural(network.n_edges, 'edge')}",
        "Method": estimate.summarize(),
        "Tables": f"{n_repeats} of each of {', '.join(map(str, found.rows))} rows, seed {estimate.seed}",
    }
    found_edges = f"80 % of the edges are found on average with {enough} rows or more"
    if enough is None:
        found_edges = "none of these sizes finds 80 % of the edges on average"
    findings = {"Enough": found_edges if network.n_edges else "the network has no edges that could be found"}
    record = {
        "n_nodes": network.n_features,
        "n_edges": network.n_edges,
        "method": estimate.record,
        "n_repeats": n_repeats,
        "seed": estimate.seed,
        "sizes": records(found.sizes()),
    }
    tables = {"power.csv": found.sizes()}
    write_results(console, folder, settings, findings, tables, record, lambda here: _draw(found, here))


def _draw(found: SampleSizeStudy, here: Path) -> None:
    from isinglass.show import plot
    from isinglass.show.plot.canvas import figure_bytes

    for name in ("power.pdf", "power.png"):
        (here / name).write_bytes(figure_bytes(lambda: plot.sample_size(found), Path(name).suffix))
