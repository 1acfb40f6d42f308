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
ONE_HEAVY_ROW = [
    *([5, 4, 2], [1, 3, 2], [2, 1, 1], [4, 3, 2], [1, 2, 2], [5, 1, 1], [2, 5, 2]),
    *([5, 4, 2], [2, 1, 1], [5, 4, 2], [4, 2, 2], [1, 1, 1], [2, 4, 2]),
]
LIGHT = {"sample_weight": [1e-13] * 3 + [1.0] + [1e-13] * 9}
TWO_RARE = [[0, 0]] * 11 + [[2, 0], [0, 4], [0, 4]]
CASES: dict[str, tuple[Any, ...]] = {
    # Second derivatives that differ by more than double precision has digits.
    "one heavy row, joint": (JOINT, ONE_HEAVY_ROW, [N, O, N], [6, 6, 3], 2.965e-14, LIGHT),
    # Optimal: the bound on rounding is too wide, because the penalty is not far above one rounding of the gradient.
    "eight decades, joint": (JOINT, TWO_RARE, [O, O], [3, 5], 1.3214e-15, {"sample_weight": [1.0] + [1e-8] * 13}),
    "eight decades, node by node": (
        NODEWISE,
        TWO_RARE,
        [O, O],
        [3, 5],
        6.607e-16,
        {"sample_weight": [1.0] + [1e-8] * 13},
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
