"""Threads: how many the kernels use, and one for BLAS."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import ContextDecorator, ExitStack
from functools import cache
from typing import Any

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
    """Keeps BLAS to one thread inside the block, for the whole process.

    Threads of a BLAS wait for their next product in a loop, which takes a core from the threads of the kernels. Of
    blocks that overlap in several threads, the one that was entered first sets the limit. It restores what was set
    before when it is left, which costs the others nothing but time.
    """

    def __init__(self) -> None:
        self._lock, self._limit = threading.Lock(), ExitStack()
        self._owner, self._depth = 0, 0  # the thread that has set the limit, and its blocks

    def __enter__(self) -> None:
        with self._lock:
            if self._depth == 0:
                loaded = tuple(name in sys.modules for name in _WITH_BLAS)
                self._limit.enter_context(_blas(loaded).limit(limits=1))
                self._owner = threading.get_ident()
            self._depth += self._owner == threading.get_ident()

    def __exit__(self, *error: object) -> None:
        with self._lock:
            if self._depth and self._owner == threading.get_ident():
                self._depth -= 1
                if self._depth == 0:
                    self._limit.close()


one_blas_thread = _OneBlasThread()


@cache
def _blas(loaded: tuple[bool, ...]) -> Any:  # Any: of a library without types
    """Return the BLAS libraries of this process, given which modules that bring one are loaded."""
    from threadpoolctl import ThreadpoolController  # finding the libraries takes some milliseconds, once

    return ThreadpoolController().select(user_api="blas")
