"""Guesses about columns of which nothing is stated: their kinds, and why some are left out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from isinglass.data.meaning.recognition import (
    DISTINCT_SHARE,
    MANY_LEVELS,
    amounts,
    are_dates,
    differ_in_rows,
    has_too_many,
    is_identifier,
    is_unclear,
    missing_codes,
    no_answers,
    other_decimal,
)
from isinglass.data.meaning.scores import steps_of
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.meaning.values import Value, is_bit, is_finite, is_number
from isinglass.errors import DataError

IDENTIFIER, DATES, NO_ANSWERS, MIXED = "names rows?", "dates", "no answers", "text and numbers"
OTHER_TYPE, NOT_FINITE, TOO_MANY = "neither numbers nor text", "not finite", "too many values"
"""Notes: why columns are left out."""
LEAST_ROWS = 5  # per category, on average, of a text column with many categories that is guessed to be nominal


@dataclass(frozen=True)
class Guess:
    """A column about which nothing was stated, and which is not 0 and 1."""

    place: int  # among the columns, left out ones included
    kind: str | None  # what it is taken for; None: it is left out
    note: str  # why it is left out
    values: tuple[Value, ...]  # that occur
    n_missing: int


def guess_kinds(specs: Sequence[ColumnSpec]) -> dict[Hashable, Guess]:
    """Return a guess for every column that would be refused because nothing was stated about it, by its label."""
    guesses = {spec.label: _guess(j, spec) for j, spec in enumerate(specs) if _is_open(spec)}
    return _keep_measurements(guesses, specs)


def _is_open(spec: ColumnSpec) -> bool:
    """Tell whether nothing says what the values of a column mean, which are not 0 and 1."""
    if spec.kind or spec.encode.by_name or spec.cut is not None or spec.source_kind:
        return False
    values = spec.values
    if not values:
        return True
    is_pair = len(values) < 2 or (len(values) == 2 and not is_unclear(values))
    return not (spec.is_encoded or (spec.encode.is_auto and is_pair) or all(map(is_bit, values)))


def _guess(place: int, spec: ColumnSpec) -> Guess:
    """Return the kind of a column, or why it is left out, by its values alone."""
    column, values, n_rows = spec.column, spec.values, spec.source.shape[0]
    note = _why_left_out(values, n_rows, spec.source.decimal)
    kind = None
    if not note:
        has_order = column.categories is not None and not any(isinstance(code, str) for code in spec.category_labels)
        kind = _guess_kind(values, has_order, n_rows)
        if kind == "continuous" and is_identifier(spec.label):
            kind, note = None, "identifier?"
    n_missing = sum(cell is None for cell in column.entries.tolist())
    return Guess(place, kind, note, tuple(values), n_missing)


def _keep_measurements(guesses: dict[Hashable, Guess], specs: Sequence[ColumnSpec]) -> dict[Hashable, Guess]:
    """Take columns of different whole numbers for measurements, unless there is more reason to see names in them.

    In a short table, amounts differ in every row as well. Numbers that name rows ascend from row to row, have the name
    of an identifier, or take all values of a range in this column alone; columns that all do are ranks. None do where
    no other column would be left.
    """
    whole = {
        label: guess
        for label, guess in guesses.items()
        if guess.note == IDENTIFIER and all(is_number(value) and abs(value) < 2**53 for value in guess.values)
    }
    ranges = [label for label, guess in whole.items() if np.ptp(guess.values) < len(guess.values) / DISTINCT_SHARE]
    nothing_else = len(guesses) == len(specs) and not any(guess.kind for guess in guesses.values())
    for label, guess in whole.items():
        ascends = bool((np.diff(specs[guess.place].numbers) > 0).all())
        is_name = ascends or ranges == [label] or is_identifier(label, has_many_values=True)
        if nothing_else or not is_name:
            guesses[label] = replace(guess, kind="continuous", note="")
    return guesses


def _why_left_out(values: list[Value], n_rows: int, decimal: str | None) -> str:
    """Return why a column of these values is left out, or nothing."""
    if not values:
        return NO_ANSWERS
    words = [value for value in values if isinstance(value, str)]
    if are_dates(values):
        return DATES
    if not all(isinstance(value, str) or is_number(value) for value in values):
        return OTHER_TYPE
    if not words and not all(map(is_finite, values)):
        return NOT_FINITE
    are_mixed = 0 < len(words) < len(values)
    answers = set(words).difference(no_answers(words))
    if answers and len(values) > 2 and answers.issubset(amounts(words, decimal)):
        return MIXED if are_mixed else "numbers as text"
    if has_too_many(len(values), n_rows):
        if differ_in_rows(len(values), n_rows) and (words or all(float(value).is_integer() for value in values)):
            return IDENTIFIER
        return TOO_MANY if words else ""
    # 0, 1, 2, 3+ are categories, but not 0, 1, 2, *
    if are_mixed and (len(values) > MANY_LEVELS or no_answers(values) or other_decimal(words, decimal)):
        return MIXED
    has_few_rows = len(values) > MANY_LEVELS and len(values) * LEAST_ROWS > n_rows
    return TOO_MANY if words and has_few_rows else ""


def _guess_kind(values: list[Value], has_order: bool, n_rows: int) -> str:
    """Return what a column of these values is taken for, unless it is left out."""
    if any(isinstance(value, str) for value in values):
        return "ordinal" if has_order and len(values) > 2 else "nominal"
    return "continuous" if has_too_many(len(values), n_rows) else _guess_numbers(values)


def _guess_numbers(values: list[Value]) -> str:
    """Return the kind of a few numbers: ordinal if they are a few equal steps apart, without codes for no answer."""
    try:
        with np.errstate(all="ignore"):
            steps_of(sorted(values), "")
    except (DataError, OverflowError, ValueError):
        return "continuous"
    answers = steps_of(sorted(set(values) - set(missing_codes(values)[0])), "")
    return "continuous" if answers[-1] >= MANY_LEVELS else "ordinal"
