"""Tasks: order, bits, errors, lost workers, progress, resuming."""

import logging
import os
import signal
import subprocess
import sys
import time
import warnings

import joblib
import numpy as np
import pytest
from cluster import deadly_square

from isinglass.errors import ConstantColumnWarning, DataError, suppress_warnings, warn
from isinglass.machine import threads
from isinglass.select import parallel, progress
from isinglass.select.parallel import run_tasks, task_run
from isinglass.select.settings import Run

BACKENDS = ["sequential", "threading", "loky", "multiprocessing"]


def wait_until(is_true):
    end = time.monotonic() + 60.0
    while not is_true():
        assert time.monotonic() < end
        time.sleep(0.01)


def draw(table, seed, size):
    rows = np.random.default_rng(seed).choice(len(table), size, replace=False)
    return {"mean": table[rows].mean(axis=0), "rows": rows, "size": size}


def square_or_fail(number):
    if number == 3:
        raise ArithmeticError("three is too many")
    return {"square": number**2}


def arguments(n_tasks=8):
    table = np.random.default_rng(0).integers(0, 2, (50, 7), dtype=np.uint8)
    seeds = np.random.SeedSequence(1).spawn(n_tasks)
    return [(table, seed, 10 + k) for k, seed in enumerate(seeds)]


def same_bits(these, those):
    assert len(these) == len(those)
    for this, other in zip(these, those, strict=True):
        assert list(this) == list(other)
        assert all(np.asarray(this[name]).tobytes() == np.asarray(other[name]).tobytes() for name in this)


# --- the same results whoever computes them ---------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1])
def test_results_do_not_depend_on_n_jobs(n_jobs):
    same_bits(run_tasks(draw, arguments(), run=Run(n_jobs=n_jobs)), [draw(*task) for task in arguments()])


@pytest.mark.parametrize("backend", BACKENDS)
def test_results_do_not_depend_on_the_backend(backend):
    if backend == "multiprocessing" and sys.version_info >= (3, 12):
        pytest.skip("forking a process with threads is deprecated")
    with joblib.parallel_config(backend=backend, n_jobs=2):
        same_bits(run_tasks(draw, arguments()), run_tasks(draw, arguments(), run=Run(n_jobs=1)))


def test_tasks_run_in_threads_of_this_process_by_default():
    found = run_tasks(deadly_square, [(number, None, None) for number in range(4)], run=Run(n_jobs=2))
    assert {int(result["process"]) for result in found} == {os.getpid()}


def test_no_tasks():
    assert run_tasks(draw, []) == []


@pytest.mark.parametrize("n_jobs", [0, True, 1.5, "all"])
def test_bad_n_jobs(n_jobs):
    with pytest.raises(DataError, match="n_jobs must be an integer other than 0"):
        run_tasks(draw, arguments(), run=Run(n_jobs=n_jobs))


def test_kernels_get_one_thread_next_to_other_tasks():
    assert task_run(Run(n_jobs=1)).n_threads is None
    assert task_run(Run()).n_threads is None
    assert task_run(Run(n_jobs=2)).n_threads == 1
    with joblib.parallel_config(n_jobs=3):
        assert task_run(Run()).n_threads == 1


# --- what goes wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_error_of_a_task_is_raised_once_and_says_which(n_jobs, caplog):
    with pytest.raises(ArithmeticError, match="three is too many") as caught:
        run_tasks(square_or_fail, [(number,) for number in range(6)], run=Run(n_jobs=n_jobs))
    assert caught.value.__notes__ == ["in task 3"]
    assert caplog.records == []


def test_a_killed_process_does_not_lose_the_run(tmp_path, caplog):
    work = [(number, 5, tmp_path / "died") for number in range(12)]
    with joblib.parallel_config(backend="loky", n_jobs=2), caplog.at_level(logging.WARNING, "isinglass"):
        found = run_tasks(deadly_square, work)
    assert [int(result["square"]) for result in found] == [number**2 for number in range(12)]
    assert os.getpid() not in {int(result["process"]) for result in found}
    assert (tmp_path / "died").exists()
    assert "workers lost (TerminatedWorkerError)" in caplog.text


def test_workers_that_are_always_lost_are_given_up(monkeypatch):
    calls = []

    def broken(attempts, n_jobs):
        calls.append(len(attempts))
        yield attempts[0]()
        raise parallel._WorkersLostError from ConnectionError("gone")

    monkeypatch.setattr(parallel, "_run_by_joblib", broken)
    found = run_tasks(draw, arguments(4))  # one task finished in between is progress enough
    same_bits(found, [draw(*task) for task in arguments(4)])
    assert calls == [4, 3, 2, 1]

    def dead(attempts, n_jobs):
        calls.append(len(attempts))
        raise parallel._WorkersLostError from ConnectionError("gone")
        yield

    calls.clear()
    monkeypatch.setattr(parallel, "_run_by_joblib", dead)
    with pytest.raises(ConnectionError, match="gone") as caught:
        run_tasks(draw, arguments(4))
    assert calls == [4] * parallel.ATTEMPTS
    assert "4 tasks are not finished" in caught.value.__notes__[0]


def test_what_dask_hands_out_for_a_cancelled_task_is_no_result(monkeypatch):
    class Canceling:
        def __init__(self, **settings):
            pass

        def __call__(self, calls):
            return ["cancelled" for _ in calls]

    monkeypatch.setattr(joblib, "Parallel", Canceling)
    with pytest.raises(RuntimeError, match="ended without a result: 'cancelled'"):
        run_tasks(draw, arguments(2))


def test_a_backend_without_generators_still_works(monkeypatch):
    parallel, used = joblib.Parallel, []

    def listing(return_as="list", **settings):
        if return_as != "list":
            raise ValueError("Backend does not support return_as")
        used.append(settings)
        return parallel(**settings)

    monkeypatch.setattr(joblib, "Parallel", listing)
    found = run_tasks(draw, arguments(), run=Run(n_jobs=2))
    monkeypatch.undo()
    same_bits(found, run_tasks(draw, arguments()))
    assert len(used) == 1


# --- resuming ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_finished_tasks_are_not_run_again(tmp_path, n_jobs):
    file, seen = tmp_path / "run", []

    def interrupted(number):
        if number == 4 and len(set(seen)) < 6:
            seen.append(number)
            wait_until(lambda: len(list(file.glob("*.npz"))) >= 4)  # the tasks before this one
            raise KeyboardInterrupt
        seen.append(number)
        return {"square": number**2}

    settings = {"run": Run(n_jobs=n_jobs, checkpoint=file), "fingerprint": {"version": 1}}
    with pytest.raises(KeyboardInterrupt):
        run_tasks(interrupted, [(number,) for number in range(6)], **settings)
    kept = {path.name for path in file.glob("*.npz")}
    assert kept >= {f"tasks%2F{number}.npz" for number in range(4)}
    seen.clear()
    seen += range(6)
    found = run_tasks(interrupted, [(number,) for number in range(6)], **settings)
    assert [int(result["square"]) for result in found] == [0, 1, 4, 9, 16, 25]
    assert sorted(seen[6:]) == [number for number in range(6) if f"tasks%2F{number}.npz" not in kept]
    done = len(seen)
    run_tasks(interrupted, [(number,) for number in range(6)], **settings)
    assert len(seen) == done
    assert [file.name for file in tmp_path.iterdir()] == ["run"]


def test_stages_share_a_file(tmp_path):
    settings = {"run": Run(checkpoint=tmp_path / "run"), "fingerprint": {}}
    first = run_tasks(draw, arguments()[:3], name="one", **settings)
    second = run_tasks(draw, arguments()[3:5], name="two", **settings)
    refuse = lambda *task: pytest.fail("nothing is left to do")  # noqa: E731
    same_bits(run_tasks(refuse, arguments()[:3], name="one", **settings), first)
    same_bits(run_tasks(refuse, arguments()[3:5], name="two", **settings), second)


def test_resumed_results_have_the_same_bits(tmp_path):
    settings = {"run": Run(checkpoint=tmp_path / "run"), "fingerprint": {}}
    run_tasks(draw, arguments()[:5], **settings)
    same_bits(run_tasks(draw, arguments(), **settings), run_tasks(draw, arguments()))


INTERRUPTED = """
import os, signal, sys, time
from pathlib import Path
import numpy as np
from isinglass import ising_path
from isinglass.select.settings import Run
from isinglass.select.parallel import run_tasks

signal.signal(signal.SIGINT, signal.default_int_handler)
X = np.random.default_rng(0).integers(0, 2, (2000, 60), dtype=np.uint8)

def fit(number):
    if number == 8:
        end = time.monotonic() + 60.0
        while not list(Path(sys.argv[1]).glob("*.npz")) and time.monotonic() < end:  # until a result is stored
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
    return {"n_edges": ising_path(X, [0.02, 0.01, 0.005, 0.002, 0.001], n_threads=1).n_edges}

try:
    run_tasks(fit, [(number,) for number in range(50)], run=Run(n_jobs=2, checkpoint=sys.argv[1]))
except KeyboardInterrupt:
    sys.stdout.write("interrupted")
"""


def test_an_interrupt_leaves_a_checkpoint_and_a_clean_exit(tmp_path):
    file = tmp_path / "run"
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, file], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted", "")
    assert 1 <= len(list(file.glob("*.npz"))) < 50


INTERRUPTED_THREADS = """
import os, signal, sys
from pathlib import Path
import numpy as np
from isinglass import ising_path
from isinglass.select.parallel import run_tasks
from isinglass.select.settings import Run

signal.signal(signal.SIGINT, signal.default_int_handler)
X = np.random.default_rng(0).integers(0, 2, (2000, 60), dtype=np.uint8)

def fit(outer, number):
    Path(sys.argv[1], f"{outer} {number}").touch()
    if (outer, number) == (0, 3):
        os.kill(os.getpid(), signal.SIGINT)
    return ising_path(X, [0.02, 0.01, 0.005, 0.002, 0.001], n_threads=1).n_edges

def fit_all(outer):
    return run_tasks(fit, [(outer, number) for number in range(50)], n_threads=2)

try:
    fit_all(0) if sys.argv[2] == "1" else run_tasks(fit_all, [(0,), (1,)], run=Run(n_jobs=2))
except KeyboardInterrupt:
    sys.stdout.write("interrupted")
"""


@pytest.mark.parametrize("n_outer", [1, 2])
def test_an_interrupt_ends_tasks_in_threads_before_the_others_start(tmp_path, n_outer):
    command = [sys.executable, "-c", INTERRUPTED_THREADS, tmp_path, str(n_outer)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted", "")
    started = [len(list(tmp_path.glob(f"{outer} *"))) for outer in range(n_outer)]
    assert 4 <= started[0] < 50
    assert max(started) < 50


def test_results_do_not_depend_on_threads():
    same_bits(run_tasks(draw, arguments(), n_threads=3), run_tasks(draw, arguments(), n_threads=1))


KILLED = """
import os, signal, sys, time
from pathlib import Path
import numpy as np
from isinglass.select.settings import Run
from isinglass.select.parallel import run_tasks

def draw(number):
    if number == int(sys.argv[2]):
        end = time.monotonic() + 60.0
        while len(list(Path(sys.argv[1]).glob("*.npz"))) < 11 and time.monotonic() < end:  # the others finish first
            time.sleep(0.01)
        os.kill(os.getpid(), int(sys.argv[3]))
    return {"x": np.random.default_rng(number).random(50)}

found = run_tasks(draw, [(number,) for number in range(12)], run=Run(n_jobs=2, checkpoint=sys.argv[1]))
sys.stdout.buffer.write(b"".join(result["x"].tobytes() for result in found))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_fault_08_what_is_finished_survives_any_signal(tmp_path, number):
    """Also what was finished out of order: task 3 never ends, and the eight after it are on disk."""

    def start(folder, at):
        command = [sys.executable, "-c", KILLED, tmp_path / folder, str(at), str(int(number))]
        return subprocess.run(command, capture_output=True, timeout=120)

    whole = start("whole", -1)
    assert whole.returncode == 0
    assert start("run", 3).returncode == -number
    assert len(list((tmp_path / "run").glob("*.npz"))) == 11
    resumed = start("run", -1)
    assert resumed.returncode == 0
    assert resumed.stdout == whole.stdout
    files = [{file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in ("run", "whole")]
    assert files[0] == files[1]


# --- what the user sees -----------------------------------------------------------------------------------------------


def test_silent_unless_somebody_watches(capfd, monkeypatch):
    run_tasks(draw, arguments())
    assert capfd.readouterr() == ("", "")
    run_tasks(draw, arguments(), description="Drawing", run=Run(progress=True))
    out, err = capfd.readouterr()
    assert out == ""
    assert "Drawing" in err
    assert "8/8" in err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    run_tasks(draw, arguments(), description="Drawing")
    assert "8/8" in capfd.readouterr().err


def warn_of_a_constant_column():
    warn(ConstantColumnWarning("constant"))
    return {}


def test_tasks_in_threads_suppress_what_their_caller_suppresses():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with suppress_warnings(ConstantColumnWarning):
            run_tasks(warn_of_a_constant_column, [(), ()], run=Run(n_jobs=2))
        with pytest.raises(ConstantColumnWarning):
            run_tasks(warn_of_a_constant_column, [(), ()], run=Run(n_jobs=2))


def test_progress_is_told_to_a_function_in_place_of_a_terminal():
    """Tasks count their steps; a fit says what it does, with a total that follows what is ahead."""
    heard = []
    with progress.reporting(lambda *news: heard.append(news) if news not in heard[-1:] else None):
        run_tasks(pow, [(2, 3)] * 4, description="Powers")
        assert heard == [("Powers", k, 4) for k in range(5)]
        run_tasks(pow, [(2, 3)], run=Run(progress=False))
        assert len(heard) == 5
        with progress.shown(None):
            progress.tell("first", 2)
            run_tasks(pow, [(2, 3)] * 2, description="Powers")
    assert heard[5:] == [("", 0, None), ("first", 1, 3), ("Powers", 1, 3), ("Powers", 2, 3), ("Powers", 3, 3)]
    run_tasks(pow, [(2, 3)])
    assert len(heard) == 10


def test_a_second_interrupt_leaves_no_thread_to_be_stopped(monkeypatch):
    told = []

    def interrupt(timeout=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(threads, "stop_threads", told.append)
    monkeypatch.setattr(threads.working, "_threads", [((-1,), -7)])
    monkeypatch.setattr(threads.working, "_stopped", set())
    monkeypatch.setattr(threads.working._changed, "wait", interrupt)
    with pytest.raises(KeyboardInterrupt):
        threads.working.stop(-1)
    assert told == [[-7], []]
