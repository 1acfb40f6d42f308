"""Categories as points: where those of all columns stand in flat arrays, one row per category or coordinate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass.arrays import FloatArray


def corners(n_categories: int) -> FloatArray:
    """Return the corners of a regular simplex with edges of length 1, centered: one row per category."""
    points = np.zeros((n_categories, n_categories - 1))
    for k in range(1, n_categories):  # Helmert's contrasts
        points[:k, k - 1], points[k, k - 1] = 1.0, -k
        points[:, k - 1] /= np.sqrt(2.0 * k * (k + 1.0))
    return points


@dataclass(frozen=True, eq=False)
class Points:
    """The categories of all columns, one after the other, and the coordinates that a cell is known to others by.

    A column with scores has one coordinate, its score. A nominal one has a coordinate per category: 1 for that of the
    cell and 0 for the others. Columns of cells, ``n`` of them, are rows of the table.
    """

    starts: NDArray[np.intp]  # (p,), the first category of a column
    column: NDArray[np.intp]  # (T,), the column of a category
    coordinate: NDArray[np.intp]  # (T,), the coordinate of a category
    factor: FloatArray  # (T,), its score, or 1
    first: NDArray[np.intp]  # (p,), the first coordinate of a column
    on_line: NDArray[np.bool_]  # (p,), whether it has scores

    @classmethod
    def of(cls, scores: Sequence[FloatArray | None], sizes: Sequence[int]) -> Points:
        """Return where everything stands, given the scores and the number of categories of every column."""
        counts = np.asarray(sizes, dtype=np.intp)
        on_line = np.array([score is not None for score in scores])
        widths = np.where(on_line, 1, counts)
        starts, first = (np.concatenate([[0], np.cumsum(each)[:-1]]).astype(np.intp) for each in (counts, widths))
        column = np.repeat(np.arange(len(counts)), counts)
        within = np.arange(len(column)) - starts[column]
        factors = [np.ones(q) if score is None else score for score, q in zip(scores, counts.tolist(), strict=True)]
        return cls(
            starts,
            column,
            first[column] + np.where(on_line[column], 0, within),
            np.concatenate(factors).astype(np.float64),
            first,
            on_line,
        )

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates of all columns."""
        return int(self.coordinate[-1]) + 1

    def seen(self, codes: NDArray[np.uint8]) -> NDArray[np.intp]:
        """Return the category of every cell, shape (p, n)."""
        return np.asarray(self.starts[:, None] + codes.T)

    def place(self, seen: NDArray[np.intp]) -> FloatArray:
        """Return the coordinates of cells, shape (coordinates, n)."""
        placed = np.zeros((self.n_coordinates, seen.shape[1]))
        placed[self.coordinate[seen], np.arange(seen.shape[1])] = self.factor[seen]
        return placed

    def logits(self, fields: FloatArray, eta: FloatArray) -> FloatArray:
        """Return the field of every category plus what the rest of the row says for it, shape (T, n).

        Of several networks at once if there is an axis in front; so do the sums below.
        """
        return np.asarray(fields[..., None] + self.factor[:, None] * eta[..., self.coordinate, :])

    def log_softmax(self, logits: FloatArray) -> FloatArray:
        """Return the logarithms of probabilities that sum to 1 within every column, shape (T, n)."""
        return np.asarray(logits - self.log_sums(logits)[..., self.column, :])

    def log_sums(self, logits: FloatArray) -> FloatArray:
        """Return log Σ exp over the categories of every column, shape (p, n)."""
        top = np.maximum.reduceat(logits, self.starts, axis=-2)
        total = np.add.reduceat(np.exp(logits - top[..., self.column, :]), self.starts, axis=-2)
        return np.asarray(top + np.log(total))

    def couplings(
        self, edge_index: NDArray[np.int32], edge_values: FloatArray, blocks: Sequence[FloatArray]
    ) -> sp.csr_array:
        """Return the blocks of a network as a symmetric matrix over coordinates."""
        s, t = self.first[edge_index.T]
        if self.on_line.all():
            rows, columns, values = s, t, edge_values
        else:
            shapes = np.array([block.shape for block in blocks], dtype=np.intp).reshape(-1, 2)
            cells = shapes.prod(axis=1)
            edge = np.repeat(np.arange(len(cells)), cells)
            within = np.arange(len(edge)) - np.repeat(np.cumsum(cells) - cells, cells)
            down, across = np.divmod(within, shapes[edge, 1])
            rows, columns = s[edge] + down, t[edge] + across
            values = np.concatenate([block.ravel() for block in blocks]) if blocks else np.empty(0)
        ends = np.r_[rows, columns], np.r_[columns, rows]
        return sp.csr_array((np.r_[values, values], ends), shape=(self.n_coordinates,) * 2)
