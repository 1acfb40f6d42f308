"""The memory that a path needs is known before it is taken."""

import json
import subprocess
import sys

import numpy as np
import pytest

from isinglass import _core, ising_path
from isinglass.errors import LimitError
from isinglass.machine import memory

MEASURED = """
import json, sys, warnings
from pathlib import Path
import numpy as np
from isinglass import ising_path

def field(name):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(name))

n, p, kind, alpha = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
rng = np.random.default_rng(0)
factors = rng.normal(size=(n, 3)) @ rng.normal(size=(3, p)) if kind == "factors" else -1.0
X = (rng.random((n, p)) < 1 / (1 + np.exp(-factors))).astype(np.uint8)
del factors
ising_path(X[:50, :5], 3)
Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
before = field("VmRSS")
path = ising_path(X, [alpha], n_threads=2)
found = {"peak": field("VmHWM") - before, "pairs": p * (p - 1) // 2 - path[0].n_screened}
print(json.dumps(found | {"distinct": len(np.unique(X, axis=0))}))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peaks are read from /proc")
@pytest.mark.parametrize(
    ("n", "p", "kind", "alpha"),
    [  # most pairs, most pairs of many rows, few columns, hardly any pair
        pytest.param(500, 400, "factors", 0.006, marks=pytest.mark.long),
        pytest.param(3000, 250, "factors", 0.004, marks=pytest.mark.long),
        (100_000, 50, "factors", 0.05),
        (300, 4000, "alone", 0.11),
    ],
)
def test_fault_07_the_estimate_is_between_the_peak_and_twice_that(n, p, kind, alpha):
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(n), str(p), kind, str(alpha)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["peak"] > 3e7
    estimate = _core.path_bytes(found["distinct"], p, found["pairs"])
    assert found["peak"] <= estimate <= 2 * found["peak"]


def table(n, p):
    rng = np.random.default_rng(1)
    chances = 1 / (1 + np.exp(-rng.normal(size=(n, 3)) @ rng.normal(size=(3, p))))
    return (rng.random((n, p)) < chances).astype(np.uint8)


def test_fault_07_a_table_too_large_for_the_memory_is_refused(monkeypatch):
    X = table(400, 120)
    monkeypatch.setattr(memory, "UNCHECKED_BYTES", 0)  # small tables are not asked about
    monkeypatch.setattr(memory, "available_memory", lambda: 10**6)
    with pytest.raises(LimitError, match=r"needs about 0\.00\d* GB .* and 0\.001 GB are free.*larger alpha"):
        ising_path(X, 3)


def test_fault_07_a_dense_network_is_refused_and_a_sparse_one_is_not(monkeypatch):
    X = table(400, 120)
    room = _core.path_bytes(400, 120, 3000)
    monkeypatch.setattr(memory, "UNCHECKED_BYTES", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: room)
    assert ising_path(X, [0.1]).converged.all()
    with pytest.raises(LimitError, match=r"pairs that may be edges"):
        ising_path(X, [0.001])


def test_pairs_of_a_table_in_parts_are_counted_before_they_are_taken(monkeypatch):
    X = table(60, 200)
    monkeypatch.setattr(memory, "UNCHECKED_BYTES", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 10**6)
    with pytest.raises(
        LimitError, match=r"gradients of 19900 pairs need about 0\.00\d* GB of memory, and 0\.001 GB are free"
    ):
        ising_path([X[:30], X[30:]], 3)


def test_fault_07_what_cannot_be_had_is_the_same_error():
    with pytest.raises(LimitError, match="std::bad_alloc"), memory.within_memory():
        raise MemoryError("std::bad_alloc")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of the process are read from /proc")
def test_available_memory_sees_the_limit_of_the_process():
    script = (
        "import resource, isinglass.machine.memory as m\n"
        "free = m.available_memory()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))\n"
        "print(free, m.available_memory())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    free, limited = map(int, done.stdout.split())
    assert 0 < limited < 2**32
    assert limited <= free


def test_a_device_without_memory_is_named():
    class OutOfMemoryError(RuntimeError):  # PyTorch's
        pass

    text = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 139 GiB"
    with (
        pytest.raises(LimitError, match=r"Tried to allocate 2\.00 GiB\. Use device=\"cpu\"\."),
        memory.within_memory(),
    ):
        raise OutOfMemoryError(text)
    with pytest.raises(RuntimeError, match="another"), memory.within_memory():
        raise RuntimeError("another")


WIDE = """
import resource, sys
import numpy as np
from isinglass import as_table, ising_path, nodewise_path
from isinglass.errors import LimitError
from isinglass.machine import memory
from isinglass.solve.nodewise import nodewise_alpha_max
from isinglass.solve.path import alpha_max

cells = np.random.default_rng(0).permuted(np.tile(np.arange(20), (600, 4)), axis=1).T
table = as_table(cells, kinds="nominal")
ising_path(as_table(cells[:, :3], kinds="nominal"), [1.0])
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 2**29, size + 2**29))  # half a GiB more; the moments take 0.6
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    alpha_max(table) if sys.argv[1] == "joint" else nodewise_alpha_max(table)
except LimitError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peaks are read from /proc")
@pytest.mark.parametrize("method", ["joint", "nodewise"])
def test_a_wide_nominal_table_is_refused_before_memory_is_taken_and_node_by_node_it_is_not(method):
    found = subprocess.run([sys.executable, "-c", WIDE, method], capture_output=True, text=True, check=True)
    *refusal, kilobytes = found.stdout.splitlines()
    assert int(kilobytes) < 200_000
    assert len(refusal) == (method == "joint")
    if refusal:
        assert "A joint fit of 600 columns with 12000 categories in all needs about " in refusal[0]
        assert "nodewise_path" in refusal[0]
