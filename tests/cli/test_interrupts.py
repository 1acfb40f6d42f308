"""Signals while a kernel runs, those that no other test sends one to: heard soon, also beside other tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))

import interrupts

BESIDE_OTHERS = 2.0  # seconds; the half second is asked by `make fuzz`, which runs alone

NAMES = ["exact", "published plg", "linear program", "all pairs", "counting", "long", "reading text"]


@pytest.mark.parametrize("name", [*NAMES, pytest.param("kept tasks", marks=pytest.mark.long)])
def test_fault_08_a_kernel_ends_soon_after_a_signal(name):
    counts, cases = interrupts.run(60.0, 0, most=1, names=[name], within=BESIDE_OTHERS)
    assert interrupts.complaints(counts, cases) == []


@pytest.mark.parametrize("words", [["-m", "isinglass"], ["-c", "from isinglass.__main__ import run; run()"]])
def test_an_interrupt_while_the_command_line_is_loaded_is_no_traceback(tmp_path, words):
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    found = subprocess.run([sys.executable, *words], capture_output=True, text=True, env=environment, check=False)
    assert (found.returncode, found.stdout, found.stderr) == (130, "", "Interrupted.\n")
