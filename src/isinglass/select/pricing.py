"""What an edge costs: its parameters, and its share in the number of candidate networks.

A pair of columns on a line has one parameter, a pair of nominal columns m_s · m_t with m = categories − 1. Every
parameter counts twice, because a pair is seen from both of its ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray
from isinglass.categories import CategoryNetwork
from isinglass.data import CategoryTable, column_spread, count_categories, count_rows, which_vary
from isinglass.errors import ArgumentError
from isinglass.results import Solution

AIC = 4.0
"""Price of a parameter in the AIC. Without a true edge, twice the gain in log pseudo-likelihood is twice a chi-square
with as many degrees of freedom as the pair has parameters, because it is seen from both of its ends; 2 for each."""


@dataclass(frozen=True)
class EdgePrice:
    """What the edges of a network add to the EBIC."""

    per_parameter: float
    per_edge: float
    dimensions: NDArray[np.intp] | None = None  # m of every column; None: 1 for all

    def of(self, solution: Solution) -> float:
        """Return the price of all edges of a network."""
        if self.dimensions is None:
            return (self.per_parameter + self.per_edge) * solution.network.n_edges
        n_parameters = int(self.dimensions[solution.edge_index].prod(axis=1).sum())
        return self.per_parameter * n_parameters + self.per_edge * solution.network.n_edges


def edge_price(table: Any, weight: FloatArray | None, gamma: float) -> EdgePrice:
    """Return what edges add to the EBIC: 2 log N for each parameter and 4γ log(p−1) for each pair.

    p is the number of columns that vary, N the sum of the weights.

    Examples
    --------
    >>> price = edge_price(np.array([[0, 0], [1, 1]], dtype=np.uint8), np.array([5.0, 5.0]), 0.25)
    >>> round(price.per_parameter, 6), price.per_edge
    (4.60517, 0.0)
    """
    if not (np.isfinite(gamma) and gamma >= 0):
        raise ArgumentError("gamma", "must be finite and not negative", gamma)
    n_varying = int(np.count_nonzero(which_vary(table, weight)))
    per_edge = float(4.0 * gamma * np.log(max(n_varying - 1, 1)))
    return EdgePrice(2.0 * float(np.log(count_rows(table, weight))), per_edge, _dimensions(table, weight))


def _dimensions(table: Any, weight: FloatArray | None) -> NDArray[np.intp] | None:
    """Return m of every column, by the categories that occur; None if it is 1 for all of them."""
    if not isinstance(table, CategoryTable) or all(score is not None for score in table.scores):
        return None
    counts = zip(count_categories(table, weight), table.scores, strict=True)
    return np.array([1 if score is not None else max(np.count_nonzero(seen) - 1, 1) for seen, score in counts])


@dataclass(frozen=True)
class AicPrice:
    """What the edges of a penalized network add to the AIC: 4 for each effective parameter.

    A block that the penalty shrinks uses fewer parameters than it has: 1 + (m_s m_t − 1) ‖Θ‖/‖Θ free‖, as Yuan and Lin
    (2006) derive for groups of coefficients. The free estimate is that of the block alone, ‖Θ‖ + α ω / h, where
    h = 2 (v_s/m_s) (v_t/m_t) is the mean curvature of independent columns with variances v.
    """

    dimensions: NDArray[np.intp] | None
    variances: FloatArray

    @classmethod
    def at(cls, table: Any, weight: FloatArray | None) -> AicPrice:
        """Return the price for a table."""
        dimensions = _dimensions(table, weight)
        return cls(dimensions, np.empty(0) if dimensions is None else column_spread(table, weight)[0] ** 2)

    def of(self, solution: Solution, penalties: FloatArray) -> float:
        """Return the price of all edges of a network, given α ω of each."""
        if self.dimensions is None or not isinstance(solution.network, CategoryNetwork):
            return AIC * solution.network.n_edges
        m, share = self.dimensions[solution.edge_index], np.abs(solution.edge_values)
        curvature = 2.0 * (self.variances[solution.edge_index] / m).prod(axis=1)
        share = share / (share + penalties / curvature)
        return AIC * float((1.0 + (m.prod(axis=1) - 1.0) * share).sum())
