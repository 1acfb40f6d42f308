"""Gains of networks in held-out rows: each fold repeats both stages of the estimate on its training rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.conditionals import neighbor_sums, row_scores
from isinglass.data import category_counts, which_occur
from isinglass.machine.threads import thread_count
from isinglass.network import Network
from isinglass.results import Solution
from isinglass.select.folds import Split
from isinglass.select.parallel import run_tasks, task_run
from isinglass.select.stage_problem import FULL, solve_stage
from isinglass.select.task import Task

SHORT_FOLD_CELLS = 40_000
"""Cells of a table below which folds run in threads, for which kernels are too short."""
FEWEST_CELLS = 300_000
"""Cells of a table below which starting worker processes costs more than it saves."""
Place = tuple[int, int]
"""A network: the number of its stage, and its own number in it."""


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

    ``first`` and ``reference``: what the criteria of stage 1 and of stage 2 with full weights chose for all rows.
    ``earlier``: the fit of other networks in this fold, if there is one.
    """
    training, held = (task.on(part) for part in fold)

    def fit(exponent: float, whole: Solution, weights: Solution | None = None) -> Solution:
        return solve_stage(training, [whole.alpha], exponent, weights, start=whole)[0]

    lasso = earlier.first if earlier else fit(0.0, first)
    reweighted = earlier.reference if earlier else fit(FULL, reference, lasso)
    independent = earlier.independent if earlier else _without_edges(training)
    known = {(0.0, first.alpha): lasso, (FULL, reference.alpha): reweighted}
    fits = [known.get((exponent, whole.alpha)) or fit(exponent, whole, lasso) for exponent, whole in networks]
    scored = [solution.network for solution in (independent, reweighted, *fits)]
    sums = held.table.sum_rows(_sum_gains, scored, which_occur(task.table))
    return FoldFit(independent, lasso, reweighted, sums)


def _sum_gains(
    table: Bytes, weight: FloatArray | None, networks: Sequence[Network], possible: Mask | None
) -> FloatArray:
    """Return the sums of a `FoldFit` over some rows; the first two networks are independent columns and the reference.

    A gain is one in log pseudo-likelihood, but continuous columns are scored by their order (`prediction_scores`).
    """
    unit = np.ones(len(table)) if weight is None else weight
    scores = np.array([prediction_scores(table, network, unit, possible) for network in networks])
    lead, *gains = scores[1:] - scores[0]
    squares = [lead**2, *((gain - lead) ** 2 for gain in gains)]
    return np.array([[unit @ each for each in (lead, *gains)], [unit @ each for each in squares]])


def prediction_scores(table: Bytes, network: Network, unit: FloatArray, possible: Mask | None = None) -> FloatArray:
    """Return `row_scores` in which continuous columns are judged by their order; ``unit``: the weights of the rows.

    r is the rank correlation of the numbers of a column s with their predictors Σ_t θ_st x_t, and the mean of its
    scores is −½ log(1 − r²) with the sign of r: what normal columns with this correlation gain over independent ones.
    The field, which is free at every step and poorly known where rows are few, has no influence, and neither has the
    scale of the couplings: what counts is which columns are neighbors.
    """
    variables = network.variables
    by_order = np.isin(np.arange(variables.n_features), variables.continuous) & variables.is_modeled
    if not by_order.any():
        return row_scores(network, table, possible)
    others = np.flatnonzero(variables.is_modeled & ~by_order)
    scores = row_scores(network, table, possible, others) if len(others) else np.zeros(len(table))
    sums = neighbor_sums(network, table)
    for s in np.flatnonzero(by_order).tolist():
        scores += _order_scores(
            _standard_ranks(table[:, s], unit), _standard_ranks(sums[variables.first[s]], unit), unit
        )
    return scores


def _standard_ranks(values: NDArray[np.generic], unit: FloatArray) -> FloatArray:
    """Return ranks with mean 0 and variance 1 under the weights, ties sharing theirs; 0 if all values are equal."""
    levels, place = np.unique(values, return_inverse=True)
    if len(levels) < 2:
        return np.zeros(len(values))
    mass = np.bincount(place, unit)
    ranks = (np.cumsum(mass) - 0.5 * mass)[place]
    ranks -= np.average(ranks, weights=unit)
    return np.asarray(ranks / np.sqrt(np.average(ranks**2, weights=unit)))


def _order_scores(ranks: FloatArray, predicted: FloatArray, unit: FloatArray) -> FloatArray:
    """Return the gain of every row in the log-likelihood of normal columns, negative where r is."""
    r = float(np.average(ranks * predicted, weights=unit))
    sign, r = (-1.0, -r) if r < 0.0 else (1.0, r)
    left = max(1.0 - r**2, 1.0 / float(unit.sum()))
    return np.asarray(sign * 0.5 * (ranks**2 - (ranks - sign * r * predicted) ** 2 / left - np.log(left)))


def _without_edges(task: Task) -> Solution:
    """Return the network of independent columns, with smoothed fields; given the covariates, if there are any."""
    table = task.table
    if table.variables.has_covariates:
        return task.path(1)[0]
    fields = table.variables.fields_of(np.log(category_counts(table) + 0.5))
    return Solution(Network(fields, [], [], variables=table.variables), np.inf)
