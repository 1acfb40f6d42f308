"""The compiled arithmetic; imports nothing of the rest of the package."""

from isinglass._core._native import (
    Nodewise,
    Problem,
    count_ones,
    gibbs_record,
    gibbs_start,
    gibbs_sweep,
    instruction_set,
)

__all__ = [
    "Nodewise",
    "Problem",
    "count_ones",
    "gibbs_record",
    "gibbs_start",
    "gibbs_sweep",
    "instruction_set",
]
