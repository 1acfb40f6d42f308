"""What the numbers were measured with: versions, processor, date, load."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
from pathlib import Path

from paper import glmnet


def describe() -> dict[str, str | int | float | None]:
    """Return all of it in one level, as it is kept with every cell."""
    return {"date": today(), **describe_software(), **describe_hardware(), "load": load_average()}


def describe_software() -> dict[str, str | None]:
    """Return the versions that enter the results; None for R and glmnet where they are not installed."""
    names = ("numpy", "scipy", "matplotlib", "isinglass")
    found: dict[str, str | None] = {"python": platform.python_version()}
    return found | {name: importlib.metadata.version(name) for name in names} | glmnet.versions()


def describe_hardware() -> dict[str, str | int]:
    """Return the processor's name and the number of cores that may be used."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        models = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        name = models[0] if models else name
    return {"cpu": name, "cores": available_cores()}


def available_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load_average() -> float | None:
    """Return the load of the last minute, which tells whether others were running."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def today() -> str:
    """Return the date, UTC."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")
