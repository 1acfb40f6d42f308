"""The comparators: the joint optimum at tight tolerances, the paper's inaccuracy at their own."""

import warnings
from functools import cache

import numpy as np
import objectives as objective
import oracles
import pytest

import isinglass
from isinglass.errors import ConstantColumnWarning, ConvergenceWarning, DataError, LimitError, SeparationError
from isinglass.solve.path import alpha_max
from paper.published.baselines import bmn, plg

METHODS = [plg, bmn]
CASES = [case for case in oracles.cases() if case.name != "senate"]
SENATE = [case for case in oracles.cases() if case.name == "senate"]


def theta_of(solution):
    return solution.couplings + np.diag(solution.fields)


def difference(found, expected):
    """The paper's ε: ‖found − expected‖ / ‖expected‖, fields included."""
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


SLOW = {"er25-0.00702": pytest.mark.long}


def small_table(seed=0, n=200, p=5):
    rng = np.random.default_rng(seed)
    hidden = rng.random((n, 1)) < 0.5
    return (rng.random((n, p)) < np.where(hidden, 0.7, np.linspace(0.2, 0.4, p))).astype(np.uint8)


@cache
def at_default(index):
    case = CASES[index]
    return plg(case.X, case.alpha)[0], bmn(case.X, case.alpha)[0]


@pytest.mark.parametrize("case", [pytest.param(case, marks=SLOW.get(str(case), []), id=str(case)) for case in CASES])
def test_tight_solutions_are_the_joint_optimum(case):
    stacked = plg(case.X, case.alpha, thresh=1e-14)[0]
    # er25 at 0.00702 needs 15 000 steps in one round, above BMN's limit of 10 000 (see the next test).
    direct = bmn(case.X, case.alpha, tolerance=1e-9, max_iter=20_000)[0]
    for solution, kkt in ((stacked, 1e-6), (direct, 1e-8)):
        assert solution.converged
        assert difference(theta_of(solution), case.theta) < 1e-5
        assert solution.kkt_residual < kkt
        assert solution.objective == pytest.approx(case.objective, abs=1e-8)
        assert -1e-12 <= solution.objective - case.objective + 1e-10 <= solution.duality_gap + 2e-10


@pytest.mark.long
def test_bmn_runs_out_of_steps_where_it_says():
    case = next(case for case in CASES if str(case) == "er25-0.00702")
    with pytest.warns(ConvergenceWarning, match="1 of 1 solutions did not meet the method's own stopping rule"):
        solution = bmn(case.X, case.alpha, tolerance=1e-9)[0]
    assert not solution.converged
    assert difference(theta_of(solution), case.theta) > 1e-3


def test_bmn_oscillates_between_copies_of_a_column():
    # All steps at once overshoot to and fro between two points of one objective, which the step control accepts.
    X = np.repeat([[0], [1]], 6, axis=1)
    with pytest.warns(ConvergenceWarning, match="use ising_path"):
        stuck = bmn(X, 0.3)[0]
    assert stuck.kkt_residual > 1e-2
    assert bmn(X, 0.3, line_search=True)[0].kkt_residual < 1e-4


@pytest.mark.parametrize("index", range(0, 6, 2))
def test_bmn_with_a_line_search(index):
    case = CASES[index]
    solution = bmn(case.X, case.alpha, tolerance=1e-6, line_search=True)[0]
    assert solution.converged
    assert difference(theta_of(solution), case.theta) < 1e-3


@pytest.mark.parametrize("case", [case for case in SENATE if case.alpha > 0.1], ids=str)  # 0.06: tests/paper
@pytest.mark.parametrize("method", METHODS)
def test_senate_at_default_tolerances(method, case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantColumnWarning)
        solution = method(case.X, case.alpha)[0]
    assert solution.converged
    assert difference(theta_of(solution), case.theta) < 2e-2


@pytest.mark.long
def test_default_differences_have_the_order_of_the_paper():
    found = {
        str(case): difference(theta_of(at_default(k)[0]), theta_of(at_default(k)[1]))
        for k, case in enumerate(CASES)
        if case.name.startswith("er")
    }
    assert all(1e-4 < epsilon < 1e-2 for epsilon in found.values())
    assert found["er25-0.00702"] > found["er15-0.0171"] > found["er05-0.0117"]
    assert found["er25-0.05"] > found["er05-0.05"]


def test_the_difference_is_the_stopping_rule_of_glmnet():
    for k, case in enumerate(CASES):
        stacked, direct = (difference(theta_of(solution), case.theta) for solution in at_default(k))
        assert 3 * direct < stacked


# The inaccuracy of the R package itself as measured on these tables; er05 and er15 at 0.0171 differ, up to 3 times.
R_PACKAGE = {
    "er10-0.0144": 1.2234e-4,
    "er10-0.05": 5.8401e-5,
    "er15-0.05": 1.2602e-4,
    "er25-0.00702": 1.8412e-3,
    "er25-0.05": 9.2866e-5,
    "unbal10-0.0005": 1.2370e-3,
    "unbal10-0.005": 9.2500e-4,
    "unbal10-0.05": 3.9996e-5,
}


@pytest.mark.parametrize("name", R_PACKAGE)
def test_bmn_stops_where_the_r_package_stops(name):
    k = [str(case) for case in CASES].index(name)
    assert difference(theta_of(at_default(k)[1]), CASES[k].theta) == pytest.approx(R_PACKAGE[name], rel=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_the_certificate_is_that_of_what_is_returned(method):
    X = small_table()
    for solution in method(X, [0.1, 0.02]):
        arguments = (X, solution.couplings, solution.fields, solution.alpha)
        assert solution.objective == pytest.approx(objective.value(*arguments), rel=1e-12)
        assert solution.kkt_residual == pytest.approx(objective.kkt_residual(*arguments), rel=1e-9)
        best = isinglass.ising_path(X, [solution.alpha], tol=1e-10)[0]
        assert solution.objective - best.objective <= solution.duality_gap + 1e-12
        assert solution.duality_gap <= objective.duality_gap(*arguments) + 1e-12
        assert 0 <= solution.certified_zeros <= 10 - best.n_edges
        assert solution.n_iter > 0
        assert 0 <= solution.n_screened <= 10 - solution.n_edges


@pytest.mark.parametrize("method", METHODS)
def test_path_contract(method):
    X = small_table()
    seen = []
    path = method(X, 4, alpha_min_ratio=0.1, callback=seen.append)
    assert isinstance(path, isinglass.Path)
    assert [s.alpha for s in seen] == path.alphas.tolist()
    assert path.alphas[0] == pytest.approx(alpha_max(X))
    assert path.n_edges[0] == 0
    assert (np.diff(path.alphas) < 0).all()
    assert path.n_edges[-1] > 0
    assert path.converged.all()
    assert len(method(X, 0.05)) == 1


@pytest.mark.parametrize(("method", "tight"), [(plg, {"thresh": 1e-16}), (bmn, {"tolerance": 1e-10})])
def test_weights_equal_repeated_rows(method, tight):
    X = small_table(1)
    weight = np.random.default_rng(1).integers(0, 3, len(X))
    weighted = method(X, [0.1, 0.03], sample_weight=weight, **tight)
    repeated = method(np.repeat(X, weight, axis=0), [0.1, 0.03], **tight)
    for one, other in zip(weighted, repeated, strict=True):
        np.testing.assert_allclose(theta_of(one), theta_of(other), atol=1e-7)
        assert one.objective == pytest.approx(other.objective, rel=1e-10)


def test_bmn_starts_every_alpha_afresh():
    X = small_table(2)
    path = bmn(X, [0.1, 0.05, 0.02])
    for solution in path:
        alone = bmn(X, solution.alpha)[0]
        assert np.array_equal(theta_of(alone), theta_of(solution))
        assert alone.n_iter == solution.n_iter


def test_bmn_keeps_the_sign_of_rare_columns():
    X = small_table(3, n=400)
    X[:, 0] = 0
    X[:4, 0] = 1
    field = bmn(X, 0.1)[0].fields[0]
    assert field == pytest.approx(np.log(4 / 396), abs=1e-2)


@pytest.mark.parametrize("method", METHODS)
def test_constant_columns(method):
    X = small_table(4)
    wide = np.insert(X, 2, 1, axis=1)
    with pytest.warns(ConstantColumnWarning, match="column 2"):
        solution = method(wide, 0.05)[0]
    rest = [0, 1, 3, 4, 5]
    assert np.array_equal(theta_of(solution)[np.ix_(rest, rest)], theta_of(method(X, 0.05)[0]))
    assert not solution.couplings[2].any()
    assert solution.fields[2] == pytest.approx(np.log(200.5 / 0.5))


@pytest.mark.parametrize("method", METHODS)
def test_tables_without_pairs(method):
    with pytest.warns(ConstantColumnWarning):
        nothing = method(np.ones((5, 2)), 3)
    assert len(nothing) == 1
    assert nothing.converged.all()
    assert nothing[0].n_edges == 0
    column = method([[0], [1], [1], [1]], 0.1)[0]
    assert column.converged
    assert column.fields[0] == pytest.approx(np.log(3), abs=1e-2)


@pytest.mark.parametrize("method", METHODS)
def test_no_penalty(method):
    X = small_table(5)
    solution = method(X, 0.0)[0]
    assert solution.n_edges == 10
    assert solution.kkt_residual < 1e-3
    copied = np.column_stack([X[:, 0], X])
    with pytest.raises(SeparationError, match="columns 0 and 1 separate"):
        method(copied, 0.0)


BAD = [
    (plg, {"thresh": -1.0}, "thresh must be a positive number; got -1.0"),
    (plg, {"max_iter": 0}, "max_iter must be an integer of at least 1; got 0"),
    (bmn, {"tolerance": np.inf}, "tolerance must be a positive number; got inf"),
    (bmn, {"max_iter": 0}, "max_iter must be an integer of at least 1; got 0"),
    (bmn, {"max_rounds": 0}, "max_rounds must be an integer of at least 1; got 0"),
    (plg, {"alphas": [-0.1]}, "alphas must be finite and not negative; got -0.1"),
    (bmn, {"alphas": True}, "alphas must be a count, a value or a list of values; got True"),
    (plg, {"sample_weight": [1.0]}, "sample_weight must have one value per row"),
    (bmn, {"sample_weight": [1.0]}, "sample_weight must have one value per row"),
]


@pytest.mark.parametrize(("method", "change", "message"), BAD)
def test_bad_input_is_named(method, change, message):
    with pytest.raises(DataError, match=message):
        method(small_table(), **{"alphas": 0.1, **change})


def test_a_design_too_large_is_refused():
    with pytest.raises(LimitError, match="Use ising_path"):
        plg(small_table(), 0.1, max_bytes=1000)
