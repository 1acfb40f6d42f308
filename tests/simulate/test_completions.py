"""Missing cells drawn: the kernel's bits are the twin's, categories agree with enumeration, observed cells are held."""

from itertools import product

import numpy as np
import pytest
from networks import log_probabilities, make_network
from reference import gibbs_cells
from scipy.special import log_softmax
from scipy.stats import chisquare

from isinglass import Network, simulate
from isinglass.simulate.gibbs import (
    IMPOSSIBLE,
    Chains,
    draw_categories,
    node_logits,
    restrict_to,
    sampler_of,
    start_values,
)

MODEL = simulate.random_network(9, 0.4, coupling_range=(-2.0, 2.0), random_state=4)
ROWS = simulate.exact_sample(MODEL, 30, random_state=0)
GONE = np.random.default_rng(1).random(ROWS.shape) < 0.4
BLOCK = np.array([[0.8, -0.4, -0.4], [-0.8, 0.4, 0.4], [0.0, 0.0, 0.0]])
MIXED = make_network(
    [[0, 0.3, -0.2], [0, 0.5], [0, 0.1, 0.2], [0, -0.3, 0.1]],
    [[0, 1, 2], [0, 1], None, None],
    [[0, 1], [0, 2], [1, 2], [2, 3]],
    blocks=[[[0.7]], [[0.5, -0.2, -0.3]], [[-0.6, 0.0, 0.6]], BLOCK],
)
STATES = np.array(list(product(range(3), range(2), range(3), range(3))), dtype=np.uint8)


def test_cells_are_those_of_the_twin():
    words = np.random.default_rng(5).integers(0, 2**64, (30, 4), np.uint64)
    chains = Chains(ROWS, GONE, random_state=5)
    chains.sweep(MODEL, 7)
    expected = [
        gibbs_cells(MODEL.couplings, MODEL.fields, row, np.flatnonzero(gone), 7, seed)
        for row, gone, seed in zip(ROWS, GONE, words, strict=True)
    ]
    np.testing.assert_array_equal(chains.table, expected)


def test_sweeps_go_on_where_they_were():
    one, two = (Chains(ROWS, GONE, random_state=5) for _ in range(2))
    one.sweep(MODEL, 6)
    two.sweep(MODEL, 2)
    two.sweep(MODEL, 4)
    np.testing.assert_array_equal(one.table, two.table)


@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_do_not_matter(n_threads):
    one, several = (Chains(ROWS, GONE, random_state=5, n_threads=number) for number in (1, n_threads))
    one.sweep(MODEL, 20)
    several.sweep(MODEL, 20)
    np.testing.assert_array_equal(one.table, several.table)
    np.testing.assert_array_equal(one.table[~GONE], ROWS[~GONE])


def test_start_values_are_answers_of_their_column():
    table = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0]], dtype=np.uint8)
    gone = np.array([[False, False, True], [True, False, True], [False, True, False]])
    filled = start_values(table, gone, np.array([True, True, True]), 0)
    assert filled.tolist() == [[1, 0, 0], [1, 0, 0], [1, 0, 0]]
    # Only rows that count are asked, and a column without an answer among them gets 0.
    assert start_values(table, gone, np.array([True, True, False]), 0)[:, 2].tolist() == [0, 0, 0]


def test_the_kernel_refuses_what_does_not_fit():
    sampler = sampler_of(Network([0.0, 0.0], [[0, 1]], [1.0]))
    words, states = np.ones((1, 4), dtype=np.uint64), np.zeros((1, 2), dtype=np.uint8)
    first_cell, cells = np.array([0, 1]), np.array([1], dtype=np.int32)
    sampler.redraw(words, states, first_cell, cells, 1, 1)
    with pytest.raises(ValueError, match="cells must be nodes"):
        sampler.redraw(words, states, first_cell, np.array([2], dtype=np.int32), 1, 1)
    for wrong in ([0, 2], [1, 1], [0], [0, -1, 1]):
        with pytest.raises(ValueError, match="first_cell must have the places"):
            sampler.redraw(words, states, np.array(wrong), cells, 1, 1)


@pytest.mark.parametrize("s", range(4))
def test_logits_are_those_of_the_network(s):
    logits = node_logits(MIXED, [s])[0](STATES, np.arange(len(STATES)))
    np.testing.assert_allclose(log_softmax(logits, axis=1), log_probabilities(MIXED, STATES)[s], atol=1e-12)


@pytest.mark.parametrize("gone", [0, 2, 4])
def test_draws_are_those_of_the_twin_and_none_is_impossible(gone):
    """One row after the other, the first category at which the sum of the probabilities reaches a uniform number."""
    logits = np.random.default_rng(0).normal(size=(2000, 5)) * 3.0
    logits[:, gone] = IMPOSSIBLE
    drawn, uniform = draw_categories(logits, np.random.default_rng(1)), np.random.default_rng(1).random(2000)
    for row, category, u in zip(logits, drawn, uniform, strict=True):
        chances = np.exp(log_softmax(row)).cumsum()
        assert category == next(k for k in range(5) if chances[k] >= (1.0 - u) * chances[-1])
    assert gone not in drawn
    only = np.where(np.arange(5) == gone, 0.0, -np.inf)
    assert set(draw_categories(np.tile(only, (50, 1)), np.random.default_rng(2))) == {gone}


def test_chains_reach_the_joint_distribution():
    chains = Chains(np.zeros((4000, 4), dtype=np.uint8), random_state=0)
    chains.sweep(MIXED, 40)
    weight = np.exp(-MIXED.energy(STATES))
    place = {tuple(state): k for k, state in enumerate(STATES.tolist())}
    counts = np.bincount([place[tuple(row)] for row in chains.table.tolist()], minlength=len(STATES))
    assert chisquare(counts, 4000 * weight / weight.sum()).pvalue > 1e-3


def test_observed_cells_are_held_and_the_others_follow_them():
    start = STATES[np.random.default_rng(1).integers(0, len(STATES), 3000)]
    gone = np.zeros(start.shape, dtype=bool)
    gone[:, 2] = True
    chains = Chains(start, gone, random_state=2)
    chains.sweep(MIXED, 1)
    np.testing.assert_array_equal(chains.table[~gone], start[~gone])
    chances = MIXED.probabilities(start)[2]
    for k in range(3):
        spread = np.sqrt((chances[:, k] * (1 - chances[:, k])).sum())
        assert abs((chains.table[:, 2] == k).sum() - chances[:, k].sum()) < 4 * spread


def test_same_seed_same_categories():
    start = np.zeros((50, 4), dtype=np.uint8)
    one, two, other = (Chains(start, random_state=seed) for seed in (3, 3, 4))
    for chains in (one, two, other):
        chains.sweep(MIXED, 3)
    np.testing.assert_array_equal(one.table, two.table)
    assert (one.table != other.table).any()


@pytest.mark.parametrize("strength", [1.0, 200.0])
def test_a_category_that_is_not_possible_has_no_probability_beside_strong_couplings(strength):
    steps = np.arange(7.0)
    network = make_network([-strength * steps**2 / 2] * 2, [steps, steps], [[0, 1]], blocks=[[[strength]]])
    possible = np.tile(steps != 6, 2)
    codes = np.array([[6, 6], [5, 5]], dtype=np.uint8)
    chance = np.exp(restrict_to(possible, network).log_conditionals(codes))
    assert chance[~possible].max() == 0.0
    np.testing.assert_allclose(chance[[5, 12], 0], 1.0, atol=0.2)
