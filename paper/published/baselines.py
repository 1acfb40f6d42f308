"""The paper's comparators as published: the stacked logistic regression (PLG) and Höfling–Tibshirani's algorithm (BMN).

Both minimize the objective of `isinglass.ising_path` and take the same ``alpha``; what they call their own parameter
is converted here (docs/math.md, units). They are here for comparison, not to fit networks: each stops
by its own rule, which bounds the last step and not the distance to the optimum. So the two halves of a result mean
different things here:

- ``converged`` is the method's own verdict, that its stopping rule was met; ``Path.tol`` is that rule's tolerance;
- ``objective``, ``kkt_residual`` and ``duality_gap`` are measured on what the method returned, by
  `isinglass.objective`, and tell how good it is; ``certified_zeros`` belongs to the problem.

Constant columns are treated as everywhere: no edges, a smoothed field, a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from isinglass import objective
from isinglass.arguments import check_count, check_positive
from isinglass.arrays import Bytes, FloatArray
from isinglass.data import as_table
from isinglass.errors import ConvergenceWarning, setting, warn
from isinglass.network import Network
from isinglass.pairs import all_pairs
from isinglass.results import Path, Solution
from isinglass.solve.alphas import alpha_grid
from isinglass.solve.reduction import Reduction, warn_constant
from paper.published.bmn_steps import BmnSteps
from paper.published.glm import logistic_path
from paper.published.stacked import stacked_design, unvectorize

Callback = Callable[[Solution], object] | None
_Found = tuple[FloatArray, int, int, bool]  # Θ, steps, pairs looked at, whether the method's own rule was met


def plg(
    X: ArrayLike,
    alphas: int | float | ArrayLike = 50,
    *,
    sample_weight: ArrayLike | None = None,
    alpha_min_ratio: float = 0.01,
    thresh: float = 1e-7,
    max_iter: int = 100_000,
    max_bytes: int | None = None,
    callback: Callback = None,
) -> Path:
    """Fit the network as one logistic regression on the stacked design: Algorithm 1 of the paper.

    Build X̃ and ỹ, fit the logistic lasso by glmnet's algorithm with an unpenalized column for every field, put the
    coefficients back into a symmetric matrix. glmnet's λ is α(p−1)/(p(p+1)), p counting the columns that vary.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Table of 0 and 1.
    alphas, sample_weight, alpha_min_ratio
        As in `isinglass.ising_path`.
    thresh : float, default 1e-7
        glmnet's stopping rule, see `paper.published.logistic_path`. At the default the couplings are typically
        right to 1e-3, at 1e-14 to 1e-5, relative to their size.
    max_iter : int, default 100_000
        Passes of coordinate descent, all alphas together.
    max_bytes : int, optional
        Largest stacked design to build, see `paper.published.stacked_design`.
    callback : callable, optional
        Called with each Solution once all are found.

    Returns
    -------
    Path
        ``n_iter`` counts passes, ``n_screened`` the pairs the strong rules left out. ``converged`` means that the
        stopping rule was met; the certificate is that of the joint problem.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 500))
    >>> X = np.column_stack([a, b, a ^ (rng.random(500) < 0.2)])
    >>> plg(X, alphas=[0.05, 0.2])[-1].edge_index.tolist()
    [[0, 2]]
    """

    def fit(table: Bytes, weight: FloatArray | None, grid: FloatArray) -> Iterator[_Found]:
        p = table.shape[1]
        design, response = stacked_design(table, max_bytes=max_bytes)
        fits = logistic_path(
            design,
            response,
            grid * (p - 1) / (p * (p + 1)),
            sample_weight=None if weight is None else np.tile(weight, p),
            penalty_factor=np.repeat([1.0, 0.0], [p * (p - 1) // 2, p]),
            rescale_factors=p > 1,  # a single column has nothing that is penalized
            intercept=False,
            thresh=thresh,
            max_iter=max_iter,
        )
        for k, vector in enumerate(fits.coefficients):  # every field is among the strong columns
            yield unvectorize(vector), int(fits.n_iter[k]), int(fits.n_strong[k]) - p, bool(fits.converged[k])

    return _run(X, alphas, sample_weight, alpha_min_ratio, fit, thresh, max_iter, callback)


def bmn(
    X: ArrayLike,
    alphas: int | float | ArrayLike = 50,
    *,
    sample_weight: ArrayLike | None = None,
    alpha_min_ratio: float = 0.01,
    tolerance: float = 1e-5,
    max_iter: int = 10_000,
    max_rounds: int | None = None,
    line_search: bool = False,
    callback: Callback = None,
) -> Path:
    """Fit the network by Höfling and Tibshirani's algorithm, with the rules of their R package BMN.

    Rounds of simultaneous proximal steps on a working set: what is not zero, and at most 4p zeros that violate
    optimality most. Every 50 steps the objective must not have risen, or the step size is halved; below 0.001 a
    backtracking line search takes over. Every alpha starts afresh from the fields alone, as the package does; its ρ
    is α/2. One thing is not copied: the package starts fields beyond ±1 from +1, here they keep their sign.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Table of 0 and 1.
    alphas, sample_weight, alpha_min_ratio
        As in `isinglass.ising_path`.
    tolerance : float, default 1e-5
        Largest change of an entry in the last step of a round, and in the last round. At 1e-9 the couplings are right
        to 1e-6; with many edges at a small alpha ``max_iter`` then has to be raised.
    max_iter : int, default 10_000
        Steps per round.
    max_rounds : int, optional
        Working sets per alpha; default the number of columns, at least 100.
    line_search : bool, default False
        Use the backtracking line search from the first step on: slower, and never overshoots.
    callback : callable, optional
        Called with each Solution as it is found.

    Returns
    -------
    Path
        ``n_iter`` counts steps, ``n_screened`` the pairs outside the last working set. ``converged`` means that the
        stopping rule was met; the certificate is that of the joint problem.

    Examples
    --------
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 0]]
    >>> bmn(X, alphas=[0.2])[-1].edge_index.tolist()
    [[0, 1]]
    """
    check_positive("tolerance", tolerance)
    for name, value in (("max_iter", max_iter), ("max_rounds", max_rounds)):
        if value is not None:
            check_count(name, value)

    def fit(table: Bytes, weight: FloatArray | None, grid: FloatArray) -> Iterator[_Found]:
        rounds = max(100, table.shape[1]) if max_rounds is None else max_rounds
        steps = BmnSteps(table, weight, tolerance, max_iter, rounds)
        for alpha in grid:
            yield steps.solve(alpha, line_search)

    return _run(X, alphas, sample_weight, alpha_min_ratio, fit, tolerance, max_iter, callback)


def _run(
    X: ArrayLike,
    alphas: int | float | ArrayLike,
    sample_weight: ArrayLike | None,
    alpha_min_ratio: float,
    fit: Callable[[Bytes, FloatArray | None, FloatArray], Iterator[_Found]],
    tol: float,
    max_iter: int,
    callback: Callback,
) -> Path:
    """Fit the columns that vary, measure what comes back and put it into the whole table."""
    given = as_table(X, sample_weight)
    given.variables.require_two_values("X")
    reduction = Reduction.of(given)
    warn_constant(reduction.variables, reduction.counts)
    table, p = reduction.table, len(reduction.columns)
    problem = objective.Objective(given)
    top = problem.alpha_max()
    grid = alpha_grid(top, alphas, alpha_min_ratio=alpha_min_ratio)
    if grid[-1] == 0.0:  # a method that stops on its way to infinity would say nothing
        reduction.refuse_separation(all_pairs(p))
    nothing = ((np.zeros((0, 0)), 0, 0, True) for _ in grid)
    solutions = []
    for alpha, found in zip(grid, fit(table.codes, table.sample_weight, grid) if p else nothing, strict=True):
        solutions.append(_measured(problem, reduction, alpha, *found))
        if callback is not None:
            callback(solutions[-1])
    stuck = [solution for solution in solutions if not solution.converged]
    if stuck:
        warn(
            ConvergenceWarning(
                f"{len(stuck)} of {len(solutions)} solutions did not meet the method's own stopping rule ({tol:g}); "
                f"first at alpha={stuck[0].alpha:.6g}: kkt_residual={stuck[0].kkt_residual:.1e}. Increase "
                f"{setting('max_iter')} (now {max_iter}) or the tolerance, or use "
                f"{setting('method', 'joint', python='ising_path')}."
            )
        )
    return Path(tuple(solutions), tol=tol)


def _measured(
    problem: objective.Objective,
    reduction: Reduction,
    alpha: float,
    theta: FloatArray,
    n_iter: int,
    n_working: int,
    converged: bool,
) -> Solution:
    """Put Θ of the varying columns back into the whole table, and measure it."""
    columns, fields = reduction.columns, reduction.constant_fields.copy()
    fields[columns] = theta.diagonal()
    s, t = np.nonzero(np.triu(theta, 1))
    network = Network(fields, np.column_stack([columns[s], columns[t]]), theta[s, t], variables=reduction.variables)
    return Solution(
        network,
        alpha=float(alpha),
        objective=problem.value(network, alpha),
        kkt_residual=problem.kkt_residual(network, alpha),
        duality_gap=problem.duality_gap(network, alpha),
        certified_zeros=int(np.count_nonzero(problem.certified_zeros(alpha))) // 2,
        n_iter=n_iter,
        n_screened=network.n_pairs - n_working,
        converged=converged,
    )
