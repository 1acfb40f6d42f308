"""Whether groups of rows have the same network: permutation tests of structure, strength, edges and nodes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import narwhals as nw
import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import MOST_TASKS, RandomSource, check_count, spawn_seeds
from isinglass.arrays import AnyArray, Arrays
from isinglass.data import Table, TableLike, which_vary
from isinglass.data.source import is_missing
from isinglass.errors import (
    ArgumentError,
    ConstantColumnWarning,
    ConvergenceWarning,
    DataError,
    DataWarning,
    listed,
    setting,
    suppress_warnings,
    warn,
)
from isinglass.network import union_keys
from isinglass.pairs import pairs_of
from isinglass.results import Missing, Solution
from isinglass.select.folds import has_counts, repeated
from isinglass.select.group_comparison_result import Differing, GroupComparison, reaches
from isinglass.select.method import (
    COUNTED,
    AnyMethod,
    ImputationSettings,
    Method,
    MethodLike,
    Wrapped,
    as_method,
    failed,
    read_for,
)
from isinglass.select.parallel import kernel_threads, run_tasks
from isinglass.select.settings import Run
from isinglass.select.task import WarmStart

LARGEST_BLOCK, CELLS_PER_BLOCK = 25, 500_000
"""Permutations in one task where the penalty is kept, and cells of the table times permutations."""
UNEQUAL = 0.05
"""Difference in the share of missing cells up to which groups are compared as they are."""
COPIES = 5
"""Completed copies of every row with missing cells; a function of a table without weights gets one."""
_SHOWN = 5  # columns, rows or subjects named in a message


def compare_groups(
    X: TableLike,
    groups: ArrayLike | str,
    method: MethodLike = None,
    *,
    reselect: bool = False,
    n_permutations: int = 1000,
    paired: ArrayLike | str | None = None,
    impute_by_group: bool = False,
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
        together, and kept. That is many times faster, and the test is still exact, because the choice does not depend
        on the labels.
    n_permutations : int, default 1000
        Number of permutations. The smallest possible p-value is 1 / (1 + n_permutations).
    paired : array-like of shape (n_samples,) or str, optional
        The subject of every row, for designs in which each subject has one row in every group, such as before and
        after. Labels are then exchanged within subjects.
    impute_by_group : bool, default False
        Impute each group separately, and again in every permutation.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights: counts if they are whole numbers, otherwise sampling weights, unless the table was read with
        another ``weight_kind``. The equal rows of a count are permuted one by one; sampling weights stay with their
        rows.
    random_state, run
        As for `bootstrap`, with permutations instead of resamples.

    Notes
    -----
    The penalty that is kept is that of all rows times √K for K groups: a group has about 1/K of the rows, and the noise
    that the penalty has to exceed is inversely proportional to the square root of their number. A penalty given as a
    number is used as it is.

    Missing cells are imputed without using the labels. If the groups have the same network and cells go missing in the
    same way in all groups, the rows are exchangeable and the test is exact. If the shares of missing cells differ by
    more than 5 percentage points, cells are deleted in each group by the patterns in which they are missing in the
    others, with a warning; otherwise, tests of strength would reject too often. Imputed cells follow the same network
    in all groups, which makes differences smaller and costs some power. ``impute_by_group=True`` is exact as well, and
    many times slower. Rows without any answer are left out, except in paired designs. In a table that is completed
    already (``impute(X).table``), the copies of a row change groups together.

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
    count = check_count("n_permutations", n_permutations, most=MOST_TASKS)
    wanted = as_method(method)
    seeds = spawn_seeds(random_state, count + LARGEST_BLOCK)
    data, plan, missing, weight_kind = _read_groups(X, groups, paired, sample_weight, method)
    n_missing = data.n_missing
    data = _lose_cells_alike(data, plan, np.random.default_rng(seeds[0].spawn(1)[0]))
    n_deleted = data.n_missing - n_missing
    n_copies = 1 if isinstance(wanted, Wrapped) else COPIES
    sample = _Sample.of(data, impute_by_group, n_copies)
    names = data.names
    _name_constant(names, sample, plan)
    with suppress_warnings(ConstantColumnWarning):  # named by group above
        alone = run.replace(checkpoint=None)
        again, warm_start = _method_inside(wanted, reselect, sample, plan, alone)
        choices = [again.choose(sample.take(rows), run=alone, warm_start=warm_start) for rows in plan.rows]
        solutions = tuple(choice.solution.with_names(names).without_covariates() for choice in choices)
    networks = [solution.network for solution in solutions]
    keys, observed = union_keys(networks), Differing.of(networks)
    size = 1 if reselect else max(1, min(LARGEST_BLOCK, CELLS_PER_BLOCK // math.prod(sample.table.shape)))
    fingerprint = {
        "X": sample.table,
        "groups": plan.member,
        "paired": plan.subject,
        "method": again,
        "reselect": reselect,
        "random_state": seeds[0].entropy,  # not n_permutations: a run may be prolonged
        # A function is known by its name only.
        "the networks": np.concatenate([solution.edge_values for solution in solutions]),
    }
    inside = run.inside(kernel_threads(run.n_jobs))
    warm_starts = [warm_start or choice.warm_start for choice in choices]
    shared = (sample, plan, again, warm_starts, inside, keys, observed)
    work = [(*shared, seeds[k : k + size]) for k in range(0, count, size)]
    results = run_tasks(_permute, work, "permutations", "Permutations", run=run, fingerprint=fingerprint)
    found = _gather(plan, solutions, pairs_of(keys, networks[0].n_features), results, count, reselect)
    return replace(
        found,
        method=wanted if isinstance(wanted, Method) else None,
        covariates=data.variables.covariates,
        coding=data.coding.take(np.flatnonzero(data.variables.is_modelled).tolist()),
        missing=missing and replace(missing, n_imputations=n_copies if missing.treatment == "impute" else 0),
        imputed_by_group=impute_by_group,
        n_deleted=n_deleted,
        weight_kind=weight_kind,
        seed=int(random_state) if isinstance(random_state, int | np.integer) else None,
    )


def _read_groups(
    X: TableLike,
    groups: ArrayLike | str,
    paired: ArrayLike | str | None,
    sample_weight: ArrayLike | None,
    method: MethodLike,
) -> tuple[Table, _Plan, Missing | None, str | None]:
    """Return the table with its weights, who is in which group, what was missing, and what the weights are.

    Rows without any answer are left out.
    """
    frame, labels = _take_column(X, groups, "groups")
    frame, subjects = _take_column(frame, paired, "paired")
    data = read_for(method, frame, sample_weight)
    missing, weight_kind = Missing.of(data), data.weight_kind
    if data.holes is not None:
        n_empty = 0 if subjects is not None else int(data.holes.all(axis=1).sum())
        missing = Missing(treatment="impute", n_left_out=n_empty, **Missing.count(data.holes))
    members = _entries("groups", labels, data)
    pairs = None if subjects is None else _entries("paired", subjects, data)
    if data.units is not None and data.holes is None:
        known, first, row = np.unique(data.units, return_index=True, return_inverse=True)
        split = known[np.unique(row[members != members[first][row]])]
        if len(split):
            raise DataError(
                f"groups must be the same for all copies of a row; got others in {len(split)} of {len(known)} rows "
                f"({listed([str(number) for number in split])}, counted from 0). Pass the group of every original row."
            )
        order = np.argsort(row, kind="stable")
        data, members = data[order].bare(row[order]), members[first]
        pairs = None if pairs is None else pairs[first]
    if pairs is not None:
        return data, _Plan.of(members, pairs), missing, weight_kind
    if data.holes is not None and not data.holes.all():
        answered = np.flatnonzero(~data.holes.all(axis=1))
        data, members = data[answered], members[answered]
    if has_counts(data):
        data, rows = repeated(data)
        members = members[rows]
    return data, _Plan.of(members, None), missing, weight_kind


def _lose_cells_alike(data: Table, plan: _Plan, rng: Generator) -> Table:
    """Return the table with further cells deleted if the groups differ much in their share of missing cells.

    Estimates from fewer cells scatter more: shuffled groups, which all lose the same share, would not show what such
    groups differ by. Each row also gets the missing cells of a random row from every other group (paired: of the same
    subject's other rows).
    """
    if data.holes is None:
        return data
    before = [float(data.holes[rows].mean()) for rows in plan.rows]
    if max(before) - min(before) <= UNEQUAL:
        return data
    holes = data.holes.copy()
    for own in plan.rows:
        for other in plan.rows:
            if other is not own:
                holes[own] |= data.holes[other if plan.subject is not None else rng.choice(other, len(own))]
    shares = ", ".join(f"{share:.1%} in {group!r}" for group, share in zip(plan.groups, before, strict=True))
    warn(
        DataWarning(
            f"the groups differ in their share of missing cells ({shares}). To keep the level of the tests, "
            "cells were deleted in each group by the patterns in which they are missing in the others; "
            f"{holes.mean():.1%} of all cells are now missing. Consider leaving out columns that one group hardly "
            "answered."
        )
    )
    return replace(data, holes=holes, n_missing=int(holes.sum()))


def _take_column(X: TableLike, groups: ArrayLike | str | None, argument: str) -> tuple[TableLike, ArrayLike | None]:
    """Return the table and the labels; a name takes that column out of a data frame."""
    if not isinstance(groups, str):
        return X, groups
    if isinstance(X, Table) and groups in X.labels:
        return X, X.labels[groups]
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or groups not in frame.columns:
        raise ArgumentError(argument, "must have one entry per row, or be the name of a column of a data frame", groups)
    return frame.drop(groups).to_native(), frame[groups].to_list()


def _entries(name: str, given: object, data: Table) -> AnyArray:
    """Return one label per row of the table, none missing; labels of dropped rows are left out."""
    entries = list(given) if hasattr(given, "__iter__") and not isinstance(given, str | bytes) else None
    if entries is not None and len(entries) != len(data) and data.rows is not None and len(entries) > data.rows.max():
        entries = [entries[row] for row in data.rows]
    if entries is None or len(entries) != len(data):
        got = repr(given) if entries is None else f"{len(entries)} entries"
        raise DataError(f"{name} must have one entry per row ({len(data)}); got {got}.")
    is_blank = [is_missing(entry) or (isinstance(entry, str) and not entry.strip()) for entry in entries]
    missing = np.flatnonzero(is_blank).tolist()
    if missing:
        shown = ", ".join(map(str, missing[:_SHOWN])) + (", …" if len(missing) > _SHOWN else "")
        raise DataError(
            f"{name} must have an entry for every row; got none in {len(missing)} of {len(entries)} rows ({shown}, "
            "counted from 0). Leave these rows out."
        )
    text = {label: _text(label) for label in entries}
    if len(set(text.values())) < len(text):
        raise DataError(f"{name} must be labels that differ as text; got {', '.join(map(repr, list(text)[:_SHOWN]))}.")
    return np.array([text[label] for label in entries], dtype=object)


def _text(label: object) -> str:
    return str(int(label)) if isinstance(label, float | np.floating) and label == int(label) else str(label)


@dataclass(frozen=True, eq=False)
class _Plan:
    """The groups, their rows, and how rows may change places."""

    groups: tuple[str, ...]  # the groups
    member: NDArray[np.intp]  # the group of every row, as a number
    subject: NDArray[np.intp] | None  # whose row it is, where labels are exchanged within subjects
    rows: list[NDArray[np.intp]]  # the rows of every group; of the same subjects in the same order if there are any

    @classmethod
    def of(cls, labels: AnyArray, subjects: AnyArray | None) -> _Plan:
        """Check the labels: at least two groups, none of one row, every subject once in each."""
        member, groups = _number(labels, sorted(set(labels), key=_by_value))
        sizes = np.bincount(member)
        if len(groups) < 2:
            raise DataError(f"groups must name at least two groups; got {groups[0]!r} in all {len(labels)} rows.")
        if sizes.min() < 2:
            single = ", ".join(repr(group) for group, size in zip(groups, sizes, strict=True) if size < 2)
            raise DataError(
                f"groups must have at least two rows each; got one row in {single}. Merge groups or leave the row out."
            )
        if subjects is None:
            return cls(groups, member, None, [np.flatnonzero(member == k) for k in range(len(groups))])
        subject, known = _number(subjects, list(dict.fromkeys(subjects)))  # whatever they are called
        counts = np.zeros((len(known), len(groups)), dtype=np.intp)
        np.add.at(counts, (subject, member), 1)
        wrong = np.flatnonzero((counts != 1).any(axis=1))
        if len(wrong):
            shown = ", ".join(repr(known[k]) for k in wrong[:_SHOWN]) + (", …" if len(wrong) > _SHOWN else "")
            raise DataError(
                f"paired must name subjects with one row in every group; got others in {len(wrong)} of {len(known)}: "
                f"{shown}. Leave these out, or leave paired out to compare independent groups."
            )
        order = np.argsort(subject, kind="stable")
        return cls(groups, member, subject, [order[member[order] == k] for k in range(len(groups))])

    def shuffle(self, rng: Generator) -> list[NDArray[np.intp]]:
        """Return the rows of every group with labels exchanged, among all rows or within subjects."""
        if self.subject is not None:
            return list(rng.permuted(np.column_stack(self.rows), axis=1).T)
        sizes = [len(rows) for rows in self.rows]
        shuffled = rng.permutation(len(self.member))
        return [np.sort(part) for part in np.split(shuffled, np.cumsum(sizes)[:-1])]


def _number(labels: AnyArray, known: Sequence[str]) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    place = {label: k for k, label in enumerate(known)}
    return np.array([place[label] for label in labels], dtype=np.intp), tuple(known)


def _by_value(label: str) -> tuple[float, str]:
    """Order numbers as numbers and the rest as text behind them."""
    try:
        return float(label), label
    except ValueError:
        return math.inf, label


def _name_constant(names: Sequence[str], sample: _Sample, plan: _Plan) -> None:
    """Warn of columns that do not vary in a group."""
    for group, rows in zip(plan.groups, plan.rows, strict=True):
        some = sample.take(rows)
        constant = np.flatnonzero(~which_vary(some.with_weight(None)))
        labels, first = some.variables.labels, some.codes[0]
        if len(constant):
            shown = listed([f"{names[k]!r} (always {labels[k][first[k]]})" for k in constant.tolist()])
            lost = "It gets no edges there: do not interpret its differences between groups."
            warn(ConstantColumnWarning(f"constant in group {group!r}: column {shown}. {lost}"))


@dataclass(frozen=True, eq=False)
class _Sample:
    """The rows that are compared, with the completed copies of those that have holes."""

    table: Table  # the rows; or a completed table in the order of the original rows
    origin: NDArray[np.intp] | None = None  # the row that each row of a completed table is a copy of

    @classmethod
    def of(cls, data: Table, impute_by_group: bool, n_copies: int) -> _Sample:
        """Return the rows of a table, imputed without regard to groups unless every group is to be imputed itself."""
        if data.holes is None and data.units is not None:
            return cls(data, data.units)
        if data.holes is None or impute_by_group:
            return cls(data.bare())
        table = ImputationSettings(n_imputations=n_copies).complete(data.bare()).table
        table = table[np.argsort(np.asarray(table.rows), kind="stable")]
        return cls(table, table.rows)

    def take(self, rows: NDArray[np.intp]) -> Table:
        """Return some rows, with all copies of each."""
        if self.origin is None:
            return self.table[rows].bare()
        first, end = (np.searchsorted(self.origin, rows, side) for side in ("left", "right"))
        return self.table[np.concatenate([np.arange(a, b) for a, b in zip(first.tolist(), end.tolist(), strict=True)])]


def _method_inside(
    method: AnyMethod, reselect: bool, sample: _Sample, plan: _Plan, run: Run
) -> tuple[AnyMethod, WarmStart | None]:
    """Return what is run on every group: the method, or the method at the penalty of all rows together, from there."""
    if reselect or (isinstance(method, Method) and method.selector.is_given):
        return method, None
    subjects = plan.subject if plan.subject is None or sample.origin is None else plan.subject[sample.origin]
    pooled = method.choose(sample.take(np.arange(len(plan.member))), groups=subjects, run=run)
    return method.at(pooled, math.sqrt(len(plan.groups))), pooled.warm_start


def _permute(
    sample: _Sample,
    plan: _Plan,
    method: AnyMethod,
    warm_starts: Sequence[WarmStart],
    run: Run,
    keys: NDArray[np.int64],
    observed: Differing,
    seeds: Sequence[SeedSequence],
) -> Arrays:
    """Return the differences of some permutations, and which edges and nodes reach what was observed, as bits."""
    varies = which_vary(sample.table.with_weight(None))
    found = []
    for seed in seeds:
        parts = [sample.take(rows) for rows in plan.shuffle(np.random.default_rng(seed))]
        constant = any((varies & ~which_vary(part.with_weight(None))).any() for part in parts)
        with suppress_warnings(*COUNTED):
            solutions = [
                method.choose(part, run=run, warm_start=start).solution.without_covariates()
                for part, start in zip(parts, warm_starts, strict=True)
            ]
        differing = Differing.of([solution.network for solution in solutions], keys)
        found.append(
            {
                "structure": differing.structure,
                "strength": differing.strength,
                "nodes": differing.nodes.max(),
                "edge_bits": np.packbits(reaches(differing.edges, observed.edges)),
                "node_bits": np.packbits(reaches(differing.nodes, observed.nodes)),
                "constant": constant,
                "failed": any(map(failed, solutions)),
            }
        )
    return {name: np.array([one[name] for one in found]) for name in found[0]}


def _gather(
    plan: _Plan,
    solutions: tuple[Solution, ...],
    pairs: NDArray[np.int32],
    results: list[Arrays],
    count: int,
    reselect: bool,
) -> GroupComparison:
    """Put the permutations together: the last task may have run a few more than were asked for."""
    whole = {name: np.concatenate([result[name] for result in results])[:count] for name in results[0]}
    n_failed = int(whole["failed"].sum())
    if n_failed:
        lost = f"{n_failed} of {count} permutations did not reach the tolerance"
        warn(ConvergenceWarning(f"{lost}. Raise {setting('max_iter')} or {setting('tol')}."))
    sizes = {"edge_bits": len(pairs), "node_bits": solutions[0].n_features}
    edges, nodes = (np.unpackbits(whole[k], axis=1, count=n).sum(axis=0, dtype=np.int64) for k, n in sizes.items())
    return GroupComparison(
        groups=plan.groups,
        n_rows=tuple(len(rows) for rows in plan.rows),
        solutions=solutions,
        edge_index=pairs,
        null_structure=whole["structure"],
        null_strength=whole["strength"],
        null_nodes=whole["nodes"],
        edges_reached=edges,
        nodes_reached=nodes,
        paired=plan.subject is not None,
        reselect=reselect,
        n_constant=int(whole["constant"].sum()),
        n_unconverged=n_failed,
    )
