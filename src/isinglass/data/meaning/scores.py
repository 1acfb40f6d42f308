"""Where the categories of an ordered column lie: numbers in units of their largest common step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isinglass.arrays import FloatArray
from isinglass.data.meaning.advice import CONTINUOUS
from isinglass.data.meaning.values import Value, show_values
from isinglass.errors import ArgumentError, DataError, setting
from isinglass.variables import MAX_CATEGORIES, check_scores

FARTHEST = MAX_CATEGORIES - 1
"""Steps of equal length from the smallest to the largest score, at most."""
_RELATIVE_ROUNDING = 1e-9
EPSILON = float(np.finfo(np.float64).eps)


def scores_from_lowest(points: Value, n_categories: int, where: str) -> list[float]:
    """Return where every category lies, from the lowest on: only distances matter, and an offset would only round.

    Takes one finite number per category, all different; ``where`` is what messages call the column.
    """
    numbers = check_scores(points, n_categories, where)
    lowest = min(numbers)
    above = np.array([point - lowest for point in numbers])
    if not np.isfinite(above).all():
        raise ArgumentError("scores", f"must have finite distances for {where}", points)
    steps = whole_steps(above, 4.0 * EPSILON * max(map(abs, numbers)))
    if steps is not None:
        above = steps[0] * steps[1]
    if len(set(above.tolist())) < len(above):
        raise ArgumentError("scores", f"must differ by more than rounding for {where}", points)
    return [float(score) for score in above]


def whole_steps(above: FloatArray, error: float) -> tuple[FloatArray, float] | None:
    """Return scores from 0 on as whole numbers of equal steps, and the step; None if they are no such numbers.

    ``error`` is the rounding error of the scores. A step that is off by more is no rounding, and not corrected.
    """
    smallest = float(above[above > 0.0].min())
    for parts in range(1, FARTHEST + 1):
        steps = above / (smallest / parts)
        most = float(steps.max())
        if most > FARTHEST + 0.5:
            break
        whole = steps.round()
        close = 8.0 * EPSILON * most + error * (parts + most) / smallest
        if np.abs(steps - whole).max() <= min(close, 0.1):
            return whole, float(above.max() / whole.max())
    return None


def steps_of(values: Sequence[Value], where: str) -> list[float]:
    """Return numbers as steps from the smallest, in units of the largest step that all are multiples of."""
    above = np.array([float(value) for value in values]) - float(values[0])
    if len(above) == 1:
        return [0.0]
    if (np.diff(above) > 0.0).all():  # as floats
        whole = whole_steps(above, _RELATIVE_ROUNDING * float(above[1]))
        if whole is None:
            raise DataError(
                f"{where} must hold multiples of one step, at most {FARTHEST} of them, to be ordinal; got "
                f"{show_values(values)}. Say where its categories lie ({setting('scores', python='scores={…: […]}')}), "
                f"or that they are numbers ({CONTINUOUS})."
            )
        if np.diff(whole[0]).all():
            return [float(step) for step in whole[0]]
    raise DataError(
        f"{where} must hold numbers that differ by more than rounding to be ordinal; got {show_values(values)}. "
        "Round them first, or subtract a number near them."
    )
