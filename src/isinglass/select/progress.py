"""One line about what is being done: a bar on stderr, or a function that is told instead."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int | None], object]
"""Told what is being done, how many steps are done, and how many there are, None if that is not known."""


class Line:
    """What is being done, and how far it has come; ``listener`` is told of every change, if there is one."""

    def __init__(self, listener: Listener | None, text: str, total: int | None) -> None:
        self.listener, self._text, self._done, self._total = listener, text, 0, total

    def update(self, text: str | None = None, *, advance: int = 0, ahead: int | None = None) -> None:
        """Make some steps; ``ahead`` are those that follow, if that has changed."""
        self._text, self._done = self._text if text is None else text, self._done + advance
        self._total = self._total if ahead is None else self._done + ahead
        if self.listener is not None:
            self.listener(self._text, self._done, self._total)


_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_line: ContextVar[Line | None] = ContextVar("line", default=None)  # the one that is shown


@contextmanager
def reporting(listener: Listener) -> Iterator[None]:
    """Tell a function about progress inside the block, in place of a bar in the terminal."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def shown(progress: bool | None) -> Iterator[None]:
    """Show one line for what `tell` says inside the block, and for tasks that run there."""
    with progress_line("", None, progress) as line:
        token = _line.set(line if line.listener else None)
        try:
            yield
        finally:
            _line.reset(token)


def tell(text: str, ahead: int) -> None:
    """Say that one step was made, and about how many are ahead, if that is shown."""
    if (line := _line.get()) is not None:
        line.update(text, advance=1, ahead=ahead)


@contextmanager
def progress_line(text: str, total: int | None, progress: bool | None) -> Iterator[Line]:
    """Yield a line, or the one that is shown already.

    By default it is shown if a function listens, or in a terminal.
    """
    listener = _listener.get()
    if (line := _line.get()) is not None:
        line.update(text, ahead=total or 0)
        yield line
    elif not (listener is not None or sys.stderr.isatty() if progress is None else progress):
        yield Line(None, text, total)
    elif listener is not None:
        line = Line(listener, text, total)
        line.update()
        yield line
    else:
        with _bar(text, total) as listener:
            yield Line(listener, text, total)


@contextmanager
def _bar(text: str, total: int | None) -> Iterator[Listener]:
    """Yield the function that moves a bar on stderr."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=console.is_terminal) as bar:
        task = bar.add_task(text or "Running", total=total)
        yield lambda text, done, total: bar.update(task, description=text or "Running", completed=done, total=total)
