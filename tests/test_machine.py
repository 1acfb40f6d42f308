import ast
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
import without_posix

import isinglass
from isinglass.errors import DataError
from isinglass.machine import threads
from isinglass.machine.memory import available_memory, memory_for
from isinglass.machine.signals import call_interruptibly
from isinglass.machine.threads import one_blas_thread, thread_count

SOURCE = Path(isinglass.__file__).parent


def test_given_numbers_win_over_the_environment(monkeypatch):
    monkeypatch.setenv("ISINGLASS_NUM_THREADS", "5")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert thread_count(2) == 2
    assert thread_count() == 5
    monkeypatch.delenv("ISINGLASS_NUM_THREADS")
    assert thread_count() == 3
    for said, expected in (("0", 1), ("4,2", 4), ("1000", 256)):
        monkeypatch.setenv("OMP_NUM_THREADS", said)
        assert thread_count() == expected
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert thread_count() >= 1


def test_an_unreadable_number_of_threads_in_the_environment_is_refused(monkeypatch):
    monkeypatch.setenv("ISINGLASS_NUM_THREADS", "many")
    with pytest.raises(DataError, match="ISINGLASS_NUM_THREADS must be a number of threads from 1 to 256; got 'many'"):
        thread_count()
    monkeypatch.setenv("ISINGLASS_NUM_THREADS", "0")
    with pytest.raises(DataError, match="from 1 to 256; got '0'"):
        thread_count()


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "2"])
def test_what_is_no_number_of_threads_is_refused(bad):
    with pytest.raises(DataError, match="n_threads must be an integer of at least 1; got"):
        thread_count(bad)


@pytest.mark.parametrize("many", [257, 2000, 2**31, 2**70])
def test_fault_11_more_threads_than_any_fit_can_use_are_refused(many, monkeypatch):
    with pytest.raises(DataError, match="n_threads must be at most 256; got"):
        thread_count(many)
    monkeypatch.setenv("ISINGLASS_NUM_THREADS", str(many))
    with pytest.raises(DataError, match="ISINGLASS_NUM_THREADS must be a number of threads from 1 to 256; got"):
        thread_count()


def test_only_one_room_asks_for_what_not_all_systems_have():
    def names(file):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            match node:
                case ast.Import():
                    yield from (alias.name for alias in node.names)
                case ast.ImportFrom(module=str(name)):
                    yield name
                case ast.Attribute(value=ast.Name(id="os"), attr=name):
                    yield name
                case ast.Constant(value=str(text)) if text.startswith(("/proc/", "/sys/")):
                    yield text

    wanted = {*without_posix.GONE, *without_posix.CALLS, "signal"}
    found = {}
    for file in SOURCE.rglob("*.py"):
        asked = {name for name in names(file) if name in wanted or name.startswith("/")}
        if asked:
            found[file.relative_to(SOURCE).as_posix()] = asked
    assert {"fcntl", "resource", "signal", "sysconf", "/proc/meminfo"} <= set.union(*found.values())
    assert {Path(file).parts[0] for file in found} == {"machine"}


WITHOUT = """
import without_posix, sys
without_posix.hide()
from pathlib import Path
import numpy as np
from isinglass import Fixed, Method, Run, bootstrap, load, report, save
from isinglass.machine import locks, memory, signals, threads
folder = Path(sys.argv[1])
assert not locks.HAS_LOCKS and memory.available_memory() == sys.maxsize and threads.thread_count() >= 1
X = np.random.default_rng(0).integers(0, 2, (60, 4))
with locks.folder_lock(folder), signals.defer_signals():
    fit = Method(selector=Fixed(0.02)).fit(X)
save(fit, folder / "model.npz")
assert load(folder / "model.npz").network.edge_values.tolist() == fit.network.edge_values.tolist()
report.write_report(fit, folder / "page.html", X=X)
bootstrap(X, 0.02, n_boot=6, random_state=0, run=Run(n_jobs=2, checkpoint=folder / "runs"))
from isinglass.__main__ import run
np.savetxt(folder / "table.csv", X, "%d", ",", header="a,b,c,d", comments="")
sys.argv = ["isinglass", "fit", str(folder / "table.csv"), "-q", "-o", str(folder / "out")]
run()
"""


def test_everything_runs_without_what_only_posix_systems_have(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(Path(without_posix.__file__).parent)}
    subprocess.run([sys.executable, "-c", WITHOUT, tmp_path], env=environment, check=True, timeout=120)
    assert {"model.npz", "page.html", "runs", "out"} <= {path.name for path in tmp_path.iterdir()}
    assert {"model.npz", "run.json"} <= {path.name for path in (tmp_path / "out").iterdir()}
    assert not [*tmp_path.rglob(".isinglass-*")]


class Blas:
    """A library whose number of threads can be limited."""

    n_threads = 4

    @contextmanager
    def limit(self, limits):
        before, self.n_threads = self.n_threads, limits
        yield
        self.n_threads = before


@pytest.mark.parametrize("leaves_first", [True, False])
def test_blocks_with_one_blas_thread_may_overlap(leaves_first, monkeypatch):
    blas, is_inside, may_leave = Blas(), threading.Event(), threading.Event()
    monkeypatch.setattr(threads, "_blas", lambda loaded: blas)

    def hold():
        with one_blas_thread, one_blas_thread:
            is_inside.set()
            may_leave.wait(60)

    other = threading.Thread(target=hold)
    with one_blas_thread if not leaves_first else nullcontext():
        other.start()
        assert is_inside.wait(60)
        assert blas.n_threads == 1
        with one_blas_thread:
            assert blas.n_threads == 1
            may_leave.set()
            other.join(60)
            assert blas.n_threads == 1  # as long as one thread is inside
    assert blas.n_threads == 4


def test_a_call_of_a_library_returns_raises_and_is_interrupted():
    def fail():
        raise LookupError("inside")

    assert call_interruptibly(lambda: threading.current_thread() is threading.main_thread()) is False
    with pytest.raises(LookupError, match="inside"):
        call_interruptibly(fail)
    script = """if True:
        import os, signal, threading
        from isinglass.machine.signals import call_interruptibly, end_process
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            call_interruptibly(lambda: threading.Event().wait(300.0))
        except KeyboardInterrupt:
            end_process(7)"""
    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=60).returncode == 7


DISCARDED = """if True:
    import signal, time
    from isinglass.machine.signals import signals_noted

    class Signal:
        def __del__(self):
            signal.raise_signal(signal.SIGTERM)

    class Fault:
        def __del__(self):
            raise LookupError("of another kind")

    with signals_noted():
        Fault()
        Signal()  # Python discards what is raised in a destructor
        time.sleep(50)
"""


def test_a_signal_whose_exception_is_discarded_is_sent_again():
    done = subprocess.run([sys.executable, "-c", DISCARDED], check=False, timeout=60, capture_output=True, text=True)
    assert done.returncode == 128 + signal.SIGTERM
    assert "LookupError: of another kind" in done.stderr
    assert "SystemExit" not in done.stderr


PASSING_THROUGH_A_TEXT = """if True:
    import contextlib, signal, sys
    from isinglass.machine.signals import signals_noted

    signal.signal(signal.SIGINT, signal.default_int_handler)
    with signals_noted() as noted, contextlib.suppress(KeyboardInterrupt):
        exec("signal.raise_signal(signal.SIGINT)")
    sys.exit(128 + noted[0])
"""


def test_an_interrupt_that_passes_through_the_exec_of_a_text_keeps_the_exit_code(tmp_path):
    (tmp_path / "passing.py").write_text(PASSING_THROUGH_A_TEXT)
    done = subprocess.run([sys.executable, "-m", "passing"], cwd=tmp_path, check=False, timeout=60)
    assert done.returncode == 130


SWALLOWING = """if True:
    import signal
    try:
        signal.raise_signal(signal.SIGTERM)
    except BaseException:  # as extension modules do
        pass
"""


def test_a_signal_during_an_import_takes_effect_when_the_import_has_ended(tmp_path):
    (tmp_path / "swallowing.py").write_text(SWALLOWING)
    script = """if True:
        import time
        from isinglass.machine.signals import signals_noted
        with signals_noted():
            import swallowing
            print("imported", flush=True)
            time.sleep(50)
        """
    how = {"check": False, "timeout": 60, "capture_output": True, "text": True}
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, **how)
    assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGTERM, "imported\n", "")


def test_a_limit_of_memory(monkeypatch):
    monkeypatch.setenv("ISINGLASS_MAX_MEMORY", "1")
    assert available_memory() == 0
    monkeypatch.setenv("ISINGLASS_MAX_MEMORY", "0.5G")
    assert available_memory() < 2**29
    for word in ("0.5GB", "0.5 GiB", "0.5g"):
        monkeypatch.setenv("ISINGLASS_MAX_MEMORY", word)
        assert available_memory() < 2**29
    for word in ("nan", "inf", "infG", "-1", "0", "G", "5M"):
        monkeypatch.setenv("ISINGLASS_MAX_MEMORY", word)
        with pytest.raises(DataError, match="must be bytes, or GiB such as 8G"):
            available_memory()
    monkeypatch.setenv("ISINGLASS_MAX_MEMORY", "much")
    with pytest.raises(DataError, match="must be bytes, or GiB such as 8G; got 'much'"):
        available_memory()
    with pytest.raises(DataError, match="must be bytes, or GiB such as 8G; got 'much'"):  # of little memory, too
        memory_for(1)
