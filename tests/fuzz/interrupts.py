"""Ctrl-C and SIGTERM at a random moment of every kernel: heard at once, with the right exit code, and nothing is lost.

Commands run as a user would run them; what the command line has no command for runs as a script. A moment is chosen
after the kernel has begun, which a script says and a command does after a while.

The half second is that of an idle computer. On a busy or slow one it is stretched by as much as starting and ending an
interpreter takes longer there, measured just before and just after the signal.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 0.5  # from the signal to the end of the process, on an idle computer...
START = 0.02  # ...on which an interpreter starts and ends in this time
MOST = 12.0  # times as long is allowed at most
OF_SCIPY = {"linear program": 10.0}  # times as long, too: what is set up for SciPy takes long calls of NumPy
WARM = 1.2  # of the processors until a command is at work, about: imports, reading, the first of its phases
READING = 0.9  # the same, until it is reading

COMMANDS = {
    "two-stage": "fit wide.csv -j 1",
    "bootstrap": "bootstrap wide.csv --alpha 0.01 -B 500 -j 2",
    "kept tasks": "bootstrap wide.csv --alpha 0.01 -B 500 -j 2 --checkpoint kept",
    "groups": "compare grouped.csv --groups who -B 5000",
    "linear program": "fit free.csv --alpha 0",
    "reading text": "info long.csv",
    "reading gzip": "info long.csv.gz",
}
SCRIPTS = {
    "joint": "isinglass.ising_path(table(1500, 300), 60, alpha_min_ratio=0.0005)",
    "node-wise": "isinglass.nodewise_path(table(1500, 300), 100, alpha_min_ratio=0.00001)",
    "exact": "isinglass.exact_path(table(400, 12), 20000, alpha_min_ratio=0.0001)",
    "published plg": "published.plg(table(1500, 300), 60, alpha_min_ratio=0.0005)",
    "published bmn": "published.bmn(table(1500, 300), 60, alpha_min_ratio=0.0005)",
    "stars": "isinglass.Method(selector=isinglass.StARS((0.02, 0.01, 0.005), n_subsamples=300)).fit(table(1500, 300))",
    "gibbs": "isinglass.simulate.gibbs_sample(isinglass.Network.from_couplings(dense(99), np.ones(99)), 99, thin=9**6)",
    "all pairs": "[isinglass._core.Problem(table(900, 6000), None, None, False, 1).alpha_max() for _ in range(99)]",
    "merging": "[isinglass._core.Problem(rows.repeat(500, 0), None, None, False, 1) for rows in 60 * [table(4000, 9)]]",
    "counting": "[isinglass._core.count_ones(rows.repeat(500, 0), None) for rows in 999 * [table(4000, 30)]]",
    "long": "isinglass.ising_path(table(250000, 60), 50, alpha_min_ratio=0.001)",
    "separation": "isinglass.ising_path(table(3000, 60), [0.0])",
    "objective": "[isinglass.objective.Objective(table(2000, 1500)).alpha_max() for _ in range(99)]",
}
HEAD = """
import functools, os, re, signal, sys, threading, time
import numpy as np
import isinglass
import isinglass._core
from paper import published
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
@functools.cache
def table(n, p):
    factors = rng.normal(size=(n, 4)) @ rng.normal(size=(4, p))
    return (rng.random((n, p)) < 1 / (1 + np.exp(-factors))).astype(np.uint8)
def dense(p):
    upper = np.triu(rng.normal(size=(p, p)), 1) / p
    return upper + upper.T
def make_tables(work):
    for shape in re.findall("table.([0-9]+), ([0-9]+)", work):
        table(*map(int, shape))
"""
SCRIPT = (
    HEAD
    + """
make_tables('''WORK''')
print("begun", flush=True)
try:
    WORK
except KeyboardInterrupt:
    sys.exit(130)
"""
)


def write_bits(file, X, names):
    """Write a table of bits as CSV, many times faster than NumPy's own writer of text."""
    cells = np.full((len(X), 2 * X.shape[1]), ord(","), dtype=np.uint8)
    cells[:, ::2], cells[:, -1] = X + np.uint8(ord("0")), ord("\n")
    file.write_bytes(",".join(names).encode() + b"\n" * bool(names) + cells.tobytes())


def write_tables(folder, words):
    """Write the tables that some commands read."""
    rng = np.random.default_rng(1)
    for name, n, p in (("wide", 1500, 300), ("long", 150_000, 60), ("grouped", 4000, 41)):
        if f"{name}.csv" in words or f"{name}.csv.gz" in words:
            factors = rng.normal(size=(n, 4)) @ rng.normal(size=(4, p))
            X = (rng.random((n, p)) < 1 / (1 + np.exp(-factors))).astype(np.uint8)
            if name == "long":  # long enough that reading it has not ended when the signal comes
                X = np.tile(X, (5, 1))
            names = [f"x{k}" for k in range(p)]
            write_bits(folder / f"{name}.csv", X, [*names[:-1], "who"] if name == "grouped" else names)
    if "free.csv" in words:
        write_bits(folder / "free.csv", rng.integers(0, 2, (8000, 50), dtype=np.uint8), [])
    if "long.csv.gz" in words:
        subprocess.run(["gzip", "-k", "-1", folder / "long.csv"], check=True)


def wait_for_work(process, seconds):
    """Wait until a command has taken this much of the processors."""
    if not Path("/proc/self/stat").exists():  # only Linux tells
        time.sleep(3 * seconds)
        return
    ticks = os.sysconf("SC_CLK_TCK")
    while process.poll() is None:
        used = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        if sum(map(int, used)) / ticks > seconds:
            return
        time.sleep(0.02)


def begin(name, folder):
    """Start a kernel and return its process once it works."""
    environment = os.environ | {"ISINGLASS_NUM_THREADS": "2", "PYTHONPATH": str(ROOT)}  # scripts import `paper`
    if name in SCRIPTS:
        command = [sys.executable, "-W", "ignore", "-c", SCRIPT.replace("WORK", SCRIPTS[name])]
    else:
        command = [sys.executable, "-m", "isinglass", *COMMANDS[name].split()]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # children inherit what is ignored
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    signal.signal(signal.SIGINT, before)
    if name in SCRIPTS:
        process.stdout.readline()
    elif name == "kept tasks":
        while process.poll() is None and not list((folder / "kept" / "rows").glob("*.npz")):
            time.sleep(0.05)
    elif name.startswith("reading"):
        wait_for_work(process, READING)
    else:
        wait_for_work(process, WARM)
    return process


def attack(name, number, delay, folder):
    """Send a signal after a delay; return the exit code, the seconds until the end, and what was printed."""
    process = begin(name, folder)
    time.sleep(delay)
    if process.poll() is not None:
        return None, 0.0, process.communicate()[1]
    start = time.monotonic()
    process.send_signal(number)
    _, messages = process.communicate(timeout=120)
    return process.returncode, time.monotonic() - start, messages


def slowness():
    """Return how many times as long as on an idle computer things take at the moment, at least 1."""
    start = time.monotonic()
    subprocess.run([sys.executable, "-I", "-S", "-c", ""], check=True)
    return min(max((time.monotonic() - start) / START, 1.0), MOST)


def judge(name, number, code, messages, folder, before):
    """Return what is wrong with the way a process ended, as sentences."""
    wrong = []
    if code != 128 + number or "Traceback" in messages:
        wrong.append(f"{name}: exit code {code} after signal {number}: {messages[-200:]}")
    if name == "kept tasks":
        if not list((folder / "kept" / "rows").glob("*.npz")):
            wrong.append(f"{name}: nothing was kept")
        wrong += [f"{name}: left {path.name}" for path in (folder / "kept" / "rows").glob(".isinglass*")]
        shutil.rmtree(folder / "kept", ignore_errors=True)
    left = sorted(set(folder.iterdir()) - set(before))
    return [*wrong, *([f"{name}: left {left}"] if left else [])]


def run(seconds, seed, *, first=0, most=None, names=None, within=SECONDS):
    """Attack one kernel after the other until the time is over."""
    counts, cases, source, slowest = Counter(), [], random.Random(seed), {}
    names = list(names or (*COMMANDS, *SCRIPTS))
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_tables(folder, {word for name in names for word in COMMANDS.get(name, "").split()})
        before = sorted(folder.iterdir())
        for turn in range(first, 10**9 if most is None else first + most):
            if time.monotonic() > end:
                break
            name = names[turn % len(names)]
            # A script has no handler for SIGTERM, so there it ends at once whatever it does.
            number = signal.SIGINT if name in SCRIPTS else source.choice([signal.SIGINT, signal.SIGTERM])
            stretch = slowness()
            code, taken, messages = attack(name, number, source.uniform(0.0, 1.0), folder)
            stretch = max(stretch, slowness())
            counts["signals",] += 1
            if code is None:
                cases.append(f"{name} ended by itself: {messages[-200:]}")
                continue
            if taken > within * stretch * OF_SCIPY.get(name, 1.0):
                cases.append(f"{name}: ended {taken:.2f} s after signal {number}, on a computer {stretch:.1f} × slow")
            if taken > SECONDS:
                counts[f"{name}, above half a second",] += 1
            slowest[name] = max(slowest.get(name, 0.0), taken)
            cases += judge(name, number, code, messages, folder, before)
    for name, taken in slowest.items():
        counts[f"{name}, slowest, ms",] = round(1000 * taken)
    return counts, cases


def complaints(counts, cases):
    """Return what must not be."""
    return cases if counts["signals",] else ["nothing was tried"]
