"""Stochastic EM: a network is estimated from completed copies of a table, and the copies are redrawn from it, in turn.

In every round a network is estimated from a few completed copies of the rows with holes, and the missing cells of all
copies are redrawn from it, given the observed cells of their row. Chains continue from their last state, so a few
sweeps suffice. When three rounds change the network no more than one does, only Monte Carlo noise is left. The mean of
the last few networks then gives the completed table.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isinglass.arguments import spawn_seeds
from isinglass.arrays import AnyArray, Mask
from isinglass.data import Table, category_counts
from isinglass.errors import DataError, setting
from isinglass.network import Network
from isinglass.pairs import pair_keys, pairs_of
from isinglass.select.folds import units_of
from isinglass.select.refit import nearly_free
from isinglass.select.settings import Run
from isinglass.select.task import WarmStart
from isinglass.simulate.completions import Completions, among, start_values

if TYPE_CHECKING:
    from isinglass.select.imputation import ImputationSettings
    from isinglass.select.method import Method

COPIES_PER_ROUND = 2
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
_SHORTEST = 1e-3  # seconds that a round is given when there are none left


@dataclass
class Rounds:
    """The rounds of stochastic EM, and what became of them."""

    model: Method  # estimates the networks; its penalty is chosen again in every third round
    run: Run
    deadline: float  # of the clock `time.monotonic`
    networks: list[Network] = field(default_factory=list)  # of each round
    changes: list[float] = field(default_factory=list)  # by which each differs from the one before
    settled: int = -1  # round in which the movement had become noise; -1 if it has not
    kept: Method | None = None  # the model at the penalty that it chose last
    warm_start: WarmStart | None = None  # the networks of an earlier round

    def draw(self, stack: Stack, how: ImputationSettings) -> Network:
        """Draw the missing cells of the stack in turn with their network; return the mean of the last networks."""
        observed = category_counts(stack.take(range(stack.n_copies))[0]) > 0.0
        while len(self.networks) < how.max_rounds:
            number, n_few = len(self.networks), min(COPIES_PER_ROUND, stack.n_copies)
            few, _, groups = stack.take([(COPIES_PER_ROUND * number + k) % stack.n_copies for k in range(n_few)])
            network = self._estimate(few, groups, choose=number == 0 or number % LOOK_BACK == 2)
            self._note(network)
            if 0 <= self.settled <= number - AVERAGED or time.monotonic() > self.deadline:
                break
            stack.chains.sweep(among(observed, network), how.n_sweeps)
        mean = mean_network(self.networks[-AVERAGED:])
        stack.chains.sweep(among(observed, mean), 2 * how.n_sweeps)
        return mean

    def _note(self, network: Network) -> None:
        """Add the network of a round, and see whether three rounds still change it more than one does."""
        self.changes.append(distance(network, self.networks[-1]) if self.networks else math.nan)
        self.networks.append(network)
        number = len(self.networks) - 1
        if self.settled < 0 and number > LOOK_BACK:
            moved = distance(network, self.networks[-1 - LOOK_BACK])
            self.settled = number if moved <= NOISE * self.changes[-1] else -1

    def _estimate(self, table: Table, groups: AnyArray, *, choose: bool) -> Network:
        """Return the network of a completed table; ``choose``: choose the penalty again, if the method can keep one."""
        model, run = self.model if choose or self.kept is None else self.kept, self.run
        if model.selector.keeps_time and math.isfinite(self.deadline):
            run = run.replace(max_time=max(self.deadline - time.monotonic(), _SHORTEST))
        choice = model.choose(table, groups=groups, run=run, warm_start=self.warm_start)
        if not choice.solution.n_edges:
            self.kept = self.warm_start = None  # a penalty without edges says nothing about the next table
            return choice.solution.network
        if model is self.model:
            self.warm_start = choice.warm_start
            try:
                self.kept = model.at(choice)
            except DataError:  # it has no penalty that could be kept
                self.kept = None
        start = self.networks[-1] if self.networks else None
        return nearly_free(table, choice.solution, PRIOR, self.run.n_threads, start).network


@dataclass
class Stack:
    """Rows without holes, and copies of the others with the chains that redraw their holes."""

    data: Table
    holes: Mask
    groups: AnyArray  # of every row of the data
    whole: NDArray[np.intp]
    holed: NDArray[np.intp]
    n_copies: int
    chains: Completions

    @classmethod
    def of(
        cls,
        data: Table,
        holes: Mask,
        groups: AnyArray | None,
        how: ImputationSettings,
        n_threads: int | None,
    ) -> Stack:
        """Return the rows that count, with random answers of the same column in their holes."""
        counted: Mask = np.asarray(~holes.all(axis=1))
        if data.sample_weight is not None:
            counted = counted & (data.sample_weight > 0.0)
        if not counted.any():
            raise DataError(f"{setting('X')} must have a row with an answer; got none.")
        holed, whole = (np.flatnonzero(counted & rows) for rows in (holes.any(axis=1), ~holes.any(axis=1)))
        n_copies, (at_start, at_chains) = how.n_imputations, spawn_seeds(how.random_state, 2)
        rng = np.random.default_rng(at_start)
        started = [start_values(np.asarray(data), holes, counted, rng)[holed] for _ in range(n_copies)]
        cells, missing = np.concatenate(started), np.tile(holes[holed], (n_copies, 1))
        chains = Completions(cells, missing, random_state=at_chains, n_threads=n_threads)
        return cls(data, holes, units_of(data, groups), whole, holed, n_copies, chains)

    def take(self, copies: Sequence[int]) -> tuple[Table, NDArray[np.intp], AnyArray]:
        """Return the rows without holes and some copies of the others, the copy each belongs to, and its group."""
        n = len(self.holed)
        places = np.concatenate([np.arange(k * n, (k + 1) * n) for k in copies])
        origin = np.concatenate([self.whole, np.tile(self.holed, len(copies))])
        unit = self.data.unit_weight
        share = np.concatenate([np.ones(len(self.whole)), np.full(len(places), 1.0 / len(copies))])
        table = replace(
            self.data,
            codes=np.concatenate([np.asarray(self.data)[self.whole], self.chains.table[places]]),
            numbers=None,
            filled=None,
            drawn=self.holes[origin],
            row_names=None if self.data.row_names is None else tuple(self.data.row_names[k] for k in origin),
            sample_weight=share * unit[origin],
            rows=origin if self.data.rows is None else self.data.rows[origin],
            holes=None,
            labels={},
        )
        numbers = np.concatenate([np.full(len(self.whole), -1), np.repeat(np.asarray(copies), n)])
        return table, numbers, self.groups[origin]


def distance(one: Network, other: Network) -> float:
    """Return the root mean square difference of fields and of the couplings that one of two networks has."""
    keys = _coupled([one, other])
    here, there = (np.concatenate([network.fields, network.parameters_at(keys)]) for network in (one, other))
    return float(np.sqrt(((here - there) ** 2).mean()))


def mean_network(networks: Sequence[Network]) -> Network:
    """Return the network whose parameters are the means of those of some networks."""
    keys, variables = _coupled(networks), networks[0].variables
    fields = np.mean([network.fields for network in networks], axis=0)
    couplings = np.mean([network.parameters_at(keys) for network in networks], axis=0)
    return Network(fields, pairs_of(keys, variables.n_features), variables=variables, pair_parameters=couplings)


def _coupled(networks: Sequence[Network]) -> NDArray[np.int64]:
    """Return the sorted keys of the pairs, those with covariates included, that some of these networks couple."""
    return np.unique(np.concatenate([pair_keys(network.pairs, network.n_features) for network in networks]))
