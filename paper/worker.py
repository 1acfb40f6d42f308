"""One fit in a process of its own, so that its memory can be measured and it can be ended: see ``scaling``.

Reads a job as JSON from standard input, says "start" when the table is ready and then one line of JSON.
"""

from __future__ import annotations

import json
import resource
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np

from paper import glmnet, methods
from paper.data import sparse_table


def main() -> None:
    """Draw the table, warm up, fit, report; R, if it is started, has the same limit of memory as this process."""
    job = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_AS, (job["max_bytes"], job["max_bytes"]))
    table = sparse_table(job["p"], job["trial"], job["seed"], n_samples=job["N"], degree=job["degree"])
    method, small = job["method"], table[:, :5]
    methods.prepare(small, [method])
    methods.FITS[method](small, job["alpha"])  # whatever is loaded on first use must not be timed
    methods.prepare(table, [method], max_bytes=job["max_bytes"])
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # lets the peak begin with what there is now
    before = memory("VmRSS:")
    print("start", flush=True)
    fit = methods.FITS[method](table, job["alpha"])
    in_r = method.endswith("glmnet")
    there = fit.theta != 0
    np.fill_diagonal(there, False)
    report = {
        "seconds": fit.seconds,
        "converged": fit.converged,
        "n_iter": fit.n_iter,
        "n_edges": int((there | there.T).sum()) // 2,
        "peak_mb": memory("VmHWM:", glmnet.session().process.pid if in_r else "self"),
        "before_mb": None if in_r else before,
    }
    print(json.dumps(report), flush=True)


def memory(name: str, pid: int | str = "self") -> float:
    """Return the memory of a process in MB as the kernel counts it, 0 where it does not.

    The peak is ``VmHWM:`` and not ``ru_maxrss``, which begins with the memory of the process that started it.
    """
    status = Path(f"/proc/{pid}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((1024 * int(line.split()[1]) / 1e6 for line in lines if line.startswith(name)), 0.0)


if __name__ == "__main__":
    main()
