"""The compiled part of `logistic_path`: a small library, compiled when it is first used (it needs a C++ compiler)."""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray

SOURCE = Path(__file__).with_name("lognet.cpp")
FOLDER = Path(__file__).parents[2] / "build" / "paper"
FLAGS = ("-std=c++20", "-O3", "-ffp-contract=fast", "-shared", "-fPIC", "-Wall", "-Wextra")
State = tuple[FloatArray, float, float, int, int, int, bool]


@cache
def _library() -> ctypes.PyDLL:
    """Return the library of this source, compiled if it is not there yet."""
    name = hashlib.sha256(SOURCE.read_bytes() + repr(FLAGS).encode()).hexdigest()[:16]
    target = FOLDER / f"lognet-{name}.so"
    if not target.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
            built = Path(folder) / target.name
            subprocess.run([os.environ.get("CXX", "c++"), *FLAGS, "-o", built, SOURCE], check=True)
            built.replace(target)  # other processes may do the same
    library = ctypes.PyDLL(str(target))  # it looks for signals, whose exceptions are raised after a call
    library.lognet_new.restype = ctypes.c_void_p
    library.lognet_solve.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p]
    library.lognet_delete.argtypes = [ctypes.c_void_p]
    return library


class Lognet:
    """One regression; ``solve`` starts where the last one ended.

    The columns of the design are compressed: ``start`` has the place of the first entry of every column in ``rows``,
    and the number of entries; ``values`` is None where all entries are 1.
    """

    def __init__(
        self,
        start: NDArray[np.int64],
        rows: NDArray[np.int32],
        values: FloatArray | None,
        numbers: tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray],
        settings: tuple[float, int, float, bool, bool],
    ) -> None:
        columns = np.ascontiguousarray(start, np.int64), np.ascontiguousarray(rows, np.int32)
        given = [None if array is None else np.ascontiguousarray(array, np.float64) for array in (values, *numbers)]
        self._kept = *columns, *given  # the library points to them
        pointers = [None if array is None else ctypes.c_void_p(array.ctypes.data) for array in self._kept]
        self._n_columns = len(start) - 1
        threshold, max_passes, min_probability, intercept, screen = settings
        self._library = _library()
        self._handle = self._library.lognet_new(
            *pointers[:3],
            *(len(numbers[0]), self._n_columns),
            *pointers[3:],
            *(ctypes.c_double(threshold), ctypes.c_int64(max_passes), ctypes.c_double(min_probability)),
            *(int(intercept), int(screen), ctypes.pythonapi.PyErr_CheckSignals),
        )
        if not self._handle:
            raise MemoryError("the regression did not fit into memory.")

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._library.lognet_delete(self._handle)

    def solve(self, lambda_: float) -> State:
        """Return coefficients, intercept, loss, passes, quadratic models, strong columns and whether it converged."""
        b, numbers = np.empty(self._n_columns), np.empty(6)
        if self._library.lognet_solve(self._handle, lambda_, b.ctypes.data, numbers.ctypes.data):
            raise MemoryError("the regression did not fit into memory.")
        intercept, loss, n_passes, n_outer, n_strong, converged = numbers.tolist()
        return b, intercept, loss, int(n_passes), int(n_outer), int(n_strong), bool(converged)
