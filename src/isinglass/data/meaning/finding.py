"""The first reading of a table: the coding that options and values give, and guesses about columns without any."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from isinglass.data.meaning.coding import Coding, Guess, Layout
from isinglass.data.meaning.find_rules import find_rules
from isinglass.data.meaning.guards import DATES, IDENTIFIER, NO_ANSWERS, NOT_FINITE, OTHER_TYPE, check_guesses
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
from isinglass.data.meaning.specify import specify
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.meaning.values import Value, is_bit, is_finite, is_number
from isinglass.data.options import ValueOptions
from isinglass.data.source import Source
from isinglass.errors import DataError

MIXED, TOO_MANY = "text and numbers", "too many values"
LEAST_ROWS = 5  # per category, on average, of a text column with many categories that is guessed to be nominal


@dataclass(frozen=True, eq=False)
class Finding:
    """The coding of a first reading, and what checks of its meaning ask about."""

    coding: Coding
    specs: Sequence[ColumnSpec]  # of its columns
    levels: Sequence[int]  # those of them that have categories, as the user says or the source declares
    guesses: Mapping[Hashable, Guess]  # about all columns, left out ones included


def find_coding(source: Source, stated: ValueOptions) -> Finding:
    """Return how a table is to be read: by what is stated, and what its columns show."""
    specs = specify(source, stated)
    guesses = guess_kinds(specs) if stated.guess else {}
    if guesses:
        specs = _keep_guessed(specs, guesses)
    rules, levels = find_rules(specs, drops_rows=stated.missing == "drop")
    covariate = tuple(spec.is_covariate for spec in specs) if stated.covariates else ()
    places = [spec.place for spec in specs]
    names = None if source.names is None else tuple(source.names[j] for j in places)
    coding = Coding(names, tuple(rules), stated.missing, covariate, _lay_out(source, places))
    return Finding(coding, specs, levels, guesses)


def _lay_out(source: Source, places: Sequence[int]) -> Layout:
    """Return the layout of the columns of a source at some places."""
    origin, called = source.origin, source.layout.names
    numbers = tuple(origin.places[j] for j in places)
    are_all = numbers == tuple(range(origin.width))
    return replace(
        source.layout,
        numbers=None if are_all else numbers,
        width=None if are_all else origin.width,
        names=called and tuple(called[j] for j in places),
    )


def _keep_guessed(specs: list[ColumnSpec], guesses: Mapping[Hashable, Guess]) -> list[ColumnSpec]:
    """Return the columns that are kept, with the kinds that were stated or are guessed; warn about the others."""
    guessed = [replace(spec, kind=guesses[spec.label].kind) if spec.label in guesses else spec for spec in specs]
    kept = [spec for spec in guessed if spec.kind is not None or spec.label not in guesses]
    if not kept:
        told = "in this table every column seems to name its rows or to be empty"
        raise DataError(f"A network needs at least two columns; {told}. State the kinds of those that are variables.")
    check_guesses(specs, guesses)
    return kept


def guess_kinds(specs: Sequence[ColumnSpec]) -> dict[Hashable, Guess]:
    """Return a guess for every column that would be refused because nothing was stated about it, by its label."""
    guesses = {}
    for j, spec in enumerate(specs):
        if spec.kind or spec.encode.by_name or spec.cut is not None or spec.source_kind:
            continue
        values = spec.values
        clear = spec.encode.is_auto and (len(values) < 2 or (len(values) == 2 and not is_unclear(values)))
        if not values:
            guesses[spec.label] = Guess(j, None, NO_ANSWERS, (), spec.source.shape[0])
        elif not (spec.is_encoded or clear or all(map(is_bit, values))):
            column = spec.column
            n_missing = sum(cell is None for cell in column.entries.tolist())
            has_order = column.categories is not None and not any(
                isinstance(code, str) for code in spec.category_labels or ()
            )
            n_rows = spec.source.shape[0]
            note = _why_left_out(values, n_rows, spec.source.decimal)
            kind = None if note else _guess_kind(values, has_order, n_rows)
            if kind == "continuous" and is_identifier(spec.label):
                kind, note = None, "identifier?"
            guesses[spec.label] = Guess(j, kind, note, tuple(values), n_missing)
    return _spare_numbers(guesses, specs)


def _spare_numbers(guesses: dict[Hashable, Guess], specs: Sequence[ColumnSpec]) -> dict[Hashable, Guess]:
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
