"""The compiled arithmetic; imports nothing of the rest of the package."""

from isinglass._core._native import (
    CpuRows,
    NodePaths,
    Nodewise,
    Problem,
    RecipeRows,
    count_ones,
    free_ridge,
    gibbs_record,
    gibbs_start,
    gibbs_sweep,
    gibbs_sweep_cells,
    instruction_set,
    max_features,
    path_bytes,
    stop_threads,
)

__all__ = [
    "CpuRows",
    "NodePaths",
    "Nodewise",
    "Problem",
    "RecipeRows",
    "count_ones",
    "free_ridge",
    "gibbs_record",
    "gibbs_start",
    "gibbs_sweep",
    "gibbs_sweep_cells",
    "instruction_set",
    "max_features",
    "path_bytes",
    "stop_threads",
]
