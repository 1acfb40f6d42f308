"""Memory: how much is free, and one error where more is needed."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from pathlib import Path

from isinglass.errors import DataError, LimitError, setting

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

UNCHECKED_BYTES = 50_000_000
"""Below this size, skip the check of free memory; it costs as much as a small fit."""

_CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def available_memory() -> int:
    """Return how many bytes this process can still allocate without swapping; a very large number if this is unknown.

    The smallest of what the system has left, what a container leaves, what ``ulimit -v`` still allows, and what
    the variable ISINGLASS_MAX_MEMORY leaves: bytes, or GiB with G, GB or GiB behind the number.
    """
    free = [_free_of_system(), _stated_cap() - _taken(1)]
    if resource is not None and (limit := resource.getrlimit(resource.RLIMIT_AS)[0]) != resource.RLIM_INFINITY:
        free.append(limit - _taken(0))
    for limit_file, used_file in _CGROUPS:
        with suppress(OSError, ValueError):  # no such group, or "max"
            free.append(int(Path(limit_file).read_text()) - int(Path(used_file).read_text()))
    return max(min(free), 0)


def memory_for(n_bytes: int) -> int:
    """Return the memory that work of at most ``n_bytes`` may take; without a limit if that is little."""
    _stated_cap()  # a wrong one is refused in small fits, too
    return sys.maxsize if n_bytes <= UNCHECKED_BYTES else available_memory()


def refuse_above(needed: int, what: str, remedy: str) -> None:
    """Refuse what needs more memory than is free."""
    free = memory_for(needed)
    if needed > free:
        raise LimitError(f"{what} about {needed / 1e9:.3g} GB of memory, and {free / 1e9:.3g} GB are free. {remedy}")


class within_memory:  # noqa: N801 - used as a function; a generator would take longer than the fit of few columns
    """Turn the refusal of a kernel to take more memory than there is, or its failure to get it, into a LimitError."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, MemoryError):
            raise LimitError(str(error)) from error
        if type(error).__name__ == "OutOfMemoryError":  # PyTorch's, which is not loaded here
            raise LimitError(f"{str(error).partition('. GPU')[0]}. Use {setting('device', 'cpu')}.") from error


def _free_of_system() -> int:
    with suppress(OSError, IndexError):  # no such file, or an old kernel
        return int(re.findall(r"MemAvailable: +(\d+)", Path("/proc/meminfo").read_text())[0]) * 1024
    with suppress(AttributeError, ValueError, OSError):  # elsewhere: all there is
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return sys.maxsize


def _taken(which: int) -> int:
    """Return the bytes of this process: its address space (0), or what of it is in memory (1); 0 if unknown."""
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[which]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _stated_cap() -> int:
    """Return the bytes that ISINGLASS_MAX_MEMORY allows; a very large number if it is not set."""
    said = os.environ.get("ISINGLASS_MAX_MEMORY", "").strip()
    if not said:
        return sys.maxsize
    number = re.sub("(?i)G(i?B)?$", "", said)
    with suppress(ValueError, OverflowError):  # of infinity
        cap = int(float(number) * (2**30 if number != said else 1))
        if cap > 0:
            return cap
    raise DataError(f"ISINGLASS_MAX_MEMORY must be bytes, or GiB such as 8G; got {said!r}.")
