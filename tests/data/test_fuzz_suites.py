"""The fuzz suites of files, in short: a batch each. ``make fuzz`` runs them for minutes or hours."""

import importlib
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))


MORE = [("readers", 60), ("models", 60), ("bombs", 2), ("resume", 1)]


@pytest.mark.parametrize(
    ("name", "most"),
    [("readers", 15), ("models", 8), *(pytest.param(*each, marks=pytest.mark.long) for each in MORE)],
)
def test_a_short_attack_finds_nothing(name, most):
    suite = importlib.import_module(name)
    counts, cases = suite.run(60.0, 0, most=most)
    assert suite.complaints(counts, cases) == []
