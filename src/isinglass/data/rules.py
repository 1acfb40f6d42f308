"""A rule for every column: as the user says, as the source declares, or as the values show.

`specify` collects what is known about each column, and `find_rules` has one builder for each kind of rule: `_read_cut`,
`_two_values`, `_levels` and `_grid`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from isinglass.arrays import FloatArray
from isinglass.data.coding import BITS, Cut, Levels, Rule, Steps, by_column
from isinglass.data.grid import equal_steps, normal_steps
from isinglass.data.guards import MANY_LEVELS, warn_measured
from isinglass.data.options import ValueOptions
from isinglass.data.source import Column, Source
from isinglass.data.values import Value, is_bit, is_number, rank, read_cell, read_word, show_value, show_values
from isinglass.errors import ArgumentError, CellTypeError, DataError, setting
from isinglass.variables import KINDS, MAX_CATEGORIES, find_covariates

MOST_STEPS = MAX_CATEGORIES - 1
"""Of equal length from the smallest to the largest score."""
CATEGORIES_TO_CHECK = 5
"""Categories from which on their number is compared with that of the rows."""
_RELATIVE_ROUNDING = 1e-9
EPSILON = float(np.finfo(np.float64).eps)

# Words whose meaning is known, 0 before 1; compared without regard to case.
_KNOWN = (
    *(("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("off", "on"), ("nay", "yea"), ("0", "1")),
    *(("absent", "present"), ("negative", "positive"), ("disagree", "agree"), ("incorrect", "correct")),
    *(("wrong", "right"), ("fail", "pass"), ("never", "ever"), ("-", "+")),
)
_DROP = setting("drop", python="drop=[…] in read_table")
_ORDINAL, _NOMINAL, _CONTINUOUS = (
    setting(kind, python=f'kinds="{kind}"') for kind in ("ordinal", "nominal", "continuous")
)
SAY_KIND = (
    f"If these are categories, say whether they have an order ({_ORDINAL}) or not ({_NOMINAL}); if they are numbers, "
    f"say so ({_CONTINUOUS})."
)
SAY_ALL = (
    f"Say what each value means ({setting('encode', python='encode={…: 0, …: 1, …: None}')}), choose a threshold for "
    f"numbers ({setting('binarize', python='binarize=…')}), or leave the column out ({_DROP})."
)
_GIVE_NUMBERS = setting("encode", python="encode={…: 0, …: 1, …: 2}")
Pair = tuple[Value, Value]
"""The values that stand for 0 and for 1; None for one that never occurs."""


@dataclass(frozen=True, eq=False)
class ColumnSpec:
    """What is known about a column before its values have a meaning: what the user states, and what it is itself."""

    source: Source
    place: int  # in the source
    label: Hashable  # name or number
    kind: str | None  # stated, or implied by the scores
    scores: Value  # numbers, a mapping of values to numbers, or "normal"
    meaning: Mapping[Value, Value] | None  # what `encode` says about its values
    is_named: bool  # whether `encode` names the column
    is_auto: bool  # whether its two values are to be found
    cut: Cut | None  # a threshold
    is_reversed: bool
    missing: Collection[Value]  # values that stand for a missing cell
    is_covariate: bool = False

    @cached_property
    def column(self) -> Column:
        """Its cells, with labels in place of the values if all have one.

        0 and 1 keep their values, unless `encode` speaks of the labels. Of labels for 1 and 2, 1 is the first category,
        also where 2 never occurs.
        """
        raw = self.source.column(self.place)
        return raw.labeled() if self._answers else raw

    @cached_property
    def _answers(self) -> Mapping[Value, Value]:
        """The values with their labels, if labels are the categories; else nothing."""
        raw = self.source.column(self.place)
        present, answers = set(raw.distinct), raw.answers if raw.labels else {}
        are_bits = present <= {0, 1} and (not present or 0 in answers or answers.keys() <= {0, 1})
        are_meant = self.meaning is not None and any(label in self.meaning for label in answers.values())
        return answers if present <= answers.keys() and (are_meant or not are_bits) else {}

    def finish(self, rule: Rule) -> Rule:
        """Return a rule with all that holds for other tables: labels, and values that stand for a missing cell."""
        if isinstance(rule, Levels) and self._answers:
            rule = replace(rule, labels=self._answers)
        return rule.with_missing([*self.missing, *self.declared_missing])

    @cached_property
    def values(self) -> list[Value]:
        """The values that occur."""
        return self.column.distinct

    @property
    def where(self) -> str:
        """What messages call it."""
        return self.source.where(self.place)

    @property
    def remark(self) -> str:
        """What messages add about its values, sentences or nothing."""
        return self.source.remark_column(self.place)

    @property
    def declared(self) -> str | None:
        """Its kind by the type that it has in the source; numbers declare none."""
        return None if self.source.block is not None else self.column.declared

    @property
    def found_kind(self) -> str | None:
        """Its kind as stated; else as declared, unless something is said about its values."""
        is_open = self.kind is None and self.cut is None and self.meaning is None
        return self.declared if is_open else self.kind

    @property
    def is_measured(self) -> bool:
        """Whether it can only be a number: nothing is stated, and it has fractions and too many values otherwise."""
        if self.found_kind is not None or self.cut is not None or self.is_named or not self.column.has_fractions:
            return False
        numbers = all(map(is_number, self.values))
        return len(self.values) > MANY_LEVELS and numbers and not all(float(v).is_integer() for v in self.values)

    @property
    def is_meant(self) -> bool:
        """Whether `encode` speaks of its values."""
        return self.is_named or (self.meaning is not None and any(value in self.meaning for value in self.values))

    @property
    def declared_missing(self) -> list[Value]:
        """The values that `encode` declares missing."""
        return [value for value, number in (self.meaning or {}).items() if number is None]

    @property
    def numbers_by_value(self) -> dict[Value, Value] | None:
        """What `encode` or `scores` say about the values of a column with categories, which are not missing."""
        if isinstance(self.scores, Mapping):
            return dict(self.scores)
        if not self.is_meant:
            return None
        numbers = {value: number for value, number in (self.meaning or {}).items() if number is not None}
        if self.is_named or len(set(numbers.values())) == len(numbers):
            return numbers
        # For columns of several kinds, yes=1 and often=1: the categories of this one are those that occur in it.
        return {value: number for value, number in numbers.items() if value in self.values}


def specify(source: Source, stated: ValueOptions) -> list[ColumnSpec]:
    """Return what is stated about every column."""
    p, encode, binarize, kinds = source.shape[1], _read_words(stated.encode, source), stated.binarize, stated.kinds
    if stated.scores is not None and not isinstance(stated.scores, Mapping):
        raise ArgumentError("scores", "must be a mapping of columns to numbers", stated.scores)
    if encode is not None and encode != "auto" and (not isinstance(encode, Mapping) or not encode):
        allowed = 'None, "auto", a mapping such as {"Yes": 1, "No": 0}, or one of these per column'
        raise ArgumentError("encode", f"must be {allowed}", encode)
    if binarize is not None and not isinstance(binarize, Mapping):
        if encode is not None:
            raise DataError(
                f"{setting('encode', *(['auto'] if encode == 'auto' else []))} and {setting('binarize')} must not be "
                f"combined, unless {setting('binarize')} names columns."
            )
        binarize = dict.fromkeys(range(p), binarize)
    stated_kinds = {} if kinds is None else source.locate(kinds, "kinds") if isinstance(kinds, Mapping) else kinds
    kinds_of_columns = list_kinds(stated_kinds, range(p), None)
    scores = source.locate(stated.scores or {}, "scores")
    named = source.locate(encode, "encode") if by_column(encode) else {}
    for_all = encode if isinstance(encode, Mapping) and not by_column(encode) else None
    cuts = {j: _read_cut(cut) for j, cut in source.locate(binarize or {}, "binarize").items()}
    missing = stated.missing_in(source)
    reversed_columns = source.locate(dict.fromkeys(stated.reverse), "reverse")
    covariates = find_covariates(list(source.locate(dict.fromkeys(stated.covariates), "covariates")), range(p))
    specs = [
        ColumnSpec(
            source,
            place=j,
            label=label,
            kind=kinds_of_columns[j] or _implied_kind(scores.get(j)),
            scores=scores.get(j),
            meaning=named.get(j, for_all),
            is_named=j in named,
            is_auto=encode == "auto",
            cut=cuts.get(j),
            is_reversed=j in reversed_columns,
            missing=[read_word(value) for value in missing.get(j, ())],
            is_covariate=j in covariates,
        )
        for j, label in enumerate(source.labels)
    ]
    return [replace(spec, kind=_covariate_kind(spec)) if spec.is_covariate else spec for spec in specs]


def _read_words(encode: Value, source: Source) -> Value:
    """Return ``encode`` with its words read as the cells of a text file are."""
    if by_column(encode):
        return {label: _read_words(entry, source) for label, entry in encode.items()}
    if source.decimal is None or not isinstance(encode, Mapping):
        return encode
    return {read_cell(word, source.decimal) if isinstance(word, str) else word: bit for word, bit in encode.items()}


def _covariate_kind(spec: ColumnSpec) -> str | None:
    """Return the kind of a covariate; where nothing is said, numbers are numbers and texts have no order."""
    is_stated = spec.found_kind is not None or spec.cut is not None or spec.is_named
    if is_stated or all(map(is_bit, spec.values)):
        return spec.kind
    return "continuous" if len(spec.values) > 2 and all(map(is_number, spec.values)) else "nominal"


def _implied_kind(scores: Value) -> str | None:
    if scores is None:
        return None
    return "continuous" if isinstance(scores, str) and scores == "normal" else "ordinal"


def find_rules(specs: Sequence[ColumnSpec]) -> tuple[list[Rule], list[int]]:
    """Return the rule of every column, and which columns have categories, as the user says or the source declares."""
    kinds = {j: spec.found_kind for j, spec in enumerate(specs) if spec.found_kind not in (None, "binary")}
    if all(spec.kind is None for spec in specs) and not any(_has_more(specs[j]) for j in kinds):
        kinds = {}
    source = specs[0].source  # of an array, or of whole numbers, one type holds for all columns
    is_open = not source.is_array and (source.block is None or source.block.dtype.kind == "f")
    measured = [j for j, spec in enumerate(specs) if is_open and spec.is_measured]
    kinds |= dict.fromkeys(measured, "continuous")
    rules: dict[int, Rule] = {}
    for j, spec in enumerate(specs):
        _check_scores_fit(spec, kinds.get(j, spec.kind))
        if j in kinds:
            if spec.cut is not None:
                raise DataError(
                    f"{setting('binarize')} and {setting('kinds')} must not name the same column; got {spec.where}."
                )
            has_grid = kinds[j] == "continuous" and len(set(spec.values) - set(spec.declared_missing)) > 2
            rules[j] = _grid(spec) if has_grid else _levels(spec, "nominal" if kinds[j] == "nominal" else "ordinal")
    if measured:
        warn_measured({specs[j].label: rules[j] for j in measured})
    rules |= {j: _turn(rules.get(j, BITS), spec.where) for j, spec in enumerate(specs) if spec.is_reversed}
    levels = sorted(rules)
    others = [j for j in range(len(specs)) if j not in rules]
    rules |= zip(others, _two_values([specs[j] for j in others], only_bits=bool(levels)), strict=True)
    return [spec.finish(rules[j]) for j, spec in enumerate(specs)], levels


def _turn(rule: Rule, where: str) -> Levels:
    """Return the rule of an ordered column in the other direction: the last category comes first."""
    if not isinstance(rule, Levels):
        raise DataError(
            f"{setting('reverse')} must name columns of ordered categories; got {where}, which is "
            f"continuous. Change the sign of its values instead."
        )
    if rule.scores is None or rule is BITS:
        raise DataError(
            f"{setting('reverse')} must name columns with an order; got {where}. Declare it as one "
            f"({setting('ordinal')})."
        )
    ends, last = min(rule.scores) + max(rule.scores), rule.n_categories - 1
    turned = sorted(((value, last - code) for value, code in rule.entries.items()), key=lambda entry: entry[1])
    scores = tuple(ends - score for score in rule.scores[::-1])
    return replace(rule, entries=dict(turned), scores=scores, is_reversed=True)


def _has_more(spec: ColumnSpec) -> bool:
    """Tell whether a categorical column has more than two categories; with encode="auto", more than two that occur."""
    categories = spec.column.categories
    return len(spec.values if categories is None or spec.is_auto else categories) > 2


def _check_scores_fit(spec: ColumnSpec, kind: str | None) -> None:
    """Refuse scores that a column of this kind cannot have."""
    scores, where = spec.scores, spec.where
    if scores is None:
        return
    if kind == "continuous":
        if not (isinstance(scores, str) and scores == "normal"):
            raise ArgumentError("scores", f'must be "normal" for {where}, which is continuous', scores)
    elif isinstance(scores, str):
        constraint = f'must be numbers for {where}, which is {kind}; "normal" is for continuous columns'
        raise ArgumentError("scores", constraint, scores)
    elif kind != "ordinal":
        raise DataError(f"{setting('scores')} must be for ordinal columns; got some for {where}, which is {kind}.")
    elif isinstance(scores, Mapping) and len(set(scores.values())) < len(scores):
        raise ArgumentError("scores", f"must be different numbers for {where}", scores)


# Numbers above and below a threshold


def _read_cut(binarize: object) -> Cut:
    if isinstance(binarize, bool | np.bool_) or not is_number(binarize) or not np.isfinite(binarize):
        raise ArgumentError("binarize", "must be None or a finite number", binarize)
    return Cut(float(binarize))


# Numbers on a grid


def _grid(spec: ColumnSpec) -> Steps:
    """Return the grid of a continuous column."""
    missing = {None, *spec.declared_missing}
    numbers = [cell for cell in spec.column.entries.tolist() if cell not in missing]
    not_finite = [number for number in numbers if not is_number(number) or not math.isfinite(number)]
    if not_finite:
        raise DataError(
            f"{spec.where} must hold finite numbers to be continuous; got {show_values(set(not_finite))}. Make these "
            f"cells missing ({setting('na_values', not_finite[0])}), or leave the column out ({_DROP}).{spec.remark}"
        )
    values = np.array(numbers, dtype=np.float64)
    return normal_steps(values) if spec.scores == "normal" else equal_steps(values, is_fine=spec.is_covariate)


# Categories with an order or without


@dataclass(frozen=True)
class Categories:
    """The categories of a column, in their order."""

    values: list[Value]  # one of each
    numbers: list[float] | None = None  # as stated for each
    merged: Mapping[Value, int] = field(default_factory=dict)  # other values, and the category that each belongs to


def _levels(spec: ColumnSpec, kind: str) -> Levels:
    """Return the rule of an ordinal or nominal column; it is binary if it has two categories without scores."""
    found = _find_categories(spec, kind)
    _check_count(found.values, spec)
    scores = found.numbers if spec.scores is None or isinstance(spec.scores, str | Mapping) else spec.scores
    values = found.values
    if len(values) <= 2 and scores is found.numbers:
        return _merge_two(found, _pair(values, spec.column, kind))
    entries = {value: k for k, value in enumerate(values)} | dict(found.merged)
    if kind == "nominal":
        return Levels(entries, kind, None)
    if scores is not None:
        return Levels(entries, kind, tuple(check_scores(scores, len(values), spec.where)))
    if all(map(is_number, values)) and values == sorted(values):
        return Levels(entries, kind, tuple(steps_of(values, spec.where)))
    return Levels(entries, kind, tuple(map(float, range(len(values)))))


def _merge_two(found: Categories, pair: Pair) -> Levels:
    """Return the rule of at most two categories, which may be in another order."""
    bits = [pair.index(value) for value in found.values]
    entries = {value: bit for bit, value in enumerate(pair) if value is not None}
    return Levels(entries | {value: bits[k] for value, k in found.merged.items()})


def _find_categories(spec: ColumnSpec, kind: str) -> Categories:
    """Return the categories of a column: as stated, as declared by its source, or its values in ascending order."""
    numbers = spec.numbers_by_value
    if numbers is not None:
        return _merge_values(numbers, spec)
    return Categories((_plain_values if spec.column.categories is None else _declared_values)(spec, kind))


def _merge_values(numbers: Mapping[Value, Value], spec: ColumnSpec) -> Categories:
    """Return a category for every number that ``encode`` or ``scores`` gives to values, in the order of these."""
    for value, number in numbers.items():
        if not is_number(number) or not math.isfinite(number):
            raise ArgumentError("encode", f"must map {value!r} to a number or None (missing)", number)
    unknown = [value for value in spec.values if value not in numbers and value not in spec.declared_missing]
    if unknown:
        raise DataError(
            f"{setting('encode')} must say what every value means; got {show_values(unknown)} in {spec.where}, which "
            f"is not in it. Add them."
        )
    first: dict[float, Value] = {}
    for value in sorted(numbers, key=lambda value: float(numbers[value])):
        first.setdefault(float(numbers[value]), value)
    places = {number: k for k, number in enumerate(first)}
    merged = {value: places[float(number)] for value, number in numbers.items() if value not in first.values()}
    return Categories(list(first.values()), list(first), merged)


def _declared_values(spec: ColumnSpec, kind: str) -> list[Value]:
    """Return the categories that the source declares, in its order; labels have that of their values."""
    column = spec.column
    values = list(column.categories or ())
    words = all(isinstance(value, str) for value in values)
    if kind == "ordinal" and len(values) > 2 and column.declared == "nominal" and words:
        raise DataError(
            f"{spec.where} must be an ordered categorical to be ordinal; got one whose categories have no order "
            f"({show_values(values)}). Use pandas.Categorical(…, categories=[…], ordered=True), or give each value its "
            f"number: {_GIVE_NUMBERS}."
        )
    if column.declared != "ordinal" and all(is_number(value) for value in values):
        values = sorted(values)
    return values


def _plain_values(spec: ColumnSpec, kind: str) -> list[Value]:
    """Return the values of a column of numbers or of text, in ascending order."""
    seen, where = spec.values, spec.where
    if all(is_number(value) for value in seen):
        if not all(math.isfinite(value) for value in seen):
            raise DataError(f"{where} must hold finite numbers to have categories; got {show_values(seen)}.")
        return [int(value) if float(value).is_integer() else float(value) for value in sorted(seen)]
    if not all(isinstance(value, str) for value in seen):
        if any(isinstance(value, str) for value in seen) and all(isinstance(v, str) or is_number(v) for v in seen):
            raise DataError(
                f"{where} must hold numbers or text, not both, to have categories; got {show_values(seen)}. "
                f"Convert all of them to text, or say which values are missing.{spec.remark}"
            )
        odd = next(value for value in seen if not isinstance(value, str) and not is_number(value))
        raise CellTypeError(
            f"{where} must hold numbers or text to have categories; got {show_value(odd)}, which is a "
            f"{type(odd).__name__}."
        )
    if kind == "ordinal" and len(seen) > 2:
        raise DataError(
            f"{where} needs an order of its categories to be ordinal; got {show_values(seen)}. Give each a "
            f"number ({_GIVE_NUMBERS}), use an ordered categorical, or declare the column as nominal.{spec.remark}"
        )
    return sorted(str(value) for value in seen)


def _check_count(values: list[Value], spec: ColumnSpec) -> None:
    """Refuse a column with too many categories, or with too few rows for them."""
    q, where, n_rows = len(values), spec.where, spec.source.shape[0]
    number = f"If they are numbers, say so ({_CONTINUOUS}). " if all(map(is_number, values)) else ""
    if q > MAX_CATEGORIES:
        raise DataError(
            f"{where} must have at most {MAX_CATEGORIES} categories; got {q} different values. "
            f"{number}Otherwise merge them into fewer categories, or leave the column out ({_DROP}).{spec.remark}"
        )
    if has_too_many(q, n_rows):
        raise DataError(
            f"{where} must have fewer categories than there are rows to learn from; got {q} in {n_rows} rows. "
            f"{number}If the column holds row names, leave it out ({_DROP}); otherwise merge its values into "
            f"fewer categories.{spec.remark}"
        )


def has_too_many(n_values: int, n_rows: int) -> bool:
    """Tell whether a column has too many values to be categories."""
    return n_values > MAX_CATEGORIES or (n_values >= CATEGORIES_TO_CHECK and 2 * n_values > n_rows)


def check_scores(points: Value, n_categories: int, where: str) -> list[float]:
    """Return where every category lies, from the lowest on: only distances matter, and an offset would only round.

    Takes one finite number per category, all different; ``where`` is what messages call the column.
    """
    try:
        numbers = [float(point) for point in points]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) != n_categories or not all(map(math.isfinite, numbers)):
        raise ArgumentError(
            "scores", f"must be one finite number for each of the {n_categories} categories of {where}", points
        )
    if len(set(numbers)) < len(numbers):
        raise ArgumentError("scores", f"must be different numbers for {where}", points)
    lowest = min(numbers)
    above = np.array([point - lowest for point in numbers])
    if not np.isfinite(above).all():
        raise ArgumentError("scores", f"must have finite distances for {where}", points)
    steps = whole_steps(above, 4.0 * EPSILON * max(map(abs, numbers)))
    if steps is not None:
        above = steps[0] * steps[1]
    return [float(score) for score in above]


def whole_steps(above: FloatArray, error: float) -> tuple[FloatArray, float] | None:
    """Return scores from 0 on as whole numbers of equal steps, and the step; None if they are no such numbers.

    ``error`` is the rounding error of the scores. A step that is off by more is no rounding, and not corrected.
    """
    smallest = float(above[above > 0.0].min())
    for parts in range(1, MOST_STEPS + 1):
        steps = above / (smallest / parts)
        most = float(steps.max())
        if most > MOST_STEPS + 0.5:
            break
        whole = steps.round()
        close = 8.0 * EPSILON * most + error * (parts + most) / smallest
        if np.abs(steps - whole).max() <= min(close, 0.1):
            return whole, float(above.max() / whole.max())
    return None


def steps_of(values: Sequence[Value], where: str) -> list[float]:
    """Return numbers as steps from the smallest, in units of the largest step that all are multiples of."""
    above = np.array([float(value) for value in values]) - float(values[0])
    whole = whole_steps(above, _RELATIVE_ROUNDING * float(above[1])) if len(above) > 1 else (above, 1.0)
    if whole is None:
        raise DataError(
            f"{where} must hold multiples of one step, at most {MOST_STEPS} of them, to be ordinal; got "
            f"{show_values(values)}. Say where its categories lie ({setting('scores', python='scores={…: […]}')}), or "
            f"that they are numbers ({_CONTINUOUS})."
        )
    return [float(step) for step in whole[0]]


def list_kinds(stated: Value, names: Sequence[Value], default: str | None) -> list[Value]:
    """Return a kind per column, from one word, one entry each, or a mapping by name or number."""
    p, kinds = len(names), [default] * len(names)
    if isinstance(stated, Mapping):
        for key, kind in stated.items():
            place = names.index(key) if isinstance(key, str) and key in names else key
            if not (isinstance(place, int) and 0 <= place < p):
                raise ArgumentError("kinds", "must name columns of the table", key)
            kinds[place] = kind
    elif not hasattr(stated, "__len__"):
        raise ArgumentError("kinds", "must be one word, one entry per column, or a mapping", stated)
    else:
        kinds = [stated] * p if isinstance(stated, str) else list(stated)
        if len(kinds) != p:
            raise ArgumentError("kinds", f"must have one entry per column ({p})", len(kinds))
    wrong = [kind for kind in kinds if kind not in (*KINDS, default)]
    if wrong:
        raise ArgumentError("kinds", f"must be {', '.join(KINDS[:-1])} or {KINDS[-1]}", wrong[0])
    return kinds


# Two values


def _two_values(specs: Sequence[ColumnSpec], *, only_bits: bool) -> list[Rule]:
    """Return the rule of every column of two values; ``only_bits``: other numbers in `encode` are for other columns."""
    auto = [spec for spec in specs if spec.cut is None and spec.is_auto]
    pairs = dict(zip(auto, _choose_pairs(auto), strict=True))
    return [spec.cut or pairs.get(spec) or _read_bits(spec, only_bits=only_bits) for spec in specs]


def _read_bits(spec: ColumnSpec, *, only_bits: bool) -> Levels:
    """Return the rule that `encode` states; what it does not speak of, and is 0 and 1 already, stays as it is."""
    if spec.meaning is None:
        return BITS
    bits = {value: bit for value, bit in spec.meaning.items() if bit is not None}
    if only_bits and not spec.is_named:
        bits = {value: bit for value, bit in bits.items() if bit in (0, 1)}
    for value, bit in bits.items():
        if bit not in (0, 1):
            raise ArgumentError("encode", f"must map {value!r} to 0, 1 or None (missing)", bit)
    if not spec.is_named and not any(value in bits for value in spec.values) and all(map(is_bit, spec.values)):
        return BITS
    return Levels({value: int(bit) for value, bit in bits.items()})


def _choose_pairs(specs: Sequence[ColumnSpec]) -> list[Rule]:
    """Choose which of two values is 1, for every column that is not 0/1 already.

    Ordered categories keep their order; then come words of known meaning, then the order of the categories, then
    ascending order. A column with one value follows another one that has it. Two values that cannot be told apart by
    rule, such as 0 and -9 or "Yes" and "yes", are refused.
    """
    pairs: list[Pair | None] = []
    for spec in specs:
        column, values = spec.column, spec.values
        two = list(column.categories) if column.categories is not None and len(column.categories) == 2 else values
        if len(two) > 2 or (len(two) == 2 and column.declared != "ordinal" and is_unclear(two)):
            raise DataError(
                f"{setting('X')} must have two values of clear meaning in every column for "
                f"{setting('encode', 'auto')}; got {show_values(values)} in {spec.where}. "
                f"{SAY_ALL}{f' {SAY_KIND}' if len(two) > 2 else ''}{spec.remark}"
            )
        pairs.append(order_pair(two, column) if len(two) == 2 else None)
    clear_pairs = [pair for pair in pairs if pair is not None]
    chosen = [pair or _pair_of_single(spec.values, clear_pairs) for spec, pair in zip(specs, pairs, strict=True)]
    return [Levels({value: bit for bit, value in enumerate(pair) if value is not None}) for pair in chosen]


def _pair(values: list[Value], column: Column, kind: str) -> Pair:
    """Return which of at most two categories stands for 0, and which for 1."""
    if len(values) < 2:
        return _pair_of_single(values, [])
    return order_pair(values, column) if kind == "nominal" else (values[0], values[1])


def is_unclear(two: list[Value]) -> bool:
    """Tell whether values may be spellings of one thing, or one of them no answer: 0 and -9, "Yes" and "yes"."""
    words = [value.strip().casefold() if isinstance(value, str) else None for value in two]
    if None not in words:
        return words[0] == words[1] or (any(word in ("0", "1") for word in words) and set(words) != {"0", "1"})
    one_is_bit = is_bit(two[0]) != is_bit(two[1])
    return one_is_bit and set(two) not in ({1, 2}, {-1, 1})


def order_pair(two: list[Value], column: Column) -> Pair:
    """Return which of two values of a column stands for 0, and which for 1."""
    if all(is_bit(value) for value in two):
        return 0, 1  # whatever order its categories have
    if column.declared == "ordinal":
        return two[0], two[1]
    if all(isinstance(value, str) for value in two):
        words = [value.strip().casefold() for value in two]
        for known_words in _KNOWN:
            if set(words) == set(known_words):
                return two[words.index(known_words[0])], two[words.index(known_words[1])]
    categories = column.categories
    zero, one = sorted(two, key=rank) if categories is None else sorted(two, key=categories.index)
    return zero, one


def _pair_of_single(values: list[Value], others: list[Pair]) -> Pair:
    """Return what the only value of a column stands for: as in other columns, if these agree, or by its meaning."""
    if not values:
        return 0, 1
    value = values[0]
    holders = {pair for pair in others if value in pair}
    if len(holders) == 1:
        return holders.pop()
    if is_bit(value):
        return 0, 1
    word = value.strip().casefold() if isinstance(value, str) else None
    return (None, value) if any(word == one for _, one in _KNOWN) else (value, None)
