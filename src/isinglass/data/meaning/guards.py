"""Warnings about columns that probably do not mean what they seem to.

A guard is a function that checks columns by one rule, which its docstring states. Its warning names the columns, what
makes them doubtful, and the option to use. Nothing is changed here. Some guards look at columns with categories, some
at those of which nothing was stated, and some at both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from isinglass.data.meaning.advice import (
    DROP,
    LISTED,
    MERGE,
    SHOWN,
    drop,
    kind_option,
    make_missing,
    one_of,
    option_keys,
    say_missing,
    say_of_all,
    show_coded,
    subject,
    them,
    warn_about,
)
from isinglass.data.meaning.guessing import DATES, IDENTIFIER, NO_ANSWERS, NOT_FINITE, OTHER_TYPE, Guess
from isinglass.data.meaning.recognition import (
    FEWEST_ITEMS,
    MANY_LEVELS,
    MOST_ROWS,
    ROWS_TO_JUDGE,
    are_dates,
    are_weights,
    is_weight,
    reversed_items,
    scale_of,
    suspected_answers,
)
from isinglass.data.meaning.remarks import is_below_name, remark_header, remark_numbers
from isinglass.data.meaning.rules import Codes, Levels, Rule, Steps
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.meaning.values import Value, is_finite, is_number, show_values
from isinglass.errors import called, listed, plural, setting

FEW_ROWS = 5
"""Rows below which the couplings of a category cannot be estimated reliably."""
MOST_ITEMS = 300
"""Ordered columns up to which reversed items are looked for."""
SKEWNESS = 2.0
"""Skewness beyond which normal scores of a continuous column are worth a thought; an exponential one has 2."""
WEIGHTS = "weights?"
"""Note of columns that other modules ask for."""
_REMEDIES = {
    OTHER_TYPE: "turn its cells into one of these",
    NOT_FINITE: "make such cells missing",
}
"""What to do to keep a column that is left out, by its note; all others need a kind."""


class CodedColumn(NamedTuple):
    """A column with categories, as a guard sees it."""

    label: Hashable  # as options call it
    rule: Rule
    codes: Codes
    suspected: Collection[Value]  # values that probably stand for a missing answer


def check_meaning(specs: Sequence[ColumnSpec], rules: Mapping[int, Rule], codes: Codes) -> None:
    """Warn about the columns of a table that have categories: their rules, the values that occur, and all cells."""
    guard_header(specs, rules)
    suspects = find_suspects(specs, rules)
    guard_codes(specs, suspects)
    if len(codes) >= ROWS_TO_JUDGE:
        columns = [CodedColumn(specs[j].label, rule, codes[:, j], suspects.get(j, ())) for j, rule in rules.items()]
        for guard in (guard_spans, guard_dates, guard_spellings, guard_rare, guard_tails, guard_directions):
            guard(columns)


def check_guesses(specs: Sequence[ColumnSpec], guesses: Mapping[Hashable, Guess]) -> None:
    """Warn about columns of which nothing was stated: those left out, and those that may name or weight the rows."""
    places = [guess.place for guess in guesses.values() if guess.kind is None]
    guard_header(specs, places)
    guard_codes(specs, find_suspects(specs, places))
    decimal = specs[0].source.decimal
    guard_identifiers(guesses, decimal)
    guard_left_out(guesses, decimal)
    guard_weights(specs, guesses)


def find_suspects(specs: Sequence[ColumnSpec], places: Iterable[int]) -> dict[int, tuple[Value, ...]]:
    """Return the values in some columns that probably stand for a missing answer, by column."""
    columns = [j for j in places if not is_below_name(specs[j].source, specs[j].place)]
    return suspected_answers({j: specs[j].kept_values for j in columns}, {j: specs[j].column.labels for j in columns})


def guard_header(specs: Sequence[ColumnSpec], places: Iterable[int]) -> None:
    """Columns of a file without a header whose only text is in the first row."""
    columns = [j for j in places if is_below_name(specs[j].source, specs[j].place)]
    if columns:
        labels = [specs[j].label for j in columns]
        texts = show_values((specs[j].column.entries[0] for j in columns), SHOWN)
        text = f"{subject(labels, 'has')} text in the first row only ({texts}).{remark_header()}"
        warn_about(labels, "header?", text)


def guard_codes(specs: Sequence[ColumnSpec], suspects: Mapping[int, tuple[Value, ...]]) -> None:
    """Values that probably stand for a missing answer; columns with the same ones share a warning.

    The advice names the columns where another column has the same value as an answer.
    """
    if not suspects:
        return
    values_of = {j: spec.values for j, spec in enumerate(specs)}
    for codes in dict.fromkeys(suspects.values()):
        columns = [j for j, values in suspects.items() if values == codes]
        remedy = say_missing(codes, columns, [spec.label for spec in specs], values_of, suspects)
        others = dict.fromkeys(value for j in columns for value in specs[j].kept_values if value not in codes)
        labels = [specs[j].label for j in columns]
        shown = show_coded(codes, specs[columns[0]].column.labels)
        text = (
            f"{subject(labels, 'has')} {shown} besides {show_values(others)}. If "
            f"{'it stands' if len(codes) == 1 else 'they stand'} for a missing answer, use {remedy}."
        )
        warn_about(labels, f"{show_values(codes, 3)} missing?", text)


def guard_spans(columns: Sequence[CodedColumn]) -> None:
    """Ordered categories that are many steps apart: they may be numbers."""
    wide: dict[Hashable, float] = {}
    for label, rule, _, suspected in columns:
        if rule.kind == "ordinal":
            scores = zip(rule.values, rule.scores or (), strict=True)
            span = np.ptp([score for value, score in scores if value not in suspected] or [0.0])
            wide |= {label: span} if span >= MANY_LEVELS else {}
    if wide:
        labels = list(wide)
        text = (
            f"{subject(labels, 'has')} ordered values that are up to {max(wide.values()):.0f} steps apart. Couplings "
            f"are per step, so these look small. If the values are numbers, use {kind_option('continuous', labels)}, "
            f"and couplings are per standard deviation; if they name something, leave them out ({drop(labels)})."
        )
        warn_about(labels, "a number?", text)


def guard_dates(columns: Sequence[CodedColumn]) -> None:
    """Categories that are all dates."""
    labels = [column.label for column in columns if are_dates(column.rule.values)]
    if labels:
        warn_about(labels, "dates", f"{subject(labels, 'holds')} dates: leave them out ({drop(labels)}).")


def guard_spellings(columns: Sequence[CodedColumn]) -> None:
    """Categories that differ in case or blanks only; a warning for each column."""
    for label, rule, _, _ in columns:
        spellings: dict[str, dict[int, str]] = defaultdict(dict)
        for word, code in rule.entries.items() if isinstance(rule, Levels) else ():
            if isinstance(word, str):
                spellings[" ".join(word.casefold().split())][code] = word
        apart = next((words for words in spellings.values() if len(words) > 1), None)
        if apart is not None:
            alike = f"{subject([label], 'has')} {show_values(apart.values())}, which differ only in case or blanks."
            warn_about([label], "spellings", f"{alike} If they are one answer, {MERGE}.")


def guard_rare(columns: Sequence[CodedColumn]) -> None:
    """Categories of few rows, unless they probably stand for a missing answer."""
    rare: dict[Hashable, list[str]] = defaultdict(list)
    for label, rule, codes, suspected in columns:
        if isinstance(rule, Levels) and rule.n_categories > 2:
            counts = np.bincount(codes[codes >= 0], minlength=rule.n_categories).tolist()
            for value, count in zip(rule.values, counts, strict=True):
                if 0 < count < FEW_ROWS and value not in suspected:
                    rare[label].append(f"{value!r} of column {called(label)} ({plural(count, 'row')})")
    if rare:
        text = (
            f"Some categories have fewer than {FEW_ROWS} rows: {listed(list(chain(*rare.values())), LISTED)}. Their "
            f"couplings cannot be estimated reliably. To merge categories, {MERGE}; or leave the column out ({DROP})."
        )
        warn_about(rare, "rare category", text)


def guard_tails(columns: Sequence[CodedColumn]) -> None:
    """Numbers with a long tail, by the skewness of their steps: couplings can hardly be linear in them."""
    labels = []
    for label, rule, codes, _ in columns:
        if isinstance(rule, Steps) and not rule.is_normal:
            cells = codes[codes >= 0].astype(np.float64)
            away = cells - cells.mean()
            if abs((away**3).mean()) > SKEWNESS * (away**2).mean() ** 1.5:
                labels.append(label)
    if labels:
        scores = setting("normal_scores", labels, python=say_of_all("scores", labels, "normal"))
        text = (
            f"{subject(labels, 'has')} a long tail, and couplings are linear in the values. Take logarithms first, or "
            f"use ranks instead with {scores}."
        )
        warn_about(labels, "long tail", text)


def guard_directions(columns: Sequence[CodedColumn]) -> None:
    """Ordered columns that are negatively correlated with the others of their battery.

    A battery is a scale, columns whose names differ in a number at the end; or all columns, if there is no scale.
    """
    items = {column.label: column.codes for column in columns if column.rule.kind == "ordinal"}
    if not FEWEST_ITEMS <= len(items) <= MOST_ITEMS:
        return
    scales: dict[str, list[Hashable]] = defaultdict(list)
    for label in items:
        scales[scale_of(label)].append(label)
    batteries = [scale for scale in scales.values() if len(scale) >= FEWEST_ITEMS] or [list(items)]
    some = slice(None, None, max(1, len(columns[0].codes) // MOST_ROWS))
    turned = [scale[k] for scale in batteries for k in reversed_items(np.stack([items[name][some] for name in scale]))]
    if turned:
        text = (
            f"{subject(turned, 'runs')} against the direction of the others: if the wording is reversed, recode "
            f"{them(turned)} with {setting('reverse', option_keys(turned))}."
        )
        warn_about(turned, "reversed?", text)


def guard_measured(columns: Mapping[Hashable, Rule]) -> None:
    """Columns that were read as numbers because they can be nothing else."""
    labels = list(columns)
    grids = [f"{called(label)}: {rule.in_words}" for label, rule in columns.items() if isinstance(rule, Steps)]
    if labels:
        text = (
            f"{subject(labels, 'holds')} numbers, read as continuous ({listed(grids, LISTED, sep='; ')}). If this is "
            f"what you want, use {kind_option('continuous', labels)}; otherwise cut {them(labels)} "
            f"({setting('binarize', python='binarize={…: …}')}), or leave {them(labels)} out ({drop(labels)})."
        )
        warn_about(labels, "read as a number", text)


def guard_identifiers(guesses: Mapping[Hashable, Guess], decimal: str | None) -> None:
    """Columns that probably name the rows: they have a different value in almost every one."""
    values = {label: guess.values for label, guess in guesses.items() if guess.note == IDENTIFIER}
    if not values:
        return
    labels = list(values)
    numbers = [label for label in labels if not any(isinstance(value, str) for value in values[label])]
    keep = f"use {kind_option('continuous', numbers)} for numbers" if numbers else "merge its values"
    text = (
        f"{subject(labels, 'has')} a different value in almost every row, and a guess leaves {them(labels)} out as "
        f"names of rows. To keep {one_of(labels)}, {keep}; without a guess, leave {them(labels)} out yourself "
        f"({drop(labels)}).{remark_numbers(chain(*values.values()), decimal)}"
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
            advice = f" To keep {one_of(labels)}, {remedy}." if note != DATES else ""
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
    is_battery = len({scale_of(label) for label in labels}) < len(labels)  # w1, w2, w3
    if not labels or is_battery:
        return
    use = f"pass {one_of(labels)} as sample_weight and leave {them(labels)} out ({drop(labels)})"
    if specs[0].source.is_file:
        others = f" and leave the others out ({drop(labels[1:])})" if labels[1:] else ""
        use = f"use {setting('weights', labels[0])}{others}"
    text = (
        f"{subject(labels, 'looks')} like row weights: if {one_of(labels)} counts or weights the rows, {use}; if it is "
        f"a variable, use {kind_option('continuous', labels)}."
    )
    warn_about(labels, WEIGHTS, text)
