"""Rows in groups: which group every row belongs to, and how rows may change groups in a permutation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import AnyArray
from isinglass.data import Table, TableLike
from isinglass.errors import DataError, DataWarning, listed, setting, warn
from isinglass.missing_record import Missing
from isinglass.select.any_method import MethodLike, table_for
from isinglass.select.folds import one_by_one
from isinglass.select.row_labels import by_value, label_rows, number_labels, take_column

UNEQUAL = 0.05
"""Difference in the share of missing cells up to which groups are compared as they are."""


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
class GroupedTable:
    """A table whose rows belong to groups; rows without any answer are left out, except in paired designs."""

    table: Table  # with its weights; the equal rows of a count one by one
    groups: Groups
    missing: Missing | None  # which cells were missing
    weight_kind: str | None  # what the weights stood for
    n_deleted: int = 0  # cells deleted so that all groups miss the same share

    @classmethod
    def read(
        cls,
        X: TableLike,
        groups: ArrayLike | str,
        paired: ArrayLike | str | None,
        sample_weight: ArrayLike | None,
        method: MethodLike,
    ) -> GroupedTable:
        """Read a table, its groups and its subjects, each of which may be named as a column of X."""
        frame, group_column = take_column(X, groups, "groups")
        frame, subject_column = take_column(frame, paired, "paired")
        table = table_for(method, frame, sample_weight)
        missing, weight_kind = Missing.of(table), table.weight_kind
        labels = label_rows("groups", group_column, table)
        subjects = None if subject_column is None else label_rows("paired", subject_column, table)
        if subjects is None:
            table, rows = one_by_one(table)
        else:
            rows = table.weighted_rows
            table, subjects = table[rows], subjects[rows]
        labels = labels[rows]
        if table.holes is not None:
            n_empty = 0 if subjects is not None else int(table.holes.all(axis=1).sum())
            missing = Missing(treatment="impute", n_left_out=n_empty, **Missing.count(table.holes))
        elif table.units is not None:
            table, first = _join_copies(table, table.units, labels)
            labels, subjects = labels[first], None if subjects is None else subjects[first]
        if subjects is None and table.holes is not None and not table.holes.all():
            answered = np.flatnonzero(~table.holes.all(axis=1))
            table, labels = table[answered], labels[answered]
        return cls(table, Groups.of(labels, subjects), missing, weight_kind)

    def with_equal_holes(self, rng: Generator) -> GroupedTable:
        """Return the table with further cells deleted if the groups differ much in their share of missing cells.

        Estimates from fewer cells scatter more: shuffled groups, which all lose the same share, would not show what
        such groups differ by. Each row also gets the missing cells of a random row from every other group (paired: of
        the same subject's other rows).
        """
        table, groups = self.table, self.groups
        if table.holes is None:
            return self
        shares = [float(table.holes[rows].mean()) for rows in groups.rows]
        if max(shares) - min(shares) <= UNEQUAL:
            return self
        holes = table.holes.copy()
        for own in groups.rows:
            for other in groups.rows:
                if other is not own:
                    holes[own] |= table.holes[other if groups.subject is not None else rng.choice(other, len(own))]
        by_group = ", ".join(f"{share:.1%} in {name!r}" for name, share in zip(groups.names, shares, strict=True))
        warn(
            DataWarning(
                f"the groups differ in their share of missing cells ({by_group}). To keep the level of the tests, "
                "cells were deleted in each group by the patterns in which they are missing in the others; "
                f"{holes.mean():.1%} of all cells are now missing, and rows without an answer are left out. Consider "
                "leaving out columns that one group hardly answered."
            )
        )
        n_missing = int(holes.sum())
        thinned, n_deleted = replace(table, holes=holes, n_missing=n_missing), n_missing - table.n_missing
        answered = np.flatnonzero(~holes.all(axis=1))
        if groups.subject is None and len(answered) < len(table):  # some rows have lost their last answer
            labels = np.array(groups.names, dtype=object)[groups.member[answered]]
            thinned, groups = thinned[answered], Groups.of(labels, None)
        return replace(self, table=thinned, groups=groups, n_deleted=n_deleted)


def _join_copies(table: Table, units: NDArray[np.intp], labels: AnyArray) -> tuple[Table, NDArray[np.intp]]:
    """Return a completed table in the order of its original rows, and the first copy of each of these."""
    originals, first, row = np.unique(units, return_index=True, return_inverse=True)
    split = originals[np.unique(row[labels != labels[first][row]])]
    if len(split):
        raise DataError(
            f"groups must be the same for all copies of a row; got others in {len(split)} of {len(originals)} rows "
            f"(rows {listed(split.tolist())}, counted from 0). Pass the group of every original row."
        )
    order = np.argsort(row, kind="stable")
    return table[order].bare(row[order]), first
