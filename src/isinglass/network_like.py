"""What a function may be given for a network: solutions, fits, estimators and matrices, and how each is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

import scipy.sparse as sp
from numpy.typing import ArrayLike

from isinglass.couplings import labels_of, read_matrix
from isinglass.data import AnyTable, TableLike
from isinglass.errors import ArgumentError, DataError
from isinglass.network import Network
from isinglass.results import Path, Solution


class HasNetwork(Protocol):
    """A solution or a fit."""

    @property
    def network(self) -> Network:
        """The network by itself."""


class HasFittedNetwork(Protocol):
    """A fitted estimator."""

    @property
    def network_(self) -> Network:
        """The network by itself."""


NetworkLike: TypeAlias = Network | HasNetwork | HasFittedNetwork | ArrayLike | sp.sparray | sp.spmatrix


def _inside(source: object, name: str) -> object:
    """Return the part of that name of an estimator, which has a fit, of a fit or of a solution."""
    for attribute in ("fit_", f"{name}_", name):
        source = getattr(source, attribute, source)
    return source


def as_network(source: NetworkLike) -> Network:
    """Return the network of a solution, a fit, an estimator or a matrix."""
    found = _inside(source, "network")
    if isinstance(found, Network):
        return found
    if isinstance(source, str | Mapping | Path) or not (hasattr(source, "__len__") or sp.issparse(source)):
        raise DataError(
            "network must be a Network, a Solution, a fitted estimator or a square matrix; got "
            f"{type(source).__name__}. Fit the estimator first, or take one point of a path."
        )
    index, values, fields = read_matrix(source, "network")
    return Network(fields, index, values, labels_of(source))


def solution_of(source: object) -> Solution | None:
    """Return a solution, or that of a fit or an estimator; None for what has none."""
    found = _inside(source, "solution")
    return found if isinstance(found, Solution) else None


def as_solution(source: object) -> Solution:
    """Return a solution, or that of a fit or an estimator."""
    found = solution_of(source)
    if found is None:
        raise ArgumentError("solution", "must be a Solution, a Fit or a fitted estimator", type(source).__name__)
    return found


def fit_of(source: object) -> Any:  # Any: a Fit, which is defined in a layer above, or None
    """Return the `Fit` that a result is, or that a fitted estimator has; None for anything else."""
    found = getattr(source, "fit_", source)
    return found if hasattr(found, "reading_again") else None


def read_for(source: NetworkLike, X: TableLike, sample_weight: ArrayLike | None = None) -> AnyTable:
    """Return a table of the columns of a network; a fit, or an estimator that has one, reads it as that of the fit."""
    return (fit_of(source) or as_network(source)).read(X, sample_weight=sample_weight)
