"""Estimates without penalty on a given support, and their standard errors, for tables with categories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # its parts are loaded when they are needed
from numpy.typing import NDArray

from isinglass.arrays import FloatArray
from isinglass.categories import CategoryNetwork
from isinglass.data import CategoryTable, count_rows
from isinglass.errors import DataError, SeparationError
from isinglass.results import Solution
from isinglass.select.information import Sums, Support

LEAST_INFORMATION = 0.05
"""Information on a coupling, in rows, below which its estimate counts as infinite..."""
RIDGE = 1e-3 * LEAST_INFORMATION
"""...and what is added where nothing is left, in floating point."""
_STEPS = 50
_HALVINGS = 30


@dataclass(frozen=True, eq=False)
class BlockErrors:
    """Standard errors of edges and fields, and Wald's test that all parameters of an edge are zero."""

    edges: FloatArray  # of the coupling, or of the norm of Θ to first order; NaN where the estimate is infinite
    fields: FloatArray  # of all categories, one column after the other; NaN where there is no parameter
    chi2: FloatArray  # Wald's statistic of every edge
    dimensions: NDArray[np.intp]  # its degrees of freedom: the parameters of the edge


def network_of(solution: Solution) -> CategoryNetwork:
    """Return the network of a solution, which must have categories."""
    if not isinstance(solution.network, CategoryNetwork):
        raise DataError("solution must be a network with categories for this table; got one of columns of 0 and 1.")
    return solution.network


def block_errors(support: Support, values: FloatArray, sums: Sums, *, ridge: float = 0.0) -> BlockErrors:
    """Return the sandwich standard errors at some parameters; a ridge where there may be no information left."""
    inverse = scipy.linalg.inv(sums.hessian + ridge * np.eye(len(sums.hessian)))
    covariance = inverse @ sums.outer @ inverse
    known = 1.0 / np.diag(inverse) >= LEAST_INFORMATION
    variances = np.where(known, np.diag(covariance), np.nan)
    n_edges = len(support.first) - 1
    edges, chi2 = np.full((2, n_edges), np.nan)
    for edge in range(n_edges):
        places = np.arange(support.first[edge], support.first[edge + 1])
        theta, spread = values[places], covariance[np.ix_(places, places)]
        norm = float(np.linalg.norm(theta))
        if not known[places].all() or norm == 0.0:
            continue
        edges[edge] = np.sqrt(max(float(theta @ spread @ theta), 0.0)) / norm
        chi2[edge] = float(theta @ np.linalg.lstsq(spread, theta, rcond=None)[0])
    fields = [np.where(place >= 0, np.sqrt(variances)[place], np.nan) for place in support.fields]
    return BlockErrors(edges, np.concatenate(fields), chi2, np.diff(support.first))


def newton(
    support: Support, values: FloatArray, table: CategoryTable, weight: FloatArray | None, tol: float
) -> tuple[FloatArray, Solution]:
    """Return the optimum without penalty on a support, by Newton's method from a start that is close.

    Its KKT residual is that of the fields and entries of the support; it has no duality gap.
    """
    n_rows, sums = count_rows(table, weight), support.sums(values, table, weight)
    residual = np.inf
    for _ in range(_STEPS):
        residual = float(np.abs(sums.gradient).max(initial=0.0)) / n_rows
        _refuse_separation(support, sums)
        if residual <= tol:
            break
        step = scipy.linalg.solve(sums.hessian, sums.gradient, assume_a="pos")
        length = 1.0
        for _ in range(_HALVINGS):
            ahead = support.sums(values - length * step, table, weight)
            if ahead.loss <= sums.loss + 1e-12 * abs(sums.loss):
                break
            length /= 2.0
        values, sums = values - length * step, ahead
    return values, Solution(
        support.build(values), 1.0, objective=sums.loss / n_rows, kkt_residual=residual, converged=residual <= tol
    )


def _refuse_separation(support: Support, sums: Sums) -> None:
    """Raise if there is next to no information left on an entry of the support."""
    left = 1.0 / np.diag(scipy.linalg.inv(sums.hessian + RIDGE * np.eye(len(sums.hessian))))[support.first[0] :]
    if not len(left) or left.min() >= LEAST_INFORMATION:
        return
    place = int(support.first[0] + left.argmin())
    edge = int(np.searchsorted(support.first, place, side="right")) - 1
    s, t = (support.network.names[node] for node in support.network.edge_index[edge])
    raise SeparationError(
        f"the unpenalized optimum must be finite; columns {s!r} and {t!r} separate the table, and their coupling "
        "grows without bound. Merge rare categories, or keep a penalty: a path with alpha > 0."
    )
