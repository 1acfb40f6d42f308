"""Results to stdout, for programs; everything else to stderr, for people."""

from __future__ import annotations

import csv
import io
import logging
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from isinglass import errors
from isinglass.cli.exits import printable, spell
from isinglass.json_text import json_text
from isinglass.version import __version__

if TYPE_CHECKING:
    from rich.console import Console as RichConsole

DELAY_SECONDS = 1.0  # before something is shown to move


def rows_of(columns: Mapping[str, Iterable[Any]]) -> Iterator[tuple[Any, ...]]:
    """Return the rows of columns, which are lists or arrays."""
    return zip(*(getattr(column, "tolist", lambda column=column: column)() for column in columns.values()), strict=True)


def columns_text(columns: Mapping[str, Iterable[Any]]) -> str:
    """Return columns as CSV."""
    return csv_text(list(columns), rows_of(columns))


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    r"""Return a table as CSV; floats keep all their digits.

    Examples
    --------
    >>> csv_text(["name", "value"], [["a,b", 0.1], ["c", None]])
    'name,value\n"a,b",0.1\nc,\n'
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue()


def record_text(command: str, record: Mapping[str, Any]) -> str:
    """Return what a command prints with --json, its schema first.

    A field may be added without a new version; the meaning of a field never changes within one. No times: two runs with
    one seed print the same bytes.

    Examples
    --------
    >>> print(record_text("score", {"rows": 3, "mean": float("nan")}), end="")
    {
      "schema": "isinglass/score/1",
      "version": "0.1.0",
      "rows": 3,
      "mean": null
    }
    """
    whole = {"schema": f"isinglass/{command}/1", "version": __version__, **record}
    return json_text(whole, indent=2) + "\n"


def text_of(writer: Callable[[io.StringIO], object]) -> str:
    """Return what a function writes to a text stream."""
    stream = io.StringIO()
    writer(stream)
    return stream.getvalue()


class Console:
    """What one command says, and where.

    ``quiet`` 1: no summary and no progress, 2: no warnings either. ``verbose`` 1: the log, 2: its details, and where an
    error comes from. ``strict``: a fit that misses its tolerance is an error.
    """

    def __init__(
        self, command: str = "", quiet: int = 0, verbose: int = 0, *, as_json: bool = False, strict: bool = False
    ) -> None:
        self.command, self.quiet, self.verbose, self.as_json, self.strict = command, quiet, verbose, as_json, strict
        self.warnings: list[str] = []
        self._start = time.perf_counter()

    def write(self, text: str) -> None:
        """Write text to stdout as UTF-8 in every locale."""
        rest = text.encode("utf-8", errors="backslashreplace")
        while rest:  # with PYTHONUNBUFFERED this is the bare pipe, which may take only a part
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()

    def write_json(self, record: Mapping[str, Any], schema: str | None = None) -> None:
        """Write one object to stdout, with the name and version of its schema first and the warnings last."""
        self.write(record_text(schema or self.command, {**record, "warnings": self.warnings}))

    @cached_property
    def stderr(self) -> RichConsole:
        """The rich console on stderr; it knows NO_COLOR and whether it is a terminal."""
        from rich.console import Console as RichConsole

        return RichConsole(stderr=True, highlight=False, markup=False, soft_wrap=True)

    def say_facts(self, facts: Mapping[str, str]) -> None:
        """Print name and value of some facts, one per line, the values aligned."""
        width = max((len(name) for name in facts), default=0)
        if not self.quiet:
            from rich.text import Text

            for name, value in facts.items():
                self.stderr.print(Text.assemble((f"{name:<{width}}  ", "bold"), printable(value)))

    def restart_clock(self) -> None:
        """Begin to measure: packages are loaded and the table is read."""
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Time since the clock was started."""
        return time.perf_counter() - self._start

    @property
    def progress_wanted(self) -> bool | None:
        """What the ``progress`` argument of long runs should be: never if quiet, else in a terminal."""
        return False if self.quiet else None

    @contextmanager
    def progress(self, description: str) -> Iterator[None]:
        """Show that something is being done, once a second has passed."""
        if self.quiet or not self.stderr.is_terminal:
            yield
            return
        status = self.stderr.status(description)
        timer = threading.Timer(DELAY_SECONDS, status.start)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
            status.stop()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Show the warnings and the log of the package; under --strict a missed tolerance becomes an exception."""
        logger, handler = logging.getLogger("isinglass"), _LogHandler(self)
        level = logger.level
        logger.addHandler(handler)
        logger.setLevel([logging.WARNING, logging.INFO, logging.DEBUG][min(self.verbose, 2)])
        with warnings.catch_warnings():
            warnings.simplefilter("always", errors.IsinglassWarning)
            if self.strict:
                for kind in (errors.ConvergenceWarning, errors.MeaningWarning):
                    warnings.simplefilter("error", kind)
            warnings.showwarning = self._show_warning
            try:
                yield
            finally:
                logger.removeHandler(handler)
                logger.setLevel(level)

    def _show_warning(self, message: Warning | str, *where: Any, **more: Any) -> None:
        text = spell(message)
        if text in self.warnings:  # one of several fits said it already
            return
        self.warnings.append(text)
        if self.quiet < 2:
            from rich.text import Text

            self.stderr.print(Text.assemble(("Warning: ", "yellow"), printable(text)))


class _LogHandler(logging.Handler):
    """Prints records above a bar that may be running."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        self._console.stderr.print(printable(record.getMessage()), style="dim")


def plural(number: int, thing: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> plural(1, "edge"), plural(0, "edge")
    ('1 edge', '0 edges')
    """
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def format_seconds(seconds: float) -> str:
    """Return a duration with the digits that matter.

    Examples
    --------
    >>> format_seconds(0.01234), format_seconds(3.21), format_seconds(75.0)
    ('12 ms', '3.2 s', '1 min 15 s')
    """
    if seconds < 1:
        return f"{1e3 * seconds:.0f} ms" if seconds >= 1e-3 else "under 1 ms"
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes / 60:.1f} h"
