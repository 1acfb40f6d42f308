"""Networks with categories as flat arrays, for files: what the columns are, and blocks and tables end to end."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.archive import DamagedError
from isinglass.arrays import FloatArray
from isinglass.categories import CategoryNetwork


def flat_blocks(network: CategoryNetwork) -> FloatArray:
    """Return the blocks of the pairs with several parameters, one after the other."""
    both = zip(network.blocks, network.is_signed.tolist(), strict=True)
    return join_arrays(block.ravel() for block, signed in both if not signed)


def join_arrays(arrays: Iterable[NDArray[Any]], kind: Any = np.float64) -> NDArray[Any]:
    """Return one array after the other; an empty one of nothing."""
    parts = list(arrays)
    return np.concatenate(parts) if parts else np.empty(0, dtype=kind)


@dataclass(frozen=True)
class Variables:
    """The columns of a network with categories: kinds, numbers of categories, scores and names of them."""

    kinds: list[str]
    sizes: list[int]
    points: FloatArray  # of the columns on a line
    labels: list[list[Any]] | None

    def split(self, values: FloatArray) -> tuple[FloatArray, ...]:
        """Return the values of the categories of every column."""
        return tuple(np.split(values, np.cumsum(self.sizes)[:-1]))

    @property
    def scores(self) -> list[FloatArray | None]:
        """The scores of every column, None for a nominal one."""
        lines = [q for q, kind in zip(self.sizes, self.kinds, strict=True) if kind != "nominal"]
        parts = iter(np.split(self.points, np.cumsum(lines)[:-1]) if lines else [])
        return [None if kind == "nominal" else next(parts) for kind in self.kinds]

    def network(
        self, fields: FloatArray, edges: NDArray[np.int32], values: FloatArray, blocks: FloatArray, names: Sequence[str]
    ) -> tuple[CategoryNetwork, int]:
        """Return a network, and how many numbers of ``blocks`` are its own."""
        widths = [q if kind == "nominal" else 1 for q, kind in zip(self.sizes, self.kinds, strict=True)]
        tables, first = [], 0
        for (s, t), value in zip(edges.tolist(), values.tolist(), strict=True):
            signed = self.kinds[s] != "nominal" and self.kinds[t] != "nominal"
            size = 0 if signed else widths[s] * widths[t]
            if first + size > len(blocks):
                raise DamagedError("its blocks are not those of its edges")
            part = np.array([value]) if signed else blocks[first : first + size]
            tables.append(part.reshape(widths[s], widths[t]))
            first += size
        known: dict[str, Any] = {"kinds": self.kinds, "categories": self.labels, "blocks": tables}
        return CategoryNetwork(self.split(fields), self.scores, edges, values, names, **known), first


def cut_tables(values: NDArray[Any], shapes: Sequence[tuple[int, ...]]) -> tuple[NDArray[Any], ...]:
    """Return one table after the other."""
    ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]
    parts = np.split(values, ends) if shapes else []
    return tuple(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))
