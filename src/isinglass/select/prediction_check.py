"""The check by prediction: networks of the stages scored on held-out rows, and which of them is taken.

1. Score the choices of both stages. That of the EBIC stays if it clearly keeps enough of the gain of the other.
2. Score networks beside the choices. The gain rises to the best network of a stage and falls beyond: few are needed.
3. If one predicts clearly better, take the sparsest network that keeps enough of the best gain, also among those of
   stage 2 with gentle weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from isinglass.arrays import FloatArray
from isinglass.select.folds import Split
from isinglass.select.held_out_gains import HeldOutGains, Place
from isinglass.select.scoring import EdgePrice
from isinglass.select.stage import Stage
from isinglass.select.stage_problem import FULL
from isinglass.select.stage_search import StageSearch, first_stage, second_stage
from isinglass.select.task import Task
from isinglass.select.two_stage_choice import TwoStageChoice
from isinglass.selection_records import Reason

LASSO, REWEIGHTED, GENTLE = 0, 1, 2
"""Numbers of the stages: stage 1, stage 2 with full weights, and with gentle ones if the full ones predict poorly."""
EXPONENTS = (0.0, FULL, 0.5)
"""Their exponents of the penalty weights."""
CLEARLY = 0.5
"""Share of what may be lost that the choice of the EBIC must have left, compared with that of the AIC, to need no other
network to be scored. The AIC looks for the best prediction, and finds it where there are more rows than columns."""
DOUBT = 2.0
"""Standard errors by which another network must predict better before the choice of the EBIC is given up."""
WIDEST = 30.0
"""Networks of stage 1 are scored from this multiple of its alpha down."""
STRIDE = 2.0
"""Ratio of the alphas of networks that are judged one after the other, on the way to the best one."""
TINY = 1e-300  # in place of an alpha of 0, which has no logarithm


def check_choice(
    task: Task, folds: Sequence[Split], price: EdgePrice, keep: float, first: Stage, second: Stage
) -> TwoStageChoice:
    """Return the network that is taken, given the choices of both stages and the share of the gain to keep."""
    check = PredictionCheck(task, folds, price, keep, first, second)
    place, reason = check.decide()
    if check.stages[REWEIGHTED].solution is not second.solution:
        # Beyond the end of stage 2 the EBIC is smaller: that network is checked instead.
        return check_choice(task, folds, price, keep, *check.stages[: REWEIGHTED + 1])
    return check.take(place, reason)


class Candidate(NamedTuple):
    """The sparsest network of a stage that keeps enough of the gain. The smallest of several candidates is taken."""

    n_edges: int
    loss: float  # minus its gain
    place: Place


class PredictionCheck:
    """The search for the network that is taken, by the gains of networks in held-out rows.

    ``stages`` grows: stage 2 is followed beyond its end where gains still rise there, and gentle weights come last.
    """

    def __init__(
        self, task: Task, folds: Sequence[Split], price: EdgePrice, keep: float, first: Stage, second: Stage
    ) -> None:
        self.task, self.folds = task, folds
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

        gentle = self._search(GENTLE).search()
        self.stages.append(gentle)
        self.score([(GENTLE, gentle.index)])
        if not self.held_out.is_cut:
            self._climb(LASSO, REWEIGHTED, GENTLE)
            self._refine()
        return self._sparsest(self.keep * self.held_out.best()[0]), "prediction"

    def _search(self, number: int) -> StageSearch:
        """Return the search of a stage, from its choices for all rows."""
        if number == LASSO:
            return first_stage(self.task)
        return second_stage(self.task, self.stages[LASSO].solution, EXPONENTS[number], self.price)

    def take(self, place: Place, reason: Reason) -> TwoStageChoice:
        """Return the choice of a network, solved to the tolerance of the task, with what is known of all."""
        number, index = place
        stages = [stage.with_gains(self.held_out.in_stage(k)) for k, stage in enumerate(self.stages)]
        if index != stages[number].index:
            rough = stages[number].path[index]
            (solved,) = self._search(number).solve([rough.alpha], rough)
            stages[number], index = stages[number].with_network(solved)
        check, n_folds, left_out = "the check by prediction", len(self.held_out.fits), list[str]()
        if self.held_out.is_cut:
            left_out.append(f"networks that {check} would have looked at" if n_folds else check)
        return TwoStageChoice.of(stages, number, reason, self.keep, left_out, index=index, n_folds=n_folds)

    def score(self, places: Iterable[Place]) -> None:
        """Find the gains of networks, if there is time."""
        self.held_out.score({(k, index): (self.stages[k].exponent, self.stages[k].path[index]) for k, index in places})

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
            self.stages[number] = self._search(number).extend(self.stages[number])
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
        """Return the sparsest network with at least this gain, scoring those around it."""
        candidates = list[Candidate]()
        for number in sorted(range(len(self.stages)), key=lambda k: -self.stages[k].exponent):
            index = self._bisect(number, least, most_edges=min(candidates).n_edges if candidates else math.inf)
            if index is not None:
                n_edges, place = self.stages[number].path[index].n_edges, (number, index)
                candidates.append(Candidate(n_edges, -self.held_out.gains[place], place))
        return min(candidates).place

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
