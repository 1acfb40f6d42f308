"""Why a table is refused: the column, its values and a row, and what to do about it, by what the values show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from isinglass.data.column import UNTYPED
from isinglass.data.meaning.advice import (
    DROP,
    SAY_VALUES,
    drop,
    make_missing,
    option_keys,
    say_kind,
)
from isinglass.data.meaning.coding import Coding
from isinglass.data.meaning.guessing import guess_kinds
from isinglass.data.meaning.levels import order_pair
from isinglass.data.meaning.recognition import are_dates, is_unclear, other_decimal
from isinglass.data.meaning.remarks import remark_column, remark_decimals, remark_header
from isinglass.data.meaning.rules import Cut, Levels, Rule, Steps
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.meaning.values import Value, is_number, show_value, show_values
from isinglass.data.source import Source
from isinglass.errors import DataError, setting
from isinglass.names import name_ranges

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
    remarks = [remark_decimals(wrong, source.decimal)]
    if row == 0 and source.layout.has_header is False and any(isinstance(value, str) for value in wrong):
        remarks.insert(0, remark_header())
    if not rule.is_plain:
        raise DataError(_say_broken(rule, got, wrong, None if specs is None else specs[j]) + "".join(remarks))
    remedy = "Replace these values, or make them missing."  # a table that is read like another
    if specs is not None or source.is_part:
        values = [labels.get(value, value) for value in column.distinct]
        are_numbers = all(is_number(value) or other_decimal([value], source.decimal) for value in values)
        if are_numbers and len(values) > 2 and remarks[-1]:
            remedy = remarks[-1].strip()
        else:
            remedy = _suggest(source, j, values, coding, specs or ())
    more = "".join(remark for remark in remarks if remark.strip() not in remedy)
    raise DataError(f"{setting('X')} must hold only 0 and 1; {got}. {remedy}{more}")


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


def _suggest(source: Source, j: int, values: list[Value], coding: Coding, specs: Sequence[ColumnSpec]) -> str:
    """Say what to do with a column that is not 0 and 1: what its values show comes first."""
    leave_out = "leave the column out" + (f" ({drop([source.labels[j]])})" if source.is_file else "")
    has_dates = are_dates(values)
    is_clear = has_dates or len(values) > 2 or (len(values) == 2 and not is_unclear(values))
    kinds = _advise_kinds(specs, coding) if specs and is_clear else ""
    if has_dates:
        return f"A network has no kind for dates{f'. {kinds}' if kinds else f': {leave_out}.'}"
    if not kinds:
        for_all = all(other.kind == "binary" for other in coding.columns)
        return f"{_suggest_pair(values, source, for_all=for_all)}{remark_column(source, j)}"
    other = f"say what each value means ({setting('encode', python='encode={…: 0, …: 1, …: None}')})"
    if all(map(is_number, values)):
        other = f"choose a threshold for numbers ({setting('binarize', python='binarize=…')})"
    fractions = any(isinstance(value, float) and value % 1 for value in values)
    return f"{kinds} Otherwise {other}, or {leave_out}.{'' if fractions else remark_column(source, j)}"


def _advise_kinds(specs: Sequence[ColumnSpec], coding: Coding) -> str:
    """Say what to state about the columns that would be refused, as their values show, and which to leave out.

    Nothing if none of them has a kind, or if there are too many.
    """
    source, found = specs[0].source, guess_kinds(specs).values()
    left_out = [guess.place for guess in found if guess.kind is None]
    pairs = [guess.place for guess in found if len(guess.values) == 2 and not is_unclear(list(guess.values))]
    pairs = [place for place in pairs if place not in left_out and not specs[place].encode.has_numbers]
    guesses = [guess for guess in found if guess.place not in (*pairs, *left_out)]
    keys = option_keys([spec.label for spec in specs])
    gone = [keys[place] for place in left_out]
    if source.is_array:  # columns are counted without those that are left out
        keys = [place - sum(other < place for other in left_out) for place in range(len(specs))]
    kinds: dict[str | int, str] = {}
    for kind in dict.fromkeys(str(guess.kind) for guess in guesses):
        kinds |= dict.fromkeys(name_ranges(keys, [guess.place for guess in guesses if guess.kind == kind]), kind)
    if not kinds or len(kinds) + len(gone) > _MOST_RANGES:
        return ""
    everywhere = len(set(kinds.values())) == 1 and len(guesses) + len(gone) == len(specs)
    use = [setting("kinds", kinds, python=f'kinds="{guesses[0].kind}"' if everywhere else None)]
    use += [setting("encode", "auto")] if pairs else []
    kept = [spec for place, spec in enumerate(specs) if place not in left_out]
    if coding.missing == "error" and any(None in spec.column.entries.tolist() for spec in kept):
        use.append(setting("missing", "drop" if source.is_part else "impute"))
    if source.is_file:
        use += [setting("drop", gone, python=f"drop={gone}")] if gone else []
        more = " (`isinglass info FILE` shows all columns)"
    else:
        more = " to as_table or the estimator"
        if gone:
            more += (
                f", with {f'np.delete(X, {gone}, 1)' if source.is_array else f'X.drop(columns={gone})'} in place of X"
            )
    return f"By the values of the columns, use {', '.join(use[:-1])}{' and ' if use[1:] else ''}{use[-1]}{more}."


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
