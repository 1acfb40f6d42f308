"""Node-wise regression: one logistic lasso per column on all others, and a rule that makes a network of them.

The joint pseudo-likelihood of ``ising_path`` has one coupling per pair; here every pair is estimated twice. ``alpha``
is the penalty of one regression: half of the joint alpha for the same strength.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from isinglass.arguments import check_callable, check_count, check_flag, check_positive, check_word
from isinglass.data import Table, as_table
from isinglass.data.table import Kinds, Scores
from isinglass.errors import ArgumentError
from isinglass.results import Path, Solution
from isinglass.solve.alphas import AlphasLike, alpha_grid
from isinglass.solve.columns import warn_constant
from isinglass.solve.following import MAX_STEPS, TOLERANCE, collect, warn_if_not_converged
from isinglass.solve.regressions import RULES, NodeFits, NodewiseProblem


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NodewisePath(Path):
    """A path of networks made of one regression per node, with the regressions themselves.

    The solutions hold what ``rule`` makes of the two coefficients of a pair, and the certificate of the regressions
    (``nodes``) behind them: ``objective`` and ``duality_gap`` are sums over nodes, ``kkt_residual`` and ``n_iter``
    belong to the worst node, ``n_screened`` counts ordered pairs, ``certified_zeros`` is not computed.
    """

    nodes: NodeFits  #: the regressions
    rule: str  #: how two coefficients become one coupling; see `nodewise_path`

    @classmethod
    def of_own_alphas(cls, fits: NodeFits, rule: str, tol: float) -> Self:
        """Return the network of regressions that each have a penalty of their own, as a path of length one."""
        alphas = np.where(np.isfinite(fits.losses), fits.alphas, np.nan)[0]
        solution = replace(fits.solutions(rule, tol)[0], alpha=float("nan"), alphas_per_node=alphas)
        return cls((solution,), tol=tol, nodes=fits, rule=rule)

    @cached_property
    def asymmetric_couplings(self) -> tuple[sp.csr_array, ...]:
        """Coefficients per alpha: row s is the regression of column s on the others."""
        return tuple(self.nodes.estimates.matrix(k) for k in range(len(self)))

    def select_ebic(self, gamma: float = 0.25, *, rule: str | None = None) -> Solution:
        """Return the network in which every node takes the alpha of this path with its smallest EBIC.

        The criterion is IsingFit's. So are the lists of alphas of `PerNode`, one per node; here all nodes
        choose from the alphas of the path.
        """
        chosen = self.nodes.take(self.nodes.choose_ebic(gamma))
        return NodewisePath.of_own_alphas(chosen, rule or self.rule, self.tol)[0]


def nodewise_path(
    X: ArrayLike,
    alphas: AlphasLike = 50,
    *,
    sample_weight: ArrayLike | None = None,
    rule: str = "and",
    standardize: bool = False,
    alpha_min_ratio: float = 0.01,
    tol: float = TOLERANCE,
    max_iter: int = MAX_STEPS,
    n_threads: int | None = None,
    callback: Callable[[Solution], object] | None = None,
    kinds: Kinds | None = None,
    scores: Scores | None = None,
) -> NodewisePath:
    """Regress every column on all others with an L1 penalty, along decreasing ``alpha``, and merge the results.

    Minimizes, for every column and every alpha, the mean negative log-likelihood of a logistic regression plus
    ``alpha * sum(abs(coefficients))``; intercepts are not penalized and become the fields.

    Parameters
    ----------
    X, sample_weight, alpha_min_ratio, kinds, scores
        As for `ising_path`.
    alphas : int, float or array-like, default 50
        Number of geometric steps down from the smallest alpha without coefficients, or the values themselves.
        The unit is that of one regression: half of ``ising_path``'s alpha for the same strength.
    rule : {"and", "or", "mean"}, default "and"
        How the two coefficients a and b of a pair become one coupling. "and": their mean if both are non-zero,
        else 0. "or": the mean of those that are non-zero. "mean": (a + b) / 2, which halves an edge that only one
        regression found (IsingFit's AND = FALSE). Of pairs with more than one parameter, a and b are blocks.
    standardize : bool, default False
        Penalize as if the columns had unit standard deviation: the penalty of column t's coefficient is
        alpha · sd(x_t), times the range of the scores of the column that is regressed if it has categories.
        Coefficients are returned on the scale of the table either way.
    tol : float, default 1e-7
        Bound on every node's KKT residual over all columns and on its relative duality gap.
    max_iter : int, default 100
        Newton steps per node and alpha.
    n_threads : int, optional
        Nodes solved at the same time; default as for ``ising_path``. The result does not depend on it.
    callback : callable, optional
        Called with each Solution, in order, once all regressions are done, until it returns False.

    Returns
    -------
    NodewisePath
        Solutions in order of decreasing alpha, and the regressions behind them.

    See Also
    --------
    PerNode : every node with its own list of alphas and its own choice, as IsingFit does.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 500))
    >>> X = np.column_stack([a, b, a ^ (rng.random(500) < 0.2)])
    >>> path = nodewise_path(X, alphas=[0.025, 0.1])
    >>> path[-1].edge_index.tolist(), bool(path.converged.all())
    ([[0, 2]], True)
    """
    check_callable("callback", callback)
    solver = NodewiseSolver(rule, standardize, tol, max_iter, n_threads)
    table = as_table(X, sample_weight, kinds=kinds, scores=scores).whole().counted(quiet=True)
    problem = solver.compile(table)
    warn_constant(table.variables, problem.reduction.counts)
    top = float(np.nanmax(problem.alpha_max(), initial=0.0))
    at_zero = 0.0 if table.variables.is_binary else float(problem.alphas_at_zero.max())  # no category without penalty
    grid = alpha_grid(top, alphas, alpha_min_ratio=alpha_min_ratio, at_zero=at_zero)
    fits = problem.solve(np.tile(grid, (problem.n_features, 1)), tol, max_iter, stops_early=False)
    path = NodewisePath(tuple(fits.solutions(rule, tol)), tol=tol, nodes=fits, rule=rule)
    collect(path, callback)
    warn_if_not_converged(path, float(fits.null_losses.sum()), max_iter)
    return path


def nodewise_alpha_max(X: ArrayLike, sample_weight: ArrayLike | None = None, *, standardize: bool = False) -> float:
    """Return the smallest alpha at which no regression has a coefficient: max |cov|, over sd(x_t) if standardized."""
    problem = NodewiseSolver(standardize=standardize).compile(as_table(X, sample_weight).whole().counted(quiet=True))
    return float(np.nanmax(problem.alpha_max(), initial=0.0))


@dataclass(frozen=True)
class NodewiseSolver:
    """How the regressions of nodes are solved, and two of them merged; as for `nodewise_path`."""

    rule: str = "and"
    standardize: bool = True
    tol: float = TOLERANCE
    max_iter: int = MAX_STEPS
    n_threads: int | None = None

    def __post_init__(self) -> None:
        check_word("rule", self.rule, RULES)
        check_flag("standardize", self.standardize)
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter)

    def compile(self, table: Table) -> NodewiseProblem:
        """Return the regressions of a table."""
        return NodewiseProblem.of(table, self.standardize, self.n_threads)

    def at(self, table: Table, alphas: ArrayLike) -> NodewisePath:
        """Return the network at given penalties, one per node: what `choose` chose elsewhere.

        NaN is for a column without regression: a constant one or a covariate.
        """
        problem = self.compile(table.counted(quiet=True))
        given = np.asarray(alphas, dtype=np.float64)
        if given.shape != (problem.n_features,) or not (given[problem.solved] > 0).all():
            raise ArgumentError("alphas", f"must be positive, one for each of {problem.n_features} columns", alphas)
        return self._merge(problem.solve(given[:, None], self.tol, self.max_iter, stops_early=False))

    def choose(self, table: Table, count: int, gamma: float) -> NodewisePath:
        """Return the network in which each node's penalty is chosen by the extended BIC, as a path of length one.

        The criterion is that of `NodeFits.choose_ebic`. Each node has a list of its own, geometric from the smallest
        alpha without coefficients downwards; it ends early where the regression explains more than 99.9 % of the
        deviance, or less than 0.001 % more than the alpha before.
        """
        problem = self.compile(table.counted())
        ratio = 1e-2 if problem.reduction.n_rows < len(problem.reduction.columns) - 1 else 1e-4
        shape = alpha_grid(1.0, count, alpha_min_ratio=ratio)
        top = problem.alpha_max()
        grids = np.where(top == 0.0, problem.alphas_at_zero, top)[:, None] * shape
        fits = problem.solve(grids, self.tol, self.max_iter, stops_early=True)
        return self._merge(fits.take(fits.choose_ebic(gamma)))

    def _merge(self, fits: NodeFits) -> NodewisePath:
        path = NodewisePath.of_own_alphas(fits, self.rule, self.tol)
        warn_if_not_converged(path, float(fits.null_losses.sum()), self.max_iter)
        return path
