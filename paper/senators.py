"""Names and colours of the senators, and what the Senate items have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

CHAFEE, NELSON = "CHAFEE (R RI)", "NELSON (D NE)"
EIGHTY_PERCENT = 223
"""Rows of a subsample: 80 % of the roll calls."""
PARTY_COLORS = {"R": "#c0392b", "D": "#2471a3", "I": "#1e8449"}
"""As in the paper: red, blue, green."""
PARTY_NAMES = {"R": "Republican", "D": "Democrat", "I": "Independent"}
_SPELLED = {"MCCAIN": "McCain", "MCCONNELL": "McConnell", "DEWINE": "DeWine", "DEMINT": "DeMint"}


def short_names(names: Sequence[str]) -> list[str]:
    """Return surnames in ordinary spelling, with the state where two senators share one.

    The table has names such as ``NELSON (D NE)``.
    """
    surnames = [name.split(" (")[0] for name in names]
    states = [name.rstrip(")").split()[-1] for name in names]
    counts = Counter(surnames)
    spelled = [_SPELLED.get(surname, surname.title()) for surname in surnames]
    return [
        f"{short} ({state})" if counts[surname] > 1 else short
        for short, surname, state in zip(spelled, surnames, states, strict=True)
    ]
