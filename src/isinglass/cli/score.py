"""isinglass score: how well a model describes a table."""

from __future__ import annotations

import click

from isinglass.cli.console import Console
from isinglass.cli.models import MODEL, Loaded
from isinglass.cli.options import IN_FILE, Option, command
from isinglass.cli.reading import READING, Reading

__all__ = ["score"]


@command(
    "score",
    MODEL,
    click.Argument(["table"], type=IN_FILE),
    Option("--rows", is_flag=True, help="Print the score of every row as CSV."),
    bundles=[READING],
)
def score(console: Console, model: str, table: str, rows: bool, reading: Reading) -> None:
    """Score TABLE by MODEL, the model.npz of a fit.

    Prints the mean over rows of the log pseudo-likelihood: the logarithm of the probability of every cell given the
    rest of its row, summed over the row. Larger is better, and 0 is perfect. TABLE may be - for stdin.
    """
    import numpy as np

    from isinglass.cli.results import row_labels

    loaded = Loaded.open(model)
    reading = loaded.recall(reading)
    data = loaded.read_table(console, reading, table)
    scores = loaded.model.log_pseudolikelihood(data.X)
    mean = float(np.average(scores, weights=data.sample_weight))
    console.say_facts(
        {
            "Table": reading.describe(data, table),
            "Score": f"{mean:.6g} per row, {mean / data.shape[1]:.4g} per cell (log pseudo-likelihood)",
        }
    )
    if console.as_json:
        record = {"model": model, "n_rows": len(data), "n_columns": data.shape[1], "mean": mean}
        console.write_json("score", {**record, **({"scores": scores} if rows else {})})
    elif rows:
        console.write_csv(["row", "score"], zip(row_labels(data), scores.tolist(), strict=True))
    else:
        console.write(f"{mean!r}\n")
