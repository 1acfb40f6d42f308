"""Whether groups of rows have the same network: permutation tests of structure, strength, edges and nodes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import MOST_TASKS, RandomSource, check_count, spawn_seeds
from isinglass.arrays import Arrays, Mask, count_within
from isinglass.coupling_graph import union_keys
from isinglass.data import Table, TableLike, category_counts, which_vary
from isinglass.data.counts import varying_among
from isinglass.errors import ConstantColumnWarning, DataError, listed, suppress_warnings, warn
from isinglass.pairs import pairs_of
from isinglass.records import Missing, TwoStageRecord, count_observations
from isinglass.results import Solution
from isinglass.select.group_comparison_result import Differing, GroupComparison, least_equal
from isinglass.select.grouped_rows import GroupedRows, Groups
from isinglass.select.imputation import ImputationSettings
from isinglass.select.method import Method, MethodLike, as_method
from isinglass.select.parallel import COUNTED, run_tasks, task_run
from isinglass.select.run import Run
from isinglass.select.scoring import failed, warn_of_failed
from isinglass.select.task import WarmStart

COPIES = 5
"""Completed copies of every row with missing cells."""


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
    groups. If the shares of missing cells differ by more than 5 percentage points, cells are deleted in each group by
    the patterns in which they are missing in the others, with a warning. Rows without any answer are left out, except
    in paired designs. In a table that is completed already (``impute(X).table``), the copies of a row change groups
    together.

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
    run.check_for_many(random_state)
    count = check_count("n_permutations", n_permutations, most=MOST_TASKS)
    wanted = as_method(method)
    seeds = spawn_seeds(random_state, count)
    given = GroupedRows.read(X, groups, paired, sample_weight, method)
    sample, missing, n_deleted = _prepare(given, wanted, seeds[0].spawn(1)[0], run)
    _name_constant(sample)
    test = _Test.of(wanted, reselect, sample, run)
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
    null = {name: np.array([result[name] for result in results]) for name in results[0]}
    n_unconverged = int(null["failed"].sum())
    warn_of_failed(n_unconverged, count, "permutations")
    variables, n_nodes = given.table.variables, test.solutions[0].network.n_features
    return GroupComparison(
        groups=sample.groups.names,
        n_rows=tuple(map(len, sample.groups.rows)),
        solutions=test.solutions,
        edge_index=pairs_of(test.pairs, n_nodes),
        null_structure=null["structure"],
        null_strength=null["strength"],
        null_nodes=null["node"],
        edges_reached=null["edges"].sum(axis=0, dtype=np.int64),
        nodes_reached=null["nodes"].sum(axis=0, dtype=np.int64),
        paired=sample.groups.subject is not None,
        reselect=reselect,
        n_constant=int(null["constant"].sum()),
        n_unconverged=n_unconverged,
        method=wanted,
        stages=test.stages,
        covariates=variables.covariates,
        coding=given.table.coding.take(np.flatnonzero(variables.is_modeled).tolist()),
        missing=missing,
        n_deleted=n_deleted,
        weight_kind=count_observations(given.table)[1],
        seed=int(random_state) if isinstance(random_state, int | np.integer) else None,
    )


@dataclass(frozen=True, eq=False)
class _Sample:
    """The rows that are compared, with all completed copies of each, and their groups."""

    table: Table  # in the order of the rows
    origin: NDArray[np.intp]  # the row that each row of the table is, or is a copy of
    groups: Groups
    imputed: Missing | None = None  # the record of the imputation by which it was completed here

    @classmethod
    def of(cls, rows: GroupedRows, settings: ImputationSettings, run: Run) -> _Sample:
        """Impute the rows without regard to groups."""
        table, units = rows.table, rows.table.units
        if table.holes is not None:
            groups, imputation = rows.groups, settings.complete(table.bare(), run=run)
            completed = imputation.table[np.argsort(np.asarray(imputation.table.rows), kind="stable")]
            return cls(completed, np.asarray(completed.rows), groups, imputation.record)
        if units is None:
            return cls(table.bare(), np.arange(len(table)), rows.groups)
        originals, first, origin = np.unique(units, return_index=True, return_inverse=True)
        split = originals[np.unique(origin[rows.labels != rows.labels[first][origin]])]
        if len(split):
            raise DataError(
                f"groups must be the same for all copies of a row; got others in {len(split)} of {len(originals)} rows "
                f"(rows {listed(split.tolist())}, counted from 0). Pass the group of every original row."
            )
        order = np.argsort(origin, kind="stable")
        return cls(table[order].bare(origin[order]), origin[order], rows.take(first).groups)

    def take(self, rows: NDArray[np.intp]) -> Table:
        """Return some rows, with all copies of each."""
        counts = np.diff(self._bounds)[rows]
        return self.table[np.repeat(self._bounds[rows], counts) + count_within(counts)]

    @cached_property
    def _bounds(self) -> NDArray[np.intp]:
        """Where the copies of every row begin, and the end."""
        return np.searchsorted(self.origin, np.arange(len(self.groups.member) + 1))


def _prepare(given: GroupedRows, method: Method, seed: SeedSequence, run: Run) -> tuple[_Sample, Missing | None, int]:
    """Leave out rows that say nothing, let groups miss the same share of cells, and impute these.

    Also return which cells were missing before others were deleted, and how many were deleted.
    """
    rows = given.one_by_one()
    answered = rows.answered()
    thinned = answered.with_equal_holes(np.random.default_rng(seed))
    sample = _Sample.of(thinned.answered(), method.imputation.replace(n_imputations=COPIES), run)
    n_deleted = thinned.table.n_missing - answered.table.n_missing
    if rows.table.holes is None:
        return sample, Missing.of(given.table), n_deleted
    holes = np.zeros(answered.table.shape, dtype=bool) if answered.table.holes is None else answered.table.holes
    counts = {**Missing.count(holes, len(rows.table) - len(answered.table)), "n_unlabeled": given.table.n_unlabeled}
    missing = Missing(treatment="impute", **counts) if sample.imputed is None else replace(sample.imputed, **counts)
    return sample, missing, n_deleted


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
            if not (reselect or (isinstance(method, Method) and method.selector.is_given)):
                subjects = None if groups.subject is None else groups.subject[sample.origin]
                choice = method.choose(sample.table, groups=subjects, run=alone)
                method, pooled = method.at(choice, math.sqrt(len(groups.names))), choice.warm_start
                stages = choice.two_stage_record
            choices = [method.choose(sample.take(rows), run=alone, warm_start=pooled) for rows in groups.rows]
        names = sample.table.names
        solutions = tuple(choice.solution.with_names(names).without_covariates() for choice in choices)
        networks = [solution.network for solution in solutions]
        starts = tuple(pooled or choice.warm_start for choice in choices)
        inside, pairs = task_run(run), union_keys(networks)
        return cls(sample, method, inside, solutions, starts, stages, pairs, Differing.of(networks))

    @cached_property
    def _varies(self) -> Mask:
        return which_vary(self.sample.table.with_weight(None))

    def permute(self, seed: SeedSequence) -> Arrays:
        """Return the differences of one permutation, and which edges and nodes reach what was observed."""
        parts = [self.sample.take(rows) for rows in self.sample.groups.shuffle(np.random.default_rng(seed))]
        became_constant = [self._varies & ~which_vary(part.with_weight(None)) for part in parts]
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
            "constant": np.any(became_constant),
            "failed": np.asarray(any(map(failed, solutions))),
        }
