"""Columns of categories: which columns have some, what their values are, and how cells become their numbers."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from isinglass.arrays import FloatArray
from isinglass.data.coding import Levels, by_column, is_number, order_pair, show_value, show_values
from isinglass.data.sources import Column, Source
from isinglass.errors import ArgumentError, CellTypeError, DataError, setting
from isinglass.variables import KINDS

MOST_CATEGORIES = 256
MOST_STEPS = MOST_CATEGORIES - 1
"""Of equal length from the smallest to the largest score."""
FEW = 5
"""Categories up to which nobody asks whether there are rows enough for them."""
_CLOSE = 1e-9
EPSILON = float(np.finfo(np.float64).eps)


def find_levels(
    source: Source, labels: Sequence[Hashable], kinds: Any, scores: Any, encode: Any, binarize: Any
) -> dict[int, Levels]:
    """Return the rules of the columns that have categories, as the user says or the source declares.

    None if all columns have two values.
    """
    if scores is not None and not isinstance(scores, Mapping):
        raise ArgumentError("scores", "must be a mapping of columns to numbers", scores)
    points = per_column("scores", scores or {}, labels, len(labels), None)
    given = per_column("kinds", {} if kinds is None else kinds, labels, len(labels), None)
    given = [kind or (None if point is None else "ordinal") for kind, point in zip(given, points, strict=True)]
    found = {j: kind for j, kind in enumerate(given) if kind in ("ordinal", "nominal")}
    if source.declared is not None and not (isinstance(encode, Mapping) and not by_column(encode)):
        for j, kind in enumerate(source.declared):
            named = by_column(encode) and labels[j] in encode
            if kind is not None and given[j] is None and not named and not cuts(binarize, labels[j]):
                found[j] = kind
    if kinds is None and scores is None and not any(_has_more(source, j, encode) for j in found):
        return {}
    for j in found:
        if cuts(binarize, labels[j]):
            raise DataError(
                f"{setting('binarize')} and {setting('kinds')} must not name the same column; got {source.where(j)}."
            )
    entries = {j: _entries_of(source, j, labels[j], encode) for j in sorted(found)}
    return {j: _find_column(source, j, found[j], points[j], said) for j, said in entries.items()}


def turn_some(levels: Mapping[int, Levels], reverse: Iterable[int], source: Source) -> dict[int, Levels]:
    """Return the rules with some ordered columns in the other direction: the last category comes first."""
    turned = dict(levels)
    for j in reverse:
        scores = levels[j].scores if j in levels else None
        if scores is None:
            raise DataError(
                f"{setting('reverse')} must name columns with an order; got {source.where(j)}. Declare it as one "
                f"({setting('ordinal', python='kinds')})."
            )
        ends = min(scores) + max(scores)
        values, points = levels[j].values[::-1], tuple(ends - score for score in scores[::-1])
        turned[j] = replace(levels[j], values=values, scores=points)
    return turned


def cuts(binarize: Any, label: Hashable) -> bool:
    """Tell whether a column is cut at a threshold."""
    return label in binarize if isinstance(binarize, Mapping) else binarize is not None


def _has_more(source: Source, j: int, encode: Any) -> bool:
    """Tell whether a categorical column has more than two categories; with encode="auto", more than two that occur."""
    categories = source.column(j).categories
    if categories is None or encode is not None:
        return len(source.column(j).distinct) > 2
    return len(categories) > 2


def _entries_of(source: Source, j: int, label: Hashable, encode: Any) -> Mapping[Any, Any] | None:
    """Return what ``encode`` says about the values of a column, if it says something."""
    if not isinstance(encode, Mapping):
        return None
    if by_column(encode):
        entries = encode.get(label)
        return {value: k for k, value in enumerate(entries)} if isinstance(entries, tuple) else entries
    seen = source.column(j).distinct
    if not any(value in encode for value in seen):
        return None
    numbers = [number for number in encode.values() if number is not None]
    if len(set(numbers)) == len(numbers):
        return encode
    # For columns of several kinds, yes=1 and often=1: the categories of this one are those that occur in it.
    return {value: number for value, number in encode.items() if number is None or value in seen}


def _find_column(source: Source, j: int, kind: str, points: Any, entries: Mapping[Any, Any] | None) -> Levels:
    """Return kind, values and scores of a column."""
    column, where = source.column(j), source.where(j)
    seen = column.distinct
    missing: tuple[Any, ...] = ()
    numbers: list[float] | None = None
    if isinstance(points, Mapping):
        entries, points = {**points, **{v: None for v, k in (entries or {}).items() if k is None}}, None
    if entries is not None:
        values, numbers, missing = _read_entries(entries, seen, where)
    elif column.categories is not None:
        values = _declared_values(column, kind, where)
    else:
        values = _plain_values(seen, kind, source, j)
    _check_count(values, source, j)
    if len(values) <= 2 and points is None:
        return Levels("binary", _two(values, column, kind), (0.0, 1.0), missing)
    if kind == "nominal":
        if points is not None:
            raise DataError(f"{setting('scores')} must be for ordinal columns; got some for {where}, which is nominal.")
        return Levels(kind, tuple(values), None, missing)
    if points is not None:
        found = check_scores(points, len(values), where)
    elif numbers is not None:
        found = check_scores(numbers, len(values), where)
    elif all(is_number(value) for value in values) and values == sorted(values):
        found = steps_of(values, where)
    else:
        found = [float(k) for k in range(len(values))]
    return Levels("ordinal", tuple(values), tuple(found), missing)


def _declared_values(column: Column, kind: str, where: str) -> list[Any]:
    """Return the categories that the source declares, in its order."""
    values = list(column.categories or ())
    words = all(isinstance(value, str) for value in values)
    if kind == "ordinal" and len(values) > 2 and not (column.ordered or column.numbers) and words:
        raise DataError(
            f"{where} must be an ordered categorical to be ordinal; got one whose categories have no order "
            f"({show_values(values)}). Use pandas.Categorical(…, categories=[…], ordered=True), or give each value its "
            f"number: {setting('encode', python='encode={…: 0, …: 1, …: 2}')}."
        )
    if not column.ordered and all(is_number(value) for value in values):
        values = sorted(values)
    return values


def _plain_values(seen: list[Any], kind: str, source: Source, j: int) -> list[Any]:
    """Return the values of a column of numbers or of text, in ascending order."""
    where = source.where(j)
    if all(is_number(value) for value in seen):
        if not all(math.isfinite(value) for value in seen):
            raise DataError(f"{where} must hold finite numbers to have categories; got {show_values(seen)}.")
        return [int(value) if float(value).is_integer() else float(value) for value in sorted(seen)]
    if not all(isinstance(value, str) for value in seen):
        if any(isinstance(value, str) for value in seen) and all(isinstance(v, str) or is_number(v) for v in seen):
            raise DataError(
                f"{where} must hold numbers or text, not both, to have categories; got {show_values(seen)}. "
                f"Turn all of them into text, or say which values are missing.{source.remark_column(j)}"
            )
        odd = next(value for value in seen if not isinstance(value, str) and not is_number(value))
        raise CellTypeError(
            f"{where} must hold numbers or text to have categories; got {show_value(odd)}, which is a "
            f"{type(odd).__name__}."
        )
    if kind == "ordinal" and len(seen) > 2:
        raise DataError(
            f"{where} must say in which order its words come to be ordinal; got {show_values(seen)}. Give each its "
            f"number ({setting('encode', python='encode={…: 0, …: 1, …: 2}')}), use an ordered categorical, or declare "
            f"the column as nominal.{source.remark_column(j)}"
        )
    return sorted(str(value) for value in seen)


def _read_entries(
    entries: Mapping[Any, Any], seen: list[Any], where: str
) -> tuple[list[Any], list[float], tuple[Any, ...]]:
    """Return the values that ``encode`` gives numbers, in the order of these, the numbers, and the missing values."""
    numbers = {value: number for value, number in entries.items() if number is not None}
    for value, number in numbers.items():
        if not is_number(number) or not math.isfinite(number):
            raise ArgumentError("encode", f"must map {value!r} to a number or None (missing)", number)
    if len(set(numbers.values())) < len(numbers):
        raise DataError(f"{setting('encode')} must give different numbers to the categories of {where}.")
    missing = tuple(value for value, number in entries.items() if number is None)
    unknown = [value for value in seen if value not in entries]
    if unknown:
        raise DataError(
            f"{setting('encode')} must say what every value means; got {show_values(unknown)} in {where}, which it "
            "lacks. Add them."
        )
    order = sorted(numbers, key=lambda value: float(numbers[value]))
    return order, [float(numbers[value]) for value in order], missing


def _two(values: list[Any], column: Column, kind: str) -> tuple[Any, Any]:
    """Return the values that stand for 0 and 1 of a column with at most two; None for one that never occurs."""
    if len(values) == 2 and kind == "nominal":
        found = order_pair(values, column)
        assert found is not None
        return found
    if len(values) == 2:
        return values[0], values[1]
    if not values or (is_number(values[0]) and values[0] in (0, 1)):
        return 0, 1
    return values[0], None


def _check_count(values: list[Any], source: Source, j: int) -> None:
    """Refuse a column with too many categories, or with too few rows for them."""
    q, where = len(values), source.where(j)
    drop_one = setting("drop", python="drop=[…] in read_table")
    if q > MOST_CATEGORIES:
        raise DataError(
            f"{where} must have at most {MOST_CATEGORIES} categories; got {q} different values. Cut them into fewer "
            f"(pandas.cut), or leave the column out ({drop_one}).{source.remark_column(j)}"
        )
    if has_too_many(q, source.shape[0]):
        raise DataError(
            f"{where} must have fewer categories than there are rows to learn from; got {q} in {source.shape[0]} rows. "
            f"A column that names its rows says nothing about others: leave it out ({drop_one}), or put its "
            f"values into fewer categories.{source.remark_column(j)}"
        )


def has_too_many(n_values: int, n_rows: int) -> bool:
    """Tell whether a column has too many values to be categories."""
    return n_values > MOST_CATEGORIES or (n_values >= FEW and 2 * n_values > n_rows)


def check_scores(points: Any, n_categories: int, where: str) -> list[float]:
    """Return where every category lies, from the lowest on: only distances matter, and an offset would only round.

    Takes one finite number per category, all different; ``where`` is what messages call the column.
    """
    try:
        found = [float(point) for point in points]
    except (TypeError, ValueError):
        found = []
    if len(found) != n_categories or not all(map(math.isfinite, found)):
        raise ArgumentError(
            "scores", f"must be one finite number for each of the {n_categories} categories of {where}", points
        )
    if len(set(found)) < len(found):
        raise ArgumentError("scores", f"must be different numbers for {where}", points)
    lowest = min(found)
    above = np.array([point - lowest for point in found])
    if not np.isfinite(above).all():
        raise ArgumentError("scores", f"must have finite distances for {where}", points)
    steps = whole_steps(above, 4.0 * EPSILON * max(map(abs, found)))
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


def steps_of(values: Sequence[Any], where: str) -> list[float]:
    """Return numbers as steps from the smallest, in units of the largest step that all are multiples of."""
    above = np.array([float(value) for value in values]) - float(values[0])
    if (above == np.round(above)).all() and above[-1] < 2**53:
        unit = float(math.gcd(*(int(a) for a in above)))
    else:
        unit = float(np.diff(above).min())
    steps = above / unit
    if np.abs(steps - steps.round()).max() > _CLOSE * steps.max() or steps.max() > MOST_STEPS:
        raise DataError(
            f"{where} must hold multiples of one step, at most {MOST_STEPS} of them, to be ordinal; got "
            f"{show_values(values)}. Say where its categories lie: {setting('scores', python='scores={…: […]}')}."
        )
    return [float(step) for step in steps.round()]


def per_column(argument: str, given: Any, names: Sequence[Any] | None, p: int, default: Any) -> list[Any]:
    """Return one entry per column, from one word, one entry each, or a mapping by name or number; check kinds."""
    entries = [default] * p
    if isinstance(given, Mapping):
        for key, entry in given.items():
            place = names.index(key) if isinstance(key, str) and names is not None and key in names else key
            if not (isinstance(place, int) and 0 <= place < p):
                raise ArgumentError(argument, "must name columns of the table", key)
            entries[place] = entry
    elif not hasattr(given, "__len__"):
        raise ArgumentError(argument, "must be one word, one entry per column, or a mapping", given)
    else:
        entries = [given] * p if isinstance(given, str) else list(given)
        if len(entries) != p:
            raise ArgumentError(argument, f"must have one entry per column ({p})", len(entries))
    wrong = [entry for entry in entries if argument == "kinds" and entry not in (*KINDS, default)]
    if wrong:
        raise ArgumentError("kinds", f"must be {', '.join(KINDS[:-1])} or {KINDS[-1]}", wrong[0])
    return entries
