"""Warnings about values and columns that probably do not mean what they seem to.

A guard is a function that checks all columns of a first reading by one rule, which its docstring states. Its warning
names the columns, what makes them doubtful, and the option to use. Nothing is changed here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray
from isinglass.data.meaning.advice import (
    DROP,
    LISTED,
    MERGE,
    SHOWN,
    drop,
    kind_option,
    make_missing,
    option_keys,
    remark_numbers,
    say_of_all,
)
from isinglass.data.meaning.coding import Guess
from isinglass.data.meaning.recognition import (
    FEWEST_ITEMS,
    MANY_LEVELS,
    ROWS_TO_JUDGE,
    are_dates,
    are_weights,
    is_weight,
    missing_codes,
    no_answers,
    reversed_items,
)
from isinglass.data.meaning.redundancy import dependent_columns, indicator_sets, linear_relations
from isinglass.data.meaning.rules import Codes, Levels, Rule, Steps
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.meaning.values import Value, is_number, show_values, spell_out
from isinglass.data.table import Table
from isinglass.errors import MeaningWarning, called, listed, setting, warn

FEW_ROWS = 5
"""Rows below which the couplings of a category cannot be estimated reliably."""
MOST_ITEMS, MOST_ROWS = 300, 20_000
"""Ordered columns up to which reversed items are looked for, and rows that are enough for it."""
SKEWNESS = 2.0
"""Skewness beyond which normal scores of a continuous column are worth a thought; an exponential one has 2."""
IDENTIFIER, WEIGHTS, DATES, NO_ANSWERS = "names rows?", "weights?", "dates", "no answers"
OTHER_TYPE = "neither numbers nor text"
"""Notes of columns that other modules ask for."""
_PLURAL = {"has": "have", "holds": "hold", "is": "are", "looks": "look", "runs": "run"}


class CodedColumn(NamedTuple):
    """A column with categories, as a guard sees it."""

    label: Hashable  # as options call it
    rule: Rule
    codes: Codes
    suspected: Collection[Value]  # values that probably stand for a missing answer


def check_guesses(specs: Sequence[ColumnSpec], guesses: Mapping[Hashable, Guess]) -> None:
    """Warn about columns of which nothing was stated: those left out, and those that may name or weight the rows."""
    places = [guess.place for guess in guesses.values() if guess.kind is None]
    guard_codes(specs, find_suspects(specs, places))
    decimal = specs[0].source.decimal
    guard_identifiers(guesses, decimal)
    guard_left_out(guesses, decimal)
    guard_weights(specs, guesses)


def check_meaning(specs: Sequence[ColumnSpec], rules: Mapping[int, Rule], codes: Codes) -> None:
    """Warn about the columns of a table that have categories: their rules, the values that occur, and all cells."""
    suspects = find_suspects(specs, rules)
    guard_codes(specs, suspects)
    if len(codes) >= ROWS_TO_JUDGE:
        columns = [CodedColumn(specs[j].label, rule, codes[:, j], suspects.get(j, ())) for j, rule in rules.items()]
        for guard in (guard_spans, guard_dates, guard_spellings, guard_rare, guard_tails, guard_directions):
            guard(columns)


def check_columns(table: Table, labels: Sequence[Hashable], *, are_combined: bool = False) -> None:
    """Warn about sets of indicator columns, unless they are combined, and about columns that determine each other.

    ``labels`` are what options call the columns.
    """
    if len(table) >= ROWS_TO_JUDGE:
        codes, variables = table.codes, table.variables
        is_binary = np.array([kind == "binary" for kind in variables.kinds])
        if not are_combined:
            sets = indicator_sets(codes, is_binary, variables.names if variables.named else None)
            guard_indicators(_label(sets, labels))
        guard_copies(_label(dependent_columns(codes, is_binary, table.holes), labels))


def check_sums(table: Table, specs: Sequence[ColumnSpec]) -> None:
    """Warn about columns that can be computed from others, such as the total of some items.

    Relations between binary columns are those of indicators, which have a warning of their own.
    """
    variables, n_rows = table.variables, len(table)
    kinds = np.array(variables.kinds)
    columns = np.flatnonzero((kinds != "nominal") & variables.is_modeled)
    if n_rows >= ROWS_TO_JUDGE and len(columns) <= MOST_ITEMS and (kinds[columns] != "binary").any():
        rows = np.unique(np.linspace(0, n_rows - 1, MOST_ROWS).astype(np.intp))
        found = [columns[group].tolist() for group in linear_relations(_numbers(table, specs, columns, rows))]
        sums = [group for group in found if (kinds[group] != "binary").any()]
        guard_sums(_label(sums, [spec.label for spec in specs]))


def _numbers(
    table: Table, specs: Sequence[ColumnSpec], columns: NDArray[np.intp], rows: NDArray[np.intp]
) -> FloatArray:
    """Return the numbers of columns on a grid and the scores of others, NaN for missing cells."""
    in_source, factors = rows if table.rows is None else table.rows[rows], table.variables.split(table.variables.factor)
    numbers = np.empty((len(rows), len(columns)))
    for k, j in enumerate(columns.tolist()):
        rule, spec = table.coding.columns[j], specs[j]
        if isinstance(rule, Steps) and not rule.is_normal:
            numbers[:, k] = spec.source.column(spec.place).numbers(in_source)
        else:
            numbers[:, k] = factors[j][table.codes[rows, j]]
    if table.gone is not None:
        numbers[table.gone[np.ix_(rows, columns)]] = np.nan
    return numbers


def _label(groups: Iterable[Sequence[int]], labels: Sequence[Hashable]) -> list[list[Hashable]]:
    """Return groups of columns as options call them."""
    return [[labels[j] for j in group] for group in groups]


def _warn(labels: Iterable[Hashable], note: str, text: str) -> None:
    warn(MeaningWarning(text, tuple(labels), note))


def _subject(labels: Collection[Hashable], verb: str) -> str:
    """Return columns and a verb, the beginning of a sentence: "2 columns ('a', 'b') have"."""
    shown = listed(list(map(called, labels)), LISTED)
    return f"Column {shown} {verb}" if len(labels) == 1 else f"{len(labels)} columns ({shown}) {_PLURAL[verb]}"


def _them(labels: Collection[Hashable]) -> str:
    return "it" if len(labels) == 1 else "them"


# Guards of columns of which nothing was stated.


def guard_measured(columns: Mapping[Hashable, Rule]) -> None:
    """Columns that were read as numbers because they can be nothing else."""
    labels = list(columns)
    grids = [f"{called(label)}: {rule.in_words}" for label, rule in columns.items() if isinstance(rule, Steps)]
    text = (
        f"{_subject(labels, 'holds')} numbers and {'is' if len(labels) == 1 else 'are'} read as continuous "
        f"({listed(grids, LISTED, sep='; ')}). If this is what you want, pass {kind_option('continuous', labels)}; "
        f"otherwise cut {_them(labels)} ({setting('binarize', python='binarize={…: …}')}), or leave {_them(labels)} "
        f"out ({drop(labels)})."
    )
    _warn(labels, "read as a number", text)


def guard_identifiers(guesses: Mapping[Hashable, Guess], decimal: str | None) -> None:
    """Columns that probably name the rows: they have a different value in almost every one."""
    values = {label: guess.values for label, guess in guesses.items() if guess.note == IDENTIFIER}
    if not values:
        return
    labels = list(values)
    numbers = [label for label in labels if not any(isinstance(value, str) for value in values[label])]
    other = f"; if these are numbers, pass {kind_option('continuous', numbers)}" if numbers else ""
    text = (
        f"{_subject(labels, 'has')} a different value in almost every row: if these name the rows, leave "
        f"{_them(labels)} out ({drop(labels)}){other}.{remark_numbers(chain(*values.values()), decimal)}"
    )
    _warn(labels, IDENTIFIER, text)


def guard_left_out(guesses: Mapping[Hashable, Guess], decimal: str | None) -> None:
    """Columns that are left out, by the reason; nothing is lost with a column without answers."""
    by_note: dict[str, list[Hashable]] = defaultdict(list)
    for label, guess in guesses.items():
        by_note[guess.note].append(label)
    for note, labels in by_note.items():
        if note not in ("", IDENTIFIER, NO_ANSWERS):
            remedy = "turn its cells into one of these" if note == OTHER_TYPE else "state its kind"
            advice = f" To keep {'it' if len(labels) == 1 else 'one'}, {remedy}." if note != DATES else ""
            advice += remark_numbers(chain(*(guesses[label].values for label in labels)), decimal)
            _warn(labels, note, f"{_subject(labels, 'is')} left out ({note.rstrip('?')}).{advice}")


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
    weights, variable = setting("weights", labels[0]), f"pass {kind_option('continuous', labels)}"
    asked = f"if it counts or weights the rows, pass {weights}; if it is a variable, {variable}."
    if len(labels) > 1:
        asked = (
            f"if they are, pass one of them, such as {weights}, and leave the others out ({drop(labels[1:])}); if they "
            f"are variables, {variable}."
        )
    _warn(labels, WEIGHTS, f"{_subject(labels, 'looks')} like row weights: {asked}")


# Guards of missing answers.


def find_suspects(specs: Sequence[ColumnSpec], places: Iterable[int]) -> dict[int, tuple[Value, ...]]:
    """Return the codes, words and labels in some columns that probably stand for a missing answer, by column.

    Doubtful codes count where most of the columns have some.
    """
    answers = {j: specs[j].undeclared_values for j in places}
    numbers = {j: missing_codes(values) for j, values in answers.items()}
    are_codes = 1 < sum(bool(doubtful) for _, doubtful in numbers.values()) > len(answers) / 2
    found = {}
    for j, (sure, doubtful) in numbers.items():
        labels = specs[j].column.labels
        refused = [value for value in answers[j] if no_answers([labels.get(value)])]
        found[j] = (*sure, *(doubtful if are_codes else ()), *no_answers(answers[j]), *refused)
    return {j: tuple(dict.fromkeys(values)) for j, values in found.items() if values}


def guard_codes(specs: Sequence[ColumnSpec], suspects: Mapping[int, tuple[Value, ...]]) -> None:
    """Values that probably stand for a missing answer; columns with the same ones share a warning.

    The advice names the columns where another column has the same value as an answer.
    """
    for codes in dict.fromkeys(suspects.values()):
        columns = [j for j, values in suspects.items() if values == codes]
        spelled = spell_out(codes)
        elsewhere = any(spelled & ({*spec.values} - {*suspects.get(j, ())}) for j, spec in enumerate(specs))
        remedy = make_missing(codes, [spec.label for spec in specs], columns if elsewhere else ())
        others = dict.fromkeys(value for j in columns for value in specs[j].undeclared_values if value not in codes)
        labels = [specs[j].label for j in columns]
        text = (
            f"{_subject(labels, 'has')} {show_values(codes, SHOWN)} besides {show_values(others)}. If "
            f"{'it stands' if len(codes) == 1 else 'they stand'} for a missing answer, pass {remedy}."
        )
        _warn(labels, f"{show_values(codes, 3)} missing?", text)


# Guards of columns with categories.


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
            f"{_subject(labels, 'has')} ordered values that are up to {max(wide.values()):.0f} steps apart. Couplings "
            f"are per step, so these look small. If the values are numbers, pass {kind_option('continuous', labels)}, "
            f"and couplings are per standard deviation; if they name something, leave them out ({drop(labels)})."
        )
        _warn(labels, "a number?", text)


def guard_dates(columns: Sequence[CodedColumn]) -> None:
    """Categories that are all dates."""
    labels = [column.label for column in columns if are_dates(column.rule.values)]
    if labels:
        _warn(labels, DATES, f"{_subject(labels, 'holds')} dates: leave them out ({drop(labels)}).")


def guard_spellings(columns: Sequence[CodedColumn]) -> None:
    """Categories that differ in case or blanks only; a warning for each column."""
    for label, rule, _, _ in columns:
        spellings: dict[str, dict[int, str]] = defaultdict(dict)
        for word, code in rule.entries.items() if isinstance(rule, Levels) else ():
            if isinstance(word, str):
                spellings[" ".join(word.casefold().split())][code] = word
        apart = next((words for words in spellings.values() if len(words) > 1), None)
        if apart is not None:
            alike = f"{_subject([label], 'has')} {show_values(apart.values())}, which differ only in case or blanks."
            _warn([label], "spellings", f"{alike} If they are one answer, {MERGE}.")


def guard_rare(columns: Sequence[CodedColumn]) -> None:
    """Categories of few rows, unless they probably stand for a missing answer."""
    rare: dict[Hashable, list[str]] = defaultdict(list)
    for label, rule, codes, suspected in columns:
        if isinstance(rule, Levels) and rule.n_categories > 2:
            counts = np.bincount(codes[codes >= 0], minlength=rule.n_categories).tolist()
            for value, count in zip(rule.values, counts, strict=True):
                if 0 < count < FEW_ROWS and value not in suspected:
                    rare[label].append(f"{called(label)}: {value!r} ({count})")
    if rare:
        text = (
            f"Some categories have fewer than {FEW_ROWS} rows: {listed(list(chain(*rare.values())), LISTED)}. Their "
            f"couplings cannot be estimated reliably. To merge categories, {MERGE}; or leave the column out ({DROP})."
        )
        _warn(rare, "rare category", text)


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
            f"{_subject(labels, 'has')} a long tail, and couplings are linear in the values. Take logarithms first, or "
            f"use ranks instead with {scores}."
        )
        _warn(labels, "long tail", text)


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
            f"{_subject(turned, 'runs')} against the direction of the others: if the wording is reversed, recode "
            f"{_them(turned)} with {setting('reverse', option_keys(turned))}."
        )
        _warn(turned, "reversed?", text)


# Guards of columns that depend on others exactly, given in groups.


def guard_indicators(sets: Sequence[Sequence[Hashable]]) -> None:
    """Columns of which at most one is 1 in any row."""
    if sets:
        members = list(chain(*sets))
        shown = [f"{called(group[0])} to {called(group[-1])} ({len(group)})" for group in sets]
        python = "as_table(…, combine_indicators=True), also in read_table"
        counted = "one variable" if len(sets) == 1 else f"{len(sets)} variables"
        text = (
            f"{len(members)} columns are indicators of {counted}, at most one of a set is 1 in any row: "
            f"{listed(shown, LISTED, sep='; ')}. Edges within a set hide those between variables: combine "
            f"each set into one column with {setting('combine_indicators', True, python=python)}."
        )
        _warn(members, "indicator", text)


def guard_copies(groups: Sequence[Sequence[Hashable]]) -> None:
    """Columns of which each determines the others of its group: equal, opposite, or with other words for the same."""
    if groups:
        members = list(chain(*groups))
        shown = [" = ".join(map(called, group[:3])) for group in groups]
        redundant = [label for group in groups for label in group[1:]]
        text = (
            f"As read, {len(members)} columns determine each other in every row, like copies or opposites: "
            f"{listed(shown, LISTED, sep='; ', noun=' groups')}. Leave out all but one of each group "
            f"({drop(redundant)})."
        )
        _warn(members, "duplicate", text)


def guard_sums(groups: Sequence[Sequence[Hashable]]) -> None:
    """Columns, each the first of a group, that can be computed from the others of the group."""
    if groups:
        computed = [group[0] for group in groups]
        shown = [f"{called(first)} from {listed([*map(called, others)], LISTED)}" for first, *others in groups]
        count, it = ("A column", "it") if len(groups) == 1 else (f"{len(groups)} columns", "each of them")
        text = (
            f"{count} can be computed from others, as a total or a difference can: "
            f"{listed(shown, LISTED, sep='; ')}. Given all others, none of these columns varies: their couplings grow "
            f"until the penalty stops them, their other edges are unreliable, and the fit takes long. Leave {it} out, "
            f"or one of the others ({drop(computed)})."
        )
        _warn(computed, "computed", text)
