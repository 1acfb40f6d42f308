"""Penalty weights in the units of the solver."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arrays import FloatArray
from isinglass.data.counts import sd_of
from isinglass.penalties import check_penalty_weights, condition_on_covariates, penalty_matrix
from isinglass.solve.reduction import Reduction


@dataclass(frozen=True)
class SolverPenalty:
    """The penalties α ω of the pairs of columns that vary, as the joint problem takes them.

    With categories, the solver's scores have a range of 1: α ω_st ‖Θ_st‖ is (α/D) · (D ω_st/(D_s D_t)) · ‖Θ‖ in its
    units, with D the product of the two largest ranges. So iterations do not depend on the units of scores.
    """

    matrix: FloatArray | None  # ω in the solver's units; None: 1, or the sum of two standard deviations
    is_standardized: bool  # whether it is the latter
    unit: float  # D, which alpha is divided by; 1 for two values
    ranges: FloatArray | None  # with categories, D_s/√D of every column
    least: float  # smallest positive weight of a pair

    @classmethod
    def of(cls, reduction: Reduction, penalty_weights: ArrayLike | str | None) -> SolverPenalty:
        """Check penalty weights of all columns, and take those of the columns that vary."""
        variables, columns = reduction.variables, reduction.columns
        penalty = check_penalty_weights(penalty_weights, reduction.n_features)
        if variables.has_covariates:
            omega = penalty_matrix(sd_of(reduction.counts, variables), penalty, variables.ranges)
            penalty = condition_on_covariates(omega, variables)
        matrix, is_standardized, unit, ranges = None, isinstance(penalty, str), 1.0, None
        if isinstance(penalty, np.ndarray):
            # A copy: the compiled problem reads it until the path ends, and a callback may change the caller's.
            matrix = np.array(penalty[np.ix_(columns, columns)], order="C")
        if not variables.is_binary:
            own = variables.ranges[columns]
            if len(columns) > 1 and not is_standardized:
                unit = float(np.sort(own)[-2:].prod())
            ranges = own / np.sqrt(unit)
            if matrix is not None:
                matrix *= 1.0 / ranges
                matrix *= (1.0 / ranges)[:, None]
        return cls(matrix, is_standardized, unit, ranges, _least(reduction, matrix, is_standardized, ranges))


def _least(reduction: Reduction, matrix: FloatArray | None, is_standardized: bool, ranges: FloatArray | None) -> float:
    """Return the smallest positive penalty weight of a pair, in the solver's units; infinite if it cannot underflow."""
    if matrix is not None:
        weights = matrix[~np.eye(len(matrix), dtype=bool)]
        return float(weights[weights > 0].min(initial=np.inf))
    if ranges is None or len(ranges) < 2:
        return np.inf if ranges is None else 1.0
    if is_standardized:
        sd = sd_of(reduction.counts, reduction.variables)[reduction.columns]
        return float(np.partition(sd / ranges, 1)[:2].sum())
    return float(np.partition(1.0 / ranges, 1)[:2].prod())
