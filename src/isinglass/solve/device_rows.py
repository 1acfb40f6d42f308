"""The rows of a table on a device that PyTorch drives: a graphics processor, or this processor for the tests.

Table, predictors, residuals and their digits stay there; what crosses is the solver's batches (``solve.rows.SumRows``).
The gradient of all pairs is computed again at every check from two signed bytes per residual: products of int8 with
int32 sums are exact integers, so the only error of a pair is the rounding of residuals to digits, which is bounded
column by column. Pairs that may reach a limit are looked at again in double precision by the solver.
"""

# ruff: noqa: D102 - the methods are those of rows.SumRows

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from isinglass.arrays import AnyArray, FloatArray
from isinglass.errors import LimitError, setting
from isinglass.solve.device import BYTES_PER_CELL
from isinglass.solve.rows import Floats, Ints, Places

Item = TypeVar("Item", bound=np.generic)

ALIGN = 128  # rows of a group and columns are padded to a multiple of this, the step of the kernels
LARGEST_DIGIT = 32_639  # 127 * 256 + 127: what two signed bytes hold
MOST_ROWS = 8_000_000  # whose products of digits fit 32 bits
WRONG = 8.0  # margin against the observed answer from which on the curvature of a bound stands in (as on the CPU)
ROUNDING_OF_SCAN = 2.4e-7  # of one single-precision operation on a gradient, which is at most 2


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


def curvature(against: torch.Tensor, small: torch.Tensor) -> torch.Tensor:
    """Return the curvature of the loss, or that of a bound where the answer is unlikely.

    ``against`` is the margin of the predictor against the observed answer, ``small`` is exp(-abs(against)).
    """
    return torch.where(against > WRONG, 0.5 / against.clamp(min=WRONG), small / (1 + small) ** 2)


class DeviceRows:
    """Rows on a device, with the methods of ``rows.SumRows`` and ``scan``; weights are raw, and positive.

    Everything is tensor operations, on any device. ``device_kernels.KernelRows`` has fused kernels for some.
    """

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
        self._margins = self._count()

    def _count(self) -> tuple[FloatArray, FloatArray]:
        """Return the weight of the ones and of the zeros of every column, and keep the ones of every group of rows."""
        ones, zeros = np.empty(self.p), np.empty(self.p)
        self._counts = np.empty((self.p, len(self.layout.scale)))
        for nodes in self._pieces(np.arange(self.p), 10 * self.width):
            x = self.X[self._give(nodes)].double()
            ones[nodes], zeros[nodes] = self._take(x @ self.w), self._take((1 - x) @ self.w)
            for g, (a, b) in enumerate(self.layout.bounds):
                self._counts[nodes, g] = self._take(x[:, a:b].sum(dim=1))
        return ones, zeros

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

    def _lines(self, nodes: Ints) -> torch.Tensor:
        return self._give(nodes.astype(np.int64))

    def _columns(self, columns: Ints, place: Places, kind: torch.dtype) -> torch.Tensor:
        return self.X[self._lines(columns[place])].to(kind)

    def n_distinct(self) -> int:
        return len(self.layout.position)

    def margins(self) -> tuple[FloatArray, FloatArray]:
        return self._margins

    def rounding(self) -> float:
        """Return a bound that holds for any order of the rows."""
        return (self.width + 32) * float(np.finfo(np.float64).eps) / 2

    def move(
        self, nodes: Ints, offsets: FloatArray, moved_begin: Places, moved: Ints, coefficients: FloatArray,
        asked_begin: Places, asked: Ints, afresh: bool,
    ) -> tuple[FloatArray, FloatArray]:  # fmt: skip
        sums = self._move(nodes, offsets, moved_begin, moved, coefficients, afresh)
        return sums, self.gradients(nodes, asked_begin, asked)

    def _move(
        self, nodes: Ints, offsets: FloatArray, begin: Places, moved: Ints, coefficients: FloatArray, afresh: bool
    ) -> FloatArray:
        """Move predictors and everything that follows from them; return the sums of each node."""
        sums = np.empty((len(nodes), 4))
        for these in self._pieces(np.arange(len(nodes)), 80 * self.width):
            lines, offset = self._lines(nodes[these]), self._give(offsets[these])[:, None]
            self.eta[lines] = offset if afresh else self.eta[lines] + offset
        for tasks, place, counts in self._batches(begin, 9):
            x = self._columns(moved, place, torch.float64)
            factor = self._give(np.where(counts, coefficients[place], 0.0))
            self.eta[self._lines(nodes[tasks])] += (factor[:, None, :] @ x)[:, 0]
        for these in self._pieces(np.arange(len(nodes)), 120 * self.width):
            sums[these] = self._pass(self._lines(nodes[these]))
        return sums

    def _pass(self, lines: torch.Tensor) -> FloatArray:
        """Residuals and digits from the predictors of these nodes; their loss, curvature and sums."""
        eta, is_one = self.eta[lines], self.X[lines] != 0
        small, against = torch.exp(-eta.abs()), torch.where(is_one, -eta, eta)
        loss = (torch.log1p(small) + against.clamp(min=0)) @ self.w
        curve = curvature(against, small) @ self.w
        size = self.w * torch.where(against <= 0, small, 1.0) / (1 + small)
        ones, zeros = (torch.where(side, size, 0.0).sum(dim=1) for side in (is_one, ~is_one))
        residual = torch.where(is_one, -size, size)
        digits = torch.round(residual * self.to_digits).to(torch.int32)
        low = ((digits + 128) & 255) - 128
        self.wr[lines] = residual
        self.low[lines], self.high[lines] = low.to(torch.int8), ((digits - low) >> 8).to(torch.int8)
        return self._take(torch.stack([loss, curve, zeros, ones], dim=1))

    def gradients(self, nodes: Ints, begin: Places, columns: Ints) -> FloatArray:
        values = np.empty(len(columns))
        for tasks, place, counts in self._batches(begin, 17):
            x = self._columns(columns, place, torch.float64)
            sums = self._take((x @ self.wr[self._lines(nodes[tasks])][:, :, None])[:, :, 0])
            values[place[counts]] = sums[counts]
        return values

    def _curvatures(self, nodes: Ints, majorized: bool) -> torch.Tensor:
        lines, w = self._lines(nodes), self.w.float()
        if majorized:
            return (w / 4).expand(len(nodes), -1)
        eta = self.eta[lines].float()
        against = torch.where(self.X[lines] != 0, -eta, eta)
        return w * curvature(against, torch.exp(-eta.abs()))

    def blocks(self, nodes: Ints, begin: Places, columns: Ints, majorized: bool) -> tuple[Floats, Floats, FloatArray]:
        degree = np.diff(begin)
        first = np.concatenate([[0], np.cumsum(degree**2)])
        G, b, curve = np.empty(first[-1], np.float32), np.empty(len(columns), np.float32), np.empty(len(nodes))
        for these in self._pieces(np.flatnonzero(degree == 0), 40 * self.width):
            curve[these] = self._take(self._curvatures(nodes[these], majorized).sum(dim=1, dtype=torch.float64))
        for tasks, place, counts in self._batches(begin, 13):
            x, v = self._columns(columns, place, torch.float32), self._curvatures(nodes[tasks], majorized)
            total, sums = v.sum(dim=1, keepdim=True, dtype=torch.float64), (x @ v[:, :, None])[:, :, 0]
            x -= (sums / total.clamp(min=1e-30)).float()[:, :, None]
            block = self._take((x * v[:, None, :]) @ x.mT)
            curve[tasks], b[place[counts]] = self._take(total[:, 0]), self._take(sums)[counts]
            k = np.arange(counts.shape[1])
            entry = first[tasks, None, None] + k[:, None] * degree[tasks, None, None] + k
            both = counts[:, :, None] & counts[:, None, :]
            G[entry[both]] = block[both]
        return G, b, curve

    def diagonals(
        self, nodes: Ints, begin: Places, columns: Ints, majorized: bool
    ) -> tuple[Floats, Floats, FloatArray]:
        if self.curves is None:
            self.curves = torch.zeros((self.lines, self.width), dtype=torch.float32, device=self.device)
        diagonal, b, curve = (np.empty(size) for size in (len(columns), len(columns), len(nodes)))
        for these in self._pieces(np.arange(len(nodes)), 40 * self.width):
            v = self._curvatures(nodes[these], majorized)
            self.curves[self._lines(nodes[these])] = v
            curve[these] = self._take(v.double().sum(dim=1))
        for tasks, place, counts in self._batches(begin, 17):
            v = self.curves[self._lines(nodes[tasks])].double()
            x = self._columns(columns, place, torch.float64)
            sums, rest = ((side @ v[:, :, None])[:, :, 0] for side in (x, 1 - x))
            total = (sums + rest).clamp(min=1e-300)
            b[place[counts]] = self._take(sums)[counts]
            diagonal[place[counts]] = self._take(sums * (rest / total))[counts]
        return diagonal.astype(np.float32), b.astype(np.float32), curve

    def products(self, nodes: Ints, begin: Places, columns: Ints, d: Floats, centers: FloatArray) -> Floats:
        if self.curves is None:
            raise RuntimeError("a product needs its diagonal first")
        values = np.empty(len(columns), np.float32)
        for tasks, place, counts in self._batches(begin, 9):
            v = self.curves[self._lines(nodes[tasks])]
            x = self._columns(columns, place, torch.float32)
            factor = self._give(np.where(counts, d[place], np.float32(0.0)))
            z = (factor[:, None, :] @ x)[:, 0] - self._give(centers[tasks].astype(np.float32))[:, None]
            values[place[counts]] = self._take((x @ (v * z)[:, :, None])[:, :, 0])[counts]
        return values

    def divergence(self, nodes: Ints, c: float) -> float:
        total = 0.0
        for these in self._pieces(nodes, 100 * self.width):
            lines = self._lines(these)
            margin = torch.where(self.X[lines] != 0, self.eta[lines], -self.eta[lines])
            wrong = torch.sigmoid(-margin)
            z = np.log1p(-c) - margin
            softplus = z.clamp(min=0) + torch.log1p(torch.exp(-z.abs()))
            total += float(((c * np.log(c) * wrong + (1 - c * wrong) * softplus) @ self.w).sum())
        return total

    def largest_predictor(self, nodes: Ints) -> float:
        is_row = self.w > 0
        pieces = self._pieces(nodes, 30 * self.width)
        return max(float((self.eta[self._lines(these)].abs() * is_row).max()) for these in pieces)

    def gram(self, node: int, columns: Ints) -> FloatArray:
        """As `SumRows.gram`."""
        size = self.wr[node].abs()
        share = size / torch.where(self.w > 0, self.w, 1.0)
        curve = (size * (1 - share) - 8 * float(np.finfo(np.float64).eps) * size).clamp(min=0)
        Z = torch.ones((len(columns) + 1, self.width), dtype=torch.float64, device=self.device)
        Z[:-1] = self.X[self._lines(columns)]
        return self._take((Z * curve) @ Z.T)

    def penalize(self, omega: FloatArray | None) -> None:
        """Take the penalty weights (None: 1; a vector: ω_st = v_s + v_t; or a matrix), rounded down.

        A smaller limit finds more pairs and certifies fewer.
        """
        error = self._counts @ (self.layout.scale / 2) * (1 + 1e-6)  # of a pair's gradient, by either end
        ones, zeros = self._margins
        padded = np.zeros((3, self.lines), np.float32)
        padded[0, : self.p] = error * (1 + 1e-6)
        padded[1, : self.p] = ones * zeros * (1 + 1e-6)
        if omega is None or omega.ndim == 1:
            padded[2, : self.p] = (np.full(self.p, 0.5) if omega is None else omega) * (1 - 1e-6)
        self.error, self.variance, self.vector = self._give(padded)
        self.matrix: Any = None  # tensor of penalty weights, if they are a matrix
        if omega is not None and omega.ndim == 2:
            self.matrix = torch.zeros((self.lines, self.lines), dtype=torch.float32, device=self.device)
            self.matrix[: self.p, : self.p] = self._give((omega * (1 - 1e-6)).astype(np.float32))
        self.scales = self._give(self.layout.scale.astype(np.float32))
        self.slack = (len(self.layout.scale) + 2) * ROUNDING_OF_SCAN

    def scan(self, threshold: float, extra: float, alpha: float, scale: float, gap: float) -> tuple[Ints, int]:
        """Return all pairs whose ``|g| + extra`` may reach ``threshold·ω``, sorted, and how many are certainly zero.

        These have ``scale·(|g| + extra) + sqrt(gap·(sd_s² + sd_t²)/2) < alpha·ω``.
        """
        keys, certified = self._scan(threshold, extra + self.slack, alpha, scale, gap / 2)
        key = np.sort(self._take(keys))
        return np.column_stack(np.divmod(key, self.p)).astype(np.int32), certified

    def _scan(
        self, threshold: float, extra: float, alpha: float, scale: float, half_gap: float
    ) -> tuple[torch.Tensor, int]:
        """Return the keys s·p + t of the pairs found, in any order, and the number of those certified."""
        found, certified = [], 0
        for first, size, omega in self._tiles():
            t = torch.arange(first, self.p, device=self.device)
            s = t[: len(size), None]
            size += extra + self.error[s] + self.error[t]
            radius = (half_gap * (self.variance[s] + self.variance[t])).sqrt()
            counts = (s < t) & (omega < np.inf)
            certified += int((counts & ((scale * size + radius) * (1 + 1e-6) < alpha * omega)).sum())
            place = (counts & (size * (1 + 1e-6) >= threshold * omega)).nonzero()
            found.append((place[:, 0] + first) * self.p + place[:, 1] + first)  # CUDA has no integer product
        return torch.cat(found), certified

    def largest(self) -> float:
        """Return a number that some penalized |g|/ω certainly reaches, close to the largest."""
        largest = 0.0
        for first, size, omega in self._tiles():
            t = torch.arange(first, self.p, device=self.device)
            s = t[: len(size), None]
            ratio = (size - self.slack - self.error[s] - self.error[t]) / omega * (1 - 4e-6)
            largest = max(largest, float(ratio.where((s < t) & (omega > 0), 0.0).max()))
        return largest

    def _tiles(self) -> Iterator[tuple[int, torch.Tensor, torch.Tensor]]:
        """Yield the first line of each band, and of its pairs with the columns from there on |g| and ω."""
        height = max(self._room() // (40 * self.lines) // ALIGN, 1) * ALIGN
        for a in range(0, self.p, height):
            b = min(a + height, self.lines)
            value = torch.zeros((b - a, self.lines - a), dtype=torch.float64, device=self.device)
            for (start, end), scale in zip(self.layout.bounds, self.layout.scale, strict=True):
                own, others = self.X[a:b, start:end], self.X[a:, start:end]
                for digit, worth in ((self.high[:, start:end], 256.0 * scale), (self.low[:, start:end], scale)):
                    value += worth * torch._int_mm(digit[a:b].contiguous(), others.T)
                    value += worth * torch._int_mm(own.contiguous(), digit[a:].T)
            lines, columns = slice(0, min(b, self.p) - a), slice(0, self.p - a)
            if self.matrix is not None:
                omega = self.matrix[a : min(b, self.p), a : self.p]
            else:
                omega = self.vector[a : min(b, self.p), None] + self.vector[a : self.p]
            yield a, value.abs()[lines, columns], omega
