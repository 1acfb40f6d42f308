"""The partition function of a network by variable elimination, exact where the treewidth of the graph allows.

Columns are summed out one after the other, each in the table of its neighbors: the column whose removal joins the
fewest of them comes first (min-fill). A factor holds two tables, the logarithm of its weights and the mean of the
terms of the exponent in what was summed out already: one pass gives log Z and the mean energy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arrays import FloatArray
from isinglass.network import Network

MAX_STATES = 2**22
"""Entries of the largest table: 32 MB, of which about five are needed at a time."""


class Factor(NamedTuple):
    """Tables over the states of some columns, whose axes are the last ones; axes before these hold several problems."""

    columns: tuple[int, ...]
    log_weight: FloatArray
    exponent: FloatArray | None = None  # mean of the terms of −energy that were summed out, where it is wanted


def eliminate(network: Network, order: list[int]) -> tuple[float, float]:
    """Return log Z and the mean energy by summing out the columns in this order."""
    fields = network.variables.split(network.category_fields)
    factors = [Factor((s,), field, field) for s, field in enumerate(fields)]
    for (s, t), table in zip(network.pairs.tolist(), pair_terms(network), strict=True):
        factors.append(Factor((s, t), table, table))
    log_z = exponent = 0.0
    for factor in sum_out(order, factors):
        assert factor.exponent is not None
        log_z, exponent = log_z + float(factor.log_weight), exponent + float(factor.exponent)
    return log_z, -exponent


def sum_out(order: list[int], factors: list[Factor]) -> list[Factor]:
    """Sum out all columns in this order; return factors without columns, one per component."""
    waiting: dict[int, list[Factor]] = {s: [] for s in order}
    place, left = {s: k for k, s in enumerate(order)}, []
    for factor in factors:
        waiting[min(factor.columns, key=place.__getitem__)].append(factor)
    for s in order:
        message = _sum_out(s, waiting.pop(s))
        if message.columns:
            waiting[min(message.columns, key=place.__getitem__)].append(message)
        else:
            left.append(message)
    return left


def _sum_out(s: int, factors: list[Factor]) -> Factor:
    """Multiply factors and sum over column ``s``, which comes first in their product."""
    others = sorted({column for factor in factors for column in factor.columns} - {s})
    columns = [s, *others]
    log_weight = reduce(np.add, (_spread(factor.log_weight, factor.columns, columns) for factor in factors))
    top = log_weight.max(axis=-len(columns), keepdims=True)
    weight = np.exp(log_weight - top)
    total, top = weight.sum(axis=-len(columns)), top.squeeze(-len(columns))
    exponents = [_spread(f.exponent, f.columns, columns) for f in factors if f.exponent is not None]
    mean = (reduce(np.add, exponents) * weight).sum(axis=-len(columns)) / total if exponents else None
    return Factor(tuple(others), np.asarray(top + np.log(total)), mean)


def _spread(table: FloatArray, own: tuple[int, ...], columns: list[int]) -> FloatArray:
    """Return a table of some of the columns with an axis for each of them."""
    before = table.shape[: table.ndim - len(own)]
    axes = sorted(range(len(own)), key=lambda k: columns.index(own[k]))
    sizes = dict(zip(own, table.shape[len(before) :], strict=True))
    moved = table.transpose(*range(len(before)), *(len(before) + axis for axis in axes))
    return moved.reshape(*before, *(sizes.get(column, 1) for column in columns))


def pair_terms(network: Network) -> list[FloatArray]:
    """Return e_st(k, l) of every pair: a row per category of s and a column per category of t."""
    scores = [network.variables.score(s) for s in range(network.n_features)]
    blocks = network.variables.split_blocks(network.pairs, network.pair_parameters)
    tables = []
    for (s, t), block in zip(network.pairs.tolist(), blocks, strict=True):
        rows = block if scores[s] is None else scores[s][:, None] * block
        tables.append(rows if scores[t] is None else rows * scores[t])
    return tables


def elimination_order(
    sizes: ArrayLike, edges: Iterable[Sequence[int]], max_states: int = MAX_STATES
) -> tuple[list[int], int] | None:
    """Return an order in which no table has more than ``max_states`` entries, and the entries of the largest.

    ``sizes`` are the numbers of categories. The order is that of min-fill; None if this finds none.
    """
    logs = np.log2(sizes).tolist()
    most = np.log2(max_states) + 1e-9
    around: list[set[int]] = [set() for _ in logs]
    for s, t in edges:
        around[s].add(t)
        around[t].add(s)
    # Every order meets a column of a core with its neighbors; this is known long before an order is.
    if _has_large_core(around, most / max(min(logs), 1e-9) - 1.0):
        return None
    fill = {s: _count_fill(s, around) for s in range(len(logs))}
    order, largest = [], 0.0
    while fill:
        s = min(fill, key=lambda node: (fill[node], logs[node] + sum(logs[t] for t in around[node]), node))
        largest = max(largest, logs[s] + sum(logs[t] for t in around[s]))
        if largest > most:
            return None
        neighbors = around[s]
        changed = set(neighbors)
        for a, b in combinations(sorted(neighbors), 2):
            if b not in around[a]:
                around[a].add(b)
                around[b].add(a)
                changed |= around[a] & around[b]
        for t in neighbors:
            around[t].discard(s)
        del fill[s]
        for t in changed - {s}:
            fill[t] = _count_fill(t, around)
        order.append(s)
    return order, round(2**largest)


def _count_fill(s: int, around: list[set[int]]) -> int:
    """Return how many pairs of neighbors of a column have no edge."""
    return sum(b not in around[a] for a, b in combinations(around[s], 2))


def _has_large_core(around: list[set[int]], most_neighbors: float) -> bool:
    """Tell whether columns remain when those with at most so many neighbors are removed, again and again."""
    left = {s: set(neighbors) for s, neighbors in enumerate(around)}
    while removable := [s for s, neighbors in left.items() if len(neighbors) <= most_neighbors]:
        for s in removable:
            for t in left.pop(s):
                left[t].discard(s)
    return bool(left)
