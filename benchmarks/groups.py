"""Time a permutation test of two groups: 1000 permutations at p = 20 and 2 × 500 rows, and the choice inside each.

python benchmarks/groups.py            # the table of docs/groups.md
python benchmarks/groups.py --quick    # a tenth of the permutations
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from isinglass import NodewiseIsingEBIC, Run, compare_groups, simulate
from isinglass.select import EBIC

METHODS = {
    "alpha given (0.03)": (0.03, False),
    "two-stage estimate, penalties kept": (None, False),
    "IsingFit, penalties kept": (NodewiseIsingEBIC(), False),
    "EBIC on a path of 30, chosen again": (EBIC(), True),
    "IsingFit, chosen again": (NodewiseIsingEBIC(), True),
    "two-stage estimate, chosen again": (None, True),
}
SLOW = 10
"""Methods that choose again run this many times fewer permutations, and the time is scaled."""


def main() -> None:
    """Print one line per method: seconds for 1000 permutations."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    network = simulate.random_network(20, 0.15, random_state=0)
    X = simulate.gibbs_sample(network, 1000, thin=10, random_state=1)
    groups = np.repeat(["a", "b"], 500)
    print(f"{'method':40s}  permutations  seconds  seconds per 1000  p_structure")
    for name, (method, reselect) in METHODS.items():
        count = 1000 // (SLOW if options.quick else 1) // (SLOW if reselect else 1)
        start = time.perf_counter()
        found = compare_groups(
            X, groups, method, reselect=reselect, n_permutations=count, random_state=0, run=Run(n_jobs=options.jobs)
        )
        seconds = time.perf_counter() - start
        print(f"{name:40s}  {count:12d}  {seconds:7.2f}  {1000 * seconds / count:16.2f}  {found.p_structure:.3f}")


if __name__ == "__main__":
    main()
