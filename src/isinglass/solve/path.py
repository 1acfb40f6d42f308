"""The regularization path of the joint pseudo-likelihood.

Screening, solver and certificate are explained in docs/algorithm.md; they are in ``_core``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass import objective
from isinglass._core import Problem
from isinglass.arguments import check_count, check_positive
from isinglass.arrays import FloatArray
from isinglass.data import CategoryTable, PartedTable, check_penalty_weights, read_categories, read_parts, to_weighted
from isinglass.data.blocks import is_in_parts
from isinglass.data.table import Kinds, Scores
from isinglass.errors import ArgumentError, ConstantColumnWarning, ConvergenceWarning, setting, suppress_warnings, warn
from isinglass.machine import thread_count, within_memory
from isinglass.network import all_pairs
from isinglass.results import Path, Solution
from isinglass.solve.device import DeviceRows, device_name, find_device
from isinglass.solve.discrete import DiscreteCase
from isinglass.solve.estimable import Varying, as_solution, split_sparse
from isinglass.solve.grid import alpha_grid
from isinglass.variables import Variables

if TYPE_CHECKING:
    from isinglass._core._native import State

logger = logging.getLogger("isinglass")

ALL_PAIRS_UP_TO = 30  # columns up to which screening costs more than it saves (measured)
STRICTNESS = 1.0  # share of the strong rule's threshold from which pairs are kept on longer tables
CELLS_AT_ONCE = 500_000  # cells times alphas of one call without screening: a callback does not wait long
WIDE = 2000  # columns from which on alpha_max is not taken from a matrix of all pairs
SUSPICIOUS_ETA = 10.0  # largest |η| above which an unpenalized optimum is checked for lying at infinity


def ising_path(
    X: ArrayLike,
    alphas: int | float | ArrayLike = 50,
    *,
    sample_weight: ArrayLike | None = None,
    penalty_weights: ArrayLike | str | None = None,
    alpha_min_ratio: float = 0.01,
    tol: float = 1e-7,
    max_iter: int = 100,
    n_threads: int | None = None,
    device: str | None = None,
    callback: Callable[[Solution], object] | None = None,
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
        Weight of each pair's penalty: 1; the sum of the two standard deviations; or given, where 0 leaves
        a pair unpenalized and inf forbids it.
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
        the environment's ISINGLASS_DEVICE, else "cpu". Edges are the same, couplings to tolerance.
    callback : callable, optional
        Called with each Solution as it is found. If it returns False, the path ends there.
    kinds, scores : optional
        Which columns have categories, ordinal or nominal, and where those of ordinal columns lie, as for
        `read_categories`; by default the columns that are categorical by their type. A network of columns with more
        than two categories has categories. Scores must be multiples of one step.

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
    if is_in_parts(X):
        X, sample_weight = read_parts(X, sample_weight=sample_weight, kinds=kinds, scores=scores), None
    where = device_name(device)
    parts = split_sparse(X, sample_weight) if kinds is scores is None and where == "cpu" else None
    if parts is not None:
        X, sample_weight = parts, None
    elif not isinstance(X, PartedTable):
        X = read_categories(X, kinds=kinds, scores=scores)
    if isinstance(X, CategoryTable) and device not in (None, "cpu"):
        raise ArgumentError("device", 'must be "cpu" where columns have more than two categories', device)
    case = _prepare(X, sample_weight, penalty_weights, n_threads, where)
    top = case.fit_null(tol, max_iter)
    grid = alpha_grid(top, alphas, alpha_min_ratio=alpha_min_ratio, at_zero=case.alpha_at_zero)
    case.check(grid)
    solutions = []
    for solution in _follow(case, grid, tol, max_iter):
        logger.info("%r", solution)
        solutions.append(solution)
        if callback is not None and callback(solution) is False:
            break
    path = Path(tuple(solutions), tol=tol)
    warn_if_not_converged(path, case.problem.null_objective, max_iter)
    return path


def _prepare(
    X: Any, sample_weight: ArrayLike | None, penalty_weights: ArrayLike | str | None, n_threads: int | None, where: str
) -> _Case | DiscreteCase:
    """Make a table ready: columns of 0 and 1, or with categories, which are always worked on here."""
    if not isinstance(X, CategoryTable):
        return _Case.prepare(X, sample_weight, penalty_weights, n_threads, where)
    return DiscreteCase.prepare(*to_weighted(X, sample_weight), penalty_weights, n_threads)


def _alpha_max(
    X: ArrayLike, sample_weight: ArrayLike | None = None, *, penalty_weights: ArrayLike | str | None = None
) -> float:
    """Return the smallest alpha without penalized edges, of a table of any kind, however wide."""
    table, weight = to_weighted(X, sample_weight)
    if not isinstance(table, PartedTable | CategoryTable) and table.shape[1] <= WIDE:
        return objective.alpha_max(table, weight, penalty_weights=penalty_weights)
    with suppress_warnings(ConstantColumnWarning):
        return _prepare(table, weight, penalty_weights, None, device_name()).fit_null(1e-7, 100)


# Path contract: what `alphas=30` starts from (see docs/design.md).
ising_path.alpha_max = _alpha_max  # type: ignore[attr-defined]


def _follow(case: _Case | DiscreteCase, grid: FloatArray, tol: float, max_iter: int) -> Iterator[Solution]:
    """Yield the certified solution of every alpha of the grid."""
    problem, alphas = case.problem, grid.tolist()
    strictness = STRICTNESS if problem.n_features > ALL_PAIRS_UP_TO else 0.0
    at_once = 1 if strictness else CELLS_AT_ONCE // (case.cell_cost * problem.n_features * problem.n_distinct + 1) + 1
    for k in range(0, len(alphas), at_once):
        following = alphas[min(k + at_once, len(alphas) - 1)]
        with within_memory():
            scaled = [alpha / case.unit for alpha in alphas[k : k + at_once]]
            states = problem.follow(scaled, following / case.unit, tol, max_iter, strictness)
        for alpha, state in zip(alphas[k : k + at_once], states, strict=True):
            yield case.solution(state, alpha, tol)


@dataclass(frozen=True)
class _Case:
    """A table made ready: the compiled problem on the columns that vary, and the way back."""

    cell_cost: ClassVar[int] = 1
    unit: ClassVar[float] = 1.0
    alpha_at_zero: ClassVar[float] = 0.0
    problem: Problem
    varying: Varying
    matrix: FloatArray | None  # penalty weights of the varying columns
    free: NDArray[np.int32]
    variables: Variables

    @classmethod
    def prepare(
        cls,
        X: ArrayLike,
        sample_weight: ArrayLike | None,
        penalty_weights: ArrayLike | str | None,
        n_threads: int | None,
        where: str,
    ) -> _Case:
        varying = Varying.of(X, sample_weight, parts=where == "cpu")
        columns, n_features = varying.columns, len(varying.fields)
        penalty = check_penalty_weights(penalty_weights, n_features)
        matrix = None
        if isinstance(penalty, np.ndarray):
            # A copy: the compiled problem reads it until the path ends, and a callback may change the caller's.
            matrix = np.array(penalty[np.ix_(columns, columns)], order="C")
        penalized = matrix, isinstance(penalty, str), thread_count(n_threads)
        with within_memory():
            if where == "cpu":
                problem = varying.problem(*penalized)
            else:
                problem = Problem(DeviceRows(varying.table, varying.weight, find_device(where)), *penalized)
        variables = Variables.binary(n_features).with_names(varying.names)
        return cls(problem, varying, matrix, problem.free_pairs(), variables)

    def fit_null(self, tol: float, max_iter: int) -> float:
        """Fit fields and free pairs; return alpha_max there."""
        if len(self.free):
            with within_memory():
                state = self.problem.solve(self.free, [1.0], tol, tol, max_iter)[0]
            if state.largest_eta + self.varying.log_spread > SUSPICIOUS_ETA:  # it may lie at infinity
                self.varying.refuse_separation(self.free)
            self.problem.mark_null()
        return self.problem.alpha_max()

    def check(self, grid: FloatArray) -> None:
        """Refuse alphas whose optimum is at infinity or drowns in rounding."""
        if self.matrix is not None:
            objective.refuse_vanishing(float(grid[-1]), self.matrix[~np.eye(len(self.matrix), dtype=bool)])
        if grid[-1] == 0.0:
            pairs = all_pairs(self.problem.n_features)
            allowed = slice(None) if self.matrix is None else np.isfinite(self.matrix[pairs[:, 0], pairs[:, 1]])
            self.varying.refuse_separation(pairs[allowed])

    def solution(self, state: State, alpha: float, tol: float) -> Solution:
        """Put the solution of the varying columns back into the whole table."""
        return as_solution(self.varying.whole_network(state, self.variables), state, self.problem, alpha, tol)


def warn_if_not_converged(path: Path, null_objective: float, max_iter: int) -> None:
    """Warn once for all solutions of a path that did not reach its tolerance."""
    failed = [solution for solution in path if not solution.converged]
    if not failed:
        return
    worst = max(failed, key=lambda solution: solution.kkt_residual)
    gap = worst.duality_gap / max(null_objective, 1e-12)
    message = (
        f"{len(failed)} of {len(path)} solutions did not reach tol={path.tol:g}; worst at alpha={worst.alpha:.6g}: "
        f"kkt_residual={worst.kkt_residual:.1e}, relative gap={gap:.1e}. "
        f"Increase {setting('max_iter')} (now {max_iter}) or {setting('tol')}, or stop the path at a larger alpha."
    )
    warn(ConvergenceWarning(message))
