"""Signals while a kernel runs, those that no other test sends one to; ``make fuzz`` asks for half a second."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))

import interrupts

GENEROUS = 6.0  # seconds, on a computer that does something else as well


@pytest.mark.parametrize("name", ["exact", "published plg", "all pairs", "counting", "long", "reading text"])
def test_fault_08_a_kernel_ends_soon_after_a_signal(name):
    counts, cases = interrupts.run(60.0, 0, most=1, names=[name], bound=GENEROUS)
    assert interrupts.complaints(counts, cases) == []
