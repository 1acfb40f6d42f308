"""isinglass info: what a table holds, what fitting it will cost, and which options a fit needs."""

from __future__ import annotations

import shlex
import time
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isinglass.cli.command import command
from isinglass.cli.console import Console, format_seconds, printable
from isinglass.cli.descriptions import describe_table, describe_weights
from isinglass.cli.grammar import spell_column
from isinglass.cli.options import TABLE
from isinglass.cli.settings import READING, Reading, column_keys, kinds_by_key, spell_reading
from isinglass.errors import DataError, MeaningWarning, plural
from isinglass.json_text import JsonObject

if TYPE_CHECKING:
    from isinglass.arrays import Mask
    from isinglass.data import Table
    from isinglass.data.meaning.values import Value

WIDTH = 80  # of a terminal
MOST_LINES, MOST_LETTERS = 60, 24  # of the table of columns, and of the values of one
SHOWN = 10  # values, or names, that are listed
TRIAL = 2.0  # seconds of trial fits after which no further one begins
TRIAL_ROWS = 250  # of the first trial fit


@command("info", TABLE, bundles=[READING], general="strict as_json")
def info(console: Console, table: str, n_jobs: int, reading: Reading) -> None:
    """Check TABLE before fitting.

    Lists the columns with their kinds, values, missing cells and anything doubtful. Then prints the size of the table,
    columns that are constant, the smallest penalty without edges, and the memory and time that a fit will take. The
    kind of a column that is not 0 and 1 is guessed unless you state it, and the options that `fit` needs are shown.
    TABLE may be - for stdin. With --strict, everything is printed, and the exit code is 3 if anything is doubtful.
    """
    data, columns = look_at(console, table, reading)
    found = describe_contents(data, columns)
    varies = len(found["constant_columns"]) < data.shape[1] and found["alpha_max"] != 0
    found["estimate"] |= estimate_time(data, n_jobs) if varies else {"seconds": 0.0, "n_tried": 0, "finished": True}
    found["options"] = options_needed(data, columns, reading)
    if console.as_json:
        console.write_json(found)
    else:
        facts = _facts_in_words(data, found, reading)
        width = max(map(len, facts))
        lines = [f"{name:<{width}}  {printable(text)}" for name, text in facts.items()]
        console.write("\n".join([*_table_lines(columns), "", *lines, ""]))
    if console.doubts and console.strict:
        raise DataError(f"{plural(len(console.doubts), 'warning')} about the table; --strict treats them as errors.")


def _table_lines(columns: Sequence[ColumnInfo]) -> list[str]:
    """Return a table of the columns; notes for which there is no room follow their line."""
    rows = [("Column", "Kind", "Values", "Missing", "Notes"), *map(_describe_column, columns[:MOST_LINES])]
    rows = [tuple(map(printable, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for *row, notes in rows:
        head = "".join(f"{cell:<{width}}  " for cell, width in zip(row, widths, strict=False))
        fits = len(head) + len(notes) <= WIDTH
        lines.append((head + notes * fits).rstrip())
        lines += [] if fits else [f"    {notes}"]
    return lines + [f"and {len(columns) - MOST_LINES} more"] * (len(columns) > MOST_LINES)


def _describe_column(column: ColumnInfo) -> tuple[str, ...]:
    """Return the cells of the line of a column."""
    kind = "left out" if column.kind is None else column.kind + ("" if column.stated else "?")
    missing = f"{100 * column.missing:.1f}%" if column.missing else ""
    return _short(column.name, 28), kind, _values(column), missing, ", ".join(column.notes)


def _values(column: ColumnInfo) -> str:
    """Return the values of a column in a few characters."""
    words = [f"{value:.6g}" if isinstance(value, float) else str(value) for value in column.values if value is not None]
    if column.kind == "continuous":
        low, high = column.range or (column.values[0], column.values[-1])
        return f"{low:.6g} … {high:.6g} ({len(words)} steps)"
    text = (" < " if column.kind == "ordinal" else ", ").join(words)
    if column.kind is None or len(text) <= MOST_LETTERS:
        return _short(text, MOST_LETTERS)
    return f"{_short(words[0], 10)} … {_short(words[-1], 10)} ({len(words)})"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _facts_in_words(data: Table, found: JsonObject, reading: Reading) -> dict[str, str]:
    """Return what a table holds, and which options a fit needs, in words."""
    from rich.filesize import decimal

    (n_rows, p), largest = data.shape, found["alpha_max"]
    few, dense = found["estimate"]["bytes"], found["estimate"]["bytes_dense"]
    patterns = [
        f"{' + '.join(each['columns'][:SHOWN])} ({plural(each['n_rows'], 'row')})"
        for each in found.get("missing_patterns", ())
    ]
    dropped = f" in {plural(data.n_dropped, 'row')}, which are left out" if data.n_dropped else ""
    if patterns:
        dropped = f" ({data.n_missing / data.codes.size:.1%}) in {plural(found['n_rows_with_holes'], 'row')}"
    is_enough = sum(column.kind is not None for column in found["columns"]) > 1
    needed = found["options"] or "no option" if is_enough else "another table: a network needs at least two columns"
    facts = {
        "Rows": f"{n_rows}, {found['n_distinct_rows']} distinct",
        "Columns": f"{p}, {plural(p * (p - 1) // 2, 'pair')}",
        "Kinds": data.variables.describe_kinds(),
        "Missing": plural(data.n_missing, "cell") + dropped,
        "  patterns": _list(patterns, found.get("n_missing_patterns", 0)),
        "Weights": "" if data.sample_weight is None else describe_weights(data),
        "File": ", ".join(reading.describe_file(data)),
        "Constant": _list(found["constant_columns"], len(found["constant_columns"])),
        "alpha_max": "" if largest is None else f"{largest:.6g}, the smallest penalty without edges",
        "Memory": f"about {decimal(few)} with few edges, {decimal(dense)} with all pairs (estimated)" if few else "",
        "Time": _time(found["estimate"], data),
        "Fit needs": needed,
    }
    return {name: text for name, text in facts.items() if text}


def _time(estimate: JsonObject, data: Table) -> str:
    """Say how long the default fit will take."""
    n_tried, seconds = estimate["n_tried"], format_seconds(float(f"{estimate['seconds']:.2g}"))
    if not n_tried:
        return "nothing to fit"
    about = "about" if estimate["finished"] else "more than"
    errors = "" if data.holes is None else " without standard errors"
    how = "" if n_tried == len(data) else f" (estimated from a fit to {n_tried} rows)"
    return f"{about} {seconds} for the default fit{errors}{how}"


def _list(items: Sequence[str], total: int) -> str:
    """Return the first items with the number of all, of which some may not be given."""
    more = f" and {total - SHOWN} more" if total > SHOWN else ""
    return f"{total}: " + ", ".join(items[:SHOWN]) + more if items else ""


@dataclass(frozen=True)
class ColumnInfo:
    """A column of the file."""

    name: str
    key: str | int  # what options call it: its name, or its number from 0
    kind: str | None  # None: it is left out
    stated: bool  # whether the user said its kind
    values: Sequence[Value]
    missing: float  # share of its cells
    notes: Sequence[str]  # what is doubtful
    is_constant: bool  # whether all answers are the same
    range: tuple[float, float] | None = None  # the smallest and the largest number of a continuous column


def look_at(console: Console, table: str, reading: Reading) -> tuple[Table, list[ColumnInfo]]:
    """Return a table, and a description of every column of its file; kinds that are not stated are guessed."""
    from isinglass.data.meaning.conversion import missing_cells

    reading = reading.with_defaults(missing="impute", guess=True)
    with warnings.catch_warnings():
        warnings.simplefilter("always", MeaningWarning)  # under --strict, an error when everything is printed
        source, data = reading.read_source(console, table)
    dropped = reading.said["missing"] == "drop"
    gone = missing_cells(source, data.coding) if dropped else data.missing_cells
    return data, describe_columns(data, console.doubts, gone)


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
        **_describe_missing(data),
        "columns": columns,
        "n_distinct_rows": n_distinct,
        "constant_columns": [column.name for column in columns if column.is_constant],
        "alpha_max": alpha_max(data) if holes is None else None,  # it depends on how cells are imputed
        "estimate": {name: path_bytes(n_distinct, p, n) if is_known else None for name, n in sizes.items()},
    }


def _describe_missing(data: Table) -> JsonObject:
    """Return the number of rows with missing cells, and the columns that are missing together most often."""
    import numpy as np

    from isinglass.records import Missing

    if data.missing_cells is None:
        return {}
    found = Missing.count(data.missing_cells)
    patterns = [[data.names[j] for j in np.flatnonzero(pattern).tolist()] for pattern in found["patterns"]]
    each = zip(patterns, found["pattern_counts"].tolist(), strict=True)
    return {
        "missing_patterns": [{"columns": names, "n_rows": n} for names, n in each],
        "n_missing_patterns": found["n_patterns"],
        "n_rows_with_holes": found["n_holed"],
    }


def describe_columns(data: Table, doubts: Sequence[MeaningWarning], gone: Mask | None) -> list[ColumnInfo]:
    """Return a description of every column; ``doubts`` are warnings, ``gone`` missing cells, also of dropped rows."""
    from isinglass.data import category_counts

    variables = data.variables
    is_constant = [(counts > 0).sum() < 2 for counts in variables.split(category_counts(data))]
    kept: Sequence[Hashable] = data.names if variables.named else data.coding.layout.numbers or range(data.shape[1])
    order = list(kept)
    for label, guess in data.guesses.items():  # in the order of their places
        if guess.kind is None:
            order.insert(guess.place, label)
    names = [spell_column(label if isinstance(label, int) else str(label)) for label in order]
    keys = column_keys(names) if variables.named else [label for label in order if isinstance(label, int)]
    places = {label: place for place, label in enumerate(kept)}
    found = []
    for label, name, key in zip(order, names, keys, strict=True):
        known = _kept(data, places[label], gone) if label in places else _left_out(data, label)
        known["is_constant"] = label in places and bool(is_constant[places[label]])
        notes = [*known.pop("notes"), *(doubt.note for doubt in doubts if label in doubt.columns)]
        stated = label not in data.guesses
        found.append(ColumnInfo(name=name, key=key, stated=stated, notes=list(dict.fromkeys(notes)), **known))
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


def options_needed(data: Table, columns: Sequence[ColumnInfo], reading: Reading) -> str:
    """Return the options that fit needs, where something was guessed or cells are missing; constants are dropped."""
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
    """Return the place of the column that `fit` can take for row weights, and those of all that look like weights.

    The options for `fit` make these columns weights or drop them; here they are still variables.
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

    Every trial has twice the rows of the one before, until all are fitted or the time is up. The time of the last one
    is taken as proportional to the rows; if it was stopped, it is a lower bound.
    """
    import numpy as np

    from isinglass.select import Method, Run

    # Those of imputed tables can take most of the time, and no limit stops them.
    method, run = Method(standard_errors=data.holes is None), Run(n_jobs=n_jobs, max_time=TRIAL)
    n_rows, size, start = len(data), min(len(data), TRIAL_ROWS), time.perf_counter()
    while True:
        rows = data[np.linspace(0, n_rows - 1, size).astype(np.intp)] if size < n_rows else data
        begin = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a trial: the fit itself will say it
            finished = not method.fit(rows, run=run).selection.left_out
        seconds, total = time.perf_counter() - begin, time.perf_counter() - start
        if not finished or size == n_rows or total > TRIAL:
            whole = seconds * n_rows / size if finished else seconds
            return {"seconds": whole, "n_tried": size, "finished": finished}
        size = min(2 * size, n_rows)
