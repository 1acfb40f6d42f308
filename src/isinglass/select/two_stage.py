"""The default estimate: a lasso selects pairs, a reweighted lasso estimates them, and prediction checks the choice.

Why it is built this way, and what it was measured against, is in docs/selection.md; the protocol of the measurements is
docs/choosing-protocol.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from isinglass.arguments import RandomSource, as_generator, check_count, check_not_negative, is_real
from isinglass.data import PartedTable
from isinglass.data.parts.parted_table import Fold
from isinglass.errors import ArgumentError, ConvergenceWarning, DataWarning, plural, setting, warn
from isinglass.records import Evidence, Reason, Selection, TwoStageRecord
from isinglass.results import Path, Solution
from isinglass.select.folds import Split, count_units, split_parts, split_rows
from isinglass.select.prediction_check import REWEIGHTED, STRIDE, Place, PredictionCheck, log_distances
from isinglass.select.progress import shown
from isinglass.select.scoring import EdgePrice, edge_price
from isinglass.select.selector import Choice, Selector
from isinglass.select.settings import Alphas, are_given, check_alphas, seed_words
from isinglass.select.stages import FULL, Stage, first_stage, second_stage, solve_stage
from isinglass.select.task import Task, WarmStart
from isinglass.storage import stored_as

KEEP, KEEP_IF_FEW_ROWS = 0.95, 0.85
"""Share of the best cross-validated gain that the network must keep; the second with no more rows than columns."""
MOST_SEARCHED = 500_000  # rows of a table in parts up to which penalties are searched and checked on all of them
MOST_GATHERED = 100_000_000
"""Cells of such a sample up to which it is searched in this process, where no messages are waited for: 2 GB."""
FURTHER = ("further networks",)  # what there was no time for


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TwoStageChoice(Choice):
    """The network that the two-stage estimate chose, and how."""

    #: Stage 1, then stage 2 with full and, if that was needed, with gentle weights. Only stage 1 if that is empty.
    stages: tuple[Stage, ...]
    stage: int  #: where the network is: the number of the stage (from 0)
    #: "ebic": it has the smallest EBIC of stage 2; "prediction": it is the sparsest that keeps the share ``keep`` of
    #: the cross-validated gain, because that one does not; "empty": its only edges are those without a penalty, because
    #: stage 1 found none or nothing predicts held-out rows better than no edges; "time": the best when time was spent
    reason: Reason
    keep: float  #: the share that was used
    n_folds: int = 0  #: of the cross-validation; 0 if there was none
    n_sampled: int = 0  #: rows of the sample that the check was made on, in a very long table in parts; 0: all rows

    @classmethod
    def of(
        cls, stages: Sequence[Stage], reason: Reason, keep: float, left: Sequence[str] = (), *, at: Place | None = None
    ) -> TwoStageChoice:
        """Return the choice of a network by its stage and its number there, by default the best of the last stage."""
        stage, index = (len(stages) - 1, stages[-1].index) if at is None else at
        known, left_out = tuple(stages), tuple(left)
        path = stages[stage].path
        return cls(path, index, left_out=left_out, stages=known, stage=stage, reason=reason, keep=keep)

    @property
    def warm_start(self) -> WarmStart:
        """Where the solver starts in a similar table."""
        return WarmStart(self.solution, self.stages[0].solution)

    def fixed(self, scale: float = 1.0) -> FixedStages:
        """Return the selector at the penalties that were chosen, for noise that is ``scale`` times as large.

        The penalty of stage 2 is divided by couplings of stage 1, which are larger as well.
        """
        if self.stage == 0:
            return FixedStages(float(scale * self.alpha))
        exponent = self.stages[self.stage].exponent
        alpha = float(scale ** (1.0 + exponent) * self.alpha)
        return FixedStages(float(scale * self.stages[0].solution.alpha), alpha, exponent)

    @property
    def selection(self) -> Selection:
        """What a `Fit` keeps, with what each stage tried, chose and proves."""
        stages = TwoStageRecord(
            each=tuple(stage.record for stage in self.stages),
            number=self.stage,
            reason=self.reason,
            keep=self.keep,
            n_folds=self.n_folds,
            n_sampled=self.n_sampled,
        )
        return replace(super().selection, stages=stages)

    def __repr__(self) -> str:
        network = self.solution.network
        size = f"{plural(network.n_edges, 'edge')} among {plural(network.n_nodes, 'node')}"
        head = f"TwoStageChoice({size}, by {self.reason})"
        return "\n".join([head, *(f"  {stage!r}" for stage in self.stages)])


@dataclass(frozen=True, eq=False, repr=False)
class FixedStages(Selector):
    """The penalties that `TwoStage` chose; without ``alpha`` its network is that of stage 1."""

    name = "given stages"
    is_given = True
    has_stages = True
    lasso: float  # penalty of stage 1
    alpha: float | None = None  # of stage 2, in proportion to 1 / abs(coupling of stage 1) ** exponent
    exponent: float = FULL

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in self.items().items():
            if value is not None:
                check_not_negative(name, value)

    @property
    def words(self) -> str:
        """How it is set, in words."""
        if self.alpha is None:
            return "given"
        power = "" if self.exponent == FULL else f" to the power {self.exponent:g}"
        return f"given, in inverse proportion to the couplings{power} of a lasso with penalty {self.lasso:.4g}"

    def choose(self, task: Task) -> Choice:
        """Return the network at these penalties."""
        start = task.warm_start
        if self.alpha is None:
            return Choice(Path((solve_stage(task, self.lasso, start=start.solution),)))
        network = solve_stage(task, self.lasso, start=start.first)
        if network.n_edges:
            network = solve_stage(task, self.alpha, self.exponent, network, start.solution)
        return Choice(Path((network,)))


@dataclass(frozen=True, eq=False, repr=False)
class TwoStage(Selector):
    """The default selector: two stages choose the penalty, and cross-validation checks the choice.

    Stage 1 follows the lasso path to the smallest AIC: dense, to miss few edges. Stage 2 penalizes these pairs in
    proportion to 1 / abs(coupling), forbids all others, and takes the smallest extended BIC: few false edges, and
    strong couplings that are hardly shrunken. If this network clearly does not keep most of the cross-validated gain of
    the best one, the sparsest network that does is taken: from stage 2, also with weights 1 / sqrt(abs(coupling)), or
    from stage 1. Every network is the optimum of a convex problem and has its certificate. The page on choosing the
    network says how paths are searched, and what is different for continuous columns and categories.

    Parameters
    ----------
    alphas, gamma, keep, n_folds, random_state
        As for `IsingNetwork`.

    Examples
    --------
    >>> from isinglass import Method, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(6, strength=1.5, fields="balanced"), 1000, random_state=0)
    >>> found = Method(selector=TwoStage()).choose(X)
    >>> found.solution.edge_index.tolist(), found.reason
    ([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]], 'ebic')
    """

    name = "two-stage"
    has_stages = True
    keeps_time = True
    alphas: Alphas = 30
    gamma: float = 0.25
    keep: float | None = None
    n_folds: int = 5
    random_state: RandomSource = field(default=0, metadata=stored_as(None))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.keep is not None and not (is_real(self.keep) and 0 <= self.keep <= 1):
            raise ArgumentError("keep", "must be from 0 to 1", self.keep)
        check_not_negative("gamma", self.gamma)
        check_count("n_folds", self.n_folds, least=2)
        object.__setattr__(self, "alphas", check_alphas(self.alphas))

    @property
    def words(self) -> str:
        """How it is set, in words."""
        return self.words_for(0 if self.keep == 0 else self.n_folds)

    def words_for(self, n_folds: int) -> str:
        """Return the same with the number of folds that there were: fewer if there are few rows, 0 without a check."""
        folds = f"{n_folds} folds{seed_words(self.random_state)}"
        return f"two-stage, gamma {self.gamma:g}, {folds if n_folds else 'no check by prediction'}"

    def choose(self, task: Task) -> TwoStageChoice:
        """Return the network of both stages."""
        if task.paths.estimator not in ("joint", "exact"):
            raise ArgumentError("estimator", 'must be "joint" or "exact" for two stages', task.paths.estimator)
        sample = None if are_given(self.alphas) else draw_sample(task, self.n_folds, self.random_state)
        if sample is not None:
            found = self._decide(sample)
            if found.reason != "empty":
                whole = self._follow(task, found, sample.n_rows / task.n_rows)
                left_out = found.left_out or whole.left_out
                whole = replace(whole, n_folds=found.n_folds, n_sampled=len(sample.table), left_out=left_out)
                return self._conclude(task, whole)
        return self._conclude(task, self._decide(task))

    def _price(self, task: Task) -> EdgePrice:
        return edge_price(task.table, self.gamma, task.paths.n_ends)

    def _keep(self, task: Task) -> float:
        """Return the share of the best gain that the network must keep."""
        return float(self.keep if self.keep is not None else KEEP_IF_FEW_ROWS if task.has_few_rows else KEEP)

    def _decide(self, task: Task) -> TwoStageChoice:
        """Search both stages, and check the choice by prediction."""
        keep = self._keep(task)
        with shown(task.run.progress):
            folds = self._split(task) if keep > 0 else []
            first = first_stage(task).search(self.alphas)
            if task.is_late:
                return TwoStageChoice.of([first], "time", keep, FURTHER)
            if not first.solution.n_edges:
                return TwoStageChoice.of([first], "empty", keep)
            second = second_stage(task, first.solution, FULL, self._price(task)).search()
            if task.is_late:
                best = (1, second.index) if second.solution.n_edges else (0, first.index)
                return TwoStageChoice.of([first, second], "time", keep, FURTHER, at=best)
            if not folds:
                if keep > 0:
                    warn(DataWarning("the choice was not checked by prediction, which needs two rows or groups."))
                return TwoStageChoice.of([first, second], "ebic", keep)
            return self._check(task, folds, first, second)

    def _check(self, task: Task, folds: Sequence[Split], first: Stage, second: Stage) -> TwoStageChoice:
        """Return the network that is taken after the check by prediction, given the choices of both stages."""
        check = PredictionCheck(task, folds, self._price(task), self._keep(task), first, second)
        place, reason = check.decide()
        if check.stages[REWEIGHTED].solution is not second.solution:
            # Beyond the end of stage 2 the EBIC is smaller: that network is checked instead.
            return self._check(task, folds, *check.stages[: REWEIGHTED + 1])
        stages, place = check.solved(place)
        left_out = FURTHER if check.held_out.is_cut else ()
        found = TwoStageChoice.of(stages, reason, check.keep, left_out, at=place)
        return replace(found, n_folds=len(check.held_out.fits))

    def _follow(self, task: Task, found: TwoStageChoice, share: float) -> TwoStageChoice:
        """Choose as in a sample of a share of the rows.

        The penalty is that of the criterion, times what lay between the two in the sample. Alphas are expected where
        the noise is as large in relation to the penalty as in the sample. The gradient of a pair without an edge is of
        the order 1/√N, and so are such couplings in stage 1, by which the penalty of stage 2 is divided.
        """
        chosen = found.stages[found.stage]
        exponent, keep = chosen.exponent, self._keep(task)

        def expect(solution: Solution, exponent: float) -> Solution:
            return replace(solution, alpha=solution.alpha * share ** (0.5 * (1.0 + exponent)))

        with shown(task.run.progress):
            search = first_stage(task)
            stages = [search.search(self.alphas, expect(found.stages[0].solution, 0.0))]
            if not stages[0].solution.n_edges:
                return TwoStageChoice.of(stages, "empty", keep)
            if exponent:
                search = second_stage(task, stages[0].solution, exponent, self._price(task))
                stages.append(search.search(sample=expect(chosen.solution, exponent)))
            stage = stages[-1]
            left_out = FURTHER if task.is_late else ()
            if found.reason in ("ebic", "time"):  # without time, the best network of the sample is solved in all rows
                return TwoStageChoice.of(stages, "time" if left_out else "ebic", keep, left_out)
            ratio = found.solution.alpha / chosen.solution.alpha if chosen.solution.alpha else 1.0
            alpha = stage.solution.alpha * ratio
            distances = log_distances(stage.path.alphas, alpha)
            near = distances.min() < math.log(STRIDE)
            start = stage.path[int(distances.argmin())] if near else expect(found.solution, exponent)
            stages[-1], index = stage.with_network(search.solve([alpha], start)[0])
            return TwoStageChoice.of(stages, "prediction", keep, left_out, at=(len(stages) - 1, index))

    def _conclude(self, task: Task, choice: TwoStageChoice) -> TwoStageChoice:
        """Return the choice with its evidence, the EBIC of the networks of its stage."""
        ebic = choice.stages[choice.stage].scores
        if choice.stage == 0:  # whose scores are the AIC
            by_ebic = first_stage(task, self._price(task))
            ebic = np.array([by_ebic.score(solution).score for solution in choice.path])
        settings = {"gamma": self.gamma, "reason": choice.reason}
        evidence = Evidence(kind="ebic", alphas=choice.path.alphas, values=ebic, choice=choice.index, settings=settings)
        if choice.reason == "time" and not choice.solution.n_edges:
            lost = "the time was spent before a network with edges was found, and this one is empty"
            warn(ConvergenceWarning(f"{lost}. Raise {setting('max_time')}."))
        return replace(choice, evidence=evidence)

    def _split(self, task: Task) -> Sequence[Split]:
        """Return the folds; none if there are fewer than two rows or groups."""
        rng, table, groups = as_generator(self.random_state), task.table, task.groups
        if isinstance(table, PartedTable):
            return split_parts(self.n_folds, rng)
        n_units = count_units(table, groups)
        return split_rows(table, groups, min(self.n_folds, n_units), rng) if n_units > 1 else []


def draw_sample(task: Task, n_folds: int, random_state: RandomSource) -> Task | None:
    """Return the task of a random sample, as whole as memory allows; None for a table that is not very long."""
    table, n_samples = task.table, -(-len(task.table) // MOST_SEARCHED)
    if table.is_whole or n_samples == 1:
        return None
    if min(table.sizes) // n_samples < n_folds:  # of a very short part, it could not be split into folds
        return None
    rows = table.take_fold(Fold(int(as_generator(random_state).integers(2**32)), n_samples, 0, held=True))
    return replace(task, table=rows.gather() if math.prod(rows.shape) <= MOST_GATHERED else rows)
