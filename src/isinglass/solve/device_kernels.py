"""Rows on a CUDA device with fused kernels, in Triton, for predictors, gradients and scans of `DeviceRows`.

Every sum runs in one fixed order, so the same call gives the same bits. The list of a scan is collected in the order
in which tiles finish and sorted afterwards.
"""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl
from numpy.typing import NDArray
from triton.language.extra import libdevice

from isinglass.arrays import FloatArray
from isinglass.solve.device_rows import WRONG, DeviceRows
from isinglass.solve.rows import Ints, Places

ROWS = 512  # of one step of a pass
SIDE = 128  # of a tile of pairs
DEPTH = 128  # rows of one step of a tile
WARPS, STAGES = 8, 2  # of a tile of pairs
WRONG_MARGIN = tl.constexpr(WRONG)
TILES_OF_STACK = 32  # tiles above each other that run at the same time, so that their columns stay in cache


@triton.jit
def _curvature(against, small):
    """Return the curvature of the loss: the twin of `device_rows.curvature`."""
    bound = 0.5 / tl.maximum(against, WRONG_MARGIN)
    return tl.where(against > WRONG_MARGIN, bound, small / ((1.0 + small) * (1.0 + small)))


@triton.jit
def _move(
    X, eta, wr, high, low, w, to_digits, nodes, offsets, begin, moved, coefficients, sums, width,
    AFRESH: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    """One node: its predictors, and what follows from them as in `DeviceRows._pass`."""
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
        against = tl.where(is_one, -e, e)
        loss += weight * (libdevice.log1p(small) + tl.maximum(against, 0.0))
        curve += weight * _curvature(against, small)
        size = weight * tl.where(against <= 0, small, 1.0) / (1.0 + small)
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
    """One gradient: the product of the residuals of a node and a column."""
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
def _gradients_of_tile(
    X, high, low, bounds, scales, s, t, width, n_groups,
    ONE_GROUP: tl.constexpr, SIZE: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    """Return the gradients of the pairs of nodes s and t from the digits of their residuals, whose sums are exact."""
    left, right = s[:, None].to(tl.int64) * width, t[None, :].to(tl.int64) * width
    gradients = tl.zeros((SIZE, SIZE), tl.float32)
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
        gradients += (upper.to(tl.float32) * 256.0 + lower.to(tl.float32)) * tl.load(scales + group)
    return gradients


@triton.jit
def _append(keys, count, key, found, room):
    """Write the keys of the pairs found behind those of other tiles, and count those that there is no room for."""
    each = tl.sum(found.to(tl.int32), axis=1)
    total = tl.sum(each)
    if total > 0:
        base = tl.atomic_add(count, total.to(tl.int64))
        inside = tl.cumsum(found.to(tl.int32), axis=1) - 1 + (tl.cumsum(each, axis=0) - each)[:, None]
        place = base + inside
        tl.store(keys + place, key, mask=found & (place < room))


@triton.jit
def _pairs(
    X, high, low, error, variance, weights, bounds, scales, keys, count, certified, limits, p, lines, width,
    n_groups, room, HAS_MATRIX: tl.constexpr, ONE_GROUP: tl.constexpr, SIZE: tl.constexpr, STEP: tl.constexpr,
    STACK: tl.constexpr,
):  # fmt: skip
    """One tile of pairs: its gradients are compared with their limits before anything is written."""
    across = lines // SIZE
    tile = tl.program_id(0)
    stack = tile // (STACK * across)
    height = tl.minimum(across - stack * STACK, STACK)
    i = stack * STACK + (tile % (STACK * across)) % height
    j = (tile % (STACK * across)) // height
    if j >= i:
        s = i * SIZE + tl.arange(0, SIZE)
        t = j * SIZE + tl.arange(0, SIZE)
        value = _gradients_of_tile(X, high, low, bounds, scales, s, t, width, n_groups, ONE_GROUP, SIZE, STEP)
        error_st = tl.load(error + s)[:, None] + tl.load(error + t)[None, :]
        if HAS_MATRIX:
            omega = tl.load(weights + s[:, None].to(tl.int64) * lines + t[None, :])
        else:
            omega = tl.load(weights + s)[:, None] + tl.load(weights + t)[None, :]
        counts = (s[:, None] < t[None, :]) & (t[None, :] < p) & (omega < 1e30)
        threshold, extra, alpha = tl.load(limits), tl.load(limits + 1), tl.load(limits + 2)
        scale, half_gap = tl.load(limits + 3), tl.load(limits + 4)
        size = tl.abs(value) + error_st + extra
        radius = tl.sqrt(half_gap * (tl.load(variance + s)[:, None] + tl.load(variance + t)[None, :]))
        proved = counts & ((scale * size + radius) * 1.000001 < alpha * omega)
        tl.store(certified + tile, tl.sum(proved.to(tl.float32)))
        found = counts & (size * 1.000001 >= threshold * omega)
        _append(keys, count, s[:, None].to(tl.int64) * p + t[None, :], found, room)


class KernelRows(DeviceRows):
    """Rows on a CUDA device, with kernels for predictors, gradients and the scan of all pairs."""

    def __init__(self, table: NDArray[np.uint8], weight: FloatArray | None, device: torch.device) -> None:
        super().__init__(table, weight, device)
        self._room_for_keys = 1 << 20  # pairs that one scan has room for

    def _move(
        self, nodes: Ints, offsets: FloatArray, begin: Places, moved: Ints, coefficients: FloatArray, afresh: bool
    ) -> FloatArray:
        sums = torch.empty((len(nodes), 4), dtype=torch.float64, device=self.device)
        given = [self._give(array) for array in (nodes, offsets, begin, moved, coefficients)]
        state = self.X, self.eta, self.wr, self.high, self.low, self.w, self.to_digits
        with torch.cuda.device(self.device):
            _move[(len(nodes),)](*state, *given, sums, self.width, AFRESH=bool(afresh), STEP=ROWS)
        return self._take(sums)

    def gradients(self, nodes: Ints, begin: Places, columns: Ints) -> FloatArray:
        """As `SumRows.gradients`."""
        if len(columns) == 0:
            return np.zeros(0)
        values = torch.empty(len(columns), dtype=torch.float64, device=self.device)
        owners = self._give(np.repeat(nodes, np.diff(begin)))
        with torch.cuda.device(self.device):
            _dots[(len(columns),)](self.X, self.wr, owners, self._give(columns), values, self.width, STEP=ROWS)
        return self._take(values)

    def _scan(
        self, threshold: float, extra: float, alpha: float, scale: float, half_gap: float
    ) -> tuple[torch.Tensor, int]:
        # Rounded to single precision: a smaller threshold finds more, the rest has its own margins.
        limits = threshold * (1 - 1e-6), extra, alpha, scale, half_gap  # NaN and infinities prove nothing
        across, bounds, has_matrix = self.lines // SIDE, self.layout.bounds, self.matrix is not None
        while True:
            keys = torch.empty(self._room_for_keys, dtype=torch.int64, device=self.device)
            count = torch.zeros(1, dtype=torch.int64, device=self.device)
            certified = torch.zeros(across * across, dtype=torch.float32, device=self.device)  # in each tile
            with torch.cuda.device(self.device):
                _pairs[(across * across,)](
                    self.X, self.high, self.low, self.error, self.variance, self.matrix if has_matrix else self.vector,
                    self._give(np.array(bounds, dtype=np.int32)), self.scales, keys, count, certified,
                    self._give(np.array(limits, dtype=np.float32)), self.p, self.lines, self.width, len(bounds),
                    len(keys),
                    HAS_MATRIX=has_matrix, ONE_GROUP=len(bounds) == 1, SIZE=SIDE, STEP=DEPTH, STACK=TILES_OF_STACK,
                    num_warps=WARPS, num_stages=STAGES,
                )  # fmt: skip
            number = int(count)
            if number <= self._room_for_keys:
                return keys[:number], int(certified.double().sum())
            self._room_for_keys = 2 * number
