"""The regularization path of the joint pseudo-likelihood.

Screening, solver and certificate are explained in docs/algorithm.md; they are in ``_core``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arguments import check_callable, check_count, check_positive
from isinglass.arrays import FloatArray
from isinglass.data import AnyTable, as_table
from isinglass.data.table import Kinds, Scores
from isinglass.errors import ArgumentError
from isinglass.machine.memory import within_memory
from isinglass.penalties import Penalty
from isinglass.results import Path, Solution
from isinglass.solve.alphas import AlphasLike, alpha_grid
from isinglass.solve.columns import warn_constant
from isinglass.solve.following import MAX_STEPS, TOLERANCE, collect, strictness_among, warn_if_not_converged
from isinglass.solve.joint_problem import JointProblem
from isinglass.solve.limits import split_sparse
from isinglass.variables import Variables

CELLS_AT_ONCE = 50_000  # cells times alphas of one call without screening: a callback does not wait long


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
    start: Solution | Sequence[Solution] | None = None,
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
    start : Solution, or sequence of one per alpha, optional
        Starting values for the first alpha, or for each alpha, such as the networks of a similar table at these alphas.
        They save time, and change the results only by rounding.
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
    on_cpu = device in (None, "cpu")
    parts = split_sparse(X, sample_weight) if kinds is scores is None and on_cpu else None
    table = as_table(X, sample_weight, kinds=kinds, scores=scores) if parts is None else parts
    problem = JointProblem.of(table, penalty_weights, n_threads, None if on_cpu else device)
    warn_constant(table.variables, problem.reduction.counts)
    top = problem.fit_null(tol, max_iter)
    grid = alpha_grid(top, alphas, alpha_min_ratio=alpha_min_ratio, at_zero=problem.alpha_at_zero)
    problem.check(grid)
    solutions = _follow(problem, grid, tol, max_iter, _starts(start, grid, table.variables))
    path = Path(collect(solutions, callback), tol=tol)
    warn_if_not_converged(path, problem.compiled.null_objective, max_iter)
    return path


def alpha_max(X: ArrayLike, sample_weight: ArrayLike | None = None, *, penalty_weights: Penalty = None) -> float:
    """Return the smallest alpha without penalized edges, of a table of any kind and width."""
    return JointProblem.of(as_table(X, sample_weight), penalty_weights).fit_null(TOLERANCE, MAX_STEPS)


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


def _starts(
    start: Solution | Sequence[Solution] | None, grid: FloatArray, variables: Variables
) -> list[Solution | None]:
    """Return where each alpha of a grid starts; None: at the one before."""
    starts: list[Solution | None] = [*start] if isinstance(start, Sequence) else [start, *[None] * (len(grid) - 1)]
    if not all(isinstance(each, Solution | None) for each in starts):
        raise ArgumentError("start", "must be a Solution, or a sequence of one per alpha", start)
    if len(starts) != len(grid):
        raise ArgumentError("start", f"must have one Solution per alpha ({len(grid)})", len(starts))
    for network in (each.network for each in starts if each is not None):
        if network.n_features != variables.n_features:
            raise ArgumentError("start", f"must have one node per column ({variables.n_features})", network.n_features)
        if any((getattr(network.variables, of) != getattr(variables, of)).any() for of in ("sizes", "has_scores")):
            raise ArgumentError("start", "must have the kinds and numbers of categories of the table", network)
    return starts


def _follow(
    problem: JointProblem, grid: FloatArray, tol: float, max_iter: int, starts: list[Solution | None]
) -> Iterator[Solution]:
    """Yield the certified solution of every alpha of the grid."""
    compiled, alphas = problem.compiled, grid.tolist()
    strictness = strictness_among(compiled.n_features)
    at_once = 1 if strictness or any(starts) else int(CELLS_AT_ONCE / (problem.cost + 1)) + 1
    for k in range(0, len(alphas), at_once):
        following = alphas[min(k + at_once, len(alphas) - 1)]
        with within_memory():
            if (start := starts[k]) is not None:
                reached = max(start.alpha, alphas[k])  # from there the solver stops on the way, as on a path
                compiled.place(reached / problem.penalty.unit, *problem.reduction.point(start.network))
            scaled = [alpha / problem.penalty.unit for alpha in alphas[k : k + at_once]]
            states = compiled.follow(scaled, following / problem.penalty.unit, tol, max_iter, strictness)
        for alpha, state in zip(alphas[k : k + at_once], states, strict=True):
            yield problem.solution(state, alpha)
