"""Theorems about the objective: derivatives, duality, the certificate, and what happens on degenerate data."""

import itertools

import numpy as np
import objectives as objective
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import cases
from reference import brute_force_gradient, brute_force_loss, reference_solution
from scipy.special import entr, expit, logit

from isinglass.errors import DataError, SeparationError

SCALES = (0.1, 1.0, 10.0, 1e3)


def random_symmetric(rng, p, scale):
    upper = np.triu(rng.normal(scale=scale, size=(p, p)), 1)
    return upper + upper.T


def random_table(rng, n, p):
    """Columns of mixed balance that depend on each other; small ones often separate, repeat or stay constant."""
    X = rng.random((n, p)) < rng.uniform(0.2, 0.8, size=p)
    for s in range(1, p):
        X[:, s] ^= X[:, s - 1] & (rng.random(n) < 0.5)
    return X.astype(np.uint8)


def mark(p, marks):
    """Penalty weights of 1 except for the pairs in ``marks``."""
    omega = np.ones((p, p))
    for (s, t), weight in marks.items():
        omega[s, t] = omega[t, s] = weight
    return omega


@st.composite
def problems(draw):
    """(X, couplings, fields, alpha, options): any admissible problem without free pairs, at any Θ."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p = draw(st.integers(2, 30)), draw(st.integers(1, 6))
    X = random_table(rng, n, p)
    weight = draw(st.sampled_from([None, rng.integers(0, 4, size=n) + np.eye(n)[0], rng.random(n)]))
    matrix = random_symmetric(rng, p, 1.0) ** 2
    matrix[rng.random((p, p)) < 0.1] = np.inf
    penalty = draw(st.sampled_from([None, "standardized", np.maximum(matrix, matrix.T) + 1e-3]))
    scale = draw(st.sampled_from(SCALES))
    couplings = random_symmetric(rng, p, scale) * (random_symmetric(rng, p, 1.0) > 0)
    used = X if weight is None else X[weight > 0]
    constant = np.ptp(used, axis=0) == 0
    couplings[constant, :] = couplings[:, constant] = 0
    if isinstance(penalty, np.ndarray):
        couplings[np.isinf(penalty)] = 0
    alpha = draw(st.sampled_from([0.0, 1e-3, 0.1, 1.0])) * max(objective.alpha_max(X, weight), 0.1)
    return X, couplings, rng.normal(scale=scale, size=p), alpha, {"sample_weight": weight, "penalty_weights": penalty}


def varying_problem(seed, n=40, p=5, scale=1.0):
    rng = np.random.default_rng(seed)
    X = random_table(rng, n, p)
    X[:2] = [[0] * p, [1] * p]
    return rng, X, random_symmetric(rng, p, scale), rng.normal(scale=scale, size=p)


# ---------------------------------------------------------------- value and gradient


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_value_and_gradient_equal_naive_loops(seed, weighted):
    rng, X, couplings, fields = varying_problem(seed)
    weight = rng.random(len(X)) if weighted else None
    penalty = 0.3 * np.abs(couplings).sum() / 2
    assert objective.value(X, couplings, fields, 0.3, sample_weight=weight) == pytest.approx(
        brute_force_loss(X, couplings, fields, weight) + penalty, rel=1e-13
    )
    edge, node = objective.gradient(X, couplings, fields, sample_weight=weight)
    slow_edge, slow_node = brute_force_gradient(X, couplings, fields, weight)
    np.testing.assert_allclose(edge, slow_edge, atol=1e-14)
    np.testing.assert_allclose(node, slow_node, atol=1e-14)
    assert np.array_equal(edge, edge.T)
    assert not edge.diagonal().any()


@pytest.mark.parametrize("seed", range(3))
def test_gradient_equals_central_differences(seed):
    rng, X, couplings, fields = varying_problem(seed)
    weight, h, p = rng.random(len(X)), 1e-5, len(fields)
    edge, node = objective.gradient(X, couplings, fields, sample_weight=weight)

    def difference(step_couplings, step_fields):
        ends = [
            objective.value(X, couplings + k * h * step_couplings, fields + k * h * step_fields, sample_weight=weight)
            for k in (1, -1)
        ]
        return (ends[0] - ends[1]) / (2 * h)

    for s, t in itertools.combinations(range(p), 2):
        step = np.zeros((p, p))
        step[s, t] = step[t, s] = 1
        assert difference(step, 0 * fields) == pytest.approx(edge[s, t], abs=1e-6)
    for s in range(p):
        assert difference(0 * couplings, np.eye(p)[s]) == pytest.approx(node[s], abs=1e-6)


def test_nothing_overflows_at_huge_margins():
    _, X, couplings, fields = varying_problem(0)
    couplings *= 1e4 / np.abs(couplings).max()
    fields *= 1e4
    numbers = [
        objective.value(X, couplings, fields, 0.1),
        objective.kkt_residual(X, couplings, fields, 0.1),
        objective.duality_gap(X, couplings, fields, 0.1),
        *objective.gradient(X, couplings, fields)[1],
    ]
    assert np.isfinite(numbers).all()
    np.testing.assert_allclose(numbers[0], brute_force_loss(X, couplings, fields) + 0.05 * np.abs(couplings).sum())


# ---------------------------------------------------------------- alpha_max and the null model


@pytest.mark.parametrize("options", ["plain", "weighted", "standardized", "free and forbidden"])
@pytest.mark.parametrize("seed", range(3))
def test_couplings_vanish_at_alpha_max_and_not_below(seed, options):
    rng, X, _, _ = varying_problem(seed)
    weight = rng.random(len(X)) if options == "weighted" else None
    special = {(0, 1): 0.0, (1, 2): np.inf}
    omega = mark(5, special) if options == "free and forbidden" else None
    if options == "standardized":
        omega = np.add.outer(X.std(axis=0), X.std(axis=0))
    penalty = "standardized" if options == "standardized" else omega
    top = objective.alpha_max(X, weight, penalty_weights=penalty)
    mask = ~np.eye(5, dtype=bool) if options != "free and forbidden" else np.isfinite(omega) & (omega > 0)
    above, _ = reference_solution(X, top * (1 + 1e-9), sample_weight=weight, penalty_weights=omega)
    below, _ = reference_solution(X, 0.99 * top, sample_weight=weight, penalty_weights=omega)
    assert not above[mask & ~np.eye(5, dtype=bool)].any()
    assert below[mask & ~np.eye(5, dtype=bool)].any()
    couplings, fields = objective.null_model(X, sample_weight=weight, penalty_weights=penalty)
    residual = objective.kkt_residual(X, couplings, fields, top, sample_weight=weight, penalty_weights=penalty)
    assert residual <= 1e-12
    if options == "free and forbidden":
        assert couplings[0, 1] == pytest.approx(above[0, 1], abs=1e-9)
        assert above[0, 1] != 0
        assert above[1, 2] == below[1, 2] == couplings[1, 2] == 0


def test_alpha_max_and_null_model_in_closed_form():
    rng, X, _, _ = varying_problem(7)
    weight = rng.random(len(X))
    covariance = np.cov(X.T, aweights=weight, ddof=0)
    np.fill_diagonal(covariance, 0)
    assert objective.alpha_max(X, weight) == pytest.approx(2 * np.abs(covariance).max(), rel=1e-13)
    couplings, fields = objective.null_model(X, sample_weight=weight)
    assert not couplings.any()
    np.testing.assert_allclose(fields, logit(np.average(X, axis=0, weights=weight)), rtol=1e-12)


def test_a_null_model_with_one_free_pair_matches_its_table():
    X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [3, 4, 5, 6], axis=0)
    couplings, fields = objective.null_model(X, penalty_weights=np.zeros((2, 2)))
    assert couplings[0, 1] == pytest.approx(np.log(3 * 6 / (4 * 5)), abs=1e-12)  # the log odds ratio
    np.testing.assert_allclose(fields, np.log([5 / 3, 4 / 3]), atol=1e-12)
    assert objective.alpha_max(X, penalty_weights=np.zeros((2, 2))) == 0
    assert objective.kkt_residual(X, couplings, fields, 1.0, penalty_weights=np.zeros((2, 2))) <= 1e-13
    assert objective.duality_gap(X, couplings, fields, 1.0, penalty_weights=np.zeros((2, 2))) <= 1e-12


# ---------------------------------------------------------------- profile and gap


@given(problems())
def test_profile_solves_every_field_and_keeps_the_couplings(problem):
    X, couplings, fields, _, options = problem
    couplings2, fields2 = objective.profile(X, couplings, fields, **options)
    assert np.array_equal(couplings2, couplings)
    _, node = objective.gradient(X, couplings2, fields2, sample_weight=options["sample_weight"])
    # A field of size 1e3 moves in steps of 1e-13, and g_ss with it.
    assert np.abs(node).max() <= max(1e-13, np.spacing(np.abs(fields2).max() + np.abs(couplings).sum()))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("seed", range(6))
def test_profile_with_free_pairs_is_stationary_from_any_start(seed, scale):
    _, X, couplings, fields = varying_problem(seed, n=80, p=6, scale=scale)
    free = {(0, 1): 0.0, (1, 2): 0.0, (3, 4): 0.0}
    omega = mark(6, free)
    couplings2, fields2 = objective.profile(X, couplings, fields, penalty_weights=omega)
    edge, node = objective.gradient(X, couplings2, fields2)
    assert max(np.abs(node).max(), np.abs(edge[omega == 0]).max()) <= 1e-12
    penalized = (omega > 0) & ~np.eye(6, dtype=bool)
    assert np.array_equal(couplings2[penalized], couplings[penalized])
    assert objective.value(X, couplings2, fields2) <= objective.value(X, couplings, fields)


@given(problems())
def test_gap_is_not_negative_and_equals_primal_minus_dual(problem):
    X, couplings, fields, alpha, options = problem
    assert objective.duality_gap(X, couplings, fields, alpha, **options) >= 0
    couplings, fields = objective.profile(X, couplings, fields, **options)
    gap = objective.duality_gap(X, couplings, fields, alpha, **options)
    primal = objective.value(X, couplings, fields, alpha, **options)
    raw = np.ones(len(X)) if options["sample_weight"] is None else options["sample_weight"]
    weight = raw / raw.sum()
    rows = X[raw > 0]
    vary = np.ptp(rows, axis=0) > 0
    edge, _ = objective.gradient(X, couplings, fields, sample_weight=options["sample_weight"])
    omega = objective.penalty_matrix(
        np.sqrt(np.cov(X.T, aweights=raw, ddof=0).reshape(X.shape[1], -1).diagonal()), options["penalty_weights"]
    )
    mask = np.outer(vary, vary) & ~np.eye(len(vary), dtype=bool) & np.isfinite(omega)
    over = mask & (np.abs(edge) > alpha * omega)
    c = min([1.0, *(alpha * omega[over] / np.abs(edge[over]))])
    q = (X + c * (expit(fields + X @ couplings) - X))[:, vary]
    dual = weight @ (entr(q) + entr(1 - q)).sum(axis=1)
    if alpha == 0:  # no scale but 0 is feasible; the certificate may find a better point
        assert gap <= primal - dual + 1e-11 * (1 + primal)
    else:
        assert gap == pytest.approx(primal - dual, abs=1e-11 * (1 + primal))


@given(problems())
def test_the_gap_bounds_the_distance_to_the_optimum(problem):
    X, couplings, fields, alpha, options = problem
    best = objective.null_model(X, **options)  # any point is an upper bound of the minimum
    excess = objective.value(X, couplings, fields, alpha, **options) - objective.value(X, *best, alpha, **options)
    assert objective.duality_gap(X, couplings, fields, alpha, **options) >= excess - 1e-12 * (1 + abs(excess))


@pytest.mark.parametrize("oracle", cases(), ids=str)
def test_stored_solutions_are_certified(oracle):
    X, couplings, fields, alpha = oracle.X, oracle.couplings, oracle.fields, oracle.alpha
    assert np.count_nonzero(np.triu(couplings)) == oracle.n_edges
    assert objective.value(X, couplings, fields, alpha) == pytest.approx(oracle.objective, rel=1e-10)
    assert objective.kkt_residual(X, couplings, fields, alpha) < 1e-9
    assert objective.relative_gap(X, couplings, fields, alpha) < 1e-9
    proved = objective.certified_zeros(X, couplings, fields, alpha)
    assert not (proved & (couplings != 0)).any()
    clear = np.abs(objective.gradient(X, couplings, fields)[0]) < 0.999 * alpha  # every zero that is not a near tie
    assert proved[clear & ~np.eye(len(fields), dtype=bool)].all()


@pytest.mark.parametrize("oracle", cases()[:3], ids=str)
def test_the_reference_solver_finds_the_stored_solutions(oracle):
    couplings, fields = reference_solution(oracle.X, oracle.alpha)
    np.testing.assert_allclose(couplings, oracle.couplings, atol=1e-9)
    np.testing.assert_allclose(fields, oracle.fields, atol=1e-9)


def test_wrong_fields_or_couplings_have_a_large_gap():
    oracle = cases()[0]
    X, couplings, fields, alpha = oracle.X, oracle.couplings, oracle.fields, oracle.alpha
    wrong = fields + np.eye(5)[0]
    assert objective.relative_gap(X, couplings, wrong, alpha) > 0.01
    assert objective.kkt_residual(X, couplings, wrong, alpha) > 0.1
    assert objective.duality_gap(X, couplings, wrong, alpha) == pytest.approx(
        objective.value(X, couplings, wrong, alpha) - oracle.objective, rel=1e-6
    )
    assert objective.relative_gap(X, 1.1 * couplings, fields, alpha) > 1e-4


def test_the_gap_is_accurate_far_below_the_rounding_of_the_objective():
    oracle = cases()[0]
    couplings, fields = objective.profile(oracle.X, oracle.couplings, oracle.fields)
    step = 1e-7 * np.eye(5)[0]
    sigma = expit(fields + oracle.X @ couplings)[:, 0]
    excess = np.mean(sigma * (1 - sigma)) * 1e-14 / 2  # second order, about the rounding of F itself
    extra = objective.duality_gap(oracle.X, couplings, fields + step, oracle.alpha) - objective.duality_gap(
        oracle.X, couplings, fields, oracle.alpha
    )
    assert extra == pytest.approx(excess, rel=0.1)


def test_at_alpha_zero_every_pair_is_free():
    rng = np.random.default_rng(8)
    X = random_table(rng, 400, 4)
    best = objective.null_model(X, penalty_weights=np.zeros((4, 4)))
    assert objective.duality_gap(X, *best, 0.0) < 1e-11
    assert objective.duality_gap(X, best[0] + random_symmetric(rng, 4, 0.1), best[1], 0.0) > 1e-4


def test_at_alpha_zero_a_separated_table_gets_the_idle_bound():
    X = [[0, 0], [1, 1], [1, 1]]
    gap = objective.duality_gap(X, np.zeros((2, 2)), np.zeros(2), 0.0)
    assert gap == pytest.approx(objective.value(X, np.zeros((2, 2)), np.zeros(2)))


# ---------------------------------------------------------------- proofs of zeros


@pytest.mark.parametrize("n_tables", [8, pytest.param(30, marks=pytest.mark.long)])
def test_no_certified_zero_is_ever_wrong(n_tables):
    rng = np.random.default_rng(5)
    trials = certified = certifiable = 0
    for _ in range(n_tables):
        p = int(rng.integers(2, 6))
        X = random_table(rng, int(rng.integers(4, 40)), p)
        omega = np.ones((p, p)) if rng.random() < 0.5 else 0.5 + random_symmetric(rng, p, 1.0) ** 2
        alpha = rng.choice([0.02, 0.2, 0.6, 0.95]) * objective.alpha_max(X, penalty_weights=omega)
        if alpha == 0:
            continue
        best = reference_solution(X, alpha, penalty_weights=omega)
        vary = np.ptp(X, axis=0) > 0
        for size in [0.0, *10.0 ** rng.uniform(-13, 0.5, size=24)]:
            couplings = best[0] + size * random_symmetric(rng, p, 1.0) * np.outer(vary, vary)
            proved = objective.certified_zeros(X, couplings, best[1], alpha, penalty_weights=omega)
            assert not (proved & (np.abs(best[0]) > 1e-9)).any()
            assert np.array_equal(proved, proved.T)
            trials, certified = trials + 1, certified + proved.sum() // 2
            certifiable += np.count_nonzero(np.triu(best[0] == 0, 1) & np.outer(vary, vary))
    assert trials > 20 * n_tables
    assert certified > 0.3 * certifiable


# ---------------------------------------------------------------- weights


def test_integer_weights_equal_repeated_rows():
    rng, X, couplings, fields = varying_problem(11)
    counts = rng.integers(0, 4, size=len(X))
    counts[:2] = 1
    repeated = np.repeat(X, counts, axis=0)
    omega = mark(5, {(0, 1): 0.0})
    for penalty in (None, "standardized", omega):
        with_counts = {"sample_weight": counts, "penalty_weights": penalty}
        for function in (objective.value, objective.kkt_residual, objective.duality_gap, objective.relative_gap):
            assert function(X, couplings, fields, 0.05, **with_counts) == pytest.approx(
                function(repeated, couplings, fields, 0.05, penalty_weights=penalty), rel=1e-10
            )
        assert objective.alpha_max(X, counts, penalty_weights=penalty) == pytest.approx(
            objective.alpha_max(repeated, penalty_weights=penalty), rel=1e-10
        )


def test_standardized_weights_are_sums_of_standard_deviations():
    rng, X, couplings, fields = varying_problem(2)
    weight = rng.random(len(X))
    mean = np.average(X, axis=0, weights=weight)
    sd = np.sqrt(mean * (1 - mean))
    assert objective.value(
        X, couplings, fields, 0.3, sample_weight=weight, penalty_weights="standardized"
    ) == pytest.approx(
        objective.value(X, couplings, fields, 0.3, sample_weight=weight, penalty_weights=np.add.outer(sd, sd))
    )
    assert not objective.penalty_matrix(sd, "standardized").diagonal().any()


# ---------------------------------------------------------------- degenerate data


def test_constant_columns_are_left_out():
    _, X, couplings, fields = varying_problem(4, p=3)
    wide = np.insert(X, 1, 1, axis=1)
    couplings_wide = np.insert(np.insert(couplings, 1, 0, axis=0), 1, 0, axis=1)
    fields_wide = np.insert(fields, 1, 123.0)
    for function in (objective.value, objective.kkt_residual, objective.duality_gap, objective.relative_gap):
        assert function(wide, couplings_wide, fields_wide, 0.1) == function(X, couplings, fields, 0.1)
    assert objective.alpha_max(wide) == objective.alpha_max(X)
    assert objective.null_model(wide)[1][1] == pytest.approx(logit((40 + 0.5) / 41))
    assert objective.profile(wide, couplings_wide, fields_wide)[1][1] == objective.null_model(wide)[1][1]
    edge, node = objective.gradient(wide, couplings_wide, fields_wide)
    assert node[1] == 0
    assert not edge[1].any()
    couplings_wide[0, 1] = couplings_wide[1, 0] = 1e-3
    for function in (objective.value, objective.kkt_residual, objective.duality_gap, objective.relative_gap):
        assert function(wide, couplings_wide, fields_wide, 0.1) == np.inf
    assert not objective.profile(wide, couplings_wide, fields_wide)[0][1].any()


def test_a_column_constant_where_weights_are_positive_is_constant():
    X = np.array([[0, 0], [1, 0], [1, 1]])
    assert objective.alpha_max(X, [1, 2, 0]) == 0
    np.testing.assert_allclose(objective.null_model(X, sample_weight=[1, 2, 0])[1], [np.log(2), logit(0.5 / 4)])


def test_forbidden_pairs_are_skipped_when_zero_and_infinite_otherwise():
    _, X, couplings, fields = varying_problem(6)
    omega = mark(5, {(0, 3): np.inf})
    for function in (objective.value, objective.kkt_residual, objective.duality_gap):
        assert function(X, couplings, fields, 0.1, penalty_weights=omega) == np.inf
    couplings[0, 3] = couplings[3, 0] = 0
    assert objective.value(X, couplings, fields, 0.1, penalty_weights=omega) == objective.value(
        X, couplings, fields, 0.1
    )
    assert np.isfinite(objective.duality_gap(X, couplings, fields, 0.1, penalty_weights=omega))
    assert not objective.certified_zeros(X, 0 * couplings, fields, 9.0, penalty_weights=omega)[0, 3]


@pytest.mark.parametrize("X", [[[0], [1], [1]], [[1], [1]], [[1, 0], [1, 0]], [[0, 1], [1, 1]]])
def test_one_column_or_nothing_that_varies(X):
    p = len(X[0])
    couplings, fields = objective.null_model(X)
    assert objective.alpha_max(X) == 0
    assert objective.kkt_residual(X, couplings, fields, 0.0) <= 1e-15
    assert objective.duality_gap(X, couplings, fields, 0.0) <= 1e-15
    assert not objective.certified_zeros(X, couplings, fields, 0.1).any()
    assert np.isfinite(fields).all()
    assert couplings.shape == (p, p)


def test_two_columns_in_closed_form():
    X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [4, 1, 1, 4], axis=0)  # cov = 0.15, symmetric
    assert objective.alpha_max(X) == pytest.approx(0.3)
    alpha = 0.1
    theta = 2 * logit(0.8 - alpha)  # g = P(1|1) − 0.8 is −alpha; by symmetry the fields are −theta/2
    couplings, fields = np.array([[0, theta], [theta, 0]]), np.full(2, -theta / 2)
    assert objective.kkt_residual(X, couplings, fields, alpha) <= 1e-15
    assert objective.duality_gap(X, couplings, fields, alpha) <= 1e-13  # a bound with rounding, so not zero


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([[0, np.nan]], np.zeros((2, 2)), [0, 0]), {}, "column 1"),
        (([[0, 2]], np.zeros((2, 2)), [0, 0]), {}, "only 0 and 1"),
        (([[0, 1]], np.zeros((3, 3)), [0, 0]), {}, r"couplings must have one row per field \(2\); got 3"),
        (([[0, 1]], np.zeros((2, 2)), [0]), {}, r"couplings must have one row per field \(1\); got 2"),
        (([[0, 1]], [[0, 1], [2, 0]], [0, 0]), {}, "symmetric"),
        (([[0, 1]], np.eye(2), [0, 0]), {}, "zero on the diagonal"),
        (([[0, 1]], np.zeros((2, 2)), [0, np.inf]), {}, "finite"),
        (([[0, 1]], np.zeros((3, 3)), [0, 0, 0]), {}, r"one column per node \(3\); got 2"),
        (([[0, 1]], np.zeros((2, 2)), [0, 0], -1.0), {}, "alpha must be"),
        (([[0, 1]], np.zeros((2, 2)), [0, 0], np.nan), {}, "alpha must be"),
        (([[0, 1]], np.zeros((2, 2)), [0, 0]), {"sample_weight": [0.0]}, "row weights .* zero"),
        (([[0, 1]], np.zeros((2, 2)), [0, 0]), {"sample_weight": [1, 1]}, "one value per row"),
        (([[0, 1]], np.zeros((2, 2)), [0, 0]), {"penalty_weights": "standard"}, "standardized"),
    ],
)
def test_wrong_input_is_refused_by_name(arguments, options, message):
    with pytest.raises(DataError, match=message):
        objective.value(*arguments, **options)


# ---------------------------------------------------------------- separation

MAJORITY = np.array([[a + b + c > 1, a, b, c] for a, b, c in itertools.product([0, 1], repeat=3)], dtype=int)
ALL_SIX = list(itertools.combinations(range(4), 2))


def test_a_joint_separation_without_any_empty_cell():
    assert all(len(np.unique(MAJORITY[:, pair], axis=0)) == 4 for pair in ALL_SIX)
    pair = objective.find_separation(MAJORITY, ALL_SIX)
    assert pair is not None
    assert 0 in pair  # δ_0t = 2 and δ_st = −1 between the voters, up to scale
    assert objective.find_separation(MAJORITY, [(0, 1), (0, 2), (0, 3)]) is None
    with pytest.raises(SeparationError, match=rf"pair \({pair[0]}, {pair[1]}\)"):
        objective.null_model(MAJORITY, penalty_weights=np.zeros((4, 4)))
    star = mark(4, {(1, 2): np.inf, (1, 3): np.inf, (2, 3): np.inf, (0, 1): 0.0, (0, 2): 0.0, (0, 3): 0.0})
    couplings, fields = objective.null_model(MAJORITY, penalty_weights=star)
    assert objective.kkt_residual(MAJORITY, couplings, fields, 0.0, penalty_weights=star) <= 1e-13


def test_separation_errors_name_the_pair_in_the_columns_of_the_table():
    _, X, couplings, fields = varying_problem(8)
    X[:, 4] = X[:, 2]
    wide = np.insert(X, 0, 1, axis=1)  # a constant column in front shifts the names
    omega = mark(6, {(3, 5): 0.0})
    with pytest.raises(SeparationError, match=r"pair \(3, 5\)"):
        objective.null_model(wide, penalty_weights=omega)
    with pytest.raises(SeparationError, match=r"pair \(3, 5\)"):
        objective.alpha_max(wide, penalty_weights=omega)
    with pytest.raises(SeparationError, match=r"pair \(3, 5\)"):
        objective.profile(wide, np.pad(couplings, ((1, 0), (1, 0))), np.r_[0.0, fields], penalty_weights=omega)


def test_separation_looks_at_rows_with_positive_weight_only():
    X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert objective.find_separation(X, [(1, 0)]) is None
    assert objective.find_separation(X[:3], [(1, 0)]) == (0, 1)
    assert objective.find_separation(X, []) is None
    couplings, _ = objective.null_model(X, sample_weight=[1, 1, 1, 1e-9], penalty_weights=np.zeros((2, 2)))
    assert couplings[0, 1] == pytest.approx(np.log(1e-9), rel=1e-3)  # rare is not the same as never
