"""Node-wise regression with the interface of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass.data import BinaryTable
from isinglass.data.weights import warn_weight_scale
from isinglass.errors import ArgumentError, ConstantColumnWarning, suppress_warnings
from isinglass.estimators.base import IsingEstimator, check_alpha
from isinglass.results import NodewisePath, Solution
from isinglass.solve.nodewise import choose_per_node, nodewise_path

__all__ = ["NodewiseIsing"]

FloatArray = NDArray[np.float64]


class NodewiseIsing(IsingEstimator):
    """Ising network of one logistic lasso per column; with ``criterion="ebic"`` what R's IsingFit computes.

    Parameters
    ----------
    alpha : float, default 0.025
        Penalty of one regression: half of `IsingLasso`'s alpha for the same strength. Not used with a criterion.
    rule : {"and", "or", "mean", "min", "max"}, default "and"
        How the two coefficients of a pair become one coupling. "and": their mean if both are non-zero, else 0. "or":
        the mean of those that are non-zero. "mean": (a + b) / 2 with zeros counted (IsingFit's AND = FALSE). "min",
        "max": the smaller or larger in absolute value.
    standardize : bool, default False
        Penalise as if the columns had unit standard deviation. IsingFit does: set it to True to get its networks.
    criterion : None or "ebic", default None
        "ebic": every column chooses its own penalty by the extended BIC. Its number of rows is the sum of the row
        weights: rescale weights that are not whole to mean 1.
    gamma : float, default 0.25
        Weight of the number of candidate models in the extended BIC; 0 is the BIC.
    alphas : int, default 100
        Length of every column's list of penalties; only with a criterion.
    alpha_min_ratio : float, optional
        Last over first of them; default 0.0001, or 0.01 with fewer rows than predictors. Only with a criterion.
    tol : float, default 1e-7
        Bound on every regression's KKT residual and on its relative duality gap.
    max_iter : int, default 100
        Newton steps per regression.
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
        The penalty strength that was used; NaN with a criterion.
    alphas_per_node_ : ndarray of shape (n_features,)
        What every column chose (NaN for constant ones); only with a criterion.
    asymmetric_couplings_ : csr_array of shape (n_features, n_features)
        Coefficients before the rule: row s is the regression of column s on the others.
    couplings_ : ndarray of shape (n_features, n_features)
        Symmetric, zero diagonal: θ_st.
    fields_ : ndarray of shape (n_features,)
        θ_ss.
    kkt_residual_, duality_gap_ : float
        The certificate: largest violation of a regression's optimality conditions over all columns, and the sum of the
        regressions' duality gaps.
    converged_ : bool
        Whether it reaches ``tol``.
    n_iter_ : int
        Newton steps of the regression that took most.
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
    isinglass.nodewise_path, isinglass.nodewise_ebic : the functions behind it.

    Examples
    --------
    >>> from isinglass import NodewiseIsing, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(5, strength=2.0, fields="balanced"), 1000, random_state=0)
    >>> net = NodewiseIsing(criterion="ebic", standardize=True).fit(X)
    >>> net.solution_.edge_index.tolist(), net.asymmetric_couplings_.shape
    ([[0, 1], [1, 2], [2, 3], [3, 4]], (5, 5))
    """

    _method = "nodewise"
    _path_settings = ("rule", "standardize", "tol", "max_iter")

    def __init__(
        self,
        alpha: float = 0.025,
        *,
        rule: str = "and",
        standardize: bool = False,
        criterion: str | None = None,
        gamma: float = 0.25,
        alphas: int = 100,
        alpha_min_ratio: float | None = None,
        tol: float = 1e-7,
        max_iter: int = 100,
        n_threads: int | None = None,
        missing: str = "error",
        encode: Any = None,
        coding: str = "bits",
        binarize: float | None = None,
    ) -> None:
        self.alpha = alpha
        self.rule = rule
        self.standardize = standardize
        self.criterion = criterion
        self.gamma = gamma
        self.alphas = alphas
        self.alpha_min_ratio = alpha_min_ratio
        self.tol = tol
        self.max_iter = max_iter
        self.n_threads = n_threads
        self.missing = missing
        self.encode = encode
        self.coding = coding
        self.binarize = binarize

    def _choice(self) -> dict[str, Any]:
        if self.criterion is None:
            return {"alpha": self.alpha}
        return {"gamma": self.gamma, "alphas": self.alphas, "alpha_min_ratio": self.alpha_min_ratio}

    def _estimate(self, table: BinaryTable, weight: FloatArray | None, y: Any) -> tuple[Solution, dict[str, Any]]:
        with suppress_warnings(ConstantColumnWarning):
            path = self._path(table.X, weight)
        solution = path.solutions[0]
        found: dict[str, Any] = {"asymmetric_couplings_": sp.csr_array(path.asymmetric_couplings[0])}
        if solution.alphas_per_node is not None:
            found["alphas_per_node_"] = solution.alphas_per_node
        return solution, found

    def _path(self, X: NDArray[np.uint8], weight: FloatArray | None) -> NodewisePath:
        """Return the path of one solution."""
        options: dict[str, Any] = {
            "sample_weight": weight,
            "rule": self.rule,
            "standardize": self.standardize,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "n_threads": self.n_threads,
        }
        if self.criterion is None:
            return nodewise_path(X, [check_alpha(self.alpha)], **options)
        if self.criterion != "ebic":
            raise ArgumentError("criterion", 'must be None or "ebic"', self.criterion)
        warn_weight_scale(weight)
        return choose_per_node(X, self.alphas, gamma=self.gamma, alpha_min_ratio=self.alpha_min_ratio, **options)
