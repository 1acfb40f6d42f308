"""The objective of tables with categories, against the slow twin and against the solver."""

import numpy as np
import pytest
import slow_objective as objective
from networks import make_network, make_table, split_fields
from reference_discrete import Discrete

from isinglass import Network, as_table, ising_path, simulate
from isinglass.errors import ArgumentError, DataError
from isinglass.solve.path import alpha_max

KINDS = ["nominal", "ordinal", "binary", "nominal"]
MODEL = simulate.category_network(simulate.chain_network(4, strength=1.5), KINDS, [3, 4, 2, 3], random_state=0)
TABLE = simulate.exact_sample(MODEL, 300, random_state=1)
WEIGHT = np.random.default_rng(2).random(300) + 0.5
ALPHA = 0.05


def twin_of(penalty=None):
    """The slow twin, and the couplings of the model in its coordinates."""
    twin = Discrete(TABLE.codes, TABLE.variables.kinds, TABLE.variables.sizes, sample_weight=WEIGHT)
    if penalty == "standardized":
        twin.omega = twin.standardized()
    theta, _ = twin.null()
    for (s, t), block in zip(MODEL.edge_index.tolist(), MODEL.blocks, strict=True):
        left, right = (np.ones((1, 1)) if phi.shape[1] == 1 else 2 * phi for phi in (twin.scores[s], twin.scores[t]))
        theta[s, t] = left.T @ block @ right
    return twin, theta


@pytest.mark.parametrize("penalty", [None, "standardized"])
def test_value_and_residual_are_those_of_the_slow_twin(penalty):
    twin, theta = twin_of(penalty)
    problem = objective.of(TABLE, WEIGHT, penalty_weights=penalty)
    point = theta, split_fields(MODEL), ALPHA
    assert problem.value(MODEL, ALPHA) == pytest.approx(twin.objective(*point), rel=1e-12)
    assert problem.kkt_residual(MODEL, ALPHA) == pytest.approx(twin.kkt_residual(*point), rel=1e-9)
    assert problem.duality_gap(MODEL, ALPHA) > 0


def test_the_gap_at_an_optimum_is_that_of_the_slow_twin():
    twin, _ = twin_of()
    theta, fields = twin.solve(ALPHA, tol=1e-9)
    blocks = twin.blocks(theta)
    pairs = [pair for pair in twin.pairs if theta[pair].any()]
    network = make_network(fields, TABLE.variables.scores, pairs, blocks=[blocks[pair] for pair in pairs])
    problem = objective.of(TABLE, WEIGHT)
    assert problem.kkt_residual(network, ALPHA) < 1e-8
    assert 0 <= problem.duality_gap(network, ALPHA) < 1e-8
    assert problem.duality_gap(MODEL, ALPHA) >= problem.value(MODEL, ALPHA) - problem.value(network, ALPHA) > 0


@pytest.mark.parametrize("kinds", ["ordinal", "nominal"])
def test_the_solver_says_the_same(kinds):
    table = make_table(TABLE.codes, kinds)
    problem = objective.of(table)
    assert problem.alpha_max() == pytest.approx(alpha_max(table), rel=1e-9)
    for solution in ising_path(table, [0.2, 0.05], tol=1e-9):
        point = solution.network, solution.alpha
        assert problem.value(*point) == pytest.approx(solution.objective, rel=1e-12)
        assert problem.kkt_residual(*point) <= max(2 * solution.kkt_residual, 1e-12)
        assert problem.duality_gap(*point) < 1e-8
        s, t = solution.edge_index.T
        proved = problem.certified_zeros(*point)
        assert not proved[s, t].any()
        assert proved.sum() // 2 >= 1


@pytest.mark.filterwarnings("ignore::isinglass.errors.ConstantColumnWarning")
@pytest.mark.parametrize("penalty", [None, "standardized"])
def test_two_values_are_a_special_case(penalty):
    X = np.random.default_rng(5).integers(0, 2, (60, 5))
    X[:, 3] = X[:, 0] ^ (X[:, 3] & X[:, 1])
    X[:, 4] = 1
    special, table = objective.of(X, penalty_weights=penalty), as_table(X)
    general = objective.Objective(table, penalty)
    assert type(special) is not objective.Objective
    assert general.alpha_max() == pytest.approx(special.alpha_max(), rel=1e-12)
    assert general.null_model().fields == pytest.approx(special.null_model().fields, abs=0.02)  # constant: half a row
    for network in (general.null_model(), ising_path(X, [0.1], penalty_weights=penalty, tol=1e-3)[0].network):
        for name in ("value", "kkt_residual", "duality_gap", "relative_gap"):
            found, expected = (getattr(problem, name)(network, 0.1) for problem in (general, special))
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-12), name
        np.testing.assert_array_equal(general.certified_zeros(network, 0.1), special.certified_zeros(network, 0.1))
        for found, expected in zip(general.gradient(network), special.gradient(network), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-14)
        profiles = [problem.profile(network).fields[:4] for problem in (general, special)]
        np.testing.assert_allclose(*profiles, rtol=1e-9)
    joined = Network.from_couplings(np.ones((5, 5)) - np.eye(5))  # with a constant column
    assert general.value(joined, 0.1) == special.value(joined, 0.1) == np.inf


def test_the_gradient_is_that_of_differences():
    problem, h = objective.of(TABLE, WEIGHT), 1e-5
    edge, node = problem.gradient(MODEL)
    for k in range(len(MODEL.fields)):
        ahead, behind = (
            Network(MODEL.fields + step * np.eye(len(MODEL.fields))[k], MODEL.edge_index, **known(MODEL))
            for step in (h, -h)
        )
        assert (problem.value(ahead) - problem.value(behind)) / (2 * h) == pytest.approx(node[k], abs=1e-8)
    s, t = MODEL.edge_index[1]  # an ordinal and a binary column: one coupling
    place = int(MODEL.variables.block_sizes(MODEL.edge_index)[:1].sum())
    values = []
    for step in (h, -h):
        parameters = MODEL.parameters.copy()
        parameters[place] += step
        moved = Network(MODEL.fields, MODEL.edge_index, variables=MODEL.variables, pair_parameters=parameters)
        values.append(problem.value(moved))
    row, column = MODEL.variables.first[[s, t]]
    assert (values[0] - values[1]) / (2 * h) == pytest.approx(edge[row, column], abs=1e-8)


def known(network):
    return {"variables": network.variables, "pair_parameters": network.pair_parameters}


def test_bad_requests_are_named():
    problem = objective.of(TABLE)
    with pytest.raises(ArgumentError, match="alpha"):
        problem.value(MODEL, -1.0)
    with pytest.raises(DataError, match="one column per node"):
        problem.value(ising_path(TABLE.codes[:, :2] > 0, [0.1])[0].network, 0.1)
    with pytest.raises(DataError, match="categories and scores of the table"):
        objective.of(TABLE.codes > 0).value(MODEL, 0.1)
