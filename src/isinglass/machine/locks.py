"""Locks of folders, which end with the process that holds them."""

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


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Wait until no other process or thread holds the lock of a folder, and hold it inside the block.

    Does nothing on a system without file locks.
    """
    if not HAS_LOCKS:
        yield
        return
    handle = os.open(folder.resolve(), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
