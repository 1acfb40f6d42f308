"""Products with packed bits against NumPy, for every instruction set."""

import pytest
from kernels import INSTRUCTION_SETS, run_with_kernels

# At a predictor of 0 curvatures are w / 4 and residuals w (1/2 - x), here powers of two: every sum of whole numbers
# times these is exact in single precision, so that nothing but equality will do.
CHECK = """
import numpy as np
from isinglass import _core

rng = np.random.default_rng(0)
node, none = np.zeros(1, np.int32), (np.zeros(2, np.int64), np.zeros(0, np.int32))
for n in (3, 15, 16, 17, 32, 33, 47, 400, 1000):
    for d in (1, 2, 3, 15, 16, 17, 31, 32, 33, 64, 65, 237):
        p = max(d, 12) + 5
        X = np.unique((rng.random((n, p)) < 0.4).astype(np.uint8), axis=0)
        total = 1024.0
        rows = _core.CpuRows(X, None, total, 1)
        columns, every = rng.permutation(p)[:d].astype(np.int32), np.arange(p, dtype=np.int32)
        begin = np.array([0, d])
        x = X[:, columns].astype(np.int64)

        rows.move(node, np.zeros(1), *none, np.zeros(0), *none, True)
        _, b, curve = rows.diagonals(node, begin, columns, False)  # packs the columns
        assert curve == len(X) / total / 4
        np.testing.assert_array_equal(b, x.sum(axis=0) / total / 4)
        values, center = rng.integers(-9, 10, d), rng.integers(-9, 10)
        product = rows.products(node, begin, columns, values.astype(np.float32), np.array([center], float))
        np.testing.assert_array_equal(product, (x @ values - center) @ x / total / 4)
        # In integers of 16 bits: d is off by half a unit of (32 750 - half its padded size) to its largest partial sum,
        # and so is every 512 rows; curvatures add up to curve.
        d_ = values + np.random.default_rng(d).random(d)
        rough = rows.products(node, begin, columns, d_.astype(np.float32), np.array([center], float), is_rough=True)
        exact = (x @ d_ - center) @ x / total / 4
        largest = max(d_[d_ > 0].sum(), -d_[d_ < 0].sum())
        units = 32750 - 0.5 * max(-(-d // 32) * 32, 512)
        bound = 0.5 * curve[0] / units * (largest * d + (largest + abs(center)) * 512)
        np.testing.assert_allclose(rough, exact, rtol=0, atol=bound + 1e-5 * curve[0] * (largest + 9))
        assert np.linalg.norm(rough - exact) <= 0.02 * np.linalg.norm(exact)
        gradient = rows.gradients(node, begin, columns)
        np.testing.assert_array_equal(gradient, (1 - 2 * X[:, 0].astype(int)) @ x / total / 2)
        gradient = rows.gradients(node, np.array([0, p]), every)
        np.testing.assert_array_equal(gradient, (1 - 2 * X[:, 0].astype(int)) @ X.astype(int) / total / 2)

        # In double precision: the predictor after a move along all packed columns.
        steps, offset = rng.normal(size=d), rng.normal()
        _, gradient = rows.move(node, np.array([offset]), begin, columns, steps, begin, columns, False)
        residual = (1 / (1 + np.exp(-(offset + x @ steps))) - X[:, 0]) / total
        np.testing.assert_allclose(gradient, residual @ x, rtol=0, atol=1e-15 * d)
"""


@pytest.mark.parametrize("name", INSTRUCTION_SETS)
def test_products_with_bits_equal_products_with_numbers(name):
    assert run_with_kernels(name, CHECK) == ""


# More neighbors than rows, and more of them from alpha to alpha: scratch memory is used to its last number. Where a
# product writes beyond it, the memory allocator ends the process in one of a few of these paths.
WIDE = """
import numpy as np
from isinglass import ising_path

for seed in range({}):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(60, 4)) @ rng.normal(scale=2, size=(4, 220))
    X = (rng.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(np.uint8)
    path = ising_path(X[:, X.min(axis=0) < X.max(axis=0)], [0.02, 0.01, 0.005, 0.002, 0.001])
    assert all(solution.converged for solution in path)
"""


@pytest.mark.parametrize("seeds", ["6", pytest.param("6, 16", marks=pytest.mark.long)])
def test_products_stay_within_their_memory(seeds):
    assert run_with_kernels(INSTRUCTION_SETS[-1], WIDE.format(seeds)) == ""
