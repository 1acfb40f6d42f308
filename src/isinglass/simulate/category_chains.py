"""Rows of categories drawn by Gibbs sampling: every row is a chain, and all of them are swept side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.categories import CategoryNetwork
from isinglass.randomness import RandomSource, as_generator


class CategoryChains:
    """Rows of category numbers whose cells are redrawn given the rest of their row.

    The cells that are ``missing`` are redrawn, all of them by default; the others are held. ``table`` has the rows as
    they are now.

    Examples
    --------
    >>> model = CategoryNetwork([[0, 0, 0], [0, 0]], [[0, 1, 2], [0, 1]], [[0, 1]], [40.0])
    >>> chains = CategoryChains(np.array([[0, 1], [2, 0]], dtype=np.uint8), np.array([[True, False], [False, True]]))
    >>> chains.sweep(model, 1)
    >>> chains.table.tolist()
    [[2, 1], [2, 1]]
    """

    def __init__(self, table: Bytes, missing: Mask | None = None, *, random_state: RandomSource = None) -> None:
        self.table = np.array(table, dtype=np.uint8, order="C")
        gone = np.ones(self.table.shape, dtype=bool) if missing is None else missing
        self._rows = {s: np.flatnonzero(gone[:, s]) for s in np.flatnonzero(gone.any(axis=0)).tolist()}
        self._rng = as_generator(random_state)

    def sweep(self, network: CategoryNetwork, n_sweeps: int) -> None:
        """Redraw every cell that is not held so many times, in the order of the columns."""
        nodes = {s: _Node.of(network, s) for s in self._rows}
        for _ in range(n_sweeps):
            for s, rows in self._rows.items():
                logits = nodes[s].logits(self.table, rows)
                # The largest of logits with Gumbel noise is a draw from their softmax, whatever their size.
                self.table[rows, s] = (logits + self._rng.gumbel(size=logits.shape)).argmax(axis=1)


@dataclass(frozen=True, eq=False)
class _Node:
    """What a column depends on.

    ``tables`` has for each neighbor t the terms e_st(k, l) as rows l and columns k; of neighbors on a line, where the
    node is on one, too, θ_st φ_t(l) alone, which ``score`` multiplies.
    """

    field: FloatArray
    score: FloatArray | None
    tables: tuple[tuple[int, FloatArray], ...]

    @classmethod
    def of(cls, network: CategoryNetwork, s: int) -> _Node:
        tables = []
        touching = np.flatnonzero((network.edge_index == s).any(axis=1)).tolist()
        for k in touching:
            first, second = network.edge_index[k].tolist()
            t, block = (second, network.blocks[k]) if first == s else (first, network.blocks[k].T)
            points = network.scores[t]  # the block has a row per category of s, or one; and columns likewise for t
            seen = block.T if points is None else points[:, None] * block[:, 0]
            tables.append((t, seen[:, 0] if network.scores[s] is not None else seen))
        return cls(network.category_fields[s], network.scores[s], tuple(tables))

    def logits(self, table: Bytes, rows: NDArray[np.intp]) -> FloatArray:
        """Return log P(x_s = k | the rest), up to a constant, for some rows."""
        if self.score is None:
            total = np.tile(self.field, (len(rows), 1))
            for t, terms in self.tables:
                total += terms[table[rows, t]]
            return total
        slope = np.zeros(len(rows))
        for t, terms in self.tables:
            slope += terms[table[rows, t]]
        return self.field + np.multiply.outer(slope, self.score)
