"""Agreement of an estimate with the truth, or of any two networks.

Nodes are matched by name if both networks have names, otherwise by position.
Pairs are counted once, s < t; an edge is a pair whose coupling is not zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass.arrays import FloatArray, Frozen
from isinglass.errors import ArgumentError, DataError
from isinglass.matching import match_categories
from isinglass.network import Network, union_keys
from isinglass.pairs import pairs_of
from isinglass.results import NetworkLike, Path, as_network


@dataclass(frozen=True)
class EdgeConfusion:
    """Pairs of nodes by whether they are an edge in the estimate and in the truth."""

    true_positives: int  #: edges in both
    false_positives: int  #: edges in the estimate alone
    false_negatives: int  #: edges in the truth alone
    true_negatives: int  #: pairs that are an edge in neither

    @property
    def precision(self) -> float:
        """Share of the estimated edges that are true; NaN if none is estimated."""
        return ratio(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float:
        """Share of the true edges that are found, the true positive rate; NaN if there is none."""
        return ratio(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def false_positive_rate(self) -> float:
        """Share of the pairs without an edge that are estimated to be one; NaN if every pair is an edge."""
        return ratio(self.false_positives, self.false_positives + self.true_negatives)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 1 if there is nothing to find and nothing was found."""
        return ratio(2 * self.true_positives, 2 * self.true_positives + self.hamming, otherwise=1.0)

    @property
    def mcc(self) -> float:
        """Matthews' correlation of the two edge indicators; 0 if one of them is constant."""
        tp, fp, fn, tn = astuple(self)
        scale = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
        return ratio(tp * tn - fp * fn, scale, otherwise=0.0)

    @property
    def hamming(self) -> int:
        """Number of pairs on which the two networks differ."""
        return self.false_positives + self.false_negatives


def edge_confusion(estimate: NetworkLike, truth: NetworkLike) -> EdgeConfusion:
    """Count the pairs of nodes that are an edge in both networks, in one of them, in none.

    Examples
    --------
    >>> edge_confusion([[0, 1, 1], [1, 0, 0], [1, 0, 0]], [[0, 2, 0], [2, 0, 0], [0, 0, 0]])
    EdgeConfusion(true_positives=1, false_positives=1, false_negatives=0, true_negatives=1)
    """
    found, true = _same_size(estimate, truth)
    both = len(np.intersect1d(found.edge_keys, true.edge_keys, assume_unique=True))
    neither = found.n_pairs - found.n_edges - true.n_edges + both
    return EdgeConfusion(both, found.n_edges - both, true.n_edges - both, neither)


def weight_correlation(estimate: NetworkLike, truth: NetworkLike) -> float:
    """Return Pearson's correlation of the couplings over all pairs, zeros included; NaN if one side is constant."""
    found, true = _same_size(estimate, truth)
    pairs = union_keys([found, true])
    return float(correlate_rows(found.values_at(pairs)[None], true.values_at(pairs), found.n_pairs)[0])


def correlate_rows(rows: sp.csc_array | FloatArray, reference: FloatArray, count: int) -> FloatArray:
    """Return Pearson's correlation of every row with the reference; NaN where one of them is constant.

    Further entries, up to ``count``, are zero in all of them.
    """
    if not count:
        return np.full(rows.shape[0], np.nan)
    mean = np.asarray(rows.sum(axis=1)).ravel() / count
    square = np.asarray((rows**2).sum(axis=1)).ravel() / count - mean**2
    center = reference.sum() / count
    spread = (reference**2).sum() / count - center**2
    scale = np.sqrt(np.maximum(square, 0.0) * max(spread, 0.0))
    covariance = rows @ reference / count - mean * center
    # One value for all pairs leaves rounding only.
    varies = (square > 1e-12 * (square + mean**2)) & (spread > 1e-12 * (spread + center**2))
    correlations: FloatArray = np.divide(covariance, scale, out=np.full(len(mean), np.nan), where=varies)
    return np.clip(correlations, -1.0, 1.0)


def relative_difference(a: NetworkLike, b: NetworkLike) -> float:
    """Return the paper's ε = ‖Θ̃_a − Θ̃_b‖ / ‖Θ̃_b‖ over the upper triangle and the diagonal.

    0 if both are zero, infinite if only ``b`` is. With categories, Θ_st has one entry per parameter of the pair.

    Examples
    --------
    >>> relative_difference([[1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 2.0]])
    0.7453559924999299
    """
    estimate, reference = _same_size(a, b)
    one, two = estimate.variables, reference.variables
    if one.scores != two.scores or match_categories(one, two):
        raise DataError("The networks must have the same categories and scores, in the same order.")
    edges = edge_distances(estimate, reference, union_keys([estimate, reference]))
    top = math.hypot(float(np.linalg.norm(edges)), float(np.linalg.norm(estimate.fields - reference.fields)))
    bottom = math.hypot(float(np.linalg.norm(reference.edge_values)), float(np.linalg.norm(reference.fields)))
    return top / bottom if bottom else math.inf if top else 0.0


def edge_distances(one: Network, other: Network, pairs: NDArray[np.int64]) -> FloatArray:
    """Return ‖Θ_st − Θ'_st‖ of two networks for pairs, given by their keys, that hold all edges of both."""
    variables = one.variables
    if variables.has_scores.all():
        return np.abs(one.values_at(pairs) - other.values_at(pairs))
    difference = one.parameters_at(pairs) - other.parameters_at(pairs)
    return np.abs(variables.block_values(pairs_of(pairs, one.n_features), difference))


@dataclass(frozen=True, eq=False, repr=False)
class RocCurve(Frozen):
    """Rates of edge recovery along a path."""

    fpr: FloatArray  #: false positive rates, increasing from 0 to 1
    tpr: FloatArray  #: true positive rates, increasing from 0 to 1
    #: penalty of each point: infinite for (0, 0), NaN for the added (1, 1) and where it is not known
    alphas: FloatArray
    auc: float  #: area under the points joined by straight lines

    def __repr__(self) -> str:
        return f"RocCurve(auc={self.auc:.4f}, {len(self.fpr)} points)"


def roc_curve(path: Path | Sequence[NetworkLike], truth: NetworkLike) -> RocCurve:
    """Return false and true positive rates of the edges along a path, and the area under them.

    Every network of the path is one point; (0, 0) and (1, 1) are added. A path that stops early is thereby joined to
    (1, 1) by a straight line, as if the remaining pairs entered in random order. ``truth`` needs at least one pair with
    an edge and one without.

    Examples
    --------
    >>> truth = [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    >>> right, wrong = truth, [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    >>> roc_curve([right], truth).auc, roc_curve([wrong], truth).auc
    (1.0, 0.25)
    """
    true = as_network(truth)
    if not 0 < true.n_edges < true.n_pairs:
        raise DataError(
            "truth must have at least one pair with an edge and one without; "
            f"got {true.n_edges} edges among {true.n_pairs} pairs."
        )
    if not isinstance(path, Iterable) or not (networks := [*path]):
        raise ArgumentError("path", "must be a path, or a list of networks", type(path).__name__)
    points = [(0.0, 0.0, math.inf)]
    for network in networks:
        counts = edge_confusion(network, true)
        points.append((counts.false_positive_rate, counts.recall, getattr(network, "alpha", math.nan)))
    points.append((1.0, 1.0, math.nan))
    columns = np.array(sorted(points, key=lambda point: point[:2]), dtype=np.float64).T
    fpr, tpr, alphas = (np.ascontiguousarray(column) for column in columns)
    return RocCurve(fpr, tpr, alphas, float(np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1])) / 2))


def ratio(top: float, bottom: float, otherwise: float = math.nan) -> float:
    """Return top / bottom, or ``otherwise`` if bottom is zero."""
    return top / bottom if bottom else otherwise


def _same_size(a: NetworkLike, b: NetworkLike) -> tuple[Network, Network]:
    one, two = as_network(a), as_network(b)
    if one.n_features != two.n_features:
        raise DataError(f"The networks must have the same number of nodes; got {one.n_features} and {two.n_features}.")
    if not one.variables.named or not two.variables.named or one.names == two.names:
        return one, two
    if alone := set(one.names) - set(two.names):
        raise DataError(f"The networks must have the same nodes; got {min(alone)!r} in one of them only.")
    order = [two.names.index(name) for name in one.names]
    variables, nodes = two.variables, np.argsort(order)
    fields = np.split(two.fields, np.cumsum(variables.sizes - 1)[:-1])
    moved = [fields[node] for node in order], nodes[two.pairs]
    blocks = variables.split_blocks(two.pairs, two.pair_parameters)
    return one, Network(*moved, variables=variables.take(order), pair_parameters=blocks)
