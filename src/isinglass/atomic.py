"""Files that appear complete or not at all, and temporary files that are removed.

A temporary file or folder has a name that cannot be guessed and is never opened through a link. What a process that was
killed leaves is hidden, and is called .isinglass-*.tmp or .isinglass-*.part.
"""

from __future__ import annotations

import io
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import IO, Protocol, TypeAlias, runtime_checkable

from isinglass.errors import DataError

_TEMPORARY = re.compile(r"\.isinglass-[0-9a-f]{16}\.(tmp|part)")


@runtime_checkable
class TextStream(Protocol):
    """Anything text can be written to."""

    def write(self, text: str, /) -> object:
        """Take a piece of text."""


Target: TypeAlias = str | PathLike[str] | TextStream


def write_lines(lines: Iterable[str], target: Target) -> None:
    """Write lines as UTF-8 to a file, a stream or "-", the standard output, each with a line feed on every system."""
    if isinstance(target, TextStream) or target == "-":
        _write(lines, sys.stdout if isinstance(target, str) else target)
        return
    path = check_place(target)
    if path.exists() and not path.is_file():  # a pipe or a device cannot be renamed over
        with path.open("w", encoding="utf-8", newline="") as stream:
            _write(lines, stream)
        return
    with replacing(path.resolve()) as file:  # a link stays a link
        stream = io.TextIOWrapper(file, encoding="utf-8", newline="")
        _write(lines, stream)
        stream.detach()


def write_text(text: str, target: Target) -> None:
    """Write a text as `write_lines` does; a line feed at its end is not doubled."""
    write_lines([text.removesuffix("\n")], target)


def _write(lines: Iterable[str], stream: TextStream) -> None:
    for line in lines:
        stream.write(line + "\n")


def check_place(path: str | PathLike[str]) -> Path:
    """Return the path of a file to be written, whose folder must exist."""
    place = Path(path)
    if place.is_dir():
        raise DataError(f"{os.fspath(path)!r} is a folder. Give the name of a file in it.")
    if not place.parent.is_dir():
        raise DataError(
            f"{os.fspath(path)!r} cannot be written, because its folder does not exist. Make the folder first."
        )
    return place


@contextmanager
def replacing(target: Path) -> Iterator[IO[bytes]]:
    """Yield a new file in the folder of the target; when the block ends well it takes the target's place.

    Its content is on the disk before it has the name, so that a crash of the system leaves the old file or the new one.
    """
    with _temporary(target.parent, "tmp") as temporary, temporary.open("xb") as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if os.name == "nt":  # Windows renames no open file
                file.close()
            temporary.replace(target)
        except BaseException:
            with suppress(OSError):  # what is still in a buffer does not fit on a full disk either
                file.close()
            temporary.unlink(missing_ok=True)
            raise


def open_plain(place: Path) -> io.BufferedReader:
    """Open a file for reading that is one: an OSError for a link, a folder, a pipe or a device."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(place, flags), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode) or place.is_symlink():
        file.close()
        raise OSError(f"{place} is not a regular file")
    return file


@contextmanager
def temporary_directory(folder: Path) -> Iterator[Path]:
    """Yield a new hidden folder inside another one; it is gone when the block ends."""
    with _temporary(folder, "part") as place:
        place.mkdir(mode=0o700)
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)


@contextmanager
def _temporary(folder: Path, kind: str) -> Iterator[Path]:
    """Yield a name that cannot be guessed; errors name the folder instead."""
    place = folder / f".isinglass-{secrets.token_hex(8)}.{kind}"
    try:
        yield place
    except OSError as error:
        if error.filename != str(place):
            raise
        named = error.filename2 or str(folder)  # the user never chose the name of the temporary
        raise OSError(error.errno, error.strerror, named) from error


def holds_only_temporaries(folder: Path) -> bool:
    """Whether a folder is empty but for temporary files: a process may have been killed while it wrote the first."""
    return all(_TEMPORARY.fullmatch(entry.name) for entry in folder.iterdir())
