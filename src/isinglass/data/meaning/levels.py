"""Rules of columns with categories: which values stand for which, of two values which is 1, where ordered ones lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isinglass.arguments import is_whole
from isinglass.data.column import Column
from isinglass.data.meaning.advice import CONTINUOUS, DROP, SAY_VALUES, drop, say_kind
from isinglass.data.meaning.recognition import has_too_many, is_unclear
from isinglass.data.meaning.remarks import remark_column
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
        pair = _pair_of(values, spec.column, kind)  # perhaps in another order
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

    Refuse what is no number, and a value of the column that has none.
    """
    by_scores = isinstance(spec.scores, Mapping)
    if not (by_scores or spec.is_encoded):
        return None
    given = "scores" if by_scores else "encode"
    stated = dict(spec.scores) if by_scores else spec.encode.answers_among(spec.values)
    for value, number in stated.items():
        if not is_finite(number):
            or_missing = "" if by_scores else f" or missing ({setting('encode', {value: None}, python='None')})"
            raise ArgumentError(given, f"must map {value!r} to a number{or_missing}", number)
    numbers = {value: float(number) for value, number in stated.items()}
    if by_scores and len(set(numbers.values())) < len(numbers):
        raise ArgumentError("scores", f"must be different numbers for {spec.where}", spec.scores)
    unknown = [value for value in spec.kept_values if value not in numbers]
    if unknown:
        raise DataError(
            f"{setting(given)} must say what every value means; got {show_values(unknown)} in {spec.where}, which "
            f"is not in it. Add them."
        )
    return numbers


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
        return [int(value) if is_whole(value) else as_whole(float(value)) for value in sorted(seen)]
    odd = next((value for value in seen if not isinstance(value, str) and not is_number(value)), None)
    if odd is not None:
        raise CellTypeError(
            f"{where} must hold numbers or text to have categories; got {show_value(odd)}, of type "
            f"{type(odd).__name__}. Turn the cells into these, or leave the column out ({DROP})."
        )
    if any(map(is_number, seen)):
        remark = remark_column(spec.source, spec.place)
        raise DataError(
            f"{where} must hold numbers or text, not both, to have categories; got {show_values(seen)}. "
            f"Declare the column as nominal, or say which values are missing.{remark}"
        )
    if kind == "ordinal" and len(seen) > 2:
        remark = remark_column(spec.source, spec.place)
        raise DataError(
            f"{where} needs an order of its categories to be ordinal; got {show_values(seen)}. Give each a "
            f"number ({_GIVE_NUMBERS}), use {_ORDERED}, or declare the column as nominal.{remark}"
        )
    return sorted(str(value) for value in seen)


def _check_count(values: list[Value], spec: ColumnSpec) -> None:
    """Refuse a column with too many categories, or with too few rows for them."""
    q, n_rows = len(values), spec.source.shape[0]
    if q > MAX_CATEGORIES:
        problem = f"at most {MAX_CATEGORIES} categories; got {q} different values"
    elif has_too_many(q, n_rows):
        problem = f"at least two rows per category on average; got {q} categories in {n_rows} rows"
    else:
        return
    merge = f"If they are numbers, use {CONTINUOUS}; otherwise merge" if all(map(is_number, values)) else "Merge"
    remark, mention = remark_column(spec.source, spec.place), drop([spec.label])
    leave_out = "" if mention in remark else f", or leave the column out ({mention})"
    raise DataError(f"{spec.where} must have {problem}. {merge} its values into fewer categories{leave_out}.{remark}")


def two_values(specs: Sequence[ColumnSpec], *, only_bits: bool) -> list[Rule]:
    """Return the rule of every column of two values; ``only_bits``: other numbers in `encode` are for other columns."""
    auto = [spec for spec in specs if spec.cut is None and spec.encode.is_auto]
    pairs = dict(zip(auto, _choose_pairs(auto), strict=True))
    return [spec.cut or pairs.get(spec) or _read_bits(spec, only_bits=only_bits) for spec in specs]


def _read_bits(spec: ColumnSpec, *, only_bits: bool) -> Levels:
    """Return the rule that `encode` states; what it does not speak of, and is 0 and 1 already, stays as it is."""
    if not spec.encode.has_numbers:
        return BITS
    bits = spec.encode.answers
    if only_bits and not spec.encode.by_name:
        bits = {value: bit for value, bit in bits.items() if bit in (0, 1)}
    for value, bit in bits.items():
        if bit not in (0, 1):
            remedy = f"Columns with more categories are declared with {setting('ordinal')}."
            missing = setting("encode", {value: None}, python="None")
            raise ArgumentError("encode", f"must map {value!r} to 0, 1 or missing ({missing})", bit, remedy)
    if not spec.encode.by_name and not any(value in bits for value in spec.values) and all(map(is_bit, spec.values)):
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
            kinds = f" {say_kind(in_parts=spec.source.is_part)}" if len(two) > 2 else ""
            raise DataError(
                f"{setting('X')} must have two values of clear meaning in every column for "
                f"{setting('encode', 'auto')}; got {show_values(values)} in {spec.where}. "
                f"{SAY_VALUES}{kinds}{remark_column(spec.source, spec.place)}"
            )
        pairs.append(order_pair(two, column) if len(two) == 2 else None)
    clear_pairs = [pair for pair in pairs if pair is not None]
    chosen = [pair or _pair_of_single(spec.values, clear_pairs) for spec, pair in zip(specs, pairs, strict=True)]
    return [Levels({value: bit for bit, value in enumerate(pair) if value is not None}) for pair in chosen]


def _pair_of(values: list[Value], column: Column, kind: str) -> Pair:
    """Return which of at most two categories stands for 0, and which for 1."""
    if len(values) < 2:
        return _pair_of_single(values, [])
    return order_pair(values, column) if kind == "nominal" else (values[0], values[1])


def order_pair(two: list[Value], column: Column) -> Pair:
    """Return which of two values of a column stands for 0, and which for 1."""
    if all(is_bit(value) for value in two):
        return 0, 1  # in any order of its categories
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
