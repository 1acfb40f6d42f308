"""What the words after an option mean: numbers, columns, answers, cuts, penalties and models."""

from __future__ import annotations

import csv
import glob
import math
from collections.abc import Sequence
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

    def __init__(self, choices: Sequence[str]) -> None:
        super().__init__(choices, case_sensitive=False)


def split_words(text: str) -> list[str]:
    """Split at commas, but not at a comma that a space follows, nor inside double quotes.

    Examples
    --------
    >>> split_words('a,b'), split_words('milk, cold'), split_words('"a,b",c')
    (['a', 'b'], ['milk, cold'], ['a,b', 'c'])
    """
    kept = text.replace(", ", "\0")
    return [word.replace("\0", ", ") for word in next(csv.reader([kept]), [""])]


class _Spelled(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on
    """A value with a form of its own, shown in the help as ``metavar``."""

    metavar = ""

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return what stands for the value in the help."""
        return self.metavar


class AlphasType(_Spelled):
    """A number of alphas, or the alphas themselves, separated by commas."""

    name, metavar = "alphas", "COUNT|A,B,…"

    def spell(self, value: Any) -> str:
        """Return the text that stands for a value."""
        return ",".join(map(repr, value)) if isinstance(value, list) else str(value)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | list[float]:
        """Read "30" as a count, and "0.1" or "0.1,0.05" as values."""
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return]  # the default
        try:
            if value.strip().isdecimal() and int(value) > 0:
                return int(value)
            values = [float(part) for part in value.split(",")]
        except ValueError:
            values = []
        positive = all(math.isfinite(number) and number >= 0 for number in values)
        if not values or not positive or len(set(values)) < len(values) or value.strip() == "0":
            self.fail(f"{value!r} is neither a count such as 30 nor distinct values such as 0.1,0.05.", param, ctx)
        return values


class CountsType(_Spelled):
    """Whole numbers, separated by commas."""

    name, metavar = "counts", "N,N,…"

    def spell(self, value: Any) -> str:
        """Return the text that stands for a value."""
        return ",".join(map(str, value))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read ``100,200``."""
        if not isinstance(value, str):
            return value
        words = [word.strip() for word in value.split(",")]
        if not all(word.isdecimal() for word in words) or len({int(word) for word in words}) < len(words):
            self.fail(f"{value!r} is not a list of different whole numbers such as 100,200,400.", param, ctx)
        return [int(word) for word in words]


class EncodeType(_Spelled):
    """What the two answers mean: ``Yes=1,No=0``, or ``auto``."""

    name, metavar = "encode", "auto|YES=1,NO=0"

    def spell(self, value: Any) -> str:
        """Return the text that stands for a value."""
        if isinstance(value, str):
            return value
        return ",".join(f"{answer}={'' if bit is None else bit}" for answer, bit in value.items())

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read ``answer=1`` pairs; an answer without a value is missing."""
        if not isinstance(value, str) or value == "auto":
            return value
        meanings: dict[str, int | None] = {}
        for part in value.split(","):
            answer, equals, bit = part.rpartition("=")
            if not equals or not _is_whole(bit) or answer in meanings:
                self.fail(f"{value!r} is neither auto nor a list such as Yes=1,No=0,Unknown=.", param, ctx)
            meanings[answer] = int(bit) if bit else None
        return meanings


def _is_whole(word: str) -> bool:
    """Tell whether a word is a whole number, or nothing."""
    return word.removeprefix("-").isdecimal() or not word


class BinarizeType(_Spelled):
    """One cut for all columns, or a cut for each column named: ``age=40,income=2e4``."""

    name, metavar = "binarize", "CUT|COLUMN=CUT,…"

    def spell(self, value: Any) -> str:
        """Return the text that stands for a value."""
        if isinstance(value, dict):
            return ",".join(f"{column}={cut:.12g}" for column, cut in value.items())
        return f"{value:.12g}"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a number, or ``column=number`` pairs."""
        if not isinstance(value, str):
            return value
        cuts: dict[str, float] = {}
        for part in split_words(value):
            column, equals, cut = part.rpartition("=")
            number = Number().convert(cut, param, ctx) if equals or part == value else math.nan
            if not equals and part == value:
                return number
            if not column or column in cuts or math.isnan(number):
                self.fail(f"{value!r} is neither a number nor a list such as age=40,income=2e4.", param, ctx)
            cuts[column] = number
        return cuts


class ColumnType(_Spelled):
    """A column by its name, or by its number from 1, row labels not counted: ``#3``."""

    name, metavar = "column", "COLUMN"

    def spell(self, value: str | int) -> str:
        """Return the text that stands for a value."""
        return f"#{value + 1}" if isinstance(value, int) else value

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read ``#3`` as the third column, everything else as a name."""
        number = value[1:] if isinstance(value, str) and value.startswith("#") else ""
        return int(number) - 1 if number.isdecimal() and int(number) > 0 else value


class ColumnsType(ColumnType):
    """Columns, separated by commas."""

    name, metavar = "columns", "COLUMN,…"

    def spell(self, value: Any) -> str:
        """Return the text that stands for a value."""
        words = [super(ColumnsType, self).spell(column) for column in value]
        return ",".join(f'"{word}"' if split_words(word) != [word] else word for word in words)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a list of columns."""
        if not isinstance(value, str):
            return value
        return tuple(super(ColumnsType, self).convert(word, param, ctx) for word in split_words(value))


class ModelType(click.Path):
    """A model file, or the folder that `fit` or `simulate` wrote."""

    name = "model"

    def __init__(self) -> None:
        super().__init__(exists=True)

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

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, allow_dash=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Take a pattern as it is, if files fit it."""
        return value if len(files_of(str(value))) > 1 else super().convert(files_of(str(value))[0], param, ctx)


def files_of(table: str) -> list[str]:
    """Return the files that a name or a pattern stands for, in order of name; a name that is none stands for itself."""
    if table == "-" or Path(table).exists():
        return [table]
    return sorted(glob.glob(table)) or [table]  # noqa: PTH207 - a pattern may be absolute


ALPHAS, COUNTS, ENCODE, BINARIZE = AlphasType(), CountsType(), EncodeType(), BinarizeType()
COLUMN, COLUMNS, MODEL_FILE = ColumnType(), ColumnsType(), ModelType()
TABLES = TablesType()
