"""Node-wise regression: one logistic lasso per column on all others, and a rule that makes a network of them.

The joint pseudo-likelihood of ``ising_path`` has one coupling per pair; here every pair is estimated twice. ``alpha``
is the penalty of one regression: half of the joint alpha for the same strength. Columns with categories have
multinomial regressions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from isinglass._core import NodePaths, Nodewise
from isinglass.arguments import check_callable, check_count, check_flag, check_positive, check_word
from isinglass.arrays import FloatArray, Mask
from isinglass.data import Table, as_table
from isinglass.data.counts import dimensions_of, sd_of
from isinglass.data.table import Kinds, Scores
from isinglass.errors import ArgumentError
from isinglass.machine.threads import thread_count
from isinglass.penalties import refuse_vanishing
from isinglass.results import Path, Solution
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
from isinglass.solve.reduction import Reduction, warn_constant
from isinglass.solve.regressions import MATRICES, RULES, Estimates, NodeFits

Number = TypeVar("Number", bound=np.generic)


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
        each = [self.nodes.estimates.take(k) for k in range(len(self))]
        shape = (self.nodes.estimates.variables.n_features,) * 2
        return tuple(sp.csr_array((some.values, (some.node, some.column)), shape=shape) for some in each)


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
        Called with each Solution, in order, once all regressions are done. If it returns False, the path ends there.

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
    settings = NodewiseSettings(rule, standardize, tol, max_iter, n_threads)
    table = as_table(X, sample_weight, kinds=kinds, scores=scores).whole().counted(quiet=True)
    problem = NodewiseProblem.of(table, settings)
    warn_constant(table.variables, problem.reduction.counts)
    top = float(np.nanmax(problem.alpha_max(), initial=0.0))
    at_zero = float(problem.alphas_at_zero.max())
    grid = alpha_grid(top, alphas, alpha_min_ratio=alpha_min_ratio, at_zero=at_zero)
    fits = problem.solve(np.tile(grid, (len(problem.units), 1)), stops_early=False)
    path = NodewisePath(collect(fits.solutions(rule, tol), callback), tol=tol, nodes=fits, rule=rule)
    warn_if_not_converged(path, float(fits.null_losses.sum()), max_iter)
    return path


def nodewise_alpha_max(X: ArrayLike, sample_weight: ArrayLike | None = None, *, standardize: bool = False) -> float:
    """Return the smallest alpha at which no regression has a coefficient: max |cov|, over sd(x_t) if standardized."""
    table = as_table(X, sample_weight).whole().counted(quiet=True)
    problem = NodewiseProblem.of(table, NodewiseSettings(standardize=standardize))
    return float(np.nanmax(problem.alpha_max(), initial=0.0))


@dataclass(frozen=True)
class NodewiseSettings:
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


def network_at(table: Table, alphas: ArrayLike, settings: NodewiseSettings) -> NodewisePath:
    """Return the network at given penalties, one per node: what `choose_per_node` chose elsewhere.

    NaN is for a column without regression: a constant one or a covariate.
    """
    problem = NodewiseProblem.of(table.counted(quiet=True), settings)
    given = np.asarray(alphas, dtype=np.float64)
    if given.shape != problem.units.shape or not (given[problem.solved] > 0).all():
        raise ArgumentError("alphas", f"must be positive, one for each of {len(problem.units)} columns", alphas)
    return _merge(problem.solve(given[:, None], stops_early=False), settings)


def choose_per_node(table: Table, count: int, gamma: float, settings: NodewiseSettings) -> NodewisePath:
    """Return the network in which each node's penalty is chosen by the extended BIC, as a path of length one.

    The criterion is that of `NodeFits.choose_ebic`. Each node has a list of its own, geometric from the smallest
    alpha without coefficients downwards; it ends early where the regression explains more than 99.9 % of the
    deviance, or less than 0.001 % more than the alpha before.
    """
    problem = NodewiseProblem.of(table.counted(), settings)
    ratio = 1e-2 if problem.reduction.n_rows < len(problem.reduction.columns) - 1 else 1e-4
    top = problem.alpha_max()
    top = np.where(top == 0.0, problem.alphas_at_zero, top)
    shape = alpha_grid(1.0, count, alpha_min_ratio=ratio)
    fits = problem.solve(top[:, None] * shape, stops_early=True)
    return _merge(fits.take(fits.choose_ebic(gamma)), settings)


def _merge(fits: NodeFits, settings: NodewiseSettings) -> NodewisePath:
    path = NodewisePath.of_own_alphas(fits, settings.rule, settings.tol)
    warn_if_not_converged(path, float(fits.null_losses.sum()), settings.max_iter)
    return path


@dataclass(frozen=True)
class NodewiseProblem:
    """The compiled regressions on the columns of a table that vary, and the way back.

    With categories, the solver's scores have a range of 1. A penalty α‖Θ_st‖ then is α/(D_s D) · D/D_t · ‖Θ‖ with D the
    largest range, and with standardized columns, α D_s sd_t ‖Θ_st‖, it is α · sd_t/D_t · ‖Θ‖.
    """

    compiled: Nodewise
    reduction: Reduction
    omega: FloatArray  # penalty weight of each column that varies
    units: FloatArray  # of all columns: what alpha is divided by
    null_losses: FloatArray  # 0 for constant columns
    settings: NodewiseSettings

    @classmethod
    def of(cls, table: Table, settings: NodewiseSettings) -> NodewiseProblem:
        """Compile the columns that vary."""
        reduction = Reduction.of(table)
        return (cls._of_two_values if reduction.variables.is_binary else cls._of_categories)(reduction, settings)

    @classmethod
    def _of_two_values(cls, reduction: Reduction, settings: NodewiseSettings) -> NodewiseProblem:
        rows, columns, n_rows = reduction.table.whole(), reduction.columns, reduction.n_rows
        codes, weight = rows.codes, rows.sample_weight
        ones = reduction.counts[1::2][columns]
        zeros = n_rows - ones if weight is None else weight @ (1 - codes)  # not a difference of rounded sums
        share, rest = ones / n_rows, zeros / n_rows
        null_losses = np.zeros(reduction.n_features)
        null_losses[columns] = -share * np.log(share) - rest * np.log(rest)
        omega = np.sqrt(share * rest) if settings.standardize else np.ones(len(columns))
        compiled = Nodewise(codes, weight, thread_count(settings.n_threads))
        return cls(compiled, reduction, omega, np.ones(len(null_losses)), null_losses, settings)

    @classmethod
    def _of_categories(cls, reduction: Reduction, settings: NodewiseSettings) -> NodewiseProblem:
        rows, columns, variables = reduction.table.whole(), reduction.columns, reduction.variables
        cells, steps = reduction.units.cells(rows.codes)
        logs = np.log(np.where(reduction.counts > 0, reduction.units.shares, 1.0))
        null_losses = -np.add.reduceat(reduction.units.shares * logs, variables.starts)
        null_losses[~variables.is_modeled] = 0.0
        ranges = variables.ranges[columns]
        widest = ranges.max(initial=0.0)  # iterations do not depend on the units of scores
        omega = sd_of(reduction.counts, variables)[columns] / ranges if settings.standardize else widest / ranges
        omega[~variables.is_modeled[columns]] = 0.0
        units = np.ones(reduction.n_features) if settings.standardize else variables.ranges * widest
        n_threads = thread_count(settings.n_threads)
        compiled = Nodewise(cells, rows.sample_weight, n_threads, steps, ranges, reduction.modeled)
        return cls(compiled, reduction, omega, units, null_losses, settings)

    @property
    def solved(self) -> NDArray[np.intp]:
        """Where the columns with a regression are in the table: they vary and are no covariates."""
        return self.reduction.columns[self.reduction.variables.is_modeled[self.reduction.columns]]

    @property
    def alphas_at_zero(self) -> FloatArray:
        """The alpha of one row, for nodes whose alpha_max is 0."""
        return self.units * self.reduction.alpha_of_one_row

    def alpha_max(self) -> FloatArray:
        """Return every column's smallest alpha without penalized coefficients; 0 for a covariate, NaN if constant."""
        found = np.full(self.reduction.n_features, np.nan)
        found[self.reduction.columns] = self.compiled.alpha_max(self.omega, TOLERANCE, MAX_STEPS)
        return found * self.units

    def solve(self, alphas: FloatArray, *, stops_early: bool) -> NodeFits:
        """Run the regressions, one row of alphas per column of the whole table."""
        nodes = np.searchsorted(self.reduction.columns, self.solved).astype(np.int32)
        grids = alphas[self.solved] / self.units[self.solved, None]
        lowest = float(np.nanmin(grids, initial=np.inf))
        if lowest == 0.0:
            raise refuse_free()
        refuse_vanishing(lowest, self.omega)
        bounds = self.settings.tol, self.settings.max_iter, strictness_among(len(nodes))
        paths = self.compiled.solve(nodes, grids, self.omega, *bounds, stops_early)
        return self._fits(paths, alphas)

    def _fits(self, paths: NodePaths, alphas: FloatArray) -> NodeFits:
        """Put the regressions of the varying columns back into the whole table."""
        known = {name: self._spread(getattr(paths, name), value) for name, value in MATRICES.items()}
        variables = self.reduction.variables
        node, alpha = np.divmod(np.repeat(np.arange(paths.counts.size), paths.counts.ravel()), alphas.shape[1])
        column = self.reduction.columns[paths.columns].astype(np.int32)
        estimates = Estimates(
            variables=variables, alpha=alpha, node=self.solved[node], column=column, parameters=paths.values
        )
        if variables.is_binary:
            fields = self._spread(paths.fields, np.nan)
            fields = np.where(np.isnan(fields).all(axis=0), self.reduction.constant_fields, fields)
        else:
            parameters = self.reduction.units.network_blocks(estimates.pairs, paths.values)
            estimates = replace(estimates, parameters=parameters)
            fields = self._category_fields(paths, np.isfinite(known["losses"]), estimates)
        return NodeFits(
            alphas=alphas.T,
            fields=fields,
            estimates=estimates,
            null_losses=self.null_losses,
            n_rows=self.reduction.n_rows,
            dimensions=dimensions_of(self.reduction.counts, variables),
            **known,
        )

    def _spread(self, matrix: NDArray[Number], missing: float) -> NDArray[Number]:
        """Return a matrix of the varying columns with one row per alpha and one column per column of the table."""
        whole: NDArray[Number] = np.full((matrix.shape[1], self.reduction.n_features), missing, dtype=matrix.dtype)
        whole[:, self.solved] = matrix.T
        return whole

    def _category_fields(self, paths: NodePaths, is_solved: Mask, estimates: Estimates) -> FloatArray:
        """Return the fields, one row per alpha; the solver's come node after node, and a list may end early."""
        variables, units = self.reduction.variables, self.reduction.units
        owner = variables.column[units.solved]  # of the fields of the solver
        solved = np.where(variables.is_modeled[owner], np.full((len(is_solved), 1), np.nan), 0.0)
        first = 0
        for s in self.solved.tolist():
            places = np.ix_(is_solved[:, s], owner == s)
            last = first + solved[places].size
            solved[places] = paths.category_fields[first:last].reshape(solved[places].shape)
            first = last
        return np.array(
            [units.network_fields(row, estimates.take(k).coordinate_matrix()) for k, row in enumerate(solved)]
        )
