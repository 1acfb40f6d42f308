"""A Dask cluster of two workers on this machine, and functions that kill their worker once."""

import os
import signal
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import joblib
import pytest

from isinglass.select.task import Task

PROTECTED = "ISINGLASS_TEST_PROCESS"
os.environ.setdefault(PROTECTED, str(os.getpid()))  # workers inherit it: whoever has this number runs the tests


@contextmanager
def two_workers(*, processes=True):
    """Send joblib's tasks to two workers, processes or threads; skip the test where Dask is not installed."""
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed (extra: dask)")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=processes, dashboard_address=":0", silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        yield


def die_once(marker):
    """Kill this process, unless a process has died of the same marker before."""
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:  # with one worker left, joblib runs what remains in the process of the tests
        return
    if os.environ[PROTECTED] == str(os.getpid()):
        raise RuntimeError("the task does not run in a worker")
    os.kill(os.getpid(), signal.SIGKILL)


def deadly_square(number, deadly, marker):
    """Return the square, and where it was computed; the first worker to see the deadly number dies."""
    if number == deadly:
        die_once(marker)
    return {"square": number**2, "process": os.getpid()}


@dataclass(frozen=True)
class DeadlyPaths:
    """Paths; the first worker that fits fewer than 30 alphas dies (in stars, most subsamples)."""

    marker: str  # file that says that a worker has died

    def __call__(self, table, alphas):
        if len(alphas) < 30:
            die_once(self.marker)
        return Task(table).path(alphas)
