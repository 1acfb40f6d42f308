"""Unpenalized estimates on a given support, with standard errors that are valid for a pseudo-likelihood."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are loaded when they are needed
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import check_level, check_positive
from isinglass.arrays import FloatArray, Frozen
from isinglass.data import AnyTable, TableLike, which_vary
from isinglass.errors import (
    ConvergenceWarning,
    DataError,
    LimitError,
    SeparationError,
    plural,
    setting,
    suppress_warnings,
    warn,
)
from isinglass.machine.threads import one_blas_thread
from isinglass.network import Network
from isinglass.pairs import pair_keys, values_at
from isinglass.penalties import penalty_on
from isinglass.results import HasFittedNetwork, HasNetwork, Solution, as_solution, read_for
from isinglass.select.sandwich import Support, newton, pair_units, sandwich_errors
from isinglass.solve.path import ising_path, solve_near
from isinglass.text_tables import Columns, show_columns

MAX_PARAMETERS = 20_000
"""Fields and edges up to which the covariance is computed: a matrix of this size takes 3 GiB."""
MAX_FOR_ERRORS, MAX_WORK_FOR_ERRORS = 6_000, 3e11
"""Fields and edges, and their square times them and the rows, up to which errors are computed by default."""
WORK_FOR_BLAS_THREADS = 1e9
"""The same product from which on products of matrices use the threads of BLAS: below, they take a tenth of a second."""
NEARLY_FREE = 0.01
"""Penalty, in rows, of the estimate that standard errors belong to."""
_SHOWN_EDGES = 10  # in the repr


@dataclass(frozen=True, eq=False, repr=False)
class Refit(Frozen):
    """Unpenalized estimates on a support, with standard errors, z and p values.

    The z and p values treat the support as if it had been fixed before seeing the data. If it was selected from the
    same rows they are too optimistic: see the page on uncertainty and stability.
    """

    #: the unpenalized estimate, with its certificate; in a network with categories it is found by Newton's method and
    #: has a KKT residual, but no duality gap
    solution: Solution
    edge_index: NDArray[np.int32]  #: the support, in the order of the arrays below
    edge_values: FloatArray  #: couplings; norms where a pair has more parameters
    edge_errors: FloatArray  #: their standard errors; those of norms to first order
    #: standard errors of the fields; NaN for constant columns and for categories that do not occur
    field_errors: FloatArray
    edge_p: FloatArray  #: p-values of Wald's test that all parameters of an edge are zero

    def edge_intervals(self, level: float = 0.95) -> FloatArray:
        """Return the normal confidence interval of every coupling, shape (n_edges, 2)."""
        half = float(scipy.special.ndtri(0.5 + check_level(level) / 2)) * self.edge_errors
        return np.column_stack([self.edge_values - half, self.edge_values + half])

    def edges(self) -> Columns:
        """Return the edges as columns, the smallest p first.

        Columns are ``source``, ``target``, ``coupling``, ``std_error``, ``z`` (NaN for a pair with more than one
        parameter) and ``p``, which is given the support.
        """
        source, target = np.array(self.solution.network.names, dtype=object)[self.edge_index.T]
        columns = Columns(source=source, target=target, coupling=self.edge_values, std_error=self.edge_errors)
        has_sign = self.solution.network.variables.has_sign(self.edge_index)
        columns["z"] = np.where(has_sign, self.edge_values / self.edge_errors, np.nan)
        columns["p"] = self.edge_p
        return columns.take(np.lexsort((-np.abs(columns["z"]), self.edge_p)))

    def __repr__(self) -> str:
        edges, nodes = plural(len(self.edge_values), "edge"), plural(self.solution.network.n_nodes, "node")
        head = f"Refit({edges} among {nodes}, unpenalized)"
        return f"{head}\n{show_columns(self.edges(), 'edge', _SHOWN_EDGES)}" if len(self.edge_values) else head


def refit(
    X: TableLike, solution: HasNetwork | HasFittedNetwork, *, sample_weight: ArrayLike | None = None, tol: float = 1e-9
) -> Refit:
    """Estimate the couplings of a given support without penalty, with sandwich standard errors H⁻¹ K H⁻¹.

    The penalty shrinks every coupling it keeps; refitting removes that bias. The pseudo-likelihood is not a
    likelihood: the inverse of its Hessian alone would understate the errors, hence the sandwich.

    If the support was chosen from these rows, the standard errors do not account for that choice, and z and p values
    are too optimistic. Select on one part of the rows and refit on the other, or read them as descriptive.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        A 0/1 or categorical table, or anything that is read as one.
    solution : Solution, Fit or fitted estimator
        Only its edges are used. The table is read as that of a fit was read.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, as for `bootstrap`: the estimate is the same for counts and sampling weights; its errors differ.
    tol : float, default 1e-9
        Bound on the relative duality gap and on the KKT residual.

    Raises
    ------
    SeparationError
        If a coupling of the support has no finite estimate; the message names the pair.

    Examples
    --------
    >>> X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [40, 10, 10, 40], axis=0)
    >>> found = refit(X, ising_path(X, alphas=[0.1])[0])
    >>> found.edge_values.round(4).tolist(), found.edge_errors.round(4).tolist()  # log (4·4) and sqrt(Σ 1/n)
    ([2.7726], [0.5])
    """
    found = as_solution(solution)
    table = observed(read_for(solution, X, sample_weight), "Standard errors").counted()
    tol = check_positive("tol", tol)
    support = Support.of(table, found.network)
    if support.n_parameters > MAX_PARAMETERS:
        raise LimitError(
            f"solution must have at most {MAX_PARAMETERS} fields and edges for standard errors; got "
            f"{support.n_parameters}. Choose a larger alpha."
        )
    _refuse_constant(found, which_vary(table))
    is_edge, index = found.network.is_edge, found.edge_index.copy()
    if table.variables.is_binary:  # with every pair free or forbidden, alpha multiplies nothing
        path = ising_path(table, [1.0], penalty_weights=penalty_on(index, table.shape[1], 0.0), tol=tol)
        free = path.solutions[0].with_names(found.network.names)
    else:
        free = newton(support, nearly_free(table, found).network, table, tol)
        if not free.converged:
            warn(ConvergenceWarning(f"The refit did not reach tol={tol:g}: kkt_residual={free.kkt_residual:.1e}."))
    sandwich = sandwich_errors(support, free.network, table)
    p_values = np.asarray(scipy.special.chdtrc(sandwich.dimensions, sandwich.chi2))
    values, errors = _values_on(found, free.network)[is_edge], sandwich.pairs[is_edge]
    return Refit(free, index, values, errors, sandwich.fields, p_values[is_edge])


def _values_on(solution: Solution, free: Network) -> FloatArray:
    """Return the couplings of an estimate at the pairs of the solution whose support it has."""
    p = solution.network.n_features
    return values_at(free.pair_values, pair_keys(free.pairs, p), pair_keys(solution.network.pairs, p))


def nearly_free(
    table: AnyTable,
    solution: Solution | None,
    penalty_in_rows: float = NEARLY_FREE,
    n_threads: int | None = None,
    start: Network | None = None,
) -> Solution:
    """Return the optimum on the edges of ``solution`` with a penalty in rows, by default far below its errors.

    It is finite for every table, and needs no search for separation. The unit of scores does not matter. None: every
    pair may have an edge. ``start``: such an estimate for a similar table, from which the solver starts; otherwise it
    starts from the solution. Of a table in parts, its duality gap is not bounded.
    """
    penalty = None if solution is None else penalty_on(solution.edge_index, table.shape[1], 1.0)
    if not table.variables.is_binary:
        penalty = pair_units(table) * (1.0 if penalty is None else penalty)
    alpha = penalty_in_rows / table.total_weight
    tol = min(1e-7, alpha / 10)
    if not table.is_whole and solution is not None and penalty is not None:
        return solve_near(table, alpha, penalty, tol, n_threads, solution)
    begin = solution if start is None else Solution(start, alpha)
    with suppress_warnings(ConvergenceWarning):
        path = ising_path(table, [alpha], penalty_weights=penalty, tol=tol, n_threads=n_threads, start=begin)
    return path.solutions[0]


def observed(table: AnyTable, what: str) -> AnyTable:
    """Return the rows of positive weight if no cell of them is missing or imputed, or say what to do."""
    if table.holes is not None:
        table = table[table.weighted_rows]
    if table.holes is not None or table.drawn is not None:
        raise DataError(
            f"{what} would take imputed cells for observed ones; {setting('X')} has cells that are missing, or were. "
            f"Leave out these rows ({setting('missing', 'drop')}), use bootstrap, or estimate the edges of a network "
            "by isinglass.select.pool(isinglass.impute(X), solution), which applies Rubin's rules."
        )
    return table


def free_estimate(
    table: AnyTable, solution: Solution, n_threads: int | None = None, start: Network | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return fields and couplings of the nearly free estimate on the edges of ``solution``, and their standard errors.

    The fields come first; columns with categories have no single one, and NaN stands for it. Couplings with covariates
    come last. Nothing is refused: both are NaN where a column is constant, everywhere if the matrices would be too
    large, and where an estimate is infinite, which Newton steps without penalty tell.
    """
    support, p = Support.of(table, solution.network), solution.network.n_features
    values, errors = np.full((2, p + len(solution.network.pairs)), np.nan)
    if not has_errors(support, len(table)):
        return values, errors
    work = len(table) * float(support.n_parameters) ** 2
    with one_blas_thread if work < WORK_FOR_BLAS_THREADS else nullcontext():
        free = nearly_free(table, solution, n_threads=n_threads, start=start).network
        sandwich = sandwich_errors(support, free, table, nearly_free=True)
    edges_first = np.argsort(~solution.network.is_edge, kind="stable")
    values[p:], errors[p:] = _values_on(solution, sandwich.network)[edges_first], sandwich.pairs[edges_first]
    if table.variables.is_binary:
        values[:p], errors[:p] = sandwich.network.fields, sandwich.fields
    values[np.isnan(errors)] = np.nan  # the ridge alone keeps them finite
    return values, errors


def has_errors(support: Support, n_rows: int, n_tables: int = 1) -> bool:
    """Tell whether `free_estimate` gives errors for this number of tables, or leaves them out as they take long."""
    size = float(support.n_parameters)
    work = n_tables * (n_rows + size) * size**2  # products over the rows, and the inverse
    return size <= MAX_FOR_ERRORS and work <= MAX_WORK_FOR_ERRORS


def _refuse_constant(solution: Solution, is_varying: NDArray[np.bool_]) -> None:
    lost = ~is_varying[solution.edge_index].all(axis=1)
    if lost.any():
        s, t = (solution.network.variables.called(int(node)) for node in solution.edge_index[lost][0])
        raise SeparationError(
            f"the unpenalized optimum must be finite; one of the columns {s} and {t} is constant in X, and their "
            "coupling cannot be estimated. Remove that edge, or refit on rows in which both columns vary."
        )
