"""The network whose edges are stable under subsampling."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.data import BinaryTable
from isinglass.errors import ConstantColumnWarning, suppress_warnings
from isinglass.estimators.joint import JointEstimator
from isinglass.randomness import RandomSource
from isinglass.results import Solution
from isinglass.select.stars import stars

__all__ = ["IsingLassoStARS"]

FloatArray = NDArray[np.float64]


class IsingLassoStARS(JointEstimator):
    """Sparse Ising network at the smallest penalty whose edges are stable under subsampling (StARS).

    Parameters
    ----------
    alphas : int, float or array-like, default 30
        Number of geometric steps down from the largest ``alpha_max`` of the subsamples and of the table, or the values.
    n_subsamples : int, default 20
        Number of subsamples, at least 2.
    subsample_size : int, optional
        Rows in each; default ⌊10 √n_samples⌋, or ⌊0.8 n_samples⌋ up to 144 rows.
    threshold : float, default 0.05
        Largest instability that counts as stable, from 0 to 0.5.
    bounded : bool, default True
        Leave out the dense end of the grid where it cannot matter; the choice is the same.
    alpha_min_ratio : float, default 0.01
        Last alpha over first alpha when ``alphas`` is a number.
    penalty_weights : None, "standardized" or symmetric matrix, default None
        Weight of each pair's penalty: 1; the sum of the two standard deviations; or given, where 0 leaves a pair
        unpenalised and inf forbids it.
    tol : float, default 1e-7
        Bound on the relative duality gap and on the KKT residual over all pairs.
    max_iter : int, default 100
        Newton steps per alpha.
    random_state : int, Generator, RandomState, SeedSequence or None
        Where the subsamples come from.
    n_jobs : int, optional
        Subsamples at the same time, as in joblib; -1 is all cores. The result does not depend on it.
    checkpoint : path, optional
        Folder that keeps finished fits, so that an interrupted `fit` resumes there.
    progress : bool, optional
        Whether to show a bar on stderr; default only if that is a terminal.
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
    stability_ : Stability
        How far the subsamples agreed along the grid.
    path_ : Path
        Solutions on the whole table, at the alphas that all subsamples ran: solution k belongs to
        ``stability_.edge_frequencies[k]``.
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
    isinglass.stars : the function behind it.

    Notes
    -----
    A row weight enters the fits, not the draw of the subsamples: a weight of 2 is not the same as a row that occurs
    twice. A row of weight 0 is never drawn.

    Examples
    --------
    >>> from isinglass import IsingLassoStARS, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(12, strength=2.0, fields="balanced"), 2000, random_state=0)
    >>> net = IsingLassoStARS(random_state=0).fit(X)
    >>> net.network_.n_edges, float(net.edges()["stability"].min())
    (11, 1.0)
    """

    _criterion = "stars"
    _choice_settings = (
        *("alphas", "alpha_min_ratio", "n_subsamples", "subsample_size", "threshold", "bounded", "random_state"),
    )

    def __init__(
        self,
        alphas: int | float | ArrayLike = 30,
        *,
        n_subsamples: int = 20,
        subsample_size: int | None = None,
        threshold: float = 0.05,
        bounded: bool = True,
        alpha_min_ratio: float = 0.01,
        penalty_weights: ArrayLike | str | None = None,
        tol: float = 1e-7,
        max_iter: int = 100,
        random_state: RandomSource = None,
        n_jobs: int | None = None,
        checkpoint: str | PathLike[str] | None = None,
        progress: bool | None = None,
        n_threads: int | None = None,
        missing: str = "error",
        encode: Any = None,
        coding: str = "bits",
        binarize: float | None = None,
    ) -> None:
        self.alphas = alphas
        self.n_subsamples = n_subsamples
        self.subsample_size = subsample_size
        self.threshold = threshold
        self.bounded = bounded
        self.alpha_min_ratio = alpha_min_ratio
        self.penalty_weights = penalty_weights
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.progress = progress
        self.n_threads = n_threads
        self.missing = missing
        self.encode = encode
        self.coding = coding
        self.binarize = binarize

    def _estimate(self, table: BinaryTable, weight: FloatArray | None, y: Any) -> tuple[Solution, dict[str, Any]]:
        path_function = self._path_function()
        found = stars(
            table.X,
            alphas=self.alphas,
            n_subsamples=self.n_subsamples,
            subsample_size=self.subsample_size,
            threshold=self.threshold,
            bounded=self.bounded,
            alpha_min_ratio=self.alpha_min_ratio,
            path_function=path_function,
            sample_weight=weight,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            checkpoint=self.checkpoint,
            progress=self.progress,
        )
        with suppress_warnings(ConstantColumnWarning):
            path = path_function(table.X, found.alphas[: len(found.edge_frequencies)], sample_weight=weight)
        return path[found.index], {"alphas_": found.alphas, "stability_": found, "path_": path}
