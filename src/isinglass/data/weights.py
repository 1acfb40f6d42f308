"""Checks of row weights, and what they stand for.

Counts say how many equal rows a row stands for. Sampling weights say how many members of a population a row stands for:
it is one row all the same, and their scale means nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.data.guards import warn_of_kind
from isinglass.errors import ArgumentError, DataError, setting

WEIGHT_KINDS = ("sampling", "counts")
Sums = tuple[int, int, float, float, float]
"""Of row weights: how many are not whole, how many positive, the sum; sum and squares relative to the largest."""


def check_sample_weight(sample_weight: ArrayLike | None, n_samples: int) -> NDArray[np.float64] | None:
    """Return finite, non-negative row weights with a positive sum, or None for equal weights."""
    if sample_weight is None:
        return None
    weight = as_floats("sample_weight", sample_weight)
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
        value = weight[~are_whole(weight)][0]
        raise DataError(
            f"counts must be whole numbers; got a weight of {value:g}. Pass {setting('weight_kind', 'sampling')}."
        )


def are_whole(weight: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which weights are whole numbers, up to rounding: copies of a row share its count."""
    return np.isclose(weight, np.rint(weight), rtol=1e-9, atol=0.0)


def are_counts(weight: NDArray[np.float64] | None) -> bool:
    """Tell whether scaled weights are counts.

    Scaled sampling weights are not whole, or all 1: their mean under themselves is 1, and whole numbers that are not
    all 1 have a larger one.
    """
    return weight is None or bool(are_whole(weight).all())


def scale_weights(
    weight: NDArray[np.float64] | None,
    kind: str | None = None,
    units: NDArray[np.intp] | None = None,
    *,
    quiet: bool = False,
) -> NDArray[np.float64] | None:
    """Return row weights whose sum is N, as `find_scale` understands them.

    ``units``: rows with equal entries are copies of one row that share its weight.
    """
    if weight is None:
        return None
    own = per_unit(weight, units)
    check_weight_kind(kind, own)
    largest = float(own.max())
    _, factor = find_scale(sum_weights(own, largest), kind, quiet=quiet)
    return weight if factor is None else np.asarray(weight / largest * factor)


def sum_weights(weight: NDArray[np.float64], largest: float) -> Sums:
    """Return sums over rows that say what their weights stand for; see `Sums`."""
    relative = weight / (largest or 1.0)
    broken, positive = np.count_nonzero(~are_whole(weight)), np.count_nonzero(weight)
    return int(broken), int(positive), float(weight.sum()), float(relative.sum()), float(relative @ relative)


def find_scale(sums: Sums, kind: str | None = None, *, quiet: bool = False) -> tuple[str, float | None]:
    """Return the kind of row weights, and what weights relative to the largest are multiplied by; None: as they are.

    Counts stay as they are, sampling weights are rescaled to their effective number. Whole numbers are counts and
    others sampling weights, unless the kind is stated. ``quiet``: say nothing of how they were understood.
    """
    n_broken, n_rows, total, relative, squares = sums
    found = kind or ("sampling" if n_broken else "counts")
    effective = total if found == "counts" else relative**2 / squares
    if kind is None and not quiet:
        warn_of_kind(found, total, effective, n_rows)
    return found, None if abs(total - effective) <= 1e-9 * effective else effective / relative


def state_kind(weight: NDArray[np.float64]) -> str:
    """Return what weights of unstated kind are taken for, and say so where it matters."""
    scale_weights(weight)
    return "counts" if are_counts(weight) else "sampling"


def kind_of_weights(scaled: NDArray[np.float64] | None, units: NDArray[np.intp] | None) -> str | None:
    """Return the kind of scaled weights, None if there are none."""
    if scaled is None:
        return None
    return "counts" if are_counts(per_unit(scaled, units)) else "sampling"


def per_unit(weight: NDArray[np.float64], units: NDArray[np.intp] | None) -> NDArray[np.float64]:
    """Return the weight of every row, of which there may be copies that share it."""
    if units is None:
        return weight
    return np.asarray(np.bincount(np.unique(units, return_inverse=True)[1], weight), dtype=np.float64)


def as_floats(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return an argument as an array of numbers."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(name, "must hold numbers", values) from None
