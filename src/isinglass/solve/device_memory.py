"""Memory of a device that PyTorch drives: the rows of a table there, and the sizes of the steps that work on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from isinglass.arrays import AnyArray, FloatArray
from isinglass.errors import LimitError, setting
from isinglass.solve.device import BYTES_PER_CELL
from isinglass.solve.rows import Ints, Places

Item = TypeVar("Item", bound=np.generic)

ALIGN = 128  # rows of a group and columns are padded to a multiple of this, the step of the kernels
LARGEST_DIGIT = 32_639  # 127 * 256 + 127: what two signed bytes hold
MOST_ROWS = 8_000_000  # whose products of digits fit 32 bits


class RowLayout:
    """Where the rows lie on the device: grouped by the power of two of their weight, each group padded.

    Two bytes for a weighted residual are exact enough where weights are alike. In a group a digit is worth its
    largest weight over ``LARGEST_DIGIT``.
    """

    def __init__(self, weight: FloatArray) -> None:
        weight = weight / weight.sum()
        exponent = np.frexp(weight)[1]
        self.position, self.bounds, scale, padded, end = np.empty(len(weight), np.int64), [], [], [], 0
        for value in np.unique(exponent)[::-1]:
            members = np.flatnonzero(exponent == value)
            begin, end = end, end + -(-len(members) // ALIGN) * ALIGN
            self.position[members] = begin + np.arange(len(members))
            self.bounds.append((begin, end))
            scale.append(weight[members].max() / LARGEST_DIGIT)
            padded.append(np.concatenate([weight[members], np.zeros(end - begin - len(members))]))
        self.weight, self.scale = np.concatenate(padded), np.array(scale)
        self.to_digits = np.repeat(1.0 / self.scale, np.diff(self.bounds)[:, 0])


class DeviceMemory:
    """A table on a device, with room for the predictors and residuals of all its columns, a line each."""

    def __init__(self, table: NDArray[np.uint8], weight: FloatArray | None, device: torch.device) -> None:
        self.device = device
        n, self.p = table.shape
        if n > MOST_ROWS:
            raise LimitError(f"X must have at most {MOST_ROWS} rows on a device; got {n}.")
        self.layout = RowLayout(np.ones(n) if weight is None else weight)
        self.width = len(self.layout.weight)
        self.lines = -(-self.p // ALIGN) * ALIGN
        shape = self.lines, self.width
        needed = BYTES_PER_CELL * self.lines * self.width
        free = torch.cuda.mem_get_info(self.device)[0] if self.device.type == "cuda" else None
        if free is not None and needed > 0.95 * free:
            raise LimitError(
                f"X needs {needed / 1e9:.1f} GB on the device, which has {free / 1e9:.1f} GB free. "
                f"Use {setting('device', 'cpu')}, fewer columns or fewer rows."
            )
        self.X = torch.zeros(shape, dtype=torch.int8, device=self.device)
        position = self._give(self.layout.position)
        at_once = max(2**28 // table.shape[1], 1)
        for first in range(0, len(table), at_once):
            rows = self._give(table[first : first + at_once].view(np.int8))
            self.X[: self.p, position[first : first + at_once]] = rows.T
        self.eta, self.wr = (torch.zeros(shape, dtype=torch.float64, device=self.device) for _ in range(2))
        self.high, self.low = (torch.zeros(shape, dtype=torch.int8, device=self.device) for _ in range(2))
        self.w, self.to_digits = self._give(self.layout.weight), self._give(self.layout.to_digits)
        self.curves: Any = None  # tensor of the curvatures of nodes that are operators

    def _give(self, array: NDArray[np.generic]) -> torch.Tensor:
        # PyTorch warns of arrays that cannot be written to.
        return torch.from_numpy(np.require(array, requirements=["C", "W"])).to(self.device)

    def _take(self, tensor: torch.Tensor) -> AnyArray:
        array: AnyArray = tensor.cpu().numpy()
        return array

    def _room(self) -> int:
        """Bytes for one step's temporary arrays: less where the device is nearly full."""
        if self.device.type != "cuda":
            return 2**28
        free = torch.cuda.mem_get_info(self.device)[0]
        held = torch.cuda.memory_reserved(self.device) - torch.cuda.memory_allocated(self.device)
        return int(min(2**31, max(free + held, 2**24) // 4))

    def _pieces(self, items: NDArray[Item], bytes_each: int) -> Iterator[NDArray[Item]]:
        at_once = max(self._room() // max(bytes_each, 1), 1)
        for first in range(0, len(items), at_once):
            yield items[first : first + at_once]

    def _batches(self, begin: Places, bytes_per_cell: int) -> Iterator[tuple[Places, Places, NDArray[np.bool_]]]:
        """Yield tasks of similar size: their numbers, where their columns are (padded) and which of these count."""
        degree = np.diff(begin)
        order = np.argsort(degree, kind="stable")
        room = self._room()
        while len(order):
            width = degree[order] * self.width * bytes_per_cell
            count = max(int(np.searchsorted(width * np.arange(1, len(order) + 1), room, side="right")), 1)
            tasks, order = order[:count], order[count:]
            if (widest := int(degree[tasks[-1]])) > 0:
                place = begin[tasks][:, None] + np.arange(widest)
                counts = np.arange(widest) < degree[tasks][:, None]
                yield tasks, np.where(counts, place, 0), counts

    def _columns(self, columns: Ints, place: Places, kind: torch.dtype) -> torch.Tensor:
        return self.X[self._give(columns[place].astype(np.int64))].to(kind)
