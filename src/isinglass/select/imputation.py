"""Missing cells drawn from the network itself by stochastic EM; any method can be given the completed table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import RandomSource, check_count
from isinglass.arrays import AnyArray, Frozen, Mask
from isinglass.data import AnyTable, Table, TableLike, as_table
from isinglass.errors import DataError, DataWarning, LimitError, listed, plural, setting, times, warn
from isinglass.machine.threads import one_blas_thread
from isinglass.network import Network
from isinglass.records import Missing
from isinglass.select.folds import MOST_CELLS, one_by_one
from isinglass.select.settings import Run, Settings
from isinglass.select.stochastic_em import Copies, StochasticEM
from isinglass.storage import stored_as

FEW_ANSWERS = 10  # columns with fewer answers are named in a warning


@dataclass(frozen=True, eq=False, repr=False)
class Imputation(Frozen):
    """A table whose missing cells were drawn several times, with a record of the draws."""

    #: the completed table: rows without holes as they are, the others once per imputation, with that share of their
    #: weight. Its ``rows`` say which are copies of one, as folds and resamples respect: numbers of the original rows,
    #: or of the equal rows that counts stand for. What chooses a network can be given this one; errors need `pool`
    table: Table
    origin: NDArray[np.intp]  #: the row of the given table that each row is or completes, counted from 0
    copies: NDArray[np.intp]  #: the imputation that each row belongs to; -1 for rows without holes, which belong to all
    n_imputations: int  #: number of completed tables
    network: Network | None = None  #: what the cells were drawn from; None if nothing was missing
    record: Missing | None = None  #: where the holes were, and how the rounds went; None if nothing was missing

    @property
    def converged(self) -> bool:
        """Whether the network had converged, up to the noise of the draws."""
        return self.record is None or self.record.settled >= 0

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
        missing, imputed = self.record, "no cell missing"
        if missing is not None:
            drawn = f"{plural(missing.n_cells, 'cell')} imputed {times(self.n_imputations)}"
            imputed = f"{drawn}, {plural(missing.n_rounds, 'round')}{'' if self.converged else ', NOT converged'}"
        return f"Imputation({np.count_nonzero(self.copies <= 0)} rows × {self.table.shape[1]} columns: {imputed})"


@dataclass(frozen=True, eq=False, repr=False)
class ImputationSettings(Settings):
    """How missing cells are drawn before a network is chosen.

    Parameters
    ----------
    n_imputations : int, default 10
        How often each row with missing cells is completed.
    max_rounds : int, default 50
        Largest number of rounds.
    random_state : int, Generator, RandomState, SeedSequence or None, default 0
        Seed.
    """

    n_imputations: int = 10
    max_rounds: int = 50
    random_state: RandomSource = field(default=0, metadata=stored_as(None))

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("n_imputations", "max_rounds"):
            check_count(name, getattr(self, name))

    @one_blas_thread
    def complete(self, table: Table, run: Run = Run()) -> Imputation:
        """Draw the missing cells of a table from the network that the table itself supports; see `impute`."""
        count, holes = self.n_imputations, table.holes
        if holes is None:
            return Imputation(table, np.arange(len(table)), np.full(len(table), -1), count)
        _check_answers(table, holes, count)
        copies = Copies.of(table, holes, count, self.random_state, run.n_threads)
        rounds = StochasticEM(copies, run.inside(), run.deadline())
        network = rounds.alternate(self.max_rounds)
        rows, of_copy = copies.rows(range(count))
        has_answer = ~holes.all(axis=1)
        record = Missing(
            treatment="impute",
            **Missing.count(holes[has_answer], int((~has_answer).sum())),
            n_imputations=count,
            settled=rounds.settled,
            is_cut=rounds.is_cut,
            noise=rounds.noise,
            changes=np.array(rounds.changes),
        )
        return Imputation(copies.table(range(count)), rows, of_copy, count, network, record)


def _check_answers(table: Table, holes: Mask, n_imputations: int) -> None:
    """Refuse columns without any answer and tables that would not fit; name columns with few answers."""
    if holes.size * n_imputations > MOST_CELLS:
        must = f"n_imputations times the table must be at most {MOST_CELLS:.3g} cells"
        raise LimitError(f"{must}; got {holes.size * n_imputations:.3g}. Choose fewer imputations.")
    answers = dict(zip(table.names, (~holes).sum(axis=0).tolist(), strict=True))
    empty = [repr(name) for name, count in answers.items() if not count]
    if empty:
        must = f"{setting('X')} must have an answer in every column to impute the others"
        raise DataError(f"{must}; got none in {listed(empty)}. Leave out such columns.")
    most = min(FEW_ANSWERS, len(holes))
    few = [f"{name!r} ({plural(count, 'answer')})" for name, count in answers.items() if count < most]
    if few:
        named = f"columns with fewer than {FEW_ANSWERS} answers were imputed as well: {listed(few)}"
        warn(DataWarning(f"{named}. Results for them rest on these few answers; consider leaving them out."))


def impute(
    X: TableLike,
    *,
    sample_weight: ArrayLike | None = None,
    run: Run = Run(),
    n_imputations: int = 10,
    max_rounds: int = 50,
    random_state: RandomSource = 0,
) -> Imputation:
    """Draw the missing cells of a table from the network that the table itself supports.

    Cells are drawn given the observed cells of their row, by Gibbs sampling, from a network that is estimated from the
    completed table in turn: stochastic EM. This is valid if cells are missing at random: given the observed cells,
    whether a cell is missing does not depend on its own value.

    Parameters
    ----------
    X : array, data frame, list of rows or table, shape (n_samples, n_features)
        A 0/1 or categorical table with missing cells (NaN, None, masked).
    sample_weight : array-like of shape (n_samples,), optional
        Row weights; by default those of the table. The equal rows of a count become rows of their own.
    run : Run, optional
        How it is run.
    n_imputations, max_rounds, random_state
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
    table = as_table(X, sample_weight, missing="impute").whole().counted()
    return _complete_rows(table, ImputationSettings(n_imputations, max_rounds, random_state), run)


def complete_table(
    table: AnyTable, labels: AnyArray | None, settings: ImputationSettings, run: Run = Run(), *, quiet: bool = True
) -> tuple[AnyTable, AnyArray | None, Imputation | None]:
    """Return the table that a network is chosen for, the labels of its rows, and how missing cells were imputed.

    Its weights sum to the number of rows, with sampling weights to the effective one; equal rows of a count are
    completed one by one. Unless ``quiet``, warns where it is not stated what the weights are.
    """
    table = table.counted(quiet=quiet)
    if table.holes is None:
        return table, labels, None
    found = _complete_rows(table, settings, run)
    labels = None if labels is None else labels[found.origin]
    return found.table, labels, None if found.network is None else found  # the holes were in rows without a weight


def _complete_rows(table: Table, settings: ImputationSettings, run: Run) -> Imputation:
    """Impute a table whose rows have weights, equal rows of a count one by one."""
    if table.holes is None:
        return settings.complete(table, run)
    each, rows = one_by_one(table)
    found = settings.complete(each, run)
    return replace(found, origin=rows[found.origin])
