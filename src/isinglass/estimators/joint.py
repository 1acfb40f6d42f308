"""Estimators of the joint pseudo-likelihood: at a given alpha, or at one that a criterion chooses."""

from __future__ import annotations

import functools
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from isinglass.binary import BinaryTable
from isinglass.errors import ConstantColumnWarning, DataError
from isinglass.estimators.base import IsingEstimator, check_alpha
from isinglass.path import ising_path
from isinglass.randomness import RandomSource
from isinglass.records import Path, Solution
from isinglass.selection.cv import CrossValidation, cross_validate
from isinglass.selection.ebic import select_ebic
from isinglass.selection.stars import stars
from isinglass.selection.tasks import quietly

__all__ = ["IsingLasso", "IsingLassoCV", "IsingLassoEBIC", "IsingLassoStARS"]

FloatArray = NDArray[np.float64]
Alphas = int | float | ArrayLike
Penalty = ArrayLike | str | None

DEFAULT_FOLDS = 10


class _Joint(IsingEstimator):
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


class IsingLasso(_Joint):
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
    model_ : IsingModel
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
        with quietly(ConstantColumnWarning):
            return self._path_function()(table.X, alphas, sample_weight=weight)[0], {}


class IsingLassoStARS(_Joint):
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
        File that keeps finished fits, so that an interrupted `fit` resumes there.
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
    model_ : IsingModel
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
    >>> net.model_.n_edges, float(net.edges()["stability"].min())
    (11, 1.0)
    """

    def __init__(
        self,
        alphas: Alphas = 30,
        *,
        n_subsamples: int = 20,
        subsample_size: int | None = None,
        threshold: float = 0.05,
        bounded: bool = True,
        alpha_min_ratio: float = 0.01,
        penalty_weights: Penalty = None,
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
        with quietly(ConstantColumnWarning):
            path = path_function(table.X, found.alphas[: len(found.edge_frequencies)], sample_weight=weight)
        return path[found.index], {"alphas_": found.alphas, "stability_": found, "path_": path}


class IsingLassoEBIC(_Joint):
    """Sparse Ising network at the penalty with the smallest extended BIC.

    Parameters
    ----------
    alphas : int, float or array-like, default 50
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
    model_ : IsingModel
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
    isinglass.selection.select_ebic : the function behind it.

    Examples
    --------
    >>> from isinglass import IsingLassoEBIC, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(5, strength=2.0, fields="balanced"), 1000, random_state=0)
    >>> net = IsingLassoEBIC(relaxed=True).fit(X)
    >>> net.model_.n_edges, bool(net.ebic_path_[net.alphas_.tolist().index(net.alpha_)] == net.ebic_path_.min())
    (4, True)
    """

    def __init__(
        self,
        alphas: Alphas = 50,
        *,
        gamma: float = 0.25,
        relaxed: bool = False,
        alpha_min_ratio: float = 0.01,
        penalty_weights: Penalty = None,
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
        with quietly(ConstantColumnWarning):
            found = select_ebic(
                table.X,
                alphas=self.alphas,
                gamma=self.gamma,
                relaxed=self.relaxed,
                path_function=self._path_function(alpha_min_ratio=self.alpha_min_ratio),
                sample_weight=weight,
            )
        return found.solution, {"alphas_": _alphas_of(found.path), "ebic_path_": found.scores, "path_": found.path}


class IsingLassoCV(_Joint):
    """Sparse Ising network at the penalty with the best log pseudo-likelihood of held-out rows.

    Cross-validation looks for the best prediction, not for the right network: it tends to keep false edges. The rule
    "1se" is sparser.

    Parameters
    ----------
    alphas : int, float or array-like, default 30
        Number of geometric steps down from the smallest alpha without edges, or the values themselves. All folds use
        the alphas of the whole table.
    cv : int, splitter or iterable of pairs, default 10
        Number of random folds (None is 10 too); or a splitter of scikit-learn; or pairs of row numbers, training and
        held out. Splitters that need groups are to be called beforehand: ``cv=list(GroupKFold().split(X, groups=g))``.
    n_repeats : int, default 1
        How often the rows are split into random folds; only for a number of folds.
    rule : {"best", "1se"}, default "best"
        The largest mean score; or the sparsest network whose mean is at most one standard error below that.
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
        Seed of the random folds.
    n_jobs : int, optional
        Folds at the same time, as in joblib; -1 is all cores. The result does not depend on it.
    checkpoint : path, optional
        File that keeps finished fits, so that an interrupted `fit` resumes there.
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
    cv_results_ : dict of ndarrays
        Held-out scores with the keys of scikit-learn's searches: ``param_alpha``, ``params``, ``split0_test_score``, …,
        ``mean_test_score`` and ``std_test_score`` (every row counts once, or with its weight, also where folds are not
        equally large), ``rank_test_score``; and ``standard_error_test_score``, what "1se" goes by.
    path_ : Path
        Solutions on the whole table at all alphas.
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
    model_ : IsingModel
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
    isinglass.selection.cross_validate : the function behind it.

    Examples
    --------
    >>> from isinglass import IsingLassoCV, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(5, strength=2.0, fields="balanced"), 1000, random_state=0)
    >>> net = IsingLassoCV(cv=5, rule="1se", random_state=0).fit(X)
    >>> net.model_.n_edges, len(net.cv_results_["mean_test_score"])
    (4, 30)
    """

    def __init__(
        self,
        alphas: Alphas = 30,
        *,
        cv: Any = DEFAULT_FOLDS,
        n_repeats: int = 1,
        rule: str = "best",
        alpha_min_ratio: float = 0.01,
        penalty_weights: Penalty = None,
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
        self.cv = cv
        self.n_repeats = n_repeats
        self.rule = rule
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
        with quietly(ConstantColumnWarning):
            found = cross_validate(
                table.X,
                alphas=self.alphas,
                rule=self.rule,
                path_function=self._path_function(alpha_min_ratio=self.alpha_min_ratio),
                sample_weight=weight,
                random_state=self.random_state,
                n_jobs=self.n_jobs,
                checkpoint=self.checkpoint,
                progress=self.progress,
                **self._folds(table, weight, y),
            )
        results = _search_results(found)
        return found.solution, {"alphas_": _alphas_of(found.path), "cv_results_": results, "path_": found.path}

    def _folds(self, table: BinaryTable, weight: FloatArray | None, y: Any) -> dict[str, Any]:
        """Return the options of `cross_validate` that ``cv`` stands for."""
        cv = DEFAULT_FOLDS if self.cv is None else self.cv
        if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
            n_rows = len(table) if weight is None else int(np.count_nonzero(weight))
            if not 2 <= cv <= n_rows:
                raise DataError(
                    f"cv must be from 2 to the number of rows with a positive weight (n_samples={n_rows}); got {cv!r}."
                )
            return {"n_folds": int(cv), "n_repeats": self.n_repeats}
        if callable(getattr(cv, "split", None)) and not isinstance(cv, str):
            return {"splits": list(cv.split(table.X, y))}
        if isinstance(cv, str) or not hasattr(cv, "__iter__"):
            raise DataError(f"cv must be a number of folds, a splitter or pairs of row numbers; got {cv!r}.")
        if table.rows is not None and table.n_missing:
            raise DataError(
                "cv must be a number of folds or a splitter where rows with missing cells were dropped, because row "
                "numbers have changed; got pairs of row numbers. Drop these rows first."
            )
        return {"splits": list(cv)}


def _alphas_of(path: Path) -> FloatArray:
    return np.array([solution.alpha for solution in path])


def _search_results(found: CrossValidation) -> dict[str, Any]:
    """Return held-out scores with the keys that scikit-learn's searches use."""
    scores = found.scores.reshape(-1, found.scores.shape[2])
    shares = (found.fold_weights / found.fold_weights.sum(axis=1, keepdims=True)).reshape(-1)
    mean = found.mean
    results: dict[str, Any] = {
        "param_alpha": np.ma.array(found.alphas),
        "params": [{"alpha": float(alpha)} for alpha in found.alphas],
    }
    results |= {f"split{k}_test_score": split for k, split in enumerate(scores)}
    results["mean_test_score"] = mean
    results["std_test_score"] = np.sqrt(shares @ (scores - mean) ** 2 / shares.sum())
    results["rank_test_score"] = rankdata(-mean, method="min").astype(np.int32)
    results["standard_error_test_score"] = found.standard_error
    return results
