"""Networks judged by rows that were left out: each fold repeats both stages of the estimate on the other rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.arguments import RandomSource, as_generator
from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.data import category_counts, which_occur
from isinglass.data.parts import Fold
from isinglass.errors import DataError
from isinglass.machine import thread_count
from isinglass.network import Network
from isinglass.objective import smoothed_field
from isinglass.results import Solution
from isinglass.select.folds import Part, count_units, split_rows
from isinglass.select.scoring import path_scores, row_scores
from isinglass.select.stages import Stage
from isinglass.select.task import Task
from isinglass.select.tasks import kernel_threads, run_tasks

EXPONENTS = (1.0, 0.5)
"""Of the weights in stage 2: full reweighting, and a gentle one if that predicts too badly."""
WIDEST = 30.0
"""Networks of stage 1 are judged by prediction from this multiple of its alpha down."""
SMALL = 20_000
"""Cells of a table below which starting workers costs more than it saves."""
LOOSE = 1e-5
"""Least tolerance in the folds of a table with categories: their scores are compared, not returned."""
THIN = 3
"""One in so many networks of stage 2 is judged by prediction, and the choice of the EBIC."""


@dataclass
class Judge:
    """Scores networks by rows that were left out: each fold repeats both stages on the other rows."""

    task: Task
    first: Solution
    folds: Sequence[Part | Fold]
    reference: float = 0.0  # alpha that the EBIC chose in stage 2, whose network others are compared with row by row
    known: Sequence[dict[str, Any]] = ()  # stage 1 and the reference in every fold, once they were fitted
    errors: list[FloatArray] = field(default_factory=list)  # of the differences from the reference, per stage

    @property
    def independent(self) -> float:
        """Held-out score per row of independent columns, NaN before anything was judged."""
        return self._mean("independent") if self.known else float("nan")

    def judge(self, stages: Sequence[Stage]) -> list[Stage]:
        """Return the stages with their held-out gains."""
        asked = [_judged(stage, self.first.alpha) for stage in stages]
        wanted = [(stage.exponent, stage.path.alphas[k]) for stage, k in zip(stages, asked, strict=True)]
        threads, run = self._fold_threads(), self.task.run.replace(checkpoint=None)
        if math.prod(self.task.table.shape) < SMALL:
            run = run.replace(n_jobs=1)
        inside = kernel_threads(run.n_jobs) if threads == 1 else 1
        paths = self.task.paths
        if not self.task.table.variables.is_binary:
            paths = paths.replace(tol=max(paths.tolerance, LOOSE))
        fold = self.task.replace(paths=paths, run=run.inside(inside), groups=None)
        known = self.known or [{}] * len(self.folds)
        alphas = (self.first.alpha, self.reference)
        tasks = [(fold, held, alphas, wanted, before) for held, before in zip(self.folds, known, strict=True)]
        if not self.task.table.is_whole:  # one after the other: the parts are what is worked on side by side
            self.known = [_score_fold(*task) for task in tasks]
        elif threads > 1:
            with ThreadPoolExecutor(threads) as pool:  # each with what is suppressed here
                started = [pool.submit(copy_context().run, partial(_score_fold, *task)) for task in tasks]
                self.known = [future.result() for future in started]
        else:
            self.known = run_tasks(_score_fold, tasks, "folds", "Cross-validation", run=run)
        judged = []
        for number, (stage, k) in enumerate(zip(stages, asked, strict=True)):
            gains, errors = np.full((2, len(stage.path)), np.nan)
            gains[k] = self._mean(f"gain{number}")
            errors[k] = self._error(gains[k] - self._mean("reference"), f"square{number}")
            judged.append(replace(stage, held_out=gains))
            self.errors.append(errors)
        return judged

    def _fold_threads(self) -> int:
        """Return how many folds of a small table with categories run at the same time.

        Its paths are too short for the threads of the kernels and too long to wait for each other.
        """
        table = self.task.table
        if table.variables.is_binary or math.prod(table.shape) >= SMALL:
            return 1
        return min(thread_count(self.task.run.n_threads), len(self.folds))

    def best(self, stages: Sequence[Stage]) -> tuple[float, float]:
        """Return the best gain, at least that of no edges, and the standard error of its lead over the reference."""
        gains = np.concatenate([stage.held_out for stage in stages])
        errors = np.concatenate(self.errors)
        place = int(np.nanargmax(gains))
        if gains[place] > 0.0:
            return float(gains[place]), float(errors[place])
        return 0.0, float(self._error(-self._mean("reference"), "square"))

    def _mean(self, name: str) -> Any:
        return sum(result[name] for result in self.known) / self.task.n_rows

    def _error(self, difference: Any, squares: str) -> Any:
        """Return the standard error of a mean difference, given the name of the sums of squares."""
        return np.sqrt(np.maximum(self._mean(squares) - difference**2, 0.0) / self.task.n_rows)


def _judged(stage: Stage, alpha: float) -> NDArray[np.intp]:
    """Return which solutions of a stage are worth judging: the choice, and enough others."""
    alphas = stage.path.alphas
    if stage.exponent == 0.0:
        wanted = stage.coarse & (alphas >= alpha) & (alphas <= WIDEST * alpha)
    else:
        wanted = np.arange(len(alphas)) % THIN == 0
    wanted[stage.index] = True
    return np.flatnonzero(wanted)


def _score_fold(
    task: Task,
    held_out: Part | Fold,
    alphas: tuple[float, float],
    wanted: Sequence[tuple[float, FloatArray]],
    known: dict[str, Any],
) -> dict[str, Any]:
    """Return gains over independent columns, summed over the rows held out, and squares of leads over the reference.

    The first time, stage 1 is fitted at its alpha, and the reference at that of stage 2; both are handed on.
    """
    training, held = task.split(held_out)
    first, reference = known.get("first"), known.get("best of stage 2")
    paths: list[Sequence[Solution]] = []
    for exponent, some in wanted:
        if exponent == 0.0:
            path = training.stage(np.union1d(some, alphas[:1]))
            first, path = path[-1], path[-len(some) :]
        else:
            path = training.stage(some, exponent, first)
        paths.append(path.solutions)
        if exponent == EXPONENTS[0]:
            reference = path[[solution.alpha for solution in path].index(alphas[1])]
    sums = held.table.sum_rows(_score_rows, _without_edges(training), reference, paths, which_occur(task.table))
    return {"first": first, "best of stage 2": reference, **sums}


def _score_rows(
    table: Bytes,
    weight: FloatArray | None,
    independent: Solution,
    reference: Solution,
    paths: Sequence[Sequence[Solution]],
    possible: Mask | None,
) -> dict[str, Any]:
    """Return the sums over rows that a fold is judged by."""
    unit = np.ones(len(table)) if weight is None else weight
    alone = row_scores(independent, table, possible=possible)
    lead = row_scores(reference, table, possible=possible) - alone
    sums: dict[str, Any] = {"independent": unit @ alone, "reference": unit @ lead, "square": unit @ lead**2}
    for number, path in enumerate(paths):
        gains = path_scores(path, table, possible) - alone
        sums[f"gain{number}"] = np.array([unit @ gain for gain in gains])
        sums[f"square{number}"] = np.array([unit @ (gain - lead) ** 2 for gain in gains])
    return sums


def _without_edges(task: Task) -> Solution:
    """Return the network of independent columns, with smoothed fields."""
    table = task.table
    if not table.variables.is_binary:
        logs, variables = np.log(category_counts(table) + 0.5), table.variables
        fields = (logs - logs[variables.starts][variables.column])[variables.is_later]
        return Solution(Network(fields, [], [], variables=variables), np.inf)
    return Solution(Network(smoothed_field(category_counts(table)[1::2], task.n_rows), [], []), np.inf)


def make_folds(task: Task, n_folds: int, random_state: RandomSource) -> Sequence[Part | Fold]:
    """Return what each fold holds out; none if there are fewer than two rows or groups."""
    if not task.table.is_whole:
        if task.groups is not None:
            raise DataError("groups must be None for a table in parts; got groups. Keep a group within one row.")
        seed = int(as_generator(random_state).integers(2**32))
        return [Fold(seed, n_folds, k, held=True) for k in range(n_folds)]
    known = count_units(task.table, task.groups)
    if known < 2:
        return []
    parts = split_rows(task.table, task.groups, min(n_folds, known), as_generator(random_state))
    return [part if part.dtype.kind == "f" else np.sort(part) for part in parts if part.any() or part.dtype.kind == "i"]
