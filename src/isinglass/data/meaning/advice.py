"""What messages advise: options that say what columns and values mean."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

import numpy as np

from isinglass.arguments import is_whole
from isinglass.column_keys import name_ranges
from isinglass.data.meaning.recognition import (
    ROWS_TO_JUDGE,
    amounts,
    differ_in_rows,
    is_unclear,
    other_decimal,
    suspected_answers,
)
from isinglass.data.meaning.values import Value, rank, show_value, spell_out
from isinglass.data.source import Source
from isinglass.errors import setting

LISTED, SHOWN = 4, 8
"""Columns and values that a message lists."""
DROP = setting("drop", python="drop=[…] in read_table, X.drop(columns=[…]) of a frame")
KINDS = setting("kinds", python='kinds="ordinal", "nominal" or "continuous"')
CONTINUOUS = setting("continuous", python='kinds="continuous"')
ENCODE = setting("encode", python="encode={…: 0, …: 1, …: None}")
HEADER = f" If the first line names the columns, use {setting('header', True)}."
PROPOSALS = f" {setting('guess', python='`isinglass info FILE`, or guess=True,')} proposes a kind for every column."


def settle(values: Sequence[Value], label: Hashable, *, in_parts: bool) -> str:
    """Say which options settle what the values of a column mean."""
    if len(values) <= 2 and not (len(values) == 2 and is_unclear(values)):
        return f"If these are two answers, use {setting('encode', 'auto')}, or say what they mean ({ENCODE})."
    kind = f"state its kind ({KINDS}), " if len(values) > 2 and not in_parts else ""
    meaning = (
        f"{kind}say what its values mean ({ENCODE}), choose a threshold for numbers "
        f"({setting('binarize', python='binarize=…')}), or leave the column out ({drop([label])})."
    )
    parts = "Categories and numbers need one table in memory, not parts. " if len(values) > 2 and in_parts else ""
    return f"{parts}{meaning[0].upper()}{meaning[1:]}"


def option_keys(labels: Sequence[Hashable]) -> list[str | int]:
    """Return what options call columns."""
    return [label if isinstance(label, int) else str(label) for label in labels]


def drop(labels: Sequence[Hashable]) -> str:
    """Return the mention of the option that leaves columns out."""
    keys = option_keys(labels)
    shown = f"[{', '.join([*map(repr, keys[:LISTED]), *(['…'] if len(keys) > LISTED else [])])}]"
    are_numbers = all(isinstance(key, int) for key in keys)
    in_memory = f"np.delete(X, {shown}, 1) of an array" if are_numbers else f"X.drop(columns={shown}) of a frame"
    return setting("drop", keys, python=f"drop={shown} in read_table, {in_memory}")


def use_kind(kind: str, labels: Sequence[Hashable]) -> str:
    """Return the mention of the option by which columns have a kind."""
    return setting(kind, labels, python=say_of_all("kinds", labels, kind))


def say_of_all(argument: str, labels: Sequence[Hashable], word: str) -> str:
    """Return an argument that says one thing of all columns, as Python has it; some of them if there are many."""
    more = ", …" if len(labels) > LISTED else ""
    return f"{argument}={str(dict.fromkeys(labels[:LISTED], word))[:-1]}{more}}}"


def make_missing(codes: Sequence[Value], labels: Sequence[Hashable] = (), places: Sequence[int] = ()) -> str:
    """Say how to make codes missing, in all columns or at some places: ``--na 99``, in Python ``na_values=[99]``."""
    python = ", ".join(map(_write, codes))
    words = [show_value(code) if is_whole(code) else str(code) for code in codes]
    if not places:
        return setting("na_values", {None: words}, python=f"na_values=[{python}]")
    keys = name_ranges(option_keys(labels), places)
    entries = [*(f"{key!r}: [{python}]" for key in keys[:LISTED]), *(["…"] if len(keys) > LISTED else [])]
    return setting("na_values", dict.fromkeys(keys, words), python=f"na_values={{{', '.join(entries)}}}")


def _write(code: Value) -> str:
    """Write a value as Python has it; a whole number of many digits is shortened."""
    if isinstance(code, float) and not math.isfinite(code):
        return f"float('{code}')"
    return show_value(code) if is_whole(code) else repr(code)


def say_missing(
    codes: Sequence[Value], places: Sequence[int], labels: Sequence[Hashable], others: Iterable[Collection[Value]]
) -> str:
    """Say how to make codes of some columns missing: in these alone if ``others`` have one as an answer."""
    spelled = spell_out(codes)
    is_answer = any(not spelled.isdisjoint(values) for values in others)
    remedy = make_missing(codes, labels, places if is_answer else ())
    return f"If {'it stands' if len(codes) == 1 else 'they stand'} for a missing answer, use {remedy}."


def show_coded(codes: Sequence[Value], labels: Mapping[Value, Value]) -> str:
    """Write codes for a message, those that have a label with it: 9 ('refused')."""
    shown = [
        f"{show_value(code)} ({labels[code]!r})" if code in labels else show_value(code)
        for code in sorted(codes, key=rank)
    ]
    return ", ".join(shown[:SHOWN]) + ("…" if len(shown) > SHOWN else "")


def remark_column(source: Source, j: int) -> str:
    """Return what errors add about the values of a column, sentences or nothing."""
    column = source.column(j)
    if is_below_name(source, j):
        return HEADER
    values = column.distinct
    codes = suspected_answers(values, column.labels)
    others = (source.column(k).distinct for k in range(source.shape[1]) if k != j)
    missing = f" It has {show_coded(codes, column.labels)}. {say_missing(codes, [j], source.labels, others)}"
    n_rows = source.shape[0]
    names_rows = n_rows >= ROWS_TO_JUDGE and differ_in_rows(len(values), n_rows)
    return "".join(
        [
            missing if codes else "",
            f" It has {len(values)} different values in {n_rows} rows: if it holds row names, leave it out "
            f"({drop([source.labels[j]])})." * names_rows,
            remark_numbers(values, source.decimal),
        ]
    )


def is_below_name(source: Source, j: int) -> bool:
    """Tell whether the only text of a column is in the first row of a file without a header: it may be its name."""
    column = source.column(j)
    if source.layout.has_header is not False or len(column.distinct) == 1:
        return False
    texts = [value for value in column.distinct if isinstance(value, str)]
    return len(texts) == 1 and np.flatnonzero(column.entries == texts[0]).tolist() == [0]


def remark_numbers(values: Iterable[Value], decimal: str | None = None) -> str:
    """Return a sentence about words that a person reads as numbers, or nothing."""
    written = amounts(values, decimal)
    number = other_decimal(written, decimal)
    if number is None:
        return f" If {written[0]!r} is a number, keep only its digits and its decimal separator." if written else ""
    other, mark = (".", "point") if decimal == "," else (",", "comma")
    python = f'decimal="{other}" to read_table, or turn the texts of a frame into numbers'
    return (
        f" If {number!r} is a number with a decimal {mark}, use {setting('decimal', other, python=python)}; marks that "
        "group thousands have to be removed."
    )
