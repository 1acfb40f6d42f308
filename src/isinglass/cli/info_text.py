"""What `isinglass info` says about a table: its columns as a table, and everything else in words."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Mapping, Sequence

from isinglass.cli.console import format_seconds
from isinglass.cli.descriptions import describe_weights
from isinglass.cli.exits import printable
from isinglass.cli.table_info import SHOWN, ColumnInfo, Cost, TableInfo
from isinglass.errors import plural

WIDTH = 80  # of a terminal
INDENT = "    "  # of notes below the line of a column
MOST_LINES, MOST_LETTERS = 60, 24  # of the table of columns, and of the values of one


def table_lines(columns: Sequence[ColumnInfo]) -> list[str]:
    """Return a table of the columns; adjacent columns with the same description share a line."""
    alike = itertools.groupby(columns, lambda one: (one.kind, one.stated, one.values, one.range, one.notes))
    groups = [list(group) for _, group in alike]
    rows = [("Column", "Kind", "Values", "Missing", "Notes")]
    for group in groups[:MOST_LINES]:
        first, last = group[0], group[-1]
        name = first.name
        if len(group) > 1:
            name = f"{_short(name, 10)} … {_short(last.name, 10)} ({len(group)})"
        kind = "left out" if first.kind is None else first.kind + ("" if first.stated else "?")
        shares = sorted(column.missing for column in group)
        low, high = (f"{100 * share:.1f}" for share in (shares[0], shares[-1]))
        missing = "" if not shares[-1] else f"{high}%" if low == high else f"{low}–{high}%"
        rows.append((_short(name, 28), kind, _values(first), missing, ", ".join(first.notes)))
    if len(groups) > MOST_LINES:
        rows.append((f"and {len(groups) - MOST_LINES} more", "", "", "", ""))
    cells = [[printable(str(cell)) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for number, (*row, notes) in enumerate(cells):
        head = "".join(f"{cell:<{width}}  " for cell, width in zip(row, widths, strict=False))
        if len(head) + len(notes) <= WIDTH:
            lines.append((head + notes).rstrip())
        elif number == 0:
            lines.append(head.rstrip())
        else:  # on lines of their own
            lines += [head.rstrip(), *textwrap.wrap(notes, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)]
    return lines


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


def facts_in_words(found: TableInfo, file: Sequence[str]) -> dict[str, str]:
    """Return what a table holds; ``file`` is what was found out about its file."""
    data, (n_rows, p), largest = found.data, found.data.shape, found.alpha_max
    return {
        "Rows": f"{n_rows}, {found.n_distinct_rows} distinct",
        "Columns": f"{p}, {plural(p * (p - 1) // 2, 'pair')}",
        "Kinds": data.variables.describe_kinds(),
        **_missing(found),
        **({} if data.sample_weight is None else {"Weights": describe_weights(data)}),
        **({"File": ", ".join(file)} if file else {}),
        "Constant": _list(found.constant_columns),
        **({} if largest is None else {"alpha_max": f"{largest:.6g}, the smallest penalty without edges"}),
        **_cost(
            found.estimate, n_rows, "default fit" if found.data.holes is None else "default fit without standard errors"
        ),
    }


def _missing(found: TableInfo) -> dict[str, str]:
    """Say how many cells are missing, and in which columns together."""
    n_cells, missing = found.data.n_missing, found.missing
    if missing is None:
        dropped = f" in {plural(found.data.n_dropped, 'row')}, which are left out" if found.data.n_dropped else ""
        return {"Missing": plural(n_cells, "cell") + dropped}
    patterns = [
        f"{' + '.join(pattern['columns'][:SHOWN])} ({plural(pattern['n_rows'], 'row')})"
        for pattern in missing["missing_patterns"]
    ]
    return {
        "Missing": f"{plural(n_cells, 'cell')} ({n_cells / found.data.codes.size:.1%}) in "
        f"{plural(missing['n_rows_with_holes'], 'row')}, {missing['n_rows_without_answer']} of them without any answer",
        "  patterns": _list(patterns, missing["n_missing_patterns"]),
    }


def _cost(estimate: Cost, n_rows: int, fit: str) -> dict[str, str]:
    """Say what memory and time a fit will take; ``fit``: what it is called."""
    from rich.filesize import decimal

    facts = {}
    if estimate.bytes is not None and estimate.bytes_dense is not None:
        few, all_pairs = decimal(estimate.bytes), decimal(estimate.bytes_dense)
        facts["Memory"] = f"about {few} with few edges, {all_pairs} with all pairs (estimated)"
    if not estimate.n_tried:
        return facts | {"Time": "nothing to fit"}
    seconds = format_seconds(estimate.seconds)
    if not estimate.finished:
        return facts | {"Time": f"more than {seconds} for the {fit} (a fit to {estimate.n_tried} rows took longer)"}
    how = f" (estimated from a fit to {estimate.n_tried} rows)" if estimate.n_tried < n_rows else ""
    return facts | {"Time": f"about {seconds} for the {fit}{how}"}


def advice_in_words(columns: Sequence[ColumnInfo], needed: str, consider: Mapping[str, str]) -> dict[str, str]:
    """Say which options a fit needs, and which are worth a thought."""
    facts = {}
    if sum(column.kind is not None for column in columns) < 2:
        facts["Fit needs"] = "another table: a network needs at least two columns"
    elif needed:
        is_binary = all(column.kind == "binary" for column in columns)
        other = "or drop, or zero" if is_binary else "or drop"
        guessed = not all(column.stated for column in columns)
        facts["Fit needs"] = f"{needed} ({'change the kinds that were guessed wrong' if guessed else other})"
    if consider:
        facts["Consider"] = "; ".join(f"{words} {why}" for words, why in consider.items())
    return facts


def wrap_facts(facts: Mapping[str, str]) -> list[str]:
    """Return facts as lines of a terminal, the names on the left."""
    width = max(map(len, facts))
    lines = []
    for name, value in facts.items():
        head = f"{name:<{width}}  "
        wrap = textwrap.TextWrapper(WIDTH, initial_indent=head, subsequent_indent=" " * len(head))
        wrap.break_on_hyphens = wrap.break_long_words = False
        lines += wrap.wrap(printable(value)) or [head.rstrip()]
    return lines


def _list(items: Sequence[str], total: int | None = None) -> str:
    """Return the first items with the number of all, of which some may not be given."""
    total = len(items) if total is None else total
    more = f" and {total - SHOWN} more" if total > SHOWN else ""
    return (f"{total}: " + ", ".join(items[:SHOWN]) + more) if items else "none"
