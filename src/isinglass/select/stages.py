"""One stage of an estimate: a path with penalty weights made of an earlier network, searched by a price per edge."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray, read_only
from isinglass.data import column_spread, count_rows
from isinglass.data.parts import Fold
from isinglass.objective import penalty_matrix
from isinglass.results import Path, Solution
from isinglass.select.contract import PathFunction, fixed_option
from isinglass.select.pricing import AicPrice, EdgePrice
from isinglass.select.search import Lattice, search

__all__ = ["Case", "Stage"]

Table = NDArray[np.uint8]

FIRST = Lattice(ratio=0.9, far=0.5, floor=1e-4, least=2)
"""Where stage 1 looks. The dense end costs most, and its criterion has one minimum."""
SECOND, EVERY = Lattice(ratio=0.93, far=0.1, floor=1e-5), 65
"""Where stage 2 looks. Its support is small and its paths are cheap; with this count the first pass skips nothing."""


@dataclass(frozen=True, eq=False, repr=False)
class Stage:
    """One stage: a path of convex problems, what it was judged by, and the choice."""

    criterion: str  #: what the scores are
    #: pairs are penalized in proportion to ``1 / abs(coupling of stage 1) ** exponent``; 0 is stage 1 itself
    exponent: float
    path: Path  #: solutions in order of decreasing alpha, each with its certificate
    scores: FloatArray  #: the criterion; smaller is better
    deviances: FloatArray  #: −2·logPL of the solutions: the criterion without the price of their edges
    index: int  #: the smallest
    extended: bool  #: whether it lies below a hundredth of the first alpha
    coarse: NDArray[np.bool_]  #: which alphas belong to the first pass; the others fill in around the choice
    #: cross-validated gain in log pseudo-likelihood per row over independent columns; NaN where it was not needed
    held_out: FloatArray

    def __post_init__(self) -> None:
        read_only(self.scores)
        read_only(self.deviances)
        read_only(self.held_out)

    @property
    def solution(self) -> Solution:
        """The choice of the criterion."""
        return self.path.solutions[self.index]

    def __repr__(self) -> str:
        solution = self.solution
        return (
            f"Stage({self.criterion}, exponent {self.exponent:g}: alpha={solution.alpha:.6g}, number {self.index} of "
            f"{len(self.path)}, {solution.n_edges} edges, {'converged' if solution.converged else 'NOT converged'})"
        )


@dataclass(frozen=True)
class Case:
    """A table and a path function: what every stage shares."""

    table: Any  # the rows, a CategoryTable or a PartedTable
    weight: FloatArray | None  # their weights; parts have their own
    path_function: PathFunction  # with the parameter ``penalty_weights``

    @functools.cached_property
    def n_rows(self) -> float:
        """Number of rows: the sum of the weights."""
        return count_rows(self.table, self.weight)

    @functools.cached_property
    def _spread(self) -> tuple[FloatArray, FloatArray]:
        return column_spread(self.table, self.weight)

    def split(self, held: NDArray[np.intp] | Fold) -> tuple[Case, Case]:
        """Return the case of all rows with weight that are not held out, and that of those that are."""
        if isinstance(held, Fold):
            outside = self.table.take_fold(replace(held, held=False))
            return replace(self, table=outside), replace(self, table=self.table.take_fold(held))
        kept = np.ones(len(self.table), dtype=bool) if self.weight is None else self.weight > 0.0
        kept[held] = False
        return self._rows(np.flatnonzero(kept)), self._rows(held)

    def _rows(self, numbers: NDArray[np.intp]) -> Case:
        weight = None if self.weight is None else self.weight[numbers]
        return Case(self.table[numbers], weight, self.path_function)

    def search_first(self, alphas: int | float | ArrayLike) -> Stage:
        """Search the path by the AIC."""
        price = AicPrice.at(self.table, self.weight)
        return self._search("aic", alphas, price.of, 0.0, None)

    def search_second(self, first: Solution, exponent: float, price: EdgePrice) -> Stage:
        """Search the path whose penalty weights come from a network of stage 1, by the EBIC."""
        penalty = self._reweighted(first, exponent)
        return self._search("ebic", EVERY, lambda solution, _: price.of(solution), exponent, penalty)

    def _search(
        self,
        criterion: str,
        alphas: int | float | ArrayLike,
        price: Callable[[Solution, FloatArray], float],
        exponent: float,
        penalty: FloatArray | None,
    ) -> Stage:
        """Search a path by −2·logPL plus the price of its edges, which may depend on their penalties."""

        def judge(solution: Solution) -> tuple[float, float]:
            edges = solution.edge_index
            omega = self._given_penalty(edges) if penalty is None else penalty[edges[:, 0], edges[:, 1]]
            loss = solution.objective - solution.alpha * float(omega @ np.abs(solution.edge_values))
            return 2.0 * self.n_rows * loss, price(solution, solution.alpha * omega)

        lattice = FIRST if penalty is None else SECOND
        found = search(
            self._with_penalty(penalty), self.table, self.weight, alphas, lambda solution: sum(judge(solution)), lattice
        )
        deviances = np.array([judge(solution)[0] for solution in found.path])
        judged = (found.path, found.scores, deviances, found.index, found.extended, found.coarse)
        return Stage(criterion, exponent, *judged, np.full(len(found.path), np.nan))

    def follow(self, alphas: FloatArray, exponent: float = 0.0, first: Solution | None = None) -> Path:
        """Return the solutions of a stage at given alphas."""
        penalty = None if first is None else self._reweighted(first, exponent)
        return self._with_penalty(penalty)(self.table, alphas, sample_weight=self.weight)

    def _given_penalty(self, edges: NDArray[np.int32]) -> FloatArray:
        """Return the penalty weights of the path function itself, at some pairs."""
        given = fixed_option(self.path_function, "penalty_weights")
        if given is None:
            return np.ones(len(edges))
        if isinstance(given, str):
            (sd_s, sd_t), (width_s, width_t) = (each[edges.T] for each in self._spread)
            return np.asarray(width_t * sd_s + width_s * sd_t)
        matrix = penalty_matrix(np.empty(self.table.shape[1]), given)
        return np.asarray(matrix[edges[:, 0], edges[:, 1]])

    def _reweighted(self, first: Solution, exponent: float) -> FloatArray:
        """Return penalty weights in inverse proportion to the couplings of a network; other pairs are forbidden."""
        matrix = np.full((self.table.shape[1],) * 2, np.inf)
        s, t = first.edge_index.T
        matrix[s, t] = matrix[t, s] = self._given_penalty(first.edge_index) / np.abs(first.edge_values) ** exponent
        return matrix

    def _with_penalty(self, penalty: FloatArray | None) -> PathFunction:
        if penalty is None:
            return self.path_function
        return functools.partial(self.path_function, penalty_weights=penalty)
