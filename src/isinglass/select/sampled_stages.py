"""Very long tables in parts: both stages are searched in a sample of the rows, and then near what that chose."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from isinglass.arguments import RandomSource, as_generator
from isinglass.data.parts.parted_table import Fold
from isinglass.results import Solution
from isinglass.select.prediction_check import STRIDE, Verdict, log_distances
from isinglass.select.scoring import EdgePrice
from isinglass.select.settings import Alphas
from isinglass.select.stage_search import first_stage, second_stage
from isinglass.select.stages import Stage, alphas_below
from isinglass.select.task import Task
from isinglass.selection_records import Reason

if TYPE_CHECKING:
    from isinglass.select.two_stage import TwoStageChoice

MOST_SEARCHED = 500_000
"""Rows of a table in parts up to which penalties are searched and checked on all of them."""
MOST_GATHERED = 100_000_000
"""Cells of such a sample up to which it is searched in this process, where no messages are waited for: 2 GB."""


def draw_sample(task: Task, n_folds: int, random_state: RandomSource) -> Task | None:
    """Return the task of a random sample, as whole as memory allows; None for a table that is not very long."""
    table, n_samples = task.table, -(-len(task.table) // MOST_SEARCHED)
    if table.is_whole or n_samples == 1:
        return None
    if min(table.sizes) // n_samples < n_folds:  # of a very short part, it could not be split into folds
        return None
    rows = table.take_fold(Fold(int(as_generator(random_state).integers(2**32)), n_samples, 0, held=True))
    return task.replace(table=rows.gather() if math.prod(rows.shape) <= MOST_GATHERED else rows)


@dataclass(frozen=True, eq=False)
class Expected:
    """What the choice for a sample of the rows implies for all rows: its networks, at rescaled alphas.

    The gradient of a pair without an edge is of the order 1/√N, and so are such couplings in stage 1, by which the
    penalty of stage 2 is divided.
    """

    solution: Solution  # the network
    first: Solution  # the choice of the AIC in stage 1
    own: Solution  # that of the criterion of the network's own stage
    exponent: float  # of this stage
    reason: Reason  # why the network was chosen

    @classmethod
    def of(cls, choice: TwoStageChoice, share: float) -> Expected | None:
        """Return what is expected from a sample of this share of the rows; None if it has no edges."""
        if choice.reason == "empty":
            return None

        def scale(found: Solution, exponent: float) -> Solution:
            return replace(found, alpha=found.alpha * share ** (0.5 * (1.0 + exponent)))

        stage = choice.stages[choice.stage]
        own = scale(stage.solution, stage.exponent)
        first, solution = scale(choice.stages[0].solution, 0.0), scale(choice.solution, stage.exponent)
        # Where the time was spent, the best network so far is solved in all rows.
        return cls(solution, first, own, stage.exponent, "ebic" if choice.reason == "time" else choice.reason)


def follow(task: Task, price: EdgePrice, expected: Expected, alphas: Alphas) -> Verdict:
    """Choose as in a sample: the penalty that the criterion chooses, times what lay between the two there."""
    search = first_stage(task)
    first = search.search(alphas, expected.first)
    if first.solution.n_edges == 0:
        return Verdict((first,), 0, first.index, "empty", is_solved=True)
    stages: tuple[Stage, ...] = (first,)
    if expected.exponent:
        search = second_stage(task, first.solution, expected.exponent, price)
        stages = first, search.search(sample=expected.own)
    number, stage = len(stages) - 1, stages[-1]
    left_out = alphas_below(stage, len(stages)) if task.is_late else ""
    if expected.reason == "ebic":
        return Verdict(stages, number, stage.index, "time" if left_out else "ebic", True, left_out)
    ratio = expected.solution.alpha / expected.own.alpha if expected.own.alpha else 1.0
    alpha = stage.solution.alpha * ratio
    distances = log_distances(stage.path.alphas, alpha)
    start = stage.path[int(distances.argmin())] if distances.min() < math.log(STRIDE) else expected.solution
    stage, index = stage.with_network(search.solve(alpha, start))
    return Verdict((*stages[:number], stage), number, index, "prediction", is_solved=True, left_out=left_out)
