"""Rules of columns with categories: which values stand for which, of two values which is 1, where ordered ones lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isinglass.arguments import is_whole
from isinglass.data.column import Column
from isinglass.data.meaning.advice import CONTINUOUS, DROP, drop, remark_column, remark_numbers, settle
from isinglass.data.meaning.recognition import has_too_many, is_unclear
from isinglass.data.meaning.rules import BITS, Levels, Rule
from isinglass.data.meaning.scores import scores_from_lowest, steps_of
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.meaning.values import Value, as_whole, is_bit, is_finite, is_number, rank, show_value, show_values
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


def find_levels(spec: ColumnSpec, kind: str) -> Levels:
    """Return the rule of an ordinal or nominal column; it is binary if it has two categories without scores."""
    numbers, points = _stated_numbers(spec), None
    if numbers is None:
        found = _plain_values(spec, kind) if spec.column.categories is None else _declared_values(spec, kind)
        categories = [[value] for value in found]
    else:
        points = sorted(set(numbers.values()))
        categories = [[value for value in numbers if numbers[value] == point] for point in points]
    entries = {value: code for code, category in enumerate(categories) for value in category}
    values = [category[0] for category in categories]
    _check_count(values, spec)
    has_list = not (spec.scores is None or isinstance(spec.scores, str | Mapping))
    if len(values) <= 2 and not has_list:
        has_order = len(values) == 2 and kind != "nominal"
        pair = (values[0], values[1]) if has_order else order_pair(values, spec.column)
        bits = {value: bit for bit, value in enumerate(pair) if value is not None}
        return Levels(bits | {value: pair.index(values[code]) for value, code in entries.items()})
    if kind == "nominal":
        return Levels(entries, kind, None)
    return Levels(entries, kind, tuple(_score(values, spec.scores if has_list else points, spec.where)))


def _score(values: Sequence[Value], points: Sequence[float] | None, where: str) -> list[float]:
    """Return where ordered categories lie: at the points that are stated, by their numbers, or one step apart."""
    if points is not None:
        return scores_from_lowest(points, len(values), where)
    if all(map(is_number, values)) and values == sorted(values):
        return steps_of(values, where)
    return list(map(float, range(len(values))))


def _stated_numbers(spec: ColumnSpec) -> dict[Value, float] | None:
    """Return what `scores` or `encode` say about the values of a column that are not missing, None if nothing.

    Refuse what is no number, and a value of the column that has none. A mapping for columns of several kinds, yes=1 and
    often=1, gives equal numbers to values of different columns: the categories of this one are those that occur in it.
    """
    by_scores = isinstance(spec.scores, Mapping)
    if not (by_scores or spec.is_encoded):
        return None
    given = "scores" if by_scores else "encode"
    stated = dict(spec.scores) if by_scores else spec.encode.answers
    for value, number in stated.items():
        if not is_finite(number):
            raise ArgumentError(given, f"must map {value!r} to a number{'' if by_scores else ' or missing'}", number)
    numbers = {value: float(number) for value, number in stated.items()}
    merges = len(set(numbers.values())) < len(numbers)
    if by_scores and merges:
        raise ArgumentError("scores", f"must be different numbers for {spec.where}", spec.scores)
    unknown = [value for value in spec.kept_values if value not in numbers]
    if unknown:
        raise DataError(
            f"{setting(given)} must say what every value means; got {show_values(unknown)} in {spec.where}, which "
            f"is not in it. Add them."
        )
    is_for_others = merges and not spec.encode.by_name and not by_scores
    return {value: number for value, number in numbers.items() if value in spec.values or not is_for_others}


def _declared_values(spec: ColumnSpec, kind: str) -> list[Value]:
    """Return the categories that the source declares, in its order; labels have that of their values."""
    column = spec.column
    values = list(column.categories or ())
    if all(is_number(value) for value in values):
        return values if column.declared == "ordinal" else sorted(values)
    if kind == "ordinal" and len(values) > 2 and column.declared == "nominal":
        _refuse_order(spec, f"categories without an order ({show_values(values)})")
    return values


def _plain_values(spec: ColumnSpec, kind: str) -> list[Value]:
    """Return the values of a column of numbers or of text, in ascending order."""
    seen, where = spec.values, spec.where
    if all(is_number(value) for value in seen):
        if not all(map(is_finite, seen)):
            raise DataError(f"{where} must hold finite numbers to have categories; got {show_values(seen)}.")
        return [int(value) if is_whole(value) else as_whole(float(value)) for value in sorted(seen)]
    odd = next((value for value in seen if not isinstance(value, str) and not is_number(value)), None)
    if odd is not None:
        raise CellTypeError(
            f"{where} must hold numbers or text to have categories; got {show_value(odd)}, of type "
            f"{type(odd).__name__}. Turn the cells into these, or leave the column out ({DROP})."
        )
    if any(map(is_number, seen)):
        raise DataError(
            f"{where} must hold numbers or text, not both, to have categories; got {show_values(seen)}. Declare the "
            f"column as nominal, or say which values are missing.{remark_column(spec.source, spec.place)}"
        )
    if kind == "ordinal" and len(seen) > 2:
        _refuse_order(spec, show_values(seen))
    return sorted(str(value) for value in seen)


def _refuse_order(spec: ColumnSpec, got: str) -> None:
    """Refuse an ordinal column of words without an order."""
    raise DataError(
        f"{spec.where} needs an order of its categories to be ordinal; got {got}. Give each a number "
        f"({_GIVE_NUMBERS}), use {_ORDERED}, or declare the column as nominal.{remark_column(spec.source, spec.place)}"
    )


def _check_count(values: list[Value], spec: ColumnSpec) -> None:
    """Refuse a column with too many categories, or with too few rows for them."""
    q, n_rows = len(values), spec.source.shape[0]
    if q > MAX_CATEGORIES or has_too_many(q, n_rows):
        limit = f"at most {MAX_CATEGORIES}" if q > MAX_CATEGORIES else "at least two rows for each of its"
        raise DataError(
            f"{spec.where} must have {limit} categories; got {q} in {n_rows} rows. Use {CONTINUOUS} if they are "
            f"numbers, merge them, or leave the column out ({drop([spec.label])})."
            f"{remark_numbers(values, spec.source.decimal)}"
        )


def find_two_values(spec: ColumnSpec) -> Rule:
    """Return the rule of a column of two values: by a threshold, by their order, or as `encode` states."""
    if spec.cut is not None:
        return spec.cut
    return _choose_pair(spec) if spec.encode.is_auto else _read_bits(spec)


def _read_bits(spec: ColumnSpec) -> Levels:
    """Return the rule that `encode` states; of a mapping for all columns, only 0 and 1 are for this one."""
    if not spec.is_encoded:
        return BITS
    bits = {}
    for value, bit in spec.encode.answers.items():
        if bit in (0, 1):
            bits[value] = int(bit)
        elif spec.encode.by_name or value in spec.values:
            remedy = f"Columns with more categories are declared with {setting('ordinal')}."
            missing = setting("encode", {value: None}, python="None")
            raise ArgumentError("encode", f"must map {value!r} to 0, 1 or missing ({missing})", bit, remedy)
    return Levels(bits)


def _choose_pair(spec: ColumnSpec) -> Levels:
    """Return which of two values is 1; two that cannot be told apart by rule are refused."""
    column, values = spec.column, spec.values
    two = list(column.categories) if column.categories is not None and len(column.categories) == 2 else values
    if len(two) > 2 or (len(two) == 2 and column.declared != "ordinal" and is_unclear(two)):
        remedy = settle(values, spec.label, in_parts=spec.source.is_part)
        raise DataError(
            f"{setting('X')} must have two values of clear meaning in every column for {setting('encode', 'auto')}; "
            f"got {show_values(values)} in {spec.where}. {remedy}{remark_column(spec.source, spec.place)}"
        )
    return Levels({value: bit for bit, value in enumerate(order_pair(two, column)) if value is not None})


def order_pair(values: Sequence[Value], column: Column) -> Pair:
    """Return which of at most two values of a column stands for 0, and which for 1.

    0 and 1 are themselves. Ordered categories keep their order; then come words of known meaning, then the order of the
    categories, then ascending order. A single value stands for 0, unless it is the second word of a known pair.
    """
    if all(map(is_bit, values)):
        return 0, 1
    words = [value.strip().casefold() if isinstance(value, str) else None for value in values]
    if len(values) < 2:
        return (None, values[0]) if any(words[0] == one for _, one in _KNOWN) else (values[0], None)
    if column.declared != "ordinal":
        for pair in _KNOWN:
            if set(words) == set(pair):
                return values[words.index(pair[0])], values[words.index(pair[1])]
    zero, one = sorted(values, key=rank if column.categories is None else column.categories.index)
    return zero, one
