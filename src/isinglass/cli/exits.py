"""How commands end: exit codes, the one line that says what went wrong, and signals.

Ctrl-C and SIGTERM raise an exception, which closes and removes what is open on its way out. Kernels look for signals
several times a second; a call of another library ends first.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Collection

import click

from isinglass.cli.grammar import name_of, spell_option
from isinglass.errors import (
    ArgumentError,
    ConvergenceWarning,
    DataError,
    IsinglassError,
    IsinglassWarning,
    LimitError,
    MeaningWarning,
    SeparationError,
    Setting,
)
from isinglass.machine.signals import INTERRUPT

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
    DataError: DATA,
    SeparationError: DATA,
    ConvergenceWarning: NOT_CONVERGED,  # raised because of --strict
    MeaningWarning: DATA,  # likewise
    LimitError: LIMIT,
    ImportError: OTHER,
}
COUNTED = {"column": "#", "row": "row "}
"""What is in front of the number, from 1, of a column or a row without a name."""
NOT_OPTIONS = {
    "X": "the table",
    "path": "the file",
    "kinds": "--ordinal, --nominal or --continuous",
}
"""What several options, or none, stand for."""


class Failure(click.ClickException):
    """An error of the package in the words of the running command, with its exit code."""

    def __init__(self, error: BaseException) -> None:
        code, message = _explain(error)
        super().__init__(printable(message))
        self.__dict__["exit_code"] = code  # click has one per class


def report_error(error: BaseException) -> int:
    """Print what went wrong on one line of stderr, and return the exit code."""
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return report_signal(INTERRUPT)
    shown = as_failure(error)
    shown.show()
    return shown.exit_code


def as_failure(error: BaseException) -> click.ClickException:
    """Return an error with its message for users and its exit code."""
    return error if isinstance(error, click.ClickException) else Failure(error)


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
    return (
        OTHER,
        f"{type(error).__name__}: {message} (this is a bug in isinglass; please report it with the output of -vv)",
    )


def discard_output() -> int:
    """Discard the rest of stdout, and return the exit code for a closed pipe.

    Otherwise the interpreter would flush the buffer at exit, fail, and print an error.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED


def printable(text: str) -> str:
    """Return the text with control characters spelled out: a column name must not command the terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def spell(message: BaseException | str) -> str:
    """Return an error or a warning as one line that names the options of the running command."""
    if not isinstance(message, IsinglassError | IsinglassWarning):
        return " ".join(str(message).split())
    about = [getattr(message, "got", None), *(repr(each.value) for each in message.mentioned if each.has_value)]
    return " ".join(message.spelled(lambda mention: _as_option(mention, about)).split())


def _option_of(name: str) -> click.Option | None:
    """Return the option of the running command that sets a parameter, if there is one."""
    ctx = click.get_current_context(silent=True)
    found = () if ctx is None else ctx.command.params
    return next((option for option in found if isinstance(option, click.Option) and option.name == name), None)


def _as_option(mention: Setting, about: Collection[str | None]) -> str:
    """Return how the running command, or its page, mentions a parameter, in a message about some values."""
    ctx = click.get_current_context(silent=True)
    page = None if ctx is None else ctx.obj  # that runs the command
    if page is not None and (control := page.name_control(mention)):
        return str(control)
    if mention.name in COUNTED:
        return f"{COUNTED[mention.name]}{mention.value + 1}"
    if mention.name == "labels" and ctx is not None:
        return _name_labels(ctx, about)
    words = _spell_setting(mention)
    if not words:
        return NOT_OPTIONS.get(mention.name, f"{mention.python} in Python")
    return shlex.join(words) + (" on the command line" if page is not None else "")


def _name_labels(ctx: click.Context, about: Collection[str | None]) -> str:
    """Return the options that named columns of labels: those whose column a message is about, if it tells."""
    given = [name for name in ("groups", "paired") if ctx.params.get(name) is not None]
    meant = [name for name in given if repr(ctx.params[name]) in about] or given
    return " and ".join(f"--{name}" for name in meant)


def _spell_setting(mention: Setting) -> list[str]:
    """Return the words of the running command that set a parameter; none if it has no option for it."""
    option = _option_of(mention.name)
    if mention.has_value and (mention.name == "kinds" or (mention.name == "na_values" and option is not None)):
        from isinglass.cli.reading import spell_reading  # an option for each kind, or each code

        return spell_reading({mention.name: mention.value})
    if option is None:
        return []
    return spell_option(option, mention.value) if mention.has_value else [name_of(option)]


def report_signal(number: int) -> int:
    """Say that the command was interrupted, and return the exit code that a shell knows the signal by."""
    if number == INTERRUPT:
        click.echo("Interrupted.", err=True)
    return 128 + number
