"""Rubin's rules: the formulas, and errors that are those of the refit where nothing is missing."""

import numpy as np
import pytest

from isinglass import impute, ising_path, refit, simulate
from isinglass.errors import DataError
from isinglass.select.pooling import Pooled, pool

CHAIN = simulate.chain_network(5, strength=1.5, fields="balanced")
X = simulate.exact_sample(CHAIN, 600, random_state=0)
SUPPORT = ising_path(X, [0.1])[0]


def test_formulas():
    within, between = np.array([0.04, 0.09]), np.array([0.01, 0.0])
    pooled = Pooled(np.array([[0, 1]], dtype=np.int32), np.array([0.5, 1.0]), within, between, 5)
    total = within + 1.2 * between
    np.testing.assert_allclose(pooled.errors, np.sqrt(total))
    np.testing.assert_allclose(pooled.missing_information, 1.2 * between / total)
    np.testing.assert_allclose(pooled.monte_carlo_errors, np.sqrt(between / 5))
    # Rubin (1987): (M − 1) (1 + W / ((1 + 1/M) B))².
    assert pooled.degrees_of_freedom[0] == pytest.approx(4 * (1 + 0.04 / 0.012) ** 2)
    low, high = pooled.edge_intervals()[0]
    assert (low, high) == (pytest.approx(1 - 1.959964 * 0.3, abs=1e-5), pytest.approx(1 + 1.959964 * 0.3, abs=1e-5))
    with pytest.raises(DataError, match="level"):
        pooled.edge_intervals(1.0)


def test_nothing_missing_is_the_refit():
    pooled, plain = pool(impute(X), SUPPORT), refit(X, SUPPORT)
    np.testing.assert_allclose(pooled.edge_values, plain.edge_values, atol=2e-3)
    np.testing.assert_allclose(pooled.edge_errors, plain.edge_errors, rtol=1e-2)
    np.testing.assert_allclose(pooled.errors[:5], plain.field_errors, rtol=1e-2)
    assert (pooled.missing_information == 0).all()


def test_missing_cells_cost_information():
    rng = np.random.default_rng(0)
    gone = rng.random(X.shape) < [0.0, 0.0, 0.3, 0.3, 0.0]
    pooled = pool(impute(np.where(gone, np.nan, X), n_imputations=8), SUPPORT)
    plain = refit(X, SUPPORT)
    lost = dict(zip(map(tuple, SUPPORT.edge_index.tolist()), pooled.edge_information, strict=True))
    assert lost[2, 3] > lost[0, 1]
    assert lost[2, 3] > 0.2
    assert pooled.edge_errors.mean() > plain.edge_errors.mean()
    np.testing.assert_allclose(pooled.edge_values, plain.edge_values, atol=3 * plain.edge_errors.max())
    assert "8 completed tables" in repr(pooled)
    again = pool(impute(np.where(gone, np.nan, X), n_imputations=8), SUPPORT)
    np.testing.assert_array_equal(again.values, pooled.values)


def test_one_imputation_has_no_spread():
    with pytest.raises(DataError, match="at least 2"):
        pool(impute(X, n_imputations=1), SUPPORT)
