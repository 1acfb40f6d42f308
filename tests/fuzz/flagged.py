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
    "separable, few rows 2": (NODEWISE, [[1, 7, 1], [0, 5, 0], [2, 4, 2], [3, 1, 1]], O, [4, 8, 4], 2.836e-05),
    "separable, few rows 3": (JOINT, [[2, 1, 2], [5, 0, 0], [0, 3, 1], [1, 3, 2]], [O, N, O], [8, 4, 3], 1.3713e-05),
    "separable, few rows 4": (JOINT, [[1, 3, 1], [1, 2, 1], [0, 5, 0], [1, 4, 0]], [B, N, B], [2, 6, 2], 7.62e-09),
    "separable, few rows 5": (NODEWISE, [[1, 5, 0], [0, 1, 1], [0, 6, 0], [0, 2, 1]], [B, N, B], [2, 7, 2], 4.397e-09),
    "separable, few rows 6": (
        *(JOINT, [[2, 4, 4, 0], [0, 0, 1, 0], [1, 0, 2, 5], [4, 0, 4, 0]]),
        *([O, N, O, O], [5, 5, 5, 6], 0.00034409674444312054),
    ),
    "large residual at an ordinary alpha 1": (
        *(NODEWISE, [[1, 1, 0, 1], [0, 1, 0, 1], [0, 0, 1, 3]], [N, O, N, O], [5, 3, 3, 4], 0.006307678779336255),
    ),
    "large residual at an ordinary alpha 2": (
        *(NODEWISE, [[[1, 1, 0, 2], [0, 0, 0, 0], [0, 0, 2, 0], [2, 1, 0, 2]][k] for k in (0, 1, 0, 2, 3, 1, 1, 1, 1)]),
        *([N, B, O, O], [4, 2, 3, 3], 0.0040232145253656605),
    ),
    "a bound far above the true gap": (
        *(JOINT, [[0, 0, 0, 4], [4, 4, 4, 6], [1, 1, 1, 4], [6, 5, 4, 4], [0, 4, 0, 6]], O, [7, 6, 5, 7], 0.012038),
        {"tol": 1e-5},
    ),
    "a row of tiny weight 1": (NODEWISE, [[0, 0], [1, 2]], N, [3, 3], 7.785e-12, {"sample_weight": [1.0, 1e-8]}),
    "a row of tiny weight 2": (
        *(JOINT, [[2, 4, 2], [0, 0, 0]], [N, O, N], [3, 5, 5], 2.3456e-14, {"sample_weight": [1e-13, 1.0]}),
    ),
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
