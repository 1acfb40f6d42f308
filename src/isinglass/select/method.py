"""A method: how pairs are estimated, what chooses the penalty, and the one way from a table to a `Fit`.

Constant columns are named, missing cells imputed, weights applied and standard errors added here, for every caller.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Protocol, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arguments import check_flag, check_share, is_real
from isinglass.data import AnyTable, Table, TableLike, as_table
from isinglass.data.parts.parted_table import is_read
from isinglass.errors import ArgumentError, ConstantColumnWarning, DataWarning, listed, setting, suppress_warnings, warn
from isinglass.machine.threads import one_blas_thread
from isinglass.network import Network
from isinglass.records import Missing, Refits
from isinglass.results import Solution, fit_of
from isinglass.select.error_rates import edge_q, edge_tests
from isinglass.select.imputation import Imputation, ImputationSettings, complete_table
from isinglass.select.path_selectors import EBIC, CrossValidation, StARS
from isinglass.select.pooling import Pooled, can_pool, pool
from isinglass.select.refit import free_estimate, observed
from isinglass.select.row_labels import group_numbers, take_column
from isinglass.select.selector import Choice, Fixed, PerNode, Selector
from isinglass.select.settings import Run
from isinglass.select.task import COLD_START, PathSettings, Task, WarmStart
from isinglass.select.two_stage import TwoStage
from isinglass.solve.reduction import name_constant

if TYPE_CHECKING:
    from isinglass.fit import Fit

# Log odds of two neighboring categories from one end of a covariate to the other, from which it is said to determine
# the variable. Between the ends of the variable, two normal columns with a correlation of 0.5 already exceed this.
DETERMINED = 12.0
SELECTORS: dict[str, type[Selector]]
SELECTORS = {cls.name: cls for cls in (TwoStage, EBIC, CrossValidation, StARS, Fixed, PerNode)}
"""By the names that files and the command line use."""


@dataclass(frozen=True, eq=False, repr=False)
class Method(PathSettings):
    """How a network is estimated from a table: an estimator of the pairs and a selector of the penalty, as settings.

    Parameters
    ----------
    selector : Selector, default TwoStage()
        The selector, which chooses the penalty.
    standard_errors : bool, default True
        Whether two-stage networks get standard errors of their couplings, and those of imputed tables shares of
        missing information. With n_imputations=1 these are not known: the errors are then NaN.
    fdr : float, optional
        Also test every pair given all others, and report which edges are found at this false discovery rate.
    imputation : ImputationSettings, default ImputationSettings()
        How missing cells are drawn.

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

    selector: Selector = field(default=TwoStage())
    _: KW_ONLY
    standard_errors: bool = True
    fdr: float | None = None
    imputation: ImputationSettings = field(default=ImputationSettings())

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag("standard_errors", self.standard_errors)
        if self.fdr is not None:
            check_share("fdr", self.fdr)
        for name, kind in (("selector", Selector), ("imputation", ImputationSettings)):
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise ArgumentError(name, f"must be an instance of {kind.__name__}", value)

    def choose(
        self,
        X: TableLike,
        *,
        groups: ArrayLike | str | None = None,
        run: Run = Run(),
        warm_start: WarmStart = COLD_START,
    ) -> Choice:
        """Return the network of a table, and what it was chosen from; row weights are those of the table.

        Rows with equal entries in ``groups``, or in the column of X that it names, stay in one fold. ``warm_start``
        is that of the choice for a similar table: at a given penalty, the solver starts from its couplings. What is
        chosen does not depend on it.
        """
        X, groups = take_column(X, groups, "groups")
        return self._choose(as_table(X), groups, run, warm_start)[0]

    def fit(self, X: TableLike, *, sample_weight: ArrayLike | None = None, run: Run = Run()) -> Fit:
        """Return the network of a table with its certificate, standard errors, and all that files and pages hold."""
        from isinglass.fit import Fit

        table, q_values = as_table(X, sample_weight), None
        if self.fdr is not None:
            observed(table, f"Tests ({setting('fdr')})")
        choice, completed, imputation = self._choose(table, None, run)
        missing = Missing.of(table) if imputation is None else imputation.record
        with suppress_warnings(ConstantColumnWarning):
            pooled = None
            if imputation is not None and self.standard_errors and can_pool(imputation, choice.solution):
                if run.max_time is None:
                    pooled = pool(imputation, choice.solution, n_threads=run.n_threads)
                    missing = missing and pooled.note(missing)
                else:  # they take as long as the rest
                    choice = replace(choice, left_out=(*choice.left_out, "standard errors"))
            refits = self._refit(completed, choice.solution, pooled, run) if self.selector.has_stages else None
        _warn_determined(choice.solution.network)
        if self.fdr is not None:
            q_values = edge_q(edge_tests(completed, n_threads=run.n_threads), choice.solution.network)
        fit = Fit.of(self, choice, completed)
        return replace(fit, missing=missing, imputation=imputation, refits=refits, edge_q=q_values)

    def _refit(self, table: AnyTable, solution: Solution, pooled: Pooled | None, run: Run) -> Refits:
        """Return estimates without penalty, with standard errors if they are asked for and known."""
        first, last = solution.network.n_features, solution.network.n_features + solution.n_edges
        values, errors = np.full((2, first + len(solution.network.pairs)), np.nan)
        if pooled is not None:
            values, errors = pooled.values, pooled.errors
        elif self.standard_errors and len(solution.network.pairs):
            values, known = free_estimate(table, solution, run.n_threads)
            errors = known if table.drawn is None else errors  # not such as take imputed cells for observed ones
        return Refits(
            edges=values[first:last],
            edge_errors=errors[first:last],
            covariates=values[last:],
            covariate_errors=errors[last:],
        )

    @one_blas_thread
    def _choose(
        self, table: AnyTable, groups: ArrayLike | None, run: Run, warm_start: WarmStart = COLD_START
    ) -> tuple[Choice, AnyTable, Imputation | None]:
        """Return the choice, the completed table that it was made for, and how that was completed."""
        if run.max_time is not None and not self.selector.keeps_time:
            raise ArgumentError("max_time", "must be left out unless two stages choose the penalty", run.max_time)
        if not self.selector.keeps_tasks:
            run.refuse_checkpoint()
        self.selector.check(table)
        deadline = run.deadline()
        labels = group_numbers(groups, table)
        half = run if run.max_time is None else run.replace(max_time=run.max_time / 2)  # the rest is for the choice
        table, labels, imputation = complete_table(table, labels, self.imputation, half, quiet=self.selector.is_given)
        name_constant(table)
        choice = self.selector.choose(Task(table, self.paths, labels, run, warm_start, deadline))
        if imputation and imputation.record and imputation.record.is_cut:
            choice = replace(choice, left_out=("rounds of imputation", *choice.left_out))
        return choice, table, imputation

    def at(self, found: Choice, scale: float = 1.0) -> Self:
        """Return the method at the penalty of a network that it chose, times ``scale``; a given penalty stays."""
        return self if self.selector.is_given else self.replace(selector=found.fixed(scale))

    @property
    def paths(self) -> PathSettings:
        """How pairs are estimated, without what chooses the penalty."""
        return PathSettings(**{each.name: getattr(self, each.name) for each in fields(PathSettings)})


class HasMethod(Protocol):
    """An estimator, fitted or not, or a fit."""

    @property
    def method(self) -> Method:
        """How its network is estimated."""


MethodLike = Method | Selector | HasMethod | float | None
"""What stands for a method where one is asked for."""


def as_method(given: MethodLike) -> Method:
    """Return the method that a number, a selector, an estimator (fitted or not) or a fit stands for."""
    if is_real(given) and math.isfinite(given) and given >= 0:
        given = Fixed(float(given))
    if given is None or isinstance(given, Selector):
        return Method() if given is None else Method(selector=given)
    method = given if isinstance(given, Method) else getattr(given, "method", None)  # of an estimator or a Fit
    if isinstance(method, Method):
        return method
    must = "must be a Method, a selector, an estimator, or a penalty that is not negative"
    raise ArgumentError("method", must, given, "Make a selector of a function of your own.")


def table_for(method: MethodLike, X: TableLike, sample_weight: ArrayLike | None) -> Table:
    """Return a table with its weights: read as that of a fit or fitted estimator, by an estimator, or by `as_table`.

    One that has been read keeps its values.
    """
    fit = None if is_read(X) else fit_of(method)
    read = getattr(method, "as_table", as_table) if fit is None else fit.read
    return cast(Table, read(X, sample_weight=sample_weight).whole().counted())


def _warn_determined(network: Network) -> None:
    """Name covariates that almost determine variables, one warning each: only the ridge keeps such couplings finite."""
    if not network.variables.has_covariates:
        return
    variables, index = network.variables, network.covariate_pairs
    is_first = np.array(variables.covariate)[index[:, 0]]
    covariates, others_of = np.where(is_first, index.T, index.T[::-1])
    steps = np.where(variables.has_scores, variables.ranges / (variables.sizes - 1), 1.0)
    reach = np.abs(network.covariate_values) * variables.ranges[covariates] * steps[others_of]
    for given in np.unique(covariates[reach > DETERMINED]).tolist():
        others = others_of[(covariates == given) & (reach > DETERMINED)].tolist()
        shown = "column " + listed([variables.called(other) for other in others])
        message = (
            f"The covariate {variables.called(given)} almost determines {shown} or a category there: only a ridge of "
            "1e-9 keeps the coupling finite. Leave one of them out, merge rare categories, or compute the covariate "
            "from other columns."
        )
        warn(DataWarning(message))
