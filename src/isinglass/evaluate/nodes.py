"""How well a network predicts each of its nodes."""

from __future__ import annotations

import numpy as np
import scipy  # its parts are loaded when they are needed
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import Bytes, FloatArray
from isinglass.conditionals import conditionals_of_blocks
from isinglass.data import TableLike, category_counts
from isinglass.matching import check_width
from isinglass.network import Network
from isinglass.results import NetworkLike, as_network, fit_of, read_for
from isinglass.simulate.gibbs import restrict_to
from isinglass.text_tables import Columns

ROUNDING = 1e-12
"""Smaller shares that a network explains are errors of rounding."""


def node_table(X: TableLike, network: NetworkLike, sample_weight: ArrayLike | None = None) -> Columns:
    """Return the centrality of every node, and how well the network predicts it in the rows of X.

    R's mgm calls accuracy, normalized accuracy and marginal accuracy CC, nCC and CCmarg. For a continuous column, all
    three are NaN: R² is its measure.

    Parameters
    ----------
    X : table
        A table of the columns of the network, in values of their categories. With a fitted estimator or a Fit, any
        table that reads like that of the fit.
    network : Network, Solution, Fit, fitted estimator or matrix
        A matrix is the paper's Θ, with the fields on its diagonal.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights.

    Returns
    -------
    Columns
        Columns by name, ready for a data frame, with an entry per node:

        - ``name``, ``degree`` (number of edges), ``strength`` (Σ_t |θ_st|), ``expected_influence`` (Σ_t θ_st)
        - ``accuracy``: share of rows whose value is the most probable one given the rest of the row; a tie of k values
          counts 1/k
        - ``marginal_accuracy``: the same without knowing the rest: the share of the most frequent value
        - ``normalized_accuracy``: (accuracy − marginal) / (1 − marginal): 0 if the network is no help, 1 if it predicts
          perfectly, negative if it misleads, NaN for a constant column
        - ``deviance_explained``: 1 − deviance given the rest / deviance of the column's mean; NaN for a constant column
        - ``r_squared``: share of the variance of the column's scores that their expectation given the rest explains;
          NaN for a nominal or constant column

    Examples
    --------
    >>> X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [4, 1, 1, 4], axis=0)
    >>> table = node_table(X, [[-1.4, 2.8], [2.8, -1.4]])
    >>> table["accuracy"], table["normalized_accuracy"], table["r_squared"].round(2)
    (array([0.8, 0.8]), array([0.6, 0.6]), array([0.36, 0.36]))
    """
    fit, read = fit_of(network), as_network(network)
    table = read_for(network, X, sample_weight).without_holes()
    check_width(table.shape[1], read.variables)
    total, variables = table.total_weight, read.variables
    shares = np.clip(category_counts(table) / total, 0.0, 1.0)
    marginal = np.maximum.reduceat(shares, variables.starts)
    varies = marginal < 1
    entropy = np.add.reduceat(scipy.special.entr(shares), variables.starts)
    # Neither the entropy nor the solver knows categories that occur in no row, here or in the fit.
    predicting = read if fit is None else restrict_to(fit.occurs | (shares > 0.0), read)
    accuracy, deviance, error = (each / total for each in table.sum_rows(_predict, predicting))
    marginal[variables.continuous] = np.nan  # a step of a grid is not an answer
    accuracy[variables.continuous] = np.nan
    means, squares = (np.add.reduceat(shares * variables.factor**power, variables.starts) for power in (1, 2))
    variance = squares - means**2
    predicted = {
        "accuracy": accuracy,
        "marginal_accuracy": marginal,
        "normalized_accuracy": explained_share(marginal < 1, accuracy - marginal, 1 - marginal),
        "deviance_explained": explained_share(varies, entropy - deviance, entropy),
        "r_squared": explained_share(varies & variables.has_scores, variance - error, variance),
    }
    drawn = read.without_covariates()
    found = Columns(name=np.array(drawn.names, dtype=object), degree=drawn.degree, strength=drawn.strength)
    found["expected_influence"] = drawn.expected_influence
    return Columns(found | {name: values[variables.is_modeled] for name, values in predicted.items()})


def _predict(codes: Bytes, weight: FloatArray | None, network: Network) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the weight of the rows in which each column is predicted right, and two sums over rows.

    These are −log P(x_s | rest), and the squared distance of the score from its expectation given the rest. Of k
    equally probable categories, each is right by 1/k.
    """
    variables = network.variables
    right, deviance, error = np.zeros((3, network.n_features))
    for some, row_weights, logs in conditionals_of_blocks(codes, weight, network):
        own = np.take_along_axis(logs, variables.flat(some), axis=0)
        most = np.maximum.reduceat(logs, variables.starts, axis=0)
        ties = np.add.reduceat(logs == most[variables.column], variables.starts, axis=0, dtype=np.intp)
        right += ((own == most) / ties) @ row_weights
        deviance -= own @ row_weights
        expected = np.add.reduceat(np.exp(logs) * variables.factor[:, None], variables.starts, axis=0)
        error += (variables.factor[variables.flat(some)] - expected) ** 2 @ row_weights
    return right, deviance, error


def explained_share(varies: NDArray[np.bool_], top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Return top / bottom where asked for and possible, NaN elsewhere; what only rounding can be is 0."""
    share = np.divide(top, bottom, out=np.full(len(top), np.nan), where=varies & (bottom > 0))
    return np.where(np.abs(share) < ROUNDING, 0.0, share)
