"""The network with the smallest extended BIC."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.data import BinaryTable
from isinglass.errors import ConstantColumnWarning, suppress_warnings
from isinglass.estimators.joint import JointEstimator, alphas_of
from isinglass.results import Solution
from isinglass.select.ebic import select_ebic

__all__ = ["IsingLassoEBIC"]

FloatArray = NDArray[np.float64]


class IsingLassoEBIC(JointEstimator):
    """Sparse Ising network at the penalty with the smallest extended BIC.

    The number of rows N of the criterion is the sum of the row weights, so that a whole weight equals repeated rows and
    the scale of weights that are not whole matters: rescale them to mean 1. A warning says so where their sum is less
    than half or more than twice the number of rows.

    Parameters
    ----------
    alphas : int, float or array-like, default 30
        Number of geometric steps down from the smallest alpha without edges, or the values themselves.
    gamma : float, default 0.25
        Weight of the number of candidate networks, not negative; 0 is the BIC, larger values choose fewer edges.
    relaxed : bool, default False
        Judge each network by the unpenalised estimate on its edges. The network returned is the penalised one, at the
        smallest of consecutive alphas with the edges that are chosen.
    alpha_min_ratio : float, default 0.01
        Last alpha over first alpha when ``alphas`` is a number.
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
        The choice.
    alphas_ : ndarray of shape (n_alphas,)
        The grid, decreasing.
    ebic_path_ : ndarray of shape (n_alphas,)
        Extended BIC of every solution; smaller is better.
    path_ : Path
        Solutions at all alphas.
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
    isinglass.select.select_ebic : the function behind it.

    Examples
    --------
    >>> from isinglass import IsingLassoEBIC, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(5, strength=2.0, fields="balanced"), 1000, random_state=0)
    >>> net = IsingLassoEBIC(relaxed=True).fit(X)
    >>> net.network_.n_edges, bool(net.ebic_path_[net.alphas_.tolist().index(net.alpha_)] == net.ebic_path_.min())
    (4, True)
    """

    _criterion = "ebic"
    _choice_settings = ("alphas", "alpha_min_ratio", "gamma", "relaxed")

    def __init__(
        self,
        alphas: int | float | ArrayLike = 30,
        *,
        gamma: float = 0.25,
        relaxed: bool = False,
        alpha_min_ratio: float = 0.01,
        penalty_weights: ArrayLike | str | None = None,
        tol: float = 1e-7,
        max_iter: int = 100,
        n_threads: int | None = None,
        missing: str = "error",
        encode: Any = None,
        coding: str = "bits",
        binarize: float | None = None,
    ) -> None:
        self.alphas = alphas
        self.gamma = gamma
        self.relaxed = relaxed
        self.alpha_min_ratio = alpha_min_ratio
        self.penalty_weights = penalty_weights
        self.tol = tol
        self.max_iter = max_iter
        self.n_threads = n_threads
        self.missing = missing
        self.encode = encode
        self.coding = coding
        self.binarize = binarize

    def _estimate(self, table: BinaryTable, weight: FloatArray | None, y: Any) -> tuple[Solution, dict[str, Any]]:
        with suppress_warnings(ConstantColumnWarning):
            found = select_ebic(
                table.X,
                alphas=self.alphas,
                gamma=self.gamma,
                relaxed=self.relaxed,
                path_function=self._path_function(alpha_min_ratio=self.alpha_min_ratio),
                sample_weight=weight,
            )
        return found.solution, {"alphas_": alphas_of(found.path), "ebic_path_": found.scores, "path_": found.path}
