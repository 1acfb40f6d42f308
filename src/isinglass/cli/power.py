"""isinglass power: how many rows it takes to find a network again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.console import Console, plural
from isinglass.cli.descriptions import records
from isinglass.cli.estimate import ESTIMATE, Estimate
from isinglass.cli.models import Loaded
from isinglass.cli.options import MODEL, Option, checkpoint_folder, command
from isinglass.cli.output import deliver, out_folder, require_matplotlib, save_figure
from isinglass.cli.values import COUNTS

if TYPE_CHECKING:
    from isinglass.select.sample_size import SampleSizeStudy

FILES = ["power.csv", "power.pdf", "power.png"]


@command(
    "power",
    MODEL,
    Option("--rows", COUNTS, "Numbers of rows to try, such as 100,200,400.", required=True),
    Option("--repeats n_repeats", click.IntRange(1), "Tables to draw for each number of rows.", default=20),
    checkpoint_folder("tables"),
    bundles=[out_folder(", ".join(FILES)), ESTIMATE],
    strict=True,
)
def power(
    console: Console, model: str, rows: list[int], n_repeats: int, open_folder: Any, estimate: Estimate, **run: Any
) -> None:
    """Estimate how many rows it takes to recover the network of MODEL.

    Draws tables of several sizes from MODEL, such as the model.npz of a pilot study, estimates the network from each,
    and prints for every size the mean sensitivity, specificity and correlation of the couplings, with quantiles, as
    CSV. With -o, also draws them.
    """
    from isinglass.select.sample_size import sample_size

    folder = open_folder(FILES, inputs=[model])
    if folder is not None:
        require_matplotlib()
    network = Loaded.open(model).model
    console.restart_clock()
    run |= {"n_repeats": n_repeats, "random_state": estimate.seed, **estimate.run_options(console)}
    found = sample_size(network, rows, estimate.to_method(estimate.criterion), **run)
    enough = found.rows_for("sensitivity", 0.8)
    facts = {
        "Network": f"{plural(network.n_features, 'node')}, {plural(network.n_edges, 'edge')}",
        "Method": estimate.summarize(),
        "Tables": f"{n_repeats} of each of {', '.join(map(str, found.rows))} rows, seed {estimate.seed}",
        "Enough": "80 % of the edges are found on average "
        + ("at none of these sizes" if enough is None else f"from {enough} rows on"),
    }
    record = {
        "n_nodes": network.n_features,
        "n_edges": network.n_edges,
        "method": estimate.record,
        "n_repeats": n_repeats,
        "seed": estimate.seed,
        "sizes": records(found.columns),
    }
    kept = ("Network", "Method", "Tables")
    deliver(
        console, folder, facts, {"power.csv": found.columns}, record, kept=kept, write=lambda here: _draw(found, here)
    )


def _draw(found: SampleSizeStudy, here: Path) -> None:
    from isinglass.show import plot

    for name in ("power.pdf", "power.png"):
        save_figure(lambda ax: plot.sample_size(found, ax), here / name, dpi=300)
