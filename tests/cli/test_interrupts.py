"""Signals while a kernel or a command runs: heard soon, also beside other tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))

import interrupts

BESIDE_OTHERS = 2.0  # seconds; the half second is asked by `make fuzz`, which runs alone

KERNELS = [
    "joint",
    "node-wise",
    "exact",
    "published plg",
    "published bmn",
    "gibbs",
    "all pairs",
    "merging",
    "counting",
    "long",
]
ONE_AFTER_THE_OTHER = """
def interrupt():
    global sent
    time.sleep(0.3)
    sent = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)

for work in sys.argv[1:]:
    make_tables(work)
    is_over, later = False, threading.Thread(target=interrupt)
    try:
        later.start()
        eval(compile(work, "work", "eval"))  # eval of a text would make Python end by the signal
        is_over = True
        later.join()
        time.sleep(60)
    except KeyboardInterrupt:
        print("ended by itself" if is_over else time.monotonic() - sent, flush=True)
"""


def test_fault_08_every_kernel_hears_an_interrupt():
    """One after the other in one process: each goes on after the one before was interrupted."""
    works = [interrupts.SCRIPTS[name] for name in KERNELS]
    command = [sys.executable, "-W", "ignore", "-c", interrupts.HEAD + ONE_AFTER_THE_OTHER, *works]
    environment = os.environ | {"ISINGLASS_NUM_THREADS": "2", "PYTHONPATH": str(interrupts.ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    seconds = dict(zip(works, map(float, done.stdout.split()), strict=True))
    assert max(seconds.values()) < 5.0, seconds  # half a second on an idle computer


@pytest.mark.parametrize("name", ["linear program", "reading text", pytest.param("kept tasks", marks=pytest.mark.long)])
def test_fault_08_a_command_ends_soon_after_a_signal(name):
    counts, cases = interrupts.run(60.0, 0, most=1, names=[name], within=BESIDE_OTHERS)
    assert interrupts.complaints(counts, cases) == []


@pytest.mark.parametrize("words", [["-m", "isinglass"], ["-c", "from isinglass.__main__ import run; run()"]])
def test_an_interrupt_while_the_command_line_is_loaded_is_no_traceback(tmp_path, words):
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    found = subprocess.run([sys.executable, *words], capture_output=True, text=True, env=environment, check=False)
    assert (found.returncode, found.stdout, found.stderr) == (130, "", "Interrupted.\n")
