"""The default estimate: a lasso selects pairs, a reweighted lasso estimates them, and prediction checks the choice.

Why it is built this way, and what it was measured against, is in docs/selection.md; the protocol of the measurements is
docs/choosing-protocol.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from isinglass.arguments import RandomSource, as_generator, check_count
from isinglass.arrays import FloatArray
from isinglass.data import PartedTable
from isinglass.data.parts import Fold
from isinglass.errors import ArgumentError
from isinglass.json_text import JsonObject
from isinglass.results import Evidence, Solution
from isinglass.select.folds import Split, count_units, refuse_groups, split_parts, split_rows
from isinglass.select.held_out import FoldScores, GainSums, score_folds
from isinglass.select.progress import shown
from isinglass.select.scoring import edge_price, judged_by_order
from isinglass.select.selector import Choice, Given, Selector
from isinglass.select.settings import Alphas, check_alphas, option, settings
from isinglass.select.stage_penalties import solve_stage
from isinglass.select.stages import Stage, extend_second, search_first, search_second
from isinglass.select.task import Task, WarmStart

FULL, GENTLE = 1.0, 0.5
"""Exponents of the weights in stage 2: full reweighting, and a gentle one if that predicts too badly."""
KEEP, KEEP_IF_FEW_ROWS = 0.95, 0.85
"""Share of the best cross-validated gain that the network must keep; the second with no more rows than columns."""
CLEARLY = 0.5
"""Share of what may be lost that the choice of the EBIC must have left, compared with that of the AIC, to need no other
network to be judged. The AIC looks for the best prediction, and finds it where there are more rows than columns."""
DOUBT = 2.0
"""Standard errors by which another network must predict better before the choice of the EBIC is given up."""
WIDEST = 30.0
"""Networks of stage 1 are judged by prediction from this multiple of its alpha down."""
STRIDE = 2.0
"""Ratio of the alphas of networks that are judged one after the other, on the way to the best one."""
MOST_SEARCHED = 500_000
"""Rows of a table in parts up to which penalties are searched and checked on all of them."""
MOST_GATHERED = 100_000_000
"""Cells of such a sample up to which it is searched in this process, where no messages are waited for: 2 GB."""
FOLLOWED = ("ebic", "prediction")
"""Reasons for a choice by which one for a similar table is made."""
TINY = 1e-300  # in place of an alpha of 0, which has no logarithm


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TwoStageChoice(Choice):
    """The network that the two-stage estimate chose, and how."""

    #: Stage 1, then stage 2 with full and, if that was needed, with gentle weights. Only stage 1 if that is empty.
    stages: tuple[Stage, ...]
    stage: int  #: where the network is: the number of the stage (from 0)
    #: "ebic", "prediction", "empty" or "time": the network with the smallest EBIC of stage 2; the sparsest that keeps
    #: the share ``keep`` of the cross-validated gain, because that one does not; none, because nothing predicts
    #: held-out rows better than no edges; or the best one when the time was spent
    reason: str
    keep: float  #: the share that was used
    n_folds: int  #: of the cross-validation; 0 if there was none
    #: cross-validated log pseudo-likelihood per row of independent columns, which gains are gains over; NaN without
    #: cross-validation, and where columns are continuous, because these are judged by their order
    independent: float
    n_sampled: int = 0  #: rows of the sample that the check was made on, in a very long table in parts; 0: all rows

    @property
    def held_out(self) -> float:
        """Its cross-validated log pseudo-likelihood per row; NaN where `independent` is."""
        return self.independent + float(self.stages[self.stage].held_out[self.index])

    @property
    def warm_start(self) -> WarmStart:
        """Where the fit of a similar table starts."""
        stage = self.stages[self.stage]
        return WarmStart(self.solution, self.stages[0].solution, stage.solution, stage.exponent, self.reason)

    def fixed(self, scale: float = 1.0) -> FixedStages:
        """Return the selector at the penalties that were chosen, times ``scale``."""
        exponent, alpha = self.stages[self.stage].exponent, scale * float(self.alpha)
        return FixedStages(scale * self.stages[0].solution.alpha, alpha, exponent) if exponent else FixedStages(alpha)

    @property
    def stage_records(self) -> list[JsonObject]:
        """What each stage tried, chose and proves, as plain values."""
        return [
            {
                "criterion": stage.criterion,
                "exponent": stage.exponent,
                "n_alphas": len(stage.path),
                "alpha": stage.solution.alpha,
                "n_edges": stage.solution.n_edges,
                "score": float(stage.scores[stage.index]),
                "held_out": float(stage.held_out[stage.index]),
                "extended": stage.extended,
                "kkt_residual": stage.solution.kkt_residual,
                "duality_gap": stage.solution.duality_gap,
                "converged": bool(stage.solution.converged),
                "network": number == self.stage,
                "reason": self.reason if number == self.stage else "",
                "keep": self.keep,
                "n_folds": self.n_folds,
                "n_sampled": self.n_sampled,
            }
            for number, stage in enumerate(self.stages)
        ]

    def __repr__(self) -> str:
        head = f"TwoStageChoice({self.solution.n_edges} edges among {self.solution.n_features} nodes, by {self.reason})"
        return "\n".join([head, *(f"  {stage!r}" for stage in self.stages)])


@settings
class TwoStage(Selector):
    """The default selector: two stages choose the penalty, and cross-validation checks the choice.

    Stage 1 follows the lasso path to the alpha with the smallest AIC, which gives a network dense enough to miss few
    edges. Stage 2 penalizes the pairs it found in proportion to 1 / abs(coupling), forbids all others, and takes the
    smallest extended BIC: few false edges, and strong couplings that are hardly shrunken. Cross-validation then checks
    whether this network keeps most of the predictive gain of the best one. If it clearly does not, which happens when
    the table has many weak dependences, the sparsest network that does is taken instead: from stage 2, from stage 2
    with weights 1 / sqrt(abs(coupling)), or from stage 1. For continuous columns, the gain in log pseudo-likelihood is
    replaced by −½ log(1 − r²), where r is the rank correlation of held-out values and their linear predictors. If only
    some columns are continuous, stage 1 penalizes each pair in proportion to the product of its standard deviations.
    For a pair with more than one parameter, the norm of its block replaces abs(coupling).

    Every network is the optimum of a convex problem and has its certificate. The number and the ends of the alphas
    hardly matter: the paths go as far as they need, and are filled in around the choice.

    Examples
    --------
    >>> from isinglass import Method, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(6, strength=1.5, fields="balanced"), 1000, random_state=0)
    >>> found = Method(selector=TwoStage()).choose(X)
    >>> found.solution.edge_index.tolist(), found.reason
    ([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]], 'ebic')
    """

    name = "two-stage"
    keeps_errors = True
    alphas: Alphas = option(
        default=30,
        help="Number of alphas in the first pass of stage 1 (10 or more give the same pass); or a list of alphas.",
    )
    gamma: float = option(
        default=0.25, help="Weight of the number of candidate networks in the EBIC; larger values choose fewer edges."
    )
    keep: float | None = option(
        default=None,
        help="Share of the best cross-validated gain that the network must keep; 0 leaves the choice to the EBIC. "
        "Default 0.95, or 0.85 if there are no more rows than columns.",
    )
    n_folds: int = option(default=5, help="Number of folds; fewer if there are fewer rows.")
    random_state: RandomSource = option(default=0, help="Seed of the folds.", droppable=True)

    def __post_init__(self) -> None:
        if self.keep is not None and not 0 <= self.keep <= 1:
            raise ArgumentError("keep", "must be from 0 to 1", self.keep)
        check_count("n_folds", self.n_folds, least=2)
        object.__setattr__(self, "alphas", check_alphas(self.alphas))

    @property
    def words(self) -> str:
        """How it is set, in words."""
        return f"two-stage, gamma {self.gamma:g}, {self.n_folds} folds, seed {self.random_state}"

    def choose(self, task: Task) -> TwoStageChoice:
        """Return the network of both stages."""
        if task.paths.estimator not in ("joint", "exact"):
            raise ArgumentError("estimator", 'must be "joint" or "exact" for two stages', task.paths.estimator)
        n_samples = -(-len(task.table) // MOST_SEARCHED)
        is_given = task.warm_start is not None or np.ndim(self.alphas) > 0
        # Of a very short part, a sample could not be split into folds.
        if task.table.is_whole or n_samples == 1 or is_given or min(task.table.sizes) // n_samples < self.n_folds:
            return TwoStageSearch(self, task).run()
        refuse_groups(task.groups)
        drawn = Fold(int(as_generator(self.random_state).integers(2**32)), n_samples, 0, held=True)
        rows = task.table.take_fold(drawn)
        sample = task.replace(table=rows.gather() if math.prod(rows.shape) <= MOST_GATHERED else rows)
        found = TwoStageSearch(self, sample).run()
        start = found.warm_start.for_all(sample.n_rows / task.n_rows)
        if found.reason == "time" and start.own is not None:  # the best so far, in all rows
            start = replace(start, reason="ebic")
        whole = TwoStageSearch(self, task.replace(warm_start=start)).run()
        if start.reason not in FOLLOWED:
            return whole
        left_out = found.left_out or whole.left_out
        return replace(whole, n_folds=found.n_folds, n_sampled=len(sample.table), left_out=left_out)


@settings
class FixedStages(Given):
    """Penalties of both stages, or of stage 1, that were chosen for another table."""

    name = "given-stages"
    first_alpha: float = option(default=0.05, help="The penalty of stage 1.")
    alpha: float | None = option(default=None, help="The penalty of stage 2; by default there is only stage 1.")
    exponent: float = option(default=FULL, help="Exponent of the penalty weights of stage 2.")

    def choose(self, task: Task) -> Choice:
        """Return the network at these penalties."""
        known = task.warm_start
        start = None if known is None else known.solution
        if self.alpha is None:
            return Choice(solve_stage(task, [self.first_alpha], start=start))
        first = solve_stage(task, [self.first_alpha], start=None if known is None else known.first)
        if not first[0].n_edges:
            return Choice(first)
        return Choice(solve_stage(task, [self.alpha], self.exponent, first[0], start=start))


@dataclass
class _JudgedStage:
    """A stage, and what held-out rows say about its networks so far; NaN: not judged."""

    stage: Stage
    gains: FloatArray  # held-out gains
    errors: FloatArray  # standard errors of their leads over the reference

    @classmethod
    def of(cls, stage: Stage) -> _JudgedStage:
        """Return a stage of which nothing is known."""
        return cls(stage, np.full(len(stage.path), np.nan), np.full(len(stage.path), np.nan))

    def replace_stage(self, stage: Stage) -> None:
        """Take a stage with further networks at its end."""
        unknown = np.full(len(stage.path) - len(self.gains), np.nan)
        self.stage, self.gains, self.errors = stage, np.append(self.gains, unknown), np.append(self.errors, unknown)


class TwoStageSearch:
    """The two-stage estimate of one table: both stages, and their networks judged by rows that were left out.

    The gain of held-out rows rises to the best network of a stage and falls beyond: few networks need to be judged.
    """

    def __init__(self, settings: TwoStage, task: Task) -> None:
        known = task.warm_start
        self.settings, self.task = settings, task
        self.warm_start = known if known is not None and known.reason in FOLLOWED else None
        self.few_rows = task.n_rows <= task.table.shape[1]
        usual = KEEP_IF_FEW_ROWS if self.few_rows else KEEP
        self.keep = usual if settings.keep is None else float(settings.keep)
        self.price = edge_price(task.table, settings.gamma)
        self.folds = self._split() if self.keep > 0 and self.warm_start is None else []
        self.stages: list[_JudgedStage] = []
        self.scores: list[FoldScores] = []  # of what was judged last, in every fold
        self.reference: Solution  # the choice of the EBIC that is checked
        self.is_cut = False  # whether there was no time to judge all that was asked for

    def run(self) -> TwoStageChoice:
        """Return the network, solved in full, with the stages that it was chosen from."""
        known = self.warm_start
        with shown(self.task.run.progress):
            number, index, reason = self._decide() if known is None else self._follow(known)
        first, stage = self.stages[0].stage, self.stages[number].stage
        is_solved = reason == "prediction" if known and known.relation != "sample" else index == stage.index
        if not is_solved:  # it was only compared so far
            rough = stage.path[index]
            solved = solve_stage(self.task, [rough.alpha], stage.exponent, first.solution, start=rough)[0]
            self.stages[number].stage = stage = stage.solved(index, solved)
        path = stage.path
        ebic = stage.scores if number else first.deviances + [self.price.of(solution) for solution in path]
        said = {"gamma": float(self.settings.gamma), "relaxed": False, "reason": reason}
        return TwoStageChoice(
            path,
            index,
            Evidence(kind="ebic", alphas=path.alphas, values=ebic, choice=index, settings=said),
            stages=tuple(replace(each.stage, held_out=each.gains) for each in self.stages),
            stage=number,
            reason=reason,
            keep=self.keep,
            n_folds=len(self.scores),
            independent=self._independent(),
            left_out=self._left_out() if reason == "time" or self.is_cut else "",
        )

    def _decide(self) -> tuple[int, int, str]:
        """Return stage and number of the choice, and the reason for it."""
        first = self._add(search_first(self.task, self.settings.alphas))
        if self.task.is_late or not first.solution.n_edges:
            return 0, first.index, "time" if self.task.is_late else "empty"
        second = self._add(search_second(self.task, first.solution, FULL, self.price))
        if self.task.is_late:
            return (1, second.index, "time") if second.solution.n_edges else (0, first.index, "time")
        if not self.folds:
            return 1, second.index, "ebic"
        verdict = self._check()
        while self.stages[1].stage.solution is not self.reference:  # the check has found a smaller EBIC
            verdict = self._check()
        return verdict

    def _check(self) -> tuple[int, int, str]:
        """Return the same by the check by prediction, given both stages."""
        self.stages, self.scores = [_JudgedStage.of(each.stage) for each in self.stages[:2]], []
        first, second = (each.stage for each in self.stages)
        self.reference = second.solution
        self._judge({0: [first.index], 1: [second.index]})
        if self.is_cut:
            return 1, second.index, "time"
        gain, plain = self.stages[1].gains[second.index], self.stages[0].gains[first.index]
        if self.few_rows:
            self._climb(0, 1, least=gain / self.keep)
        elif not gain >= (self.keep + CLEARLY * (1.0 - self.keep)) * plain > 0.0:
            self._climb(1, least=gain / self.keep)
        best, error = self._best()
        if best - gain <= max((1.0 - self.keep) * best, DOUBT * error):
            return 1, second.index, "ebic"
        if best == 0.0:
            return 1, 0, "empty"
        gentle = self._add(search_second(self.task, first.solution, GENTLE, self.price))
        self._judge({2: [gentle.index]})
        if not self.is_cut:
            self._climb(0, 1, 2)
            self._refine()
        return *self._sparsest(self.keep * self._best()[0]), "prediction"

    def _follow(self, known: WarmStart) -> tuple[int, int, str]:
        """Return the same by the verdict for a similar table.

        The network has the penalty that its criterion chooses, times what lay between the two there.
        """
        assert known.own is not None
        first = self._add(search_first(self.task, self.settings.alphas, known.first, stay=known.relation == "resample"))
        if first.solution.n_edges == 0:
            return 0, first.index, "empty"
        if known.exponent:
            self._add(search_second(self.task, first.solution, known.exponent, self.price, known.own))
        number, stage = len(self.stages) - 1, self.stages[-1].stage
        self.is_cut = known.relation == "sample" and self.task.is_late
        if known.reason == "ebic":
            return number, stage.index, "time" if self.is_cut else known.reason
        ratio = known.solution.alpha / known.own.alpha if known.own.alpha else 1.0
        alpha = stage.solution.alpha * ratio
        distances = _distances(stage.path.alphas, alpha)
        start = stage.path[int(distances.argmin())] if distances.min() < math.log(STRIDE) else known.solution
        found = solve_stage(self.task, [alpha], known.exponent, first.solution, start=start)[0]
        stage = stage.with_solution(found)
        self.stages[number] = _JudgedStage.of(stage)
        return number, stage.path.solutions.index(found), known.reason

    def _add(self, stage: Stage) -> Stage:
        self.stages.append(_JudgedStage.of(stage))
        return stage

    def _split(self) -> list[Split]:
        """Return the folds; none if there are fewer than two rows or groups."""
        rng, n_folds = as_generator(self.settings.random_state), self.settings.n_folds
        table, groups = self.task.table, self.task.groups
        if isinstance(table, PartedTable):
            return split_parts(table, groups, n_folds, rng)
        n_units = count_units(table, groups)
        return split_rows(table, groups, min(n_folds, n_units), rng) if n_units > 1 else []

    def _judge(self, asked: Mapping[int, Sequence[int]]) -> None:
        """Compute the held-out gains of networks, given by the number of their stage, that were not judged before."""
        asked = {k: [i for i in some if np.isnan(self.stages[k].gains[i])] for k, some in asked.items()}
        asked = {k: some for k, some in asked.items() if some}
        self.is_cut |= bool(asked) and self.task.is_late
        if not asked or self.is_cut:
            return
        stages = [each.stage for each in self.stages]
        wanted = {stages[k].exponent: [stages[k].path.solutions[i] for i in asked[k]] for k in asked}
        self.scores = score_folds(self.task, self.folds, stages[0].solution, self.reference, wanted, self.scores)
        sums, n_rows = GainSums.over(self.scores), self.task.n_rows
        gains = sums.gains / n_rows
        errors = _standard_error(gains - sums.reference / n_rows, sums.squares / n_rows, n_rows)
        places = [(k, i) for k, some in asked.items() for i in some]
        for (k, i), gain, error in zip(places, gains, errors, strict=True):
            self.stages[k].gains[i], self.stages[k].errors[i] = gain, error

    def _climb(self, *numbers: int, least: float = np.inf) -> None:
        """Judge networks beside the choices of some stages until gains fall, or can no longer reach ``least``."""
        sides = {number: -1 if number == 0 else 1 for number in numbers}  # stage 1 is too dense if anything
        starts = {number: self.stages[number].stage.index for number in numbers}
        self._judge({number: self._next(number, side, starts[number]) for number, side in sides.items()})
        for number, side in sides.items():
            self._climb_on(number, side, starts[number], least)
            if number and int(np.nanargmax(self.stages[number].gains)) == starts[number]:
                self._climb_on(number, -1, starts[number], least)

    def _climb_on(self, number: int, step: int, index: int, least: float) -> None:
        """Judge networks in one direction, 1 to the dense end; each step gains less than the one before."""
        for following in self._next(number, step, index):
            self._judge({number: [following]})
            gain = self.stages[number].gains[following]
            gained = gain - self.stages[number].gains[index]
            if gained > 0 and gain + gained > least:
                self._climb_on(number, step, following, least)

    def _next(self, number: int, step: int, index: int) -> list[int]:
        """Return the next network to judge in one direction, if there is one that is worth it."""
        alphas = self.stages[number].stage.path.alphas
        if number and step > 0 and alphas[-1] > alphas[index] / STRIDE:
            alphas = self._extend(number)
        distances = _distances(alphas, alphas[index] * STRIDE**-step)
        found = int(distances.argmin()) if alphas[index] > 0 else index
        widest = WIDEST * self.stages[0].stage.solution.alpha
        if (found - index) * step <= 0 or (number == 0 and alphas[found] > widest):
            return []
        return [found]

    def _extend(self, number: int) -> FloatArray:
        """Follow stage 2 beyond its end, if there is more to it; return its alphas."""
        judged, first = self.stages[number], self.stages[0].stage.solution
        judged.replace_stage(extend_second(self.task, judged.stage, first, self.price))
        return judged.stage.path.alphas

    def _refine(self) -> None:
        """Judge the networks halfway between the best of every stage and its neighbors that were judged."""
        halves = {}
        for number, gains in enumerate(each.gains for each in self.stages):
            judged, top = np.flatnonzero(~np.isnan(gains)), int(np.nanargmax(gains))
            sides = [judged[judged < top][-1:], judged[judged > top][:1]]
            halves[number] = [int(top + side[0]) // 2 for side in sides if len(side) and abs(top - side[0]) > 1]
        self._judge(halves)

    def _best(self) -> tuple[float, float]:
        """Return the best gain, at least that of no edges, and the standard error of its lead over the reference."""
        gains = np.concatenate([each.gains for each in self.stages])
        place = int(np.nanargmax(gains))
        if gains[place] > 0.0:
            return float(gains[place]), float(np.concatenate([each.errors for each in self.stages])[place])
        sums, n_rows = GainSums.over(self.scores), self.task.n_rows
        return 0.0, float(_standard_error(-sums.reference / n_rows, sums.reference_squares / n_rows, n_rows))

    def _sparsest(self, least: float) -> tuple[int, int]:
        """Return stage and number of the sparsest network with at least this gain, judging those around it."""
        found: list[tuple[int, float, int, int]] = []
        for number in sorted(range(len(self.stages)), key=lambda k: -self.stages[k].stage.exponent):
            path, gains = self.stages[number].stage.path, self.stages[number].gains
            enough = np.flatnonzero(gains >= least)
            if not len(enough):
                continue
            last = int(enough[0])
            before = max(np.flatnonzero(gains[:last] < least).tolist(), default=-1)
            while last - before > 1 and not (found and path[before + 1].n_edges > min(found)[0]):
                middle = (last + before) // 2
                self._judge({number: [middle]})
                last, before = (middle, before) if gains[middle] >= least else (last, middle)
            found.append((path[last].n_edges, -gains[last], number, last))
        _, _, number, index = min(found)
        return number, index

    def _independent(self) -> float:
        """Return the log pseudo-likelihood per row that gains are gains over; NaN if there is none."""
        if not self.scores or judged_by_order(self.task.table.variables).any():
            return float("nan")
        return GainSums.over(self.scores).independent / self.task.n_rows

    def _left_out(self) -> str:
        """Return in words what the time limit left out."""
        if self.scores:
            return "networks that the check by prediction would have looked at"
        last = f"alphas of stage {len(self.stages)} below {self.stages[-1].stage.path[-1].alpha:.3g}"
        if self.warm_start is not None:  # from a sample, in which the check was made
            return last
        return f"{last}, {'stage 2 and ' if len(self.stages) == 1 else ''}the check by prediction"


def _standard_error(mean: FloatArray | float, mean_square: FloatArray | float, n_rows: float) -> FloatArray:
    return np.asarray(np.sqrt(np.maximum(mean_square - mean**2, 0.0) / n_rows))


def _distances(alphas: FloatArray, alpha: float) -> FloatArray:
    """Return how far alphas are from one of them, on the scale of their logarithms."""
    return np.asarray(np.abs(np.log(np.maximum(alphas, TINY) / (alpha or TINY))))
