"""The output of commands: one file that the user names, or a folder.

A folder gets all files or none, and no file in it is replaced or removed that the command did not write.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import click
from click.core import ParameterSource

from isinglass.atomic import open_plain, replacing, temporary_directory
from isinglass.cli.command import command_line
from isinglass.cli.console import Console, csv_text, format_seconds, rows_of
from isinglass.cli.descriptions import records
from isinglass.json_text import JsonObject, json_text
from isinglass.machine.locks import folder_lock
from isinglass.machine.signals import defer_signals
from isinglass.version import __version__

RECORD = "run.json"
"""The file in an output folder that says what wrote it, and the SHA-256 of every file it wrote."""
SCHEMA = "isinglass/run/3"
MAX_RECORD_BYTES = 1 << 20


@dataclass(frozen=True)
class Record:
    """What ``run.json`` says: the command, and for each file the digests it may have to be ours."""

    command: str = ""
    files: dict[str, set[str]] = field(default_factory=dict)


def read_record(folder: Path) -> Record:
    """Return what ``run.json`` says; nothing if it is not one of ours."""
    try:
        with open_plain(folder / RECORD) as file:
            record = json.loads(file.read(MAX_RECORD_BYTES))
        if record["schema"] != SCHEMA:
            return Record()
        parts = [dict(record[part]) for part in ("files", "replaced") if part in record]
        digests = {name: {part[name] for part in parts if name in part} for part in parts for name in part}
        return Record(str(record["command"]), digests)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Record()


class OutputFolder:
    """A folder that gets all files of a command at the end, or none.

    ``names`` are all files that the command can write. They are made in a hidden folder and renamed. An old file is
    replaced if the digest of its content in ``run.json`` proves that an earlier run of the same command wrote it, and
    removed on the same proof if there is no new one. Anything else is refused unless ``force``, before anything is
    computed. ``run.json`` is not trusted: it can neither name other files nor the ``inputs``, and links are never
    followed.
    """

    def __init__(
        self, path: Path, names: Sequence[str], *, force: bool = False, inputs: Iterable[str | None] = ()
    ) -> None:
        check_target(path / RECORD, ())
        self.path, self.names = path, [*names, RECORD]
        self._force, self._inputs = force, tuple(inputs)
        self.summary = ""  # what was written, in words
        if path.exists():
            with folder_lock(path):  # another run may be between its old files and its new ones
                self._ours()

    @contextmanager
    def filling(self) -> Iterator[Path]:
        """Yield a folder to write into; when the block ends well its files move to their place."""
        beside = self.path if self.path.is_dir() else self.path.resolve().parent  # the same disk either way
        beside.mkdir(parents=True, exist_ok=True)
        with temporary_directory(beside) as here:
            yield here
            written = {name: _digest(here / name) for name in self.names if (here / name).exists()}
            command = shlex.join(command_line())
            record = {"schema": SCHEMA, "version": __version__, "command": command, "files": written}
            self.path.mkdir(exist_ok=True)
            with folder_lock(self.path), defer_signals():
                old = self._ours()  # once more: another process may have written there in the meantime
                # Should this be the moment of a crash, old files and new ones are both ours to the next run.
                self._write_record({**record, "replaced": old})
                for name in written:
                    (here / name).replace(self.path / name)
                for name in old.keys() - written.keys():
                    (self.path / name).unlink(missing_ok=True)
                self._write_record(record)
        self.summary = f"{', '.join(written)} in {self.path}"

    def _write_record(self, record: Mapping[str, object]) -> None:
        with replacing(self.path / RECORD) as file:
            file.write((json_text(record, indent=2) + "\n").encode())

    def _ours(self) -> dict[str, str]:
        """Return the digests of the files that an earlier run of this command wrote; refuse what stands in the way."""
        record = read_record(self.path)
        same = record.command.split()[1:2] == command_line()[1:2]
        found = {}
        for name in self.names:
            place = self.path / name
            check_target(place, self._inputs)
            digest = _digest(place)
            if same and digest in record.files.get(name, ()):
                found[name] = str(digest)
            elif os.path.lexists(place) and not self._force and not (same and name == RECORD and digest):
                _refuse(
                    f"{str(place)!r} exists and was not written by this command, or has changed since. Choose another "
                    "folder, or add --force to replace it."
                )
        return found


def output_folder(
    output: Path | None, names: Sequence[str], *, force: bool, inputs: Iterable[str | None]
) -> OutputFolder | None:
    """Return the checked folder -o, if there is one."""
    if force and output is None:
        raise click.UsageError("--force needs -o FOLDER.")
    return None if output is None else OutputFolder(output, names, force=force, inputs=inputs)


def _digest(place: Path) -> str | None:
    """Return the SHA-256 of a plain file, None for anything else; a link is something else."""
    try:
        with open_plain(place) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def write_results(
    console: Console,
    folder: OutputFolder | None,
    facts: Mapping[str, str],
    tables: Mapping[str, str | JsonObject],
    record: JsonObject,
    write: Callable[[Path], object],
) -> None:
    """Write tables, texts or columns, and the files of ``write``, into a folder; or print the first table.

    With --json the record is printed, with the columns of tables of which it says nothing.
    """
    texts = {
        name: table if isinstance(table, str) else csv_text(table, rows_of(table)) for name, table in tables.items()
    }
    wrote = {}
    if folder is not None:
        with folder.filling() as here:
            for name, text in texts.items():
                (here / name).write_text(text, encoding="utf-8")
            write(here)
        wrote["Wrote"] = folder.summary
    console.say_facts({**facts, "Time": format_seconds(time.perf_counter() - console.began), **wrote})
    if console.as_json:
        columns = {name.removesuffix(".csv"): table for name, table in tables.items() if not isinstance(table, str)}
        console.write_json({**{name: records(table) for name, table in columns.items()}, **record})
    elif folder is None:
        console.write(next(iter(texts.values())))


def write_file(
    console: Console,
    target: Path | None,
    content: str | bytes,
    note: str = "",
    *,
    facts: Mapping[str, str] = {},
    record: JsonObject | None = None,
) -> None:
    """Write one file, whole or not at all, or print it if there is none; with --json print the record instead."""
    if target is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        facts = {**facts, "Wrote": f"{target}{note}"}
    console.say_facts(facts)
    if console.as_json and record is not None:
        console.write_json(record)
    elif target is None:
        console.write(content)


def output_file(
    output: Path | None, default: str, endings: Collection[str], inputs: Iterable[str | None]
) -> Path | None:
    """Return the checked file of a command that writes one: ``default`` without -o, and None for ``-o -``."""
    source = click.get_current_context().get_parameter_source("output")
    target = Path(default) if output is None and source is not ParameterSource.COMMANDLINE else output
    check_ending(target, endings)
    check_target(target, inputs)
    return target


def check_ending(output: Path | None, endings: Collection[str], remedy: str = "") -> None:
    """Refuse a file for output whose name does not end in what the command writes."""
    if output is not None and output.suffix.lower() not in endings:
        _refuse(f"{str(output)!r} must end in {', '.join(endings)}{remedy}.")


def check_target(target: Path | None, inputs: Iterable[str | None]) -> None:
    """Refuse a folder, a file that the command reads, or one whose folder cannot be made or written to."""
    if target is None:
        return
    above = next(folder for folder in target.absolute().parents if folder.exists())
    if not above.is_dir():
        _refuse(f"{str(above)!r} is a file, not a folder.")
    if not os.access(above, os.W_OK):
        _refuse(f"{str(above)!r} cannot be written to.")
    if target.is_dir():
        _refuse(f"{str(target)!r} is a folder, not a file.")
    if target.exists() and any(target.samefile(source) for source in inputs if source and source != "-"):
        _refuse(f"{str(target)!r} is also read by this command.")


def _refuse(problem: str) -> NoReturn:
    """Say why -o cannot be used."""
    raise click.BadParameter(problem, param_hint="'-o'")
