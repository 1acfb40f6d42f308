"""Node-wise regression and the exact likelihood with the interface of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import scipy.sparse as sp

from isinglass.estimators.base import IsingEstimator
from isinglass.penalties import Penalty
from isinglass.select.selector import Choice, Fixed, PerNode
from isinglass.solve.nodewise import NodewisePath


@dataclass(kw_only=True, eq=False, repr=False)
class _Nodewise(IsingEstimator):
    """A network of one regression per column."""

    rule: str = "and"
    penalty_weights: Literal["standardized"] | None = None
    n_threads: int | None = None

    _estimator = "nodewise"

    def _set_attributes_of_choice(self, choice: Choice) -> None:
        assert isinstance(choice.path, NodewisePath)
        self.asymmetric_couplings_ = sp.csr_array(choice.path.asymmetric_couplings[0])


@dataclass(kw_only=True, eq=False, repr=False)
class NodewiseIsing(_Nodewise):
    """Ising network of one logistic lasso per column, all at a given penalty.

    The certificate is that of the regressions: the largest violation over all columns, the sum of their duality gaps,
    and the largest number of steps. The function behind it is `nodewise_path`.

    Parameters
    ----------
    alpha : float, default 0.025
        Penalty of one regression: half of `IsingLasso`'s alpha for the same strength.
    rule : {"and", "or", "mean"}, default "and"
        How the two coefficients of a pair become one coupling. "and": their mean if both are non-zero, else 0. "or":
        the mean of those that are non-zero. "mean": (a + b) / 2 with zeros counted (IsingFit's AND = FALSE).
    penalty_weights : None or "standardized", default None
        "standardized" penalizes as if the columns had unit standard deviation.
    tol, max_iter, n_threads
        As for `nodewise_path`.
    kinds, scores, missing, encode, binarize, na_values, reverse, weight_kind, covariates
        What cells mean, and what becomes of missing ones ("error", "impute", "zero" or "drop"): see `as_table`.

    Attributes
    ----------
    asymmetric_couplings_ : csr_array of shape (n_features, n_features)
        Coefficients before the rule: row s is the regression of column s on the others.
    fit_, network_, solution_, …
        The result and its parts, as for `IsingEstimator`.

    Examples
    --------
    >>> from isinglass import NodewiseIsing, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(5, strength=2.0, fields="balanced"), 1000, random_state=0)
    >>> net = NodewiseIsing(alpha=0.05).fit(X)
    >>> net.solution_.edge_index.tolist(), net.asymmetric_couplings_.shape
    ([[0, 1], [1, 2], [2, 3], [3, 4]], (5, 5))
    """

    alpha: float = field(default=0.025, kw_only=False)

    _selector_class = Fixed


@dataclass(kw_only=True, eq=False, repr=False)
class NodewiseIsingEBIC(_Nodewise):
    """Ising network of one logistic lasso per column, each at the penalty with the smallest extended BIC.

    By default this is what R's IsingFit computes. The number of rows of the criterion is the sum of counts, or the
    effective number of rows with sampling weights. Its selector is `PerNode`.

    Parameters
    ----------
    alphas : int, default 100
        Length of every column's list of penalties.
    gamma : float, default 0.25
        Weight of the number of candidate models in the extended BIC; 0 is the BIC.
    rule : {"and", "or", "mean"}, default "and"
        How the two coefficients of a pair become one coupling, as for `NodewiseIsing`.
    penalty_weights : None or "standardized", default "standardized"
        "standardized" penalizes as if the columns had unit standard deviation, as IsingFit does.
    tol, max_iter, n_threads
        As for `nodewise_path`.
    kinds, scores, missing, encode, binarize, na_values, reverse, weight_kind, covariates
        What cells mean, and what becomes of missing ones ("error", "impute", "zero" or "drop"): see `as_table`.

    Attributes
    ----------
    alphas_per_node_ : ndarray of shape (n_features,)
        The penalty of every column (NaN for constant ones); ``alpha_`` is NaN.
    asymmetric_couplings_ : csr_array of shape (n_features, n_features)
        Coefficients before the rule: row s is the regression of column s on the others.
    fit_, network_, solution_, …
        The result and its parts, as for `IsingEstimator`.

    Examples
    --------
    >>> from isinglass import NodewiseIsingEBIC, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(5, strength=2.0, fields="balanced"), 1000, random_state=0)
    >>> net = NodewiseIsingEBIC().fit(X)
    >>> net.solution_.edge_index.tolist(), net.alphas_per_node_.shape
    ([[0, 1], [1, 2], [2, 3], [3, 4]], (5,))
    """

    alphas: int = field(default=100, kw_only=False)
    gamma: float = 0.25
    penalty_weights: Literal["standardized"] | None = "standardized"

    _selector_class = PerNode


@dataclass(kw_only=True, eq=False, repr=False)
class ExactIsing(IsingEstimator):
    """Sparse Ising network by the L1-regularized likelihood itself, for at most 20 columns.

    Sums over all 2^p states, which the pseudo-likelihood avoids. The certificate is that of the exact
    problem; `score` is the pseudo-likelihood, as for all estimators here, and `log_likelihood` the exact one. The
    function behind it, for many alphas at once, is `exact_path`.

    Parameters
    ----------
    alpha : float, default 0.025
        Penalty strength per row: half of `IsingLasso`'s alpha for the same strength.
    max_iter : int, default 200
        Newton steps per alpha.
    penalty_weights, tol
        As for `exact_path`.
    missing, encode, binarize, na_values, weight_kind
        What cells mean, and what becomes of missing ones ("error", "impute", "zero" or "drop"): see `as_table`.
    kinds, scores, reverse, covariates
        As for the other estimators; here every column must have two values, and none can be a covariate.

    Attributes
    ----------
    fit_, network_, solution_, …
        The result and its parts, as for `IsingEstimator`.

    Examples
    --------
    >>> from isinglass import ExactIsing, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(5, strength=2.0, fields="balanced"), 1000, random_state=0)
    >>> net = ExactIsing(alpha=0.05).fit(X)
    >>> net.solution_.edge_index.tolist(), net.converged_
    ([[0, 1], [1, 2], [2, 3], [3, 4]], True)
    """

    alpha: float = field(default=0.025, kw_only=False)
    penalty_weights: Penalty = None
    max_iter: int = 200

    _estimator, _selector_class = "exact", Fixed
