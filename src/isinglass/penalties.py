"""Penalty weights, and what the objectives of all problems share: optimality conditions, fields of constant columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray
from isinglass.data.weights import as_floats
from isinglass.errors import ArgumentError, DataError, setting
from isinglass.pairs import labels_of
from isinglass.variables import Variables

Penalty = ArrayLike | str | None

EPSILON = float(np.finfo(np.float64).eps)
# Rows with a smaller share of the largest weight count as absent: no sum feels them, and their inverse overflows.
NEGLIGIBLE = 1e-200


def smoothed_field(n_ones: ArrayLike, n_total: float) -> FloatArray:
    """Return logit((n₁+½)/(N+1)), the finite field of a constant column; N is the sum of the raw weights."""
    ones = np.asarray(n_ones, dtype=np.float64)
    zeros = np.maximum(n_total - ones, 0.0)  # sums in another order may differ in the last digit
    return np.asarray(np.log(ones + 0.5) - np.log(zeros + 0.5))


def refuse_labels(penalty_weights: Penalty) -> None:
    """Refuse a matrix with names, which may be in another order than the columns of a table."""
    if labels_of(penalty_weights) is not None:
        remedy = "Pass its numbers in the order of the columns: weights.loc[names, names].to_numpy()."
        raise ArgumentError("penalty_weights", "must be a matrix without names", type(penalty_weights).__name__, remedy)


def check_penalty_weights(penalty_weights: Penalty, n_features: int) -> FloatArray | str | None:
    """Return None (all 1), ``"standardized"`` or a symmetric matrix of weights in [0, inf]."""
    if penalty_weights is None:
        return None
    if isinstance(penalty_weights, str):
        if penalty_weights != "standardized":
            constraint = 'must be None, "standardized" or a symmetric matrix'
            raise ArgumentError("penalty_weights", constraint, penalty_weights)
        return penalty_weights
    refuse_labels(penalty_weights)
    matrix = as_floats("penalty_weights", penalty_weights)
    if matrix.shape != (n_features, n_features):
        raise DataError(f"{setting('penalty_weights')} must have shape {(n_features, n_features)}; got {matrix.shape}.")
    wrong = np.argwhere(~((matrix >= 0) & (matrix == matrix.T)) & ~np.eye(n_features, dtype=bool)).tolist()
    if wrong:
        s, t = wrong[0]
        found = f"{float(matrix[s, t])!r} at ({s}, {t}) and {float(matrix[t, s])!r} at ({t}, {s})"
        raise DataError(f"{setting('penalty_weights')} must be symmetric and in [0, inf]; got {found}.")
    return matrix


def penalty_matrix(sd: FloatArray, penalty_weights: Penalty, ranges: float | FloatArray = 1.0) -> FloatArray:
    """Return ω as a dense matrix with zero diagonal, given each column's population sd and the range of its scores."""
    checked = check_penalty_weights(penalty_weights, len(sd))
    if checked is None:
        omega = np.ones((len(sd), len(sd)))
    elif isinstance(checked, str):
        half = np.multiply.outer(sd, np.broadcast_to(ranges, sd.shape))
        omega = half + half.T
    else:
        omega = np.array(checked)
    np.fill_diagonal(omega, 0.0)
    return omega


def penalty_on(edges: NDArray[np.int32], n_features: int, weights: float | FloatArray) -> FloatArray:
    """Return penalty weights that allow some pairs and forbid all others."""
    matrix = np.full((n_features, n_features), np.inf)
    s, t = edges.T
    matrix[s, t] = matrix[t, s] = weights
    return matrix


def condition_on_covariates(omega: FloatArray, variables: Variables) -> FloatArray:
    """Return penalty weights with pairs of two covariates forbidden, and pairs with one free."""
    given = ~variables.is_modeled
    omega = np.where(given[:, None] != given, 0.0, omega)
    omega[np.logical_and.outer(given, given) & ~np.eye(len(given), dtype=bool)] = np.inf
    return np.asarray(omega)


def refuse_vanishing(alpha: float, penalty_weights: FloatArray) -> None:
    """Raise if the product of ``alpha`` and a weight underflows: it would pass for no penalty."""
    positive = penalty_weights[penalty_weights > 0.0]
    if alpha > 0.0 and len(positive) and float(positive.min()) < np.finfo(np.float64).tiny / alpha:
        raise DataError(
            "alpha times a penalty weight must be at least 2.3e-308, or it cannot be told from no penalty; got "
            f"{float(alpha)!r} times {float(positive.min())!r}. Rescale the penalty weights, or use 0 for no penalty."
        )


def violations(theta: FloatArray, g: FloatArray, penalty: FloatArray) -> FloatArray:
    """Return how far each coordinate of Θ is from its optimality condition (docs/math.md)."""
    with np.errstate(invalid="ignore"):  # inf·sign(0) in the branch that is not taken
        away = np.abs(g + penalty * np.sign(theta))
    at_zero = np.maximum(np.abs(g) - penalty, 0.0)
    return np.where(theta != 0, away, at_zero)
