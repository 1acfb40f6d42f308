"""How close a network is to another one, and what a network says about its nodes and about groups of them.

A network may be given as an `IsingModel`, as a `Solution`, or as a symmetric matrix, dense or sparse: the
paper's Θ, whose diagonal holds the fields (zeros if there are none). Pairs are counted once, s < t; an edge is
a pair whose coupling is not zero. Comparisons of edges work on lists of edges, never on dense matrices.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import check_count
from isinglass.data import to_weighted
from isinglass.errors import DataError
from isinglass.model import IsingModel
from isinglass.randomness import RandomSource, as_generator
from isinglass.results import Path, Solution, read_only

__all__ = [
    "EdgeConfusion",
    "GroupMixing",
    "MixingTest",
    "NodeTable",
    "RocCurve",
    "edge_confusion",
    "f1_score",
    "hamming_distance",
    "matthews_correlation",
    "mixing_by_group",
    "mixing_test",
    "node_table",
    "relative_difference",
    "roc_curve",
    "sign_accuracy",
    "weight_correlation",
]

FloatArray = NDArray[np.float64]
Network: TypeAlias = IsingModel | Solution | ArrayLike | Any  # Any: a sparse matrix, for which SciPy has no types

_SHOWN_NODES = 30  # in the repr of a table
_LABELS_AT_ONCE = 4_000_000  # of permuted groups, so that their memory does not grow with the number of permutations


# ------------------------------------------------------------------------------------------- edges


@dataclass(frozen=True)
class EdgeConfusion:
    """Pairs of nodes by whether they are an edge in the estimate and in the truth.

    Parameters
    ----------
    true_positives, false_positives, false_negatives, true_negatives : int
        Edges in both, in the estimate alone, in the truth alone, in neither.
    """

    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int

    @property
    def precision(self) -> float:
        """Share of the estimated edges that are true; NaN if none is estimated."""
        return _ratio(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float:
        """Share of the true edges that are found, the true positive rate; NaN if there is none."""
        return _ratio(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def false_positive_rate(self) -> float:
        """Share of the pairs without an edge that are estimated to be one; NaN if every pair is an edge."""
        return _ratio(self.false_positives, self.false_positives + self.true_negatives)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 1 if there is nothing to find and nothing was found."""
        return _ratio(2 * self.true_positives, 2 * self.true_positives + self.hamming, otherwise=1.0)

    @property
    def mcc(self) -> float:
        """Matthews' correlation of the two edge indicators; 0 if one of them is constant."""
        tp, fp, fn, tn = (getattr(self, field.name) for field in fields(self))
        scale = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
        return _ratio(tp * tn - fp * fn, scale, otherwise=0.0)

    @property
    def hamming(self) -> int:
        """Number of pairs on which the two networks differ."""
        return self.false_positives + self.false_negatives


def edge_confusion(estimate: Network, truth: Network) -> EdgeConfusion:
    """Count the pairs of nodes that are an edge in both networks, in one of them, in none.

    Examples
    --------
    >>> edge_confusion([[0, 1, 1], [1, 0, 0], [1, 0, 0]], [[0, 2, 0], [2, 0, 0], [0, 0, 0]])
    EdgeConfusion(true_positives=1, false_positives=1, false_negatives=0, true_negatives=1)
    """
    found, true = _same_size(estimate, truth)
    return _confusion(found, true)


def f1_score(estimate: Network, truth: Network) -> float:
    """Return the F1 of the estimated edges; see `EdgeConfusion.f1`."""
    return edge_confusion(estimate, truth).f1


def matthews_correlation(estimate: Network, truth: Network) -> float:
    """Return Matthews' correlation coefficient of the edges; see `EdgeConfusion.mcc`."""
    return edge_confusion(estimate, truth).mcc


def hamming_distance(estimate: Network, truth: Network) -> int:
    """Return the number of pairs that are an edge in one of the networks only."""
    return edge_confusion(estimate, truth).hamming


def sign_accuracy(estimate: Network, truth: Network) -> float:
    """Return the share with the right sign among the edges that both networks have; NaN if they share none.

    Examples
    --------
    >>> sign_accuracy([[0, 1.0], [1.0, 0]], [[0, -2.0], [-2.0, 0]])
    0.0
    """
    found, true = _same_size(estimate, truth)
    _, one, two = np.intersect1d(found.keys, true.keys, assume_unique=True, return_indices=True)
    agree = np.count_nonzero(np.sign(found.values[one]) == np.sign(true.values[two]))
    return _ratio(int(agree), len(one))


def weight_correlation(estimate: Network, truth: Network) -> float:
    """Return Pearson's correlation of the couplings over all pairs, zeros included; NaN if one side is constant.

    Examples
    --------
    >>> truth = [[0, 1.0, 0], [1.0, 0, -1.0], [0, -1.0, 0]]
    >>> weight_correlation(0.5 * np.array(truth), truth)
    1.0
    """
    found, true = _same_size(estimate, truth)
    if found.is_constant or true.is_constant:
        return math.nan
    pairs = np.union1d(found.keys, true.keys)
    n, n_empty = found.n_pairs, found.n_pairs - len(pairs)
    means = [edges.values.sum() / n for edges in (found, true)]
    a, b = (edges.at(pairs) - mean for edges, mean in zip((found, true), means, strict=True))
    # The pairs without an edge on either side are not stored; each deviates by minus the mean.
    covariance = a @ b + n_empty * means[0] * means[1]
    spreads = [c @ c + n_empty * mean**2 for c, mean in zip((a, b), means, strict=True)]
    return float(np.clip(covariance / math.sqrt(spreads[0] * spreads[1]), -1.0, 1.0))


def relative_difference(a: Network, b: Network) -> float:
    """Return the paper's ε = ‖Θ̃_a − Θ̃_b‖ / ‖Θ̃_b‖ over the upper triangle and the diagonal.

    0 if both are zero, infinite if only ``b`` is.

    Examples
    --------
    >>> relative_difference([[1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 2.0]])
    0.7453559924999299
    """
    one, two = _same_size(a, b)
    pairs = np.union1d(one.keys, two.keys)
    difference = one.at(pairs) - two.at(pairs)
    top = math.hypot(float(np.linalg.norm(difference)), float(np.linalg.norm(one.fields - two.fields)))
    bottom = math.hypot(float(np.linalg.norm(two.values)), float(np.linalg.norm(two.fields)))
    return top / bottom if bottom else math.inf if top else 0.0


# ------------------------------------------------------------------------------------------- ROC


@dataclass(frozen=True, eq=False, repr=False)
class RocCurve:
    """Rates of edge recovery along a path.

    Parameters
    ----------
    fpr, tpr : ndarray of shape (n_points,)
        False and true positive rates, sorted by both; from (0, 0) to (1, 1).
    alphas : ndarray of shape (n_points,)
        Penalty of each point: infinite for (0, 0), NaN for the added (1, 1) and where it is not known.
    auc : float
        Area under the points joined by straight lines.
    """

    fpr: FloatArray
    tpr: FloatArray
    alphas: FloatArray
    auc: float

    def __post_init__(self) -> None:
        for array in (self.fpr, self.tpr, self.alphas):
            read_only(array)

    def __repr__(self) -> str:
        return f"RocCurve(auc={self.auc:.4f}, {len(self.fpr)} points)"


def roc_curve(path: Path | Sequence[Network], truth: Network) -> RocCurve:
    """Return false and true positive rates of the edges along a path, and the area under them.

    Every solution is one point. Two ends are added: (0, 0), no edge, which an infinite penalty gives, and (1, 1),
    every pair an edge. A path that stops early is thereby joined to (1, 1) by a straight line, as if the
    remaining pairs entered in random order; the area is not cut off where the path ends. Where a path is not
    nested, so that edges leave again, its points are sorted before the area is taken.

    Parameters
    ----------
    path : Path or sequence of networks
        From sparse to dense, as `isinglass.ising_path` returns it; the order does not matter.
    truth : IsingModel, Solution or matrix
        At least one pair with an edge and one without.

    Returns
    -------
    RocCurve

    Examples
    --------
    >>> truth = [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    >>> right, wrong = truth, [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    >>> roc_curve([right], truth).auc, roc_curve([wrong], truth).auc
    (1.0, 0.25)
    """
    true = _EdgeList.read(truth)
    if not 0 < len(true.keys) < true.n_pairs:
        raise DataError(
            "truth must have at least one pair with an edge and one without; "
            f"got {len(true.keys)} edges among {true.n_pairs} pairs."
        )
    points = [(0.0, 0.0, math.inf)]
    for network in path:
        counts = _confusion(_matching(_EdgeList.read(network), true), true)
        points.append((counts.false_positive_rate, counts.recall, getattr(network, "alpha", math.nan)))
    points.append((1.0, 1.0, math.nan))
    columns = np.array(sorted(points, key=lambda point: point[:2]), dtype=np.float64).T
    fpr, tpr, alphas = (np.ascontiguousarray(column) for column in columns)
    return RocCurve(fpr, tpr, alphas, float(np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1])) / 2))


# ------------------------------------------------------------------------------------------- nodes


@dataclass(frozen=True, eq=False, repr=False)
class NodeTable:
    """What a network says about each of its nodes: one column per measure, one entry per node.

    Parameters
    ----------
    names : tuple of str
        The nodes.
    degree : ndarray of int
        Number of edges.
    strength : ndarray
        Σ_t |θ_st|.
    expected_influence : ndarray
        Σ_t θ_st.
    accuracy : ndarray
        Share of rows whose value is the more probable one given the rest of the row; a tie counts one half.
    marginal_accuracy : ndarray
        The same without knowing the rest: the share of the more frequent value.
    normalised_accuracy : ndarray
        (accuracy − marginal) / (1 − marginal): 0 if the network is no help, 1 if it predicts perfectly, negative
        if it misleads, NaN for a constant column.
    deviance_explained : ndarray
        1 − deviance given the rest / deviance of the column's mean; NaN for a constant column.
    """

    names: tuple[str, ...]
    degree: NDArray[np.int64]
    strength: FloatArray
    expected_influence: FloatArray
    accuracy: FloatArray
    marginal_accuracy: FloatArray
    normalised_accuracy: FloatArray
    deviance_explained: FloatArray

    def __post_init__(self) -> None:
        for column in list(self.columns.values())[1:]:
            read_only(column)  # type: ignore[arg-type]

    @property
    def columns(self) -> dict[str, tuple[str, ...] | NDArray[np.generic]]:
        """All columns by name, ready for a data frame."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        header = [name.replace("_", " ") for name in self.columns]
        shown = range(min(len(self), _SHOWN_NODES))
        lines = [header] + [[_cell(column[k]) for column in self.columns.values()] for k in shown]
        widths = [max(len(line[c]) for line in lines) for c in range(len(header))]
        text = [
            "  ".join(
                [line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))]
            )
            for line in lines
        ]
        more = [f"… and {len(self) - _SHOWN_NODES} more nodes"] if len(self) > _SHOWN_NODES else []
        return "\n".join(text + more)


def node_table(model: Network, X: ArrayLike, sample_weight: ArrayLike | None = None) -> NodeTable:
    """Return the centrality of every node, and how well the network predicts it in the rows of X.

    Parameters
    ----------
    model : IsingModel, Solution or matrix
        A matrix is the paper's Θ, with the fields on its diagonal.
    X : array-like of shape (n_samples, n_features)
        Table of 0 and 1.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights.

    Returns
    -------
    NodeTable

    Examples
    --------
    >>> X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [4, 1, 1, 4], axis=0)
    >>> node_table([[-1.4, 2.8], [2.8, -1.4]], X)
    names  degree  strength  expected influence  accuracy  marginal accuracy  normalised accuracy  deviance explained
    x0          1     2.800               2.800     0.800              0.500                0.600               0.278
    x1          1     2.800               2.800     0.800              0.500                0.600               0.278
    """
    network = _EdgeList.read(model)
    table, weight = to_weighted(X, sample_weight)
    if table.shape[1] != network.n_nodes:
        raise DataError(f"X must have one column per node ({network.n_nodes}); got {table.shape[1]}.")
    weight = np.ones(len(table)) if weight is None else weight / weight.max()
    weight = weight / weight.sum()
    couplings = network.couplings
    logits = network.fields + (couplings @ table.T.astype(np.float64)).T
    means = np.clip(weight @ table, 0.0, 1.0)
    accuracy = weight @ np.where(logits == 0, 0.5, (logits > 0) == table)
    marginal = np.maximum(means, 1 - means)
    # −log P(x_s | rest) = log(1 + exp(∓η)): no overflow, whatever η.
    deviance = weight @ np.logaddexp(0.0, (1.0 - 2.0 * table) * logits)
    varies = (table[weight > 0] != table[weight > 0][0]).any(axis=0)
    return NodeTable(
        network.names,
        np.diff(couplings.indptr).astype(np.int64),
        np.asarray(abs(couplings).sum(axis=1), dtype=np.float64),
        np.asarray(couplings.sum(axis=1), dtype=np.float64),
        accuracy,
        marginal,
        _where(varies, accuracy - marginal, 1 - marginal),
        _where(varies, _entropy(means) - deviance, _entropy(means)),
    )


def _where(varies: NDArray[np.bool_], top: FloatArray, bottom: FloatArray) -> FloatArray:
    shares: FloatArray = np.divide(top, bottom, out=np.full(len(top), np.nan), where=varies & (bottom > 0))
    return shares


def _entropy(means: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.array([q * np.log(q) for q in (means, 1 - means)])
    entropy: FloatArray = -np.where(np.isnan(terms), 0.0, terms).sum(axis=0)
    return entropy


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


# ------------------------------------------------------------------------------------------- groups


@dataclass(frozen=True, eq=False, repr=False)
class GroupMixing:
    """How the edges of a network follow groups of its nodes.

    Parameters
    ----------
    names : tuple of str
        The nodes.
    groups : tuple
        The different groups, in the order in which the nodes mention them.
    members : ndarray of int, shape (n_nodes,)
        Each node's group, as a position in ``groups``.
    node_edges : ndarray of int, shape (n_nodes, n_groups)
        Number of edges from each node into each group.
    node_weights : ndarray of shape (n_nodes, n_groups)
        Sum of their |θ_st|.
    """

    names: tuple[str, ...]
    groups: tuple[Hashable, ...]
    members: NDArray[np.intp]
    node_edges: NDArray[np.int64]
    node_weights: FloatArray

    def __post_init__(self) -> None:
        for array in (self.members, self.node_edges, self.node_weights):
            read_only(array)

    @property
    def n_edges(self) -> int:
        """Number of edges that were counted."""
        return int(self.node_edges.sum()) // 2

    @property
    def n_within(self) -> int:
        """Number of them that join two nodes of one group."""
        return int(self._own(self.node_edges).sum()) // 2

    @property
    def within_edges(self) -> float:
        """Share of the edges that join two nodes of one group; NaN without edges."""
        return _ratio(self.n_within, self.n_edges)

    @property
    def within_weight(self) -> float:
        """Share of the weight on such edges; NaN without edges."""
        return _ratio(float(self._own(self.node_weights).sum()), float(self.node_weights.sum()))

    @property
    def outside_edges(self) -> FloatArray:
        """Share of each node's edges that lead to other groups; NaN for a node without edges."""
        return self._outside(self.node_edges.astype(np.float64))

    @property
    def outside_weight(self) -> FloatArray:
        """Share of each node's weight that leads to other groups; NaN for a node without edges."""
        return self._outside(self.node_weights)

    @property
    def n_pairs(self) -> int:
        """Number of pairs of nodes."""
        return len(self.members) * (len(self.members) - 1) // 2

    @property
    def n_pairs_within(self) -> int:
        """Number of pairs of nodes of one group."""
        sizes = np.bincount(self.members)
        return int((sizes * (sizes - 1)).sum()) // 2

    @property
    def joined(self) -> float:
        """Share of all pairs that have an edge."""
        return _ratio(self.n_edges, self.n_pairs)

    @property
    def joined_within(self) -> float:
        """Share of the pairs of one group that have an edge; NaN if every group has one member."""
        return _ratio(self.n_within, self.n_pairs_within)

    @property
    def joined_between(self) -> float:
        """Share of the pairs of different groups that have an edge; NaN if there is one group."""
        return _ratio(self.n_edges - self.n_within, self.n_pairs - self.n_pairs_within)

    def _own(self, table: NDArray[Any]) -> NDArray[Any]:
        own: NDArray[Any] = table[np.arange(len(table)), self.members]
        return own

    def _outside(self, table: FloatArray) -> FloatArray:
        total = table.sum(axis=1)
        return _where(total > 0, total - self._own(table), total)

    def __repr__(self) -> str:
        return (
            f"GroupMixing({len(self.names)} nodes in {len(self.groups)} groups; {self.n_within} of {self.n_edges} "
            f"edges within a group; {self.joined_within:.1%} of the pairs within a group joined, "
            f"{self.joined_between:.1%} of the others)"
        )


def mixing_by_group(network: Network, groups: Sequence[Hashable], *, sign: str = "positive") -> GroupMixing:
    """Count the edges within and between groups of nodes, for the network and for every node.

    Parameters
    ----------
    network : IsingModel, Solution or matrix
        The network.
    groups : sequence
        The group of each node: any labels that can be compared, for instance strings, or tuples to combine two
        attributes.
    sign : {"positive", "negative", "all"}, default "positive"
        Which edges count.

    Returns
    -------
    GroupMixing

    Examples
    --------
    >>> mixing_by_group([[0, 2, 1, 0], [2, 0, 0, 0], [1, 0, 0, -1], [0, 0, -1, 0]], ["a", "a", "b", "b"])
    GroupMixing(4 nodes in 2 groups; 1 of 2 edges within a group; 50.0% of the pairs within a group joined, \
25.0% of the others)
    """
    edges = _EdgeList.read(network)
    labels, members = _check_groups("groups", groups, edges.n_nodes)
    s, t, weight = _signed(edges, sign)
    shape = (edges.n_nodes, len(labels))
    counts, weights = np.zeros(shape, dtype=np.int64), np.zeros(shape)
    for one, other in ((s, t), (t, s)):
        np.add.at(counts, (one, members[other]), 1)
        np.add.at(weights, (one, members[other]), weight)
    return GroupMixing(edges.names, labels, members, counts, weights)


@dataclass(frozen=True)
class MixingTest:
    """Edges within groups against the same network with the groups dealt out anew.

    Parameters
    ----------
    observed : float
        Number of edges within a group, or their weight.
    expected, spread : float
        Mean and standard deviation over the permutations.
    p_value : float
        (1 + permutations with at least the observed value) / (1 + permutations): valid for any number of them.
    n_permutations : int
        How many were drawn.
    """

    observed: float
    expected: float
    spread: float
    p_value: float
    n_permutations: int


def mixing_test(
    network: Network,
    groups: Sequence[Hashable],
    *,
    strata: Sequence[Hashable] | None = None,
    sign: str = "positive",
    weighted: bool = False,
    n_permutations: int = 9999,
    random_state: RandomSource = None,
) -> MixingTest:
    """Test whether more edges join nodes of one group than if the groups had been dealt out at random.

    Parameters
    ----------
    network : IsingModel, Solution or matrix
        The network; it stays as it is, only the labels move.
    groups : sequence
        The group of each node.
    strata : sequence, optional
        A second attribute; groups are then permuted among nodes of the same stratum only, which leaves what the
        strata explain out of the comparison.
    sign : {"positive", "negative", "all"}, default "positive"
        Which edges count.
    weighted : bool, default False
        Compare the weight |θ_st| within groups instead of the number of edges.
    n_permutations : int, default 9999
        Number of permutations.
    random_state : int, Generator, RandomState, SeedSequence or None
        Seed of the permutations.

    Returns
    -------
    MixingTest

    Examples
    --------
    >>> triangles = np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6)
    >>> found = mixing_test(triangles, ["a", "a", "a", "b", "b", "b"], random_state=0)
    >>> found.observed, found.p_value < 0.15  # 2 of the 20 ways to choose three nodes
    (6.0, True)
    """
    edges = _EdgeList.read(network)
    n_permutations = check_count("n_permutations", n_permutations)
    _, members = _check_groups("groups", groups, edges.n_nodes)
    stratum = np.zeros_like(members) if strata is None else _check_groups("strata", strata, edges.n_nodes)[1]
    s, t, weight = _signed(edges, sign)
    weight = weight if weighted else np.ones(len(s))
    rng = as_generator(random_state)
    observed = float(weight @ (members[s] == members[t]))
    places = np.argsort(stratum, kind="stable")
    drawn = []
    for first in range(0, n_permutations, at_once := _LABELS_AT_ONCE // (edges.n_nodes + len(s)) + 1):
        shape = (min(at_once, n_permutations - first), edges.n_nodes)
        # Strata are integers and the keys below 1: sorting shuffles within each stratum and keeps strata apart.
        order = np.argsort(stratum + rng.random(shape), axis=1)
        dealt = np.empty(shape, dtype=members.dtype)
        dealt[:, places] = members[order]
        drawn.append((dealt[:, s] == dealt[:, t]) @ weight)
    values = np.concatenate(drawn)
    # Sums of the same weights in another order differ by rounding; such a draw counts as reaching the observed value.
    reached = int(np.count_nonzero(values >= observed - 1e-9 * max(abs(observed), 1.0)))
    return MixingTest(
        observed, float(values.mean()), float(values.std()), (1 + reached) / (1 + n_permutations), n_permutations
    )


def _check_groups(name: str, groups: Sequence[Hashable], n_nodes: int) -> tuple[tuple[Hashable, ...], NDArray[np.intp]]:
    """Return the different labels in order of appearance, and each node's position among them."""
    if isinstance(groups, str):
        raise DataError(f"{name} must be a list with one label per node; got {groups!r}.")
    labels = list(groups)
    if len(labels) != n_nodes:
        raise DataError(f"{name} must have one label per node ({n_nodes}); got {len(labels)}.")
    position = {label: k for k, label in enumerate(dict.fromkeys(labels))}
    return tuple(position), np.array([position[label] for label in labels], dtype=np.intp)


def _signed(edges: _EdgeList, sign: str) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]:
    """Return (s, t, |θ_st|) of the edges with the sign asked for."""
    chosen = {"positive": edges.values > 0, "negative": edges.values < 0, "all": np.ones(len(edges.values), bool)}
    if sign not in chosen:
        raise DataError(f"sign must be one of {', '.join(chosen)}; got {sign!r}.")
    s, t = np.divmod(edges.keys[chosen[sign]], edges.n_nodes)
    return s, t, np.abs(edges.values[chosen[sign]])


# ------------------------------------------------------------------------------------------- reading networks


@dataclass(frozen=True, eq=False)
class _EdgeList:
    """Any kind of network as a list of edges, in the order of key = s · n_nodes + t with s < t."""

    fields: FloatArray
    keys: NDArray[np.int64]
    values: FloatArray
    names: tuple[str, ...]

    @classmethod
    def read(cls, network: Network) -> _EdgeList:
        if isinstance(network, Solution):
            s, t = network.edge_index.astype(np.int64).T
            node_fields, values, names = network.fields, network.edge_values, None
        elif isinstance(network, IsingModel):
            s, t = np.nonzero(np.triu(network.couplings, 1))
            node_fields, values, names = network.fields, network.couplings[s, t], network.names
        else:
            s, t, values, node_fields = _read_matrix(network)
            names = None
        p = len(node_fields)
        keys, kept = s * p + t, values != 0
        order = np.argsort(keys[kept], kind="stable")
        return cls(
            np.asarray(node_fields, dtype=np.float64),
            keys[kept][order],
            np.asarray(values, dtype=np.float64)[kept][order],
            tuple(f"x{k}" for k in range(p)) if names is None else tuple(names),
        )

    @property
    def n_nodes(self) -> int:
        return len(self.fields)

    @property
    def n_pairs(self) -> int:
        return self.n_nodes * (self.n_nodes - 1) // 2

    @property
    def is_constant(self) -> bool:
        """Whether all pairs have the same coupling."""
        complete = len(self.keys) == self.n_pairs
        return len(self.keys) == 0 or (complete and bool((self.values == self.values[0]).all()))

    @property
    def couplings(self) -> sp.csr_array:
        s, t = np.divmod(self.keys, self.n_nodes)
        entries = (np.r_[self.values, self.values], (np.r_[s, t], np.r_[t, s]))
        return sp.csr_array(entries, shape=(self.n_nodes, self.n_nodes))

    def at(self, keys: NDArray[np.int64]) -> FloatArray:
        """Return the couplings of these pairs, which include all edges."""
        result = np.zeros(len(keys))
        result[np.searchsorted(keys, self.keys)] = self.values
        return result


def _read_matrix(network: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray, FloatArray]:
    """Return (s, t, θ_st) of the upper triangle and the diagonal of a symmetric matrix."""
    matrix = network if sp.issparse(network) else np.asarray(network)
    if (
        matrix.ndim != 2
        or matrix.shape[0] != matrix.shape[1]
        or matrix.shape[0] == 0
        or matrix.dtype.kind not in "buif"
    ):
        raise DataError(
            "A network must be an IsingModel, a Solution or a square matrix of numbers; "
            f"got shape {matrix.shape}, dtype {matrix.dtype}."
        )
    matrix = matrix.astype(np.float64)
    values = matrix.data if sp.issparse(matrix) else matrix
    if not np.isfinite(values).all():
        raise DataError("A network must have finite couplings; got NaN or infinity.")
    difference = abs(matrix - matrix.T).max()
    if difference > 1e-12 * abs(matrix).max():
        raise DataError(
            f"A network must be symmetric; got a matrix that differs from its transpose by {difference:.3g}. "
            "Average the two directions first: (A + A.T) / 2."
        )
    upper = sp.coo_array(sp.triu(sp.csr_array(matrix), 1))
    upper.sum_duplicates()
    s, t = (index.astype(np.int64) for index in upper.coords)
    return s, t, upper.data, np.asarray(matrix.diagonal(), dtype=np.float64)


def _matching(one: _EdgeList, two: _EdgeList) -> _EdgeList:
    if one.n_nodes != two.n_nodes:
        raise DataError(f"The networks must have the same number of nodes; got {one.n_nodes} and {two.n_nodes}.")
    return one


def _same_size(a: Network, b: Network) -> tuple[_EdgeList, _EdgeList]:
    one, two = _EdgeList.read(a), _EdgeList.read(b)
    return _matching(one, two), two


def _confusion(found: _EdgeList, true: _EdgeList) -> EdgeConfusion:
    both = len(np.intersect1d(found.keys, true.keys, assume_unique=True))
    return EdgeConfusion(
        both,
        len(found.keys) - both,
        len(true.keys) - both,
        found.n_pairs - len(found.keys) - len(true.keys) + both,
    )


def _ratio(top: float, bottom: float, otherwise: float = math.nan) -> float:
    return top / bottom if bottom else otherwise
