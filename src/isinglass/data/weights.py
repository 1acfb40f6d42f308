"""Checks of row weights and of pair weights, and what row weights stand for.

Counts say how many equal rows a row stands for. Sampling weights say how many members of a population a row stands for:
it is one row all the same, and their scale means nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.errors import ArgumentError, DataError, MeaningWarning, setting, warn

WEIGHT_KINDS = ("sampling", "counts")
FAR, MANY = 2.0, 5.0
"""Ratios beyond which weights of unstated kind get a warning: sum of sampling weights to rows, and mean count."""


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


def check_weight_kind(kind: str | None, weight: NDArray[np.float64] | None) -> None:
    """Refuse an unknown kind of row weights, and counts that are not whole numbers."""
    if kind is not None and kind not in WEIGHT_KINDS:
        raise ArgumentError("weight_kind", 'must be "sampling", "counts" or None', kind)
    if kind == "counts" and weight is not None and not are_counts(weight):
        value = weight[~np.isclose(weight, np.rint(weight), rtol=1e-9, atol=0.0)][0]
        raise DataError(
            f"counts must be whole numbers; got a weight of {value:g}. Say {setting('weight_kind', 'sampling')}."
        )


def are_counts(weight: NDArray[np.float64] | None) -> bool:
    """Tell whether scaled weights are counts.

    Scaled sampling weights are not whole, or all 1: their mean under themselves is 1, and whole numbers that are not
    all 1 have a larger one.
    """
    return weight is None or bool(np.allclose(weight, np.rint(weight), rtol=1e-9, atol=0.0))  # copies share it rounded


def scale_weights(
    weight: NDArray[np.float64] | None,
    kind: str | None = None,
    units: NDArray[np.intp] | None = None,
    *,
    quiet: bool = False,
) -> NDArray[np.float64] | None:
    """Return row weights whose sum is N: counts as they are, sampling weights rescaled to their effective number.

    Whole numbers are counts and others sampling weights, unless the kind is stated. ``units``: rows with equal entries
    are copies of one row that share its weight. ``quiet``: say nothing of how they were understood.
    """
    if weight is None:
        return None
    own = per_unit(weight, units)
    check_weight_kind(kind, own)
    total, n_rows = float(own.sum()), int(np.count_nonzero(own))
    if kind == "counts" or (kind is None and are_counts(own)):
        if kind is None and not quiet:
            warn_of_kind("counts", total, total, n_rows)
        return weight
    relative = own / own.max()
    effective = float(relative.sum()) ** 2 / float(relative @ relative)
    if kind is None and not quiet:
        warn_of_kind("sampling", total, effective, n_rows)
    if abs(total - effective) <= 1e-9 * effective:
        return weight
    return np.asarray(weight / own.max() * (effective / float(relative.sum())))


def kind_of(scaled: NDArray[np.float64] | None, units: NDArray[np.intp] | None) -> str | None:
    """Return the kind of scaled weights, None if there are none."""
    if scaled is None:
        return None
    return "counts" if are_counts(per_unit(scaled, units)) else "sampling"


def per_unit(weight: NDArray[np.float64], units: NDArray[np.intp] | None) -> NDArray[np.float64]:
    """Return the weight of every row, of which there may be copies that share it."""
    if units is None:
        return weight
    return np.asarray(np.bincount(np.unique(units, return_inverse=True)[1], weight), dtype=np.float64)


def warn_of_kind(kind: str, total: float, effective: float, n_rows: int) -> None:
    """Say how weights of unknown kind are understood, where their sum is far from the number of rows."""
    if kind == "counts":
        if total < MANY * n_rows:
            return
        taken = f"they are whole numbers and count as {total:.6g} rows"
    else:
        if n_rows / FAR <= total <= FAR * n_rows or abs(total - effective) <= 1e-9 * effective:
            return
        taken = f"they are not whole numbers, so their scale is ignored and they count as {effective:.6g} rows"
    counts, sampling = setting("weight_kind", "counts"), setting("weight_kind", "sampling")
    warn(
        MeaningWarning(
            f"The weights have the sum {total:.6g} over {n_rows} rows and are taken for {_WORDS[kind]}: {taken}. "
            f"State what they are where the table is read: {counts} or {sampling}."
        )
    )


_WORDS = {"counts": "counts of equal rows", "sampling": "sampling weights"}


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
