"""The joint problem of a table: its rows and penalties as the solver takes them, and its solutions as networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from isinglass._core import Problem, path_bytes
from isinglass.arrays import FloatArray
from isinglass.data import AnyTable
from isinglass.data.counts import dimensions_of, sd_of
from isinglass.errors import ArgumentError
from isinglass.machine.memory import memory_for, within_memory
from isinglass.machine.threads import thread_count
from isinglass.pairs import all_pairs
from isinglass.penalties import (
    Penalty,
    check_penalty_weights,
    condition_on_covariates,
    penalty_matrix,
    refuse_vanishing,
)
from isinglass.results import Solution
from isinglass.separation import SUSPICIOUS_ETA
from isinglass.solve.device import find_device, rows_on
from isinglass.solve.limits import refuse_categories, refuse_pairs
from isinglass.solve.reduction import Reduction, refuse_free
from isinglass.solve.rows import PartedRows

if TYPE_CHECKING:
    from isinglass._core._native import State

NULL_TOLERANCE = 1e-7  # of the fit of free pairs: networks are compared with it, loosely solved ones too
_PER_COEFFICIENT = 130  # bytes, for either column of a pair


@dataclass(frozen=True)
class SolverPenalty:
    """The penalties α ω of the pairs of columns that vary, as the joint problem takes them.

    With categories, the solver's scores have a range of 1: α ω_st ‖Θ_st‖ is (α/D) · (D ω_st/(D_s D_t)) · ‖Θ‖ in its
    units, with D the product of the two largest ranges. So iterations do not depend on the units of scores.
    """

    matrix: FloatArray | None  # ω in the solver's units; None: 1, or the sum of two standard deviations
    is_standardized: bool = False  # whether it is the latter
    unit: float = 1.0  # D, which alpha is divided by; 1 for two values
    ranges: FloatArray | None = None  # with categories, D_s/√D of every column

    @classmethod
    def of(cls, reduction: Reduction, penalty_weights: Penalty) -> SolverPenalty:
        """Check penalty weights of all columns, and take those of the columns that vary."""
        variables, columns = reduction.variables, reduction.columns
        checked = check_penalty_weights(penalty_weights, reduction.n_features)
        is_standardized = isinstance(checked, str)
        if variables.is_binary and not isinstance(checked, np.ndarray):
            return cls(None, is_standardized)
        omega = checked
        if not isinstance(omega, np.ndarray):
            omega = penalty_matrix(sd_of(reduction.counts, variables), omega, variables.ranges)
        if variables.has_covariates:
            omega = condition_on_covariates(omega, variables)
        # A copy: the compiled problem reads it until the path ends, and a callback may change the caller's.
        matrix = np.array(omega[np.ix_(columns, columns)], order="C")
        np.fill_diagonal(matrix, 0.0)
        if variables.is_binary:
            return cls(matrix)
        own = variables.ranges[columns]
        unit = 1.0 if is_standardized or len(columns) < 2 else float(np.sort(own)[-2:].prod())
        ranges = own / np.sqrt(unit)
        matrix *= 1.0 / ranges
        matrix *= (1.0 / ranges)[:, None]
        return cls(matrix, unit=unit, ranges=ranges)


@dataclass(frozen=True)
class JointProblem:
    """The compiled problem on the columns of a table that vary, and the way back."""

    compiled: Problem
    reduction: Reduction
    penalty: SolverPenalty

    @classmethod
    def of(
        cls,
        table: AnyTable,
        penalty_weights: Penalty,
        n_threads: int | None = None,
        device: str | None = None,
    ) -> JointProblem:
        """Compile a table on this processor or a device."""
        if device is not None and not table.variables.is_binary:
            what = 'must be "cpu" where columns have more than two categories or are covariates'
            raise ArgumentError("device", what, device)
        reduction = Reduction.of(table, parts=device is None)
        penalty, threads = SolverPenalty.of(reduction, penalty_weights), thread_count(n_threads)
        with within_memory():
            if device is None:
                return cls(_compile(reduction, penalty, threads), reduction, penalty)
            kept = reduction.table.whole()
            rows = rows_on(find_device(device), kept.codes, kept.sample_weight)
            return cls(Problem(rows, penalty.matrix, penalty.is_standardized, threads), reduction, penalty)

    @property
    def alpha_at_zero(self) -> float:
        """The alpha of a path where no alpha gives an edge: with categories the penalty of one row, which is not 0."""
        return 0.0 if self.reduction.variables.is_binary else self.penalty.unit * self.reduction.alpha_of_one_row

    @property
    def cost(self) -> float:
        """Approximate cost of one alpha: rows times pairs of coordinates of a column."""
        widths = dimensions_of(self.reduction.counts, self.reduction.variables).astype(float)
        return self.compiled.n_distinct * float(widths @ widths)

    def fit_null(self, tol: float, max_iter: int) -> float:
        """Fit fields and free pairs; return alpha_max there."""
        with within_memory():
            state = self.compiled.fit_null(min(tol, NULL_TOLERANCE), max_iter)
        # It may lie at infinity; with categories the ridge keeps it from there.
        is_binary = self.reduction.variables.is_binary
        if state is not None and is_binary and state.largest_eta + self.reduction.log_spread > SUSPICIOUS_ETA:
            self.reduction.refuse_separation(self.compiled.free_pairs())
        with within_memory():
            return self.compiled.alpha_max() * self.penalty.unit

    def check(self, grid: FloatArray) -> None:
        """Refuse alphas whose optimum is at infinity, and penalties that underflow."""
        matrix = self.penalty.matrix
        if grid[-1] > 0.0:
            if matrix is not None:
                refuse_vanishing(float(grid[-1]) / self.penalty.unit, matrix)
        elif not self.reduction.variables.is_binary:
            raise refuse_free()
        else:
            pairs = all_pairs(self.compiled.n_features)
            allowed = slice(None) if matrix is None else np.isfinite(matrix[pairs[:, 0], pairs[:, 1]])
            self.reduction.refuse_separation(pairs[allowed])

    def solution(self, state: State, alpha: float) -> Solution:
        """Put the solution of the varying columns back into the whole table."""
        p, certificate = self.reduction.n_features, ("objective", "kkt_residual", "duality_gap", "certified_zeros")
        return Solution(
            self.reduction.network(state),
            alpha,
            **{name: getattr(state, name) for name in (*certificate, "n_iter", "converged")},
            n_screened=p * (p - 1) // 2 - state.n_working,
        )


def _compile(reduction: Reduction, penalty: SolverPenalty, n_threads: int) -> Problem:
    """Compile the rows of a table here, of two values or of categories, or a table in parts."""
    table, given = reduction.table, (penalty.matrix, penalty.is_standardized, n_threads)
    if not table.is_whole and len(reduction.columns):
        refuse_pairs(table.shape[1])
        return Problem(PartedRows(table, table.total_weight, n_threads), *given)
    codes, weight = np.empty((1, 0), dtype=np.uint8), None  # parts have no rows without a column
    if table.is_whole:
        codes, weight = table.codes, table.sample_weight
    n_rows, p = codes.shape
    if penalty.ranges is None:
        return Problem(codes, weight, *given, memory_for(path_bytes(n_rows, p, p * (p - 1) // 2)))
    cells, steps = reduction.units.cells(codes)
    sizes = np.where(steps == 0, reduction.variables.sizes[reduction.columns], 1)
    refuse_categories(n_rows, sizes)
    needed = path_bytes(n_rows * int(sizes.max(initial=1)), p, p * (p - 1) // 2)
    needed += _PER_COEFFICIENT * int(sizes.sum()) ** 2
    return Problem(cells, weight, *given, memory_for(needed), steps, penalty.ranges, reduction.modeled)
