"""Gibbs sampling of missing cells given the observed cells of their row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from isinglass._core import GibbsSampler
from isinglass.arguments import RandomSource, as_generator
from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.machine.threads import thread_count
from isinglass.network import Network

Logits = Callable[[Bytes, NDArray[np.intp]], FloatArray]
IMPOSSIBLE = -1e6
"""Field of a category that no observed cell has: it is not drawn, however strong the couplings are."""


class Completions:
    """Rows whose missing cells are redrawn by Gibbs sweeps, while the observed cells stay as they are.

    ``table`` holds the current rows; the chains start from the values in the missing cells of the given ones. Without
    ``missing`` all cells are redrawn. The draws do not depend on the number of threads.
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
        """Redraw every missing cell ``n_sweeps`` times, column by column; of two values, each row by its generator."""
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


def among(possible: Mask, network: Network) -> Network:
    """Return a network from which only these categories are drawn."""
    if possible.all():
        return network
    variables = network.variables
    fields = variables.fields_of(np.where(possible, network.category_fields, IMPOSSIBLE))
    return Network.trusted(variables, fields, network.pairs, network.pair_parameters)


def node_logits(network: Network, nodes: Iterable[int]) -> list[Logits]:
    """Return, for each node s, a function of a table and row numbers: log P(x_s = k | the rest), up to a constant."""
    variables, pairs = network.variables, network.pairs.tolist()
    blocks = variables.split_blocks(network.pairs, network.pair_parameters)
    fields = variables.split(network.category_fields)
    return [_logits_of(s, network, fields[s], pairs, blocks) for s in nodes]


def _logits_of(s: int, network: Network, field: FloatArray, pairs: list[list[int]], blocks: list[FloatArray]) -> Logits:
    variables, score = network.variables, network.variables.score(s)
    # For each neighbor t the terms e_st(k, l) as rows l and columns k; where both are on a line, θ_st φ_t(l) alone.
    tables = []
    for k in np.flatnonzero((network.pairs == s).any(axis=1)).tolist():
        first, second = pairs[k]
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
