"""Missing cells: exact where one is missing, a fixed point where several are, draws with the right distribution."""

import itertools

import numpy as np
import pytest
from scipy.special import expit

from isinglass import Network, simulate
from isinglass.errors import ConvergenceWarning, DataError
from isinglass.evaluate import imputation
from isinglass.evaluate.imputation import conditional_fill, gibbs_fill

MODEL = simulate.grid_network(2, 3, couplings="mixed", strength=1.2, fields="balanced", random_state=3)
ROWS = simulate.exact_sample(MODEL, 40, random_state=0)
HALF = np.full(6, 0.5)


def exact_means(model, row, gone):
    """Return P(x_s = 1 | the observed cells) of the missing cells of a row by summing over their values."""
    cells = np.flatnonzero(gone)
    weights, means = 0.0, np.zeros(len(cells))
    for values in itertools.product([0, 1], repeat=len(cells)):
        filled = row.copy()
        filled[cells] = values
        weight = np.exp(-model.energy(filled[None])[0])
        weights, means = weights + weight, means + weight * np.array(values)
    return means / weights


def test_one_missing_cell_has_its_conditional_probability():
    gone = np.zeros(ROWS.shape, dtype=bool)
    gone[np.arange(40), np.arange(40) % 6] = True
    means = conditional_fill(MODEL, ROWS, gone, HALF)
    expected = [exact_means(MODEL, row, here)[0] for row, here in zip(ROWS, gone, strict=True)]
    np.testing.assert_allclose(means[gone], expected, rtol=1e-12)
    _, gibbs_means = gibbs_fill(MODEL, ROWS, gone, HALF, n_sweeps=3, random_state=0)
    np.testing.assert_allclose(gibbs_means[gone], expected, rtol=1e-12)


def test_missing_cells_that_are_not_neighbors_are_exact():
    chain = simulate.chain_network(5, strength=1.5, fields="zero")
    rows = simulate.exact_sample(chain, 20, random_state=1)
    gone = np.zeros(rows.shape, dtype=bool)
    gone[:, [0, 2, 4]] = True
    means = conditional_fill(chain, rows, gone, np.full(5, 0.5))
    expected = np.array([exact_means(chain, row, here) for row, here in zip(rows, gone, strict=True)])
    np.testing.assert_allclose(means[:, [0, 2, 4]], expected, rtol=1e-12)


def test_several_missing_cells_are_a_fixed_point():
    gone = np.random.default_rng(0).random(ROWS.shape) < 0.5
    means = conditional_fill(MODEL, ROWS, gone, ROWS.mean(axis=0))
    np.testing.assert_allclose(means[gone], expit(MODEL.fields + means @ MODEL.couplings)[gone], atol=1e-9)
    np.testing.assert_array_equal(means[~gone], ROWS[~gone])


def test_gibbs_has_the_distribution_given_the_observed_cells():
    row = np.array([1, 0, 1, 0, 1, 0])
    gone = np.array([True, True, False, True, False, True])
    X, mask = np.tile(row, (4000, 1)), np.tile(gone, (4000, 1))
    draws, means = gibbs_fill(MODEL, X, mask, HALF, n_sweeps=100, random_state=0)
    expected = exact_means(MODEL, row, gone)
    assert set(np.unique(draws)) <= {0.0, 1.0}
    np.testing.assert_array_equal(draws[:, ~gone], X[:, ~gone])
    # Five standard errors of 4000 independent draws; the means average over sweeps too.
    np.testing.assert_allclose(draws[:, gone].mean(axis=0), expected, atol=5 * 0.5 / np.sqrt(4000))
    np.testing.assert_allclose(means[:, gone].mean(axis=0), expected, atol=5 * 0.5 / np.sqrt(4000))


def test_draws_are_reproducible_and_differ():
    gone = np.random.default_rng(0).random(ROWS.shape) < 0.5
    one, again, other = (gibbs_fill(MODEL, ROWS, gone, HALF, random_state=seed)[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()


def test_nothing_missing_and_everything_missing():
    none = np.zeros(ROWS.shape, dtype=bool)
    np.testing.assert_array_equal(conditional_fill(MODEL, ROWS, none, HALF), ROWS)
    np.testing.assert_array_equal(gibbs_fill(MODEL, ROWS, none, HALF)[0], ROWS)
    free = Network.from_couplings(np.zeros((6, 6)), np.linspace(-2, 2, 6))
    np.testing.assert_allclose(conditional_fill(free, ROWS, ~none, HALF)[0], expit(np.linspace(-2, 2, 6)), rtol=1e-12)


def test_what_does_not_settle_is_reported(monkeypatch):
    monkeypatch.setattr(imputation, "MOST_SWEEPS", 1)
    with pytest.warns(ConvergenceWarning, match="still change by .* after 1 sweeps"):
        conditional_fill(MODEL, ROWS, np.ones(ROWS.shape, dtype=bool), HALF + 0.4)


def test_bad_sweeps():
    with pytest.raises(DataError, match="n_sweeps must be an integer of at least 1; got 0"):
        gibbs_fill(MODEL, ROWS, np.ones(ROWS.shape, dtype=bool), HALF, n_sweeps=0)
