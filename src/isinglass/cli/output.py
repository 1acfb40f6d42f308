"""Files that appear whole or not at all."""

from __future__ import annotations

import json
import shlex
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from isinglass import __version__
from isinglass.cli.options import command_line

__all__ = ["RECORD", "OutputFolder", "refuse_overwriting"]

RECORD = "run.json"
"""The file in an output folder that says what wrote it, and which of the files are ours to replace."""


class OutputFolder:
    """A folder that gets all files of a command at the end, or none.

    The files are made in a hidden folder beside it and renamed. Files of the same names are replaced if an earlier run
    wrote them (``run.json`` says so); others are refused unless ``force``, before anything is computed.

    Parameters
    ----------
    path : Path
        The folder; made if need be.
    names : sequence of str
        The files that will be written.
    force : bool
        Replace files of these names whoever wrote them.
    inputs : iterable of str or None
        Files the command reads, which are never replaced.
    """

    def __init__(self, path: Path, names: Sequence[str], *, force: bool = False, inputs: Iterable[str | None] = ()):
        self.path, self.names = path, [*names, RECORD]
        ours = _written_before(path)
        foreign = [name for name in self.names if (path / name).exists() and name not in ours]
        if path.exists() and not path.is_dir():
            raise click.BadParameter(f"{str(path)!r} is a file, not a folder.", param_hint="'-o'")
        if foreign and not force:
            raise click.BadParameter(
                f"{str(path / foreign[0])!r} exists and was not written by isinglass. Choose another folder, or add "
                "--force to replace it.",
                param_hint="'-o'",
            )
        for name in self.names:
            refuse_overwriting(path / name, inputs)

    @property
    def summary(self) -> str:
        """The files in words, for the summary of a command."""
        return f"{', '.join(name for name in self.names if name != RECORD)} in {self.path}"

    @contextmanager
    def filling(self) -> Iterator[Path]:
        """Yield a folder to write into; when the block ends well its files move to their place."""
        parent = self.path.resolve().parent
        parent.mkdir(parents=True, exist_ok=True)
        workshop = Path(tempfile.mkdtemp(prefix=f".{self.path.name}-", suffix=".part", dir=parent))
        try:
            yield workshop
            written = [name for name in self.names if (workshop / name).exists()]
            record = {
                "schema": "isinglass/run/1",
                "version": __version__,
                "command": shlex.join(command_line()),
                "files": written,
            }
            (workshop / RECORD).write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
            with _uninterrupted():
                self.path.mkdir(exist_ok=True)
                for name in [*written, RECORD]:
                    (workshop / name).replace(self.path / name)
        finally:
            shutil.rmtree(workshop, ignore_errors=True)


def refuse_overwriting(target: Path, inputs: Iterable[str | None]) -> None:
    """Refuse to replace a file that the command reads."""
    for source in inputs:
        if source and source != "-" and target.exists() and target.samefile(source):
            raise click.BadParameter(f"{str(target)!r} is also read by this command.", param_hint="'-o'")


def _written_before(folder: Path) -> set[str]:
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        return {RECORD, *record["files"]} if record["schema"].startswith("isinglass/run/") else set()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return set()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back for the moment in which old files and new ones would be side by side."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
