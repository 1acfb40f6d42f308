"""Memory of a process, as the kernel counts it; None where it does not tell."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def peak_bytes(pid: int | str = "self") -> int | None:
    """Return the most memory that a process has had since it was started.

    Not ``ru_maxrss``, which begins with the memory of the process that started it.
    """
    return _read(pid, "VmHWM:")


def resident_bytes(pid: int | str = "self") -> int | None:
    """Return the memory that a process has now."""
    return _read(pid, "VmRSS:")


def forget_peak() -> None:
    """Let the peak of this process begin with what it has now, where the kernel can do that."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _read(pid: int | str, name: str) -> int | None:
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return None
    lines = [line for line in status.read_text().splitlines() if line.startswith(name)]
    return 1024 * int(lines[0].split()[1]) if lines else None
