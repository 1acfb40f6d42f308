"""A source becomes a table. A first reading finds a coding and applies it; others apply the coding that was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arrays import FloatArray, Mask
from isinglass.data.containers import as_frame, open_source
from isinglass.data.meaning.coding import MISSING_CHOICES, Coding
from isinglass.data.meaning.finding import find_coding
from isinglass.data.meaning.guards import check_dependence, check_meaning, guard_measured, warn_of
from isinglass.data.meaning.known_columns import combine_indicators, comparable_names, find_columns, take_columns
from isinglass.data.meaning.refusals import complete_rows, refuse_missing, refuse_values, refuse_zeros, warn_zeroed
from isinglass.data.meaning.rules import ABSENT, BITS, UNKNOWN, Codes, Cut, Levels, Rule, Steps, apply_rule
from isinglass.data.meaning.specs import specify
from isinglass.data.options import ValueOptions
from isinglass.data.source import Source
from isinglass.data.table import Table, refuse_holes
from isinglass.data.weights import check_sample_weight, find_known_weights, read_weights, settle_kind
from isinglass.errors import ArgumentError, DataError, setting

COLUMNS_AT_ONCE = 8
"""Columns that are written together: one by one, each would pass through the memory of the whole table."""

_ABOUT_VALUES = ("scores", "encode", "binarize", "reverse", "combine_indicators")


def open_memory(X: object, stated: ValueOptions, sample_weight: ArrayLike | None = None) -> Source:
    """Open an in-memory container as a `Source`: values are not coded yet."""
    source = _name_as_known(open_source(X).named(stated.names), X, stated.encode)
    marked, place = source.mark_missing(stated.missing_in(source)), find_known_weights(source, stated.encode)
    if sample_weight is None and place is not None:
        return replace(marked, weight=read_weights(source, place))
    return replace(marked, weight=check_sample_weight(sample_weight, source.shape[0]))


def _name_as_known(source: Source, X: object, coding: object) -> Source:
    """Return a frame with the names by which a coding finds columns, in its order if it has none."""
    if not isinstance(coding, Coding) or as_frame(X) is None:
        return source
    own = None if source.names is None else [str(name) for name in source.names]
    names, known = comparable_names(own, coding.names, source.shape[1])
    if names is None or known is None:
        return source
    return source.named(names) if coding.names is not None else source.take(find_columns([known], names))


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


def _read_first(source: Source, stated: ValueOptions) -> Table:
    """Read a table by the coding that is found for it, and warn about what it probably does not mean."""
    indicators = None
    if stated.combine_indicators:
        source, indicators = combine_indicators(source, stated.missing)
    found = find_coding(source, stated)
    specs, coding = found.specs, found.coding
    chosen = source if len(specs) == source.shape[1] else source.take([spec.place for spec in specs])
    codes = _convert_cells(chosen, coding.columns)
    warn_of(guard_measured({specs[j].label: coding.columns[j] for j in found.measured}))
    check_meaning(specs, {j: coding.columns[j] for j in found.levels}, codes)
    if indicators is not None:
        layout = replace(coding.layout, numbers=None, width=None)
        coding = replace(coding, layout=layout, indicators=tuple(indicators[spec.place] for spec in specs))
    table = replace(_build_table(codes, chosen, coding, is_known=False), guesses=found.guesses)
    check_dependence(table, specs, are_combined=indicators is not None)
    return table


def _read_again(source: Source, stated: ValueOptions) -> Table:
    """Read a table by the coding of another."""
    assert isinstance(stated.encode, Coding)
    coding = replace(stated.encode, missing=stated.missing)
    chosen = take_columns(source, coding)
    refuse_options(chosen, coding, replace(stated, encode=None, na_values=()))  # the values have been marked
    names = None if chosen.names is None else tuple(chosen.names)
    codes = _convert_cells(chosen, coding.columns)
    table = _build_table(codes, chosen, replace(coding, names=names), is_known=True)
    if not stated.covariates:
        return table
    return table.with_covariates(list(chosen.locate(dict.fromkeys(stated.covariates), "covariates")))


def refuse_options(source: Source, coding: Coding, stated: ValueOptions) -> None:
    """Refuse options about values where a coding has decided what these mean.

    Kinds and missing values that agree with it may be given again, and ``encode="auto"``. ``source`` has the columns of
    the coding; its cells are not looked at.
    """
    given = [name for name in _ABOUT_VALUES if getattr(stated, name) not in (None, "auto", (), False)]
    asked = ValueOptions(kinds=stated.kinds, na_values=stated.na_values)
    for spec, rule in zip(specify(source, asked), coding.columns, strict=True):
        is_pair = rule.kind == "binary" and not isinstance(rule, Cut)
        given += ["kinds"] if spec.kind not in (None, rule.kind) and not is_pair else []
        given += ["na_values"] if spec.with_missing(rule) is not rule else []
    if given:
        raise DataError(
            f"{setting(given[0])} must be given where the table is read first (as_table, read_table): what its values "
            "mean has been decided. Read it again with this option, or leave the option out."
        )


def missing_cells(source: Source, coding: Coding) -> Mask:
    """Return which cells of a source are missing, in the columns of a coding."""
    return np.asarray(_convert_cells(take_columns(source, coding), coding.columns) == ABSENT)


def _convert_cells(source: Source, rules: Sequence[Rule]) -> Codes:
    """Return what every cell stands for."""
    block, rule = source.block, rules[0]
    if block is not None and all(other == rule for other in rules) and not rule.has_words:
        if rule == BITS and block.dtype in (np.uint8, np.bool_) and block.max() <= 1:
            return np.ascontiguousarray(block).view(np.uint8)  # bytes of 0 and 1 are not copied
        return np.ascontiguousarray(rule.convert(block))
    codes = np.empty(source.shape, dtype=np.result_type(*(rule.dtype for rule in rules)))
    for start in range(0, len(rules), COLUMNS_AT_ONCE):
        some = range(start, min(start + COLUMNS_AT_ONCE, len(rules)))
        columns = [apply_rule(rules[j], source.column(j)) for j in some]
        codes[:, start : start + COLUMNS_AT_ONCE] = np.array(columns).T
    return codes


def _build_table(codes: Codes, source: Source, coding: Coding, *, is_known: bool) -> Table:
    """Refuse values without meaning, treat the missing cells as the coding says, and put the table together.

    ``is_known``: the coding is that of another table.
    """
    missing, names = coding.missing, source.row_names
    row_names = None if names is None else tuple(map(str, names))
    numbers = _numbers(source, coding, codes) if missing == "impute" else None
    is_unlabeled = source.is_unlabeled if missing == "drop" else np.zeros(len(codes), dtype=bool)
    if (codes.dtype == np.uint8 or codes.min() >= 0) and not is_unlabeled.any():
        return _make(codes, coding, row_names=row_names, numbers=numbers)
    unknown = codes == UNKNOWN
    if unknown.any():
        j = int(np.flatnonzero(unknown.any(axis=0))[0])
        refuse_values(source, j, coding, np.flatnonzero(unknown[:, j]), is_known=is_known)
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
        warn_zeroed(len(gone), gone.sum(axis=0), int(gone.all(axis=1).sum()), source.where)
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
