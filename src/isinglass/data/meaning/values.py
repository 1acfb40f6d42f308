"""Single values of a table: what they are, how text spells them, and how messages write them."""

from __future__ import annotations

import heapq
import math
import numbers
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, TypeAlias, TypeGuard

import numpy as np

Value: TypeAlias = Any
"""A value of the source: a number, a text, a truth value, a date, or None for a missing cell."""
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
"""Words that may be a whole number above 999 or one with three decimals."""
AMOUNT = re.compile(
    r"[+-]?[$€£¥]?\s?[+-]?(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+|[1-9]\d{0,2}(?:[, ']\d{3})+)(?:[.,]\d+)?\s?[$€£¥%]?", re.ASCII
)
"""Words that a person reads as a number: with a currency, a percent sign, groups of thousands or a decimal comma."""
_SWAPPED = str.maketrans(",.", ".,")
_TRUTH = {"TRUE": True, "True": True, "true": True, "FALSE": False, "False": False, "false": False}


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether a value can be compared with a threshold."""
    return isinstance(value, numbers.Number | np.bool_) and not isinstance(value, complex | np.complexfloating)


def is_bit(value: object) -> bool:
    """Tell whether a value is 0 or 1."""
    return is_number(value) and value in (0, 1)


def is_missing(value: Value) -> bool:
    """Tell whether a value stands for a missing cell in every table."""
    if value is None or value is np.ma.masked or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating) and math.isnan(value)


def as_float(value: object) -> float:
    """Return a number as it is compared with others; NaN for what is none."""
    try:
        return float(value) if is_number(value) else math.nan
    except OverflowError:
        return math.inf


def is_finite(value: object) -> TypeGuard[float]:
    """Tell whether a value is a finite number, also as a float."""
    return math.isfinite(as_float(value))


def as_whole(number: float) -> float | int:
    """Return a number as a whole one if it is, unless it is so large that a float may stand for several."""
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def read_number(word: str, decimal: str = ".") -> float | int | None:
    """Return the number that a word spells, None if it spells none."""
    if decimal == ",":
        word = word.translate(_SWAPPED)
    if not _NUMBER.fullmatch(word):
        return None
    number = float(word)
    if abs(number) >= 2**53 and math.isfinite(number) and word.lstrip("+-").isdigit():
        return int(Decimal(word))  # every digit counts; int(word) refuses thousands of zeros in front
    return as_whole(number)


def read_cell(word: str, decimal: str = ".") -> Value:
    """Return the number, truth value or text that a field of a text file stands for."""
    word = word.strip()
    if word in _TRUTH:
        return _TRUTH[word]
    number = read_number(word, decimal)
    return word if number is None else number


def read_word(value: Value, decimal: str | None = None) -> Value:
    """Return the number that a text spells, with this decimal separator or a point, or the value as it is."""
    spellings = (read_number(value.strip(), each) for each in (decimal or ".", ".")) if isinstance(value, str) else ()
    return next((number for number in spellings if number is not None), value)


def respell(value: Value) -> Value:
    """Return what a text spells, and the text of anything else."""
    return read_cell(value) if isinstance(value, str) else _spell(value)


def _spell(value: Value) -> Value:
    """Return the text of a value; an integer of more digits than Python writes stays as it is."""
    try:
        return str(value).strip()
    except ValueError:
        return value


def spell_out(values: Iterable[Value], decimal: str | None = None) -> frozenset[Value]:
    """Return what `is_among` compares with: words as they are spelled, and numbers however these are spelled.

    Truth values are among them as text: the numbers 0 and 1 are others.
    """
    listed = list(values)
    words = set(map(_spell, listed))
    truths = {str(_TRUTH[word]) for word in words if word in _TRUTH}
    others = {read_word(value, decimal) for value in listed if not isinstance(value, bool | np.bool_)}
    return frozenset(words | truths | others)


def is_among(value: Value, spelled: frozenset[Value]) -> bool:
    """Tell whether a value is one of those that `spell_out` returned."""
    if isinstance(value, bool | np.bool_):  # False == 0
        return str(value) in spelled
    return (value.strip() if isinstance(value, str) else value) in spelled


def rank(value: object) -> tuple[bool, Any]:  # Any: what can be compared
    """Order numbers before everything else, text by its characters and other values by how they are written."""
    return (False, value) if is_number(value) else (True, value if isinstance(value, str) else repr(value))


def show_span(low: float, high: float) -> str:
    """Return "0 to 12", in as many digits as show how far the numbers are apart.

    Examples
    --------
    >>> show_span(0, 12.5), show_span(1.7e12, 1.7e12 + 86400)
    ('0 to 12.5', '1.7e+12 to 1.7000000864e+12')
    """
    largest = max(abs(low), abs(high))
    digits = int(np.clip(4 + round(math.log10(largest / (high - low))), 6, 17)) if high > low else 6
    return f"{low:.{digits}g} to {high:.{digits}g}"


def show_values(values: Iterable[object], most: int = 5) -> str:
    """Write a few values for a message."""
    listed = heapq.nsmallest(most + 1, values, key=rank)
    return ", ".join([*map(show_value, listed[:most]), *(["…"] if len(listed) > most else [])])


def show_value(value: object) -> str:
    """Write one value for a message."""
    plain = value.item() if isinstance(value, np.generic) else value
    try:
        short = isinstance(plain, float) and (math.isnan(plain) or float(f"{plain:g}") == plain)
        text = f"{plain:g}" if short else repr(plain)  # 0.9999999999999999 is not 1
    except ValueError:  # an integer of more digits than Python writes
        text = "an integer of thousands of digits"
    if len(text) <= 40:
        return text
    return text[:36] + "…" + text[-1] if isinstance(plain, str) else text[:37] + "…"
