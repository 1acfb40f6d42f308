"""What the two-stage estimate chose, and its penalties kept for another table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from isinglass.errors import plural
from isinglass.select.selector import Choice, Given
from isinglass.select.stage import Stage
from isinglass.select.stage_problem import FULL, solve_stage
from isinglass.select.task import Task, WarmStart
from isinglass.selection_records import Reason, TwoStageRecord


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
        cls,
        stages: Sequence[Stage],
        stage: int,
        reason: Reason,
        keep: float,
        left_out: Sequence[str] = (),
        *,
        index: int | None = None,
        n_folds: int = 0,
    ) -> TwoStageChoice:
        """Return the choice of a network by the number of its stage, and its own in it, by default the best one's."""
        path, index, left = stages[stage].path, stages[stage].index if index is None else index, tuple(left_out)
        known = tuple(stages)
        return cls(path, index, left_out=left, stages=known, stage=stage, reason=reason, keep=keep, n_folds=n_folds)

    @property
    def warm_start(self) -> WarmStart:
        """Where the solver starts in a similar table."""
        return WarmStart(self.solution, self.stages[0].solution)

    def fixed(self, scale: float = 1.0) -> FixedStages:
        """Return the selector at the penalties that were chosen, for noise that is ``scale`` times as large.

        The penalty of stage 2 is divided by couplings of stage 1, which are larger as well.
        """
        exponent = self.stages[self.stage].exponent
        alpha, first = float(scale ** (1.0 + exponent) * self.alpha), float(scale * self.stages[0].solution.alpha)
        return FixedStages(first, alpha, exponent) if exponent else FixedStages(alpha)

    @property
    def two_stage_record(self) -> TwoStageRecord:
        """What each stage tried, chose and proves."""
        return TwoStageRecord(
            each=tuple(stage.record for stage in self.stages),
            number=self.stage,
            reason=self.reason,
            keep=self.keep,
            n_folds=self.n_folds,
            n_sampled=self.n_sampled,
        )

    def __repr__(self) -> str:
        network = self.solution.network
        size = f"{plural(network.n_edges, 'edge')} among {plural(network.n_nodes, 'node')}"
        head = f"TwoStageChoice({size}, by {self.reason})"
        return "\n".join([head, *(f"  {stage!r}" for stage in self.stages)])


@dataclass(frozen=True, eq=False, repr=False)
class FixedStages(Given):
    """Penalties of both stages, or of stage 1, that were chosen for another table."""

    name = "given-stages"
    keeps_errors = True
    first_alpha: float  #: the penalty of stage 1
    alpha: float | None = None  #: the penalty of stage 2; None: there is only stage 1
    exponent: float = FULL  #: of the penalty weights of stage 2

    @property
    def words(self) -> str:
        """How it is set, in words."""
        if self.alpha is None:
            return "given"
        power = "" if self.exponent == FULL else f" to the power {self.exponent:g}"
        return f"given, in inverse proportion to the couplings{power} of a lasso with penalty {self.first_alpha:.4g}"

    def choose(self, task: Task) -> Choice:
        """Return the network at these penalties."""
        warm_start = task.warm_start
        start = None if warm_start is None else warm_start.solution
        if self.alpha is None:
            return Choice(solve_stage(task, [self.first_alpha], start=start))
        first = solve_stage(task, [self.first_alpha], start=None if warm_start is None else warm_start.first)
        if not first[0].n_edges:
            return Choice(first)
        return Choice(solve_stage(task, [self.alpha], self.exponent, first[0], start=start))
