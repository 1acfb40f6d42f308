"""Locks of files and folders, which end with the process that holds them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

HAS_LOCKS = fcntl is not None


def lock(handle: int, *, wait: bool) -> None:
    """Lock an open file or folder until it is closed; without ``wait``, an OSError if another process holds the lock.

    Does nothing on a system without file locks.
    """
    if HAS_LOCKS:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


@contextmanager
def locked(path: str | Path, *, wait: bool) -> Iterator[None]:
    """Hold the lock of a file or folder, which is not a link, inside the block."""
    if not HAS_LOCKS:
        yield
        return
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        lock(handle, wait=wait)
        yield
    finally:
        os.close(handle)
