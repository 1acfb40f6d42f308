"""Warnings about columns of which nothing was stated: what they were taken for, and why some are left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from itertools import chain

from isinglass.data.meaning.advice import (
    LISTED,
    drop,
    kind_option,
    make_missing,
    remark_numbers,
    subject,
    them,
    warn_about,
)
from isinglass.data.meaning.coding import Guess
from isinglass.data.meaning.missing_guards import find_suspects, guard_codes, guard_header
from isinglass.data.meaning.recognition import are_weights, is_weight
from isinglass.data.meaning.rules import Rule, Steps
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.meaning.values import is_finite, is_number
from isinglass.errors import called, listed, setting

IDENTIFIER, WEIGHTS, DATES, NO_ANSWERS = "names rows?", "weights?", "dates", "no answers"
OTHER_TYPE, NOT_FINITE = "neither numbers nor text", "not finite"
"""Notes of columns that other modules ask for."""
_REMEDIES = {
    OTHER_TYPE: "turn its cells into one of these",
    NOT_FINITE: "make such cells missing",
}
"""What to do to keep a column that is left out, by its note; all others need a kind."""


def check_guesses(specs: Sequence[ColumnSpec], guesses: Mapping[Hashable, Guess]) -> None:
    """Warn about columns of which nothing was stated: those left out, and those that may name or weight the rows."""
    places = [guess.place for guess in guesses.values() if guess.kind is None]
    guard_header(specs, places)
    guard_codes(specs, find_suspects(specs, places))
    decimal = specs[0].source.decimal
    guard_identifiers(guesses, decimal)
    guard_left_out(guesses, decimal)
    guard_weights(specs, guesses)


def guard_measured(columns: Mapping[Hashable, Rule]) -> None:
    """Columns that were read as numbers because they can be nothing else."""
    labels = list(columns)
    grids = [f"{called(label)}: {rule.in_words}" for label, rule in columns.items() if isinstance(rule, Steps)]
    text = (
        f"{subject(labels, 'holds')} numbers and {'is' if len(labels) == 1 else 'are'} read as continuous "
        f"({listed(grids, LISTED, sep='; ')}). If this is what you want, use {kind_option('continuous', labels)}; "
        f"otherwise cut {them(labels)} ({setting('binarize', python='binarize={…: …}')}), or leave {them(labels)} "
        f"out ({drop(labels)})."
    )
    warn_about(labels, "read as a number", text)


def guard_identifiers(guesses: Mapping[Hashable, Guess], decimal: str | None) -> None:
    """Columns that probably name the rows: they have a different value in almost every one."""
    values = {label: guess.values for label, guess in guesses.items() if guess.note == IDENTIFIER}
    if not values:
        return
    labels = list(values)
    numbers = [label for label in labels if not any(isinstance(value, str) for value in values[label])]
    other = f"; if these are numbers, use {kind_option('continuous', numbers)}" if numbers else ""
    text = (
        f"{subject(labels, 'has')} a different value in almost every row: if these name the rows, leave "
        f"{them(labels)} out ({drop(labels)}){other}.{remark_numbers(chain(*values.values()), decimal)}"
    )
    warn_about(labels, IDENTIFIER, text)


def guard_left_out(guesses: Mapping[Hashable, Guess], decimal: str | None) -> None:
    """Columns that are left out, by the reason; nothing is lost with a column without answers."""
    by_note: dict[str, list[Hashable]] = defaultdict(list)
    for label, guess in guesses.items():
        by_note[guess.note].append(label)
    for note, labels in by_note.items():
        if note not in ("", IDENTIFIER, NO_ANSWERS):
            values = list(chain(*(guesses[label].values for label in labels)))
            remedy = _REMEDIES.get(note, "state its kind")
            if note == NOT_FINITE:
                remedy += f" ({make_missing(list(dict.fromkeys(value for value in values if not is_finite(value))))})"
            advice = f" To keep {'it' if len(labels) == 1 else 'one'}, {remedy}." if note != DATES else ""
            advice += remark_numbers(values, decimal)
            warn_about(labels, note, f"{subject(labels, 'is')} left out ({note.rstrip('?')}).{advice}")


def guard_weights(specs: Sequence[ColumnSpec], guesses: Mapping[Hashable, Guess]) -> None:
    """Columns of numbers that are called like row weights or counts and have the values of such."""
    labels = [
        label
        for label, guess in guesses.items()
        if is_weight(label)
        and (guess.kind in ("ordinal", "continuous") or guess.note == IDENTIFIER)
        and all(map(is_number, guess.values))
        and are_weights(label, specs[guess.place].numbers)
    ]
    is_battery = len({str(label).rstrip("0123456789") for label in labels}) < len(labels)  # w1, w2, w3
    if not labels or is_battery:
        return
    is_file, variable = specs[0].source.is_file, f"use {kind_option('continuous', labels)}"
    use = f"use {setting('weights', labels[0])}"
    if not is_file:
        use = f"pass it as sample_weight and leave it out ({drop(labels)})"
    asked = f"if it counts or weights the rows, {use}; if it is a variable, {variable}."
    if len(labels) > 1:
        use = f"use one of them, such as {setting('weights', labels[0])}, and leave the others out ({drop(labels[1:])})"
        if not is_file:
            use = f"pass one of them as sample_weight and leave all of them out ({drop(labels)})"
        asked = f"if they are, {use}; if they are variables, {variable}."
    warn_about(labels, WEIGHTS, f"{subject(labels, 'looks')} like row weights: {asked}")
