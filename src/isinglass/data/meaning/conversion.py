"""A source becomes a table. A first reading finds a coding and applies it; others apply the coding that was found."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arrays import Bytes, Mask
from isinglass.data.containers import as_frame, open_source
from isinglass.data.meaning.chosen_columns import comparable_names, find_columns, take_columns
from isinglass.data.meaning.coded_table import build_table, convert_cells
from isinglass.data.meaning.coding import MISSING_CHOICES, Coding
from isinglass.data.meaning.contradictions import refuse_other
from isinglass.data.meaning.dependence_guards import check_columns, check_sums
from isinglass.data.meaning.finding import Finding, find_coding
from isinglass.data.meaning.guards import check_meaning, guard_measured
from isinglass.data.meaning.indicators import combine_sets
from isinglass.data.meaning.rules import ABSENT, BITS
from isinglass.data.options import ValueOptions
from isinglass.data.source import Source
from isinglass.data.table import Table
from isinglass.data.weights import check_sample_weight, find_known_weights, read_weights, settle_kind
from isinglass.errors import ArgumentError

CELLS_TO_CHECK = 20_000
"""Cells of 0 and 1 below which looking for indicator columns takes as long as the fit."""


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


def _is_bits(X: object) -> TypeGuard[Bytes]:
    """Tell whether this is what `convert_source` would return, which takes longer than the fit of a few columns."""
    return type(X) is np.ndarray and X.dtype == np.uint8 and X.ndim == 2 and X.size > 0 and bool(X.max() <= 1)


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


def apply_coding(source: Source, coding: Coding, found: Finding | None = None) -> Table:
    """Return the table that a coding makes of a source; ``found`` is how it was found, in a first reading."""
    chosen = take_columns(source, coding)
    codes = convert_cells(chosen, coding.columns)
    if found is not None:
        guard_measured({found.specs[j].label: coding.columns[j] for j in found.measured})
        check_meaning(found.specs, {j: coding.columns[j] for j in found.levels}, codes)
    names = None if chosen.names is None else tuple(chosen.names)
    return build_table(codes, chosen, replace(coding, names=names), None if found is None else found.specs)


def missing_cells(source: Source, coding: Coding) -> Mask:
    """Return which cells of a source are missing, in the columns of a coding."""
    return np.asarray(convert_cells(take_columns(source, coding), coding.columns) == ABSENT)
