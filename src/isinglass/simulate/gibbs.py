"""Gibbs sampling: of rows from a network, and of missing cells given the observed cells of their row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass._core import GibbsSampler
from isinglass.arguments import RandomSource, as_generator, check_count, spawn_seeds
from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.data import Table
from isinglass.errors import DataError
from isinglass.machine.threads import thread_count
from isinglass.network import Network
from isinglass.results import NetworkLike, as_network

Logits = Callable[[Bytes, NDArray[np.intp]], FloatArray]
IMPOSSIBLE = -1e6
"""Field of a category that no observed cell has: it is not drawn, however strong the couplings are."""


def gibbs_sample(
    network: NetworkLike,
    n_samples: int,
    *,
    burn_in: int = 1000,
    thin: int = 1,
    n_chains: int = 1,
    start: ArrayLike | None = None,
    random_state: RandomSource = None,
    n_threads: int | None = None,
) -> Bytes | Table:
    """Draw rows by Gibbs sampling; a sweep redraws every node given the others, in order.

    Row k = 0, 1, … of a chain is its state after ``burn_in + (k + 1) * thin`` sweeps.

    Parameters
    ----------
    network : Network, Solution, Fit or fitted estimator
        The network. The chains of a network with categories are swept together: ``n_chains=n_samples`` takes little
        longer than one chain.
    n_samples : int
        Number of rows.
    burn_in : int
        Sweeps discarded at the beginning of every chain. `gibbs_diagnostics` tells whether they are enough.
    thin : int
        Sweeps from one row to the next.
    n_chains : int
        Independent chains, at most ``n_samples``. The rows come chain after chain; if ``n_samples`` is not a multiple,
        the first chains have one row more.
    start : array-like of shape (n_features,) or (n_chains, n_features), optional
        Starting states, as numbers of categories from 0; by default random rows in which every category of a column is
        equally probable.
    random_state : int, Generator, RandomState, SeedSequence or None
        Seed. Chain k has its own stream, independent of ``n_chains``; with categories all chains share one.
    n_threads : int, optional
        Number of threads; the result does not depend on it.

    Returns
    -------
    ndarray of uint8, shape (n_samples, n_features)
        A `Table` of this shape, if the network has categories.

    Examples
    --------
    >>> from isinglass.simulate import chain_network
    >>> model = chain_network(100, strength=2.0, fields="balanced")
    >>> X = gibbs_sample(model, 500, random_state=0)
    >>> X.shape, round(float((X[:, 1:] == X[:, :-1]).mean()), 2)
    ((500, 100), 0.73)
    """
    n_rows = check_count("n_samples", n_samples)
    before, apart = check_count("burn_in", burn_in, least=0), check_count("thin", thin)
    several = check_count("n_chains", n_chains, most=n_rows)
    whole = as_network(network)
    whole.variables.require_no_covariates("Sampling")
    states = None if start is None else _starting_states(whole, start, several)
    share, more = divmod(n_rows, several)
    offsets = np.concatenate([[0], np.cumsum(share + (np.arange(several) < more))])
    if not whole.variables.is_binary:
        return Table(_sample_categories(whole, offsets, before, apart, states, random_state), whole.variables)
    words = np.array([child.generate_state(4, np.uint64) for child in spawn_seeds(random_state, several)])
    kernel, drawn = sampler_of(whole), np.empty((several, whole.n_features), dtype=np.uint8)
    kernel.start(words, drawn)  # from the generators, which are used also where the states are given
    if states is not None:
        drawn[:] = states
    rows = np.empty((n_rows, whole.n_features), dtype=np.uint8)
    kernel.record(words, drawn, before, apart, offsets, rows, thread_count(n_threads))
    return rows


def _sample_categories(
    network: Network, offsets: NDArray[np.int64], burn_in: int, thin: int, start: Bytes | None, seed: RandomSource
) -> Bytes:
    """Return the rows ``offsets[c] … offsets[c + 1] - 1`` of every chain c, all chains swept together."""
    rng = as_generator(seed)
    drawn = rng.integers(0, network.variables.sizes, (len(offsets) - 1, network.n_features), dtype=np.uint8)
    chains = Chains(drawn if start is None else start, random_state=rng)
    chains.sweep(network, burn_in)
    rows = np.empty((int(offsets[-1]), network.n_features), dtype=np.uint8)
    for k in range(int(np.diff(offsets).max())):
        chains.sweep(network, thin)
        going = offsets[:-1] + k < offsets[1:]
        rows[offsets[:-1][going] + k] = chains.table[going]
    return rows


def _starting_states(network: Network, start: ArrayLike, n_chains: int) -> Bytes:
    """Return starting states, a row per chain."""
    states, shape = np.asarray(start), (n_chains, network.n_features)
    if states.shape not in (shape, (1, shape[1]), shape[1:]):
        raise DataError(f"start must have shape {shape[1:]} or {shape}; got {states.shape or repr(start)}.")
    if states.dtype.kind not in "biu" or not ((states >= 0) & (states < network.variables.sizes)).all():
        raise DataError("start must hold the numbers of categories, from 0: in columns of two values 0 and 1.")
    return np.broadcast_to(states, shape).astype(np.uint8)


class Chains:
    """Gibbs chains, one per row of ``table``, which holds their current states.

    With ``missing``, only these cells are redrawn, given the others of their row. The draws do not depend on the number
    of threads.
    """

    def __init__(
        self,
        table: Bytes,
        missing: Mask | None = None,
        *,
        random_state: RandomSource = None,
        n_threads: int | None = None,
    ) -> None:
        self.table = np.array(table, dtype=np.uint8, order="C")
        self._missing = np.ones(self.table.shape, dtype=bool) if missing is None else missing
        self._rng = as_generator(random_state)
        self._n_threads = thread_count(n_threads)

    def sweep(self, network: Network, n_sweeps: int) -> None:
        """Redraw every cell ``n_sweeps`` times, column by column; of two values, each row by its own generator."""
        if network.variables.is_binary:
            words, first_cell, cells = self._generators
            sampler_of(network).redraw(words, self.table, first_cell, cells, n_sweeps, self._n_threads)
            return
        functions = node_logits(network, self._rows)
        for _ in range(n_sweeps):
            for (s, rows), logits_of in zip(self._rows.items(), functions, strict=True):
                self.table[rows, s] = draw_categories(logits_of(self.table, rows), self._rng)

    @cached_property
    def _rows(self) -> dict[int, NDArray[np.intp]]:
        """Rows with a missing cell in each column that has one."""
        return {s: np.flatnonzero(self._missing[:, s]) for s in np.flatnonzero(self._missing.any(axis=0)).tolist()}

    @cached_property
    def _generators(self) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int32]]:
        """States of the generators, and the missing columns of all rows with the place where each row begins."""
        first_cell = np.concatenate([[0], np.cumsum(self._missing.sum(axis=1))]).astype(np.int64)
        words = self._rng.integers(0, 2**64, size=(len(self.table), 4), dtype=np.uint64)
        return words, first_cell, np.nonzero(self._missing)[1].astype(np.int32)


def draw_categories(logits: FloatArray, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return a draw from the softmax of every row; none that has the probability zero."""
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    below = np.cumsum(weights, axis=1, out=weights)
    drawn = below[:, -1] * (1.0 - rng.random(len(logits)))  # above 0
    return np.asarray(np.count_nonzero(below < drawn[:, None], axis=1))


def restrict_to(possible: Mask, network: Network) -> Network:
    """Return a network from which only these categories are drawn."""
    if possible.all():
        return network
    variables = network.variables
    fields = variables.fields_of(np.where(possible, network.category_fields, IMPOSSIBLE))
    return Network.trusted(variables, fields, network.pairs, network.pair_parameters)


def node_logits(network: Network, nodes: Iterable[int]) -> list[Logits]:
    """Return, for each node s, a function of a table and row numbers: log P(x_s = k | the rest), up to a constant."""
    blocks = network.variables.split_blocks(network.pairs, network.pair_parameters)
    fields = network.variables.split(network.category_fields)
    return [_logits_of(s, network, fields[s], blocks) for s in nodes]


def _logits_of(s: int, network: Network, field: FloatArray, blocks: list[FloatArray]) -> Logits:
    variables, score = network.variables, network.variables.score(s)
    # For each neighbor t the terms e_st(k, l) as rows l and columns k; where both are on a line, θ_st φ_t(l) alone.
    tables = []
    for k in np.flatnonzero((network.pairs == s).any(axis=1)).tolist():
        first, second = network.pairs[k].tolist()
        t, block = (second, blocks[k]) if first == s else (first, blocks[k].T)
        points = variables.score(t)  # the block has a row per category of s, or one; and columns likewise for t
        seen = block.T if points is None else points[:, None] * block[:, 0]
        tables.append((t, seen if score is None else seen[:, 0]))

    def logits(table: Bytes, rows: NDArray[np.intp]) -> FloatArray:
        total = np.tile(field, (len(rows), 1)) if score is None else np.zeros(len(rows))
        for t, terms in tables:
            total += terms[table[rows, t]]
        return total if score is None else field + np.multiply.outer(total, score)

    return logits


def sampler_of(network: Network) -> GibbsSampler:
    """Return the kernels for chains of a network of two values."""
    matrix = network.couplings_sparse
    return GibbsSampler(
        np.asarray(matrix.indptr, dtype=np.int64),
        np.asarray(matrix.indices, dtype=np.int32),
        np.asarray(matrix.data, dtype=np.float64),
        np.ascontiguousarray(network.fields),
    )


def start_values(table: Bytes, missing: Mask, counted: Mask, random_state: RandomSource) -> Bytes:
    """Return the table with a random answer of the same column in every missing cell.

    Answers are drawn from the rows ``counted``; where a column has none among them, its missing cells become 0.
    """
    rng, filled = as_generator(random_state), table.copy()
    for s in np.flatnonzero(missing.any(axis=0)):
        gone = missing[:, s]
        answers = table[~gone & counted, s]
        filled[gone, s] = rng.choice(answers, int(gone.sum())) if len(answers) else 0
    return filled
