"""Guesses about columns of which nothing is stated: their kinds, and why some are left out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from isinglass.data.meaning import recognition
from isinglass.data.meaning.coding import Guess
from isinglass.data.meaning.scores import steps_of
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.meaning.values import is_bit, is_finite, is_number
from isinglass.errors import DataError

IDENTIFIER, DATES, NO_ANSWERS, MIXED = "names rows?", "dates", "no answers", "text and numbers"
OTHER_TYPE, NOT_FINITE, TOO_MANY = "neither numbers nor text", "not finite", "too many values"
AMOUNTS = "numbers as text"
"""Notes: why columns are left out."""
LEAST_ROWS = 5  # per category, on average, of a text column with many categories that is guessed to be nominal


def guess_kinds(specs: Sequence[ColumnSpec]) -> dict[Hashable, Guess]:
    """Return a guess for every column that would be refused because nothing was stated about it, by its label."""
    return {spec.label: _guess(j, spec) for j, spec in enumerate(specs) if spec.is_open and not _is_clear(spec)}


def _is_clear(spec: ColumnSpec) -> bool:
    """Tell whether a column has 0 and 1, or two values whose order is to be found."""
    values = spec.values
    is_pair = len(values) < 2 or (len(values) == 2 and not recognition.is_unclear(values))
    return bool(values) and (all(map(is_bit, values)) or (spec.encode.is_auto and is_pair))


def _guess(place: int, spec: ColumnSpec) -> Guess:
    """Return the kind of a column, or why it is left out."""
    note = _why_left_out(spec)
    n_missing = sum(cell is None for cell in spec.column.entries.tolist())
    return Guess(place, None if note else _guess_kind(spec), note, tuple(spec.values), n_missing)


def _why_left_out(spec: ColumnSpec) -> str:
    """Return why a column is left out, or nothing."""
    values, n_rows = spec.values, spec.source.shape[0]
    words = [value for value in values if isinstance(value, str)]
    if not values:
        return NO_ANSWERS
    if recognition.are_dates(values):
        return DATES
    if not all(isinstance(value, str) or is_number(value) for value in values):
        return OTHER_TYPE
    if not words:
        if not all(map(is_finite, values)):
            return NOT_FINITE
        return IDENTIFIER if _names_rows(spec) else ""
    answers = set(words).difference(recognition.no_answers(words))
    written, are_mixed = recognition.amounts(words, spec.source.decimal), len(words) < len(values)
    if answers and len(values) > 2 and answers.issubset(written):
        return MIXED if are_mixed else AMOUNTS
    if recognition.differ_in_rows(len(values), n_rows) and recognition.has_too_many(len(values), n_rows):
        return IDENTIFIER
    # 0, 1, 2, 3+ are categories, but not 0, 1, 2, *
    if are_mixed and (len(values) > recognition.MANY_LEVELS or recognition.no_answers(values) or written):
        return MIXED
    has_few_rows = len(values) > recognition.MANY_LEVELS and len(values) * LEAST_ROWS > n_rows
    return TOO_MANY if has_few_rows or recognition.has_too_many(len(values), n_rows) else ""


def _names_rows(spec: ColumnSpec) -> bool:
    """Tell whether numbers are names of rows: many in a column called so, or different whole numbers that ascend.

    In a short table, amounts differ in every row as well.
    """
    values, n_rows = spec.values, spec.source.shape[0]
    if not all(float(value).is_integer() for value in values):
        return False
    differ = recognition.has_too_many(len(values), n_rows) and recognition.differ_in_rows(len(values), n_rows)
    is_called_so = (
        recognition.is_identifier(spec.label, has_many_values=differ) and len(values) > recognition.MANY_LEVELS
    )
    return is_called_so or (differ and bool((np.diff(spec.numbers) > 0).all()))


def _guess_kind(spec: ColumnSpec) -> str:
    """Return what a column is taken for: numbers a few equal steps apart are ordered, without codes for no answer."""
    values, column = spec.values, spec.column
    if any(isinstance(value, str) for value in values):
        has_order = column.categories is not None and not any(isinstance(code, str) for code in spec.category_labels)
        return "ordinal" if has_order and len(values) > 2 else "nominal"
    if recognition.has_too_many(len(values), spec.source.shape[0]):
        return "continuous"
    try:
        with np.errstate(all="ignore"):
            steps_of(sorted(values), "")
            steps = steps_of(sorted(set(values) - set(recognition.missing_codes(values))), "")
    except (DataError, OverflowError, ValueError):
        return "continuous"
    return "continuous" if steps[-1] >= recognition.MANY_LEVELS else "ordinal"
