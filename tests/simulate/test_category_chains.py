"""Chains of categories against enumeration: conditionals, the joint distribution, and cells that are held."""

from itertools import product

import numpy as np
import pytest
from scipy.special import log_softmax
from scipy.stats import chisquare

from isinglass.categories import CategoryNetwork
from isinglass.simulate.category_chains import CategoryChains, _Node

BLOCK = np.array([[0.8, -0.4, -0.4], [-0.8, 0.4, 0.4], [0.0, 0.0, 0.0]])
MIXED = CategoryNetwork(
    [[0, 0.3, -0.2], [0, 0.5], [0, 0.1, 0.2], [0, -0.3, 0.1]],
    [[0, 1, 2], [0, 1], None, None],
    [[0, 1], [0, 2], [1, 2], [2, 3]],
    blocks=[[[0.7]], [[0.5, -0.2, -0.3]], [[-0.6, 0.0, 0.6]], BLOCK],
)
STATES = np.array(list(product(range(3), range(2), range(3), range(3))), dtype=np.uint8)


@pytest.mark.parametrize("s", range(4))
def test_logits_are_those_of_the_network(s):
    logits = _Node.of(MIXED, s).logits(STATES, np.arange(len(STATES)))
    np.testing.assert_allclose(log_softmax(logits, axis=1), MIXED.category_log_probabilities(STATES)[s], atol=1e-12)


def test_chains_reach_the_joint_distribution():
    chains = CategoryChains(np.zeros((4000, 4), dtype=np.uint8), random_state=0)
    chains.sweep(MIXED, 40)
    weight = np.exp(-MIXED.energy(STATES))
    place = {tuple(state): k for k, state in enumerate(STATES.tolist())}
    counts = np.bincount([place[tuple(row)] for row in chains.table.tolist()], minlength=len(STATES))
    assert chisquare(counts, 4000 * weight / weight.sum()).pvalue > 1e-3


def test_observed_cells_are_held_and_the_others_follow_them():
    start = STATES[np.random.default_rng(1).integers(0, len(STATES), 3000)]
    gone = np.zeros(start.shape, dtype=bool)
    gone[:, 2] = True
    chains = CategoryChains(start, gone, random_state=2)
    chains.sweep(MIXED, 1)
    np.testing.assert_array_equal(chains.table[~gone], start[~gone])
    chances = MIXED.category_probabilities(start)[2]
    for k in range(3):
        spread = np.sqrt((chances[:, k] * (1 - chances[:, k])).sum())
        assert abs((chains.table[:, 2] == k).sum() - chances[:, k].sum()) < 4 * spread


def test_same_seed_same_cells():
    start = np.zeros((50, 4), dtype=np.uint8)
    one, two, other = (CategoryChains(start, random_state=seed) for seed in (3, 3, 4))
    for chains in (one, two, other):
        chains.sweep(MIXED, 3)
    np.testing.assert_array_equal(one.table, two.table)
    assert (one.table != other.table).any()
