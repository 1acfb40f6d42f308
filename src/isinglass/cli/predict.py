"""isinglass predict: every cell from the rest of its row, the missing cells, or how well the model predicts."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from isinglass.cli.command import command
from isinglass.cli.console import Console, csv_text
from isinglass.cli.descriptions import describe_shape
from isinglass.cli.models import Loaded
from isinglass.cli.options import MODEL, TABLE
from isinglass.cli.output import check_target, write_file
from isinglass.cli.settings import READING_AGAIN, Reading
from isinglass.errors import plural
from isinglass.json_text import JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isinglass.arrays import AnyArray, FloatArray
    from isinglass.data import Table
    from isinglass.data.source import Source

LEVEL = 0.95
"""Probability of the intervals of continuous cells."""
DIGITS = 6
"""Significant digits of what is printed, of numbers those of their range: the tolerance of a fit leaves no more."""
Answer = tuple[dict[str, str], str, JsonObject]  # what is said, what is printed, and what --json prints


@command("predict", MODEL, TABLE, bundles=[READING_AGAIN])
def predict(
    console: Console, model: str, table: str, impute: bool, score: bool, output: Path | None, reading: Reading
) -> None:
    """Predict the cells of TABLE with MODEL.

    MODEL is the folder or the model.npz that `fit` wrote; TABLE may be - for stdin. Prints the probability that a
    cell is 1 given the other cells of its row, as CSV; where columns have categories, that of each category; for a
    column of numbers, the expected number and a 95 % interval (age, age_lower, age_upper). Covariates are not
    predicted. --impute prints the table with its own values, its missing cells filled in with the most probable value,
    in a column of numbers with the expected one; --score reports how well the model predicts. Row labels are in the
    column "row", or "row (2)" if the table has a column "row"; weights are not printed.
    """
    if score and impute:
        raise click.UsageError("Use either --impute or --score, not both.")
    check_target(output, [model, table])
    loaded = Loaded.open(model)
    # Probabilities and imputed cells do not depend on weights, which another table need not have.
    reading = loaded.recall(reading, **({} if score else {"missing": "impute", "weights": None}))
    source, data = reading.read_source(console, table)
    facts = {"Table": reading.describe(data, table, "not scored") if score else describe_shape(data, table)}
    said, text, record = (_score if score else _fill if impute else _predict)(loaded, source, data)
    write_file(console, output, text, facts=facts | said, record={"model": model, **record})


def _fill(loaded: Loaded, source: Source, data: Table) -> Answer:
    """Return the table with its missing cells filled in."""
    from isinglass.data.completion import fill_cells, read_cells
    from isinglass.evaluate.prediction import fill_most_probable

    values = fill_most_probable(data, loaded.network, loaded.occurs, loaded.coding.columns)
    cells = fill_cells(source, values, data, loaded.coding)
    text, record = _print_cells(data, loaded.network.names, cells)
    said = {"Predicted": f"{plural(data.n_missing, 'missing cell')} filled"}
    return said, text, {"impute": True, **record, "cells": read_cells(cells, loaded.coding, source.decimal)}


def _predict(loaded: Loaded, source: Source, data: Table) -> Answer:
    """Return what is expected of every cell."""
    numbers = " or number" if len(loaded.network.variables.continuous) else ""
    text, record = _print_cells(data, *_predict_cells(loaded, data))
    return {"Predicted": f"a probability{numbers} for every cell"}, text, {"impute": False, **record}


def _print_cells(data: Table, names: Sequence[str], cells: AnyArray) -> tuple[str, JsonObject]:
    """Return columns with a value in every row as CSV, with the labels of the rows if there are some, and for JSON."""
    from isinglass.names import unused_name

    header, rows = list(names), cells.tolist()
    numbers = range(len(data)) if data.rows is None else data.rows.tolist()  # in the file
    labels = [str(row + 1) for row in numbers] if data.row_names is None else list(data.row_names)
    record = {"columns": header, "cells": cells, "rows": labels}
    if data.row_names is not None:
        header = [unused_name("row", header), *header]
        rows = [[label, *row] for label, row in zip(labels, rows, strict=True)]
    return csv_text(header, rows), record


def _predict_cells(loaded: Loaded, data: Table) -> tuple[list[str], FloatArray]:
    """Return the names and values of the predicted columns: of a binary column the probability of a 1.

    Where columns have categories, those of each value, party=red; of a continuous column the mean and an interval. A
    number is appended to a name that the table or the prediction has already.
    """
    import numpy as np

    from isinglass.arrays import round_digits
    from isinglass.evaluate.prediction import among_occurring, cell_probabilities, central_intervals, expected_values
    from isinglass.names import unused_name

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
    record = {"schema": "isinglass/score/1", "n_rows": len(data), "n_columns": n_scored, "mean": mean}
    return {"Score": f"{mean:.{DIGITS}g} per row (log pseudo-likelihood)"}, f"{mean:.{DIGITS}g}\n", record
