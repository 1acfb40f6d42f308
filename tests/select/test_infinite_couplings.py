"""Large couplings and infinite ones: the first have the standard errors of a slow fit, the second are refused."""

import numpy as np
import pytest
from networks import by_pair, refit_edges
from scipy.optimize import minimize

from isinglass import Network, Solution, as_table, edge_tests, ising_path, refit
from isinglass.errors import SeparationError
from isinglass.select.refit import nearly_free
from isinglass.select.sandwich import Iterate, Support, newton
from isinglass.separation import find_separation

PAIRS = np.array([[0, 1], [0, 2], [1, 2]])


def related(n, noise, n_steps):
    """Draw two columns that are nearly equal and one that is not related to them, as numbers of steps."""
    rng = np.random.default_rng(0)
    trait = rng.normal(size=n)
    both = np.column_stack([trait + noise * rng.normal(size=n) for _ in range(2)])
    edges = np.linspace(-2.0, 2.0, n_steps - 1)
    return np.column_stack([np.digitize(both, edges), rng.integers(0, 3, n)])


def slow_estimate(X):
    """Return couplings of all pairs without penalty and their sandwich errors, for scores 0, 1, 2, ... of each column.

    Scipy minimizes the sum of the conditional losses; the Hessian is a finite difference of the gradient.
    """
    seen = [np.unique(column) for column in X.T]
    starts = len(PAIRS) + np.cumsum([0, *(len(each) - 1 for each in seen)])

    def rows(parameters):
        """Return the loss and its gradient in every row."""
        losses, gradients = np.zeros(len(X)), np.zeros((len(X), starts[-1]))
        for s, values in enumerate(seen):
            at = [(k, t) for k, pair in enumerate(PAIRS.tolist()) if s in pair for t in set(pair) - {s}]
            slope = sum(parameters[k] * X[:, t] for k, t in at)
            logits = np.append(0.0, parameters[starts[s] : starts[s + 1]]) + np.outer(slope, values)
            logs = logits - np.logaddexp.reduce(logits, axis=1)[:, None]
            own = values == X[:, [s]]
            losses -= logs[own]
            residual = np.exp(logs) - own
            gradients[:, starts[s] : starts[s + 1]] = residual[:, 1:]
            for k, t in at:
                gradients[:, k] += residual @ values * X[:, t]
        return losses, gradients

    def total(parameters):
        losses, gradients = rows(parameters)
        return losses.sum(), gradients.sum(axis=0)

    def hessian(parameters):
        steps = 1e-5 * np.eye(starts[-1])
        return np.array([(total(parameters + e)[1] - total(parameters - e)[1]) / 2e-5 for e in steps])

    found = minimize(total, np.zeros(starts[-1]), jac=True, hess=hessian, method="trust-exact", options={"gtol": 1e-8})
    assert np.abs(found.jac).max() < 1e-6
    inverse, gradients = np.linalg.inv(hessian(found.x)), rows(found.x)[1]
    variance = inverse @ gradients.T @ gradients @ inverse
    return found.x[: len(PAIRS)], np.sqrt(np.diag(variance))[: len(PAIRS)]


@pytest.mark.parametrize(("n_steps", "noise"), [(9, 0.25), (14, 0.12)])
def test_a_large_coupling_has_the_value_and_error_of_a_slow_fit(n_steps, noise):
    X = related(150, noise, n_steps)
    values, errors = slow_estimate(X)
    table = as_table(X, kinds="ordinal", scores={j: np.arange(X[:, j].max() + 1.0) for j in range(3)})
    solution = ising_path(table, [1e-4])[0]
    assert solution.edge_index.tolist() == PAIRS.tolist()
    found = refit(table, solution)
    np.testing.assert_allclose(found.edge_values, values, rtol=1e-5)
    np.testing.assert_allclose(found.edge_errors, errors, rtol=1e-4)
    near, near_errors = refit_edges(table, solution)
    np.testing.assert_allclose(near, values, atol=0.01 * errors.min())
    np.testing.assert_allclose(near_errors, errors, rtol=0.01)
    tests = by_pair(edge_tests(table))
    assert (tests["p"] < 1e-3).tolist() == [True, False, False]
    np.testing.assert_allclose(tests["refitted"], values, atol=0.01 * errors.min())


def infinite_tables():
    """Yield kinds and cells of tables in which the first two columns have no finite coupling."""
    rng = np.random.default_rng(1)
    x, other = rng.integers(0, 40, 200), rng.integers(0, 3, 200)
    for kind, n_steps in (("ordinal", 2), ("ordinal", 5), ("nominal", 3), ("continuous", 40)):
        yield kind, np.column_stack([x % n_steps, x % n_steps, other])
    yield "ordinal", np.column_stack([x // 4, x // 8, other])  # the first determines the second
    yield "continuous", np.column_stack([x, np.round(3 * np.sqrt(x)), other])
    some = rng.integers(0, 3, (300, 3))
    yield "nominal", some[(some[:, 0] != 2) | (some[:, 1] != 2)]  # two answers never occur together


@pytest.mark.parametrize(("kind", "cells"), list(infinite_tables()))
def test_a_coupling_of_columns_that_separate_is_infinite(kind, cells):
    table = as_table(cells.astype(float), kinds=kind)
    solution = ising_path(table, [0.01])[0]
    assert solution.edge_index[0].tolist() == [0, 1]
    values, errors = refit_edges(table, solution)
    assert np.isnan(values[0])
    assert np.isnan(errors[0])
    assert np.isnan(by_pair(edge_tests(table))["p"][0])  # nothing was tested
    with pytest.raises(SeparationError, match="columns 0 and 1 separate the table, so"):
        refit(table, solution)


def test_finite_couplings_beside_an_infinite_one_are_known():
    X = related(150, 0.25, 9)
    rare = np.where(X[:, 2] == 2, X[:, 0] % 2, 0)  # 1 only beside a 2 in the third column
    table = as_table(np.column_stack([X, rare]), kinds="ordinal")
    couplings = np.zeros((4, 4))
    for s, t in ([0, 1], [2, 3]):
        couplings[s, t] = couplings[t, s] = 1.0
    solution = ising_path(table, [1e-3], penalty_weights=np.where(couplings > 0, 1.0, np.inf))[0]
    alone = refit(as_table(X[:, :2], kinds="ordinal"), ising_path(as_table(X[:, :2], kinds="ordinal"), [1e-3])[0])
    values, errors = refit_edges(table, solution)
    assert solution.edge_index.tolist() == [[0, 1], [2, 3]]
    assert values[0] == pytest.approx(alone.edge_values[0], abs=0.01 * alone.edge_errors[0])
    assert errors[0] == pytest.approx(alone.edge_errors[0], rel=0.01)
    assert np.isnan(errors[1])


def test_two_covariates_with_the_same_values_have_no_couplings_of_their_own():
    answers = np.random.default_rng(2).integers(0, 2, (200, 3))
    table = as_table(answers[:, [0, 1, 2, 2]], covariates=[2, 3])
    solution = ising_path(table, [1e-4])[0]
    assert [0, 2] in solution.network.pairs.tolist()
    assert [0, 3] in solution.network.pairs.tolist()
    values, errors = refit_edges(table, solution)
    assert np.isnan(errors).tolist() == [False] + [True] * (len(errors) - 1)
    one = as_table(answers, covariates=[2])
    expected, error = refit_edges(one, ising_path(one, [1e-4])[0])
    assert values[0] == pytest.approx(expected[0], abs=1e-3)
    assert errors[0] == pytest.approx(error[0], rel=1e-3)


def test_a_step_that_always_raises_the_loss_is_not_taken():
    table = as_table(related(150, 0.25, 9), kinds="ordinal")
    support = Support.of(table, ising_path(table, [1e-3])[0].network)
    here = Iterate(support, table, np.zeros(support.n_parameters))
    after, is_whole = here.step(-np.linalg.inv(here.sums.hessian))  # uphill
    assert after is here
    assert not is_whole


def test_shortened_steps_do_not_tell_that_an_estimate_is_finite(monkeypatch):
    table = as_table(related(150, 0.25, 9), kinds="ordinal")
    support = Support.of(table, ising_path(table, [1e-3])[0].network)
    monkeypatch.setattr(Iterate, "step", lambda here, inverse: (here, False))
    *_, is_finite = Iterate(support, table, np.zeros(support.n_parameters)).find_finite()
    assert not is_finite.any()


def test_newton_steps_find_what_a_linear_program_finds():
    """Two-valued columns: is the estimate infinite, and where is it, by Newton steps and by `refit`, which asks it."""
    rng, infinite = np.random.default_rng(0), []
    for _ in range(60):
        n, p = rng.integers(8, 120), rng.integers(2, 7)
        X = (rng.normal(size=(n, 1)) + rng.normal(size=(n, p)) > 0.7 * rng.normal(size=p)).astype(np.uint8)
        if (X.min(axis=0) == X.max(axis=0)).any():
            continue
        pairs, table = np.argwhere(np.triu(rng.random((p, p)) < 0.7, 1)), as_table(X)
        solution = Solution(Network(np.zeros(p), pairs, np.ones(len(pairs))), 0.1)
        start = Support.of(table, solution.network), nearly_free(table, solution).network, table
        infinite.append(find_separation(X, pairs) is not None)
        if infinite[-1]:
            with pytest.raises(SeparationError):
                refit(X, solution)
            with pytest.raises(SeparationError):
                newton(*start, 1e-9)
        else:
            found, twin = refit(X, solution).solution, newton(*start, 1e-9)
            assert found.converged
            assert 0.0 <= found.duality_gap <= 1e-9 * p * np.log(2.0)
            assert twin.converged
            np.testing.assert_allclose(found.network.pair_values, twin.network.pair_values, rtol=1e-4, atol=1e-4)
    assert 12 < sum(infinite) < len(infinite) - 12
