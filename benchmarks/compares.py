"""Ours beside the packages that people use, on tables of Debian's R packages: agreement and processor time.

    python benchmarks/compares.py --r-libs FOLDER [--skglm PYTHON] [--only isingfit mgm]

FOLDER holds IsingFit, bootnet, NetworkComparisonTest, mgm and bgms; glmnet, qgraph and psych come from Debian. PYTHON
is an interpreter with skglm. Every job is one run of theirs and then one of ours, each on one thread. Seconds are
processor time of the estimate, without starting, reading and (skglm) compiling. Writes the rows of docs/compares.md.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass import IsingNetwork, NodewiseIsingEBIC, Run, bootstrap, compare_groups, nodewise_path
from isinglass.data import as_table
from isinglass.errors import IsinglassWarning, suppress_warnings

WORKERS = Path(__file__).parent / "workers"
TEN = [*range(5), *range(15, 20)]  # the items of two scales
ALPHA = 0.02
LAMBDAS = np.exp(np.linspace(np.log(0.2), np.log(0.002), 50))
JOBS = {
    "isingfit": ("bfi_yes", "big5_yes"),
    "glmnet": ("bfi_yes",),
    "sklearn": ("bfi_yes",),
    "skglm": ("bfi_yes",),
    "ebicglasso": ("bfi",),
    "mgm": ("bfi",),
    "bgms": ("bfi_ten",),
    "bootnet": ("bfi_yes",),
    "nct": ("bfi_ten_yes",),
}
Matrix = NDArray[np.float64]


def ordinal(X: Matrix) -> Matrix:
    """Return the couplings of our default for ordered categories."""
    net = IsingNetwork(n_jobs=1, n_threads=1).fit(as_table(X, kinds="ordinal"))
    return np.asarray(net.couplings_)


def ising(X: Matrix) -> Matrix:
    """Return what IsingFit computes."""
    return np.asarray(NodewiseIsingEBIC(n_threads=1).fit(X).couplings_)


def compare(X: Matrix, gender: NDArray[np.int64]) -> Matrix:
    """Return largest difference, difference of strengths and their p-values, as NetworkComparisonTest."""
    how = {"reselect": True, "n_permutations": 50, "random_state": 1}
    found = compare_groups(X, gender, NodewiseIsingEBIC(), run=Run(n_jobs=1), **how)
    return np.array([[found.structure, found.strength, found.p_structure, found.p_strength]])


def ours(job: str, X: Matrix, gender: NDArray[np.int64]) -> Callable[[], Any]:
    """Return our answer to a job as a function."""
    binary = X.astype(np.uint8)
    answers: dict[str, Callable[[], Any]] = {
        "isingfit": lambda: ising(binary),
        "glmnet": lambda: nodewise_path(binary, LAMBDAS, standardize=True, n_threads=1).asymmetric_couplings[-1],
        "sklearn": lambda: nodewise_path(binary, [ALPHA], n_threads=1).asymmetric_couplings[-1],
        "skglm": lambda: nodewise_path(binary, [ALPHA], n_threads=1).asymmetric_couplings[-1],
        "bootnet": lambda: (
            bootstrap(
                binary,
                NodewiseIsingEBIC(n_threads=1),
                n_boot=20,
                random_state=1,
                run=Run(n_jobs=1),
            ).solution.network.couplings
        ),
        "nct": lambda: compare(binary, gender),
    }
    return answers.get(job, lambda: ordinal(X))


def theirs(job: str, table: Path, out: Path, options: argparse.Namespace) -> tuple[float, Matrix]:
    """Return processor seconds and the answer of a rival."""
    python = options.skglm if job == "skglm" else sys.executable
    command = ["Rscript", str(WORKERS / "peers.R"), job, str(table), str(out)]
    if job in ("sklearn", "skglm"):
        command = [python, str(WORKERS / "regressions.py"), job, str(table), str(out), str(ALPHA)]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    environment = os.environ | threads | {"R_LIBS": options.r_libs}
    answer = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    return float(answer.split()[-1]), np.loadtxt(out, delimiter=",", ndmin=2)


def agreement(job: str, a: Matrix, b: Matrix) -> str:
    """Say in words how far two answers agree: edges, then weights."""
    if job == "nct":
        return "; ".join(
            f"{name} {x:.4g} and {y:.4g}" for name, x, y in zip(["M", "S", "p(M)", "p(S)"], a[0], b[0], strict=True)
        )
    pairs = np.triu_indices(len(a), 1) if np.array_equal(a, a.T) else np.nonzero(~np.eye(len(a), dtype=bool))
    a, b = a[pairs], b[pairs]
    both = (a != 0) & (b != 0)
    weights = f"r = {np.corrcoef(a[both], b[both])[0, 1]:.3f}, largest difference {np.abs(a - b).max():.1e}"
    return f"{np.sum(a != 0)} and {np.sum(b != 0)}, {both.sum()} shared; {weights}"


def main() -> None:
    """Print a row per job."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--r-libs", required=True)
    parser.add_argument("--skglm", help="Python with skglm; left out without it")
    parser.add_argument("--only", nargs="+", default=list(JOBS))
    options = parser.parse_args()
    print("| job | table | theirs, s | ours, s | agreement (theirs and ours) |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, suppress_warnings(IsinglassWarning):
        subprocess.run(["Rscript", str(WORKERS / "peers.R"), "tables", folder, "-"], check=True)
        for name, source in (("bfi_ten", "bfi"), ("bfi_ten_yes", "bfi_yes")):
            lines = (Path(folder) / f"{source}.csv").read_text().splitlines()
            cut = [",".join(line.split(",")[j] for j in TEN) for line in lines]
            (Path(folder) / f"{name}.csv").write_text("\n".join(cut) + "\n")
        gender = np.loadtxt(Path(folder) / "gender.csv", skiprows=1, dtype=np.int64)
        for job in options.only:
            for name in () if job == "skglm" and options.skglm is None else JOBS[job]:
                table = Path(folder) / f"{name}.csv"
                seconds, answer = theirs(job, table, Path(folder) / "out.csv", options)
                X = np.loadtxt(table, delimiter=",", skiprows=1)
                start = time.process_time()
                own = ours(job, X, gender)()
                spent = time.process_time() - start
                row = [
                    job,
                    f"{name}, {len(X)} × {X.shape[1]}",
                    f"{seconds:.2f}",
                    f"{spent:.2f}",
                    agreement(job, answer, own.toarray() if sp.issparse(own) else np.asarray(own)),
                ]
                print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
