"""Separation: the linear program against enumeration, and the shortcuts against the program."""

import itertools

import numpy as np
import pytest

from isinglass import as_table, ising_path, refit, separation
from isinglass.datasets import load_senate109
from isinglass.errors import ConstantColumnWarning, DataError, LimitError, SeparationError, suppress_warnings

SMALL_DIRECTIONS = np.array(list(itertools.product([-2, -1, 0, 1, 2], repeat=6)))


def separates_by_enumeration(X):
    """Try small integer directions (δ_01, δ_02, δ_12, δ_00, δ_11, δ_22) on three columns."""
    a, b, c = X.T
    zero, one = 0 * a, 0 * a + 1
    cells = [
        np.stack([b, c, zero, one, zero, zero]) * (2 * a - 1),
        np.stack([a, zero, c, zero, one, zero]) * (2 * b - 1),
        np.stack([zero, a, b, zero, zero, one]) * (2 * c - 1),
    ]
    margins = SMALL_DIRECTIONS @ np.hstack(cells)
    return bool(((margins >= 0).all(axis=1) & (margins > 0).any(axis=1)).any())


def test_find_separation_agrees_with_enumeration_on_every_set_of_three_bit_rows():
    rows = np.array(list(itertools.product([0, 1], repeat=3)))
    found = {True: 0, False: 0}
    jointly = 0
    for size in range(3, 9):
        for chosen in itertools.combinations(range(8), size):
            X = rows[list(chosen)]
            if (np.ptp(X, axis=0) == 0).any():
                continue
            pair = separation.find_separation(X, [(0, 1), (0, 2), (1, 2)])
            assert (pair is not None) == separates_by_enumeration(X)
            found[pair is not None] += 1
            full = all(len(np.unique(X[:, [s, t]], axis=0)) == 4 for s, t in [(0, 1), (0, 2), (1, 2)])
            jointly += full and pair is not None
    assert min(found.values()) >= 5
    assert jointly >= 1


def test_a_separation_that_takes_too_long_to_decide_is_a_limit(monkeypatch):
    X = np.random.default_rng(0).integers(0, 2, (400, 20))
    pairs = np.column_stack(np.triu_indices(20, 1))
    assert separation.find_separation(X, pairs) is None
    monkeypatch.setattr(separation, "SEPARATION_SECONDS", 0.0)
    with pytest.raises(LimitError, match=r"210 unpenalized parameters.*Use alpha > 0"):
        separation.find_separation(X, pairs)


@pytest.mark.parametrize(("n_tables", "least"), [(12, 1), pytest.param(40, 5, marks=pytest.mark.long)])
def test_a_triple_is_found_if_and_only_if_three_columns_separate_on_their_own(n_tables, least):
    rng = np.random.default_rng(4)
    found = {True: 0, False: 0}
    for _ in range(n_tables):
        X = rng.integers(0, 2, (rng.integers(12, 40), 6)).astype(bool)
        pairs = np.array([pair for pair in itertools.combinations(range(6), 2) if rng.random() < 0.8])
        joined = {tuple(pair) for pair in pairs.tolist()}
        expected = any(
            separation._separating_direction(X[:, list(triple)], np.array([(0, 1), (0, 2), (1, 2)])) is not None
            for triple in itertools.combinations(range(6), 3)
            if set(itertools.combinations(triple, 2)) <= joined
        )
        pair = separation._separating_triple(X, pairs)
        assert (pair is not None) == expected
        assert pair is None or tuple(sorted(pair)) in joined
        if pair is not None:  # three columns that separate do so in the whole table
            assert separation._separating_direction(X, pairs) is not None
        found[expected] += 1
    assert min(found.values()) >= least


def test_the_senate_has_no_finite_unpenalized_network():
    X = load_senate109().X
    pairs = np.column_stack(np.triu_indices(100, 1))
    counts = [len(np.unique(2 * X[:, s] + X[:, t])) for s, t in pairs]
    assert min(counts) == 4  # no pair does it alone
    with pytest.raises(SeparationError, match=r"columns \d+ and \d+ separate"):
        ising_path(X, [0.0])


@pytest.mark.parametrize(
    ("fit", "said"),
    [
        (lambda table: ising_path(table, [0.0]), "columns 'sun' and 'warm' separate the table"),
        (lambda table: refit(table[:10], ising_path(table, [0.1])[0]), "one of the columns 'sun' and 'warm' is const"),
    ],
)
def test_columns_are_called_by_their_names(fit, said):
    sun = np.repeat([0, 1], 10)
    table = as_table(np.column_stack([np.tile([0, 1], 10), sun, sun]), names=["coin", "sun", "warm"])
    with pytest.raises(SeparationError, match=said), suppress_warnings(ConstantColumnWarning):
        fit(table)


def test_the_column_whose_scores_have_no_step_is_called_by_its_name():
    answers = as_table([[0, 0], [1, 2], [2, 1]], kinds="ordinal", scores={"b": [0.0, 1.0, np.pi]}, names=["a", "b"])
    with pytest.raises(DataError, match=r"scores must be multiples of one step, .* for column 'b'"):
        ising_path(answers, [0.1])
