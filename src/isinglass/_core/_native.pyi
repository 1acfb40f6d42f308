from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

instruction_set: str

State = tuple[
    float,  # alpha
    NDArray[np.float64],  # fields
    NDArray[np.int32],  # edges
    NDArray[np.float64],  # couplings of the edges
    float,  # objective
    float,  # kkt_residual over the working set
    float,  # duality_gap over the working set
    int,  # certified zeros in the working set
    int,  # size of the working set
    int,  # n_iter
    float,  # largest |eta| where an edge is unpenalised, else 0
]

def count_ones(
    X: NDArray[np.uint8], weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]: ...
def gibbs_start(words: NDArray[np.uint64], states: NDArray[np.uint8]) -> None: ...
def gibbs_sweep(
    start: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    couplings: NDArray[np.float64],
    fields: NDArray[np.float64],
    words: NDArray[np.uint64],
    states: NDArray[np.uint8],
    n_sweeps: int,
    n_threads: int,
) -> None: ...
def gibbs_record(
    start: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    couplings: NDArray[np.float64],
    fields: NDArray[np.float64],
    words: NDArray[np.uint64],
    states: NDArray[np.uint8],
    thin: int,
    offsets: NDArray[np.int64],
    first: int,
    last: int,
    rows: NDArray[np.uint8],
    n_threads: int,
) -> None: ...

class Problem:
    def __init__(
        self,
        X: NDArray[np.uint8],
        weights: NDArray[np.float64] | None,
        penalty: NDArray[np.float64] | None,
        standardized: bool,
        n_threads: int,
    ) -> None: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_distinct(self) -> int: ...
    @property
    def null_objective(self) -> float: ...
    def mark_null(self) -> None: ...
    def free_pairs(self) -> NDArray[np.int32]: ...
    def alpha_max(self) -> float: ...
    def gradient_above(self, threshold: float) -> tuple[NDArray[np.int32], NDArray[np.float64], float]: ...
    def gradient(self, pairs: NDArray[np.int32]) -> NDArray[np.float64]: ...
    def solve(
        self,
        pairs: NDArray[np.int32],
        alphas: Sequence[float],
        kkt_tol: float,
        gap_tol: float,
        max_iter: int,
    ) -> list[State]: ...
    def certified_outside(self, alpha: float) -> int: ...
