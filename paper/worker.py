"""One fit in a process of its own, so that its memory can be measured and it can be ended: see ``scaling``.

Reads a job as JSON from standard input, says "start" when the table is ready and then one line of JSON.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import Any

import numpy as np

from paper import glmnet, memory, methods
from paper.data import sparse_table


def main() -> None:
    """Draw the table, warm up, fit, report; R, if it is started, has the same limit of memory as this process."""
    job: dict[str, Any] = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_AS, (job["max_bytes"], job["max_bytes"]))
    _, table = sparse_table(job["p"], job["trial"], job["seed"], n_samples=job["N"], degree=job["degree"])
    method, small = job["method"], table[:, :5]
    methods.prepare(small, [method])
    methods.FITS[method](small, job["alpha"])  # what is loaded when it is first used shall not be timed
    methods.prepare(table, [method], max_bytes=job["max_bytes"])
    memory.forget_peak()
    before = memory.resident_bytes() or 0
    print("start", flush=True)
    fit = methods.FITS[method](table, job["alpha"])
    peak = (glmnet.session().peak_bytes() if method.endswith("glmnet") else memory.peak_bytes()) or 0
    there = fit.theta != 0
    np.fill_diagonal(there, False)
    report = {
        "seconds": fit.seconds,
        "converged": fit.converged,
        "n_iter": fit.n_iter,
        "n_edges": int((there | there.T).sum()) // 2,
        "peak_mb": peak / 1e6,
        "before_mb": None if method.endswith("glmnet") else before / 1e6,
    }
    print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main()
