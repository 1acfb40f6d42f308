"""isinglass predict: every cell from the rest of its row, or the missing ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.console import Console, csv_text, plural
from isinglass.cli.models import MODEL, Loaded
from isinglass.cli.options import IN_FILE, OUT_FILE, SEED, Option, command
from isinglass.cli.output import check_target, write_file
from isinglass.cli.reading import READING, Reading

if TYPE_CHECKING:
    from isinglass.data import BinaryTable

__all__ = ["predict"]


@command(
    "predict",
    MODEL,
    click.Argument(["table"], type=IN_FILE),
    Option("--impute", is_flag=True, help="Fill the missing cells, leave the others as they are."),
    Option(
        "--fill",
        type=click.Choice(["likely", "draw", "probability"]),
        default="likely",
        show_default=True,
        help="--impute: with the more probable value, with a draw, or with the probability of a 1.",
    ),
    SEED,
    Option("-o", "--output", type=OUT_FILE, default="-", metavar="FILE", help="Write here instead of to stdout."),
    bundles=[READING],
)
def predict(
    console: Console, model: str, table: str, impute: bool, fill: str, seed: int, output: str, reading: Reading
) -> None:
    """Predict every cell of TABLE from the rest of its row by MODEL, the model.npz of a fit.

    Prints the probability that a cell is 1 given all other cells of its row, as CSV with the columns of TABLE. With
    --impute the columns of MODEL are printed in 0 and 1, with their missing cells filled: answers such as yes and no do
    not come back, nor a column of weights, and names of rows are in the column row. TABLE may be - for stdin.
    """
    from isinglass.cli.results import row_labels

    check_target(output, [model, table])
    loaded = Loaded.open(model)
    reading = loaded.recall(reading, missing="zero" if impute else "error")
    data = loaded.read_table(console, reading, table)
    cells = _fill(loaded, data, fill, seed) if impute else loaded.model.conditional_probabilities(data.X)
    names, rows = list(loaded.model.names), cells.tolist()
    if data.row_names is not None:
        names, rows = ["row", *names], [[label, *row] for label, row in zip(row_labels(data), rows, strict=True)]
    done = f"{plural(data.n_missing, 'missing cell')} filled" if impute else "a probability for every cell"
    console.say_facts({"Table": reading.describe_shape(data, table), "Predicted": done})
    if console.as_json:
        record = {"model": model, "impute": impute, "columns": list(loaded.model.names), "cells": cells}
        record["rows"] = row_labels(data)
        console.write_json("predict", record)
    elif output == "-":
        console.write_csv(names, rows)
    else:
        write_file(output, csv_text(names, rows))


def _fill(loaded: Loaded, data: BinaryTable, fill: str, seed: int) -> Any:
    """Return the table with its missing cells filled."""
    from isinglass.errors import DataError
    from isinglass.evaluate.imputation import fill_missing

    if data.filled is None:
        return data.X
    if loaded.fit is None:
        raise DataError("MODEL must be the model of a fit; got a network without the means of its columns.")
    return fill_missing(
        loaded.model,
        data,
        loaded.fit.marginals,
        probabilities=fill == "probability",
        draws={"random_state": seed} if fill == "draw" else None,
    )
