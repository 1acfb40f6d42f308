"""How the words of a command are read and spelled: numbers, columns, answers, cuts, penalties.

Every form is described once; the commands that summaries, messages and the app show are spelled by the same grammar
that reads them.
"""

from __future__ import annotations

import contextlib
import csv
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeGuard, TypeVar

import click

from isinglass.names import read_column

Key = TypeVar("Key")
Value = TypeVar("Value")
Codes = dict[str, float | None]  # what answers mean; None: missing
Answers = str | Codes | dict[str | int | None, str | Codes]  # "auto", of all columns, or by column; None: the others


@dataclass(frozen=True)
class Grammar(Generic[Value]):
    """How a value is written: `spell` writes it as a text of which `read` makes the same value.

    ``read`` raises ValueError for any other text. Lists, pairs and alternatives are made from the grammars of their
    parts, so no form is described twice.
    """

    read: Callable[[str], Value]
    spell: Callable[[Value], str]


AnyGrammar = Grammar[Any]  # Any: of whatever it reads


def _check(value: Value, test: Callable[[Value], object]) -> Value:
    if not test(value):
        raise ValueError
    return value


def _read_code(text: str) -> float | None:
    number = NUMBER.read(text) if text else None
    return int(number) if number is not None and number.is_integer() else number


def _spell_number(number: float | None) -> str:
    """Return a number with all digits, whole ones without a decimal point; nothing for none."""
    if number is None:
        return ""
    return str(int(number)) if float(number).is_integer() and abs(number) < 1e15 else repr(float(number))


def spell_column(column: str | int) -> str:
    """Return the name of a column, or its number: ``#3`` is the third."""
    return f"#{column + 1}" if isinstance(column, int) else column


TEXT = Grammar[str](str, str)
LABEL = Grammar[str](lambda text: _check(text, bool), str)
AUTO = Grammar[str](lambda text: _check(text, "auto".__eq__), str)
WHOLE = Grammar[int](lambda text: int(_check(text.strip(), str.isdecimal)), str)
COUNT = Grammar[int](lambda text: _check(WHOLE.read(text), bool), str)
NUMBER = Grammar[float](lambda text: _check(float(text), math.isfinite), _spell_number)
CODE = Grammar(_read_code, _spell_number)  # of an answer; None: it is missing
KEY = Grammar(lambda text: read_column(_check(text, bool)), spell_column)
PENALTY = Grammar[float](  # spelled with a decimal point, because a whole number by itself is a count
    lambda text: _check(NUMBER.read(text), lambda penalty: penalty >= 0), lambda penalty: repr(float(penalty))
)


def several(item: Grammar[Value], *, distinct: bool = True) -> AnyGrammar:
    """Return the grammar of items, all different unless told otherwise, separated by commas; one may stand alone."""

    def read(text: str) -> list[Value]:
        values = [item.read(word) for word in split_words(text)]
        return _distinct(values) if distinct else values

    def spell(values: list[Value] | tuple[Value, ...] | Value) -> str:
        listed = values if isinstance(values, list | tuple) else [values]
        return ",".join(_quote(item.spell(value)) for value in listed)

    return Grammar(read, spell)


def pairs(
    key: Grammar[Key], value: Grammar[Value], split: Callable[[str, str], tuple[str, str, str]]
) -> Grammar[dict[Key, Value]]:
    """Return the grammar of ``key=value`` pairs, separated by commas, each split at its first or its last ``=``."""

    def read(text: str) -> dict[Key, Value]:
        parts = [split(word, "=") for word in split_words(text)]
        if not all(equals for _, equals, _ in parts):
            raise ValueError
        keys = _distinct([key.read(word) for word, _, _ in parts])
        return dict(zip(keys, (value.read(word) for _, _, word in parts), strict=True))

    def spell(found: dict[Key, Value]) -> str:
        return ",".join(_quote(f"{key.spell(one)}={value.spell(other)}") for one, other in found.items())

    return Grammar(read, spell)


def in_column(meaning: Grammar[Value]) -> Grammar[dict[str | int, Value]]:
    """Return the grammar of what holds in one column, which is named first: ``column=…``."""

    def read(text: str) -> dict[str | int, Value]:
        if quoted := re.match(r'"((?:[^"]|"")*)"=', text):
            return {quoted[1].replace('""', '"'): meaning.read(text[quoted.end() :])}
        column, _, rest = text.partition("=")
        if not column or column.startswith('"'):
            raise ValueError
        return {read_column(column): meaning.read(rest)}

    def spell(found: dict[str | int, Value]) -> str:
        ((column, inside),) = found.items()
        name = spell_column(column)
        name = _quoted(name) if name.startswith('"') or "=" in name else name
        return f"{name}={meaning.spell(inside)}"

    return Grammar(read, spell)


def either(*forms: tuple[Callable[[object], bool], AnyGrammar]) -> AnyGrammar:
    """Return the grammar of alternatives, each with a test of its values; a text is read by the first that can."""

    def read(text: str) -> object:
        for _, form in forms[:-1]:
            with contextlib.suppress(ValueError):
                return form.read(text)
        return forms[-1][1].read(text)

    return Grammar(read, lambda value: next(form for fits, form in forms if fits(value)).spell(value))


def in_all_columns(meaning: Grammar[Value], words: Callable[[Value], Iterable[object]]) -> Grammar[Value]:
    """Return the grammar of what holds in all columns; an ``=`` in front says that no column is named.

    It is needed where one of the ``words`` of the user has an ``=``.
    """

    def read(text: str) -> Value:
        found = meaning.read(text.removeprefix("="))
        return _check(found, lambda value: text.startswith("=") or not any("=" in str(word) for word in words(value)))

    def spell(value: Value) -> str:
        text = meaning.spell(value)
        return f"={text}" if text.startswith("=") or any("=" in str(word) for word in words(value)) else text

    return Grammar(read, spell)


def split_words(text: str) -> list[str]:
    """Split at commas outside double quotes, as in a line of a CSV file; blanks may follow a comma."""
    return next(csv.reader([text], skipinitialspace=True)) or [""]


def _distinct(values: list[Value]) -> list[Value]:
    return _check(values, lambda each: len(set(each)) == len(each))


def _quote(word: str) -> str:
    """Return a word that `split_words` reads as one."""
    return _quoted(word) if re.search(r'^[ "]|[,\r\n]', word) else word


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


class Form(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on
    """A value with a grammar of its own, shown in the help as ``name``; other words are ``not_it``."""

    def __init__(self, name: str, grammar: AnyGrammar, not_it: str) -> None:
        self.name, self.grammar, self._not_it = name, grammar, not_it

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return what stands for the value in the help."""
        return self.name

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> object:
        """Read a word."""
        try:
            return self.grammar.read(value)
        except (ValueError, csv.Error):
            self.fail(f"{value!r} is {self._not_it}.", param, ctx)


def _is(*kinds: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, kinds)


def is_by_column(value: object) -> TypeGuard[dict[str | int | None, object]]:
    """Tell whether answers have a meaning of their own in some columns; under None is what holds in the others."""
    return isinstance(value, dict) and all(key is None or isinstance(codes, dict) for key, codes in value.items())


MEANINGS = pairs(TEXT, CODE, str.rpartition)
PENALTIES = several(PENALTY)
ALPHAS = Form(
    "COUNT|A,B,…",
    either(
        (_is(int), COUNT),
        (_is(list, tuple), Grammar(lambda text: PENALTIES.read(_check(text, "0".__ne__)), PENALTIES.spell)),
    ),
    "neither a count such as 30 nor different penalties such as 0.1,0.05,0",
)
MISSING = Form(
    "TEXT|COLUMN=TEXT",
    either((_is(str), in_all_columns(LABEL, lambda text: [text])), (_is(dict), in_column(LABEL))),
    'not a text such as 99, or a column and a text such as age=99; quote the column: "a=b"=99',
)
COUNTS = Form("N,N,…", several(WHOLE), "not a list of different whole numbers such as 100,200,400")
ANSWERS = Form(
    "auto|[COLUMN=]YES=1,NO=0",
    either((_is(str), AUTO), (is_by_column, in_column(MEANINGS)), (_is(dict), in_all_columns(MEANINGS, list))),
    "neither auto nor a list such as Yes=1,No=0,Unknown=",
)
VALUE_LABELS = Form(
    "COLUMN=VALUE=LABEL,…",
    in_column(pairs(LABEL, LABEL, str.rpartition)),
    'not a list such as gender=1=men,2=women, or gender="1=men, young",2=women',
)
CUTS = Form(
    "CUT|COLUMN=CUT,…",
    either((_is(int, float), NUMBER), (_is(dict), pairs(KEY, NUMBER, str.rpartition))),
    "neither a number nor a list such as age=40,income=2e4",
)
COLUMN = Form("COLUMN", KEY, "not the name of a column")
COLUMNS = Form("COLUMN,…", several(KEY, distinct=False), "not a list of columns such as age,#3")


def spell_option(option: click.Option, value: object) -> list[str]:
    """Return the words of the command line that give an option a value; None is the word "none"."""
    if option.is_flag:
        return [name_of(option, value is not False)]
    return [name_of(option), "none" if value is None else _spell_value(option, value)]


def _spell_value(option: click.Option, value: object) -> str:
    if isinstance(option.type, Form):
        return option.type.grammar.spell(value)
    return _spell_number(value) if isinstance(value, float) else str(value)


def name_of(option: click.Option, is_on: bool = True) -> str:
    """Return the name of an option that says most; of a flag the one that turns it on or off."""
    return max(option.opts if is_on else option.secondary_opts, key=len)
