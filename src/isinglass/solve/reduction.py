"""What of a table can be estimated, and within memory: rows with weight and columns that vary; and the way back."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass._core import max_features, path_bytes
from isinglass.arrays import Bytes, FloatArray
from isinglass.data import AnyTable, PartedTable, category_counts
from isinglass.data.counts import varying_among
from isinglass.data.parts.backends import RARE
from isinglass.data.parts.read_parts import cut_into_parts
from isinglass.data.weights import check_sample_weight
from isinglass.errors import (
    ArgumentError,
    ConstantColumnWarning,
    DataWarning,
    LimitError,
    SeparationError,
    listed,
    setting,
    warn,
)
from isinglass.machine.memory import available_memory, memory_for
from isinglass.network import Network
from isinglass.pairs import coordinate_matrix
from isinglass.penalties import NEGLIGIBLE, smoothed_field
from isinglass.separation import find_separation
from isinglass.solve.solver_units import SolverUnits
from isinglass.variables import Variables

if TYPE_CHECKING:
    from isinglass._core._native import State

LARGE = 500_000_000  # cells from which a table is worked on in parts, which takes 2 bytes per cell instead of 20
CELLS_THAT_FIT = 10_000_000  # cells up to which the free memory is not checked
SPARSE_COLUMNS = 1000  # columns from which on a table with few ones is worked on in parts too, as lists of ones
CELLS_OF_A_PART = 50_000_000
# Log odds of two neighboring categories from one end of a covariate to the other, from which it is said to determine
# the variable. Between the ends of the variable, two normal columns with a correlation of 0.5 already exceed this.
DETERMINED = 12.0


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
        table = without_negligible(table)
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


def refuse_free() -> ArgumentError:
    """Return the error of a path that ends without a penalty."""
    remedy = (
        "Use 1e-6 or more (from about 1e-8 downwards rounding hides the duality gap); penalty weights of 0 leave "
        "single pairs free, and refit estimates the edges of a network without a penalty."
    )
    return ArgumentError(
        "alpha", "must be positive in regressions of nodes and where columns have categories", 0.0, remedy
    )


def split_sparse(X: object, sample_weight: ArrayLike | None) -> PartedTable | None:
    """Return a large sparse matrix as a table in parts, never dense as a whole; None if it is something else."""
    if not (hasattr(X, "tocsr") and hasattr(X, "nnz") and hasattr(X, "shape") and _is_large(X.shape, lambda: X.nnz)):
        return None
    return cut_into_parts(X.tocsr(), check_sample_weight(sample_weight, X.shape[0]), CELLS_OF_A_PART)


def cut_if_large(table: AnyTable) -> AnyTable:
    """Return a table of two-valued columns in parts, if it is better worked on like that."""
    if table.is_whole and _is_large(table.shape, lambda: int(np.count_nonzero(table.codes))):
        return cut_into_parts(table.codes, table.sample_weight, CELLS_OF_A_PART)
    return table


def _is_large(shape: tuple[int, int], count_ones: Callable[[], int]) -> bool:
    """Tell whether a table is better worked on in parts: it is large, memory has no room for it, or ones are rare."""
    (n_rows, n_features), size = shape, math.prod(shape)
    if size <= CELLS_THAT_FIT:
        return False
    if size > LARGE or path_bytes(n_rows, n_features, 0) > available_memory():
        return True
    return n_features >= SPARSE_COLUMNS and count_ones() < RARE * size


def refuse_above(needed: int, what: str, remedy: str) -> None:
    """Refuse what needs more memory than is free."""
    free = memory_for(needed)
    if needed > free:
        raise LimitError(f"{what} about {needed / 1e9:.3g} GB of memory, and {free / 1e9:.3g} GB are free. {remedy}")


def without_negligible(table: AnyTable) -> AnyTable:
    """Leave out rows whose weight cannot matter."""
    return table.above(NEGLIGIBLE * table.weight_range[1])


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
    warn_constant(table.variables, category_counts(without_negligible(table)))


def warn_determined(network: Network) -> None:
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
