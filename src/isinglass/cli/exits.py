"""Exit codes, and the one line that says what went wrong."""

from __future__ import annotations

import os
import sys

import click

from isinglass.cli.console import printable
from isinglass.cli.settings import option_of, spell
from isinglass.errors import ArgumentError, ConvergenceWarning, DataError, LimitError, SeparationError

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
    if isinstance(error, ArgumentError) and not error.where and option_of(error.argument) is not None:
        return USAGE, message
    if isinstance(error, DataError | SeparationError):
        return DATA, message
    if isinstance(error, ConvergenceWarning):  # raised because of --strict
        return NOT_CONVERGED, message
    if isinstance(error, LimitError):
        return LIMIT, message
    if isinstance(error, MemoryError):
        return LIMIT, f"not enough memory. {message}"
    if isinstance(error, ImportError):
        return OTHER, message
    if isinstance(error, OSError):
        named = f"{error.filename}: " if error.filename else ""
        return OTHER, f"{named}{error.strerror or message}"
    return OTHER, f"{type(error).__name__}: {message} (a bug in isinglass; -vv shows where)"


def discard_output() -> int:
    """Send the rest of stdout nowhere, and return the exit code for a reader that went away.

    What is still buffered is flushed when the interpreter ends, and its complaint would be all the user sees.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    return PIPE_CLOSED
