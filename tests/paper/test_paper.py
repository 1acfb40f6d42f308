"""The study of the paper: cells that resume, rows that repeat, rules that can say no."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from importlib import import_module

import numpy as np
import pytest

import paper
from isinglass import ising_path, nodewise_path, objective
from isinglass.evaluate.metrics import relative_difference
from isinglass.solve.published import baselines
from isinglass.solve.published import stacked as design
from paper import __main__ as command
from paper import data, glmnet, markdown, methods, page, plain_bmn, published, study, summary, tables, theorems
from paper.contract import ROOT, Claim, Config, Verdict

MEASURED = ("seconds", "design_seconds", "rounds", "peak_mb", "before_mb")
"""Columns that are never the same twice."""

ITEM = """
import os, time
from pathlib import Path
from paper import study
NAME, TITLE, VERSION, TIMED = "fake", "Fake", 1, {timed}
LOG = Path({log!r})

def cells(config):
    return [{{"k": k, "seed": config.seed}} for k in range(6)]

def run_cell(cell):
    with LOG.open("a") as log:
        log.write(f"{{cell['k']}}\\n")
    time.sleep({delay})
    if (LOG.parent / "broken").exists() and cell["k"] == 3:
        raise RuntimeError("broken")
    return [{{"k": cell["k"], "half": h, "value": cell["k"] / 3 + h, "pid": os.getpid()}} for h in (0, 1)]
"""


@pytest.fixture
def make_item(tmp_path, monkeypatch):
    """Return a function that writes an item of six cells to a module of its own and imports it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made = []

    def make(*, timed=False, delay=0.0):
        name = f"fake_item_{len(made)}_{abs(hash(str(tmp_path)))}"
        (tmp_path / f"{name}.py").write_text(ITEM.format(timed=timed, delay=delay, log=str(tmp_path / "log")))
        made.append(name)
        return import_module(name)

    yield make
    for name in made:
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    """Settings of a miniature whose cells all tests share."""
    folder = tmp_path_factory.mktemp("paper")
    yield Config(quick=True, jobs=1, out=folder / "out", cache=folder / "cache")
    glmnet.end_session()


@pytest.fixture
def r_session():
    """Return the running R, or skip."""
    if not glmnet.versions()["glmnet"]:
        pytest.skip("R with glmnet is not installed")
    yield glmnet.session()
    glmnet.end_session()


def calls(tmp_path):
    """Return which cells the fake item has computed, in order."""
    log = tmp_path / "log"
    return [int(line) for line in log.read_text().split()] if log.exists() else []


def run_quietly(item, cell):
    """Run a cell as the study does, warnings off."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return item.run_cell(dict(cell))


# ------------------------------------------------------------------------------------------- cells that resume


def test_finished_cells_are_not_computed_again(make_item, tmp_path):
    item, settings = make_item(), Config(cache=tmp_path / "cache")
    first = study.run_item(item, settings)
    assert [(row["k"], row["half"]) for row in first] == [(k, h) for k in range(6) for h in (0, 1)]
    assert study.run_item(item, settings) == first
    assert calls(tmp_path) == list(range(6))


def test_failure_keeps_what_was_finished_and_names_the_cell(make_item, tmp_path):
    item, settings = make_item(), Config(cache=tmp_path / "cache")
    (tmp_path / "broken").touch()
    with pytest.raises(RuntimeError, match="broken") as caught:
        study.run_item(item, settings)
    assert "'k': 3" in caught.value.__notes__[0]
    (tmp_path / "broken").unlink()
    assert len(study.run_item(item, settings)) == 12
    assert calls(tmp_path) == [0, 1, 2, 3, 3, 4, 5]


def test_killed_run_resumes_where_it_was(make_item, tmp_path):
    item, cache = make_item(delay=0.2), tmp_path / "cache"
    script = (
        f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(tmp_path)!r}]\n"
        f"import {item.__name__} as item; from pathlib import Path\n"
        f"from paper import study; from paper.contract import Config\n"
        f"study.run_item(item, Config(cache=Path({str(cache)!r})))"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(calls(tmp_path)) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kept = [json.loads(file.read_text()) for file in (cache / "fake").glob("*.json")]
    finished = sorted(content["cell"]["k"] for content in kept)
    assert 2 <= len(finished) < 6
    before = calls(tmp_path)
    assert len(study.run_item(item, Config(cache=cache))) == 12
    assert calls(tmp_path)[len(before) :] == [k for k in range(6) if k not in finished]


def test_rows_do_not_depend_on_the_number_of_jobs(make_item, tmp_path):
    item = make_item()
    alone, shared = (study.run_item(item, Config(jobs=jobs, cache=tmp_path / str(jobs))) for jobs in (1, 2))
    assert [{**row, "pid": 0} for row in alone] == [{**row, "pid": 0} for row in shared]
    assert {row["pid"] for row in alone} == {os.getpid()}
    assert os.getpid() not in {row["pid"] for row in shared}


def test_timed_cells_run_one_after_the_other_in_this_process(make_item, tmp_path):
    rows = study.run_item(make_item(timed=True), Config(jobs=4, cache=tmp_path / "cache"))
    assert {row["pid"] for row in rows} == {os.getpid()}
    assert calls(tmp_path) == list(range(6))


def test_key_of_a_cell_is_all_of_it_and_the_version(make_item, tmp_path):
    item = make_item()
    files = {study.cell_file(item, cell, tmp_path) for cell in ({"a": 1, "b": 2.0}, {"b": 2.0, "a": 1})}
    assert len(files) == 1
    files |= {study.cell_file(item, cell, tmp_path) for cell in ({"a": 1, "b": 2.5}, {"a": 1}, {"a": 1, "b": "2.0"})}
    item.VERSION = 2
    files.add(study.cell_file(item, {"a": 1, "b": 2.0}, tmp_path))
    assert len(files) == 5


def test_workers_use_one_thread_and_the_environment_comes_back(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("ISINGLASS_NUM_THREADS", raising=False)
    with study.single_threads():
        assert {os.environ[name] for name in study.SINGLE} == {"1"}
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "ISINGLASS_NUM_THREADS" not in os.environ


# ------------------------------------------------------------------------------------------- tables


def test_rows_come_back_from_their_file(tmp_path):
    rows = [{"p": 5, "P": 0.2, "name": "plg", "ok": True, "none": None}, {"p": 10, "later": "time: more than 60 s"}]
    tables.write_rows(tmp_path / "x.csv", rows)
    found = tables.read_rows(tmp_path / "x.csv")
    assert found[0] == {**rows[0], "later": None}
    assert found[1] == {"p": 10, "P": None, "name": None, "ok": None, "none": None, "later": rows[1]["later"]}
    assert isinstance(found[0]["p"], int)


def test_failed_write_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "x.txt"
    tables.write_whole(path, "whole")

    def fill(scratch):
        scratch.write_text("half")
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        tables.fill_whole(path, fill)
    assert path.read_text() == "whole"
    assert [file.name for file in tmp_path.iterdir()] == ["x.txt"]


def test_numbers_are_shown_with_their_digits():
    shown = [markdown.number(value) for value in (0.0, 0.02016, 1.0, 123.4, 9.93e-4, 2.5e7, float("nan"), None)]
    assert shown == ["0", "0.0202", "1.00", "123", "9.93e-4", "2.50e7", "–", "–"]
    assert [markdown.seconds(value) for value in (1.5, 0.0123, 2e-5)] == ["1.50 s", "12.3 ms", "20.0 µs"]
    table = markdown.table(["a", "b"], [[1, 2]])
    assert table.splitlines() == ["| a | b |", "| --- | ---: |", "| 1 | 2 |"]


def test_interval_of_a_mean_covers_it_as_often_as_it_says():
    rng = np.random.default_rng(0)
    means = [summary.mean_of(rng.normal(3.0, 2.0, 5)) for _ in range(2000)]
    inside = np.mean([mean.low <= 3.0 <= mean.high for mean in means])
    assert 0.93 < inside < 0.97


# ------------------------------------------------------------------------------------------- the paper's numbers


def test_node_wise_lambdas_are_half_of_the_joint_ones_but_for_the_misprint():
    odd = [
        (row["p"], row["P"])
        for row in published.rows()
        if abs(row["lambda_joint"] / 2 - row["lambda_nodewise"]) > 0.6e-6  # printed to six decimals
    ]
    assert odd == [published.MISPRINT]


def test_one_epsilon_stands_twice():
    values = [row["epsilon"] for row in published.rows()]
    assert len(values) == 20
    assert len(set(values)) == 19
    assert published.value(published.EPSILON, 5, 0.5) == published.value(published.EPSILON, 10, 0.2) == 12.601e-4


# ------------------------------------------------------------------------------------------- methods


def test_plain_and_compiled_bmn_take_the_same_steps():
    _, X = data.paper_table(8, 0.3, 0, seed=1)
    for alpha in (0.1, 0.02):
        compiled = methods.fit_bmn(X, alpha)
        plain = plain_bmn.PlainBmn(X, alpha)
        theta, converged = plain.solve(1e-5, 10_000)
        assert (plain.n_iter, converged) == (compiled.n_iter, compiled.converged)
        np.testing.assert_allclose(theta, compiled.theta, atol=1e-10)


def test_plain_bmn_searches_the_line_when_steps_overshoot():
    _, X = data.paper_table(6, 0.3, 0, seed=2)
    problem = plain_bmn.PlainBmn(X, 0.02)
    problem.line_search = True
    theta, converged = problem.solve(1e-9, 20_000)
    assert converged
    best = methods.fit_isinglass(X, 0.02, tol=1e-10)
    np.testing.assert_allclose(theta, best.theta, atol=1e-5)


def test_methods_are_the_library_comparators():
    _, X = data.paper_table(6, 0.4, 1, seed=3)
    for name, function in (("plg", baselines.plg), ("bmn", baselines.bmn)):
        fit, solution = methods.FITS[name](X, 0.03), function(X, [0.03])[0]
        assert fit.n_iter == solution.n_iter
        np.testing.assert_allclose(fit.theta, solution.couplings + np.diag(solution.fields), atol=1e-12)
    best = methods.fit_isinglass(X, 0.03)
    assert relative_difference(best.theta, ising_path(X, [0.03], tol=1e-10)[0]) < 1e-5
    tight = methods.fit_nlr(X, 0.03, thresh=1e-14)
    np.testing.assert_allclose(tight.theta, methods.fit_isinglass_nodewise(X, 0.03).theta, atol=1e-5)
    regressions = nodewise_path(X, [0.015]).asymmetric_couplings[0].toarray()
    np.testing.assert_allclose(tight.theta - np.diag(tight.theta.diagonal()), regressions, atol=1e-5)


def test_bmn_can_go_to_and_fro_for_ever():
    epsilon = import_module("paper.epsilon")
    _, X = data.paper_table(5, 0.2, 0, seed=2017)
    assert not methods.fit_bmn(X, 0.01566).converged
    assert epsilon.returns_after_two_steps(X, 0.01566)
    assert not epsilon.returns_after_two_steps(X, 0.05)  # there it has stopped


def test_timed_fits_take_turns(monkeypatch):
    order = []

    def record(name, seconds):
        def fit(X, alpha):
            order.append(name)
            return methods.Fit(lambda: np.zeros((2, 2)), seconds, 1, True)

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


# ------------------------------------------------------------------------------------------- items


@pytest.fixture(params=paper.ITEMS)
def item(request):
    """Every item in turn."""
    return import_module(f"paper.{request.param}")


def test_cells_are_plain_distinct_and_seeded(item, config):
    cells = item.cells(config)
    texts = [json.dumps(cell, sort_keys=True, allow_nan=False) for cell in cells]
    assert len(set(texts)) == len(texts) > 0
    assert all(cell["seed"] == config.seed for cell in cells)
    assert [json.loads(text) for text in texts] == cells


def test_full_study_has_the_cells_of_the_paper():
    lambdas, roc = (import_module(f"paper.{name}") for name in ("lambdas", "roc"))
    assert len(lambdas.cells(Config())) == 5 * 4 * 20
    assert {(cell["p"], cell["P"]) for cell in roc.cells(Config())} == {(15, p) for p in (0.2, 0.3, 0.4, 0.5)}
    assert len(roc.cells(Config())) == 4 * 20


COLUMNS = {
    "lambdas": {"p", "P", "trial", "method", "b", "B", "beta_0.05", "instability_at_paper"},
    "timing": {"p", "P", "trial", "source", "lambda", "method", "seconds", "n_iter", "converged", "rounds"},
    "epsilon": {
        "p",
        "P",
        "trial",
        "source",
        "eps",
        "objective_plg",
        "excess_bmn",
        "plg_1e-07",
        "plg_passes_1e-14",
        "bmn",
    },
    "roc": {"P", "trial", "method", "auc", "tpr_0.000", "tpr_1.000"},
    "scaling": {"method", "p", "limit_seconds", "limit_gb", "reason"},
    "exact": {"p", "N", "trial", "method", "error", "auc", "f1", "from_exact"},
}


@pytest.mark.parametrize("name", COLUMNS)
def test_cell_repeats_but_for_what_is_measured(name, config):
    item = import_module(f"paper.{name}")
    cell = item.cells(config)[0]
    if name == "scaling":
        cell = {**cell, "sizes": [20]}
    rows = run_quietly(item, cell)
    assert COLUMNS[name] <= set().union(*rows)
    assert json.loads(json.dumps(rows)) == rows

    def repeatable(found):
        return [{key: value for key, value in row.items() if key not in MEASURED} for row in found]

    assert repeatable(run_quietly(item, cell)) == repeatable(rows)


def test_another_seed_gives_another_table():
    tables_ = [data.paper_table(6, 0.3, trial, seed)[1] for trial, seed in ((0, 1), (1, 1), (0, 2))]
    assert not (tables_[0] == tables_[1]).all()
    assert not (tables_[0] == tables_[2]).all()
    assert (tables_[0] == data.paper_table(6, 0.3, 0, 1)[1]).all()


def test_scaling_stops_by_time_and_by_memory():
    scaling = import_module("paper.scaling")
    cell = {"method": "bmn", "sizes": [60, 80], "seed": 1, "limit": -1.0, "max_bytes": 10**10, "trials": 1, "N": 2000}
    slow = scaling.run_cell(cell)
    assert [row["reason"].split(":")[0] for row in slow] == ["time", "not tried"]
    started = time.monotonic()
    large = scaling.run_cell({**cell, "method": "plg", "sizes": [3000], "limit": 60.0})
    assert large[0]["reason"].startswith("memory")
    assert time.monotonic() - started < 5  # refused, not tried
    tight = scaling.run_cell({**cell, "sizes": [400], "limit": 60.0, "max_bytes": 2 * 10**8})
    assert tight[0]["reason"] == "memory: more than 0 GB"  # not refused beforehand: its allocations fail


def test_roc_of_one_network_is_that_of_its_edges():
    roc = import_module("paper.roc")
    coefficients = np.array([[0, 1.0, 0], [0, 0, 2.0], [0, 3.0, 0]])
    assert np.argwhere(np.triu(roc.merge(coefficients, both=True))).tolist() == [[1, 2]]
    assert np.argwhere(np.triu(roc.merge(coefficients, both=False))).tolist() == [[0, 1], [1, 2]]
    rates, heights = roc.upper_hull_of_steps(np.array([0.0, 0.0, 0.5, 1.0]), np.array([0.0, 0.4, 0.4, 1.0]))
    assert (rates.tolist(), heights.tolist()) == ([0.0, 0.5, 1.0], [0.4, 0.4, 1.0])


# ------------------------------------------------------------------------------------------- verdicts can go either way


def verdicts(name, rows):
    """Return the verdicts of an item on some rows."""
    found = import_module(f"paper.{name}").claims(rows)
    assert all(isinstance(claim, Claim) and claim.finding and claim.rule for claim in found)
    return [claim.verdict for claim in found]


@pytest.mark.parametrize(("shift", "expected"), [(0.0, Verdict.REPRODUCED), (0.03, Verdict.REMARK), (0.2, Verdict.NOT)])
def test_roc_verdict_follows_the_difference(shift, expected):
    shifts = {"bmn": 0.0, "plg": 0.0, "nlr-and": shift, "nlr-or": 0.0, "isinglass": 0.0}
    rows = [{"P": 0.2, "trial": t, "method": m, "auc": 0.7 + 0.01 * t + s} for t in range(3) for m, s in shifts.items()]
    assert verdicts("roc", rows) == [expected]


def test_two_readings_of_node_wise_regression_are_not_two_methods():
    shifts = {"bmn": 0.0, "plg": 0.0, "nlr-and": 0.006, "nlr-or": -0.006, "isinglass": 0.0}
    rows = [{"P": 0.2, "trial": t, "method": m, "auc": 0.7 + s} for t in range(3) for m, s in shifts.items()]
    assert verdicts("roc", rows) == [Verdict.REPRODUCED]


def timing_rows(bmn, nlr=1.0):
    return [
        {"p": p, "P": 0.2, "trial": 0, "source": source, "method": method, "seconds": seconds, "converged": True}
        for p, factor in zip((5, 25), bmn, strict=True)
        for source in ("paper", "selected")
        for method, seconds in {"plg": 1.0, "nlr": nlr, "bmn": 1.0, "bmn-plain": factor, "isinglass": 0.1}.items()
    ]


@pytest.mark.parametrize(
    ("bmn", "nlr", "expected"),
    [
        ((6.0, 20.0), 1.0, [Verdict.REPRODUCED] * 4),
        ((0.5, 2.0), 0.1, [Verdict.REMARK, Verdict.REPRODUCED, Verdict.REPRODUCED, Verdict.NOT]),
        ((2.0, 0.5), 2.0, [Verdict.NOT, Verdict.NOT, Verdict.NOT, Verdict.REPRODUCED]),
    ],
)
def test_timing_verdicts_follow_the_ratios(bmn, nlr, expected):
    assert verdicts("timing", timing_rows(bmn, nlr)) == expected


def test_plg_in_r_is_charged_with_its_design():
    timing = import_module("paper.timing")
    rows = [{**row, "design_seconds": 3.0 if row["method"] == "plg" else 0.0} for row in timing_rows((2.0, 8.0))]
    rows += [{**row, "method": "plg-glmnet"} for row in rows if row["method"] == "plg"]
    assert timing.original(rows, "plg") == "plg-glmnet"
    assert timing.ratio(rows, "bmn-plain", "plg-glmnet", p=25) == pytest.approx(8.0 / (1.0 + 3.0))
    assert timing.ratio(rows, "bmn-plain", "plg", p=25) == pytest.approx(8.0)


def test_bmn_is_compared_with_the_times_of_the_r_package():
    timing = import_module("paper.timing")
    assert "within that range" in timing.calibration_sentence(timing_rows((0.03, 5.0)))
    assert "by a factor of 2 at most" in timing.calibration_sentence(timing_rows((0.06, 5.0)))
    assert "by a factor of 3 at most" in timing.calibration_sentence(timing_rows((0.03, 18.0)))
    listed = [(row["p"], row["bmn_seconds_least"]) for row in published.reference_rows()]
    assert listed == [(5, 0.03), (10, 0.05), (15, 0.13), (25, 0.7), (100, 3.7)]


def test_growth_is_also_told_without_the_fits_that_had_no_end():
    timing = import_module("paper.timing")
    rows = timing_rows((2.0, 8.0))
    assert timing.without_stuck(rows, "plg") == ""
    stuck = [{**row, "trial": 1, "converged": False} for row in timing_rows((900.0, 900.0))]
    assert "2, 8 (the paper's λ); 2, 8 (λ selected here)" in timing.without_stuck(rows + stuck, "plg")


def epsilon_rows(scale=1.0, excess=1e-8, bmn=1e-3, rising=True, other=0, wrong=None):
    return [
        {
            **{"p": p, "P": P, "trial": 0, "source": source, "eps": scale * value, "bmn": bmn},
            **{"excess_plg": excess, "excess_bmn": 0.0, "bmn_converged": True},
            **{"other_edges_plg": other, "other_edges_bmn": 0},
            **{f"plg_{t:.0e}": wrong or p * t**0.5 for t in THRESHOLDS},
            **{f"plg_passes_{t:.0e}": round(-10 * np.log10(t)) for t in THRESHOLDS},
        }
        for source in ("paper", "selected")
        for p in (5, 25)
        for P in published.PROBABILITIES
        for value in [published.value(published.EPSILON, p if rising else 30 - p, P)]
    ]


THRESHOLDS = (1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-12, 1e-14)


def test_epsilon_verdicts_follow_the_numbers():
    yes, remark, no = Verdict.REPRODUCED, Verdict.REMARK, Verdict.NOT
    near = (5 * 25) ** 0.5 * 1e-7**0.5  # the geometric mean of PLG's distances with the default threshold
    assert verdicts("epsilon", epsilon_rows(bmn=1.01 * near)) == [yes, yes, yes, yes, yes]
    assert verdicts("epsilon", epsilon_rows(bmn=near / 1.9, scale=10.0, excess=1e-4)) == [no, remark, yes, yes, remark]
    assert verdicts("epsilon", epsilon_rows(bmn=near / 2.1))[-1] == no
    assert verdicts("epsilon", epsilon_rows(bmn=near, other=1))[-1] == no
    assert verdicts("epsilon", epsilon_rows(excess=0.1, rising=False, wrong=1e-2))[1:] == [no, no, no, no]


def test_price_of_losing_no_accuracy_is_counted_in_passes():
    epsilon = import_module("paper.epsilon")
    near = (5 * 25) ** 0.5 * 1e-8**0.5
    rows = epsilon_rows(bmn=1.01 * near)
    assert epsilon.sufficient_threshold(rows) == 1e-8
    assert epsilon.passes_factor(rows, 1e-8) == pytest.approx(80 / 70)
    assert epsilon.sufficient_threshold(epsilon_rows(bmn=1e-12)) is None
    for p in (5, 25):  # the distance is p times the root of the threshold
        assert epsilon.threshold_for(rows, p, 1e-4) == pytest.approx((1e-4 / p) ** 2)


def test_fits_in_which_bmn_stopped_too_early_count_for_plg_alone():
    epsilon = import_module("paper.epsilon")
    rows = epsilon_rows()
    rows[0] |= {"bmn_converged": False, "plg_1e-07": 1.0, "bmn": 1.0}
    assert epsilon.by_size(rows, "plg_1e-07")[5] > 0.25
    assert epsilon.by_size(rows, "bmn")[5] == pytest.approx(1e-3)


def lambda_rows(factor, half=0.5):
    lambdas = import_module("paper.lambdas")
    rows = []
    for p in published.SIZES:
        for P in published.PROBABILITIES:
            value = lambdas.paper_lambda(p, P)
            for method, b, scale in (("joint", 316, factor), ("joint", 800, 1.0)):
                chosen = {f"beta_{beta}": scale * value * (1 + abs(beta - 0.05)) for beta in lambdas.BETAS}
                rows.append({"p": p, "P": P, "trial": 0, "method": method, "b": b, "B": 20, **chosen})
            for rule in ("and", "or"):
                own = {"beta_0.05": half * factor * value}
                rows.append({"p": p, "P": P, "trial": 0, "method": f"nodewise-{rule}", "b": 316, "B": 20, **own})
    return rows


def test_lambda_verdicts_and_the_nearest_setting():
    lambdas = import_module("paper.lambdas")
    assert verdicts("lambdas", lambda_rows(1.1)) == [Verdict.REPRODUCED, Verdict.REPRODUCED]
    assert verdicts("lambdas", lambda_rows(4.0, half=0.7)) == [Verdict.REMARK, Verdict.REMARK]
    assert lambdas.nearest_setting(lambda_rows(4.0)) == (800, 20, 0.05)
    rms, ratio = lambdas.distance(lambda_rows(4.0), 0.05)
    assert rms == pytest.approx(np.log(4.0))
    assert ratio == pytest.approx(4.0)
    assert not lambdas.is_multiple(0.01408, 0.0009 / 20)
    assert lambdas.is_multiple(2 * 0.0054, 0.0009 / 20)


def test_number_of_subsamples_is_compared_on_the_same_tables():
    lambdas = import_module("paper.lambdas")
    rows = lambda_rows(1.1)
    assert lambdas.subsamples_sentence(rows) == ""
    few = [row for row in rows if (row["method"], row["b"], row["p"]) == ("joint", 316, 5)]
    rows += [
        {**row, "B": 100, "beta_0.05": factor * row["beta_0.05"]} for row, factor in zip(few, (1, 1, 2, 8), strict=True)
    ]
    sentence = lambdas.subsamples_sentence(rows)
    assert "2.000 for b = 316 (between 1.00 and 8.00, 4 tables)" in sentence
    assert "800" not in sentence


def test_settings_that_end_at_the_grid_are_marked():
    lambdas = import_module("paper.lambdas")
    rows = lambda_rows(1.1)
    cells = [row for row in rows if (row["method"], row["b"]) == ("joint", 316)]
    for row in cells[:3]:
        row["beta_0.3"] = float(lambdas.GRID[-1])
    for row in cells[:2]:
        row["beta_0.25"] = float(lambdas.GRID[0])
    assert lambdas.at_an_end(rows, 316, 20, 0.3) == (3, 20)
    assert lambdas.show_setting(rows, 316, 20, 0.3, 1.0, 1.0).endswith("*")
    assert not lambdas.show_setting(rows, 316, 20, 0.25, 1.0, 1.0).endswith("*")  # a tenth is not more than a tenth


def test_exact_and_scaling_verdicts():
    rows = [
        {"p": 5, "N": 100, "trial": 0, "method": m, "error": e, "auc": 0.5, "f1": 0.5, "from_exact": 0.0}
        for m, e in (("exact", 1.0), ("isinglass", 1.2), ("isinglass-nodewise", 1.0))
    ]
    assert verdicts("exact", rows) == [Verdict.REMARK]
    rows[1]["error"] = 1.01
    assert verdicts("exact", rows) == [Verdict.REPRODUCED]
    reached = [
        {
            **{"method": m, "p": p, "reason": None if p <= top else "memory: much", "limit_seconds": 60, "limit_gb": 8},
            "seconds": 1.0 if p <= top else None,
        }
        for m, top in (("isinglass", 3000), ("plg", 300))
        for p in (100, 300, 1000, 3000)
    ]
    assert verdicts("scaling", reached) == [Verdict.REMARK]
    assert verdicts("scaling", [row for row in reached if row["p"] <= 300]) == [Verdict.REPRODUCED]


# ------------------------------------------------------------------------------------------- the whole command


def test_command_writes_tables_figure_page_and_draws_again(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "ITEMS", ("exact",))
    monkeypatch.setattr(command, "load_items", lambda names=("exact",): paper.load_items(list(names)))
    arguments = ["--quick", "--only", "exact", "--jobs", "1", "--out", str(tmp_path / "paper")]
    command.main([*arguments, "--cache", str(tmp_path / "cache")])
    names = {"exact.csv", "exact.png", "config.json", "published.csv"}
    assert {file.name for file in (tmp_path / "paper").iterdir()} == names
    text = (tmp_path / "paper.md").read_text()
    rows = tables.read_rows(tmp_path / "paper" / "exact.csv")
    assert import_module("paper.exact").claims(rows)[0].finding in text
    assert "![Beyond the paper: accuracy against the exact likelihood](paper/exact.png)" in text
    facts = json.loads((tmp_path / "paper" / "config.json").read_text())
    assert facts["seed"] == 2017
    assert {"python", "numpy", "scipy", "isinglass", "R", "glmnet"} <= set(facts["software"])
    assert facts["items"]["exact"]["rows"] == len(rows)
    (tmp_path / "paper.md").unlink()
    command.main([*arguments, "--draw-only"])
    assert (tmp_path / "paper.md").read_text() == text


def test_links_of_the_page_lead_to_headings(config):
    class Fake:
        NAME, TITLE = "fake", "λ selected by StARS, at last"

        @staticmethod
        def section(rows):
            return "text\n"

        @staticmethod
        def claims(rows):
            return [Claim("a", "b", Verdict.REMARK, "c", "d")]

    text = page.render([(Fake, [])], config)
    heading = next(line[3:] for line in text.splitlines() if line.startswith("## λ"))
    assert f"](#{page.anchor(heading)})" in text
    n_theorems = len(theorems.claims())
    assert f"{1 + n_theorems} claims: 0 reproduced, {1 + n_theorems} reproduced with a remark, 0 not reproduced" in text
    assert "- **a** (b). Rule: d *Reproduced with a remark*: c" in text
    linked = page.place_links("[x](paper/x.gexf) [y](comparators.md)", Config(out=ROOT / "build" / "paper-quick"))
    assert linked == "[x](paper-quick/x.gexf) [y](../docs/comparators.md)"
    assert page.place_links("[x](paper/x) [y](y.md)", Config()) == "[x](paper/x) [y](y.md)"


def test_page_says_which_tables_were_made_with_something_else(make_item, tmp_path):
    item, settings = make_item(), Config(cache=tmp_path / "cache")
    study.run_item(item, settings)
    entry = study.describe_cells(item, settings)
    assert (entry["cells"], entry["cells_without_facts"]) == (6, 0)
    assert entry["made_with"]["numpy"] == [np.__version__]
    software = {name: values[0] for name, values in entry["made_with"].items()}
    facts = {"software": software, "hardware": {}, "items": {"fake": entry}}
    assert page.exceptions(facts) == ""
    facts["software"] = software | {"numpy": "0.1"}
    assert f"`fake` with numpy {np.__version__}" in page.exceptions(facts)


# ------------------------------------------------------------------------------------------- theorems


@pytest.mark.parametrize("proof", theorems.PROOFS.values())
def test_named_proofs_exist(proof):
    file, name = proof.split("::")
    assert f"def {name}(" in (ROOT / file).read_text()


def random_problem(seed, p=6):
    """Return a table, a symmetric Θ and its parts."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=(p, p))
    theta = theta + theta.T
    fields = theta.diagonal().copy()
    return rng.integers(0, 2, (40, p)).astype(np.uint8), theta - np.diag(fields), fields


@pytest.mark.parametrize("seed", range(5))
def test_node_wise_objectives_at_half_lambda_sum_to_the_joint_one(seed):
    X, couplings, fields = random_problem(seed)
    margins = X @ couplings + fields
    losses = (np.logaddexp(0.0, margins) - X * margins).mean(axis=0)
    nodes = losses + 0.3 / 2 * np.abs(couplings).sum(axis=1)
    assert nodes.sum() == pytest.approx(objective.value(X, couplings, fields, 0.3), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_stacked_objective_is_the_joint_one_only_with_every_pair_counted_once(seed):
    X, couplings, fields = random_problem(seed)
    design_, response = design.stacked_design(X)
    linear = design_ @ design.vectorise(couplings + np.diag(fields))
    loss = (np.logaddexp(0.0, linear) - response * linear).sum() / len(X)
    joint = objective.value(X, couplings, fields, 0.3)
    once, twice = (loss + 0.3 * np.abs(pairs).sum() for pairs in (np.triu(couplings), couplings))
    assert once == pytest.approx(joint, rel=1e-12)
    assert twice > joint * 1.01  # as the paper prints it


def test_slips_are_those_of_the_printed_numbers():
    text = " ".join(theorems.slips())
    assert "0.01408" in text
    assert "0.0054" in text
    assert "12.601e-4 twice, at p = 5, P = 0.5 and p = 10, P = 0.2" in text
    assert "printed joint 0.01408" in published.misprint_note([{"p": 15, "P": 0.3}])
    assert published.misprint_note([{"p": 5, "P": 0.3}]) == ""
