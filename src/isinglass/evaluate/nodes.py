"""What a network says about each of its nodes: centrality, and how well the others predict it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import scipy  # its parts are loaded when they are needed
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray, Frozen
from isinglass.categories import CategoryNetwork
from isinglass.data import CategoryTable, count_categories, count_columns, count_rows, over_rows, to_weighted
from isinglass.errors import DataError
from isinglass.network import Network, as_network

CELLS_AT_ONCE = 4_000_000
"""Cells whose predictions exist at a time."""
SHOWN_NODES = 30  # in the repr of a table


@dataclass(frozen=True, eq=False, repr=False)
class NodeTable(Frozen):
    """What a network says about each of its nodes: one column per measure, one entry per node."""

    names: tuple[str, ...]  #: the nodes
    degree: NDArray[np.int64]  #: number of edges
    strength: FloatArray  #: Σ_t |θ_st|
    expected_influence: FloatArray  #: Σ_t θ_st
    #: share of rows whose value is the most probable one given the rest of the row; a tie of k values counts 1/k
    accuracy: FloatArray
    marginal_accuracy: FloatArray  #: the same without knowing the rest: the share of the most frequent value
    #: (accuracy − marginal) / (1 − marginal): 0 if the network is no help, 1 if it predicts perfectly, negative if it
    #: misleads, NaN for a constant column
    normalized_accuracy: FloatArray
    #: 1 − deviance given the rest / deviance of the column's mean; NaN for a constant column
    deviance_explained: FloatArray

    @property
    def columns(self) -> dict[str, tuple[str, ...] | NDArray[np.generic]]:
        """All columns by name, ready for a data frame."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        header = [name.replace("_", " ") for name in self.columns]
        rows = [[_cell(column[k]) for column in self.columns.values()] for k in range(min(len(self), SHOWN_NODES))]
        more = f"\n… and {len(self) - SHOWN_NODES} more nodes" if len(self) > SHOWN_NODES else ""
        return text_table(header, rows) + more


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as lines of text: its first column to the left, the others to the right.

    Examples
    --------
    >>> print(text_table(["name", "n"], [["a", "10"]]))
    name   n
    a     10
    """
    lines = [header, *rows]
    widths = [max(len(line[c]) for line in lines) for c in range(len(header))]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    )


def node_table(network: Any, X: ArrayLike, sample_weight: ArrayLike | None = None) -> NodeTable:
    """Return the centrality of every node, and how well the network predicts it in the rows of X.

    Parameters
    ----------
    network : Network, Solution, fitted estimator or matrix
        A matrix is the paper's Θ, with the fields on its diagonal.
    X : array-like of shape (n_samples, n_features)
        Table of 0 and 1; a CategoryTable, or category numbers, where the network has categories.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights.


    Examples
    --------
    >>> X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [4, 1, 1, 4], axis=0)
    >>> node_table([[-1.4, 2.8], [2.8, -1.4]], X)
    names  degree  strength  expected influence  accuracy  marginal accuracy  normalized accuracy  deviance explained
    x0          1     2.800               2.800     0.800              0.500                0.600               0.278
    x1          1     2.800               2.800     0.800              0.500                0.600               0.278
    """
    read = as_network(network)
    table, weight = to_weighted(read.table(X) if isinstance(read, CategoryNetwork) else X, sample_weight)
    if table.shape[1] != read.n_features:
        raise DataError(f"X must have one column per node ({read.n_features}); got {table.shape[1]}.")
    total = count_rows(table, weight)
    predicted: Callable[..., Any] = _predicted_categories
    if isinstance(read, CategoryNetwork):
        shares = [counts / total for counts in count_categories(table, weight)]
        marginal = np.array([share.max() for share in shares])
        entropy = np.array([float(scipy.special.entr(share).sum()) for share in shares])
        varies = marginal < 1
    else:
        ones, varies = count_columns(table, weight)
        means = np.clip(ones / total, 0.0, 1.0)
        marginal, entropy, predicted = np.maximum(means, 1 - means), _entropy(means), _predicted
    accuracy, deviance = (each / total for each in over_rows(predicted, table, weight, read))
    return NodeTable(
        tuple(read.names),
        read.degree,
        read.strength,
        read.expected_influence,
        accuracy,
        marginal,
        share_where(varies, accuracy - marginal, 1 - marginal),
        share_where(varies, entropy - deviance, entropy),
    )


def _predicted_categories(
    table: CategoryTable, weight: FloatArray | None, network: CategoryNetwork
) -> tuple[FloatArray, FloatArray]:
    """Return the same as `_predicted` for columns with categories; of equally probable ones, each counts its share."""
    right, deviance = np.zeros((2, network.n_features))
    unit = np.ones(len(table)) if weight is None else weight
    step = max(CELLS_AT_ONCE // int(table.n_categories.sum()), 1)
    for first in range(0, len(table), step):
        codes, w = table.codes[first : first + step], unit[first : first + step]
        rows = np.arange(len(codes))
        for s, logs in enumerate(network.category_log_probabilities(codes)):
            seen, most = logs[rows, codes[:, s]], logs.max(axis=1)
            right[s] += w @ ((seen == most) / (logs == most[:, None]).sum(axis=1))
            deviance[s] -= w @ seen
    return right, deviance


def _predicted(table: NDArray[np.uint8], weight: FloatArray | None, network: Network) -> tuple[FloatArray, FloatArray]:
    """Return the weight of the rows in which each column is predicted rightly, and the sum of −log P(x_s | rest)."""
    right, deviance = np.zeros((2, table.shape[1]))
    unit = np.ones(len(table)) if weight is None else weight
    step = max(CELLS_AT_ONCE // table.shape[1], 1)
    for first in range(0, len(table), step):
        some, w = table[first : first + step], unit[first : first + step]
        logits = network.logits(some)
        right += w @ np.where(logits == 0, 0.5, (logits > 0) == some)
        # −log P(x_s | rest) = log(1 + exp(∓η)): no overflow, whatever η.
        deviance += w @ np.logaddexp(0.0, (1.0 - 2.0 * some) * logits)
    return right, deviance


def share_where(varies: NDArray[np.bool_], top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Return top / bottom where asked for and possible, NaN elsewhere."""
    return np.asarray(np.divide(top, bottom, out=np.full(len(top), np.nan), where=varies & (bottom > 0)))


def _entropy(means: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.array([q * np.log(q) for q in (means, 1 - means)])
    return np.asarray(-np.where(np.isnan(terms), 0.0, terms).sum(axis=0))


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
