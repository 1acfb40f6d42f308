"""The certificate against extended precision: true for any weights and penalties, and tight where it can be."""

import itertools

import extended
import numpy as np
import objectives as objective
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isinglass.errors import DataError

HEAVY = np.array([[0, 0, 0], [1, 1, 1], [1, 0, 0]])
"""With weights 10¹³ : 1 : 1, every gradient is below 1e-12 wherever the parameters are."""


@st.composite
def extreme_problems(draw):
    """(X, weight, omega, alpha, couplings, fields): weights over up to 13 decades, penalties over 400."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p = int(rng.integers(1, 12)), int(rng.integers(1, 5))
    X = (rng.random((n, p)) < rng.uniform(0.1, 0.9, size=p)).astype(int)
    weight = 10.0 ** (draw(st.sampled_from([0.0, 3.0, 13.0])) * rng.random(n)) * draw(
        st.sampled_from([1e-200, 1.0, 1e200])
    )
    unit = draw(st.sampled_from([1e-100, 1.0, 1e200]))
    omega = unit * 10.0 ** (draw(st.sampled_from([0.0, 3.0])) * rng.normal(size=(p, p)))
    omega = np.triu(omega, 1) + np.triu(omega, 1).T
    np.fill_diagonal(omega, 1.0)
    alpha = draw(st.sampled_from([1e-6, 0.01, 0.3, 1.0])) * max(
        objective.alpha_max(X, weight, penalty_weights=omega), 1e-3 / unit
    )
    theta = np.triu(rng.normal(size=(p, p)) * draw(st.sampled_from([0.0, 1e-9, 1.0, 30.0])), 1)
    theta *= rng.random((p, p)) < 0.6
    vary = np.ptp(X, axis=0) > 0
    theta *= np.outer(vary, vary)
    return X, weight, omega, alpha, theta + theta.T, rng.normal(size=p) * draw(st.sampled_from([0.0, 1.0, 30.0]))


@given(extreme_problems())
def test_the_gap_holds_in_extended_precision_and_loses_little(problem):
    X, weight, omega, alpha, couplings, fields = problem
    options = {"sample_weight": weight, "penalty_weights": omega}
    couplings, fields = objective.profile(X, couplings, fields, **options)
    gap = objective.duality_gap(X, couplings, fields, alpha, **options)
    regression, z = extended.joint(X, couplings, fields, alpha, weight=weight, omega=omega)
    twin, value = regression.gap(z), regression.value(z)
    assert gap >= value - regression.value(regression.improved(z, sweeps=5)) - 1e-17 * value
    # The same dual point, but for rounding: neither below it nor far above it.
    assert gap <= min(float(twin), float(value)) * (1 + 1e-6) + 1e-12 * float(value)
    assert objective.value(X, couplings, fields, alpha, **options) == pytest.approx(float(value), rel=1e-12)
    assert objective.kkt_residual(X, couplings, fields, alpha, **options) == pytest.approx(
        float(regression.kkt(z)), rel=1e-9, abs=1e-14
    )


@pytest.mark.parametrize("seed", [*range(5), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(5, 20))])
def test_the_gap_holds_at_points_that_are_almost_optimal(seed):  # in extended precision, half a second each
    rng = np.random.default_rng(seed)
    X = (rng.random((8, 3)) < 0.5).astype(int)
    weight = 10.0 ** (13.0 * rng.random(8))
    alpha = float(rng.choice([0.01, 0.1, 0.5])) * objective.alpha_max(X, weight)
    regression, z = extended.joint(X, *objective.null_model(X, sample_weight=weight), alpha, weight=weight)
    best = regression.improved(z, sweeps=60)
    vary = np.flatnonzero(np.ptp(X, axis=0))
    pairs = list(itertools.combinations(vary, 2))
    for noise in (0.0, 1e-12, 1e-9, 1e-6):
        near = np.where(best != 0, best * (1 + noise * rng.normal(size=len(best))), best).astype(float)
        couplings, fields = np.zeros((3, 3)), np.zeros(3)
        for (s, t), theta in zip(pairs, near, strict=False):
            couplings[s, t] = couplings[t, s] = theta
        fields[vary] = near[len(pairs) :]
        gap = objective.duality_gap(X, couplings, fields, alpha, sample_weight=weight)
        excess = regression.value(near.astype(np.longdouble)) - regression.value(best)
        assert gap >= excess - 1e-17 * regression.value(best)


def test_fault_03_the_objective_does_not_certify_points_far_from_the_optimum():
    weight = [1e13, 1, 1]
    couplings, fields = objective.null_model(HEAVY, sample_weight=weight)
    top, scale = objective.alpha_max(HEAVY, weight), objective.value(HEAVY, couplings, fields, sample_weight=weight)
    # At 0.4 alpha_max the network is not empty, although every gradient is below 1e-12.
    regression, z = extended.joint(HEAVY, couplings, fields, 0.4 * top, weight=weight)
    better = float((regression.value(z) - regression.value(regression.improved(z))) / scale)
    assert better > 0.01
    assert objective.kkt_residual(HEAVY, couplings, fields, 0.4 * top, sample_weight=weight) < 1e-12
    assert objective.relative_gap(HEAVY, couplings, fields, 0.4 * top, sample_weight=weight) >= better


@pytest.mark.parametrize("decades", [0, 3, 10, 13, 16])
def test_fault_03_the_empty_network_is_certified_where_it_is_optimal(decades):
    rng = np.random.default_rng(decades)
    for _ in range(20):
        X = (rng.random((6, 3)) < 0.5).astype(int)
        weight = np.ones(6)
        weight[0] = 10.0**decades
        null, top = objective.null_model(X, sample_weight=weight), objective.alpha_max(X, weight)
        for alpha in (top, 1.5 * top):
            assert objective.relative_gap(X, *null, alpha, sample_weight=weight) <= 1e-14
            assert objective.kkt_residual(X, *null, alpha, sample_weight=weight) <= 1e-16


@pytest.mark.parametrize("size", [1e13, 1e300, 1e-300])
def test_fault_03_constant_columns_have_finite_fields_at_any_weight(size):
    X = [[1, 0, 0], [1, 0, 1], [1, 0, 1]]
    fields = objective.null_model(X, sample_weight=[size, size / 3, size / 7])[1]
    assert np.isfinite(fields).all()
    total = size * (1 + 1 / 3 + 1 / 7)
    np.testing.assert_allclose(fields[:2], [np.log1p(2 * total), -np.log1p(2 * total)], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("weight", [None, np.full(27, 0.1), np.outer([1, 2, 3], np.ones(9)).ravel() / 7])
def test_fault_05_independent_columns_have_alpha_max_zero(weight):
    X = np.array(list(itertools.product([0, 0, 1], repeat=3)))
    assert objective.alpha_max(X, weight) == 0.0
    null = objective.null_model(X, sample_weight=weight)
    assert objective.relative_gap(X, *null, 0.0, sample_weight=weight) < 1e-14
    one_more = np.vstack([X, X[:1]])
    assert objective.alpha_max(one_more) > 1e-3


@pytest.mark.parametrize("size", [1.0, 1e-20, 1e-44, 1e-300])
def test_fault_05_the_empty_network_of_independent_columns_is_certified_at_any_penalty(size):
    X = np.array(list(itertools.product([0, 0, 1], repeat=3)))
    options = {"penalty_weights": size * np.array([[1.0, 2, 3], [2, 1, 4], [3, 4, 1]])}
    null = objective.null_model(X, **options)
    assert objective.relative_gap(X, *null, 0.1, **options) < 1e-13


def test_tiny_penalties_are_certified_where_there_are_edges():
    rng = np.random.default_rng(5)
    X = (rng.random((200, 3)) < 0.5).astype(int)
    X[:, 1] = X[:, 0] ^ (rng.random(200) < 0.2)
    couplings, fields = objective.null_model(X, penalty_weights=np.zeros((3, 3)))  # the optimum without penalty
    assert np.abs(couplings).max() > 1
    assert objective.relative_gap(X, couplings, fields, 1e-40) < 1e-12
    regression, z = extended.joint(X, 1.01 * couplings, fields, 1e-40)
    excess = float(regression.value(z) - regression.value(regression.improved(z)))
    assert excess > 1e-6
    assert objective.duality_gap(X, 1.01 * couplings, fields, 1e-40) >= excess


def test_one_row_in_a_hundred_million_is_not_rounding():
    X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    counts = np.array([1, 1, 1, 1]) * 25_000_000
    assert objective.alpha_max(X, counts) == 0.0
    counts[0] += 1
    assert objective.alpha_max(X, counts) == pytest.approx(2 * 25_000_000 / (1e8 + 1) ** 2, rel=1e-9)


def test_fault_11_a_penalty_that_underflows_is_refused_by_name():
    X = [[0, 0], [0, 1], [1, 1]]
    omega = np.full((2, 2), 1e-200)
    with pytest.raises(DataError, match="cannot be told from no penalty; got 1e-200 times 1e-200"):
        objective.value(X, np.zeros((2, 2)), np.zeros(2), 1e-200, penalty_weights=omega)
    # The other end: an infinite product forbids the pair.
    null = objective.null_model(X)
    assert objective.relative_gap(X, *null, 1e200, penalty_weights=np.full((2, 2), 1e200)) < 1e-14
    assert objective.value(X, *null, 1e200, penalty_weights=np.full((2, 2), 1e200)) == objective.value(X, *null)


def test_free_edges_are_certified_with_the_weights_over_many_decades():
    rng = np.random.default_rng(0)
    X = np.array(list(itertools.product([0, 1], repeat=3)) * 2)
    for decades in (0, 3, 6):
        weight = 10.0 ** (decades * rng.random(len(X)))
        omega = np.zeros((3, 3))
        best = objective.null_model(X, sample_weight=weight, penalty_weights=omega)
        assert objective.relative_gap(X, *best, 1.0, sample_weight=weight, penalty_weights=omega) < 1e-10
        couplings = best[0] + 0.1 * (1 - np.eye(3))
        regression, z = extended.joint(X, couplings, best[1], 0.0, weight=weight)
        better = regression.value(z) - regression.value(regression.improved(z))
        assert objective.duality_gap(X, couplings, best[1], 0.0, sample_weight=weight) >= better > 0
