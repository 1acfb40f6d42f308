"""Missing cells drawn from the network itself: stochastic EM, and the completed table that any method can be given.

In every round a network is estimated from a few completed copies of the rows with holes, and the missing cells of all
copies are redrawn from it, given the observed cells of their row. Copies go on from where they were: a few sweeps are
enough. Once the network moves no further in three rounds than in one, its movement is the noise of the draws. The mean
of some more networks then gives the completed table.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import RandomSource, check_count, spawn_seeds
from isinglass.arrays import Bytes, FloatArray, Frozen, Mask
from isinglass.data import BinaryTable, CategoryTable, read_binary, scaled_weights_of, to_weighted
from isinglass.data.table import RowTable
from isinglass.data.weights import kind_of
from isinglass.errors import (
    ConstantColumnWarning,
    ConvergenceWarning,
    DataError,
    DataWarning,
    LimitError,
    setting,
    suppress_warnings,
    warn,
)
from isinglass.names import default_names
from isinglass.network import Network, pair_keys, pairs_of, union_keys
from isinglass.results import Missing, Solution
from isinglass.select.contract import Method, labels_of, run_method
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
FEW_ANSWERS = 10
"""Columns with fewer answers are named in a warning."""
MOST_CELLS = 1 << 33
_SHOWN = 5


@dataclass(frozen=True, eq=False, repr=False)
class Imputation(Frozen):
    """A table whose missing cells were drawn several times, and how."""

    #: the completed table, a BinaryTable or CategoryTable: rows without holes as they are, the others once per
    #: imputation, with that share of their weight. Its ``rows`` are the numbers of the original rows, which folds and
    #: resamples respect. Any path function, criterion or estimator can be given this table
    table: Any
    copies: NDArray[np.intp]  #: the imputation that each row belongs to; -1 for rows without holes, which belong to all
    missing: Mask  #: where the holes were, in the rows with at least one answer
    answered: NDArray[np.intp]  #: the numbers of these rows
    network: Network | None  #: what the cells were drawn from; None if nothing was missing
    n_imputations: int  #: number of completed tables
    n_edges: NDArray[np.intp]  #: edges of the network of each round
    changes: FloatArray  #: root mean square by which its parameters differ from the round before (NaN in the first)
    settled: int  #: round in which the movement had become noise; -1 if it never did
    n_empty: int  #: rows without any answer, which were left out

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        return len(self.n_edges)

    @property
    def converged(self) -> bool:
        """Whether the network had stopped moving but for the noise of the draws."""
        return self.settled >= 0 or self.network is None

    @property
    def missing_shares(self) -> FloatArray:
        """Share of missing cells in every column, among rows with an answer."""
        return np.asarray(self.missing.mean(axis=0))

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
        counts = Missing.count(self.missing)
        counts["n_rows"] += self.n_empty
        counts["n_cells"] += self.n_empty * self.missing.shape[1]
        counts |= {"treatment": "impute", "n_left_out": self.n_empty, "n_imputations": self.n_imputations}
        return Missing(**counts, settled=self.settled, noise=self.noise, changes=self.changes.copy())

    def tables(self) -> Iterator[Any]:
        """Yield the completed tables one by one, with their rows in the original order and their whole weights."""
        for number in range(self.n_imputations):
            rows = np.flatnonzero((self.copies == number) | (self.copies < 0))
            order = rows if self.table.rows is None else rows[np.argsort(self.table.rows[rows], kind="stable")]
            part = self.table[order]
            if part.sample_weight is not None:
                whole = np.where(self.copies[order] < 0, 1.0, float(self.n_imputations)) * part.sample_weight
                part = replace(part, sample_weight=None if (whole == 1.0).all() else whole)
            yield part

    def holes_of(self, table: RowTable) -> Mask:
        """Return where a table made of these rows has cells that were drawn."""
        if self.network is None:
            return np.zeros(table.shape, dtype=bool)
        assert table.rows is not None
        return self.missing[np.searchsorted(self.answered, table.rows)]

    def __repr__(self) -> str:
        n_rows, n_columns = self.missing.shape
        state = "nothing missing" if self.network is None else f"{self.n_imputations} times, {self.n_rounds} rounds"
        left = f", {self.n_empty} rows without an answer left out" if self.n_empty else ""
        return (
            f"Imputation({n_rows} rows × {n_columns} columns: {int(self.missing.sum())} cells "
            f"({self.missing.mean():.1%}) imputed {state}{left}{'' if self.converged else ', NOT converged'})"
        )


@dataclass(frozen=True, eq=False)
class Completed:
    """What a method made of a completed table."""

    solution: Solution  # the network
    result: Any  # all that the method returned


def complete(
    X: Any,
    *,
    n_imputations: int = 10,
    model: Method | None = None,
    n_sweeps: int = 5,
    max_rounds: int = 50,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: RandomSource = 0,
    n_threads: int | None = None,
) -> Imputation:
    """Draw the missing cells of a table from the network that the table itself supports.

    Cells are drawn given the observed cells of their row, by Gibbs sampling, from a network that is estimated from the
    completed table in turn: stochastic EM. Right if, given what was observed, a cell does not go missing because of
    its own value (missing at random). Give the completed table to whatever estimates the network that is wanted.

    Parameters
    ----------
    X : array, data frame, list of rows, BinaryTable or CategoryTable, shape (n_samples, n_features)
        Table of 0, 1 and missing cells (NaN, None, masked; or a BinaryTable read with ``missing="impute"``); or a
        table of categories with ``holes``.
    n_imputations : int, default 10
        How often each row with holes is completed.
    model : callable, optional
        What estimates the networks that cells are drawn from, as for `bootstrap`; by default `two_stage` without its
        check by prediction. Its choice of edges counts: they are estimated again, almost without penalty.
    n_sweeps : int, default 5
        Sweeps over the missing cells from one round to the next; twice as many at the end.
    max_rounds : int, default 50
        Rounds after which this ends, settled or not: with a `ConvergenceWarning` if the network was still moving.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights; by default those that a BinaryTable brings along.
    groups : array-like of shape (n_samples,), optional
        Rows with equal entries stay in one fold of the model, if that has folds.
    random_state : int, Generator, RandomState, SeedSequence or None, default 0
        Seed.
    n_threads : int, optional
        Threads of the sampler. The result does not depend on it.

    Examples
    --------
    >>> from isinglass import simulate, two_stage
    >>> X = simulate.exact_sample(simulate.chain_network(5, strength=2.0, fields="balanced"), 400, random_state=0)
    >>> holes = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    >>> found = complete(holes, n_imputations=5)
    >>> found.converged, found.n_imputations, round(found.table.sample_weight.sum())
    (True, 5, 400)
    >>> two_stage(found.table).solution.edge_index.tolist()
    [[0, 1], [1, 2], [2, 3], [3, 4]]
    """
    count, sweeps = check_count("n_imputations", n_imputations), check_count("n_sweeps", n_sweeps)
    data: RowTable = X if isinstance(X, CategoryTable) else read_binary(X, missing="impute")
    weight = scaled_weights_of(data, sample_weight)
    if weight is not data.sample_weight:
        data = data.with_cells(np.asarray(data), sample_weight=weight, weight_kind=kind_of(weight, None))
    holes = data.holes
    if holes is None:
        none = np.empty(0, dtype=np.intp)
        known = np.zeros(data.shape, dtype=bool), np.arange(len(data))
        return Imputation(data, np.full(len(data), -1), *known, None, count, none, np.empty(0), -1, 0)
    _check_answers(data, holes, count)
    stack = _Stack.of(data, holes, weight, groups, count, random_state, n_threads)
    most = check_count("max_rounds", max_rounds)
    quick = run_quickly(model or functools.partial(two_stage, keep=0.0), None)
    with suppress_warnings(ConstantColumnWarning, ConvergenceWarning):
        network, networks, changes, settled = _run_rounds(stack, _Model(quick), sweeps, most)
    if settled < 0:
        moves = f"the network that missing cells are drawn from still moves after {len(networks)} rounds"
        remedy = f"Raise {setting('max_rounds')}, or leave out columns with few answers."
        warn(ConvergenceWarning(f"{moves}. {remedy}"))
    table, copies, _ = stack.take(range(count))
    n_edges = np.array([found.n_edges for found in networks])
    answered = ~holes.all(axis=1)
    numbers = (np.arange(len(data)) if data.rows is None else data.rows)[answered]
    n_empty = int((~answered).sum())
    return Imputation(table, copies, holes[answered], numbers, network, count, n_edges, changes, settled, n_empty)


def _check_answers(data: RowTable, holes: Mask, n_imputations: int) -> None:
    """Refuse columns that nobody answered and tables that would not fit; name columns with few answers."""
    if holes.size * n_imputations > MOST_CELLS:
        must = f"n_imputations times the table must be at most {MOST_CELLS:.3g} cells"
        raise LimitError(f"{must}; got {holes.size * n_imputations:.3g}. Choose fewer imputations.")
    names = data.names or default_names(data.shape[1])
    answers = (~holes).sum(axis=0)
    if not answers.all():
        silent = np.flatnonzero(answers == 0)
        shown = repr(names[silent[0]]) + (f" and {len(silent) - 1} more" if len(silent) > 1 else "")
        must = f"{setting('X')} must have an answer in every column to impute the others"
        raise DataError(f"{must}; got none in {shown}. Leave out such columns.")
    few = np.flatnonzero((answers < FEW_ANSWERS) & (answers < len(holes)))
    if len(few):
        shown = ", ".join(f"{names[k]!r} ({answers[k]})" for k in few[:_SHOWN])
        more = f" and {len(few) - _SHOWN} more" if len(few) > _SHOWN else ""
        named = f"columns with fewer than {FEW_ANSWERS} answers are imputed all the same: {shown}{more}"
        warn(DataWarning(f"{named}. Results for them rest on these few answers; consider leaving them out."))


def impute_first(method: Method, **options: Any) -> Method:
    """Return a method that completes a table before the given one is run on it; ``options`` are those of `complete`.

    Examples
    --------
    >>> from isinglass import two_stage
    >>> impute_first(two_stage, n_imputations=5).keywords["n_imputations"]
    5
    """
    return functools.partial(_fit_completed, method=method, **options)


def imputes(method: Method) -> bool:
    """Return whether a method completes its table itself."""
    return isinstance(method, functools.partial) and method.func is _fit_completed


def keep_penalty_inside(method: Method, result: Any, scale: float = 1.0) -> Method:
    """Return `keep_penalty` of a method, or of the one that is run on the table that it completes."""
    if not imputes(method):
        return keep_penalty(method, result, scale)
    assert isinstance(method, functools.partial)
    return functools.partial(method, method=keep_penalty(method.keywords["method"], result.result, scale))


def _fit_completed(
    X: Any,
    *,
    method: Method,
    holes: Mask | None = None,
    sample_weight: FloatArray | None = None,
    groups: NDArray[Any] | None = None,
    n_threads: int | None = None,
    **options: Any,
) -> Completed:
    """Return what a method makes of a table with these holes, completed."""
    table = X
    if holes is not None:
        table = replace(X, holes=holes) if isinstance(X, CategoryTable) else BinaryTable(np.asarray(X), holes=holes)
    found = complete(table, sample_weight=sample_weight, groups=groups, n_threads=n_threads, **options)
    labels = None
    if groups is not None:
        labels = groups if found.table.rows is None else groups[found.table.rows]
    result = run_method(run_quickly(method, n_threads), found.table, groups=labels)
    return Completed(solution_of(result, method, found.table), result)


def _run_rounds(
    stack: _Stack, model: _Model, n_sweeps: int, max_rounds: int
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
class _Model:
    """What estimates the networks that cells are drawn from."""

    method: Method
    kept: Method | None = None

    def estimate(self, table: RowTable, groups: NDArray[Any], *, choose: bool) -> Network:
        """Return the network of a completed table; ``choose``: choose the penalty anew, where that can be kept."""
        method = self.method if choose or self.kept is None else self.kept
        cells, weight = to_weighted(table, None)
        result = run_method(method, table, groups=groups)
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
class _Stack:
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
        random_state: RandomSource,
        n_threads: int | None,
    ) -> _Stack:
        """Return the rows that count, with random answers of the same column in their holes."""
        counted: Mask = np.asarray(~holes.all(axis=1))
        if weight is not None:
            counted = counted & (weight > 0.0)
        if not counted.any():
            raise DataError(f"{setting('X')} must have a row with an answer; got none.")
        holed, whole = (np.flatnonzero(counted & some) for some in (holes.any(axis=1), ~holes.any(axis=1)))
        at_start, at_chains = spawn_seeds(random_state, 2)
        rng = np.random.default_rng(at_start)
        started = [start_values(np.asarray(data), holes, counted, rng)[holed] for _ in range(n_copies)]
        chains = make_chains(data, np.concatenate(started), np.tile(holes[holed], (n_copies, 1)), at_chains, n_threads)
        return cls(data, weight, labels_of(groups, len(data)), whole, holed, n_copies, chains)

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
    keys = union_keys([one, other])
    here, there = (np.concatenate(_parameters(each, keys)) for each in (one, other))
    return float(np.sqrt(((here - there) ** 2).mean()))


def mean_network(networks: Sequence[Network]) -> Network:
    """Return the network whose parameters are the means of those of some networks."""
    keys, variables = union_keys(networks), networks[0].variables
    edges = pairs_of(keys, variables.n_features)
    each = [_parameters(network, keys) for network in networks]
    fields, couplings = (np.mean(some, axis=0) for some in zip(*each, strict=True))
    return Network(fields, edges, variables=variables, parameters=couplings)


def _parameters(network: Network, pairs: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    """Return the fields, and the parameters of some pairs; 0 where a pair has no edge."""
    keys, variables = pair_keys(network.edge_index, network.n_features), network.variables
    sizes = variables.block_sizes(pairs_of(pairs, network.n_features))
    couplings = np.zeros(int(sizes.sum()))
    couplings[np.repeat(np.isin(pairs, keys), sizes)] = network.parameters
    return network.fields, couplings
