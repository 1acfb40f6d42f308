"""Run a solver in its own process: files in, files out, seconds taken on the other side."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from problems import Problem

from adapters.protocol import Measurement, SkippedError

ROOT = Path(__file__).resolve().parents[2]
WORKERS = Path(__file__).parents[1] / "workers"
RIVALS_PYTHON = ROOT / ".venv-rivals" / "bin" / "python"
DESIGN_LIMIT = 1.0e9  # bytes of X̃ beyond which a stacked rival is not tried
BYTES_PER_ENTRY = 12  # a double and an int32


@dataclass(frozen=True)
class ProcessRival:
    """A rival run by a worker script.

    Parameters
    ----------
    name, label : str
        Key on the command line, and name in the tables.
    command : tuple of str
        Interpreter and worker script.
    probe : tuple of str
        Command that prints the version, and fails where the rival is not installed.
    stacked : bool
        Whether it takes the paper's stacked design; otherwise the table itself.
    nodewise : bool
        Whether it solves one regression per node, so that its F is not comparable.
    options : dict
        Passed to the worker as ``key=value``.
    install : str
        What to install when it is missing.
    """

    name: str
    label: str
    command: tuple[str, ...]
    probe: tuple[str, ...]
    stacked: bool = False
    nodewise: bool = False
    options: dict[str, object] = field(default_factory=dict)
    install: str = ""

    def available(self) -> str | None:
        """Return why it cannot run on this machine, or None."""
        return None if probe_version(self.probe) else f"not installed ({self.install})"

    def version(self) -> str:
        """Return what the probe printed."""
        return probe_version(self.probe) or ""

    def run(self, problem: Problem, repeats: int, budget: float) -> Measurement:
        """Write the job, run the worker, read the answer."""
        if self.stacked:
            check_design_size(problem.X)
        with tempfile.TemporaryDirectory(prefix="bench-") as name:
            folder = Path(name)
            design_time = write_job(folder, problem, self.stacked)
            n, p = problem.X.shape
            arguments = {"folder": folder, "n": n, "p": p, "repeats": repeats, "budget": budget, **self.options}
            started = time.time()
            call_worker([*self.command, *(f"{key}={text}" for key, text in arguments.items())], budget + 60)
            refused = folder / "refused.txt"
            if refused.exists():
                raise SkippedError(refused.read_text().strip())
            return read_answer(folder, problem, self.stacked, started, design_time)


@cache
def probe_version(command: tuple[str, ...]) -> str | None:
    """Return the first line the command prints, or None if it cannot run."""
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip().splitlines()[0] if found.stdout.strip() else None


def design_bytes(X: NDArray[np.uint8]) -> float:
    """Memory of X̃ in compressed columns: every row of it holds one 1 and the ones of the other columns."""
    n, p = X.shape
    ones = float(X.sum(dtype=np.int64))
    return BYTES_PER_ENTRY * (n * p + (p - 1) * ones)


def check_design_size(X: NDArray[np.uint8]) -> None:
    """Refuse a stacked design that would not fit, naming its size."""
    needed = design_bytes(X)
    if needed > DESIGN_LIMIT:
        raise SkippedError(f"the stacked design would need {needed / 1e9:.1f} GB (limit {DESIGN_LIMIT / 1e9:.0f} GB)")


def write_job(folder: Path, problem: Problem, stacked: bool) -> float:
    """Write the table or the stacked design; return the seconds the design took to build."""
    problem.alphas.tofile(folder / "alphas.bin")
    if not stacked:
        np.asfortranarray(problem.X).ravel(order="F").tofile(folder / "X.bin")
        return 0.0
    sys.path.append(str(ROOT))
    from paper.published.stacked import stacked_design

    started = time.perf_counter()
    design, response = stacked_design(problem.X)
    design = sp.csc_matrix(design)
    design.sort_indices()
    elapsed = time.perf_counter() - started
    design.indptr.astype(np.int32).tofile(folder / "indptr.bin")
    design.indices.astype(np.int32).tofile(folder / "indices.bin")
    np.asarray(response).astype(np.uint8).tofile(folder / "y.bin")
    return elapsed


def call_worker(command: list[str], limit: float) -> None:
    """Run the worker; a failure or an overrun becomes a reason, not a crash of the whole benchmark."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        raise SkippedError(f"stopped after {limit:.0f} s") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise SkippedError(f"failed with status {done.returncode}: {last[:200]}")


def read_answer(folder: Path, problem: Problem, stacked: bool, started: float, design_time: float) -> Measurement:
    """Read seconds and coefficients back."""
    report = dict(line.split("=", 1) for line in (folder / "report.txt").read_text().splitlines())
    index = np.fromfile(folder / "index.bin", dtype=np.int32).astype(np.int64)
    alpha = np.fromfile(folder / "alpha.bin", dtype=np.int32)
    value = np.fromfile(folder / "value.bin")
    p, n_alphas = problem.X.shape[1], len(problem.alphas)
    s, t = stacked_pairs(index, p) if stacked else np.divmod(index, p)
    couplings, fields = assemble(s, t, alpha, value, n_alphas, p, mirror=stacked)
    certificate = folder / "certificate.bin"
    return Measurement(
        times=np.fromfile(folder / "times.bin").tolist(),
        setup_time=float(report["ready"]) - started,
        design_time=design_time,
        couplings=couplings,
        fields=fields,
        version=report["version"],
        threads=report["threads"],
        peak_bytes=float(report.get("peak_bytes", "nan")),
        n_fitted=int(report["fitted"]),
        certificate=np.fromfile(certificate).reshape(3, n_alphas) if certificate.exists() else None,
    )


def stacked_pairs(index: NDArray[np.int64], p: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of stacked columns: upper triangle column by column, then the diagonal (docs/math.md)."""
    t, s = np.tril_indices(p, -1)
    nodes = np.arange(p)
    return np.r_[s, nodes][index], np.r_[t, nodes][index]


def assemble(
    s: NDArray[np.int64],
    t: NDArray[np.int64],
    alpha: NDArray[np.int32],
    value: NDArray[np.float64],
    n_alphas: int,
    p: int,
    *,
    mirror: bool,
) -> tuple[list[sp.csr_array], NDArray[np.float64]]:
    """Split triplets into one coupling matrix per alpha and the fields; ``mirror`` adds the lower triangle."""
    fields = np.zeros((n_alphas, p))
    on_diagonal = s == t
    fields[alpha[on_diagonal], s[on_diagonal]] = value[on_diagonal]
    couplings = []
    for k in range(n_alphas):
        chosen = (alpha == k) & ~on_diagonal
        matrix = sp.csr_array((value[chosen], (s[chosen], t[chosen])), shape=(p, p))
        couplings.append(matrix + matrix.T if mirror else matrix)
    return couplings, fields
