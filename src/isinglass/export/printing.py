"""Tables for print: rounded numbers under headings that readers know, as CSV, Markdown or LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path

from isinglass.arguments import check_count, check_word
from isinglass.atomic import Target, TextStream, write_lines
from isinglass.errors import ArgumentError, DataError
from isinglass.export.attributes import are_numbers, list_columns, read_cells
from isinglass.export.escaping import Cell, csv_line, storable, xml_characters

SPELLINGS = {".csv": "csv", ".md": "markdown", ".tex": "latex"}
_PLAIN = """
accuracy alpha betweenness bridge_expected_influence bridge_strength categories category closeness community
correlation correlation_q5 correlation_q95 covariate criterion degree deviance_explained difference different dropped
edges expected_influence first held_out inclusion kind log_odds_ratio lower marginal_accuracy mean missing_information
normalized_accuracy positive_edges refitted rows second sensitivity sensitivity_q5 sensitivity_q95
sign specificity specificity_q5 specificity_q95 stability strength structure upper variable wording
"""
# Headings of the columns that isinglass makes. Others keep the names that their users gave them.
HEADINGS = {name: name.replace("_", " ").capitalize() for name in _PLAIN.split()} | {
    "source": "Node",
    "target": "Neighbor",
    "source_category": "Node category",
    "target_category": "Neighbor category",
    "name": "Node",
    "coupling": "Edge weight",
    "partial_correlation": "Partial r",
    "std_error": "SE",
    "field": "Threshold",
    "r_squared": "R²",
    "p_family": "p (max-T)",
    "p_structure": "p (structure)",
    "p_strength": "p (strength)",
    "q": "q (FDR)",
    "ebic": "EBIC",
}
P_VALUES = ("p", "q", "p_value", "q_value", "p_family", "p_structure", "p_strength")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~$]|&(?=#?\w+;))")  # an ampersand where it would begin an entity
_LATEX = {character: "\\" + character for character in "&%$#_{}"}
_LATEX |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "²": "$^2$", "−": "$-$"}
_LATEX |= {"<": "$<$", ">": "$>$", "|": "$|$"}
_LATEX |= {"[": "{[}", "*": "{*}"}  # after the end of a row these would be its arguments


def write_table(table: object, path: Target, format: str | None = None, *, digits: int = 3) -> None:
    """Write a table for print: edges, centralities, a comparison of groups, or any other columns.

    Numbers are rounded, p- and q-values below the last digit are written as such, missing values stay empty, columns
    of isinglass have the names that readers know (``std_error`` is SE), and weight and sign, which repeat the coupling,
    are left out. The sign stays if it is 0 for some edges, whose weights are norms.

    Parameters
    ----------
    table : mapping of columns, data frame, or a record with ``columns``
        Such as ``net.edges()``, ``metrics.centrality(net)``, or the ``edges()`` of a bootstrap or of a comparison.
    path : path, "-" or text stream
        Where to; "-" is the standard output.
    format : {"csv", "markdown", "latex"}, optional
        By default from the ending of the name: ``.csv``, ``.md`` or ``.tex``. LaTeX needs no package.
    digits : int, default 3
        Digits behind the decimal point, at most 15; p- and q-values have at least one.

    Examples
    --------
    >>> write_table({"source": ["tea"], "target": ["rain"], "coupling": [-1.23456], "p": [1e-5]}, "-", "markdown")
    | Node | Neighbor | Edge weight | p |
    |---|---|---:|---:|
    | tea | rain | −1.235 | < 0.001 |
    """
    if format is None:
        ending = ending_of(path)
        if ending not in SPELLINGS:
            raise ArgumentError("path", f"must end in {', '.join(SPELLINGS)}", str(path), "Or say the format.")
        format = SPELLINGS[ending]
    check_word("format", format, SPELLINGS.values())
    check_count("digits", digits, least=0, most=15)
    columns = [(str(name), read_cells(f"column {name!r}", values)) for name, values in list_columns(table, "table")]
    if not columns:
        raise DataError("table must have at least one column; got none.")
    if len({len(values) for _, values in columns}) > 1:
        raise DataError("table must have columns of one length; got columns of several lengths.")
    write_lines(print_columns(columns, format, digits), path)


def ending_of(path: Target) -> str:
    """Return the ending of a file name in lower case, with its dot; empty for a stream."""
    if not isinstance(path, str | PathLike | TextStream):
        raise ArgumentError("path", 'must be a path, "-" or a text stream', path)
    return "" if isinstance(path, TextStream) or path == "-" else Path(path).suffix.lower()


def print_columns(columns: Sequence[tuple[str, Sequence[Cell]]], format: str, digits: int) -> Iterator[str]:
    """Yield the lines of a table in one of the formats for print."""
    signs = dict(columns).get("sign", ())
    if "coupling" in dict(columns):  # which says the sign and the weight, but a norm has no sign
        repeated = {"weight"} if 0 in signs else {"sign", "weight"}
        columns = [(name, values) for name, values in columns if name not in repeated]
    heads, minus = [heading_of(name) for name, _ in columns], "-" if format == "csv" else "−"
    cells = [[print_cell(value, name in P_VALUES, digits, minus) for value in values] for name, values in columns]
    rows, on_right = zip(*cells, strict=True), [are_numbers(values) for _, values in columns]
    if format == "csv":
        yield csv_line(heads)
        yield from (csv_line(cell or None for cell in row) for row in rows)
    elif format == "markdown":
        yield _markdown(heads)
        yield "|" + "|".join("---:" if right else "---" for right in on_right) + "|"
        yield from map(_markdown, rows)
    else:
        yield "\\begin{tabular}{" + "".join("r" if right else "l" for right in on_right) + "}"
        yield from ("\\hline", _latex(heads), "\\hline")
        yield from map(_latex, rows)
        yield from ("\\hline", "\\end{tabular}")


def heading_of(name: str) -> str:
    """Return the heading of a column as readers know it; columns that isinglass does not make keep their names."""
    measure, of, group = name.partition(" in ")  # as in "coupling in USA"
    return HEADINGS[measure] + of + group if measure in ("coupling", "strength") else HEADINGS.get(name, name)


def print_cell(value: Cell, is_p: bool = False, digits: int = 3, minus: str = "−") -> str:
    """Return a value as a table for print has it; one that ``is_p`` and below the last digit as such."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):  # dates, too
        return storable(str(value))
    if is_p:
        digits = max(digits, 1)  # without any, each of them would be written as "< 1"
    if is_p and 0 <= value < 10.0**-digits:
        return f"< {10.0**-digits:.{digits}f}"
    text = str(value) if isinstance(value, int) else f"{value:z.{digits}f}"  # z: no sign before 0
    return text.replace("-", minus)


def _one_line(cell: str) -> str:
    """Return a text on one line, with pictures of control characters."""
    return xml_characters(" ".join(cell.split())).replace("\x7f", "␡")


def _markdown(cells: Sequence[str]) -> str:
    flat = (_MARKDOWN.sub(r"\\\1", _one_line(cell)) for cell in cells)
    return "| " + " | ".join(cell.replace("\\< ", "< ") for cell in flat) + " |"


def _latex(cells: Sequence[str]) -> str:
    flat = ("".join(_LATEX.get(character, character) for character in _one_line(cell)) for cell in cells)
    return " & ".join(flat) + r" \\"
