"""Rows on a CUDA device with fused kernels, in Triton, for the hot loops of ``device_rows.DeviceRows``.

Every sum runs in one fixed order, so the same call gives the same bits. The list of a scan is collected in the order
in which tiles finish and sorted afterwards.
"""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl
from numpy.typing import NDArray

from isinglass.solve.device_rows import DeviceRows
from isinglass.solve.seam import Doubles, Floats, Ints, Places

ROWS = 512  # of one step of a pass
SIDE = 128  # of a tile of pairs
DEPTH = 128  # rows of one step of a tile
WIDEST = 32  # columns of a tile of a block
WARPS, STAGES = 8, 2  # of a tile of pairs
GROUP = 32  # tiles above each other that run at the same time, so that their columns stay in cache


@triton.jit
def _double(value: tl.constexpr):
    """Return a constant in double precision; a plain number would be rounded to single."""
    return tl.full((1,), value, tl.float64)


@triton.jit
def _log1p(y):
    """Return log(1 + y) for 0 <= y <= 1, accurate relative to itself."""
    is_large = y > 0.414
    above = tl.where(is_large, y - 1.0, y)
    below = tl.where(is_large, y + 3.0, y + 2.0)
    z = above / below
    q = z * z
    total = q * _double(1.0 / 23.0) + _double(1.0 / 21.0)
    total = total * q + _double(1.0 / 19.0)
    total = total * q + _double(1.0 / 17.0)
    total = total * q + _double(1.0 / 15.0)
    total = total * q + _double(1.0 / 13.0)
    total = total * q + _double(1.0 / 11.0)
    total = total * q + _double(1.0 / 9.0)
    total = total * q + _double(1.0 / 7.0)
    total = total * q + _double(1.0 / 5.0)
    total = total * q + _double(1.0 / 3.0)
    total = total * q + 1.0
    return z * 2.0 * total + tl.where(is_large, _double(0.6931471805599453), 0.0)


@triton.jit
def _move(
    X, eta, wr, high, low, w, to_digits, nodes, offsets, begin, moved, coefficients, sums, width,
    AFRESH: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    task = tl.program_id(0)
    node = tl.load(nodes + task).to(tl.int64)
    offset, first, last = tl.load(offsets + task), tl.load(begin + task), tl.load(begin + task + 1)
    loss = tl.zeros((STEP,), tl.float64)
    curve, zeros, ones = loss, loss, loss
    for start in range(0, width, STEP):
        row = start + tl.arange(0, STEP)
        inside = row < width
        place = node * width + row
        e = tl.zeros((STEP,), tl.float64)
        if not AFRESH:
            e = tl.load(eta + place, mask=inside, other=0.0)
        e += offset
        for j in range(first, last):
            column = tl.load(moved + j).to(tl.int64)
            x = tl.load(X + column * width + row, mask=inside, other=0)
            e += tl.load(coefficients + j) * x.to(tl.float64)
        tl.store(eta + place, e, mask=inside)
        weight = tl.load(w + row, mask=inside, other=0.0)
        is_one = tl.load(X + place, mask=inside, other=0) != 0
        small = tl.exp(-tl.abs(e))
        likely = 1.0 / (1.0 + small)
        unlikely = small * likely
        size = weight * tl.where((e >= 0) == is_one, unlikely, likely)
        against = tl.where(is_one, -e, e)
        loss += weight * (_log1p(small) + tl.maximum(against, 0.0))
        curve += weight * tl.where(against > 8.0, 0.5 / tl.maximum(against, 8.0), likely * unlikely)
        zeros += tl.where(is_one, 0.0, size)
        ones += tl.where(is_one, size, 0.0)
        residual = tl.where(is_one, -size, size)
        tl.store(wr + place, residual, mask=inside)
        scaled = residual * tl.load(to_digits + row, mask=inside, other=0.0)
        digits = tl.where(scaled >= 0, scaled + 0.5, scaled - 0.5).to(tl.int32)
        last_digit = ((digits + 128) & 255) - 128
        tl.store(low + place, last_digit.to(tl.int8), mask=inside)
        tl.store(high + place, ((digits - last_digit) >> 8).to(tl.int8), mask=inside)
    tl.store(sums + 4 * task, tl.sum(loss))
    tl.store(sums + 4 * task + 1, tl.sum(curve))
    tl.store(sums + 4 * task + 2, tl.sum(zeros))
    tl.store(sums + 4 * task + 3, tl.sum(ones))


@triton.jit
def _dots(X, wr, nodes, columns, values, width, STEP: tl.constexpr):
    slot = tl.program_id(0)
    node, column = tl.load(nodes + slot).to(tl.int64), tl.load(columns + slot).to(tl.int64)
    total = tl.zeros((STEP,), tl.float64)
    for start in range(0, width, STEP):
        row = start + tl.arange(0, STEP)
        inside = row < width
        x = tl.load(X + column * width + row, mask=inside, other=0)
        total += tl.load(wr + node * width + row, mask=inside, other=0.0) * x.to(tl.float64)
    tl.store(values + slot, tl.sum(total))


@triton.jit
def _curvature(X, eta, w, node, row, inside, width, MAJORIZED: tl.constexpr):
    weight = tl.load(w + row, mask=inside, other=0.0).to(tl.float32)
    if MAJORIZED:
        return weight * 0.25
    e = tl.load(eta + node * width + row, mask=inside, other=0.0).to(tl.float32)
    is_one = tl.load(X + node * width + row, mask=inside, other=0) != 0
    against = tl.where(is_one, -e, e)
    small = tl.exp(-tl.abs(e))
    own = small / ((1.0 + small) * (1.0 + small))
    return weight * tl.where(against > 8.0, 0.5 / tl.maximum(against, 8.0), own)


@triton.jit
def _slopes(X, eta, w, nodes, columns, values, width, MAJORIZED: tl.constexpr, STEP: tl.constexpr):
    """Σ v x of every slot; column -1 stands for a column of ones."""
    slot = tl.program_id(0)
    node, column = tl.load(nodes + slot).to(tl.int64), tl.load(columns + slot).to(tl.int64)
    total = tl.zeros((STEP,), tl.float32)
    for start in range(0, width, STEP):
        row = start + tl.arange(0, STEP)
        inside = row < width
        v = _curvature(X, eta, w, node, row, inside, width, MAJORIZED)
        x = tl.load(X + tl.maximum(column, 0) * width + row, mask=inside, other=0).to(tl.float32)
        total += v * tl.where(column < 0, 1.0, x)
    tl.store(values + slot, tl.sum(total.to(tl.float64)))


@triton.jit
def _block(
    X, eta, w, tile_node, tile_task, tile_i, tile_j, begin, first, columns, means, G, width, MAJORIZED: tl.constexpr,
    SIZE: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    node, task = tl.load(tile_node + tile).to(tl.int64), tl.load(tile_task + tile)
    i = tl.load(tile_i + tile) + tl.arange(0, SIZE)
    j = tl.load(tile_j + tile) + tl.arange(0, SIZE)
    start_slot = tl.load(begin + task)
    d = tl.load(begin + task + 1) - start_slot
    ci = tl.load(columns + start_slot + i, mask=i < d, other=0).to(tl.int64)
    cj = tl.load(columns + start_slot + j, mask=j < d, other=0).to(tl.int64)
    mi = tl.load(means + start_slot + i, mask=i < d, other=0.0)
    mj = tl.load(means + start_slot + j, mask=j < d, other=0.0)
    total = tl.zeros((SIZE, SIZE), tl.float32)
    for start in range(0, width, STEP):
        row = start + tl.arange(0, STEP)
        inside = row < width
        v = _curvature(X, eta, w, node, row, inside, width, MAJORIZED)
        xi = tl.load(X + ci[:, None] * width + row[None, :], mask=inside[None, :], other=0).to(tl.float32)
        xj = tl.load(X + cj[None, :] * width + row[:, None], mask=inside[:, None], other=0).to(tl.float32)
        total += tl.dot((xi - mi[:, None]) * v[None, :], xj - mj[None, :], input_precision="tf32x3")
    place = tl.load(first + task) + i[:, None].to(tl.int64) * d + j[None, :]
    tl.store(G + place, total, mask=(i[:, None] < d) & (j[None, :] < d))


@triton.jit
def _pairs(
    X, high, low, error, variance, vector, matrix, bounds, scales, keys, count, tiles, limits, p, lines, width,
    n_groups, room, FINDS: tl.constexpr, HAS_MATRIX: tl.constexpr, ONE_GROUP: tl.constexpr, SIZE: tl.constexpr,
    STEP: tl.constexpr, STACK: tl.constexpr,
):  # fmt: skip
    """One tile of pairs: its gradients from digits, compared with their limits before anything is written."""
    across = lines // SIZE
    tile = tl.program_id(0)
    stack = tile // (STACK * across)
    height = tl.minimum(across - stack * STACK, STACK)
    i = stack * STACK + (tile % (STACK * across)) % height
    j = (tile % (STACK * across)) // height
    if j >= i:
        s = i * SIZE + tl.arange(0, SIZE)
        t = j * SIZE + tl.arange(0, SIZE)
        left, right = s[:, None].to(tl.int64) * width, t[None, :].to(tl.int64) * width
        value = tl.zeros((SIZE, SIZE), tl.float32)
        for group in range(0, 1 if ONE_GROUP else n_groups):
            begin = 0
            end = width
            if not ONE_GROUP:
                begin = tl.load(bounds + 2 * group)
                end = tl.load(bounds + 2 * group + 1)
            upper = tl.zeros((SIZE, SIZE), tl.int32)
            lower = tl.zeros((SIZE, SIZE), tl.int32)
            for start in range(begin, end, STEP):
                row = start + tl.arange(0, STEP)
                x_s = tl.load(X + left + row[None, :])
                x_t = tl.load(X + right + row[:, None])
                upper = tl.dot(tl.load(high + left + row[None, :]), x_t, upper, out_dtype=tl.int32)
                lower = tl.dot(tl.load(low + left + row[None, :]), x_t, lower, out_dtype=tl.int32)
                upper = tl.dot(x_s, tl.load(high + right + row[:, None]), upper, out_dtype=tl.int32)
                lower = tl.dot(x_s, tl.load(low + right + row[:, None]), lower, out_dtype=tl.int32)
            worth = tl.load(scales + group)
            value += (upper.to(tl.float32) * 256.0 + lower.to(tl.float32)) * worth
        error_st = tl.load(error + s)[:, None] + tl.load(error + t)[None, :]
        if HAS_MATRIX:
            omega = tl.load(matrix + s[:, None].to(tl.int64) * lines + t[None, :])
        else:
            omega = tl.load(vector + s)[:, None] + tl.load(vector + t)[None, :]
        counts = (s[:, None] < t[None, :]) & (t[None, :] < p) & (omega < 1e30)
        extra = tl.load(limits + 1)
        if FINDS:
            size = tl.abs(value) + error_st + extra
            found = counts & (size * 1.000001 >= tl.load(limits) * omega)
            radius = tl.sqrt(tl.load(limits + 4) * (tl.load(variance + s)[:, None] + tl.load(variance + t)[None, :]))
            proved = counts & ((tl.load(limits + 3) * size + radius) * 1.000001 < tl.load(limits + 2) * omega)
            tl.store(tiles + tile, tl.sum(proved.to(tl.float32)))
            each = tl.sum(found.to(tl.int32), axis=1)
            total = tl.sum(each)
            if total > 0:
                base = tl.atomic_add(count, total.to(tl.int64))
                inside = tl.cumsum(found.to(tl.int32), axis=1) - 1 + (tl.cumsum(each, axis=0) - each)[:, None]
                place = base + inside
                key = s[:, None].to(tl.int64) * p + t[None, :]
                tl.store(keys + place, key, mask=found & (place < room))
        else:
            ratio = (tl.abs(value) - error_st - extra) / omega * 0.999995
            ratio = tl.where(counts & (omega > 0), ratio, 0.0)
            tl.store(tiles + tile, tl.max(tl.max(ratio, axis=1), axis=0))


class KernelRows(DeviceRows):
    """Rows on a CUDA device, with one kernel for each of the hot loops."""

    def __init__(self, table: NDArray[np.uint8], weight: Doubles | None, device: torch.device) -> None:
        super().__init__(table, weight, device)
        self._room_for_keys = 1 << 20  # pairs that one scan has room for

    def _move(
        self, nodes: Ints, offsets: Doubles, begin: Places, moved: Ints, coefficients: Doubles, afresh: bool
    ) -> Doubles:
        sums = torch.empty((len(nodes), 4), dtype=torch.float64, device=self.device)
        given = [self._give(array) for array in (nodes, offsets, begin, moved, coefficients)]
        state = self.X, self.eta, self.wr, self.high, self.low, self.w, self.to_digits
        with torch.cuda.device(self.device):
            _move[(len(nodes),)](*state, *given, sums, self.width, AFRESH=bool(afresh), STEP=ROWS)
        return self._take(sums)

    def gradients(self, nodes: Ints, begin: Places, columns: Ints) -> Doubles:
        """As `SumRows.gradients`."""
        if len(columns) == 0:
            return np.zeros(0)
        values = torch.empty(len(columns), dtype=torch.float64, device=self.device)
        owners = self._give(nodes)[self._owners(begin)]
        with torch.cuda.device(self.device):
            _dots[(len(columns),)](self.X, self.wr, owners, self._give(columns), values, self.width, STEP=ROWS)
        return self._take(values)

    def blocks(self, nodes: Ints, begin: Places, columns: Ints, majorized: bool) -> tuple[Floats, Floats, Doubles]:
        """As `SumRows.blocks`."""
        degree = np.diff(begin)
        first = np.concatenate([[0], np.cumsum(degree**2)])
        owners, given, begins = self._owners(begin), self._give(columns), self._give(begin)
        lines = self._give(nodes)
        all_nodes = torch.cat([lines, lines[owners]])
        all_columns = torch.cat([torch.full_like(lines, -1), given])
        sums = torch.empty(len(all_nodes), dtype=torch.float64, device=self.device)
        with torch.cuda.device(self.device):
            _slopes[(len(sums),)](
                self.X, self.eta, self.w, all_nodes, all_columns, sums, self.width, MAJORIZED=majorized, STEP=ROWS
            )
            curve, b = sums[: len(nodes)], sums[len(nodes) :]
            means = (b / curve[owners].clamp(min=1e-300)).float()
            G = torch.empty(int(first[-1]), dtype=torch.float32, device=self.device)
            across = -(-degree // WIDEST)
            task = np.repeat(np.arange(len(nodes)), across**2)
            place = np.arange(len(task)) - np.repeat(np.cumsum(across**2) - across**2, across**2)
            corner = [self._give((WIDEST * part).astype(np.int32)) for part in np.divmod(place, across[task])]
            if len(task):
                tiles = self._give(nodes[task]), self._give(task.astype(np.int32)), *corner
                _block[(len(task),)](
                    self.X, self.eta, self.w, *tiles, begins, self._give(first), given, means, G, self.width,
                    MAJORIZED=majorized, SIZE=WIDEST, STEP=64,
                )  # fmt: skip
        return self._take(G), self._take(b.float()), self._take(curve)

    def _owners(self, begin: Places) -> torch.Tensor:
        """Return the number of the node that each column belongs to."""
        degree = self._give(np.diff(begin))
        nodes = torch.arange(len(degree), device=self.device)
        return torch.repeat_interleave(nodes, degree, output_size=int(begin[-1]))

    def _scan(
        self, threshold: float, extra: float, alpha: float, scale: float, half_gap: float
    ) -> tuple[torch.Tensor, int]:
        # Rounded to single precision: a smaller threshold finds more, the rest has its own margins.
        limits = threshold * (1 - 1e-6), extra, alpha, scale, half_gap  # NaN and infinities prove nothing
        keys, number, certified = self._compare_pairs(limits, finds=True)
        if number > self._room_for_keys:
            self._room_for_keys = 2 * number
            keys, number, certified = self._compare_pairs(limits, finds=True)
        return keys[:number], int(certified.double().sum())

    def largest(self) -> float:
        """As `SumRows` says of rows that can look at all pairs at once."""
        return float(self._compare_pairs((0.0, self.slack, 0.0, 0.0, 0.0), finds=False)[2].max())

    def _compare_pairs(self, limits: tuple[float, ...], *, finds: bool) -> tuple[torch.Tensor, int, torch.Tensor]:
        """Return the keys of pairs found, as many as there is room for, their number, and a number of each tile.

        That is the number of pairs certified or, unless ``finds``, the largest ratio |g|/ω.
        """
        keys = torch.empty(self._room_for_keys if finds else 1, dtype=torch.int64, device=self.device)
        count = torch.zeros(1, dtype=torch.int64, device=self.device)
        across, bounds, has_matrix = self.lines // SIDE, self.layout.bounds, self.matrix is not None
        tiles = torch.zeros(across * across, dtype=torch.float32, device=self.device)
        with torch.cuda.device(self.device):
            _pairs[(across * across,)](
                self.X, self.high, self.low, self.error, self.variance, self.vector,
                self.matrix if has_matrix else self.vector, self._give(np.array(bounds, dtype=np.int32)), self.scales,
                keys, count, tiles, self._give(np.array(limits, dtype=np.float32)), self.p, self.lines, self.width,
                len(bounds), len(keys),
                FINDS=finds, HAS_MATRIX=has_matrix, ONE_GROUP=len(bounds) == 1,
                SIZE=SIDE, STEP=DEPTH, STACK=GROUP, num_warps=WARPS, num_stages=STAGES,
            )  # fmt: skip
        return keys, int(count), tiles
