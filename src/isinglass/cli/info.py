"""isinglass info: what a table holds, what fitting it will cost, and which options a fit needs."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from isinglass.cli.command import command
from isinglass.cli.console import Console, format_seconds
from isinglass.cli.descriptions import describe_weights
from isinglass.cli.exits import printable
from isinglass.cli.grammar import name_of
from isinglass.cli.option_table import OPTIONS, TABLE
from isinglass.cli.reading import READING, Reading
from isinglass.cli.table_info import (
    SHOWN,
    ColumnInfo,
    describe_contents,
    estimate_time,
    find_weights,
    look,
    options_needed,
)
from isinglass.errors import DataError, MeaningWarning, join_words, plural
from isinglass.json_text import JsonObject

if TYPE_CHECKING:
    from isinglass.data import Table

NEEDS = "Fit needs"  # the fact that is options of `fit`
ADVISED = ("na_values", "normal_scores", "reverse", "combine_indicators")  # options that warnings about columns advise
WIDTH = 80  # of a terminal
INDENT = "    "  # of notes below the line of a column
MOST_LINES, MOST_LETTERS = 60, 24  # of the table of columns, and of the values of one


@command("info", TABLE, bundles=[READING], general="strict as_json")
def info(console: Console, table: str, n_jobs: int, reading: Reading) -> None:
    """Check TABLE before fitting.

    Lists the columns with their kinds, values, missing cells and anything doubtful. Then prints the size of the table,
    columns that are constant, the smallest penalty without edges, and the memory and time that a fit will take. The
    kind of a column that is not 0 and 1 is guessed unless you state it, and the options that `fit` needs are shown.
    TABLE may be - for stdin. With --strict, everything is printed, and the exit code is 3 if anything is doubtful.
    """
    data, columns = look(console, table, reading)
    found = describe_contents(data, columns)
    varies = len(found["constant_columns"]) < data.shape[1] and found["alpha_max"] != 0
    with console.progress("Trial fits"):
        found["estimate"] |= estimate_time(data, n_jobs) if varies else {"seconds": 0.0, "n_tried": 0, "finished": True}
    needed = options_needed(data, columns, reading)
    if console.as_json:
        console.write_json({**found, "options": needed})
    else:
        apart = [columns[j].name for j in find_weights(columns, reading)[1]]
        facts = {
            **_facts_in_words(data, found, reading.describe_file(data), apart),
            **_needs_in_words(columns, needed, console.doubts),
        }
        console.write("".join(f"{line}\n" for line in (*_table_lines(columns), "", *_wrap_facts(facts))))
    if console.doubts and console.strict:
        raise DataError(f"{plural(len(console.doubts), 'warning')} about the table; --strict treats them as errors.")


def _table_lines(columns: Sequence[ColumnInfo]) -> list[str]:
    """Return a table of the columns; adjacent columns with the same description share a line."""
    alike = itertools.groupby(columns, lambda one: (one.kind, one.stated, one.values, one.range, one.notes))
    rows = [("Column", "Kind", "Values", "Missing", "Notes"), *(_describe_alike([*group]) for _, group in alike)]
    if len(rows) > 1 + MOST_LINES:
        rows[1 + MOST_LINES :] = [(f"and {len(rows) - 1 - MOST_LINES} more", "", "", "", "")]
    rows = [tuple(map(printable, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for number, (*row, notes) in enumerate(rows):
        head = "".join(f"{cell:<{width}}  " for cell, width in zip(row, widths, strict=False))
        if len(head) + len(notes) <= WIDTH:
            lines.append((head + notes).rstrip())
        else:  # on lines of their own
            own = textwrap.wrap(notes, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT) if number else []
            lines += [head.rstrip(), *own]
    return lines


def _describe_alike(columns: Sequence[ColumnInfo]) -> tuple[str, ...]:
    """Return the cells of the line of some columns that differ in their names and missing cells alone."""
    first, last = columns[0], columns[-1]
    name = f"{_short(first.name, 10)} … {_short(last.name, 10)} ({len(columns)})" if len(columns) > 1 else first.name
    kind = "left out" if first.kind is None else first.kind + ("" if first.stated else "?")
    shares = [column.missing for column in columns]
    low, high = (f"{100 * share:.1f}" for share in (min(shares), max(shares)))
    missing = "" if not any(shares) else f"{high}%" if low == high else f"{low}–{high}%"
    return _short(name, 28), kind, _values(first), missing, ", ".join(first.notes)


def _values(column: ColumnInfo) -> str:
    """Return the values of a column in a few characters."""
    whole = (int(value) if isinstance(value, float) and value.is_integer() else value for value in column.values)
    words = [str(value) for value in whole if value is not None]
    if column.kind == "continuous":
        ends = (_number(end) for end in column.range or (column.values[0], column.values[-1]))
        return f"{' … '.join(ends)} ({len(words)} steps)"
    text = (" < " if column.kind == "ordinal" else ", ").join(words)
    if column.kind is None or len(text) <= MOST_LETTERS:
        return _short(text, MOST_LETTERS)
    return f"{_short(words[0], 10)} … {_short(words[-1], 10)} ({len(words)})"


def _number(value: float) -> str:
    """Return a number with four significant digits, or all those before the point."""
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e7 else f"{value:.4g}"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _facts_in_words(data: Table, found: JsonObject, file: Sequence[str], apart: Sequence[str]) -> dict[str, str]:
    """Return what a table holds, in words.

    ``file`` is what was found out about its file; ``apart`` are the columns that a fit takes for no variables.
    """
    from rich.filesize import decimal

    (n_rows, p), largest = data.shape, found["alpha_max"]
    few, dense = found["estimate"]["bytes"], found["estimate"]["bytes_dense"]
    memory = f"about {decimal(few)} with few edges, {decimal(dense)} with all pairs (estimated)" if few else ""
    among = f", with {join_words(apart)} as {'a variable' if len(apart) == 1 else 'variables'} here and below"
    facts = {
        "Rows": f"{n_rows}, {found['n_distinct_rows']} distinct",
        "Columns": f"{p}, {plural(p * (p - 1) // 2, 'pair')}{among if apart else ''}",
        "Kinds": data.variables.describe_kinds(),
        **_missing(data, found),
        "Weights": "" if data.sample_weight is None else describe_weights(data),
        "File": ", ".join(file),
        "Constant": _list(found["constant_columns"]),
        "alpha_max": "" if largest is None else f"{largest:.6g}, the smallest penalty without edges",
        "Memory": memory,
        "Time": _time(found["estimate"], data),
    }
    return {name: text for name, text in facts.items() if text}


def _time(estimate: JsonObject, data: Table) -> str:
    """Say how long the default fit will take."""
    n_tried, seconds = estimate["n_tried"], format_seconds(float(f"{estimate['seconds']:.2g}"))
    if not n_tried:
        return "nothing to fit"
    fit = "default fit" if data.holes is None else "default fit without standard errors"
    if not estimate["finished"]:
        return f"more than {seconds} for the {fit} (a fit to {n_tried} rows took longer)"
    how = f" (estimated from a fit to {n_tried} rows)" if n_tried < len(data) else ""
    return f"about {seconds} for the {fit}{how}"


def _missing(data: Table, found: JsonObject) -> dict[str, str]:
    """Say how many cells are missing, and in which columns together."""
    if "missing_patterns" not in found:
        dropped = f" in {plural(data.n_dropped, 'row')}, which are left out" if data.n_dropped else ""
        return {"Missing": plural(data.n_missing, "cell") + dropped}
    patterns = [
        f"{' + '.join(pattern['columns'][:SHOWN])} ({plural(pattern['n_rows'], 'row')})"
        for pattern in found["missing_patterns"]
    ]
    return {
        "Missing": f"{plural(data.n_missing, 'cell')} ({data.n_missing / data.codes.size:.1%}) in "
        f"{plural(found['n_rows_with_holes'], 'row')}, {found['n_rows_without_answer']} of them without any answer",
        "  patterns": _list(patterns, found["n_missing_patterns"]),
    }


def _needs_in_words(columns: Sequence[ColumnInfo], needed: str, doubts: Sequence[MeaningWarning]) -> dict[str, str]:
    """Say which options a fit needs, if any, beside those that depend on a doubt about the meaning of values."""
    if sum(column.kind is not None for column in columns) < 2:
        return {NEEDS: "another table: a network needs at least two columns"}
    mentioned = {each.name for doubt in doubts for each in doubt.mentioned}
    advised = [name_of(OPTIONS[name]) for name in ADVISED if name in mentioned]
    more = f"{' or '.join(advised)} if a warning is right" if advised else ""
    if not needed:
        return {NEEDS: f"no option, but {more}"} if more else {}
    is_binary = all(column.kind == "binary" for column in columns)
    other = "or drop, or zero" if is_binary else "or drop"
    guessed = not all(column.stated for column in columns)
    how = "change the kinds that were guessed wrong" if guessed else other
    return {NEEDS: needed, "": f"({how}{', and add ' * bool(more)}{more})"}


def _wrap_facts(facts: Mapping[str, str]) -> list[str]:
    """Return facts as lines of a terminal, the names on the left; options, which are copied, are one line."""
    width = max(map(len, facts)) + 2
    wrap = textwrap.TextWrapper(WIDTH - width, break_on_hyphens=False, break_long_words=False)
    lines = []
    for name, value in facts.items():
        first, *rest = [printable(value)] if name == NEEDS else wrap.wrap(printable(value))
        lines += [f"{name:<{width}}{first}", *(" " * width + line for line in rest)]
    return lines


def _list(items: Sequence[str], total: int | None = None) -> str:
    """Return the first items with the number of all, of which some may not be given."""
    total = len(items) if total is None else total
    more = f" and {total - SHOWN} more" if total > SHOWN else ""
    return (f"{total}: " + ", ".join(items[:SHOWN]) + more) if items else "none"
