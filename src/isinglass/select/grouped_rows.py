"""Rows with their groups: read and checked, made to lose the same share of cells, and exchanged by permutations."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import AnyArray
from isinglass.data import Table, TableLike
from isinglass.errors import DataError, DataWarning, listed, setting, warn
from isinglass.select.folds import one_by_one
from isinglass.select.method import MethodLike, table_for
from isinglass.select.row_labels import by_value, labeled_rows, number_labels, take_column

UNEQUAL = 0.05
"""Difference in the share of missing cells up to which groups are compared as they are."""


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
        if self.subjects is not None or self.table.holes is None:
            return self
        has_answer = ~self.table.holes.all(axis=1)
        return self.take(np.flatnonzero(has_answer)) if has_answer.any() else self

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
        persons = list(dict.fromkeys(subjects))  # labels of any type
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
