"""The networks with the interface of scikit-learn: one class per way to estimate them and to choose the penalty."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata

from isinglass.arguments import check_count, is_whole
from isinglass.data import AnyTable, TableLike
from isinglass.data.parts.parted_table import is_read
from isinglass.errors import ArgumentError, DataError
from isinglass.estimators.base import IsingEstimator, JointEstimator, ResamplingEstimator
from isinglass.fit import Fit
from isinglass.penalties import Penalty
from isinglass.select.folds import count_units
from isinglass.select.path_selectors import EBIC, CrossValidation, CrossValidationChoice, StARS
from isinglass.select.selector import Fixed, PerNode
from isinglass.select.settings import Alphas
from isinglass.select.two_stage import TwoStage

DEFAULT_FOLDS = 10


@dataclass(kw_only=True, eq=False, repr=False)
class IsingNetwork(ResamplingEstimator):
    """Sparse network whose penalty is chosen automatically: the default of this package.

    Stage 1 finds candidate edges by the AIC along a lasso path. Stage 2 is an adaptive lasso on these pairs: penalties
    are inversely proportional to the couplings of stage 1, which hardly shrinks strong ones, and the extended BIC
    chooses the network. A cross-validation then checks whether other networks predict clearly better; if so, the
    sparsest one that predicts well is taken. `isinglass fit` gives the same network, and ``Method()`` is the method
    behind it. In a pipeline it is a transformer that only fills in missing cells.

    Parameters
    ----------
    alphas : int, float or array-like, default 30
        Number of alphas in the first pass of stage 1 (10 or more give the same pass); or a list of alphas.
    gamma : float, default 0.25
        Weight of the number of candidate networks in the extended BIC; larger values choose fewer edges.
    keep : float, optional
        Share of the best cross-validated gain that the network must keep; 0 leaves the choice to the extended BIC.
        Default 0.95, or 0.85 with no more rows than columns.
    n_folds : int, default 5
        Folds of the cross-validation.
    fdr : float, optional
        Also test every pair given all others (`isinglass.edge_tests`): ``edges()`` gets q-values, and ``summary()``
        says how many edges are found at this false discovery rate.
    penalty_weights, tol, max_iter, n_threads, device
        As for `ising_path`.
    random_state, n_jobs
        Seed of the folds, and how many of them run in parallel, which does not change the result.
    kinds, scores, missing, encode, binarize, na_values, reverse, weight_kind, covariates
        What cells mean, and what becomes of missing ones ("error", "impute", "zero" or "drop"): see `as_table`.

    Attributes
    ----------
    fit_, network_, alpha_, converged_, …
        As for `IsingEstimator`; ``fit_.selection.stages`` says what each stage tried and chose, and why.

    Examples
    --------
    >>> from isinglass import IsingNetwork, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(5, strength=2.0, fields="balanced"), 1000, random_state=0)
    >>> net = IsingNetwork().fit(X)
    >>> net.network_.edge_index.tolist(), bool((net.edges()["std_error"] < 0.3).all())
    ([[0, 1], [1, 2], [2, 3], [3, 4]], True)
    """

    alphas: Alphas = field(default=30, kw_only=False)
    gamma: float = 0.25
    keep: float | None = None
    n_folds: int = 5
    fdr: float | None = None

    _selector_class = TwoStage


@dataclass(kw_only=True, eq=False, repr=False)
class IsingLasso(JointEstimator):
    """Sparse Ising network by L1-regularized pseudo-likelihood at a given penalty.

    Minimizes the mean negative log pseudo-likelihood plus ``alpha * sum(penalty_weights * abs(couplings))`` over pairs.
    The function behind it, for many alphas at once, is `ising_path`.

    Parameters
    ----------
    alpha : float, default 0.05
        Penalty strength. The network is empty if it is at least twice the largest absolute covariance of two 0/1
        columns, which is at most 0.5.
    penalty_weights, tol, max_iter, n_threads, device
        As for `ising_path`.
    kinds, scores, missing, encode, binarize, na_values, reverse, weight_kind, covariates
        What cells mean, and what becomes of missing ones ("error", "impute", "zero" or "drop"): see `as_table`.

    Attributes
    ----------
    fit_, network_, alpha_, converged_, …
        As for `IsingEstimator`.

    Examples
    --------
    >>> from isinglass import IsingLasso, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(5, strength=2.0, fields="balanced"), 1000, random_state=0)
    >>> net = IsingLasso(alpha=0.1).fit(X)
    >>> net.network_.edge_index.tolist(), net.converged_, net.predict_proba(X[:1]).shape
    ([[0, 1], [1, 2], [2, 3], [3, 4]], True, (1, 5))
    """

    alpha: float = field(default=0.05, kw_only=False)

    _selector_class = Fixed


@dataclass(kw_only=True, eq=False, repr=False)
class IsingLassoEBIC(JointEstimator):
    """Sparse Ising network at the penalty with the smallest extended BIC.

    The number of rows N of the criterion is the sum of counts, or the effective number of rows with sampling weights,
    whose scale does not matter. The selector behind it is `EBIC`.

    Parameters
    ----------
    gamma : float, default 0.25
        Weight of the number of candidate networks, not negative; 0 is the BIC, larger values choose fewer edges.
    alphas : int, float or array-like, default 30
        Number of log-spaced penalties from ``alpha_max`` down to a hundredth of it, or an explicit list.
    penalty_weights, tol, max_iter, n_threads, device
        As for `ising_path`.
    kinds, scores, missing, encode, binarize, na_values, reverse, weight_kind, covariates
        What cells mean, and what becomes of missing ones ("error", "impute", "zero" or "drop"): see `as_table`.

    Attributes
    ----------
    fit_, network_, alpha_, converged_, …
        As for `IsingEstimator`; ``fit_.selection.evidence`` has the extended BIC at every alpha.

    Examples
    --------
    >>> from isinglass import IsingLassoEBIC, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(5, strength=2.0, fields="balanced"), 1000, random_state=0)
    >>> net = IsingLassoEBIC().fit(X)
    >>> tried = net.fit_.selection.evidence
    >>> net.network_.n_edges, bool(net.alpha_ == tried.alphas[tried.values.argmin()])
    (6, True)
    """

    alphas: Alphas = field(default=30, kw_only=False)
    gamma: float = 0.25

    _selector_class = EBIC


@dataclass(kw_only=True, eq=False, repr=False)
class IsingLassoStARS(ResamplingEstimator):
    """Sparse Ising network at the smallest penalty whose edges are stable under subsampling (StARS).

    A row with a count is drawn as that many equal rows. Sampling weights affect the fits but not which rows are drawn.
    A row of weight 0 is never drawn. Unless they are listed, the alphas begin at the largest ``alpha_max`` of the
    subsamples and of the table. The selector behind it is `StARS`.

    Parameters
    ----------
    n_subsamples : int, default 20
        Number of subsamples, at least 2.
    subsample_size : int, optional
        Rows in each; default ⌊10 √n_samples⌋, or ⌊0.8 n_samples⌋ up to 144 rows.
    threshold : float, default 0.05
        Largest instability that counts as stable, from 0 to 0.5.
    alphas : int, float or array-like, default 30
        Number of log-spaced penalties from ``alpha_max`` down to a hundredth of it, or an explicit list.
    penalty_weights, tol, max_iter, n_threads, device
        As for `ising_path`.
    random_state, n_jobs
        Seed of the subsamples, and how many of them run in parallel, which does not change the result.
    kinds, scores, missing, encode, binarize, na_values, reverse, weight_kind, covariates
        What cells mean, and what becomes of missing ones ("error", "impute", "zero" or "drop"): see `as_table`.

    Attributes
    ----------
    fit_, network_, alpha_, converged_, …
        As for `IsingEstimator`; ``fit_.selection.stability`` says how well the subsamples agree along the alphas, and
        ``fit_.selection.path`` has the networks of the whole table there.

    Examples
    --------
    >>> from isinglass import IsingLassoStARS, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(12, strength=2.0, fields="balanced"), 2000, random_state=0)
    >>> net = IsingLassoStARS(random_state=0).fit(X)
    >>> net.network_.n_edges, float(net.edges()["stability"].min())
    (11, 1.0)
    """

    alphas: Alphas = field(default=30, kw_only=False)
    n_subsamples: int = 20
    subsample_size: int | None = None
    threshold: float = 0.05

    _selector_class = StARS


@dataclass(kw_only=True, eq=False, repr=False)
class IsingLassoCV(ResamplingEstimator):
    """Sparse Ising network at the penalty with the best log pseudo-likelihood of held-out rows.

    Cross-validation looks for the best prediction, not for the right network: it tends to keep false edges. The rule
    "1se" is sparser. All folds use the alphas of the whole table. The selector behind it is `CrossValidation`.

    Parameters
    ----------
    cv : int or list of pairs, default 10
        Number of random folds (None is 10 too); or pairs of row numbers, training and held out, such as those of a
        splitter of scikit-learn: ``cv=list(GroupKFold().split(X, groups=g))``.
    rule : {"best", "1se"}, default "best"
        "best": the largest mean score; "1se": the sparsest network whose mean score is at most one standard error below
        it.
    alphas : int, float or array-like, default 30
        Number of log-spaced penalties from ``alpha_max`` down to a hundredth of it, or an explicit list.
    penalty_weights, tol, max_iter, n_threads, device
        As for `ising_path`.
    random_state, n_jobs
        Seed of the folds, and how many of them run in parallel, which does not change the result.
    kinds, scores, missing, encode, binarize, na_values, reverse, weight_kind, covariates
        What cells mean, and what becomes of missing ones ("error", "impute", "zero" or "drop"): see `as_table`.

    Attributes
    ----------
    cv_results_ : dict of ndarrays
        Held-out scores with the keys of scikit-learn's searches: ``param_alpha``, ``params``, ``split0_test_score``, …,
        ``mean_test_score`` and ``std_test_score`` (every row counts once, or with its weight, also where folds are not
        equally large), ``rank_test_score``; and ``standard_error_test_score``, which "1se" uses.
    fit_, network_, alpha_, converged_, …
        As for `IsingEstimator`.

    Examples
    --------
    >>> from isinglass import IsingLassoCV, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(5, strength=2.0, fields="balanced"), 1000, random_state=0)
    >>> net = IsingLassoCV(cv=5, rule="1se", random_state=0).fit(X)
    >>> net.network_.n_edges, len(net.cv_results_["mean_test_score"])
    (4, 30)
    """

    alphas: Alphas = field(default=30, kw_only=False)
    cv: object = DEFAULT_FOLDS
    rule: str = "best"

    def _selector(self) -> CrossValidation:
        cv: Any = DEFAULT_FOLDS if self.cv is None else self.cv  # Any: of the user
        if isinstance(cv, str) or not (is_whole(cv) or hasattr(cv, "__iter__")):
            remedy = "Pass list(splitter.split(X)) of a splitter."
            raise ArgumentError("cv", "must be a number of folds, or pairs of row numbers", cv, remedy)
        folds = {"n_folds": check_count("cv", cv, least=2)} if is_whole(cv) else {"splits": cv}
        return CrossValidation(**self._parameters_of(CrossValidation), **folds)

    def _check_folds(self, table: AnyTable, X: TableLike) -> None:
        selector = self._selector()
        if selector.splits is None:
            n_rows = count_units(table.whole().counted(quiet=True))
            if selector.n_folds > n_rows:
                must = f"must be from 2 to the number of rows with a positive weight (n_samples={n_rows})"
                raise ArgumentError("cv", must, selector.n_folds)
        elif table.rows is not None and not is_read(X):
            raise DataError(
                "cv must be a number of folds where rows with missing cells were dropped, because row numbers have "
                "changed; got pairs of row numbers. Drop these rows first."
            )

    def _set_attributes(self, fit: Fit) -> None:
        super()._set_attributes(fit)
        assert isinstance(fit.choice, CrossValidationChoice)
        self.cv_results_ = _search_results(fit.choice)


def _search_results(found: CrossValidationChoice) -> dict[str, object]:
    """Return held-out scores with the keys that scikit-learn's searches use."""
    scores, shares = found.scores, found.fold_weights / found.fold_weights.sum()
    return {
        "param_alpha": np.ma.array(found.path.alphas),
        "params": [{"alpha": float(alpha)} for alpha in found.path.alphas],
        **{f"split{k}_test_score": split for k, split in enumerate(scores)},
        "mean_test_score": found.mean,
        "std_test_score": np.sqrt(shares @ (scores - found.mean) ** 2 / shares.sum()),
        "rank_test_score": rankdata(-found.mean, method="min").astype(np.int32),
        "standard_error_test_score": found.standard_error,
    }


@dataclass(kw_only=True, eq=False, repr=False)
class _Nodewise(IsingEstimator):
    """A network of one regression per column."""

    rule: str = "and"
    penalty_weights: Literal["standardized"] | None = None
    n_threads: int | None = None

    _estimator = "nodewise"


@dataclass(kw_only=True, eq=False, repr=False)
class NodewiseIsingEBIC(_Nodewise):
    """Ising network of one logistic lasso per column, each at the penalty with the smallest extended BIC.

    By default this is what R's IsingFit computes. The number of rows of the criterion is the sum of counts, or the
    effective number of rows with sampling weights. The certificate is that of the regressions: the largest violation
    over all columns, the sum of their duality gaps, and the largest number of steps. The selector behind it is
    `PerNode`.

    Parameters
    ----------
    alphas : int, default 100
        Length of every column's list of penalties.
    gamma : float, default 0.25
        Weight of the number of candidate models in the extended BIC; 0 is the BIC.
    rule : {"and", "or", "mean"}, default "and"
        How the two coefficients of a pair become one coupling. "and": their mean if both are non-zero, else 0. "or":
        the mean of those that are non-zero. "mean": (a + b) / 2 with zeros counted (IsingFit's AND = FALSE).
    penalty_weights : None or "standardized", default "standardized"
        "standardized" penalizes as if the columns had unit standard deviation, as IsingFit does.
    tol, max_iter, n_threads
        As for `nodewise_path`.
    kinds, scores, missing, encode, binarize, na_values, reverse, weight_kind, covariates
        What cells mean, and what becomes of missing ones ("error", "impute", "zero" or "drop"): see `as_table`.

    Attributes
    ----------
    fit_, network_, alpha_, converged_, …
        As for `IsingEstimator`; ``fit_.solution.alphas_per_node`` has the penalty of every column, NaN for constant
        ones.

    Examples
    --------
    >>> from isinglass import NodewiseIsingEBIC, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(5, strength=2.0, fields="balanced"), 1000, random_state=0)
    >>> net = NodewiseIsingEBIC().fit(X)
    >>> net.network_.edge_index.tolist(), net.fit_.solution.alphas_per_node.shape
    ([[0, 1], [1, 2], [2, 3], [3, 4]], (5,))
    """

    alphas: int = field(default=100, kw_only=False)
    gamma: float = 0.25
    penalty_weights: Literal["standardized"] | None = "standardized"

    _selector_class = PerNode


@dataclass(kw_only=True, eq=False, repr=False)
class NodewiseIsing(_Nodewise):
    """Ising network of one logistic lasso per column, all at a given penalty, as `nodewise_path` computes it.

    Parameters
    ----------
    alpha : float, default 0.025
        Penalty of one regression: half of `IsingLasso`'s alpha for the same strength.
    penalty_weights : None or "standardized", default None
        "standardized" penalizes as if the columns had unit standard deviation.
    rule, tol, max_iter, n_threads
        As for `NodewiseIsingEBIC`, and so are attributes.
    kinds, scores, missing, encode, binarize, na_values, reverse, weight_kind, covariates
        How cells are read: see `as_table`.

    Examples
    --------
    >>> NodewiseIsing(alpha=0.05).fit([[0, 0], [0, 1], [1, 0], [1, 1]] + [[0, 0], [1, 1]] * 20).network_.n_edges
    1
    """

    alpha: float = field(default=0.025, kw_only=False)

    _selector_class = Fixed


@dataclass(kw_only=True, eq=False, repr=False)
class ExactIsing(IsingEstimator):
    """Sparse Ising network by the L1-regularized likelihood itself, for at most 20 columns of two values.

    The certificate is that of the exact problem; `score` is the pseudo-likelihood, as for all estimators here.

    Parameters
    ----------
    alpha : float, default 0.025
        Penalty strength per row: half of `IsingLasso`'s alpha for the same strength.
    penalty_weights, tol, max_iter
        As for `exact_path`. Attributes are those of `IsingLasso`.
    kinds, scores, missing, encode, binarize, na_values, reverse, weight_kind, covariates
        How cells are read: see `as_table`.

    Examples
    --------
    >>> ExactIsing(alpha=0.05).fit([[0, 0], [0, 1], [1, 0], [1, 1]] + [[0, 0], [1, 1]] * 20).network_.n_edges
    1
    """

    alpha: float = field(default=0.025, kw_only=False)
    penalty_weights: Penalty = None
    max_iter: int = 200

    _estimator, _selector_class = "exact", Fixed
