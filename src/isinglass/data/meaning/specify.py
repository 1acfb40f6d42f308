"""The options about columns and values, sorted by column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from isinglass.arguments import as_ordered, check_word
from isinglass.data.meaning.rules import Cut
from isinglass.data.meaning.specs import ColumnSpec, Statement
from isinglass.data.meaning.values import Value, is_bit, is_finite, is_number, read_cell
from isinglass.data.options import Binarize, Encode, ValueOptions, by_column
from isinglass.data.source import Source
from isinglass.data.table import Kinds
from isinglass.errors import ArgumentError, DataError, called, setting
from isinglass.variables import KINDS


def specify(source: Source, stated: ValueOptions) -> list[ColumnSpec]:
    """Return what is stated about every column."""
    _check_forms(stated)
    kinds, scores = _list_kinds(stated.kinds, source), source.locate(stated.scores or {}, "scores")
    statements, cuts = _list_statements(stated.encode, source), _list_cuts(stated.binarize, source)
    missing = stated.missing_in(source)
    reversed_columns = source.locate(dict.fromkeys(stated.reverse), "reverse")
    covariates = source.locate(dict.fromkeys(stated.covariates), "covariates")
    specs = [
        ColumnSpec(
            source,
            place=j,
            label=label,
            kind=kinds[j] or _implied_kind(scores.get(j)),
            scores=scores.get(j),
            encode=statements[j],
            cut=cuts.get(j),
            is_reversed=j in reversed_columns,
            missing=missing.get(j, ()),
            is_covariate=j in covariates,
        )
        for j, label in enumerate(source.labels)
    ]
    return [replace(spec, kind=_covariate_kind(spec)) if spec.is_covariate else spec for spec in specs]


def _check_forms(stated: ValueOptions) -> None:
    """Refuse options of the wrong form, and a threshold for all columns beside what values mean."""
    encode = stated.encode
    if stated.scores is not None and not isinstance(stated.scores, Mapping):
        raise ArgumentError("scores", 'must be a mapping of columns to numbers or "normal"', stated.scores)
    if encode is not None and encode != "auto" and (not isinstance(encode, Mapping) or not encode):
        allowed = 'None, "auto", a mapping such as {"Yes": 1, "No": 0}, or one of these per column'
        raise ArgumentError("encode", f"must be {allowed}", encode)
    if isinstance(encode, Mapping) and not by_column(encode):
        of_columns = [key for key, entry in encode.items() if isinstance(entry, Mapping | tuple)]
        others = [key for key in encode if key not in of_columns]
        if of_columns:
            raise ArgumentError(
                "encode",
                "must speak of columns, each with a mapping or a pair of values, or of values, each with a number",
                encode,
                f"It says what the values of column {of_columns[0]!r} mean, but gives {encode[others[0]]!r} to "
                f"{others[0]!r}.",
            )
    if encode is not None and stated.binarize is not None and not isinstance(stated.binarize, Mapping):
        raise DataError(
            f"{setting('encode', *(['auto'] if encode == 'auto' else []))} and {setting('binarize')} must not be "
            f"combined, unless {setting('binarize')} names columns."
        )


def _covariate_kind(spec: ColumnSpec) -> str | None:
    """Return the kind of a covariate; where nothing is said, numbers are numbers and texts have no order."""
    is_stated = spec.known_kind is not None or spec.cut is not None or spec.encode.by_name
    if is_stated or all(map(is_bit, spec.values)):
        return spec.kind
    return "continuous" if len(spec.values) > 2 and all(map(is_number, spec.values)) else "nominal"


def _list_statements(encode: Encode, source: Source) -> list[Statement]:
    """Return what `encode` says about each column; words are read as the cells of the column are."""
    by_key = dict(encode) if by_column(encode) else {None: encode}
    others = by_key.pop(None, None)  # what holds for columns that are not named
    named, decimal = source.locate(by_key, "encode"), source.decimal or "."
    statements = []
    for j in range(source.shape[1]):
        numbers = named.get(j, others)
        if not isinstance(numbers, Mapping):
            statements.append(Statement(is_auto=numbers == "auto"))
            continue
        if source.column(j).declared is None:
            numbers = {read_cell(word, decimal) if isinstance(word, str) else word: n for word, n in numbers.items()}
        statements.append(Statement(numbers, by_name=j in named))
    return statements


def _list_cuts(binarize: Binarize, source: Source) -> dict[int, Cut]:
    """Return the thresholds of columns."""
    if binarize is not None and not isinstance(binarize, Mapping):
        binarize = dict.fromkeys(range(source.shape[1]), binarize)
    thresholds = source.locate(binarize or {}, "binarize")
    for threshold in thresholds.values():
        if isinstance(threshold, bool | np.bool_) or not is_finite(threshold):
            raise ArgumentError("binarize", "must be None or a finite number", threshold)
    return {j: Cut(float(threshold)) for j, threshold in thresholds.items()}


def _implied_kind(scores: Value) -> str | None:
    """Return the kind of a column that has these scores."""
    if scores is None:
        return None
    return "continuous" if isinstance(scores, str) and scores == "normal" else "ordinal"


def _list_kinds(stated: Kinds | None, source: Source) -> list[Value]:
    """Return a kind per column, from one word, one entry each, or a mapping of columns."""
    p = source.shape[1]
    if stated is None:
        return [None] * p
    if isinstance(stated, Mapping):
        by_place = source.locate(stated, "kinds")
        kinds = [by_place.get(j) for j in range(p)]
    elif isinstance(stated, str):
        kinds = [stated] * p
    else:
        kinds = as_ordered("kinds", stated, "must be one word, a list of one entry per column, or a mapping")
        if len(kinds) != p:
            raise ArgumentError("kinds", f"must have one entry per column ({p})", len(kinds), _remark_row_names(source))
    for kind in kinds:
        if kind is not None:
            check_word("kinds", kind, KINDS)
    return kinds


def _remark_row_names(source: Source) -> str:
    """Return which column of a file was taken for row names, a sentence or nothing."""
    name = source.layout.id_column
    if name is None:
        return ""
    return f"Column {called(name)} is taken for row names; if it is a variable, pass {setting('id_column', None)}."
