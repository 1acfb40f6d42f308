"""A source becomes a table: every cell the number of its category, missing cells as asked, other values refused.

A first reading finds a coding and applies it; another table is read by applying the same coding to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.data.containers import as_frame, open_source
from isinglass.data.meaning.coding import MISSING_CHOICES, Coding, comparable_names, find_columns
from isinglass.data.meaning.contradictions import refuse_other
from isinglass.data.meaning.dependence_guards import check_columns, check_sums
from isinglass.data.meaning.finding import Finding, find_coding
from isinglass.data.meaning.guards import check_meaning
from isinglass.data.meaning.indicators import combine_sets, join_indicators
from isinglass.data.meaning.missing_cells import complete_rows, refuse_missing, refuse_zeros, warn_zeroed
from isinglass.data.meaning.refusals import refuse_values
from isinglass.data.meaning.rules import ABSENT, BITS, UNKNOWN, Cells, Codes, Levels, Rule, Steps
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.options import ValueOptions
from isinglass.data.source import Source
from isinglass.data.table import Table, refuse_holes
from isinglass.data.weights import check_sample_weight, settle_kind
from isinglass.errors import ArgumentError, DataError, setting
from isinglass.matching import check_width
from isinglass.variables import MAX_CATEGORIES, Variables

CELLS_TO_CHECK = 20_000
"""Cells of 0 and 1 below which looking for indicator columns takes as long as the fit."""
COLUMNS_AT_ONCE = 8
"""Columns that are written together: one by one, each would pass through the memory of the whole table."""


def convert(X: object, stated: ValueOptions, sample_weight: ArrayLike | None = None) -> Table:
    """Convert what is in memory."""
    missing = stated.missing
    if not stated.about_columns and missing in MISSING_CHOICES and _is_bits(X):
        coding = None if missing == "error" else Coding(None, (BITS,) * X.shape[1], missing)
        weight = check_sample_weight(sample_weight, len(X))
        table = Table(X, sample_weight=weight, weight_kind=settle_kind(weight, stated.weight_kind), read_by=coding)
        if X.size > CELLS_TO_CHECK:
            check_columns(table, range(X.shape[1]))
        return table
    return convert_source(open_memory(X, stated, sample_weight), stated)


def _join_numbers(source: Source, X: object, coding: object) -> Source:
    """Return the columns of a frame with the names by which a coding finds them, in its order if it has none."""
    if not isinstance(coding, Coding) or as_frame(X) is None:
        return source
    own = None if source.names is None else [str(name) for name in source.names]
    names, known = comparable_names(own, coding.names, source.shape[1])
    if names is None or known is None:
        return source
    return source.named(names) if coding.names is not None else source.take(find_columns([known], names))


def open_memory(X: object, stated: ValueOptions, sample_weight: ArrayLike | None = None) -> Source:
    """Open an in-memory container as a `Source`: values are not coded yet."""
    source = _join_numbers(open_source(X).named(stated.names), X, stated.encode)
    marked, place = source.mark_missing(stated.missing_in(source)), source.find_weights(stated.encode)
    if sample_weight is None and place is not None:
        return replace(marked, weight=source.read_weights(place))
    return replace(marked, weight=check_sample_weight(sample_weight, source.shape[0]))


def _is_bits(X: object) -> TypeGuard[Bytes]:
    """Tell whether this is what `convert_source` would return, which takes longer than the fit of a few columns."""
    return type(X) is np.ndarray and X.dtype == np.uint8 and X.ndim == 2 and X.size > 0 and bool(X.max() <= 1)


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


def convert_source(source: Source, stated: ValueOptions) -> Table:
    """Convert an opened table whose columns have names of text or none: by a coding, or by what is stated and seen."""
    if stated.missing not in MISSING_CHOICES:
        raise ArgumentError("missing", 'must be "error", "impute", "zero" or "drop"', stated.missing)
    table = _read_first(source, stated) if not isinstance(stated.encode, Coding) else _read_again(source, stated)
    some = slice(None) if table.rows is None else table.rows
    weight = None if source.weight is None else source.weight[some]
    return replace(
        table.with_variables(table.variables.with_wording(source.wording)),
        sample_weight=weight,
        weight_kind=settle_kind(weight, stated.weight_kind),
        labels={name: tuple(entries[some]) for name, entries in source.apart.items()},
        detected=source.detected,
    )


def _read_again(source: Source, stated: ValueOptions) -> Table:
    """Read a table by the coding of another."""
    assert isinstance(stated.encode, Coding)
    coding = replace(stated.encode, missing=stated.missing)
    chosen = take_columns(source, coding.of_source)
    refuse_other(chosen, coding, replace(stated, na_values=()))  # these have been marked
    table = apply_coding(source, coding)
    if not stated.covariates:
        return table
    return table.with_covariates(list(chosen.locate(dict.fromkeys(stated.covariates), "covariates")))


def _read_first(source: Source, stated: ValueOptions) -> Table:
    """Read a table by the coding that is found for it, and warn about what it probably does not mean."""
    found = find_coding(source, stated)
    table = apply_coding(source, found.coding, found)
    labels = [spec.label for spec in found.specs]
    if found.guesses or not (table.variables.named or labels == list(range(len(labels)))):
        table = replace(table, guesses=found.guesses, column_labels=tuple(labels))
    check_sums(table, found.specs)
    check_columns(table, labels, are_combined=stated.combine_indicators)
    if stated.combine_indicators:
        return replace(apply_coding(source, combine_sets(table.coding, table)), guesses=found.guesses)
    return table


def apply_coding(source: Source, coding: Coding, found: Finding | None = None) -> Table:
    """Return the table that a coding makes of a source; ``found`` is how it was found, in a first reading."""
    chosen = take_columns(source, coding)
    codes = _convert_cells(chosen, coding.columns)
    if found is not None:
        check_meaning(found.specs, {j: coding.columns[j] for j in found.levels}, codes)
    names = None if chosen.names is None else tuple(chosen.names)
    return build_table(codes, chosen, replace(coding, names=names), None if found is None else found.specs)


def take_columns(source: Source, coding: Coding) -> Source:
    """Return the columns that a coding means, in its order: by name, or else by number in a table of equal width.

    An array, or columns that options chose from a file, may also be these columns alone, in this order.
    """
    if coding.single is not None:
        return join_indicators(take_columns(source, replace(coding.single, missing=coding.missing)), coding)
    if source.names is not None and coding.names is not None:
        is_renamed = source.layout.names not in (None, source.names)  # by the user: as in the coding
        called = coding.called[::-1] if is_renamed else coding.called
        return replace(source.take(find_columns(called, source.names)), names=coding.names)
    n = len(coding.columns)
    numbers, width = coding.layout.numbers or range(n), coding.layout.width or n
    places = {place: j for j, place in enumerate(source.origin.places)}
    are_alone = source.shape[1] == n and (not source.is_file or source.chosen_from is not None)
    is_alike = source.origin.width == width and places.keys() >= set(numbers)
    if are_alone and not (source.is_file and is_alike):
        return source
    if not is_alike:
        _refuse_width(source, n, width)
    order = [places[j] for j in numbers]
    if order == list(range(source.shape[1])):
        return source
    return source.choose(order) if source.is_file else source.take(order)


def missing_cells(source: Source, coding: Coding) -> Mask:
    """Return which cells of a source are missing, in the columns of a coding."""
    return np.asarray(_convert_cells(take_columns(source, coding), coding.columns) == ABSENT)


def _refuse_width(source: Source, n: int, width: int) -> NoReturn:
    """Say that columns without names cannot be found in a table of another width."""
    choose = setting("columns", python="columns=[…]") if source.is_file else "X[:, […]]"
    others = f", or all {width} that these were chosen from" if width > n else ""
    first = "the table that was read first" if source.is_part else "the fitted table or network"
    here, all_columns = source.shape[1], source.origin.width
    got = f"{here} of {all_columns}" if here < all_columns else f"{all_columns}"
    raise DataError(
        f"{setting('X')} must have the {n} columns of {first}{others}; got {got}. Without names, columns are found by "
        f"number, in a table of equal width: choose the {n} columns in their order ({choose}), or give names to both."
    )


def _convert_cells(source: Source, rules: Sequence[Rule]) -> Codes:
    """Return what every cell stands for."""
    if source.block is not None and all(rule == rules[0] for rule in rules) and not rules[0].has_words:
        return _convert_block(source.block, rules[0])
    codes = np.empty(source.shape, dtype=np.result_type(*(rule.dtype for rule in rules)))
    for start in range(0, len(rules), COLUMNS_AT_ONCE):
        some = range(start, min(start + COLUMNS_AT_ONCE, len(rules)))
        columns = [source.column(j).convert(rules[j]) for j in some]
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
    """Refuse what has no meaning, deal with the missing cells, and put the table together.

    ``specs``: what was known about the columns, in a first reading.
    """
    row_names = None if source.row_names is None else tuple(str(label) for label in source.row_names)
    numbers = _numbers(source, coding, codes) if coding.missing == "impute" else None
    is_unlabeled = source.is_unlabeled if coding.missing == "drop" else np.zeros(len(codes), dtype=bool)
    if (codes.dtype == np.uint8 or codes.min() >= 0) and not is_unlabeled.any():
        return _make(codes, coding, row_names=row_names, numbers=numbers)
    bad = codes == UNKNOWN
    if bad.any():
        j = int(np.flatnonzero(bad.any(axis=0))[0])
        refuse_values(source, j, coding, np.flatnonzero(bad[:, j]), specs)
    gone = codes == ABSENT
    n_missing = int(gone.sum())
    if coding.missing == "error":
        refuse_missing(gone, source, has_only_bits=all(rule.kind == "binary" for rule in coding.columns))
    if coding.missing == "drop":
        rows = complete_rows(gone, is_unlabeled, source)
        counts = {"n_missing": n_missing, "n_unlabeled": int(is_unlabeled.sum()), "n_dropped": len(codes) - len(rows)}
        names = None if row_names is None else tuple(row_names[i] for i in rows)
        return _make(codes[rows], coding, row_names=names, rows=rows, **counts)
    if coding.missing == "impute":
        refuse_holes(coding.variables, gone)
        filled = np.where(gone, 0, codes)
        return _make(filled, coding, row_names=row_names, holes=gone, numbers=numbers, n_missing=n_missing)
    refuse_zeros(gone, source, coding)
    warn_zeroed(gone, source.where, is_part=source.is_part)
    zeros = [rule.entries.get(0, 0) if isinstance(rule, Levels) else 0 for rule in coding.columns]  # 1 if reversed
    filled = np.where(gone, np.array(zeros, dtype=codes.dtype), codes)
    return _make(filled, coding, row_names=row_names, filled=gone, n_missing=n_missing)


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
