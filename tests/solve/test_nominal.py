"""Columns without an order, alone and beside others: stored optima, the slow twin's certificates, symmetries."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from networks import log_probabilities, make_table, split_fields
from oracles import discrete_cases
from reference_discrete import Discrete, assert_certified, parts

from isinglass import ising_path, nodewise_path
from isinglass._core import Problem
from isinglass.errors import DataError, LimitError
from isinglass.solve.nodewise import nodewise_alpha_max


def answers(rng, n, levels, strength=1.0):
    """Answers without an order that depend on a few hidden types; every category occurs."""
    types = rng.integers(0, 3, n)
    columns = []
    for q in levels:
        liking = rng.normal(size=(3, q)) * strength
        chances = np.exp(liking)[types]
        columns.append((rng.random((n, 1)) > np.cumsum(chances / chances.sum(1, keepdims=True), 1)[:, :-1]).sum(1))
    X = np.column_stack(columns)
    X[: max(levels)] = np.minimum(np.arange(max(levels))[:, None], np.array(levels) - 1)
    return X


@pytest.mark.parametrize("case", discrete_cases(), ids=str)
@pytest.mark.parametrize("screened", [False, True])
def test_stored_optima_are_reached(case, screened, monkeypatch):
    if screened:
        monkeypatch.setattr("isinglass.solve.alphas.ALL_PAIRS_UP_TO", 1)
    solution = ising_path(case.X, [case.alpha], kinds=case.kinds, tol=1e-10)[0]
    assert solution.converged
    assert solution.objective == pytest.approx(case.objective, abs=1e-10)
    assert {tuple(pair) for pair in solution.edge_index.tolist()} == set(case.norms)
    for pair, value, block in zip(
        solution.edge_index.tolist(), solution.edge_values, solution.network.blocks, strict=True
    ):
        assert abs(value) == pytest.approx(case.norms[tuple(pair)], abs=1e-6)
        np.testing.assert_allclose(block, case.blocks[tuple(pair)], atol=1e-6)
    for mine, stored in zip(split_fields(solution.network), case.fields, strict=True):
        np.testing.assert_allclose(mine, stored, atol=1e-6)
    top = ising_path(case.X, 2, kinds=case.kinds)[0]
    assert (top.alpha, top.n_edges) == (pytest.approx(case.alpha_max, rel=1e-9), 0)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.floats(0.01, 0.9), st.sampled_from(["plain", "standardized", "matrix"]))
def test_certificates_are_those_of_the_slow_twin(seed, share, penalty):
    rng = np.random.default_rng(seed)
    levels = [*rng.integers(2, 6, size=rng.integers(1, 6)).tolist(), 3]
    p = len(levels)
    kinds = [*rng.choice(["nominal", "ordinal"], size=p - 1).tolist(), "nominal"]
    X = answers(rng, int(rng.integers(20, 120)), levels)
    weight = rng.integers(1, 4, len(X)).astype(float) if rng.random() < 0.5 else None
    omega = np.exp(rng.normal(size=(p, p)))
    omega = np.triu(omega, 1) + np.triu(omega, 1).T
    reference = Discrete(X, kinds, levels, sample_weight=weight)
    if penalty == "standardized":
        reference.omega = reference.standardized()
    elif penalty == "matrix":
        reference.omega = omega
    given_weights = {"plain": None, "standardized": "standardized", "matrix": omega}[penalty]
    with pytest.MonkeyPatch.context() as patch:
        if rng.random() < 0.5:
            patch.setattr("isinglass.solve.alphas.ALL_PAIRS_UP_TO", 1)
        alphas = [reference.alpha_max() * share, reference.alpha_max() * share / 3]
        path = ising_path(X, alphas, kinds=kinds, sample_weight=weight, penalty_weights=given_weights)
    assert_certified(reference, path)


def test_the_slow_twin_finds_the_same_network():
    kinds, levels = ["nominal", "ordinal", "nominal", "binary"], [4, 3, 3, 2]
    X = answers(np.random.default_rng(3), 150, levels)
    reference = Discrete(X, kinds, levels)
    solution = ising_path(X, [0.05], kinds=kinds, tol=1e-11)[0]
    theta, fields = reference.solve(0.05)
    mine, my_fields = parts(reference, solution)
    assert solution.n_edges > 1
    for pair, block in theta.items():
        np.testing.assert_allclose(mine[pair], block, atol=1e-7)
    for one, expected in zip(my_fields, fields, strict=True):
        np.testing.assert_allclose(one, expected, atol=1e-6)


def test_the_gap_goes_to_zero():
    X = answers(np.random.default_rng(4), 200, [4, 3, 5, 3])
    gaps = [ising_path(X, [0.02], kinds="nominal", tol=tol)[0].duality_gap for tol in (1e-3, 1e-6, 1e-9, 1e-11)]
    assert all(gap >= 0 for gap in gaps)
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 1e-10


def test_a_column_of_two_categories_gives_the_binary_path():
    X = answers(np.random.default_rng(5), 200, [2] * 6)
    for one, other in zip(ising_path(X, 8, tol=1e-10), ising_path(X, 8, tol=1e-10, kinds="nominal"), strict=True):
        assert other.network == one.network
    # Two corners of a triangle, the third of which never occurs, are the same model in other coordinates.
    table = make_table(X.astype(np.uint8), "nominal", categories=[(0, 1, 2)] * 6)
    for one, other in zip(ising_path(X, 8, tol=1e-11), ising_path(table, 8, tol=1e-11), strict=True):
        assert other.objective == pytest.approx(one.objective, rel=1e-11)
        assert other.edge_index.tolist() == one.edge_index.tolist()
        np.testing.assert_allclose(other.edge_values, abs(one.edge_values), atol=1e-9)
        for value, block in zip(one.edge_values, other.network.blocks, strict=True):
            np.testing.assert_allclose(block[:2, :2], value / 4 * np.array([[1, -1], [-1, 1]]), atol=1e-9)
            assert not block[2].any()
            assert not block[:, 2].any()


def test_relabeling_changes_nothing():
    rng = np.random.default_rng(6)
    levels, kinds = [5, 4, 3, 2, 3], ["nominal", "nominal", "ordinal", "binary", "nominal"]
    X = answers(rng, 300, levels)
    other, order = X.copy(), np.array([2, 0, 4, 1, 3])
    other[:, 0] = order[X[:, 0]]
    for one, two in zip(*(ising_path(table, 6, kinds=kinds, tol=1e-11) for table in (X, other)), strict=True):
        assert two.objective == pytest.approx(one.objective, rel=1e-12)
        assert two.edge_index.tolist() == one.edge_index.tolist()
        np.testing.assert_allclose(two.edge_values, one.edge_values, atol=1e-9)
        for (s, _), block, moved in zip(one.edge_index, one.network.blocks, two.network.blocks, strict=True):
            np.testing.assert_allclose(moved[order] if s == 0 else moved, block, atol=1e-9)
        fields = split_fields(two.network)[0][order]
        np.testing.assert_allclose(fields - fields[0], split_fields(one.network)[0], atol=1e-8)


def test_threads_change_no_bit_and_screening_changes_nothing(monkeypatch):
    levels = [4, 5, 3] * 12
    X = answers(np.random.default_rng(7), 900, levels)
    kinds = ["nominal", "nominal", "ordinal"] * 12
    asked = {"alpha_min_ratio": 0.15, "kinds": kinds, "tol": 1e-9}
    paths = [ising_path(X, 6, n_threads=n, **asked) for n in (1, 3)]
    for one, three in zip(*paths, strict=True):
        assert one.edge_values.tobytes() == three.edge_values.tobytes()
        assert one.duality_gap == three.duality_gap
        for some in zip(one.network.blocks, three.network.blocks, strict=True):
            assert len({block.tobytes() for block in some}) == 1
    assert (paths[0].n_screened[:3] > 0).all()
    assert paths[0][-1].n_edges > 50
    monkeypatch.setattr("isinglass.solve.alphas.STRICTNESS", 0.0)
    for one, other in zip(paths[0], ising_path(X, 6, **asked), strict=True):
        assert one.objective == pytest.approx(other.objective, rel=1e-9)
        assert one.edge_index.tolist() == other.edge_index.tolist()
        np.testing.assert_allclose(one.edge_values, other.edge_values, atol=1e-5)
        assert one.certified_zeros <= 36 * 35 // 2 - one.n_edges


def test_certified_zeros_are_zero():
    X = answers(np.random.default_rng(8), 400, [4] * 9)
    rough = ising_path(X, [0.09], kinds="nominal", tol=1e-3)[0]
    exact = ising_path(X, [0.09], kinds="nominal", tol=1e-10)[0]
    assert 0 < rough.certified_zeros <= 36 - exact.n_edges
    assert exact.certified_zeros == 36 - exact.n_edges


def test_a_category_that_does_not_occur_is_left_out():
    X = answers(np.random.default_rng(9), 200, [3, 4, 3])
    table = make_table(X.astype(np.uint8), "nominal", categories=[range(3), range(5), range(3)])
    plain, wide = ising_path(X, [0.03], kinds="nominal", tol=1e-10)[0], ising_path(table, [0.03], tol=1e-10)[0]
    assert wide.objective == plain.objective
    assert wide.edge_values == pytest.approx(plain.edge_values, rel=1e-12)
    assert split_fields(wide.network)[1][4] < split_fields(plain.network)[1].min()
    assert split_fields(wide.network)[1][:4] == pytest.approx(split_fields(plain.network)[1], abs=1e-12)
    some = ising_path(table[np.flatnonzero(X[:, 1] < 2)], [0.03])[0]  # two of the five are left
    assert some.converged
    assert np.isfinite(log_probabilities(some.network, X)[1]).all()


def test_blocks_belong_to_scores_that_are_not_centered():
    kinds, levels = ["nominal", "ordinal", "nominal"], [4, 4, 3]
    X = answers(np.random.default_rng(10), 250, levels)
    reference = Discrete(X, kinds, levels)
    solution = ising_path(X, [0.01], kinds=kinds)[0]
    assert solution.n_edges == 3
    for mine, expected in zip(
        solution.network.probabilities(X), reference.probabilities(*parts(reference, solution)), strict=True
    ):
        np.testing.assert_allclose(mine, expected, atol=1e-12)
    for (s, t), block in zip(solution.edge_index.tolist(), solution.network.blocks, strict=True):
        scale = float(solution.network.variables.block_scale(np.array([[s, t]]))[0])
        assert scale * np.linalg.norm(block) == pytest.approx(abs(solution.couplings[s, t]), rel=1e-12)
        for axis, node in enumerate((s, t)):
            if kinds[node] == "nominal":
                np.testing.assert_allclose(block.sum(axis=axis), 0.0, atol=1e-12)


def test_many_categories_and_rare_ones():
    rng = np.random.default_rng(11)
    X = np.column_stack(
        [np.minimum(rng.geometric(0.12, 400) - 1, 39), rng.integers(0, 70, 400), rng.integers(0, 3, 400)]
    )
    X[:40, 0], X[:70, 1] = np.arange(40), np.arange(70)
    X[:, 2] = np.where(rng.random(400) < 0.6, X[:, 0] % 3, X[:, 2])
    path = ising_path(X, 5, kinds="nominal", alpha_min_ratio=0.05)
    assert_certified(Discrete(X, ["nominal"] * 3, [40, 70, 3]), path)
    # As many categories as rows: nothing to learn from, and no harm done.
    every = np.column_stack([np.arange(60), X[:60, 2]]).astype(np.uint8)
    assert ising_path(make_table(every, "nominal"), 4).converged.all()


def test_one_nominal_column_does_not_make_all_others_slow():
    rng = np.random.default_rng(0)
    n, p, q = 600, 80, 20
    factors = rng.normal(size=(n, 3))
    X = (factors @ rng.normal(size=(3, p)) * 0.7 + rng.normal(size=(n, p)) > 0.5).astype(np.uint8)
    answers = np.argmax(factors[:, :1] * rng.normal(size=q) + rng.gumbel(size=(n, q)), axis=1)
    mixed = make_table(np.column_stack([X, answers]).astype(np.uint8), ["binary"] * p + ["nominal"])
    seconds = []
    for each in (make_table(X, "binary"), mixed):
        start = time.process_time()
        path = ising_path(each, 10, alpha_min_ratio=0.2, n_threads=1)
        seconds.append(time.process_time() - start)
        assert path.converged.all()
    assert path[-1].n_edges > 300
    assert (path[-1].edge_index == p).any()
    assert seconds[1] < 40 * seconds[0]  # about 6; with an operator at every node it is hundreds


def test_a_penalty_of_zero_is_refused():  # single pairs may be free: test_covariates
    X = answers(np.random.default_rng(12), 80, [3, 3, 4])
    with pytest.raises(DataError, match="positive"):
        ising_path(X, [0.05, 0.0], kinds="nominal")


def test_memory_is_refused_before_it_is_taken(monkeypatch):
    X = answers(np.random.default_rng(13), 3000, [20] * 30)
    monkeypatch.setattr("isinglass.machine.memory.available_memory", lambda: 10_000_000)
    with pytest.raises(LimitError, match="GB"):
        ising_path(X, 3, kinds="nominal")


def test_fields_are_found_again_beside_large_couplings():
    """One row has nearly all the weight: couplings of hundreds, with fields far from those without neighbors."""
    rows = [
        *([5, 4, 2], [1, 3, 2], [2, 1, 1], [4, 3, 2], [1, 2, 2], [5, 1, 1], [2, 5, 2]),
        *([5, 4, 2], [2, 1, 1], [5, 4, 2], [4, 2, 2], [1, 1, 1], [2, 4, 2]),
    ]
    table = make_table(rows, ["nominal", "ordinal", "nominal"], categories=[range(6), range(6), range(3)])
    for alpha in (1.1e-14, 1.4e-14, 1.482e-14, 1.5e-14, 1.7e-14, 5e-14):
        path = nodewise_path(table, [alpha], sample_weight=[1e-13] * 3 + [1.0] + [1e-13] * 9)
        assert path[0].converged
        assert max(map(np.abs, path.nodes.estimates.values)) > 100


def test_columns_beside_a_nominal_one_cost_few_products():
    """Ill-scaled conjugate gradients took 540 products here; the norm of a single number has no curvature."""
    rng = np.random.default_rng(5)
    X = (rng.random((600, 40)) < 0.15 + 0.2 * rng.random((600, 1))).astype(np.uint8)
    group = np.where(rng.random(600) < 0.6, X[:, :4] @ [1, 2, 4, 8], rng.integers(0, 16, 600))
    points, ranges = np.column_stack([group, X]).astype(np.uint8), np.array([0] + [1] * 40, dtype=np.uint8)
    problem = Problem(points, None, None, False, 1, 1 << 30, ranges, np.ones(41))
    top = problem.alpha_max()
    state = problem.follow(np.geomspace(top, 0.05 * top, 10), 0.04 * top, 1e-7, 100, 1.0)[-1]
    assert len(state.edges) > 100
    assert state.n_products < 200


def test_steps_that_gain_little_each_time_become_precise():
    rows = [[0, 0, 1], [1, 3, 0], [1, 4, 0], [1, 2, 1], [0, 2, 1], [1, 2, 1]]
    table = make_table(rows, ["ordinal", "ordinal", "binary"], categories=[range(3), range(5), range(2)])
    weight = np.array([1e-13, 1.0, 1e-13, 1e-13, 1e-13, 1e-13])
    top = nodewise_alpha_max(table, sample_weight=weight)
    ratios = (1.0, 0.14768342064911413, 0.007214451795004325, 0.00015204990917811788)
    assert nodewise_path(table, [ratio * top for ratio in ratios], sample_weight=weight)[-1].converged


@pytest.mark.parametrize("path_of", [ising_path, nodewise_path])
def test_the_only_alpha_of_independent_columns_counts_rows(path_of):
    X = np.array([[a, b] for a in range(3) for b in range(3)])
    counts, options = np.full(9, 1000), {"kinds": "nominal"}
    weighted = path_of(X, 5, sample_weight=counts, **options).alphas
    np.testing.assert_allclose(weighted, path_of(np.repeat(X, counts, axis=0), 5, **options).alphas, rtol=1e-12)
