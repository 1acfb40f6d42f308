"""Warnings about values and columns that probably do not mean what they seem to.

Each warning names the columns, the values and the argument to use; nothing is changed here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import chain

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
    missing_codes,
    no_answers,
)
from isinglass.data.meaning.redundancy import dependent_columns, indicator_sets, linear_relations
from isinglass.data.meaning.rules import Codes, Levels, Rule, Steps
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.meaning.values import Value, show_values, spell_out
from isinglass.errors import DataWarning, MeaningWarning, called, listed, plural, setting, warn
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
IDENTIFIER, WEIGHTS, DATES = "names rows?", "weights?", "dates"
"""Notes of columns that other modules ask for."""
DROPPED_SHARE, ZERO_SHARE, ZERO_SHARE_OF_COLUMN = 0.1, 0.05, 0.5
"""Share of the rows dropped, and of all cells or those of a column taken for 0, above which there is a warning."""


def warn_left_out(guesses: Mapping[Hashable, Guess]) -> None:
    """Warn about columns that are left out, given with the reason."""
    for note in dict.fromkeys(guess.note for guess in guesses.values()):
        labels = [label for label, guess in guesses.items() if guess.note == note]
        advice = f" To keep {'it' if len(labels) == 1 else 'one'}, state its kind." if note != DATES else ""
        advice += remark_decimals(value for label in labels for value in guesses[label].values)
        _say(f"{_columns(labels, 'is', 'are')} left out ({note.rstrip('?')}).{advice}", labels, note)


def warn_identifiers(columns: Mapping[Hashable, Sequence[Value]]) -> None:
    """Warn about columns, given with their values, that probably name the rows."""
    if not columns:
        return
    labels = list(columns)
    numbers = [label for label, values in columns.items() if not any(isinstance(value, str) for value in values)]
    other = f"; if these are numbers, pass {kind_option('continuous', numbers)}" if numbers else ""
    _say(
        f"{_columns(labels, 'has', 'have')} a different value in almost every row: if these name the rows, leave "
        f"{'it' if len(labels) == 1 else 'them'} out ({drop(labels)}){other}."
        f"{remark_decimals(value for values in columns.values() for value in values)}",
        labels,
        IDENTIFIER,
    )


def warn_weights(columns: Mapping[Hashable, FloatArray]) -> None:
    """Warn about columns of numbers that are called like row weights or counts and have the values of such."""
    found = [label for label, numbers in columns.items() if are_weights(label, numbers)]
    if len({str(label).rstrip("0123456789") for label in found}) < len(found):  # a battery: w1, w2, w3
        return
    if len(found) > 1:
        _say(
            f"{_columns(found, '', 'look like row weights')}: if they are, pass one of them, such as "
            f"{setting('weights', found[0])}, and leave the others out ({drop(found[1:])}); if they are variables, "
            f"pass {kind_option('continuous', found)}.",
            found,
            WEIGHTS,
        )
    elif found:
        _say(
            f"{_columns(found, 'looks like row weights', '')}: if it counts or weights the rows, pass "
            f"{setting('weights', found[0])}; if it is a variable, pass {kind_option('continuous', found)}.",
            found,
            WEIGHTS,
        )


def check_meaning(specs: Sequence[ColumnSpec], rules: Mapping[int, Rule], codes: Codes) -> None:
    """Warn about the columns of a table that have categories: their rules, the values that occur, and all cells."""
    suspected = warn_codes(specs, rules)
    if len(codes) < ROWS_TO_JUDGE:
        return
    named = {specs[j].label: (rule, codes[:, j]) for j, rule in rules.items()}
    _warn_wide({specs[j].label: rule for j, rule in rules.items() if not missing_codes(_answers(specs[j]))[0]})
    dates = [label for label, (rule, _) in named.items() if are_dates(rule.values)]
    if dates:
        _say(f"{_columns(dates, 'holds', 'hold')} dates: leave them out ({drop(dates)}).", dates, DATES)
    _warn_spellings({label: rule for label, (rule, _) in named.items() if isinstance(rule, Levels)})
    _warn_rare({specs[j].label: (rule, codes[:, j], suspected[j]) for j, rule in rules.items()})
    _warn_skewed({label: (rule, cells) for label, (rule, cells) in named.items() if isinstance(rule, Steps)})
    some = slice(None, None, max(1, len(codes) // MOST_ROWS))
    _warn_reversed({label: cells[some] for label, (rule, cells) in named.items() if rule.kind == "ordinal"})


def _answers(spec: ColumnSpec) -> list[Value]:
    """Return the values of a column that nothing declares missing."""
    return [value for value in spec.values if value not in spec.declared_missing]


def warn_measured(columns: Mapping[Hashable, Rule]) -> None:
    """Say which columns were read as numbers because they can be nothing else, and how."""
    names = list(columns)
    grids = [f"{called(name)}: {rule.in_words}" for name, rule in columns.items() if isinstance(rule, Steps)]
    them = "it" if len(names) == 1 else "them"
    _say(
        f"{_columns(names, 'holds', 'hold')} numbers and {'is' if len(names) == 1 else 'are'} read as continuous "
        f"({listed(grids, LISTED, sep='; ')}). If this is what you want, pass {kind_option('continuous', names)}; "
        f"otherwise cut {them} ({setting('binarize', python='binarize={…: …}')}), or leave {them} out ({drop(names)}).",
        names,
        "read as a number",
    )


def warn_codes(specs: Sequence[ColumnSpec], places: Iterable[int]) -> Mapping[int, Collection[Value]]:
    """Warn about codes, words and labels of missing answers in some columns; return these values by column.

    Columns with the same ones share a warning. Its advice names the columns where another column has the same value as
    an answer.
    """
    values = {j: _answers(specs[j]) for j in places}
    numbers = {j: missing_codes(some) for j, some in values.items()}
    are_codes = 1 < sum(bool(doubtful) for _, doubtful in numbers.values()) > len(values) / 2
    suspected: dict[int, tuple[Value, ...]] = defaultdict(tuple)
    columns_by_code: dict[tuple[Value, ...], list[int]] = defaultdict(list)
    for j, (sure, doubtful) in numbers.items():
        labels = specs[j].column.labels
        refused = [value for value in values[j] if no_answers([labels.get(value)])]
        codes = (*sure, *(doubtful if are_codes else ()), *no_answers(values[j]), *refused)
        if codes:
            suspected[j] = tuple(dict.fromkeys(codes))
            columns_by_code[suspected[j]].append(j)
    for codes, columns in columns_by_code.items():
        spelled = spell_out(codes)
        elsewhere = any(spelled & ({*spec.values} - {*suspected[j]}) for j, spec in enumerate(specs))
        remedy = make_missing(codes, [spec.label for spec in specs], columns if elsewhere else ())
        names, answers = [specs[j].label for j in columns], dict.fromkeys(value for j in columns for value in values[j])
        _say(
            f"{_columns(names, 'has', 'have')} {show_values(codes, SHOWN)} besides "
            f"{show_values(value for value in answers if value not in codes)}. If "
            f"{'it stands' if len(codes) == 1 else 'they stand'} for a missing answer, pass {remedy}.",
            names,
            f"{show_values(codes, 3)} missing?",
        )
    return suspected


def _warn_wide(columns: Mapping[Hashable, Rule]) -> None:
    """Warn about ordered categories that are many steps apart: they may be numbers."""
    spans = {label: max(rule.scores or ()) for label, rule in columns.items() if rule.kind == "ordinal"}
    wide = [label for label, span in spans.items() if span >= MANY_LEVELS]
    if wide:
        _say(
            f"{_columns(wide, 'has', 'have')} ordered values that are up to {max(spans.values()):.0f} steps apart. "
            f"Couplings are per step, so these look small. If the values are numbers, pass "
            f"{kind_option('continuous', wide)}, and couplings are per standard deviation; if they name something, "
            f"leave them out ({drop(wide)}).",
            wide,
            "a number?",
        )


def _warn_spellings(columns: Mapping[Hashable, Levels]) -> None:
    """Warn about categories that differ in case or blanks only."""
    for label, rule in columns.items():
        spellings: dict[str, dict[int, str]] = defaultdict(dict)
        for word, code in rule.entries.items():
            if isinstance(word, str):
                spellings[" ".join(word.casefold().split())][code] = word
        apart = next((words for words in spellings.values() if len(words) > 1), None)
        if apart is not None:
            _say(
                f"{_columns([label], 'has', '')} {show_values(apart.values())}, which differ only in case or blanks. "
                f"If they are one answer, {MERGE}.",
                [label],
                "spellings",
            )


def _warn_rare(columns: Mapping[Hashable, tuple[Rule, Codes, Collection[Value]]]) -> None:
    """Warn about categories of few rows, other than the values, given last, that may stand for a missing answer."""
    rare: dict[Hashable, list[str]] = {}
    for label, (rule, codes, suspected) in columns.items():
        if isinstance(rule, Levels) and rule.n_categories > 2:
            counts = np.bincount(codes[codes >= 0], minlength=rule.n_categories).tolist()
            few = [(value, count) for value, count in zip(rule.values, counts, strict=True) if 0 < count < FEW_ROWS]
            shown = [f"{called(label)}: {value!r} ({count})" for value, count in few if value not in suspected]
            rare |= {label: shown} if shown else {}
    if rare:
        _say(
            f"some categories have fewer than {FEW_ROWS} rows: {listed(list(chain(*rare.values())), LISTED)}. Their "
            f"couplings cannot be estimated reliably. To merge categories, {MERGE}; or leave the column out ({DROP}).",
            list(rare),
            "rare category",
        )


def _warn_skewed(columns: Mapping[Hashable, tuple[Steps, Codes]]) -> None:
    """Warn about numbers with a long tail, in which couplings can hardly be linear."""
    skewed = []
    for label, (rule, codes) in columns.items():
        cells = codes[codes >= 0].astype(np.float64)
        away = cells - cells.mean()
        if not rule.is_normal and abs((away**3).mean()) > SKEWNESS * (away**2).mean() ** 1.5:
            skewed.append(label)
    if skewed:
        python = say_of_all("scores", skewed, "normal")
        _say(
            f"{_columns(skewed, 'has', 'have')} a long tail, and couplings are linear in the values. Take "
            f"logarithms first, or use ranks instead with {setting('normal_scores', skewed, python=python)}.",
            skewed,
            "long tail",
        )


def _warn_reversed(columns: Mapping[Hashable, Codes]) -> None:
    """Warn about ordered columns that are negatively correlated with the others of their battery.

    A battery is a scale, columns whose names differ in a number at the end; or all columns, if there is no scale.
    """
    if not FEWEST_ITEMS <= len(columns) <= MOST_ITEMS:
        return
    scales: dict[str, list[Hashable]] = defaultdict(list)
    for label in columns:
        scales[str(label).rstrip("0123456789")].append(label)
    batteries = [scale for scale in scales.values() if len(scale) >= FEWEST_ITEMS] or [list(columns)]
    turned = [scale[k] for scale in batteries for k in _find_reversed(np.stack([columns[label] for label in scale]))]
    if turned:
        _say(
            f"{_columns(turned, 'runs', 'run')} against the direction of the others: if the wording is "
            f"reversed, recode {'it' if len(turned) == 1 else 'them'} with {setting('reverse', option_keys(turned))}.",
            turned,
            "reversed?",
        )


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


def _columns(labels: Sequence[Hashable], singular: str, plural: str) -> str:
    """Return the subject of a sentence, with its verb."""
    shown = listed(list(map(called, labels)), LISTED)
    return f"column {shown} {singular}" if len(labels) == 1 else f"{len(labels)} columns ({shown}) {plural}"


def _say(text: str, columns: Sequence[Hashable], note: str) -> None:
    warn(MeaningWarning(text[0].upper() + text[1:], tuple(columns), note))


def check_columns(codes: Bytes, variables: Variables, labels: Sequence[Hashable], holes: Mask | None = None) -> None:
    """Warn about columns that are copies or opposites of others, and about sets of indicator columns.

    ``labels`` are what options call the columns; ``holes`` tells which cells are missing.
    """
    if len(codes) < ROWS_TO_JUDGE:
        return
    is_binary = np.array([kind == "binary" for kind in variables.kinds])
    sets = indicator_sets(codes, is_binary, variables.names if variables.named else None)
    _warn_indicators([[labels[j] for j in group] for group, _ in sets])
    groups = dependent_columns(codes, is_binary, holes)
    if groups:
        shown = [" = ".join(called(labels[j]) for j in group[:3]) for group in groups]
        redundant = [labels[j] for group in groups for j in group[1:]]
        _say(
            f"{sum(map(len, groups))} columns are copies or exact opposites of each other: "
            f"{listed(shown, LISTED, sep='; ', noun=' groups')}. Leave out all but one of each group "
            f"({drop(redundant)}).",
            [labels[j] for group in groups for j in group],
            "duplicate",
        )


def warn_computed(
    variables: Variables,
    labels: Sequence[Hashable],
    n_rows: int,
    score: Callable[[NDArray[np.intp], NDArray[np.intp]], FloatArray],
) -> None:
    """Warn about columns that can be computed from others, such as the total of some items.

    ``score(columns, rows)`` returns their numbers or scores, NaN for missing cells. Relations between binary columns
    are those of indicators, which have a warning of their own.
    """
    kinds, is_covariate = np.array(variables.kinds), np.array(variables.covariate)
    places = np.flatnonzero((kinds != "nominal") & ~is_covariate)
    if n_rows < ROWS_TO_JUDGE or len(places) > MOST_ITEMS or (kinds[places] == "binary").all():
        return
    rows = np.unique(np.linspace(0, n_rows - 1, MOST_ROWS).astype(np.intp))
    found = [places[group] for group in linear_relations(score(places, rows))]
    found = [group for group in found if (kinds[group] != "binary").any()]
    if found:
        computed = [labels[group[0]] for group in found]
        from_others = [listed([called(labels[j]) for j in group[1:]], LISTED) for group in found]
        shown = [f"{called(label)} from {others}" for label, others in zip(computed, from_others, strict=True)]
        count, it = ("a column", "it") if len(found) == 1 else (f"{len(found)} columns", "each of them")
        _say(
            f"{count} can be computed from others, as a total or a difference can: "
            f"{listed(shown, LISTED, sep='; ')}. Given all others, none of these columns varies: their couplings grow "
            f"until the penalty stops them, their other edges are unreliable, and the fit takes long. Leave {it} out, "
            f"or one of the others ({drop(computed)}).",
            computed,
            "computed",
        )


def _warn_indicators(sets: Sequence[Sequence[Hashable]]) -> None:
    if sets:
        members = [label for group in sets for label in group]
        shown = [f"{called(group[0])} to {called(group[-1])} ({len(group)})" for group in sets]
        counted = "one variable" if len(sets) == 1 else f"{len(sets)} variables"
        _say(
            f"{len(members)} columns are indicators of {counted}, at most one of a set is 1 in any row: "
            f"{listed(shown, LISTED, sep='; ')}. Edges within a set hide those between variables: make one "
            f"column of categories of each set, as pandas.from_dummies does.",
            members,
            "indicator",
        )


def warn_dropped(gone: Mask, is_unlabeled: Mask, n_kept: int, *, is_part: bool) -> None:
    """Say what was left out: rows without a label, or many with missing cells."""
    n_rows, n_dropped, n_missing = len(gone), len(gone) - n_kept, int(gone.sum())
    if n_rows < ROWS_TO_JUDGE or (n_dropped <= DROPPED_SHARE * n_rows and not is_unlabeled.any()):
        return
    reasons = [f"{plural(n_missing, 'missing cell')} ({gone.mean():.1%})"] if n_missing else []
    reasons += [plural(int(is_unlabeled.sum()), "missing group label")] if is_unlabeled.any() else []
    remedy = (
        f" Choose {setting('missing', 'impute')} to keep rows with missing cells." if n_missing and not is_part else ""
    )
    warn(
        DataWarning(
            f"{setting('missing', 'drop')} left out {n_dropped} of {n_rows} rows ({n_dropped / n_rows:.0%})"
            f"{' of a part' if is_part else ''} for {' and '.join(reasons)}. The remaining rows may not be "
            f"representative.{remedy}"
        )
    )


def warn_zeroed(gone: Mask, where: Callable[[int], str], *, is_part: bool) -> None:
    """Say what became 0, where that can hardly be meant: whole rows, or many cells of a column."""
    n_empty, shares = int(gone.all(axis=1).sum()), gone.mean(axis=0)
    worst = int(shares.argmax())
    said = []
    if n_empty and gone.shape[1] > 1:
        said.append(f"{n_empty} of {len(gone)} rows have no answer at all and are now rows of 0")
    if len(gone) >= ROWS_TO_JUDGE and (shares.mean() > ZERO_SHARE or shares[worst] > ZERO_SHARE_OF_COLUMN):
        cells = f"{int(gone.sum())} missing cells ({gone.mean():.1%})"
        said.append(f"{cells} became 0, {shares[worst]:.0%} of the cells in {where(worst)}")
    if said:
        remedy = "" if is_part else f" Choose {setting('missing', 'impute')}."
        warn(
            DataWarning(
                f"{setting('missing', 'zero')}{' in a part' if is_part else ''}: {'; '.join(said)}. Unless a missing "
                f"cell means 0, this hides some dependences and creates spurious ones.{remedy}"
            )
        )
