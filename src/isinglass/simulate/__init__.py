"""Random networks, and rows drawn from a network: Gibbs sampling with diagnostics, and enumeration.

Graphs are drawn first and couplings second, in lexicographic order of the pairs, so that a seed fixes both.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass._core import gibbs_record, gibbs_start, gibbs_sweep
from isinglass.data import to_binary
from isinglass.errors import DataError, MixingWarning
from isinglass.network import Network, as_network
from isinglass.randomness import RandomSource, as_generator, spawn_seeds
from isinglass.results import Solution
from isinglass.simulate.mixing import (
    BURN_IN_TIMES,
    RHAT_LIMIT,
    MixingDiagnostics,
    diagnose,
    effective_sample_size,
    split_rhat,
)
from isinglass.solve.exact import MAX_NODES, exact_sample
from isinglass.threads import thread_count

__all__ = [
    "MixingDiagnostics",
    "chain_network",
    "effective_sample_size",
    "exact_sample",
    "gibbs_diagnostics",
    "gibbs_sample",
    "grid_network",
    "hub_network",
    "random_network",
    "random_regular_network",
    "scale_free_network",
    "small_world_network",
    "split_rhat",
    "star_network",
]

FloatArray = NDArray[np.float64]
Edges = Iterable[tuple[int, int]]
Couplings = str | float | tuple[float, float]

_UPDATES_PER_CALL = 30_000_000  # about a third of a second, after which an interrupt is noticed
_MAX_PAIRINGS = 10_000  # of a random regular graph; one in a few succeeds


# ------------------------------------------------------------------------------------------- networks


def random_network(
    n_nodes: int,
    edge_probability: float,
    *,
    coupling_range: tuple[float, float] = (-1.0, 1.0),
    random_state: RandomSource = None,
    unbalanced: bool = False,
) -> Network:
    """Draw a network as the paper does: every element of Θ, diagonal included, is non-zero with one probability.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    edge_probability : float
        Probability P that an element on or above the diagonal of Θ is not zero.
    coupling_range : (float, float)
        Non-zero elements are uniform on this interval.
    random_state : int, Generator, RandomState, SeedSequence or None
        Seed of the draw.
    unbalanced : bool
        Whether to set the first field (the paper's θ_11) to 5, so that the first column is nearly constant.

    Returns
    -------
    Network

    Examples
    --------
    >>> random_network(20, 0.3, random_state=0).n_edges
    52
    """
    p = _count(n_nodes, "n_nodes", 1)
    probability = _probability(edge_probability, "edge_probability")
    low, high = _interval(coupling_range, "coupling_range")
    rng = as_generator(random_state)
    s, t = np.triu_indices(p)
    present = rng.random(len(s)) < probability
    values = np.where(present, rng.uniform(low, high, len(s)), 0.0)
    fields, between = values[s == t], s < t
    if unbalanced:
        fields[0] = 5.0
    return Network(fields, np.column_stack([s, t])[between], values[between])


def chain_network(
    n_nodes: int,
    *,
    periodic: bool = False,
    couplings: Couplings = "ferromagnetic",
    strength: float = 1.0,
    fields: str = "zero",
    random_state: RandomSource = None,
) -> Network:
    """Connect every node to the next one; ``periodic`` closes the ring.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    periodic : bool
        Whether the last node is connected to the first one (from 3 nodes on).
    couplings : {"ferromagnetic", "mixed"}, float or (float, float)
        All ``+strength``; ``+strength`` or ``-strength`` with equal probability; one value for all; or
        uniform on an interval.
    strength : float
        Absolute value of the couplings of the first two kinds.
    fields : {"zero", "balanced"}
        θ_ss = 0, or −½ Σ_t θ_st, with which every column is 1 in half of the rows: the ±1 model has no field.
    random_state : int, Generator, RandomState, SeedSequence or None
        Seed of what is random.

    Returns
    -------
    Network

    Examples
    --------
    >>> chain_network(3, strength=2.0, fields="balanced").theta.tolist()
    [[-1.0, 2.0, 0.0], [2.0, -2.0, 2.0], [0.0, 2.0, -1.0]]
    """
    p = _count(n_nodes, "n_nodes", 1)
    edges = [(s, s + 1) for s in range(p - 1)]
    if periodic and p > 2:
        edges.append((0, p - 1))
    return _network(p, edges, couplings, strength, fields, as_generator(random_state))


def grid_network(
    n_rows: int,
    n_columns: int,
    *,
    periodic: bool = False,
    couplings: Couplings = "ferromagnetic",
    strength: float = 1.0,
    fields: str = "zero",
    random_state: RandomSource = None,
) -> Network:
    """Connect the nodes of a rectangular grid to their neighbours in four directions.

    Node ``r * n_columns + c`` stands in row r and column c. ``periodic`` closes the grid to a torus, in each
    direction that has at least 3 nodes. The other parameters are those of `chain_network`.

    Examples
    --------
    >>> grid_network(2, 3).n_edges, grid_network(3, 3, periodic=True).n_edges
    (7, 18)
    """
    shape = (_count(n_rows, "n_rows", 1), _count(n_columns, "n_columns", 1))
    nodes = np.arange(shape[0] * shape[1]).reshape(shape)
    edges: list[tuple[int, int]] = []
    for axis, length in enumerate(shape):
        following = np.roll(nodes, -1, axis)
        last = length if periodic and length > 2 else length - 1
        pair = [np.take(array, np.arange(last), axis).ravel().tolist() for array in (nodes, following)]
        edges += zip(*pair, strict=True)
    return _network(nodes.size, edges, couplings, strength, fields, as_generator(random_state))


def star_network(
    n_nodes: int,
    *,
    couplings: Couplings = "ferromagnetic",
    strength: float = 1.0,
    fields: str = "zero",
    random_state: RandomSource = None,
) -> Network:
    """Connect node 0 to all others. The other parameters are those of `chain_network`.

    Examples
    --------
    >>> star_network(5).couplings[0].tolist()
    [0.0, 1.0, 1.0, 1.0, 1.0]
    """
    return hub_network(n_nodes, 1, couplings=couplings, strength=strength, fields=fields, random_state=random_state)


def hub_network(
    n_nodes: int,
    n_hubs: int,
    *,
    couplings: Couplings = "ferromagnetic",
    strength: float = 1.0,
    fields: str = "zero",
    random_state: RandomSource = None,
) -> Network:
    """Split the nodes into groups of nearly equal size and connect the first of each group to its others.

    The groups are runs of consecutive nodes, the longer ones first, without edges between them. The other
    parameters are those of `chain_network`.

    Examples
    --------
    >>> hub_network(5, 2).edge_index.tolist()
    [[0, 1], [0, 2], [3, 4]]
    """
    p = _count(n_nodes, "n_nodes", 1)
    groups = np.array_split(np.arange(p), _count(n_hubs, "n_hubs", 1, p))
    edges = [(int(group[0]), int(node)) for group in groups for node in group[1:]]
    return _network(p, edges, couplings, strength, fields, as_generator(random_state))


def small_world_network(
    n_nodes: int,
    n_neighbours: int = 4,
    rewiring_probability: float = 0.1,
    *,
    couplings: Couplings = "ferromagnetic",
    strength: float = 1.0,
    fields: str = "zero",
    random_state: RandomSource = None,
) -> Network:
    """Draw a small world of Watts and Strogatz: a ring of neighbourhoods with some edges moved at random.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    n_neighbours : int
        Even number below ``n_nodes``: neighbours on the ring, half of them on each side.
    rewiring_probability : float
        Probability that the far end of an edge moves to a random node that is not yet a neighbour.
    couplings, strength, fields, random_state
        See `chain_network`.

    Returns
    -------
    Network
        With exactly ``n_nodes * n_neighbours / 2`` edges.

    Examples
    --------
    >>> small_world_network(20, 4, 0.2, random_state=0).n_edges
    40
    """
    p = _count(n_nodes, "n_nodes", 1)
    k = _count(n_neighbours, "n_neighbours", 0, p - 1)
    if k % 2:
        raise DataError(f"n_neighbours must be even, half on each side of the ring; got {n_neighbours!r}.")
    probability = _probability(rewiring_probability, "rewiring_probability")
    rng = as_generator(random_state)
    ring = [(s, (s + step) % p) for step in range(1, k // 2 + 1) for s in range(p)]
    neighbours: list[set[int]] = [set() for _ in range(p)]
    for s, t in ring:
        _connect(neighbours, s, t)
    for s, t in ring:
        if rng.random() < probability and len(neighbours[s]) < p - 1:
            free = [node for node in range(p) if node != s and node not in neighbours[s]]
            neighbours[s].discard(t)
            neighbours[t].discard(s)
            _connect(neighbours, s, free[int(rng.integers(len(free)))])
    return _network(p, _edges(neighbours), couplings, strength, fields, rng)


def scale_free_network(
    n_nodes: int,
    n_links: int = 1,
    *,
    couplings: Couplings = "ferromagnetic",
    strength: float = 1.0,
    fields: str = "zero",
    random_state: RandomSource = None,
) -> Network:
    """Draw a scale-free network of Barabási and Albert: newcomers prefer nodes that have many edges.

    The first ``n_links + 1`` nodes are a star. Every later node connects to ``n_links`` different older nodes,
    each chosen with probability proportional to its degree. The other parameters are those of `chain_network`.

    Returns
    -------
    Network
        With exactly ``n_links * (n_nodes - n_links)`` edges.

    Examples
    --------
    >>> scale_free_network(50, 2, random_state=0).n_edges
    96
    """
    p = _count(n_nodes, "n_nodes", 1)
    m = _count(n_links, "n_links", 0, p - 1)
    rng = as_generator(random_state)
    edges = [(0, t) for t in range(1, m + 1)]
    ends = [node for edge in edges for node in edge]  # every node as often as it has edges
    for newcomer in range(m + 1, p):
        chosen: set[int] = set()
        while len(chosen) < m:
            chosen.add(ends[int(rng.integers(len(ends)))])
        for node in sorted(chosen):
            edges.append((node, newcomer))
            ends += (node, newcomer)
    return _network(p, edges, couplings, strength, fields, rng)


def random_regular_network(
    n_nodes: int,
    degree: int,
    *,
    couplings: Couplings = "ferromagnetic",
    strength: float = 1.0,
    fields: str = "zero",
    random_state: RandomSource = None,
) -> Network:
    """Draw a graph in which every node has ``degree`` neighbours, nearly uniformly among all of these.

    Half-edges are paired at random, pairs that would repeat an edge or join a node to itself are dealt again,
    and a hand that cannot be completed starts afresh (Steger and Wormald 1999). ``n_nodes * degree`` must be
    even. The other parameters are those of `chain_network`.

    Examples
    --------
    >>> set((random_regular_network(10, 3, random_state=0).couplings != 0).sum(axis=0).tolist())
    {3}
    """
    p = _count(n_nodes, "n_nodes", 1)
    d = _count(degree, "degree", 0, p - 1)
    if p * d % 2:
        raise DataError(f"n_nodes * degree must be even, two ends per edge; got {n_nodes!r} * {degree!r}.")
    rng = as_generator(random_state)
    dense = 2 * d > p - 1  # the missing edges are a regular graph too, and easier to draw
    edges = _regular_edges(p, p - 1 - d if dense else d, rng)
    if dense:
        edges = {(s, t) for s in range(p) for t in range(s + 1, p)} - edges
    return _network(p, edges, couplings, strength, fields, rng)


def _regular_edges(p: int, degree: int, rng: np.random.Generator) -> set[tuple[int, int]]:
    for _ in range(_MAX_PAIRINGS):
        edges: set[tuple[int, int]] = set()
        ends = np.repeat(np.arange(p), degree)
        while len(ends):
            rng.shuffle(ends)
            left = []
            for s, t in np.sort(ends.reshape(-1, 2), axis=1).tolist():
                if s == t or (s, t) in edges:
                    left += [s, t]
                else:
                    edges.add((s, t))
            nodes = sorted(set(left))
            if left and all((s, t) in edges for k, s in enumerate(nodes) for t in nodes[k + 1 :]):
                break  # whatever is dealt now repeats an edge
            ends = np.array(left, dtype=np.int64)
        else:
            return edges
    raise DataError(f"degree must leave room for random pairing; got {degree!r} with {p} nodes. Try another seed.")


def _connect(neighbours: list[set[int]], s: int, t: int) -> None:
    neighbours[s].add(t)
    neighbours[t].add(s)


def _edges(neighbours: list[set[int]]) -> list[tuple[int, int]]:
    return [(s, t) for s, others in enumerate(neighbours) for t in others if s < t]


def _network(
    p: int, edges: Edges, couplings: Couplings, strength: float, fields: str, rng: np.random.Generator
) -> Network:
    """Put couplings on the edges of a graph, and the fields that go with them."""
    if fields not in ("zero", "balanced"):
        raise DataError(f'fields must be "zero" or "balanced"; got {fields!r}.')
    index = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
    network = Network(np.zeros(p), index, _coupling_values(len(index), couplings, strength, rng))
    # −½ Σ_t θ_st is a field of zero in ±1 coding (docs/math.md): flipping all nodes changes no probability.
    return replace(network, fields=-0.5 * network.expected_influence) if fields == "balanced" else network


def _coupling_values(n_edges: int, couplings: Couplings, strength: float, rng: np.random.Generator) -> FloatArray:
    if isinstance(couplings, str):
        if couplings not in ("ferromagnetic", "mixed"):
            raise DataError(f'couplings must be "ferromagnetic", "mixed", a number or an interval; got {couplings!r}.')
        size = _number(strength, "strength")
        signs = rng.choice([-1.0, 1.0], n_edges) if couplings == "mixed" else np.ones(n_edges)
        return size * signs
    if isinstance(couplings, tuple | list):
        low, high = _interval(couplings, "couplings")
        return rng.uniform(low, high, n_edges)
    return np.full(n_edges, _number(couplings, "couplings"))


# ------------------------------------------------------------------------------------------- Gibbs sampling


def gibbs_sample(
    model: Network | Solution,
    n_samples: int,
    *,
    burn_in: int = 1000,
    thin: int = 1,
    n_chains: int = 1,
    start: ArrayLike | None = None,
    random_state: RandomSource = None,
    n_threads: int | None = None,
) -> NDArray[np.uint8]:
    """Draw rows by Gibbs sampling: sweeps that redraw every node given the others, in order.

    Row k = 0, 1, … of a chain is its state after ``burn_in + (k + 1) * thin`` sweeps. With ``burn_in=0`` and
    ``thin=1`` the first row is one sweep away from the start, which itself is never returned.

    Parameters
    ----------
    model : Network or Solution
        Any number of nodes; the time per sweep is proportional to nodes plus edges.
    n_samples : int
        Number of rows.
    burn_in : int
        Sweeps discarded at the beginning of every chain; 0 discards none. Whether it is long enough depends
        on the model: see `gibbs_diagnostics`.
    thin : int
        Sweeps from one row to the next.
    n_chains : int
        Independent chains, at most ``n_samples``. The result holds their rows chain after chain; if
        ``n_samples`` is not a multiple of it, the first chains have one row more.
    start : array-like of shape (n_features,) or (n_chains, n_features), optional
        Where the chains start; by default at independent fair coin flips.
    random_state : int, Generator, RandomState, SeedSequence or None
        Seed; chain k gets a stream of its own, whatever ``n_chains`` is.
    n_threads : int, optional
        Threads that share the chains; default as in `isinglass.ising_path`. The result does not depend on it.

    Returns
    -------
    ndarray of uint8, shape (n_samples, n_features)

    Examples
    --------
    >>> model = chain_network(100, strength=2.0, fields="balanced")
    >>> X = gibbs_sample(model, 500, random_state=0)
    >>> X.shape, round(float((X[:, 1:] == X[:, :-1]).mean()), 2)
    ((500, 100), 0.73)
    """
    n_rows = _count(n_samples, "n_samples", 1)
    counts = (_count(burn_in, "burn_in", 0), _count(thin, "thin", 1), _count(n_chains, "n_chains", 1, n_rows))
    chains = _Chains.begin(as_network(model), counts[2], start, random_state, thread_count(n_threads))
    chains.sweep(counts[0])
    share, more = divmod(n_rows, counts[2])
    offsets = np.concatenate([[0], np.cumsum(share + (np.arange(counts[2]) < more))])
    return chains.record(offsets, counts[1])


@dataclass(frozen=True, eq=False)
class _Chains:
    """Sparse couplings, and what the chains carry from one call of the kernel to the next."""

    network: tuple[NDArray[np.int64], NDArray[np.int32], FloatArray, FloatArray]
    words: NDArray[np.uint64]  # four per chain: the generator
    states: NDArray[np.uint8]
    n_threads: int

    @classmethod
    def begin(
        cls, model: Network, n_chains: int, start: ArrayLike | None, seed: RandomSource, n_threads: int
    ) -> _Chains:
        rows = model.couplings_sparse
        network = (
            np.asarray(rows.indptr, dtype=np.int64),
            np.asarray(rows.indices, dtype=np.int32),
            np.asarray(rows.data, dtype=np.float64),
            np.ascontiguousarray(model.fields),
        )
        words = np.array([child.generate_state(4, np.uint64) for child in spawn_seeds(seed, n_chains)])
        states = np.empty((n_chains, model.n_features), dtype=np.uint8)
        gibbs_start(words, states)
        if start is not None:
            states[:] = _start_states(start, states.shape)
        return cls(network, words, states, n_threads)

    @property
    def sweeps_per_call(self) -> int:
        updates = len(self.words) * (len(self.network[3]) + len(self.network[1]) // 8)
        return max(1, _UPDATES_PER_CALL // updates)

    def sweep(self, n_sweeps: int) -> None:
        """Advance every chain; control comes back to Python now and then, so that it can be interrupted."""
        for done in range(0, n_sweeps, self.sweeps_per_call):
            count = min(self.sweeps_per_call, n_sweeps - done)
            gibbs_sweep(*self.network, self.words, self.states, count, self.n_threads)

    def record(self, offsets: NDArray[np.int64], thin: int) -> NDArray[np.uint8]:
        """Return the rows ``offsets[c] … offsets[c + 1] - 1`` of every chain c, ``thin`` sweeps before each."""
        rows = np.empty((int(offsets[-1]), len(self.network[3])), dtype=np.uint8)
        longest, step = int(np.diff(offsets).max()), max(1, self.sweeps_per_call // thin)
        for first in range(0, longest, step):
            last = min(first + step, longest)
            gibbs_record(*self.network, self.words, self.states, thin, offsets, first, last, rows, self.n_threads)
        return rows


def _start_states(start: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    states = to_binary(np.atleast_2d(start))
    if states.shape not in (shape, (1, shape[1])):
        raise DataError(f"start must have shape {(shape[1],)} or {shape}; got {np.shape(start)}.")
    return states


# ------------------------------------------------------------------------------------------- diagnostics


def gibbs_diagnostics(
    model: Network | Solution,
    *,
    n_samples: int = 1000,
    burn_in: int = 1000,
    thin: int = 1,
    n_chains: int = 4,
    random_state: RandomSource = None,
    n_threads: int | None = None,
) -> MixingDiagnostics:
    """Run chains from scattered starts and tell whether ``burn_in`` sweeps are enough for this model.

    The first chain starts at all zeros, the second at all ones, the others at coin flips: chains that agree
    after such starts have forgotten them. Agreement is evidence, not proof: a region that no chain has found
    is invisible.

    Parameters
    ----------
    model : Network or Solution
        What is to be sampled.
    n_samples : int
        Rows per chain, at least 4.
    burn_in, thin : int
        As for `gibbs_sample`.
    n_chains : int
        At least 2.
    random_state : int, Generator, RandomState, SeedSequence or None
        Seed.
    n_threads : int, optional
        As for `gibbs_sample`.

    Returns
    -------
    MixingDiagnostics

    Warns
    -----
    MixingWarning
        If the chains have not mixed; the message says what to change.

    Examples
    --------
    >>> gibbs_diagnostics(chain_network(10, fields="balanced"), random_state=0).mixed
    True
    """
    n_draws, m = _count(n_samples, "n_samples", 4), _count(n_chains, "n_chains", 2)
    whole = as_network(model)
    at_start, at_run = spawn_seeds(random_state, 2)
    start = as_generator(at_start).integers(0, 2, (m, whole.n_features), dtype=np.uint8)
    start[0], start[1] = 0, 1
    rows = gibbs_sample(
        model,
        m * n_draws,
        burn_in=burn_in,
        thin=thin,
        n_chains=m,
        start=start,
        random_state=at_run,
        n_threads=n_threads,
    )
    diagnostics = diagnose(rows.reshape(m, n_draws, -1), whole.energy(rows).reshape(m, n_draws), burn_in, thin)
    if not diagnostics.mixed:
        warnings.warn(_mixing_message(diagnostics), MixingWarning, stacklevel=2)
    return diagnostics


def _mixing_message(found: MixingDiagnostics) -> str:
    what = f"{found.burn_in} burn-in sweeps do not seem to be enough for this model: "
    if found.largest_rhat > RHAT_LIMIT:
        what += (
            f"chains from different starts disagree (largest split-R̂ {found.largest_rhat:.3g}, limit {RHAT_LIMIT}). "
            f"Raise burn_in and n_samples well above the {found.autocorrelation_time:.3g} sweeps per effective draw "
            "seen so far, weaken the couplings,"
        )
    else:
        enough = math.ceil(BURN_IN_TIMES * found.autocorrelation_time)
        what += f"an effective draw takes {found.autocorrelation_time:.3g} sweeps. Raise burn_in to {enough},"
    return what + f" or use exact_sample (up to {MAX_NODES} nodes)."


# ------------------------------------------------------------------------------------------- checks


def _count(value: int, name: str, least: int, most: int | None = None) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise DataError(f"{name} must be an integer of at least {least}; got {value!r}.")
    if most is not None and value > most:
        raise DataError(f"{name} must be at most {most} here; got {value!r}.")
    return int(value)


def _number(value: float, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise DataError(f"{name} must be a number; got {value!r}.")
    if not math.isfinite(value):
        raise DataError(f"{name} must be finite; got {value!r}.")
    return float(value)


def _probability(value: float, name: str) -> float:
    if not 0 <= _number(value, name) <= 1:
        raise DataError(f"{name} must be between 0 and 1; got {value!r}.")
    return float(value)


def _interval(bounds: Sequence[float], name: str) -> tuple[float, float]:
    if not isinstance(bounds, Sequence | np.ndarray) or len(bounds) != 2:
        raise DataError(f"{name} must be two numbers, (low, high); got {bounds!r}.")
    low, high = (_number(bound, name) for bound in bounds)
    if low > high:
        raise DataError(f"{name} must be two numbers, the lower one first; got {bounds!r}.")
    return low, high
