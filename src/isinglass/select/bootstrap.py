"""How much a network changes with the rows: the bootstrap, and dropping cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import MOST_TASKS, RandomSource, check_count, check_word, spawn_seeds
from isinglass.arrays import AnyArray, FloatArray, count_within
from isinglass.data import Table, TableLike, are_counts
from isinglass.data.weights import per_unit
from isinglass.errors import ArgumentError, DataError, suppress_warnings
from isinglass.pairs import pair_keys, pairs_of
from isinglass.results import Solution
from isinglass.select.bootstrap_result import Bootstrap
from isinglass.select.folds import draw_without_replacement, has_counts, units_of
from isinglass.select.method import Method, MethodLike, as_method, table_for
from isinglass.select.parallel import COUNTED, run_tasks, task_run
from isinglass.select.row_labels import group_numbers, take_column
from isinglass.select.scoring import failed, warn_of_failed
from isinglass.select.settings import Run
from isinglass.select.task import WarmStart

DROP_SHARES = (0.05, 0.1278, 0.2056, 0.2833, 0.3611, 0.4389, 0.5167, 0.5944, 0.6722, 0.75)  # those of bootnet


def bootstrap(
    X: TableLike,
    method: MethodLike = None,
    *,
    n_boot: int = 1000,
    kind: str = "rows",
    reselect: bool = True,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | str | None = None,
    random_state: RandomSource = 0,
    run: Run = Run(),
) -> Bootstrap:
    """Estimate the network again from resampled rows, including the choice of the penalty.

    The intervals show how much the estimate varies. A penalty shrinks the couplings (edge weights) in every resample,
    so the intervals of a penalized fit lie around the shrunken value, not around the true one.

    Parameters
    ----------
    X : array, data frame, sparse matrix, list of rows or table, shape (n_samples, n_features)
        A 0/1 or categorical table, or a table that the estimator can read. A table that was read with
        ``missing="impute"`` is imputed again in every resample, by ``Method.imputation``.
    method : Method, selector, estimator, fit or float, optional
        How the network is estimated; `TwoStage` by default. An estimator, fitted or not, is fitted again to every
        resample. A number is a penalty.
    n_boot : int, default 1000
        Number of resamples; for "case-drop" at least 10, which are divided among ten shares.
    kind : {"rows", "case-drop"}, default "rows"
        "rows": draw as many rows as there are, with replacement; "case-drop": leave out a share of the rows,
        from 5 to 75 %.
    reselect : bool, default True
        Choose the penalty again in every resample, exactly as for a new table of these rows; False keeps the one that
        was chosen for the whole table, which is several times as fast.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights: counts if they are whole numbers, otherwise sampling weights, unless the table was read with
        another ``weight_kind``. The equal rows of a count are drawn one by one; rows with sampling weights are drawn
        with equal probability and keep their weights.
    groups : array-like of shape (n_samples,), or str, optional
        Rows with equal entries, such as the answers of one person, are drawn together and stay in one fold. A name is
        that of a column of X, which is then no node.
    random_state : int, Generator, RandomState, SeedSequence or None
        Seed of the resamples.
    run : Run, optional
        How it is run: resamples in parallel (``n_jobs``), and a folder that keeps finished ones (``checkpoint``), where
        an interrupted run resumes and a finished one can be extended.

    Notes
    -----
    A resample is the whole table weighted by how often each row was drawn; with sampling weights it is a table of the
    rows that were drawn. Copies of a row stay in one fold, except for the equal rows of a count, which are different
    respondents. The copies of a row in a completed table (``impute(X).table``) are drawn together.

    Examples
    --------
    >>> X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [40, 10, 10, 40], axis=0)
    >>> found = bootstrap(X, 0.05, n_boot=200, random_state=0)
    >>> found.edge_index.tolist(), found.inclusion.tolist(), bool(found.edge_quantiles[0, 0] > 1)
    ([[0, 1]], [1.0], True)
    """
    count, wanted = check_count("n_boot", n_boot, most=MOST_TASKS), as_method(method)
    run.refuse_max_time()
    run.require_seed(random_state)
    X, groups = take_column(X, groups, "groups")
    table = table_for(method, X, sample_weight)
    table = table.bare(table.units)
    draw = _Draw.of(table, group_numbers(groups, table))
    is_drop = check_word("kind", kind, ("rows", "case-drop")) == "case-drop"
    if is_drop and count < len(DROP_SHARES):  # the largest shares would have no resample, and count as stable
        raise ArgumentError("n_boot", f"must be at least {len(DROP_SHARES)}, one for each share of rows", n_boot)
    shares = np.resize(DROP_SHARES, count) if is_drop else np.zeros(count)
    if draw.total < 2 or not draw.kept(max(DROP_SHARES) if is_drop else 0.0):
        units = "rows of positive weight" if groups is None else "groups"
        raise DataError(f"Resamples need at least {3 if is_drop else 2} {units}; got {draw.total}.")
    choice = wanted.choose(table, groups=draw.labels, run=run.replace(checkpoint=None))
    fitted = getattr(method, "network_", None)  # which may know names that the table lacks
    names = None if table.variables.named else getattr(fitted, "names", None)
    solution = choice.solution.with_names(names).without_covariates()
    again = wanted if reselect else wanted.at(choice)
    seeds = spawn_seeds(random_state, count)
    fingerprint = {
        "X": table,
        "groups": draw.labels,
        "method": again,
        "kind": kind,
        "random_state": seeds[0].entropy,  # not n_boot: a run may be prolonged
        "the network of X": np.column_stack([solution.edge_index, solution.edge_values]),
    }
    resampling = _Resampling(table, draw, again, choice.warm_start, task_run(run))
    work = [(resampling, seed, share) for seed, share in zip(seeds, shares.tolist(), strict=True)]
    results = run_tasks(_fit_resample, work, "resamples", "Bootstrap", run=run, fingerprint=fingerprint)
    return _gather(kind, solution, results, shares, reselect and not wanted.selector.is_given)


@dataclass(frozen=True, eq=False)
class _Draw:
    """How rows are drawn: units (rows, or groups of them), how many of each there are, and what a row then counts."""

    sizes: NDArray[np.int64]  # how many of each unit can be drawn: 1, or the count of a row
    unit: NDArray[np.intp]  # the unit of every row
    scale: FloatArray  # what a row counts each time its unit is drawn
    labels: AnyArray | None  # rows with equal entries stay in one fold; None: equal rows are different respondents

    @property
    def total(self) -> int:
        """How many units there are."""
        return int(self.sizes.sum())

    @classmethod
    def of(cls, table: Table, groups: AnyArray | None) -> _Draw:
        """Return how the rows of a table are drawn."""
        n_rows, scale = len(table), table.unit_weight
        if groups is None and has_counts(table) and scale.sum() < 2**53:
            return cls(np.rint(scale).astype(np.int64), np.arange(n_rows), np.ones(n_rows), None)
        labels = units_of(table, groups)
        unit = np.unique(labels, return_inverse=True)[1]
        return cls((np.bincount(unit, scale) > 0).astype(np.int64), unit, scale, labels)

    def kept(self, share: float) -> int:
        """Return how many units stay if a share of them is dropped."""
        return self.total - round(share * self.total)

    def times(self, rng: Generator, share: float) -> NDArray[np.int64]:
        """Return how often every row is in a resample: with replacement, or without a share of the units."""
        if share:
            times = draw_without_replacement(self.sizes, self.kept(share), rng)
        else:
            times = rng.multinomial(self.total, self.sizes / self.total)
        return np.asarray(times[self.unit])


@dataclass(frozen=True, eq=False)
class _Resampling:
    """What every resample needs: the table, how rows are drawn, and how a network is estimated."""

    table: Table
    draw: _Draw
    method: Method
    warm_start: WarmStart  # the networks of the whole table
    run: Run  # of one fit

    def resample(self, times: NDArray[np.int64]) -> tuple[Table, AnyArray | None]:
        """Return every row as often as it was drawn, and which rows stay in one fold."""
        table, draw = self.table, self.draw
        if are_counts(per_unit(draw.scale, table.units)):
            return table.with_weight(times * draw.scale), draw.labels
        # A row that was drawn twice is two rows, each with its sampling weight and its own copies.
        rows = np.repeat(np.arange(len(times)), times)
        copies = None if table.units is None else table.units[rows] * len(times) + count_within(times)
        assert draw.labels is not None
        return table.with_weight(draw.scale)[rows].bare(copies), draw.labels[rows]


_Drawn = dict[str, Any]  # Any: arrays and numbers


def _fit_resample(resampling: _Resampling, seed: SeedSequence, share: float) -> _Drawn:
    """Return the network of one resample."""
    times = resampling.draw.times(np.random.default_rng(seed), share)
    table, labels = resampling.resample(times)
    with suppress_warnings(*COUNTED):
        choice = resampling.method.choose(table, groups=labels, run=resampling.run, warm_start=resampling.warm_start)
    solution = choice.solution.without_covariates()
    return {
        "edges": solution.edge_index,
        "values": solution.edge_values,
        "fields": solution.fields,
        "alpha": solution.alpha,
        "converged": not failed(solution),
    }


def _gather(kind: str, solution: Solution, results: list[_Drawn], shares: FloatArray, reselect: bool) -> Bootstrap:
    """Put the networks side by side."""
    p = solution.network.n_features
    keys = [pair_keys(result["edges"], p) for result in results]
    pairs = np.unique(np.concatenate([*keys, pair_keys(solution.edge_index, p)]))
    values = np.concatenate([result["values"] for result in results])
    draw = np.repeat(np.arange(len(results)), [len(key) for key in keys])
    place = np.searchsorted(pairs, np.concatenate(keys))
    n_unconverged = sum(not result["converged"] for result in results)
    warn_of_failed(n_unconverged, len(results), "resamples")
    draws = sp.csc_array((values, (draw, place)), shape=(len(results), len(pairs)))
    fields = np.array([result["fields"] for result in results])
    alphas = np.array([float(result["alpha"]) for result in results])
    edge_index = pairs_of(pairs, p)
    return Bootstrap(kind, solution, edge_index, draws, fields, alphas, shares, n_unconverged, reselect)
