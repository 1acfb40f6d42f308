"""Warnings about columns with categories that probably do not mean what they seem to.

A guard is a function that checks all columns of a first reading by one rule, which its docstring states. Its warning
names the columns, what makes them doubtful, and the option to use. Nothing is changed here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from isinglass.data.meaning.advice import (
    DROP,
    LISTED,
    MERGE,
    drop,
    kind_option,
    option_keys,
    say_of_all,
    subject,
    them,
    warn_about,
)
from isinglass.data.meaning.missing_guards import find_suspects, guard_codes, guard_header
from isinglass.data.meaning.recognition import FEWEST_ITEMS, MANY_LEVELS, ROWS_TO_JUDGE, are_dates, reversed_items
from isinglass.data.meaning.rules import Codes, Levels, Rule, Steps
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.meaning.values import Value, show_values
from isinglass.errors import called, listed, plural, setting

FEW_ROWS = 5
"""Rows below which the couplings of a category cannot be estimated reliably."""
MOST_ITEMS, MOST_ROWS = 300, 20_000
"""Ordered columns up to which reversed items are looked for, and rows that are enough for it."""
SKEWNESS = 2.0
"""Skewness beyond which normal scores of a continuous column are worth a thought; an exponential one has 2."""


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
        scales[str(label).rstrip("0123456789")].append(label)
    batteries = [scale for scale in scales.values() if len(scale) >= FEWEST_ITEMS] or [list(items)]
    some = slice(None, None, max(1, len(columns[0].codes) // MOST_ROWS))
    turned = [scale[k] for scale in batteries for k in reversed_items(np.stack([items[name][some] for name in scale]))]
    if turned:
        text = (
            f"{subject(turned, 'runs')} against the direction of the others: if the wording is reversed, recode "
            f"{them(turned)} with {setting('reverse', option_keys(turned))}."
        )
        warn_about(turned, "reversed?", text)
