"""The exact penalised likelihood with the interface of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.data import BinaryTable
from isinglass.errors import ConstantColumnWarning, suppress_warnings
from isinglass.estimators.base import IsingEstimator, check_alpha
from isinglass.results import Solution
from isinglass.solve.exact import exact_path

__all__ = ["ExactIsing"]

FloatArray = NDArray[np.float64]


class ExactIsing(IsingEstimator):
    """Sparse Ising network by the L1-regularised likelihood itself, for at most 20 columns.

    Enumerates all 2^p states: what the pseudo-likelihood approximates, at a price.

    Parameters
    ----------
    alpha : float, default 0.025
        Penalty strength per row: half of `IsingLasso`'s alpha for the same strength.
    penalty_weights : None, "standardized" or symmetric matrix, default None
        Weight of each pair's penalty: 1; the sum of the two standard deviations; or given, where 0 leaves a pair
        unpenalised and inf forbids it.
    tol : float, default 1e-7
        Bound on the relative duality gap and on the KKT residual over all pairs.
    max_iter : int, default 200
        Newton steps per alpha.
    missing : {"error", "zero", "drop"}, default "error"
        What to do with missing cells: refuse them, take them as 0, or leave out their rows. Only `fit` and `score` can
        leave out rows; to fill cells use `impute`.
    encode : mapping or "auto", optional
        What the values of the table mean, such as ``{"Yes": 1, "No": 0}``; "auto" finds the two values of every column
        (see `encoding_`).
    coding : {"bits", "spins"}, default "bits"
        "spins": the table holds -1 and 1. Couplings and fields are those of 0/1 coding all the same.
    binarize : float, optional
        Numbers above this threshold are 1, the others 0. By default the table must be 0/1.

    Attributes
    ----------
    alpha_ : float
        The penalty strength that was used.
    couplings_ : ndarray of shape (n_features, n_features)
        Symmetric, zero diagonal: θ_st.
    fields_ : ndarray of shape (n_features,)
        θ_ss.
    kkt_residual_, duality_gap_ : float
        The certificate: largest violation of the optimality conditions of the exact problem, and an upper bound
        on the distance of its objective from the minimum.
    converged_ : bool
        Whether it reaches ``tol``.
    n_iter_ : int
        Newton steps.
    network_ : Network
        Couplings, fields and names: the network by itself.
    solution_ : Solution
        The same as the path function returned it, with all diagnostics.
    edge_counts_ : ndarray of shape (n_edges, 4)
        Rows with 11, 10, 01 and 00 in the two columns of each edge of `solution_`.
    marginals_ : ndarray of shape (n_features,)
        Share of ones in every column.
    n_rows_ : float
        Number of rows: the sum of the weights.
    encoding_ : dict
        For each column that was not 0/1 already: the two values that stand for 0 and 1.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns; only if they all have one that is a string.

    See Also
    --------
    isinglass.exact_path : the function behind it, for many alphas at once.
    isinglass.exact.log_likelihood : the exact mean log-likelihood of rows; `score` is that of the pseudo-likelihood, as
        for all estimators here.

    Examples
    --------
    >>> from isinglass import ExactIsing, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(5, strength=2.0, fields="balanced"), 1000, random_state=0)
    >>> net = ExactIsing(alpha=0.05).fit(X)
    >>> net.solution_.edge_index.tolist(), net.converged_
    ([[0, 1], [1, 2], [2, 3], [3, 4]], True)
    """

    _method = "exact"

    def __init__(
        self,
        alpha: float = 0.025,
        *,
        penalty_weights: ArrayLike | str | None = None,
        tol: float = 1e-7,
        max_iter: int = 200,
        missing: str = "error",
        encode: Any = None,
        coding: str = "bits",
        binarize: float | None = None,
    ) -> None:
        self.alpha = alpha
        self.penalty_weights = penalty_weights
        self.tol = tol
        self.max_iter = max_iter
        self.missing = missing
        self.encode = encode
        self.coding = coding
        self.binarize = binarize

    def _estimate(self, table: BinaryTable, weight: FloatArray | None, y: Any) -> tuple[Solution, dict[str, Any]]:
        with suppress_warnings(ConstantColumnWarning):
            path = exact_path(
                table.X,
                [check_alpha(self.alpha)],
                sample_weight=weight,
                penalty_weights=self.penalty_weights,
                tol=self.tol,
                max_iter=self.max_iter,
            )
        return path.solutions[0], {}
