"""What the words after an option mean: numbers, columns, answers, cuts, penalties and models."""

from __future__ import annotations

import csv
import glob
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


class Number(click.FloatRange):
    """A finite number, within bounds if there are some."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse NaN and infinity, which are within all bounds or have none."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


class OneOf(click.Choice):  # type: ignore[type-arg]  # generic from click 8.2 on
    """One of several words, in upper or lower case."""

    def __init__(self, *choices: str) -> None:
        super().__init__(choices, case_sensitive=False)


class Spelled(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on
    """A value with a form of its own, shown in the help as ``metavar``.

    ``read`` makes it of a word, or raises ValueError if the word is ``not_it``; ``spell`` makes a word of it.
    """

    def __init__(self, metavar: str, read: Callable[[str], Any], spell: Callable[[Any], str], not_it: str = "") -> None:
        self.name, self.spell = metavar, spell
        self._read, self._not_it = read, not_it

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return what stands for the value in the help."""
        return self.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a word; anything else is a default."""
        try:
            return self._read(value) if isinstance(value, str) else value
        except ValueError:
            self.fail(f"{value!r} is {self._not_it}.", param, ctx)


def split_words(text: str) -> list[str]:
    """Split at commas, but not at a comma that a space follows, nor inside double quotes.

    Examples
    --------
    >>> split_words('a,b'), split_words('milk, cold'), split_words('"a,b",c')
    (['a', 'b'], ['milk, cold'], ['a,b', 'c'])
    """
    kept = text.replace(", ", "\0")
    return [word.replace("\0", ", ") for word in next(csv.reader([kept]), [""])]


def _read_number(word: str) -> float:
    number = float(word)
    if not math.isfinite(number):
        raise ValueError
    return number


def _read_alphas(text: str) -> int | list[float]:
    """Read "30" as a count, and "0.1" or "0.1,0.05" as values."""
    if text.strip().isdecimal() and int(text) > 0:
        return int(text)
    values = [_read_number(word) for word in text.split(",")]
    if text.strip() == "0" or min(values) < 0 or len(set(values)) < len(values):
        raise ValueError
    return values


def _read_counts(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() for word in words) or len(set(map(int, words))) < len(words):
        raise ValueError
    return [int(word) for word in words]


def _read_answers(text: str) -> str | dict[str, int | None]:
    """Read ``answer=1`` pairs; an answer without a value is missing."""
    if text == "auto":
        return text
    pairs = [part.rpartition("=") for part in text.split(",")]
    whole = all(equals and (bit.removeprefix("-").isdecimal() or not bit) for _, equals, bit in pairs)
    if not whole or len({answer for answer, _, _ in pairs}) < len(pairs):
        raise ValueError
    return {answer: int(bit) if bit else None for answer, _, bit in pairs}


def _spell_answers(value: Any) -> str:
    if isinstance(value, str):
        return value
    return ",".join(f"{answer}={'' if bit is None else bit}" for answer, bit in value.items())


def _read_cuts(text: str) -> float | dict[str, float]:
    """Read a number, or ``column=number`` pairs."""
    if "=" not in text:
        return _read_number(text)
    pairs = [part.rpartition("=") for part in split_words(text)]
    cuts = {column: _read_number(cut) for column, _, cut in pairs if column}
    if len(cuts) < len(pairs):
        raise ValueError
    return cuts


def _spell_cuts(value: Any) -> str:
    if not isinstance(value, dict):
        return f"{value:.12g}"
    return ",".join(f"{column}={cut:.12g}" for column, cut in value.items())


def _read_column(word: str) -> str | int:
    """Read ``#3`` as the third column, row labels not counted, everything else as a name."""
    number = word[1:] if word.startswith("#") else ""
    return int(number) - 1 if number.isdecimal() and int(number) > 0 else word


def _spell_column(value: str | int) -> str:
    return f"#{value + 1}" if isinstance(value, int) else value


def _spell_columns(value: Any) -> str:
    words = [_spell_column(column) for column in ([value] if isinstance(value, str | int) else value)]
    return ",".join(f'"{word}"' if split_words(word) != [word] else word for word in words)


ALPHAS = Spelled(
    "COUNT|A,B,…",
    _read_alphas,
    lambda value: ",".join(map(repr, value)) if isinstance(value, list) else str(value),
    "neither a count such as 30 nor distinct values such as 0.1,0.05",
)
COUNTS = Spelled(
    "N,N,…",
    _read_counts,
    lambda value: ",".join(map(str, value)),
    "not a list of different whole numbers such as 100,200,400",
)
ENCODE = Spelled(
    "auto|YES=1,NO=0", _read_answers, _spell_answers, "neither auto nor a list such as Yes=1,No=0,Unknown="
)
BINARIZE = Spelled("CUT|COLUMN=CUT,…", _read_cuts, _spell_cuts, "neither a number nor a list such as age=40,income=2e4")
COLUMN = Spelled("COLUMN", _read_column, _spell_column)
COLUMNS = Spelled("COLUMN,…", lambda text: tuple(map(_read_column, split_words(text))), _spell_columns)


class ModelType(click.Path):
    """A model file, or the folder that `fit` or `simulate` wrote."""

    name = "model"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Find the model in a folder."""
        path = Path(str(super().convert(value, param, ctx)))
        if not path.is_dir():
            return str(path)
        found = [path / name for name in ("model.npz", "truth.npz") if (path / name).is_file()]
        if not found:
            self.fail(f"the folder {str(value)!r} has no model.npz. `isinglass fit TABLE -o FOLDER` writes one.")
        return str(found[0])


class TablesType(click.Path):
    """A file, -, or a pattern that stands for several files."""

    name = "table"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Take a pattern as it is, if files fit it."""
        return value if len(files_of(str(value))) > 1 else super().convert(files_of(str(value))[0], param, ctx)


def files_of(table: str) -> list[str]:
    """Return the files that a name or a pattern stands for, in order of name; a name that is none stands for itself."""
    if table == "-" or Path(table).exists():
        return [table]
    return sorted(glob.glob(table)) or [table]  # noqa: PTH207 - a pattern may be absolute


MODEL_FILE = ModelType(exists=True)
IN_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True)
TABLES = TablesType(exists=True, dir_okay=False, allow_dash=True)
OUT_FILE = click.Path(dir_okay=False, path_type=Path)
