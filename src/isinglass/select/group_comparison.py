"""Whether groups of rows have the same network: permutation tests of structure, strength, edges and nodes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import MOST_TASKS, RandomSource, check_count, spawn_seeds
from isinglass.arrays import AnyArray, Arrays, Mask, count_within
from isinglass.data import Table, TableLike, category_counts
from isinglass.data.counts import varying_among
from isinglass.errors import ConstantColumnWarning, DataError, listed, setting, suppress_warnings, warn
from isinglass.network import union_keys
from isinglass.pairs import pairs_of
from isinglass.records import Missing, TwoStageRecord, count_observations
from isinglass.results import Solution
from isinglass.select.folds import one_by_one
from isinglass.select.group_comparison_result import Differing, GroupComparison, least_equal
from isinglass.select.imputation import ImputationSettings
from isinglass.select.method import Method, MethodLike, as_method, table_for
from isinglass.select.parallel import COUNTED, run_tasks, task_run
from isinglass.select.row_labels import Groups, labeled_rows, take_column
from isinglass.select.scoring import failed, warn_of_failed
from isinglass.select.settings import Run
from isinglass.select.task import COLD_START, WarmStart

COPIES = 5
"""Completed copies of every row with missing cells."""
MOST_UNEQUAL = 0.1
"""Largest difference in the share of missing cells of groups that can be compared."""


def compare_groups(
    X: TableLike,
    groups: ArrayLike | str,
    method: MethodLike = None,
    *,
    reselect: bool = False,
    n_permutations: int = 1000,
    paired: ArrayLike | str | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: RandomSource = 0,
    run: Run = Run(),
) -> GroupComparison:
    """Test whether two or more groups of rows have the same network.

    The labels of the rows are shuffled many times and the networks of the shuffled groups compared in the same way as
    those of the real ones.

    Parameters
    ----------
    X : array, data frame, sparse matrix, list of rows or table, shape (n_samples, n_features)
        A 0/1 or categorical table. One that was read with ``missing="impute"`` is imputed once, from one network of all
        rows that ignores the groups; see the notes.
    groups : array-like of shape (n_samples,), or str
        The group of every row; or the name of the column of a data frame that holds the groups (it is then not a node),
        or of one of the ``labels`` that `read_table` kept.
    method : Method, selector, estimator, fit or float, optional
        How a network is estimated, as for `bootstrap`; `TwoStage` by default. IsingFit, the method of R's
        NetworkComparisonTest, is ``Method("nodewise", PerNode(), penalty_weights="standardized")``.
    reselect : bool, default False
        Choose the penalty in every group and again in every permutation. Otherwise it is chosen once, for all rows
        together, and kept. That is many times faster, and as exact, because the choice does not depend on the labels.
    n_permutations : int, default 1000
        Number of permutations. The smallest possible p-value is 1 / (1 + n_permutations).
    paired : array-like of shape (n_samples,) or str, optional
        The subject of every row, for designs in which each subject has one row in every group, such as before and
        after. Labels are then exchanged within subjects.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, as for `bootstrap`. The equal rows of a count are permuted one by one; sampling weights stay with
        their rows, and rows of weight zero are left out.
    random_state, run
        As for `bootstrap`, with permutations instead of resamples.

    Notes
    -----
    The test is exact if rows are exchangeable when the groups have the same network. Rows with sampling weights are if
    the weights have the same distribution in all groups, and incomplete rows if cells go missing in the same way in all
    groups. Groups whose shares of missing cells differ by more than 10 percentage points are refused. Rows without any
    answer are left out, except in paired designs.

    The penalty that is kept is that of all rows times √K for K groups, because a group has about 1/K of the rows; the
    page on groups has the details, and measured levels of the tests.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 600))
    >>> same = rng.random(600) < 0.2
    >>> X = np.column_stack([a, np.where(np.arange(600) < 300, a ^ same, b)])  # joined in the first 300 rows only
    >>> found = compare_groups(X, ["first"] * 300 + ["second"] * 300, 0.02, n_permutations=99, random_state=0)
    >>> found.groups, found.p_structure
    (('first', 'second'), 0.01)
    """
    run.refuse_max_time()
    run.require_seed(random_state)
    count = check_count("n_permutations", n_permutations, most=MOST_TASKS)
    chosen = as_method(method)
    seeds = spawn_seeds(random_state, count)
    frame, group_column = take_column(X, groups, "groups")
    frame, subject_column = take_column(frame, paired, "paired")
    columns = {"groups": group_column} | ({} if subject_column is None else {"paired": subject_column})
    table, labels = labeled_rows(table_for(method, frame, sample_weight), columns)
    sample = _Sample.of(table, labels, chosen.imputation, run)
    _name_constant(sample)
    test = _Test.of(chosen, reselect, sample, run)
    fingerprint = {
        "X": sample.table,
        "groups": sample.groups.member,
        "paired": sample.groups.subject,
        "method": test.method,
        "reselect": reselect,
        "random_state": seeds[0].entropy,  # not n_permutations: a run may be prolonged
        "the networks": np.concatenate([solution.edge_values for solution in test.solutions]),
    }
    work = [(test, seed) for seed in seeds]
    results = run_tasks(_Test.permute, work, "permutations", "Permutations", run=run, fingerprint=fingerprint)
    seed = int(random_state) if isinstance(random_state, int | np.integer) else None
    return _gather(test, results, table, chosen, reselect and not chosen.selector.is_given, seed)


def _gather(
    test: _Test, results: list[Arrays], given: Table, method: Method, reselect: bool, seed: int | None
) -> GroupComparison:
    """Put the differences of all permutations beside those that were observed."""
    null = {name: np.array([result[name] for result in results]) for name in results[0]}
    groups, variables, n_unconverged = test.sample.groups, given.variables, int(null["failed"].sum())
    warn_of_failed(n_unconverged, len(results), "permutations")
    return GroupComparison(
        groups=groups.names,
        n_rows=tuple(map(len, groups.rows)),
        solutions=test.solutions,
        edge_index=pairs_of(test.pairs, test.solutions[0].network.n_features),
        null_structure=null["structure"],
        null_strength=null["strength"],
        null_nodes=null["node"],
        edges_reached=null["edges"].sum(axis=0, dtype=np.int64),
        nodes_reached=null["nodes"].sum(axis=0, dtype=np.int64),
        paired=groups.subject is not None,
        reselect=reselect,
        n_unconverged=n_unconverged,
        method=method,
        stages=test.stages,
        covariates=variables.covariates,
        coding=given.coding.take(np.flatnonzero(variables.is_modeled).tolist()),
        missing=test.sample.missing,
        weight_kind=count_observations(given)[1],
        seed=seed,
    )


@dataclass(frozen=True, eq=False)
class _Sample:
    """The rows that are compared, with the completed copies of those that have missing cells, and their groups."""

    table: Table  # the copies of a row, one after the other
    bounds: NDArray[np.intp]  # where the copies of every row begin, and the end
    groups: Groups
    missing: Missing | None

    @classmethod
    def of(cls, given: Table, labels: Sequence[AnyArray], how: ImputationSettings, run: Run) -> _Sample:
        """Return the rows with weight and an answer one by one, imputed without regard to groups.

        ``labels`` are the groups and, in paired designs, the subjects, whose rows all stay.
        """
        if given.units is not None:
            remedy = "Pass the table with its missing cells, which are imputed here."
            raise DataError(f"{setting('X')} must have every row once; got completed copies of its rows. {remedy}")
        is_paired, missing, counts = len(labels) > 1, Missing.of(given), {}
        rows = given.weighted_rows
        table, rows = (given[rows], rows) if is_paired else one_by_one(given)
        if table.holes is not None:
            kept = np.flatnonzero(~table.holes.all(axis=1))
            n_empty = 0 if is_paired or not len(kept) else len(table) - len(kept)
            table, rows = (table[kept], rows[kept]) if n_empty else (table, rows)
            holes = np.zeros(table.shape, dtype=bool) if table.holes is None else table.holes
            counts = {**Missing.count(holes, n_empty), "n_unlabeled": given.n_unlabeled}
            missing = Missing(treatment="impute", **counts)
        groups = Groups.of(*(each[rows] for each in labels))
        if table.holes is None:
            return cls(table.bare(), np.arange(len(table) + 1), groups, missing)
        _refuse_unequal(table.holes, groups)
        imputation = how.replace(n_imputations=COPIES).complete(table.bare(), run=run)
        origin = np.asarray(imputation.table.rows)
        completed = imputation.table[np.argsort(origin, kind="stable")]
        missing = imputation.record and replace(imputation.record, **counts)
        return cls(completed, np.r_[0, np.cumsum(np.bincount(origin, minlength=len(table)))], groups, missing)

    def take(self, rows: NDArray[np.intp]) -> Table:
        """Return some rows, with all copies of each."""
        counts = np.diff(self.bounds)[rows]
        return self.table[np.repeat(self.bounds[rows], counts) + count_within(counts)]


def _refuse_unequal(holes: Mask, groups: Groups) -> None:
    """Refuse groups that differ much in their share of missing cells.

    Estimates from fewer cells scatter more, and shuffled groups, which all lose the same share, would not show it.
    """
    shares = [float(holes[rows].mean()) for rows in groups.rows]
    if max(shares) - min(shares) > MOST_UNEQUAL:
        each = listed([f"{share:.1%} in {name!r}" for name, share in zip(groups.names, shares, strict=True)])
        raise DataError(
            f"{setting('groups')} must have similar shares of missing cells, within {100 * MOST_UNEQUAL:g} percentage "
            f"points; got {each}. Leave out columns that one group hardly answered, or incomplete rows "
            f"({setting('missing', 'drop')})."
        )


def _name_constant(sample: _Sample) -> None:
    """Warn of columns that do not vary in a group."""
    names = sample.table.names
    for group, rows in zip(sample.groups.names, sample.groups.rows, strict=True):
        counts, variables = category_counts(sample.take(rows).with_weight(None)), sample.table.variables
        constant = np.flatnonzero(~varying_among(counts, variables))
        if len(constant):
            values = [variables.labels[k][int(variables.split(counts)[k].argmax())] for k in constant.tolist()]
            shown = listed([f"{names[k]!r} (always {value})" for k, value in zip(constant, values, strict=True)])
            what = "column" if len(constant) == 1 else "columns"
            lost = "A constant column gets no edges there: do not interpret its differences between groups."
            warn(ConstantColumnWarning(f"constant in group {group!r}: {what} {shown}. {lost}"))


@dataclass(frozen=True, eq=False)
class _Test:
    """What every permutation needs: the rows, how they are fitted, and the differences that were observed."""

    sample: _Sample
    method: Method  # at the penalty of all rows, unless it is chosen again
    run: Run  # of one fit
    solutions: tuple[Solution, ...]  # the network of every group
    warm_starts: tuple[WarmStart, ...]  # where the fits of every group start
    stages: TwoStageRecord | None  # how two stages chose the penalty of all rows
    pairs: NDArray[np.int64]  # keys of the pairs with an edge in a group
    observed: Differing

    @classmethod
    def of(cls, method: Method, reselect: bool, sample: _Sample, run: Run) -> _Test:
        """Fit the groups: by the method itself, or at the penalty that it chooses for all rows together."""
        alone, pooled, stages, groups = run.replace(checkpoint=None), None, None, sample.groups
        with suppress_warnings(ConstantColumnWarning):  # named by group
            if not (reselect or method.selector.is_given):
                subjects = None if groups.subject is None else np.repeat(groups.subject, np.diff(sample.bounds))
                choice = method.choose(sample.table, groups=subjects, run=alone)
                method, pooled = method.at(choice, math.sqrt(len(groups.names))), choice.warm_start
                stages = choice.selection.stages
            choices = [
                method.choose(sample.take(rows), run=alone, warm_start=pooled or COLD_START) for rows in groups.rows
            ]
        names = sample.table.names
        solutions = tuple(choice.solution.with_names(names).without_covariates() for choice in choices)
        networks = [solution.network for solution in solutions]
        starts = tuple(pooled or choice.warm_start for choice in choices)
        inside, pairs = task_run(run), union_keys(networks)
        return cls(sample, method, inside, solutions, starts, stages, pairs, Differing.of(networks))

    def permute(self, seed: SeedSequence) -> Arrays:
        """Return the differences of one permutation, and which edges and nodes reach what was observed."""
        parts = [self.sample.take(rows) for rows in self.sample.groups.shuffle(np.random.default_rng(seed))]
        with suppress_warnings(*COUNTED):
            solutions = [
                self.method.choose(part, run=self.run, warm_start=start).solution.without_covariates()
                for part, start in zip(parts, self.warm_starts, strict=True)
            ]
        differing = Differing.of([solution.network for solution in solutions], self.pairs)
        return {
            "structure": np.asarray(differing.structure),
            "strength": np.asarray(differing.strength),
            "node": differing.nodes.max(),
            "edges": differing.edges >= least_equal(self.observed.edges),
            "nodes": differing.nodes >= least_equal(self.observed.nodes),
            "failed": np.asarray(any(map(failed, solutions))),
        }
