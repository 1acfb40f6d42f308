"""The joint pseudo-likelihood: the estimator at a given alpha, and what those that choose one share with it."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.data import BinaryTable
from isinglass.errors import ConstantColumnWarning, suppress_warnings
from isinglass.estimators.base import IsingEstimator, check_alpha
from isinglass.results import Path, Solution
from isinglass.solve.path import ising_path

__all__ = ["IsingLasso", "JointEstimator", "alphas_of"]

FloatArray = NDArray[np.float64]
Penalty = ArrayLike | str | None


class JointEstimator(IsingEstimator):
    """An estimator whose path function is `ising_path`."""

    penalty_weights: Penalty
    tol: float
    max_iter: int
    n_threads: int | None

    def _path_function(self, **options: Any) -> Any:
        """Return `ising_path` with the options of this estimator."""
        if self.n_threads is not None:  # unset, the selection functions may set it
            options["n_threads"] = self.n_threads
        return functools.partial(
            ising_path, penalty_weights=self.penalty_weights, tol=self.tol, max_iter=self.max_iter, **options
        )


class IsingLasso(JointEstimator):
    """Sparse Ising network by L1-regularised pseudo-likelihood at a given penalty.

    Minimises the mean negative log pseudo-likelihood plus ``alpha * sum(penalty_weights * abs(couplings))`` over pairs.

    Parameters
    ----------
    alpha : float, default 0.05
        Penalty strength. Without edges from twice the largest covariance of two columns on, so at most 0.5.
    penalty_weights : None, "standardized" or symmetric matrix, default None
        Weight of each pair's penalty: 1; the sum of the two standard deviations; or given, where 0 leaves a pair
        unpenalised and inf forbids it.
    tol : float, default 1e-7
        Bound on the relative duality gap and on the KKT residual over all pairs.
    max_iter : int, default 100
        Newton steps per alpha.
    n_threads : int, optional
        Threads of the kernels; default all cores, or what ISINGLASS_NUM_THREADS says. The result does not depend on it.
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
        The certificate: largest violation of the optimality conditions over all pairs, and an upper bound on the
        distance of the objective from its minimum.
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
    isinglass.ising_path : the function behind it, for many alphas at once.

    Examples
    --------
    >>> from isinglass import IsingLasso, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(5, strength=2.0, fields="balanced"), 1000, random_state=0)
    >>> net = IsingLasso(alpha=0.1).fit(X)
    >>> net.solution_.edge_index.tolist(), net.converged_
    ([[0, 1], [1, 2], [2, 3], [3, 4]], True)
    >>> net.predict_proba(X[:1]).shape
    (1, 5)
    """

    def __init__(
        self,
        alpha: float = 0.05,
        *,
        penalty_weights: Penalty = None,
        tol: float = 1e-7,
        max_iter: int = 100,
        n_threads: int | None = None,
        missing: str = "error",
        encode: Any = None,
        coding: str = "bits",
        binarize: float | None = None,
    ) -> None:
        self.alpha = alpha
        self.penalty_weights = penalty_weights
        self.tol = tol
        self.max_iter = max_iter
        self.n_threads = n_threads
        self.missing = missing
        self.encode = encode
        self.coding = coding
        self.binarize = binarize

    def _estimate(self, table: BinaryTable, weight: FloatArray | None, y: Any) -> tuple[Solution, dict[str, Any]]:
        alphas = [check_alpha(self.alpha)]
        with suppress_warnings(ConstantColumnWarning):
            return self._path_function()(table.X, alphas, sample_weight=weight)[0], {}


def alphas_of(path: Path) -> FloatArray:
    """Return the penalty strengths of a path."""
    return np.array([solution.alpha for solution in path])
