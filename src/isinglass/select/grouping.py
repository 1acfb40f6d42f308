"""Who is in which group, and how rows may change places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from isinglass.data import BinaryTable, CategoryTable, read_categories, weights_of
from isinglass.errors import ArgumentError, DataError

Rows = list[NDArray[np.intp]]

_SHOWN = 5  # rows or subjects named in a message


def read_groups(X: Any, groups: Any, paired: Any, sample_weight: ArrayLike | None) -> tuple[Any, Plan]:
    """Return the table with its weights, and who is in which group; rows without any answer are left out."""
    frame, labels = _take_column(X, groups, "groups")
    frame, subjects = _take_column(frame, paired, "paired")
    data = frame if isinstance(frame, CategoryTable) else read_categories(frame)
    data = replace(data, sample_weight=weights_of(data, sample_weight))
    members = _entries("groups", labels, data)
    if subjects is not None:
        return data, Plan.of(members, _entries("paired", subjects, data))
    if data.holes is not None and not data.holes.all():
        answered = np.flatnonzero(~data.holes.all(axis=1))
        data, members = data[answered], members[answered]
    return data, Plan.of(members, None)


def _take_column(X: Any, groups: Any, argument: str) -> tuple[Any, Any]:
    """Return the table and the labels; a name takes that column out of a data frame."""
    if not isinstance(groups, str):
        return X, groups
    if isinstance(X, BinaryTable | CategoryTable) and groups in X.labels:
        return X, X.labels[groups]
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or groups not in frame.columns:
        raise ArgumentError(argument, "must have one entry per row, or be the name of a column of a data frame", groups)
    return frame.drop(groups).to_native(), frame[groups].to_list()


def _entries(name: str, given: Any, data: Any) -> NDArray[Any]:
    """Return one label per row of the table, none missing; labels of dropped rows are left out."""
    entries = list(given) if hasattr(given, "__iter__") and not isinstance(given, str | bytes) else None
    if entries is not None and len(entries) != len(data) and data.rows is not None and len(entries) > data.rows.max():
        entries = [entries[row] for row in data.rows]
    if entries is None or len(entries) != len(data):
        got = repr(given) if entries is None else f"{len(entries)} entries"
        raise DataError(f"{name} must have one entry per row ({len(data)}); got {got}.")
    missing = [k for k, entry in enumerate(entries) if _is_missing(entry)]
    if missing:
        shown = ", ".join(map(str, missing[:_SHOWN])) + (", …" if len(missing) > _SHOWN else "")
        raise DataError(
            f"{name} must have an entry for every row; got none in {len(missing)} of {len(entries)} rows ({shown}, "
            "counted from 0). Leave these rows out."
        )
    try:
        known = sorted(set(entries))
    except TypeError:  # labels of different kinds
        known = sorted(set(entries), key=str)
    labels = np.array([_text(label) for label in known], dtype=object)
    if len(set(labels)) < len(labels):
        raise DataError(f"{name} must be labels that differ as text; got {', '.join(map(repr, known[:_SHOWN]))}.")
    number = {label: k for k, label in enumerate(known)}
    return labels[[number[entry] for entry in entries]]


def _is_missing(entry: Any) -> bool:
    if entry is None or (isinstance(entry, str) and not entry.strip()):
        return True
    try:
        return bool(entry != entry)
    except TypeError:  # pandas.NA is neither equal nor different
        return True


def _text(label: Any) -> str:
    return str(int(label)) if isinstance(label, float | np.floating) and label == int(label) else str(label)


@dataclass(frozen=True, eq=False)
class Plan:
    """The groups, their rows, and how rows may change places."""

    groups: tuple[str, ...]  # the groups
    member: NDArray[np.intp]  # the group of every row, as a number
    subject: NDArray[np.intp] | None  # whose row it is, where labels are exchanged within subjects
    rows: Rows  # the rows of every group; of the same subjects in the same order if there are any

    @classmethod
    def of(cls, labels: NDArray[Any], subjects: NDArray[Any] | None) -> Plan:
        """Check the labels: at least two groups, none of one row, every subject once in each."""
        member, groups = _number(labels, sorted(set(labels), key=_by_value))
        sizes = np.bincount(member)
        if len(groups) < 2:
            raise DataError(f"groups must name at least two groups; got {groups[0]!r} in all {len(labels)} rows.")
        if sizes.min() < 2:
            single = ", ".join(repr(group) for group, size in zip(groups, sizes, strict=True) if size < 2)
            raise DataError(
                f"groups must have at least two rows each; got one row in {single}. Join groups or leave the row out."
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

    def shuffle(self, rng: Generator) -> Rows:
        """Return the rows of every group with labels exchanged, among all rows or within subjects."""
        if self.subject is not None:
            return list(rng.permuted(np.column_stack(self.rows), axis=1).T)
        sizes = [len(rows) for rows in self.rows]
        shuffled = rng.permutation(len(self.member))
        return [np.sort(part) for part in np.split(shuffled, np.cumsum(sizes)[:-1])]


def _number(labels: NDArray[Any], known: Sequence[str]) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    place = {label: k for k, label in enumerate(known)}
    return np.array([place[label] for label in labels], dtype=np.intp), tuple(known)


def _by_value(label: str) -> tuple[float, str]:
    """Order numbers as numbers and the rest as text behind them."""
    try:
        return float(label), label
    except ValueError:
        return math.inf, label
