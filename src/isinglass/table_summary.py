"""What a fit keeps of its table: numbers of rows, shares of categories, and the counts behind the edges."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from isinglass.arguments import require
from isinglass.arrays import AnyArray, FloatArray, Frozen
from isinglass.data import AnyTable, category_counts, pair_counts
from isinglass.data.weights import per_unit
from isinglass.evaluate.numbers import conditional_variances
from isinglass.network import Network


@dataclass(frozen=True, eq=False, kw_only=True)
class TableSummary(Frozen):
    """Sums over the rows of a table, for the columns and edges of a network."""

    n_rows: float  #: number of rows of criteria: the sum of counts, or the effective one with sampling weights
    #: number of observations, such as respondents: rows with a positive weight, or the sum of counts; completed copies
    #: of a row are one observation
    n_observations: int
    weight_kind: str | None = None  #: what the row weights stand for, "counts" or "sampling"; None if there are none
    shares: FloatArray  #: share of every category of every column, in the flat layout of the variables
    pair_counts: tuple[AnyArray, ...]  #: for each edge the number of rows by category of its first and second column
    #: geometric mean over rows of the variance of every continuous column given the rest, in squared units of its
    #: scores; NaN for other columns, None without continuous ones
    conditional_variances: FloatArray | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 < self.n_rows < float("inf"), "The number of rows of a fit is positive.")
        require(self.n_observations > 0, "The number of observations of a fit is positive.")
        known = self.weight_kind in (None, "counts", "sampling")
        require(known, f"Weights are 'counts' or 'sampling', not {self.weight_kind!r}.")

    @classmethod
    def of(cls, table: AnyTable, network: Network) -> TableSummary:
        """Count the rows of a table."""
        counted = table.counted(quiet=True)
        n_observations, weight_kind = count_observations(table)
        return cls(
            n_rows=counted.total_weight,
            n_observations=n_observations,
            weight_kind=weight_kind,
            shares=category_shares(table),
            pair_counts=pair_counts(counted, network.edge_index),
            conditional_variances=conditional_variances(table, network),
        )

    def without_covariates(self, network: Network) -> TableSummary:
        """Return the same of the variables of the network that are modeled."""
        modeled, variances = network.variables.is_modeled, self.conditional_variances
        kept = None if variances is None else variances[modeled]
        return replace(self, shares=self.shares[modeled[network.variables.column]], conditional_variances=kept)


def category_shares(table: AnyTable) -> FloatArray:
    """Return the share of every category of every column."""
    counted = table.counted(quiet=True)
    return category_counts(counted) / counted.total_weight


def count_observations(table: AnyTable) -> tuple[int, str | None]:
    """Return the number of observations of a table, copies of a row being one, and what its weights stand for."""
    counted = table.counted(quiet=True)
    kind = counted.weight_kind
    if not counted.is_whole:
        if counted.weights is None:
            return len(counted), None
        n_rows, are_ones = round(counted.total_weight), counted.weights.largest == 1.0
        if kind == "counts":
            return n_rows, None if are_ones and n_rows == len(counted) else kind
        return counted.weights.n_positive, kind
    if counted.sample_weight is None:
        return len(counted), None
    own = per_unit(counted.sample_weight, counted.units)
    if kind == "counts":
        return round(float(own.sum())), None if np.allclose(own, 1.0) else kind
    return int(np.count_nonzero(own)), kind
