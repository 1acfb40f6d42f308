"""Warnings about columns that probably do not mean what they seem to.

A guard is a function that checks columns by one rule, which its docstring states, and returns what it doubts: the
columns, if there are any, what is seen in them, and a remedy. Nothing is changed here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray
from isinglass.data.meaning import advice, recognition, redundancy
from isinglass.data.meaning.coding import Guess
from isinglass.data.meaning.guessing import DATES, IDENTIFIER, NO_ANSWERS, NOT_FINITE
from isinglass.data.meaning.rules import Codes, Levels, Rule, Steps
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.meaning.values import Value, is_finite, is_number, show_values
from isinglass.data.table import Table
from isinglass.errors import MeaningWarning, called, listed, plural, setting, warn

FEW_ROWS = 5
"""Rows below which the couplings of a category cannot be estimated reliably."""
MOST_ITEMS = 300
"""Ordered columns up to which reversed items are looked for, and columns up to which sums of others are."""
SKEWNESS = 2.0
"""Skewness beyond which normal scores of a continuous column are worth a thought; an exponential one has 2."""
WEIGHTS = "weights?"
"""Note of columns that `isinglass info` takes for row weights."""
_MERGE = f"give them the same number ({setting('encode', python='encode={…: {…: 0, …: 1, …: 1}}')})"


class Doubt(NamedTuple):
    """Columns that probably mean something else than they seem to."""

    labels: Sequence[Hashable]  # as options call them; none: nothing is in doubt
    note: str  # a word or two
    seen: str  # what is seen in them
    remedy: str  # what to do, a sentence


class CodedColumn(NamedTuple):
    """A column with categories, as a guard sees it."""

    label: Hashable  # as options call it
    rule: Rule
    codes: Codes
    suspected: Collection[Value]  # values that probably stand for a missing answer


def warn_of(*doubts: Doubt) -> None:
    """Warn of every doubt."""
    for labels, note, seen, remedy in doubts:
        if labels:
            columns = f"Column{'s' if len(labels) > 1 else ''} {_list(map(called, labels), ', ')}"
            warn(MeaningWarning(f"{columns}: {seen}. {remedy}", tuple(labels), note))


def _list(items: Iterable[object], sep: str = "; ") -> str:
    """Return the first few of some items, and how many more there are."""
    return listed(list(items), advice.LISTED, sep=sep)


def check_meaning(specs: Sequence[ColumnSpec], rules: Mapping[int, Rule], codes: Codes) -> None:
    """Warn about the columns of a table that have categories: their rules, the values that occur, and all cells."""
    suspects = find_suspects(specs, rules)
    warn_of(guard_header(specs, rules), *guard_codes(specs, suspects))
    if len(codes) >= recognition.ROWS_TO_JUDGE:
        columns = [CodedColumn(specs[j].label, rule, codes[:, j], suspects.get(j, ())) for j, rule in rules.items()]
        for guard in (guard_spans, guard_dates, guard_rare, guard_tails, guard_directions):
            warn_of(guard(columns))


def check_guesses(specs: Sequence[ColumnSpec], guesses: Mapping[Hashable, Guess]) -> None:
    """Warn about columns of which nothing was stated: those left out, and those that may weight the rows."""
    places = [guess.place for guess in guesses.values() if guess.kind is None]
    warn_of(guard_header(specs, places), *guard_codes(specs, find_suspects(specs, places)))
    warn_of(*guard_left_out(guesses, specs[0].source.decimal), guard_weights(specs, guesses))


def check_dependence(table: Table, specs: Sequence[ColumnSpec], *, are_combined: bool = False) -> None:
    """Warn about sets of indicator columns, unless they are combined, and about columns that others determine."""
    if len(table) < recognition.ROWS_TO_JUDGE:
        return
    labels, is_binary = [spec.label for spec in specs], np.array(table.variables.kinds) == "binary"
    sets = [] if are_combined else redundancy.indicator_sets(table.codes, is_binary)
    copies = redundancy.dependent_columns(table.codes, is_binary, table.holes)
    warn_of(guard_sums(table, specs), guard_indicators(_label(sets, labels)), guard_copies(_label(copies, labels)))


def find_suspects(specs: Sequence[ColumnSpec], places: Iterable[int]) -> dict[int, tuple[Value, ...]]:
    """Return the values in some columns that probably stand for a missing answer, by column."""
    columns = [j for j in places if not advice.is_below_name(specs[j].source, specs[j].place)]
    found = {j: recognition.suspected_answers(specs[j].kept_values, specs[j].column.labels) for j in columns}
    return {j: values for j, values in found.items() if values}


def guard_header(specs: Sequence[ColumnSpec], places: Iterable[int]) -> Doubt:
    """Columns of a file without a header whose only text is in the first row."""
    columns = [specs[j] for j in places if advice.is_below_name(specs[j].source, specs[j].place)]
    texts = show_values((spec.column.entries[0] for spec in columns), advice.SHOWN)
    labels = [spec.label for spec in columns]
    return Doubt(labels, "header?", f"text in the first row only ({texts})", advice.HEADER.strip())


def guard_codes(specs: Sequence[ColumnSpec], suspects: Mapping[int, tuple[Value, ...]]) -> list[Doubt]:
    """Values that probably stand for a missing answer; columns with the same ones share a warning.

    The remedy names the columns where another column has the same value as an answer.
    """
    doubts = []
    for codes in dict.fromkeys(suspects.values()):
        columns = [j for j, values in suspects.items() if values == codes]
        others = dict.fromkeys(value for j in columns for value in specs[j].kept_values if value not in codes)
        answers = ({*spec.values}.difference(suspects.get(j, ())) for j, spec in enumerate(specs))
        seen = f"{advice.show_coded(codes, specs[columns[0]].column.labels)} besides {show_values(others)}"
        remedy = advice.say_missing(codes, columns, [spec.label for spec in specs], answers)
        doubts.append(Doubt([specs[j].label for j in columns], f"{show_values(codes, 3)} missing?", seen, remedy))
    return doubts


def guard_spans(columns: Sequence[CodedColumn]) -> Doubt:
    """Ordered categories that are many steps apart: they may be numbers."""
    spans: dict[Hashable, float] = {}
    for label, rule, _, suspected in columns:
        if rule.kind == "ordinal":
            scores = zip(rule.values, rule.scores or (), strict=True)
            spans[label] = float(np.ptp([score for value, score in scores if value not in suspected] or [0.0]))
    wide = [label for label, span in spans.items() if span >= recognition.MANY_LEVELS]
    most = max(spans.values(), default=0.0)
    seen = f"ordered values that are up to {most:.0f} steps apart, and couplings are per step"
    remedy = f"If they are numbers, use {advice.use_kind('continuous', wide)}; if they are names, {advice.drop(wide)}."
    return Doubt(wide, "a number?", seen, remedy)


def guard_dates(columns: Sequence[CodedColumn]) -> Doubt:
    """Categories that are all dates."""
    labels = [column.label for column in columns if recognition.are_dates(column.rule.values)]
    return Doubt(labels, "dates", "dates", f"Leave out what is no variable ({advice.drop(labels)}).")


def guard_rare(columns: Sequence[CodedColumn]) -> Doubt:
    """Categories of few rows, unless they probably stand for a missing answer."""
    rare: dict[str, Hashable] = {}
    for label, rule, codes, suspected in columns:
        if isinstance(rule, Levels) and rule.n_categories > 2:
            counts = np.bincount(codes[codes >= 0], minlength=rule.n_categories).tolist()
            for value, count in zip(rule.values, counts, strict=True):
                if 0 < count < FEW_ROWS and value not in suspected:
                    rare[f"{value!r} of column {called(label)} ({plural(count, 'row')})"] = label
    seen = f"categories of fewer than {FEW_ROWS} rows: {_list(rare, ', ')}"
    remedy = f"Their couplings are unreliable: {_MERGE} as others, or leave the column out ({advice.DROP})."
    return Doubt(list(dict.fromkeys(rare.values())), "rare category", seen, remedy)


def guard_tails(columns: Sequence[CodedColumn]) -> Doubt:
    """Numbers with a long tail, by the skewness of their steps: couplings can hardly be linear in them."""
    labels = []
    for label, rule, codes, _ in columns:
        if isinstance(rule, Steps) and not rule.is_normal:
            away = codes[codes >= 0] - codes[codes >= 0].mean()
            if abs((away**3).mean()) > SKEWNESS * (away**2).mean() ** 1.5:
                labels.append(label)
    scores = setting("normal_scores", labels, python=advice.say_of_all("scores", labels, "normal"))
    remedy = f"Take logarithms first, or use ranks instead with {scores}."
    return Doubt(labels, "long tail", "a long tail, and couplings are linear in the values", remedy)


def guard_directions(columns: Sequence[CodedColumn]) -> Doubt:
    """Ordered columns that are negatively correlated with the others of their battery.

    A battery is a scale, columns whose names differ in a number at the end; or all columns, if there is no scale.
    """
    items = {column.label: column.codes for column in columns if column.rule.kind == "ordinal"}
    scales: dict[str, list[Hashable]] = defaultdict(list)
    for label in items:
        scales[recognition.scale_of(label)].append(label)
    batteries = [scale for scale in scales.values() if len(scale) >= recognition.FEWEST_ITEMS] or [list(items)]
    turned = []
    for scale in batteries if recognition.FEWEST_ITEMS <= len(items) <= MOST_ITEMS else ():
        codes = np.stack([items[label] for label in scale])
        some = codes[:, :: max(1, codes.shape[1] // recognition.MOST_ROWS)]
        turned += [scale[k] for k in recognition.reversed_items(some)]
    remedy = f"If the wording is reversed, recode with {setting('reverse', advice.option_keys(turned))}."
    return Doubt(turned, "reversed?", "against the direction of the others", remedy)


def guard_measured(columns: Mapping[Hashable, Rule]) -> Doubt:
    """Columns that were read as numbers because they can be nothing else."""
    grids = {label: rule.in_words for label, rule in columns.items() if isinstance(rule, Steps)}
    labels, cut = list(grids), setting("binarize", python="binarize={…: …}")
    seen = f"read as continuous ({_list(f'{called(label)} in {words}' for label, words in grids.items())})"
    remedy = (
        f"If this is what you want, use {advice.use_kind('continuous', labels)}; otherwise choose thresholds ({cut}), "
        f"or leave out what is no variable ({advice.drop(labels)})."
    )
    return Doubt(labels, "read as a number", seen, remedy)


def guard_left_out(guesses: Mapping[Hashable, Guess], decimal: str | None) -> list[Doubt]:
    """Columns that a guess leaves out, by the reason; nothing is lost with a column without answers."""
    doubts = []
    for note in dict.fromkeys(guess.note for guess in guesses.values() if guess.note not in ("", NO_ANSWERS)):
        labels = [label for label, guess in guesses.items() if guess.note == note]
        values = list(chain(*(guesses[label].values for label in labels)))
        reason, remedy = note, "To keep a column, state its kind."
        if note == IDENTIFIER:
            reason = "a different value in almost every row, like names of rows"
            numbers = [label for label in labels if all(map(is_number, guesses[label].values))]
            keep = f"use {advice.use_kind('continuous', numbers)}" if numbers else "merge its values"
            remedy = f"To keep a column, {keep}; without a guess, leave it out ({advice.drop(labels)})."
        elif note == NOT_FINITE:
            endless = dict.fromkeys(value for value in values if not is_finite(value))
            remedy = f"To keep a column, make such cells missing ({advice.make_missing(list(endless))})."
        elif note == DATES:
            remedy = "A network has no kind for dates."
        doubts.append(Doubt(labels, note, f"left out ({reason})", remedy + advice.remark_numbers(values, decimal)))
    return doubts


def guard_weights(specs: Sequence[ColumnSpec], guesses: Mapping[Hashable, Guess]) -> Doubt:
    """Columns of numbers that are called like row weights or counts and have the values of such."""
    labels = [
        label
        for label, guess in guesses.items()
        if recognition.is_weight(label)
        and (guess.kind in ("ordinal", "continuous") or guess.note == IDENTIFIER)
        and all(map(is_number, guess.values))
        and recognition.are_weights(label, specs[guess.place].numbers)
    ]
    if len({recognition.scale_of(label) for label in labels}) < len(labels):  # a battery: w1, w2, w3
        labels = []
    use = f"pass it as sample_weight and leave it out ({advice.drop(labels)})"
    if specs[0].source.is_file:
        others = f" and leave the others out ({advice.drop(labels[1:])})" if labels[1:] else ""
        use = f"use {setting('weights', *labels[:1])}{others}"
    kind = advice.use_kind("continuous", labels)
    remedy = f"If it counts or weights the rows, {use}; if it is a variable, use {kind}."
    return Doubt(labels, WEIGHTS, "looks like row weights", remedy)


def guard_indicators(sets: Sequence[Sequence[Hashable]]) -> Doubt:
    """Columns of which at most one is 1 in any row."""
    shown = _list(f"{called(group[0])} to {called(group[-1])} ({len(group)})" for group in sets)
    seen = f"indicators of {plural(len(sets), 'variable')}, of which at most one is 1 in any row: {shown}"
    python = "as_table(…, combine_indicators=True), also in read_table"
    has_names = all(isinstance(group[0], str) for group in sets)
    remedy = (
        f"Edges within a set hide those between variables: {'' if has_names else 'give the columns names, and '}"
        f"combine each set into one column with {setting('combine_indicators', True, python=python)}."
    )
    return Doubt(list(chain(*sets)), "indicator", seen, remedy)


def guard_copies(groups: Sequence[Sequence[Hashable]]) -> Doubt:
    """Columns of which each determines the others of its group: equal, opposite, or with other words for the same."""
    shown = _list(_list(map(called, group), " = ") for group in groups)
    seen = f"as read, they determine each other in every row, like copies or opposites: {shown}"
    redundant = [label for group in groups for label in group[1:]]
    remedy = f"Leave out all but one of each group ({advice.drop(redundant)})."
    return Doubt(list(chain(*groups)), "duplicate", seen, remedy)


def guard_sums(table: Table, specs: Sequence[ColumnSpec]) -> Doubt:
    """Columns that can be computed from others, such as the total of some items.

    Relations between binary columns are those of indicators, which have a warning of their own.
    """
    variables = table.variables
    kinds, found = np.array(variables.kinds), list[list[int]]()
    columns = np.flatnonzero((kinds != "nominal") & variables.is_modeled)
    if len(columns) <= MOST_ITEMS and (kinds[columns] != "binary").any():
        rows = np.unique(np.linspace(0, len(table) - 1, recognition.MOST_ROWS).astype(np.intp))
        relations = redundancy.linear_relations(_numbers(table, specs, columns.tolist(), rows))
        found = [columns[group].tolist() for group in relations if (kinds[columns[group]] != "binary").any()]
    groups = _label(found, [spec.label for spec in specs])
    computed = [group[0] for group in groups]
    shown = _list(f"{called(first)} from {_list(map(called, others), ', ')}" for first, *others in groups)
    remedy = (
        "Given all others, none of these columns varies: their couplings grow until the penalty stops them, their "
        f"other edges are unreliable, and the fit takes long. Leave out each, or another of its group "
        f"({advice.drop(computed)})."
    )
    return Doubt(computed, "computed", f"can be computed from others, as a total or a difference can: {shown}", remedy)


def _numbers(table: Table, specs: Sequence[ColumnSpec], columns: Sequence[int], rows: NDArray[np.intp]) -> FloatArray:
    """Return the numbers of columns on a grid and the scores of others, NaN for missing cells."""
    in_source, factors = rows if table.rows is None else table.rows[rows], table.variables.split(table.variables.factor)
    numbers = np.empty((len(rows), len(columns)))
    for k, j in enumerate(columns):
        rule, spec = table.coding.columns[j], specs[j]
        if isinstance(rule, Steps) and not rule.is_normal:
            numbers[:, k] = spec.source.column(spec.place).numbers(in_source)
        else:
            numbers[:, k] = factors[j][table.codes[rows, j]]
    if table.missing_cells is not None:
        numbers[table.missing_cells[rows][:, columns]] = np.nan
    return numbers


def _label(groups: Iterable[Sequence[int]], labels: Sequence[Hashable]) -> list[list[Hashable]]:
    """Return groups of columns as options call them."""
    return [[labels[j] for j in group] for group in groups]
