"""What commands say and how they end: results to stdout, for programs; everything else to stderr, for people.

Ctrl-C and SIGTERM raise an exception, which closes and removes what is open on its way out. Kernels look for signals
several times a second; a call of another library ends first.
"""

from __future__ import annotations

import io
import logging
import os
import shlex
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

import click

from isinglass import errors
from isinglass.cli.grammar import name_of
from isinglass.json_text import JsonObject, json_text
from isinglass.machine.signals import INTERRUPT
from isinglass.version import __version__

OTHER, USAGE, DATA, NOT_CONVERGED, LIMIT = 1, 2, 3, 4, 5
PIPE_CLOSED = 128 + 13  # as a shell reports what a signal has ended

EPILOG = """\b
Exit codes:
    0  done
    1  other failures: disk full, a missing package, a bug
    2  wrong usage: an option, a value, a file that cannot be opened
    3  bad data: the table or the model file cannot be used as it is
    4  not converged, with --strict
    5  too large: above a documented limit, or not enough memory
  130  interrupted (Ctrl-C); no half-written files
  143  terminated (SIGTERM); no half-written files
"""
CODES: dict[type[BaseException], int] = {
    errors.DataError: DATA,
    errors.SeparationError: DATA,
    errors.ConvergenceWarning: NOT_CONVERGED,  # raised because of --strict
    errors.MeaningWarning: DATA,  # likewise
    errors.LimitError: LIMIT,
    ImportError: OTHER,
}
NOT_OPTIONS = {
    "X": "the table",
    "path": "the file",
    "kinds": "--ordinal, --nominal or --continuous",
    "guess": "`isinglass info FILE`",
}
"""What several options, or none, stand for."""


def report_error(error: BaseException) -> int:
    """Print what went wrong on one line of stderr, and return the exit code."""
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return report_signal(INTERRUPT)
    shown = as_failure(error)
    shown.show()
    return shown.exit_code


def report_signal(number: int) -> int:
    """Say that the command was interrupted, and return the exit code that a shell knows the signal by."""
    if number == INTERRUPT:
        click.echo("Interrupted.", err=True)
    return 128 + number


def as_failure(error: BaseException) -> click.ClickException:
    """Return an error with its message for users, in the words of the running command, and its exit code."""
    if isinstance(error, click.ClickException):
        return error
    code, message = _explain(error)
    failure = click.ClickException(printable(message))
    failure.__dict__["exit_code"] = code  # click has one per class
    return failure


def _explain(error: BaseException) -> tuple[int, str]:
    message = spell(error)
    if isinstance(error, errors.ArgumentError) and _option_of(error.argument) is not None:
        code = DATA if error.where and error.argument not in ("delimiter", "encoding") else USAGE
        return code, message
    for kind, code in CODES.items():
        if isinstance(error, kind):
            return code, message
    if isinstance(error, MemoryError):
        return LIMIT, f"not enough memory. {message}"
    if isinstance(error, OSError):
        return OTHER, (f"{error.filename}: " if error.filename else "") + (error.strerror or message)
    bug = "this is a bug in isinglass; please report it with the output of -vv"
    return OTHER, f"{type(error).__name__}: {message} ({bug})"


def discard_output() -> int:
    """Discard the rest of stdout, which the interpreter could not flush, and return the exit code for a closed pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED


def printable(text: str) -> str:
    """Return the text with control characters spelled out: a column name must not command the terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def spell(message: BaseException | str) -> str:
    """Return an error or a warning as one line that names the options of the running command."""
    text = (
        message.spelled(_as_option)
        if isinstance(message, errors.IsinglassError | errors.IsinglassWarning)
        else str(message)
    )
    return " ".join(text.split())


def _option_of(name: str) -> click.Option | None:
    """Return the option of the running command that sets a parameter, if there is one."""
    ctx = click.get_current_context(silent=True)
    found = () if ctx is None else ctx.command.params
    return next((option for option in found if isinstance(option, click.Option) and option.name == name), None)


def _as_option(mention: errors.Setting) -> str:
    """Return how the running command, or its page, mentions a parameter."""
    ctx = click.get_current_context(silent=True)
    page = None if ctx is None else ctx.obj  # that runs the command
    if page is not None and (control := page.name_control(mention)):
        return str(control)
    if mention.name in ("column", "row"):  # without a name: by number
        return f"{'#' if mention.name == 'column' else 'row '}{mention.value + 1}"
    words = _spell_setting(mention)
    if not words:
        return NOT_OPTIONS.get(mention.name, f"{mention.python} in Python")
    return shlex.join(words) + (" on the command line" if page is not None else "")


def _spell_setting(mention: errors.Setting) -> list[str]:
    """Return the words of the running command that set a parameter; none if it has no option for it."""
    if mention.name == "labels":
        given = click.get_current_context().params
        return ["/".join(f"--{name}" for name in ("groups", "paired") if given.get(name) is not None)]
    option = _option_of(mention.name)
    if mention.has_value and option is not None:
        from isinglass.cli.settings import spell_reading  # some are one option for each kind, or each column

        return spell_reading({mention.name: mention.value})
    return [] if option is None else [name_of(option)]


def rows_of(columns: Mapping[str, Iterable[object]]) -> Iterator[tuple[object, ...]]:
    """Return the rows of columns, which are lists or arrays."""
    return zip(*(c.tolist() if hasattr(c, "tolist") else c for c in columns.values()), strict=True)


def csv_text(header: Iterable[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV, as exported files are written: floats with all digits, missing values empty."""
    from isinglass.arrays import plain_value
    from isinglass.export.escaping import csv_line

    return "".join(csv_line(map(plain_value, row)) + "\n" for row in (list(header), *rows))


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
        self.doubts: list[errors.MeaningWarning] = []  # what columns or values probably are not
        self.began = time.perf_counter()
        context = click.get_current_context(silent=True)
        self._page = (context and context.find_object(Page)) or Page(lambda mention: None)
        self._n_warnings = len(self._page.warnings)  # of earlier commands

    @property
    def warnings(self) -> list[str]:
        """What the command warned of."""
        return self._page.warnings[self._n_warnings :]

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
        self._page.facts += [[name, value] for name, value in facts.items()]
        width = max(map(len, facts), default=0)
        for name, value in facts.items() if not self.quiet else ():
            self.say(value, f"{name:<{width}}  ", bold=True)

    def restart_clock(self) -> None:
        """Begin to measure: packages are loaded and the table is read."""
        self.began = time.perf_counter()

    def progress(self, description: str) -> AbstractContextManager[object]:
        """Show in a terminal that something is being done."""
        if self.quiet or not sys.stderr.isatty():
            return nullcontext()
        from rich.console import Console as RichConsole

        return RichConsole(stderr=True).status(description)

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
        if text not in self._page.warnings:  # else one of several fits said it already
            self._page.warnings.append(text)
            if self.quiet < 2:
                self.say(text, "Warning: ", fg="yellow")


def color_wanted() -> bool | None:
    """Tell whether colors are wanted, by the usual environment variables; None is where a terminal shows them."""
    return False if os.environ.get("NO_COLOR") else True if os.environ.get("FORCE_COLOR") else None


def format_seconds(seconds: float) -> str:
    """Return a duration with the digits that matter."""
    if seconds < 1:
        return f"{1e3 * seconds:.0f} ms" if seconds >= 1e-3 else "under 1 ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"
