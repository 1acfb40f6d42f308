"""What messages add about a column: what its values look like, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from isinglass.data.meaning.advice import drop, say_missing, show_coded
from isinglass.data.meaning.recognition import ROWS_TO_JUDGE, amounts, differ_in_rows, other_decimal, suspected_answers
from isinglass.data.meaning.value_labels import has_named_categories, use_labels
from isinglass.data.meaning.values import THOUSANDS, Value
from isinglass.data.source import Source
from isinglass.errors import setting


def remark_column(source: Source, j: int) -> str:
    """Return what messages add about the values of a column, sentences or nothing."""
    missing = remark_header() if is_below_name(source, j) else _remark_missing(source, j)
    return missing + _remark_identifier(source, j) + remark_numbers(source.column(j).distinct, source.decimal)


def is_below_name(source: Source, j: int) -> bool:
    """Tell whether the only text of a column is in the first row of a file without a header: it may be its name."""
    if source.layout.has_header is not False:
        return False
    column = source.column(j)
    texts = [value for value in column.distinct if isinstance(value, str)]
    if len(texts) != 1 or len(column.distinct) == 1:
        return False
    return np.flatnonzero(column.entries == texts[0]).tolist() == [0]


def _remark_missing(source: Source, j: int) -> str:
    """Return a sentence about values of a column that probably stand for a missing answer, or nothing."""
    columns = [source.column(k) for k in range(source.shape[1])]
    columns = [use_labels(column) if has_named_categories(column) else column for column in columns]
    values = {k: column.distinct for k, column in enumerate(columns)}
    suspects = suspected_answers(values, {k: column.labels for k, column in enumerate(columns)})
    codes = suspects.get(j, ())
    if not codes:
        return ""
    remedy = say_missing(codes, [j], source.labels, values, suspects)
    verb = "stands" if len(codes) == 1 else "stand"
    return f" If {show_coded(codes, columns[j].labels)} {verb} for a missing answer, use {remedy}."


def _remark_identifier(source: Source, j: int) -> str:
    """Return a sentence about a column with a different value in almost every row, or nothing."""
    n_distinct, n_rows = len(source.column(j).distinct), source.shape[0]
    is_first = source.is_file and source.row_names is None and source.origin.places[j] == 0
    if n_rows < (2 if is_first else ROWS_TO_JUDGE) or not differ_in_rows(n_distinct, n_rows):
        return ""
    if is_first:
        return f" If it names the rows, use {setting('id_column', 0)}."
    leave_out = f"leave it out ({drop([source.labels[j]])})"
    return f" It has {n_distinct} different values in {n_rows} rows: if it holds row names, {leave_out}."


def remark_header() -> str:
    """Return a sentence about a first row that may have the names of the columns."""
    return f" If the first line names the columns, use {setting('header', True)}."


def remark_decimals(values: Iterable[Value], decimal: str | None = None) -> str:
    """Return a sentence about words that are numbers with another decimal separator, or nothing."""
    other, mark = (".", "point") if decimal == "," else (",", "comma")
    number = other_decimal(values, decimal)
    if number is None:
        return ""
    of_frame = ", or turn the texts of a frame into numbers" if other == "," else ""
    python = f'decimal="{other}" to read_table{of_frame}'
    thousands = " If the comma groups thousands, remove it." if THOUSANDS.fullmatch(number.strip()) else ""
    return (
        f" Use {setting('decimal', other, python=python)} if {number!r} is a number with a decimal {mark}.{thousands}"
    )


def remark_numbers(values: Iterable[Value], decimal: str | None = None) -> str:
    """Return a sentence about words that a person reads as numbers, or nothing."""
    values = list(values)
    written = amounts(values, decimal)
    remark = remark_decimals(values, decimal)
    if remark or not written:
        return remark
    return f" If {written[0]!r} is a number, keep only its digits and its decimal separator."
