"""One line about what is being done: a bar on stderr, or a function that is told instead."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
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
    """Yield the line that is shown already, or a new one: by default shown if a function listens, or in a terminal."""
    listener, line = _listener.get(), _line.get()
    wanted = (listener is not None or sys.stderr.isatty()) if progress is None else progress
    if line is not None:
        line.update(text, ahead=total or 0)
        yield line
        return
    told: AbstractContextManager[Listener | None] = nullcontext(listener if wanted else None)
    with _bar(text, total) if wanted and listener is None else told as hears:
        line = Line(hears, text, total)
        line.update()
        yield line


@contextmanager
def _bar(text: str, total: int | None) -> Iterator[Listener]:
    """Yield the function that moves a bar on stderr."""
    from rich import progress
    from rich.console import Console

    columns = (progress.TextColumn("{task.description}"), progress.BarColumn(), progress.MofNCompleteColumn())
    times, console = (progress.TimeElapsedColumn(), progress.TimeRemainingColumn()), Console(stderr=True)
    with progress.Progress(*columns, *times, console=console, transient=console.is_terminal) as bar:
        task = bar.add_task(text or "Running", total=total)
        yield lambda text, done, total: bar.update(task, description=text or "Running", completed=done, total=total)
