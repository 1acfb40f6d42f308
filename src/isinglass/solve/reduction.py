"""What of a table can be estimated: rows with weight and columns that vary; and the way back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isinglass._core import max_features
from isinglass.arrays import Bytes, FloatArray
from isinglass.data import AnyTable, category_counts
from isinglass.data.counts import varying_among
from isinglass.data.parts.read_parts import LARGE, cut_if_large
from isinglass.errors import ConstantColumnWarning, LimitError, SeparationError, listed, setting, warn
from isinglass.network import Network
from isinglass.pairs import coordinate_matrix
from isinglass.penalties import NEGLIGIBLE, smoothed_field
from isinglass.separation import find_separation
from isinglass.solve.solver_units import SolverUnits
from isinglass.variables import Variables

if TYPE_CHECKING:
    from isinglass._core._native import State


@dataclass(frozen=True)
class Reduction:
    """A table without its constant columns and without its rows of weight zero."""

    table: AnyTable  # the rows with weight and the columns that vary
    variables: Variables  # of all columns
    columns: NDArray[np.intp]  # where the varying columns are among these
    counts: FloatArray  # weight of every category of all columns
    n_rows: float  # sum of the weights

    @classmethod
    def of(cls, table: AnyTable, *, parts: bool = False) -> Reduction:
        """Leave out what cannot be estimated.

        ``parts``: whether the caller can work on a table in parts, which a large table is made into.
        """
        table, variables = table.without_holes(), table.variables
        if variables.n_features > max_features:
            raise LimitError(f"{setting('X')} must have at most {max_features} columns; got {variables.n_features}.")
        if not parts:
            table = table.whole()
        elif variables.is_binary:
            table = cut_if_large(table)
        n_rows = table.total_weight
        table = table.above(NEGLIGIBLE * table.weight_range[1])
        counts = category_counts(table)
        varies = varying_among(counts, variables)
        columns = varies.nonzero()[0]
        if len(columns) < len(varies):
            table = table.take(columns)
        return cls(table, variables, columns, counts, n_rows)

    @property
    def n_features(self) -> int:
        """Number of all columns, constant ones included."""
        return self.variables.n_features

    @property
    def alpha_of_one_row(self) -> float:
        """The penalty that one row weighs as much as; with weights, one of the rows that these stand for."""
        return 1.0 / max(self.table.counted(quiet=True).total_weight, 1.0)

    @cached_property
    def units(self) -> SolverUnits:
        """The units of the solver, for columns with categories."""
        return SolverUnits(self.variables, self.columns, self.counts, self.n_rows)

    @property
    def modeled(self) -> Bytes | None:
        """Which of the columns that vary are modeled; None: all of them."""
        return self.variables.is_modeled[self.columns].astype(np.uint8) if self.variables.has_covariates else None

    def network(self, state: State) -> Network:
        """Return the network of all columns, given the solution for the varying ones."""
        variables = self.variables
        edges = self.columns[state.edges].astype(np.int32).reshape(-1, 2)
        if variables.is_binary:
            fields = self.constant_fields.copy()
            fields[self.columns] = state.fields
            return Network.trusted(variables, fields, edges, state.values)
        parameters = self.units.network_blocks(edges, state.values)
        fields = self.units.network_fields(state.category_fields, coordinate_matrix(variables, edges, parameters))
        return Network.trusted(variables, fields, edges, parameters)

    @cached_property
    def constant_fields(self) -> FloatArray:
        """Smoothed fields of two-valued columns that are constant; 0 elsewhere."""
        fields, ones = np.zeros(self.n_features), self.counts[1::2]
        constant = np.ones(self.n_features, dtype=bool)
        constant[self.columns] = False
        fields[constant] = smoothed_field(np.where(ones[constant] > 0, self.n_rows, 0.0), self.n_rows)
        return fields

    def point(self, network: Network) -> tuple[NDArray[np.int32], FloatArray, FloatArray]:
        """Return the edges of a network between columns that vary, in the solver's numbers, and the fields of these."""
        place = np.full(self.n_features, -1, dtype=np.int32)
        place[self.columns] = np.arange(len(self.columns))
        edges = place[network.pairs].reshape(-1, 2)
        kept = np.asarray((edges >= 0).all(axis=1))
        if self.variables.is_binary:
            return edges[kept], network.pair_values[kept], network.fields[self.columns]
        return edges[kept], self.units.solver_blocks(network, kept), self.units.solver_fields(network)

    @property
    def log_spread(self) -> float:
        """Logarithm of the largest over the smallest weight."""
        least, most = self.table.weight_range
        return float(np.log(most / least))

    def refuse_separation(self, pairs: NDArray[np.int32]) -> None:
        """Raise if the optimum with these pairs of varying columns unpenalized lies at infinity."""
        if len(pairs) == 0:
            return
        if not self.table.is_whole and math.prod(self.table.shape) > LARGE:  # whether it does, takes all rows
            raise LimitError(
                f"Every pair of a table with more than {LARGE} cells needs a penalty. Pass alphas above 0 and penalty "
                "weights above 0."
            )
        found = find_separation(self.table.distinct_rows(), pairs)
        if found is not None:
            raise SeparationError.of_pair(*(self.variables.called(int(self.columns[node])) for node in found))


def warn_constant(variables: Variables, counts: FloatArray) -> None:
    """Name the columns with one category in one warning, given the weight of every category."""
    constant = np.flatnonzero(~varying_among(counts, variables)).tolist()
    if not constant:
        return
    codes = [int(each.argmax()) for each in variables.split(counts)]
    shown = listed([f"{variables.called(s)} (always {variables.categories[s][codes[s]]})" for s in constant])
    one = len(constant) == 1
    what = f"column {shown} is constant: it gets" if one else f"columns {shown} are constant: they get"
    warn(ConstantColumnWarning(f"{what} no edges."))


def name_constant(table: AnyTable) -> None:
    """Name constant columns in one warning."""
    warn_constant(table.variables, category_counts(table.above(NEGLIGIBLE * table.weight_range[1])))
