"""Missing cells: exact where one is missing, averaged over where several are, drawn from the right distribution."""

import itertools
from contextlib import nullcontext

import numpy as np
import pytest
from networks import make_table
from scipy.special import expit

from isinglass import Network, simulate
from isinglass.errors import DataError, MixingWarning
from isinglass.evaluate import marginals
from isinglass.evaluate.marginals import category_logs
from isinglass.evaluate.prediction import (
    cell_probabilities,
    fill_drawn,
    fill_most_probable,
    label_cells,
    score_rows,
)
from isinglass.variables import Variables

MODEL = simulate.grid_network(2, 3, couplings="mixed", strength=1.2, fields="balanced", random_state=3)
ROWS = simulate.exact_sample(MODEL, 40, random_state=0)


def category_probabilities(*asked):
    return np.exp(category_logs(*asked))


def exact_probabilities(network, row, gone):
    """Return P(x_s = k | the other observed cells) of every cell of a row, by summing over the missing ones."""
    parts = []
    for s, size in enumerate(network.variables.sizes.tolist()):
        unknown = [t for t in np.flatnonzero(gone).tolist() if t != s]
        states = itertools.product(*(range(network.variables.sizes[t]) for t in unknown))
        filled = np.tile(row, (size * int(np.prod(network.variables.sizes[unknown])), 1))
        for k, state in enumerate(itertools.product(range(size), states)):
            filled[k, s], filled[k, unknown] = state
        weights = np.exp(-network.energy(filled)).reshape(size, -1).sum(axis=1)
        parts.append(weights / weights.sum())
    return np.concatenate(parts)


def exact_means(model, row, gone):
    """Return P(x_s = 1 | the observed cells) of the missing cells of a row."""
    return exact_probabilities(model, row, gone)[1::2][gone]


def table(rows, gone):
    return make_table(np.asarray(rows, dtype=np.uint8), holes=gone)


def test_one_missing_cell_has_its_conditional_probability():
    gone = np.zeros(ROWS.shape, dtype=bool)
    gone[np.arange(40), np.arange(40) % 6] = True
    chances = category_probabilities(ROWS, gone, MODEL)[1::2].T
    expected = [exact_means(MODEL, row, here)[0] for row, here in zip(ROWS, gone, strict=True)]
    np.testing.assert_allclose(chances[gone], expected, rtol=1e-12)
    cells = fill_most_probable(table(ROWS, gone), MODEL)
    np.testing.assert_array_equal(cells[gone], np.array(expected) > 0.5)


def mixed_network():
    """Return a network of all kinds of columns, in which every column has neighbors."""
    kinds = ["ordinal", "nominal", "binary", "nominal", "ordinal"]
    pairs = simulate.grid_network(1, 5, strength=1.0).couplings.copy()
    pairs[0, 4] = pairs[4, 0] = pairs[1, 3] = pairs[3, 1] = 0.7
    return simulate.category_network(Network.from_couplings(pairs, np.zeros(5)), kinds, 3, random_state=0)


@pytest.mark.parametrize("network", [MODEL, mixed_network()])
@pytest.mark.parametrize("share", [0.2, 0.6])
def test_every_cell_has_its_exact_probability_given_the_other_observed_ones(network, share):
    rows = np.asarray(simulate.exact_sample(network, 30, random_state=0))
    gone = np.random.default_rng(1).random(rows.shape) < share
    expected = np.column_stack([exact_probabilities(network, *each) for each in zip(rows, gone, strict=True)])
    np.testing.assert_allclose(category_probabilities(rows, gone, network), expected, rtol=1e-10)


def magnet(n_columns, coupling):
    """Return a network in which all columns are equal in most rows, and every mean is 0.5."""
    couplings = np.full((n_columns, n_columns), coupling) - coupling * np.eye(n_columns)
    return Network.from_couplings(couplings, -couplings.sum(axis=0) / 2)


@pytest.mark.parametrize(
    "network",
    [
        magnet(13, 0.8),
        simulate.chain_network(13, strength=5.0, fields="balanced"),
        simulate.random_network(13, edge_probability=0.4, random_state=0),
    ],
    ids=["magnet", "chain", "random"],
)
def test_many_missing_cells_have_their_exact_probability(network):
    rows = np.random.default_rng(0).integers(0, 2, (4, 13))
    gone = np.ones(rows.shape, dtype=bool)
    gone[1, 0] = gone[2:, 11:] = False
    expected = np.column_stack([exact_probabilities(network, *each) for each in zip(rows, gone, strict=True)])
    np.testing.assert_allclose(category_probabilities(rows, gone, network), expected, rtol=1e-9)


@pytest.mark.parametrize("most_states", [marginals.MOST_STATES, 1])
def test_scores_of_rows_that_are_nearly_impossible(most_states, monkeypatch):
    monkeypatch.setattr(marginals, "MOST_STATES", most_states)
    network = Network.from_couplings(np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1), np.array([0.0, 0.0, -800.0]))
    gone = np.array([[True, False, False]])
    found = score_rows(table([[0, 1, 1]], gone), network)
    assert found == pytest.approx([-799.0 - np.log1p(2.0 / (np.e * (1.0 + np.e)))], rel=1e-4)


def test_a_long_chain_of_missing_cells_is_summed_over():
    """Between two observed ends, the probability of a chain is a product of matrices."""
    chain = simulate.chain_network(60, strength=3.0, fields="balanced")
    ends = np.zeros((1, 60), dtype=np.uint8)
    ends[0, 0] = 1
    gone = np.ones(ends.shape, dtype=bool)
    gone[0, [0, -1]] = False
    found = category_probabilities(ends, gone, chain)[1::2, 0]
    step = np.exp([[0.75, -0.75], [-0.75, 0.75]])  # x x' is (2 x - 1)(2 x' - 1) / 4 and terms of one cell
    weights = [np.linalg.matrix_power(step, s)[1] * np.linalg.matrix_power(step, 59 - s)[0] for s in range(1, 59)]
    np.testing.assert_allclose(found[1:-1], [one / (zero + one) for zero, one in weights], rtol=1e-9)


@pytest.mark.parametrize("network", [MODEL, mixed_network()])
def test_components_that_are_too_large_are_averaged_over_draws(network, monkeypatch):
    monkeypatch.setattr(marginals, "MOST_STATES", 1)
    rows = np.asarray(simulate.exact_sample(network, 12, random_state=0))
    gone = np.random.default_rng(1).random(rows.shape) < 0.5
    expected = np.column_stack([exact_probabilities(network, *each) for each in zip(rows, gone, strict=True)])
    found = category_probabilities(rows, gone, network)
    np.testing.assert_allclose(found, expected, atol=0.125)  # 5 standard errors of 400 draws, or 1 of 16 that are equal
    assert np.abs(found - expected).max() > 1e-6


def test_chains_that_disagree_are_reported():
    stuck = magnet(20, 1.0)
    with pytest.warns(MixingWarning, match="standard errors are up to 0"):
        found = category_probabilities(np.zeros((1, 20), np.uint8), np.ones((1, 20), bool), stuck)
    assert ((found > 0.2) & (found < 0.8)).all()  # of four chains, one begins at zeros and one at ones


def test_errors_of_a_few_hundredths_are_reported(monkeypatch):
    drawn = np.triu(np.random.default_rng(0).normal(0.0, 0.6, (20, 20)), 1)
    couplings = drawn + drawn.T
    dense = Network.from_couplings(couplings, -couplings.sum(axis=0) / 2)
    row, gone = np.zeros((1, 20), np.uint8), np.arange(20)[None] > 0
    with pytest.warns(MixingWarning, match=r"standard errors are up to 0\.0"):
        found = category_probabilities(row, gone, dense)
    monkeypatch.setattr(marginals, "MOST_STATES", 2**20)
    assert np.abs(found - category_probabilities(row, gone, dense)).max() > 0.02


@pytest.mark.parametrize("is_drawn", [False, True])
def test_observed_cells_are_predicted_without_their_value(monkeypatch, is_drawn):
    """A missing neighbor with a coupling of 8 tells nothing about the cell, drawn or summed over."""
    strong = Network.from_couplings([[0, 8.0], [8.0, 0]], [-4.0, -4.0])
    rows = np.array([[0, 0], [0, 1]])
    gone = np.array([[True, False], [True, False]])
    if is_drawn:
        monkeypatch.setattr(marginals, "MOST_STATES", 1)
    with pytest.warns(MixingWarning) if is_drawn else nullcontext():
        means = cell_probabilities(table(rows, gone), strong)
        scores = score_rows(table(rows, gone), strong)
    np.testing.assert_allclose(means[:, 1].mean(), 0.5, atol=0.2 if is_drawn else 1e-12)
    assert scores.mean() <= np.log(0.5) + (0.1 if is_drawn else 1e-12)


def test_equal_rows_have_equal_answers_in_any_order(monkeypatch):
    monkeypatch.setattr(marginals, "MOST_STATES", 1)
    rows = np.array([[0, 0, 0, 1, 1, 0]] * 3 + [[1, 0, 0, 1, 1, 0]] * 2)
    gone = np.tile(np.arange(6) > 0, (5, 1))
    found = category_probabilities(rows, gone, MODEL)
    np.testing.assert_array_equal(found, found[:, [0, 0, 0, 3, 3]])
    np.testing.assert_array_equal(category_probabilities(rows[::-1], gone, MODEL), found[:, ::-1])


def test_a_missing_cell_has_a_category_that_is_possible():
    network = mixed_network()
    rows = np.asarray(simulate.exact_sample(network, 20, random_state=0))
    gone = np.tile([False, True, True, False, False], (20, 1))
    possible = np.ones(network.variables.sizes.sum(), dtype=bool)
    possible[network.variables.starts[1] + 2] = False
    found = network.variables.split(category_probabilities(rows, gone, network, possible))
    assert (found[1][2] == 0.0).all()
    assert (found[3] > 0.0).all()
    for part in found:
        np.testing.assert_allclose(part.sum(axis=0), 1.0)


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
    every = np.ones(ROWS.shape, dtype=bool)
    chances = category_probabilities(ROWS, every, free)[1::2].T
    np.testing.assert_allclose(chances[0], expit(np.linspace(-2, 2, 6)), rtol=1e-12)


def test_extreme_odds_stay_probabilities():
    rigid = Network.from_couplings([[0, 900.0], [900.0, 0]], [-450.0, -450.0])
    wrong = table([[1, 0]], np.array([[True, False]]))
    assert np.isfinite(cell_probabilities(wrong, rigid)).all()


def test_bad_sweeps():
    with pytest.raises(DataError, match="n_sweeps must be an integer of at least 1; got 0"):
        fill_drawn(table(ROWS, np.ones(ROWS.shape, dtype=bool)), MODEL, n_sweeps=0, random_state=0)


def test_the_type_of_predicted_values_depends_on_the_columns_not_on_the_rows():
    variables = Variables.of([(0, 1), (1, 2.5)], "binary")
    assert label_cells(np.array([[1, 0]]), variables).dtype == np.float64  # though 2.5 is in no row
    assert label_cells(np.array([[1, 0]]), Variables.of([(0, 1), (1, 2)], "binary")).dtype == np.int64
