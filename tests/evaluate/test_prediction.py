"""Missing cells: exact where one is missing, averaged over where several are, drawn from the right distribution."""

import itertools

import numpy as np
import pytest
from networks import make_table
from scipy.special import expit

from isinglass import Network, simulate
from isinglass.errors import DataError
from isinglass.evaluate.prediction import (
    category_probabilities,
    cell_probabilities,
    fill_drawn,
    fill_most_probable,
    fill_probabilities,
    score_rows,
)

MODEL = simulate.grid_network(2, 3, couplings="mixed", strength=1.2, fields="balanced", random_state=3)
ROWS = simulate.exact_sample(MODEL, 40, random_state=0)


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


def table(rows, gone):
    return make_table(np.asarray(rows, dtype=np.uint8), holes=gone)


def test_one_missing_cell_has_its_conditional_probability():
    gone = np.zeros(ROWS.shape, dtype=bool)
    gone[np.arange(40), np.arange(40) % 6] = True
    means = fill_probabilities(table(ROWS, gone), MODEL)
    expected = [exact_means(MODEL, row, here)[0] for row, here in zip(ROWS, gone, strict=True)]
    np.testing.assert_allclose(means[gone], expected, rtol=1e-12)
    np.testing.assert_array_equal(means[~gone], ROWS[~gone])
    cells = fill_most_probable(table(ROWS, gone), MODEL)
    np.testing.assert_array_equal(cells[gone], np.array(expected) > 0.5)


def test_several_missing_cells_are_averaged_over():
    gone = np.random.default_rng(0).random(ROWS.shape) < 0.5
    means = category_probabilities(ROWS, gone, MODEL, n_draws=4000)[1::2].T
    for row, here, mean in zip(ROWS, gone, means, strict=True):
        if here.any():
            np.testing.assert_allclose(mean[here], exact_means(MODEL, row, here), atol=0.03)


def test_observed_cells_are_predicted_without_their_value():
    """P(x_s | the other observed cells), by summing over the missing cells for each value of x_s."""
    gone = np.zeros(ROWS.shape, dtype=bool)
    gone[:, [0, 3]] = True
    means = cell_probabilities(table(ROWS, gone), MODEL)
    more = gone.copy()
    more[:, 1] = True
    expected = [exact_means(MODEL, row, here)[1] for row, here in zip(ROWS, more, strict=True)]
    np.testing.assert_allclose(means[:, 1], expected, atol=0.06)
    scores = score_rows(table(ROWS, gone), MODEL)
    own = np.where(ROWS == 1, means, 1 - means)
    np.testing.assert_allclose(scores, np.log(own[:, [1, 2, 4, 5]]).sum(axis=1))


def test_draws_have_the_distribution_given_the_observed_cells():
    row = np.array([1, 0, 1, 0, 1, 0])
    gone = np.array([True, True, False, True, False, True])
    X, mask = np.tile(row, (4000, 1)), np.tile(gone, (4000, 1))
    draws = fill_drawn(table(X, mask), MODEL, n_sweeps=100, random_state=0)
    assert set(np.unique(draws)) <= {0, 1}
    np.testing.assert_array_equal(draws[:, ~gone], X[:, ~gone])
    expected = exact_means(MODEL, row, gone)
    # Five standard errors of 4000 independent draws.
    np.testing.assert_allclose(draws[:, gone].mean(axis=0), expected, atol=5 * 0.5 / np.sqrt(4000))


def test_draws_are_reproducible_and_differ():
    holed = table(ROWS, np.random.default_rng(0).random(ROWS.shape) < 0.5)
    one, again, other = (fill_drawn(holed, MODEL, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()


def test_nothing_missing_and_everything_missing():
    np.testing.assert_array_equal(fill_most_probable(make_table(ROWS), MODEL), ROWS)
    free = Network.from_couplings(np.zeros((6, 6)), np.linspace(-2, 2, 6))
    every = table(ROWS, np.ones(ROWS.shape, dtype=bool))
    np.testing.assert_allclose(fill_probabilities(every, free)[0], expit(np.linspace(-2, 2, 6)), rtol=1e-12)


def test_extreme_odds_stay_probabilities():
    rigid = Network.from_couplings([[0, 900.0], [900.0, 0]], [-450.0, -450.0])
    wrong = table([[1, 0]], np.array([[True, False]]))
    assert np.isfinite(cell_probabilities(wrong, rigid)).all()


def test_bad_sweeps():
    with pytest.raises(DataError, match="n_sweeps must be an integer of at least 1; got 0"):
        fill_drawn(table(ROWS, np.ones(ROWS.shape, dtype=bool)), MODEL, n_sweeps=0, random_state=0)
