"""Results to stdout, for programs; everything else to stderr, for people."""

from __future__ import annotations

import io
import itertools
import logging
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import click

from isinglass import errors
from isinglass.cli.exits import printable, spell
from isinglass.json_text import JsonObject, json_text
from isinglass.version import __version__

DELAY_SECONDS = 1.0  # before something is shown to move


def rows_of(columns: Mapping[str, Iterable[object]]) -> Iterator[tuple[object, ...]]:
    """Return the rows of columns, which are lists or arrays."""
    return zip(*(c.tolist() if hasattr(c, "tolist") else c for c in columns.values()), strict=True)


def csv_text(header: Iterable[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV, as exported files are written: floats with all digits, missing values empty."""
    from isinglass.arrays import plain_value
    from isinglass.export.escaping import csv_line

    return "".join(csv_line(map(plain_value, row)) + "\n" for row in itertools.chain([header], rows))


def text_of(writer: Callable[[io.StringIO], object]) -> str:
    """Return what a function writes to a text stream."""
    stream = io.StringIO()
    writer(stream)
    return stream.getvalue()


@dataclass
class Page:
    """What commands run by the app report to its page: the object of their click context."""

    name_control: Callable[[errors.Setting], str | None]  # how it calls what an option sets
    facts: list[list[str]] = field(default_factory=list)  # name and value of what the commands said
    warnings: list[str] = field(default_factory=list)


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
        self.doubts: list[errors.MeaningWarning] = []  # what columns or values probably are not
        self._start = time.perf_counter()
        context = click.get_current_context(silent=True)
        self._page = None if context is None else context.find_object(Page)

    def write(self, content: str | bytes) -> None:
        """Write bytes to stdout, or text as UTF-8 in every locale."""
        rest = content if isinstance(content, bytes) else content.encode("utf-8", errors="backslashreplace")
        while rest:  # with PYTHONUNBUFFERED this is the bare pipe, which may take only a part
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()

    def write_json(self, record: JsonObject) -> None:
        """Write one object to stdout: the schema first, by default that of the command, and the warnings last.

        A field may be added without a new version; the meaning of a field never changes within one. Two runs with one
        seed print the same bytes, except for the times of `info`.
        """
        whole = {"schema": f"isinglass/{self.command}/1", "version": __version__, **record}
        self.write(json_text({**whole, "warnings": self.warnings}, indent=2) + "\n")

    def say(self, text: str, beginning: str = "", *, fg: str | None = None, bold: bool | None = None) -> None:
        """Print a line to stderr, its beginning in a style; a terminal gets no control characters of a table."""
        click.echo(click.style(beginning, fg=fg, bold=bold) + printable(text), err=True)

    def say_facts(self, facts: Mapping[str, str]) -> None:
        """Print name and value of some facts, one per line, the values aligned."""
        if self._page is not None:
            self._page.facts += [[name, value] for name, value in facts.items()]
        width = max((len(name) for name in facts), default=0)
        for name, value in facts.items() if not self.quiet else ():
            self.say(value, f"{name:<{width}}  ", bold=True)

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
        if self.quiet or not sys.stderr.isatty():
            yield
            return
        from rich.console import Console as RichConsole

        status = RichConsole(stderr=True).status(description)
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
    def showing_warnings(self) -> Iterator[None]:
        """Show the warnings and the log of the package; under --strict a missed tolerance becomes an exception."""
        logger, handler = logging.getLogger("isinglass"), logging.Handler()
        handler.emit = lambda record: self.say("", printable(record.getMessage()), fg="bright_black")  # type: ignore[method-assign]
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

    def _show_warning(self, message: Warning | str, *where: object, **more: object) -> None:
        if isinstance(message, errors.MeaningWarning):
            self.doubts.append(message)
        text = spell(message)
        if text in self.warnings:  # one of several fits said it already
            return
        self.warnings.append(text)
        if self._page is not None:
            self._page.warnings.append(text)
        if self.quiet < 2:
            self.say(text, "Warning: ", fg="yellow")


def color_wanted() -> bool | None:
    """Tell whether colors are wanted, by the usual environment variables; None is where a terminal shows them."""
    return False if os.environ.get("NO_COLOR") else True if os.environ.get("FORCE_COLOR") else None


def format_seconds(seconds: float) -> str:
    """Return a duration with the digits that matter."""
    if seconds < 0.9995:  # from here on, as 1000 ms
        return f"{1e3 * seconds:.0f} ms" if seconds >= 1e-3 else "under 1 ms"
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{rest} s"
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes / 60:.1f} h"
