"""The only conversion of tables to 0/1 bytes and of row and pair weights to checked arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.errors import DataError

__all__ = ["BinaryTable", "check_penalty_weights", "check_sample_weight", "read_binary", "to_binary"]

_SHOWN = 5  # offending values quoted in a message


@dataclass(frozen=True, eq=False, repr=False)
class BinaryTable:
    """A table of 0 and 1 with the names that came with it, and what was done to get it.

    Estimators take it wherever they take an array or a frame; ``numpy.asarray`` gives the bare table.

    Parameters
    ----------
    X : ndarray of uint8, shape (n_samples, n_features)
        Only 0 and 1, C-contiguous.
    names : tuple of str, optional
        Names of the columns; None if the source had none.
    row_names : tuple of str, optional
        Names of the rows.
    sample_weight : ndarray of shape (n_samples,), optional
        Row weights that came with the table.
    rows : ndarray of int, optional
        Which rows of the source these are, if some were dropped.
    n_missing : int
        Missing cells that were filled or dropped.
    encoding : dict
        For each column that was not 0/1 already: its two source values, ``(zero, one)``.
    """

    X: NDArray[np.uint8]
    names: tuple[str, ...] | None = None
    row_names: tuple[str, ...] | None = None
    sample_weight: NDArray[np.float64] | None = None
    rows: NDArray[np.intp] | None = None
    n_missing: int = 0
    encoding: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.X.shape[0], self.X.shape[1]

    def __len__(self) -> int:
        return len(self.X)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.X, dtype=dtype, copy=True) if copy else np.asarray(self.X, dtype=dtype)

    def __getitem__(self, rows: Any) -> BinaryTable:
        """Return the same columns of some rows (a slice, numbers or a mask)."""
        return replace(
            self,
            X=np.ascontiguousarray(self.X[rows]),
            row_names=None if self.row_names is None else tuple(np.asarray(self.row_names, dtype=object)[rows]),
            sample_weight=None if self.sample_weight is None else self.sample_weight[rows],
            rows=np.arange(len(self))[rows] if self.rows is None else self.rows[rows],
        )


def read_binary(
    X: Any,
    *,
    names: Sequence[str] | None = None,
    missing: str = "error",
    encode: Any = None,
    coding: str = "bits",
    binarize: float | None = None,
) -> BinaryTable:
    """Convert a table of any kind, with its names."""
    raise NotImplementedError


def to_binary(X: ArrayLike) -> NDArray[np.uint8]:
    """Return the table as C-contiguous ``uint8`` of 0 and 1, without changing the input.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Booleans, integers or floats that are exactly 0 or 1; C or Fortran order, writable or not.

    Returns
    -------
    ndarray of uint8, shape (n_samples, n_features)

    Examples
    --------
    >>> to_binary([[True, False], [0.0, 1.0]]).tolist()
    [[1, 0], [0, 1]]
    """
    table = _as_table(X)
    if table.dtype == np.uint8 or table.dtype == np.bool_:
        codes = np.ascontiguousarray(table).view(np.uint8)
        bad = codes > 1
    else:
        with np.errstate(invalid="ignore"):
            codes = np.ascontiguousarray(table == 1).view(np.uint8)
        bad = codes != table
    if bad.any():
        _refuse_values(table, bad)
    return codes


def check_sample_weight(sample_weight: ArrayLike | None, n_samples: int) -> NDArray[np.float64] | None:
    """Return finite, non-negative row weights with a positive sum, or None for equal weights."""
    if sample_weight is None:
        return None
    weight = _as_floats("sample_weight", sample_weight)
    if weight.shape != (n_samples,):
        raise DataError(f"sample_weight must have one value per row ({n_samples},); got shape {weight.shape}.")
    if not np.isfinite(weight).all() or (weight < 0).any():
        value = weight[~(np.isfinite(weight) & (weight >= 0))][0]
        raise DataError(f"sample_weight must be finite and not negative; got {float(value)!r}.")
    if not weight.any():
        raise DataError("sample_weight must have a positive sum; got only weights of zero.")
    if weight.max() > np.finfo(np.float64).max / len(weight):
        raise DataError(f"sample_weight must have a finite sum; got values up to {weight.max():g}. Rescale them.")
    return weight


def check_penalty_weights(penalty_weights: ArrayLike | str | None, n_features: int) -> NDArray[np.float64] | str | None:
    """Return None (all 1), ``"standardized"`` or a symmetric matrix of weights in [0, inf]."""
    if penalty_weights is None:
        return None
    if isinstance(penalty_weights, str):
        if penalty_weights != "standardized":
            raise DataError(
                f'penalty_weights must be None, "standardized" or a symmetric matrix; got {penalty_weights!r}.'
            )
        return penalty_weights
    matrix = _as_floats("penalty_weights", penalty_weights)
    if matrix.shape != (n_features, n_features):
        raise DataError(f"penalty_weights must have shape {(n_features, n_features)}; got {matrix.shape}.")
    off_diagonal = ~np.eye(n_features, dtype=bool)
    if (np.isnan(matrix) | (matrix < 0))[off_diagonal].any():
        raise DataError("penalty_weights must be in [0, inf]; got a negative value or NaN.")
    if not np.array_equal(matrix[off_diagonal], matrix.T[off_diagonal]):
        raise DataError("penalty_weights must be symmetric; got a matrix that differs from its transpose.")
    return matrix


def _as_floats(name: str, values: ArrayLike) -> NDArray[np.float64]:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must hold numbers; got {values!r}.") from None


def _as_table(X: ArrayLike) -> NDArray[Any]:
    if np.ma.isMaskedArray(X) and np.ma.getmaskarray(X).any():
        raise DataError("X must have no masked cells; got a masked array. Fill them or drop their rows first.")
    if hasattr(X, "toarray"):  # scipy.sparse: np.asarray would wrap it as one object
        X = X.toarray()
    try:
        table = np.asarray(X)
    except ValueError:
        raise DataError("X must be a table whose rows have equal length; got rows of different lengths.") from None
    if table.ndim != 2:
        remedy = " For one column use X.reshape(-1, 1)." if table.ndim == 1 else ""
        raise DataError(
            f"X must be a table of shape (n_samples, n_features); got {type(X).__name__} with {table.ndim} "
            f"dimension(s).{remedy}"
        )
    if table.shape[0] == 0 or table.shape[1] == 0:
        raise DataError(f"X must have at least one row and one column; got shape {table.shape}.")
    if table.dtype.kind not in "buif":
        raise DataError(f"X must hold numbers that are 0 or 1; got dtype {table.dtype}. Encode the two answers as 0/1.")
    return table


def _refuse_values(table: NDArray[Any], bad: NDArray[np.bool_]) -> None:
    column = int(np.flatnonzero(bad.any(axis=0))[0])
    values = np.unique(table[bad[:, column], column])
    shown = ", ".join(f"{value:g}" for value in values[:_SHOWN]) + (", …" if len(values) > _SHOWN else "")
    if np.isnan(values.astype(float)).any():
        remedy = "Remove the rows with missing cells or fill them first."
    elif set(np.unique(table)) <= {-1, 1}:
        remedy = "The table looks like ±1 spins: pass (X + 1) // 2."
    else:
        remedy = "Map the two answers of that column to 0 and 1, or threshold it: X > cut."
    raise DataError(f"X must hold only 0 and 1; got {shown} in column {column}. {remedy}")
