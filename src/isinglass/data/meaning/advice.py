"""What messages advise: options that say what columns and values mean."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

from isinglass.arguments import is_whole
from isinglass.data.meaning.values import Value, show_value, show_values, spell_out
from isinglass.errors import MeaningWarning, called, listed, setting, warn
from isinglass.names import name_ranges

LISTED, SHOWN = 4, 8
"""Columns and values that a message lists."""
_PLURAL = {"has": "have", "holds": "hold", "is": "are", "looks": "look", "runs": "run"}
DROP = setting("drop", python="drop=[…] in read_table, X.drop(columns=[…]) of a frame")
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
        f"use {CONTINUOUS}."
    )


def drop(labels: Sequence[Hashable]) -> str:
    """Return the mention of the option that leaves columns out."""
    keys = option_keys(labels)
    shown = f"[{', '.join([*map(repr, keys[:LISTED]), *(['…'] if len(keys) > LISTED else [])])}]"
    are_numbers = all(isinstance(key, int) for key in keys)
    in_memory = f"np.delete(X, {shown}, 1) of an array" if are_numbers else f"X.drop(columns={shown}) of a frame"
    return setting("drop", keys, python=f"drop={shown} in read_table, {in_memory}")


def kind_option(kind: str, labels: Sequence[Hashable]) -> str:
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


def option_keys(labels: Sequence[Hashable]) -> list[str | int]:
    """Return what options call columns."""
    return [label if isinstance(label, int) else str(label) for label in labels]


def say_missing(
    codes: Sequence[Value],
    places: Sequence[int],
    labels: Sequence[Hashable],
    values: Mapping[int, Sequence[Value]],
    suspects: Mapping[int, Sequence[Value]],
) -> str:
    """Say how to make codes of some columns missing: in these alone if another column has one as an answer.

    ``values`` of all columns, and those of them that are suspected to stand for a missing answer.
    """
    spelled = spell_out(codes)
    elsewhere = any(spelled & ({*of_column} - {*suspects.get(j, ())}) for j, of_column in values.items())
    return make_missing(codes, labels, places if elsewhere else ())


def show_coded(codes: Sequence[Value], labels: Mapping[Value, Value]) -> str:
    """Write codes for a message, those that have a label with it: 9 ('refused')."""
    if not any(code in labels for code in codes):
        return show_values(codes, SHOWN)
    return listed([f"{show_value(code)} ({labels[code]!r})" if code in labels else show_value(code) for code in codes])


def warn_about(labels: Iterable[Hashable], note: str, text: str) -> None:
    """Warn about columns, with a note of a word or two."""
    warn(MeaningWarning(text, tuple(labels), note))


def subject(labels: Collection[Hashable], verb: str) -> str:
    """Return columns and a verb, the beginning of a sentence: "2 columns ('a', 'b') have"."""
    shown = listed(list(map(called, labels)), LISTED)
    return f"Column {shown} {verb}" if len(labels) == 1 else f"{len(labels)} columns ({shown}) {_PLURAL[verb]}"


def them(labels: Collection[Hashable]) -> str:
    """Return the pronoun for columns."""
    return "it" if len(labels) == 1 else "them"


def one_of(labels: Collection[Hashable]) -> str:
    """Return the pronoun for a single one of some columns."""
    return "it" if len(labels) == 1 else "one of them"
