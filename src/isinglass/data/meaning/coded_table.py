"""The cells of a source become the numbers of categories, and these, once missing cells are dealt with, a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isinglass.arrays import FloatArray
from isinglass.data.meaning.coding import Coding
from isinglass.data.meaning.column_codes import apply_rule
from isinglass.data.meaning.missing_cells import complete_rows, refuse_missing, refuse_zeros, warn_zeroed
from isinglass.data.meaning.refusals import refuse_values
from isinglass.data.meaning.rules import ABSENT, BITS, UNKNOWN, Cells, Codes, Levels, Rule, Steps
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.source import Source
from isinglass.data.table import Table, refuse_holes
from isinglass.errors import ArgumentError, DataError, setting
from isinglass.matching import check_width
from isinglass.variables import MAX_CATEGORIES, Variables

COLUMNS_AT_ONCE = 8
"""Columns that are written together: one by one, each would pass through the memory of the whole table."""


def convert_cells(source: Source, rules: Sequence[Rule]) -> Codes:
    """Return what every cell stands for."""
    if source.block is not None and all(rule == rules[0] for rule in rules) and not rules[0].has_words:
        return _convert_block(source.block, rules[0])
    codes = np.empty(source.shape, dtype=np.result_type(*(rule.dtype for rule in rules)))
    for start in range(0, len(rules), COLUMNS_AT_ONCE):
        some = range(start, min(start + COLUMNS_AT_ONCE, len(rules)))
        columns = [apply_rule(rules[j], source.column(j)) for j in some]
        codes[:, start : start + COLUMNS_AT_ONCE] = np.array(columns).T
    return codes


def _convert_block(block: Cells, rule: Rule) -> Codes:
    """Return what every cell of an array stands for by one rule; bytes of 0 and 1 are not copied."""
    if rule == BITS and block.dtype in (np.uint8, np.bool_):
        bits = np.ascontiguousarray(block).view(np.uint8)
        if bits.max() <= 1:
            return bits
    return np.ascontiguousarray(rule.convert(block))


def build_table(codes: Codes, source: Source, coding: Coding, specs: Sequence[ColumnSpec] | None = None) -> Table:
    """Refuse values without meaning, treat the missing cells as the coding says, and put the table together.

    ``specs``: what was known about the columns, in a first reading.
    """
    missing, names = coding.missing, source.row_names
    row_names = None if names is None else tuple(map(str, names))
    numbers = _numbers(source, coding, codes) if missing == "impute" else None
    is_unlabeled = source.is_unlabeled if missing == "drop" else np.zeros(len(codes), dtype=bool)
    if (codes.dtype == np.uint8 or codes.min() >= 0) and not is_unlabeled.any():
        return _make(codes, coding, row_names=row_names, numbers=numbers)
    _refuse_unknown(codes, source, coding, specs)
    gone = codes == ABSENT
    n_missing = int(gone.sum())
    if missing == "error":
        refuse_missing(gone, source, has_only_bits=all(rule.kind == "binary" for rule in coding.columns))
    if missing == "drop":
        rows = complete_rows(gone, is_unlabeled, source)
        counts = {"n_missing": n_missing, "n_unlabeled": int(is_unlabeled.sum()), "n_dropped": len(codes) - len(rows)}
        kept_names = None if row_names is None else tuple(row_names[i] for i in rows)
        return _make(codes[rows], coding, row_names=kept_names, rows=rows, **counts)
    if missing == "impute":
        refuse_holes(coding.variables, gone)
        filled = np.where(gone, 0, codes)
        return _make(filled, coding, row_names=row_names, holes=gone, numbers=numbers, n_missing=n_missing)
    refuse_zeros(gone, source, coding)
    if not source.is_part:  # all of them are judged together
        remedy = f" Choose {setting('missing', 'impute')}."
        warn_zeroed(len(gone), gone.sum(axis=0), int(gone.all(axis=1).sum()), source.where, remedy=remedy)
    zeros = [rule.entries.get(0, 0) if isinstance(rule, Levels) else 0 for rule in coding.columns]  # 1 if reversed
    filled = np.where(gone, np.array(zeros, dtype=codes.dtype), codes)
    return _make(filled, coding, row_names=row_names, filled=gone, n_missing=n_missing)


def _refuse_unknown(codes: Codes, source: Source, coding: Coding, specs: Sequence[ColumnSpec] | None) -> None:
    """Refuse values without meaning, in the first column that has some."""
    unknown = codes == UNKNOWN
    if unknown.any():
        j = int(np.flatnonzero(unknown.any(axis=0))[0])
        refuse_values(source, j, coding, np.flatnonzero(unknown[:, j]), specs)


def _numbers(source: Source, coding: Coding, codes: Codes) -> FloatArray | None:
    """Return the numbers in the continuous columns, NaN elsewhere; None if there is no such column."""
    places = [j for j, rule in enumerate(coding.columns) if isinstance(rule, Steps)]
    if not places:
        return None
    numbers = np.full(source.shape, np.nan)
    for j in places:
        numbers[:, j] = np.where(codes[:, j] >= 0, source.column(j).numbers(), np.nan)
    return numbers


def _make(codes: Codes, coding: Coding, **fields: Any) -> Table:  # Any: fields of a table
    cells = codes.view(np.uint8) if codes.dtype == np.int8 else codes.astype(np.uint8, copy=False)
    return Table(cells, coding.variables, read_by=coding, **fields)


def read_codes(X: object, variables: Variables) -> Table:
    """Return a table of category numbers as one with these variables."""
    cells = np.asarray(X.toarray() if hasattr(X, "toarray") else X)  # of scipy.sparse
    if cells.ndim != 2:
        raise DataError(f"{setting('X')} must have rows and columns; got shape {cells.shape}.")
    check_width(cells.shape[1], variables)
    try:
        numbers = cells.astype(np.float64)
    except (TypeError, ValueError):
        numbers = np.full(cells.shape, np.nan)
    with np.errstate(invalid="ignore"):
        bad = ~((numbers >= 0) & (numbers < MAX_CATEGORIES) & (numbers == np.floor(numbers)))
    if bad.any():
        row, column = np.argwhere(bad)[0].tolist()
        constraint = f"must hold the numbers of categories, whole numbers from 0 to {MAX_CATEGORIES - 1}"
        where = f"See row {row}, column {column}, or read the table with as_table."
        raise ArgumentError("X", constraint, cells[row, column : column + 1].tolist()[0], where)
    return Table(np.ascontiguousarray(numbers.astype(np.uint8)), variables)
