"""What all paths share: the grid of alphas, when pairs are screened, and what is said about solutions as they come."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arguments import is_real
from isinglass.arrays import FloatArray
from isinglass.errors import ArgumentError, ConvergenceWarning, DataError, setting, warn
from isinglass.results import Path, Solution

logger = logging.getLogger("isinglass")

AlphasLike: TypeAlias = int | float | ArrayLike  # their number, or one or several by value
MOST = 100_000
ALL_PAIRS_UP_TO = 30  # columns up to which screening costs more than it saves (measured)
STRICTNESS = 1.0  # share of the strong rule's threshold from which pairs are kept on longer tables
TOLERANCE = 1e-7  # of certificates, unless another is asked for
MAX_STEPS = 100  # of Newton's method per alpha, likewise
ROUNDED = 1e-10  # KKT residual below which further steps move within rounding


def alpha_grid(alpha_max: float, alphas: AlphasLike, *, alpha_min_ratio: float, at_zero: float = 0.0) -> FloatArray:
    """Return the penalty strengths of a path, decreasing.

    ``at_zero`` is the only one where ``alpha_max`` is 0: then no alpha gives an edge.
    """
    if not (math.isfinite(alpha_max) and alpha_max >= 0):
        raise ArgumentError("alpha_max", "must be finite and not negative", alpha_max)
    remedy = "Pass a count such as alphas=30, one value such as alphas=0.1, or a list of values."
    try:
        values = np.asarray(alphas)
    except ValueError:  # ragged lists
        values = np.asarray(None)
    if values.dtype.kind not in "iuf" or values.ndim > 1 or values.size == 0:  # True and False would be counts
        raise ArgumentError("alphas", "must be a count, a value or a list of values", alphas, remedy)
    if values.ndim == 0 and values.dtype.kind in "iu":
        if not 1 <= values <= MOST:
            bound = "at least 1" if values < 1 else f"at most {MOST}"
            raise ArgumentError("alphas", f"must be a count of {bound}", int(values), remedy)
        return _geometric(float(alpha_max), int(values), alpha_min_ratio, at_zero)
    grid = np.sort(values.astype(np.float64).ravel() + 0.0)[::-1].copy()  # -0.0 becomes 0.0
    if (is_wrong := ~np.isfinite(grid) | (grid < 0)).any():
        raise ArgumentError("alphas", "must be finite and not negative", float(grid[is_wrong][0]))
    if (repeated := grid[1:][grid[1:] == grid[:-1]]).size:
        # Dropping it silently would give a path shorter than the list that was passed.
        raise DataError(f"{setting('alphas')} must be different from each other; got {float(repeated[0])!r} twice.")
    return grid


def _geometric(alpha_max: float, count: int, ratio: float, at_zero: float) -> FloatArray:
    if not is_real(ratio) or not 0 < ratio < 1:
        raise ArgumentError("alpha_min_ratio", "must be between 0 and 1, both excluded", ratio)
    if alpha_max == 0:
        return np.array([at_zero])
    grid = alpha_max * np.geomspace(1.0, ratio, count)
    if grid[-1] <= 0 or (np.diff(grid) >= 0).any():
        raise DataError(f"{setting('alphas')} must be a count whose alphas differ; got {count!r} from {alpha_max!r}.")
    return grid


def refuse_free() -> ArgumentError:
    """Return the error of a path that ends without a penalty."""
    remedy = (
        "Use 1e-6 or more (from about 1e-8 downwards rounding hides the duality gap); penalty weights of 0 leave "
        "single pairs free, and refit estimates the edges of a network without a penalty."
    )
    return ArgumentError(
        "alpha", "must be positive in regressions of nodes and where columns have categories", 0.0, remedy
    )


def strictness_among(n_columns: int) -> float:
    """Return the share of the strong rule's threshold from which pairs are kept; 0: all are."""
    return STRICTNESS if n_columns > ALL_PAIRS_UP_TO else 0.0


def collect(solutions: Iterable[Solution], callback: Callable[[Solution], object] | None) -> tuple[Solution, ...]:
    """Return solutions up to the first at which a function, if there is one, returns False, Python's or NumPy's."""
    found = []
    for solution in solutions:
        logger.info("%r", solution)
        found.append(solution)
        answer = None if callback is None else callback(solution)
        if isinstance(answer, bool | np.bool_) and not answer:
            break
    return tuple(found)


def warn_if_not_converged(path: Path, null_objective: float, max_iter: int) -> None:
    """Warn once for all solutions of a path that did not reach its tolerance."""
    failed = [solution for solution in path if not solution.converged]
    if not failed:
        return
    worst = max(failed, key=lambda solution: solution.kkt_residual)
    gap = worst.duality_gap / max(null_objective, 1e-12)
    found = (
        f"{len(failed)} of {len(path)} solutions did not reach tol={path.tol:g}; worst at alpha={worst.alpha:.6g}: "
        f"kkt_residual={worst.kkt_residual:.1e}, relative gap={gap:.1e}"
    )
    if any(solution.n_iter >= max_iter and solution.kkt_residual > ROUNDED for solution in failed):
        remedy = f"Increase {setting('max_iter')} (now {max_iter}), the number of steps allowed for each alpha."
    else:
        remedy = (
            "More steps would not help: the numbers above are as small as rounding allows. Stop the path at a larger "
            f"alpha, or increase {setting('tol')} if they are small enough for you."
        )
    warn(ConvergenceWarning(f"{found}. {remedy}"))
