"""Continuous columns of a network: expected values and intervals of their cells, and partial correlations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isinglass.arguments import check_level
from isinglass.arrays import AnyArray, Bytes, FloatArray
from isinglass.conditionals import conditionals_of_blocks
from isinglass.data import AnyTable
from isinglass.data.meaning.rules import Rule, Steps
from isinglass.errors import MeaningWarning, warn
from isinglass.network import Network

_ROUNDING = 1e-9  # of probabilities, and of quarters of a step


def expected_values(chance: Sequence[FloatArray], rules: Sequence[Rule]) -> FloatArray:
    """Return the expected number of every cell, shape (n_samples, n_features); NaN in columns that hold no numbers.

    ``chance`` has an array (n_samples, n_categories) of probabilities for every variable, ``rules`` are those of the
    coding of the fit: the expected number within a step is the mean of its numbers there.
    """
    expected = np.full((len(chance[0]), len(rules)), np.nan)
    for s, rule in enumerate(rules):
        if isinstance(rule, Steps):
            expected[:, s] = chance[s] @ np.array(rule.means)
    return expected


def central_intervals(chance: Sequence[FloatArray], rules: Sequence[Rule], level: float) -> FloatArray:
    """Return between which numbers a cell lies with the probability ``level`` or a little more.

    The result has the shape (n_samples, n_features, 2), NaN in columns that hold no numbers. The probability below the
    interval is at most (1 - level) / 2, and so is that above, if the numbers of a step are distributed as in the table
    of the fit: the ends are numbers of that table, quartiles of a step.
    """
    ends = 0.5 + np.array([-0.5, 0.5]) * check_level(level)
    intervals = np.full((len(chance[0]), len(rules), 2), np.nan)
    for s, rule in enumerate(rules):
        if not isinstance(rule, Steps):
            continue
        share = chance[s] / chance[s].sum(axis=1, keepdims=True)
        up_to = np.cumsum(share, axis=1)
        for side, end in enumerate(ends.tolist()):
            step = np.minimum((up_to < end - _ROUNDING).sum(axis=1), rule.n_categories - 1)[:, None]
            above, mass = (np.take_along_axis(each, step, axis=1)[:, 0] for each in (up_to - end, share))
            quarters = 4.0 * np.clip(1.0 - above / np.maximum(mass, 1e-300), 0.0, 1.0)
            place = np.ceil(quarters - _ROUNDING) if side else np.floor(quarters + _ROUNDING)
            intervals[:, s, side] = np.array(rule.quartiles)[step[:, 0], place.astype(np.intp)]
    return intervals


def put_numbers(cells: AnyArray, numbers: FloatArray) -> AnyArray:  # Any: values of the source
    """Return cells of the source with numbers in place of some of them; where there is no number they stay."""
    there = ~np.isnan(numbers)
    if not there.any():
        return cells
    if cells.dtype.kind != "O":
        return np.where(there, numbers, cells)
    filled = cells.copy()
    for s in np.flatnonzero(there.any(axis=0)).tolist():
        found = numbers[there[:, s], s].tolist()
        whole = all(isinstance(cell, int) for cell in cells[:, s]) and all(map(float.is_integer, found))
        filled[there[:, s], s] = list(map(int, found)) if whole else found
    return filled


def conditional_variances(table: AnyTable, network: Network) -> FloatArray | None:
    """Return the geometric mean over rows of Var(x_s | the rest), in squared units of the scores.

    NaN for variables that are not continuous, None if none is. For jointly normal columns this is 1 / K_ss of their
    precision matrix K. In a column with a long tail, few rows with a large variance would decide about an arithmetic
    mean. A variance is at least that of numbers within a step, a twelfth of its square.
    """
    if not len(network.variables.continuous):
        return None
    return np.asarray(np.exp(table.sum_rows(_sum_log_variances, network) / table.total_weight))


def _sum_log_variances(codes: Bytes, weight: FloatArray | None, network: Network) -> FloatArray:
    variables = network.variables
    total = np.full(variables.n_features, np.nan)
    total[variables.continuous] = 0.0
    for _, row_weights, logs in conditionals_of_blocks(codes, weight, network):
        each = variables.split(logs)
        for s in variables.continuous.tolist():
            chance, points = np.exp(each[s]), np.array(variables.scores[s])
            mean = points @ chance
            variance = (((points[:, None] - mean) ** 2) * chance).sum(axis=0)
            within = ((points[-1] - points[0]) / (len(points) - 1)) ** 2 / 12.0
            total[s] += np.log(np.maximum(variance, within)) @ row_weights
    return total


def partial_correlations(network: Network, variances: FloatArray | None) -> FloatArray | None:
    """Return θ_st / √(κ_s κ_t) of every edge, with κ_s = 1 / ``variances[s]``; NaN unless both ends are continuous.

    None if no two columns are continuous. Where the columns are jointly normal this is the partial correlation.
    """
    if variances is None or len(network.variables.continuous) < 2:
        return None
    s, t = network.edge_index.T
    return np.asarray(network.edge_values * np.sqrt(variances[s] * variances[t]))


def warn_beyond_one(network: Network, correlations: FloatArray | None) -> None:
    """Say which partial correlations are beyond 1, and so no correlations."""
    if correlations is None:
        return
    with np.errstate(invalid="ignore"):
        over = np.flatnonzero(np.abs(correlations) > 1.0)
    if len(over):
        worst = over[np.argmax(np.abs(correlations[over]))]
        one, other = (network.names[k] for k in network.edge_index[worst].tolist())
        more = f" (and those of {len(over) - 1} more pairs)" if len(over) > 1 else ""
        warn(
            MeaningWarning(
                f"The partial correlation of {one!r} and {other!r} is {correlations[worst]:.2f}{more}, beyond 1: these "
                "columns are far from jointly normal, and their coupling cannot be read as a correlation. Try normal "
                "scores, or report the coupling itself."
            )
        )
