"""Warnings about values and columns that probably do not mean what they seem to.

A guard looks at columns of a first reading and yields its doubts: columns, a note of a word or two, and a sentence with
the argument to use. All guards of a kind take the same arguments. Nothing is changed here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.data.meaning.advice import (
    DROP,
    LISTED,
    MERGE,
    SHOWN,
    drop,
    kind_option,
    make_missing,
    option_keys,
    remark_decimals,
    say_of_all,
)
from isinglass.data.meaning.coding import Guess
from isinglass.data.meaning.recognition import (
    MANY_LEVELS,
    ROWS_TO_JUDGE,
    are_dates,
    are_weights,
    is_weight,
    missing_codes,
    no_answers,
)
from isinglass.data.meaning.redundancy import dependent_columns, indicator_sets, linear_relations
from isinglass.data.meaning.rules import Codes, Levels, Rule, Steps
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.meaning.values import Value, is_number, show_values, spell_out
from isinglass.errors import MeaningWarning, called, listed, setting, warn
from isinglass.variables import Variables

FEW_ROWS = 5
"""Rows below which the couplings of a category cannot be estimated reliably."""
MOST_ITEMS, MOST_ROWS = 300, 20_000
"""Ordered columns up to which reversed items are looked for, and rows that are enough for it."""
SKEWNESS = 2.0
"""Skewness beyond which normal scores of a continuous column are worth a thought; an exponential one has 2."""
FEWEST_ITEMS, REVERSED_CORRELATION, POSITIVE_SHARE, REVERSED_SHARE = 4, -0.1, 0.9, 0.4
"""Items of a battery; mean correlation with the others below which one is reversed; share of positive correlations once
these are turned, and largest share of reversed items."""
IDENTIFIER, WEIGHTS, DATES, NO_ANSWERS = "names rows?", "weights?", "dates", "no answers"
"""Notes of columns that other modules ask for."""

Doubts = Iterator[MeaningWarning]


class CodedColumn(NamedTuple):
    """A column with categories, as a guard sees it."""

    label: Hashable  # as options call it
    rule: Rule
    codes: Codes
    suspected: Collection[Value]  # values that probably stand for a missing answer


def check_guesses(specs: Sequence[ColumnSpec], guesses: Mapping[Hashable, Guess]) -> None:
    """Warn about columns of which nothing was stated: those left out, and those that may name or weight the rows."""
    places = [guess.place for guess in guesses.values() if guess.kind is None]
    _say(_doubt_codes(specs, find_suspects(specs, places)))
    for guard in (_doubt_identifiers, _doubt_left_out, _doubt_weights):
        _say(guard(specs, guesses))


def check_meaning(specs: Sequence[ColumnSpec], rules: Mapping[int, Rule], codes: Codes) -> None:
    """Warn about the columns of a table that have categories: their rules, the values that occur, and all cells."""
    suspects = find_suspects(specs, rules)
    _say(_doubt_codes(specs, suspects))
    if len(codes) >= ROWS_TO_JUDGE:
        columns = [CodedColumn(specs[j].label, rule, codes[:, j], suspects.get(j, ())) for j, rule in rules.items()]
        for guard in (_doubt_spans, _doubt_dates, _doubt_spellings, _doubt_rare, _doubt_tails, _doubt_directions):
            _say(guard(columns))


def check_columns(
    codes: Bytes,
    variables: Variables,
    labels: Sequence[Hashable],
    holes: Mask | None = None,
    *,
    are_combined: bool = False,
) -> None:
    """Warn about sets of indicator columns, unless they are combined, and about columns that are copies or opposites.

    ``labels`` are what options call the columns; ``holes`` tells which cells are missing.
    """
    if len(codes) >= ROWS_TO_JUDGE:
        is_binary = np.array([kind == "binary" for kind in variables.kinds])
        sets = [] if are_combined else indicator_sets(codes, is_binary, variables.names if variables.named else None)
        _say(_doubt_indicators([[labels[j] for j in group] for group in sets]))
        _say(_doubt_copies([[labels[j] for j in group] for group in dependent_columns(codes, is_binary, holes)]))


def check_sums(
    variables: Variables,
    labels: Sequence[Hashable],
    n_rows: int,
    score: Callable[[NDArray[np.intp], NDArray[np.intp]], FloatArray],
) -> None:
    """Warn about columns that can be computed from others, such as the total of some items.

    ``score(columns, rows)`` returns their numbers or scores, NaN for missing cells. Relations between binary columns
    are those of indicators, which have a warning of their own.
    """
    kinds = np.array(variables.kinds)
    places = np.flatnonzero((kinds != "nominal") & variables.is_modeled)
    if n_rows >= ROWS_TO_JUDGE and len(places) <= MOST_ITEMS and (kinds[places] != "binary").any():
        rows = np.unique(np.linspace(0, n_rows - 1, MOST_ROWS).astype(np.intp))
        found = [places[group] for group in linear_relations(score(places, rows))]
        _say(_doubt_sums([[labels[j] for j in group] for group in found if (kinds[group] != "binary").any()]))


def warn_measured(columns: Mapping[Hashable, Rule]) -> None:
    """Say which columns were read as numbers because they can be nothing else, and how."""
    names = list(columns)
    grids = [f"{called(name)}: {rule.in_words}" for name, rule in columns.items() if isinstance(rule, Steps)]
    text = (
        f"numbers and {'is' if len(names) == 1 else 'are'} read as continuous "
        f"({listed(grids, LISTED, sep='; ')}). If this is what you want, pass {kind_option('continuous', names)}; "
        f"otherwise cut {_them(names)} ({setting('binarize', python='binarize={…: …}')}), or leave {_them(names)} out "
        f"({drop(names)})."
    )
    warn(_doubt(names, "read as a number", text, "holds", "hold"))


def _say(doubts: Doubts) -> None:
    for doubt in doubts:
        warn(doubt)


def _doubt(labels: Sequence[Hashable], note: str, text: str, *verb: str) -> MeaningWarning:
    """Return a doubt; with a ``verb`` for one and for several columns, these are the subject of its first sentence."""
    if verb:
        shown = listed(list(map(called, labels)), LISTED)
        subject = f"column {shown}" if len(labels) == 1 else f"{len(labels)} columns ({shown})"
        text = f"{subject} {verb[len(labels) > 1]} {text}"
    return MeaningWarning(text[0].upper() + text[1:], tuple(labels), note)


def _them(labels: Sequence[Hashable]) -> str:
    return "it" if len(labels) == 1 else "them"


# Guards of columns of which nothing was stated.


def _doubt_identifiers(_: Sequence[ColumnSpec], guesses: Mapping[Hashable, Guess]) -> Doubts:
    """Columns that probably name the rows."""
    named = {label: guess.values for label, guess in guesses.items() if guess.note == IDENTIFIER}
    if named:
        labels = list(named)
        numbers = [label for label, values in named.items() if not any(isinstance(value, str) for value in values)]
        other = f"; if these are numbers, pass {kind_option('continuous', numbers)}" if numbers else ""
        text = (
            f"a different value in almost every row: if these name the rows, leave {_them(labels)} out "
            f"({drop(labels)}){other}.{remark_decimals(chain(*named.values()))}"
        )
        yield _doubt(labels, IDENTIFIER, text, "has", "have")


def _doubt_left_out(_: Sequence[ColumnSpec], guesses: Mapping[Hashable, Guess]) -> Doubts:
    """Columns that are left out, by the reason; nothing is lost with a column without answers."""
    for note in dict.fromkeys(guess.note for guess in guesses.values()):
        if note not in ("", IDENTIFIER, NO_ANSWERS):
            labels = [label for label, guess in guesses.items() if guess.note == note]
            advice = f" To keep {'it' if len(labels) == 1 else 'one'}, state its kind." if note != DATES else ""
            advice += remark_decimals(value for label in labels for value in guesses[label].values)
            yield _doubt(labels, note, f"left out ({note.rstrip('?')}).{advice}", "is", "are")


def _doubt_weights(specs: Sequence[ColumnSpec], guesses: Mapping[Hashable, Guess]) -> Doubts:
    """Columns of numbers that are called like row weights or counts and have the values of such."""
    found = [
        label
        for label, guess in guesses.items()
        if is_weight(label)
        and (guess.kind in ("ordinal", "continuous") or guess.note == IDENTIFIER)
        and all(map(is_number, guess.values))
        and are_weights(label, specs[guess.place].numbers)
    ]
    is_battery = len({str(label).rstrip("0123456789") for label in found}) < len(found)  # w1, w2, w3
    if found and not is_battery:
        weights, variable = setting("weights", found[0]), f"pass {kind_option('continuous', found)}"
        text = f"like row weights: if it counts or weights the rows, pass {weights}; if it is a variable, {variable}."
        if len(found) > 1:
            text = (
                f"like row weights: if they are, pass one of them, such as {weights}, and leave the others out "
                f"({drop(found[1:])}); if they are variables, {variable}."
            )
        yield _doubt(found, WEIGHTS, text, "looks", "look")


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


def _doubt_codes(specs: Sequence[ColumnSpec], suspects: Mapping[int, tuple[Value, ...]]) -> Doubts:
    """Values that probably stand for a missing answer; columns with the same ones share a warning.

    The advice names the columns where another column has the same value as an answer.
    """
    for codes in dict.fromkeys(suspects.values()):
        columns = [j for j, values in suspects.items() if values == codes]
        spelled = spell_out(codes)
        elsewhere = any(spelled & ({*spec.values} - {*suspects.get(j, ())}) for j, spec in enumerate(specs))
        remedy = make_missing(codes, [spec.label for spec in specs], columns if elsewhere else ())
        others = dict.fromkeys(value for j in columns for value in specs[j].undeclared_values if value not in codes)
        text = (
            f"{show_values(codes, SHOWN)} besides {show_values(others)}. If "
            f"{'it stands' if len(codes) == 1 else 'they stand'} for a missing answer, pass {remedy}."
        )
        yield _doubt([specs[j].label for j in columns], f"{show_values(codes, 3)} missing?", text, "has", "have")


# Guards of columns with categories.


def _doubt_spans(columns: Sequence[CodedColumn]) -> Doubts:
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
            f"ordered values that are up to {max(wide.values()):.0f} steps apart. Couplings are per step, so these "
            f"look small. If the values are numbers, pass {kind_option('continuous', labels)}, and couplings are per "
            f"standard deviation; if they name something, leave them out ({drop(labels)})."
        )
        yield _doubt(labels, "a number?", text, "has", "have")


def _doubt_dates(columns: Sequence[CodedColumn]) -> Doubts:
    dates = [column.label for column in columns if are_dates(column.rule.values)]
    if dates:
        yield _doubt(dates, DATES, f"dates: leave them out ({drop(dates)}).", "holds", "hold")


def _doubt_spellings(columns: Sequence[CodedColumn]) -> Doubts:
    """Categories that differ in case or blanks only."""
    for label, rule, _, _ in columns:
        spellings: dict[str, dict[int, str]] = defaultdict(dict)
        for word, code in rule.entries.items() if isinstance(rule, Levels) else ():
            if isinstance(word, str):
                spellings[" ".join(word.casefold().split())][code] = word
        apart = next((words for words in spellings.values() if len(words) > 1), None)
        if apart is not None:
            alike = show_values(apart.values())
            text = f"{alike}, which differ only in case or blanks. If they are one answer, {MERGE}."
            yield _doubt([label], "spellings", text, "has")


def _doubt_rare(columns: Sequence[CodedColumn]) -> Doubts:
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
            f"some categories have fewer than {FEW_ROWS} rows: {listed(list(chain(*rare.values())), LISTED)}. Their "
            f"couplings cannot be estimated reliably. To merge categories, {MERGE}; or leave the column out ({DROP})."
        )
        yield _doubt(list(rare), "rare category", text)


def _doubt_tails(columns: Sequence[CodedColumn]) -> Doubts:
    """Numbers with a long tail, in which couplings can hardly be linear."""
    skewed = []
    for label, rule, codes, _ in columns:
        if isinstance(rule, Steps) and not rule.is_normal:
            cells = codes[codes >= 0].astype(np.float64)
            away = cells - cells.mean()
            if abs((away**3).mean()) > SKEWNESS * (away**2).mean() ** 1.5:
                skewed.append(label)
    if skewed:
        scores = setting("normal_scores", skewed, python=say_of_all("scores", skewed, "normal"))
        text = (
            "a long tail, and couplings are linear in the values. Take logarithms first, or use ranks instead with "
            f"{scores}."
        )
        yield _doubt(skewed, "long tail", text, "has", "have")


def _doubt_directions(columns: Sequence[CodedColumn]) -> Doubts:
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
    turned = [scale[k] for scale in batteries for k in _find_reversed(np.stack([items[name][some] for name in scale]))]
    if turned:
        text = (
            f"against the direction of the others: if the wording is reversed, recode {_them(turned)} with "
            f"{setting('reverse', option_keys(turned))}."
        )
        yield _doubt(turned, "reversed?", text, "runs", "run")


def _find_reversed(codes: Codes) -> list[int]:
    """Return the items, a row each, that run against the others, if these are a battery."""
    cells = np.where(codes < 0, np.nan, codes)
    answered = (codes >= 0).any(axis=1)
    cells[answered] -= np.nanmean(cells[answered], axis=1, keepdims=True)
    cells = np.nan_to_num(cells)
    size = np.linalg.norm(cells, axis=1)
    if not size.all():
        return []
    cells /= size[:, None]
    n = len(codes)
    correlations = cells @ cells.T
    np.fill_diagonal(correlations, 0.0)
    sign = np.ones(n)
    for _ in range(n):  # turn the item that is most against the others, until none is
        against = sign * (correlations @ sign)
        if against.min() >= 0:
            break
        sign[against.argmin()] *= -1
    sign *= 1 if sign.sum() >= 0 else -1
    turned = np.flatnonzero((sign < 0) & (correlations @ sign < REVERSED_CORRELATION * (n - 1))).tolist()
    # In a battery nearly all correlations are positive once the reversed items are turned.
    positive = (np.outer(sign, sign) * correlations)[np.triu_indices(n, 1)] > 0
    return turned if len(turned) <= REVERSED_SHARE * n and positive.mean() > POSITIVE_SHARE else []


# Guards of columns that depend on others exactly, given in groups.


def _doubt_indicators(sets: Sequence[Sequence[Hashable]]) -> Doubts:
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
        yield _doubt(members, "indicator", text)


def _doubt_copies(groups: Sequence[Sequence[Hashable]]) -> Doubts:
    """Columns of which each determines the others of its group: equal, opposite, or with other words for the same."""
    if groups:
        members = list(chain(*groups))
        shown = [" = ".join(map(called, group[:3])) for group in groups]
        redundant = [label for group in groups for label in group[1:]]
        text = (
            f"as read, {len(members)} columns determine each other in every row, like copies or opposites: "
            f"{listed(shown, LISTED, sep='; ', noun=' groups')}. Leave out all but one of each group "
            f"({drop(redundant)})."
        )
        yield _doubt(members, "duplicate", text)


def _doubt_sums(groups: Sequence[Sequence[Hashable]]) -> Doubts:
    """Columns, each the first of a group, that can be computed from the others of the group."""
    if groups:
        computed = [group[0] for group in groups]
        shown = [f"{called(first)} from {listed([*map(called, others)], LISTED)}" for first, *others in groups]
        count, it = ("a column", "it") if len(groups) == 1 else (f"{len(groups)} columns", "each of them")
        text = (
            f"{count} can be computed from others, as a total or a difference can: "
            f"{listed(shown, LISTED, sep='; ')}. Given all others, none of these columns varies: their couplings grow "
            f"until the penalty stops them, their other edges are unreliable, and the fit takes long. Leave {it} out, "
            f"or one of the others ({drop(computed)})."
        )
        yield _doubt(computed, "computed", text)
