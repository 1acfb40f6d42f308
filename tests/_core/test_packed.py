"""Products with packed bits against NumPy, for every instruction set."""

import pytest
from kernels import INSTRUCTION_SETS, run_with_kernels

# Whole numbers: every sum is exact in single precision, so that nothing but equality will do.
CHECK = """
import numpy as np
from isinglass import _core

rng = np.random.default_rng(0)
for n in (3, 15, 16, 17, 32, 33, 47, 400, 1000):
    for d in (1, 2, 3, 15, 16, 17, 31, 32, 33, 64, 65, 237):
        p = max(d, 12) + 5
        X = np.unique((rng.random((n, p)) < 0.4).astype(np.uint8), axis=0)
        columns = rng.permutation(p)[:d].astype(np.int32)
        packed = _core.PackedTable(X, columns)
        x = X[:, columns].astype(np.int64)
        d_values, a_values = rng.integers(-9, 10, d), rng.integers(-9, 10, len(X))
        for kind in (np.float32, np.float64):
            np.testing.assert_array_equal(packed.multiply(d_values.astype(kind)), x @ d_values)
            np.testing.assert_array_equal(packed.sums(a_values.astype(kind)), a_values @ x)
        np.testing.assert_array_equal(packed.all_sums(a_values.astype(float)), a_values @ X.astype(np.int64))

        d_values, a_values = rng.normal(size=d), rng.normal(size=len(X))
        for kind, rounding in ((np.float32, 6e-8), (np.float64, 1.2e-16)):
            a, b = a_values.astype(kind), d_values.astype(kind)
            assert np.abs(packed.sums(a) - a.astype(float) @ x).max() <= rounding * len(X) * np.abs(a).sum()
            assert np.abs(packed.multiply(b) - x @ b.astype(float)).max() <= rounding * d * np.abs(b).sum()
"""


@pytest.mark.parametrize("name", INSTRUCTION_SETS)
def test_products_with_bits_equal_products_with_numbers(name):
    assert run_with_kernels(name, CHECK) == ""
