"""Values of options: how they are read from words, and spelled as words of which the same values are read."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from isinglass.column_keys import read_column

Key = TypeVar("Key")
Value = TypeVar("Value")
ColumnKey = str | int  # a name, or a number from 0
OfColumn = tuple[ColumnKey | None, Value]  # what is said of one column; None: of all others
Codes = Mapping[Any, float | None]  # what answers mean, texts or values; None: missing


class ValueType(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on
    """A type of values, shown in the help as ``name``.

    ``read`` raises ValueError for words that are ``not_it``, and reads what ``spell`` writes as the same value.
    """

    def __init__(
        self,
        name: str,
        read: Callable[[str], object],
        spell: Callable[[Any], str],  # Any: of what it reads
        not_it: str,
    ) -> None:
        self.name, self.read, self.spell, self._not_it = name, read, spell, not_it

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> object:
        """Read a word."""
        try:
            return self.read(value)
        except (ValueError, csv.Error):
            self.fail(f"{value!r} is {self._not_it}.", param, ctx)


def name_of(option: click.Parameter, value: object = True) -> str:
    """Return the longest name of an option; of a flag, the one that sets this value."""
    return max(option.secondary_opts if value is False else option.opts, key=len)


def spell_option(option: click.Option, value: object) -> list[str]:
    """Return the words of the command line that give an option a value; None is the word "none"."""
    if option.is_flag:
        return [name_of(option, value)]
    spell = option.type.spell if isinstance(option.type, ValueType) else str
    return [name_of(option), "none" if value is None else spell(value)]


def split_words(text: str) -> list[str]:
    """Split at commas outside double quotes, as in a line of a CSV file; blanks may follow a comma.

    ``a, "b,c"`` has the words ``a`` and ``b,c``.
    """
    return next(csv.reader([text], skipinitialspace=True)) or [""]


def _quote(word: str, where: str = r'^[ "]|[,\r\n]') -> str:
    """Return a word that is read as one, in quotes where it has what a pattern says."""
    return '"' + word.replace('"', '""') + '"' if re.search(where, word) else word


def _not_empty(text: str) -> str:
    if not text:
        raise ValueError
    return text


def _read_number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return number


def spell_number(number: float) -> str:
    """Return a number with all digits, whole ones without a decimal point."""
    return str(int(number)) if float(number).is_integer() and abs(number) < 1e15 else repr(float(number))


def _read_pairs(text: str, key: Callable[[str], Key], value: Callable[[str], Value]) -> dict[Key, Value]:
    """Read ``key=value`` pairs, separated by commas, each split at its last ``=``.

    ``Yes=1,a=b=0`` gives ``Yes`` 1 and ``a=b`` 0; ``"a,b=1"`` gives ``a,b`` 1.
    """
    parts = [word.rpartition("=") for word in split_words(text)]
    found = {key(word): value(rest) for word, _, rest in parts}
    if len(found) < len(parts) or not all(equals for _, equals, _ in parts):
        raise ValueError
    return found


def _read_key(text: str) -> ColumnKey:
    return read_column(_not_empty(text))


def spell_column(column: ColumnKey) -> str:
    """Return the name of a column, or its number: ``#3`` is the third."""
    return f"#{column + 1}" if isinstance(column, int) else column


def _spell_found(column: ColumnKey) -> str:
    """Return a column for an option that knows patterns: the name ``#3`` is ``[#]3``, as ``#3`` is the third column."""
    word = spell_column(column)
    return word if read_column(word) == column else f"[#]{word[1:]}"


def _spell_columns(columns: Sequence[ColumnKey] | ColumnKey) -> str:
    """Return one column, or several, as a list."""
    listed = [columns] if isinstance(columns, str | int) else columns
    return ",".join(_quote(_spell_found(each)) for each in listed)


def _split_column(text: str) -> tuple[ColumnKey, str]:
    """Return the column that is named first, ``column=…``, and the rest; a name with ``=`` is quoted.

    ``age=99`` is ``99`` of ``age``; ``"a=b"=99`` is ``99`` of ``a=b``; ``#3=99`` is ``99`` of the third column.
    """
    if quoted := re.match(r'"((?:[^"]|"")*)"=', text):
        return quoted[1].replace('""', '"'), text[quoted.end() :]
    column, _, rest = text.partition("=")
    if column.startswith('"'):
        raise ValueError
    return _read_key(column), rest


def _join_column(column: ColumnKey | None, text: str) -> str:
    """Return a text as said of a column; of all columns, one that could name another has ``=`` in front."""
    if column is None:
        return f"={text}" if "=" in text else text
    name = _quote(_spell_found(column), '^"|=')
    return f"{name}={text}"


def _read_missing(text: str) -> OfColumn[str]:
    """Read a text that is missing; one with ``=`` has another in front where no column is named.

    ``99`` is missing everywhere, ``age=99`` in ``age``, and ``=a=b`` is the text ``a=b`` everywhere.
    """
    if text.startswith("=") or "=" not in text:
        return None, _not_empty(text.removeprefix("="))
    column, rest = _split_column(text)
    return column, _not_empty(rest)


def _read_code(text: str) -> float | None:
    number = _read_number(text) if text else None
    return int(number) if number is not None and number.is_integer() else number


def _read_answers(text: str) -> OfColumn[str | Codes]:
    """Read what answers mean, in one column if the list follows its name; ``=`` in front says that none is named.

    ``Yes=1,No=0`` is of all columns, ``smoker=Yes=1,No=0`` of ``smoker``; ``=a=b=1,c=0`` gives ``a=b`` 1 everywhere.
    """
    if text == "auto":
        return None, text
    try:
        column, rest = _split_column(text)
        return column, _read_pairs(rest, str, _read_code)
    except ValueError:
        found = _read_pairs(text.removeprefix("="), str, _read_code)
    if not text.startswith("=") and any("=" in answer for answer in found):  # it may be a column
        raise ValueError
    return None, found


def _spell_answers(said: OfColumn[str | Codes]) -> str:
    column, codes = said
    if isinstance(codes, str):
        return codes
    words = [f"{answer}={'' if code is None else spell_number(code)}" for answer, code in codes.items()]
    text = ",".join(map(_quote, words))
    if column is not None:
        return _join_column(column, text)
    return f"={text}" if text.startswith("=") or any("=" in str(answer) for answer in codes) else text


def _read_cuts(text: str) -> float | dict[ColumnKey, float]:
    return _read_pairs(text, _read_key, _read_number) if "=" in text else _read_number(text)


def _spell_cuts(cuts: float | Mapping[ColumnKey, float]) -> str:
    if not isinstance(cuts, Mapping):
        return spell_number(cuts)
    return ",".join(_quote(f"{spell_column(column)}={spell_number(cut)}") for column, cut in cuts.items())


def _read_counts(text: str) -> list[int]:
    counts = [int(word) for word in split_words(text)]
    if len(set(counts)) < len(counts):
        raise ValueError
    return counts


COUNTS = ValueType(
    "N,N,…",
    _read_counts,
    lambda counts: ",".join(map(str, counts)),
    "not a list of different whole numbers such as 100,200,400",
)
MISSING = ValueType(
    "[COLUMN=]TEXT",
    _read_missing,
    lambda said: _join_column(*said),
    'not a text such as 99, or a column and a text such as age=99; quote the column: "a=b"=99',
)
ANSWERS = ValueType(
    "AUTO|[COLUMN=]YES=1,NO=0", _read_answers, _spell_answers, "neither auto nor a list such as Yes=1,No=0,Unknown="
)
CUTS = ValueType("CUT|COLUMN=CUT,…", _read_cuts, _spell_cuts, "neither a number nor a list such as age=40,income=2e4")
COLUMN = ValueType("COLUMN", _read_key, spell_column, "not the name of a column")
COLUMNS = ValueType(
    "COLUMN,…",
    lambda text: [_read_key(word) for word in split_words(text)],
    _spell_columns,
    "not a list of columns such as age,#3",
)
