"""Files that appear whole or not at all."""

from __future__ import annotations

import json
import secrets
import shlex
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from isinglass.cli.options import command_line
from isinglass.version import __version__

__all__ = ["RECORD", "OutputFolder", "check_target", "filling_file", "read_record", "write_file"]

RECORD = "run.json"
"""The file in an output folder that says what wrote it, and which of the files are ours to replace."""


class OutputFolder:
    """A folder that gets all files of a command at the end, or none.

    The files are made in a hidden folder and renamed. Files of the same names are replaced if an earlier run of the
    same command wrote them (``run.json`` says so), and what else it wrote is removed; other files of these names are
    refused unless ``force``, before anything is computed.

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
        if path.exists() and not path.is_dir():
            raise click.BadParameter(f"{str(path)!r} is a file, not a folder.", param_hint="'-o'")
        self.path, self.names = path, [*names, RECORD]
        made_by, files, _ = read_record(path)
        same = made_by.split()[1:2] == [str(click.get_current_context().command.name)]
        self._ours = files if same else set()
        foreign = [name for name in self.names if (path / name).exists() and name not in self._ours]
        if foreign and not force:
            author = f"was written by `{made_by}`" if foreign[0] in files else "was not written by isinglass"
            raise click.BadParameter(
                f"{str(path / foreign[0])!r} exists and {author}. Choose another folder, or add --force to replace it.",
                param_hint="'-o'",
            )
        for name in self.names if path.exists() else ():
            check_target(path / name, inputs)

    @property
    def summary(self) -> str:
        """The files in words, for the summary of a command."""
        return f"{', '.join(name for name in self.names if name != RECORD)} in {self.path}"

    @contextmanager
    def filling(self, summary: Mapping[str, str] | None = None) -> Iterator[Path]:
        """Yield a folder to write into; when the block ends well its files move to their place.

        ``summary`` says in words what was done, for those who use the files later.
        """
        beside = self.path if self.path.is_dir() else self.path.resolve().parent  # the same disk either way
        beside.mkdir(parents=True, exist_ok=True)
        workshop = Path(tempfile.mkdtemp(prefix=".isinglass-", suffix=".part", dir=beside))
        try:
            yield workshop
            written = [name for name in self.names if (workshop / name).exists()]
            record = {
                "schema": "isinglass/run/1",
                "version": __version__,
                "command": shlex.join(command_line()),
                **({"summary": dict(summary)} if summary else {}),
                "files": written,
            }
            (workshop / RECORD).write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
            with _uninterrupted():
                self.path.mkdir(exist_ok=True)
                for name in [*written, RECORD]:
                    (workshop / name).replace(self.path / name)
                for name in self._ours.difference(written, [RECORD]):
                    (self.path / name).unlink(missing_ok=True)
        finally:
            shutil.rmtree(workshop, ignore_errors=True)


@contextmanager
def filling_file(target: Path) -> Iterator[Path]:
    """Yield a name beside the target, with its ending, to write to; when the block ends well it becomes the target."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".isinglass-{secrets.token_hex(6)}{target.suffix}")
    try:
        yield temporary
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_file(target: str, text: str) -> None:
    """Write one file, whole or not at all."""
    from isinglass.export.output import write_lines

    Path(target).parent.mkdir(parents=True, exist_ok=True)
    write_lines([text.removesuffix("\n")], target)


def check_target(target: str | Path, inputs: Iterable[str | None]) -> None:
    """Refuse a file that the command reads, or whose folder cannot be made."""
    place = Path(target)
    if target == "-":
        return
    above = next(folder for folder in place.absolute().parents if folder.exists())
    if not above.is_dir():
        raise click.BadParameter(f"{str(above)!r} is a file, not a folder.", param_hint="'-o'")
    for source in inputs:
        if source and source != "-" and place.exists() and place.samefile(source):
            raise click.BadParameter(f"{str(target)!r} is also read by this command.", param_hint="'-o'")


def read_record(folder: Path) -> tuple[str, set[str], dict[str, str]]:
    """Return the command that filled a folder, the files it wrote and its summary; nothing if we did not fill it."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        if record["schema"].startswith("isinglass/run/"):
            plain = {str(name) for name in record["files"] if Path(str(name)).name == name}
            summary = {str(name): str(value) for name, value in dict(record.get("summary", {})).items()}
            return str(record["command"]), {RECORD, *plain}, summary
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass  # not ours, whatever it is
    return "", set(), {}


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
