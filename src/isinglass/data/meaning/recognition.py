"""What columns look like: codes and words for missing answers, dates, row names, weights, items in reverse.

Everything that is recognized by appearance is recognized here; warnings, guesses and messages ask.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray
from isinglass.data.meaning.values import (
    AMOUNT,
    Value,
    as_float,
    as_whole,
    is_bit,
    read_number,
    read_word,
)
from isinglass.variables import MAX_CATEGORIES

ROWS_TO_JUDGE = 20
"""Rows below which there are no warnings: such a table can be read at a glance."""
MOST_ROWS = 20_000
"""Rows that are enough to find reversed items and sums."""
MANY_LEVELS = 12
"""Levels, or steps from the lowest to the highest, above which an ordered column may be a number."""
DISTINCT_SHARE = 0.9
"""Share of different values above which a column probably names its rows."""
CATEGORIES_TO_CHECK = 5
"""Categories from which on their number is compared with that of the rows."""
_ID = re.compile(
    r"(?i:(?:.*[\W_])?id(?:entifier)?(?:[\W_].*)?)|.*[a-z]I[Dd]"
    r"|(?i:(?:case|resp|respondent|row|record|subj|subject|person|participant|patient|user|household|hh)id)"
)
"""Names of columns that hold an identifier, even if it occurs in several rows."""
_ROW_NAME = re.compile(
    r"(?i:(?:.*[\W_])?(?:nr|no|number|code|case|subject|respondent|participant|person|zip)(?:[\W_].*)?)"
)
"""Names of columns that hold one if it is different in almost every row."""
_COMMA, _POINT = re.compile(r"[+-]?\d+,\d+"), re.compile(r"[+-]?\d*\.\d+")
_CODES = frozenset({77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 7777, 8888, 9997, 9998, 9999})
_DIGITS = frozenset({7, 8, 9})
"""Codes of one digit, which may also be answers."""
_NEGATIVE = frozenset(-code for code in (*_CODES, *range(1, 10)))
_NO_ANSWER = frozenset(
    re.split(
        r",\s*",
        "refuse, refused, refusal, refuse to answer, refused to answer, declined to answer, does not apply, "
        "dont know, do not know, dk, dk/na, no answer, not answered, not available, not stated, not reported, n.a, "
        "inapplicable, not applicable, n/a, not asked, prefer not to say, prefer not to answer, rather not say, "
        "missing, none, unknown, no response, keine angabe, k.a, weiss nicht, verweigert, ne sait pas, sans réponse, "
        "non réponse, refus, nsp, no sabe, no contesta, ns/nc, non so, non risponde, weet niet, geen antwoord",
    )
)
_WEIGHT = re.compile(
    r"(.*_)?(w|wt|wgt|weights?|(d|p|psp|an)?w(ei)?ght|gewicht|freq|frequency)(_.*|\d+)?", re.IGNORECASE
)
_COUNTS = re.compile(r"(.*_)?freq(uency)?(_.*|\d+)?", re.IGNORECASE)
NEAR_ONE, LARGE_WEIGHT = 0.25, 5000
"""Distance from 1 of the mean of normalized weights, and least mean of weights that sum to a population."""
FEWEST_ITEMS, REVERSED_CORRELATION, POSITIVE_SHARE, REVERSED_SHARE = 4, -0.1, 0.9, 0.4
"""Items of a battery; mean correlation with the others below which one is reversed; share of positive correlations once
these are turned, and largest share of reversed items."""
_DATE = re.compile(r"\d{4}[-/.]\d\d?[-/.]\d\d?([ T].*)?|\d\d?[-/.]\d\d?[-/.]\d{4}|\d{4}[-/](0?[1-9]|1[0-2])")


def missing_codes(values: Iterable[Value]) -> tuple[int, ...]:
    """Return the numbers outside a scale that look like codes of missing answers.

    Codes below a scale are all its negative numbers: -9 below 0 to 4. Codes above it are farther away than it is wide:
    99 above 1 to 5. Above a scale from 0 or 1 that leaves out no number, 7, 8 and 9 are codes, too, unless only one
    number is left out before a single one (7 above 1 to 5) and the scale has more than two points.
    """
    numbers = sorted({as_whole(number) for number in map(as_float, values) if math.isfinite(number)})
    below, scale = [n for n in numbers if n < 0], [n for n in numbers if n >= 0]
    if len(scale) < 2 or not _NEGATIVE.issuperset(below) or (below and below[-1] > scale[0] - 2):  # -2 to 2 is a scale
        below, scale = [], numbers
    return tuple(map(int, [*below, *_codes_above(scale)]))


def _codes_above(numbers: list[float]) -> list[float]:
    """Return the codes among ascending numbers, above a scale of at least two points."""
    for k in range(max(2, len(numbers) - len(_CODES | _DIGITS)), len(numbers)):
        scale, rest = numbers[:k], numbers[k:]
        gap, span = rest[0] - scale[-1], scale[-1] - scale[0]
        if rest[0] > 9 and _CODES.issuperset(rest) and gap > max(1, span):
            return rest
        if scale[0] in (0, 1) and span == k - 1 and _DIGITS.issuperset(rest) and gap > 1:
            return rest if k == 2 or gap > 2 or len(rest) > 1 else []
    return []


def no_answers(values: Iterable[Value]) -> tuple[str, ...]:
    """Return the words that say that there was no answer: known ones, signs beside words, one or two beside numbers.

    A word with a digit is an answer.
    """
    values = list(values)
    words = [value for value in values if isinstance(value, str)]
    if len(values) - len(words) > 2 >= len(words):
        return tuple(word for word in words if not any(map(str.isdigit, word)))
    signs = {word for word in words if not any(map(str.isalnum, word))}
    return tuple(word for word in words if _plain(word) in _NO_ANSWER or (word in signs and len(signs) < len(words)))


def suspected_answers(values: Sequence[Value], labels: Mapping[Value, Value]) -> tuple[Value, ...]:
    """Return the values that probably stand for a missing answer: codes, and words or values with such a label."""
    by_label = [value for value, label in labels.items() if no_answers([label]) and value in values]
    return tuple(dict.fromkeys([*missing_codes(values), *no_answers(values), *by_label]))


def _plain(word: str) -> str:
    return " ".join(word.casefold().replace("'", "").replace("’", "").strip(" .()[]-").split())


def are_dates(values: Sequence[Value]) -> bool:
    """Tell whether values are dates, as objects or as text."""
    words = [value for value in values if isinstance(value, str)]
    if words:
        return len(words) > 1 and all(_DATE.fullmatch(word.strip()) for word in words)
    return len(values) > 0 and all(hasattr(value, "year") or isinstance(value, np.datetime64) for value in values)


def other_decimal(values: Iterable[Value], decimal: str | None = None) -> str | None:
    """Return the first word that is a number with another decimal separator than this, which is a point by default."""
    form = _POINT if decimal == "," else _COMMA
    return next((value for value in values if isinstance(value, str) and form.fullmatch(value.strip())), None)


def amounts(values: Iterable[Value], decimal: str | None = None) -> list[str]:
    """Return the words that only a person reads as a number: 10%, $5, 1,200, or one with another decimal separator."""
    words = [value for value in values if isinstance(value, str) and AMOUNT.fullmatch(value.strip())]
    return [word for word in words if read_number(word.strip(), decimal or ".") is None]


def is_unclear(two: Sequence[Value]) -> bool:
    """Tell whether two values may be spellings of one thing, or one of them no answer: "Yes" and "yes", 0 and -9."""
    one, other = (read_word(value.casefold() if isinstance(value, str) else value) for value in two)
    return one == other or (is_bit(one) != is_bit(other) and {one, other} not in ({1, 2}, {-1, 1}))


def has_too_many(n_values: int, n_rows: int) -> bool:
    """Tell whether a column has too many values to be categories."""
    return n_values > MAX_CATEGORIES or (n_values >= CATEGORIES_TO_CHECK and 2 * n_values > n_rows)


def differ_in_rows(n_values: int, n_rows: int) -> bool:
    """Tell whether a column has a different value in almost every row, as one that names the rows has."""
    return n_values >= DISTINCT_SHARE * n_rows


def is_identifier(label: Hashable, *, has_many_values: bool = False) -> bool:
    """Tell whether a column is called like an identifier; ``has_many_values``: different ones in almost all rows."""
    forms = (_ID, _ROW_NAME) if has_many_values else (_ID,)
    return any(form.fullmatch(str(label)) for form in forms)


def scale_of(label: Hashable) -> str:
    """Return the name of the scale that an item is of: w of w1, w2, w3."""
    return str(label).rstrip("0123456789")


def is_weight(label: Hashable) -> bool:
    """Tell whether a column is called like row weights or counts."""
    return _WEIGHT.fullmatch(str(label)) is not None


def are_weights(label: Hashable, numbers: FloatArray) -> bool:
    """Tell whether the numbers of a column called like row weights are such, and not the weight of bodies or cars.

    Frequencies are counts. Sampling weights have a mean near 1, a mean of thousands, or a 0.
    """
    least, mean = float(numbers.min()), float(numbers.mean())
    is_typical = least == 0 or abs(mean - 1) <= NEAR_ONE or mean >= LARGE_WEIGHT
    return _COUNTS.fullmatch(str(label)) is not None or (least >= 0 and is_typical)


def reversed_items(codes: NDArray[np.integer]) -> list[int]:
    """Return the items, a row each, that run against the others, if these are a battery.

    Their loadings on the first principal component have the sign of few. In a battery nearly all correlations are
    positive once the reversed items are turned.
    """
    is_answer = codes >= 0
    n_answers = np.maximum(is_answer.sum(axis=1, keepdims=True), 1)
    cells = np.where(is_answer, codes - np.where(is_answer, codes, 0).sum(axis=1, keepdims=True) / n_answers, 0.0)
    size = np.linalg.norm(cells, axis=1, keepdims=True)
    if not size.all():
        return []
    correlations, n = (cells / size) @ (cells / size).T, len(codes)
    np.fill_diagonal(correlations, 0.0)
    sign = np.where(np.linalg.eigh(correlations)[1][:, -1] >= 0, 1.0, -1.0)
    sign *= 1 if sign.sum() >= 0 else -1
    turned = np.flatnonzero((sign < 0) & (correlations @ sign < REVERSED_CORRELATION * (n - 1))).tolist()
    positive = (np.outer(sign, sign) * correlations)[np.triu_indices(n, 1)] > 0
    return turned if len(turned) <= REVERSED_SHARE * n and positive.mean() > POSITIVE_SHARE else []
