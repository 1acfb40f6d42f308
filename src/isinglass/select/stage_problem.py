"""The convex problems of the stages: in stage 2, penalty weights are in inverse proportion to couplings of stage 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray
from isinglass.data import column_sd
from isinglass.penalties import penalty_matrix, penalty_on
from isinglass.results import Path, Solution
from isinglass.select.settings import Alphas
from isinglass.select.task import Task

FULL = 1.0
"""Exponent of the penalty weights of stage 2, unless they predict poorly."""


def solve_stage(
    task: Task,
    alphas: Alphas,
    exponent: float = 0.0,
    first: Solution | None = None,
    start: Solution | Sequence[Solution] | None = None,
) -> Path:
    """Return the solutions of a stage at given alphas: of stage 1, or of stage 2 with weights of the network of it."""
    return task.path(alphas, penalty=stage_penalty(task, exponent, first), start=start)


def stage_penalty(task: Task, exponent: float = 0.0, first: Solution | None = None) -> FloatArray | None:
    """Return the penalty weights of all pairs in a stage; None: those of the settings.

    In stage 2 they are in inverse proportion to the couplings of stage 1, and pairs without one are forbidden.
    """
    units = _units(task)
    if first is None or not exponent:
        if units is None:
            return None
        weights = penalty_matrix(units, task.paths.penalty_weights)
        return np.asarray(weights * np.multiply.outer(units, units))
    edges = first.edge_index
    weights = pair_weights(task, edges) / np.abs(first.edge_values) ** exponent
    if units is not None:
        weights *= units[edges].prod(axis=1) ** (1.0 - exponent)
    return penalty_on(edges, task.table.shape[1], weights)


def pair_weights(task: Task, edges: NDArray[np.int32]) -> FloatArray:
    """Return the penalty weights that the settings give to some pairs."""
    (s, t), weights = edges.T, task.paths.penalty_weights
    if weights is None:
        return np.ones(len(edges))
    if isinstance(weights, str):
        sd, ranges = column_sd(task.table), task.table.variables.ranges
        return np.asarray(ranges[t] * sd[s] + ranges[s] * sd[t])
    return np.asarray(weights[s, t], dtype=np.float64)


def _units(task: Task) -> FloatArray | None:
    """Return units of columns that make couplings comparable: twice their standard deviations, 1 for balanced answers.

    The gradient of a pair has the standard error 2 sd_s sd_t / √N if the pair is no edge. None where units make no
    difference, and in tables without numbers, whose scores are taken as they are.
    """
    variables = task.table.variables
    is_number = np.isin(np.flatnonzero(variables.is_modeled), variables.continuous)
    if not is_number.any() or is_number.all() or isinstance(task.paths.penalty_weights, str):
        return None
    sd = column_sd(task.table)
    return np.where(sd > 0.0, 2.0 * sd, 1.0)
