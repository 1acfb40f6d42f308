"""One stage of an estimate: a path with penalty weights made of an earlier network, searched by a price per edge.

The number and the ends of the alphas hardly matter. Every alpha lies on one lattice, alpha_max times whole powers of a
fixed ratio. A count of alphas says how coarse the first pass is. It ends when the criterion has passed its minimum by
far, or no longer moves; then the lattice is filled in around the choice. The dense end of the path, where most of the
time would go, is visited only if the choice lies there.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray, Frozen, Mask
from isinglass.data import column_spread, count_rows
from isinglass.data.parts import Fold
from isinglass.errors import ConstantColumnWarning, suppress_warnings
from isinglass.objective import penalty_matrix
from isinglass.results import Path, Solution
from isinglass.select.contract import PathFunction, alpha_max_of, fixed_option, parameters_of, take_part
from isinglass.select.scoring import AicPrice, EdgePrice
from isinglass.solve.grid import alpha_grid

Score = Callable[[Solution], float]
Scored = tuple[Solution, float, bool]
"""A solution, its score, and whether it belongs to the first pass."""

USUAL_END = 0.01
"""Last alpha over first of a grid as other programs have it; a choice beyond it counts as an extension."""
LEVEL = 1e-4
"""Share of the whole improvement below which half an octave of alphas counts as standing still."""


class Lattice(NamedTuple):
    """Where a search may look."""

    ratio: float  # of neighboring alphas
    far: float  # the pass ends once alpha is below this share of the best one so far
    floor: float  # ...or below this share of the first
    # steps of the lattice that one step of the first pass is at least, whatever the count: a criterion that counts
    # edges is jagged, and a finer first pass would find other small dents
    least: int = 1

    def alphas(self, top: float, count: int) -> FloatArray:
        """Return the alphas of the first pass: as close as ``count`` of them down to the usual end would be."""
        stride = self.stride(count)
        number = math.floor(math.log(self.floor) / (stride * math.log(self.ratio))) + 1
        return np.asarray(top * self.ratio ** (stride * np.arange(number, dtype=np.float64)))

    def stride(self, count: int) -> int:
        """Return how many steps of the lattice one step of the first pass is."""
        return max(self.least, round(math.log(USUAL_END) / (max(count - 1, 1) * math.log(self.ratio))))


FIRST = Lattice(ratio=0.9, far=0.5, floor=1e-4, least=2)
"""Where stage 1 looks. The dense end costs most, and its criterion has one minimum."""
SECOND, EVERY = Lattice(ratio=0.93, far=0.1, floor=1e-5), 65
"""Where stage 2 looks. Its support is small and its paths are cheap; with this count the first pass skips nothing."""


@dataclass(frozen=True, eq=False)
class Search:
    """A path with its scores, smaller being better, and the best solution."""

    path: Path  # all solutions that were looked at, in order of decreasing alpha
    scores: FloatArray  # their scores
    index: int  # the first with the smallest
    coarse: Mask  # which belong to the first pass
    extended: bool  # whether the choice lies beyond the usual end of a grid, a hundredth of the first alpha


def search(
    path_function: PathFunction,
    table: Any,
    weight: FloatArray | None,
    alphas: int | float | ArrayLike,
    score: Score,
    lattice: Lattice,
) -> Search:
    """Return the best solution of a path; alphas that are given by value are tried as they are, and no others."""
    run = functools.partial(path_function, sample_weight=weight)
    if np.ndim(alphas) > 0 or isinstance(alphas, float | np.floating):
        return _try_all(run(table, alphas), score)
    count = len(alpha_grid(1.0, alphas, alpha_min_ratio=USUAL_END))  # which complains about a count that is none
    top = float(alpha_max_of(path_function)(table, sample_weight=weight))
    if top == 0.0 or count == 1:
        return _try_all(run(table, count), score)
    seen, tol = _follow(run, table, lattice.alphas(top, count), score, lattice.far)
    best = min(range(len(seen)), key=lambda k: seen[k][1])
    stride = lattice.stride(count)
    around = [best * stride + k for k in range(1 - stride, stride) if k and best * stride + k > 0]
    if around:
        with suppress_warnings(ConstantColumnWarning):  # the first pass has given it
            between = run(table, [top * lattice.ratio**k for k in around])
        seen += [(solution, score(solution), False) for solution in between]
    return _finish(seen, tol, top)


def _follow(run: PathFunction, table: Any, alphas: FloatArray, score: Score, far: float) -> tuple[list[Scored], float]:
    """Return solutions and scores until the best is far behind, and the tolerance of the path."""
    seen: list[Scored] = []

    def look(solution: Solution) -> bool:
        seen.append((solution, score(solution), True))
        scores = np.array([item[1] for item in seen])
        best = seen[int(scores.argmin())][0]
        if solution.alpha < far * best.alpha:
            return False
        earlier = [item[1] for item in seen if item[0].alpha >= solution.alpha / far]
        gained = scores[0] - scores.min()
        return not earlier or gained <= 0.0 or min(earlier) - scores.min() > LEVEL * gained

    if "callback" in parameters_of(run):
        return seen, run(table, alphas, callback=look).tol
    path = run(table, alphas)
    for solution in path:
        if not look(solution):
            break
    return seen, path.tol


def _try_all(path: Path, score: Score) -> Search:
    return _finish([(solution, score(solution), True) for solution in path], path.tol, 0.0)


def _finish(seen: list[Scored], tol: float, top: float) -> Search:
    ordered = sorted(seen, key=lambda item: -item[0].alpha)
    scores = np.array([item[1] for item in ordered])
    index = int(scores.argmin())
    path = Path(tuple(item[0] for item in ordered), tol=tol)
    beyond = path[index].alpha < USUAL_END * top * (1 - 1e-9)  # rounding is not beyond
    return Search(path, scores, index, np.array([item[2] for item in ordered]), bool(beyond))


@dataclass(frozen=True, eq=False, repr=False)
class Stage(Frozen):
    """One stage: a path of convex problems, what it was judged by, and the choice."""

    criterion: str  #: what the scores are
    #: pairs are penalized in proportion to ``1 / abs(coupling of stage 1) ** exponent``; 0 is stage 1 itself
    exponent: float
    path: Path  #: solutions in order of decreasing alpha, each with its certificate
    scores: FloatArray  #: the criterion; smaller is better
    deviances: FloatArray  #: −2·logPL of the solutions: the criterion without the price of their edges
    index: int  #: the smallest
    extended: bool  #: whether it lies below a hundredth of the first alpha
    coarse: Mask  #: which alphas belong to the first pass; the others fill in around the choice
    #: cross-validated gain in log pseudo-likelihood per row over independent columns; NaN where it was not needed
    held_out: FloatArray

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

    def split(self, held: NDArray[Any] | Fold) -> tuple[Case, Case]:
        """Return the case of all rows with weight that are not held out, and that of those that are.

        They are given by number, or by how many of each are held out, as floats.
        """
        if isinstance(held, Fold):
            outside = self.table.take_fold(replace(held, held=False))
            return replace(self, table=outside), replace(self, table=self.table.take_fold(held))
        if held.dtype.kind == "f":
            assert self.weight is not None
            return self._part(self.weight - held), self._part(held)
        kept = np.ones(len(self.table), dtype=bool) if self.weight is None else self.weight > 0.0
        kept[held] = False
        return self._part(np.flatnonzero(kept)), self._part(held)

    def _part(self, part: NDArray[Any]) -> Case:
        return Case(*take_part(self.table, self.weight, part), self.path_function)

    def search_first(self, alphas: int | float | ArrayLike) -> Stage:
        """Search the path by the AIC."""
        return self._search("aic", alphas, AicPrice.at(self.table, self.weight).of, 0.0, None)

    def search_second(self, first: Solution, exponent: float, price: EdgePrice) -> Stage:
        """Search the path whose penalty weights come from a network of stage 1, by the EBIC."""
        return self._search("ebic", EVERY, price.of, exponent, self._reweighted(first, exponent))

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

        place = self._with_penalty(penalty), self.table, self.weight, alphas
        found = search(*place, lambda solution: sum(judge(solution)), FIRST if penalty is None else SECOND)
        deviances = np.array([judge(solution)[0] for solution in found.path])
        judged = (found.path, found.scores, deviances, found.index, found.extended, found.coarse)
        return Stage(criterion, exponent, *judged, np.full(len(found.path), np.nan))

    def follow(self, alphas: ArrayLike, exponent: float = 0.0, first: Solution | None = None) -> Path:
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
        weights = self._given_penalty(first.edge_index) / np.abs(first.edge_values) ** exponent
        return penalty_on(first.edge_index, self.table.shape[1], weights)

    def _with_penalty(self, penalty: FloatArray | None) -> PathFunction:
        if penalty is None:
            return self.path_function
        return functools.partial(self.path_function, penalty_weights=penalty)


def penalty_on(edges: NDArray[np.int32], n_features: int, weights: float | FloatArray) -> FloatArray:
    """Return penalty weights that allow some pairs and forbid all others."""
    matrix = np.full((n_features, n_features), np.inf)
    s, t = edges.T
    matrix[s, t] = matrix[t, s] = weights
    return matrix
