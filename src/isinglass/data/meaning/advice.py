"""What messages advise: options that say what columns and values mean, and remarks about what these look like."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence

from isinglass.data.meaning.recognition import (
    ROWS_TO_JUDGE,
    amounts,
    differ_in_rows,
    missing_codes,
    no_answers,
    other_decimal,
)
from isinglass.data.meaning.values import THOUSANDS, Value, show_values, spell_out
from isinglass.errors import setting
from isinglass.names import name_ranges

LISTED, SHOWN = 4, 8
"""Columns and values that a message lists."""
DROP = setting("drop", python="drop=[…] in read_table")
ORDINAL, NOMINAL, CONTINUOUS = (
    setting(kind, python=f'kinds="{kind}"') for kind in ("ordinal", "nominal", "continuous")
)
MERGE = f"give them the same number ({setting('encode', python='encode={…: {…: 0, …: 1, …: 1}}')})"
SAY_VALUES = (
    f"Say what each value means ({setting('encode', python='encode={…: 0, …: 1, …: None}')}), choose a threshold for "
    f"numbers ({setting('binarize', python='binarize=…')}), or leave the column out ({DROP})."
)


def say_kind(*, in_parts: bool) -> str:
    """Say what to do with a column of more than two values, of a table in parts or of another."""
    if in_parts:
        return "Categories and numbers need one table in memory, not parts."
    return (
        f"If these are categories, say whether they have an order ({ORDINAL}) or not ({NOMINAL}); if they are numbers, "
        f"pass {CONTINUOUS}."
    )


def drop(labels: Sequence[Hashable]) -> str:
    """Return the mention of the option that leaves columns out."""
    return setting("drop", option_keys(labels), python=f"drop={option_keys(labels)} in read_table")


def kind_option(kind: str, labels: Sequence[Hashable]) -> str:
    """Return the mention of the option by which columns have a kind."""
    return setting(kind, labels, python=say_of_all("kinds", labels, kind))


def say_of_all(argument: str, labels: Sequence[Hashable], word: str) -> str:
    """Return an argument that says one thing of all columns, as Python has it; some of them if there are many."""
    more = ", …" if len(labels) > LISTED else ""
    return f"{argument}={str(dict.fromkeys(labels[:LISTED], word))[:-1]}{more}}}"


def make_missing(codes: Sequence[Value], labels: Sequence[Hashable] = (), places: Sequence[int] = ()) -> str:
    """Say how to make codes missing, in all columns or at some places: ``--na 99``, in Python ``na_values=[99]``."""
    python = ", ".join(
        f"float('{code}')" if isinstance(code, float) and not math.isfinite(code) else repr(code) for code in codes
    )
    if not places:
        return setting("na_values", {None: list(map(str, codes))}, python=f"na_values=[{python}]")
    keys = name_ranges(option_keys(labels), places)
    entries = [*(f"{key!r}: [{python}]" for key in keys[:LISTED]), *(["…"] if len(keys) > LISTED else [])]
    words = {key: list(map(str, codes)) for key in keys}
    return setting("na_values", words, python=f"na_values={{{', '.join(entries)}}}")


def option_keys(labels: Sequence[Hashable]) -> list[str | int]:
    """Return what options call columns."""
    return [label if isinstance(label, int) else str(label) for label in labels]


def advise_missing(column: int, labels: Sequence[Hashable], values_of: Callable[[int], Sequence[Value]]) -> str:
    """Return a sentence about values of a column that probably stand for a missing answer, or nothing."""
    no_answer = _suspects(values_of(column))
    if not no_answer:
        return ""
    gone = spell_out(no_answer)
    others = (values_of(j) for j in range(len(labels)) if j != column)
    here = [column] if any(gone & ({*values} - {*_suspects(values)}) for values in others) else ()
    shown, verb = show_values(no_answer, SHOWN), "stands" if len(no_answer) == 1 else "stand"
    return f" If {shown} {verb} for a missing answer, pass {make_missing(no_answer, labels, here)}."


def _suspects(values: Sequence[Value]) -> list[Value]:
    """Return the values that may stand for a missing answer."""
    sure, doubtful = missing_codes(values)
    return [*sure, *doubtful, *no_answers(values)]


def remark_identifier(n_distinct: int, n_rows: int, label: Hashable, *, is_first: bool) -> str:
    """Return a sentence about a column with a different value in almost every row, or nothing."""
    if n_rows < (2 if is_first else ROWS_TO_JUDGE) or not differ_in_rows(n_distinct, n_rows):
        return ""
    if is_first:
        return f" If it names the rows, pass {setting('id_column', 0)}."
    return (
        f" It has {n_distinct} different values in {n_rows} rows: if it holds row names, leave it out "
        f"({drop([label])})."
    )


def remark_decimals(values: Iterable[Value], decimal: str | None = None) -> str:
    """Return a sentence about words that are numbers with another decimal separator, or nothing."""
    other, called = (".", "point") if decimal == "," else (",", "comma")
    number = other_decimal(values, decimal)
    if number is None:
        return ""
    python = f'decimal="{other}" to read_table' + (
        ", or turn the texts of a frame into numbers" if other == "," else ""
    )
    thousands = " If the comma groups thousands, remove it." if THOUSANDS.fullmatch(number.strip()) else ""
    pass_it = setting("decimal", other, python=python)
    return f" Pass {pass_it} if {number!r} is a number with a decimal {called}.{thousands}"


def remark_numbers(values: Iterable[Value], decimal: str | None = None) -> str:
    """Return a sentence about words that a person reads as numbers, or nothing."""
    words = [value for value in values if isinstance(value, str)]
    written = amounts(words, decimal)
    remark = remark_decimals(words, decimal)
    if remark or not written:
        return remark
    return f" If {written[0]!r} is a number, keep only its digits and its decimal separator."
