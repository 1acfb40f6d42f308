"""What every test relies on, those in docstrings included."""

import gc
import os
import signal
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples on every machine, and no deadline on a busy one.
settings.register_profile("ci", derandomize=True, max_examples=30, deadline=None)
settings.load_profile("ci")

# Before NumPy is loaded, here and in the processes that tests start: the tests run in as many processes as there are
# processors, and threads of BLAS would wait for each other on top of that.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # noqa: E402

# A test that draws without a seed fails once in a while, on a machine where nobody can repeat it.
ROOT = str(Path(__file__).parent)
default_rng = np.random.default_rng


class Unseeded(np.random.Generator):
    """A generator that nothing may draw from."""

    def __getattribute__(self, name):
        if not name.startswith("_"):
            raise AssertionError("a test drew random numbers without a seed: pass random_state, or use unseeded_draws")
        return super().__getattribute__(name)


def seeded_rng(seed=None):
    """Return the generator of ``seed``; without one, none to draw from, where the package or a test asks for it."""
    if seed is None and sys._getframe(1).f_code.co_filename.startswith((f"{ROOT}/src", f"{ROOT}/tests")):
        return Unseeded(np.random.PCG64(0))
    return default_rng(seed)


np.random.default_rng = seeded_rng


@pytest.fixture
def unseeded_draws(monkeypatch):
    """Allow a test to draw without a seed: its outcome must not depend on what is drawn."""
    monkeypatch.setattr(np.random, "default_rng", default_rng)


# A shell without job control starts what runs in the background deaf to Ctrl-C, and its children inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionstart():
    """Look for no cycles while thousands of tests are collected: that took a third of the time."""
    gc.disable()


def pytest_collection_finish():
    """Look for them again, but not among the tests themselves."""
    gc.freeze()
    gc.enable()


def pytest_sessionfinish():
    """Let what was set apart go: nanobind would take it for leaks."""
    gc.unfreeze()


@pytest.fixture(autouse=True)
def figures_are_closed():
    """Close what a test has drawn: more than twenty open figures are a warning, whichever tests came before."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
