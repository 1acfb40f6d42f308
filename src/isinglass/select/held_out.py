"""Networks scored on held-out rows: each fold repeats both stages of the estimate on its training rows."""

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
from isinglass.select.scoring import judged_by_order, path_scores, prediction_scores, row_scores
from isinglass.select.stage_penalties import solve_stage
from isinglass.select.task import Task

SHORT_FOLD_CELLS = 40_000
"""Cells of a table below which folds run in threads, for which kernels are too short."""
FEWEST_CELLS = 300_000
"""Cells of a table below which starting worker processes costs more than it saves."""

NetworksByExponent = Mapping[float, Sequence[Solution]]
"""Networks of the whole table, by the exponent of the penalty weights of their stage."""


RowScores = tuple[FloatArray, ...]
"""Scores of held-out rows, of independent columns and of the reference."""


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
    rows: RowScores | None  # of a table that is whole
    sums: GainSums


def score_folds(
    task: Task,
    folds: Sequence[Split],
    first: Solution,
    reference: Solution,
    networks: NetworksByExponent,
    earlier: Sequence[FoldScores],
) -> list[FoldScores]:
    """Return the scores of some networks in all folds; ``earlier`` are scores of others, empty the first time.

    ``first`` and ``reference``: what the criteria of stage 1 and of stage 2 with full weights chose for all rows.
    """
    run, table = task.run.replace(checkpoint=None), task.table
    n_threads = _fold_threads(task, len(folds))
    if math.prod(table.shape) < FEWEST_CELLS:
        run = run.replace(n_jobs=1)
    inside = kernel_threads(run.n_jobs) if n_threads == 1 else 1
    rough = task.loosened().replace(run=run.inside(inside), groups=None)
    shared = rough, first, reference, networks
    work = [(*shared, fold, scores) for fold, scores in zip_longest(folds, earlier)]
    if n_threads > 1 or not table.is_whole:  # of a table in parts, these are what is worked on side by side
        return run_tasks(_score_stages, work, description="Cross-validation", run=run, n_threads=n_threads)
    return run_tasks(_score_stages, work, description="Cross-validation", run=run)


def _fold_threads(task: Task, n_folds: int) -> int:
    """Return how many folds of a small table run at the same time.

    Its paths are too short for the threads of the kernels and too long to wait for each other.
    """
    table = task.table
    if not table.is_whole or math.prod(table.shape) >= SHORT_FOLD_CELLS:
        return 1
    return min(thread_count(task.run.n_threads), n_folds)


def _score_stages(
    task: Task,
    first: Solution,
    reference: Solution,
    networks: NetworksByExponent,
    fold: Split,
    earlier: FoldScores | None,
) -> FoldScores:
    """Fit networks to the training rows of a fold, each from that of all rows, and score the rows held out."""
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
    possible, rows = which_occur(task.table), earlier.rows if earlier else None
    if rows is None and held.table.is_whole:
        rows = held.table.sum_rows(_score_rows, [independent, reweighted], possible)
    sums = held.table.sum_rows(_sum_gains, independent, reweighted, scored, possible, rows)
    return FoldScores(lasso, reweighted, independent, rows, GainSums(*sums))


def _score_rows(
    table: Bytes, weight: FloatArray | None, networks: Sequence[Solution], possible: Mask | None
) -> tuple[FloatArray, ...]:
    """Return the score of every row, by each of some networks."""
    unit = np.ones(len(table)) if weight is None else weight
    if judged_by_order(networks[0].network.variables).any():
        return tuple(prediction_scores(table, network, unit, possible) for network in networks)
    return tuple(row_scores(table, network, possible=possible) for network in networks)


def _sum_gains(
    table: Bytes,
    weight: FloatArray | None,
    independent: Solution,
    reference: Solution,
    networks: Sequence[Solution],
    possible: Mask | None,
    rows: RowScores | None,
) -> tuple[float, float, FloatArray, FloatArray]:
    """Return the `GainSums` over some rows; ``rows``: their scores by the first two networks, if these are known."""
    unit = np.ones(len(table)) if weight is None else weight
    alone, lead = rows or _score_rows(table, weight, [independent, reference], possible)
    if judged_by_order(independent.network.variables).any():
        gains = np.array(_score_rows(table, weight, networks, possible))
    else:
        gains = path_scores(table, networks, possible)
    lead, gains = lead - alone, gains - alone
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
