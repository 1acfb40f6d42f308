"""Conditional variances and partial correlations of continuous columns."""

from __future__ import annotations

import numpy as np

from isinglass.arrays import Bytes, FloatArray
from isinglass.conditionals import conditionals_of_blocks
from isinglass.data import AnyTable
from isinglass.errors import MeaningWarning, warn
from isinglass.network import Network


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
