"""Methods in whatever form they are given, functions included."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arguments import is_real
from isinglass.arrays import AnyArray
from isinglass.data import Table, TableLike, as_table
from isinglass.data.parts.parted_table import is_read
from isinglass.errors import (
    ArgumentError,
    DataError,
)
from isinglass.network import Network, fit_of
from isinglass.results import Path, Solution, solution_of
from isinglass.select.folds import repeated
from isinglass.select.imputation import ImputationSettings
from isinglass.select.method import Method
from isinglass.select.selector import Choice, Fixed, Selector
from isinglass.select.settings import Run, Settings, settings
from isinglass.select.task import WarmStart


@settings
class Wrapped(Settings):
    """A function of a table as a method. It is known by its name.

    It is called with a table without weights, whose rows are repeated as often as a resample has drawn them and whose
    missing cells are imputed once, and returns a Solution, a Network, or a record that has one.
    """

    function: Callable[[Any], Any]  # Any: of a table, or what stands for one; a record that has a network

    def choose(
        self, X: TableLike, *, groups: AnyArray | None = None, run: Run = Run(), warm_start: WarmStart | None = None
    ) -> Choice:
        """Return the network that the function finds in a table."""
        table = as_table(X).whole().counted()
        rows, origin = repeated(table.bare(table.units))
        if rows.holes is not None:
            labels = None if groups is None else groups[origin]
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
        if solution.network.n_features != table.shape[1]:
            nodes = f"{solution.network.n_features} nodes"
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


def table_for(method: MethodLike, X: TableLike, sample_weight: ArrayLike | None) -> Table:
    """Return a table with its weights: read as that of a fit or fitted estimator, by an estimator, or by `as_table`.

    One that has been read keeps its values.
    """
    fit = None if is_read(X) else fit_of(method)
    read = getattr(method, "as_table", as_table) if fit is None else fit.read
    return cast(Table, read(X, sample_weight=sample_weight).whole().counted())
