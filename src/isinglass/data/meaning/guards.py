"""Warnings about values and columns that probably do not mean what they seem to.

Each warning names the columns, the values and the argument to use; nothing is changed here.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import Bytes, FloatArray, IntArray, Mask
from isinglass.data.meaning.coding import Codes, Levels, Rule, Steps
from isinglass.data.meaning.recognition import (
    MANY_LEVELS,
    are_dates,
    are_weights,
    differ_in_rows,
    is_weight,
    missing_codes,
    no_answers,
    other_decimal,
)
from isinglass.data.meaning.redundancy import ROWS_TO_SCREEN, dependent_columns, indicator_sets, linear_relations
from isinglass.data.meaning.values import THOUSANDS, Value, is_number, show_values, spell_out
from isinglass.errors import DataWarning, MeaningWarning, called, listed, setting, warn
from isinglass.names import name_ranges
from isinglass.variables import Variables

FEW_ROWS = 5
"""Rows below which the couplings of a category cannot be estimated reliably."""
ROWS_TO_JUDGE = 20
"""Rows below which there are no warnings: such a table can be read at a glance."""
MOST_ITEMS, MOST_ROWS = 300, 20_000
"""Ordered columns up to which reversed items are looked for, and rows that are enough for it."""
SKEWNESS = 2.0
"""Skewness beyond which normal scores of a continuous column are worth a thought; an exponential one has 2."""
FEWEST_ITEMS, REVERSED_CORRELATION, POSITIVE_SHARE, REVERSED_SHARE = 4, -0.1, 0.9, 0.4
"""Items of a battery; mean correlation with the others below which one is reversed; share of positive correlations once
these are turned, and largest share of reversed items."""
IDENTIFIER, WEIGHTS, MAYBE_WEIGHTS, LONG_TAIL, REVERSED = (
    *("names rows?", "weights?", "sampling weights?", "long tail", "reversed?"),
)
"""Notes of columns: such a one, and others that commands give advice about."""
DROPPED_SHARE, ZERO_SHARE, ZERO_SHARE_OF_COLUMN = 0.1, 0.05, 0.5
"""Share of the rows dropped, and of all cells or those of a column taken for 0, above which there is a warning."""
SUM_RATIO, MEAN_COUNT = 2.0, 5.0
"""Ratios beyond which weights of unstated kind get a warning: sum of sampling weights to rows, and mean count."""
_WEIGHTS = {"counts": "counts of equal rows", "sampling": "sampling weights"}
_LISTED, _WRITTEN, _SHOWN = 4, 8, 8
"""Columns that a message lists, entries of a mapping that it writes out, and values that it shows."""


def advise_missing(column: int, labels: Sequence[Hashable], values_of: Callable[[int], Sequence[Value]]) -> str:
    """Return a sentence about values of a column that probably stand for a missing answer, or nothing."""
    no_answer = _suspects(values_of(column))
    if not no_answer:
        return ""
    gone = spell_out(no_answer)
    others = (values_of(j) for j in range(len(labels)) if j != column)
    here = [column] if any(gone & ({*values} - {*_suspects(values)}) for values in others) else ()
    shown, verb = show_values(no_answer, _SHOWN), "stands" if len(no_answer) == 1 else "stand"
    return f" If {shown} {verb} for a missing answer, pass {make_missing(no_answer, labels, here)}."


def _suspects(values: Sequence[Value]) -> list[Value]:
    """Return the values that may stand for a missing answer."""
    sure, doubtful = missing_codes(values)
    return [*sure, *doubtful, *no_answers(values)]


def remark_identifier(n_distinct: int, n_rows: int, label: Hashable, is_first: bool) -> str:
    """Return a sentence about a column with a different value in almost every row, or nothing."""
    if n_rows < (2 if is_first else ROWS_TO_JUDGE) or not differ_in_rows(n_distinct, n_rows):
        return ""
    if is_first:
        return f" If it names the rows, pass {setting('id_column', 0)}."
    return (
        f" It has {n_distinct} different values in {n_rows} rows: if it holds row names, leave it out "
        f"({drop([label])})."
    )


def remark_decimals(values: Iterable[Value], decimal: str | None = None) -> str:
    """Return a sentence about words that are numbers with another decimal separator, or nothing."""
    other, called = (".", "point") if decimal == "," else (",", "comma")
    number = other_decimal(values, decimal)
    if number is None:
        return ""
    python = f'decimal="{other}" to read_table' + (
        ", or turn the texts of a frame into numbers" if other == "," else ""
    )
    thousands = " If the comma groups thousands, remove it." if THOUSANDS.fullmatch(number.strip()) else ""
    pass_it = setting("decimal", other, python=python)
    return f" If {number!r} is a number with a decimal {called}, pass {pass_it}.{thousands}"


def warn_left_out(notes: Mapping[Hashable, str]) -> None:
    """Warn about columns that are left out, given with the reason."""
    for note in dict.fromkeys(notes.values()):
        labels = [label for label in notes if notes[label] == note]
        keep = "it, state its kind" if len(labels) == 1 else "one, state its kind"
        _say(f"{_columns(labels, 'is', 'are')} left out ({note.rstrip('?')}). To keep {keep}.", labels, note)


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
    """Warn about a column of numbers, of which nothing was stated, that has the name of row weights or counts."""
    named = [label for label in columns if is_weight(label) and not str(label)[-1].isdigit()]
    if len(named) == 1:  # more are a battery: w1, w2, w3
        is_likely = are_weights(named[0], columns[named[0]])
        verb = "looks like row weights" if is_likely else "has the name of row weights and the values of measurements"
        _say(
            f"{_columns(named, verb, '')}: if it counts or weights the rows, pass "
            f"{setting('weights', named[0])}; if it is a variable, pass {kind_option('continuous', named)}.",
            named,
            WEIGHTS if is_likely else MAYBE_WEIGHTS,
        )


def check_meaning(
    labels: Sequence[Hashable],
    levels: Mapping[int, Rule],
    values: Mapping[int, list[Value]],
    codes: Codes,
    wording: Mapping[int, Mapping[Value, Value]],
    values_of: Callable[[int], Sequence[Value]],
) -> None:
    """Warn about the columns of a table that have categories: their rules, the values that occur, and all cells.

    ``wording`` has the labels that values have in the source, and ``values_of(j)`` the values of any column.
    """
    suspected = warn_codes(labels, {j: values[j] for j in levels}, values_of, wording)
    if len(codes) < ROWS_TO_JUDGE:
        return
    ordered = {j: rule for j, rule in levels.items() if rule.kind == "ordinal" and not missing_codes(values[j])[0]}
    spans = {labels[j]: max(rule.scores or ()) for j, rule in ordered.items()}
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
    dates = [labels[j] for j, rule in levels.items() if are_dates(rule.values)]
    if dates:
        _say(f"{_columns(dates, 'holds', 'hold')} dates: leave them out ({drop(dates)}).", dates, "dates")
    _warn_spellings({labels[j]: rule for j, rule in levels.items() if isinstance(rule, Levels)})
    _warn_rare({labels[j]: (rule, codes[:, j], suspected[j]) for j, rule in levels.items() if isinstance(rule, Levels)})
    _warn_skewed({labels[j]: (rule, codes[:, j]) for j, rule in levels.items() if isinstance(rule, Steps)})
    items = [j for j, rule in levels.items() if rule.kind == "ordinal"]
    if FEWEST_ITEMS <= len(items) <= MOST_ITEMS:
        some = slice(None, None, max(1, len(codes) // MOST_ROWS))
        _warn_reversed([labels[j] for j in items], np.stack([codes[some, j] for j in items]))


def warn_measured(columns: Mapping[Hashable, Rule]) -> None:
    """Say which columns were read as numbers because they can be nothing else, and how."""
    names = list(columns)
    grids = [f"{called(name)}: {rule.in_words}" for name, rule in columns.items() if isinstance(rule, Steps)]
    them = "it" if len(names) == 1 else "them"
    weights = [name for name in names if is_weight(name)]
    hint = f" If {weights[0]!r} holds row weights, pass {setting('weights', weights[0])}." if weights else ""
    _say(
        f"{_columns(names, 'holds', 'hold')} numbers and {'is' if len(names) == 1 else 'are'} read as continuous "
        f"({listed(grids, _LISTED, sep='; ')}). If this is what you want, pass "
        f"{kind_option('continuous', names)}; "
        f"otherwise cut {them} ({setting('binarize', python='binarize={…: …}')}), or leave {them} out ({drop(names)})."
        f"{hint}",
        names,
        "read as a number",
    )


def warn_codes(
    labels: Sequence[Hashable],
    columns: Mapping[int, Sequence[Value]],
    values_of: Callable[[int], Sequence[Value]],
    wording: Mapping[int, Mapping[Value, Value]] | None = None,
) -> Mapping[int, Collection[Value]]:
    """Warn about codes and words of missing answers, columns with the same ones together; return them by column.

    A value may also have the label of a missing answer: ``wording`` has the labels of each column. Where another column
    has the same value as an answer, by ``values_of``, the advice names the columns.
    """
    columns_by_code: dict[tuple[Value, ...], list[int]] = defaultdict(list)
    doubts: dict[int, list[tuple[int, tuple[int, ...]]]] = defaultdict(list)
    plain: dict[int, int] = defaultdict(int)  # columns without such a code, by the top of their scale
    for j, values in columns.items():
        sure, doubtful = missing_codes(values)
        called_so = (wording or {}).get(j, {})
        refused = [value for value in values if no_answers([called_so.get(value)])]
        if codes := tuple(dict.fromkeys((*sure, *no_answers(values), *refused))):
            columns_by_code[codes].append(j)
        codes_of_column = {*sure, *doubtful, math.inf, -math.inf}
        numbers = [value for value in values if is_number(value) and value not in codes_of_column]
        top = int(max(numbers)) if numbers else 0
        if doubtful:
            doubts[top].append((j, doubtful))
        else:
            plain[top] += 1
    for top, group in doubts.items():
        # 9 behind 1 to 5 leaves out more than an answer that was not given; 7 may be one.
        if len(group) > max(1, plain[top]) or min(min(codes) for _, codes in group) > top + 2:
            codes_of_group = tuple(sorted({code for _, codes in group for code in codes}))
            columns_by_code[codes_of_group] += [j for j, _ in group]
    suspected: dict[int, set[Value]] = defaultdict(set)
    for codes, places in columns_by_code.items():
        for j in places:
            suspected[j].update(codes)
    for codes, places in columns_by_code.items():
        names, gone = [labels[j] for j in places], spell_out(codes)
        shown = [value for value in dict.fromkeys(v for j in places for v in columns[j]) if value not in codes]
        elsewhere = any(gone & ({*values_of(j)} - suspected.get(j, set())) for j in range(len(labels)))
        remedy = make_missing(codes, labels, places if elsewhere else ())
        _say(
            f"{_columns(names, 'has', 'have')} {show_values(codes, _SHOWN)} besides {show_values(shown)}."
            f" If {'it stands' if len(codes) == 1 else 'they stand'} for a missing answer, pass {remedy}.",
            names,
            f"{show_values(codes, 3)} missing?",
        )
    return suspected


def _warn_spellings(columns: Mapping[Hashable, Levels]) -> None:
    """Warn about categories that differ in case or blanks only."""
    for label, rule in columns.items():
        alike: dict[str, dict[str, int]] = defaultdict(dict)
        for word, code in sorted((word, code) for word, code in rule.entries.items() if isinstance(word, str)):
            alike[" ".join(word.casefold().split())][word] = code
        apart = next((same for same in alike.values() if len(set(same.values())) > 1), None)
        if apart is not None:
            numbers = {word: k for k, same in enumerate(alike.values()) for word in same}
            remedy = setting("encode", {label: _shorten(numbers)})
            _say(
                f"{_columns([label], 'has', '')} {show_values(apart)}, which differ only in case or blanks. If "
                f"they are one answer, give them the same number: {remedy}.",
                [label],
                "spellings",
            )


def _warn_rare(columns: Mapping[Hashable, tuple[Levels, Codes, Collection[Value]]]) -> None:
    """Warn about categories of few rows, and show how those of the first column are merged with their neighbors.

    Values that may stand for a missing answer, given with each column, are no categories here.
    """
    rare: list[str] = []
    merged: dict[Hashable, dict[Value, float | None]] = {}
    for label, (rule, codes, suspected) in columns.items():
        if rule.n_categories > 2:
            for rows in (codes[:ROWS_TO_SCREEN], codes):  # most categories are not rare among the first rows
                counts = np.bincount(rows.astype(np.intp) + 2, minlength=rule.n_categories + 2)[2:]
                if counts.min() >= FEW_ROWS:
                    break
            kept = [k for k, value in enumerate(rule.values) if value not in suspected]
            few = [k for k in kept if 0 < counts[k] < FEW_ROWS]
            if few:
                rare += [f"{called(label)}: {rule.values[k]!r} ({counts[k]})" for k in few]
                merged[label] = _merge(rule, counts, kept)
    if rare:
        constant = [label for label, numbers in merged.items() if len({*numbers.values()} - {None}) < 2]
        examples = [item for item in merged.items() if item[0] not in constant]
        remedies = []
        if examples:
            label, numbers = min(examples, key=lambda item: len(item[1]) > _WRITTEN)  # the first that is short
            example = setting("encode", {label: _shorten(numbers)})
            remedies.append(f" To merge categories, give them the same number: {example}.")
        if constant:
            whose, them = _columns(constant, "has", "have"), "it" if len(constant) == 1 else "them"
            remedies.append(f" Once they are merged, {whose} a single category: leave {them} out ({drop(constant)}).")
        _say(
            f"some categories have fewer than {FEW_ROWS} rows: {listed(rare, _LISTED)}. Their couplings cannot be "
            f"estimated reliably.{''.join(remedies)}",
            list(merged),
            "rare category",
        )


def _merge(rule: Levels, counts: IntArray, kept: Sequence[int]) -> dict[Value, float | None]:
    """Return numbers of values by which every rare category is put together with those below it, or above the lowest.

    None stands for a missing answer. Only ``kept`` categories are named.
    """
    groups: list[list[int]] = []
    for k in kept:
        if not groups or (counts[k] >= FEW_ROWS and counts[groups[-1]].sum() >= FEW_ROWS):
            groups.append([])
        groups[-1].append(k)
    numbers: dict[int, float] = {}
    for number, group in enumerate(groups):
        score = float(number if rule.scores is None else rule.scores[max(group, key=counts.__getitem__)])
        numbers |= dict.fromkeys(group, int(score) if score.is_integer() else score)
    ordered = sorted(rule.entries.items(), key=lambda entry: entry[1])
    return {value: numbers[code] for value, code in ordered if code in numbers} | dict.fromkeys(rule.missing)


def _shorten(numbers: Mapping[Value, float | None]) -> dict[Value, float | None]:
    """Return what values mean; of many, the first few."""
    if len(numbers) <= _WRITTEN:
        return dict(numbers)
    return {**dict(islice(numbers.items(), _WRITTEN)), "…": None}


def _warn_skewed(columns: Mapping[Hashable, tuple[Steps, Codes]]) -> None:
    """Warn about numbers with a long tail, in which couplings can hardly be linear."""
    skewed = []
    for label, (rule, codes) in columns.items():
        cells = codes[codes >= 0].astype(np.float64)
        away = cells - cells.mean()
        if not rule.is_normal and abs((away**3).mean()) > SKEWNESS * (away**2).mean() ** 1.5:
            skewed.append(label)
    if skewed:
        python = _mapping("scores", skewed, "normal")
        _say(
            f"{_columns(skewed, 'has', 'have')} a long tail, and couplings are linear in the values. Take "
            f"logarithms first, or use ranks instead with {setting('normal_scores', skewed, python=python)}.",
            skewed,
            LONG_TAIL,
        )


def _warn_reversed(labels: list[Hashable], codes: Codes) -> None:
    """Warn about items, a row each, that are negatively correlated with the others of their battery.

    The battery is the whole table or, if that is none, a scale: columns whose names differ in a number at the end.
    """
    scales: dict[str, list[int]] = defaultdict(list)
    for k, label in enumerate(labels):
        scales[str(label).rstrip("0123456789")].append(k)
    long = [scale for scale in scales.values() if len(scale) >= FEWEST_ITEMS]
    places = _find_reversed(codes)
    if places is None:
        each = [(scale, _find_reversed(codes[scale])) for scale in long if len(scale) < len(codes)]
        places = [scale[k] for scale, turned in each for k in turned or ()]
    for scale in long:  # a whole scale against the others is the other pole of a trait, not its wording
        places = [k for k in places if k not in scale] if set(scale) <= set(places) else places
    if places:
        turned = [labels[k] for k in sorted(places)]
        _say(
            f"{_columns(turned, 'runs', 'run')} against the direction of the others: if the wording is "
            f"reversed, recode {'it' if len(turned) == 1 else 'them'} with {setting('reverse', _keys(turned))}.",
            turned,
            REVERSED,
        )


def _find_reversed(codes: Codes) -> list[int] | None:
    """Return the items, a row each, that run against the others; None if they are no battery."""
    cells = np.where(codes < 0, 0.0, codes)
    means = cells.sum(axis=1) / np.maximum((codes >= 0).sum(axis=1), 1)
    cells = np.where(codes < 0, 0.0, cells - means[:, None])
    size = np.sqrt((cells**2).sum(axis=1))
    if not size.all():
        return None
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
    return turned if len(turned) <= REVERSED_SHARE * n and positive.mean() > POSITIVE_SHARE else None


def make_missing(codes: Sequence[Value], labels: Sequence[Hashable] = (), places: Sequence[int] = ()) -> str:
    """Say how to make codes missing, in all columns or at some places: ``--na 99``, in Python ``na_values=[99]``."""
    python = ", ".join(
        f"float('{code}')" if isinstance(code, float) and not math.isfinite(code) else repr(code) for code in codes
    )
    if not places:
        return setting("na_values", {None: list(map(str, codes))}, python=f"na_values=[{python}]")
    keys = name_ranges(_keys(labels), places)
    entries = [*(f"{key!r}: [{python}]" for key in keys[:_LISTED]), *(["…"] if len(keys) > _LISTED else [])]
    words = {key: list(map(str, codes)) for key in keys}
    return setting("na_values", words, python=f"na_values={{{', '.join(entries)}}}")


def _columns(labels: Sequence[Hashable], singular: str, plural: str) -> str:
    """Return the subject of a sentence, with its verb."""
    shown = listed(list(map(called, labels)), _LISTED)
    return f"column {shown} {singular}" if len(labels) == 1 else f"{len(labels)} columns ({shown}) {plural}"


def kind_option(kind: str, labels: Sequence[Hashable]) -> str:
    """Return the mention of the option by which columns have a kind."""
    return setting(kind, labels, python=_mapping("kinds", labels, kind))


def _mapping(argument: str, labels: Sequence[Hashable], word: str) -> str:
    """Return an argument that says one thing of all columns, as Python has it; some of them if there are many."""
    more = ", …" if len(labels) > _LISTED else ""
    return f"{argument}={str(dict.fromkeys(labels[:_LISTED], word))[:-1]}{more}}}"


def _say(text: str, columns: Sequence[Hashable], note: str) -> None:
    warn(MeaningWarning(text[0].upper() + text[1:], tuple(columns), note))


def check_columns(
    codes: Bytes, variables: Variables, sources: Sequence[Sequence[Hashable]], holes: Mask | None = None
) -> None:
    """Warn about columns that are copies or opposites of others, and about sets of indicator columns.

    ``sources`` has the columns of the file or frame that each is made of, as options call them; ``holes`` tells which
    cells are missing.
    """
    if len(codes) < ROWS_TO_JUDGE:
        return
    is_binary = np.array([kind == "binary" for kind in variables.kinds])
    labels: Sequence[Hashable] = variables.names if variables.named else [columns[0] for columns in sources]
    sets = indicator_sets(codes, is_binary, variables.names if variables.named else None)
    _warn_indicators([[labels[j] for j in group] for group, _ in sets])
    groups = dependent_columns(codes, is_binary, holes)
    if groups:
        shown = [" = ".join(called(labels[j]) for j in group[:3]) for group in groups]
        redundant = [column for group in groups for j in group[1:] for column in sources[j]]
        _say(
            f"{sum(map(len, groups))} columns are copies or exact opposites of each other: "
            f"{listed(shown, _LISTED, sep='; ', noun=' groups')}. Leave out all but one of each group "
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
        from_others = [listed([called(labels[j]) for j in group[1:]], _LISTED) for group in found]
        shown = [f"{called(label)} from {others}" for label, others in zip(computed, from_others, strict=True)]
        count, it = ("a column", "it") if len(found) == 1 else (f"{len(found)} columns", "each of them")
        _say(
            f"{count} can be computed from others, as a total or a difference can: "
            f"{listed(shown, _LISTED, sep='; ')}. Given all others, none of these columns varies: their couplings grow "
            f"until the penalty stops them, their other edges are unreliable, and the fit takes long. Leave {it} out, "
            f"or one of the others ({drop(computed)}).",
            computed,
            "computed",
        )


def _warn_indicators(sets: Sequence[Sequence[Hashable]]) -> None:
    if sets:
        members = [label for group in sets for label in group]
        shown = [f"{called(group[0])} to {called(group[-1])} ({len(group)})" for group in sets]
        python = "as_table(…, combine_indicators=True), also in read_table"
        counted = "one variable" if len(sets) == 1 else f"{len(sets)} variables"
        _say(
            f"{len(members)} columns are indicators of {counted}, at most one of a set is 1 in any row: "
            f"{listed(shown, _LISTED, sep='; ')}. Edges within a set hide those between variables: combine each set "
            f"into one column with {setting('combine_indicators', True, python=python)}.",
            members,
            "indicator",
        )


def drop(labels: Sequence[Hashable]) -> str:
    """Return the mention of the option that leaves columns out."""
    return setting("drop", _keys(labels), python=f"drop={_keys(labels)} in read_table")


def _keys(labels: Sequence[Hashable]) -> list[str | int]:
    """Return what options call columns."""
    return [label if isinstance(label, int) else str(label) for label in labels]


def warn_dropped(gone: Mask, n_kept: int) -> None:
    """Say what was left out, where that is much."""
    n_rows, n_dropped = len(gone), len(gone) - n_kept
    if n_rows >= ROWS_TO_JUDGE and n_dropped > DROPPED_SHARE * n_rows:
        warn(
            DataWarning(
                f"{setting('missing', 'drop')} left out {n_dropped} of {n_rows} rows ({n_dropped / n_rows:.0%}) for "
                f"{int(gone.sum())} missing cells ({gone.mean():.1%}). The remaining rows may not be "
                f"representative. Choose {setting('missing', 'impute')} to use all answers."
            )
        )


def warn_zeroed(gone: Mask, where: Callable[[int], str]) -> None:
    """Say what became 0, where that can hardly be meant: whole rows, or many cells of a column."""
    empty, shares = int(gone.all(axis=1).sum()), gone.mean(axis=0)
    worst = int(shares.argmax())
    said = []
    if empty and gone.shape[1] > 1:
        said.append(f"{empty} of {len(gone)} rows have no answer at all and are now rows of 0")
    if len(gone) >= ROWS_TO_JUDGE and (shares.mean() > ZERO_SHARE or shares[worst] > ZERO_SHARE_OF_COLUMN):
        said.append(
            f"{int(gone.sum())} missing cells ({gone.mean():.1%}) became 0, {shares[worst]:.0%} of the cells in "
            f"{where(worst)}"
        )
    if said:
        warn(
            DataWarning(
                f"{setting('missing', 'zero')}: {'; '.join(said)}. Unless a missing cell means 0, this hides "
                f"some dependences and creates spurious ones. Choose {setting('missing', 'impute')}."
            )
        )


def warn_of_kind(kind: str, total: float, effective: float, n_rows: int) -> None:
    """Say how weights of unknown kind are understood, where their sum is far from the number of rows."""
    if kind == "counts":
        if total < MEAN_COUNT * n_rows:
            return
        taken = f"they are whole numbers and count as {total:.6g} rows"
        remedy = f"State what they are where the table is read: {setting('weight_kind', 'counts')} or "
    else:
        if n_rows / SUM_RATIO <= total <= SUM_RATIO * n_rows or abs(total - effective) <= 1e-9 * effective:
            return
        taken = f"they are not whole numbers, so their scale is ignored and they count as {effective:.6g} rows"
        remedy = "If this is what you want, state it where the table is read: "
    warn(
        MeaningWarning(
            f"The weights have the sum {total:.6g} over {n_rows} rows and are treated as {_WEIGHTS[kind]}: {taken}. "
            f"{remedy}{setting('weight_kind', 'sampling')}."
        )
    )
