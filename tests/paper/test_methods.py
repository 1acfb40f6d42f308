"""The fits of the study: each is the method it is called, alone, in turns, in R, and in a process of its own."""

import subprocess
import sys

import numpy as np
import pytest

from isinglass import ising_path, metrics, nodewise_path
from paper import data, epsilon, glmnet, methods, plain_bmn, published, scaling
from paper.files import ROOT


@pytest.fixture
def r_session():
    """Return the running R, or skip."""
    if not glmnet.versions()["glmnet"]:
        pytest.skip("R with glmnet is not installed")
    yield glmnet.session()
    glmnet.end_session()


def test_another_seed_gives_another_table():
    tables = [data.paper_table(6, 0.3, trial, seed)[1] for trial, seed in ((0, 1), (1, 1), (0, 2))]
    assert not (tables[0] == tables[1]).all()
    assert not (tables[0] == tables[2]).all()
    assert (tables[0] == data.paper_table(6, 0.3, 0, 1)[1]).all()


def test_plain_and_compiled_bmn_take_the_same_steps():
    _, X = data.paper_table(8, 0.3, 0, seed=1)
    for alpha in (0.1, 0.02):
        compiled, plain = methods.fit_bmn(X, alpha), methods.fit_plain_bmn(X, alpha)
        assert (plain.n_iter, plain.converged) == (compiled.n_iter, compiled.converged)
        np.testing.assert_allclose(plain.theta, compiled.theta, atol=1e-10)


def test_plain_bmn_searches_the_line_when_steps_overshoot():
    _, X = data.paper_table(6, 0.3, 0, seed=2)
    problem = plain_bmn.PlainBmn(X, 0.02)
    problem.line_search = True
    theta, converged = problem.solve(1e-9, 20_000)
    assert converged
    np.testing.assert_allclose(theta, methods.fit_isinglass(X, 0.02, tol=1e-10).theta, atol=1e-5)


def test_methods_are_the_library_comparators():
    _, X = data.paper_table(6, 0.4, 1, seed=3)
    for name, function in (("plg", published.plg), ("bmn", published.bmn)):
        fit, solution = methods.FITS[name](X, 0.03), function(X, [0.03])[0]
        assert fit.n_iter == solution.n_iter
        np.testing.assert_allclose(fit.theta, solution.couplings + np.diag(solution.fields), atol=1e-12)
    best = methods.fit_isinglass(X, 0.03)
    assert metrics.relative_difference(best.theta, ising_path(X, [0.03], tol=1e-10)[0]) < 1e-5
    tight = methods.fit_nlr(X, 0.03, thresh=1e-14)
    np.testing.assert_allclose(tight.theta, methods.fit_isinglass_nodewise(X, 0.03).theta, atol=1e-5)
    regressions = nodewise_path(X, [0.015]).asymmetric_couplings[0].toarray()
    np.testing.assert_allclose(tight.theta - np.diag(tight.theta.diagonal()), regressions, atol=1e-5)


def test_variants_solve_the_same_problem():
    _, X = data.paper_table(6, 0.3, 1, seed=3)  # balanced: every variant converges quickly
    for method in ("nlr", "plg"):
        for variant in ({}, {"warm": True}, {"swap": True}, {"min_probability": 1e-5}):
            fit = methods.FITS[method](X, 1e-2, thresh=1e-14, **variant)
            excess, distance = methods.accuracy(X, method, fit.theta, 1e-2)
            assert abs(excess) < 1e-9
            assert distance < 1e-4


def test_accuracy_is_measured_against_the_certified_optimum():
    _, X = data.paper_table(10, 0.3, 1, seed=3)
    best = methods.nodewise_theta(nodewise_path(X, [5e-3], tol=1e-9))
    found = methods.accuracy(X, "nlr", best, 1e-2)
    assert found == (pytest.approx(0, abs=1e-12), pytest.approx(0, abs=1e-12))
    excess, distance = methods.accuracy(X, "nlr", best + 0.1 * np.eye(10), 1e-2)
    assert excess > 1e-4
    assert distance == pytest.approx(0.1 * np.sqrt(10) / np.linalg.norm(best))
    joint = ising_path(X, [1e-2], tol=1e-9)[0]
    theta = joint.couplings + np.diag(joint.fields)
    assert methods.accuracy(X, "plg", theta, 1e-2) == (pytest.approx(0, abs=1e-12), pytest.approx(0, abs=1e-12))
    excess, distance = methods.accuracy(X, "plg", 1.1 * theta, 1e-2)
    assert excess > 1e-4
    assert distance == pytest.approx(0.1)


def test_bmn_can_go_back_and_forth_forever():
    _, X = data.paper_table(5, 0.2, 0, seed=2017)
    assert not methods.fit_bmn(X, 0.01566).converged
    assert epsilon.returns_after_two_steps(X, 0.01566)
    assert not epsilon.returns_after_two_steps(X, 0.05)  # there it has stopped


def test_timed_fits_take_turns(monkeypatch):
    order = []

    def record(name, seconds):
        def fit(X, alpha):
            order.append(name)
            return methods.Fit(lambda: np.zeros((2, 2)), seconds, np.array([1]), np.array([True]))

        return fit

    monkeypatch.setattr(methods, "FITS", {"a": record("a", 0.01), "b": record("b", 9.0)})
    found = methods.time_fits(np.zeros((3, 2), np.uint8), 0.1, ["a", "b"], rounds=3)
    assert order == ["a", "b", "a", "a"]
    assert {name: (fit.seconds, fit.rounds) for name, fit in found.items()} == {"a": (0.01, 3), "b": (9.0, 1)}


def test_glmnet_in_r_does_what_our_implementation_does(r_session):
    _, X = data.paper_table(6, 0.4, 1, seed=3)
    names = methods.prepare(X, ["plg-glmnet", "nlr-glmnet"])
    assert names == ["plg-glmnet", "nlr-glmnet"]
    for name in ("plg", "nlr"):
        ours, theirs = methods.FITS[name](X, 0.03), methods.FITS[f"{name}-glmnet"](X, 0.03)
        assert ours.n_iter == theirs.n_iter
        np.testing.assert_allclose(ours.theta, theirs.theta, atol=1e-9)
    path = r_session.fit("stacked", [0.03, 0.1], thresh=1e-14)
    for theta, solution in zip(path.theta, ising_path(X, [0.03, 0.1]), strict=True):
        np.testing.assert_allclose(theta, solution.couplings + np.diag(solution.fields), atol=1e-4)


@pytest.mark.long
def test_session_says_what_r_says_and_survives_it(r_session):
    X = np.zeros((10, 3), np.uint8)
    r_session.load(X)
    with pytest.raises(glmnet.GlmnetError, match=r"\w"):
        r_session.fit("stacked", 0.1)
    assert (r_session.fit("nodewise", 0.1).jerr == glmnet.REFUSED).all()
    assert methods.fit_glmnet(X, 0.1, mode="nodewise").converged  # refused is not "did not converge"
    _, X = data.paper_table(5, 0.4, 0, seed=1)
    r_session.load(X)
    few = r_session.fit("nodewise", 1e-4, thresh=1e-12, maxit=2)
    assert (few.jerr < 0).all()
    with pytest.raises(TimeoutError):
        r_session.fit("stacked", 0.01, timeout=0.0)
    again = glmnet.session()
    assert again is not r_session
    again.load(X)
    assert again.fit("stacked", 0.05).theta.shape == (1, 5, 5)


def test_worker_measures_no_memory_that_fits_do_not_need():
    script = "import sys, paper.worker; print({'pandas', 'matplotlib', 'sklearn'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "set()"


def test_scaling_stops_by_time_and_by_memory():
    cell = {"method": "bmn", "sizes": [60, 80], "seed": 1, "limit": -1.0, "max_bytes": 10**10, "trials": 1, "N": 2000}
    slow = scaling.run_cell(cell)
    assert [row["reason"].split(":")[0] for row in slow] == ["time", "not tried"]
    large = scaling.run_cell({**cell, "method": "plg", "sizes": [3000], "limit": 60.0})
    assert large[0]["reason"].startswith("memory: about")  # refused, not tried
    # The limit is more than the process has by then: with less its stack cannot grow, and it ends without a word.
    tight = scaling.run_cell({**cell, "sizes": [4000], "limit": 60.0, "max_bytes": 25 * 10**7})
    assert tight[0]["reason"] == "memory: more than 0 GB"  # not refused beforehand: its allocations fail
