"""What the solver's own choices are worth: the same path with one choice changed, timed alternately in one run."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from unittest import mock

import numpy as np

from isinglass import ising_path
from isinglass.datasets import load_senate109
from isinglass.solve import alphas as grids

SENATE = load_senate109().X
ALPHAS = np.geomspace(0.5, 0.005, 50)
REPEATS = 5


def changed(module: object, **constants: object) -> Callable[[], AbstractContextManager[object]]:
    """Return a maker of a context in which module constants have other values."""
    return lambda: mock.patch.multiple(module, **constants)


CHOICES = {
    "as released": nullcontext,
    "a strong rule that keeps more": changed(grids, STRICTNESS=0.8),
    "all pairs in the working set": changed(grids, STRICTNESS=0.0),
}


def measure(choice: str, alphas: object) -> float:
    """Return the seconds of one path under a choice."""
    with CHOICES[choice]():
        start = time.perf_counter()
        ising_path(SENATE, alphas, n_threads=1)
        return time.perf_counter() - start


def compare_choices() -> None:
    """Print medians for the Senate path and for one cold alpha."""
    for label, alphas in (("50 alphas", ALPHAS), ("alpha 0.06", [0.06])):
        times: dict[str, list[float]] = {choice: [] for choice in CHOICES}
        for _ in range(REPEATS + 1):  # the first round warms up
            for choice in CHOICES:
                times[choice].append(measure(choice, alphas))
        for choice, seconds in times.items():
            print(f"{label:12} {choice:40} {1e3 * statistics.median(seconds[1:]):8.1f} ms")


def compare_instruction_sets() -> None:
    """Print the median of the Senate path for every instruction set of this processor, one thread."""
    script = (
        "from choices import measure, ALPHAS; import statistics; from isinglass import _core; "
        "t = [measure('as released', ALPHAS) for _ in range(6)][1:]; print(_core.instruction_set, statistics.median(t))"
    )
    for name in ("portable", "v3", "v4"):
        environment = {**os.environ, "ISINGLASS_KERNELS": name}
        answer = subprocess.run(
            [sys.executable, "-c", script],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
            cwd=Path(__file__).parent,
        ).stdout.split()
        if answer[0] == name:
            print(f"50 alphas    kernels {name:32} {1e3 * float(answer[1]):8.1f} ms")


if __name__ == "__main__":
    compare_choices()
    compare_instruction_sets()
