"""The rounds of stochastic EM: a network from completed rows, completed rows from the network, until it settles."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import RandomSource
from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.categories import CategoryNetwork
from isinglass.data import CategoryTable, to_weighted
from isinglass.data.table import RowTable
from isinglass.errors import DataError, setting
from isinglass.network import Network, pair_keys, pairs_of, spread, union_keys
from isinglass.select.contract import Method, run_method
from isinglass.select.method import keep_penalty, run_quickly, solution_of
from isinglass.select.refit import nearly_free
from isinglass.select.two_stage import two_stage
from isinglass.simulate.completions import CategoryChains, Completions, start_values

FEW = 2
"""Copies of the rows with holes that the network of a round is estimated from."""
LOOK_BACK = 3
"""Rounds over which movement is compared with that of one round..."""
NOISE = 1.2
"""...and the ratio of the two up to which it counts as noise. Without any trend it is 1 on average."""
AVERAGED = 4
"""Networks, once they no longer move, whose mean the cells of the result are drawn from."""
PRIOR = 2.0
"""Penalty, in rows, of the estimate on the chosen edges that cells are drawn from. The network that chose the edges is
shrunken, and cells drawn from it would make the next one weaker still; without any penalty few rows are overfitted."""


def run_rounds(
    stack: Stack, model: Model, n_sweeps: int, max_rounds: int
) -> tuple[Network, list[Network], FloatArray, int]:
    """Return the network of the last draws, those of the rounds, their changes, and the round that settled (or -1)."""
    networks: list[Network] = []
    changes: list[float] = []
    settled = -1
    while len(networks) < max_rounds:
        number = len(networks)
        few, _, groups = stack.take([(FEW * number + k) % stack.n_copies for k in range(min(FEW, stack.n_copies))])
        networks.append(model.estimate(few, groups, choose=number == 0 or number % LOOK_BACK == 2))
        changes.append(distance(networks[-1], networks[-2]) if number else float("nan"))
        if settled < 0 and number > LOOK_BACK:
            moved = distance(networks[-1], networks[-1 - LOOK_BACK])
            settled = number if moved <= NOISE * changes[-1] else -1
        if 0 <= settled <= number - AVERAGED:
            break
        stack.chains.sweep(networks[-1], n_sweeps)
    network = mean_network(networks[-AVERAGED:])
    stack.chains.sweep(network, 2 * n_sweeps)
    return network, networks, np.array(changes), settled


@dataclass
class Model:
    """What estimates the networks that cells are drawn from."""

    method: Method | None
    kept: Method | None = None

    def __post_init__(self) -> None:
        if self.method is None:
            self.method = functools.partial(two_stage, keep=0.0)
        self.method = run_quickly(self.method, None)

    def estimate(self, table: RowTable, groups: NDArray[Any], *, choose: bool) -> Network:
        """Return the network of a completed table; ``choose``: choose the penalty anew, where that can be kept."""
        assert self.method is not None
        method = self.method if choose or self.kept is None else self.kept
        cells, weight = to_weighted(table, None)
        result = run_method(method, cells, sample_weight=weight, groups=groups)
        solution = solution_of(result, method, cells, weight)
        if not solution.n_edges:
            self.kept = None  # a penalty without edges may be 0, and says nothing about the next table
            return solution.network
        if method is self.method:
            try:
                self.kept = keep_penalty(method, result)
            except DataError:  # it has one per node, or none
                self.kept = None
        return nearly_free(solution, cells, weight, PRIOR).network


@dataclass
class Stack:
    """Rows without holes, and copies of the others with the chains that redraw their holes."""

    data: RowTable
    weight: FloatArray | None
    groups: NDArray[Any]  # of every row of the data
    whole: NDArray[np.intp]
    holed: NDArray[np.intp]
    n_copies: int
    chains: Any  # Completions or CategoryChains

    @classmethod
    def of(
        cls,
        data: RowTable,
        holes: Mask,
        weight: FloatArray | None,
        groups: ArrayLike | None,
        n_copies: int,
        seeds: tuple[np.random.SeedSequence, np.random.SeedSequence],
        n_threads: int | None,
    ) -> Stack:
        """Return the rows that count, with random answers of the same column in their holes."""
        counted: Mask = np.asarray(~holes.all(axis=1))
        if weight is not None:
            counted = counted & (weight > 0.0)
        if not counted.any():
            raise DataError(f"{setting('X')} must have a row with an answer; got none.")
        holed, whole = (np.flatnonzero(counted & some) for some in (holes.any(axis=1), ~holes.any(axis=1)))
        seed = np.random.default_rng(seeds[0])
        started = [start_values(np.asarray(data), holes, counted, seed)[holed] for _ in range(n_copies)]
        chains = make_chains(data, np.concatenate(started), np.tile(holes[holed], (n_copies, 1)), seeds[1], n_threads)
        labels = np.arange(len(data)) if groups is None else np.asarray(groups)
        if labels.shape != (len(data),):
            raise DataError(f"groups must have one entry per row ({len(data)},); got shape {labels.shape}.")
        return cls(data, weight, labels, whole, holed, n_copies, chains)

    def take(self, copies: Sequence[int]) -> tuple[RowTable, NDArray[np.intp], NDArray[Any]]:
        """Return the rows without holes and some copies of the others, the copy each belongs to, and its group."""
        n = len(self.holed)
        places = np.concatenate([np.arange(k * n, (k + 1) * n) for k in copies])
        origin = np.concatenate([self.whole, np.tile(self.holed, len(copies))])
        unit = np.ones(len(self.data)) if self.weight is None else self.weight
        share = np.concatenate([np.ones(len(self.whole)), np.full(len(places), 1.0 / len(copies))])
        table = self.data.with_cells(
            np.concatenate([np.asarray(self.data)[self.whole], self.chains.table[places]]),
            row_names=None if self.data.row_names is None else tuple(self.data.row_names[k] for k in origin),
            sample_weight=share * unit[origin],
            rows=origin if self.data.rows is None else self.data.rows[origin],
            holes=None,
            labels={},
        )
        numbers = np.concatenate([np.full(len(self.whole), -1), np.repeat(np.asarray(copies), n)])
        return table, numbers, self.groups[origin]


def make_chains(
    data: Any, cells: Bytes, missing: Mask, random_state: RandomSource, n_threads: int | None = None
) -> Any:
    """Return chains that redraw the missing cells of rows with the columns of a table."""
    if isinstance(data, CategoryTable):
        return CategoryChains(cells, missing, random_state=random_state)
    return Completions(cells, missing, random_state=random_state, n_threads=n_threads)


def distance(one: Network, other: Network) -> float:
    """Return the root mean square difference of fields and of the couplings that one of two networks has."""
    pairs = union_keys([one, other])
    difference = parameters(one, pairs) - parameters(other, pairs)
    return float(np.sqrt((difference**2).mean()))


def mean_network(networks: Sequence[Network]) -> Network:
    """Return the network whose parameters are the means of those of some networks."""
    pairs, first = union_keys(networks), networks[0]
    mean = np.mean([parameters(network, pairs) for network in networks], axis=0)
    edges = pairs_of(pairs, first.n_features)
    if not isinstance(first, CategoryNetwork):
        return Network(mean[: first.n_features], edges, mean[first.n_features :])
    shapes = [*first.category_fields, *(np.empty(shape) for shape in _shapes(first, pairs))]
    ends = np.cumsum([each.size for each in shapes])[:-1]
    parts = [part.reshape(like.shape) for part, like in zip(np.split(mean, ends), shapes, strict=True)]
    fields, blocks = parts[: first.n_features], parts[first.n_features :]
    return CategoryNetwork(fields, first.scores, edges, None, first.names, categories=first.categories, blocks=blocks)


def parameters(network: Network, pairs: NDArray[np.int64]) -> FloatArray:
    """Return the fields, then the couplings of some pairs, all in one vector; 0 where a pair has no edge."""
    keys = pair_keys(network.edge_index, network.n_features)
    if not isinstance(network, CategoryNetwork):
        return np.asarray(np.r_[network.fields, spread(network.edge_values, keys, pairs)])
    blocks = dict(zip(keys.tolist(), network.blocks, strict=True))
    shapes = zip(pairs.tolist(), _shapes(network, pairs), strict=True)
    values = [blocks[key].ravel() if key in blocks else np.zeros(shape).ravel() for key, shape in shapes]
    return np.asarray(np.concatenate([*network.category_fields, *values]))


def _shapes(network: CategoryNetwork, pairs: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the shapes of the blocks of some pairs."""
    wide = [len(f) if score is None else 1 for f, score in zip(network.category_fields, network.scores, strict=True)]
    return [(wide[s], wide[t]) for s, t in pairs_of(pairs, network.n_features).tolist()]
