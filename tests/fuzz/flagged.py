"""Small tables with categories whose fits were flagged as not converged: what a better solver has to mend.

None of these is false: the record says that the tolerance was missed. ``python tests/fuzz/flagged.py`` tells which
still are, with residual, gap and time. A table that converges can leave the list.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from isinglass import Table, Variables, ising_path, nodewise_path

JOINT, NODEWISE = ising_path, nodewise_path
B, O, N = "binary", "ordinal", "nominal"  # noqa: E741
# what it shows: path function, rows, kinds, numbers of categories, alpha, other arguments
CASES: dict[str, tuple[Any, ...]] = {
    "separable, few rows 1": (JOINT, [[3, 3, 3], [0, 5, 0], [2, 4, 2], [3, 1, 1]], O, [4, 8, 4], 4.538e-05),
}


def main() -> None:
    """Fit every table and say how far each fit came."""
    warnings.simplefilter("ignore")
    for name, (path_function, rows, kinds, sizes, alpha, *options) in CASES.items():
        table = Table(np.array(rows, dtype=np.uint8), Variables.of(sizes, kinds))
        start = time.perf_counter()
        solution = path_function(table, [alpha], **(options[0] if options else {}))[0]
        state = "converged" if solution.converged else "FLAGGED"
        residual, gap = f"residual {solution.kkt_residual:.1e}", f"gap {solution.duality_gap:.1e}"
        print(f"{state:10} {name:40} {residual}, {gap}, {time.perf_counter() - start:.2f} s")  # noqa: T201


if __name__ == "__main__":
    main()
