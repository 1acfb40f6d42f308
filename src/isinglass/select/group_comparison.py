"""Whether groups of rows have the same network: permutation tests of structure, strength, edges and nodes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import MOST_TASKS, RandomSource, check_count, spawn_seeds
from isinglass.arrays import AnyArray, Arrays, Mask
from isinglass.data import Table, TableLike, category_counts, which_vary
from isinglass.data.counts import varying_among
from isinglass.errors import ConstantColumnWarning, DataError, DataWarning, listed, setting, suppress_warnings, warn
from isinglass.missing_record import Missing
from isinglass.network import union_keys
from isinglass.pairs import pairs_of
from isinglass.results import Solution
from isinglass.select.folds import one_by_one
from isinglass.select.group_comparison_result import Differing, GroupComparison, least_equal
from isinglass.select.imputation import Imputation, ImputationSettings
from isinglass.select.method import AnyMethod, Method, MethodLike, Wrapped, as_method, table_for
from isinglass.select.parallel import COUNTED, failed, run_tasks, task_run, warn_of_failed
from isinglass.select.row_labels import by_value, labeled_rows, number_labels, take_column
from isinglass.select.settings import Run
from isinglass.select.task import WarmStart
from isinglass.table_summary import count_observations

COPIES = 5
"""Completed copies of every row with missing cells; a function of a table without weights gets one."""
UNEQUAL = 0.05
"""Difference in the share of missing cells up to which groups are compared as they are."""


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
    method : Method, selector, estimator, fit, function or float, optional
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
        Row weights: counts if they are whole numbers, otherwise sampling weights, unless the table was read with
        another ``weight_kind``. The equal rows of a count are permuted one by one; sampling weights stay with their
        rows, and rows of weight zero are left out.
    random_state, run
        As for `bootstrap`, with permutations instead of resamples.

    Notes
    -----
    The penalty that is kept is that of all rows times √K for K groups: a group has about 1/K of the rows, and the noise
    that the penalty has to exceed is inversely proportional to the square root of their number. The penalty of
    stage 2 is divided by the couplings of stage 1, and their noise grows by √K too: it is multiplied by K, or by K^¾
    with the weights 1 / sqrt(abs(coupling)). A penalty given as a number is used as it is.

    The test is exact if the rows are exchangeable when the groups have the same network. Sampling weights are permuted
    with their rows, so they must have the same distribution in all groups: if they are more uneven in one group, its
    estimates vary more, and tests of strength reject too often.

    Where a pair has more than one parameter, the difference of two groups is the norm of the difference of their
    blocks.

    Missing cells are imputed without using the labels. If the groups have the same network and cells go missing in the
    same way in all groups, the rows are exchangeable and the test is exact. If the shares of missing cells differ by
    more than 5 percentage points, cells are deleted in each group by the patterns in which they are missing in the
    others, with a warning; otherwise, tests of strength would reject too often. Imputed cells follow the same network
    in all groups, which makes differences smaller and costs some power. Rows without any answer are left out, except in
    paired designs. In a table that is completed already (``impute(X).table``), the copies of a row change groups
    together.

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
    run.refuse_time_limit()
    run.require_seed(random_state)
    count = check_count("n_permutations", n_permutations, most=MOST_TASKS)
    wanted = as_method(method)
    seeds = spawn_seeds(random_state, count)
    given = GroupedRows.read(X, groups, paired, sample_weight, method)
    rows = given.one_by_one()
    answered = rows.answered()
    thinned = answered.with_equal_holes(np.random.default_rng(seeds[0].spawn(1)[0]))
    how, n_copies = (ImputationSettings(), 1) if isinstance(wanted, Wrapped) else (wanted.imputation, COPIES)
    sample = _Sample.of(thinned.answered(), how.replace(n_imputations=n_copies), run)
    _name_constant(sample)
    test = _Test.of(wanted, reselect, sample, run)
    fingerprint = {
        "X": sample.table,
        "groups": sample.groups.member,
        "paired": sample.groups.subject,
        "method": test.method,
        "reselect": reselect,
        "random_state": seeds[0].entropy,  # not n_permutations: a run may be prolonged
        # A function is known by its name only.
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
        method=wanted if isinstance(wanted, Method) else None,
        covariates=variables.covariates,
        coding=given.table.coding.take(np.flatnonzero(variables.is_modeled).tolist()),
        missing=_missing(given, rows, answered, sample),
        n_deleted=thinned.table.n_missing - answered.table.n_missing,
        weight_kind=count_observations(given.table)[1],
        seed=int(random_state) if isinstance(random_state, int | np.integer) else None,
    )


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """Rows with their groups and, in paired designs, their subjects."""

    table: Table
    labels: AnyArray  # the group of every row
    subjects: AnyArray | None  # whose row it is; None: groups are independent

    @classmethod
    def read(
        cls,
        X: TableLike,
        groups: ArrayLike | str,
        paired: ArrayLike | str | None,
        sample_weight: ArrayLike | None,
        method: MethodLike,
    ) -> GroupedRows:
        """Read a table, its groups and its subjects, each of which may be named as a column of X."""
        frame, group_column = take_column(X, groups, "groups")
        frame, subject_column = take_column(frame, paired, "paired")
        columns = {"groups": group_column, **({} if subject_column is None else {"paired": subject_column})}
        table, marks = labeled_rows(table_for(method, frame, sample_weight), columns)
        return cls(table, marks[0], marks[1] if len(marks) > 1 else None)

    @property
    def groups(self) -> Groups:
        """The groups, checked."""
        return Groups.of(self.labels, self.subjects)

    def take(self, rows: NDArray[np.intp]) -> GroupedRows:
        """Return some of the rows."""
        return GroupedRows(self.table[rows], self.labels[rows], None if self.subjects is None else self.subjects[rows])

    def one_by_one(self) -> GroupedRows:
        """Return the rows with a weight, the equal rows of a count one by one, unless each has a subject."""
        if self.subjects is not None:
            return self.take(self.table.weighted_rows)
        table, rows = one_by_one(self.table)
        return GroupedRows(table, self.labels[rows], None)

    def answered(self) -> GroupedRows:
        """Return the rows with an answer; in paired designs all."""
        holes = self.table.holes
        if self.subjects is not None or holes is None or holes.all() or not (empty := holes.all(axis=1)).any():
            return self
        return self.take(np.flatnonzero(~empty))

    def with_equal_holes(self, rng: Generator) -> GroupedRows:
        """Return the table with further cells deleted if the groups differ much in their share of missing cells.

        Estimates from fewer cells scatter more: shuffled groups, which all lose the same share, would not show what
        such groups differ by. Each row also gets the missing cells of a random row from every other group (paired: of
        the same subject's other rows).
        """
        table = self.table
        if table.holes is None:
            return self
        groups = self.groups
        shares = [float(table.holes[rows].mean()) for rows in groups.rows]
        if max(shares) - min(shares) <= UNEQUAL:
            return self
        holes = table.holes.copy()
        for own in groups.rows:
            for other in groups.rows:
                if other is not own:
                    holes[own] |= table.holes[other if groups.subject is not None else rng.choice(other, len(own))]
        empty = "" if groups.subject is not None else ", and rows without an answer are left out"
        by_group = ", ".join(f"{share:.1%} in {name!r}" for name, share in zip(groups.names, shares, strict=True))
        warn(
            DataWarning(
                f"the groups differ in their share of missing cells ({by_group}). To keep the level of the tests, "
                "cells were deleted in each group by the patterns in which they are missing in the others; "
                f"{holes.mean():.1%} of all cells are now missing{empty}. Consider leaving out columns that one group "
                "hardly answered."
            )
        )
        return replace(self, table=replace(table, holes=holes, n_missing=int(holes.sum())))


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups, their rows, and how rows may change places."""

    names: tuple[str, ...]
    member: NDArray[np.intp]  # the group of every row, as a number
    subject: NDArray[np.intp] | None  # whose row it is, where labels are exchanged within subjects
    rows: list[NDArray[np.intp]]  # the rows of every group; of the same subjects in the same order if there are any

    @classmethod
    def of(cls, labels: AnyArray, subjects: AnyArray | None) -> Groups:
        """Check the labels: at least two groups, none of one row, every subject once in each."""
        names = sorted(set(labels), key=by_value)
        member = number_labels(labels, names)
        sizes = np.bincount(member)
        if len(names) < 2:
            raise DataError(
                f"{setting('groups')} must name at least two groups; got {names[0]!r} in all {len(labels)} rows."
            )
        if sizes.min() < 2:
            single = listed([repr(name) for name, size in zip(names, sizes, strict=True) if size < 2])
            raise DataError(
                f"{setting('groups')} must have at least two rows each; got one row in {single}. Merge groups or leave "
                "the row out."
            )
        if subjects is None:
            return cls(tuple(names), member, None, [np.flatnonzero(member == k) for k in range(len(names))])
        persons = list(dict.fromkeys(subjects))  # whatever they are called
        subject = number_labels(subjects, persons)
        counts = np.zeros((len(persons), len(names)), dtype=np.intp)
        np.add.at(counts, (subject, member), 1)
        wrong = np.flatnonzero((counts != 1).any(axis=1))
        if len(wrong):
            have = "has" if len(wrong) == 1 else "have"
            raise DataError(
                f"{setting('paired')} must name subjects with one row in every group; {len(wrong)} of {len(persons)} "
                f"subjects {have} more or fewer: {listed([repr(persons[k]) for k in wrong])}. Leave these out, or "
                f"leave out {setting('paired')} to compare independent groups."
            )
        order = np.argsort(subject, kind="stable")
        return cls(tuple(names), member, subject, [order[member[order] == k] for k in range(len(names))])

    def shuffle(self, rng: Generator) -> list[NDArray[np.intp]]:
        """Return the rows of every group with labels exchanged, among all rows or within subjects."""
        if self.subject is not None:
            return list(rng.permuted(np.column_stack(self.rows), axis=1).T)
        sizes = [len(rows) for rows in self.rows]
        shuffled = rng.permutation(len(self.member))
        return [np.sort(part) for part in np.split(shuffled, np.cumsum(sizes)[:-1])]


@dataclass(frozen=True, eq=False)
class _Sample:
    """The rows that are compared, with the completed copies of those that have holes, and their groups."""

    table: Table  # the rows; or a completed table in the order of the original rows
    groups: Groups
    origin: NDArray[np.intp] | None = None  # the row that each row of a completed table is a copy of
    imputation: Imputation | None = None  # by which it was completed here

    @classmethod
    def of(cls, rows: GroupedRows, how: ImputationSettings, run: Run) -> _Sample:
        """Impute the rows without regard to groups."""
        table, units = rows.table, rows.table.units
        if table.holes is not None:
            groups, imputation = rows.groups, how.complete(table.bare(), run=run)
            completed = imputation.table[np.argsort(np.asarray(imputation.table.rows), kind="stable")]
            return cls(completed, groups, completed.rows, imputation)
        if units is None:
            return cls(table.bare(), rows.groups)
        originals, first, origin = np.unique(units, return_index=True, return_inverse=True)
        split = originals[np.unique(origin[rows.labels != rows.labels[first][origin]])]
        if len(split):
            raise DataError(
                f"groups must be the same for all copies of a row; got others in {len(split)} of {len(originals)} rows "
                f"(rows {listed(split.tolist())}, counted from 0). Pass the group of every original row."
            )
        order = np.argsort(origin, kind="stable")
        return cls(table[order].bare(origin[order]), rows.take(first).groups, origin[order])

    def take(self, rows: NDArray[np.intp]) -> Table:
        """Return some rows, with all copies of each."""
        if self.origin is None:
            return self.table[rows].bare()
        first, end = (np.searchsorted(self.origin, rows, side) for side in ("left", "right"))
        return self.table[np.concatenate([np.arange(a, b) for a, b in zip(first.tolist(), end.tolist(), strict=True)])]


def _missing(given: GroupedRows, rows: GroupedRows, answered: GroupedRows, sample: _Sample) -> Missing | None:
    """Return which cells were missing before others were deleted, and how they were imputed."""
    if rows.table.holes is None:
        return Missing.of(given.table)
    holes = np.zeros(answered.table.shape, dtype=bool) if answered.table.holes is None else answered.table.holes
    counts = Missing.count(holes, len(rows.table) - len(answered.table))
    counts["n_unlabeled"] = given.table.n_unlabeled
    record = None if sample.imputation is None else sample.imputation.record
    return Missing(treatment="impute", **counts) if record is None else replace(record, **counts)


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
    method: AnyMethod  # at the penalty of all rows, unless it is chosen again
    run: Run  # of one fit
    solutions: tuple[Solution, ...]  # the network of every group
    warm_starts: tuple[WarmStart, ...]  # where the fits of every group start
    pairs: NDArray[np.int64]  # keys of the pairs with an edge in a group
    observed: Differing

    @classmethod
    def of(cls, method: AnyMethod, reselect: bool, sample: _Sample, run: Run) -> _Test:
        """Fit the groups: by the method itself, or at the penalty that it chooses for all rows together."""
        alone, pooled, groups = run.replace(checkpoint=None), None, sample.groups
        with suppress_warnings(ConstantColumnWarning):  # named by group
            if not (reselect or (isinstance(method, Method) and method.selector.is_given)):
                subject, origin = groups.subject, sample.origin
                subjects = subject if subject is None or origin is None else subject[origin]
                choice = method.choose(sample.take(np.arange(len(groups.member))), groups=subjects, run=alone)
                method, pooled = method.at(choice, math.sqrt(len(groups.names))), choice.warm_start
            choices = [method.choose(sample.take(rows), run=alone, warm_start=pooled) for rows in groups.rows]
        names = sample.table.names
        solutions = tuple(choice.solution.with_names(names).without_covariates() for choice in choices)
        networks = [solution.network for solution in solutions]
        starts = tuple(pooled or choice.warm_start for choice in choices)
        return cls(sample, method, task_run(run), solutions, starts, union_keys(networks), Differing.of(networks))

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
