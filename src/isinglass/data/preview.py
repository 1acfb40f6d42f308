"""What the columns of a file probably are, for a look at it before anything is stated."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from isinglass.data.coding import Guess, Value, is_bit, is_number
from isinglass.data.guards import DISTINCT_SHARE, ID, IDENTIFIER, MANY_LEVELS, ROW_NAME, are_dates, missing_codes
from isinglass.data.rules import ColumnSpec, has_too_many, is_unclear, steps_of
from isinglass.errors import DataError


def guess_kinds(specs: Sequence[ColumnSpec]) -> dict[Hashable, Guess]:
    """Return a guess for every column that would be refused because nothing was stated about it, by its label."""
    guesses = {}
    for j, spec in enumerate(specs):
        if spec.kind or spec.is_named or spec.cut is not None or spec.declared:
            continue
        values, entries = spec.values, spec.entries
        meant = isinstance(entries, Mapping) and any(value in entries for value in values)
        clear = entries == "auto" and (len(values) < 2 or (len(values) == 2 and not is_unclear(values)))
        if not (meant or clear or all(map(is_bit, values))):
            column = spec.column
            n_missing = int(column.missing.sum())
            guess = _guess(values, column.categories is not None, spec.source.shape[0])
            if guess[0] == "continuous" and ID.fullmatch(str(spec.label)):
                guess = None, "identifier?"
            guesses[spec.label] = Guess(j, *guess, tuple(values), n_missing)
    return _spare_numbers(guesses, specs)


def _spare_numbers(guesses: dict[Hashable, Guess], specs: Sequence[ColumnSpec]) -> dict[Hashable, Guess]:
    """Take columns of different whole numbers for measurements, unless there is more reason to see names in them.

    In a short table, amounts differ in every row as well. Numbers that name rows ascend from row to row, have the name
    of an identifier, or take all values of a range in this column alone; columns that all do are ranks.
    """
    whole = {
        label: guess
        for label, guess in guesses.items()
        if guess.note == IDENTIFIER and all(is_number(value) and abs(value) < 2**53 for value in guess.values)
    }
    ranges = [label for label, guess in whole.items() if np.ptp(guess.values) < len(guess.values) / DISTINCT_SHARE]
    for label, guess in whole.items():
        cells = specs[guess.place].column.entries.astype(float)
        ascends = bool((np.diff(cells[~np.isnan(cells)]) > 0).all())
        if not (ascends or ranges == [label] or ID.fullmatch(str(label)) or ROW_NAME.fullmatch(str(label))):
            guesses[label] = replace(guess, kind="continuous", note="")
    return guesses


def _guess(values: list[Value], is_labeled: bool, n_rows: int) -> tuple[str | None, str]:
    """Return what a column of these values is taken for, and if it is left out, why."""
    try:
        numbers = all(is_number(value) and math.isfinite(value) for value in values)
    except OverflowError:  # a whole number that no float holds
        numbers = False
    fraction = numbers and not all(float(value).is_integer() for value in values)
    if has_too_many(len(values), n_rows):
        if len(values) >= DISTINCT_SHARE * n_rows and not fraction:
            return None, IDENTIFIER
        return ("continuous", "") if numbers else (None, "too many values")
    if numbers:
        try:
            with np.errstate(all="ignore"):
                steps_of(sorted(values), "")
        except (DataError, OverflowError, ValueError):
            return "continuous", ""
        answers = steps_of(sorted(set(values) - set(missing_codes(values)[0])), "")
        return "continuous" if answers[-1] >= MANY_LEVELS else "ordinal", ""
    if not all(isinstance(value, str) for value in values):
        return None, "not finite" if all(map(is_number, values)) else "text and numbers"
    if are_dates(values):
        return None, "dates"
    return "ordinal" if is_labeled and len(values) > 2 else "nominal", ""
