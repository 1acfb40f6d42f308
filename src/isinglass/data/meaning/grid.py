"""Continuous columns: numbers on a grid of equal steps, or equal steps of normal scores."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray, Mask, rounding_error
from isinglass.data.meaning.advice import DROP, make_missing, remark_column
from isinglass.data.meaning.rules import Steps
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.meaning.values import as_whole, is_finite, show_values
from isinglass.errors import DataError

LEAST_STEPS, MOST_STEPS = 16, 32
"""Steps of a grid; whole numbers that are kept as they are may have more."""
MOST_KEPT = 64
"""Whole numbers from the lowest to the highest that get a step each, for any number of rows."""
FINE_STEPS = 255
"""Steps of a covariate, which cost nothing: it has no distribution to be estimated."""
WIDEST_STEP = 0.2
"""Width of a step of a covariate whose grid has all its numbers, in standard deviations of those between the quantiles:
the variance within steps is then a third of a percent of all."""
TAIL = 0.005
"""Share of the rows below and above the ends of a grid."""
NORMAL_POINTS = 254
"""The normal scores of few values are whole numbers from 0 to this, as the solver needs; half of it is one, too."""
MOST_DECIMALS, UNIT_DECIMALS = 8, 3
"""Decimals of numbers that were rounded, and of the unit of which numbers are whole multiples."""
_ROUNDING = 1e-12
"""Relative rounding error of sums of weights."""


def find_grid(spec: ColumnSpec, rows: Mask | slice = slice(None)) -> Steps:
    """Return the grid of a continuous column, as these rows have it."""
    missing, weights = {None, *spec.encode.missing}, spec.source.weight
    cells = spec.column.entries[rows].tolist()
    there = [k for k, cell in enumerate(cells) if cell not in missing]
    values = [cells[k] for k in there]
    wrong = [value for value in values if not is_finite(value)]
    if wrong or not math.isfinite(max(values) - min(values)):
        needed = "finite numbers" if wrong else "numbers whose differences are finite"
        remark = remark_column(spec.source, spec.place) if any(isinstance(value, str) for value in wrong) else ""
        raise DataError(
            f"{spec.where} must hold {needed} to be continuous; got {show_values(set(wrong or values))}. Leave the "
            f"column out ({DROP}), declare it as nominal, or make cells missing ({make_missing(wrong[:1])}).{remark}"
        )
    numbers, weight = np.array(values, dtype=np.float64), None if weights is None else weights[rows][there]
    is_normal, is_fine = spec.scores == "normal", spec.is_covariate
    grid = normal_steps(numbers, weight) if is_normal else equal_steps(numbers, weight, is_fine=is_fine)
    if grid is None:
        raise DataError(
            f"{spec.where} must hold numbers that differ by more than rounding to be continuous; got "
            f"{show_values(set(values))}. Subtract a number near them, or leave the column out ({DROP})."
        )
    return grid


def n_steps(n_rows: int) -> int:
    """Return the number of equal steps for this number of rows, as measured in docs/notebook.md."""
    return int(min(max(round(2.0 * n_rows ** (1 / 3)), LEAST_STEPS), MOST_STEPS))


def equal_steps(numbers: FloatArray, weight: FloatArray | None = None, *, is_fine: bool = False) -> Steps | None:
    """Return a grid of equal steps for numbers of rows with these weights, None if they differ by rounding only.

    It reaches from the 0.5 % quantile to the 99.5 % quantile, or to the extreme numbers if they are within one step.
    Multiples of a unit, such as whole numbers, are kept as they are if there are at most `MOST_KEPT` from one end to
    the other; if there are more, every step has as many of them. ``is_fine``: as many steps as there can be, to the
    smallest and the largest number unless steps would be wide. Weights affect only the means and quartiles of steps.
    """
    ordered, weight = _sort(numbers, weight)
    unit = _unit(ordered)
    most, most_kept = (FINE_STEPS, FINE_STEPS) if is_fine else (n_steps(len(ordered)), MOST_KEPT)
    low, high = _ends(ordered, most, is_fine=is_fine)
    if unit is None:
        edges, values = _split_evenly(low, high, most)
    else:
        if (ordered[-1] - ordered[0]) / unit < most_kept or high - low < 2 * unit:
            low, high = float(ordered[0]), float(ordered[-1])
        edges, values = _split_multiples(low, high, unit, most, most_kept)
    ends = (float(edges[0]), float(edges[-1]))
    steps = np.searchsorted(edges[1:-1], ordered, side="right")
    grid = _make_steps(ordered, weight, steps, edges[1:-1], values, np.arange(len(values)), ends)
    if grid is None or not _ascend(edges):
        return None
    beyond = int((ordered < ends[0]).sum()), int((ordered > ends[1]).sum())
    are_whole = all(value.is_integer() for value in grid.values)
    return replace(grid, beyond=beyond, values=tuple(map(as_whole, grid.values)) if are_whole else grid.values)


def normal_steps(numbers: FloatArray, weight: FloatArray | None = None) -> Steps | None:
    """Return a grid in equal steps of normal scores, the normal quantiles of ranks, None where they are not apart.

    Equal numbers share a rank. A step without a number is left out. The score of a step is the mean normal score of
    its rows, and the number that stands for it is the median of theirs.
    """
    distinct, counts = np.unique(numbers, return_counts=True)
    if len(distinct) == 1:
        return None
    points = _normal_points(counts)
    firsts = np.flatnonzero(np.diff(points, prepend=-1))
    if len(firsts) < 3:  # nearly all rows have one value
        return equal_steps(numbers, weight)
    ordered, weight = _sort(numbers, weight)
    steps = np.searchsorted(points[firsts], np.repeat(points, counts))
    medians = np.array([np.median(ordered[steps == k]) for k in range(len(firsts))])
    bounds = np.array([distinct[k - 1] / 2 + distinct[k] / 2 for k in firsts[1:].tolist()])
    ends = _ends(ordered, len(firsts), is_fine=False)
    grid = _make_steps(ordered, weight, steps, bounds, medians, points[firsts], ends)
    return None if grid is None else replace(grid, is_normal=True)


def _make_steps(
    ordered: FloatArray,
    weight: FloatArray,
    steps: NDArray[np.intp],
    bounds: FloatArray,
    values: FloatArray,
    scores: FloatArray | NDArray[np.intp],
    ends: tuple[float, float],
) -> Steps | None:
    """Return a grid of these steps of the rows, scores in standard deviations; None if the steps are not apart."""
    sd = float(scores[steps].std())
    if sd == 0 or not (_ascend(bounds) and _ascend(values)):
        return None
    means, quartiles = _summarize(ordered, weight, steps, values, ends)
    return Steps(
        bounds=tuple(bounds.tolist()),
        values=tuple(values.tolist()),
        scores=tuple((scores / sd).tolist()),
        means=means,
        quartiles=quartiles,
        ends=ends,
        decimals=_decimals(ordered),
    )


def _ascend(points: FloatArray) -> bool:
    """Tell whether every point is above the one before."""
    return bool((np.diff(points) > 0).all())


def _sort(numbers: FloatArray, weight: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Return numbers in ascending order, and the weights of their rows."""
    order = np.argsort(numbers, kind="stable")
    return numbers[order], np.ones(len(order)) if weight is None else weight[order]


def _ends(ordered: FloatArray, n_steps: int, *, is_fine: bool) -> tuple[float, float]:
    """Return from where to where a grid reaches."""
    n, least, most = len(ordered), float(ordered[0]), float(ordered[-1])
    low, high = (float(ordered[k]) for k in (int(TAIL * n), n - 1 - int(TAIL * n)))
    if low == high:  # nearly all rows have one value
        return least, most
    if is_fine:
        sd = (high - low) * float(((np.clip(ordered, low, high) - low) / (high - low)).std())  # no square is infinite
        if most - least <= WIDEST_STEP * FINE_STEPS * sd:  # no number is far away
            return least, most
    near = (high - low) / n_steps  # a tail shorter than a step is part of the grid
    return (least if low - least < near else low), (most if most - high < near else high)


def _split_evenly(low: float, high: float, n_steps: int) -> tuple[FloatArray, FloatArray]:
    """Return the edges and the middles of equal steps."""
    width = (high - low) / n_steps
    steps = np.arange(n_steps + 1, dtype=np.float64)
    edges = low + width * steps
    edges[-1] = high  # rounding must not leave the largest number outside
    return edges, low + width / 2 + width * steps[:-1]


def _split_multiples(
    low: float, high: float, unit: float, n_steps: int, most_kept: int
) -> tuple[FloatArray, FloatArray]:
    """Return the edges and the middles of steps that have the same number of multiples of a unit each."""
    count = round((high - low) / unit) + 1
    each = 1 if count <= most_kept else math.ceil(count / n_steps)
    width, steps = each * unit, np.arange(math.ceil(count / each) + 1, dtype=np.float64)
    values = low + (each - 1) * unit / 2 + width * steps[:-1]
    tidy = np.round(values, UNIT_DECIMALS + 1)  # unless the first number has more decimals than the distances
    values = tidy if np.abs(tidy - values).max() <= rounding_error(values) else values
    return low - unit / 2 + width * steps, values


def _unit(ordered: FloatArray) -> float | None:
    """Return the largest number of at most three decimals that all distances are multiples of, if there is one."""
    for decimals in range(UNIT_DECIMALS + 1):
        above = (ordered - ordered[0]) * 10.0**decimals
        whole = np.round(above)
        if whole[-1] >= 2**53:
            return None
        rounding = rounding_error(ordered[[0, -1]]) * 10.0**decimals
        if np.abs(above - whole).max() <= rounding and whole[-1] > 0:
            return float(np.gcd.reduce(whole.astype(np.int64)) / 10**decimals)
    return None


def _decimals(numbers: FloatArray) -> int | None:
    """Return how many decimals numbers have; None if there are more than `MOST_DECIMALS`."""
    return next((k for k in range(MOST_DECIMALS + 1) if (numbers.round(k) == numbers).all()), None)


def _normal_points(counts: NDArray[np.intp]) -> FloatArray:
    """Return the normal scores of ascending numbers that occur so often: whole numbers from 0, one for every step."""
    from scipy.special import ndtri

    n = int(counts.sum())
    q = (n_steps(n) - 1) | 1  # odd: the median is in the middle of a step
    normal = ndtri(np.clip((np.cumsum(counts) - counts / 2) / n, TAIL, 1.0 - TAIL))
    along = (normal - normal[0]) / (normal[-1] - normal[0])
    n_points = NORMAL_POINTS if len(counts) <= q else q - 1  # fine scores of many steps would double the time of fits
    step = np.minimum((along * q).astype(np.intp), q - 1)
    means = (np.bincount(step, counts * along) / np.maximum(np.bincount(step, counts), 1))[step]
    return np.asarray(np.rint((means - means[0]) / (means[-1] - means[0]) * n_points))


def _summarize(
    ordered: FloatArray, weight: FloatArray, steps: NDArray[np.intp], values: FloatArray, ends: tuple[float, float]
) -> tuple[tuple[float, ...], tuple[tuple[float, ...], ...]]:
    """Return the weighted mean of the numbers of every step, and their least, quartiles and largest.

    The value of a step stands for its numbers if it has none. Rows without weight do not count, unless a step has no
    others. For means, numbers beyond the ends are the ends: a typing error would otherwise dominate every prediction
    that gives its step a little probability.
    """
    weight = np.where(np.bincount(steps, weight, len(values))[steps] > 0.0, weight, 1.0)
    counted = weight > 0.0
    numbers, steps, weight = ordered[counted], steps[counted], weight[counted]
    quartiles = _quartiles(numbers, weight, steps, values)
    middle = numbers[len(numbers) // 2]  # sums of differences from it lose fewer digits
    sums = np.bincount(steps, weight * (np.clip(numbers, *ends) - middle), len(values))
    sizes = np.bincount(steps, weight, len(values))
    means = np.where(sizes > 0.0, middle + sums / np.where(sizes > 0.0, sizes, 1.0), values)
    means = np.clip(means, quartiles[:, 0], quartiles[:, -1])
    return tuple(means.tolist()), tuple(map(tuple, quartiles.tolist()))


def _quartiles(numbers: FloatArray, weight: FloatArray, steps: NDArray[np.intp], values: FloatArray) -> FloatArray:
    """Return the least number of every step, its weighted quartiles and its largest; numbers are in ascending order."""
    quartiles = np.repeat(values[:, None], 5, axis=1)
    starts = np.searchsorted(steps, np.arange(len(values) + 1))
    for k, (start, end) in enumerate(pairwise(starts)):
        if start < end:
            up_to = np.cumsum(weight[start:end])  # the first rows with so much weight up to them
            rows = np.searchsorted(up_to, up_to[-1] * np.linspace(0.0, 1.0, 5) * (1.0 - _ROUNDING))
            quartiles[k] = numbers[start:end][rows]
    return quartiles
