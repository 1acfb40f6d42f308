"""The network that predicts held-out rows best."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from isinglass.data import BinaryTable
from isinglass.errors import ArgumentError, ConstantColumnWarning, DataError, suppress_warnings
from isinglass.estimators.joint import JointEstimator, alphas_of
from isinglass.randomness import RandomSource
from isinglass.results import Solution
from isinglass.select.cv import CrossValidation, cross_validate

__all__ = ["IsingLassoCV"]

FloatArray = NDArray[np.float64]

DEFAULT_FOLDS = 10


class IsingLassoCV(JointEstimator):
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
    isinglass.select.cross_validate : the function behind it.

    Examples
    --------
    >>> from isinglass import IsingLassoCV, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(5, strength=2.0, fields="balanced"), 1000, random_state=0)
    >>> net = IsingLassoCV(cv=5, rule="1se", random_state=0).fit(X)
    >>> net.network_.n_edges, len(net.cv_results_["mean_test_score"])
    (4, 30)
    """

    _criterion = "cv"
    _choice_settings = ("alphas", "alpha_min_ratio", "n_repeats", "rule", "random_state")

    def __init__(
        self,
        alphas: int | float | ArrayLike = 30,
        *,
        cv: Any = DEFAULT_FOLDS,
        n_repeats: int = 1,
        rule: str = "best",
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
        with suppress_warnings(ConstantColumnWarning):
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
        return found.solution, {"alphas_": alphas_of(found.path), "cv_results_": results, "path_": found.path}

    def _choice(self) -> dict[str, Any]:
        return {**super()._choice(), "n_folds": DEFAULT_FOLDS if self.cv is None else self.cv}

    def _folds(self, table: BinaryTable, weight: FloatArray | None, y: Any) -> dict[str, Any]:
        """Return the options of `cross_validate` that ``cv`` stands for."""
        cv = DEFAULT_FOLDS if self.cv is None else self.cv
        dropped = table.rows is not None and not self._encoded_before  # in this fit, so that row numbers have changed
        if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
            n_rows = len(table) if weight is None else int(np.count_nonzero(weight))
            if not 2 <= cv <= n_rows:
                raise ArgumentError(
                    "cv", f"must be from 2 to the number of rows with a positive weight (n_samples={n_rows})", cv
                )
            return {"n_folds": int(cv), "n_repeats": self.n_repeats}
        if callable(getattr(cv, "split", None)) and not isinstance(cv, str):
            kept = y if y is None or not dropped else np.asarray(y)[table.rows]
            return {"splits": list(cv.split(table.X, kept))}
        if isinstance(cv, str) or not hasattr(cv, "__iter__"):
            raise ArgumentError("cv", "must be a number of folds, a splitter or pairs of row numbers", cv)
        if dropped:
            raise DataError(
                "cv must be a number of folds or a splitter where rows with missing cells were dropped, because row "
                "numbers have changed; got pairs of row numbers. Drop these rows first."
            )
        return {"splits": list(cv)}


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
