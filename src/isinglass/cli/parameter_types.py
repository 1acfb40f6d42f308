"""Types of options and arguments: words, tables, models and where to write."""

from __future__ import annotations

import glob
from os import PathLike
from pathlib import Path

import click

Word = str | PathLike[str]


def one_of(*choices: str) -> click.Choice[str]:
    """Return the type of one of several words, in upper or lower case."""
    return click.Choice(choices, case_sensitive=False)


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
        """Return a path, or None for stdout; an empty name, such as that of a variable, would be this folder."""
        if not str(value):
            self.fail("the name is empty.", param, ctx)
        return None if str(value) == "-" else Path(str(super().convert(value, param, ctx)))


def files_of(table: str) -> list[str]:
    """Return the files that a name or a pattern stands for, in order of name; a name that is none stands for itself."""
    if table == "-" or Path(table).exists():
        return [table]
    return sorted(glob.glob(table)) or [table]  # noqa: PTH207 - a pattern may be absolute


MODEL_FILE = ModelType(exists=True)
IN_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True)
TABLES = TablesType(exists=True, dir_okay=False, allow_dash=True)
