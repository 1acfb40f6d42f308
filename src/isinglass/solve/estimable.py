"""The part of a table that can be estimated: columns that vary over the rows with weight, and the way back."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass import objective
from isinglass._core import Problem, max_features, path_bytes
from isinglass.arrays import Bytes, FloatArray
from isinglass.data import BinaryTable, CategoryTable, PartedTable, count_categories, count_columns, count_rows
from isinglass.data.conversion import refuse_categories
from isinglass.data.hosts import RARE
from isinglass.data.parts import open_rows, split_rows
from isinglass.data.weights import check_sample_weight
from isinglass.errors import ConstantColumnWarning, LimitError, SeparationError, setting, warn
from isinglass.machine import available_memory, memory_for
from isinglass.network import Network
from isinglass.objective.reduced import NEGLIGIBLE
from isinglass.results import Solution
from isinglass.solve.seam import PartedRows
from isinglass.variables import Variables

if TYPE_CHECKING:
    from isinglass._core._native import State

LARGE = 500_000_000  # cells from which a table is worked on in parts, which takes 2 bytes per cell instead of 20
SMALL = 10_000_000  # cells up to which nobody asks how much memory there is
WIDE = 1000  # columns from which on a table with few ones is worked on in parts too, which are lists of ones then
CELLS_OF_A_PART = 50_000_000
_SHOWN = 5  # constant columns named in a warning


@dataclass(frozen=True)
class Varying:
    """A table without its constant columns and without its rows of weight zero."""

    table: Any  # bytes, or a table in parts
    weight: FloatArray | None  # raw, positive; parts have their own
    columns: NDArray[np.intp]  # where the varying columns are in the whole table
    fields: FloatArray  # of the constant columns, smoothed; 0 elsewhere
    ones: FloatArray  # weight of the ones of every column of the whole table
    n_rows: float  # sum of the raw weights
    names: tuple[str, ...] | None  # of all columns, if they have any

    @classmethod
    def of(cls, X: ArrayLike, sample_weight: ArrayLike | None, *, quiet: bool = False, parts: bool = False) -> Varying:
        """Check the table and its weights; name constant columns in one warning, unless ``quiet``.

        ``parts``: whether the caller can work on a table in parts, which a large table is made into.
        """
        source, table, weight = open_rows(X, sample_weight)
        if isinstance(table, CategoryTable):
            refuse_categories(table)
        if isinstance(table, PartedTable):
            if not parts:
                table.refuse()
        elif parts and _is_large(table.shape, lambda: int(np.count_nonzero(table))):
            table, weight = split_rows(table, weight, CELLS_OF_A_PART), None
        n_rows = count_rows(table, weight)
        table, weight = _without_negligible(table, weight)
        if table.shape[1] > max_features:
            raise LimitError(f"{setting('X')} must have at most {max_features} columns; got {table.shape[1]}.")
        ones, is_varying = count_columns(table, weight)
        columns = is_varying.nonzero()[0]
        fields = np.zeros(len(ones))
        if len(columns) < len(ones):
            constant = np.flatnonzero(~is_varying)
            fields[constant] = objective.smoothed_field(np.where(ones[constant] > 0, n_rows, 0.0), n_rows)
            in_parts = isinstance(table, PartedTable)
            table = table.take_columns(columns) if in_parts else np.ascontiguousarray(table[:, columns])
            if not quiet:
                warn_constant(constant, ones > 0, source.names)
        return cls(table, weight, columns, fields, ones, n_rows, source.names)

    def whole_fields(self, fields: FloatArray) -> FloatArray:
        """Return the fields of all columns, given those of the varying ones."""
        every = self.fields.copy()
        every[self.columns] = fields
        return every

    def whole_network(self, state: State, variables: Variables) -> Network:
        """Return the network of all columns, given the solution for the varying ones."""
        if len(state.fields) == len(self.fields):
            return Network.trusted(variables, state.fields, state.edges, state.values)
        edges = self.columns[state.edges].astype(np.int32)
        return Network.trusted(variables, self.whole_fields(state.fields), edges, state.values)

    def problem(self, penalty: FloatArray | None, standardized: bool, n_threads: int) -> Problem:
        """Return the compiled problem: over this table, or over the seam for a table in parts."""
        table = self.table
        if isinstance(table, PartedTable) and not len(self.columns):  # parts have no rows without a column
            table = np.empty((1, 0), dtype=np.uint8)
        if not isinstance(table, PartedTable):
            n_rows, p = table.shape
            most = memory_for(path_bytes(n_rows, p, p * (p - 1) // 2))
            return Problem(table, self.weight, penalty, standardized, n_threads, most)
        _check_pairs(self.table.shape[1])
        rows = PartedRows(self.table, count_rows(self.table, None), n_threads)
        return Problem(rows, penalty, standardized, n_threads)

    @property
    def log_spread(self) -> float:
        """Logarithm of the largest over the smallest weight."""
        if isinstance(self.table, PartedTable):
            least, most = np.array(self.table.each(_extremes)).T
            return float(np.log(most.max() / least.min()))
        return 0.0 if self.weight is None else float(np.log(self.weight.max() / self.weight.min()))

    def refuse_separation(self, pairs: NDArray[np.int32]) -> None:
        """Raise if the optimum with these pairs of varying columns unpenalized lies at infinity."""
        if len(pairs) == 0:
            return
        table, weight = self.table, self.weight
        if isinstance(table, PartedTable):
            if table.shape[0] * table.shape[1] > LARGE:
                raise LimitError(
                    f"every pair must be penalized in a table of more than {LARGE} cells; got one without. Pass alphas "
                    "above 0 and penalty weights above 0."
                )
            table, weight = np.concatenate(table.each(_distinct)), None
        found = objective.find_separation(table, pairs, sample_weight=weight)
        if found is not None:
            s, t = (int(self.columns[node]) for node in found)
            raise SeparationError(
                f"the unpenalized optimum must be finite; columns {s} and {t} separate the table, so that their "
                "coupling grows without bound. Penalize that pair: alpha > 0 and a penalty weight > 0."
            )


def _check_pairs(p: int) -> None:
    """Refuse a table in parts whose pairs do not fit: their gradients are here, once as they come and once added up."""
    needed = 2 * path_bytes(1, p, 0)
    free = memory_for(needed)
    if needed > free:
        raise LimitError(
            f"the memory must hold the gradients of {p * (p - 1) // 2} pairs; they need about {needed / 1e9:.3g} GB, "
            f"and {free / 1e9:.3g} GB are free. Use fewer columns, or a computer with more memory."
        )


def split_sparse(X: Any, sample_weight: ArrayLike | None) -> PartedTable | None:
    """Return a large sparse matrix as a table in parts, never dense as a whole; None if it is something else."""
    if not (hasattr(X, "tocsr") and hasattr(X, "nnz") and _is_large(X.shape, lambda: X.nnz)):
        return None
    return split_rows(X.tocsr(), check_sample_weight(sample_weight, X.shape[0]), CELLS_OF_A_PART)


def _is_large(shape: tuple[int, int], count_ones: Callable[[], int]) -> bool:
    """Tell whether a table is better worked on in parts: it is large, memory has no room for it, or ones are rare."""
    (n_rows, n_features), size = shape, math.prod(shape)
    if size <= SMALL:
        return False
    if size > LARGE or path_bytes(n_rows, n_features, 0) > available_memory():
        return True
    return n_features >= WIDE and count_ones() < RARE * size


def _without_negligible(table: Any, weight: FloatArray | None) -> tuple[Any, FloatArray | None]:
    """Leave out rows whose weight cannot matter."""
    if isinstance(table, PartedTable):
        return table.above(NEGLIGIBLE * max(most for _, most in table.each(_extremes))), None
    if weight is not None:
        counts = weight > NEGLIGIBLE * weight.max()
        if not counts.all():
            return table[counts], weight[counts]
    return table, weight


def _extremes(table: Bytes, weight: FloatArray | None) -> tuple[float, float]:
    """Return the smallest and the largest weight of a part."""
    return (1.0, 1.0) if weight is None or len(weight) == 0 else (float(weight.min()), float(weight.max()))


def _distinct(table: Bytes, weight: FloatArray | None) -> Bytes:
    return np.unique(table, axis=0)


def as_solution(network: Network, state: State, problem: Problem, alpha: float, tol: float) -> Solution:
    """Return a network with the certificate of the state that it was made of."""
    p = network.n_features
    gap_tol = tol * max(problem.null_objective, 1e-12)
    return Solution(
        network,
        alpha=alpha,
        objective=state.objective,
        kkt_residual=state.kkt_residual,
        duality_gap=state.duality_gap,
        certified_zeros=state.certified_zeros,
        n_iter=state.n_iter,
        n_screened=p * (p - 1) // 2 - state.n_working,
        converged=state.kkt_residual <= tol and state.duality_gap <= gap_tol,
    )


def warn_constant(
    constant: NDArray[np.intp], values: Sequence[Any] | NDArray[np.bool_], names: Sequence[str] | None = None
) -> None:
    """Name the columns that take one value only; ``values`` tells which, for every column."""
    called = range(len(values)) if names is None else names
    always = [values[k] if isinstance(values[k], str | int | float) else int(values[k]) for k in constant[:_SHOWN]]
    both = zip(constant[:_SHOWN].tolist(), always, strict=True)
    shown = ", ".join(f"{called[column]!r} (always {value})" for column, value in both)
    more = f" and {len(constant) - _SHOWN} more" if len(constant) > _SHOWN else ""
    one = len(constant) == 1
    what = f"column {shown} is constant: it gets" if one else f"columns {shown}{more} are constant: they get"
    warn(ConstantColumnWarning(f"{what} no edges."))


def name_constant(table: BinaryTable | CategoryTable, weight: FloatArray | None) -> None:
    """Name constant columns in one warning, by their names."""
    if isinstance(table, CategoryTable):
        counts = count_categories(table, weight)
        constant = np.flatnonzero([np.count_nonzero(count) < 2 for count in counts])
        if len(constant):
            only = [values[int(count.argmax())] for values, count in zip(table.categories, counts, strict=True)]
            warn_constant(constant, only, table.names)
        return
    ones, varies = count_columns(*_without_negligible(table.X, weight))
    if not varies.all():
        warn_constant(np.flatnonzero(~varies), ones > 0, table.names)
