"""Time one single-precision product XᵀX of a 0/1 table by BLAS: the yardstick of the largest problem."""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy.linalg.blas import sgemm


def main() -> None:
    """Print the seconds of several products, after one that is discarded."""
    X = np.asfortranarray(np.load(sys.argv[1])["X"], dtype=np.float32)
    for k in range(4):
        started = time.perf_counter()
        sgemm(1.0, X, X, trans_a=1)  # a full GEMM; NumPy's X.T @ X would call SYRK, half the work
        if k:
            print(time.perf_counter() - started)


if __name__ == "__main__":
    main()
