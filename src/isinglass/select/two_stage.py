"""The default estimate: a lasso to see which pairs matter, a reweighted one to estimate them, a check by prediction.

Why it is built this way, and what it was measured against, is in docs/selection.md; the protocol of the measurements is
docs/choosing-protocol.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from isinglass.arguments import RandomSource, check_count
from isinglass.errors import ArgumentError
from isinglass.results import Evidence, Solution
from isinglass.select.held_out import EXPONENTS, Judge, make_folds
from isinglass.select.scoring import EdgePrice, edge_price
from isinglass.select.selector import Choice, KeptStages, Selector
from isinglass.select.settings import check_alphas, option, settings
from isinglass.select.stages import Stage, search_first, search_second
from isinglass.select.task import Alphas, Near, Task
from isinglass.select.tasks import shown

KEEP, KEEP_IF_FEW_ROWS = 0.95, 0.85
"""Share of the best cross-validated gain that the network must keep; the second with no more rows than columns."""
CLEARLY = 0.5
"""Share of what may be lost that the choice of the EBIC must have left, compared with that of the AIC, to need no other
network to be judged. The AIC looks for the best prediction, and finds it where there are more rows than columns."""
DOUBT = 2.0
"""Standard errors by which another network must predict better before the choice of the EBIC is given up."""


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
    #: cross-validation
    independent: float

    @property
    def held_out(self) -> float:
        """Its cross-validated log pseudo-likelihood per row; NaN if there was no cross-validation."""
        return self.independent + float(self.stages[self.stage].held_out[self.index])

    @property
    def near(self) -> Near:
        """Where the fit of a similar table starts."""
        stage = self.stages[self.stage]
        return Near(self.solution, self.stages[0].solution, stage.solution, stage.exponent, self.reason)

    @property
    def stage_records(self) -> list[dict[str, Any]]:
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
            }
            for number, stage in enumerate(self.stages)
        ]

    def __repr__(self) -> str:
        head = f"TwoStageChoice({self.solution.n_edges} edges among {self.solution.n_features} nodes, by {self.reason})"
        return "\n".join([head, *(f"  {stage!r}" for stage in self.stages)])


@settings
class TwoStage(Selector):
    """The default of this package: a network without a penalty to choose.

    Stage 1 follows the lasso path to the alpha with the smallest AIC, dense enough to miss little. Stage 2 penalizes
    the pairs it found in proportion to 1 / abs(coupling), forbids all others, and takes the smallest extended BIC: few
    false edges, and strong couplings that are hardly shrunken. Then cross-validation asks whether that network keeps
    most of what can be predicted. If it clearly does not, because many weak dependencies are spread over the table, the
    sparsest network that does is taken instead: from stage 2, from stage 2 with weights 1 / sqrt(abs(coupling)), or
    from stage 1. The norm of its block takes the place of abs(coupling) where a pair has more than one parameter.

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
        help="How close the alphas of stage 1 are in a first pass, as a number of them; or these alphas themselves.",
    )
    gamma: float = option(
        default=0.25, help="Weight of the number of candidate networks in the EBIC; larger values choose fewer edges."
    )
    keep: float | None = option(
        default=None,
        help="Share of the best cross-validated gain that the network must keep; 0 leaves the choice to the EBIC "
        "alone. Default 0.95, or 0.85 with no more rows than columns.",
    )
    n_folds: int = option(default=5, help="Parts into which the rows are split; fewer if there are fewer rows.")
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
        table = task.table
        few = task.n_rows <= table.shape[1]
        share = (KEEP_IF_FEW_ROWS if few else KEEP) if self.keep is None else float(self.keep)
        price = edge_price(table, self.gamma)
        near = task.near if task.near is not None and task.near.reason in ("ebic", "prediction") else None
        folds = make_folds(task, self.n_folds, self.random_state) if share > 0 and near is None else []
        judge = Judge(task, folds)
        with shown(task.run.progress):
            first = search_first(task, self.alphas, near)
            decide = _decide(judge, first, price, share, few) if near is None else _keep(judge, first, price, near)
        stages, number, index, reason = decide
        if index != stages[number].index:  # it was only compared so far
            rough, exponent = stages[number].path[index], stages[number].exponent
            solved = task.stage([rough.alpha], exponent, stages[0].solution, start=rough)[0]
            stages[number] = stages[number].solved(index, solved)
        path = stages[number].path
        return TwoStageChoice(
            path.solutions[index],
            path,
            Evidence(
                kind="ebic",
                alphas=path.alphas,
                values=stages[number].scores
                if number
                else stages[0].deviances + [price.of(solution) for solution in path],
                choice=index,
                settings={"gamma": float(self.gamma), "relaxed": False, "reason": reason},
            ),
            stages=tuple(stages),
            stage=number,
            reason=reason,
            keep=share,
            n_folds=len(judge.known),
            independent=judge.independent,
            left_out=_left_out(stages, judge) if reason == "time" or judge.is_cut else "",
        )

    def keep_penalty(self, solution: Solution, stages: list[dict[str, Any]] | None, scale: float) -> Selector:
        """Return the stages at the penalties that were chosen, times ``scale``."""
        assert stages
        exponent = next(stage["exponent"] for stage in stages if stage["network"])
        return KeptStages(scale * stages[0]["alpha"], scale * solution.alpha, exponent)


def _left_out(stages: Sequence[Stage], judge: Judge) -> str:
    """Say what there was no time for."""
    last = f"alphas of stage {len(stages)} below {stages[-1].path[-1].alpha:.3g}"
    if judge.known:
        return "networks that the check by prediction would have looked at"
    return f"{last}, {'stage 2 and ' if len(stages) == 1 else ''}the check by prediction"


def _keep(judge: Judge, first: Stage, price: EdgePrice, near: Near) -> tuple[list[Stage], int, int, str]:
    """Return the stages, the place of the choice and the reason, by the verdict for a similar table.

    The network has the penalty that its criterion chooses, times what lay between the two there.
    """
    if first.solution.n_edges == 0:
        return [first], 0, first.index, "empty"
    assert near.solution is not None
    assert near.own is not None
    stages, task = [first], judge.task
    if near.exponent:
        stages.append(search_second(task, first.solution, near.exponent, price, near))
    number, chosen = len(stages) - 1, stages[-1].solution
    if near.reason == "ebic":
        return stages, number, stages[number].index, near.reason
    alpha = chosen.alpha * near.solution.alpha / near.own.alpha
    found = task.loosened().stage([alpha], near.exponent, first.solution, start=near.solution)
    stages[number] = stages[number].with_solution(found[0])
    return stages, number, stages[number].path.solutions.index(found[0]), near.reason


def _decide(judge: Judge, first: Stage, price: EdgePrice, keep: float, few: bool) -> tuple[list[Stage], int, int, str]:
    """Return the stages with their held-out gains, the place of the choice among them, and the reason for it."""
    if first.solution.n_edges == 0 or judge.task.is_late:
        return [first], 0, first.index, "time" if judge.task.is_late else "empty"
    second = search_second(judge.task, first.solution, EXPONENTS[0], price)
    if judge.task.is_late and not second.solution.n_edges:  # its path has hardly begun
        return [first, second], 0, first.index, "time"
    if not judge.folds or judge.task.is_late:
        return [first, second], 1, second.index, "time" if judge.task.is_late else "ebic"
    judge.add(first, second)
    if judge.is_cut:
        return judge.stages, 1, second.index, "time"
    gain, plain = judge.gain(1, second.index), judge.gain(0, first.index)
    if few:
        judge.climb(0, 1, least=gain / keep)
    elif not gain >= (keep + CLEARLY * (1.0 - keep)) * plain > 0.0:
        judge.climb(1, least=gain / keep)
    best, error = judge.best()
    if best - gain <= max((1.0 - keep) * best, DOUBT * error):
        return judge.stages, 1, second.index, "ebic"
    if best == 0.0:
        return judge.stages, 1, 0, "empty"
    judge.add(search_second(judge.task, first.solution, EXPONENTS[1], price))
    if not judge.is_cut:
        judge.climb(0, 1, 2)
        judge.refine()
    return judge.stages, *judge.sparsest(keep * judge.best()[0]), "prediction"
