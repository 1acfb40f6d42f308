"""Why a table is refused: the column, its values and a row, and what to do about it, by what the values show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from isinglass.column_keys import name_ranges
from isinglass.data.column import UNTYPED
from isinglass.data.meaning.advice import (
    DROP,
    SAY_VALUES,
    drop,
    make_missing,
    option_keys,
    remark_decimals,
    remark_header,
    say_kind,
)
from isinglass.data.meaning.coding import Coding
from isinglass.data.meaning.guessing import guess_kinds
from isinglass.data.meaning.levels import order_pair
from isinglass.data.meaning.recognition import are_dates, is_unclear
from isinglass.data.meaning.remarks import remark_column
from isinglass.data.meaning.rules import Cut, Levels, Rule, Steps
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.meaning.values import Value, is_number, show_value, show_values
from isinglass.data.source import Source
from isinglass.errors import DataError, setting

_MOST_RANGES = 30  # entries of kinds that a message writes out


def refuse_values(
    source: Source, j: int, coding: Coding, rows: NDArray[np.intp], specs: Sequence[ColumnSpec] | None
) -> NoReturn:
    """Say which values of a column are wrong, those in some rows, and what to do about it.

    ``specs``: what was known about all columns in a first reading; None where a table is read like another.
    """
    rule, row = coding.columns[j], int(rows[0])
    column = source.column(j)
    labels = column.labels if isinstance(rule, Levels) and rule.labels else {}
    wrong = [labels.get(value, value) for value in dict.fromkeys(column.entries[rows])]
    shown = "dates" if are_dates(wrong) else show_values(wrong)
    got = f"got {shown} in {source.where(j)} (first in {source.describe_row(row)})"
    remark = remark_decimals(wrong, source.decimal)
    if row == 0 and source.layout.has_header is False and any(isinstance(value, str) for value in wrong):
        remark = remark_header() + remark
    if not rule.is_plain:
        raise DataError(_say_broken(rule, got, wrong, None if specs is None else specs[j]) + remark)
    remedy = "Replace these values, or make them missing."  # a table that is read like another
    if specs is not None or source.is_part:
        values = [labels.get(value, value) for value in column.distinct]
        remedy = _suggest(source, j, values, all(other.kind == "binary" for other in coding.columns), specs or ())
    raise DataError(f"{setting('X')} must hold only 0 and 1; {got}. {remedy}{'' if remark in remedy else remark}")


def _say_broken(rule: Rule, got: str, wrong: Sequence[Value], spec: ColumnSpec | None) -> str:
    """Say which rule other than 0 and 1 values break, and what to do about it.

    ``got``: the values and where; ``spec``: what was known about the column in a first reading.
    """
    if isinstance(rule, Cut):
        return (
            f"{setting('X')} must hold finite numbers for {setting('binarize', rule.threshold)}; {got}. Leave "
            f"{setting('binarize')} out, or replace these values."
        )
    if isinstance(rule, Steps):
        return (
            f"{setting('X')} must hold finite numbers in a continuous column; {got}. Replace these values, or make "
            f"them missing ({make_missing(wrong[:1])})."
        )
    if rule.kind == "binary" and spec is not None:
        remedy = f"Add it, or name the columns that it is for ({setting('encode', python='encode={column: {…}}')})."
        if spec.encode.by_name:
            remedy = f"Add it, or make it missing ({make_missing(wrong[:1])})."
        return f"{setting('encode')} must say what every value means; {got}, which is not in it. {remedy}"
    categories = [value for value in rule.values if value is not None]
    return (
        f"{setting('X')} must have the categories that were declared or fitted; {got}, which has "
        f"{show_values(categories)}. Declare all categories before the fit, with a categorical type or with "
        f"encode, or make these cells missing ({make_missing(wrong[:1])})."
    )


def _suggest(source: Source, j: int, values: list[Value], for_all: bool, specs: Sequence[ColumnSpec]) -> str:
    """Say what to do with a column that is not 0 and 1: what its values show comes first."""
    leave_out = "leave the column out" + (f" ({drop([source.labels[j]])})" if source.is_file else "")
    if are_dates(values):
        return f"A network has no kind for dates: {leave_out}."
    kinds = _advise_kinds(specs) if specs and len(values) > 2 else ""
    if not kinds:
        return f"{_suggest_pair(values, source, for_all=for_all)}{remark_column(source, j)}"
    other = f"say what each value means ({setting('encode', python='encode={…: 0, …: 1, …: None}')})"
    if all(map(is_number, values)):
        other = f"choose a threshold for numbers ({setting('binarize', python='binarize=…')})"
    fractions = any(isinstance(value, float) and value % 1 for value in values)
    return f"{kinds} Otherwise {other}, or {leave_out}.{'' if fractions else remark_column(source, j)}"


def _advise_kinds(specs: Sequence[ColumnSpec]) -> str:
    """Say what to state about the columns that would be refused, as their values show; or nothing."""
    found = [guess for guess in guess_kinds(specs).values() if guess.kind is not None]
    pairs = [guess.place for guess in found if len(guess.values) == 2 and not is_unclear(list(guess.values))]
    pairs = [place for place in pairs if not specs[place].encode.has_numbers]
    guesses = [guess for guess in found if guess.place not in pairs]
    labels = option_keys([spec.label for spec in specs])
    kinds: dict[str | int, str] = {}
    for kind in dict.fromkeys(str(guess.kind) for guess in guesses):
        kinds |= dict.fromkeys(name_ranges(labels, [guess.place for guess in guesses if guess.kind == kind]), kind)
    if not kinds or len(kinds) > _MOST_RANGES:
        return ""
    everywhere = len(set(kinds.values())) == 1 and len(guesses) == len(specs)
    mention = setting("kinds", kinds, python=f'kinds="{guesses[0].kind}"' if everywhere else None)
    mention += f" and {setting('encode', 'auto')}" if pairs else ""
    is_file = specs[0].source.is_file
    more = " (`isinglass info FILE` shows all columns)" if is_file else " to as_table or the estimator"
    return f"By the values of the columns, use {mention}{more}."


def _suggest_pair(values: list[Value], source: Source, *, for_all: bool) -> str:
    """Say what to do with a column of these values; ``for_all``: a mapping of them would suit all columns."""
    auto = setting("encode", "auto")
    if len(values) == 1 and isinstance(values[0], str) and not source.is_part:
        return f"It is constant: leave the column out ({DROP}), or read the table with {auto}."
    if len(values) != 2 or is_unclear(values):
        return f"{SAY_VALUES} {say_kind(in_parts=source.is_part)}" if len(values) > 2 else SAY_VALUES
    if not for_all:
        return f"Read the table with {auto}, or leave the column out."
    zero, one = order_pair(values, UNTYPED)
    example = setting("encode", {one: 1, zero: 0})
    is_plain = all(map(_is_short, values))
    if source.is_part:
        pair = f"{example} or {auto}" if is_plain else auto
        return f"If all parts have these two values, use {pair}; {SAY_VALUES.replace('Say', 'otherwise say', 1)}"
    return f"Say which is 1{f', for example {example}' if is_plain else ''}, or read the table with {auto}."


def _is_short(value: Value) -> bool:
    """Tell whether a value can be part of an example."""
    return isinstance(value, str | int | float) and not any(sign in show_value(value) for sign in ("…", "inf", "an i"))
