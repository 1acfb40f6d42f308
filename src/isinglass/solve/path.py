"""The regularization path of the joint pseudo-likelihood.

Screening, solver and certificate are explained in docs/algorithm.md; they are in ``_core``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from isinglass._core import Problem, path_bytes
from isinglass.arguments import check_callable, check_count, check_kind, check_positive
from isinglass.arrays import FloatArray
from isinglass.data import AnyTable, as_table
from isinglass.data.counts import sd_of
from isinglass.data.parts.read_parts import split_sparse
from isinglass.data.table import Kinds, Scores
from isinglass.errors import ArgumentError
from isinglass.machine.memory import memory_for, refuse_above, within_memory
from isinglass.machine.threads import thread_count
from isinglass.pairs import all_pairs
from isinglass.penalties import (
    Penalty,
    check_penalty_weights,
    condition_on_covariates,
    penalty_matrix,
    refuse_vanishing,
)
from isinglass.results import Path, Solution
from isinglass.separation import SUSPICIOUS_ETA
from isinglass.solve.alphas import (
    MAX_STEPS,
    TOLERANCE,
    AlphasLike,
    alpha_grid,
    collect,
    refuse_free,
    strictness_among,
    warn_if_not_converged,
)
from isinglass.solve.device import check_device, find_device, rows_on
from isinglass.solve.reduction import Reduction, warn_constant
from isinglass.solve.rows import PartedRows
from isinglass.variables import Variables

if TYPE_CHECKING:
    from isinglass._core._native import State

NULL_TOLERANCE = 1e-7  # of the fit of free pairs: networks are compared with it, loosely solved ones too
_PER_COEFFICIENT = 130  # bytes, for either column of a pair
_PER_PAIR_OF_CATEGORIES, _PER_CELL = 4, 24  # bytes that every table of categories takes; measured


def ising_path(
    X: ArrayLike,
    alphas: AlphasLike = 50,
    *,
    sample_weight: ArrayLike | None = None,
    penalty_weights: Penalty = None,
    alpha_min_ratio: float = 0.01,
    tol: float = TOLERANCE,
    max_iter: int = MAX_STEPS,
    n_threads: int | None = None,
    device: str | None = None,
    callback: Callable[[Solution], object] | None = None,
    start: Solution | None = None,
    kinds: Kinds | None = None,
    scores: Scores | None = None,
) -> Path:
    """Fit the L1-penalized pseudo-likelihood along decreasing ``alpha``, each solution with its certificate.

    Minimizes, for every alpha, the mean negative log pseudo-likelihood plus
    ``alpha * sum(penalty_weights * abs(couplings))`` over pairs; fields are not penalized.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Table of 0 and 1 (bool, integer or float), or of categories (see ``kinds``); not modified.
    alphas : int, float or array-like, default 50
        Number of geometric steps down from the smallest alpha without edges, or the values themselves.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights; an integer weight equals repeated rows.
    penalty_weights : None, "standardized" or symmetric matrix, default None
        Weight of each pair's penalty: 1; the sum of the two standard deviations; or given, in the order of the
        columns, where 0 leaves a pair unpenalized and inf forbids it.
    alpha_min_ratio : float, default 0.01
        Last alpha over first alpha when ``alphas`` is a number.
    tol : float, default 1e-7
        Bound on the relative duality gap and on the KKT residual over all pairs.
    max_iter : int, default 100
        Newton steps per alpha.
    n_threads : int, optional
        Threads of the kernels; default the environment's ISINGLASS_NUM_THREADS, else OMP_NUM_THREADS,
        else the available cores. The result does not depend on it.
    device : str, optional
        Where the table is: "cpu", or a graphics processor such as "cuda" or "cuda:1" (needs isinglass[gpu]); default
        "cpu". Edges are the same, couplings to tolerance.
    callback : callable, optional
        Called with each Solution as it is found. If it returns False, the path ends there.
    start : Solution, optional
        Where the solver starts, such as the network of a similar table. It saves time, and changes the results only by
        rounding.
    kinds, scores : optional
        Kinds of the columns and scores of ordinal categories, as for `as_table`; by default columns whose type is
        categorical have categories. Scores must be multiples of one step.

    Returns
    -------
    Path
        Solutions in order of decreasing alpha.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 500))
    >>> X = np.column_stack([a, b, a ^ (rng.random(500) < 0.2)])
    >>> path = ising_path(X, alphas=[0.05, 0.2])
    >>> path[-1].edge_index.tolist(), bool(path.converged.all())
    ([[0, 2]], True)
    """
    check_positive("tol", tol)
    check_count("max_iter", max_iter)
    check_callable("callback", callback)
    elsewhere = None if device is None or check_device(device) == "cpu" else device
    may_split = kinds is None and scores is None and elsewhere is None
    table = _split(X, sample_weight) if may_split else as_table(X, sample_weight, kinds=kinds, scores=scores)
    problem = JointProblem.of(table, penalty_weights, n_threads, elsewhere)
    warn_constant(table.variables, problem.reduction.counts)
    top = problem.fit_null(tol, max_iter)
    grid = alpha_grid(top, alphas, alpha_min_ratio=alpha_min_ratio, at_zero=problem.alpha_at_zero)
    problem.check(grid)
    if start is not None:
        _check_start(start, table.variables)
    path = Path(collect(_follow(problem, grid, tol, max_iter, start), callback), tol=tol)
    warn_if_not_converged(path, problem.compiled.null_objective, max_iter)
    return path


def alpha_max(X: ArrayLike, sample_weight: ArrayLike | None = None, *, penalty_weights: Penalty = None) -> float:
    """Return the smallest alpha without penalized edges, of a table of any kind and width."""
    return JointProblem.of(_split(X, sample_weight), penalty_weights).fit_null(TOLERANCE, MAX_STEPS)


def _split(X: ArrayLike, sample_weight: ArrayLike | None) -> AnyTable:
    """Return a table, in parts if it is a large sparse matrix."""
    parts = split_sparse(X, sample_weight)
    return as_table(X, sample_weight) if parts is None else parts


def solve_near(
    table: AnyTable, alpha: float, penalty_weights: FloatArray, tol: float, n_threads: int | None, start: Solution
) -> Solution:
    """Return the solution on the edges of a close one, up to a KKT residual of ``tol``.

    There is no bound on the duality gap: of a long table with next to no penalty it is all rounding, and steps that
    try to reduce it are rounds of messages to the parts.
    """
    problem = JointProblem.of(table, penalty_weights, n_threads)
    problem.fit_null(tol, MAX_STEPS)
    point, scaled = problem.reduction.point(start.network), alpha / problem.penalty.unit
    with within_memory():
        problem.compiled.place(scaled, *point)
        state = problem.compiled.solve(point[0], [scaled], tol, np.inf, MAX_STEPS)[0]
    return replace(problem.solution(state, alpha), converged=state.kkt_residual <= tol)


def _check_start(start: Solution, variables: Variables) -> None:
    check_kind("start", start, Solution, "a path")
    given = start.network.variables
    if given.n_features != variables.n_features:
        raise ArgumentError("start", f"must have one node per column ({variables.n_features})", given.n_features)
    if (given.sizes != variables.sizes).any() or (given.has_scores != variables.has_scores).any():
        raise ArgumentError("start", "must have the kinds and numbers of categories of the table", start.network)


def _follow(
    problem: JointProblem, grid: FloatArray, tol: float, max_iter: int, start: Solution | None
) -> Iterator[Solution]:
    """Yield the certified solution of every alpha of the grid."""
    compiled, unit = problem.compiled, problem.penalty.unit
    strictness, scaled = strictness_among(compiled.n_features), (grid / unit).tolist()
    if start is not None:
        reached = max(start.alpha, float(grid[0]))  # from there the solver stops on the way, as on a path
        with within_memory():
            compiled.place(reached / unit, *problem.reduction.point(start.network))
    for alpha, here, following in zip(grid.tolist(), scaled, [*scaled[1:], scaled[-1]], strict=True):
        with within_memory():
            (state,) = compiled.follow([here], following, tol, max_iter, strictness)
        yield problem.solution(state, alpha)


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
        cls, table: AnyTable, penalty_weights: Penalty, n_threads: int | None = None, device: str | None = None
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
    p, n_pairs = table.shape[1], table.shape[1] * (table.shape[1] - 1) // 2
    if not table.is_whole and p:
        # The gradients of all pairs are here twice, once as they come and once added up.
        refuse_above(2 * path_bytes(1, p, 0), f"The gradients of {n_pairs} pairs need", "Use fewer columns.")
        return Problem(PartedRows(table, table.total_weight, n_threads), *given)
    codes, weight = np.empty((1, 0), dtype=np.uint8), None  # parts have no rows without a column
    if table.is_whole:
        codes, weight = table.codes, table.sample_weight
    if penalty.ranges is None:
        return Problem(codes, weight, *given, memory_for(path_bytes(len(codes), p, n_pairs)))
    cells, steps = reduction.units.cells(codes)
    sizes = np.where(steps == 0, reduction.variables.sizes[reduction.columns], 1)
    n_categories = int(sizes.sum())
    refuse_above(
        (_PER_PAIR_OF_CATEGORIES * n_categories + _PER_CELL * len(codes)) * n_categories,
        f"A joint fit of {p} columns with {n_categories} categories in all needs",
        "Fit node by node (nodewise_path), which takes one column at a time, or merge rare categories.",
    )
    needed = path_bytes(len(codes) * int(sizes.max(initial=1)), p, n_pairs) + _PER_COEFFICIENT * n_categories**2
    return Problem(cells, weight, *given, memory_for(needed), steps, penalty.ranges, reduction.modeled)
