"""Penalty weights of the two stages of the default estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray
from isinglass.data import column_sd
from isinglass.penalties import penalty_matrix
from isinglass.results import Path, Solution
from isinglass.select.settings import Alphas
from isinglass.select.task import Task, penalty_on


@dataclass(frozen=True, eq=False)
class StagePenalties:
    """The penalty weights of pairs in both stages, for the table of a task."""

    task: Task

    @cached_property
    def _sd(self) -> FloatArray:
        return column_sd(self.task.table)

    @cached_property
    def _units(self) -> FloatArray | None:
        """Units of columns that make couplings comparable: twice their standard deviations, 1 for balanced answers.

        The gradient of a pair has the standard error 2 sd_s sd_t / √N if the pair is no edge. None where units make no
        difference, and in tables without numbers, whose scores are taken as they are.
        """
        variables = self.task.table.variables
        is_number = np.isin(np.flatnonzero(variables.is_modeled), variables.continuous)
        if not is_number.any() or is_number.all() or isinstance(self.task.paths.penalty_weights, str):
            return None
        return np.where(self._sd > 0.0, 2.0 * self._sd, 1.0)

    def at(self, edges: NDArray[np.int32], matrix: FloatArray | None = None) -> FloatArray:
        """Return penalty weights at some pairs: those of a matrix, or of the settings."""
        if matrix is not None:
            return np.asarray(matrix[edges[:, 0], edges[:, 1]])
        weights, table = self.task.paths.penalty_weights, self.task.table
        if weights is None:
            return np.ones(len(edges))
        if isinstance(weights, str):
            (sd_s, sd_t), (range_s, range_t) = self._sd[edges.T], table.variables.ranges[edges.T]
            return np.asarray(range_t * sd_s + range_s * sd_t)
        return self.at(edges, penalty_matrix(np.empty(table.shape[1]), weights))

    @cached_property
    def first(self) -> FloatArray | None:
        """Penalty weights of stage 1; None: those of the settings."""
        if self._units is None:
            return None
        weights = penalty_matrix(self._sd, self.task.paths.penalty_weights)
        return np.asarray(weights * np.multiply.outer(self._units, self._units))

    def second(self, first: Solution, exponent: float) -> FloatArray:
        """Return penalty weights in inverse proportion to the couplings of stage 1; other pairs are forbidden."""
        edges, couplings = first.edge_index, np.abs(first.edge_values)
        weights = self.at(edges) / couplings**exponent
        if self._units is not None:
            weights *= self._units[edges].prod(axis=1) ** (1.0 - exponent)
        return penalty_on(edges, self.task.table.shape[1], weights)


def solve_stage(
    task: Task,
    alphas: Alphas,
    exponent: float = 0.0,
    first: Solution | None = None,
    start: Solution | Sequence[Solution] | None = None,
) -> Path:
    """Return the solutions of a stage at given alphas: of stage 1, or of stage 2 with weights of the network of it."""
    penalties = StagePenalties(task)
    penalty = penalties.second(first, exponent) if first and exponent else penalties.first
    return task.path(alphas, penalty=penalty, start=start)
