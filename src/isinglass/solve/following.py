"""What all paths share: when pairs are screened, and what is said about solutions as they are found."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

import numpy as np

from isinglass.errors import ConvergenceWarning, setting, warn
from isinglass.results import Path, Solution

logger = logging.getLogger("isinglass")

ALL_PAIRS_UP_TO = 30  # columns up to which screening costs more than it saves (measured)
STRICTNESS = 1.0  # share of the strong rule's threshold from which pairs are kept on longer tables
TOLERANCE = 1e-7  # of certificates, unless another is asked for
MAX_STEPS = 100  # of Newton's method per alpha, likewise
ROUNDED = 1e-10  # KKT residual below which further steps move within rounding


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
