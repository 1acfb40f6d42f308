"""A rule for every column: as the user says, as the source declares, or as the values show.

There is a builder for each kind of rule: `Cut` when columns are specified, `two_values`, `_levels` and `_grid`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np

from isinglass.arrays import Mask
from isinglass.data.column import Column, number_objects
from isinglass.data.meaning.advice import CONTINUOUS, DROP, SAY_VALUES, make_missing, say_kind
from isinglass.data.meaning.coding import Coding, by_column
from isinglass.data.meaning.grid import equal_steps, normal_steps
from isinglass.data.meaning.guards import guard_measured
from isinglass.data.meaning.recognition import has_too_many, is_unclear
from isinglass.data.meaning.rules import ABSENT, BITS, Cut, Levels, Rule, Steps
from isinglass.data.meaning.scores import check_scores, steps_of
from isinglass.data.meaning.specs import ColumnSpec, specify
from isinglass.data.meaning.values import Value, is_bit, is_finite, is_number, rank, show_value, show_values
from isinglass.data.options import ValueOptions
from isinglass.data.source import Source
from isinglass.errors import ArgumentError, CellTypeError, DataError, setting
from isinglass.variables import MAX_CATEGORIES

_GIVE_NUMBERS = setting("encode", python="encode={…: 0, …: 1, …: 2}")
_ORDERED = setting("ordered", python="an ordered categorical")

# Words whose meaning is known, 0 before 1; compared without regard to case.
_KNOWN = (
    *(("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("off", "on"), ("nay", "yea"), ("0", "1")),
    *(("absent", "present"), ("negative", "positive"), ("disagree", "agree"), ("incorrect", "correct")),
    *(("wrong", "right"), ("fail", "pass"), ("never", "ever"), ("-", "+")),
)
Pair = tuple[Value, Value]
"""The values that stand for 0 and for 1; None for one that never occurs."""


def find_rules(specs: Sequence[ColumnSpec], *, drops_rows: bool = False) -> tuple[list[Rule], list[int]]:
    """Return the rule of every column, and which columns have categories, as the user says or the source declares.

    ``drops_rows``: the grids of continuous columns are those of the rows without missing cells.
    """
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
    rules |= {j: _turn(rules.get(j, BITS), spec.where) for j, spec in enumerate(specs) if spec.is_reversed}
    levels = sorted(rules)
    others = [j for j in range(len(specs)) if j not in rules]
    rules |= zip(others, two_values([specs[j] for j in others], only_bits=bool(levels)), strict=True)
    finished: dict[object, Rule] = {}  # columns of 0 and 1 share one
    for j, spec in enumerate(specs):
        key = (id(spec.missing), id(spec.encode)) if rules[j] is BITS and not spec.answers else j
        if key not in finished:
            finished[key] = spec.finish(rules[j])
        rules[j] = finished[key]
    if drops_rows and any(isinstance(rule, Steps) for rule in rules.values()):
        rules |= _grids_of_complete_rows(specs, rules)
    if measured:
        guard_measured({specs[j].label: rules[j] for j in measured})
    return [rules[j] for j in range(len(specs))], levels


def refuse_other(source: Source, coding: Coding, stated: ValueOptions) -> None:
    """Refuse options about values that a coding was not made by: it has been decided what these mean.

    ``source`` has the columns that the coding reads; its cells are not looked at. Options that agree with it pass.
    """
    encode = None if isinstance(stated.encode, Coding) else stated.encode
    asked = replace(stated, encode=encode, covariates=(), names=None, guess=False)
    if not asked.about_columns:
        return
    if asked.combine_indicators and coding.single is None:
        _refuse("combine_indicators", "the table")
    specs, rules = specify(source, asked), coding.of_source.columns
    for spec, rule in zip(specs, rules, strict=True):
        read = _turn(rule, spec.where) if isinstance(rule, Levels) and rule.is_reversed else rule
        agrees = {
            "scores": spec.scores is None or _has_scores(read, spec.scores),
            "kinds": spec.kind in (None, rule.kind) or (rule.kind == "binary" and not isinstance(rule, Cut)),
            "binarize": spec.cut is None or (isinstance(rule, Cut) and rule.threshold == spec.cut.threshold),
            "reverse": not spec.is_reversed or (isinstance(rule, Levels) and rule.is_reversed),
            "na_values": spec.with_missing(rule) is rule,
            "encode": spec.meaning is None or _has_meaning(read, spec.meaning, is_named=spec.is_named),
        }
        for option, holds in agrees.items():
            if not holds:
                _refuse(option, spec.where)
    if isinstance(encode, Mapping) and not by_column(encode):
        stated_values = [value for value, number in (specs[0].meaning or {}).items() if number is not None]
        if stated_values and all((number_objects(stated_values).convert(rule) < 0).all() for rule in rules):
            _refuse("encode", "the table")


def _refuse(option: str, what: str) -> NoReturn:
    raise DataError(
        f"{setting(option)} must be given where the table is read (as_table, read_table); {what} was read without it, "
        "or with another. Read the table again with it, or leave it out."
    )


def _has_scores(rule: Rule, scores: Value) -> bool:
    """Tell whether a rule has these scores of its categories, given in order or by value; "normal" for a grid."""
    if isinstance(scores, str):
        return isinstance(rule, Steps) and rule.is_normal
    points = [scores.get(value) for value in rule.values] if isinstance(scores, Mapping) else scores
    try:
        return rule.kind == "ordinal" and tuple(check_scores(points, rule.n_categories, "")) == rule.scores
    except DataError:
        return False


def _has_meaning(rule: Rule, meaning: Mapping[Value, Value], *, is_named: bool) -> bool:
    """Tell whether values stand for what `encode` says: missing cells, or categories in the order of their numbers.

    Unless ``is_named``, it speaks of other columns, too, and may know none of the values of this one.
    """
    codes = dict(zip(meaning, number_objects(list(meaning)).convert(rule).tolist(), strict=True))
    numbers = {value: n for value, n in meaning.items() if n is not None and (is_named or codes[value] >= 0)}
    if any(codes[value] != ABSENT for value, number in meaning.items() if number is None):
        return False
    if not numbers or not isinstance(rule, Levels):
        return not (is_named and numbers)
    if not all(map(is_number, numbers.values())) or not rule.entries.keys() <= numbers.keys():
        return False
    order = sorted(set(numbers.values()))
    if rule.kind == "binary" and set(order) <= {0, 1}:
        order = [0, 1]
    has_scores = rule.kind != "ordinal" or _has_scores(rule, order)
    return has_scores and all(codes[value] == order.index(number) for value, number in numbers.items())


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


def _grids_of_complete_rows(specs: Sequence[ColumnSpec], rules: Mapping[int, Rule]) -> dict[int, Rule]:
    """Return the grids of continuous columns for the rows that have no missing cell, if three numbers are left."""
    cells = (spec.source.column(spec.place).convert(rules[j]) != ABSENT for j, spec in enumerate(specs))
    kept = np.logical_and.reduce([*cells, ~specs[0].source.is_unlabeled])
    grids = {j: spec for j, spec in enumerate(specs) if isinstance(rules[j], Steps)}
    enough = [j for j, spec in grids.items() if len(set(spec.column.entries[kept].tolist())) > 2]
    return {} if kept.all() else {j: specs[j].finish(_grid(specs[j], kept)) for j in enough}


def _grid(spec: ColumnSpec, rows: Mask | slice = slice(None)) -> Steps:
    """Return the grid of a continuous column, as these rows have it."""
    missing = {None, *spec.declared_missing}
    cells, weights = spec.column.entries[rows].tolist(), spec.source.weight
    there = [k for k, cell in enumerate(cells) if cell not in missing]
    numbers = [cells[k] for k in there]
    weight = None if weights is None else weights[rows][there]
    not_finite = [number for number in numbers if not is_finite(number)]
    if not_finite:
        remedy = f"Make these cells missing ({make_missing(not_finite[:1])}), or leave"
        if len(not_finite) == len(numbers):
            remedy = "Declare it as nominal, or leave" if isinstance(not_finite[0], str) else "Leave"
        raise DataError(
            f"{spec.where} must hold finite numbers to be continuous; got {show_values(set(not_finite))}. "
            f"{remedy} the column out ({DROP}).{spec.remark}"
        )
    values = np.array(numbers, dtype=np.float64)
    if not math.isfinite(max(numbers) - min(numbers)):
        raise DataError(
            f"{spec.where} must hold numbers whose differences are finite; got {show_values(set(numbers))}."
        )
    if np.ptp(values) > 0:
        try:
            if spec.scores == "normal":
                return normal_steps(values, weight)
            return equal_steps(values, weight, is_fine=spec.is_covariate)
        except DataError:  # steps that are not apart
            pass
    raise DataError(
        f"{spec.where} must hold numbers that differ by more than rounding to be continuous; got "
        f"{show_values(set(numbers))}. Subtract a number near them, or leave the column out ({DROP})."
    )


def _levels(spec: ColumnSpec, kind: str) -> Levels:
    """Return the rule of an ordinal or nominal column; it is binary if it has two categories without scores."""
    stated, points = spec.numbers_by_value, None
    if stated is not None:
        _check_numbers(stated, spec)
        points = sorted({float(number) for number in stated.values()})
        if isinstance(spec.scores, Mapping) and len(points) < len(stated):
            raise ArgumentError("scores", f"must be different numbers for {spec.where}", spec.scores)
        in_order = sorted(stated.items(), key=lambda item: float(item[1]))
        entries = {value: points.index(float(number)) for value, number in in_order}
    else:
        found = _plain_values(spec, kind) if spec.column.categories is None else _declared_values(spec, kind)
        entries = {value: k for k, value in enumerate(found)}
    first = {code: value for value, code in reversed(entries.items())}
    values = [first[code] for code in range(len(first))]
    _check_count(values, spec)
    scores = points if spec.scores is None or isinstance(spec.scores, str | Mapping) else spec.scores
    if len(values) <= 2 and scores is points:
        pair = pair_of(values, spec.column, kind)  # perhaps in another order
        bits = {value: bit for bit, value in enumerate(pair) if value is not None}
        return Levels(bits | {value: pair.index(values[code]) for value, code in entries.items()})
    if kind == "nominal":
        return Levels(entries, kind, None)
    if scores is not None:
        return Levels(entries, kind, tuple(check_scores(scores, len(values), spec.where)))
    if all(map(is_number, values)) and values == sorted(values):
        return Levels(entries, kind, tuple(steps_of(values, spec.where)))
    return Levels(entries, kind, tuple(map(float, range(len(values)))))


def _check_numbers(numbers: Mapping[Value, Value], spec: ColumnSpec) -> None:
    """Refuse what ``encode`` or ``scores`` gives to values if it is no number, or if a value of the column has none."""
    given = "scores" if isinstance(spec.scores, Mapping) else "encode"
    for value, number in numbers.items():
        if not is_finite(number):
            missing = setting("encode", {value: None}, python="None")
            raise ArgumentError(given, f"must map {value!r} to a number or missing ({missing})", number)
    unknown = [value for value in spec.values if value not in numbers and value not in spec.declared_missing]
    if unknown:
        raise DataError(
            f"{setting(given)} must say what every value means; got {show_values(unknown)} in {spec.where}, which "
            f"is not in it. Add them."
        )


def _declared_values(spec: ColumnSpec, kind: str) -> list[Value]:
    """Return the categories that the source declares, in its order; labels have that of their values."""
    column = spec.column
    values = list(column.categories or ())
    words = all(isinstance(value, str) for value in values)
    if kind == "ordinal" and len(values) > 2 and column.declared == "nominal" and words:
        raise DataError(
            f"{spec.where} must be an ordered categorical to be ordinal; got one whose categories have no order "
            f"({show_values(values)}). Use {_ORDERED}, or give each value its number: {_GIVE_NUMBERS}."
        )
    if column.declared != "ordinal" and all(is_number(value) for value in values):
        values = sorted(values)
    return values


def _plain_values(spec: ColumnSpec, kind: str) -> list[Value]:
    """Return the values of a column of numbers or of text, in ascending order."""
    seen, where = spec.values, spec.where
    if all(is_number(value) for value in seen):
        if not all(map(is_finite, seen)):
            raise DataError(f"{where} must hold finite numbers to have categories; got {show_values(seen)}.")
        return [int(value) if float(value).is_integer() else float(value) for value in sorted(seen)]
    odd = next((value for value in seen if not isinstance(value, str) and not is_number(value)), None)
    if odd is not None:
        raise CellTypeError(
            f"{where} must hold numbers or text to have categories; got {show_value(odd)}, which is a "
            f"{type(odd).__name__}. Turn the cells into these, or leave the column out ({DROP})."
        )
    if any(map(is_number, seen)):
        raise DataError(
            f"{where} must hold numbers or text, not both, to have categories; got {show_values(seen)}. "
            f"Declare the column as nominal, or say which values are missing.{spec.remark}"
        )
    if kind == "ordinal" and len(seen) > 2:
        raise DataError(
            f"{where} needs an order of its categories to be ordinal; got {show_values(seen)}. Give each a "
            f"number ({_GIVE_NUMBERS}), use {_ORDERED}, or declare the column as nominal.{spec.remark}"
        )
    return sorted(str(value) for value in seen)


def _check_count(values: list[Value], spec: ColumnSpec) -> None:
    """Refuse a column with too many categories, or with too few rows for them."""
    q, where, n_rows = len(values), spec.where, spec.source.shape[0]
    number = f"If they are numbers, pass {CONTINUOUS}. " if all(map(is_number, values)) else ""
    if q > MAX_CATEGORIES:
        raise DataError(
            f"{where} must have at most {MAX_CATEGORIES} categories; got {q} different values. "
            f"{number}Otherwise merge them into fewer categories, or leave the column out ({DROP}).{spec.remark}"
        )
    if has_too_many(q, n_rows):
        raise DataError(
            f"{where} must have at least two rows per category on average; got {q} categories in {n_rows} rows. "
            f"{number}If the column holds row names, leave it out ({DROP}); otherwise merge its values into "
            f"fewer categories.{spec.remark}"
        )


def two_values(specs: Sequence[ColumnSpec], *, only_bits: bool) -> list[Rule]:
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
            remedy = f"Columns with more categories are declared with {setting('ordinal')}."
            missing = setting("encode", {value: None}, python="None")
            raise ArgumentError("encode", f"must map {value!r} to 0, 1 or missing ({missing})", bit, remedy)
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
                f"{SAY_VALUES}{f' {say_kind(in_parts=spec.source.is_part)}' if len(two) > 2 else ''}{spec.remark}"
            )
        pairs.append(order_pair(two, column) if len(two) == 2 else None)
    clear_pairs = [pair for pair in pairs if pair is not None]
    chosen = [pair or _pair_of_single(spec.values, clear_pairs) for spec, pair in zip(specs, pairs, strict=True)]
    return [Levels({value: bit for bit, value in enumerate(pair) if value is not None}) for pair in chosen]


def pair_of(values: list[Value], column: Column, kind: str) -> Pair:
    """Return which of at most two categories stands for 0, and which for 1."""
    if len(values) < 2:
        return _pair_of_single(values, [])
    return order_pair(values, column) if kind == "nominal" else (values[0], values[1])


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
