"""Looking for the best alpha of a path so that the number and the ends of the alphas hardly matter.

Every alpha lies on one lattice, alpha_max times whole powers of a fixed ratio. A count of alphas says how coarse the
first pass is. It ends when the criterion has passed its minimum by far, or no longer moves; then the lattice is filled
in around the choice. The dense end of the path, where most of the time would go, is visited only if the choice lies
there.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray, Frozen
from isinglass.errors import ConstantColumnWarning, suppress_warnings
from isinglass.results import Path, Solution
from isinglass.select.contract import PathFunction, alpha_max_of, parameters_of
from isinglass.solve.grid import alpha_grid

Score = Callable[[Solution], float]
Scored = tuple[Solution, float, bool]
"""A solution, its score, and whether it belongs to the first pass."""

USUAL_END = 0.01
"""Last alpha over first of a grid as other programs have it; a choice beyond it counts as an extension."""
LEVEL = 1e-4
"""Share of the whole improvement below which half an octave of alphas counts as standing still."""


@dataclass(frozen=True)
class Lattice:
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


@dataclass(frozen=True, eq=False)
class Search(Frozen):
    """A path with its scores, smaller being better, and the best solution."""

    path: Path  # all solutions that were looked at, in order of decreasing alpha
    scores: FloatArray  # their scores
    index: int  # the first with the smallest
    coarse: NDArray[np.bool_]  # which belong to the first pass
    extended: bool  # whether the choice lies beyond the usual end of a grid, a hundredth of the first alpha

    @property
    def solution(self) -> Solution:
        """The best solution."""
        return self.path.solutions[self.index]


def search(
    path_function: PathFunction,
    table: NDArray[np.uint8],
    weight: FloatArray | None,
    alphas: int | float | ArrayLike,
    score: Score,
    lattice: Lattice,
) -> Search:
    """Return the best solution of a path; alphas that are given by value are tried as they are, and no others.

    Examples
    --------
    >>> from isinglass.solve.path import ising_path
    >>> X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [40, 10, 10, 40], axis=0).astype(np.uint8)
    >>> found = search(ising_path, X, None, 20, lambda s: (s.alpha - 0.01) ** 2, Lattice(0.9, 0.5, 1e-4))
    >>> round(found.solution.alpha, 4), bool(found.path.alphas.min() > 0.004)  # 0.3 · 0.9³²
    (0.0103, True)
    """
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
            between = run(table, [top * lattice.ratio**k for k in sorted(around)])
        seen += [(solution, score(solution), False) for solution in between]
    return _finish(seen, tol, top)


def _follow(
    run: PathFunction, table: NDArray[np.uint8], alphas: FloatArray, score: Score, far: float
) -> tuple[list[Scored], float]:
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
