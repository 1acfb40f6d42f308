"""isinglass predict: every cell from the rest of its row, the missing cells, or how well the model predicts."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from isinglass.cli.command import command
from isinglass.cli.console import Console, csv_text
from isinglass.cli.descriptions import describe_shape, row_labels
from isinglass.cli.models import Loaded
from isinglass.cli.option_table import MODEL, TABLE
from isinglass.cli.output import OutputFolder, check_target, write_file, write_results
from isinglass.cli.reading import READING_AGAIN, Reading
from isinglass.errors import plural, times
from isinglass.json_text import JsonObject
from isinglass.names import unused_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from isinglass.arrays import AnyArray, FloatArray
    from isinglass.data import Table
    from isinglass.data.source import Source

LEVEL = 0.95
"""Probability of the intervals of continuous cells."""
DIGITS = 6
"""Significant digits of what is printed, of numbers those of their range: the tolerance of a fit leaves no more."""
FILES = [f"completed_{k + 1}.csv" for k in range(100)]
Answer = tuple[dict[str, str], str, JsonObject]  # what is said, what is printed, and what --json prints


@command("predict", MODEL, TABLE, bundles=[READING_AGAIN])
def predict(
    console: Console,
    model: str,
    table: str,
    impute: bool,
    tables: int | None,
    score: bool,
    random_state: int,
    output: Path | None,
    force: bool,
    reading: Reading,
) -> None:
    """Predict every cell of TABLE from the rest of its row with MODEL.

    MODEL is the folder or the model.npz that `fit` wrote; TABLE may be - for stdin. Prints the probability that a
    cell is 1 given the other cells of its row, as CSV; where columns have categories, that of each category; for a
    column of numbers, the expected number and a 95 % interval (age, age_lower, age_upper). Covariates are not
    predicted. --impute prints the table with its own values, its missing cells filled in with the most probable value,
    in a column of numbers with the expected one; --score reports how well the model predicts. Row labels are in the
    column "row", or "row (2)" if the table has a column "row"; weights are not printed.

    --impute --tables 5 -o FOLDER writes completed_1.csv to completed_5.csv, each with its own draws of the missing
    cells, to repeat an analysis on each. Rows without any answer are left out.
    """
    if score and impute:
        raise click.UsageError("Use either --impute or --score, not both.")
    if tables is not None and (not impute or output is None):
        raise click.UsageError("--tables needs --impute and -o FOLDER.")
    seed = click.get_current_context().get_parameter_source("random_state")
    if tables is None and seed is ParameterSource.COMMANDLINE:
        raise click.UsageError("--seed needs --tables: nothing else is drawn.")
    inputs, several = [model, table], None if tables is None else output
    folder = None if several is None else OutputFolder(several, FILES, force=force, inputs=inputs)
    if folder is None:
        check_target(output, inputs)
    loaded = Loaded.open(model)
    # Probabilities and imputed cells do not depend on weights, which another table need not have.
    reading = loaded.recall(reading, **({} if score else {"missing": "impute", "weights": None}))
    source, data = reading.read_source(console, table)
    facts = {"Table": reading.describe(data, table, "not scored") if score else describe_shape(data, table)}
    if folder is not None:
        said, record, write = _draw_tables(console, loaded, source, data, FILES[:tables], random_state)
        write_results(console, folder, facts | said, {}, {}, {"model": model, **record}, write)
    else:
        said, text, record = (_score if score else _fill if impute else _predict)(loaded, source, data)
        write_file(console, output, text, facts=facts | said, record={"model": model, **record})


def _draw_tables(
    console: Console, loaded: Loaded, source: Source, whole: Table, files: Sequence[str], seed: int
) -> tuple[dict[str, str], JsonObject, Callable[[Path], None]]:
    """Return what is said of several completed tables, without the rows that have no answer, and what writes them."""
    import numpy as np

    from isinglass.arguments import spawn_seeds
    from isinglass.data.completion import OpenCells
    from isinglass.evaluate.prediction import fill_drawn

    data = whole if whole.holes is None else whole[~np.asarray(whole.holes.all(axis=1))]
    empty = len(whole) - len(data)
    left_out = f"; {plural(empty, 'row')} without any answer left out" if empty else ""
    drawn = f"{plural(data.n_missing, 'missing cell')} drawn {times(len(files))}, seed {seed}"

    def write(here: Path) -> None:
        observed = OpenCells(source, data, loaded.coding)
        with console.progress("Drawing"):
            for file, draws in zip(files, spawn_seeds(seed, len(files)), strict=True):
                cells = fill_drawn(data, loaded.network, loaded.occurs, loaded.coding.columns, random_state=draws)
                text, _ = _print_cells(data, loaded.network.names, observed.filled(cells))
                (here / file).write_text(text, encoding="utf-8")

    record = {"impute": True, "tables": files, "n_rows": len(data), "n_left_out": empty}
    return {"Completed": drawn + left_out}, record, write


def _fill(loaded: Loaded, source: Source, data: Table) -> Answer:
    """Return the table with its missing cells filled in."""
    from isinglass.data.completion import OpenCells
    from isinglass.evaluate.prediction import fill_most_probable

    observed = OpenCells(source, data, loaded.coding)
    cells = observed.filled(fill_most_probable(data, loaded.network, loaded.occurs, loaded.coding.columns))
    text, record = _print_cells(data, loaded.network.names, cells)
    said = {"Predicted": f"{plural(data.n_missing, 'missing cell')} filled"}
    return said, text, {"impute": True, **record, "cells": observed.as_read(cells)}


def _predict(loaded: Loaded, source: Source, data: Table) -> Answer:
    """Return what is expected of every cell."""
    numbers = " or number" if len(loaded.network.variables.continuous) else ""
    text, record = _print_cells(data, *_predict_cells(loaded, data))
    return {"Predicted": f"a probability{numbers} for every cell"}, text, {"impute": False, **record}


def _print_cells(data: Table, names: Sequence[str], cells: AnyArray) -> tuple[str, JsonObject]:
    """Return columns with a value in every row as CSV, with the labels of the rows if there are some, and for JSON."""
    labels, header, rows = row_labels(data), list(names), cells.tolist()
    record = {"columns": header, "cells": cells, "rows": labels}
    if data.row_names is not None:
        header = [unused_name("row", header), *header]
        rows = [[label, *row] for label, row in zip(labels, rows, strict=True)]
    return csv_text(header, rows), record


def _predict_cells(loaded: Loaded, data: Table) -> tuple[list[str], FloatArray]:
    """Return the names and values of the predicted columns: of a binary column the probability of a 1.

    Where columns have categories, one for each category of a column, party=red, unless no value stands for it, as for
    the other one of a constant; and for a continuous column the mean and the ends of an interval. A number is appended
    to a name that the table or the prediction has already.
    """
    import numpy as np

    from isinglass.arrays import round_digits
    from isinglass.evaluate.prediction import among_occurring, cell_probabilities, central_intervals, expected_values

    variables, rules = loaded.network.variables, loaded.coding.columns
    chance = cell_probabilities(data, loaded.network, loaded.occurs)
    if not isinstance(chance, list):
        return list(variables.names), round_digits(chance, DIGITS)
    likely = among_occurring(chance, variables, loaded.occurs)
    means, intervals = expected_values(likely, rules), central_intervals(likely, rules, LEVEL)
    columns: dict[str, FloatArray] = {}
    taken = {*variables.names}
    for s, name in enumerate(variables.names):
        if name in variables.covariates:  # nothing is predicted
            continue
        if s in variables.continuous:
            decimals = DIGITS - 1 - math.floor(math.log10(rules[s].values[-1] - rules[s].values[0]))
            columns[name] = np.round(means[:, s], decimals)
            made = dict(zip((f"{name}_lower", f"{name}_upper"), intervals[:, s].T, strict=True))
        else:
            parts = zip(variables.categories[s], chance[s].T, strict=True)
            made = {f"{name}={value}": round_digits(part, DIGITS) for value, part in parts if value is not None}
        for each, values in made.items():
            taken.add(unused := unused_name(each, taken))
            columns[unused] = values
    return list(columns), np.column_stack([*columns.values()])


def _score(loaded: Loaded, source: Source, data: Table) -> Answer:
    """Return the mean log pseudo-likelihood of a row."""
    import numpy as np

    from isinglass.evaluate.prediction import score_rows

    mean = float(np.average(score_rows(data, loaded.network, loaded.occurs), weights=data.sample_weight))
    n_scored = len(loaded.network.variables.nodes)  # all but the covariates
    cells, per_row = "cell", float(n_scored)
    if data.holes is not None:  # which covariates cannot have
        observed = (~data.holes[:, loaded.network.variables.is_modeled]).sum(axis=1)
        cells, per_row = "observed cell", float(np.average(observed, weights=data.sample_weight)) or 1.0
    words = f"{mean:.{DIGITS}g} per row, {mean / per_row:.4g} per {cells} (log pseudo-likelihood)"
    record = {"schema": "isinglass/score/1", "n_rows": len(data), "n_columns": n_scored, "mean": mean}
    return {"Score": words}, f"{mean:.{DIGITS}g}\n", record
