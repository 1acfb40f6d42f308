"""Node-wise regression and the exact likelihood with the interface of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass, field

import scipy.sparse as sp

from isinglass.errors import ArgumentError
from isinglass.estimators.base import IsingEstimator
from isinglass.penalties import Penalty
from isinglass.select.method import Method
from isinglass.select.selector import Choice, Fixed, PerNode
from isinglass.solve.regressions import NodewisePath


@dataclass(kw_only=True, eq=False, repr=False)
class NodewiseIsing(IsingEstimator):
    """Ising network of one logistic lasso per column; with ``criterion="ebic"`` what R's IsingFit computes.

    The certificate is that of the regressions: the largest violation over all columns, the sum of their duality gaps,
    and the largest number of steps. The functions behind it are `nodewise_path` and `nodewise_ebic`.

    Parameters
    ----------
    alpha : float, default 0.025
        Penalty of one regression: half of `IsingLasso`'s alpha for the same strength. Not used with a criterion.
    rule : {"and", "or", "mean"}, default "and"
        How the two coefficients of a pair become one coupling. "and": their mean if both are non-zero, else 0. "or":
        the mean of those that are non-zero. "mean": (a + b) / 2 with zeros counted (IsingFit's AND = FALSE).
    standardize : bool, default False
        Penalize as if the columns had unit standard deviation. IsingFit does: set it to True to get its networks.
    criterion : None or "ebic", default None
        "ebic": every column chooses its own penalty by the extended BIC. Its number of rows is the sum of counts, or
        the effective number of rows with sampling weights.
    gamma : float, default 0.25
        Weight of the number of candidate models in the extended BIC; 0 is the BIC.
    alphas : int, default 100
        Length of every column's list of penalties; only with a criterion.
    tol, max_iter, n_threads,
    kinds, scores, missing, encode, binarize, na_values, reverse, weight_kind, covariates
        See `IsingEstimator`, which also lists the other attributes.

    Attributes
    ----------
    alphas_per_node_ : ndarray of shape (n_features,)
        The penalty of every column (NaN for constant ones); ``alpha_`` is then NaN. Only with a criterion.
    asymmetric_couplings_ : csr_array of shape (n_features, n_features)
        Coefficients before the rule: row s is the regression of column s on the others.

    Examples
    --------
    >>> from isinglass import NodewiseIsing, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(5, strength=2.0, fields="balanced"), 1000, random_state=0)
    >>> net = NodewiseIsing(criterion="ebic", standardize=True).fit(X)
    >>> net.solution_.edge_index.tolist(), net.asymmetric_couplings_.shape
    ([[0, 1], [1, 2], [2, 3], [3, 4]], (5, 5))
    """

    alpha: float = field(default=0.025, kw_only=False)
    rule: str = "and"
    standardize: bool = False
    criterion: str | None = None
    gamma: float = 0.25
    alphas: int = 100
    n_threads: int | None = None

    @property
    def method(self) -> Method:
        """The `Method` with the settings of this estimator, which `bootstrap` and other functions use."""
        if self.criterion not in (None, "ebic"):
            raise ArgumentError("criterion", 'must be None or "ebic"', self.criterion)
        selector = Fixed(self.alpha) if self.criterion is None else PerNode(self.alphas, self.gamma)
        penalty = "standardized" if self.standardize else None
        return self._make("nodewise", selector, "rule").replace(penalty_weights=penalty)

    def _hold_choice(self, choice: Choice) -> None:
        assert isinstance(choice.path, NodewisePath)
        self.asymmetric_couplings_ = sp.csr_array(choice.path.asymmetric_couplings[0])


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
    penalty_weights, tol, max_iter,
    kinds, scores, missing, encode, binarize, na_values, reverse, weight_kind, covariates
        See `IsingEstimator`, which also lists the attributes; 200 steps by default.

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

    @property
    def method(self) -> Method:
        """The `Method` with the settings of this estimator, which `bootstrap` and other functions use."""
        return self._make("exact", Fixed(self.alpha), "penalty_weights")
