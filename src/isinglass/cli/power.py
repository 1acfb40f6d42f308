"""isinglass power: how many rows it takes to find a network again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.console import Console, format_seconds, plural
from isinglass.cli.descriptions import records
from isinglass.cli.estimate import ESTIMATE, Estimate
from isinglass.cli.figures import require_matplotlib, save_figure
from isinglass.cli.models import Loaded
from isinglass.cli.options import FORCE, MODEL, Option, checkpoint_folder, command, out_folder
from isinglass.cli.output import OutputFolder, deliver
from isinglass.cli.values import COUNTS

if TYPE_CHECKING:
    from isinglass.select.sample_size import SampleSizeStudy

FILES = ["power.csv", "power.pdf", "power.png"]


@command(
    "power",
    MODEL,
    Option("--rows", type=COUNTS, required=True, help="Numbers of rows to try, such as 100,200,400."),
    Option(
        "--repeats", "n_repeats", type=click.IntRange(min=1), default=20, help="Tables to draw for each number of rows."
    ),
    checkpoint_folder("tables"),
    out_folder(", ".join(FILES)),
    FORCE,
    bundles=[ESTIMATE],
    strict=True,
)
def power(
    console: Console,
    model: str,
    rows: list[int],
    output: Path | None,
    force: bool,
    estimate: Estimate,
    **options: Any,
) -> None:
    """Estimate how many rows it takes to recover the network of MODEL.

    Draws tables of several sizes from MODEL, such as the model.npz of a pilot study, estimates the network from each,
    and prints for every size the mean sensitivity, specificity and correlation of the couplings, with quantiles, as
    CSV. With -o, also draws them.
    """
    from isinglass.select.sample_size import sample_size

    folder = OutputFolder(output, FILES, force=force, inputs=[model]) if output else None
    if folder is not None:
        require_matplotlib()
    network = Loaded.open(model).model
    console.restart_clock()
    criterion = estimate.criterion
    found = sample_size(
        network,
        rows,
        estimate.function(criterion),
        **estimate.run_options(console),
        **options,
    )
    chosen = "alpha given" if criterion is None else estimate.describe(criterion)
    enough = found.rows_for("sensitivity", 0.8)
    facts = {
        "Network": f"{plural(network.n_features, 'node')}, {plural(network.n_edges, 'edge')}",
        "Method": f"{estimate}; {chosen}",
        "Tables": f"{options['n_repeats']} of each of {', '.join(map(str, found.rows))} rows, seed {estimate.seed}",
        "Enough": "80 % of the edges are found on average "
        + ("at none of these sizes" if enough is None else f"from {enough} rows on"),
        "Time": format_seconds(console.seconds),
    }
    deliver(
        *(console, "power", folder, facts, ("Network", "Method", "Tables"), {"power.csv": found.columns}),
        record=lambda: {
            "n_nodes": network.n_features,
            "n_edges": network.n_edges,
            "method": estimate.record,
            "n_repeats": options["n_repeats"],
            "seed": estimate.seed,
            "sizes": records(found.columns),
        },
        write=lambda here: _draw(found, here),
    )


def _draw(found: SampleSizeStudy, here: Path) -> None:
    from isinglass.show import plot

    for name in ("power.pdf", "power.png"):
        save_figure(lambda ax: plot.sample_size(found, ax), here / name, dpi=300)
