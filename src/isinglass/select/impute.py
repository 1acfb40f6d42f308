"""Missing cells drawn from the network itself: stochastic EM, and the completed table that any method can be given.

In every round a network is estimated from a few completed copies of the rows with holes, and the missing cells of all
copies are redrawn from it, given the observed cells of their row. Copies go on from where they were: a few sweeps are
enough. Once the network moves no further in three rounds than in one, its movement is the noise of the draws. The mean
of some more networks then gives the completed table.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import RandomSource, check_count, spawn_seeds
from isinglass.arrays import FloatArray, Frozen, Mask
from isinglass.data import BinaryTable, CategoryTable, read_binary, weights_of
from isinglass.data.table import RowTable
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
from isinglass.network import Network
from isinglass.results import Missing, Solution
from isinglass.select.contract import Method, run_method
from isinglass.select.method import keep_penalty, run_quickly, solution_of
from isinglass.select.rounds import AVERAGED, Model, Stack, run_rounds

FEW_ANSWERS = 10
"""Columns with fewer answers are named in a warning."""
MOST_CELLS = 1 << 33
_SHOWN = 5


@dataclass(frozen=True, eq=False, repr=False)
class Imputation(Frozen):
    """A table whose missing cells were drawn several times, and how.

    Parameters
    ----------
    table : BinaryTable or CategoryTable
        The completed table: rows without holes as they are, the others once per imputation, with that share of their
        weight. Its ``rows`` are the numbers of the original rows, which folds and resamples respect. Any path function,
        criterion or estimator can be given this table.
    copies : ndarray of int, shape (n_rows of table,)
        The imputation that each row belongs to; -1 for rows without holes, which belong to all.
    missing : ndarray of bool, shape (n_answered, n_features)
        Where the holes were, in the rows with at least one answer.
    answered : ndarray of int, shape (n_answered,)
        The numbers of these rows.
    network : Network, optional
        What the cells were drawn from; None if nothing was missing.
    n_imputations : int
        Number of completed tables.
    n_edges, changes : ndarray of shape (n_rounds,)
        Edges of the network of each round, and the root mean square by which its parameters differ from those of the
        round before (NaN in the first).
    settled : int
        Round in which the movement had become noise; -1 if it never did.
    n_empty : int
        Rows without any answer, which were left out.
    """

    table: Any
    copies: NDArray[np.intp]
    missing: Mask
    answered: NDArray[np.intp]
    network: Network | None
    n_imputations: int
    n_edges: NDArray[np.intp]
    changes: FloatArray
    settled: int
    n_empty: int

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
        return Missing(
            treatment="impute",
            n_left_out=self.n_empty,
            n_imputations=self.n_imputations,
            settled=self.settled,
            noise=self.noise,
            changes=self.changes.copy(),
            **counts,
        )

    def tables(self) -> Iterator[Any]:
        """Yield the completed tables one by one, with their rows in the original order and their whole weights."""
        for number in range(self.n_imputations):
            rows = np.flatnonzero((self.copies == number) | (self.copies < 0))
            assert self.table.rows is not None or self.network is None
            order = rows if self.table.rows is None else rows[np.argsort(self.table.rows[rows], kind="stable")]
            part = self.table[order]
            if part.sample_weight is not None:
                whole = np.where(self.copies[order] < 0, 1.0, float(self.n_imputations)) * part.sample_weight
                plain = bool((whole == 1.0).all())
                part = replace(part, sample_weight=None if plain else whole)
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
    imputation: Imputation  # the completed table


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
        Rounds after which this ends, settled or not.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights; by default those that a BinaryTable brings along.
    groups : array-like of shape (n_samples,), optional
        Rows with equal entries stay in one fold of the model, if that has folds.
    random_state : int, Generator, RandomState, SeedSequence or None, default 0
        Seed.
    n_threads : int, optional
        Threads of the sampler. The result does not depend on it.


    Warns
    -----
    ConvergenceWarning
        If the network was still moving after ``max_rounds``.

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
    weight = weights_of(data, sample_weight)
    holes = data.holes
    if holes is None:
        table = data if weight is data.sample_weight else data.with_cells(np.asarray(data), sample_weight=weight)
        none = np.empty(0, dtype=np.intp)
        known = np.zeros(data.shape, dtype=bool), np.arange(len(data))
        return Imputation(table, np.full(len(data), -1), *known, None, count, none, np.empty(0), -1, 0)
    _check_answers(data, holes, count)
    at_start, at_chains = spawn_seeds(random_state, 2)
    stack = Stack.of(data, holes, weight, groups, count, (at_start, at_chains), n_threads)
    with suppress_warnings(ConstantColumnWarning, ConvergenceWarning):
        most = check_count("max_rounds", max_rounds)
        network, networks, changes, settled = run_rounds(stack, Model(model), sweeps, most)
    if settled < 0:
        warn(
            ConvergenceWarning(
                f"the network that missing cells are drawn from still moves after {len(networks)} rounds. Raise "
                f"{setting('max_rounds')}, or leave out columns with few answers."
            )
        )
    table, copies, _ = stack.take(range(count))
    n_edges = np.array([found.n_edges for found in networks])
    answered = ~holes.all(axis=1)
    numbers = (np.arange(len(data)) if data.rows is None else data.rows)[answered]
    n_empty = int((~answered).sum())
    return Imputation(table, copies, holes[answered], numbers, network, count, n_edges, changes, settled, n_empty)


def _check_answers(data: RowTable, holes: Mask, n_imputations: int) -> None:
    """Refuse columns that nobody answered and tables that would not fit; name columns with few answers."""
    if holes.size * n_imputations > MOST_CELLS:
        raise LimitError(
            f"n_imputations times the table must be at most {MOST_CELLS:.3g} cells; got "
            f"{holes.size * n_imputations:.3g}. Choose fewer imputations."
        )
    names = data.names or default_names(data.shape[1])
    answers = (~holes).sum(axis=0)
    if not answers.all():
        silent = [names[k] for k in np.flatnonzero(answers == 0)]
        more = f" and {len(silent) - 1} more" if len(silent) > 1 else ""
        raise DataError(
            f"{setting('X')} must have an answer in every column to impute the others; got none in "
            f"{silent[0]!r}{more}. Leave out such columns."
        )
    few = np.flatnonzero((answers < FEW_ANSWERS) & (answers < len(holes)))
    if len(few):
        shown = ", ".join(f"{names[k]!r} ({answers[k]})" for k in few[:_SHOWN])
        more = f" and {len(few) - _SHOWN} more" if len(few) > _SHOWN else ""
        warn(
            DataWarning(
                f"columns with fewer than {FEW_ANSWERS} answers are imputed all the same: {shown}{more}. Results "
                "for them rest on these few answers; consider leaving them out."
            )
        )


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
    return Completed(solution_of(result, method, found.table), result, found)
