"""Where the categories of variables, and the blocks of pairs, are in flat arrays.

A flat array has an entry per category, variable after variable (length T). A variable with *scores* is seen by others
by the score of its category: it has one coordinate, and its categories differ by a factor. A nominal variable has a
coordinate per category: 1 for that of the cell, 0 for the others. The block B_st of a pair has a row per coordinate of
s and a column per coordinate of t.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray, Mask, read_only

Integers = NDArray[np.intp]
Entry = TypeVar("Entry", bound=np.generic)


class FlatLayout:
    """The layout that follows from the categories and scores of p variables."""

    categories: tuple[tuple[Any, ...], ...]  # Any: values of the source
    scores: tuple[tuple[float, ...] | None, ...]  # None for a nominal variable

    @cached_property
    def sizes(self) -> Integers:
        """Number of categories of every variable, shape (p,)."""
        return read_only(np.array([len(values) for values in self.categories], dtype=np.intp))

    @cached_property
    def has_scores(self) -> Mask:
        """Which variables have scores, shape (p,)."""
        return read_only(np.array([points is not None for points in self.scores]))

    @cached_property
    def widths(self) -> Integers:
        """Number of coordinates of every variable, shape (p,): 1 with scores, else one per category."""
        return read_only(np.where(self.has_scores, 1, self.sizes))

    @cached_property
    def starts(self) -> Integers:
        """First category of every variable in flat arrays, shape (p,)."""
        return read_only(np.cumsum(self.sizes) - self.sizes)

    @cached_property
    def first(self) -> Integers:
        """First coordinate of every variable, shape (p,)."""
        return read_only(np.cumsum(self.widths) - self.widths)

    @cached_property
    def column(self) -> Integers:
        """Variable of every category, shape (T,)."""
        return read_only(np.repeat(np.arange(len(self.sizes)), self.sizes))

    @cached_property
    def is_later(self) -> Mask:
        """Which categories are not the first of their variable, shape (T,): those with a field of their own."""
        later = np.ones(len(self.column), dtype=bool)
        later[self.starts] = False
        return read_only(later)

    @cached_property
    def coordinate(self) -> Integers:
        """Coordinate of every category, shape (T,)."""
        within = np.arange(len(self.column)) - self.starts[self.column]
        return read_only(self.first[self.column] + np.where(self.has_scores[self.column], 0, within))

    @cached_property
    def factor(self) -> FloatArray:
        """Score of every category, 1 for those of nominal variables, shape (T,)."""
        each = zip(self.scores, self.sizes.tolist(), strict=True)
        return read_only(np.array([x for points, q in each for x in ((1.0,) * q if points is None else points)]))

    @cached_property
    def ranges(self) -> FloatArray:
        """Largest distance of two categories of every variable, shape (p,); 1 for a nominal one."""
        high, low = (extreme.reduceat(self.factor, self.starts) for extreme in (np.maximum, np.minimum))
        return read_only(np.where(self.has_scores, high - low, 1.0))

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates of all variables."""
        return int(self.widths.sum())

    def split(self, flat: NDArray[Entry]) -> list[NDArray[Entry]]:
        """Return views of the parts of a flat array that belong to each variable."""
        ends = np.cumsum(self.sizes).tolist()
        return [flat[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]

    def fields_of(self, flat: FloatArray) -> FloatArray:
        """Return the fields of a network whose categories have these logits: the first of each variable has none."""
        return np.asarray((flat - flat[self.starts][self.column])[self.is_later])

    def flat(self, codes: NDArray[np.uint8]) -> Integers:
        """Return the place of every cell's category in flat arrays, shape (p, n)."""
        return np.asarray(self.starts[:, None] + codes.T)

    def place(self, flat: Integers) -> FloatArray:
        """Return the coordinates of cells given by `flat`, shape (n_coordinates, n)."""
        placed = np.zeros((self.n_coordinates, flat.shape[1]))
        placed[self.coordinate[flat], np.arange(flat.shape[1])] = self.factor[flat]
        return placed

    def has_sign(self, pairs: NDArray[np.integer]) -> Mask:
        """Tell which pairs, shape (n, 2), have one parameter, and so a sign."""
        return np.asarray(self.has_scores[pairs].all(axis=1))

    def block_shape(self, s: int, t: int) -> tuple[int, int]:
        """Return the shape of B_st: a row or column per category of a nominal variable, one of any other."""
        return int(self.widths[s]), int(self.widths[t])

    def block_sizes(self, pairs: NDArray[np.integer]) -> Integers:
        """Return the number of entries of B_st of every pair."""
        return np.asarray(self.widths[pairs].prod(axis=1, dtype=np.intp))

    def block_scale(self, pairs: NDArray[np.integer]) -> FloatArray:
        """Return ‖Θ_st‖ / ‖B_st‖ of every pair: 2 for two nominal variables, √2 for one, else 1."""
        return np.asarray(np.sqrt(2.0) ** (~self.has_scores[pairs]).sum(axis=1))

    def split_blocks(self, pairs: NDArray[np.integer], parameters: FloatArray) -> list[FloatArray]:
        """Return views of the blocks of these pairs, which lie one after the other."""
        ends = np.cumsum(self.block_sizes(pairs)).tolist()
        shapes = self.widths[pairs].tolist()
        bounds = zip([0, *ends[:-1]], ends, shapes, strict=True) if shapes else ()
        return [parameters[start:end].reshape(shape) for start, end, shape in bounds]

    def block_values(self, pairs: NDArray[np.integer], parameters: FloatArray) -> FloatArray:
        """Return what stands for the blocks of pairs: the coupling of one with one parameter, ‖Θ‖ of any other."""
        if self.has_scores.all() or not len(pairs):
            return parameters
        sizes = self.block_sizes(pairs)
        norms = np.sqrt(np.add.reduceat(parameters * parameters, np.cumsum(sizes) - sizes))
        signed = self.has_sign(pairs)
        values = self.block_scale(pairs) * norms
        values[signed] = parameters[np.cumsum(sizes)[signed] - 1]
        return values
