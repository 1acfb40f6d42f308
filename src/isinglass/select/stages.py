"""The stages of the default estimate: convex problems along a path, and the search for the best of their networks.

Stage 1 is a lasso; in stage 2, penalty weights are in inverse proportion to its couplings, and all other pairs are
forbidden. The criterion is −2·logPL plus the price of the edges. All alphas are alpha_max times powers of a ratio.

1. Descend from alpha_max in strides of a few powers, until the criterion has turned.
2. Fill in the alphas that were skipped around the best one.
3. Solve the best one to the full tolerance; the others are only compared.

docs/selection.md says when the descent ends, and how often the minimum of the whole path is elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray, read_only
from isinglass.data import column_sd
from isinglass.errors import plural
from isinglass.penalties import penalty_matrix, penalty_on
from isinglass.records import StageRecord
from isinglass.results import Path, Solution
from isinglass.select.progress import tell
from isinglass.select.scoring import EdgePrice, aic_price
from isinglass.select.settings import Alphas, are_given
from isinglass.select.task import Task

FULL, GENTLE = 1.0, 0.5
"""Exponents of the penalty weights of stage 2: the usual one, and one that is tried if that predicts poorly."""
USUAL_END = 0.01  # last alpha over first of a grid as other programs have it
TURNED = 0.5  # share of its best alpha below which the criterion has turned
HOPELESS = 100.0
"""Rise above the first, empty network, in units of −2·logPL, that ends stage 2 if no network was better than that."""
DOUBTED = 2  # strides after the first rise of stage 1 before an empty network is taken for the best one
FARTHEST = 0.25
"""Share of its best alpha down to which stage 2 is followed if its denser networks are judged by prediction."""
SPARSER = 4.0  # multiple of the alpha that a sample of the rows implies, from which the descent starts


class Scored(NamedTuple):
    """A network and what it was scored by."""

    solution: Solution
    score: float  # the criterion
    #: cross-validated gain in log pseudo-likelihood per row over independent columns; NaN where it was not needed
    held_out: float = math.nan


def best_of(scored: Sequence[Scored]) -> int:
    """Return the number of the first network with the smallest score; 0 if there is none."""
    return min(range(len(scored)), key=lambda k: scored[k].score, default=0)


@dataclass(frozen=True, eq=False, repr=False)
class Stage:
    """One stage: a path of convex problems, what it was scored by, and the choice."""

    networks: tuple[Scored, ...]  #: in order of decreasing alpha
    #: pairs are penalized in proportion to ``1 / abs(coupling of stage 1) ** exponent``; 0 is stage 1 itself
    exponent: float
    tol: float  #: of the solutions that were only compared

    @property
    def criterion(self) -> str:
        """What the scores are."""
        return "ebic" if self.exponent else "aic"

    @cached_property
    def index(self) -> int:
        """The number of the first network with the smallest score."""
        return best_of(self.networks)

    @cached_property
    def path(self) -> Path:
        """The solutions, each with its certificate."""
        return Path(tuple(network.solution for network in self.networks), tol=self.tol)

    @cached_property
    def scores(self) -> FloatArray:
        """The criterion; smaller is better."""
        return read_only(np.array([network.score for network in self.networks], dtype=np.float64))

    @cached_property
    def held_out(self) -> FloatArray:
        """Cross-validated gain in log pseudo-likelihood per row over independent columns; NaN where not needed."""
        return read_only(np.array([network.held_out for network in self.networks], dtype=np.float64))

    @property
    def solution(self) -> Solution:
        """The choice of the criterion."""
        return self.networks[self.index].solution

    @property
    def record(self) -> StageRecord:
        """What it tried, chose and proves."""
        best, chosen = self.networks[self.index], self.solution
        return StageRecord(
            criterion=self.criterion,
            exponent=self.exponent,
            n_alphas=len(self.networks),
            alpha=chosen.alpha,
            n_edges=chosen.n_edges,
            score=float(best.score),
            held_out=float(best.held_out),
            kkt_residual=chosen.kkt_residual,
            duality_gap=chosen.duality_gap,
            converged=bool(chosen.converged),
        )

    def with_gains(self, gains: Mapping[int, float]) -> Stage:
        """Return the stage with the gains of some networks, by their numbers."""
        networks = enumerate(self.networks)
        return replace(self, networks=tuple(one._replace(held_out=gains.get(k, math.nan)) for k, one in networks))

    def with_network(self, scored: Scored) -> tuple[Stage, int]:
        """Return the stage with a network in its place on the path, or in that of a rough solution; and the place."""
        alphas, alpha = self.path.alphas, scored.solution.alpha
        place, after = int(np.count_nonzero(alphas > alpha)), int(np.count_nonzero(alphas >= alpha))
        for rough in self.networks[place:after]:
            scored = scored._replace(held_out=rough.held_out)
        return replace(self, networks=(*self.networks[:place], scored, *self.networks[after:])), place

    def __repr__(self) -> str:
        solution, place = self.solution, f"number {self.index + 1} of {len(self.networks)}"
        state = "converged" if solution.converged else "NOT converged"
        chosen = f"alpha={solution.alpha:.6g}, {place}, {plural(solution.n_edges, 'edge')}, {state}"
        return f"Stage({self.criterion}, exponent {self.exponent:g}: {chosen})"


def solve_stage(
    task: Task, alpha: float, exponent: float = 0.0, first: Solution | None = None, start: Solution | None = None
) -> Solution:
    """Return the solution of stage 1 at an alpha, or of stage 2 with penalty weights of the network ``first`` of it."""
    return task.path([alpha], penalty=stage_penalty(task, exponent, first), start=start)[0]


def stage_penalty(task: Task, exponent: float = 0.0, first: Solution | None = None) -> FloatArray | None:
    """Return the penalty weights of all pairs in a stage; None: those of the settings."""
    units = _units(task)
    if first is None or not exponent:
        if units is None:
            return None
        weights = penalty_matrix(units, task.paths.penalty_weights)
        return np.asarray(weights * np.multiply.outer(units, units))
    edges = first.edge_index
    weights = pair_weights(task, edges) / np.abs(first.edge_values) ** exponent
    if units is not None:
        weights *= units[edges].prod(axis=1) ** (1.0 - exponent)
    return penalty_on(edges, task.table.shape[1], weights)


def pair_weights(task: Task, edges: NDArray[np.int32]) -> FloatArray:
    """Return the penalty weights that the settings give to some pairs."""
    (s, t), weights = edges.T, task.paths.penalty_weights
    if weights is None:
        return np.ones(len(edges))
    if isinstance(weights, str):
        sd, ranges = column_sd(task.table), task.table.variables.ranges
        return np.asarray(ranges[t] * sd[s] + ranges[s] * sd[t])
    return np.asarray(weights[s, t], dtype=np.float64)


def _units(task: Task) -> FloatArray | None:
    """Return units of columns that make couplings of numbers and answers comparable: twice their standard deviations.

    The gradient of a pair has the standard error 2 sd_s sd_t / √N if the pair is no edge. None in other tables.
    """
    variables = task.table.variables
    is_number = np.isin(np.flatnonzero(variables.is_modeled), variables.continuous)
    if not is_number.any() or is_number.all() or isinstance(task.paths.penalty_weights, str):
        return None
    sd = column_sd(task.table)
    return np.where(sd > 0.0, 2.0 * sd, 1.0)


@dataclass(frozen=True)
class Descent:
    """The lattice of a stage, and where the descent along it ends."""

    name: str  # of the stage, in the progress line
    ratio: float  # of neighboring alphas
    stride: int  # lattice steps from one alpha of the descent to the next, at least
    floor: float  # last alpha over the first, if the criterion never turns
    ends_at_rise: bool  # whether one rise ends it
    usual_steps: int  # that the stage and what follows it take, to estimate how much time is left

    def stride_for(self, count: int) -> int:
        """Return the stride with which ``count`` alphas would reach the usual end of a grid, if that is longer."""
        return max(self.stride, round(math.log(USUAL_END) / (max(count - 1, 1) * math.log(self.ratio))))

    def alphas(self, top: float, stride: int) -> FloatArray:
        """Return the alphas of a descent from ``top`` to the floor."""
        number = math.floor(math.log(self.floor) / (stride * math.log(self.ratio))) + 1
        return np.asarray(top * self.ratio ** (stride * np.arange(number, dtype=np.float64)))

    def has_turned(self, scored: Sequence[Scored]) -> bool:
        """Tell whether the descent ends after these networks."""
        place = best_of(scored)
        best, last = scored[place], scored[-1]
        if self.ends_at_rise and not best.solution.n_edges and len(scored) - 1 - place <= DOUBTED:
            return False
        if last.solution.alpha < TURNED * best.solution.alpha:
            return True
        rise = last.score - best.score
        return rise > 0.0 if self.ends_at_rise else place == 0 and rise > HOPELESS


FIRST = Descent("Stage 1", 0.81, stride=2, floor=1e-4, ends_at_rise=True, usual_steps=32)
"""Dense networks cost most, and the AIC rises there: one rise ends the descent. It also has small local minima, and on
a finer lattice the descent would end in others of them."""
SECOND = Descent("Stage 2", 0.93, stride=3, floor=1e-5, ends_at_rise=False, usual_steps=20)
"""Its networks are sparse, and edges that have just entered are shrunken: the EBIC may rise, and fall again."""


@dataclass(frozen=True, eq=False)
class StageSearch:
    """The convex problems of one stage, one for each alpha, and the search for the one with the smallest score."""

    task: Task
    price: EdgePrice
    descent: Descent
    exponent: float = 0.0  # of the penalty weights
    first: Solution | None = None  # of stage 1, where this is stage 2

    @cached_property
    def penalty(self) -> FloatArray | None:
        """The penalty weights of all pairs; None: those of the settings."""
        return stage_penalty(self.task, self.exponent, self.first)

    def score(self, solution: Solution) -> Scored:
        """Score a network by −2·logPL (−2·logL where the likelihood is maximized) and the price of its edges."""
        edges = solution.edge_index
        omega = pair_weights(self.task, edges) if self.penalty is None else self.penalty[tuple(edges.T)]
        loss = solution.objective - solution.alpha * float(omega @ np.abs(solution.edge_values))
        return Scored(solution, 2.0 * self.task.n_rows * loss + self.price.of(solution, solution.alpha * omega))

    def solve(self, alphas: Alphas, start: Solution | None = None, *, roughly: bool = False) -> list[Scored]:
        """Return the networks at some alphas, solved to the tolerance of the task, or only to be compared."""
        task = self.task.loosened() if roughly else self.task
        return [self.score(solution) for solution in task.path(alphas, penalty=self.penalty, start=start)]

    def at(self, alphas: Alphas, start: Solution | None = None) -> Stage:
        """Return the stage of given alphas, all solved to the tolerance of the task."""
        return self._stage(self.solve(alphas, start), self.task.paths.tolerance)

    def search(self, alphas: Alphas | None = None, sample: Solution | None = None) -> Stage:
        """Descend, fill in around the best network, and solve it.

        ``alphas`` are tried as they are if given by value; a number of them only says how long strides are. ``sample``:
        what a sample of the rows expects.
        """
        if alphas is not None and are_given(alphas):
            return self.at(alphas)
        task, descent = self.task, self.descent
        if sample is not None and task.is_late:
            return self.at([sample.alpha], sample)
        top = task.alpha_max(self.penalty)
        if top == 0.0:
            return self.at(1)
        stride = descent.stride if alphas is None else descent.stride_for(cast(int, alphas))
        lattice = descent.alphas(top, stride)
        first = 0 if sample is None else int(np.count_nonzero(lattice > SPARSER * sample.alpha))
        scored = self._descend(lattice[first:], sample)
        if first and best_of(scored) == 0:  # a sparser network may be better
            first, scored = 0, self._descend(lattice, None)
        best = best_of(scored)
        place = (first + best) * stride
        skipped = [place + k for k in range(1 - stride, stride) if k and place + k > 0]
        if skipped and not task.is_late:
            start = scored[max(best - 1, 0)].solution
            scored += self.solve([top * descent.ratio**k for k in skipped], start, roughly=True)
        return self._stage(self._solve_best(scored), task.loosened().paths.tolerance)

    def extend(self, stage: Stage) -> Stage:
        """Return a stage whose descent ended below half of its best alpha, followed further down."""
        descent, last, best = self.descent, stage.path[-1], stage.solution
        ratio = descent.ratio**descent.stride
        if last.alpha > TURNED * best.alpha / ratio or last.alpha <= FARTHEST * best.alpha:
            return stage
        number = math.ceil(math.log(FARTHEST * best.alpha / last.alpha) / math.log(ratio))
        scored = self.solve(last.alpha * ratio ** np.arange(1.0, number + 1.0), last, roughly=True)
        lowest = scored[best_of(scored)]
        if lowest.score < stage.scores[stage.index]:
            skipped, start = [k for k in range(1 - descent.stride, descent.stride) if k], lowest.solution
            scored += self.solve([start.alpha * descent.ratio**k for k in skipped], start, roughly=True)
            scored = self._solve_best(scored)
        return self._stage([*stage.networks, *scored], stage.tol)

    def _descend(self, alphas: FloatArray, start: Solution | None) -> list[Scored]:
        """Return the networks at these alphas, only compared, until the criterion has turned or there is no time."""
        rough, descent = self.task.loosened(), self.descent
        scored: list[Scored] = []

        def goes_on(solution: Solution) -> bool:
            scored.append(self.score(solution))
            tell(f"{descent.name}, {solution.n_edges} edges", max(descent.usual_steps - len(scored), 1))
            has_time = not rough.is_late or (not self.exponent and not solution.n_edges)  # stage 1 finds an edge
            return has_time and not descent.has_turned(scored)

        if len(alphas):
            rough.path(alphas, penalty=self.penalty, start=start, callback=goes_on)
        return scored

    def _solve_best(self, scored: Sequence[Scored]) -> list[Scored]:
        """Solve the best network in full; where that makes another one the best, also that."""
        networks, solved = list(scored), set[int]()
        while (place := best_of(networks)) not in solved:
            rough = networks[place].solution
            (networks[place],) = self.solve([rough.alpha], rough)
            solved.add(place)
        return networks

    def _stage(self, scored: Iterable[Scored], tol: float) -> Stage:
        networks = sorted(scored, key=lambda network: -network.solution.alpha)
        return Stage(tuple(networks), self.exponent, tol)


def first_stage(task: Task, price: EdgePrice | None = None) -> StageSearch:
    """Return the search of stage 1, by the AIC unless another price of the edges is given."""
    return StageSearch(task, price or aic_price(task.table, task.paths.n_ends), FIRST)


def second_stage(task: Task, first: Solution, exponent: float, price: EdgePrice) -> StageSearch:
    """Return the search of stage 2, whose penalty weights come from a network of stage 1."""
    return StageSearch(task, price, SECOND, exponent, first)
