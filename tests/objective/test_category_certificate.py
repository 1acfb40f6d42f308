"""The certificate of networks with categories, against the slow twin and against the solver."""

import numpy as np
import pytest
from networks import make_network, make_table, split_fields
from reference_discrete import Discrete

from isinglass import ising_path, objective, simulate
from isinglass.errors import ArgumentError, DataError

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
    found = objective.category_certificate(TABLE, MODEL, ALPHA, sample_weight=WEIGHT, penalty_weights=penalty)
    assert found.objective == pytest.approx(twin.objective(theta, split_fields(MODEL), ALPHA), rel=1e-12)
    assert found.kkt_residual == pytest.approx(twin.kkt_residual(theta, split_fields(MODEL), ALPHA), rel=1e-9)
    assert found.duality_gap > 0


def test_the_gap_at_an_optimum_is_that_of_the_slow_twin():
    twin, _ = twin_of()
    theta, fields = twin.solve(ALPHA, tol=1e-9)
    blocks = twin.blocks(theta)
    pairs = [pair for pair in twin.pairs if theta[pair].any()]
    network = make_network(fields, TABLE.variables.scores, pairs, blocks=[blocks[pair] for pair in pairs])
    found = objective.category_certificate(TABLE, network, ALPHA, sample_weight=WEIGHT)
    assert found.kkt_residual < 1e-8
    assert 0 <= found.duality_gap < 1e-8
    worse = objective.category_certificate(TABLE, MODEL, ALPHA, sample_weight=WEIGHT)
    assert worse.duality_gap >= worse.objective - found.objective > 0


@pytest.mark.parametrize("kinds", ["ordinal", "nominal"])
def test_the_solver_says_the_same(kinds):
    table = make_table(TABLE.codes, kinds)
    for solution in ising_path(table, [0.2, 0.05], tol=1e-9):
        again = objective.category_certificate(table, solution.network, solution.alpha)
        assert again.objective == pytest.approx(solution.objective, rel=1e-12)
        assert again.kkt_residual <= max(2 * solution.kkt_residual, 1e-12)
        assert again.duality_gap < 1e-8
        s, t = solution.edge_index.T
        assert not again.certified_zeros[s, t].any()
        assert again.certified_zeros.sum() // 2 >= 1


def test_bad_requests_are_named():
    with pytest.raises(ArgumentError, match="alpha"):
        objective.category_certificate(TABLE, MODEL, 0.0)
    with pytest.raises(DataError, match="one column per node"):
        objective.category_certificate(TABLE.codes[:, :2], MODEL, 0.1)
