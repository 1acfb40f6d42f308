"""How long the default takes beside the regressions that IsingFit asks glmnet for, on the tables of Lowd and Davis.

    OPENBLAS_NUM_THREADS=1 python benchmarks/isingfit.py --tables DIR [--only plants jester] [--columns 8]

IsingFit regresses every column on all others. Some columns, evenly spaced and not constant, are timed and scaled to all
of them; our default chooses its penalty, checks it by prediction and adds standard errors on the same rows. Processor
seconds of one thread each, which other work on the machine hardly changes. One table after the other, rival and default
in turn.
"""

from __future__ import annotations

import argparse
import math
import statistics
import subprocess
import time
from pathlib import Path

import numpy as np

from isinglass import IsingNetwork
from isinglass.errors import IsinglassWarning, suppress_warnings

WORKER = Path(__file__).parent / "workers" / "isingfit.R"
TABLES = ("baudio", "jester", "plants", "adult", "connect4", "moviereview")


def time_isingfit(path: Path, columns: list[int]) -> float:
    """Return the mean processor seconds of one regression of glmnet."""
    command = ["Rscript", str(WORKER), str(path), ",".join(str(j + 1) for j in columns)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return statistics.mean(map(float, answer.split(",")))


def main() -> None:
    """Print a line per table, and the geometric mean of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, required=True)
    parser.add_argument("--only", nargs="+", default=TABLES)
    parser.add_argument("--columns", type=int, default=8)
    options = parser.parse_args()
    print("| table | rows × columns | IsingFit's regressions, s | default, s | ratio |\n|---|---|---|---|---|")
    ratios = []
    for name in options.only:
        path = options.tables / f"{name}.train.csv.gz"
        X = np.loadtxt(path, delimiter=",", dtype=np.uint8)
        varying = np.flatnonzero((X.sum(0) > 1) & (X.sum(0) < len(X) - 1))
        columns = varying[np.linspace(0, len(varying) - 1, options.columns).astype(int)].tolist()
        rival = time_isingfit(path, columns) * len(varying)
        start = time.process_time()
        with suppress_warnings(IsinglassWarning):
            IsingNetwork(n_threads=1).fit(X)
        seconds = time.process_time() - start
        ratios.append(rival / seconds)
        print(f"| {name} | {len(X)} × {X.shape[1]} | {rival:.0f} | {seconds:.1f} | {rival / seconds:.1f} |", flush=True)
    print(f"\nGeometric mean of the ratios: {math.exp(statistics.mean(map(math.log, ratios))):.1f}")


if __name__ == "__main__":
    main()
