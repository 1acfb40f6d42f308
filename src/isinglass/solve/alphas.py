"""The grid of penalty strengths, the same for every path function."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import is_real
from isinglass.errors import ArgumentError, DataError, setting

AlphasLike: TypeAlias = int | float | ArrayLike  # their number, or one or several by value
MOST = 100_000
_REMEDY = "Pass a count such as alphas=30, one value such as alphas=0.1, or a list of values."


def alpha_grid(
    alpha_max: float, alphas: AlphasLike, *, alpha_min_ratio: float, at_zero: float = 0.0
) -> NDArray[np.float64]:
    """Return the penalty strengths of a path, decreasing.

    ``at_zero`` is the only one where ``alpha_max`` is 0: then no alpha gives an edge.
    """
    if not (math.isfinite(alpha_max) and alpha_max >= 0):
        raise ArgumentError("alpha_max", "must be finite and not negative", alpha_max)
    try:
        values = np.asarray(alphas)
    except ValueError:  # ragged lists
        raise ArgumentError("alphas", "must be a count, a value or a list of values", alphas, _REMEDY) from None
    if values.dtype.kind not in "iuf":  # booleans would silently be the counts 0 and 1
        raise ArgumentError("alphas", "must be a count, a value or a list of values", alphas, _REMEDY)
    if values.ndim == 0 and values.dtype.kind in "iu":
        return _geometric(float(alpha_max), int(values), alpha_min_ratio, at_zero)
    return _given(values)


def _geometric(alpha_max: float, count: int, ratio: float, at_zero: float) -> NDArray[np.float64]:
    if count < 1:
        raise ArgumentError("alphas", "must be a count of at least 1", count, _REMEDY)
    if count > MOST:
        raise ArgumentError("alphas", f"must be a count of at most {MOST}", count, _REMEDY)
    if not is_real(ratio) or not 0 < ratio < 1:
        raise ArgumentError("alpha_min_ratio", "must be between 0 and 1, both excluded", ratio)
    if alpha_max == 0:
        return np.array([at_zero])
    grid = alpha_max * np.geomspace(1.0, ratio, count)
    if grid[-1] <= 0 or (np.diff(grid) >= 0).any():
        raise DataError(f"{setting('alphas')} must be a count whose alphas differ; got {count!r} from {alpha_max!r}.")
    return grid


def _given(values: NDArray[np.generic]) -> NDArray[np.float64]:
    if values.ndim > 1 or values.size == 0:
        raise DataError(
            f"{setting('alphas')} must be one-dimensional and not empty; got shape {values.shape}. {_REMEDY}"
        )
    grid = values.astype(np.float64).ravel() + 0.0  # -0.0 becomes 0.0
    if len(grid) > 1:
        grid = np.sort(grid)[::-1].copy()
    if not (grid[0] < np.inf and grid[-1] >= 0):  # NaN is sorted to the front
        bad = ~(np.isfinite(grid) & (grid >= 0))
        raise ArgumentError("alphas", "must be finite and not negative", float(grid[bad][0]))
    if len(grid) > 1 and (repeated := grid[1:][grid[1:] == grid[:-1]]).size:
        # Dropping it silently would give a path shorter than the list that was passed.
        raise DataError(f"{setting('alphas')} must be different from each other; got {float(repeated[0])!r} twice.")
    return grid
