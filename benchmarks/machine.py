"""What the numbers were measured on, and the GEMM that the largest problem is compared with."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

WORKERS = Path(__file__).parent / "workers"


@cache
def cpu_model() -> str:
    """Return the CPU's name and the number of cores."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        name = names[0] if names else name
    return f"{name}, {os.cpu_count()} cores"


def now() -> str:
    """Return the date and minute, UTC."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M")


def load_average() -> float:
    """Return the load of the last minute: above the threads in use means that others were running."""
    return os.getloadavg()[0]


def gemm_seconds(X: NDArray[np.uint8]) -> float:
    """Median seconds of one f32 GEMM XᵀX in a fresh process, BLAS on all cores."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "X.npz"
        np.savez(file, X=X)
        done = subprocess.run(
            [sys.executable, str(WORKERS / "gemm.py"), str(file)], capture_output=True, text=True, check=True
        )
    return float(np.median([float(line) for line in done.stdout.split()]))
