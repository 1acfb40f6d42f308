"""Labels of rows, the group or the person that each belongs to: read, checked, and exchanged by permutations."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import AnyArray
from isinglass.data import AnyTable, Table, TableLike
from isinglass.data.containers import as_frame
from isinglass.data.meaning.values import is_missing
from isinglass.errors import ArgumentError, DataError, DataWarning, called_row, listed, plural, setting, warn


def take_column(X: TableLike, labels: ArrayLike | str | None, argument: str) -> tuple[TableLike, ArrayLike | None]:
    """Return the table and the labels; a name takes that column out of a data frame."""
    if not isinstance(labels, str):
        return X, labels
    if isinstance(X, Table) and labels in X.labels:
        return X, X.labels[labels]
    frame = as_frame(X)
    if frame is None or labels not in frame.columns:
        raise ArgumentError(argument, "must have one entry per row, or be the name of a column of a data frame", labels)
    return frame.drop(labels).to_native(), frame[labels].to_list()


def group_numbers(groups: ArrayLike | None, table: AnyTable) -> NDArray[np.integer] | None:
    """Return the number of the group that every row belongs to; None without groups.

    Refuse groups of a table in parts, which may lie in several of these.
    """
    if groups is None:
        return None
    if not table.is_whole:
        raise DataError("groups cannot be given for a table in parts. Read the table into memory.")
    if isinstance(groups, np.ndarray) and groups.dtype.kind in "iu" and groups.shape == (len(table),):
        return groups  # none missing, and no two alike
    labels = _as_text("groups", groups, table.whole())
    _refuse_blank("groups", labels, table.whole(), "Leave these rows out, with their labels.")
    return _number(labels, sorted(set(labels), key=by_value))


def labeled_rows(table: Table, labels: Mapping[str, object]) -> tuple[Table, list[AnyArray]]:
    """Return the rows that have all labels, given by argument, and these as text.

    Where missing cells are imputed or their rows dropped, rows without a label are left out, and elsewhere refused.
    """
    texts = [_as_text(argument, each, table) for argument, each in labels.items()]
    kept = np.flatnonzero(np.all([text != None for text in texts], axis=0))  # noqa: E711 - of each entry
    n_gone = len(table) - len(kept)
    if len(kept) and n_gone and table.coding.missing in ("drop", "impute"):
        where = " or ".join(map(setting, labels))
        warn(DataWarning(f"left out {n_gone} of {plural(len(table), 'row')} without an entry for {where}."))
        n_unlabeled, n_dropped = table.n_unlabeled + n_gone, table.n_dropped + n_gone
        return replace(table[kept], n_unlabeled=n_unlabeled, n_dropped=n_dropped), [text[kept] for text in texts]
    reading = f"{setting('missing', 'drop')} or {setting('missing', 'impute')}"
    for argument, text in zip(labels, texts, strict=True):
        remedy = f"Leave these rows out, with their labels, or read the table with {reading}, which do so."
        _refuse_blank(argument, text, table, remedy)
    return table, texts


def _refuse_blank(argument: str, labels: AnyArray, table: Table, remedy: str) -> None:
    blank = np.flatnonzero(labels == None)  # noqa: E711 - of each entry
    if len(blank):
        rows = listed([called_row(row) for row in (blank if table.rows is None else table.rows[blank]).tolist()])
        raise DataError(
            f"{setting(argument)} must have an entry for every row; got none in {len(blank)} of {len(labels)} rows "
            f"({rows}). {remedy}"
        )


def _as_text(argument: str, labels: object, table: Table) -> AnyArray:
    """Return one label per row of the table as text, None where it is missing; labels of dropped rows are left out."""
    must, shape = f"{argument} must have one entry per row ({len(table)})", getattr(labels, "shape", ())
    if len(shape) > 1 or not isinstance(labels, Iterable) or isinstance(labels, str | bytes):
        raise DataError(f"{must}; got {f'a table of shape {shape}' if len(shape) > 1 else repr(labels)}.")
    entries = list(labels)
    if any(isinstance(entry, list | tuple | np.ndarray) for entry in entries):
        raise DataError(f"{must}, not several.")
    if len(entries) != len(table) and table.rows is not None and len(entries) > table.rows.max():
        entries = [entries[row] for row in table.rows]
    if len(entries) != len(table):
        raise DataError(f"{must}; got {len(entries)} {'entry' if len(entries) == 1 else 'entries'}.")
    words = {entry: None if _is_blank(entry) else _word(entry) for entry in entries}
    uses = Counter(words.values())
    if alike := [repr(entry) for entry, word in words.items() if word is not None and uses[word] > 1]:
        raise DataError(f"{setting(argument)} must not have labels that read alike; got {listed(alike)}. Rename one.")
    return np.array([words[entry] for entry in entries], dtype=object)


def _is_blank(label: object) -> bool:
    return is_missing(label) or (isinstance(label, str) and not label.strip())


def _word(label: object) -> str:
    return str(int(label)) if isinstance(label, float | np.floating) and float(label).is_integer() else str(label)


def _number(labels: AnyArray, names: Sequence[str]) -> NDArray[np.intp]:
    """Return the place of every label among the names."""
    place = {name: k for k, name in enumerate(names)}
    return np.array([place[label] for label in labels], dtype=np.intp)


def by_value(label: str) -> tuple[float, str]:
    """Order numbers as numbers and the rest as text behind them."""
    try:
        number = float(label)
    except ValueError:
        return math.inf, label
    return (math.inf if math.isnan(number) else number), label  # "nan" is a word, and NaN has no place in an order


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups that are compared, their rows, and how rows may change places."""

    names: tuple[str, ...]
    member: NDArray[np.intp]  # the group of every row, as a number
    subject: NDArray[np.intp] | None  # whose row it is, where labels are exchanged within subjects
    rows: list[NDArray[np.intp]]  # the rows of every group; of the same subjects in the same order if there are any

    @classmethod
    def of(cls, labels: AnyArray, subjects: AnyArray | None = None) -> Groups:
        """Check the labels: at least two groups, none of one row, every subject once in each."""
        names = sorted(set(labels), key=by_value)
        member = _number(labels, names)
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
        persons = list(dict.fromkeys(subjects))
        subject, n_rows = _number(subjects, persons), Counter(zip(subjects, labels, strict=True))
        wrong = [repr(person) for person in persons if any(n_rows[person, name] != 1 for name in names)]
        if wrong:
            raise DataError(
                f"{setting('paired')} must name subjects with one row in every group; {len(wrong)} of "
                f"{plural(len(persons), 'subject')} have more or fewer: {listed(wrong)}. Leave these out, or leave out "
                f"{setting('paired')} to compare independent groups."
            )
        order = np.argsort(subject, kind="stable")
        return cls(tuple(names), member, subject, [order[member[order] == k] for k in range(len(names))])

    def shuffle(self, rng: Generator) -> list[NDArray[np.intp]]:
        """Return the rows of every group with labels exchanged, among all rows or within subjects."""
        if self.subject is not None:
            return list(rng.permuted(np.column_stack(self.rows), axis=1).T)
        ends = np.cumsum([len(rows) for rows in self.rows])[:-1]
        return [np.sort(part) for part in np.split(rng.permutation(len(self.member)), ends)]
