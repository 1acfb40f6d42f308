"""StARS with 20 subsamples and 30 alphas against 60 cold fits of the published method at the chosen alpha.

Both in one run, alternately, one thread, on the paper's tables with p = 25 and N = 1000.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from problems import all_problems

from isinglass import Method, Run, StARS

sys.path.append(str(Path(__file__).resolve().parents[1]))
from paper.published import plg

REPEATS = 3
PUBLISHED_FITS = 60


def seconds(task: Callable[[], object]) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def compare(name: str, X: NDArray[np.uint8]) -> str:
    """Measure one table and say it in a line."""
    alpha = Method(selector=StARS()).choose(X, run=Run(n_jobs=1)).alpha
    ours, published = [], []
    for _ in range(REPEATS):
        ours.append(seconds(lambda: Method(selector=StARS()).choose(X, run=Run(n_jobs=1))))
        published.append(PUBLISHED_FITS * seconds(lambda: plg(X, alpha)))
    stability, fits = statistics.median(ours), statistics.median(published)
    return (
        f"{name}: alpha {alpha:.4g}, StARS {stability:.3f} s, {PUBLISHED_FITS} fits of plg {fits:.2f} s, "
        f"{fits / stability:.1f} times as long"
    )


if __name__ == "__main__":
    for name, problem in all_problems().items():
        if name.startswith("grid-p25"):
            print(compare(name, problem.X))
