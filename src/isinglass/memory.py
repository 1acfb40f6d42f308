"""How much memory there is, and one error for whatever needs more."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from isinglass.errors import LimitError, setting

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

LITTLE = 50_000_000
"""Bytes that nobody asks about: finding out how many there are takes as long as the fit of a small table."""

_CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def available_memory() -> int:
    """Return how many bytes this process can still take without swapping; very many where nobody can tell.

    The smallest of what the system has left, what a container leaves and what ``ulimit -v`` leaves.

    Examples
    --------
    >>> available_memory() > 0
    True
    """
    free = [sys.maxsize, _free_of_system(), _free_of_limit()]
    for limit, used in _CGROUPS:
        with suppress(OSError, ValueError):  # no such group, or "max"
            free.append(int(Path(limit).read_text()) - int(Path(used).read_text()))
    return max(min(free), 0)


def memory_for(n_bytes: int) -> int:
    """Return how much an estimate may take that needs so many bytes at most: anything if that is little.

    Examples
    --------
    >>> memory_for(1000) == sys.maxsize
    True
    """
    return sys.maxsize if n_bytes <= LITTLE else available_memory()


@contextmanager
def within_memory() -> Iterator[None]:
    """Turn the refusal of a kernel to take more memory than there is, or its failure to get it, into a LimitError."""
    try:
        yield
    except MemoryError as error:
        raise LimitError(str(error)) from error
    except RuntimeError as error:
        if type(error).__name__ != "OutOfMemoryError":  # PyTorch's, which is not loaded here
            raise
        raise LimitError(f"{str(error).partition('. GPU')[0]}. Use {setting('device', 'cpu')}.") from error


def _free_of_system() -> int:
    with suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            name, _, rest = line.partition(":")
            if name == "MemAvailable":
                return int(rest.split()[0]) * 1024
    with suppress(AttributeError, ValueError, OSError):  # elsewhere: all there is
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return sys.maxsize


def _free_of_limit() -> int:
    if resource is None:
        return sys.maxsize
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return sys.maxsize
    with suppress(OSError):
        return limit - int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return limit
