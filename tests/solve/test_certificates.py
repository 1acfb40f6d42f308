"""What the solver certifies, recomputed in extended precision: the faults that were found, and a short fuzz."""

import itertools
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import extended
import numpy as np
import pytest
from networks import make_table

from isinglass import ising_path, nodewise_path
from isinglass.errors import ConstantColumnWarning, DataError
from isinglass.solve.nodewise import nodewise_alpha_max
from isinglass.solve.path import alpha_max

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))

import categories
import certificates
import isolated

ALPHA_MAX = {ising_path: alpha_max, nodewise_path: nodewise_alpha_max}
HEAVY = np.array([[0, 0, 0], [1, 1, 1], [1, 0, 0]])


@pytest.mark.parametrize("flip", [0, 1])
@pytest.mark.parametrize("decades", [10, 11.5, 13])
def test_fault_03_joint_certificates_hold_with_one_row_of_overwhelming_weight(decades, flip):
    X, weight = HEAVY ^ flip, [10.0**decades, 1, 1]
    path = ising_path(X, 6, sample_weight=weight)
    assert path.converged.all()
    assert path.n_edges[-1] > 0
    for solution in path:
        problem, *point = extended.joint_matrices(X, solution.couplings, solution.fields, solution.alpha, weight=weight)
        assert problem.gap(*point) <= solution.duality_gap <= 1e-7 * float(problem.null())


def test_fault_03_node_certificates_hold_with_one_row_of_overwhelming_weight():
    weight = [1e13, 1, 1]
    path = nodewise_path(HEAVY, 6, sample_weight=weight)
    assert path.converged.all()
    for k, solution in enumerate(path):
        coefficients = path.asymmetric_couplings[k].toarray()
        for s in range(3):
            problem, z = extended.node(
                HEAVY, s, coefficients[s], path.nodes.fields[k, s], solution.alpha, weight=weight
            )
            assert problem.gap(z) <= path.nodes.duality_gaps[k, s] <= 1e-7 * float(problem.null())


@pytest.mark.parametrize("path_function", [ising_path, nodewise_path])
def test_fault_03_constant_columns_have_finite_fields_at_any_weight(path_function):
    X = [[1, 0, 0, 1], [1, 0, 1, 0], [1, 0, 1, 1]]
    for size in (1e-300, 1e13, 1e300):
        with pytest.warns(ConstantColumnWarning):
            path = path_function(X, 2, sample_weight=[size, size / 3, size / 7])
        assert np.isfinite(path[-1].fields).all()
        assert path.converged.all()


@pytest.mark.parametrize("path_function", [ising_path, nodewise_path])
@pytest.mark.parametrize("weight", [None, np.full(27, 0.1)])
def test_fault_05_independent_columns_have_no_edges_and_say_so(path_function, weight):
    X = np.array(list(itertools.product([0, 0, 1], repeat=3)))
    assert ALPHA_MAX[path_function](X, weight) == 0
    path = path_function(X, 6, sample_weight=weight)

    assert path.alphas.tolist() == [
        pytest.approx(1 / 27) if path_function is nodewise_path else 0
    ]  # the penalty of one row
    assert path.converged.all()
    assert path.n_edges.tolist() == [0]


@pytest.mark.parametrize("path_function", [ising_path, nodewise_path])
@pytest.mark.parametrize("alpha", [0.1, 1e-20, 1e-45, 1e-300])
def test_fault_05_the_empty_network_of_independent_columns_is_never_flagged(path_function, alpha):
    X = np.array(list(itertools.product([0, 0, 1], repeat=3)))
    path = path_function(X, [alpha])
    assert path.n_edges.tolist() == [0]
    assert path.converged.all()


def test_fault_05_nor_with_penalties_of_any_size():
    case = certificates.draw(103, 623)
    assert alpha_max(case.X, penalty_weights=case.omega) == 0
    path = ising_path(case.X, [0.1], penalty_weights=case.omega)
    assert path.n_edges.tolist() == [0]
    assert path.converged.all()


@pytest.mark.parametrize("seed", range(6))
def test_fault_06_near_duplicates_with_weights_converge(seed):
    case = certificates.draw_copies(np.random.default_rng(seed))
    path = ising_path(case.X, [0.3], sample_weight=case.weight)
    assert path.converged.all()
    assert nodewise_path(case.X, [0.15], sample_weight=case.weight).converged.all()


@pytest.mark.parametrize(
    ("n_bases", "seeds"),
    [(1, range(2)), (4, range(2)), *(pytest.param(k, range(2, 8), marks=pytest.mark.long) for k in (1, 4))],
)
def test_fault_06_duplicates_on_the_face_take_few_steps(n_bases, seeds):
    # Where columns are equal, sign changes used to end every step early: 119 steps for a node, over 100 jointly.
    for seed in seeds:
        rng = np.random.default_rng([6, seed])
        n, p = int(rng.integers(50, 80)), int(rng.integers(50, 60))
        base = (rng.random((n, n_bases)) < 0.5).astype(np.uint8)
        X = base[:, rng.integers(0, n_bases, p)]
        X[rng.integers(0, n, p), np.arange(p)] ^= 1
        weight = 10.0 ** rng.uniform(0, 3, n)
        for path_function in (ising_path, nodewise_path):
            alphas = [ratio * ALPHA_MAX[path_function](X, weight) for ratio in (0.6, 0.3, 0.1)]
            path = path_function(X, alphas, sample_weight=weight, max_iter=30)
            assert path.converged.all()


def test_fault_11_penalties_that_vanish_are_refused_and_huge_ones_forbid():
    X = [[0, 0], [0, 1], [1, 1], [1, 0], [1, 1]]
    with pytest.raises(DataError, match="cannot be told from no penalty; got 1e-200 times 1e-200"):
        ising_path(X, [1e-200], penalty_weights=np.full((2, 2), 1e-200))
    path = ising_path(X, [1e200], penalty_weights=np.full((2, 2), 1e200))
    assert path.n_edges.tolist() == [0]
    assert path.converged.all()


def test_fault_11_the_penalty_matrix_is_copied():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 4))
    omega = np.ones((4, 4))
    expected = ising_path(X, 6, penalty_weights=omega.copy())

    def spoil(_):
        omega[:] = 1e3

    path = ising_path(X, 6, penalty_weights=omega, callback=spoil)
    assert [s.edge_values.tolist() for s in path] == [s.edge_values.tolist() for s in expected]


def test_random_tables_have_true_certificates():
    counts, cases = certificates.run(60.0, 2024, most=60)
    assert sum(count for (_, _, word), count in counts.items() if word == "tables") > 5
    assert certificates.complaints(counts, cases) == []


def test_random_tables_with_categories_have_true_certificates():
    counts, cases = categories.run(120.0, 2024, most=40)
    assert sum(count for (_, _, word), count in counts.items() if word == "tables") > 5
    assert categories.complaints(counts, cases) == []


def flags_of(case):
    return sum(count for (_, _, word), count in categories.run_case(case).items() if word == "not converged")


@pytest.mark.parametrize("number", [690, 1449, 1883, 1911])
def test_where_single_precision_has_no_curvature_left_steps_are_precise(number):
    assert flags_of(categories.draw(5001, number)) == 0


@pytest.mark.parametrize(("family", "number"), [("covariates", 64), ("covariates", 742), ("free", 871), ("free", 1549)])
def test_penalties_next_to_free_pairs_that_separate_are_certified(family, number):
    draw = categories.FAMILIES[family][0]
    assert flags_of(draw(np.random.default_rng([7002, number]))) == 0


def test_the_fuzz_notices_a_false_certificate():
    rng = np.random.default_rng(3)
    case = certificates.draw_sane(rng)
    claim = next(iter(certificates.joint_claims(case)))
    theta, field = claim.point
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert certificates.judge(claim, case.tol) == ["solutions"]
    worse = certificates.Claim(
        claim.problem, (theta, field + 0.1), 0.0, 0.0, True, claim.scale, empty=False, below=False
    )
    assert "FALSE: gap" in certificates.judge(worse, case.tol)
    assert "FALSE: KKT residual" in certificates.judge(worse, case.tol)


@pytest.mark.parametrize("way", ["joint", "nodewise"])
def test_the_fuzz_notices_a_false_certificate_of_categories(way):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (24, 3)).astype(np.uint8)
    X[:, 1] = np.where(rng.random(24) < 0.6, X[:, 0], X[:, 1])
    case = categories.Case("mixed", make_table(X, ["nominal", "nominal", "ordinal"]), ratios=(0.3,))
    claims = {"joint": categories.run_joint, "nodewise": categories.run_nodewise}[way](case)
    claim, tol = next(claim for claim, _ in claims if claim.point[0].any()), case.tol
    assert set(categories.judge(claim, tol)) == {"solutions"}
    theta, field = claim.point
    moved = replace(claim, point=(theta, field + 0.1 * np.arange(field.shape[1])))
    assert {"FALSE: gap", "FALSE: KKT residual", "FALSE: objective"} <= set(categories.judge(moved, tol))
    halved = replace(claim, point=(theta / 2, field), converged=np.zeros_like(claim.converged))
    assert "FALSE: gap" in categories.judge(halved, tol)
    assert "FALSE: KKT residual" not in categories.judge(halved, tol)  # nothing was said about it
    other = replace(claim, norms=[(1.0, 1.0 + 1e-9)])
    assert "FALSE: norm of a block" in categories.judge(other, tol)


def test_a_crash_of_the_interpreter_is_counted_and_the_next_case_runs(tmp_path, monkeypatch):
    suite = """
import os, signal
def family_of(seed, index):
    return "odd" if index % 2 else "even"
def run_numbered(seed, index):
    if index in (1, 3):
        os.kill(os.getpid(), signal.SIGSEGV)
    return {("all", family_of(seed, index), "tables"): 1, ("joint", family_of(seed, index), "solutions"): seed}
"""
    (tmp_path / "crashing_suite.py").write_text(suite, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    counts, bad = isolated.run_cases("crashing_suite", 60.0, 7, most=6)
    assert bad == [1, 3]
    assert counts["all", "even", "tables"] == 3
    assert counts["joint", "odd", "solutions"] == 7
    assert counts["all", "odd", f"{isolated.CRASH} (SIGSEGV)"] == 2
    assert [line.split()[-2:] for line in isolated.summary(counts)] == [["0", "crashes"], ["2", "crashes"]]


def test_a_mistake_of_a_suite_is_not_a_crash(tmp_path, monkeypatch):
    (tmp_path / "mistaken_suite.py").write_text("def run_numbered(seed, index):\n    return 1 / 0\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        isolated.run_cases("mistaken_suite", 60.0, 0, most=1)


def test_a_free_edge_that_defies_proof_does_not_change_the_path():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.integers(0, 2, (200, 4)), np.zeros(200, dtype=int)])
    X[:2, 3] = [0, 1]
    X[:, 4] = X[:, 3]
    X[:2, 4] ^= 1  # near-duplicates whose two exceptions hardly count: no bound for the free edge is within reach
    weight = np.ones(200)
    weight[:2] = 1e-14
    omega = np.ones((5, 5))
    omega[3, 4] = omega[4, 3] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = ising_path(X, 4, sample_weight=weight, penalty_weights=omega)
    assert len(path) == 4
    assert np.isfinite(path.duality_gap).all()
    assert (path.duality_gap <= path.objective * (1 + 1e-9)).all()
