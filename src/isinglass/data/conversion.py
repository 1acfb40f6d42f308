"""read_binary and to_binary: a table of any kind becomes bytes of 0 and 1."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.data.category_table import CategoryTable
from isinglass.data.coding import (
    BAD,
    BITS,
    MISSING,
    Coding,
    Cut,
    Rule,
    Values,
    choose_pairs,
    distinct,
    is_missing,
    read_rules,
    show_value,
    show_values,
    suggest,
)
from isinglass.data.sources import Column, Grid, Source, open_source
from isinglass.data.table import BinaryTable, RowTable
from isinglass.data.weights import check_sample_weight
from isinglass.errors import ArgumentError, DataError, DataWarning, setting, warn
from isinglass.names import check_names

__all__ = ["convert_source", "read_binary", "to_binary", "to_weighted"]

Bytes = NDArray[np.uint8]
Rows = TypeVar("Rows", bound=RowTable)
MISSING_CHOICES = ("error", "impute", "zero", "drop")
SMALL = 20
"""Tables with fewer rows can be looked at, and need no warning."""
MANY_ROWS, MANY_CELLS, MOST_OF_A_COLUMN = 0.1, 0.05, 0.5
"""Share of the rows dropped, and of all cells or those of a column taken for 0, above which there is a warning."""
_SUGGESTED = 8  # most entries of a mapping that a message writes out


def read_binary(
    X: Any,
    *,
    names: Sequence[str] | None = None,
    missing: str = "error",
    encode: Any = None,
    binarize: Any = None,
) -> BinaryTable:
    """Convert a table of any kind to 0 and 1, with its names; the input is not changed.

    Parameters
    ----------
    X : array, data frame, sparse matrix, list of rows or BinaryTable
        NumPy arrays (also masked, memory-mapped or read-only), frames of pandas, polars or pyarrow, sparse arrays and
        matrices of scipy. A BinaryTable is returned as it is: the options below do not apply to it.
    names : sequence of str, optional
        Names of the columns, instead of those that the frame has.
    missing : {"error", "impute", "zero", "drop"}, default="error"
        What to do with missing cells (NaN, None, NA, NaT, masked): refuse them, keep them as holes that are drawn from
        the network when one is estimated, take them as 0, or leave out every row that has one.
    encode : mapping, "auto" or Coding, optional
        What the values mean. A mapping such as ``{"Yes": 1, "No": 0, "Don't know": None}``, where None stands for
        missing, holds for all columns, except those that have none of its values and are 0/1 already. A mapping of
        column names to such mappings, or to pairs ``(zero, one)``, holds for these columns. "auto" finds the two
        values of every column itself; what it chose is in `BinaryTable.encoding`. The `BinaryTable.coding` of another
        table reads this one in the same way: columns are found by name, others are ignored.
    binarize : float or mapping of column names to floats, optional
        Numbers above this threshold are 1, the others 0.

    Returns
    -------
    BinaryTable

    Raises
    ------
    DataError
        If a cell is neither 0 nor 1 after all this; the message names the column, its values and a remedy.

    Examples
    --------
    >>> table = read_binary([["Yes", "No"], ["No", None]], names=["rain", "snow"], encode="auto", missing="zero")
    >>> table.X.tolist(), table.n_missing
    ([[1, 0], [0, 0]], 1)
    >>> table.encoding
    {'rain': ('No', 'Yes'), 'snow': ('No', 'Yes')}
    """
    if isinstance(X, BinaryTable):
        return X if names is None else X.with_names(names)
    if isinstance(X, CategoryTable):
        refuse_categories(X)
    return convert_source(open_source(X), names=names, missing=missing, encode=encode, binarize=binarize)


def to_binary(X: Any) -> Bytes:
    """Return the table as C-contiguous ``uint8`` of 0 and 1; it shares its memory with an input that is that already.

    Examples
    --------
    >>> to_binary([[True, False], [0.0, 1.0]]).tolist()
    [[1, 0], [0, 1]]
    """
    return refuse_holes(read_binary(X)).X


def to_weighted(X: Any, sample_weight: ArrayLike | None) -> tuple[Bytes, NDArray[np.float64] | None]:
    """Return the table as `to_binary` does, with the weights of its rows: those given, or those it brings along.

    Examples
    --------
    >>> table = BinaryTable(np.array([[0, 1], [1, 1]], dtype=np.uint8), sample_weight=np.array([1.0, 2.0]))
    >>> to_weighted(table, None)[1].tolist()
    [1.0, 2.0]
    """
    table = refuse_holes(read_binary(X))
    return table.X, weights_of(table, sample_weight)


def weights_of(table: RowTable, sample_weight: ArrayLike | None) -> NDArray[np.float64] | None:
    """Return the weights of the rows of a table: those given, or those it brings along."""
    if table.sample_weight is None:
        return check_sample_weight(sample_weight, len(table))
    if sample_weight is not None:
        raise DataError("sample_weight must be given once; got it beside a table that has weights of its own.")
    return table.sample_weight


def refuse_categories(table: CategoryTable) -> NoReturn:
    """Say that columns must have two values here."""
    s = next((s for s, kind in enumerate(table.kinds) if kind != "binary"), 0)
    called = s if table.names is None else table.names[s]
    raise DataError(
        f"{setting('X')} must have columns of two values here; got the {table.kinds[s]} column {called!r} with "
        f"{len(table.categories[s])} categories. This is for yes/no columns only; ising_path and the estimators named "
        "in the documentation take categories."
    )


def refuse_holes(table: Rows) -> Rows:
    """Return a table without holes as it is; for functions that would take a hole for a 0."""
    if table.holes is not None:
        raise DataError(
            f"{setting('X')} must have no missing cells here; got {table.n_missing} that are still to be imputed. Pass "
            "isinglass.complete(X).table."
        )
    return table


def convert_source(
    source: Source,
    *,
    names: Sequence[str] | None = None,
    missing: str = "error",
    encode: Any = None,
    binarize: Any = None,
) -> BinaryTable:
    """Convert an opened table; the arguments are those of `read_binary`."""
    if missing not in MISSING_CHOICES:
        raise ArgumentError("missing", 'must be "error", "impute", "zero" or "drop"', missing)
    given = source.names if names is None else names
    columns = (
        None
        if given is None
        else check_names([str(name) for name in given] if names is None else given, source.shape[1])
    )
    if isinstance(encode, Coding):
        source, columns = _take_columns(source, columns, encode)
    labels: Sequence[Hashable] = range(source.shape[1]) if columns is None else columns
    if source.describe_column is None:
        source = replace(source, describe_column=lambda j: f"column {labels[j]!r}")
    rules = _find_rules(source, labels, encode, binarize)
    codes, rules = _convert(source, rules)
    return _settle(codes, source, Coding(columns, tuple(rules), missing))


def _take_columns(
    source: Source, names: tuple[str, ...] | None, coding: Coding
) -> tuple[Source, tuple[str, ...] | None]:
    """Return the columns that a coding knows, in its order; by place where one side has no names."""
    if names is None or coding.names is None:
        if source.shape[1] != len(coding.columns):
            raise DataError(
                f"{setting('X')} must have the {len(coding.columns)} columns of the coding; got {source.shape[1]}."
            )
        return source, names
    place = {name: j for j, name in enumerate(names)}
    absent = next((name for name in coding.names if name not in place), None)
    if absent is not None:
        raise DataError(f"{setting('X')} must have the columns of the coding; {absent!r} cannot be found.")
    return source.take([place[name] for name in coding.names]), coding.names


def _find_rules(source: Source, labels: Sequence[Hashable], encode: Any, binarize: Any) -> list[Rule]:
    if isinstance(encode, Coding):
        if binarize is not None:
            raise DataError(
                f"{setting('encode')} and {setting('binarize')} must not be combined, if {setting('encode')} is a "
                "Coding."
            )
        return list(encode.columns)
    if not (isinstance(encode, str) and encode == "auto"):
        return read_rules(encode, binarize, labels)
    if binarize is not None and not isinstance(binarize, Mapping):
        raise DataError(
            f"{setting('encode', 'auto')} and {setting('binarize')} must not be combined, unless the latter names "
            "columns."
        )
    cuts = {
        label: rule for label, rule in zip(labels, read_rules(None, binarize, labels), strict=True) if rule is not BITS
    }
    levels = [[] if label in cuts else _distinct(source, j) for j, label in enumerate(labels)]
    empty = Column(np.empty(0))
    columns = [
        empty if source.grid is not None or source.block is not None else source.column(j) for j in range(len(labels))
    ]
    pairs = choose_pairs(levels, columns, lambda j: _where(source, j), source.remark_column)
    return [cuts.get(label, pair) for label, pair in zip(labels, pairs, strict=True)]


# ------------------------------------------------------------------------------------------- cells


def _convert(source: Source, rules: list[Rule]) -> tuple[Bytes, list[Rule]]:
    """Return what every cell stands for, and the rules that were used."""
    rule = rules[0] if all(each == rules[0] for each in rules) else None
    if rule is not None and source.block is not None:
        codes = _convert_block(source.block, source.masked, rule)
        if rule == BITS or isinstance(rule, Cut) or not (codes == BAD).any():
            return codes, rules
    elif rule is not None and source.sparse is not None and rule.target(0) == 0:
        matrix = source.sparse
        stored = _convert_block(matrix.data, None, rule)
        return type(matrix)((stored, matrix.indices, matrix.indptr), shape=matrix.shape).toarray(), rules
    elif rule is not None and source.grid is not None and (rule == BITS or isinstance(rule, Cut)):
        return _convert_grid(source.grid, rule), rules
    return _convert_columns(source, rules)


def _convert_block(table: NDArray[Any], masked: NDArray[np.bool_] | None, rule: Rule) -> Bytes:
    """Convert numbers at once; bytes that are bits already are not copied."""
    if rule == BITS and table.dtype in (np.uint8, np.bool_) and masked is None:
        codes = np.ascontiguousarray(table).view(np.uint8)
        if not codes.size or codes.max() <= 1:
            return codes
    codes = rule.convert(table)
    if table.dtype.kind == "f":
        codes[np.isnan(table)] = MISSING
    if masked is not None:
        codes[masked] = MISSING
    return np.ascontiguousarray(codes)


def _convert_grid(grid: Grid, rule: Rule) -> Bytes:
    """Look every cell up in a list of what the distinct values mean."""
    targets = np.array([MISSING if value is None else rule.target(value) for value in grid.values], dtype=np.uint8)
    if grid.codes.dtype == np.uint8:  # bytes have the fastest table of all
        meaning = targets.tobytes().ljust(256, bytes([BAD]))
        return np.frombuffer(grid.codes.tobytes().translate(meaning), dtype=np.uint8).reshape(grid.codes.shape)
    codes: Bytes = targets[grid.codes]
    return codes


def _convert_columns(source: Source, rules: list[Rule]) -> tuple[Bytes, list[Rule]]:
    """Convert one column after the other, each by its rule."""
    grid = source.grid
    if grid is not None:  # it is read column by column
        source = replace(source, grid=replace(grid, codes=np.asfortranarray(grid.codes)))
    codes = np.empty(source.shape, dtype=np.uint8)
    used = list(rules)
    for j, rule in enumerate(rules):
        codes[:, j] = _convert_column(source, j, rule)
        # A column that is 0/1 already, and has none of the values that are to be replaced, stays as it is.
        if rule != BITS and isinstance(rule, Values) and not (codes[:, j] <= 1).any() and (codes[:, j] == BAD).any():
            bits = _convert_column(source, j, BITS)
            if not (bits == BAD).any():
                codes[:, j], used[j] = bits, BITS
    return codes, used


def _convert_column(source: Source, j: int, rule: Rule) -> Bytes:
    if source.grid is not None:
        return _convert_grid(replace(source.grid, codes=source.grid.codes[:, j]), rule)
    column = source.column(j)
    if column.values.dtype.kind != "O":
        return _convert_block(column.values, column.masked, rule)
    known = {value: rule.target(value) for value in distinct(replace(column, masked=None), _where(source, j))}
    cells = (MISSING if is_missing(cell) else known[cell] for cell in column.values)
    codes = np.fromiter(cells, np.uint8, len(column.values))
    if column.masked is not None:
        codes[column.masked] = MISSING
    return codes


# ------------------------------------------------------------------------------------------- missing cells


def _settle(codes: Bytes, source: Source, coding: Coding) -> BinaryTable:
    """Refuse what has no meaning, deal with the missing cells, and put the table together."""
    row_names = None if source.row_names is None else tuple(str(label) for label in source.row_names)
    if codes.max() <= 1:
        return BinaryTable(codes, coding.names, row_names, coding=coding)
    bad = codes == BAD
    if bad.any():
        j = int(np.flatnonzero(bad.any(axis=0))[0])
        _refuse(source, j, coding.columns[j], int(np.flatnonzero(bad[:, j])[0]))
    gone = codes == MISSING
    n_missing = int(gone.sum())
    if coding.missing == "error":
        j = int(np.flatnonzero(gone.any(axis=0))[0])
        row = source.describe_row(int(np.flatnonzero(gone[:, j])[0]))
        raise DataError(
            f"{setting('X')} must have no missing cells; got NaN in {_where(source, j)} ({row}; {n_missing} missing "
            f"cell(s) in all). Read the table with {setting('missing', 'impute')} to draw them from the network, with "
            f"{setting('missing', 'zero')} where a missing cell means 0, or with {setting('missing', 'drop')} to leave "
            "out its row."
        )
    filled = np.where(gone, 0, codes).astype(np.uint8)
    known: dict[str, Any] = {"names": coding.names, "n_missing": n_missing, "coding": coding}
    if coding.missing == "impute":
        return BinaryTable(filled, row_names=row_names, holes=gone, **known)
    if coding.missing == "drop":
        rows = np.flatnonzero(~gone.any(axis=1))
        if len(rows) == 0:
            raise DataError(
                f"{setting('X')} must have a row without missing cells for {setting('missing', 'drop')}; got none. "
                f"Choose {setting('missing', 'impute')}, or leave out columns first."
            )
        _warn_dropped(gone, len(rows))
        kept = None if row_names is None else tuple(row_names[i] for i in rows)
        return BinaryTable(codes[rows], row_names=kept, rows=rows, n_dropped=len(codes) - len(rows), **known)
    _warn_zeroed(gone, lambda j: _where(source, j))
    return BinaryTable(filled, row_names=row_names, filled=gone, **known)


def _warn_dropped(gone: NDArray[np.bool_], n_kept: int) -> None:
    """Say what was left out, where that is much."""
    n_rows, n_dropped = len(gone), len(gone) - n_kept
    if n_rows >= SMALL and n_dropped > MANY_ROWS * n_rows:
        warn(
            DataWarning(
                f"{setting('missing', 'drop')} left out {n_dropped} of {n_rows} rows ({n_dropped / n_rows:.0%}) for "
                f"{int(gone.sum())} missing cells ({gone.mean():.1%}). The rows that are left may not be like the "
                f"others. Choose {setting('missing', 'impute')} to use all answers."
            )
        )


def _warn_zeroed(gone: NDArray[np.bool_], where: Callable[[int], str]) -> None:
    """Say what became 0, where that can hardly be meant: whole rows, or many cells of a column."""
    empty, shares = int(gone.all(axis=1).sum()), gone.mean(axis=0)
    worst = int(shares.argmax())
    said = []
    if empty and gone.shape[1] > 1:
        said.append(f"{empty} of {len(gone)} rows have no answer at all and are now rows of 0")
    if len(gone) >= SMALL and (shares.mean() > MANY_CELLS or shares[worst] > MOST_OF_A_COLUMN):
        said.append(
            f"{int(gone.sum())} missing cells ({gone.mean():.1%}) became 0, {shares[worst]:.0%} of the cells in "
            f"{where(worst)}"
        )
    if said:
        warn(
            DataWarning(
                f"{setting('missing', 'zero')}: {'; '.join(said)}. Unless a missing cell means 0, this hides "
                f"dependencies and makes up others. Choose {setting('missing', 'impute')}."
            )
        )


def _where(source: Source, j: int) -> str:
    assert source.describe_column is not None
    return source.describe_column(j)


def _distinct(source: Source, j: int) -> list[Any]:
    if source.grid is None:
        return distinct(source.column(j), _where(source, j))
    values = (source.grid.values[code] for code in np.unique(source.grid.codes[:, j]))
    return [value for value in dict.fromkeys(values) if value is not None]


def _refuse(source: Source, j: int, rule: Rule, row: int) -> NoReturn:
    """Say which values of a column are wrong, and what to do about it."""
    values = _distinct(source, j)
    wrong = [value for value in values if rule.target(value) == BAD]
    where = f"got {show_values(wrong)} in {_where(source, j)} (first in {source.describe_row(row)})"
    if isinstance(rule, Cut):
        raise DataError(
            f"{setting('X')} must hold finite numbers for {setting('binarize', rule.threshold)}; {where}. Leave "
            f"{setting('binarize')} out, or replace these values."
        )
    if rule != BITS:
        remedy = _lacking_remedy(rule, wrong)
        raise DataError(f"{setting('encode')} must say what every value means; {where}, which it lacks. {remedy}")
    raise DataError(f"{setting('X')} must hold only 0 and 1; {where}. {suggest(values)}{source.remark_column(j)}")


def _lacking_remedy(rule: Values, wrong: list[Any]) -> str:
    if len(rule.entries) == 1:
        return (
            f"It knows only {show_value(next(iter(rule.entries)))} there: the rows that it was found in had no other "
            "value. Encode the whole table at once, or pass a mapping."
        )
    whole = {value: None if bit == MISSING else bit for value, bit in {**rule.entries, **dict.fromkeys(wrong)}.items()}
    plain = all(isinstance(value, str | int | float) and "…" not in show_value(value) for value in whole)
    if len(whole) > _SUGGESTED or not plain:
        return "Add them."
    return f"Add them, for example {setting('encode', whole)} if they are missing answers."
