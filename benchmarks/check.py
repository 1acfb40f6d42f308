"""Check every adapter against stored optima: units, column order and signs, before any clock is believed.

Usage: ``python benchmarks/check.py FOLDER`` where FOLDER holds er10/X.csv, er10/joint_alpha_0.0144.csv,
er10/nodewise_alpha_0.0144.csv and so on.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from adapters import SkippedError, all_rivals
from problems import Problem

CASES = (("er05", 0.0117), ("er10", 0.0144), ("er10", 0.05), ("unbal10", 0.005))


def main(folder: Path) -> None:
    """Print the largest difference of Θ and the seconds, per case and rival."""
    for case, alpha in CASES:
        X = np.loadtxt(folder / case / "X.csv", delimiter=",", dtype=np.uint8)
        for name, rival in all_rivals().items():
            problem = Problem(f"check-{case}", "check", case, lambda table=X: table, given=(alpha,))
            if reason := rival.available():
                print(f"{case} {name}: {reason}")
                continue
            kind = "nodewise" if rival.nodewise else "joint"
            stored = np.loadtxt(folder / case / f"{kind}_alpha_{alpha:g}.csv", delimiter=",")
            try:
                found = rival.run(problem, repeats=3, budget=60.0)
            except SkippedError as reason:
                print(f"{case} {name}: {reason}")
                continue
            theta = found.couplings[0].toarray() + np.diag(found.fields[0])
            print(
                f"{case} alpha {alpha:g} {name}: max |ΔΘ| = {np.abs(theta - stored).max():.1e}, "
                f"{1e3 * found.median:.2f} ms, start {found.setup_time:.2f} s, {found.version}"
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
