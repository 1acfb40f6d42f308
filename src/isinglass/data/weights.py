"""Checks of row weights and of pair weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.errors import ArgumentError, DataError, DataWarning, setting, warn

MANY, MOST_CHECKED = 5, 1 << 16
"""Mean weight from which whole numbers may be counts, and rows up to which that is looked into."""


def check_sample_weight(sample_weight: ArrayLike | None, n_samples: int) -> NDArray[np.float64] | None:
    """Return finite, non-negative row weights with a positive sum, or None for equal weights."""
    if sample_weight is None:
        return None
    weight = _as_floats("sample_weight", sample_weight)
    if weight.shape != (n_samples,):
        raise DataError(f"sample_weight must have one value per row ({n_samples},); got shape {weight.shape}.")
    if not np.isfinite(weight).all() or (weight < 0).any():
        value = weight[~(np.isfinite(weight) & (weight >= 0))][0]
        raise ArgumentError("sample_weight", "must be finite and not negative", float(value))
    if not weight.any():
        raise DataError("sample_weight must have a positive sum; got only weights of zero.")
    if weight.max() > np.finfo(np.float64).max / len(weight):
        raise DataError(f"sample_weight must have a finite sum; got values up to {weight.max():g}. Rescale them.")
    return weight


def warn_counts(cells: NDArray[np.uint8], weight: NDArray[np.float64] | None) -> None:
    """Warn where folds would hold out all rows of a kind: weights that look like the counts of a contingency table."""
    if weight is None or weight.sum() < MANY * np.count_nonzero(weight) or (weight != np.rint(weight)).any():
        return
    rows = cells[weight > 0]
    if len(rows) <= MOST_CHECKED and len(np.unique(rows, axis=0)) == len(rows):
        warn(
            DataWarning(
                f"sample_weight looks like counts of equal rows: whole numbers, {weight.sum() / len(rows):.3g} on "
                "average, for rows of which no two are equal. A fold holds out a row with all of its weight, and "
                "nothing like it is left to learn from. Repeat each row as often as its weight says, or choose without "
                "folds, by the EBIC."
            )
        )


def check_penalty_weights(penalty_weights: ArrayLike | str | None, n_features: int) -> NDArray[np.float64] | str | None:
    """Return None (all 1), ``"standardized"`` or a symmetric matrix of weights in [0, inf]."""
    if penalty_weights is None:
        return None
    if isinstance(penalty_weights, str):
        if penalty_weights != "standardized":
            raise ArgumentError(
                "penalty_weights", 'must be None, "standardized" or a symmetric matrix', penalty_weights
            )
        return penalty_weights
    matrix = _as_floats("penalty_weights", penalty_weights)
    if matrix.shape != (n_features, n_features):
        raise DataError(f"{setting('penalty_weights')} must have shape {(n_features, n_features)}; got {matrix.shape}.")
    off_diagonal = ~np.eye(n_features, dtype=bool)
    if (np.isnan(matrix) | (matrix < 0))[off_diagonal].any():
        raise DataError(f"{setting('penalty_weights')} must be in [0, inf]; got a negative value or NaN.")
    if not np.array_equal(matrix[off_diagonal], matrix.T[off_diagonal]):
        raise DataError(
            f"{setting('penalty_weights')} must be symmetric; got a matrix that differs from its transpose."
        )
    return matrix


def _as_floats(name: str, values: ArrayLike) -> NDArray[np.float64]:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(name, "must hold numbers", values) from None
