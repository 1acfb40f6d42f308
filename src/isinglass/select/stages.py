"""One stage of an estimate: a path with penalty weights made of an earlier network, searched by a price per edge.

The number and the ends of the alphas hardly matter. Every alpha lies on one lattice, alpha_max times whole powers of a
fixed ratio. A count of alphas says how coarse the first pass is. It ends when the criterion has passed its minimum by
far, or no longer moves; then the lattice is filled in around the choice. The dense end of the path, where most of the
time would go, is visited only if the choice lies there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from isinglass.arrays import FloatArray, Frozen
from isinglass.results import Path, Solution, StageRecord
from isinglass.select.progress import tell
from isinglass.select.scoring import EdgePrice, aic_price
from isinglass.select.settings import Alphas
from isinglass.select.stage_penalties import StagePenalties
from isinglass.select.task import Relation, Task
from isinglass.solve.alphas import alpha_grid

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
    rises: int | None = None  # ...or once the criterion has risen so many times in a row since
    steep: float = math.inf  # ...or by this share of the whole improvement, and by much if there was none
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

    def goes_on(self, seen: Sequence[Judged]) -> bool:
        """Tell whether the first pass goes on after these solutions."""
        scores, alpha = np.array([item.score for item in seen]), seen[-1].solution.alpha
        least = scores.min()
        gained, best = scores[0] - least, seen[int(scores.argmin())].solution
        if alpha < self.far * best.alpha:
            return False
        if self.rises is not None and (np.diff(scores)[-self.rises :] > 0).sum() == self.rises:
            return False
        if scores[-1] - least > (max(self.steep * gained, JAGGED) if gained > 0.0 else JAGGED):
            return False
        earlier = [item.score for item in seen if item.solution.alpha >= alpha / self.far]
        return not earlier or gained <= 0.0 or min(earlier) - least > max(LEVEL * gained, STILL)


FIRST = SearchGrid("Stage 1", ratio=0.81, far=0.5, floor=1e-4, rises=1, steep=0.05, steps=2, usual=12, after=20)
"""Where stage 1 looks. The dense end costs most, and the criterion rises there: one rise ends the pass. A criterion
that counts edges also has small local minima, and a finer lattice would stop in others of them. Of tables with fewer
rows than parameters, the network after a steep rise may take longer than all before it."""
SECOND, SKIPPING = SearchGrid("Stage 2", ratio=0.93, far=0.5, floor=1e-5, near=3, usual=15, after=5), 22
"""Where stage 2 looks, and the count with which its first pass is every third alpha."""
FARTHEST = 0.25
"""Share of its best alpha down to which stage 2 is followed if its denser networks are judged by prediction."""


@dataclass(frozen=True, eq=False, repr=False)
class Stage(Frozen):
    """One stage: a path of convex problems, what it was judged by, and the choice."""

    path: Path  #: solutions in order of decreasing alpha, each with its certificate
    scores: FloatArray  #: the criterion; smaller is better
    deviances: FloatArray  #: −2·logPL of the solutions: the criterion without the price of their edges
    index: int  #: the first with the smallest score
    extended: bool  #: whether it lies below a hundredth of the first alpha, the usual end of a grid
    criterion: str  #: what the scores are
    #: pairs are penalized in proportion to ``1 / abs(coupling of stage 1) ** exponent``; 0 is stage 1 itself
    exponent: float
    #: cross-validated gain in log pseudo-likelihood per row over independent columns; NaN where it was not needed
    held_out: FloatArray

    @property
    def solution(self) -> Solution:
        """The choice of the criterion."""
        return self.path.solutions[self.index]

    @property
    def record(self) -> StageRecord:
        """What it tried, chose and proves."""
        chosen = self.solution
        return StageRecord(
            criterion=self.criterion,
            exponent=self.exponent,
            n_alphas=len(self.path),
            alpha=chosen.alpha,
            n_edges=chosen.n_edges,
            score=float(self.scores[self.index]),
            held_out=float(self.held_out[self.index]),
            extended=self.extended,
            kkt_residual=chosen.kkt_residual,
            duality_gap=chosen.duality_gap,
            converged=bool(chosen.converged),
        )

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


@dataclass(frozen=True, eq=False)
class StageSearch:
    """The search of a path for the solution with the smallest score."""

    task: Task
    judge: Callable[[Solution], Judged]
    grid: SearchGrid
    penalty: FloatArray | None = None
    criterion: str = ""
    exponent: float = 0.0

    def run(self, alphas: Alphas, near: Solution | None = None, relation: Relation = Relation.SIMILAR) -> Stage:
        """Return the path with its best solution; alphas that are given by value are tried as they are, and no others.

        ``near``: the best of a similar table, around which the best of this one is looked for; that of a sample of this
        table only says where the path starts.
        """
        task = self.task
        if np.ndim(alphas) > 0 or isinstance(alphas, float | np.floating):
            return self._try_all(alphas, start=near)
        if near is not None and near.alpha > 0.0 and relation is not Relation.SAMPLE:
            return self._run_near(near)
        if near is not None and task.is_late:
            return self._try_all([near.alpha], start=near)
        count = len(alpha_grid(1.0, alphas, alpha_min_ratio=USUAL_END))  # which complains about a count that is none
        top = task.alpha_max(self.penalty)
        if top == 0.0 or count == 1:
            return self._try_all(count)
        stride, lattice = self.grid.stride(count), self.grid.alphas(top, count)
        first = 0 if near is None else int(np.count_nonzero(lattice > SPARSER * near.alpha))
        seen = self._follow(lattice[first:], near) if first < len(lattice) else []
        best = min(range(len(seen)), key=lambda k: seen[k].score, default=0)
        if first and best == 0:  # a sparser network may be better
            return self.run(alphas)
        place = (first + best) * stride
        around = [place + k for k in range(1 - stride, stride) if k and place + k > 0]
        if around and not task.is_late:
            start = seen[max(best - 1, 0)].solution
            seen += self.compare([top * self.grid.ratio**k for k in around], start)
        return self.finish(self.solve_best(seen), task.loosened().paths.tolerance, top)

    def compare(self, alphas: Alphas, start: Solution | None) -> list[Judged]:
        """Return solutions at some alphas that are only compared."""
        return [self.judge(solution) for solution in self._path(self.task.loosened(), alphas, start=start)]

    def solve_best(self, seen: list[Judged]) -> list[Judged]:
        """Solve the best of some solutions in full; where that makes another one the best, also that."""
        found, solved = list(seen), set[int]()
        while (place := min(range(len(found)), key=lambda k: found[k].score)) not in solved:
            rough = found[place].solution
            found[place] = self.judge(self._path(self.task, [rough.alpha], start=rough)[0])
            solved.add(place)
        return found

    def finish(self, seen: list[Judged], tol: float, top: float) -> Stage:
        """Return the stage of some solutions; ``top``: the first alpha, or 0 if there was no grid."""
        ordered = sorted(seen, key=lambda item: -item.solution.alpha)
        scores, deviances = (np.array([getattr(item, name) for item in ordered]) for name in ("score", "deviance"))
        index = int(scores.argmin())
        path = Path(tuple(item.solution for item in ordered), tol=tol)
        beyond = bool(path[index].alpha < USUAL_END * top * (1 - 1e-9))  # rounding is not beyond
        unknown = np.full(len(path), np.nan)
        return Stage(path, scores, deviances, index, beyond, self.criterion, self.exponent, unknown)

    def _path(
        self,
        task: Task,
        alphas: Alphas,
        start: Solution | None = None,
        callback: Callable[[Solution], object] | None = None,
    ) -> Path:
        return task.path(alphas, penalty=self.penalty, start=start, callback=callback)

    def _try_all(self, alphas: Alphas, start: Solution | None = None) -> Stage:
        path = self._path(self.task, alphas, start=start)
        return self.finish([self.judge(solution) for solution in path], path.tol, 0.0)

    def _run_near(self, near: Solution) -> Stage:
        """Return the best solution around that of a similar table: among denser ones, sparser if none is better.

        Either way is followed as long as the criterion falls. All of them are only compared.
        """
        rough, ratio = self.task.loosened(), self.grid.ratio**self.grid.near
        seen: list[Judged] = []

        def look(solution: Solution) -> bool:
            seen.append(self.judge(solution))
            return len(seen) == 1 or seen[-2].score - seen[-1].score > STILL

        alphas = near.alpha * ratio ** np.arange(math.log(self.grid.floor) / math.log(ratio))
        self._path(rough, alphas, start=near, callback=look)
        while seen[0].score <= seen[1].score and seen[0].solution.n_edges:
            sparser = [seen[0].solution.alpha / ratio]
            seen = self.compare(sparser, seen[0].solution) + seen
            if seen[1].score - seen[0].score <= STILL:
                break
        return self.finish(seen, rough.paths.tolerance, 0.0)

    def _follow(self, alphas: FloatArray, start: Solution | None) -> list[Judged]:
        """Return solutions that are only compared, until the best is far behind."""
        rough, grid = self.task.loosened(), self.grid
        seen: list[Judged] = []

        def look(solution: Solution) -> bool:
            seen.append(self.judge(solution))
            tell(f"{grid.name}, {solution.n_edges} edges", max(grid.usual - len(seen), 1) + grid.after)
            return not rough.is_late and grid.goes_on(seen)

        self._path(rough, alphas, start=start, callback=look)
        return seen


def search_first(
    task: Task, alphas: Alphas, near: Solution | None = None, relation: Relation = Relation.SIMILAR
) -> Stage:
    """Search the path by the AIC; in a resample, look at the alpha of ``near`` alone."""
    if near is not None and relation is Relation.RESAMPLE:
        task, alphas = task.loosened(), near.alpha
    penalties = StagePenalties(task)
    judge = _judging(penalties, aic_price(task.table, task.paths.n_ends), penalties.first)
    return StageSearch(task, judge, FIRST, penalties.first, "aic").run(alphas, near, relation)


def search_second(
    task: Task,
    first: Solution,
    exponent: float,
    price: EdgePrice,
    near: Solution | None = None,
    relation: Relation = Relation.SIMILAR,
) -> Stage:
    """Search the path whose penalty weights come from a network of stage 1, by the EBIC."""
    return _second(task, first, exponent, price).run(SKIPPING, near, relation)


def extend_second(task: Task, stage: Stage, first: Solution, price: EdgePrice) -> Stage:
    """Return a stage 2 that ended because its criterion had risen, with the networks behind its end.

    One of them may be a better choice.
    """
    stride = SECOND.stride(SKIPPING)
    ratio, last, best = SECOND.ratio**stride, stage.path[-1], stage.solution
    if last.alpha > SECOND.far * best.alpha / ratio or last.alpha <= FARTHEST * best.alpha:
        return stage
    search = _second(task, first, stage.exponent, price)
    count = math.ceil(math.log(FARTHEST * best.alpha / last.alpha) / math.log(ratio))
    seen = search.compare(last.alpha * ratio ** np.arange(1.0, count + 1.0), last)
    if min(item.score for item in seen) < stage.scores[stage.index]:
        top = min(seen, key=lambda item: item.score).solution
        seen += search.compare([top.alpha * SECOND.ratio**k for k in range(1 - stride, stride) if k], top)
        seen = search.solve_best(seen)
    earlier = [Judged(*one) for one in zip(stage.path, stage.deviances, stage.scores - stage.deviances, strict=True)]
    extended = search.finish([*earlier, *seen], stage.path.tol, stage.path[0].alpha)
    return replace(extended, held_out=np.append(stage.held_out, np.full(len(seen), np.nan)))


def _second(task: Task, first: Solution, exponent: float, price: EdgePrice) -> StageSearch:
    penalties = StagePenalties(task)
    penalty = penalties.second(first, exponent)
    return StageSearch(task, _judging(penalties, price, penalty), SECOND, penalty, "ebic", exponent)


def _judging(penalties: StagePenalties, price: EdgePrice, penalty: FloatArray | None) -> Callable[[Solution], Judged]:
    """Return the function that judges solutions by −2·logPL and the price of their edges, given their penalties.

    Where the likelihood itself is maximized, it takes the place of the pseudo-likelihood.
    """
    n_rows = penalties.task.n_rows

    def judge(solution: Solution) -> Judged:
        edges = solution.edge_index
        omega = penalties.given(edges) if penalty is None else penalty[edges[:, 0], edges[:, 1]]
        loss = solution.objective - solution.alpha * float(omega @ np.abs(solution.edge_values))
        return Judged(solution, 2.0 * n_rows * loss, price.of(solution, solution.alpha * omega))

    return judge
