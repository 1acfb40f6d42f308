"""The pure functions that choose the working set."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isinglass.solve.screening import TIGHT, all_pairs, itinerary, kkt_violations, strong_threshold, union

pair_sets = st.sets(st.tuples(st.integers(0, 20), st.integers(21, 40)), max_size=30)


def as_pairs(pairs):
    return np.array(sorted(pairs), dtype=np.int32).reshape(-1, 2)


@given(pair_sets, pair_sets)
def test_union_is_the_union_of_sets(first, second):
    assert [tuple(pair) for pair in union(as_pairs(first), as_pairs(second))] == sorted(first | second)


@given(pair_sets, pair_sets, st.floats(0, 1), st.integers(0, 1000))
def test_violations_are_the_strong_pairs_outside_the_working_set(pairs, working, alpha, seed):
    strength = np.random.default_rng(seed).random(len(pairs))
    expected = {pair for pair, value in zip(sorted(pairs), strength, strict=True) if value > alpha} - working
    found = kkt_violations(as_pairs(pairs), strength, alpha, as_pairs(working))
    assert {tuple(pair) for pair in found} == expected


def test_all_pairs_are_the_upper_triangle_and_cannot_be_changed():
    pairs = all_pairs(4)
    assert pairs.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    with pytest.raises(ValueError, match="read-only"):
        pairs[0, 0] = 7


@given(st.floats(1e-6, 10), st.lists(st.floats(1e-6, 10), min_size=1, max_size=6, unique=True))
def test_the_itinerary_visits_the_grid_in_small_steps(top, values):
    grid = sorted(values, reverse=True)
    stops = itinerary(top, grid, 0.6)
    assert [stop.alpha for stop in stops if stop.wanted] == grid
    alphas = [top, *(stop.alpha for stop in stops)]
    for before, after in pairwise(alphas):
        assert after >= 0.6 * before * (1 - 1e-12)
    assert [stop.alpha for stop in stops] == sorted((stop.alpha for stop in stops), reverse=True)


def test_alpha_zero_is_reached_without_waypoints():
    assert [stop.alpha for stop in itinerary(1.0, [0.0], 0.6)] == [0.0]


def test_the_strong_rule_and_its_limit():
    assert strong_threshold(0.97, 1.0) == pytest.approx(0.94)
    assert strong_threshold(0.5, 1.0) == pytest.approx(TIGHT * 0.5)
    assert strong_threshold(0.0, 1.0) == 0.0
