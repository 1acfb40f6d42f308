"""The part of a table that can be estimated: columns that vary over the rows with weight, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass import objective
from isinglass._core import count_ones, max_features
from isinglass.data import BinaryTable, read_binary, to_weighted
from isinglass.errors import ConstantColumnWarning, LimitError, SeparationError, setting, warn
from isinglass.objective.reduced import NEGLIGIBLE

__all__ = ["Varying", "count_and_name", "warn_constant"]

_SHOWN = 5  # constant columns named in a warning


@dataclass(frozen=True)
class Varying:
    """A table without its constant columns and without its rows of weight zero."""

    table: NDArray[np.uint8]
    weight: NDArray[np.float64] | None  # raw, positive
    columns: NDArray[np.intp]  # where the varying columns are in the whole table
    fields: NDArray[np.float64]  # of the constant columns, smoothed; 0 elsewhere
    ones: NDArray[np.float64]  # weight of the ones of every column of the whole table
    n_rows: float  # sum of the raw weights
    names: tuple[str, ...] | None  # of all columns, if they have any

    @classmethod
    def of(cls, X: ArrayLike, sample_weight: ArrayLike | None, *, quiet: bool = False) -> Varying:
        """Check the table and its weights; name constant columns in one warning, unless ``quiet``."""
        source = read_binary(X)
        table, weight = to_weighted(source, sample_weight)
        n_rows = float(len(table)) if weight is None else float(weight.sum())
        if weight is not None:
            counts = weight > NEGLIGIBLE * weight.max()
            if not counts.all():
                table, weight = table[counts], weight[counts]
        if table.shape[1] > max_features:
            raise LimitError(f"{setting('X')} must have at most {max_features} columns; got {table.shape[1]}.")
        ones, is_varying = count_ones(table, weight)
        columns = np.flatnonzero(is_varying)
        fields = np.zeros(len(ones))
        if len(columns) < len(ones):
            constant = np.flatnonzero(~is_varying)
            fields[constant] = objective.smoothed_field(np.where(ones[constant] > 0, n_rows, 0.0), n_rows)
            table = np.ascontiguousarray(table[:, columns])
            if not quiet:
                warn_constant(constant, ones > 0, source.names)
        return cls(table, weight, columns, fields, ones, n_rows, source.names)

    def whole_fields(self, fields: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the fields of all columns, given those of the varying ones."""
        every = self.fields.copy()
        every[self.columns] = fields
        return every

    def refuse_separation(self, pairs: NDArray[np.int32]) -> None:
        """Raise if the optimum with these pairs of varying columns unpenalised lies at infinity."""
        found = objective.find_separation(self.table, pairs, sample_weight=self.weight) if len(pairs) else None
        if found is not None:
            s, t = (int(self.columns[node]) for node in found)
            raise SeparationError(
                f"the unpenalised optimum must be finite; columns {s} and {t} separate the table, so that their "
                "coupling grows without bound. Penalise that pair: alpha > 0 and a penalty weight > 0."
            )


def warn_constant(constant: NDArray[np.intp], is_one: NDArray[np.bool_], names: Sequence[str] | None = None) -> None:
    """Name the columns that take one value only; ``is_one`` tells which value, for every column."""
    called = range(len(is_one)) if names is None else names
    shown = ", ".join(f"{called[column]!r} (always {int(is_one[column])})" for column in constant[:_SHOWN])
    more = f" and {len(constant) - _SHOWN} more" if len(constant) > _SHOWN else ""
    one = len(constant) == 1
    what = f"column {shown} is constant: it gets" if one else f"columns {shown}{more} are constant: they get"
    warn(ConstantColumnWarning(f"{what} no edges."))


def count_and_name(table: BinaryTable, weight: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Return the weight of the ones of every column; name constant columns in one warning, by their names."""
    if weight is not None and not weight.all():
        ones, varies = count_ones(np.ascontiguousarray(table.X[weight > 0]), weight[weight > 0])
    else:
        ones, varies = count_ones(table.X, weight)
    if not varies.all():
        warn_constant(np.flatnonzero(~varies), ones > 0, table.names)
    return ones
