"""Missing cells drawn from the network itself by stochastic EM; any method can be given the completed table.

In every round a network is estimated from a few completed copies of the rows with holes, and the missing cells of all
copies are redrawn from it, given the observed cells of their row. Chains continue from their last state, so a few
sweeps suffice. When three rounds change the network no more than one does, only Monte Carlo noise is left. The mean of
the last few networks then gives the completed table.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import RandomSource, check_count, spawn_seeds
from isinglass.arrays import AnyArray, FloatArray, Frozen, Mask
from isinglass.data import AnyTable, Table, TableLike, as_table, category_counts
from isinglass.errors import (
    ConstantColumnWarning,
    ConvergenceWarning,
    DataError,
    DataWarning,
    LimitError,
    listed,
    plural,
    setting,
    suppress_warnings,
    warn,
)
from isinglass.machine.threads import one_blas_thread
from isinglass.missing_record import Missing
from isinglass.network import Network
from isinglass.pairs import pair_keys, pairs_of
from isinglass.select.folds import MOST_CELLS, one_by_one
from isinglass.select.refit import nearly_free
from isinglass.select.row_labels import group_numbers, take_column
from isinglass.select.selector import Selector
from isinglass.select.settings import Run, Settings
from isinglass.select.task import LOOSE, PathSettings, Task, WarmStart
from isinglass.select.two_stage import TwoStage
from isinglass.simulate.completions import Completions, among, start_values
from isinglass.storage import stored_as

ROUNDS = "rounds of imputation"
"""What a time limit left out, in words."""
FEW_ANSWERS = 10
"""Columns with fewer answers are named in a warning."""
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
MODEL = TwoStage(keep=0.0)
"""What chooses the edges of the networks that cells are drawn from: the default without its check by prediction."""


@dataclass(frozen=True, eq=False, repr=False)
class Imputation(Frozen):
    """A table whose missing cells were drawn several times, with a record of the draws."""

    #: the completed table: rows without holes as they are, the others once per
    #: imputation, with that share of their weight. Its ``rows`` are the numbers of the original rows, which folds and
    #: resamples respect. What chooses a network can be given this one; standard errors need `pool`
    table: Table
    copies: NDArray[np.intp]  #: the imputation that each row belongs to; -1 for rows without holes, which belong to all
    missing: Mask  #: where the holes were, in the rows with at least one answer
    n_imputations: int  #: number of completed tables
    groups: AnyArray | None = None  #: the group of each row, as a number; None without groups
    network: Network | None = None  #: what the cells were drawn from; None if nothing was missing
    #: root mean square by which the parameters of each round differ from those of the round before (NaN in the first)
    changes: FloatArray = field(default_factory=lambda: np.empty(0))
    settled: int = -1  #: round in which the movement had become noise; -1 if it never did
    n_empty: int = 0  #: rows without any answer, which were left out
    is_cut: bool = False  #: whether a time limit ended the rounds

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        return len(self.changes)

    @property
    def converged(self) -> bool:
        """Whether the network had converged, up to the noise of the draws."""
        return self.settled >= 0 or self.network is None

    @property
    def noise(self) -> float:
        """Monte Carlo error: root mean square over the parameters of the network that cells were drawn from.

        Estimated from how far single rounds scatter after the movement had ended; NaN if it never did.
        """
        late = self.changes[max(self.settled, 1) :]
        if self.settled < 0 or not len(late):
            return 0.0 if self.network is None else float("nan")
        return float(np.sqrt((late**2).mean() / 2.0 / AVERAGED))

    @property
    def record(self) -> Missing | None:
        """What a `Fit` keeps: where the holes were, and how the rounds went; None if nothing was missing."""
        if self.network is None:
            return None
        return Missing(
            treatment="impute",
            **Missing.count(self.missing, self.n_empty),
            n_imputations=self.n_imputations,
            settled=self.settled,
            is_cut=self.is_cut,
            noise=self.noise,
            changes=self.changes.copy(),
        )

    def tables(self) -> Iterator[Table]:
        """Return the completed tables one by one, with their rows in the original order and their whole weights."""
        return map(self.completed, range(self.n_imputations))

    def completed(self, number: int) -> Table:
        """Return one of the completed tables."""
        rows = np.flatnonzero((self.copies == number) | (self.copies < 0))
        order = rows if self.table.rows is None else rows[np.argsort(self.table.rows[rows], kind="stable")]
        part = self.table[order]
        if part.sample_weight is None:
            return part
        whole = np.where(self.copies[order] < 0, 1.0, float(self.n_imputations)) * part.sample_weight
        return replace(part, sample_weight=None if (whole == 1.0).all() else whole)

    def __repr__(self) -> str:
        n_rows, n_columns = self.missing.shape
        if self.network is None:
            return f"Imputation({n_rows} rows × {n_columns} columns: no cell missing)"
        times = "once" if self.n_imputations == 1 else f"{self.n_imputations} times"
        left = f", {plural(self.n_empty, 'row')} without an answer left out" if self.n_empty else ""
        rounds = plural(self.n_rounds, "round")
        return (
            f"Imputation({n_rows} rows × {n_columns} columns: {plural(int(self.missing.sum()), 'cell')} "
            f"({self.missing.mean():.1%}) imputed {times}, {rounds}{left}{'' if self.converged else ', NOT converged'})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class ImputationSettings(Settings):
    """How missing cells are drawn before a network is chosen.

    Parameters
    ----------
    n_imputations : int, default 10
        How often each row with missing cells is completed.
    n_sweeps : int, default 5
        Sweeps over the missing cells from one round to the next; twice as many at the end.
    max_rounds : int, default 50
        Largest number of rounds.
    random_state : int, Generator, RandomState, SeedSequence or None, default 0
        Seed.
    """

    n_imputations: int = 10
    n_sweeps: int = 5
    max_rounds: int = 50
    random_state: RandomSource = field(default=0, metadata=stored_as(None))

    def __post_init__(self) -> None:
        for name in ("n_imputations", "n_sweeps", "max_rounds"):
            check_count(name, getattr(self, name))

    @one_blas_thread
    def complete(self, table: Table, groups: AnyArray | None = None, run: Run = Run()) -> Imputation:
        """Draw the missing cells of a table from the network that the table itself supports; see `impute`."""
        if table.holes is None:
            nowhere = np.zeros(table.shape, dtype=bool)
            return Imputation(table, np.full(len(table), -1), nowhere, self.n_imputations, groups)
        holes, numbers = table.holes, list(range(self.n_imputations))
        _check_answers(table, holes, self.n_imputations)
        copies = Copies.of(table, holes, self, run.n_threads)
        rounds = StochasticEM(copies, run.inside(), run.deadline())
        with suppress_warnings(ConvergenceWarning, ConstantColumnWarning):
            network = rounds.alternate(self)
        is_cut = rounds.settled < 0 and len(rounds.networks) < self.max_rounds
        if rounds.settled < 0:
            ran = plural(len(rounds.networks), "round")
            moves = f"the network that missing cells are drawn from has not converged after {ran}"
            limit = "max_time" if is_cut else "max_rounds"
            remedy = f"Raise {setting(limit)}, or leave out columns with few answers."
            warn(ConvergenceWarning(f"{moves}. {remedy}"))
        rows, of_copy = copies.rows(numbers)
        has_answer = ~holes.all(axis=1)
        return Imputation(
            copies.table(numbers),
            of_copy,
            missing=holes[has_answer],
            n_imputations=self.n_imputations,
            groups=None if groups is None else groups[rows],
            network=network,
            changes=np.array(rounds.changes),
            settled=rounds.settled,
            n_empty=int((~has_answer).sum()),
            is_cut=is_cut,
        )


def _check_answers(data: Table, holes: Mask, n_imputations: int) -> None:
    """Refuse columns without any answer and tables that would not fit; name columns with few answers."""
    if holes.size * n_imputations > MOST_CELLS:
        must = f"n_imputations times the table must be at most {MOST_CELLS:.3g} cells"
        raise LimitError(f"{must}; got {holes.size * n_imputations:.3g}. Choose fewer imputations.")
    names = data.names
    answers = (~holes).sum(axis=0)
    if not answers.all():
        shown = listed([repr(names[k]) for k in np.flatnonzero(answers == 0)])
        must = f"{setting('X')} must have an answer in every column to impute the others"
        raise DataError(f"{must}; got none in {shown}. Leave out such columns.")
    few = np.flatnonzero((answers < FEW_ANSWERS) & (answers < len(holes)))
    if len(few):
        shown = listed([f"{names[k]!r} ({answers[k]} {'answer' if answers[k] == 1 else 'answers'})" for k in few])
        named = f"columns with fewer than {FEW_ANSWERS} answers were imputed as well: {shown}"
        warn(DataWarning(f"{named}. Results for them rest on these few answers; consider leaving them out."))


def impute(
    X: TableLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | str | None = None,
    run: Run = Run(),
    n_imputations: int = 10,
    n_sweeps: int = 5,
    max_rounds: int = 50,
    random_state: RandomSource = 0,
) -> Imputation:
    """Draw the missing cells of a table from the network that the table itself supports.

    Cells are drawn given the observed cells of their row, by Gibbs sampling, from a network that is estimated from the
    completed table in turn: stochastic EM. This is valid if cells are missing at random: given the observed cells,
    whether a cell is missing does not depend on its own value. Pass the completed table to the function that estimates
    the network.

    Parameters
    ----------
    X : array, data frame, list of rows or table, shape (n_samples, n_features)
        A 0/1 or categorical table with missing cells (NaN, None, masked).
    sample_weight : array-like of shape (n_samples,), optional
        Row weights; by default those of the table. The equal rows of a count are imputed one by one, and are rows of
        their own in the result.
    groups : array-like of shape (n_samples,), or str, optional
        Rows with equal entries stay together in folds and resamples of the result. A name is that of a column of X.
    run : Run, optional
        How it is run.
    n_imputations, n_sweeps, max_rounds, random_state
        As for `ImputationSettings`.

    Examples
    --------
    >>> from isinglass import Method, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(5, strength=2.0, fields="balanced"), 400, random_state=0)
    >>> holes = np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X)
    >>> found = impute(holes, n_imputations=5)
    >>> found.converged, found.n_imputations, round(found.table.sample_weight.sum())
    (True, 5, 400)
    >>> Method().choose(found.table).solution.edge_index.tolist()
    [[0, 1], [1, 2], [2, 3], [3, 4]]
    """
    run.refuse_checkpoint()
    X, groups = take_column(X, groups, "groups")
    table = as_table(X, sample_weight, missing="impute").whole()
    how = ImputationSettings(n_imputations, n_sweeps, max_rounds, random_state)
    whole, labels, found = complete_table(table, group_numbers(groups, table), how, run, quiet=False)
    return how.complete(whole.whole(), labels) if found is None else found


def complete_table(
    table: AnyTable,
    labels: AnyArray | None,
    how: ImputationSettings,
    run: Run = Run(),
    *,
    quiet: bool = True,
) -> tuple[AnyTable, AnyArray | None, Imputation | None]:
    """Return the table that a network is chosen for, the labels of its rows, and how missing cells were imputed.

    Its weights sum to the number of rows, with sampling weights to the effective one; equal rows of a count are
    completed one by one. Unless ``quiet``, warns where it is not stated what the weights are.
    """
    table = table.counted(quiet=quiet)
    if table.holes is None:
        return table, labels, None
    table, rows = one_by_one(table)
    labels = None if labels is None else labels[rows]
    if table.holes is None:  # they were in rows without a weight
        return table, labels, None
    imputation = how.complete(table, labels, run)
    return imputation.table, imputation.groups, imputation


@dataclass
class StochasticEM:
    """The network is estimated from completed copies, and their missing cells are drawn from it, in turn."""

    copies: Copies
    run: Run
    deadline: float  # of the clock `time.monotonic`
    networks: list[Network] = field(default_factory=list)  # of each round
    changes: list[float] = field(default_factory=list)  # by which each differs from the one before
    settled: int = -1  # round in which the movement had become noise; -1 if it has not
    kept: Selector | None = None  # the penalties that the model chose last; they are chosen again every third round
    warm_start: WarmStart | None = None  # the networks of an earlier round

    def alternate(self, how: ImputationSettings) -> Network:
        """Run the rounds; return the mean of the last networks, from which the cells are drawn in the end."""
        for number in range(how.max_rounds):
            network = self._estimate(number)
            self._note(network)
            if 0 <= self.settled <= number - AVERAGED or time.monotonic() > self.deadline:
                break
            self.copies.draw(network, how.n_sweeps)
        mean = mean_network(self.networks[-AVERAGED:])
        self.copies.draw(mean, 2 * how.n_sweeps)
        return mean

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
            self.kept = self.warm_start = None  # a penalty without edges says nothing about the next table
            return choice.solution.network
        if selector is MODEL:
            self.kept, self.warm_start = choice.fixed(), choice.warm_start
        start = self.networks[-1] if self.networks else None
        return nearly_free(table, choice.solution, PRIOR, self.run.n_threads, start).network

    def _note(self, network: Network) -> None:
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
    chains: Completions  # the cells of the others, copy after copy

    @classmethod
    def of(cls, data: Table, holes: Mask, how: ImputationSettings, n_threads: int | None) -> Copies:
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
        return cls(data, holes, whole, holed, n_copies, chains)

    @cached_property
    def possible(self) -> Mask:
        """The categories that are drawn: those that the chains start from."""
        return category_counts(self.table(list(range(self.n_copies)))) > 0.0

    def rows(self, numbers: list[int]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the rows without holes and those of some copies of the others, and the copy each belongs to."""
        copies = np.repeat(np.asarray(numbers), len(self.holed))
        rows = np.concatenate([self.whole, np.tile(self.holed, len(numbers))])
        return rows, np.concatenate([np.full(len(self.whole), -1), copies])

    def table(self, numbers: list[int]) -> Table:
        """Return these rows as a table, in which the copies share the weight of their row."""
        rows, copies = self.rows(numbers)
        part, cells = self.data[rows], self.chains.table.reshape(self.n_copies, len(self.holed), -1)[numbers]
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
        self.chains.sweep(among(self.possible, network), n_sweeps)


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
