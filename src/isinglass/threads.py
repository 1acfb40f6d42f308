"""How many threads the kernels get."""

from __future__ import annotations

import os

from isinglass.arguments import is_whole
from isinglass.errors import ArgumentError, DataError

MAX_THREADS = 256
"""More are never started."""


def thread_count(n_threads: int | None = None) -> int:
    """Return ``n_threads``, or what the environment or the machine says.

    None means ISINGLASS_NUM_THREADS if that is set, else OMP_NUM_THREADS, else the available cores.

    Examples
    --------
    >>> thread_count(3)
    3
    """
    if n_threads is None:
        for variable in ("ISINGLASS_NUM_THREADS", "OMP_NUM_THREADS"):
            if os.environ.get(variable, "").isdecimal():
                return min(max(int(os.environ[variable]), 1), MAX_THREADS)
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not is_whole(n_threads) or n_threads < 1:
        raise ArgumentError("n_threads", "must be an integer of at least 1", n_threads)
    if n_threads > MAX_THREADS:
        raise DataError(f"n_threads must be at most {MAX_THREADS}; got {n_threads}. More than the cores is no faster.")
    return int(n_threads)
