"""How long the default takes beside the regressions that IsingFit asks glmnet for, on the tables of Lowd and Davis.

    python benchmarks/isingfit.py --tables DIR [--only plants jester] [--columns 8]

IsingFit regresses every column on all others. Some columns, evenly spaced and not constant, are timed and scaled to all
of them; our default chooses its penalty, checks it by prediction and adds standard errors on the same rows. First
processor seconds of one thread each, which other work on the machine hardly changes; then elapsed seconds of the
default with all threads, which need a quiet machine (glmnet has one thread). One table after the other.
"""

from __future__ import annotations

import argparse
import math
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isinglass import IsingNetwork
from isinglass.errors import IsinglassWarning, suppress_warnings

WORKER = Path(__file__).parent / "workers" / "isingfit.R"
TABLES = ("baudio", "jester", "plants", "adult", "connect4", "moviereview")


def time_isingfit(path: Path, columns: list[int]) -> float:
    """Return the mean processor seconds of one regression of glmnet."""
    command = ["Rscript", str(WORKER), str(path), ",".join(str(j + 1) for j in columns)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return statistics.mean(map(float, answer.split(",")))


def time_default(X: NDArray[np.uint8], n_threads: int | None, clock: Callable[[], float]) -> float:
    """Return the seconds of the default choice by a clock."""
    start = clock()
    with suppress_warnings(IsinglassWarning):
        IsingNetwork(n_threads=n_threads).fit(X)
    return clock() - start


def main() -> None:
    """Print a line per table, and the geometric mean of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, required=True)
    parser.add_argument("--only", nargs="+", default=TABLES)
    parser.add_argument("--columns", type=int, default=8)
    options = parser.parse_args()
    print("| table | rows × columns | IsingFit's regressions, s | default, one thread | ratio | all threads | ratio |")
    print("|---|---|---|---|---|---|---|")
    ratios = []
    for name in options.only:
        path = options.tables / f"{name}.train.csv.gz"
        X = np.loadtxt(path, delimiter=",", dtype=np.uint8)
        varying = np.flatnonzero((X.sum(0) > 1) & (X.sum(0) < len(X) - 1))
        columns = varying[np.linspace(0, len(varying) - 1, options.columns).astype(int)].tolist()
        rival = time_isingfit(path, columns) * len(varying)
        seconds = [time_default(X, 1, time.process_time), time_default(X, None, time.perf_counter)]
        ratios.append([rival / each for each in seconds])
        cells = " | ".join(f"{each:.1f} | {rival / each:.1f}" for each in seconds)
        print(f"| {name} | {len(X)} × {X.shape[1]} | {rival:.0f} | {cells} |", flush=True)
    means = [math.exp(statistics.mean(map(math.log, column))) for column in zip(*ratios, strict=True)]
    print(f"\nGeometric means of the ratios: {means[0]:.1f} and {means[1]:.1f}")


if __name__ == "__main__":
    main()
