"""What the values of every column mean: as the user says, as the source declares, or as the values show."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from isinglass.arrays import FloatArray
from isinglass.data.coding import (
    ABSENT,
    BITS,
    Cut,
    Levels,
    Rule,
    Steps,
    Value,
    by_column,
    is_bit,
    is_number,
    rank,
    read_word,
    show_value,
    show_values,
)
from isinglass.data.grid import equal_steps, normal_steps
from isinglass.data.guards import MANY_LEVELS, warn_measured
from isinglass.data.options import ValueOptions
from isinglass.data.source import Column, Source, is_missing
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


@dataclass(frozen=True, eq=False)
class ColumnSpec:
    """What is known about a column before its values have a meaning: what the user states, and what it is itself."""

    source: Source
    place: int  # in the source
    label: Hashable  # name or number
    kind: str | None  # stated, or implied by the scores
    points: Value  # scores: numbers, a mapping of values to numbers, or "normal"
    entries: Value  # what `encode` says about its values: a mapping, "auto" or None
    is_named: bool  # whether `encode` names the column
    cut: Cut | None  # a threshold
    is_reversed: bool
    na_values: Collection[Hashable]
    is_covariate: bool = False

    @property
    def column(self) -> Column:
        """Its cells."""
        return self.source.column(self.place)

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
        is_open = self.kind is None and self.cut is None and (self.entries is None or self.entries == "auto")
        return self.declared if is_open else self.kind

    @property
    def is_measured(self) -> bool:
        """Whether it can only be a number: nothing is stated, and it has fractions and too many values otherwise."""
        if self.found_kind is not None or self.cut is not None or self.is_named or not self.column.has_fractions:
            return False
        numbers = all(map(is_number, self.values))
        return len(self.values) > MANY_LEVELS and numbers and not all(float(v).is_integer() for v in self.values)

    @property
    def numbers_by_value(self) -> Mapping[Value, Value] | None:
        """What `encode` or `scores` say about values of a column with categories: numbers, None for a missing cell."""
        numbers = self._encoded
        if not isinstance(self.points, Mapping):
            return numbers
        missing = [value for value, number in (numbers or {}).items() if number is None]
        return {**self.points, **dict.fromkeys(missing)}

    @property
    def _encoded(self) -> Mapping[Value, Value] | None:
        """What `encode` says about the values, if it says something."""
        entries = self.entries
        if self.is_named:
            return entries  # type: ignore[no-any-return]
        if not isinstance(entries, Mapping) or not any(value in entries for value in self.values):
            return None
        numbers = [number for number in entries.values() if number is not None]
        if len(set(numbers)) == len(numbers):
            return entries
        # For columns of several kinds, yes=1 and often=1: the categories of this one are those that occur in it.
        return {value: number for value, number in entries.items() if number is None or value in self.values}

    @property
    def missing_values(self) -> list[Value]:
        """The values that `encode` declares missing."""
        return [value for value, number in (self.numbers_by_value or {}).items() if number is None]


def specify(source: Source, stated: ValueOptions) -> list[ColumnSpec]:
    """Return what is stated about every column."""
    p, encode, binarize, kinds = source.shape[1], stated.encode, stated.binarize, stated.kinds
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
    points = source.locate(stated.scores or {}, "scores")
    entries = source.locate(encode, "encode") if by_column(encode) else {}
    cuts = {j: _read_cut(cut) for j, cut in source.locate(binarize or {}, "binarize").items()}
    missing = stated.missing_in(source)
    reversed_columns = source.locate(dict.fromkeys(stated.reverse), "reverse")
    covariates = find_covariates(list(source.locate(dict.fromkeys(stated.covariates), "covariates")), range(p))
    specs = [
        ColumnSpec(
            source,
            place=j,
            label=label,
            kind=kinds_of_columns[j] or _implied_kind(points.get(j)),
            points=points.get(j),
            entries=entries.get(j) if by_column(encode) else encode,
            is_named=j in entries,
            cut=cuts.get(j),
            is_reversed=j in reversed_columns,
            na_values=[read_word(value) for value in missing.get(j, ())],
            is_covariate=j in covariates,
        )
        for j, label in enumerate(source.labels)
    ]
    return [replace(spec, kind=_covariate_kind(spec)) if spec.is_covariate else spec for spec in specs]


def _covariate_kind(spec: ColumnSpec) -> str | None:
    """Return the kind of a covariate; where nothing is said, numbers are numbers and texts have no order."""
    is_stated = spec.found_kind is not None or spec.cut is not None or spec.is_named
    if is_stated or all(map(is_bit, spec.values)):
        return spec.kind
    return "continuous" if len(spec.values) > 2 and all(map(is_number, spec.values)) else "nominal"


def _implied_kind(points: Value) -> str | None:
    if points is None:
        return None
    return "continuous" if isinstance(points, str) and points == "normal" else "ordinal"


def find_rules(specs: Sequence[ColumnSpec]) -> tuple[list[Rule], list[int]]:
    """Return the rule of every column, and which columns have categories, as the user says or the source declares."""
    kinds = {j: spec.found_kind for j, spec in enumerate(specs) if spec.found_kind not in (None, "binary")}
    if all(spec.kind is None for spec in specs) and not any(_has_more(specs[j]) for j in kinds):
        kinds = {}
    for spec in specs:
        if spec.kind == "binary":
            _check_points(spec, spec.kind)
    source = specs[0].source  # of an array, or of whole numbers, one type holds for all columns
    is_open = not source.is_array and (source.block is None or source.block.dtype.kind == "f")
    measured = [j for j, spec in enumerate(specs) if is_open and spec.is_measured]
    kinds |= dict.fromkeys(measured, "continuous")
    rules: dict[int, Rule] = {}
    for j, kind in sorted(kinds.items()):
        if specs[j].cut is not None:
            raise DataError(
                f"{setting('binarize')} and {setting('kinds')} must not name the same column; got {specs[j].where}."
            )
        rules[j] = _find_column(specs[j], str(kind))
    if measured:
        warn_measured({specs[j].label: rules[j] for j in measured})
    rules |= {j: _turn(rules.get(j, BITS), spec.where) for j, spec in enumerate(specs) if spec.is_reversed}
    levels = sorted(rules)
    others = [j for j in range(len(specs)) if j not in rules]
    rules |= zip(others, _find_two([specs[j] for j in others], only_bits=bool(levels)), strict=True)
    return [rules[j] for j in range(len(specs))], levels


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
    entries = {value: code if code == ABSENT else last - code for value, code in rule.entries.items()}
    ordered = dict(sorted(entries.items(), key=lambda entry: entry[1]))
    scores = tuple(ends - score for score in rule.scores[::-1])
    return replace(rule, entries=ordered, scores=scores, is_reversed=True)


def _has_more(spec: ColumnSpec) -> bool:
    """Tell whether a categorical column has more than two categories; with encode="auto", more than two that occur."""
    categories = spec.column.categories
    return len(spec.values if categories is None or spec.entries is not None else categories) > 2


def _find_column(spec: ColumnSpec, kind: str) -> Rule:
    """Return the rule of a column that is ordinal, nominal or continuous."""
    _check_points(spec, kind)
    if kind == "continuous":
        if len(set(spec.values) - set(spec.missing_values)) > 2:
            return _find_steps(spec)
        spec, kind = replace(spec, points=None), "ordinal"
    values, numbers, other_codes = _find_categories(spec, kind)
    _check_count(values, spec)
    scores = numbers if spec.points is None or isinstance(spec.points, Mapping) else spec.points
    if len(values) <= 2 and scores is numbers:
        zero_one = _two(values, spec.column, kind)
        codes = {k: zero_one.index(value) for k, value in enumerate(values)}
        others = {value: codes.get(k, k) for value, k in other_codes.items()}
        return Levels({value: k for k, value in enumerate(zero_one) if value is not None} | others)
    entries = {value: k for k, value in enumerate(values)} | other_codes
    if kind == "nominal":
        return Levels(entries, kind, None)
    if scores is not None:
        return Levels(entries, kind, tuple(check_scores(scores, len(values), spec.where)))
    if all(map(is_number, values)) and values == sorted(values):
        return Levels(entries, kind, tuple(steps_of(values, spec.where)))
    return Levels(entries, kind, tuple(map(float, range(len(values)))))


def _check_points(spec: ColumnSpec, kind: str) -> None:
    """Refuse scores that a column of this kind cannot have."""
    points, where = spec.points, spec.where
    if points is None:
        return
    if kind == "continuous":
        if not (isinstance(points, str) and points == "normal"):
            raise ArgumentError("scores", f'must be "normal" for {where}, which is continuous', points)
    elif isinstance(points, str):
        constraint = f'must be numbers for {where}, which is {kind}; "normal" is for continuous columns'
        raise ArgumentError("scores", constraint, points)
    elif kind != "ordinal":
        raise DataError(f"{setting('scores')} must be for ordinal columns; got some for {where}, which is {kind}.")
    elif isinstance(points, Mapping) and len(set(points.values())) < len(points):
        raise ArgumentError("scores", f"must be different numbers for {where}", points)


def _find_categories(spec: ColumnSpec, kind: str) -> tuple[list[Value], list[float] | None, dict[Value, int]]:
    """Return a value for every category in their order, their numbers if these are stated, and other values' codes."""
    if spec.numbers_by_value is not None:
        return _read_entries(spec.numbers_by_value, spec.values, spec.where)
    find = _plain_values if spec.column.categories is None else _declared_values
    return find(spec, kind), None, {}


def _find_steps(spec: ColumnSpec) -> Steps:
    """Return the grid of a continuous column."""
    missing = set(spec.missing_values)
    numbers = [cell for cell in spec.column.entries.tolist() if not is_missing(cell) and cell not in missing]
    not_finite = [number for number in numbers if not is_number(number) or not math.isfinite(number)]
    if not_finite:
        raise DataError(
            f"{spec.where} must hold finite numbers to be continuous; got {show_values(set(not_finite))}. Make these "
            f"cells missing ({setting('na_values', not_finite[0])}), or leave the column out ({_DROP}).{spec.remark}"
        )
    values = np.array(numbers, dtype=np.float64)
    steps = normal_steps(values) if spec.points == "normal" else equal_steps(values, is_fine=spec.is_covariate)
    return steps.with_missing(spec.missing_values)


def _declared_values(spec: ColumnSpec, kind: str) -> list[Value]:
    """Return the categories that the source declares, in its order."""
    column = spec.column
    values = list(column.categories or ())
    words = all(isinstance(value, str) for value in values)
    if kind == "ordinal" and len(values) > 2 and not (column.declared == "ordinal" or column.numbers) and words:
        raise DataError(
            f"{spec.where} must be an ordered categorical to be ordinal; got one whose categories have no order "
            f"({show_values(values)}). Use pandas.Categorical(…, categories=[…], ordered=True), or give each value its "
            f"number: {setting('encode', python='encode={…: 0, …: 1, …: 2}')}."
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
            f"number ({setting('encode', python='encode={…: 0, …: 1, …: 2}')}), use an ordered categorical, or declare "
            f"the column as nominal.{spec.remark}"
        )
    return sorted(str(value) for value in seen)


def _read_entries(
    entries: Mapping[Value, Value], seen: list[Value], where: str
) -> tuple[list[Value], list[float], dict[Value, int]]:
    """Return a value for every number of ``encode``, in the order of these, the numbers, and what other values mean."""
    numbers = {value: number for value, number in entries.items() if number is not None}
    for value, number in numbers.items():
        if not is_number(number) or not math.isfinite(number):
            raise ArgumentError("encode", f"must map {value!r} to a number or None (missing)", number)
    unknown = [value for value in seen if value not in entries]
    if unknown:
        raise DataError(
            f"{setting('encode')} must say what every value means; got {show_values(unknown)} in {where}, which "
            f"is not in it. Add them."
        )
    first: dict[float, Value] = {}
    for value in sorted(numbers, key=lambda value: float(numbers[value])):
        first.setdefault(float(numbers[value]), value)
    places = {number: k for k, number in enumerate(first)}
    others = {value: places[float(number)] for value, number in numbers.items() if value not in first.values()}
    return list(first.values()), list(first), others | {v: ABSENT for v, number in entries.items() if number is None}


def _two(values: list[Value], column: Column, kind: str) -> tuple[Value, Value]:
    """Return the values that stand for 0 and 1 of a column with at most two; None for one that never occurs."""
    if len(values) < 2:
        return _pair_of_single(values, [])
    return order_pair(values, column) if kind == "nominal" else (values[0], values[1])


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


def _find_two(specs: Sequence[ColumnSpec], *, only_bits: bool) -> list[Rule]:
    """Return the rule of every column of two values; ``only_bits``: other numbers in `encode` are for other columns."""
    auto = [spec for spec in specs if spec.cut is None and spec.entries == "auto"]
    pairs = dict(zip(auto, _choose_pairs(auto), strict=True))
    rules: list[Rule] = []
    for spec in specs:
        entries = spec.entries
        if only_bits and not spec.is_named and isinstance(entries, Mapping):
            entries = {value: bit for value, bit in entries.items() if bit in (0, 1, None)}
        rules.append(spec.cut or pairs.get(spec) or (_read_values(entries) if entries else BITS))
    return rules


def _read_cut(binarize: object) -> Cut:
    if isinstance(binarize, bool | np.bool_) or not is_number(binarize) or not np.isfinite(binarize):
        raise ArgumentError("binarize", "must be None or a finite number", binarize)
    return Cut(float(binarize))


def _read_values(entry: Value) -> Levels:
    for value, bit in entry.items():
        if bit is not None and bit not in (0, 1):
            raise ArgumentError("encode", f"must map {value!r} to 0, 1 or None (missing)", bit)
    return Levels({value: ABSENT if bit is None else int(bit) for value, bit in entry.items()})


def _choose_pairs(specs: Sequence[ColumnSpec]) -> list[Rule]:
    """Choose which of two values is 1, for every column that is not 0/1 already.

    Ordered categories keep their order; then come words of known meaning, then the order of the categories, then
    ascending order. A column with one value follows another one that has it. Two values that cannot be told apart by
    rule, such as 0 and -9 or "Yes" and "yes", are refused.
    """
    pairs: list[tuple[Value, Value] | None] = []
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


def is_unclear(two: list[Value]) -> bool:
    """Tell whether values may be spellings of one thing, or one of them no answer: 0 and -9, "Yes" and "yes"."""
    words = [value.strip().casefold() if isinstance(value, str) else None for value in two]
    if None not in words:
        return words[0] == words[1] or (any(word in ("0", "1") for word in words) and set(words) != {"0", "1"})
    one_is_bit = is_bit(two[0]) != is_bit(two[1])
    return one_is_bit and set(two) not in ({1, 2}, {-1, 1})


def order_pair(two: list[Value], column: Column) -> tuple[Value, Value]:
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


def _pair_of_single(values: list[Value], others: list[tuple[Value, Value]]) -> tuple[Value, Value]:
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
