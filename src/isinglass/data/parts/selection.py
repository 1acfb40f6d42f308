"""Which rows of a table in parts are meant: of folds that every part draws by itself, and by their weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.data.parts.backends import Part


@dataclass(frozen=True)
class Fold:
    """One fold of the rows, drawn in every part by itself; ``held``: its rows, or those outside it."""

    seed: int
    n_folds: int
    number: int
    held: bool

    def mask(self, part: int, n_rows: int) -> Mask:
        """Return which rows of a part belong to it."""
        draw = np.random.default_rng([self.seed, part]).permutation(n_rows) % self.n_folds
        return np.asarray((draw == self.number) == self.held)


@dataclass(frozen=True)
class RowSelection:
    """Which rows of a table in parts: all, those of a fold of a fold, those whose weight is above a floor."""

    folds: tuple[Fold, ...] = ()  # each of the rows of the one before
    floor: float = -1.0
    scale: float = 1.0  # what row weights are multiplied by, so that their sum is N

    def mask(self, part: int, n_rows: int) -> Mask:
        """Return which rows of a part are in all folds."""
        mask = np.ones(n_rows, dtype=bool)
        for fold in self.folds:
            mask[mask] = fold.mask(part, int(mask.sum()))
        return mask

    def rows(self, part: Part, columns: NDArray[np.intp] | None) -> tuple[Bytes, FloatArray | None]:
        """Return the rows of a part that are selected, some of their columns, and their weights."""
        codes, weight = part.codes(), part.weight
        if self.scale != 1.0:
            weight = np.full(len(codes), self.scale) if weight is None else weight * self.scale
        mask = self.mask(part.number, len(codes))
        if weight is not None:
            mask &= weight > self.floor
        if not mask.all():
            codes, weight = codes[mask], None if weight is None else weight[mask]
        return (codes if columns is None else np.ascontiguousarray(codes[:, columns])), weight


ALL_ROWS = RowSelection()
