"""A source becomes a table: every cell the number of its category, missing cells as asked, other values refused."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from isinglass.arrays import Bytes, FloatArray
from isinglass.data.coding import (
    ABSENT,
    BITS,
    MISSING_CHOICES,
    UNKNOWN,
    Cells,
    Codes,
    Coding,
    Cut,
    Guess,
    Indicators,
    Levels,
    Rule,
    Steps,
    is_number,
)
from isinglass.data.guards import (
    IDENTIFIER,
    check_columns,
    check_meaning,
    warn_codes,
    warn_dropped,
    warn_identifiers,
    warn_weights,
    warn_zeroed,
)
from isinglass.data.indicators import combine, combine_indicators
from isinglass.data.memory import open_source
from isinglass.data.options import ValueOptions
from isinglass.data.preview import guess_kinds
from isinglass.data.refusals import advise_kinds, refuse_missing, refuse_values
from isinglass.data.rules import ColumnSpec, find_rules, specify
from isinglass.data.source import Column, Source, convert_numbers
from isinglass.data.table import Table, find_columns, refuse_holes
from isinglass.errors import ArgumentError, DataError, setting
from isinglass.matching import check_width
from isinglass.names import default_names
from isinglass.variables import MAX_CATEGORIES, Variables

CELLS_TO_CHECK = 20_000
"""Cells of 0 and 1 below which looking for indicator columns takes as long as the fit."""
COLUMNS_AT_ONCE = 8
"""Columns that are written together: one by one, each would pass through the memory of the whole table."""


def convert(X: object, stated: ValueOptions) -> Table:
    """Convert what is in memory."""
    missing = stated.missing
    if not stated.about_columns and missing in MISSING_CHOICES and _is_bits(X):
        if X.size > CELLS_TO_CHECK:
            check_columns(X, Variables.binary(X.shape[1]), [[j] for j in range(X.shape[1])])
        return Table(X, read_by=None if missing == "error" else Coding(None, (BITS,) * X.shape[1], missing))
    source = open_source(X).named(stated.names)
    return convert_source(source.mark_missing(stated.missing_in(source)), stated)


def _is_bits(X: object) -> TypeGuard[Bytes]:
    """Tell whether this is what `convert_source` would return, which takes longer than the fit of a few columns."""
    return type(X) is np.ndarray and X.dtype == np.uint8 and X.ndim == 2 and X.size > 0 and bool(X.max() <= 1)


def read_codes(X: object, variables: Variables) -> Table:
    """Return a table of category numbers as one with these variables."""
    codes = np.asarray(X)
    if codes.ndim != 2:
        raise DataError(f"{setting('X')} must have rows and columns; got shape {codes.shape}.")
    check_width(codes.shape[1], variables)
    try:
        numbers = codes.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"{setting('X')} must hold the numbers of categories, 0, 1, 2, …; got dtype {codes.dtype}. Read it with "
            "as_table."
        ) from None
    with np.errstate(invalid="ignore"):
        bad = ~((numbers >= 0) & (numbers < MAX_CATEGORIES) & (numbers == np.floor(numbers)))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ArgumentError(
            "X",
            f"must hold the numbers of categories, whole numbers from 0 to {MAX_CATEGORIES - 1}",
            codes[row, column].item() if isinstance(codes[row, column], np.generic) else codes[row, column],
            f"See row {row}, column {column}.",
        )
    return Table(np.ascontiguousarray(numbers.astype(np.uint8)), variables)


def convert_source(source: Source, stated: ValueOptions) -> Table:
    """Convert an opened table whose columns have names of text or none: by a coding, or by what is stated and seen."""
    if stated.missing not in MISSING_CHOICES:
        raise ArgumentError("missing", 'must be "error", "impute", "zero" or "drop"', stated.missing)
    if isinstance(stated.encode, Coding):
        return _convert_by(stated.encode, source, stated)
    if stated.covariates and stated.combine_indicators:
        raise DataError(f"{setting('covariates')} and {setting('combine_indicators')} must not be combined.")
    specs = specify(source, stated)
    guesses = guess_kinds(specs) if stated.guess else {}
    if guesses:
        specs = _keep_guessed(specs, guesses)
        source = specs[0].source
    rules, levels = find_rules(specs)
    codes, rules = _convert_cells(source, rules)
    labels = [spec.label for spec in specs]
    check_meaning(labels, {j: rules[j] for j in levels}, {j: specs[j].values for j in levels}, codes)
    rules = [rule.with_missing(spec.na_values) for rule, spec in zip(rules, specs, strict=True)]
    covariate = tuple(spec.is_covariate for spec in specs) if stated.covariates else ()
    coding = Coding(_names(source), tuple(rules), stated.missing, covariate)
    table = build_table(codes, source, coding, lambda: advise_kinds(specs))
    if guesses or not (table.variables.named or labels == list(range(len(labels)))):
        table = replace(table, guesses=guesses, column_labels=tuple(labels))
    label_of = dict(zip(table.names, labels, strict=True))
    if stated.combine_indicators:
        table = combine_indicators(table)
    sources = [[label_of[name] for name in members] for members in table.coding.members]
    check_columns(table.codes, table.variables, sources)
    return table


def _convert_by(coding: Coding, source: Source, stated: ValueOptions) -> Table:
    """Convert a table by the coding of another."""
    if stated.binarize is not None or stated.kinds is not None or stated.scores is not None:
        raise DataError(
            f"{setting('encode')} and {setting('binarize')} or {setting('kinds')} must not be combined, if "
            f"{setting('encode')} is a Coding."
        )
    if any(isinstance(rule, Indicators) for rule in coding.columns):
        flat = source.named(_names(source) or default_names(source.shape[1]))
        return combine(_convert_by(coding.expand(), flat, stated), coding)
    source = _take_columns(source, coding).as_known(coding.columns)
    codes, _ = _convert_cells(source, coding.columns, may_be_bits=False)
    return build_table(codes, source, replace(coding, names=_names(source), missing=stated.missing))


def _names(source: Source) -> tuple[str, ...] | None:
    return None if source.names is None else tuple(source.names)


def _keep_guessed(specs: list[ColumnSpec], guesses: Mapping[Hashable, Guess]) -> list[ColumnSpec]:
    """Return the columns that are kept, with the kinds that were stated or are guessed; warn about the others."""
    warn_codes({label: guess.values for label, guess in guesses.items() if guess.kind is None})
    named = {label: guess.values for label, guess in guesses.items() if guess.note == IDENTIFIER}
    warn_identifiers(named, specs[0].source.shape[0])
    numbers = ("ordinal", "continuous")
    warn_weights(label for label, guess in guesses.items() if guess.kind in numbers or label in named)
    kinds = {spec.label: guesses[spec.label].kind if spec.label in guesses else spec.kind for spec in specs}
    kept = [spec for spec in specs if spec.label not in guesses or kinds[spec.label] is not None] or specs
    source = specs[0].source.take([spec.place for spec in kept])
    return [replace(spec, source=source, place=k, kind=kinds[spec.label]) for k, spec in enumerate(kept)]


def _take_columns(source: Source, coding: Coding) -> Source:
    """Return the columns that a coding knows, in its order; by place where one side has no names."""
    if source.names is None or coding.names is None:
        if source.shape[1] != len(coding.columns):
            wanted = f"the {len(coding.columns)} columns of the fitted table"
            raise DataError(f"{setting('X')} must have {wanted}; got {source.shape[1]}.")
        return source
    return source.take(find_columns(coding.names, source.names))


def _convert_cells(source: Source, rules: Sequence[Rule], *, may_be_bits: bool = True) -> tuple[Codes, list[Rule]]:
    """Return what every cell stands for, and by which rule of its column."""
    rule = rules[0] if all(each == rules[0] for each in rules) else None
    if rule is not None and source.block is not None:
        codes = _convert_block(source.block, rule)
        if rule == BITS or isinstance(rule, Cut) or codes.min() > UNKNOWN:
            return codes, list(rules)
    codes = np.empty(source.shape, dtype=np.result_type(*(rule.dtype for rule in rules)))
    used: list[Rule] = []
    for start in range(0, len(rules), COLUMNS_AT_ONCE):
        some = range(start, min(start + COLUMNS_AT_ONCE, len(rules)))
        read = (_convert_column(source.column(j), rules[j], may_be_bits) for j in some)
        columns, rules_used = zip(*read, strict=True)
        codes[:, start : start + COLUMNS_AT_ONCE] = np.array(columns).T
        used += rules_used
    return codes, used


def _convert_block(block: Cells, rule: Rule) -> Codes:
    """Return what every cell of an array stands for by one rule; bytes of 0 and 1 are not copied."""
    if rule == BITS and block.dtype in (np.uint8, np.bool_):
        bits = np.ascontiguousarray(block).view(np.uint8)
        if bits.max() <= 1:
            return bits
    return np.ascontiguousarray(convert_numbers(block, rule))


def _convert_column(column: Column, rule: Rule, may_be_bits: bool) -> tuple[Codes, Rule]:
    """Return what the cells of a column stand for, and by which rule.

    Where it may, a column that is 0/1 already, and has none of the values that are to be replaced, stays as it is.
    """
    codes = column.convert(rule)
    is_other = may_be_bits and rule != BITS and isinstance(rule, Levels) and rule.kind == "binary"
    if is_other and codes.max() < 0 and UNKNOWN in codes:
        plain = column.convert(BITS)
        if UNKNOWN not in plain:
            return plain, BITS
    return codes, rule


def build_table(codes: Codes, source: Source, coding: Coding, advise: Callable[[], str] = str) -> Table:
    """Refuse what has no meaning, deal with the missing cells, and put the table together.

    ``advise`` says what to state about the columns where 0 and 1 are expected and others are found.
    """
    row_names = None if source.row_names is None else tuple(str(label) for label in source.row_names)
    numbers = _numbers(source, coding) if coding.missing == "impute" else None
    if codes.dtype == np.uint8 or codes.min() >= 0:
        return _make(codes, coding, row_names=row_names, numbers=numbers)
    bad = codes == UNKNOWN
    if bad.any():
        j = int(np.flatnonzero(bad.any(axis=0))[0])
        refuse_values(source, j, coding, int(np.flatnonzero(bad[:, j])[0]), advise)
    gone = codes == ABSENT
    n_missing = int(gone.sum())
    if coding.missing == "error":
        refuse_missing(gone, source, has_only_bits=all(rule.kind == "binary" for rule in coding.columns))
    filled = np.where(gone, 0, codes)
    if coding.missing == "impute":
        refuse_holes(coding.variables, gone)
        return _make(filled, coding, row_names=row_names, holes=gone, numbers=numbers, n_missing=n_missing)
    if coding.missing == "drop":
        rows = np.flatnonzero(~gone.any(axis=1))
        if len(rows) == 0:
            raise DataError(
                f"{setting('X')} must have at least one row without missing cells for "
                f"{setting('missing', 'drop')}; got none. "
                f"Choose {setting('missing', 'impute')}, or leave out columns first."
            )
        warn_dropped(gone, len(rows))
        dropped = {"rows": rows, "n_dropped": len(codes) - len(rows), "n_missing": n_missing}
        kept_names = None if row_names is None else tuple(row_names[i] for i in rows)
        return _make(codes[rows], coding, row_names=kept_names, **dropped)
    for j in np.flatnonzero(gone.any(axis=0)).tolist():
        if coding.columns[j].n_categories > 2:
            raise DataError(
                f"{setting('missing', 'zero')} works only for columns of 0 and 1; there is a missing cell in "
                f"{source.where(j)}, which has categories. Choose {setting('missing', 'impute')} or "
                f"{setting('missing', 'drop')}."
            )
    warn_zeroed(gone, source.where)
    return _make(filled, coding, row_names=row_names, filled=gone, n_missing=n_missing)


def _numbers(source: Source, coding: Coding) -> FloatArray | None:
    """Return the numbers in the continuous columns, NaN elsewhere; None if there is no such column."""
    places = [j for j, rule in enumerate(coding.columns) if isinstance(rule, Steps)]
    if not places:
        return None
    numbers = np.full(source.shape, np.nan)
    for j in places:
        numbers[:, j] = [cell if is_number(cell) else np.nan for cell in source.column(j).entries.tolist()]
    return numbers


def _make(codes: Codes, coding: Coding, **fields: Any) -> Table:  # Any: fields of a table
    """Return a table of bytes."""
    cells = codes.view(np.uint8) if codes.dtype == np.int8 else codes.astype(np.uint8, copy=False)
    return Table(cells, coding.variables, read_by=coding, **fields)
