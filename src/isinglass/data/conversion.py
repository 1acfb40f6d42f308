"""Arrays, frames and sparse matrices become tables: every cell the number of its category, by the rules of a coding."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypeGuard

import numpy as np

from isinglass.arrays import Bytes
from isinglass.data.coding import BITS, UNKNOWN, Codes, Coding, Cut, Indicators, Levels, Rule
from isinglass.data.guards import check_columns, check_meaning
from isinglass.data.indicators import combine
from isinglass.data.indicators import combine_indicators as combine_all
from isinglass.data.missing import settle
from isinglass.data.preview import Guess, guess_kinds
from isinglass.data.rules import Binarize, ColumnSpec, Encode, find_rules, specify
from isinglass.data.sources import Source, convert_numbers, open_source
from isinglass.data.table import Kinds, Scores, Table, check_width
from isinglass.errors import ArgumentError, DataError, setting
from isinglass.names import check_names, default_names
from isinglass.variables import MAX_CATEGORIES, Variables

LITTLE = 20_000
"""Cells of 0 and 1 below which looking for indicator columns takes as long as the fit."""
MISSING_CHOICES = ("error", "impute", "zero", "drop")


def convert(
    X: object,
    *,
    kinds: Kinds | None = None,
    scores: Scores | None = None,
    names: Sequence[str] | None = None,
    missing: str = "error",
    encode: Encode = None,
    binarize: Binarize = None,
    combine_indicators: bool = False,
    na_values: Collection[Hashable] = (),
    covariates: Sequence[str | int] | str = (),
) -> Table:
    """Convert what is in memory; the arguments are those of `as_table`."""
    is_plain = kinds is None and scores is None and names is None and encode is None and binarize is None
    is_plain = is_plain and not covariates
    if is_plain and missing in MISSING_CHOICES and not (combine_indicators or na_values) and _is_bits(X):
        if X.size > LITTLE:
            check_columns(X, Variables.binary(X.shape[1]))
        coding = None if missing == "error" else Coding(None, (BITS,) * X.shape[1], missing)
        return Table(X, coding=coding)
    if isinstance(na_values, str):
        raise ArgumentError("na_values", "must be a sequence of values", na_values)
    source = open_source(X)
    return convert_source(
        source,
        names=names,
        missing=missing,
        encode=encode,
        binarize=binarize,
        kinds=kinds,
        scores=scores,
        combine_indicators=combine_indicators,
        na_values=dict.fromkeys(range(source.shape[1]), na_values) if na_values else {},
        covariates=covariates,
    )


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


def convert_source(
    source: Source,
    *,
    names: Sequence[str] | None = None,
    missing: str = "error",
    encode: Encode = None,
    binarize: Binarize = None,
    kinds: Kinds | None = None,
    scores: Scores | None = None,
    reverse: Collection[int] = (),
    combine_indicators: bool = False,
    na_values: Mapping[int, Collection[Hashable]] = MappingProxyType({}),
    covariates: Sequence[str | int] | str = (),
    guesses: dict[Hashable, Guess] | None = None,
) -> Table:
    """Convert an opened table; the arguments are those of `as_table`, ``na_values`` by number of the column.

    With ``guesses``, columns whose kind was not stated are read as what they seem to be, or left out, and noted there.
    """
    if missing not in MISSING_CHOICES:
        raise ArgumentError("missing", 'must be "error", "impute", "zero" or "drop"', missing)
    source = source.mark_missing({j: frozenset(values).__contains__ for j, values in na_values.items()})
    given = names if names is not None or source.names is None else [str(name) for name in source.names]
    columns = None if given is None else check_names(given, source.shape[1])
    if isinstance(encode, Coding):
        if any(isinstance(rule, Indicators) for rule in encode.columns):
            flat = columns or default_names(source.shape[1])
            table = convert_source(source, names=flat, missing=missing, encode=encode.expand())
            return combine(table, encode)
        source, columns = _take_columns(source, columns, encode)
    labels: Sequence[Hashable] = range(source.shape[1]) if columns is None else columns
    if columns is not None or not source.numbers:
        source = replace(source, names=labels)
    if isinstance(encode, Coding):
        if binarize is not None or kinds is not None or scores is not None:
            raise DataError(
                f"{setting('encode')} and {setting('binarize')} or {setting('kinds')} must not be combined, if "
                f"{setting('encode')} is a Coding."
            )
        rules: list[Rule] = list(encode.columns)
        coding = Coding(columns, tuple(rules), missing, encode.covariate)
        return settle(_convert_cells(source, rules), source, coding)
    if covariates and combine_indicators:
        raise DataError(f"{setting('covariates')} and {setting('combine_indicators')} must not be combined.")
    specs = specify(source, labels, kinds, scores, encode, binarize, reverse, na_values, covariates)
    if guesses is not None:
        specs = _keep_guessed(specs, guesses)
        source, labels = specs[0].source, [spec.label for spec in specs]
        columns = None if columns is None else tuple(map(str, labels))
    rules, levels = find_rules(specs)
    codes = _convert_cells(source, rules)
    check_meaning(labels, {j: rules[j] for j in levels}, {j: specs[j].values for j in levels}, codes)
    rules = [rule.with_missing(spec.na_values) for rule, spec in zip(rules, specs, strict=True)]
    flags = tuple(spec.is_covariate for spec in specs) if covariates else ()
    table = settle(codes, source, Coding(columns, tuple(rules), missing, flags))
    if not combine_indicators:
        check_columns(table.codes, table.variables)
        return table
    place = {name: name if table.variables.named else j for j, name in enumerate(table.names)}
    table = combine_all(table)
    check_columns(table.codes, table.variables, [[place[name] for name in each] for each in table.reading.members])
    return table


def _keep_guessed(specs: list[ColumnSpec], guesses: dict[Hashable, Guess]) -> list[ColumnSpec]:
    """Return the columns that are kept, with kinds that were stated or are guessed, and note the guesses."""
    found = guess_kinds(specs)
    guesses.update({specs[j].label: guess for j, guess in found.items()})
    kept = [spec for j, spec in enumerate(specs) if j not in found or found[j].kind is not None] or specs
    source = specs[0].source.take([spec.place for spec in kept])
    kinds = [found[spec.place].kind if spec.place in found else spec.kind for spec in kept]
    return [replace(spec, source=source, place=k, kind=kinds[k]) for k, spec in enumerate(kept)]


def _take_columns(
    source: Source, names: tuple[str, ...] | None, coding: Coding
) -> tuple[Source, tuple[str, ...] | None]:
    """Return the columns that a coding knows, in its order; by place where one side has no names."""
    if names is None or coding.names is None:
        if source.shape[1] != len(coding.columns):
            wanted = f"the {len(coding.columns)} columns of the fitted table"
            raise DataError(f"{setting('X')} must have {wanted}; got {source.shape[1]}.")
        return source, names
    place = {name: j for j, name in enumerate(names)}
    absent = next((name for name in coding.names if name not in place), None)
    if absent is not None:
        raise DataError(f"{setting('X')} must have the columns of the fitted table; {absent!r} cannot be found.")
    return source.take([place[name] for name in coding.names]), coding.names


def _convert_cells(source: Source, rules: list[Rule]) -> Codes:
    """Return what every cell stands for; rules that say nothing about a column of 0 and 1 are replaced."""
    rule = rules[0] if all(each == rules[0] for each in rules) else None
    if rule is not None and source.block is not None:
        block = source.block
        if rule == BITS and block.dtype in (np.uint8, np.bool_) and source.masked is None:
            bits = np.ascontiguousarray(block).view(np.uint8)  # not copied
            if bits.max() <= 1:
                return bits
        codes: Codes = np.ascontiguousarray(convert_numbers(block, source.masked, rule))
        if rule == BITS or isinstance(rule, Cut) or codes.min() > UNKNOWN:
            return codes
    elif rule is not None and source.sparse is not None and rule.target(0) == 0:
        matrix = source.sparse
        stored = convert_numbers(matrix.data, None, rule)
        return np.asarray(type(matrix)((stored, matrix.indices, matrix.indptr), shape=matrix.shape).toarray())
    codes = np.empty(source.shape, dtype=np.result_type(*(rule.dtype for rule in rules)))
    for j, rule in enumerate(rules):
        column = source.column(j)
        codes[:, j] = column.convert(rule)
        # A column that is 0/1 already, and has none of the values that are to be replaced, stays as it is.
        if rule != BITS and isinstance(rule, Levels) and rule.kind == "binary" and codes[:, j].max() < 0:
            plain = column.convert(BITS)
            if UNKNOWN in codes[:, j] and UNKNOWN not in plain:
                codes[:, j], rules[j] = plain, BITS
    return codes
