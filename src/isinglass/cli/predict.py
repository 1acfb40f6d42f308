"""isinglass predict: every cell from the rest of its row, the missing cells, or how well the model predicts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.console import Console, csv_text, plural
from isinglass.cli.descriptions import row_labels
from isinglass.cli.models import Loaded
from isinglass.cli.options import FORCE, MODEL, OUT_TEXT, SEED, Option, command, flag, was_given
from isinglass.cli.output import OutputFolder, check_target, write_file
from isinglass.cli.reading import READING_AGAIN, Reading
from isinglass.cli.values import TABLES, OneOf, files_of
from isinglass.errors import DataError

if TYPE_CHECKING:
    from isinglass.data import Table

MOST_TABLES = 100


@command(
    "predict",
    MODEL,
    click.Argument(["table"], type=TABLES),
    flag("--impute", "Fill in the missing cells and keep the others."),
    Option(
        "--fill",
        OneOf("likely", "draw", "probability"),
        "With --impute: the more probable value, a random draw, or the probability of a 1.",
        default="likely",
    ),
    Option(
        "--tables",
        click.IntRange(1, MOST_TABLES),
        "With --impute and -o: write so many tables, each with its own draws, to the folder FILE.",
    ),
    flag("--score", "Print the mean log pseudo-likelihood of a row; 0 is perfect."),
    flag("--row-scores", "Print the log pseudo-likelihood of every row as CSV."),
    SEED,
    OUT_TEXT,
    FORCE,
    bundles=[READING_AGAIN],
)
def predict(
    console: Console,
    model: str,
    table: str,
    impute: bool,
    fill: str,
    tables: int | None,
    score: bool,
    row_scores: bool,
    random_state: int,
    output: str,
    force: bool,
    reading: Reading,
) -> None:
    """Predict every cell of TABLE from the rest of its row with MODEL.

    MODEL is the folder or the model.npz that `fit` wrote; TABLE may be - for stdin, or a pattern in quotes for several
    files, whose rows follow each other. Prints the probability that a cell
    is 1 given the other cells of its row, as CSV; where columns have categories, that of each category. --impute prints
    the table in 0 and 1, or with its categories, its missing cells filled in; --score reports how well the model
    predicts. Row labels are in the column "row"; weights are not printed.

    --impute --tables 5 -o FOLDER writes completed_1.csv to completed_5.csv, each with its own draws of the
    missing cells, to repeat an analysis on each. Rows without any answer are left out.
    """
    from isinglass.evaluate.imputation import cell_probabilities

    scored = score or row_scores
    if scored and impute:
        raise click.UsageError("--impute and --score exclude each other.")
    inputs = [model, *files_of(table)]
    folder = None
    if tables is None:
        check_target(output, inputs)
    elif not impute or output == "-" or was_given("fill"):
        raise click.UsageError("--tables needs --impute and -o FOLDER, and draws the missing cells: leave --fill out.")
    else:
        names, every = ([f"completed_{k + 1}.csv" for k in range(most)] for most in (tables, MOST_TABLES))
        folder = OutputFolder(Path(output), names, force=force, inputs=inputs, others=every)
    loaded = Loaded.open(model)
    reading = loaded.recall(reading, missing=None if scored else "impute")
    data = _read(console, loaded, reading, table)
    if folder is not None:
        _write_tables(
            console, loaded, data, folder, random_state, {"Table": reading.describe_shape(data, table)}, model
        )
        return
    if scored:
        text, record = _score(console, loaded, data, reading.describe(data, table), rows=row_scores)
        schema = "score"
    else:
        cells = _fill(loaded, data, fill, random_state) if impute else cell_probabilities(data, loaded.model)
        done = f"{plural(data.n_missing, 'missing cell')} filled" if impute else "a probability for every cell"
        console.say_facts({"Table": reading.describe_shape(data, table), "Predicted": done})
        text, record = _cells(loaded, data, cells)
        record, schema = {"impute": impute, **record}, "predict"
    if console.as_json:
        console.write_json({"model": model, **record}, schema)
    elif output == "-":
        console.write(text)
    else:
        write_file(output, text)


def _read(console: Console, loaded: Loaded, reading: Reading, table: str) -> Any:
    """Return the rows of a table, or of all files that fit a pattern, one file after the other."""
    from isinglass.data.table import stack_rows

    files, found = files_of(table), []
    for name in files:
        try:
            found.append(loaded.read_table(console, reading, name))
        except DataError as error:
            if len(files) == 1 or name in str(error):
                raise
            raise DataError(f"{name}: {error.marked}") from None
    return stack_rows(found)


def _write_tables(
    console: Console, loaded: Loaded, whole: Any, folder: OutputFolder, seed: int, facts: dict[str, str], model: str
) -> None:
    """Write several completed tables, and count the rows that have no answer."""
    from isinglass.arguments import spawn_seeds

    names = folder.names[:-1]
    data = whole if whole.holes is None else whole[~whole.holes.all(axis=1)]
    empty = len(whole) - len(data)
    facts["Completed"] = f"{plural(data.n_missing, 'missing cell')} drawn {plural(len(names), 'time')}, seed {seed}" + (
        f"; {plural(empty, 'row')} without any answer left out" if empty else ""
    )
    with folder.filling(facts) as here, console.progress("Drawing"):
        for name, draws in zip(names, spawn_seeds(seed, len(names)), strict=True):
            text, _ = _cells(loaded, data, _fill(loaded, data, "draw", draws))
            (here / name).write_text(text, encoding="utf-8")
    console.say_facts({**facts, "Wrote": folder.summary})
    if console.as_json:
        record = {"impute": True, "tables": names, "n_rows": len(data), "n_left_out": empty}
        console.write_json({"model": model, **record})


def _cells(loaded: Loaded, data: Table, cells: Any) -> tuple[str, dict[str, Any]]:
    """Return a value for every cell, or one array per column of categories, as CSV and as JSON has it."""
    import numpy as np

    names = list(loaded.model.names)
    if isinstance(cells, list):  # a column for each category: party=red
        both = zip(names, loaded.model.labels, strict=True)
        names = [f"{name}={word}" for name, words in both for word in words]
        cells = np.concatenate(cells, axis=1)
    labels, rows = row_labels(data), cells.tolist()
    record = {"columns": names, "cells": cells, "rows": labels}
    if data.row_names is not None:
        names, rows = ["row", *names], [[label, *row] for label, row in zip(labels, rows, strict=True)]
    return csv_text(names, rows), record


def _score(console: Console, loaded: Loaded, data: Table, described: str, *, rows: bool) -> tuple[str, dict[str, Any]]:
    """Return the log pseudo-likelihood: its mean, or that of every row."""
    import numpy as np

    from isinglass.evaluate.imputation import score_rows

    scores = score_rows(data, loaded.model)
    mean = float(np.average(scores, weights=data.sample_weight))
    per_cell = f"{mean / data.shape[1]:.4g} per cell (log pseudo-likelihood)"
    console.say_facts({"Table": described, "Score": f"{mean:.6g} per row, {per_cell}"})
    record = {"n_rows": len(data), "n_columns": data.shape[1], "mean": mean}
    if not rows:
        return f"{mean!r}\n", record
    listed = zip(row_labels(data), scores.tolist(), strict=True)
    return csv_text(["row", "score"], listed), {**record, "scores": scores}


def _fill(loaded: Loaded, data: Table, fill: str, seed: Any) -> Any:
    """Return the table with its missing cells filled."""
    from isinglass.evaluate.imputation import fill_cells

    if fill == "probability" and not loaded.model.variables.is_binary:
        raise click.UsageError("--fill probability is for columns of 0 and 1: leave --impute out instead.")
    return fill_cells(
        data,
        loaded.model,
        probabilities=fill == "probability",
        draws={"random_state": seed} if fill == "draw" else None,
    )
