"""Where text goes: a file that is whole or not there, a stream, or the standard output."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

from isinglass.atomic import replacing
from isinglass.errors import DataError


@runtime_checkable
class TextStream(Protocol):
    """Anything text can be written to."""

    def write(self, text: str, /) -> object:
        """Take a piece of text."""


Target: TypeAlias = str | PathLike[str] | TextStream


def write_lines(lines: Iterable[str], target: Target) -> None:
    r"""Write lines as UTF-8, each with a line feed at its end on every system.

    Examples
    --------
    >>> import io
    >>> stream = io.StringIO()
    >>> write_lines(["a", "b"], stream)
    >>> stream.getvalue()
    'a\nb\n'
    """
    if isinstance(target, TextStream) or target == "-":
        _write(lines, sys.stdout if isinstance(target, str) else target)
        return
    path = Path(target)
    if path.is_dir() or not path.parent.is_dir():
        raise DataError(f"path must be a file in a folder that exists; got {os.fspath(path)!r}.")
    if path.exists() and not path.is_file():  # a pipe or a device cannot be renamed over
        with path.open("w", encoding="utf-8", newline="") as stream:
            _write(lines, stream)
        return
    with replacing(path.resolve()) as file:  # a link stays a link
        stream = io.TextIOWrapper(file, encoding="utf-8", newline="")
        _write(lines, stream)
        stream.detach()


def _write(lines: Iterable[str], stream: TextStream) -> None:
    for line in lines:
        stream.write(line + "\n")
