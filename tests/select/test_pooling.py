"""Rubin's rules: the formulas, and errors that are those of the refit where nothing is missing."""

import sys

import numpy as np
import pytest
from scipy.stats import t

from isinglass import Fixed, Method, as_table, edge_tests, impute, ising_path, refit, simulate
from isinglass.errors import ConvergenceWarning, DataError, suppress_warnings
from isinglass.select import ImputationSettings
from isinglass.select.pooling import Pooled, pool

CHAIN = simulate.chain_network(5, strength=1.5, fields="balanced")
X = simulate.exact_sample(CHAIN, 600, random_state=0)
SUPPORT = ising_path(X, [0.1])[0]


def test_formulas():
    within, between = np.array([0.04, 0.09, 0.04]), np.array([0.01, 0.0, 0.01])
    pooled = Pooled(np.array([[0, 1], [0, 2]], dtype=np.int32), np.array([0.5, 1.0, 0.5]), within, between, 5, 1)
    total = within + 1.2 * between
    np.testing.assert_allclose(pooled.errors, np.sqrt(total))
    np.testing.assert_allclose(pooled.missing_information, 1.2 * between / total)
    np.testing.assert_allclose(pooled.edge_noise, np.sqrt(between[1:] / 5))
    normal, student = pooled.edge_intervals()
    np.testing.assert_allclose(normal, [1 - 1.959964 * 0.3, 1 + 1.959964 * 0.3], atol=1e-5)
    # Rubin (1987): (M − 1) (1 + W / ((1 + 1/M) B))² degrees of freedom.
    half = t.ppf(0.975, 4 * (1 + 0.04 / 0.012) ** 2) * np.sqrt(0.052)
    np.testing.assert_allclose(student, [0.5 - half, 0.5 + half])
    with pytest.raises(DataError, match="level"):
        pooled.edge_intervals(1.0)


def test_nothing_missing_is_the_refit():
    pooled, plain = pool(impute(X), SUPPORT), refit(X, SUPPORT)
    np.testing.assert_array_equal(pool(impute(X), Method(selector=Fixed(0.1)).fit(X)).values, pooled.values)
    with pytest.raises(ValueError, match="imputation must be what impute returns; got 'Table'"):
        pool(as_table(X), SUPPORT)
    with pytest.raises(ValueError, match="solution must be a Solution, a Fit or a fitted estimator; got 'list'"):
        pool(impute(X), [0.1])
    np.testing.assert_allclose(pooled.edge_values, plain.edge_values, atol=2e-3)
    np.testing.assert_allclose(pooled.edge_errors, plain.edge_errors, rtol=1e-2)
    np.testing.assert_allclose(pooled.errors[:5], plain.field_errors, rtol=1e-2)
    assert (pooled.missing_information == 0).all()


def test_missing_cells_cost_information():
    rng = np.random.default_rng(0)
    gone = rng.random(X.shape) < [0.0, 0.0, 0.3, 0.3, 0.0]
    pooled = pool(impute(np.where(gone, np.nan, X), n_imputations=8), SUPPORT, n_threads=1)
    plain = refit(X, SUPPORT)
    lost = dict(zip(map(tuple, SUPPORT.edge_index.tolist()), pooled.edge_information, strict=True))
    assert lost[2, 3] > lost[0, 1]
    assert lost[2, 3] > 0.2
    assert pooled.edge_errors.mean() > plain.edge_errors.mean()
    np.testing.assert_allclose(pooled.edge_values, plain.edge_values, atol=3 * plain.edge_errors.max())
    assert "8 completed tables" in repr(pooled)
    again = pool(impute(np.where(gone, np.nan, X), n_imputations=8), SUPPORT, n_threads=3)
    np.testing.assert_array_equal(again.values, pooled.values)
    np.testing.assert_array_equal(again.errors, pooled.errors)


@pytest.mark.parametrize("n_imputations", [1, 3])
def test_a_completed_table_has_no_errors_of_its_own(n_imputations):
    holes = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    found = impute(holes, n_imputations=n_imputations)
    for completed in (found.table, found.completed(0), found.table[-300:].take([0, 2, 1, 3, 4])):
        assert np.isnan(Method().fit(completed).refits.edge_errors).all()
        for function in (edge_tests, Method(fdr=0.1).fit, lambda table: refit(table, SUPPORT)):
            with pytest.raises(DataError, match=r"take imputed cells for observed ones.*pool"):
                function(completed)
    complete = found.table[~found.table.drawn.any(axis=1)]
    assert np.isfinite(refit(complete, SUPPORT).edge_errors).all()
    repeated = as_table(X)[np.repeat(np.arange(len(X)), 2)]  # copies that are equal have no imputed cell
    assert np.isfinite(Method().fit(repeated).refits.edge_errors).all()


def test_holes_in_rows_of_weight_zero_leave_the_errors_as_they_are():
    holes, weights = X.astype(float), np.ones(len(X))
    holes[0, 1], weights[0] = np.nan, 0.0
    method, table = Method(fdr=0.1), as_table(holes, weights, missing="impute")
    found, expected = method.fit(table), method.fit(X[1:])
    np.testing.assert_allclose(found.refits.edge_errors, expected.refits.edge_errors, rtol=1e-6)
    np.testing.assert_allclose(found.edge_q, expected.edge_q, rtol=1e-6)
    errors = [refit(rows, SUPPORT).edge_errors for rows in (table, X[1:])]
    np.testing.assert_allclose(*errors, rtol=1e-6)


def test_a_fit_with_holes_has_pooled_errors_and_makes_no_others(monkeypatch):
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    monkeypatch.setattr("isinglass.select.method.free_estimate", None)
    fit = Method(imputation=ImputationSettings(n_imputations=3)).fit(as_table(holes, missing="impute"))
    pooled = pool(fit.imputation, fit.solution)
    np.testing.assert_array_equal(fit.refits.edges, pooled.edge_values)
    np.testing.assert_array_equal(fit.refits.edge_errors, pooled.edge_errors)


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_equal_columns_have_no_finite_coupling(share):
    twins = np.column_stack([X, X[:, 0]]).astype(float)
    holes = np.where(np.random.default_rng(0).random(twins.shape) < share, np.nan, twins)
    found = impute(holes, n_imputations=3)
    support = ising_path(twins, [0.05])[0]
    pooled = pool(found, support)
    is_twin = (support.edge_index == [0, 5]).all(axis=1)
    assert is_twin.sum() == 1
    assert np.isnan(pooled.edge_values[is_twin]).all()
    assert np.isnan(pooled.edge_errors[is_twin]).all()
    assert np.isfinite(pooled.edge_values[(support.edge_index == [2, 3]).all(axis=1)]).all()


def test_one_imputation_has_no_spread():
    with pytest.raises(DataError, match="at least 2"):
        pool(impute(X, n_imputations=1), SUPPORT)


@pytest.mark.parametrize(("errors", "n_imputations"), [(False, 2), (True, 1)])
def test_no_errors_are_given_that_take_imputed_cells_for_observed_ones(errors, n_imputations):
    holes = np.where(np.random.default_rng(0).random((200, 4)) < 0.2, np.nan, X[:200, :4])
    few = ImputationSettings(n_imputations=n_imputations, max_rounds=2)
    with suppress_warnings(ConvergenceWarning):
        fit = Method(standard_errors=errors, imputation=few).fit(as_table(holes, missing="impute"))
    assert fit.solution.n_edges > 0
    assert np.isnan(fit.refits.edge_errors).all()
    assert np.isfinite(fit.refits.edges).all() == errors
    assert fit.missing.edge_information is None
    assert fit.missing.n_cells == np.isnan(holes).sum()


def test_errors_of_all_completed_tables_together_must_not_take_too_long(monkeypatch):
    holes = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    method, n_parameters = Method(selector=Fixed(0.1)), 5 + SUPPORT.n_edges
    one_table = (len(X) + n_parameters) * n_parameters**2
    for n_allowed, has_errors in ((20, True), (5, False)):  # there are ten tables
        monkeypatch.setattr(sys.modules["isinglass.select.refit"], "MAX_WORK_FOR_ERRORS", n_allowed * one_table)
        fit = method.fit(as_table(holes, missing="impute"))
        assert (fit.missing.edge_information is not None) == has_errors
