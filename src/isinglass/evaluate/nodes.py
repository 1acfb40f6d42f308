"""Measures of nodes: predictability, centrality and communities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
import scipy  # its parts are loaded when they are needed
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import RandomSource, as_generator, check_positive
from isinglass.arrays import Bytes, FloatArray, Frozen, read_only
from isinglass.data import TableLike, as_table, category_counts
from isinglass.data.source import is_missing
from isinglass.data.table import check_width
from isinglass.errors import ArgumentError
from isinglass.names import NodeValues, by_node
from isinglass.network import Network, NetworkLike, as_network, symmetric_matrix

CELLS_AT_ONCE = 4_000_000  # cells predicted at a time
_CELLS_OF_PATHS = 4_000_000  # sources × directed edges at a time
SHOWN_NODES = 30  # in the repr of a table
MEASURES = ("strength", "expected_influence", "closeness", "betweenness")
BRIDGES = ("bridge_strength", "bridge_expected_influence")  # measures that need the community of every node
SAME = 1e-10  # relative difference below which two paths have the same length
_Step: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]


class _Nodes(Frozen):
    """Columns with one entry per node, shown as a table."""

    names: tuple[str, ...]
    columns: Any

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        shown = {name: column for name, column in self.columns.items() if name != "community"}
        rows = [[_cell(column[k]) for column in shown.values()] for k in range(min(len(self), SHOWN_NODES))]
        more = f"\n… and {len(self) - SHOWN_NODES} more nodes" if len(self) > SHOWN_NODES else ""
        return text_table([name.replace("_", " ") for name in shown], rows) + more


@dataclass(frozen=True, eq=False, repr=False)
class NodeTable(_Nodes):
    """What a network says about each of its nodes: one column per measure, one entry per node.

    R's mgm calls accuracy, normalized accuracy and marginal accuracy CC, nCC and CCmarg.
    """

    names: tuple[str, ...]  #: the nodes
    degree: NDArray[np.int64]  #: number of edges
    strength: FloatArray  #: Σ_t |θ_st|
    expected_influence: FloatArray  #: Σ_t θ_st
    #: share of rows whose value is the most probable one given the rest of the row; a tie of k values counts 1/k; NaN
    #: for a continuous column, as are the next two: R² is its measure
    accuracy: FloatArray
    marginal_accuracy: FloatArray  #: the same without knowing the rest: the share of the most frequent value
    #: (accuracy − marginal) / (1 − marginal): 0 if the network is no help, 1 if it predicts perfectly, negative if it
    #: misleads, NaN for a constant column
    normalized_accuracy: FloatArray
    #: 1 − deviance given the rest / deviance of the column's mean; NaN for a constant column
    deviance_explained: FloatArray
    #: share of the variance of the column's scores that their expectation given the rest explains; NaN for a nominal
    #: or constant column
    r_squared: FloatArray

    @property
    def columns(self) -> dict[str, tuple[str, ...] | NDArray[np.generic]]:
        """All columns by name, ready for a data frame."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as lines of text: its first column to the left, the others to the right."""
    lines = [header, *rows]
    widths = [max(len(line[c]) for line in lines) for c in range(len(header))]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    )


def node_table(X: TableLike, network: NetworkLike, sample_weight: ArrayLike | None = None) -> NodeTable:
    """Return the centrality of every node, and how well the network predicts it in the rows of X.

    Parameters
    ----------
    X : table
        A table of the columns of the network: rows of 0 and 1, category numbers, or a Table. With a fitted estimator or
        a Fit, any table that reads like that of the fit.
    network : Network, Solution, Fit, fitted estimator or matrix
        A matrix is the paper's Θ, with the fields on its diagonal.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights.

    Examples
    --------
    >>> X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [4, 1, 1, 4], axis=0)
    >>> table = node_table(X, [[-1.4, 2.8], [2.8, -1.4]])
    >>> table.accuracy, table.normalized_accuracy, table.r_squared.round(2)
    (array([0.8, 0.8]), array([0.6, 0.6]), array([0.36, 0.36]))
    """
    read = as_network(network)
    fit: Any = getattr(network, "fit_", network)
    given = fit.read(X) if hasattr(fit, "coding") else X
    table = as_table(given, sample_weight, variables=read.variables).without_holes()
    check_width(table.shape[1], read.variables)
    total, variables = table.total_weight, read.variables
    shares = np.clip(category_counts(table) / total, 0.0, 1.0)
    marginal = np.maximum.reduceat(shares, variables.starts)
    varies = marginal < 1
    entropy = np.add.reduceat(scipy.special.entr(shares), variables.starts)
    accuracy, deviance, error = (each / total for each in table.sum_rows(_predict, read))
    marginal[variables.continuous] = np.nan  # a step of a grid is not an answer
    accuracy[variables.continuous] = np.nan
    means, squares = (np.add.reduceat(shares * variables.factor**power, variables.starts) for power in (1, 2))
    variance = squares - means**2
    gains = (
        share_where(marginal < 1, accuracy - marginal, 1 - marginal),
        share_where(varies, entropy - deviance, entropy),
        share_where(varies & variables.has_scores, variance - error, variance),
    )
    kept, drawn = variables.is_modelled, read.without_covariates()
    of_edges = drawn.degree, drawn.strength, drawn.expected_influence
    predicted = (values[kept] for values in (accuracy, marginal, *gains))
    return NodeTable(drawn.names, *of_edges, *predicted)


def _predict(codes: Bytes, weight: FloatArray | None, network: Network) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the weight of the rows in which each column is predicted right, and two sums over rows.

    These are −log P(x_s | rest), and the squared distance of the score from its expectation given the rest. Of k
    equally probable categories, each is right by 1/k.
    """
    variables = network.variables
    right, deviance, error = np.zeros((3, network.n_features))
    unit = np.ones(len(codes)) if weight is None else weight
    step = max(CELLS_AT_ONCE // len(variables.column), 1)
    for first in range(0, len(codes), step):
        some, w = codes[first : first + step], unit[first : first + step]
        logs = network.log_conditionals(some)
        own = np.take_along_axis(logs, variables.flat(some), axis=0)
        most = np.maximum.reduceat(logs, variables.starts, axis=0)
        ties = np.add.reduceat(logs == most[variables.column], variables.starts, axis=0, dtype=np.intp)
        right += ((own == most) / ties) @ w
        deviance -= own @ w
        expected = np.add.reduceat(np.exp(logs) * variables.factor[:, None], variables.starts, axis=0)
        error += (variables.factor[variables.flat(some)] - expected) ** 2 @ w
    return right, deviance, error


def share_where(varies: NDArray[np.bool_], top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Return top / bottom where asked for and possible, NaN elsewhere."""
    return np.asarray(np.divide(top, bottom, out=np.full(len(top), np.nan), where=varies & (bottom > 0)))


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


@dataclass(frozen=True, eq=False, repr=False)
class Centrality(_Nodes):
    """Measures of every node."""

    names: tuple[str, ...]  #: the nodes
    measures: Mapping[str, FloatArray]  #: one array per measure
    communities: tuple[object, ...] | None = None  #: the community of every node, if given

    def __post_init__(self) -> None:
        for values in self.measures.values():
            read_only(values)

    @property
    def columns(self) -> dict[str, Sequence[object] | FloatArray]:
        """All columns by name, ready for a data frame."""
        known = {} if self.communities is None else {"community": self.communities}
        return {"name": self.names, **known, **self.measures}

    def __getitem__(self, measure: str) -> FloatArray:
        return self.measures[measure]


def centrality(network: NetworkLike, communities: NodeValues | None = None) -> Centrality:
    """Return strength, expected influence, closeness and betweenness of every node, and how it bridges communities.

    The length of an edge is 1 / |θ_st|. Closeness and betweenness are those of networkx for such lengths: closeness is
    scaled by the share of nodes within reach, betweenness by the number of pairs of other nodes. Given the community of
    each node, in order or by name, bridge strength is Σ |θ_st| and bridge expected influence Σ θ_st over the edges to
    other communities; a node without one is a community of its own.

    Examples
    --------
    >>> centrality([[0, 2.0, 0], [2.0, 0, -1.0], [0, -1.0, 0]], ["a", "a", "b"])
    name  strength  expected influence  closeness  betweenness  bridge strength  bridge expected influence
    x0       2.000               2.000      1.000        0.000            0.000                      0.000
    x1       3.000               1.000      1.333        1.000            1.000                     -1.000
    x2       1.000              -1.000      0.800        0.000            1.000                     -1.000
    """
    read = as_network(network).without_covariates()
    member = None if communities is None else _members(communities, read)
    wanted = MEASURES if member is None else (*MEASURES, *BRIDGES)
    labels = None if communities is None else tuple(by_node(communities, read.names, "communities"))
    return Centrality(tuple(read.names), {of: node_measure(read, of, member) for of in wanted}, labels)


def node_measure(network: Network, of: str, communities: NodeValues | None = None) -> FloatArray:
    """Return one measure of every node: of ``MEASURES``, or of ``BRIDGES`` where communities are given."""
    if of in ("strength", "expected_influence"):
        return np.asarray(getattr(network, of))
    if of == "closeness":
        return _closeness(_distances(_lengths(network)))
    if of == "betweenness":
        return _betweenness(network)
    if of not in BRIDGES:
        raise ArgumentError("of", f"must be one of {', '.join((*MEASURES, *BRIDGES))}", of)
    if communities is None:
        raise ArgumentError("communities", f"must be given, one per node, for {of!r}", None)
    member = _members(communities, network)
    between = member[network.edge_index[:, 0]] != member[network.edge_index[:, 1]]
    signs = 1 if of == "bridge_strength" else network.edge_signs
    return network.node_sums(network.weights * signs * between)


def _members(communities: NodeValues, network: Network, what: str = "communities") -> NDArray[np.intp]:
    """Return the community of every node as a number, in the order of their texts; a node without one is alone."""
    given = enumerate(by_node(communities, network.names, what))
    keys = [("alone", k) if is_missing(label) else ("in", label) for k, label in given]
    numbers = {key: k for k, key in enumerate(sorted(dict.fromkeys(keys), key=lambda key: str(key[1])))}
    return np.array([numbers[key] for key in keys], dtype=np.intp)


def _lengths(network: Network) -> sp.csr_array:
    return symmetric_matrix(network.edge_index, 1.0 / network.weights, network.n_features)


def _distances(lengths: sp.csr_array, sources: NDArray[np.intp] | None = None) -> FloatArray:
    from scipy.sparse.csgraph import dijkstra  # slow to import, and only these measures need it

    return np.atleast_2d(np.asarray(dijkstra(lengths, directed=False, indices=sources)))


def _closeness(distances: FloatArray) -> FloatArray:
    within = np.isfinite(distances)
    total, reached = np.where(within, distances, 0.0).sum(axis=-1), within.sum(axis=-1) - 1
    share = np.divide(reached, total, out=np.zeros(total.shape), where=total > 0)
    return np.asarray(share * reached / max(distances.shape[-1] - 1, 1))


def _betweenness(network: Network) -> FloatArray:
    """Return the share of shortest paths between two other nodes that pass through each node.

    Many sources at once: in each round all paths grow by one edge.
    """
    n = network.n_features
    total = np.zeros(n)
    if n < 3 or not network.n_edges:
        return total
    lengths = _lengths(network)
    tail, head = np.vstack([network.edge_index, network.edge_index[:, ::-1]]).T  # both directions
    edge = np.tile(1.0 / network.weights, 2)
    every = np.arange(len(edge))
    into, out_of = (sp.csr_array((np.ones(len(edge)), (every, end)), shape=(len(edge), n)) for end in (head, tail))
    step = max(1, _CELLS_OF_PATHS // len(edge))
    for first in range(0, n, step):
        sources = np.arange(first, min(first + step, n))
        distance = _distances(lengths, sources)
        last = _is_last(distance[:, tail], edge, distance[:, head])
        start = np.zeros((len(sources), n))
        start[np.arange(len(sources)), sources] = 1.0
        total += _passing(
            start,
            last,
            lambda last, grown: np.asarray((last * grown[:, tail]) @ into),
            lambda last, carried: np.asarray((last * carried[:, head]) @ out_of),
        ).sum(axis=0)
    return np.asarray(total / ((n - 1) * (n - 2)))


def _is_last(before: FloatArray, edge: FloatArray, after: FloatArray) -> FloatArray:
    """Return 1 for edges that are the last of a shortest path, and 0 for others.

    ``before`` and ``after`` are the distances of their ends from the source. The first end must be nearer: beside a
    much longer path an edge is within `SAME` in both directions.
    """
    with np.errstate(invalid="ignore"):  # infinity minus infinity: out of reach
        same = np.abs(before + edge - after) <= SAME * np.maximum(after, edge)
    return np.asarray(same & (before < after) & np.isfinite(edge), dtype=np.float64)


def _passing(start: FloatArray, last: FloatArray, onward: _Step, back: _Step) -> FloatArray:
    """Return how many shortest paths from each source pass through each node, each pair of ends counting 1.

    Brandes' recursion: ``start`` is 1 at the source; ``onward`` and ``back`` sum over the edges that are the
    ``last`` of a shortest path.
    """
    grown, paths = start, start.copy()  # number of shortest paths from the source
    while grown.any():
        grown = onward(last, grown)
        paths += grown
    share = np.divide(1.0, paths, out=np.zeros_like(paths), where=paths > 0)
    carried = (paths > 0).astype(np.float64)  # dependency of the source on each node
    passing = np.zeros_like(paths)
    while carried.any():
        carried = paths * back(last, carried * share)
        passing += carried
    passing[start > 0] = 0.0
    return passing


def measure_many(weights: FloatArray, of: str) -> FloatArray:
    """Return the closeness or betweenness of the nodes of many small networks.

    ``weights`` has shape (n_networks, n_features, n_features) and holds absolute couplings. All networks take each step
    together: distances by Floyd and Warshall's algorithm, then Brandes' recursion as for one network.
    """
    p = weights.shape[-1]
    measure, step = np.empty(weights.shape[:2]), max(1, _CELLS_OF_PATHS // p**3)
    for first in range(0, len(weights), step):
        some = slice(first, first + step)
        with np.errstate(divide="ignore"):
            lengths = 1.0 / weights[some]
        distances = lengths.copy()
        distances[:, range(p), range(p)] = 0.0
        for k in range(p):
            np.minimum(distances, distances[:, :, k, None] + distances[:, None, k, :], out=distances)
        measure[some] = _closeness(distances) if of == "closeness" else _betweenness_of_many(lengths, distances)
    return measure


def _betweenness_of_many(lengths: FloatArray, distances: FloatArray) -> FloatArray:
    p = lengths.shape[-1]
    # From source s, whether the edge from u is the last of a shortest path to v.
    last = _is_last(distances[:, :, :, None], lengths[:, None], distances[:, :, None, :])
    start = np.zeros_like(distances)
    start[:, range(p), range(p)] = 1.0
    passing = _passing(
        start,
        last,
        lambda last, grown: (grown[:, :, None, :] @ last)[:, :, 0],
        lambda last, carried: (last @ carried[..., None])[..., 0],
    )
    return np.asarray(passing.sum(axis=1) / max((p - 1) * (p - 2), 1))


def communities(
    network: NetworkLike, *, resolution: float = 1.0, positive_only: bool = True, random_state: RandomSource = 0
) -> NDArray[np.intp]:
    """Return the community of every node by Louvain's method, numbered from 0, the largest first.

    A node without edges is a community of its own. A ``resolution`` above 1 gives more and smaller communities.
    Negative couplings are left out, or count as |θ_st| without ``positive_only``. ``random_state`` is the seed of the
    order in which nodes are visited. networkx comes with ``pip install "isinglass[graph]"``.
    """
    read = as_network(network).without_covariates()
    resolution = check_positive("resolution", resolution)
    try:
        networkx = import_module("networkx")
    except ImportError as error:
        raise ImportError('networkx is not installed. Install it: pip install "isinglass[graph]".') from error
    graph = networkx.Graph()
    graph.add_nodes_from(range(read.n_features))
    for (s, t), value in zip(read.edge_index.tolist(), read.edge_values.tolist(), strict=True):
        if value > 0 or not positive_only:
            graph.add_edge(s, t, weight=abs(value))
    seed = int(as_generator(random_state).integers(2**31))
    found = [{k} for k in range(read.n_features)]
    if graph.number_of_edges():
        search = networkx.algorithms.community.louvain_communities
        found = search(graph, weight="weight", resolution=resolution, seed=seed)
    member = np.empty(read.n_features, dtype=np.intp)
    for number, nodes in enumerate(sorted(map(sorted, found), key=lambda nodes: (-len(nodes), nodes[0]))):
        member[nodes] = number
    return member


def modularity(
    network: NetworkLike, members: NodeValues, *, resolution: float = 1.0, positive_only: bool = True
) -> float:
    """Return the modularity of communities: the weight within them minus that expected if edges were random.

    ``members`` is the community of every node, in order or by name; a node without one is a community of its own. The
    other arguments are those of `communities`.

    Examples
    --------
    >>> triangles = np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6)
    >>> modularity(triangles, [0, 0, 0, 1, 1, 1])
    0.5
    """
    read = as_network(network).without_covariates()
    labels = _members(members, read, "members")
    s, t = read.edge_index.T
    weight = np.maximum(read.edge_values, 0.0) if positive_only else read.weights
    if not weight.any():
        return float("nan")
    inside = float(weight[labels[s] == labels[t]].sum() / weight.sum())
    ends = np.bincount(labels, weights=read.node_sums(weight)) / (2.0 * weight.sum())
    return inside - resolution * float((ends**2).sum())
