from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

instruction_set: str
max_features: int
free_ridge: float  # of all pairs where columns have categories and a pair has no penalty

class State:
    """The point after one alpha, with its certificate over the working set."""

    alpha: float
    fields: NDArray[np.float64]
    category_fields: NDArray[np.float64]  # of categories that occur, column after column; else empty
    edges: NDArray[np.int32]
    values: NDArray[np.float64]  # couplings of the edges, for nominal columns one table after the other
    objective: float
    kkt_residual: float
    duality_gap: float
    converged: bool
    certified_zeros: int
    n_working: int
    n_products: int  # with the Hessian, since the problem began
    n_iter: int
    largest_eta: float  # where an edge is unpenalized, else 0

class PairList:
    """Pairs in lexicographic order, with |g| / ω of each (infinite for free pairs)."""

    pairs: NDArray[np.int32]
    strength: NDArray[np.float64]

def path_bytes(n_distinct: int, n_features: int, n_pairs: int) -> int:
    """Return the peak memory of a joint path whose largest working set has ``n_pairs`` pairs, without the table."""

def stop_threads(idents: list[int]) -> None:
    """Let the kernels that these threads run end with KeyboardInterrupt, until another list is given."""

def count_ones(
    X: NDArray[np.uint8], weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]: ...

class Words:
    """The words of a column of text, numbered in the order in which they first occur."""

    codes: NDArray[np.uint8] | NDArray[np.int32]  # the number of every cell, a byte if there are fewer than 255 words
    words: list[str]  # raises UnicodeDecodeError where one is not UTF-8

    def add(self, offsets: NDArray[np.int32], text: NDArray[np.uint8]) -> None:
        """Give more cells their numbers: from offsets[k] to offsets[k + 1] of the text."""

    def __len__(self) -> int: ...

class GibbsSampler:
    """Gibbs sampling of 0/1 columns; arrays of generators (four words per chain), states and rows are written."""

    def __init__(
        self,
        start: NDArray[np.int64],
        neighbors: NDArray[np.int32],
        couplings: NDArray[np.float64],
        fields: NDArray[np.float64],
    ) -> None: ...
    def start(self, words: NDArray[np.uint64], states: NDArray[np.uint8]) -> None: ...
    def record(
        self,
        words: NDArray[np.uint64],
        states: NDArray[np.uint8],
        burn_in: int,
        thin: int,
        offsets: NDArray[np.int64],
        rows: NDArray[np.uint8],
        n_threads: int,
    ) -> None: ...
    def redraw(
        self,
        words: NDArray[np.uint64],
        states: NDArray[np.uint8],
        first_cell: NDArray[np.int64],
        cells: NDArray[np.int32],
        n_sweeps: int,
        n_threads: int,
    ) -> None: ...
    def anneal(
        self,
        words: NDArray[np.uint64],
        states: NDArray[np.uint8],
        base: NDArray[np.float64],
        betas: NDArray[np.float64],
        sums: NDArray[np.float64],
        n_threads: int,
    ) -> None: ...

class CpuRows:
    """A part of a table on this computer, with the methods of ``solve.rows.SumRows``; total: all weights, or 0.

    With ``n_kept``, predictors are made when they are needed and kept for so many nodes; all that such rows know can be
    sent. Where the share of ones is below ``rare``, they are lists of ones instead of cells.
    """

    def __init__(
        self,
        X: NDArray[np.uint8],
        weights: NDArray[np.float64] | None,
        total: float,
        n_threads: int,
        n_kept: int | None = None,
        rare: float = 0.0,
    ) -> None: ...
    def n_distinct(self) -> int: ...
    def margins(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def rounding(self) -> float: ...
    def move(
        self,
        nodes: NDArray[np.int32],
        offsets: NDArray[np.float64],
        moved_begin: NDArray[np.int64],
        moved: NDArray[np.int32],
        coefficients: NDArray[np.float64],
        asked_begin: NDArray[np.int64],
        asked: NDArray[np.int32],
        afresh: bool,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def gradients(
        self, nodes: NDArray[np.int32], begin: NDArray[np.int64], columns: NDArray[np.int32]
    ) -> NDArray[np.float64]: ...
    def blocks(
        self, nodes: NDArray[np.int32], begin: NDArray[np.int64], columns: NDArray[np.int32], majorized: bool
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float64]]: ...
    def diagonals(
        self, nodes: NDArray[np.int32], begin: NDArray[np.int64], columns: NDArray[np.int32], majorized: bool
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float64]]: ...
    def products(
        self,
        nodes: NDArray[np.int32],
        begin: NDArray[np.int64],
        columns: NDArray[np.int32],
        d: NDArray[np.float32],
        centers: NDArray[np.float64],
        is_rough: bool = False,
    ) -> NDArray[np.float32]: ...
    def divergence(self, nodes: NDArray[np.int32], c: float) -> float: ...
    def largest_predictor(self, nodes: NDArray[np.int32]) -> float: ...
    def gram(self, node: int, columns: NDArray[np.int32]) -> NDArray[np.float64]: ...
    def remember(self, nodes: NDArray[np.int32]) -> None: ...
    def drift(self, nodes: NDArray[np.int32]) -> NDArray[np.float64]: ...
    def all_pairs(self, first: int, last: int) -> tuple[NDArray[np.float32], float]: ...
    def is_sparse(self) -> bool: ...
    def state(self) -> tuple[object, ...]: ...
    def restore(self, state: tuple[object, ...]) -> None: ...

class Problem:
    @overload
    def __init__(
        self,
        X: NDArray[np.uint8],
        weights: NDArray[np.float64] | None,
        penalty: NDArray[np.float64] | None,
        standardized: bool,
        n_threads: int,
        most_bytes: int = ...,
        ranges: NDArray[np.uint8] | None = None,  # of columns with categories: the largest score, 0 if nominal
        widths: NDArray[np.float64] | None = None,  # what it stands for
        modelled: NDArray[np.uint8] | None = None,  # 0 for a covariate
    ) -> None: ...
    @overload
    def __init__(
        self, rows: object, penalty: NDArray[np.float64] | None, standardized: bool, n_threads: int
    ) -> None: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_distinct(self) -> int: ...
    @property
    def null_objective(self) -> float: ...
    def set_widest_block(self, width: int) -> None: ...
    def set_largest_reference(self, pairs: int) -> None: ...
    def free_pairs(self) -> NDArray[np.int32]: ...
    def fit_null(self, tol: float, max_iter: int) -> State | None: ...
    def alpha_max(self) -> float: ...
    def gradient_above(self, threshold: float) -> PairList: ...
    def gradient(self, pairs: NDArray[np.int32]) -> NDArray[np.float64]: ...
    def solve(
        self, pairs: NDArray[np.int32], alphas: Sequence[float], kkt_tol: float, gap_tol: float, max_iter: int
    ) -> list[State]: ...
    def place(
        self, alpha: float, edges: NDArray[np.int32], values: NDArray[np.float64], fields: NDArray[np.float64]
    ) -> None: ...
    def follow(
        self, alphas: Sequence[float], next: float, tol: float, max_iter: int, strictness: float
    ) -> list[State]: ...

class NodePaths:
    """Matrices of one row per node and one column per alpha, and the coefficients that are not zero."""

    fields: NDArray[np.float64]
    losses: NDArray[np.float64]  # without the penalty
    objectives: NDArray[np.float64]
    kkt_residuals: NDArray[np.float64]
    duality_gaps: NDArray[np.float64]
    largest_etas: NDArray[np.float64]  # where alpha is 0, else 0
    n_iter: NDArray[np.int32]
    n_working: NDArray[np.int32]
    counts: NDArray[np.int32]  # numbers of coefficients that are not zero
    columns: NDArray[np.int32]  # their columns, node after node and alpha after alpha
    category_fields: NDArray[np.float64]  # likewise, of every fit those of its node's categories that occur
    values: NDArray[np.float64]

class Nodewise:
    def __init__(  # categories: see Problem
        self,
        X: NDArray[np.uint8],
        weights: NDArray[np.float64] | None,
        n_threads: int,
        ranges: NDArray[np.uint8] | None = None,
        widths: NDArray[np.float64] | None = None,
        modelled: NDArray[np.uint8] | None = None,
    ) -> None: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_distinct(self) -> int: ...
    def alpha_max(self, penalty_weights: NDArray[np.float64], tol: float, max_iter: int) -> NDArray[np.float64]: ...
    def solve(
        self,
        nodes: NDArray[np.int32],
        alphas: NDArray[np.float64],
        penalty_weights: NDArray[np.float64],
        tol: float,
        max_iter: int,
        strictness: float,
        stops_early: bool,
    ) -> NodePaths: ...
