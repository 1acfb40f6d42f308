"""The threads of this process that run tasks, and how they are interrupted."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from isinglass import _core

_own_batches: ContextVar[tuple[int, ...]] = ContextVar("batches", default=())  # of this thread, outermost first


class WorkingThreads:
    """The threads of this process that run tasks, each with the number of its batch, and of those that this is part of.

    Python raises KeyboardInterrupt in its main thread alone, and kernels of other threads would go on. They are told to
    stop, and waited for: an interpreter that ends while a kernel runs aborts the process.
    """

    def __init__(self) -> None:
        self._threads: list[tuple[tuple[int, ...], int]] = []  # batches, thread
        self._stopped: set[int] = set()  # for good: a task of theirs may only be about to start
        self._changed = threading.Condition()
        atexit.register(self.stop)

    @contextmanager
    def task(self, batch: int) -> Iterator[None]:
        """Note that this thread works for a batch inside the block."""
        entry = (*_own_batches.get(), batch), threading.get_ident()
        with self._changed:
            if self._stopped.intersection(entry[0]):
                raise KeyboardInterrupt
            self._threads.append(entry)
        token = _own_batches.set(entry[0])
        try:
            yield
        finally:
            _own_batches.reset(token)
            with self._changed:
                self._threads.remove(entry)
                self._changed.notify_all()

    def stop(self, *batches: int) -> None:
        """Interrupt the tasks of some batches, or of all, in other threads; return when they have ended."""
        here = threading.get_ident()
        with self._changed:
            ending = set(batches or (batch for own, _ in self._threads for batch in own))
            self._stopped |= ending
            try:
                while others := {thread for own, thread in self._threads if ending.intersection(own)} - {here}:
                    _core.stop_threads(list(others))
                    self._changed.wait(0.1)
            finally:  # also after a second interrupt: numbers of threads are used again
                _core.stop_threads([])


working = WorkingThreads()
