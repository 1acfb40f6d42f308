"""Node-wise regression: optimality per node, the stored solutions of glmnet and IsingFit, rules, degenerate tables."""

import logging

import numpy as np
import objectives as objective
import oracles
import pytest
from choices import isingfit
from hypothesis import given
from hypothesis import strategies as st
from reference import nodewise_solution, nodewise_violations

import isinglass
from isinglass import NodewisePath, exact_path, ising_path, nodewise_path
from isinglass._core import Nodewise
from isinglass.datasets import load_senate109
from isinglass.errors import ConstantColumnWarning, ConvergenceWarning, DataError
from isinglass.solve.nodewise import nodewise_alpha_max
from isinglass.solve.regressions import RULES, Estimates
from isinglass.variables import Variables

STORED = [case for case in oracles.cases() if case.name != "senate"]
ISINGFIT = ["er10", "er15", "er25"]


def random_table(n, p, seed=0, strength=1.2):
    """Columns that depend on the one before: a chain, so that there are edges to find."""
    rng = np.random.default_rng(seed)
    X = np.empty((n, p), dtype=np.uint8)
    X[:, 0] = rng.random(n) < 0.4
    for t in range(1, p):
        X[:, t] = rng.random(n) < 1.0 / (1.0 + np.exp(0.6 - strength * X[:, t - 1] + 0.1 * t % 0.7))
    return X


def dense(path, k):
    """Coefficients of alpha number k with the intercepts on the diagonal."""
    return path.asymmetric_couplings[k].toarray() + np.diag(path.nodes.fields[k])


# --- the optimum ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", STORED, ids=str)
def test_equals_glmnet_at_its_tightest(case):
    expected = oracles.read(case.name, f"nodewise_alpha_{case.alpha:g}")
    path = nodewise_path(case.X, [case.alpha / 2.0], tol=1e-9)
    np.testing.assert_allclose(dense(path, 0), expected, rtol=0, atol=1e-6)
    assert path[0].converged
    assert path[0].kkt_residual <= 1e-9


@pytest.mark.parametrize("case", STORED, ids=str)
def test_the_default_tolerance_is_a_bound_on_the_true_kkt_residual(case):
    path = nodewise_path(case.X, [case.alpha, case.alpha / 2.0])
    for k, solution in enumerate(path):
        true = nodewise_violations(case.X, path.asymmetric_couplings[k].toarray(), path.nodes.fields[k], solution.alpha)
        np.testing.assert_allclose(path.nodes.kkt_residuals[k], true, rtol=1e-6, atol=1e-13)
        assert true.max() <= path.tol
        assert solution.kkt_residual == path.nodes.kkt_residuals[k].max()


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_slow_twin(standardize, weighted):
    X = random_table(60, 6, seed=3)
    weight = np.random.default_rng(1).random(60) if weighted else None
    top = nodewise_alpha_max(X, weight, standardize=standardize)
    path = nodewise_path(X, [0.5 * top, 0.1 * top], sample_weight=weight, standardize=standardize, tol=1e-10)
    for k, alpha in enumerate(path.alphas):
        expected = nodewise_solution(X, alpha, sample_weight=weight, standardize=standardize)
        np.testing.assert_allclose(dense(path, k), expected, atol=1e-7)


def test_objective_and_gap_are_sums_over_nodes_and_the_gap_bounds_the_distance_to_the_optimum():
    X = random_table(200, 8)
    loose, tight = (nodewise_path(X, 6, tol=tol) for tol in (1e-3, 1e-12))
    for k, alpha in enumerate(loose.alphas):
        B, fields = loose.asymmetric_couplings[k].toarray(), loose.nodes.fields[k]
        eta = X @ B.T + fields
        value = (np.logaddexp(0.0, eta) - X * eta).mean(axis=0).sum() + alpha * np.abs(B).sum()
        assert loose[k].objective == pytest.approx(value, abs=1e-12)
        assert -1e-12 <= loose[k].objective - tight[k].objective <= loose[k].duality_gap + 1e-12
    assert (loose.duality_gap > 1e-9).any()  # otherwise nothing was tested


def test_alpha_max_is_the_largest_covariance_and_nothing_is_there_before():
    X = random_table(150, 7)
    covariance = np.cov(X.T, bias=True)
    np.fill_diagonal(covariance, 0.0)
    top = nodewise_alpha_max(X)
    assert top == pytest.approx(np.abs(covariance).max(), rel=1e-13)
    assert top == pytest.approx(objective.alpha_max(X) / 2.0, rel=1e-13)
    scaled = np.abs(covariance / X.std(axis=0)).max()
    assert nodewise_alpha_max(X, standardize=True) == pytest.approx(scaled, rel=1e-13)
    path = nodewise_path(X, [top, 0.99 * top], rule="or")
    assert path.n_edges.tolist() == [0, 1]
    assert path[0].n_iter == 0
    mean = X.mean(axis=0)
    np.testing.assert_allclose(path[0].fields, np.log(mean / (1 - mean)), rtol=1e-12)


def test_a_long_path_is_warm_and_equals_cold_starts():
    X = random_table(300, 12)
    path = nodewise_path(X, 20)
    assert path.converged.all()
    assert path.n_iter.max() <= 6
    for k in (5, 12, 19):
        cold = nodewise_path(X, [path.alphas[k]])
        np.testing.assert_allclose(dense(path, k), dense(cold, 0), atol=2e-5)


def test_unbalanced_table_with_tiny_alpha_needs_few_newton_steps():
    X = oracles.read("unbal10", "X").astype(np.uint8)
    path = nodewise_path(X, np.geomspace(0.05, 1e-5, 12))
    assert path.converged.all()
    assert path.n_iter.max() <= 10
    cold = nodewise_path(X, [1e-5])
    assert cold[0].converged
    assert cold[0].n_iter <= 15


def test_strongly_correlated_columns_reach_the_tolerance():
    """Senators of one party vote alike: coordinate descent alone would crawl, faces are solved directly."""
    X = load_senate109().X
    path = nodewise_path(X, np.geomspace(0.1, 0.001, 12), standardize=True)
    assert path.converged.all()
    assert path.n_iter.max() <= 15
    sd, B = X.std(axis=0), path.asymmetric_couplings[-1].toarray()
    assert nodewise_violations(X, B, path.nodes.fields[-1], path.alphas[-1], omega=sd).max() <= path.tol


# --- screening, threads, weights --------------------------------------------------------------------------------------


def run_core(X, alphas, *, n_threads=1, screening=True, omega=None):
    p = X.shape[1]
    nodes, grid = np.arange(p, dtype=np.int32), np.tile(alphas, (p, 1))
    weights = np.ones(p) if omega is None else omega
    return Nodewise(X, None, n_threads).solve(nodes, grid, weights, 1e-9, 100, 1.0 if screening else 0.0, False)


@pytest.mark.parametrize("alphas", [np.geomspace(0.1, 0.01, 8), np.array([0.01])], ids=["path", "one jump"])
def test_screening_on_equals_off_and_screened_something(alphas):
    X = random_table(400, 40, seed=5)
    on, off = (run_core(X, alphas, screening=screening) for screening in (True, False))
    np.testing.assert_array_equal(on.counts, off.counts)
    np.testing.assert_array_equal(on.columns, off.columns)
    np.testing.assert_allclose(on.values, off.values, atol=1e-6)
    np.testing.assert_allclose(on.objectives, off.objectives, atol=1e-12)
    assert (off.n_working == 39).all()
    assert on.n_working.mean() < 25


def test_the_path_screens_wide_tables_and_its_certificate_covers_what_it_left_out():
    X = random_table(300, 60, seed=6)
    path = nodewise_path(X, 10, alpha_min_ratio=0.1)
    assert path.converged.all()
    assert path[5].n_screened > 60 * 59 // 2
    for k in (3, 9):
        true = nodewise_violations(X, path.asymmetric_couplings[k].toarray(), path.nodes.fields[k], path.alphas[k])
        assert true.max() <= path.tol


@pytest.mark.parametrize("p", [20, 70])
def test_threads_do_not_change_a_bit(p):
    X = random_table(500, p, seed=7)
    one, two = (nodewise_path(X, 8, n_threads=n, alpha_min_ratio=0.05) for n in (1, 2))
    for name in ("fields", "losses", "kkt_residuals", "duality_gaps"):
        np.testing.assert_array_equal(getattr(one.nodes, name), getattr(two.nodes, name))
    for name in ("alpha", "node", "column", "parameters"):
        np.testing.assert_array_equal(getattr(one.nodes.estimates, name), getattr(two.nodes.estimates, name))


def test_weights_equal_repeated_rows_for_path_and_ebic():
    X = random_table(120, 6, seed=9)
    times = np.random.default_rng(2).integers(0, 4, 120)
    repeated = np.repeat(X, times, axis=0)
    a = nodewise_path(X, 6, sample_weight=times, tol=1e-11)
    b = nodewise_path(repeated, 6, tol=1e-11)
    for k in range(6):
        np.testing.assert_allclose(dense(a, k), dense(b, k), atol=1e-8)
    a, b = isingfit(X, sample_weight=times, tol=1e-11), isingfit(repeated, tol=1e-11)
    np.testing.assert_allclose(a.couplings, b.couplings, atol=1e-8)
    np.testing.assert_allclose(a.alphas_per_node, b.alphas_per_node, rtol=1e-12)


def test_standardize_equals_scaled_columns():
    X = random_table(100, 5, seed=10)
    alpha, sd = 0.05, X.std(axis=0)
    path = nodewise_path(X, [alpha], standardize=True, tol=1e-10)
    scaled = X / sd
    B, fields = path.asymmetric_couplings[0].toarray() * sd, path.nodes.fields[0]  # of the scaled columns
    eta = scaled @ B.T + fields
    g = (1.0 / (1.0 + np.exp(-eta)) - X).T @ scaled / len(X)
    off = ~np.eye(5, dtype=bool)
    violation = np.where(B != 0, np.abs(g + alpha * np.sign(B)), np.maximum(np.abs(g) - alpha, 0.0))
    assert violation[off].max() <= 1e-9
    assert (B != 0).any()


@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(2, 9), st.sampled_from([0.8, 0.3, 0.05]))
def test_any_table_reaches_the_tolerance(seed, n, p, share):
    X = np.random.default_rng(seed).integers(0, 2, (n, p)).astype(np.uint8)
    X[0], X[1] = 0, 1  # every column varies
    alpha = share * nodewise_alpha_max(X)
    path = nodewise_path(X, [alpha])
    assert path[0].converged
    true = nodewise_violations(X, path.asymmetric_couplings[0].toarray(), path.nodes.fields[0], alpha)
    assert true.max() <= path.tol


def test_flipping_and_permuting_columns_are_equivariant():
    X = random_table(200, 7, seed=11)
    order = np.random.default_rng(3).permutation(7)
    a, b = nodewise_path(X, [0.01], tol=1e-11), nodewise_path(X[:, order], [0.01], tol=1e-11)
    np.testing.assert_allclose(dense(a, 0)[np.ix_(order, order)], dense(b, 0), atol=1e-8)
    flipped = X.copy()
    flipped[:, 2] ^= 1
    c = nodewise_path(flipped, [0.01], tol=1e-11)
    sign = np.ones(7)
    sign[2] = -1.0
    np.testing.assert_allclose(a[0].couplings * np.outer(sign, sign), c[0].couplings, atol=1e-8)


# --- rules ------------------------------------------------------------------------------------------------------------


def symmetrize(coefficients, rule):
    row, column = np.nonzero(coefficients)
    estimates = Estimates(
        variables=Variables.binary(len(coefficients)),
        alpha=np.zeros(len(row), dtype=int),
        node=row,
        column=column,
        parameters=coefficients[row, column],
    )
    return estimates.merge(rule)[1:]


#              (0,1) both      (0,2) one-sided    (1,2) opposite signs, (0,3) one-sided the other way
BY_HAND = np.array([[0.0, 1.0, 0.6, 0.0], [0.5, 0.0, -0.2, 0.0], [0.0, 0.8, 0.0, 0.0], [-0.4, 0.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("and", {(0, 1): 0.75, (1, 2): 0.3}),
        ("or", {(0, 1): 0.75, (0, 2): 0.6, (0, 3): -0.4, (1, 2): 0.3}),
        ("mean", {(0, 1): 0.75, (0, 2): 0.3, (0, 3): -0.2, (1, 2): 0.3}),
    ],
)
def test_rules_by_hand(rule, expected):
    edges, values = symmetrize(BY_HAND, rule)
    assert edges.dtype == np.int32
    assert [tuple(edge) for edge in edges.tolist()] == list(expected)
    np.testing.assert_allclose(values, list(expected.values()), rtol=1e-15)


def test_two_estimates_that_cancel_are_no_edge():
    opposite = np.array([[0.0, 0.5], [-0.5, 0.0]])
    assert [len(symmetrize(opposite, rule)[1]) for rule in RULES] == [0, 0, 0]


def test_every_rule_is_a_view_of_the_same_regressions():
    X = random_table(150, 8, seed=12)
    paths = {rule: nodewise_path(X, 8, rule=rule) for rule in RULES}
    for k in range(8):
        supports = {rule: {tuple(e) for e in path[k].edge_index.tolist()} for rule, path in paths.items()}
        assert supports["and"] <= supports["or"] == supports["mean"]
    assert paths["and"].n_edges.sum() < paths["or"].n_edges.sum()
    a, b = paths["and"], paths["mean"]
    np.testing.assert_array_equal(a.nodes.estimates.values, b.nodes.estimates.values)
    mean = (b.asymmetric_couplings[-1] + b.asymmetric_couplings[-1].T).toarray() / 2.0
    np.testing.assert_allclose(b[-1].couplings, mean, rtol=1e-15)


# --- IsingFit ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ISINGFIT)
@pytest.mark.parametrize(("stored", "rule"), [("isingfit_and", "and"), ("isingfit_or", "mean")])
def test_isingfit_parity(case, stored, rule):
    X, expected = oracles.read(case, "X").astype(np.uint8), oracles.read(case, stored)
    found = isingfit(X, gamma=0.25, rule=rule)
    np.testing.assert_array_equal(found.couplings != 0, expected != 0)
    np.testing.assert_allclose(found.couplings, expected, atol=2e-3)
    np.testing.assert_allclose(found.fields, oracles.read(case, "isingfit_thresholds").ravel(), atol=2e-3)
    np.testing.assert_allclose(found.alphas_per_node, oracles.read(case, "isingfit_lambda").ravel(), rtol=1e-12)
    assert np.isnan(found.alpha)
    assert found.converged


@pytest.mark.parametrize("case", ISINGFIT)
def test_what_differs_from_isingfit_is_glmnets_stopping_rule(case):
    """At IsingFit's own λ the exact optimum is ours to 1e-7, and its stored weights are up to 4e-4 away from it."""
    X = oracles.read(case, "X").astype(np.uint8)
    chosen = oracles.read(case, "isingfit_lambda").ravel()
    exact = nodewise_solution(X, chosen, standardize=True)
    np.fill_diagonal(coefficients := exact.copy(), 0.0)
    mean = (coefficients + coefficients.T) / 2.0
    ours = isingfit(X, rule="mean", tol=1e-10)
    np.testing.assert_allclose(ours.couplings, mean, atol=1e-7)
    np.testing.assert_allclose(ours.fields, exact.diagonal(), atol=1e-7)
    theirs = np.abs(oracles.read(case, "isingfit_or") - mean).max()
    assert 1e-5 < theirs < 4e-4  # larger than our tolerance by far: the difference is theirs


def test_isingfit_or_halves_one_sided_edges_and_or_does_not():
    X = oracles.read("er10", "X").astype(np.uint8)
    both, either, mean = (isingfit(X, rule=rule).couplings for rule in ("and", "or", "mean"))
    one_sided = (either != 0) & (both == 0)
    assert one_sided.any()
    np.testing.assert_allclose(either[one_sided], 2.0 * mean[one_sided], rtol=1e-15)


def test_a_list_ends_where_glmnets_does():
    """glmnet 4.1 solves 52, 41, 53, 35, 51 and 50 of its 100 λ for the first six columns of er10."""
    X = oracles.read("er10", "X").astype(np.uint8)
    sd = X.std(axis=0)
    problem = Nodewise(X, None, 1)
    grids = problem.alpha_max(sd, 1e-7, 100)[:, None] * np.geomspace(1.0, 1e-4, 100)
    losses = problem.solve(np.arange(10, dtype=np.int32), grids, sd, 1e-7, 100, 0.0, True).losses
    assert np.isfinite(losses).sum(axis=1)[:6].tolist() == [52, 41, 53, 35, 51, 50]


def test_ebic_on_a_path_chooses_the_smallest_criterion_of_every_node():
    X = random_table(250, 6, seed=13)
    path = nodewise_path(X, 25, rule="or")
    chosen = path.nodes.choose_ebic(0.5)
    for s in range(6):
        values = []
        for k in range(25):
            B, fields = path.asymmetric_couplings[k].toarray(), path.nodes.fields[k]
            eta = fields[s] + X @ B[s]
            log_likelihood = (X[:, s] * eta - np.logaddexp(0.0, eta)).sum()
            size = np.count_nonzero(B[s])
            values.append(-2 * log_likelihood + size * np.log(250) + 2 * 0.5 * size * np.log(5))
        assert chosen[s] == int(np.argmin(values))
    assert len(set(chosen.tolist())) > 1


# --- degenerate tables, messages, records -----------------------------------------------------------------------------


def test_constant_columns_keep_their_place():
    X = random_table(100, 5, seed=14)
    with_constants = np.insert(np.insert(X, 2, 1, axis=1), 0, 0, axis=1)
    with pytest.warns(ConstantColumnWarning, match=r"columns 0 \(always 0\), 3 \(always 1\)"):
        path = nodewise_path(with_constants, [0.01], tol=1e-10)
    keep = [1, 2, 4, 5, 6]
    plain = nodewise_path(X, [0.01], tol=1e-10)
    np.testing.assert_allclose(dense(path, 0)[np.ix_(keep, keep)], dense(plain, 0), atol=1e-8)
    assert path[0].fields[3] == -path[0].fields[0] == pytest.approx(np.log(100.5 / 0.5))
    assert not path[0].couplings[[0, 3]].any()
    assert (path.alphas[0], path[0].converged) == (0.01, True)
    with pytest.warns(ConstantColumnWarning):
        chosen = isingfit(with_constants)
    np.testing.assert_array_equal(np.isnan(chosen.alphas_per_node), [s not in keep for s in range(7)])
    np.testing.assert_allclose(chosen.couplings[np.ix_(keep, keep)], isingfit(X).couplings, atol=1e-7)


def test_nothing_varies():
    with pytest.warns(ConstantColumnWarning):
        path = nodewise_path(np.ones((4, 3)), 5)
    assert path.alphas.tolist() == [0.25]  # the penalty of one row
    assert (path[0].n_edges, path[0].converged, path[0].objective) == (0, True, 0.0)
    assert nodewise_alpha_max(np.ones((4, 3))) == 0.0
    with pytest.warns(ConstantColumnWarning):
        assert isingfit(np.zeros((4, 3))).n_edges == 0


def test_one_column_and_two():
    one = nodewise_path([[0], [1], [1]], 3)
    assert one.alphas.tolist() == [pytest.approx(1 / 3)]
    assert one[0].converged
    assert one[0].duality_gap <= 1e-14  # a bound, with room for rounding
    assert one[0].fields[0] == pytest.approx(np.log(2.0))
    assert isingfit([[0], [1], [1]]).n_edges == 0
    X = np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, 1], [1, 0]])
    two = nodewise_path(X, [0.02], tol=1e-10)
    np.testing.assert_allclose(dense(two, 0), nodewise_solution(X, 0.02), atol=1e-7)


def test_separable_and_duplicate_columns_have_an_optimum_with_a_penalty():
    X = random_table(50, 4, seed=15)
    X = np.column_stack([X, X[:, 0], X[:, 1]])
    path = nodewise_path(X, [0.1, 0.01, 1e-4])
    assert path.converged.all()


def test_regressions_need_a_penalty():
    with pytest.raises(DataError, match="must be positive in regressions of nodes"):
        nodewise_path(random_table(40, 4, seed=16), [0.1, 0.0])


@pytest.mark.parametrize("p", [6, 40])
def test_not_reaching_the_tolerance_is_a_warning_and_a_field(p):
    X = random_table(100, p, seed=17)
    with pytest.warns(ConvergenceWarning, match="Increase max_iter"):
        path = nodewise_path(X, [1e-3], max_iter=1)
    assert not path[0].converged
    true = nodewise_violations(X, path.asymmetric_couplings[0].toarray(), path.nodes.fields[0], 1e-3)
    # What is reported includes a bound of its rounding.
    np.testing.assert_allclose(path.nodes.kkt_residuals[0], true, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "xor"}, 'rule must be one of "and", "or", "mean"; got \'xor\''),
        ({"tol": 0.0}, "tol must be a positive number; got 0.0"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1; got 0"),
        ({"alphas": [-1.0]}, "alphas must be finite and not negative"),
        ({"n_threads": 0}, "n_threads must be an integer of at least 1"),
        ({"sample_weight": [1.0]}, "sample_weight must have one value per row"),
        ({"alpha_min_ratio": 2.0}, "alpha_min_ratio must be between 0 and 1"),
    ],
)
def test_bad_options_say_what_to_do(options, message):
    with pytest.raises(DataError, match=message):
        nodewise_path(random_table(20, 3), **options)


def test_bad_tables_and_gamma():
    with pytest.raises(DataError, match="got 2 in column 1"):
        nodewise_path([[0, 2], [1, 0]])
    with pytest.raises(DataError, match="gamma must be finite and not negative"):
        isingfit(random_table(20, 3), gamma=-1.0)


@pytest.mark.parametrize("wrong", ["False", "standardized", 3, None])
def test_standardize_is_true_or_false(wrong):
    with pytest.raises(DataError, match="standardize must be True or False"):
        nodewise_path(random_table(20, 3), 4, standardize=wrong)
    with pytest.raises(DataError, match="standardize must be True or False"):
        nodewise_alpha_max(random_table(20, 3), standardize=wrong)


@pytest.mark.parametrize("follow", [ising_path, nodewise_path, exact_path])
def test_a_callback_is_a_function(follow):
    with pytest.raises(DataError, match="callback must be a function; got 3"):
        follow(random_table(20, 3), 4, callback=3)


def test_the_record(caplog):
    X = random_table(100, 4, seed=18)
    seen = []
    with caplog.at_level(logging.INFO, logger="isinglass"):
        path = nodewise_path(X, 3, callback=seen.append)
    assert isinstance(path, NodewisePath)
    assert seen == list(path)
    assert len(caplog.records) == 3
    assert path.rule == "and"
    assert (len(path), path.nodes.fields.shape, path.nodes.kkt_residuals.shape) == (3, (3, 4), (3, 4))
    assert len(nodewise_path(X, 3, callback=lambda solution: solution.alpha > seen[1].alpha)) == 2
    assert path[0].alphas_per_node is None
    assert "3 alphas" in repr(path)
    with pytest.raises(ValueError, match="read-only"):
        path.nodes.fields[0, 0] = 1.0
    assert isinglass.nodewise_path is nodewise_path


def test_half_the_joint_alpha_gives_nearly_the_joint_network():
    X = oracles.read("er10", "X").astype(np.uint8)
    joint, nodewise = ising_path(X, [0.05])[0], nodewise_path(X, [0.025], rule="or")[0]
    np.testing.assert_array_equal(joint.edge_index, nodewise.edge_index)
    np.testing.assert_allclose(joint.edge_values, nodewise.edge_values, atol=0.03)
