"""The units of the solver against their definitions in docs/math.md (K1 to K4)."""

import numpy as np
import pytest

from isinglass import ising_path
from isinglass.conditionals import log_sums, logits
from isinglass.data import Table, category_counts, which_occur
from isinglass.errors import ArgumentError
from isinglass.network import Network
from isinglass.pairs import all_pairs, coordinate_matrix
from isinglass.solve.solver_units import SolverUnits, lagrange_weights
from isinglass.variables import Variables

VARIABLES = Variables.of([3, 4, 2, 3], ["nominal", "ordinal", "binary", "nominal"], [None, (-2, 0, 1, 4), None, None])


def units_of(variables, codes):
    table = Table(codes, variables)
    counts = category_counts(table)
    return SolverUnits(variables, np.arange(variables.n_features), counts, float(len(codes)))


def random_rows(seed, n=200):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.integers(0, size, n) for size in VARIABLES.sizes]).astype(np.uint8)


def random_solution(seed):
    """Return what a solver could have found: a block for each pair, zero on average over nominal sides, and fields."""
    rng = np.random.default_rng(seed)
    blocks = []
    for s, t in all_pairs(4).tolist():
        block = rng.normal(size=VARIABLES.widths[[s, t]])
        for axis, side in enumerate((s, t)):
            if not VARIABLES.has_scores[side]:
                block -= block.mean(axis=axis, keepdims=True)
        blocks.append(block)
    return blocks, rng.normal(size=len(VARIABLES.column))


def solver_coordinates(units, codes, s):
    """Return the cells of a column as the solver sees them: a centered score of range 1, or corners 1/√2 apart."""
    score = VARIABLES.score(s)
    if score is None:
        return np.eye(VARIABLES.sizes[s])[codes[:, s]] * np.sqrt(0.5)
    mean = score[codes[:, s]].mean()
    return ((score[codes[:, s]] - mean) / (score.max() - score.min()))[:, None]


def test_the_network_has_the_conditional_distributions_of_the_solver():
    codes = random_rows(0)
    units = units_of(VARIABLES, codes)
    blocks, fields = random_solution(1)
    pairs = all_pairs(4)
    parameters = units.network_blocks(pairs, np.concatenate([block.ravel() for block in blocks]))
    couplings = coordinate_matrix(VARIABLES, pairs, parameters)
    network = Network(units.network_fields(fields, couplings), pairs, variables=VARIABLES, pair_parameters=parameters)
    back = VARIABLES.split(units.solver_fields(network))  # only differences within a column matter
    for solved, given in zip(back, VARIABLES.split(fields), strict=True):
        np.testing.assert_allclose(solved, given - given[0], atol=1e-12)
    for node in range(4):
        categories = np.arange(VARIABLES.sizes[node])
        logits = np.tile(VARIABLES.split(fields)[node], (len(codes), 1))
        score = VARIABLES.score(node)
        own = np.eye(len(categories)) * np.sqrt(0.5) if score is None else (score / np.ptp(score))[:, None]
        for (a, b), block in zip(pairs.tolist(), blocks, strict=True):
            if node in (a, b):
                other, matrix = (b, block) if node == a else (a, block.T)
                logits += solver_coordinates(units, codes, other) @ matrix.T @ own.T
        expected = np.exp(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))
        np.testing.assert_allclose(network.probabilities(codes)[node], expected, atol=1e-12)


def test_blocks_go_to_the_solver_and_back():
    units = units_of(VARIABLES, random_rows(2))
    blocks, _ = random_solution(3)
    solved = np.concatenate([block.ravel() for block in blocks])
    pairs = all_pairs(4)
    network = Network(np.zeros(8), pairs, variables=VARIABLES, pair_parameters=units.network_blocks(pairs, solved))
    np.testing.assert_allclose(units.solver_blocks(network, np.ones(len(pairs), dtype=bool)), solved, rtol=1e-12)


def test_a_category_that_does_not_occur_is_expected_in_half_a_row():
    codes = random_rows(4)
    codes[codes[:, 1] == 3, 1] = 0  # the highest of four ordered categories
    codes[codes[:, 3] == 1, 3] = 2  # and one of three without an order
    units = units_of(VARIABLES, codes)
    solved = np.log(units.shares[units.counts > 0])  # the fields of independent columns
    fields = units.network_fields(solved, coordinate_matrix(VARIABLES, all_pairs(4)[:0], np.zeros(0)))
    network = Network(fields, [], [], variables=VARIABLES)
    logits = network.category_fields[:, None]
    chance = np.exp(logits - log_sums(VARIABLES, logits)[VARIABLES.column])[:, 0]
    for place in np.flatnonzero(units.counts == 0.0):
        assert chance[place] * len(codes) == pytest.approx(0.5, rel=0.01)  # the rest shares the other 199.5 rows


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_steps_between_those_that_occur_are_expected_in_one_row_at_most(seed):
    rng = np.random.default_rng(seed)
    one = rng.choice([0, 1, 2, 3, 5, 8, 13, 14, 15, 28, 29], 60)
    other = np.where(rng.random(60) < 0.1, np.clip(one + rng.choice([-1, 1], 60), 0, 29), one)
    table = Table(np.column_stack([one, other]).astype(np.uint8), Variables.of([30, 30], "ordinal"))
    network, occurs = ising_path(table, [1e-3])[0].network, which_occur(table)
    each = logits(network, table.codes)
    among_occurring = np.where(occurs[:, None], each, -np.inf)
    chance = np.exp(each - log_sums(table.variables, among_occurring)[table.variables.column])
    assert network.edge_values[0] > 10.0
    assert chance[~occurs].sum(axis=1).max() < 1.0


@pytest.mark.parametrize("alpha", [0.1, 0.001])
def test_a_nominal_category_that_does_not_occur_is_expected_in_half_a_row_at_most_whatever_its_number(alpha):
    rng = np.random.default_rng(0)
    one = rng.choice(3, 200, p=[0.6, 0.3, 0.1])
    other = np.where(rng.random(200) < 0.9, one, rng.integers(0, 3, 200))
    variables = Variables.of([3, 4], "nominal")
    chances = []
    for number in ([0, 1, 2, 3], [2, 1, 3, 0], [1, 3, 0, 2]):  # the last of the four does not occur
        table = Table(np.column_stack([one, np.array(number)[other]]).astype(np.uint8), variables)
        network = ising_path(table, [alpha])[0].network
        chances.append(network.probabilities(table.codes)[1][:, number[3]])
    np.testing.assert_allclose(chances[1:], [chances[0]] * 2, rtol=1e-6)
    assert 0.1 < chances[0].sum() < 0.5


def test_the_parabola_through_three_points_is_that_of_the_points():
    rng = np.random.default_rng(5)
    points, at, (a, b, c) = rng.normal(size=(6, 3)), rng.normal(size=6), rng.normal(size=3)
    values = a * points**2 + b * points + c
    np.testing.assert_allclose((lagrange_weights(points, at) * values).sum(axis=1), a * at**2 + b * at + c, atol=1e-9)


def test_scores_without_a_common_step_are_refused():
    variables = Variables.of([3, 2], "ordinal", [(0.0, 1.0, np.pi), None])
    units = units_of(variables, np.array([[0, 1], [1, 0], [2, 1]], dtype=np.uint8))
    with pytest.raises(ArgumentError, match="multiples of one step"):
        units.cells(np.zeros((1, 2), dtype=np.uint8))
