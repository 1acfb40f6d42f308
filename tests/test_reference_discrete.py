"""The slow twin for columns with more than two values agrees with stored solutions and with the binary twin."""

import numpy as np
import pytest
from oracles import discrete_cases
from reference import reference_solution
from reference_discrete import Discrete


@pytest.mark.parametrize("case", discrete_cases(), ids=str)
def test_stored_solutions(case):
    problem = Discrete(case.X, case.kinds, case.levels)
    assert problem.alpha_max() == pytest.approx(case.alpha_max, rel=1e-12)
    theta, fields = problem.solve(case.alpha)
    assert problem.kkt_residual(theta, fields, case.alpha) <= 1e-9
    assert problem.objective(theta, fields, case.alpha) == pytest.approx(case.objective, abs=1e-11)
    assert problem.gap(theta, fields, case.alpha) == pytest.approx(0.0, abs=1e-8)
    norms = {pair: np.linalg.norm(block) for pair, block in theta.items() if block.any()}
    assert norms == pytest.approx(case.norms, abs=1e-7)
    blocks = problem.blocks(theta)
    for pair, block in case.blocks.items():
        np.testing.assert_allclose(blocks[pair], block, atol=1e-7)
    for mine, stored in zip(fields, case.fields, strict=True):
        np.testing.assert_allclose(mine, stored, atol=1e-6)


def test_two_categories_are_binary():
    X = np.random.default_rng(0).integers(0, 2, (60, 4))
    X[:, 1] |= X[:, 0]
    couplings, fields = reference_solution(X, 0.05)
    for kind in ("ordinal", "nominal", "binary"):
        theta, found = Discrete(X, [kind] * 4).solve(0.05)
        assert {pair: block.item() for pair, block in theta.items()} == pytest.approx(
            {(s, t): couplings[s, t] for s in range(4) for t in range(s + 1, 4)}, abs=1e-8
        )
        np.testing.assert_allclose([field[1] for field in found], fields, atol=1e-7)


def test_gradient_is_the_slope_of_the_loss():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.integers(0, q, 50) for q in (3, 4, 2)])
    problem = Discrete(X, ["nominal", "ordinal", "binary"], sample_weight=rng.random(50))
    theta, fields = problem.null()
    theta = {pair: rng.normal(size=block.shape) for pair, block in theta.items()}
    edges, nodes = problem.gradient(theta, fields)
    h = 1e-6
    for pair, block in theta.items():
        for index in np.ndindex(block.shape):
            up, down = ({**theta, pair: block.copy()} for _ in range(2))
            up[pair][index] += h
            down[pair][index] -= h
            slope = (problem.loss(up, fields) - problem.loss(down, fields)) / (2 * h)
            assert edges[pair][index] == pytest.approx(slope, abs=1e-8)
    for s, field in enumerate(fields):
        for k in range(1, len(field)):
            up, down = ([f.copy() for f in fields] for _ in range(2))
            up[s][k] += h
            down[s][k] -= h
            slope = (problem.loss(theta, up) - problem.loss(theta, down)) / (2 * h)
            assert nodes[s][k] == pytest.approx(slope, abs=1e-8)
