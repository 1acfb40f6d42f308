"""The objective of any network: what the slow twin computes, and a gap that bounds the distance to the optimum."""

import numpy as np
import pytest
import slow_objective

from isinglass import Network, as_table, ising_path, objective
from isinglass.errors import DataError

RNG = np.random.default_rng(0)
ANSWERS = np.clip(np.round(RNG.normal(size=(120, 1)) + RNG.normal(size=(120, 5)) + 1.5), 0, 3).astype(np.uint8)
TABLES = {
    "binary": as_table((ANSWERS > 1).astype(np.uint8), RNG.exponential(size=120)),
    "ordinal": as_table(ANSWERS, kinds="ordinal"),
    "mixed": as_table(ANSWERS, kinds=["nominal", "ordinal", "nominal", "ordinal", "ordinal"]),
}
ALPHA = 0.05
every = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


def shrunken(network, factor):
    """Return a network that is no optimum."""
    parameters = factor * network.pair_parameters
    return Network(network.fields, network.pairs, pair_parameters=parameters, variables=network.variables)


@every
@pytest.mark.parametrize("factor", [1.0, 0.7])
def test_equals_its_slow_twin(table, factor):
    ours, slow = objective.Objective(table), slow_objective.of(table)
    network = shrunken(ising_path(table, [ALPHA], tol=1e-9)[0].network, factor)
    assert ours.value(network, ALPHA) == pytest.approx(slow.value(network, ALPHA), rel=1e-12)
    assert ours.kkt_residual(network, ALPHA) == pytest.approx(slow.kkt_residual(network, ALPHA), abs=1e-12)
    for one, other in zip(ours.gradient(network), slow.gradient(network), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    assert ours.alpha_max() == pytest.approx(slow.alpha_max(), rel=1e-9)
    assert ours.value(ours.null_model()) == pytest.approx(slow.value(slow.null_model()), rel=1e-9)


@every
def test_the_gap_bounds_the_distance_to_the_optimum(table):
    problem, best = objective.Objective(table), ising_path(table, [ALPHA], tol=1e-10)[0]
    away = shrunken(best.network, 0.7)
    distance = problem.value(away, ALPHA) - best.objective
    assert distance - 1e-12 <= problem.duality_gap(away, ALPHA) <= distance + 1e-6
    assert problem.duality_gap(best.network, ALPHA) <= 1e-7 * problem.value(problem.null_model())
    assert problem.relative_gap(away, ALPHA) * problem.value(problem.null_model()) >= distance - 1e-12


@every
def test_proved_zeros_are_no_edges(table):
    alpha = 0.7 * objective.Objective(table).alpha_max()
    proved, best = objective.Objective(table).certified_zeros(alpha), ising_path(table, [alpha])[0]
    assert 0 < np.count_nonzero(proved) // 2 <= best.network.n_pairs - best.n_edges
    np.testing.assert_array_equal(proved, proved.T)
    s, t = best.network.pairs.T
    assert not proved[s, t].any()


def test_forbidden_couplings_have_an_infinite_value():
    table = np.array([[0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1]])
    problem = objective.Objective(table)
    for found in (problem.value, problem.duality_gap, problem.kkt_residual):
        assert found(Network(np.zeros(3), [[0, 2]], [0.5]), 0.1) == np.inf


def test_other_networks_and_penalties_are_refused():
    problem = objective.Objective(ANSWERS[:, :2] > 1)
    with pytest.raises(DataError):
        problem.value(Network(np.zeros(3), [], []))
    with pytest.raises(DataError, match="alpha must be"):
        problem.value(Network(np.zeros(2), [], []), -1.0)


@pytest.mark.parametrize("kinds", ["ordinal", "nominal"])
def test_a_value_that_only_a_row_of_weight_zero_has_does_not_count(kinds):
    cells = np.vstack([ANSWERS[:, :3], [4, 0, 5]])
    table = as_table(cells, np.r_[np.ones(120), 0.0], kinds=kinds)
    problem, best = objective.Objective(table), ising_path(table, [ALPHA], tol=1e-10)[0]
    assert problem.value(best.network, ALPHA) == pytest.approx(best.objective, rel=1e-12)
    assert 0.0 <= problem.duality_gap(best.network, ALPHA) <= 1e-8
    assert 0.0 <= problem.relative_gap(best.network, ALPHA) <= 1e-8
