"""A method: how pairs are estimated, what chooses the penalty, and the one way from a table to a `Fit`.

Constant columns are named, missing cells imputed, weights applied and standard errors added here, for every caller.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arguments import RandomSource, check_count, is_real
from isinglass.arrays import AnyArray, FloatArray
from isinglass.data import AnyTable, Table, TableLike, as_table
from isinglass.errors import (
    ArgumentError,
    ConstantColumnWarning,
    ConvergenceWarning,
    DataError,
    DataWarning,
    GridEndWarning,
    setting,
    suppress_warnings,
    warn,
)
from isinglass.machine.threads import one_blas_thread
from isinglass.missing_record import Missing
from isinglass.network import Network
from isinglass.results import Path, Solution, solution_of
from isinglass.select.cross_validation import CrossValidation
from isinglass.select.ebic import EBIC
from isinglass.select.error_rates import check_rate, edge_tests
from isinglass.select.folds import labels_of, one_by_one, repeated
from isinglass.select.imputation import Imputation, complete
from isinglass.select.pooling import pool
from isinglass.select.refit import has_errors, refit_edges
from isinglass.select.selector import Choice, Fixed, PerNode, Selector
from isinglass.select.settings import Run, Settings, option, settings
from isinglass.select.stars import StARS
from isinglass.select.task import PathSettings, Task, WarmStart
from isinglass.select.two_stage import TwoStage
from isinglass.selection_records import Refits
from isinglass.solve.columns import name_constant, warn_determined

if TYPE_CHECKING:
    from isinglass.fit import Fit

SELECTORS: dict[str, type[Selector]]
SELECTORS = {cls.name: cls for cls in (TwoStage, EBIC, CrossValidation, StARS, Fixed, PerNode)}
"""By the names that files and the command line use."""
COUNTED = (ConstantColumnWarning, ConvergenceWarning, DataWarning, GridEndWarning)
"""Warnings that are counted, or were given for the whole table, where many tables are fitted."""


@settings
class ImputationSettings(Settings):
    """How missing cells are drawn before a network is chosen."""

    n_imputations: int = option(default=10, help="How often each row with missing cells is completed.")
    n_sweeps: int = option(
        default=5, help="Sweeps over the missing cells from one round to the next; twice as many at the end."
    )
    max_rounds: int = option(default=50, help="Largest number of rounds.")
    model: Method | None = option(
        default=None,
        help="Method that estimates the networks from which cells are drawn; by default the two-stage estimate "
        "without its check by prediction. Only its choice of edges is used: their couplings are estimated again, "
        "almost without penalty.",
    )
    random_state: RandomSource = option(default=0, help="Seed.", droppable=True)

    def __post_init__(self) -> None:
        for name in ("n_imputations", "n_sweeps", "max_rounds"):
            check_count(name, getattr(self, name))

    def complete(self, table: Table, groups: AnyArray | None = None, run: Run = Run()) -> Imputation:
        """Return a completed table, and how it was completed."""
        with suppress_warnings(ConstantColumnWarning):
            return complete(table, self, self.used_model, groups, run)

    @property
    def used_model(self) -> Method:
        """The method that estimates the networks from which cells are drawn."""
        return Method(selector=TwoStage(keep=0.0)) if self.model is None else self.model


@settings
class Method(PathSettings):
    """How a network is estimated from a table: an estimator of the pairs and a selector of the penalty, as settings.

    Examples
    --------
    >>> from isinglass import EBIC, Method
    >>> Method(selector=EBIC(gamma=0.5), tol=1e-9)
    Method(tol=1e-09, selector=EBIC(gamma=0.5))
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 500))
    >>> fit = Method().fit(np.column_stack([a, b, a ^ (rng.random(500) < 0.2)]))
    >>> fit.network.edge_index.tolist(), fit.method == Method()
    ([[0, 2]], True)
    """

    selector: Selector = option(default=TwoStage(), help="The selector, which chooses the penalty.")
    standard_errors: bool = option(
        default=True,
        help="Whether two-stage networks get standard errors of their couplings, and those of imputed tables shares of "
        "missing information. With n_imputations=1 these are not known: the errors are then NaN.",
        kw_only=True,
    )
    fdr: float | None = option(
        default=None,
        help="Also test every pair given all others, and report which edges are found at this false discovery rate.",
        kw_only=True,
    )
    imputation: ImputationSettings = option(
        default=ImputationSettings(), help="How missing cells are drawn.", kw_only=True
    )

    def __post_init__(self) -> None:
        PathSettings.__post_init__(self)
        if self.fdr is not None:
            check_rate(self.fdr)
        if not isinstance(self.selector, Selector):
            names = ", ".join(made.__name__ for made in SELECTORS.values())
            raise ArgumentError("selector", f"must be an instance of {names}", self.selector)

    def choose(
        self, X: TableLike, *, groups: ArrayLike | None = None, run: Run = Run(), warm_start: WarmStart | None = None
    ) -> Choice:
        """Return the network of a table, and what it was chosen from; row weights are those of the table.

        Rows with equal entries in ``groups`` stay in one fold. ``warm_start`` is that of the choice for a similar
        table: at a given penalty, the solver starts from its couplings. What is chosen does not depend on it.
        """
        return self._choose(as_table(X), groups, run, warm_start)[0]

    def fit(self, X: TableLike, *, sample_weight: ArrayLike | None = None, run: Run = Run()) -> Fit:
        """Return the network of a table with its certificate, standard errors, and all that files and pages hold."""
        from isinglass.fit import Fit

        table = as_table(X, sample_weight)
        if self.fdr is not None and table.holes is not None:
            raise DataError(
                f"{setting('fdr')} needs a table without missing cells: tests of completed tables would be too "
                f"certain. Use {setting('missing', 'drop')}, or inclusion frequencies (bootstrap)."
            )
        choice, completed, imputation = self._choose(table, None, run)
        missing, refits = Missing.of(table), None
        with suppress_warnings(ConstantColumnWarning):
            unknown = np.full(len(choice.solution.network.pairs), np.nan)
            if imputation is not None:
                missing = imputation.record
                if self.standard_errors:
                    missing, refits = _pooled(imputation, choice.solution, run)
            if not self.selector.keeps_errors:
                refits = None
            elif not self.standard_errors:
                refits = unknown, unknown
            elif refits is None:
                refits = refit_edges(completed, choice.solution)
                if imputation is not None:  # errors that take imputed cells for observed ones are too small
                    refits = refits[0], unknown
        warn_determined(choice.solution.network)
        found: dict[str, Any] = {"missing": missing, "imputation": imputation}  # Any: fields of a fit
        if refits is not None:
            (edges, others), (edge_errors, other_errors) = (
                np.split(estimates, [choice.solution.n_edges]) for estimates in refits
            )
            found["refits"] = Refits(
                edges=edges, edge_errors=edge_errors, covariates=others, covariate_errors=other_errors
            )
        if self.fdr is not None:
            found["edge_q"] = edge_tests(completed).q_of(choice.solution.edge_index)
        return replace(Fit.of(self, choice, completed), **found)

    @one_blas_thread
    def _choose(
        self, table: AnyTable, groups: ArrayLike | None, run: Run, warm_start: WarmStart | None = None
    ) -> tuple[Choice, AnyTable, Imputation | None]:
        """Return the choice, the completed table that it was made for, and how that was completed."""
        deadline = math.inf
        if run.max_time is not None:
            deadline = time.monotonic() + run.max_time
            if not self.selector.keeps_time:
                raise ArgumentError("max_time", "must be None unless two stages choose the penalty", run.max_time)
        labels = None if groups is None else labels_of(groups, len(table))
        table, imputation = table.counted(quiet=not self.selector.counts_rows), None
        if table.holes is not None:
            table, rows = one_by_one(table)
            labels = None if labels is None else labels[rows]
            half = run if run.max_time is None else run.replace(max_time=run.max_time / 2)  # the rest is for the choice
            imputation = self.imputation.complete(table if labels is None else table.bare(), labels, half)
            table = imputation.table
            if labels is not None and table.rows is not None:  # None: the holes were in rows without a weight
                labels = labels[table.rows]
        name_constant(table)
        choice = self.selector.choose(Task(table, self.paths, labels, run, warm_start, deadline))
        if imputation is not None and imputation.is_cut:
            left_out = " and ".join(filter(None, ["rounds of imputation", choice.left_out]))
            choice = replace(choice, left_out=left_out)
        return choice, table, imputation

    def at(self, found: Choice, scale: float = 1.0) -> Self:
        """Return the method at the penalty of a network that it chose, times ``scale``; a given penalty stays."""
        return self if self.selector.is_given else self.replace(selector=found.fixed(scale))

    @property
    def paths(self) -> PathSettings:
        """How pairs are estimated, without what chooses the penalty."""
        names = [field.name for field in dataclasses.fields(PathSettings)]
        return PathSettings(**{name: getattr(self, name) for name in names})

    @property
    def words(self) -> str:
        """What chooses the penalty, in words."""
        return self.selector.words


@one_blas_thread
def _pooled(
    imputation: Imputation, solution: Solution, run: Run
) -> tuple[Missing | None, tuple[FloatArray, FloatArray] | None]:
    """Return how a table was completed, and estimates and errors by Rubin's rules, which know of the holes."""
    missing = imputation.record
    if missing is None or solution.n_edges == 0 or imputation.n_imputations < 2:
        return missing, None
    if not has_errors(imputation.completed(0), solution):
        return missing, None
    pooled = pool(imputation, solution, n_threads=run.n_threads)
    completed = replace(
        missing,
        column_information=pooled.column_information,
        edge_information=pooled.edge_information,
        edge_noise=pooled.edge_noise,
    )
    p = pooled.n_features
    return completed, (pooled.values[p:], pooled.errors[p:])


@settings
class Wrapped(Settings):
    """A function of a table as a method. It is known by its name.

    It is called with a table without weights, whose rows are repeated as often as a resample has drawn them and whose
    missing cells are imputed once, and returns a Solution, a Network, or a record that has one.
    """

    function: Callable[[Any], Any]  # Any: of a table, or what stands for one; a record that has a network

    def choose(
        self, X: TableLike, *, groups: ArrayLike | None = None, run: Run = Run(), warm_start: WarmStart | None = None
    ) -> Choice:
        """Return the network that the function finds in a table."""
        table = as_table(X).whole().counted()
        rows, origin = repeated(table.bare(table.units))
        if rows.holes is not None:
            labels = None if groups is None else labels_of(groups, len(table))[origin]
            rows = ImputationSettings(n_imputations=1).complete(rows.bare(), labels, run).completed(0).bare()
        result = self.function(rows)
        network, solution = getattr(result, "network_", result), solution_of(result)
        if solution is None and isinstance(network, Network):
            solution = Solution(network, math.nan)
        if solution is None:
            raise DataError(
                f"the function must return a Solution, or a record that has one; got {type(result).__name__}. Take one "
                "point of a path, such as lambda X: ising_path(X, [0.05])[0]."
            )
        if solution.n_features != table.shape[1]:
            nodes = f"{solution.n_features} nodes"
            raise DataError(f"the function must return a network of all {table.shape[1]} columns; got {nodes}.")
        return Choice(Path((solution,)))

    def at(self, found: Choice, scale: float = 1.0) -> Self:
        """Refuse: the penalty of a function is not known."""
        raise DataError(
            "the penalty of a function is not known and cannot be kept. Pass a Method, an estimator or the penalty as "
            "a number; bootstrap and compare_groups can choose it again (reselect=True)."
        )


class HasMethod(Protocol):
    """An estimator, fitted or not, or a fit."""

    @property
    def method(self) -> Method:
        """How its network is estimated."""


AnyMethod = Method | Wrapped
MethodLike = AnyMethod | Selector | HasMethod | float | Callable[[Any], object] | None
"""What stands for a method where one is asked for."""


def as_method(given: MethodLike) -> AnyMethod:
    """Return the method that a number, a selector, an estimator (fitted or not), a fit or a function stands for."""
    if given is None:
        return Method()
    if isinstance(given, Method | Wrapped):
        return given
    if isinstance(given, Selector):
        return Method(selector=given)
    if isinstance(given, int | float | np.number) and is_real(given) and math.isfinite(given) and given >= 0:
        return Method(selector=Fixed(float(given)))
    method = getattr(given, "method", None)  # of an estimator or a Fit
    if isinstance(method, Method):
        return method
    if callable(given) and not isinstance(given, type):
        return Wrapped(given)
    raise ArgumentError(
        "method",
        "must be a Method, a selector, an estimator, a function of a table, or a penalty that is not negative",
        given,
    )


def read_for(method: MethodLike, X: TableLike, sample_weight: ArrayLike | None) -> Table:
    """Return a table with its weights as an estimator reads it, if ``method`` is one, else as `as_table` does."""
    read = getattr(method, "as_table", as_table)
    return cast(Table, read(X, sample_weight).whole().counted())


def failed(solution: Solution) -> bool:
    """Tell whether a certificate did not reach its tolerance; a network without one has not failed."""
    return not solution.converged and not math.isnan(solution.kkt_residual)


def warn_of_failed(n_failed: int, count: int, what: str) -> None:
    """Warn if some of many fits did not reach their tolerance."""
    if n_failed:
        lost = f"{n_failed} of {count} {what} did not reach the tolerance"
        warn(ConvergenceWarning(f"{lost}. Raise {setting('max_iter')} or {setting('tol')}."))


def impute(
    X: TableLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    run: Run = Run(),
    n_imputations: int = 10,
    model: MethodLike = None,
    n_sweeps: int = 5,
    max_rounds: int = 50,
    random_state: RandomSource = 0,
) -> Imputation:
    """Draw the missing cells of a table from the network that the table itself supports.

    Cells are drawn given the observed cells of their row, by Gibbs sampling, from a network that is estimated from the
    completed table in turn: stochastic EM. This is valid if cells are missing at random: given the observed cells,
    whether a cell is missing does not depend on its own value. Pass the completed table to the function that estimates
    the network.

    Parameters
    ----------
    X : array, data frame, list of rows or table, shape (n_samples, n_features)
        A 0/1 or categorical table with missing cells (NaN, None, masked).
    sample_weight : array-like of shape (n_samples,), optional
        Row weights; by default those of the table. The equal rows of a count are imputed one by one, and are rows of
        their own in the result.
    groups : array-like of shape (n_samples,), optional
        Rows with equal entries stay in one fold of the model, if that has folds.
    run : Run, optional
        How it is run.
    n_imputations, model, n_sweeps, max_rounds, random_state
        As for `ImputationSettings`.

    Examples
    --------
    >>> from isinglass import Method, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(5, strength=2.0, fields="balanced"), 400, random_state=0)
    >>> holes = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    >>> found = impute(holes, n_imputations=5)
    >>> found.converged, found.n_imputations, round(found.table.sample_weight.sum())
    (True, 5, 400)
    >>> Method().choose(found.table).solution.edge_index.tolist()
    [[0, 1], [1, 2], [2, 3], [3, 4]]
    """
    table = as_table(X, sample_weight, missing="impute").whole().counted()
    labels = None if groups is None else labels_of(groups, len(table))
    if table.holes is not None:
        table, rows = one_by_one(table)
        labels = None if labels is None else labels[rows]
    estimate = None if model is None else as_method(model)
    how = ImputationSettings(n_imputations, n_sweeps, max_rounds, estimate, random_state)  # type: ignore[arg-type]
    return how.complete(table, labels, run)
