"""Signals while a kernel runs, those that no other test sends one to: heard soon, also beside other tests."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))

import interrupts

BESIDE_OTHERS = 2.0  # seconds; the half second is asked by `make fuzz`, which runs alone

NAMES = ["exact", "published plg", "kept tasks", "linear program", "all pairs", "counting", "long", "reading text"]


@pytest.mark.parametrize("name", NAMES)
def test_fault_08_a_kernel_ends_soon_after_a_signal(name):
    counts, cases = interrupts.run(60.0, 0, most=1, names=[name], within=BESIDE_OTHERS)
    assert interrupts.complaints(counts, cases) == []
