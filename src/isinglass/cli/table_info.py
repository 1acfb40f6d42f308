"""What `isinglass info` and the app find out about a table."""

from __future__ import annotations

import math
import shlex
import time
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isinglass.cli.console import Console
from isinglass.cli.descriptions import describe_table
from isinglass.cli.grammar import spell_column
from isinglass.cli.reading import Reading, column_keys, kinds_by_key, spell_reading
from isinglass.errors import MeaningWarning, plural
from isinglass.json_text import JsonObject

if TYPE_CHECKING:
    from isinglass.arrays import Mask
    from isinglass.data import Table
    from isinglass.data.meaning.values import Value

SHOWN = 10  # names listed before the rest is counted
TRIAL = 2.0  # seconds of trial fits after which no further one begins
TRIAL_ROWS = 250  # of the first trial fit


@dataclass(frozen=True)
class ColumnInfo:
    """A column of the file."""

    name: str
    kind: str | None  # None: it is left out
    stated: bool  # whether the user said its kind
    values: Sequence[Value]
    missing: float  # share of its cells
    notes: Sequence[str]  # what is doubtful
    key: str | int  # what options call it: its name, or its number from 0
    is_constant: bool = False  # whether all answers are the same
    range: tuple[float, float] | None = None  # the smallest and the largest number of a continuous column


def look(console: Console, table: str, reading: Reading) -> tuple[Table, list[ColumnInfo]]:
    """Return a table, and a description of every column of its file; kinds that are not stated are guessed."""
    from isinglass.data.meaning.conversion import missing_cells

    reading = reading.with_defaults(missing="impute", guess=True)
    with warnings.catch_warnings():
        warnings.simplefilter("always", MeaningWarning)  # under --strict, an error when everything is printed
        if reading.said["missing"] != "drop":
            data = reading.read(console, table)
            return data, describe_columns(data, console.doubts, data.missing_cells)
        source, data = reading.read_source(console, table)
    return data, describe_columns(data, console.doubts, missing_cells(source, data.coding))


def describe_contents(data: Table, columns: Sequence[ColumnInfo]) -> JsonObject:
    """Return what a table holds, as --json prints it; nothing about missing cells if there are none."""
    import numpy as np

    from isinglass._core import path_bytes
    from isinglass.solve.path import alpha_max

    holes, p = data.holes, data.shape[1]
    answers = np.packbits(data.codes, axis=1) if data.variables.is_binary else data.codes
    answers = answers if holes is None else np.hstack([answers, np.packbits(holes, axis=1)])
    n_distinct = len(np.unique(answers, axis=0))
    sizes = {"bytes": 0, "bytes_dense": p * (p - 1) // 2}  # memory of a fit with few edges, and with all pairs
    is_known = data.variables.has_scores.all()  # each pair has one parameter
    return {
        **describe_table(data),
        **_find_holes(data),
        "columns": columns,
        "n_distinct_rows": n_distinct,
        "constant_columns": [column.name for column in columns if column.is_constant],
        "alpha_max": alpha_max(data) if holes is None else None,  # it depends on how cells are imputed
        "estimate": {name: path_bytes(n_distinct, p, n) if is_known else None for name, n in sizes.items()},
    }


def describe_columns(data: Table, doubts: Sequence[MeaningWarning], gone: Mask | None) -> list[ColumnInfo]:
    """Return a description of every column, in the order of the file.

    ``doubts`` are the warnings about them, and ``gone`` the missing cells, also of rows that were left out.
    """
    from isinglass.data import category_counts

    variables, counts = data.variables, data.variables.split(category_counts(data))
    kept: Sequence[Hashable] = data.names if variables.named else data.column_labels or range(data.shape[1])
    places, order = {label: place for place, label in enumerate(kept)}, list(kept)
    for label, guess in data.guesses.items():  # in the order of their places
        if guess.kind is None:
            order.insert(guess.place, label)
    names = [spell_column(label if isinstance(label, int) else str(label)) for label in order]
    keys = column_keys(names) if variables.named else [label for label in order if isinstance(label, int)]
    noted: dict[Hashable, list[str]] = {label: [] for label in order}
    for warning in doubts:
        for label in warning.columns:
            noted.setdefault(label, []).append(warning.note)
    found = []
    for label, name, key in zip(order, names, keys, strict=True):
        is_kept = label in places
        known = _kept(data, places[label], gone) if is_kept else _left_out(data, label)
        known["is_constant"] = is_kept and bool((counts[places[label]] > 0).sum() < 2)
        notes = list(dict.fromkeys([*known.pop("notes"), *noted[label]]))
        found.append(ColumnInfo(name=name, key=key, stated=label not in data.guesses, notes=notes, **known))
    return found


def _kept(data: Table, number: int, gone: Mask | None) -> JsonObject:
    """Return what is known of a column of the table."""
    import numpy as np

    from isinglass.data.meaning.rules import Steps
    from isinglass.data.meaning.values import show_span

    rule, ends, notes = data.coding.columns[number], None, []
    if isinstance(rule, Steps):
        if sum(rule.beyond):
            span = show_span(rule.values[0], rule.values[-1])
            notes.append(f"grid {span}, {plural(sum(rule.beyond), 'value')} beyond")
        if data.numbers is not None:
            numbers = data.numbers[:, number]
            ends = float(np.nanmin(numbers)), float(np.nanmax(numbers))
    return {
        "kind": data.variables.kinds[number],
        "values": list(data.variables.categories[number]),
        "missing": 0.0 if gone is None else float(gone[:, number].mean()),
        "notes": notes,
        "range": ends,
    }


def _left_out(data: Table, label: Hashable) -> JsonObject:
    """Return what is known of a column of the file that is probably no variable."""
    from isinglass.data.meaning.values import is_number

    guess = data.guesses[label]
    values = sorted(guess.values) if all(map(is_number, guess.values)) else guess.values
    share = guess.n_missing / (len(data) + data.n_dropped)
    return {"kind": None, "values": values[:SHOWN], "missing": share, "notes": [guess.note]}


def _find_holes(data: Table) -> JsonObject:
    """Return the shares of missing cells by column, the largest first, and the columns that are missing together."""
    import numpy as np

    from isinglass.records import Missing

    gone, names = data.missing_cells, data.names
    if gone is None:
        return {}
    found = Missing.count(gone)
    shares, each = found["column_shares"], zip(found["patterns"], found["pattern_counts"].tolist(), strict=True)
    return {
        "missing_by_column": {
            names[k]: float(shares[k]) for k in np.argsort(-shares, kind="stable").tolist() if shares[k] > 0
        },
        "missing_patterns": [
            {"columns": [names[j] for j in np.flatnonzero(pattern).tolist()], "n_rows": n} for pattern, n in each
        ],
        "n_missing_patterns": found["n_patterns"],
        "n_rows_with_holes": found["n_holed"],
        "n_rows_without_answer": int(gone.all(axis=1).sum()),
    }


def options_needed(data: Table, columns: Sequence[ColumnInfo], reading: Reading) -> str:
    """Return the options that fit needs, where something was guessed or cells are missing.

    Constants are dropped, and columns that look like other row weights.
    """
    keys = [column.key for column in columns]
    weights, apart = find_weights(columns, reading)
    kinds: dict[int, str | None] = {}  # that are guessed; None: to be dropped
    for j, column in enumerate(columns):
        if not column.stated and j != weights:
            kinds[j] = None if column.is_constant or j in apart else column.kind
    dropped = [keys[j] for j, kind in kinds.items() if kind is None]
    said: JsonObject = {"kinds": kinds_by_key(keys, kinds), "drop": dropped}
    if weights is not None:
        said["weights"] = keys[weights]
    if "binary" in kinds.values() and not reading.encodes_all:
        said["encode"] = "auto"
    if data.n_missing and "missing" not in reading.said:
        said["missing"] = "impute"
    words, number = spell_reading(said), row_names_number(data)
    if words and number is not None and "id_column" not in reading.said:
        words += spell_reading({"id_column": number})
    return shlex.join(words)


def row_names_number(data: Table) -> int | None:
    """Return the number of the column of row names in a file without names, which other numbers do not count."""
    found = data.coding.layout.id_column
    return found if isinstance(found, int) else None


def find_weights(columns: Sequence[ColumnInfo], reading: Reading) -> tuple[int | None, list[int]]:
    """Return the place of the column that `fit` can take for row weights, and the places of all that look like weights.

    `fit` takes none with missing cells, and needs two other columns. The options for `fit` make these columns weights
    or drop them; here they are still variables.
    """
    from isinglass.data.meaning.guards import WEIGHTS

    kept = [column for column in columns if column.kind is not None]
    if "weights" in reading.said or len(kept) < 3:
        return None, []
    noted = [j for j, column in enumerate(columns) if WEIGHTS in column.notes and column.kind]
    weights = next((j for j in noted if not columns[j].missing), None)
    return weights, [] if weights is None else [j for j in noted if j == weights or not columns[j].stated]


def estimate_time(data: Table, n_jobs: int) -> JsonObject:
    """Return the seconds that the default fit takes, the rows of the last trial fit, and whether this was finished.

    Every trial has twice the rows of the one before, until all are fitted or the time is up. A power law through the
    last two gives the time for all rows; the time of a trial that was stopped is a lower bound.
    """
    import numpy as np

    from isinglass.select import Method, Run

    # Those of imputed tables can take most of the time, and no limit stops them.
    method, run = Method(standard_errors=data.holes is None), Run(n_jobs=n_jobs, max_time=TRIAL)
    n_rows, size, start = len(data), min(len(data), TRIAL_ROWS), time.perf_counter()
    before, power = 0.0, 1.0
    while True:
        rows = data[np.linspace(0, n_rows - 1, size).astype(np.intp)] if size < n_rows else data
        begin = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a trial: the fit itself will say it
            finished = not method.fit(rows, run=run).selection.left_out
        now = time.perf_counter()
        seconds = now - begin
        if before:
            power = min(max(math.log2(seconds / before), 0.5), 1.5)
        if not finished or size == n_rows or now - start > TRIAL:
            extrapolated = seconds * (n_rows / size) ** power if finished else seconds
            return {"seconds": extrapolated, "n_tried": size, "finished": finished}
        before, size = seconds, min(2 * size, n_rows)
