"""Threads: how many the kernels use, one for BLAS, and those that run tasks and can be interrupted."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import ContextDecorator, ExitStack, contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from isinglass._core import stop_threads
from isinglass.errors import DataError

MAX_THREADS = 256
_WITH_BLAS = ("numpy", "scipy.linalg", "scipy.special")  # SciPy has a library of its own, which may be loaded later


def thread_count(n_threads: int | None = None) -> int:
    """Return ``n_threads``, or what the environment or the machine says.

    None means ISINGLASS_NUM_THREADS if that is set, else OMP_NUM_THREADS, else the available cores.
    """
    if n_threads is None:
        said = os.environ.get("ISINGLASS_NUM_THREADS", "").strip()
        if said and not (said.isdecimal() and 1 <= int(said) <= MAX_THREADS):
            raise DataError(f"ISINGLASS_NUM_THREADS must be a number of threads from 1 to {MAX_THREADS}; got {said!r}.")
        said = said or os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()  # then those of nested loops
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return min(max(int(said), 1) if said.isdecimal() else cores, MAX_THREADS)
    from isinglass.arguments import check_count  # loads NumPy, which the help of a command does without

    if check_count("n_threads", n_threads, most=None) > MAX_THREADS:
        raise DataError(
            f"n_threads must be at most {MAX_THREADS}; got {n_threads}. More threads than cores are no faster."
        )
    return int(n_threads)


class _OneBlasThread(ContextDecorator):
    """Keeps BLAS to one thread, for the whole process, while any thread is inside such a block.

    Threads of a BLAS wait for their next product in a loop, which takes a core from the threads of the kernels.
    """

    def __init__(self) -> None:
        self._lock, self._limit, self._n_inside = threading.Lock(), ExitStack(), 0

    def __enter__(self) -> None:
        with self._lock:
            if self._n_inside == 0:
                loaded = tuple(name in sys.modules for name in _WITH_BLAS)
                self._limit.enter_context(_blas(loaded).limit(limits=1))
            self._n_inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._limit.close()


one_blas_thread = _OneBlasThread()


@cache
def _blas(loaded: tuple[bool, ...]) -> Any:  # Any: of a library without types
    """Return the BLAS libraries of this process, given which modules that bring one are loaded."""
    from threadpoolctl import ThreadpoolController  # finding the libraries takes some milliseconds, once

    return ThreadpoolController().select(user_api="blas")


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
                    stop_threads(list(others))
                    self._changed.wait(0.1)
            finally:  # also after a second interrupt: numbers of threads are used again
                stop_threads([])


working = WorkingThreads()
