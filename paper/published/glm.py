"""L1-penalized logistic regression along a list of penalties, by the algorithm of glmnet.

It is here for one purpose: to run the paper's comparator as the paper ran it (`paper.published.plg`). The
algorithm is the one Friedman, Hastie and Tibshirani published (Journal of Statistical Software 33(1), 2010) with the
strong rules of Tibshirani et al. (JRSS B 74, 2012): quadratic models, cyclic coordinate descent on the columns that
were ever non-zero, sequential strong rules and a check of the columns left out. With weights w normalized to sum to
one and φ the penalty factors, every λ has the objective

    Σ_i w_i [ log(1+exp η_i) − y_i η_i ]  +  λ Σ_j φ_j |b_j| ,     η = b_0 + Σ_j b_j x_j

It stops when no coordinate moves by much, v_j·Δ_j² < thresh × null deviance, v_j being the curvature of the quadratic
model. That says little about the distance to the optimum: see docs/comparators.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import check_count, check_positive
from isinglass.arrays import FloatArray, Frozen
from isinglass.data import check_sample_weight
from isinglass.errors import ArgumentError, DataError
from isinglass.separation import Matrix
from paper.published.lognet import Lognet

ENTRIES = 1 << 22  # of the design that are looked at in one piece, small enough for an interrupt to be heard


@dataclass(frozen=True, eq=False, repr=False)
class GlmPath(Frozen):
    """Logistic regressions along decreasing λ."""

    lambdas: FloatArray  #: penalties, decreasing
    coefficients: FloatArray  #: on the scale of the design as it was passed
    intercepts: FloatArray  #: zero where none was fitted
    n_iter: NDArray[np.int64]  #: passes of coordinate descent
    n_outer: NDArray[np.int64]  #: quadratic models
    n_strong: NDArray[np.int64]  #: columns that were not screened out, here or at a larger λ
    converged: NDArray[np.bool_]  #: whether the stopping rule was met before the passes ran out
    deviance: FloatArray  #: minus twice the log-likelihood, rows counted with their weights as passed

    def __len__(self) -> int:
        return len(self.lambdas)

    def __repr__(self) -> str:
        return (
            f"GlmPath({len(self)} lambdas {self.lambdas[0]:.4g} … {self.lambdas[-1]:.4g}, "
            f"{np.count_nonzero(self.coefficients[-1])} of {self.coefficients.shape[1]} coefficients at the last, "
            f"{int(self.converged.sum())} of {len(self)} converged, {int(self.n_iter.sum())} passes)"
        )


def logistic_path(
    design: ArrayLike | sp.sparray | sp.spmatrix,
    response: ArrayLike,
    lambdas: float | ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    penalty_factor: ArrayLike | None = None,
    rescale_factors: bool = True,
    intercept: bool = True,
    standardize: bool = False,
    thresh: float = 1e-7,
    max_iter: int = 100_000,
    min_probability: float = 1e-9,
    screen: bool = True,
) -> GlmPath:
    """Fit the logistic lasso for every λ, each fit starting from the one before.

    Parameters
    ----------
    design : array-like or scipy.sparse matrix of shape (n_rows, n_columns)
        Designs are used as compressed columns. Zero columns, and constant ones where
        there is an intercept, get the coefficient 0.
    response : array-like of shape (n_rows,)
        Values from 0 to 1, not all of them 0 nor all of them 1.
    lambdas : float or array-like
        Penalties, in any order.
    sample_weight : array-like of shape (n_rows,), optional
        Row weights; an integer weight equals repeated rows.
    penalty_factor : array-like of shape (n_columns,), optional
        Multiples φ of λ, 0 for a column that is not penalized; default 1.
    rescale_factors : bool, default True
        Multiply the factors by one number so that they sum to the number of columns, which is what glmnet does.
        With False they are used as they are.
    intercept : bool, default True
        Fit an unpenalized intercept. The columns are then centered, which costs nothing.
    standardize : bool, default False
        Divide the columns by their population standard deviation, so that λ acts on that scale.
    thresh : float, default 1e-7
        The stopping rule: the largest v_j·Δ_j² of a pass over the columns, and of a step from one quadratic model to
        the next, is below ``thresh`` times the null deviance (that of the intercept alone, or of probabilities ½;
        half of it and per unit of weight, as in glmnet).
    max_iter : int, default 100_000
        Passes in all. Where they run out the current coefficients are returned and ``converged`` is False.
    min_probability : float, default 1e-9
        A fitted probability nearer to 0 or 1 is taken for 0 or 1, and its row gets this variance. The publication has
        1e-5, the R package 1e-9.
    screen : bool, default True
        Use the strong rules. The columns they leave out are checked, so that the result does not depend on them.

    Returns
    -------
    GlmPath
        One fit per λ, in decreasing order. Unlike glmnet's own choice of λ, a given list is never cut short.

    Examples
    --------
    >>> import numpy as np
    >>> path = logistic_path([[0.0], [1.0], [0.0], [1.0]], [0, 0, 1, 1], [0.3, 0.1])
    >>> path.coefficients.tolist()
    [[0.0], [0.0]]
    """
    check_positive("thresh", thresh)
    check_count("max_iter", max_iter)
    if not 0.0 < min_probability < 0.5:
        raise ArgumentError("min_probability", "must be between 0 and 0.5, both excluded", min_probability)
    columns = _as_columns(design)
    n_rows, n_columns = columns.shape
    y = _check_response(response, n_rows)
    raw = check_sample_weight(sample_weight, n_rows)
    raw = np.ones(n_rows) if raw is None else raw
    weight = raw / raw.sum()
    if not 0.0 < float(weight @ y) < 1.0:
        raise DataError(f"response must take more than one value; got {float(weight @ y)!r} in every row with weight.")
    factor = _check_factors(penalty_factor, n_columns, rescale_factors)
    mean, scale = _moments(columns, weight, intercept, standardize)
    grid = np.array(lambdas, dtype=np.float64)
    if grid.ndim > 1 or grid.size == 0:
        raise DataError(f"lambdas must be a number or a list of numbers; got shape {grid.shape}.")
    grid = _not_negative("lambdas", np.sort(grid.ravel())[::-1].copy())
    numbers, settings = (y, weight, factor, mean, scale), (thresh, max_iter, min_probability, intercept, screen)
    fit = Lognet(*_compressed(columns), numbers, settings)
    states = [fit.solve(value) for value in grid]
    coefficients, intercepts, losses, *counts = map(np.array, zip(*states, strict=True))
    values = (grid, coefficients, intercepts, *counts, 2.0 * raw.sum() * losses)
    return GlmPath(*values)


def _as_columns(design: Matrix) -> sp.csc_array:
    """Return the design as compressed columns of double precision."""
    matrix: Matrix = design if sp.issparse(design) else np.asarray(design)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise DataError(f"design must have at least one row and one column; got shape {matrix.shape}.")
    if matrix.dtype.kind not in "buif":
        raise DataError(f"design must hold numbers; got dtype {matrix.dtype}.")
    columns = sp.csc_array(matrix)
    if not columns.has_canonical_format:
        columns = columns.copy()
        columns.sum_duplicates()
    columns = columns.astype(np.float64)
    if not np.isfinite(columns.data).all():
        raise ArgumentError("design", "must be finite", float(columns.data[~np.isfinite(columns.data)][0]))
    return columns


def _compressed(columns: sp.csc_array) -> tuple[NDArray[np.int64], NDArray[np.int32], FloatArray | None]:
    """Return starts, rows and values of the columns; no values where all are 1."""
    # The stacked design of a network holds ones only: a third of the memory to go through.
    values = None if bool((columns.data == 1.0).all()) else columns.data
    return columns.indptr.astype(np.int64), columns.indices.astype(np.int32), values


def _moments(
    columns: sp.csc_array, weight: FloatArray, intercept: bool, standardize: bool
) -> tuple[FloatArray, FloatArray]:
    """Return what is subtracted from each column and what it is divided by, 0 for a column to leave out."""
    n_columns = columns.shape[1]
    number = 1 + columns.nnz // ENTRIES
    parts = []
    for first, last in pairwise(np.unique(np.linspace(0, n_columns, number + 1).astype(int)).tolist()):
        part = columns[:, first:last]
        parts.append((weight @ part, weight @ (part * part), abs(part).max(axis=0).toarray().ravel()))
    mean, square, largest = (np.concatenate(values) for values in zip(*parts, strict=True))
    variance = np.maximum(square - mean**2, 0.0)
    # A constant column has a variance of rounding errors.
    varies = variance > 1e-14 * largest**2
    kept = varies if intercept or standardize else largest > 0.0
    scale = np.where(kept, np.sqrt(np.where(varies, variance, 1.0)) if standardize else 1.0, 0.0)
    return (mean if intercept else np.zeros(n_columns)), scale


def _check_response(response: ArrayLike, n_rows: int) -> FloatArray:
    y = np.ascontiguousarray(response, dtype=np.float64)
    if y.shape != (n_rows,):
        raise DataError(f"response must have one value per row ({n_rows},); got shape {y.shape}.")
    bad = ~((y >= 0) & (y <= 1))
    if bad.any():
        raise ArgumentError("response", "must be between 0 and 1", float(y[bad][0]))
    return y


def _check_factors(penalty_factor: ArrayLike | None, n_columns: int, rescale: bool) -> FloatArray:
    factor = np.ones(n_columns) if penalty_factor is None else np.array(penalty_factor, dtype=np.float64)
    if factor.shape != (n_columns,):
        raise DataError(f"penalty_factor must have one value per column ({n_columns},); got shape {factor.shape}.")
    _not_negative("penalty_factor", factor)
    if rescale:
        if not factor.any():
            raise DataError("penalty_factor must not be 0 everywhere; got only zeros. Use rescale_factors=False.")
        factor *= n_columns / factor.sum()
    return factor


def _not_negative(name: str, values: FloatArray) -> FloatArray:
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        raise ArgumentError(name, "must be finite and not negative", float(values[bad][0]))
    return values
