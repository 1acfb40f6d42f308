"""The compiled arithmetic; imports nothing of the rest of the package."""

from isinglass._core._native import (
    CpuRows,
    GibbsSampler,
    NodePaths,
    Nodewise,
    Problem,
    Words,
    count_ones,
    free_ridge,
    instruction_set,
    max_features,
    path_bytes,
    stop_threads,
)

__all__ = [
    "CpuRows",
    "GibbsSampler",
    "NodePaths",
    "Nodewise",
    "Problem",
    "Words",
    "count_ones",
    "free_ridge",
    "instruction_set",
    "max_features",
    "path_bytes",
    "stop_threads",
]
