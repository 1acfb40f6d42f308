"""Does a table mean what it says? Warnings about values and columns that are probably something else.

Each names the columns, the values, and the argument that mends it; nothing is changed here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import MeaningWarning, setting, warn

MANY_LEVELS = 12
"""Levels above which an ordered column may be a number."""
FEW_ROWS = 5
"""Rows below which the couplings of a category can hardly be estimated."""
SMALL = 20
"""Tables with fewer rows can be looked at, and need no warning."""
MOST_ITEMS, MOST_ROWS = 300, 20_000
"""Ordered columns up to which reversed items are looked for, and rows that are enough for it."""
REVERSED, MOSTLY = -0.1, 0.9
"""Mean correlation with the others below which an item is reversed, and share of positive ones in a battery."""
_LISTED = 4
_CODES = frozenset({77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 7777, 8888, 9997, 9998, 9999})
_DIGITS = frozenset({7, 8, 9})
"""Codes of one digit, which may also be answers."""
_NO_ANSWER = frozenset(
    re.split(
        r",\s*",
        "refused, refusal, refused to answer, dont know, do not know, dk, dk/na, no answer, not answered, "
        "inapplicable, not applicable, n/a, not asked, prefer not to say, prefer not to answer, rather not say, "
        "missing, unknown, no response, keine angabe, k.a, weiss nicht, verweigert, ne sait pas, sans réponse, "
        "non réponse, refus, nsp, no sabe, no contesta, ns/nc, non so, non risponde, weet niet, geen antwoord",
    )
)
_DATE = re.compile(r"\d{4}[-/.]\d\d?[-/.]\d\d?([ T].*)?|\d\d?[-/.]\d\d?[-/.]\d{4}")


def missing_codes(values: Iterable[Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers that stand apart from a scale as codes of missing answers do, sure ones and doubtful ones.

    Sure are -9 below 0 to 4 and 99 above 1 to 5; doubtful is 9 above 1 to 5, unless the scale has two points.

    Examples
    --------
    >>> missing_codes([1, 2, 3, 4, 5, 99]), missing_codes([-9, 0, 1, 2]), missing_codes([0, 1, 9])
    (((99,), ()), ((-9,), ()), ((9,), ()))
    >>> missing_codes([1, 2, 3, 4, 5, 8, 9]), missing_codes([1, 2, 3, 4, 5, 6, 7]), missing_codes([-2, -1, 0, 1, 2])
    (((), (8, 9)), ((), ()), ((), ()))
    """
    found = [value for value in values if not isinstance(value, str | None)]
    try:
        numbers = sorted({int(value) for value in found if float(value).is_integer()})
    except (TypeError, ValueError, OverflowError):
        return (), ()
    if len(numbers) < len(found):
        return (), ()
    scale = [number for number in numbers if number >= 0]
    below = [number for number in numbers if number < 0]
    if len(scale) < 2 or (below and (below[-1] > scale[0] - 2 or not set(map(abs, below)) <= _CODES | {*range(1, 10)})):
        below, scale = [], numbers
    for k in range(1, len(scale) - 1):  # a scale has two points at least
        top, rest = scale[k], set(scale[k + 1 :])
        gap = scale[k + 1] - top
        if rest <= _CODES | _DIGITS and max(rest) > 9 and scale[k + 1] > 9 and gap > max(1, top - scale[0]):
            return (*below, *sorted(rest)), ()
        if rest <= _DIGITS and gap > 1 and scale[: k + 1] == list(range(scale[0], top + 1)) and scale[0] in (0, 1):
            both = (*below, *sorted(rest))
            return (both, ()) if k == 1 else (tuple(below), tuple(sorted(rest)))
    return tuple(below), ()


def no_answers(values: Iterable[Any]) -> tuple[str, ...]:
    """Return the words that say that there was no answer.

    Examples
    --------
    >>> no_answers(["yes", "no", "Don't know", "keine Angabe"])
    ("Don't know", 'keine Angabe')
    """
    return tuple(
        value
        for value in values
        if isinstance(value, str)
        and " ".join(value.casefold().replace("'", "").replace("’", "").strip(" .()[]-").split()) in _NO_ANSWER
    )


def advise_missing(values: Iterable[Any]) -> str:
    """Return a sentence about values that probably stand for a missing answer, or nothing."""
    values = list(values)
    sure, doubtful = missing_codes(values)
    found = [*sure, *doubtful, *no_answers(values)]
    if not found:
        return ""
    shown, verb = _enumerate(found), "stands" if len(found) == 1 else "stand"
    return f" If {shown} {verb} for a missing answer, {_remedy(found)}."


def check_meaning(
    source: Any, labels: Sequence[Hashable], levels: Mapping[int, Any], coded: Mapping[int, NDArray[Any]]
) -> None:
    """Warn about the columns of a table that have categories; ``levels`` has their rules, ``coded`` their cells."""
    _warn_codes({labels[j]: source.column(j).distinct for j in levels})
    if source.shape[0] < SMALL:
        return
    many = [labels[j] for j, rule in levels.items() if rule.kind == "ordinal" and len(rule.values) > MANY_LEVELS]
    if many:
        _say(
            f"{_columns(many, 'has', 'have')} more than {MANY_LEVELS} ordered levels: if these are numbers, a cut "
            f"({setting('binarize', python='binarize={…: …}')}) or fewer classes describe them better; if they name "
            f"something, leave them out ({setting('drop', [str(label) for label in many])})."
        )
    dates = [labels[j] for j, rule in levels.items() if _are_dates(rule.values)]
    if dates:
        names = [str(label) for label in dates]
        _say(f"{_columns(dates, 'holds', 'hold')} dates: leave them out ({setting('drop', names)}).")
    _warn_rare({labels[j]: (rule, coded[j]) for j, rule in levels.items()})
    ordered = [j for j, rule in levels.items() if rule.kind == "ordinal"]
    if 4 <= len(ordered) <= MOST_ITEMS:
        some = slice(None, None, max(1, source.shape[0] // MOST_ROWS))
        _warn_reversed([labels[j] for j in ordered], [coded[j][some] for j in ordered])


def _warn_codes(columns: Mapping[Hashable, list[Any]]) -> None:
    """Warn about codes and words of missing answers, columns with the same ones together."""
    found: dict[tuple[Any, ...], list[Hashable]] = defaultdict(list)
    doubts: dict[int, list[tuple[Hashable, tuple[int, ...]]]] = defaultdict(list)
    plain: dict[int, int] = defaultdict(int)  # columns without such a code, by the top of their scale
    for label, values in columns.items():
        sure, doubtful = missing_codes(values)
        if codes := (*sure, *no_answers(values)):
            found[codes].append(label)
        numbers = [v for v in values if not isinstance(v, str) and v not in sure and v not in doubtful]
        top = int(max(numbers)) if numbers else 0
        if doubtful:
            doubts[top].append((label, doubtful))
        else:
            plain[top] += 1
    for top, group in doubts.items():
        # 9 behind 1 to 5 leaves out more than an answer that was not given; 7 may be one.
        if len(group) > max(1, plain[top]) or min(min(codes) for _, codes in group) > top + 2:
            every = tuple(sorted({code for _, codes in group for code in codes}))
            found[every] += [label for label, _ in group]
    for codes, names in found.items():
        shown = [value for value in dict.fromkeys(v for label in names for v in columns[label]) if value not in codes]
        _say(
            f"{_columns(names, 'has', 'have')} {_enumerate(codes)} beside {_enumerate(sorted(shown, key=str), most=5)}."
            f" If {'this is' if len(codes) == 1 else 'these are'} no answer, {_remedy(codes)}."
        )


def _warn_rare(columns: Mapping[Hashable, tuple[Any, NDArray[Any]]]) -> None:
    rare = []
    for label, (rule, codes) in columns.items():
        if len(rule.values) > 2:
            counts = np.bincount(codes[codes >= 0], minlength=len(rule.values))
            few = np.flatnonzero((counts > 0) & (counts < FEW_ROWS))
            rare += [f"{label!r}: {rule.values[k]!r} ({counts[k]})" for k in few]
    if rare:
        more = f" and {len(rare) - _LISTED} more" if len(rare) > _LISTED else ""
        _say(
            f"some categories have fewer than {FEW_ROWS} rows: {', '.join(rare[:_LISTED])}{more}. Their couplings can "
            f"hardly be estimated; {setting('encode', python='encode={…: 0, …: 1}')} can put categories together."
        )


def _warn_reversed(labels: list[Hashable], columns: list[NDArray[Any]]) -> None:
    """Warn about items that go down where the others of their battery go up."""
    cells = np.stack(columns).astype(np.float64)
    cells[cells < 0] = np.nan
    cells -= np.nanmean(cells, axis=1, keepdims=True)
    cells = np.nan_to_num(cells)
    size = np.sqrt((cells**2).sum(axis=1))
    if not size.all():
        return
    cells /= size[:, None]
    n = len(labels)
    correlations = cells @ cells.T
    np.fill_diagonal(correlations, 0.0)
    sign = np.ones(n)
    for _ in range(n):  # turn the item that is most against the others, until none is
        against = sign * (correlations @ sign)
        if against.min() >= 0:
            break
        sign[against.argmin()] *= -1
    sign *= 1 if sign.sum() >= 0 else -1
    turned = [labels[k] for k in np.flatnonzero((sign < 0) & (correlations @ sign < REVERSED * (n - 1)))]
    # In a battery nearly all correlations are positive once the reversed items are turned.
    positive = (np.outer(sign, sign) * correlations)[np.triu_indices(n, 1)] > 0
    if turned and 3 * len(turned) <= n and positive.mean() > MOSTLY:
        names = [str(label) for label in turned]
        python = f"reverse={names} in read_table, or by subtracting the answers from the largest one"
        _say(
            f"{_columns(turned, 'runs', 'run')} against the direction of the others: if the wording is reversed, turn "
            f"{'it' if len(turned) == 1 else 'them'} with {setting('reverse', names, python=python)}."
        )


def _are_dates(values: Sequence[Any]) -> bool:
    words = [value for value in values if isinstance(value, str)]
    return len(words) > 1 and all(_DATE.fullmatch(word.strip()) for word in words)


def _remedy(codes: Sequence[Any]) -> str:
    """Say how to make codes missing: ``--na 99, --na 98``, in Python ``na_values=[99, 98]``."""
    python = [repr(code) for code in codes]
    python[0], python[-1] = f"na_values=[{python[0]}", f"{python[-1] if len(codes) > 1 else f'na_values=[{python[0]}'}]"
    python[-1] += " to read_table, or make such cells of a frame missing"
    return "pass " + ", ".join(
        setting("na_values", code, python=word) for code, word in zip(codes, python, strict=True)
    )


def _columns(labels: Sequence[Hashable], singular: str, plural: str) -> str:
    """Return the subject of a sentence, with its verb."""
    listed = ", ".join(map(repr, labels[:_LISTED]))
    listed += f" and {len(labels) - _LISTED} more" if len(labels) > _LISTED else ""
    return f"column {listed} {singular}" if len(labels) == 1 else f"{len(labels)} columns ({listed}) {plural}"


def _enumerate(values: Sequence[Any], most: int = 8) -> str:
    shown = [repr(value) if isinstance(value, str) else f"{value:g}" for value in values]
    return ", ".join([*shown[:most], *(["…"] if len(shown) > most else [])])


def _say(text: str) -> None:
    warn(MeaningWarning(text[0].upper() + text[1:]))
