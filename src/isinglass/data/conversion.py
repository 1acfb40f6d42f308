"""Arrays, frames and sparse matrices become tables: every cell the number of its category, by the rules of a coding."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import Bytes
from isinglass.data.coding import (
    ABSENT,
    BAD,
    BITS,
    MISSING,
    UNKNOWN,
    AnyRule,
    Coding,
    Cut,
    Indicators,
    Levels,
    Rule,
    Values,
    by_column,
    find_rules,
)
from isinglass.data.guards import check_columns, check_meaning
from isinglass.data.indicators import combine
from isinglass.data.indicators import combine_indicators as combine_all
from isinglass.data.levels import find_levels, per_column, turn_some
from isinglass.data.missing import settle
from isinglass.data.preview import Guess, guess_kinds
from isinglass.data.sources import Source, convert_numbers, open_source
from isinglass.data.table import Kinds, Scores, Table, check_width
from isinglass.errors import ArgumentError, DataError, setting
from isinglass.names import check_names, default_names
from isinglass.variables import MAX_CATEGORIES, Variables

LITTLE = 20_000
"""Cells of 0 and 1 below which looking for indicator columns takes as long as the fit."""
MISSING_CHOICES = ("error", "impute", "zero", "drop")


def convert(
    X: Any,
    *,
    kinds: Kinds | None = None,
    scores: Scores | None = None,
    names: Sequence[str] | None = None,
    missing: str = "error",
    encode: Any = None,
    binarize: Any = None,
    combine_indicators: bool = False,
) -> Table:
    """Convert what is in memory; the arguments are those of `as_table`."""
    is_plain = kinds is None and scores is None and names is None and encode is None and binarize is None
    if is_plain and missing in MISSING_CHOICES and not combine_indicators and _is_bits(X):
        if X.size > LITTLE:
            check_columns(X, Variables.binary(X.shape[1]))
        coding = None if missing == "error" else Coding(None, (BITS,) * X.shape[1], missing)
        return Table(X, coding=coding)
    how = {"names": names, "missing": missing, "encode": encode, "binarize": binarize}
    how["combine_indicators"] = combine_indicators
    return convert_source(open_source(X), kinds=kinds, scores=scores, **how)


def _is_bits(X: Any) -> bool:
    """Tell whether this is what `convert_source` would return, which takes longer than the fit of a few columns."""
    return type(X) is np.ndarray and X.dtype == np.uint8 and X.ndim == 2 and X.size > 0 and bool(X.max() <= 1)


def read_codes(X: Any, variables: Variables) -> Table:
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
    encode: Any = None,
    binarize: Any = None,
    kinds: Kinds | None = None,
    scores: Scores | None = None,
    reverse: Collection[int] = (),
    combine_indicators: bool = False,
    guesses: dict[Hashable, Guess] | None = None,
) -> Table:
    """Convert an opened table; the arguments are those of `as_table`.

    With ``guesses``, columns whose kind nobody stated are read as what they seem to be, or left out, and noted there.
    """
    if guesses is not None and not isinstance(encode, Coding):
        labels = range(source.shape[1]) if source.names is None else source.names
        found = guess_kinds(source, labels, kinds, scores, encode, binarize)
        guesses.update({labels[j]: guess for j, guess in found.items()})
        kept = [j for j in range(source.shape[1]) if j not in found or found[j].kind is not None]
        if kept:
            stated = per_column("kinds", {} if kinds is None else kinds, labels, source.shape[1], None)
            each = {k: found[j].kind if j in found else stated[j] for k, j in enumerate(kept)}
            kinds = {k: kind for k, kind in each.items() if kind is not None} or None
            scores = None if scores is None else {kept.index(j): points for j, points in scores.items() if j in kept}
            reverse = [kept.index(j) for j in reverse if j in kept]
            source = source.take(kept)
    if isinstance(encode, Coding) and any(isinstance(rule, Indicators) for rule in encode.columns):
        unnamed = source.names is None and names is None
        known = replace(source, names=default_names(source.shape[1])) if unnamed else source
        return combine(convert_source(known, names=names, missing=missing, encode=encode.expand()), encode)
    table = _convert_source(source, names, missing, encode, binarize, kinds, scores, reverse)
    if isinstance(encode, Coding):
        return table
    if not combine_indicators:
        check_columns(table.codes, table.variables)
        return table
    place = {name: name if table.variables.named else j for j, name in enumerate(table.names)}
    table = combine_all(table)
    check_columns(table.codes, table.variables, [[place[name] for name in each] for each in table.reading.members])
    return table


def _convert_source(
    source: Source,
    names: Sequence[str] | None,
    missing: str,
    encode: Any,
    binarize: Any,
    kinds: Kinds | None,
    scores: Scores | None,
    reverse: Collection[int],
) -> Table:
    if missing not in MISSING_CHOICES:
        raise ArgumentError("missing", 'must be "error", "impute", "zero" or "drop"', missing)
    given = names if names is not None or source.names is None else [str(name) for name in source.names]
    columns = None if given is None else check_names(given, source.shape[1])
    if isinstance(encode, Coding):
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
        levels = {j: rule for j, rule in enumerate(encode.columns) if isinstance(rule, Levels)}
    else:
        levels = find_levels(source, labels, kinds, scores, encode, binarize)
        if reverse:
            levels = turn_some(levels, reverse, source)
    if levels:
        coded = {j: source.column(j).convert(rule) for j, rule in levels.items()}
        if not isinstance(encode, Coding):
            check_meaning(source, labels, levels, coded)
        return _convert_mixed(source, labels, levels, coded, encode, binarize, Coding(columns, (), missing))
    codes, rules = _convert(source, find_rules(source, labels, encode, binarize))
    return settle(codes, source, Coding(columns, tuple(rules), missing))


def _convert_mixed(
    source: Source,
    labels: Sequence[Hashable],
    levels: dict[int, Levels],
    coded: Mapping[int, NDArray[Any]],
    encode: Any,
    binarize: Any,
    coding: Coding,
) -> Table:
    """Convert a table with columns of categories: ``coded`` has these, the others are a table of 0 and 1."""
    others = [j for j in range(len(labels)) if j not in levels]
    codes = np.empty(source.shape, dtype=np.int16)
    rules: dict[int, AnyRule] = dict(levels)
    for j, column in coded.items():
        codes[:, j] = column
    if others:
        known = [labels[j] for j in others]
        if isinstance(encode, Coding):
            encode = replace(encode, columns=tuple(encode.columns[j] for j in others), names=None)
        elif by_column(encode):
            encode = {label: entry for label, entry in encode.items() if label in set(known)} or None
        elif isinstance(encode, Mapping):  # numbers of categories are for the other columns
            encode = {value: bit for value, bit in encode.items() if bit in (0, 1, None)} or None
        part = source.take(others)
        bits, used = _convert(part, find_rules(part, known, encode, binarize))
        rules |= dict(zip(others, used, strict=True))
        codes[:, others] = np.choose(bits, [0, 1, ABSENT, UNKNOWN], out=np.empty(bits.shape, dtype=np.int16))
    every = replace(coding, columns=tuple(rules[j] for j in range(len(labels))))
    if all(rule.kind == "binary" for rule in levels.values()):
        meant = np.choose(codes % 4, [0, 1, BAD, MISSING]).astype(np.uint8)
        return settle(meant, source, every.simplest())
    return settle(codes, source, every)


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


def _convert(source: Source, rules: list[Rule]) -> tuple[Bytes, list[Rule]]:
    """Return what every cell stands for, and the rules that were used."""
    rule = rules[0] if all(each == rules[0] for each in rules) else None
    if rule is not None and source.block is not None:
        codes = _convert_block(source.block, source.masked, rule)
        if rule == BITS or isinstance(rule, Cut) or not (codes == BAD).any():
            return codes, rules
    elif rule is not None and source.sparse is not None and rule.target(0) == 0:
        matrix = source.sparse
        stored = _convert_block(matrix.data, None, rule)
        return type(matrix)((stored, matrix.indices, matrix.indptr), shape=matrix.shape).toarray(), rules
    return _convert_columns(source, rules)


def _convert_block(table: NDArray[Any], masked: NDArray[np.bool_] | None, rule: AnyRule) -> NDArray[Any]:
    """Convert numbers at once; bytes that are bits already are not copied."""
    if rule == BITS and table.dtype in (np.uint8, np.bool_) and masked is None:
        codes = np.ascontiguousarray(table).view(np.uint8)
        if not codes.size or codes.max() <= 1:
            return codes
    return np.ascontiguousarray(convert_numbers(table, masked, rule))


def _convert_columns(source: Source, rules: list[Rule]) -> tuple[Bytes, list[Rule]]:
    """Convert one column after the other, each by its rule."""
    codes = np.empty(source.shape, dtype=np.uint8)
    used = list(rules)
    for j, rule in enumerate(rules):
        column = source.column(j)
        codes[:, j] = column.convert(rule)
        # A column that is 0/1 already, and has none of the values that are to be replaced, stays as it is.
        if rule != BITS and isinstance(rule, Values) and not (codes[:, j] <= 1).any() and (codes[:, j] == BAD).any():
            bits = column.convert(BITS)
            if not (bits == BAD).any():
                codes[:, j], used[j] = bits, BITS
    return codes, used
