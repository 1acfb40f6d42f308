"""One stage of an estimate: a path with penalty weights made of an earlier network, searched by a price per edge.

The number and the ends of the alphas hardly matter. Every alpha lies on one lattice, alpha_max times whole powers of a
fixed ratio. A count of alphas says how coarse the first pass is. It ends when the criterion has passed its minimum by
far, or no longer moves; then the lattice is filled in around the choice. The dense end of the path, where most of the
time would go, is visited only if the choice lies there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from isinglass.arrays import FloatArray, Frozen
from isinglass.results import Path, Solution
from isinglass.select.progress import tell
from isinglass.select.scoring import EdgePrice, aic_price
from isinglass.select.settings import Alphas
from isinglass.select.task import Task
from isinglass.solve.alphas import alpha_grid

Judge = Callable[[Solution], tuple[float, float]]
"""The function that gives −2·logPL of a solution and the price of its edges."""

USUAL_END = 0.01
"""Last alpha over first of a grid as other programs have it; a choice beyond it counts as an extension."""
LEVEL = 1e-4
"""Share of the whole improvement below which some steps count as standing still..."""
STILL = 0.1
"""...and improvement, in units of −2·logPL, below which they do in any case."""
SPARSER = 4.0
"""Multiple of the alpha that a sample lets expect from which a path goes down: criteria that count edges are jagged."""
JAGGED = 100.0
"""Rise, in the same units, up to which a criterion that counts edges may fall again, whatever it has gained."""


class Judged(NamedTuple):
    """A solution and what it was judged by."""

    solution: Solution
    deviance: float  # −2·logPL
    price: float  # of its edges

    @property
    def score(self) -> float:
        """The criterion."""
        return self.deviance + self.price


class SearchGrid(NamedTuple):
    """Where a search may look."""

    name: str  # what is looked for there
    ratio: float  # of neighboring alphas
    far: float  # the pass ends once alpha is below this share of the best one so far
    floor: float  # ...or below this share of the first
    rises: int = 1000  # ...or once the criterion has risen so many times in a row since
    steep: float = 1e9  # ...or by this share of the whole improvement
    steps: int = 1  # least number of lattice steps that one step of the first pass is
    near: int = 1  # lattice steps between alphas around the choice of a similar table
    usual: int = 20  # steps that the first pass usually takes, and what follows it, to tell how much time is left
    after: int = 0

    def alphas(self, top: float, count: int) -> FloatArray:
        """Return the alphas of the first pass: as close as ``count`` of them down to the usual end would be."""
        stride = self.stride(count)
        number = math.floor(math.log(self.floor) / (stride * math.log(self.ratio))) + 1
        return np.asarray(top * self.ratio ** (stride * np.arange(number, dtype=np.float64)))

    def stride(self, count: int) -> int:
        """Return how many steps of the lattice one step of the first pass is."""
        return max(self.steps, round(math.log(USUAL_END) / (max(count - 1, 1) * math.log(self.ratio))))


FIRST = SearchGrid("Stage 1", ratio=0.81, far=0.5, floor=1e-4, rises=1, steep=0.05, steps=2, usual=12, after=20)
"""Where stage 1 looks. The dense end costs most, and its criterion has one minimum; it counts edges and is jagged: a
finer lattice would find other small dents. Of tables with fewer rows than parameters, the network after a steep rise
may take longer than all before it."""
SECOND, SKIPPING = SearchGrid("Stage 2", ratio=0.93, far=0.5, floor=1e-5, near=3, usual=15, after=5), 22
"""Where stage 2 looks, and the count with which its first pass is every third alpha."""
FARTHEST = 0.25
"""Share of its best alpha down to which stage 2 is followed if its denser networks are judged by prediction."""


@dataclass(frozen=True, eq=False)
class Search(Frozen):
    """A path with its scores, smaller being better, and the best solution."""

    path: Path  #: solutions in order of decreasing alpha, each with its certificate
    scores: FloatArray  #: the criterion; smaller is better
    deviances: FloatArray  #: −2·logPL of the solutions: the criterion without the price of their edges
    index: int  #: the first with the smallest score
    extended: bool  #: whether it lies below a hundredth of the first alpha, the usual end of a grid


def search(
    task: Task,
    alphas: Alphas,
    judge: Judge,
    grid: SearchGrid,
    penalty: FloatArray | None = None,
    near: Solution | None = None,
) -> Search:
    """Return the best solution of a path; alphas that are given by value are tried as they are, and no others.

    ``near``: the best of a similar table, around which the best of this one is looked for; that of a sample of this
    table only says where the path starts.
    """
    if np.ndim(alphas) > 0 or isinstance(alphas, float | np.floating):
        return _try_all(task.path(alphas, penalty=penalty, start=near), judge)
    is_sample = task.warm_start is not None and task.warm_start.is_sample
    if near is not None and near.alpha > 0.0 and not is_sample:
        return _search_near(task, near, judge, grid, penalty)
    if near is not None and task.is_late:
        return _try_all(task.path([near.alpha], penalty=penalty, start=near), judge)
    count = len(alpha_grid(1.0, alphas, alpha_min_ratio=USUAL_END))  # which complains about a count that is none
    top = task.alpha_max(penalty)
    if top == 0.0 or count == 1:
        return _try_all(task.path(count, penalty=penalty), judge)
    rough, stride, every = task.loosened(), grid.stride(count), grid.alphas(top, count)
    first = 0 if near is None else int(np.count_nonzero(every > SPARSER * near.alpha))
    seen = _follow(rough, every[first:], judge, grid, penalty, near) if first < len(every) else []
    best = min(range(len(seen)), key=lambda k: seen[k].score, default=0)
    if first and best == 0:  # a sparser network may be better
        return search(task, alphas, judge, grid, penalty)
    place = (first + best) * stride
    around = [place + k for k in range(1 - stride, stride) if k and place + k > 0]
    if around and not task.is_late:
        start = seen[max(best - 1, 0)].solution
        between = rough.path([top * grid.ratio**k for k in around], penalty=penalty, start=start)
        seen += _judge_all(between, judge)
    return _finish(_solve_best(task, seen, judge, penalty), rough.paths.tolerance, top)


def _search_near(task: Task, near: Solution, judge: Judge, grid: SearchGrid, penalty: FloatArray | None) -> Search:
    """Return the best solution around that of a similar table: among denser ones, and sparser ones if none is better.

    Either way is followed as long as the criterion falls. All of them are only compared.
    """
    rough, ratio = task.loosened(), grid.ratio**grid.near
    seen: list[Judged] = []

    def look(solution: Solution) -> bool:
        seen.append(Judged(solution, *judge(solution)))
        return len(seen) == 1 or seen[-2].score - seen[-1].score > STILL

    alphas = near.alpha * ratio ** np.arange(math.log(grid.floor) / math.log(ratio))
    if task.paths.estimator == "joint":
        rough.path(alphas, penalty=penalty, callback=look, start=near)
    else:  # the others compute the whole path before they call anything
        any(not look(rough.path([alpha], penalty=penalty)[0]) for alpha in alphas)
    while seen[0].score <= seen[1].score and seen[0].solution.n_edges:
        sparser = rough.path([seen[0].solution.alpha / ratio], penalty=penalty, start=seen[0].solution)[0]
        seen.insert(0, Judged(sparser, *judge(sparser)))
        if seen[1].score - seen[0].score <= STILL:
            break
    return _finish(seen, rough.paths.tolerance, 0.0)


def _solve_best(task: Task, seen: list[Judged], judge: Judge, penalty: FloatArray | None) -> list[Judged]:
    """Solve the best of some solutions in full; where that makes another one the best, also that."""
    found, solved = list(seen), set[int]()
    while (place := min(range(len(found)), key=lambda k: found[k].score)) not in solved:
        rough = found[place].solution
        solution = task.path([rough.alpha], penalty=penalty, start=rough)[0]
        found[place] = Judged(solution, *judge(solution))
        solved.add(place)
    return found


def _follow(
    task: Task,
    alphas: FloatArray,
    judge: Judge,
    grid: SearchGrid,
    penalty: FloatArray | None,
    start: Solution | None,
) -> list[Judged]:
    """Return solutions and scores until the best is far behind."""
    seen: list[Judged] = []

    def look(solution: Solution) -> bool:
        seen.append(Judged(solution, *judge(solution)))
        tell(f"{grid.name}, {solution.n_edges} edges", max(grid.usual - len(seen), 1) + grid.after)
        if task.is_late:
            return False
        scores = np.array([item.score for item in seen])
        best = seen[int(scores.argmin())].solution
        gained = scores[0] - scores.min()
        if solution.alpha < grid.far * best.alpha or (np.diff(scores)[-grid.rises :] > 0).sum() == grid.rises:
            return False
        if scores[-1] - scores.min() > max(grid.steep * gained, JAGGED):
            return False
        earlier = [item.score for item in seen if item.solution.alpha >= solution.alpha / grid.far]
        return not earlier or gained <= 0.0 or min(earlier) - scores.min() > max(LEVEL * gained, STILL)

    if task.paths.estimator == "joint":  # the others compute the whole path before they call anything
        task.path(alphas, penalty=penalty, callback=look, start=start)
        return seen
    for solution in task.path(alphas, penalty=penalty):
        if not look(solution):
            break
    return seen


def _judge_all(solutions: Iterable[Solution], judge: Judge) -> list[Judged]:
    return [Judged(solution, *judge(solution)) for solution in solutions]


def _try_all(path: Path, judge: Judge) -> Search:
    return _finish(_judge_all(path, judge), path.tol, 0.0)


def _finish(seen: list[Judged], tol: float, top: float) -> Search:
    ordered = sorted(seen, key=lambda item: -item.solution.alpha)
    scores, deviances = (np.array([getattr(item, name) for item in ordered]) for name in ("score", "deviance"))
    index = int(scores.argmin())
    path = Path(tuple(item.solution for item in ordered), tol=tol)
    beyond = path[index].alpha < USUAL_END * top * (1 - 1e-9)  # rounding is not beyond
    return Search(path, scores, deviances, index, bool(beyond))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Stage(Search):
    """One stage: a path of convex problems, what it was judged by, and the choice."""

    criterion: str  #: what the scores are
    #: pairs are penalized in proportion to ``1 / abs(coupling of stage 1) ** exponent``; 0 is stage 1 itself
    exponent: float
    #: cross-validated gain in log pseudo-likelihood per row over independent columns; NaN where it was not needed
    held_out: FloatArray

    @property
    def solution(self) -> Solution:
        """The choice of the criterion."""
        return self.path.solutions[self.index]

    def solved(self, index: int, solution: Solution) -> Stage:
        """Return the stage with a better solution of the same problem."""
        path = (*self.path[:index], solution, *self.path[index + 1 :])
        return replace(self, path=Path(path, tol=self.path.tol))

    def with_solution(self, solution: Solution) -> Stage:
        """Return the stage with one more solution that was not judged, in its place on the path."""
        alphas = self.path.alphas
        place = len(alphas) - int(np.searchsorted(alphas[::-1], solution.alpha))
        path = Path((*self.path[:place], solution, *self.path[place:]), tol=self.path.tol)
        measures = ("scores", "deviances", "held_out")
        unknown: dict[str, Any] = {name: np.insert(getattr(self, name), place, np.nan) for name in measures}
        return replace(self, path=path, index=self.index + (place <= self.index), **unknown)

    def __repr__(self) -> str:
        solution = self.solution
        return (
            f"Stage({self.criterion}, exponent {self.exponent:g}: alpha={solution.alpha:.6g}, number {self.index} of "
            f"{len(self.path)}, {solution.n_edges} edges, {'converged' if solution.converged else 'NOT converged'})"
        )


def search_first(task: Task, alphas: Alphas, near: Solution | None = None, *, stay: bool = False) -> Stage:
    """Search the path by the AIC; ``stay``: look at the alpha of ``near`` alone."""
    if stay and near is not None:
        task, alphas = task.loosened(), near.alpha
    return _search_stage(task, "aic", alphas, aic_price(task.table), 0.0, task.first_penalty, near)


def search_second(
    task: Task, first: Solution, exponent: float, price: EdgePrice, near: Solution | None = None
) -> Stage:
    """Search the path whose penalty weights come from a network of stage 1, by the EBIC."""
    return _search_stage(task, "ebic", SKIPPING, price, exponent, task.reweighted(first, exponent), near)


def lengthen(task: Task, stage: Stage, first: Solution, price: EdgePrice) -> Stage:
    """Return a stage 2 that ended because its criterion had risen, with the networks behind its end.

    One of them may be a better choice.
    """
    stride = SECOND.stride(SKIPPING)
    ratio, last, best = SECOND.ratio**stride, stage.path[-1], stage.solution
    if last.alpha > SECOND.far * best.alpha / ratio or last.alpha <= FARTHEST * best.alpha:
        return stage
    penalty = task.reweighted(first, stage.exponent)
    judge, rough = _judging(task, price, penalty), task.loosened()
    count = math.ceil(math.log(FARTHEST * best.alpha / last.alpha) / math.log(ratio))
    alphas = last.alpha * ratio ** np.arange(1.0, count + 1.0)
    seen = _judge_all(rough.path(alphas, penalty=penalty, start=last), judge)
    if min(item.score for item in seen) < stage.scores[stage.index]:
        top = min(seen, key=lambda item: item.score).solution
        around = [top.alpha * SECOND.ratio**k for k in range(1 - stride, stride) if k]
        seen += _judge_all(rough.path(around, penalty=penalty, start=top), judge)
        seen = _solve_best(task, seen, judge, penalty)
    earlier = [Judged(*one) for one in zip(stage.path, stage.deviances, stage.scores - stage.deviances, strict=True)]
    found = _finish([*earlier, *seen], stage.path.tol, stage.path[0].alpha)
    return replace(stage, **vars(found), held_out=np.append(stage.held_out, np.full(len(seen), np.nan)))


def _judging(task: Task, price: EdgePrice, penalty: FloatArray | None) -> Judge:
    """Return the function that gives −2·logPL of a solution and the price of its edges, given their penalties."""

    def judge(solution: Solution) -> tuple[float, float]:
        edges = solution.edge_index
        omega = task.given_penalty(edges) if penalty is None else penalty[edges[:, 0], edges[:, 1]]
        loss = solution.objective - solution.alpha * float(omega @ np.abs(solution.edge_values))
        return 2.0 * task.n_rows * loss, price.of(solution, solution.alpha * omega)

    return judge


def _search_stage(
    task: Task,
    criterion: str,
    alphas: Alphas,
    price: EdgePrice,
    exponent: float,
    penalty: FloatArray | None,
    near: Solution | None,
) -> Stage:
    """Search a path by −2·logPL plus the price of its edges, which may depend on their penalties."""
    grid = SECOND if exponent else FIRST
    found = search(task, alphas, _judging(task, price, penalty), grid, penalty, near)
    return Stage(**vars(found), criterion=criterion, exponent=exponent, held_out=np.full(len(found.path), np.nan))
