"""The network by default: two stages and a check by prediction."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.data import BinaryTable
from isinglass.errors import ConstantColumnWarning, suppress_warnings
from isinglass.estimators.joint import JointEstimator, alphas_of
from isinglass.randomness import RandomSource
from isinglass.results import Solution
from isinglass.select.two_stage import describe_stages, network_ebic, two_stage

__all__ = ["IsingNetwork"]

FloatArray = NDArray[np.float64]


class IsingNetwork(JointEstimator):
    """Sparse Ising network without a penalty to choose: the default of this package.

    Stage 1 finds the pairs that may matter, by the AIC along a lasso path. Stage 2 estimates them with penalties in
    inverse proportion to their couplings, so that strong ones are hardly shrunken, and chooses by the extended BIC. A
    cross-validation checks that the network keeps most of what can be predicted, and takes a denser one where it does
    not. `isinglass fit` gives the same network.

    Parameters
    ----------
    alphas : int, float or array-like, default 30
        How close the alphas of stage 1 are in a first pass, as a number of them; or these alphas. Hardly matters.
    gamma : float, default 0.25
        Weight of the number of candidate networks in the extended BIC; larger values choose fewer edges.
    keep : float, optional
        Share of the best cross-validated gain that the network must keep; 0 leaves the choice to the extended BIC.
        Default 0.95, or 0.85 with no more rows than columns.
    n_folds : int, default 5
        Folds of the cross-validation.
    random_state : int, Generator, RandomState, SeedSequence or None, default 0
        Where the folds come from.
    n_jobs : int, optional
        Folds at the same time, as in joblib; -1 is all cores. The result does not depend on it.
    progress : bool, optional
        Whether to show a bar on stderr; default only if that is a terminal.
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
        The penalty of the stage that the network belongs to, in units of that stage.
    alphas_ : ndarray of shape (n_alphas,)
        The penalties that this stage tried, decreasing.
    ebic_path_, held_out_ : ndarray of shape (n_alphas,)
        Extended BIC of its networks, and cross-validated gain in log pseudo-likelihood per row over independent
        columns; NaN where that was not needed.
    path_ : Path
        Its solutions.
    stages_ : list of dict
        What each stage tried, chose and proves; ``"network"`` marks the one that the network belongs to, and
        ``"reason"`` says why.
    edge_errors_ : ndarray of shape (n_edges,)
        Standard error of each coupling in `solution_`, of its unpenalised estimate; NaN where that is infinite.
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
    isinglass.two_stage : the function behind it.

    Examples
    --------
    >>> from isinglass import IsingNetwork, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(5, strength=2.0, fields="balanced"), 1000, random_state=0)
    >>> net = IsingNetwork().fit(X)
    >>> net.solution_.edge_index.tolist(), bool((abs(net.edge_errors_) < 0.3).all())
    ([[0, 1], [1, 2], [2, 3], [3, 4]], True)
    """

    relaxed = False  # what `ebic_path_` is
    _criterion = "two-stage"
    _choice_settings = ("alphas", "gamma", "keep", "n_folds", "random_state")

    def __init__(
        self,
        alphas: int | float | ArrayLike = 30,
        *,
        gamma: float = 0.25,
        keep: float | None = None,
        n_folds: int = 5,
        penalty_weights: ArrayLike | str | None = None,
        tol: float = 1e-7,
        max_iter: int = 100,
        random_state: RandomSource = 0,
        n_jobs: int | None = None,
        progress: bool | None = None,
        n_threads: int | None = None,
        missing: str = "error",
        encode: Any = None,
        coding: str = "bits",
        binarize: float | None = None,
    ) -> None:
        self.alphas = alphas
        self.gamma = gamma
        self.keep = keep
        self.n_folds = n_folds
        self.penalty_weights = penalty_weights
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.n_threads = n_threads
        self.missing = missing
        self.encode = encode
        self.coding = coding
        self.binarize = binarize

    @property
    def fit_function(self) -> Any:
        """The function of a table that gives the network, with the settings of this estimator: what is resampled."""
        return functools.partial(
            two_stage,
            alphas=self.alphas,
            gamma=self.gamma,
            keep=self.keep,
            n_folds=self.n_folds,
            path_function=self._path_function(),
            random_state=self.random_state,
        )

    def _estimate(self, table: BinaryTable, weight: FloatArray | None, y: Any) -> tuple[Solution, dict[str, Any]]:
        with suppress_warnings(ConstantColumnWarning):
            found = self.fit_function(table.X, sample_weight=weight, n_jobs=self.n_jobs, progress=self.progress)
        stage = found.stages[found.stage]
        return found.solution, {
            "alphas_": alphas_of(found.path),
            "ebic_path_": network_ebic(found, table.X, weight),
            "held_out_": np.array(stage.held_out),
            "path_": found.path,
            "stages_": describe_stages(found),
            "edge_errors_": np.array(found.edge_errors),
        }
