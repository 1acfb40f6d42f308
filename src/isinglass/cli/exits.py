"""How commands end: exit codes, the one line that says what went wrong, and signals.

Ctrl-C and SIGTERM end a command within half a second, whatever it is doing, and leave nothing half done. The way out is
an exception. Kernels look for it several times a second, but a library in between may not return for seconds, or turn
the exception into one of its own. So the signal is noted down, and a thread that hears of it from the system ends the
process when the time for the orderly way out is over.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import click

from isinglass.atomic import remove_unfinished
from isinglass.errors import ArgumentError, ConvergenceWarning, DataError, LimitError, SeparationError, Setting
from isinglass.machine import SIGNALS, held_back

OTHER, USAGE, DATA, NOT_CONVERGED, LIMIT = 1, 2, 3, 4, 5
INTERRUPTED, PIPE_CLOSED = 128 + 2, 128 + 13  # as a shell reports what a signal has ended

EPILOG = """\b
Exit codes:
    0  done
    1  other failures: disk full, a missing package, a bug
    2  wrong usage: an option, a value, a file that cannot be opened
    3  bad data: the table or the model file is not as it must be
    4  not converged, with --strict
    5  too large: above a documented limit, or not enough memory
  130  interrupted (Ctrl-C); no half-written files
  143  terminated (SIGTERM); no half-written files
"""
CODES: dict[type[BaseException], int] = {
    DataError: DATA,
    SeparationError: DATA,
    ConvergenceWarning: NOT_CONVERGED,  # raised because of --strict
    LimitError: LIMIT,
    ImportError: OTHER,
}
GRACE = 0.25  # seconds for the orderly way out; the rest of the half second is for the system to take back the memory
NOT_OPTIONS = {"X": "the table", "path": "the file"}
_moving = threading.Lock()


class Failure(click.ClickException):
    """An error of the package in the words of the running command, with its exit code."""

    def __init__(self, error: BaseException) -> None:
        code, message = _explain(error)
        super().__init__(printable(message))
        self.__dict__["exit_code"] = code  # click has one per class


def report_error(error: BaseException) -> int:
    """Print what went wrong on one line of stderr, and return the exit code."""
    if isinstance(error, click.Abort | KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        return INTERRUPTED
    shown = error if isinstance(error, click.ClickException) else Failure(error)
    shown.show()
    return shown.exit_code


def _explain(error: BaseException) -> tuple[int, str]:
    message = spell(error)
    if isinstance(error, ArgumentError) and not error.where and _option_of(error.argument) is not None:
        return USAGE, message
    for kind, code in CODES.items():
        if isinstance(error, kind):
            return code, message
    if isinstance(error, MemoryError):
        return LIMIT, f"not enough memory. {message}"
    if isinstance(error, OSError):
        named = f"{error.filename}: " if error.filename else ""
        return OTHER, f"{named}{error.strerror or message}"
    return OTHER, f"{type(error).__name__}: {message} (a bug in isinglass; -vv shows where)"


def discard_output() -> int:
    """Send the rest of stdout nowhere, and return the exit code for a reader that went away.

    What is still buffered is flushed when the interpreter ends, and its complaint would be all the user sees.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED


def printable(text: str) -> str:
    r"""Return the text with control characters spelled out: a column name must not command the terminal.

    Examples
    --------
    >>> printable("naïve \x1b[2J")
    'naïve \\x1b[2J'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def spell(message: Any) -> str:
    """Return an error or a warning as one line that names the options of the running command.

    Examples
    --------
    >>> from isinglass.errors import DataError, setting
    >>> option = click.Option(["--missing"], type=click.Choice(["zero", "drop"]))
    >>> with click.Context(click.Command("fit", params=[option])):
    ...     spell(DataError(f"{setting('X')} must have no missing cells. Choose {setting('missing', 'zero')}."))
    'the table must have no missing cells. Choose --missing zero.'
    """
    text = message.spelled(_as_option) if hasattr(message, "spelled") else str(message)
    return " ".join(text.split())


def _option_of(name: str) -> click.Option | None:
    """Return the option of the running command that sets a parameter, if there is one."""
    ctx = click.get_current_context(silent=True)
    found = () if ctx is None else ctx.command.params
    return next((option for option in found if isinstance(option, click.Option) and option.name == name), None)


def _as_option(mention: Setting) -> str:
    option = _option_of(mention.name)
    if option is None:
        return NOT_OPTIONS.get(mention.name, mention.python)
    if option.is_flag:
        return longest(option.secondary_opts if mention.value is False else option.opts)
    if not mention.has_value:
        return longest(option.opts)
    return f"{longest(option.opts)} {shlex.quote(spell_value(option, mention.value))}"


def spell_value(parameter: click.Parameter, value: Any) -> str:
    """Return the word of the command line that stands for a value."""
    text: str = getattr(parameter.type, "spell", str)(value)
    return text


def longest(names: list[str]) -> str:
    """Return the name of an option that says most."""
    return max(names, key=len)


class _Terminated(SystemExit):
    """SIGTERM came: what is open is closed on the way out."""


@contextmanager
def undivided() -> Iterator[None]:
    """Hold signals back for the moment in which old files and new ones would be side by side."""
    with _moving, held_back():
        yield


@contextmanager
def listening(wanted: bool) -> Iterator[list[int]]:
    """Let the first SIGINT or SIGTERM end the block, and with it the process; yield the list that notes it down.

    What is ignored stays ignored, as SIGINT is in the background of a script. Only the main thread can listen.
    """
    heard: list[int] = []
    if not wanted or threading.current_thread() is not threading.main_thread():
        yield heard
        return
    ended = False

    def hear(number: int, frame: object) -> None:
        heard.append(number)
        if not ended and len(heard) == 1:
            raise KeyboardInterrupt if number == signal.SIGINT else _Terminated

    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, hear)
    stop_watching = _watch_signals()
    try:
        try:
            yield heard
        finally:
            ended = True
    finally:
        if heard:
            _leave(heard[0])
        stop_watching()
        for number, handler in before.items():
            signal.signal(number, handler)


def _watch_signals() -> Callable[[], None]:
    """Start the thread; return what ends it."""
    if os.name != "posix":  # a console of Windows sends Ctrl-C only, and pipes cannot be told of it
        return lambda: None
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reader,), daemon=True).start()

    def stop() -> None:
        signal.set_wakeup_fd(before)
        os.close(writer)

    return stop


def _watch(reader: int) -> None:
    while number := os.read(reader, 1):
        if number[0] in SIGNALS:
            time.sleep(GRACE)
            _leave(number[0])
    os.close(reader)


def _leave(number: int) -> NoReturn:
    """End the process as a signal does, without the interpreter: it would wait for kernels in other threads."""
    with _moving:  # for good: whoever comes second waits here
        remove_unfinished()
        if number == signal.SIGINT:
            shown = b"\x1b[?25h" if os.isatty(2) else b""  # a bar has hidden the cursor
            with suppress(OSError):
                os.write(2, shown + b"Interrupted.\n")
        os._exit(128 + number)
