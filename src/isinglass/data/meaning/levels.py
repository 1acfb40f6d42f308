"""The rule of a column with categories: which values stand for which, and where categories with an order lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isinglass.arguments import is_whole
from isinglass.data.meaning.advice import CONTINUOUS, DROP, drop
from isinglass.data.meaning.recognition import has_too_many
from isinglass.data.meaning.rules import Levels
from isinglass.data.meaning.scores import scores_from_lowest, steps_of
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.meaning.two_values import pair_of
from isinglass.data.meaning.values import Value, as_whole, is_finite, is_number, show_value, show_values
from isinglass.errors import ArgumentError, CellTypeError, DataError, setting
from isinglass.variables import MAX_CATEGORIES

_GIVE_NUMBERS = setting("encode", python="encode={…: 0, …: 1, …: 2}")
_ORDERED = setting("ordered", python="an ordered categorical")


def find_levels(spec: ColumnSpec, kind: str) -> Levels:
    """Return the rule of an ordinal or nominal column; it is binary if it has two categories without scores."""
    numbers = _stated_numbers(spec)
    if numbers is None:
        points = None
        entries = {value: code for code, value in enumerate(_found_values(spec, kind))}
    else:
        points = sorted(set(numbers.values()))
        entries = {value: points.index(numbers[value]) for value in sorted(numbers, key=lambda value: numbers[value])}
    first = {code: value for value, code in reversed(entries.items())}
    values = [first[code] for code in range(len(first))]
    _check_count(values, spec)
    has_list = not (spec.scores is None or isinstance(spec.scores, str | Mapping))
    if len(values) <= 2 and not has_list:
        pair = pair_of(values, spec.column, kind)  # perhaps in another order
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
            missing = setting("encode", {value: None}, python="None")
            raise ArgumentError(given, f"must map {value!r} to a number or missing ({missing})", number)
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


def _found_values(spec: ColumnSpec, kind: str) -> list[Value]:
    """Return the categories that the source declares or, without any, the values that occur, in their order."""
    return _plain_values(spec, kind) if spec.column.categories is None else _declared_values(spec, kind)


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
    merge = f"If they are numbers, use {CONTINUOUS}; otherwise merge" if all(map(is_number, values)) else "Merge"
    remark, mention = spec.remark, drop([spec.label])
    leave_out = "" if mention in remark else f", or leave the column out ({mention})"
    remedy = f"{merge} its values into fewer categories{leave_out}.{remark}"
    if q > MAX_CATEGORIES:
        raise DataError(f"{where} must have at most {MAX_CATEGORIES} categories; got {q} different values. {remedy}")
    if has_too_many(q, n_rows):
        raise DataError(
            f"{where} must have at least two rows per category on average; got {q} categories in {n_rows} rows. "
            f"{remedy}"
        )
