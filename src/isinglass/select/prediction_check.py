"""The check by prediction: networks of the stages judged by rows that were left out, and which of them is taken.

The gain of held-out rows rises to the best network of a stage and falls beyond: few networks need to be judged. Each
fold repeats both stages of the estimate on its training rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.data import category_counts, which_occur
from isinglass.machine.threads import thread_count
from isinglass.network import Network
from isinglass.penalties import smoothed_field
from isinglass.results import Solution
from isinglass.select.folds import Split
from isinglass.select.parallel import kernel_threads, run_tasks
from isinglass.select.scoring import EdgePrice, judged_by_order, prediction_scores, row_scores
from isinglass.select.stage_search import Stage, second_stage, solve_stage
from isinglass.select.task import Task
from isinglass.selection_records import Reason

LASSO, REWEIGHTED, GENTLE = 0, 1, 2
"""Numbers of the stages: stage 1, stage 2 with full weights, and with gentle ones if the full ones predict poorly."""
GENTLE_EXPONENT = 0.5
"""Exponent of the gentle weights."""
CLEARLY = 0.5
"""Share of what may be lost that the choice of the EBIC must have left, compared with that of the AIC, to need no other
network to be judged. The AIC looks for the best prediction, and finds it where there are more rows than columns."""
DOUBT = 2.0
"""Standard errors by which another network must predict better before the choice of the EBIC is given up."""
WIDEST = 30.0
"""Networks of stage 1 are judged by prediction from this multiple of its alpha down."""
STRIDE = 2.0
"""Ratio of the alphas of networks that are judged one after the other, on the way to the best one."""
TINY = 1e-300  # in place of an alpha of 0, which has no logarithm
SHORT_FOLD_CELLS = 40_000
"""Cells of a table below which folds run in threads, for which kernels are too short."""
FEWEST_CELLS = 300_000
"""Cells of a table below which starting worker processes costs more than it saves."""
NetworksByExponent = Mapping[float, Sequence[Solution]]
"""Networks of the whole table, by the exponent of the penalty weights of their stage."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """The network that is taken, and why."""

    stages: tuple[Stage, ...]
    number: int  # of its stage
    index: int  # in its stage
    reason: Reason
    is_solved: bool  # to the tolerance of the task, and not only compared
    left_out: tuple[str, ...] = ()  # what there was no time for, in words
    n_folds: int = 0


class PredictionCheck:
    """What held-out rows say so far about networks of the stages, and the search for the one that is taken."""

    def __init__(
        self, task: Task, folds: Sequence[Split], price: EdgePrice, keep: float, first: Stage, second: Stage
    ) -> None:
        self.task, self.folds = task, folds
        self.price = price  # of edges in stage 2
        self.keep = keep  # share of the best gain that the network must keep
        self.reference = second.solution  # the choice of the EBIC, which is checked
        unknown = (math.nan, math.nan)
        self.stages = [stage.judged(dict.fromkeys(range(len(stage.networks)), unknown)) for stage in (first, second)]
        self.scores: Sequence[FoldScores] = ()  # of the networks that were judged last, in every fold
        self.is_cut = False  # whether there was no time to judge all that was asked for

    def decide(self) -> Verdict:
        """Return the network that is taken."""
        verdict = self._decide()
        if self.stages[REWEIGHTED].solution is self.reference:
            return verdict
        # Beyond the end of stage 2 the EBIC is smaller: that network is checked instead.
        first, second = self.stages[:2]
        return PredictionCheck(self.task, self.folds, self.price, self.keep, first, second).decide()

    def _decide(self) -> Verdict:
        first, second = self.stages
        self.judge({LASSO: [first.index], REWEIGHTED: [second.index]})
        if self.is_cut:
            return self._verdict(REWEIGHTED, second.index, "time")
        lasso_gain, gain = self._gain(LASSO, first.index), self._gain(REWEIGHTED, second.index)
        if self.task.has_few_rows:
            self._climb(LASSO, REWEIGHTED, least=gain / self.keep)
        elif not gain >= (self.keep + CLEARLY * (1.0 - self.keep)) * lasso_gain > 0.0:
            self._climb(REWEIGHTED, least=gain / self.keep)
        best, error = self._best()
        if best - gain <= max((1.0 - self.keep) * best, DOUBT * error):
            return self._verdict(REWEIGHTED, second.index, "ebic")
        if best == 0.0:
            return self._verdict(REWEIGHTED, 0, "empty")
        gentle = second_stage(self.task, first.solution, GENTLE_EXPONENT, self.price).search()
        self.stages.append(gentle)
        self.judge({GENTLE: [gentle.index]})
        if not self.is_cut:
            self._climb(LASSO, REWEIGHTED, GENTLE)
            self._refine()
        return self._sparsest(self.keep * self._best()[0])

    def _verdict(self, number: int, index: int, reason: Reason) -> Verdict:
        """Return a verdict with what is known of its networks."""
        check = "the check by prediction"
        left_out = (f"networks that {check} would have looked at" if self.scores else check,) if self.is_cut else ()
        is_solved = index == self.stages[number].index
        return Verdict(tuple(self.stages), number, index, reason, is_solved, left_out, len(self.scores))

    def _gain(self, number: int, index: int) -> float:
        return self.stages[number].networks[index].held_out

    def judge(self, indices: Mapping[int, Sequence[int]]) -> None:
        """Find the gains of networks, whose indices are given by stage, if there is time."""
        wanted = {k: [i for i in indices[k] if math.isnan(self._gain(k, i))] for k in indices}
        if not any(wanted.values()):
            return
        if self.task.is_late or self.is_cut:
            self.is_cut = True
            return
        networks = {
            self.stages[k].exponent: [self.stages[k].networks[i].solution for i in places]
            for k, places in wanted.items()
            if places
        }
        self.scores = self._score_folds(networks)
        sums, n_rows = GainSums.over(self.scores), self.task.n_rows
        gains = sums.gains / n_rows
        errors = _standard_error(gains - sums.reference / n_rows, sums.squares / n_rows, n_rows)
        found = zip(gains.tolist(), errors.tolist(), strict=True)
        for k, places in wanted.items():
            self.stages[k] = self.stages[k].judged({i: next(found) for i in places})

    def _score_folds(self, networks: NetworksByExponent) -> list[FoldScores]:
        """Return the scores of some networks in all folds."""
        task, run, table, n_folds = self.task, self.task.run, self.task.table, len(self.folds)
        n_cells = math.prod(table.shape)
        if n_cells < FEWEST_CELLS:
            run = run.replace(n_jobs=1)
        is_short = table.is_whole and n_cells < SHORT_FOLD_CELLS
        n_threads = min(thread_count(run.n_threads), n_folds) if is_short else 1
        rough = task.loosened().replace(
            run=run.inside(kernel_threads(run.n_jobs) if n_threads == 1 else 1), groups=None
        )
        shared = rough, self.stages[LASSO].solution, self.reference, networks
        work = [(*shared, fold, earlier) for fold, earlier in zip_longest(self.folds, self.scores)]
        here = n_threads if n_threads > 1 or not table.is_whole else None  # parts are what is worked on side by side
        return run_tasks(_score_stages, work, description="Cross-validation", run=run, n_threads=here)

    def _climb(self, *numbers: int, least: float = np.inf) -> None:
        """Judge networks beside the choices of some stages until gains fall, or can no longer reach ``least``."""
        # The lasso is too dense if anything, the others too sparse.
        starts = [(number, -1 if number == LASSO else 1, self.stages[number].index) for number in numbers]
        self.judge({number: self._next(number, step, start) for number, step, start in starts})
        for number, step, start in starts:
            self._climb_on(number, step, start, least)
            if number != LASSO and int(np.nanargmax(self.stages[number].held_out)) == start:
                self._climb_on(number, -1, start, least)

    def _climb_on(self, number: int, step: int, index: int, least: float) -> None:
        """Judge networks in one direction, 1 to the dense end; each step gains less than the one before."""
        for following in self._next(number, step, index):
            self.judge({number: [following]})
            gain = self._gain(number, following)
            gained = gain - self._gain(number, index)
            if gained > 0 and gain + gained > least:
                self._climb_on(number, step, following, least)

    def _next(self, number: int, step: int, index: int) -> list[int]:
        """Return the next network to judge in one direction; nothing if there is none that is worth it.

        Stage 2 is followed beyond its end, if there is more to it.
        """
        stage = self.stages[number]
        alpha = stage.path.alphas[index]
        if number != LASSO and step > 0 and stage.path.alphas[-1] > alpha / STRIDE:
            search = second_stage(self.task, self.stages[LASSO].solution, stage.exponent, self.price)
            stage = self.stages[number] = search.extend(stage)
        distances = log_distances(stage.path.alphas, alpha * STRIDE**-step)
        following = int(distances.argmin()) if alpha > 0 else index
        widest = WIDEST * self.stages[LASSO].solution.alpha
        is_none = (following - index) * step <= 0 or (number == LASSO and stage.path.alphas[following] > widest)
        return [] if is_none else [following]

    def _refine(self) -> None:
        """Judge the networks halfway between the best of every stage and its neighbors that were judged."""
        halves = {}
        for number, gains in enumerate(stage.held_out for stage in self.stages):
            judged, top = np.flatnonzero(~np.isnan(gains)), int(np.nanargmax(gains))
            sides = [judged[judged < top][-1:], judged[judged > top][:1]]
            halves[number] = [int(top + side[0]) // 2 for side in sides if len(side) and abs(top - side[0]) > 1]
        self.judge(halves)

    def _best(self) -> tuple[float, float]:
        """Return the best gain, at least that of no edges, and the standard error of its lead over the reference."""
        networks = [network for stage in self.stages for network in stage.networks]
        best = max((network for network in networks if not math.isnan(network.held_out)), key=lambda one: one.held_out)
        if best.held_out > 0.0:
            return best.held_out, best.lead_error
        sums, n_rows = GainSums.over(self.scores), self.task.n_rows
        return 0.0, float(_standard_error(-sums.reference / n_rows, sums.reference_squares / n_rows, n_rows))

    def _sparsest(self, least: float) -> Verdict:
        """Return the sparsest network with at least this gain, judging those around it."""
        candidates = list[tuple[int, float, int, int]]()
        for number in sorted(range(len(self.stages)), key=lambda k: -self.stages[k].exponent):
            path, gains = self.stages[number].path, self.stages[number].held_out
            enough = np.flatnonzero(gains >= least)
            if not len(enough):
                continue
            last = int(enough[0])
            before = max(np.flatnonzero(gains[:last] < least).tolist(), default=-1)
            while last - before > 1 and not (candidates and path[before + 1].n_edges > min(candidates)[0]):
                middle = (last + before) // 2
                self.judge({number: [middle]})
                last, before = (middle, before) if self._gain(number, middle) >= least else (last, middle)
            candidates.append((path[last].n_edges, -self._gain(number, last), number, last))
        _, _, number, index = min(candidates)
        return self._verdict(number, index, "prediction")


def _standard_error(mean: FloatArray | float, mean_square: FloatArray | float, n_rows: float) -> FloatArray:
    return np.asarray(np.sqrt(np.maximum(mean_square - mean**2, 0.0) / n_rows))


def log_distances(alphas: FloatArray, alpha: float) -> FloatArray:
    """Return how far alphas are from one of them, on the scale of their logarithms."""
    return np.asarray(np.abs(np.log(np.maximum(alphas, TINY) / (alpha or TINY))))


class GainSums(NamedTuple):
    """Sums over the rows that a fold holds out; a gain is one over independent columns, in log pseudo-likelihood.

    Continuous columns are judged by their order instead, as `prediction_scores` says.
    """

    reference: float  # gains of the reference, and their squares
    reference_squares: float
    gains: FloatArray  # gains of each network that was asked for, and squares of their differences to the reference's
    squares: FloatArray

    @classmethod
    def over(cls, folds: Sequence[FoldScores]) -> GainSums:
        """Return the sums over all folds."""
        return cls(*(sum(values) for values in zip(*(fold.sums for fold in folds), strict=True)))


@dataclass(frozen=True, eq=False)
class FoldScores:
    """One fold: its networks at the alphas chosen by the criteria, which are fitted once, and the sums asked for."""

    first: Solution  # stage 1
    reference: Solution  # stage 2 with full weights
    independent: Solution  # no edges
    sums: GainSums


def _score_stages(
    task: Task,
    first: Solution,
    reference: Solution,
    networks: NetworksByExponent,
    fold: Split,
    earlier: FoldScores | None,
) -> FoldScores:
    """Fit networks to the training rows of a fold, each from that of all rows, and score the rows held out.

    ``first`` and ``reference``: what the criteria of stage 1 and of stage 2 with full weights chose for all rows.
    ``earlier``: the scores of other networks in this fold, if there are any.
    """
    training, held = (task.on(part) for part in fold)

    def fit(exponent: float, solutions: Sequence[Solution], weights: Solution | None = None) -> Sequence[Solution]:
        alphas = [solution.alpha for solution in solutions]
        return solve_stage(training, alphas, exponent, weights, start=solutions).solutions

    lasso = earlier.first if earlier else fit(0.0, [first])[0]
    reweighted = earlier.reference if earlier else fit(1.0, [reference], lasso)[0]
    fitted = {(0.0, first.alpha): lasso, (1.0, reference.alpha): reweighted}
    for exponent, solutions in networks.items():
        missing = [solution for solution in solutions if (exponent, solution.alpha) not in fitted]
        if missing:
            fits = fit(exponent, missing, lasso)
            fitted |= {(exponent, whole.alpha): part for whole, part in zip(missing, fits, strict=True)}
    scored = [fitted[exponent, solution.alpha] for exponent, solutions in networks.items() for solution in solutions]
    independent = earlier.independent if earlier else _without_edges(training)
    sums = held.table.sum_rows(_sum_gains, [independent, reweighted, *scored], which_occur(task.table))
    return FoldScores(lasso, reweighted, independent, GainSums(*sums))


def _sum_gains(
    table: Bytes, weight: FloatArray | None, networks: Sequence[Solution], possible: Mask | None
) -> tuple[float, float, FloatArray, FloatArray]:
    """Return the `GainSums` over some rows; the first two networks are independent columns and the reference."""
    unit = np.ones(len(table)) if weight is None else weight
    if judged_by_order(networks[0].network.variables).any():
        scores = np.array([prediction_scores(table, network, unit, possible) for network in networks])
    else:
        scores = np.array([row_scores(table, network, possible=possible) for network in networks])
    lead, *gains = scores[1:] - scores[0]
    squares = np.array([unit @ (gain - lead) ** 2 for gain in gains])
    return float(unit @ lead), float(unit @ lead**2), np.array([unit @ gain for gain in gains]), squares


def _without_edges(task: Task) -> Solution:
    """Return the network of independent columns, with smoothed fields; given the covariates, if there are any."""
    table = task.table
    if table.variables.has_covariates:
        return task.path(1)[0]
    if not table.variables.is_binary:
        logs, variables = np.log(category_counts(table) + 0.5), table.variables
        fields = (logs - logs[variables.starts][variables.column])[variables.is_later]
        return Solution(Network(fields, [], [], variables=variables), np.inf)
    return Solution(Network(smoothed_field(category_counts(table)[1::2], task.n_rows), [], []), np.inf)
