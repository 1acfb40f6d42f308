"""Exceptions and warnings, and how their messages mention parameters.

``setting("missing", "zero")`` puts a parameter into a message: Python prints ``missing="zero"``, and the command line
``--missing zero``. Until the reader is known, a mention inside the text is U+001F name U+001E value U+001E spelling in
Python U+001F, as people do not type these characters; what looks like a mention and is none is left as it is.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

__all__ = [
    *("ArgumentError", "CellTypeError", "DataError", "IsinglassError", "LimitError", "SeparationError"),
    *("ConstantColumnWarning", "ConvergenceWarning", "DataWarning", "FewColumnsWarning", "GridEndWarning"),
    *("IsinglassWarning", "MeaningWarning", "MixingWarning"),
    *("Setting", "setting", "suppress_warnings", "suppressed", "warn"),
]

_MENTION = re.compile("\x1f([^\x1e\x1f]*)\x1e([^\x1e\x1f]*)\x1e([^\x1f]*)\x1f")  # name, value, spelling in Python
_IN_PYTHON = dict.fromkeys(("binary", "ordinal", "nominal", "continuous"), "kinds")  # one parameter in Python
_PASSED_OVER = ("isinglass", "sklearn", "joblib", "contextlib")  # between a user's line and a warning
_suppressed: ContextVar[tuple[type[IsinglassWarning], ...]] = ContextVar("suppressed", default=())


class Setting(NamedTuple):
    """A parameter that a message mentions."""

    name: str  # the parameter
    has_value: bool  # whether the message gives a value
    value: Any  # the value
    python: str  # how Python readers see it


def setting(name: str, *value: object, python: str | None = None) -> str:
    """Return the mention of a parameter, with or without a value, to be put into a message.

    ``python`` is what Python readers see instead, where another function does what the option does.

    Examples
    --------
    >>> str(DataError(f"Choose {setting('missing', 'zero')}, or raise {setting('max_rows')}."))
    'Choose missing="zero", or raise max_rows.'
    """
    if python is None:
        python = "=".join([_IN_PYTHON.get(name, name), *map(_show, value)])
    return f"\x1f{name}\x1e{repr(value[0]) if value else ''}\x1e{python}\x1f"


def called(label: Hashable) -> str:
    """Return what messages call a column: its name, or its number, from 0 in Python and ``#1`` on the command line."""
    return setting("column", label, python=repr(label)) if isinstance(label, int) else repr(label)


def called_row(row: int) -> str:
    """Return what messages call a row: its number, from 0 in Python and from 1 in the file on the command line."""
    return setting("row", row, python=f"row {row}")


def _show(value: object) -> str:
    if isinstance(value, str) and '"' not in value:
        return f'"{value}"'
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else repr(value)


class _Message(BaseException):
    """What errors and warnings share: a message that can be spelled for its reader."""

    where = ""  #: the file it is about, if any

    @property
    def marked(self) -> str:
        """The message with its mentions still marked, to be part of another message."""
        return "".join(map(str, self.args))

    def spelled(self, spell: Callable[[Setting], str]) -> str:
        """Return the message with every parameter as ``spell`` writes it; infinity, and a cell like it, as it is."""

        def replace(found: re.Match[str]) -> str:
            name, text, python = found.groups()
            try:
                value = ast.literal_eval(text) if text else None
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                return python
            return spell(Setting(name, bool(text), value, python))

        return (f"{self.where}: " if self.where else "") + _MENTION.sub(replace, self.marked)

    def __str__(self) -> str:
        return self.spelled(lambda mention: mention.python)


class IsinglassError(_Message, Exception):
    """Base class of the errors of isinglass."""


class DataError(IsinglassError, ValueError):
    """The table, the weights or another argument cannot be used; the message says why and what to do."""


class ArgumentError(DataError, TypeError):
    """An argument breaks its constraint: its name, what it must be, what was passed, and what to do about it.

    It is a ValueError and a TypeError, like scikit-learn's error for invalid parameters.

    Examples
    --------
    >>> str(ArgumentError("tol", "must be a positive number", -1.0, "Use 1e-7."))
    'tol must be a positive number; got -1.0. Use 1e-7.'
    """

    def __init__(self, argument: str, constraint: str, got: object, remedy: str = "") -> None:
        self.argument, self.constraint, self.remedy = argument, constraint, remedy
        self.got = got if isinstance(got, _Shown) else _Shown(_shorten(repr(got)))  # not the object: it may be large
        super().__init__(argument, constraint, self.got, remedy)

    @property
    def marked(self) -> str:
        """The message with its mentions still marked, to be part of another message."""
        remedy = f" {self.remedy}" if self.remedy else ""
        return f"{setting(self.argument)} {self.constraint}; got {self.got}.{remedy}"


class _Shown(str):
    """The repr of an argument, which is not to be quoted again when an error has traveled between processes."""


def _shorten(text: str) -> str:
    """Return a text, or the beginning of one that is long, such as that of a matrix, on one line."""
    return text if len(text) <= 200 else " ".join(text.split())[:200] + " …"


class CellTypeError(DataError, TypeError):
    """A cell of a table is neither a number nor text."""


class LimitError(IsinglassError, ValueError):
    """The table or the computation exceeds a documented limit or the available memory."""


class SeparationError(IsinglassError, ValueError):
    """An unpenalized estimate was requested, but it is infinite."""

    @classmethod
    def of_pair(cls, s: str, t: str) -> SeparationError:
        """Return the error about two columns, given what messages call them."""
        return cls(
            f"the unpenalized optimum must be finite; columns {s} and {t} separate the table, so their coupling grows "
            f"without bound. It has no penalty, as asked or as selected: use {setting('alpha')} > 0 and a penalty "
            "weight > 0, or leave the pair without an edge."
        )


class IsinglassWarning(_Message, UserWarning):
    """Base class of the warnings of isinglass."""


class DataWarning(IsinglassWarning):
    """The table or its weights can be used, but may not mean what you intended."""


class MeaningWarning(DataWarning):
    """A column or a value is probably not what it seems: a missing-value code, a reversed item, a number, a date.

    ``columns`` are the names or numbers of the columns, and ``note`` says it in a word or two.
    """

    def __init__(self, text: str, columns: tuple[Hashable, ...] = (), note: str = "") -> None:
        super().__init__(text)
        self.columns, self.note = columns, note


class ConvergenceWarning(IsinglassWarning):
    """The certificate of a returned solution did not reach the tolerance."""


class ConstantColumnWarning(IsinglassWarning):
    """A column takes only one value, and gets no edges."""


class MixingWarning(IsinglassWarning):
    """A Markov chain mixes too slowly: its rows do not represent the model yet."""


class GridEndWarning(IsinglassWarning):
    """The chosen penalty is at an end of the grid of alphas."""


class FewColumnsWarning(IsinglassWarning):
    """The criterion was made for many columns, and misses most edges among few."""


def warn(warning: IsinglassWarning) -> None:
    """Warn at the caller's line outside the package."""
    if isinstance(warning, _suppressed.get()):
        return
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _PASSED_OVER:
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)


@contextmanager
def suppress_warnings(*categories: type[IsinglassWarning]) -> Iterator[None]:
    """Suppress warnings of these categories inside the block: they were given already, or are counted instead.

    The filters of Python's ``warnings`` belong to the whole process and are left alone, as other threads use them.
    """
    token = _suppressed.set((*_suppressed.get(), *categories))
    try:
        yield
    finally:
        _suppressed.reset(token)


def suppressed() -> tuple[type[IsinglassWarning], ...]:
    """Return what is suppressed here, for work that goes on in another thread or process."""
    return _suppressed.get()


def listed(items: Sequence[object], most: int = 5, *, sep: str = ", ", noun: str = "") -> str:
    """Return the first few of some items, and how many more there are."""
    more = f" and {len(items) - most} more{noun}" if len(items) > most else ""
    return sep.join(map(str, items[:most])) + more


def join_words(words: Sequence[str]) -> str:
    """Return "a", "a and b" or "a, b and c"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def times(number: int) -> str:
    """Return how often something was done: "once", "2 times"."""
    return "once" if number == 1 else f"{number} times"


def plural(number: int, thing: str) -> str:
    """Return a number and what it counts: "1 edge", "0 edges"."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
