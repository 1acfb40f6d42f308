"""Networks to draw rows from: random ones, chains, grids, couplings on any graph, and categories on their nodes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from isinglass.arguments import RandomSource, as_generator, as_numbers, check_count, check_word, is_real
from isinglass.arrays import FloatArray
from isinglass.errors import ArgumentError, DataError
from isinglass.network import Network
from isinglass.results import NetworkLike, as_network
from isinglass.variables import Variables


def random_network(
    n_nodes: int,
    edge_probability: float,
    *,
    coupling_range: tuple[float, float] = (-1.0, 1.0),
    random_state: RandomSource = None,
    unbalanced: bool = False,
) -> Network:
    """Draw a network as the paper does.

    Every element of Θ on and above the diagonal is non-zero with probability ``edge_probability``, and then uniform on
    ``coupling_range``. ``unbalanced`` sets the first field (the paper's θ_11) to 5: that column is nearly constant.

    Examples
    --------
    >>> random_network(20, 0.3, random_state=0).n_edges
    52
    """
    p = check_count("n_nodes", n_nodes)
    if not 0 <= _number("edge_probability", edge_probability) <= 1:
        raise ArgumentError("edge_probability", "must be between 0 and 1", edge_probability)
    low, high = as_numbers("coupling_range", coupling_range, (2,)).tolist()
    if low > high:
        raise ArgumentError("coupling_range", "must be two numbers, the lower one first", coupling_range)
    rng = as_generator(random_state)
    s, t = np.triu_indices(p)
    present = rng.random(len(s)) < edge_probability
    values = np.where(present, rng.uniform(low, high, len(s)), 0.0)
    fields, between = values[s == t], s < t
    if unbalanced:
        fields[0] = 5.0
    return Network(fields, np.column_stack([s, t])[between], values[between])


def chain_network(
    n_nodes: int,
    *,
    couplings: str = "ferromagnetic",
    strength: float = 1.0,
    fields: str = "zero",
    random_state: RandomSource = None,
) -> Network:
    """Connect every node to the next one.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    couplings : {"ferromagnetic", "mixed"}
        All ``strength``; or ``strength`` or ``-strength`` with equal probability.
    strength : float
        Size of the couplings.
    fields : {"zero", "balanced"}
        θ_ss = 0, or −½ Σ_t θ_st, with which every column is 1 in half of the rows.
    random_state : int, Generator, RandomState, SeedSequence or None
        Seed.

    Examples
    --------
    >>> chain_network(3, strength=2.0, fields="balanced").theta.tolist()
    [[-1.0, 2.0, 0.0], [2.0, -2.0, 2.0], [0.0, 2.0, -1.0]]
    """
    p = check_count("n_nodes", n_nodes)
    return _network(p, [(s, s + 1) for s in range(p - 1)], couplings, strength, fields, random_state)


def grid_network(
    n_rows: int,
    n_columns: int,
    *,
    couplings: str = "ferromagnetic",
    strength: float = 1.0,
    fields: str = "zero",
    random_state: RandomSource = None,
) -> Network:
    """Connect the nodes of a rectangular grid to their neighbors in four directions.

    Node ``r * n_columns + c`` stands in row r and column c. The other parameters are those of `chain_network`.
    """
    shape = (check_count("n_rows", n_rows), check_count("n_columns", n_columns))
    nodes = np.arange(shape[0] * shape[1]).reshape(shape)
    ends = (nodes[:-1], nodes[1:]), (nodes[:, :-1], nodes[:, 1:])
    edges = np.vstack([np.column_stack([one.ravel(), other.ravel()]) for one, other in ends])
    return _network(nodes.size, edges.tolist(), couplings, strength, fields, random_state)


def graph_network(
    graph: Any,  # Any: of networkx, which has no types
    *,
    couplings: str = "ferromagnetic",
    strength: float = 1.0,
    fields: str = "zero",
    random_state: RandomSource = None,
) -> Network:
    """Put couplings on the edges of a graph of networkx, whose nodes become the names.

    The graph is undirected and without loops, or anything that has ``nodes`` and ``edges`` as such a graph does.
    Attributes of edges, such as ``weight``, are not used. The other parameters are those of `chain_network`.

    Examples
    --------
    >>> import networkx
    >>> graph_network(networkx.star_graph(4), strength=2.0).degree.tolist()
    [4, 1, 1, 1, 1]
    """
    nodes = {node: k for k, node in enumerate(getattr(graph, "nodes", ()))}
    if not nodes:
        raise ArgumentError("graph", "must be a graph of networkx with at least one node", type(graph).__name__)
    pairs = [(min(nodes[s], nodes[t]), max(nodes[s], nodes[t])) for s, t, *_ in graph.edges]  # behind them, keys
    is_directed = getattr(graph, "is_directed", lambda: False)()
    if is_directed or len(set(pairs)) < len(pairs) or any(s == t for s, t in pairs):
        must = "must be undirected, without loops and with each edge once"
        raise ArgumentError("graph", must, type(graph).__name__)
    network = _network(len(nodes), pairs, couplings, strength, fields, random_state)
    return network.with_names([str(node) for node in nodes])


def category_network(
    network: NetworkLike,
    kinds: str | Sequence[str] = "ordinal",
    n_categories: int | Sequence[int] = 5,
    *,
    random_state: RandomSource = None,
) -> Network:
    """Return a network with the same edges between columns with categories.

    An edge of coupling θ becomes ‖Θ_st‖ = |θ| √(m_s m_t) / (4 sd_s sd_t), where sd is the standard deviation of a
    column whose categories are equally frequent and m its number of coordinates: one row has as much information on the
    edge as on a coupling θ of two balanced yes/no columns. Two columns with scores keep its sign; a nominal one gets a
    random direction. Fields balance the mean of the neighbors' scores.

    Parameters
    ----------
    network : Network, Solution, Fit, fitted estimator or matrix
        The edges and their couplings, such as those of a chain, a grid or a random network; its fields are not used.
    kinds : {"binary", "ordinal", "nominal", "continuous"}, or a sequence of them
        Kind of all columns, or of each.
    n_categories : int or sequence of int, default 5
        Number of categories, of all columns or of each; binary columns have two.
    random_state : int, Generator, RandomState, SeedSequence or None
        Seed of the directions.

    Examples
    --------
    >>> category_network(chain_network(3, strength=2.0), n_categories=3).edge_values
    array([0.75, 0.75])
    """
    network, rng = as_network(network), as_generator(random_state)
    network.variables.require_no_covariates("Simulation")
    p = network.n_features
    words = [kinds] * p if isinstance(kinds, str) else list(kinds)
    counts = np.broadcast_to(n_categories, p).tolist() if np.size(n_categories) in (1, p) else []
    if not len(words) == len(counts) == p:
        raise DataError(f"kinds and n_categories must be one entry, or one per node ({p}).")
    given = zip(words, counts, strict=True)
    sizes = [2 if word == "binary" else check_count("n_categories", count, least=2) for word, count in given]
    variables = Variables.of(sizes, words, names=network.names if network.variables.named else None)
    s, t = network.edge_index.T
    # Variance per coordinate, of equally frequent categories: of the scores, or (1 − 1/q)/2 over q − 1 coordinates.
    each = zip(variables.scores, sizes, strict=True)
    variances = np.array([0.5 / q if points is None else np.var(points) for points, q in each])
    sizes_of_edges = network.edge_values / (4.0 * np.sqrt(variances[s] * variances[t]))
    sizes_of_edges /= variables.block_scale(network.edge_index)
    pairs, fields = network.edge_index.tolist(), [np.zeros(q) for q in sizes]
    blocks = [
        _random_block(int(variables.widths[s]), int(variables.widths[t]), rng) * size
        for (s, t), size in zip(pairs, sizes_of_edges.tolist(), strict=True)
    ]
    for (s, t), block in zip(pairs, blocks, strict=True):
        fields[s] -= _mean_term(s, t, block, variables)
        fields[t] -= _mean_term(t, s, block.T, variables)
    own = [field[1:] - field[0] for field in fields]
    return Network(own, network.edge_index, variables=variables, pair_parameters=blocks)


def _mean_term(s: int, t: int, block: FloatArray, variables: Variables) -> FloatArray:
    """Return what the mean score of column t adds to every category of column s; a nominal column has mean 0."""
    score, points = variables.score(s), variables.score(t)
    middle = 0.0 if points is None else points.mean()
    return np.asarray(middle * (block[:, 0] if score is None else score * block[0, 0]))


def _network(
    p: int, edges: Iterable[tuple[int, int]], couplings: str, strength: float, fields: str, random_state: RandomSource
) -> Network:
    """Put couplings on the edges of a graph, and the fields that go with them."""
    check_word("couplings", couplings, ("ferromagnetic", "mixed"))
    check_word("fields", fields, ("zero", "balanced"))
    index = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
    values = np.full(len(index), _number("strength", strength))
    if couplings == "mixed":
        values *= as_generator(random_state).choice([-1.0, 1.0], len(index))
    network = Network(np.zeros(p), index, values)
    # −½ Σ_t θ_st is a field of zero in ±1 coding (docs/math.md): flipping all nodes changes no probability.
    return replace(network, fields=-0.5 * network.expected_influence) if fields == "balanced" else network


def _number(name: str, value: float) -> float:
    if not is_real(value) or not math.isfinite(value):
        raise ArgumentError(name, "must be a finite number", value)
    return float(value)


def _random_block(n_rows: int, n_columns: int, rng: np.random.Generator) -> FloatArray:
    """Return a block of norm 1: the number 1, or a random table that sums to zero over the categories of a side."""
    if n_rows == n_columns == 1:
        return np.ones((1, 1))
    block = rng.normal(size=(n_rows, n_columns))
    if n_rows > 1:
        block -= block.mean(axis=0)
    if n_columns > 1:
        block -= block.mean(axis=1, keepdims=True)
    return np.asarray(block / np.linalg.norm(block))
