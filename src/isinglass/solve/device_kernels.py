"""Fused kernels of rows on a CUDA device, in Triton: the hot loops of ``device.DeviceRows``.

Every sum runs in one fixed order, so the same call gives the same bits. The list of a scan is collected in the order
in which tiles finish and sorted afterwards.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np
import triton
import triton.language as tl

from isinglass.solve.seam import Doubles, Floats, Ints, Places

if TYPE_CHECKING:
    import torch

    DeviceRows = Any  # device.DeviceRows, which imports this module

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


def move(
    rows: DeviceRows, nodes: Ints, offsets: Doubles, begin: Places, moved: Ints, coefficients: Doubles, afresh: bool
) -> Doubles:
    """Move predictors and everything that follows from them; return the sums of each node."""
    sums = rows.torch.empty((len(nodes), 4), dtype=rows.torch.float64, device=rows.device)
    given = [rows._give(array) for array in (nodes, offsets, begin, moved, coefficients)]
    state = rows.X, rows.eta, rows.wr, rows.high, rows.low, rows.w, rows.to_digits
    with _on(rows):
        _move[(len(nodes),)](*state, *given, sums, rows.width, AFRESH=bool(afresh), STEP=ROWS)
    return rows._take(sums)


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


def gradients(rows: DeviceRows, nodes: Ints, begin: Places, columns: Ints) -> Doubles:
    """Return Σ w r x of every node's columns."""
    if len(columns) == 0:
        return np.zeros(0)
    values = rows.torch.empty(len(columns), dtype=rows.torch.float64, device=rows.device)
    owners = rows._give(nodes)[_owners(rows, begin)]
    with _on(rows):
        _dots[(len(columns),)](rows.X, rows.wr, owners, rows._give(columns), values, rows.width, STEP=ROWS)
    return rows._take(values)


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


def blocks(
    rows: DeviceRows, nodes: Ints, begin: Places, columns: Ints, majorized: bool
) -> tuple[Floats, Floats, Doubles]:
    """Return the centered Gram matrices of every node's columns, Σ v x and Σ v."""
    torch, degree = rows.torch, np.diff(begin)
    first = np.concatenate([[0], np.cumsum(degree**2)])
    owners, given, begins = _owners(rows, begin), rows._give(columns), rows._give(begin)
    lines = rows._give(nodes)
    all_nodes = torch.cat([lines, lines[owners]])
    all_columns = torch.cat([torch.full_like(lines, -1), given])
    sums = torch.empty(len(all_nodes), dtype=torch.float64, device=rows.device)
    with _on(rows):
        _slopes[(len(sums),)](
            rows.X, rows.eta, rows.w, all_nodes, all_columns, sums, rows.width, MAJORIZED=majorized, STEP=ROWS
        )
        curve, b = sums[: len(nodes)], sums[len(nodes) :]
        means = (b / curve[owners].clamp(min=1e-300)).float()
        G = torch.empty(int(first[-1]), dtype=torch.float32, device=rows.device)
        across = -(-degree // WIDEST)
        task = np.repeat(np.arange(len(nodes)), across**2)
        place = np.arange(len(task)) - np.repeat(np.cumsum(across**2) - across**2, across**2)
        corner = [rows._give((WIDEST * part).astype(np.int32)) for part in np.divmod(place, across[task])]
        if len(task):
            tiles = rows._give(nodes[task]), rows._give(task.astype(np.int32)), *corner
            _block[(len(task),)](
                rows.X, rows.eta, rows.w, *tiles, begins, rows._give(first), given, means, G, rows.width,
                MAJORIZED=majorized, SIZE=WIDEST, STEP=64,
            )  # fmt: skip
    return rows._take(G), rows._take(b.float()), rows._take(curve)


def _owners(rows: DeviceRows, begin: Places) -> torch.Tensor:
    degree = rows._give(np.diff(begin))
    torch = rows.torch
    return torch.repeat_interleave(torch.arange(len(degree), device=rows.device), degree, output_size=int(begin[-1]))


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


def _look(
    rows: DeviceRows, room: int, limits: tuple[float, ...], finds: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch = rows.torch
    keys = torch.empty(room, dtype=torch.int64, device=rows.device)
    count = torch.zeros(1, dtype=torch.int64, device=rows.device)
    across = rows.lines // SIDE
    tiles = torch.zeros(across * across, dtype=torch.float32, device=rows.device)
    bounds = rows._give(np.array(rows.layout.bounds, dtype=np.int32))
    has_matrix = rows.matrix is not None
    with _on(rows):
        _pairs[(across * across,)](
            rows.X, rows.high, rows.low, rows.error, rows.variance, rows.vector,
            rows.matrix if has_matrix else rows.vector, bounds, rows.scales, keys, count, tiles,
            rows._give(np.array(limits, dtype=np.float32)), rows.p, rows.lines, rows.width, len(rows.layout.bounds),
            room,
            FINDS=finds, HAS_MATRIX=has_matrix, ONE_GROUP=len(rows.layout.bounds) == 1,
            SIZE=SIDE, STEP=DEPTH, STACK=GROUP, num_warps=WARPS, num_stages=STAGES,
        )  # fmt: skip
    return keys, count, tiles


def scan(rows: DeviceRows, room: int, *limits: float) -> tuple[torch.Tensor, int, int]:
    """Return the keys s·p + t of the pairs found (as many as there is room for), their number, and the proved ones.

    ``limits`` are threshold, extra, alpha, scale and half the gap; NaN and infinities prove nothing.
    """
    threshold, *others = limits
    # Rounded to single precision: a smaller threshold finds more, the rest has its own margins.
    keys, count, tiles = _look(rows, room, (threshold * (1 - 1e-6), *others), finds=True)
    number = int(count)
    return keys[: min(number, room)], number, int(tiles.double().sum())


def largest(rows: DeviceRows) -> float:
    """Return a number that some |g|/ω certainly reaches."""
    return float(_look(rows, 1, (0.0, rows.slack, 0.0, 0.0, 0.0), finds=False)[2].max())


def _on(rows: DeviceRows) -> AbstractContextManager[None]:
    return rows.torch.cuda.device(rows.device)
