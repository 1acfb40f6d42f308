"""The path solver: theorems on every solution, degenerate tables, equivariance, and the stored optima."""

import logging
import warnings

import numpy as np
import objectives as objective
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from oracles import cases
from reference import reference_solution

from isinglass import ising_path
from isinglass.errors import ConstantColumnWarning, ConvergenceWarning, DataError, SeparationError
from isinglass.solve.path import alpha_max


@pytest.fixture(params=["all pairs", "screened"])
def mode(request, monkeypatch):
    """Run a test with the one-call path for small tables and with the screening loop."""
    if request.param == "screened":
        monkeypatch.setattr("isinglass.solve.alphas.ALL_PAIRS_UP_TO", 1)
    return request.param


def random_table(rng, n, p, strength=0.5):
    """Columns of mixed balance that depend on their neighbors."""
    X = rng.random((n, p)) < rng.uniform(0.2, 0.8, size=p)
    for s in range(1, p):
        X[:, s] ^= X[:, s - 1] & (rng.random(n) < strength)
    X[0], X[1] = False, True  # every column varies
    return X.astype(np.uint8)


def theta(solution):
    return solution.couplings + np.diag(solution.fields)


def assert_certified(X, path, tol=1e-7, **options):
    """Recompute every certificate with objective.py."""
    for solution in path:
        point = X, solution.couplings, solution.fields, solution.alpha
        assert solution.converged
        assert objective.kkt_residual(*point, **options) <= tol
        assert objective.relative_gap(*point, **options) <= tol
        assert solution.objective == pytest.approx(objective.value(*point, **options), rel=1e-12)
        assert solution.kkt_residual == pytest.approx(objective.kkt_residual(*point, **options), abs=1e-12)
        assert solution.duality_gap == pytest.approx(objective.duality_gap(*point, **options), rel=1e-3, abs=1e-10)
        proved = np.triu(objective.certified_zeros(*point, **options)).sum()
        assert solution.certified_zeros <= proved + 1  # a tie may round either way
        assert (solution.edge_index[:, 0] < solution.edge_index[:, 1]).all()


# ---------------------------------------------------------------- the stored optima


@pytest.mark.parametrize("case", cases(), ids=str)
def test_stored_optima_are_reached(case):
    solution = ising_path(case.X, [case.alpha], tol=1e-10)[0]
    assert solution.objective == pytest.approx(case.objective, rel=1e-9)
    assert np.linalg.norm(theta(solution) - case.theta) <= 1e-6 * np.linalg.norm(case.theta)
    assert solution.n_edges == case.n_edges
    assert_certified(case.X, ising_path(case.X, [case.alpha]))


@pytest.mark.parametrize("name", ["er10", "unbal10"])
def test_stored_optima_are_reached_through_the_screening_loop(name, monkeypatch):
    monkeypatch.setattr("isinglass.solve.alphas.ALL_PAIRS_UP_TO", 1)
    for case in (case for case in cases() if case.name == name):
        path = ising_path(case.X, [case.alpha], tol=1e-10)
        np.testing.assert_allclose(theta(path[0]), case.theta, atol=1e-6 * np.abs(case.theta).max())
        assert_certified(case.X, path, tol=1e-10)


def test_unbalanced_tables_need_few_newton_steps():
    X = next(case.X for case in cases() if case.name == "unbal10")
    path = ising_path(X, np.geomspace(0.1, 1e-4, 12))
    assert_certified(X, path)
    assert path.n_iter.max() <= 12
    cold = ising_path(X, [1e-4])
    assert_certified(X, cold)
    assert cold[0].n_iter <= 15


# ---------------------------------------------------------------- theorems


@pytest.mark.parametrize(("n", "p", "ratio"), [(60, 5, 0.01), (40, 12, 0.05), (25, 40, 0.2), (300, 35, 0.02)])
def test_every_solution_of_a_path_is_certified(n, p, ratio, mode):
    X = random_table(np.random.default_rng(p), n, p)
    assert_certified(X, ising_path(X, 8, alpha_min_ratio=ratio))


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(1, 9), st.floats(1e-5, 1.0), st.booleans())
def test_any_table_is_solved(seed, n, p, share, screened):
    """Small tables: constant, duplicate and separating columns, N < p, alpha down to 1e-5 of alpha_max."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, p)) < rng.uniform(0, 1, size=p)).astype(np.uint8)
    if p > 2 and rng.random() < 0.5:
        X[:, 0] = X[:, 1]
    if p > 3 and rng.random() < 0.3:
        X[:, 2] = 1 - X[:, 3]
    alpha = share * objective.alpha_max(X)
    if alpha == 0.0:
        return
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantColumnWarning)
        if screened:
            patch.setattr("isinglass.solve.alphas.ALL_PAIRS_UP_TO", 1)
        path = ising_path(X, [alpha])
    assert_certified(X, path)


@pytest.mark.parametrize("seed", range(4))
def test_solutions_equal_the_reference_solver(seed, mode):
    rng = np.random.default_rng(seed)
    X = random_table(rng, 50, 6)
    weight = rng.integers(0, 4, len(X)).astype(float)
    omega = np.exp(rng.normal(size=(6, 6)))
    omega = np.triu(omega, 1) + np.triu(omega, 1).T
    omega[1, 4] = omega[4, 1] = np.inf
    alpha = 0.1 * objective.alpha_max(X, weight, penalty_weights=omega)
    couplings, fields = reference_solution(X, alpha, sample_weight=weight, penalty_weights=omega)
    solution = ising_path(X, [alpha], sample_weight=weight, penalty_weights=omega, tol=1e-11)[0]
    np.testing.assert_allclose(solution.couplings, couplings, atol=1e-8)
    np.testing.assert_allclose(solution.fields, fields, atol=1e-8)
    assert solution.couplings[1, 4] == 0.0


def test_edges_are_exactly_zero_at_alpha_max_and_not_below(mode):
    X = random_table(np.random.default_rng(2), 80, 7)
    top = objective.alpha_max(X)
    at, below = ising_path(X, [top * (1 + 1e-12), 0.99 * top])
    assert (at.n_edges, below.n_edges > 0) == (0, True)
    assert ising_path(X, 3)[0].n_edges == 0  # the grid starts at alpha_max itself
    np.testing.assert_allclose(at.fields, np.log(X.mean(0) / (1 - X.mean(0))), rtol=1e-12)


def test_screening_changes_nothing_and_saves_work(monkeypatch):
    X = random_table(np.random.default_rng(3), 200, 20)
    unscreened = ising_path(X, 10, alpha_min_ratio=0.1, tol=1e-10)
    monkeypatch.setattr("isinglass.solve.alphas.ALL_PAIRS_UP_TO", 1)
    screened = ising_path(X, 10, alpha_min_ratio=0.1, tol=1e-10)
    assert (unscreened.n_screened == 0).all()
    assert (screened.n_screened[:5] > 100).all()  # of 190 pairs
    for one, other in zip(unscreened, screened, strict=True):
        np.testing.assert_allclose(theta(one), theta(other), atol=1e-8)


def test_the_check_repairs_a_strong_rule_that_is_wrong(monkeypatch):
    """With a threshold far too high, everything that matters is found by the check over all pairs."""
    X = random_table(np.random.default_rng(4), 200, 20)
    honest = ising_path(X, 6, alpha_min_ratio=0.1, tol=1e-10)
    monkeypatch.setattr("isinglass.solve.alphas.ALL_PAIRS_UP_TO", 1)
    monkeypatch.setattr("isinglass.solve.alphas.STRICTNESS", 1e9)
    repaired = ising_path(X, 6, alpha_min_ratio=0.1, tol=1e-10)
    assert repaired[-1].n_edges > 20
    for one, other in zip(honest, repaired, strict=True):
        np.testing.assert_allclose(theta(one), theta(other), atol=1e-8)


def test_warm_and_cold_starts_agree(mode):
    X = random_table(np.random.default_rng(5), 150, 15)
    warm = ising_path(X, 8, alpha_min_ratio=0.02, tol=1e-10)
    for solution in warm[1:]:
        cold = ising_path(X, [solution.alpha], tol=1e-10)[0]
        np.testing.assert_allclose(theta(cold), theta(solution), atol=1e-7)


def test_threads_do_not_change_a_bit():
    X = random_table(np.random.default_rng(6), 900, 60)  # large enough for the pool to be used
    one, two, three = (ising_path(X, 12, alpha_min_ratio=0.05, n_threads=k) for k in (1, 2, 3))
    for a, b, c in zip(one, two, three, strict=True):
        assert a.edge_values.tobytes() == b.edge_values.tobytes() == c.edge_values.tobytes()
        assert a.fields.tobytes() == b.fields.tobytes() == c.fields.tobytes()
        assert (a.kkt_residual, a.duality_gap, a.n_iter) == (b.kkt_residual, b.duality_gap, b.n_iter)


def test_any_dtype_and_order_gives_the_same_bits():
    X = random_table(np.random.default_rng(7), 60, 9)
    expected = ising_path(X, 5)
    read_only = X.astype(np.int64)
    read_only.flags.writeable = False
    for table in (X.astype(bool), X.astype(float), np.asfortranarray(X), read_only, X[::-1][::-1], X.tolist()):
        for one, other in zip(expected, ising_path(table, 5), strict=True):
            assert theta(one).tobytes() == theta(other).tobytes()
    assert X.sum() == random_table(np.random.default_rng(7), 60, 9).sum()  # not modified


def test_permuting_columns_permutes_the_network(mode):
    rng = np.random.default_rng(8)
    X = random_table(rng, 120, 12)
    order = rng.permutation(12)
    for one, other in zip(ising_path(X, 6, tol=1e-11), ising_path(X[:, order], 6, tol=1e-11), strict=True):
        np.testing.assert_allclose(theta(other), theta(one)[np.ix_(order, order)], atol=1e-8)


def test_flipping_a_coding_flips_the_couplings(mode):
    """x → 1 − x in column k: θ_kt → −θ_kt, the fields follow, the objective stays."""
    X = random_table(np.random.default_rng(9), 120, 8)
    flipped = X.copy()
    flipped[:, 3] = 1 - flipped[:, 3]
    alphas = np.array([0.5, 0.1, 0.02]) * objective.alpha_max(X)
    for one, other in zip(ising_path(X, alphas, tol=1e-11), ising_path(flipped, alphas, tol=1e-11), strict=True):
        sign = np.where(np.arange(8) == 3, -1.0, 1.0)
        np.testing.assert_allclose(other.couplings, one.couplings * np.outer(sign, sign), atol=1e-8)
        fields = one.fields + one.couplings[3]
        fields[3] = -one.fields[3]
        np.testing.assert_allclose(other.fields, fields, atol=1e-8)
        assert other.objective == pytest.approx(one.objective, rel=1e-12)


def test_integer_weights_equal_repeated_rows(mode):
    rng = np.random.default_rng(10)
    X = random_table(rng, 70, 8)
    weight = rng.integers(0, 4, 70)
    weight[:2] = 1
    repeated = ising_path(np.repeat(X, weight, axis=0), 6, tol=1e-11)
    for one, other in zip(repeated, ising_path(X, 6, sample_weight=weight, tol=1e-11), strict=True):
        np.testing.assert_allclose(theta(one), theta(other), atol=1e-8)
    scaled = ising_path(X, 6, sample_weight=weight * 0.37, tol=1e-11)
    np.testing.assert_allclose(scaled.objective, repeated.objective, rtol=1e-10)


# ---------------------------------------------------------------- penalty weights


def test_forbidden_pairs_never_enter_and_free_pairs_always_do(mode):
    rng = np.random.default_rng(11)
    X = random_table(rng, 150, 6)
    omega = np.ones((6, 6))
    omega[0, 1] = omega[1, 0] = np.inf
    omega[2, 3] = omega[3, 2] = 0.0
    path = ising_path(X, 7, penalty_weights=omega)
    assert all(solution.couplings[0, 1] == 0.0 for solution in path)
    assert all(solution.couplings[2, 3] != 0.0 for solution in path)
    assert path[0].n_edges == 1  # at alpha_max of the null model with the free pair
    assert path.alphas[0] == pytest.approx(objective.alpha_max(X, penalty_weights=omega), rel=1e-9)
    assert_certified(X, path, penalty_weights=omega)


def test_few_allowed_pairs_are_as_if_the_others_cost_too_much():
    rng = np.random.default_rng(5)
    X = (rng.random((300, 40)) < 0.5).astype(np.uint8)
    X[:, 1:] ^= (X[:, :-1] ^ X[:, 1:]) & (rng.random((300, 39)) < 0.6)
    allowed = np.zeros((40, 40), dtype=bool)
    s, t = np.triu_indices(40, 1)
    some = np.r_[np.flatnonzero(t == s + 1), rng.choice(len(s), 30)]
    allowed[s[some], t[some]] = allowed[t[some], s[some]] = True
    omega = np.where(allowed, np.exp(rng.normal(size=(40, 40))), np.inf)
    omega = np.minimum(omega, omega.T)
    few = ising_path(X, 10, penalty_weights=omega, tol=1e-9)
    every = ising_path(X, few.alphas, penalty_weights=np.where(allowed, omega, 1e6), tol=1e-9)
    assert few[0].alpha == pytest.approx(
        ising_path(X, 2, penalty_weights=np.where(allowed, omega, 1e6))[0].alpha, rel=1e-12
    )
    n_allowed = int(allowed.sum()) // 2
    for one, other in zip(few, every, strict=True):
        assert one.converged
        np.testing.assert_array_equal(one.edge_index, other.edge_index)
        np.testing.assert_allclose(one.edge_values, other.edge_values, atol=1e-7)
        assert other.certified_zeros - (780 - n_allowed) <= one.certified_zeros <= n_allowed - one.n_edges
    assert few[-1].n_edges > 30


def test_standardized_weights_are_the_sums_of_standard_deviations(mode):
    X = random_table(np.random.default_rng(12), 90, 7)
    sd = X.std(axis=0)
    by_name = ising_path(X, 6, penalty_weights="standardized", tol=1e-11)
    by_matrix = ising_path(X, 6, penalty_weights=np.add.outer(sd, sd), tol=1e-11)
    np.testing.assert_allclose(by_name.alphas, by_matrix.alphas, rtol=1e-12)
    for one, other in zip(by_name, by_matrix, strict=True):
        np.testing.assert_allclose(theta(one), theta(other), atol=1e-8)


def test_alpha_zero_is_the_unpenalized_fit(mode):
    X = random_table(np.random.default_rng(13), 500, 4, strength=0.3)
    solution = ising_path(X, [0.0])[0]
    assert solution.converged
    expected, fields = objective.null_model(X, penalty_weights=np.zeros((4, 4)))
    np.testing.assert_allclose(solution.couplings, expected, atol=1e-6)
    np.testing.assert_allclose(solution.fields, fields, atol=1e-6)


@pytest.mark.parametrize("free", [False, True])
def test_separation_is_named(free, mode):
    X = random_table(np.random.default_rng(14), 100, 5)
    X = np.delete(X, np.flatnonzero((X[:, 1] == 1) & (X[:, 3] == 1)), axis=0)  # never 1 together
    X = X[2:] if X[0].all() else X
    omega = np.ones((5, 5))
    omega[1, 3] = omega[3, 1] = 0.0
    with pytest.raises(SeparationError, match="columns 1 and 3 separate"):
        ising_path(X, [0.0]) if not free else ising_path(X, 5, penalty_weights=omega)


# ---------------------------------------------------------------- degenerate tables


def test_constant_columns_keep_their_place(mode):
    X = random_table(np.random.default_rng(15), 50, 6)
    wide = np.insert(X, [2, 4], [[1, 0]], axis=1)
    with pytest.warns(ConstantColumnWarning, match=r"columns 2 \(always 1\), 5 \(always 0\)"):
        path = ising_path(wide, 5)
    for one, other in zip(ising_path(X, 5), path, strict=True):
        kept = [0, 1, 3, 4, 6, 7]
        assert theta(other)[np.ix_(kept, kept)].tobytes() == theta(one).tobytes()
        assert not other.couplings[[2, 5]].any()
        assert other.fields[[2, 5]] == pytest.approx(np.log([50.5 / 0.5, 0.5 / 50.5]))
    assert_certified(wide, path)


def test_a_column_constant_in_the_weighted_rows_is_constant():
    X = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0], [1, 1, 1]], dtype=np.uint8)
    with pytest.warns(ConstantColumnWarning, match="column 2"):
        solution = ising_path(X, [0.01], sample_weight=[1, 1, 1, 0])[0]
    assert solution.fields[2] == pytest.approx(np.log(0.5 / 3.5))


@pytest.mark.parametrize("X", [[[0], [1], [1]], [[0, 0], [0, 1], [1, 0], [1, 1]]])
def test_nothing_to_connect_is_the_null_model(X):
    path = ising_path(X, 10)
    assert path.alphas.tolist() == [0.0]
    assert path[0].converged
    assert path[0].n_edges == 0


def test_a_table_without_variation():
    with pytest.warns(ConstantColumnWarning):
        path = ising_path(np.ones((4, 3), dtype=int), 10)
    assert path.alphas.tolist() == [0.0]
    assert path[0].converged
    assert path[0].fields == pytest.approx(np.full(3, np.log(4.5 / 0.5)))


def test_duplicate_columns_and_complete_separation_have_finite_solutions(mode):
    X = random_table(np.random.default_rng(16), 60, 5)
    X = np.column_stack([X, X[:, 0], 1 - X[:, 1]])
    path = ising_path(X, np.geomspace(0.4, 1e-4, 8))
    assert_certified(X, path)
    assert np.isfinite(path[-1].couplings).all()
    assert path[-1].couplings[0, 5] > 1 > -1 > path[-1].couplings[1, 6]


# ---------------------------------------------------------------- the surface


def test_grid_callback_and_log(caplog):
    X = random_table(np.random.default_rng(17), 60, 5)
    seen = []
    with caplog.at_level(logging.INFO, logger="isinglass"):
        path = ising_path(X, [0.01, 0.2, 0.05], callback=seen.append)
    assert path.alphas.tolist() == [0.2, 0.05, 0.01]
    assert seen == list(path)
    assert [record.args[0] for record in caplog.records] == seen
    assert ising_path(X, 0.05).alphas.tolist() == [0.05]
    top = objective.alpha_max(X)
    np.testing.assert_allclose(ising_path(X, 4, alpha_min_ratio=0.1).alphas, np.geomspace(top, 0.1 * top, 4))
    assert alpha_max(X) == ising_path(X, 1).alphas[0] == pytest.approx(top, rel=1e-12)


def test_non_convergence_is_said_and_marked(mode):
    X = random_table(np.random.default_rng(18), 80, 10)
    with pytest.warns(ConvergenceWarning, match=r"did not reach tol=1e-07.*kkt_residual=.*Increase max_iter \(now 1\)"):
        path = ising_path(X, [0.01], max_iter=1)
    assert not path[0].converged
    assert path[0].kkt_residual > 1e-7
    assert objective.value(X, path[0].couplings, path[0].fields, 0.01) < objective.value(
        X, *objective.null_model(X), 0.01
    )


@pytest.mark.parametrize("n_columns", [5, 40])
@pytest.mark.parametrize("answer", [bool, np.bool_])
def test_a_callback_that_returns_false_ends_the_path(n_columns, answer):
    X, seen = random_table(np.random.default_rng(20), 60, n_columns), []

    def stop_at_the_third(solution):
        seen.append(solution)
        return answer(len(seen) < 3)

    path = ising_path(X, 10, callback=stop_at_the_third)
    assert len(path) == len(seen) == 3
    whole = ising_path(X, 10)
    assert [solution.n_edges for solution in path] == [solution.n_edges for solution in whole[:3]]


def test_an_exception_in_the_callback_ends_the_path(mode):
    """As Ctrl-C does: control is in Python between alphas."""

    def interrupt(solution):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ising_path(random_table(np.random.default_rng(19), 60, 5), 5, callback=interrupt)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tol": 0}, "tol must be a positive number; got 0"),
        ({"tol": float("nan")}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
        ({"n_threads": 0}, "n_threads must be an integer of at least 1"),
        ({"alphas": -0.1}, "alphas must be finite and not negative"),
        ({"alphas": 0}, "alphas must be a count of at least 1"),
        ({"alpha_min_ratio": 2.0}, "alpha_min_ratio must be"),
        ({"sample_weight": np.zeros(60)}, "positive sum; got only weights of zero"),
        ({"sample_weight": np.ones(3)}, "one value per row"),
        ({"penalty_weights": "standardised"}, 'None, "standardized" or a symmetric matrix'),
        ({"penalty_weights": np.triu(np.ones((5, 5)))}, "symmetric"),
        ({"penalty_weights": -np.ones((5, 5))}, r"in \[0, inf\]; got -1.0"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(DataError, match=message):
        ising_path(random_table(np.random.default_rng(20), 60, 5), **options)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0, 2], [1, 1]], "got 2 in column 1"),
        ([[0.0, np.nan], [1, 1]], "missing"),
        ([[-1, 1], [1, 1]], "which holds -1, 1"),
        (np.empty((0, 3)), "at least one row"),
        (np.empty((3, 0)), "at least one row and one column"),
        ([0, 1, 1], "reshape"),
        ([["yes", "no"]], "got 'yes' in column 0"),
        ([[1e300, 0]], "got 1e"),
    ],
)
def test_bad_tables_are_named(X, message):
    with pytest.raises(DataError, match=message):
        ising_path(X)


def test_reprs_can_be_read():
    path = ising_path(random_table(np.random.default_rng(21), 60, 5), 3)
    assert "3 of 3 converged" in repr(path)
    assert "edges among 5 nodes, converged" in repr(path[-1])


# ---------------------------------------------------------------- what a certificate must survive


@pytest.mark.parametrize("tiny", [1e-307, 1e-300, 1e-100, 1e-12])
def test_weights_of_very_different_size_get_a_true_certificate(tiny, mode):
    X = random_table(np.random.default_rng(30), 200, 35)
    weight = np.ones(200)
    weight[2:22] = tiny
    path = ising_path(X, 4, sample_weight=weight, alpha_min_ratio=0.1)
    assert path[-1].n_edges > 10
    assert_certified(X, path, sample_weight=weight)


def test_a_column_that_hardly_varies_has_a_finite_field():
    X = random_table(np.random.default_rng(31), 50, 4)
    weight = np.ones(50)
    weight[1] = 1e20  # the row of ones: every mean rounds to 1
    solution = ising_path(X, [0.01], sample_weight=weight)[0]
    assert np.isfinite(solution.fields).all()
    assert solution.converged


@given(st.integers(0, 2**32 - 1))
def test_the_reported_residual_is_that_of_the_returned_parameters(seed):
    """Skewed weights make long journeys of the predictors."""
    rng = np.random.default_rng(seed)
    X = random_table(rng, 40, 12)
    weight = 10.0 ** rng.uniform(-8, 0, 40)
    alpha = 1e-4 * objective.alpha_max(X, weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = ising_path(X, [alpha], sample_weight=weight)[0]
    true = objective.kkt_residual(X, solution.couplings, solution.fields, alpha, sample_weight=weight)
    assert true <= solution.kkt_residual + 2e-10


def test_rounding_ends_the_iteration_with_the_certificate_of_what_is_returned():
    """A tolerance below rounding cannot be reached; what is reported is still true."""
    X = random_table(np.random.default_rng(32), 60, 8)
    with pytest.warns(ConvergenceWarning):
        solution = ising_path(X, [0.02], tol=1e-18)[0]
    true = objective.kkt_residual(X, solution.couplings, solution.fields, 0.02)
    assert solution.kkt_residual == pytest.approx(true, abs=1e-14)
    assert np.isfinite(solution.duality_gap)


def test_separation_by_a_row_of_tiny_weight_is_named():
    X = np.array([[0, 0], [1, 1], [0, 1]] * 30 + [[1, 0]], dtype=np.uint8)
    X = X[:-1]  # never 1 and 0 together
    weight = np.ones(len(X))
    weight[0] = 1e-12
    with pytest.raises(SeparationError):
        ising_path(X, [0.0], sample_weight=weight)


def test_long_tables_come_back_to_python_in_between():
    X = random_table(np.random.default_rng(33), 30_000, 20)
    seen = []

    def stop(solution):
        seen.append(solution)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ising_path(X, 50, callback=stop)
    assert len(seen) == 2


def test_a_slice_of_a_path_is_a_path():
    path = ising_path(random_table(np.random.default_rng(34), 60, 5), 4)
    assert (len(path[1:3]), path[1:3].tol) == (2, path.tol)


def test_small_alphas_on_small_separated_tables_converge():
    """Blocks must be remade where tiny curvatures decide: kept ones stopped these short."""
    rng = np.random.default_rng(36)
    failed = 0
    for _ in range(60):
        X = random_table(rng, int(rng.integers(20, 120)), int(rng.integers(5, 20)), strength=rng.random())
        top = objective.alpha_max(X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            path = ising_path(X, [0.3 * top, 1e-3 * top, 1e-5 * top])
        failed += not path.converged.all()
    assert failed == 0


@pytest.mark.parametrize("device", [3, "gpu", "mps", "meta", "xpu", "cuda:", ""])
def test_only_processors_and_cuda_are_devices(device):
    with pytest.raises(DataError, match='device must be "cpu", "cuda" or "cuda:" and a number'):
        ising_path([[0, 1], [1, 0], [1, 1]], [0.1], device=device)
    with pytest.raises(DataError, match='device must be "cpu", "cuda" or "cuda:" and a number'):
        ising_path([[0, 1], [1, 0], [2, 1]], [0.1], device=device, kinds="nominal")


def test_a_sparse_vector_is_no_table():
    with pytest.raises(DataError, match=r"X must be a table of shape .* got coo_array with 1 dimension"):
        ising_path(sp.coo_array([0, 1, 1]))
