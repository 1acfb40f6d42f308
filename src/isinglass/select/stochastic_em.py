"""Stochastic EM: a network and the missing cells of its table, each drawn or estimated from the other in turn.

In every round a network is estimated from a few completed copies of the rows with holes, and the missing cells of all
copies are redrawn from it, given the observed cells of their row. When three rounds change the network no more than one
does, only Monte Carlo noise is left, and the mean of the last few networks gives the completed table.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from isinglass import errors
from isinglass.arguments import RandomSource, spawn_seeds
from isinglass.arrays import Mask
from isinglass.data import Table, category_counts
from isinglass.errors import DataError, plural, setting, suppress_warnings, warn
from isinglass.network import Network
from isinglass.pairs import pair_keys, pairs_of
from isinglass.select.refit import nearly_free
from isinglass.select.selector import Selector
from isinglass.select.settings import Run
from isinglass.select.task import COLD_START, LOOSE, PathSettings, Task, WarmStart
from isinglass.select.two_stage import TwoStage
from isinglass.simulate.gibbs import Chains, restrict_to, start_values

SWEEPS = 5  # sweeps over the missing cells from one round to the next; twice as many at the end
COPIES_PER_ROUND = 2  # copies of the rows with holes that the network of a round is estimated from
LOOK_BACK = 3
"""Rounds over which movement is compared with that of one round..."""
NOISE = 1.2
"""...and the ratio of the two up to which it counts as noise. Without any trend it is 1 on average."""
AVERAGED = 4  # networks, once they no longer move, whose mean the cells of the result are drawn from
PRIOR = 2.0
"""Penalty, in rows, of the estimate on the chosen edges that cells are drawn from. The network that chose the edges is
shrunken, and cells drawn from it would make the next one weaker still; without any penalty few rows are overfitted."""
MODEL = TwoStage(keep=0.0)
"""What chooses the edges of the networks that cells are drawn from: the default without its check by prediction."""


@dataclass
class StochasticEM:
    """The network is estimated from completed copies, and their missing cells are drawn from it, in turn."""

    copies: Copies
    run: Run
    deadline: float  # of the clock `time.monotonic`
    networks: list[Network] = field(default_factory=list)  # of each round
    changes: list[float] = field(default_factory=list)  # by which each differs from the one before
    settled: int = -1  # round in which the movement had become noise; -1 if it has not
    is_cut: bool = False  # whether there was no time for more rounds
    kept: Selector | None = None  # the penalties that the model chose last; they are chosen again every third round
    warm_start: WarmStart = COLD_START  # the networks of an earlier round

    def alternate(self, max_rounds: int) -> Network:
        """Run the rounds; return the mean of the last networks, from which the cells are drawn in the end."""
        with suppress_warnings(errors.ConvergenceWarning, errors.ConstantColumnWarning):
            for number in range(max_rounds):
                self._add(self._estimate(number))
                if 0 <= self.settled <= number - AVERAGED or time.monotonic() > self.deadline:
                    break
                self.copies.draw(self.networks[-1], SWEEPS)
        n_rounds = len(self.networks)
        self.is_cut = self.settled < 0 and n_rounds < max_rounds
        if self.settled < 0:
            moves = f"the network that missing cells are drawn from has not converged after {plural(n_rounds, 'round')}"
            limit = setting("max_time" if self.is_cut else "max_rounds")
            warn(errors.ConvergenceWarning(f"{moves}. Raise {limit}, or leave out columns with few answers."))
        mean = mean_network(self.networks[-AVERAGED:])
        self.copies.draw(mean, 2 * SWEEPS)
        return mean

    @property
    def noise(self) -> float:
        """Monte Carlo error of a parameter, from how far rounds scatter after the movement; NaN if it never ended."""
        late = np.array(self.changes[max(self.settled, 1) :])
        return float(np.sqrt((late**2).mean() / 2.0 / AVERAGED)) if self.settled >= 0 and len(late) else math.nan

    def _estimate(self, number: int) -> Network:
        """Return the network of a few copies, other ones in every round."""
        first = COPIES_PER_ROUND * number
        numbers = dict.fromkeys(k % self.copies.n_copies for k in range(first, first + COPIES_PER_ROUND))
        table = self.copies.table(list(numbers))
        selector = MODEL if number % LOOK_BACK == 2 or self.kept is None else self.kept
        paths, counted = PathSettings(tol=LOOSE), table.counted(quiet=True)
        task = Task(counted, paths, run=self.run, warm_start=self.warm_start, deadline=self.deadline)
        choice = selector.choose(task)
        if not choice.solution.n_edges:
            self.kept, self.warm_start = None, COLD_START  # a penalty without edges says nothing about the next table
            return choice.solution.network
        if selector is MODEL:
            self.kept, self.warm_start = choice.fixed(), choice.warm_start
        start = self.networks[-1] if self.networks else None
        return nearly_free(table, choice.solution, PRIOR, self.run.n_threads, start).network

    def _add(self, network: Network) -> None:
        """Add the network of a round, and see whether three rounds still change it more than one does."""
        self.changes.append(distance(network, self.networks[-1]) if self.networks else math.nan)
        self.networks.append(network)
        number = len(self.networks) - 1
        if self.settled < 0 and number > LOOK_BACK:
            moved = distance(network, self.networks[-1 - LOOK_BACK])
            self.settled = number if moved <= NOISE * self.changes[-1] else -1


@dataclass(frozen=True, eq=False)
class Copies:
    """Rows without holes, and copies of the others with the chains that redraw their holes."""

    data: Table
    holes: Mask
    whole: NDArray[np.intp]  # rows without holes
    holed: NDArray[np.intp]  # the others
    n_copies: int
    chains: Chains  # the cells of the others, copy after copy

    @classmethod
    def of(cls, data: Table, holes: Mask, n_copies: int, random_state: RandomSource, n_threads: int | None) -> Copies:
        """Return the rows that count, with random answers of the same column in their holes."""
        counted: Mask = ~holes.all(axis=1) & (data.unit_weight > 0.0)
        if not counted.any():
            raise DataError(f"{setting('X')} must have a row with an answer; got none.")
        holed, whole = (np.flatnonzero(counted & rows) for rows in (holes.any(axis=1), ~holes.any(axis=1)))
        at_start, at_chains = spawn_seeds(random_state, 2)
        rng = np.random.default_rng(at_start)
        started = [start_values(np.asarray(data), holes, counted, rng)[holed] for _ in range(n_copies)]
        cells, missing = np.concatenate(started), np.tile(holes[holed], (n_copies, 1))
        chains = Chains(cells, missing, random_state=at_chains, n_threads=n_threads)
        return cls(data, holes, whole, holed, n_copies, chains)

    @cached_property
    def possible(self) -> Mask:
        """The categories that are drawn: those that the chains start from."""
        return category_counts(self.table(range(self.n_copies))) > 0.0

    def rows(self, numbers: Sequence[int]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the rows without holes and those of some copies of the others, and the copy each belongs to."""
        copies = np.repeat(np.asarray(numbers), len(self.holed))
        rows = np.concatenate([self.whole, np.tile(self.holed, len(numbers))])
        return rows, np.concatenate([np.full(len(self.whole), -1), copies])

    def table(self, numbers: Sequence[int]) -> Table:
        """Return these rows as a table, in which the copies share the weight of their row."""
        rows, copies = self.rows(numbers)
        part = self.data[rows]
        cells = self.chains.table.reshape(self.n_copies, len(self.holed), part.shape[1])[list(numbers)]
        return replace(
            part,
            codes=np.concatenate([part.codes[: len(self.whole)], cells.reshape(-1, part.shape[1])]),
            numbers=None,
            filled=None,
            holes=None,
            n_missing=self.data.n_missing,
            drawn=self.holes[rows],
            sample_weight=np.where(copies < 0, 1.0, 1.0 / len(numbers)) * part.unit_weight,
        )

    def draw(self, network: Network, n_sweeps: int) -> None:
        """Draw the missing cells of all copies from a network."""
        self.chains.sweep(restrict_to(self.possible, network), n_sweeps)


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
