"""The check by prediction: networks of the stages scored on held-out rows, and which of them is taken.

Each fold repeats both stages on its training rows and scores the rows that it holds out.

1. Score the choices of both stages. That of the EBIC stays if it clearly keeps enough of the gain of the other.
2. Score networks beside the choices. The gain rises to the best network of a stage and falls beyond: few are needed.
3. If one predicts clearly better, take the sparsest network that keeps enough of the best gain, also among those of
   stage 2 with gentle weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.data import category_counts, which_occur
from isinglass.machine.threads import thread_count
from isinglass.network import Network
from isinglass.records import Reason
from isinglass.results import Solution
from isinglass.select.folds import Split
from isinglass.select.parallel import run_tasks, task_run
from isinglass.select.scoring import EdgePrice, prediction_scores
from isinglass.select.stages import FULL, GENTLE, Stage, StageSearch, first_stage, second_stage, solve_stage
from isinglass.select.task import Task

SHORT_FOLD_CELLS = 40_000  # cells of a table below which folds run in threads, for which kernels are too short
FEWEST_CELLS = 300_000  # cells of a table below which starting worker processes costs more than it saves
EXPONENTS = (0.0, FULL, GENTLE)
"""Exponents of the penalty weights of the stages: the lasso, and the two kinds of stage 2."""
LASSO, REWEIGHTED, GENTLY = range(3)
CLEARLY = 0.5
"""Share of what may be lost that the choice of the EBIC must have left, compared with that of the AIC, to need no other
network to be scored. The AIC looks for the best prediction, and finds it where there are more rows than columns."""
DOUBT = 2.0  # standard errors by which another network must predict better before the choice of the EBIC is given up
WIDEST = 30.0  # networks of stage 1 are scored from this multiple of its alpha down
STRIDE = 2.0  # ratio of the alphas of networks that are judged one after the other, on the way to the best one
TINY = 1e-300  # in place of an alpha of 0, which has no logarithm
Place = tuple[int, int]
"""A network: the number of its stage, and its own number in it."""


class PredictionCheck:
    """The search for the network that is taken, by the gains of networks in held-out rows.

    Stage 2 is followed beyond its end where gains still rise there, and gentle weights are tried last.
    """

    def __init__(
        self, task: Task, folds: Sequence[Split], price: EdgePrice, keep: float, first: Stage, second: Stage
    ) -> None:
        self.task = task
        self.price = price  # of edges in stage 2
        self.keep = keep  # share of the best gain that the network must keep
        self.stages = [first, second]
        self.held_out = HeldOutGains(task, folds, first.solution, second.solution)

    def decide(self) -> tuple[Place, Reason]:
        """Return which network is taken, and why, by the three steps above."""
        lasso, chosen = (LASSO, self.stages[LASSO].index), (REWEIGHTED, self.stages[REWEIGHTED].index)
        self.score([lasso, chosen])
        if self.held_out.is_cut:
            return chosen, "time"

        gain, clearly_enough = self.held_out.gains[chosen], self.keep + CLEARLY * (1.0 - self.keep)
        if self.task.has_few_rows:
            self._climb(LASSO, REWEIGHTED, least=gain / self.keep)
        elif not gain >= clearly_enough * self.held_out.gains[lasso] > 0.0:
            self._climb(REWEIGHTED, least=gain / self.keep)
        best, error = self.held_out.best()
        if best - gain <= max((1.0 - self.keep) * best, DOUBT * error):
            return chosen, "ebic"
        if best == 0.0:
            return (REWEIGHTED, 0), "empty"

        gentle = self.search(GENTLY).search()
        self.stages.append(gentle)
        self.score([(GENTLY, gentle.index)])
        if not self.held_out.is_cut:
            self._climb(LASSO, REWEIGHTED, GENTLY)
            self._refine()
        return self._sparsest(self.keep * self.held_out.best()[0]), "prediction"

    def search(self, number: int) -> StageSearch:
        """Return the search of a stage, from the choice of stage 1 for all rows."""
        if number == LASSO:
            return first_stage(self.task)
        return second_stage(self.task, self.stages[LASSO].solution, EXPONENTS[number], self.price)

    def solved(self, place: Place) -> tuple[list[Stage], Place]:
        """Return the stages with the gains that are known, and the place of a network, solved in full."""
        number, index = place
        stages = [stage.with_gains(self.held_out.in_stage(k)) for k, stage in enumerate(self.stages)]
        if index != stages[number].index:
            rough = stages[number].path[index]
            (solved,) = self.search(number).solve([rough.alpha], rough)
            stages[number], index = stages[number].with_network(solved)
        return stages, (number, index)

    def score(self, places: Iterable[Place]) -> None:
        """Find the gains of networks, if there is time."""
        self.held_out.score({(k, index): (EXPONENTS[k], self.stages[k].path[index]) for k, index in places})

    def _climb(self, *numbers: int, least: float = np.inf) -> None:
        """Score networks beside the choices of some stages until gains fall, or can no longer reach ``least``."""
        # The lasso is too dense if anything, the others too sparse.
        starts = [(number, -1 if number == LASSO else 1, self.stages[number].index) for number in numbers]
        following = [(number, self._beside(number, step, start)) for number, step, start in starts]
        self.score((number, index) for number, index in following if index is not None)  # all at once
        for number, step, start in starts:
            self._climb_on(number, step, start, least)
            gains = self.held_out.in_stage(number)
            if number != LASSO and max(gains, key=lambda index: (gains[index], -index)) == start:
                self._climb_on(number, -1, start, least)

    def _climb_on(self, number: int, step: int, index: int, least: float) -> None:
        """Score networks in one direction, 1 to the dense end; each step gains less than the one before."""
        following = self._beside(number, step, index)
        while following is not None:
            self.score([(number, following)])
            gain, before = (self.held_out.gains.get((number, k), math.nan) for k in (following, index))
            gained = gain - before
            if not (gained > 0.0 and gain + gained > least):
                return
            index, following = following, self._beside(number, step, following)

    def _beside(self, number: int, step: int, index: int) -> int | None:
        """Return the next network to score in one direction; None if there is none that is worth it.

        Stage 2 is followed beyond its end if the next network is there.
        """
        alphas = self.stages[number].path.alphas
        alpha = alphas[index]
        if number != LASSO and step > 0 and alphas[-1] > alpha / STRIDE:
            self.stages[number] = self.search(number).extend(self.stages[number])
            alphas = self.stages[number].path.alphas
        following = int(log_distances(alphas, alpha * STRIDE**-step).argmin())
        is_beside = alpha > 0.0 and (following - index) * step > 0
        is_sparse = number == LASSO and alphas[following] > WIDEST * self.stages[LASSO].solution.alpha
        return following if is_beside and not is_sparse else None

    def _refine(self) -> None:
        """Score the networks halfway between the best of every stage and its neighbors that were scored."""
        halves = list[Place]()
        for number in range(len(self.stages)):
            gains = self.held_out.in_stage(number)
            top = max(sorted(gains), key=lambda index: gains[index])
            sides = [max((i for i in gains if i < top), default=top), min((i for i in gains if i > top), default=top)]
            halves += [(number, (top + side) // 2) for side in sides if abs(top - side) > 1]
        self.score(halves)

    def _sparsest(self, least: float) -> Place:
        """Return the network with the fewest edges and at least this gain, scoring those around it."""
        found = list[tuple[int, float, Place]]()  # edges, then minus the gain: the better one of two alike is first
        for number in (REWEIGHTED, GENTLY, LASSO):
            index = self._bisect(number, least, most_edges=min(found)[0] if found else math.inf)
            if index is not None:
                gain = self.held_out.gains[number, index]
                found.append((self.stages[number].path[index].n_edges, -gain, (number, index)))
        return min(found)[2]

    def _bisect(self, number: int, least: float, most_edges: float) -> int | None:
        """Return the sparsest network of a stage with at least this gain, if it has one, found by bisection.

        Networks of more than ``most_edges`` edges are not scored for it.
        """
        path, gains = self.stages[number].path, self.held_out.in_stage(number)
        enough = min((index for index, gain in gains.items() if gain >= least), default=None)
        if enough is None:
            return None
        too_sparse = max((index for index in gains if index < enough), default=-1)
        while enough - too_sparse > 1 and path[too_sparse + 1].n_edges <= most_edges:
            middle = (enough + too_sparse) // 2
            self.score([(number, middle)])
            if self.held_out.gains.get((number, middle), -math.inf) >= least:
                enough = middle
            else:
                too_sparse = middle
        return enough


def log_distances(alphas: FloatArray, alpha: float) -> FloatArray:
    """Return how far alphas are from one of them, on the scale of their logarithms."""
    return np.asarray(np.abs(np.log(np.maximum(alphas, TINY) / (alpha or TINY))))


class HeldOutGains:
    """The gains of networks over independent columns in the rows that folds hold out, found when they are asked for.

    ``first`` and ``reference``: what the criteria of stage 1 and of stage 2 with full weights chose for all rows.
    """

    def __init__(self, task: Task, folds: Sequence[Split], first: Solution, reference: Solution) -> None:
        self.task, self.folds, self.first, self.reference = task, folds, first, reference
        self.gains: dict[Place, float] = {}
        self.lead_errors: dict[Place, float] = {}  # standard errors of what these gains are ahead of the reference's
        self.empty_error = math.nan  # standard error of the gain of the reference over no edges
        self.fits: Sequence[FoldFit] = ()  # of every fold
        self.is_cut = False  # whether there was no time to score all that was asked for

    def score(self, networks: Mapping[Place, tuple[float, Solution]]) -> None:
        """Find the gains of networks, each given with the exponent of its stage, if there is time."""
        missing = {place: network for place, network in networks.items() if place not in self.gains}
        self.is_cut = self.is_cut or (bool(missing) and self.task.is_late)
        if not missing or self.is_cut:
            return
        self.fits, n_rows = self._fit_folds(list(missing.values())), self.task.n_rows
        means, squares = np.sum([fit.sums for fit in self.fits], axis=0) / n_rows
        leads = means - np.r_[0.0, np.full(len(missing), means[0])]
        errors = np.sqrt(np.maximum(squares - leads**2, 0.0) / n_rows)
        self.empty_error = float(errors[0])
        self.gains |= dict(zip(missing, means[1:].tolist(), strict=True))
        self.lead_errors |= dict(zip(missing, errors[1:].tolist(), strict=True))

    def in_stage(self, number: int) -> dict[int, float]:
        """Return the gains that are known in a stage, by the number of the network."""
        return {index: gain for (k, index), gain in self.gains.items() if k == number}

    def best(self) -> tuple[float, float]:
        """Return the best gain, at least that of no edges, and the standard error of its lead over the reference."""
        best = max(sorted(self.gains), key=lambda place: self.gains[place])
        return (self.gains[best], self.lead_errors[best]) if self.gains[best] > 0.0 else (0.0, self.empty_error)

    def _fit_folds(self, networks: Sequence[tuple[float, Solution]]) -> list[FoldFit]:
        """Fit some networks in every fold."""
        task, n_cells = self.task, math.prod(self.task.table.shape)
        run = task.run if n_cells >= FEWEST_CELLS else task.run.replace(n_jobs=1)
        inside, n_threads = task_run(run), None
        if not task.table.is_whole:
            n_threads = 1  # parts are what is worked on side by side
        elif n_cells < SHORT_FOLD_CELLS:
            inside, n_threads = run.inside(1), min(thread_count(run.n_threads), len(self.folds))
        shared = replace(task.loosened(), run=inside, groups=None), self.first, self.reference, networks
        work = [(*shared, fold, earlier) for fold, earlier in zip_longest(self.folds, self.fits)]
        return run_tasks(_fit_fold, work, description="Cross-validation", run=run, n_threads=n_threads)


class FoldFit(NamedTuple):
    """What is fitted once in a fold, and the sums over the rows that it holds out."""

    independent: Solution  # no edges
    first: Solution  # at the alphas that the criteria chose for all rows: stage 1, and stage 2 with full weights
    reference: Solution
    #: gains over ``independent`` of the reference and of the networks that were asked for; and the squares of the first
    #: and of the differences of the others from it
    sums: FloatArray


def _fit_fold(
    task: Task,
    first: Solution,
    reference: Solution,
    networks: Sequence[tuple[float, Solution]],
    fold: Split,
    earlier: FoldFit | None,
) -> FoldFit:
    """Fit networks to the training rows of a fold, each from that of all rows, and score the rows held out.

    ``first``, ``reference``: those of `HeldOutGains`. ``earlier``: the fit of other networks in this fold, if any.
    """
    training, held = (task.on(part) for part in fold)

    def fit(exponent: float, whole: Solution, weights: Solution | None = None) -> Solution:
        return solve_stage(training, whole.alpha, exponent, weights, start=whole)

    lasso = earlier.first if earlier else fit(0.0, first)
    reweighted = earlier.reference if earlier else fit(FULL, reference, lasso)
    independent = earlier.independent if earlier else without_edges(training)
    known = {(0.0, first.alpha): lasso, (FULL, reference.alpha): reweighted}
    fits = [known.get((exponent, whole.alpha)) or fit(exponent, whole, lasso) for exponent, whole in networks]
    scored = [solution.network for solution in (independent, reweighted, *fits)]
    sums = held.table.sum_rows(_sum_gains, scored, which_occur(task.table))
    return FoldFit(independent, lasso, reweighted, sums)


def _sum_gains(
    table: Bytes, weight: FloatArray | None, networks: Sequence[Network], possible: Mask | None
) -> FloatArray:
    """Return the sums of a `FoldFit` over some rows; the first networks are independent columns and the reference."""
    unit = np.ones(len(table)) if weight is None else weight
    scores = np.array([prediction_scores(table, network, unit, possible) for network in networks])
    lead, *gains = scores[1:] - scores[0]
    squares = [lead**2, *((gain - lead) ** 2 for gain in gains)]
    return np.array([[unit @ each for each in (lead, *gains)], [unit @ each for each in squares]])


def without_edges(task: Task) -> Solution:
    """Return the network of independent columns, with smoothed fields; given the covariates, if there are any."""
    table = task.table
    if table.variables.has_covariates:
        return task.path(1)[0]
    fields = table.variables.fields_of(np.log(category_counts(table) + 0.5))
    return Solution(Network(fields, [], [], variables=table.variables), np.inf)
