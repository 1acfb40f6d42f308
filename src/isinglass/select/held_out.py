"""Networks judged by rows that were left out: each fold repeats both stages of the estimate on the other rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

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
STRIDE = 2.0
"""Ratio of the alphas of networks that are judged one after the other, on the way to the best one."""
TINY = 1e-300  # in place of an alpha of 0, which has no logarithm
SMALL = 20_000
"""Cells of a table with categories below which folds run in threads, for which kernels are too short."""
FEWEST_CELLS = 300_000
"""Cells of a table below which starting worker processes costs more than it saves."""


@dataclass
class Judge:
    """Scores networks by rows that were left out: each fold repeats both stages on the other rows.

    The gain of a stage rises to its best network and falls beyond: few of them need to be judged. A network of a fold
    starts at that of the whole table.
    """

    task: Task
    folds: Sequence[Part | Fold]
    stages: list[Stage] = field(default_factory=list)  # the second one has the reference
    known: Sequence[dict[str, Any]] = ()  # stage 1 and the reference in every fold, once they were fitted
    errors: list[FloatArray] = field(default_factory=list)  # of the leads over the reference, per stage
    is_cut: bool = False  # whether there was no time to judge all that was asked for

    @property
    def independent(self) -> float:
        """Held-out score per row of independent columns, NaN before anything was judged."""
        return self._mean("independent") if self.known else float("nan")

    def gain(self, number: int, index: int) -> float:
        """Return the held-out gain of a network over independent columns, per row; NaN if it was not judged."""
        return float(self.stages[number].held_out[index])

    def add(self, *stages: Stage) -> None:
        """Take stages in and judge their choices."""
        first = len(self.stages)
        self.stages += stages
        self.errors += [np.full(len(stage.path), np.nan) for stage in stages]
        self.look({first + k: [stage.index] for k, stage in enumerate(stages)})

    def climb(self, *numbers: int, least: float = np.inf) -> None:
        """Judge networks beside the choices of some stages until gains fall, or can no longer reach ``least``."""
        sides = {number: -1 if number == 0 else 1 for number in numbers}  # stage 1 is too dense if anything
        starts = {number: self.stages[number].index for number in numbers}
        self.look({number: self._next(number, side, starts[number]) for number, side in sides.items()})
        for number, side in sides.items():
            self._climb(number, side, starts[number], least)
            if number and int(np.nanargmax(self.stages[number].held_out)) == starts[number]:
                self._climb(number, -1, starts[number], least)

    def best(self) -> tuple[float, float]:
        """Return the best gain, at least that of no edges, and the standard error of its lead over the reference."""
        gains = np.concatenate([stage.held_out for stage in self.stages])
        place = int(np.nanargmax(gains))
        if gains[place] > 0.0:
            return float(gains[place]), float(np.concatenate(self.errors)[place])
        return 0.0, float(self._error(-self._mean("reference"), "square"))

    def sparsest(self, least: float) -> tuple[int, int]:
        """Return stage and number of the sparsest network with at least this gain, judging those around it."""
        found: list[tuple[int, float, int, int]] = []
        for number in sorted(range(len(self.stages)), key=lambda k: -self.stages[k].exponent):
            path, gains = self.stages[number].path, self.stages[number].held_out
            enough = np.flatnonzero(gains >= least)
            if not len(enough):
                continue
            last = int(enough[0])
            before = max(np.flatnonzero(gains[:last] < least).tolist(), default=-1)
            while last - before > 1 and not (found and path[before + 1].n_edges > min(found)[0]):
                middle = (last + before) // 2
                self.look({number: [middle]})
                last, before = (middle, before) if self.gain(number, middle) >= least else (last, middle)
            found.append((path[last].n_edges, -self.gain(number, last), number, last))
        _, _, number, index = min(found)
        return number, index

    def refine(self) -> None:
        """Judge the networks halfway between the best of every stage and its neighbors that were judged."""
        halves = {}
        for number, stage in enumerate(self.stages):
            judged, top = np.flatnonzero(~np.isnan(stage.held_out)), int(np.nanargmax(stage.held_out))
            sides = [judged[judged < top][-1:], judged[judged > top][:1]]
            halves[number] = [int(top + side[0]) // 2 for side in sides if len(side) and abs(top - side[0]) > 1]
        self.look(halves)

    def look(self, asked: Mapping[int, Sequence[int]]) -> None:
        """Judge networks, by the number of their stage, that were not judged before."""
        asked = {k: [i for i in some if np.isnan(self.gain(k, i))] for k, some in asked.items()}
        asked = {k: some for k, some in asked.items() if some}
        self.is_cut |= bool(asked) and self.task.is_late
        if not asked or self.is_cut:
            return
        threads, run = self._fold_threads(), self.task.run.replace(checkpoint=None)
        if math.prod(self.task.table.shape) < FEWEST_CELLS:
            run = run.replace(n_jobs=1)
        inside = kernel_threads(run.n_jobs) if threads == 1 else 1
        fold = self.task.loosened().replace(run=run.inside(inside), groups=None)
        wanted = [(self.stages[k].exponent, [self.stages[k].path.solutions[i] for i in asked[k]]) for k in asked]
        chosen = [stage.solution for stage in self.stages[:2]]
        known = self.known or [{}] * len(self.folds)
        tasks = [(fold, held, chosen, wanted, before) for held, before in zip(self.folds, known, strict=True)]
        if not self.task.table.is_whole:  # one after the other: the parts are what is worked on side by side
            self.known = [_score_fold(*task) for task in tasks]
        elif threads > 1:
            with ThreadPoolExecutor(threads) as pool:  # each with what is suppressed here
                started = [pool.submit(copy_context().run, partial(_score_fold, *task)) for task in tasks]
                self.known = [future.result() for future in started]
        else:
            self.known = run_tasks(_score_fold, tasks, "folds", "Cross-validation", run=run)
        for place, (k, some) in enumerate(asked.items()):
            gains = self.stages[k].held_out.copy()
            gains[some] = self._mean(f"gain{place}")
            self.errors[k][some] = self._error(gains[some] - self._mean("reference"), f"square{place}")
            self.stages[k] = replace(self.stages[k], held_out=gains)

    def _climb(self, number: int, step: int, index: int, least: float) -> None:
        """Judge networks in one direction, 1 to the dense end; each step gains less than the one before."""
        for following in self._next(number, step, index):
            self.look({number: [following]})
            gain = self.gain(number, following)
            gained = gain - self.gain(number, index)
            if gained > 0 and gain + gained > least:
                self._climb(number, step, following, least)

    def _next(self, number: int, step: int, index: int) -> list[int]:
        """Return the next network to judge in one direction, if there is one that is worth it."""
        alphas = self.stages[number].path.alphas
        distances = np.abs(np.log(np.maximum(alphas, TINY) / (alphas[index] * STRIDE**-step or TINY)))
        found = int(distances.argmin()) if alphas[index] > 0 else index
        if (found - index) * step <= 0 or (number == 0 and alphas[found] > WIDEST * self.stages[0].solution.alpha):
            return []
        return [found]

    def _fold_threads(self) -> int:
        """Return how many folds of a small table with categories run at the same time.

        Its paths are too short for the threads of the kernels and too long to wait for each other.
        """
        table = self.task.table
        if table.variables.is_binary or math.prod(table.shape) >= SMALL:
            return 1
        return min(thread_count(self.task.run.n_threads), len(self.folds))

    def _mean(self, name: str) -> Any:
        return sum(result[name] for result in self.known) / self.task.n_rows

    def _error(self, difference: Any, squares: str) -> Any:
        """Return the standard error of a mean difference, given the name of the sums of squares."""
        return np.sqrt(np.maximum(self._mean(squares) - difference**2, 0.0) / self.task.n_rows)


def _score_fold(
    task: Task,
    held_out: Part | Fold,
    chosen: Sequence[Solution],
    wanted: Sequence[tuple[float, Sequence[Solution]]],
    known: dict[str, Any],
) -> dict[str, Any]:
    """Return gains over independent columns, summed over the rows held out, and squares of leads over the reference.

    The first time, the choices of stage 1 and of stage 2, the reference, are fitted; both are handed on.
    """
    training, held = task.split(held_out)

    def fit(exponent: float, some: Sequence[Solution], first: Solution | None = None) -> Sequence[Solution]:
        return training.stage([one.alpha for one in some], exponent, first, start=some).solutions

    first = known["first"] if known else fit(0.0, chosen[:1])[0]
    reference = known["best of stage 2"] if known else fit(EXPONENTS[0], chosen[1:], first)[0]
    fitted = {(0.0, chosen[0].alpha): first, (EXPONENTS[0], chosen[1].alpha): reference}
    paths = []
    for exponent, some in wanted:
        missing = [one for one in some if (exponent, one.alpha) not in fitted]
        if missing:
            found = fit(exponent, missing, first)
            fitted |= {(exponent, one.alpha): solution for one, solution in zip(missing, found, strict=True)}
        paths.append([fitted[exponent, one.alpha] for one in some])
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
