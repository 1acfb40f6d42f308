"""What the words of a command mean: numbers, columns, answers, cuts, penalties, tables and models."""

from __future__ import annotations

import csv
import glob
import math
import re
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TypeVar

import click

from isinglass.names import read_column

Word = str | PathLike[str]
Value = TypeVar("Value")
Codes = dict[str, float | None]  # what answers mean; None: missing
Answers = str | Codes | dict[str | int, Codes]  # "auto", of all columns, or by column


class Number(click.FloatRange):
    """A finite number, within bounds if there are some."""

    name = "number"

    def convert(self, value: float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Refuse NaN and infinity, which are within all bounds or have none."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


def one_of(*choices: str) -> click.Choice[str]:
    """Return the type of one of several words, in upper or lower case."""
    return click.Choice(choices, case_sensitive=False)


class Form(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on
    """A value with a form of its own, shown in the help as ``name``.

    ``read`` makes it of a word, or raises ValueError if the word is ``not_it``.
    """

    def __init__(self, name: str, read: Callable[[str], object], not_it: str = "") -> None:
        self.name, self._read, self._not_it = name, read, not_it

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return what stands for the value in the help."""
        return self.name

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> object:
        """Read a word."""
        try:
            return self._read(value)
        except ValueError:
            self.fail(f"{value!r} is {self._not_it}.", param, ctx)


def _number(word: str) -> float:
    if not math.isfinite(number := float(word)):
        raise ValueError
    return number


def _distinct(values: list[Value]) -> list[Value]:
    if len(set(values)) < len(values):
        raise ValueError
    return values


def _read_alphas(text: str) -> int | list[float]:
    """Read "30" as a count, and "0.1" or "0.1,0.05" as values."""
    if text.strip().isdecimal() and int(text) > 0:
        return int(text)
    values = _distinct([_number(word) for word in text.split(",")])
    if text.strip() == "0" or min(values) < 0:
        raise ValueError
    return values


def _read_counts(text: str) -> list[int]:
    """Read whole numbers."""
    if not all(word.strip().isdecimal() for word in text.split(",")):
        raise ValueError
    return _distinct([int(word) for word in text.split(",")])


def _read_answers(text: str) -> Answers:
    """Read ``answer=1`` pairs, an answer without a code being missing; ``column=`` before them names their column."""
    if text == "auto":
        return text
    pairs = [word.rpartition("=") for word in split_words(text)]
    column, names_column, first_answer = pairs[0][0].partition("=")
    answers = [first_answer if names_column else column, *(answer for answer, _, _ in pairs[1:])]
    if not all(equals for _, equals, _ in pairs):
        raise ValueError
    codes = {answer: _read_code(code) for answer, (_, _, code) in zip(_distinct(answers), pairs, strict=True)}
    return {read_column(column): codes} if column and names_column else codes


def _read_code(text: str) -> float | None:
    number = _number(text) if text else None
    return int(number) if number is not None and number.is_integer() else number


def _read_labels(text: str) -> dict[str | int, dict[str, str]]:
    """Read ``column=value=label`` and further ``value=label`` pairs of the same column."""
    column, _, rest = text.partition("=")
    pairs = [word.partition("=") for word in split_words(rest)]
    if not column or not pairs or not all(value and label for value, _, label in pairs):
        raise ValueError
    values = _distinct([value for value, _, _ in pairs])
    return {read_column(column): dict(zip(values, (label for _, _, label in pairs), strict=True))}


def _read_cuts(text: str) -> float | dict[str | int, float]:
    """Read a number, or ``column=number`` pairs."""
    if "=" not in text:
        return _number(text)
    pairs = [part.rpartition("=") for part in split_words(text)]
    if not all(_distinct([column for column, _, _ in pairs])):
        raise ValueError
    return {read_column(column): _number(cut) for column, _, cut in pairs}


def split_words(text: str) -> list[str]:
    """Split at commas, but not at a comma that a space follows, nor inside double quotes.

    Examples
    --------
    >>> split_words('a,b'), split_words('milk, cold'), split_words('"a,b",c')
    (['a', 'b'], ['milk, cold'], ['a,b', 'c'])
    """
    kept = text.replace(", ", "\0")
    return [word.replace("\0", ", ") for word in next(csv.reader([kept]), [""])]


def read_columns(text: str) -> tuple[str | int, ...]:
    """Read a list of columns."""
    return tuple(map(read_column, split_words(text)))


def spell_value(option: click.Option, value: object) -> str:
    """Return the word of the command line that stands for a value of an option.

    Examples
    --------
    >>> spell_value(click.Option(["--drop"], type=COLUMNS), [2, "a", "b,c"])
    '#3,a,"b,c"'
    >>> spell_value(click.Option(["--encode"], type=ANSWERS), {"Yes, often": 1, "?": None})
    'Yes, often=1,?='
    >>> spell_value(click.Option(["--encode"], type=ANSWERS), {"sex": {"male": 1, "female": 0}})
    'sex=male=1,female=0'
    >>> spell_value(click.Option(["--value-labels"], type=VALUE_LABELS), {"sex": {"1": "men,old", "2": "women"}})
    'sex="1=men,old",2=women'
    """
    if isinstance(value, dict):
        return _spell_pairs(option, value)
    if isinstance(value, list | tuple):
        text = ",".join(_quote(spell_value(option, item)) for item in value)
        return f"{text}.0" if option.type is ALPHAS and text.isdecimal() else text  # a value, not a count
    if isinstance(value, int) and option.type in (COLUMN, COLUMNS, CUTS):
        return f"#{value + 1}"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _spell_pairs(option: click.Option, pairs: dict[object, object]) -> str:
    """Return ``answer=1`` or ``column=40`` pairs, or those of one column after its name."""
    column, codes = next(iter(pairs.items()))
    if isinstance(codes, dict):
        prefix, pairs = f"{spell_value(OF_COLUMNS, column)}=", codes
    else:
        prefix = "=" if option.type is ANSWERS and "=" in str(column) else ""
    words = [
        f"{spell_value(option, key)}={'' if code is None else spell_value(option, code)}" for key, code in pairs.items()
    ]
    if option.type is VALUE_LABELS:  # which reads the column first, and then what is quoted
        return prefix + ",".join(map(_quote, words))
    return ",".join(map(_quote, [prefix + words[0], *words[1:]]))


def _quote(word: str) -> str:
    """Return a word that `split_words` reads as one."""
    if re.search(r'^[ "]|,(?! )|[\r\n]', word):
        return '"' + word.replace('"', '""') + '"'
    return word


ALPHAS = Form("COUNT|A,B,…", _read_alphas, "neither a count such as 30 nor distinct values such as 0.1,0.05")
COUNTS = Form("N,N,…", _read_counts, "not a list of different whole numbers such as 100,200,400")
ANSWERS = Form("auto|[COLUMN=]YES=1,NO=0", _read_answers, "neither auto nor a list such as Yes=1,No=0,Unknown=")
VALUE_LABELS = Form("COLUMN=VALUE=LABEL,…", _read_labels, "not a list such as gender=1=men,2=women")
CUTS = Form("CUT|COLUMN=CUT,…", _read_cuts, "neither a number nor a list such as age=40,income=2e4")
COLUMN, COLUMNS = Form("COLUMN", read_column), Form("COLUMN,…", read_columns)
OF_COLUMNS = click.Option(["--column"], type=COLUMN)  # what spells the name or number of a column


class ModelType(click.Path):
    """A model file, or the folder that `fit` wrote."""

    name = "model"

    def convert(self, value: Word, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Find the model in a folder."""
        path = Path(str(super().convert(value, param, ctx)))
        if not path.is_dir():
            return str(path)
        if not (path / "model.npz").is_file():
            self.fail(f"the folder {str(value)!r} has no model.npz. `isinglass fit TABLE -o FOLDER` writes one.")
        return str(path / "model.npz")


class TablesType(click.Path):
    """A file, -, or a pattern that stands for several files."""

    name = "table"

    def convert(self, value: Word, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Take a pattern as it is, if files fit it."""
        return str(value if len(files_of(str(value))) > 1 else super().convert(files_of(str(value))[0], param, ctx))


class OutputType(click.Path):
    """A file or a folder to write, or - for stdout."""

    def convert(  # type: ignore[override]  # click takes what comes
        self, value: Word, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path | None:
        """Return a path, or None for stdout."""
        return None if str(value) == "-" else Path(str(super().convert(value, param, ctx)))


def files_of(table: str) -> list[str]:
    """Return the files that a name or a pattern stands for, in order of name; a name that is none stands for itself."""
    if table == "-" or Path(table).exists():
        return [table]
    return sorted(glob.glob(table)) or [table]  # noqa: PTH207 - a pattern may be absolute


MODEL_FILE = ModelType(exists=True)
TABLE_OR_MODEL_FILE = ModelType(exists=True, allow_dash=True)
IN_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True)
TABLES = TablesType(exists=True, dir_okay=False, allow_dash=True)
