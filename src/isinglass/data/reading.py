"""read_binary and to_binary: a table of any kind becomes bytes of 0 and 1."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.data.levels import (
    BAD,
    MISSING,
    Codebook,
    Cut,
    Levels,
    Pair,
    choose_pairs,
    doubt_about,
    find_grid_levels,
    find_levels,
    is_number,
    looks_missing,
    many_values_remedy,
    read_encode,
    show_value,
    show_values,
    write_value,
)
from isinglass.data.sources import Column, Grid, Source, open_source
from isinglass.data.table import BinaryTable, checked_names
from isinglass.data.weights import check_sample_weight
from isinglass.errors import DataError

__all__ = ["convert_source", "read_binary", "to_binary", "to_weighted"]

_BITS, _SPINS = Pair(0, 1), Pair(-1, 1)
_BY = "(estimators, read_binary and read_table take it)"


@dataclass(frozen=True, eq=False)
class _Bits:
    """Converted cells: bits, where the source had none, and how its values were read."""

    codes: NDArray[np.uint8]
    missing: NDArray[np.bool_] | None
    encoding: dict[Hashable, tuple[Any, Any]]


def read_binary(
    X: Any,
    *,
    names: Sequence[str] | None = None,
    missing: str = "error",
    encode: Any = None,
    coding: str = "bits",
    binarize: float | None = None,
) -> BinaryTable:
    """Convert a table of any kind to 0 and 1, with its names; the input is not changed.

    Parameters
    ----------
    X : array, data frame, sparse matrix, list of rows or BinaryTable
        NumPy arrays (also masked, memory-mapped or read-only), frames of pandas, polars or pyarrow, sparse arrays and
        matrices of scipy. A BinaryTable is returned as it is: the options below do not apply to it.
    names : sequence of str, optional
        Names of the columns, instead of those that the frame has.
    missing : {"error", "zero", "drop"}, default="error"
        What to do with missing cells (NaN, None, NA, NaT, masked): refuse them, take them as 0, or leave out every row
        that has one.
    encode : mapping or "auto", optional
        What the values mean. A mapping such as ``{"Yes": 1, "No": 0, "Don't know": None}``, where None stands for
        missing, holds for all columns, except those that have none of its values and are 0/1 already. A mapping of
        column names to such mappings, or to pairs ``(zero, one)``, holds for these columns. "auto" finds the two
        values of every column itself; what it chose is in `BinaryTable.encoding`.
    coding : {"bits", "spins"}, default="bits"
        "spins": the table holds -1 and 1.
    binarize : float, optional
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
        return X if names is None else replace(X, names=checked_names(names, X.shape[1]))
    return convert_source(open_source(X), names=names, missing=missing, encode=encode, coding=coding, binarize=binarize)


def to_binary(X: Any) -> NDArray[np.uint8]:
    """Return the table as C-contiguous ``uint8`` of 0 and 1, without changing the input.

    Parameters
    ----------
    X : array, data frame, sparse matrix, list of rows or BinaryTable
        Booleans, integers or floats that are exactly 0 or 1; C or Fortran order, writable or not.

    Returns
    -------
    ndarray of uint8, shape (n_samples, n_features)
        Shares its memory with an input that has this layout already.

    Examples
    --------
    >>> to_binary([[True, False], [0.0, 1.0]]).tolist()
    [[1, 0], [0, 1]]
    """
    return read_binary(X).X


def to_weighted(X: Any, sample_weight: ArrayLike | None) -> tuple[NDArray[np.uint8], NDArray[np.float64] | None]:
    """Return the table as `to_binary` does, with the weights of its rows: those given, or those it brings along.

    Examples
    --------
    >>> table = BinaryTable(np.array([[0, 1], [1, 1]], dtype=np.uint8), sample_weight=np.array([1.0, 2.0]))
    >>> to_weighted(table, None)[1].tolist()
    [1.0, 2.0]
    """
    table = read_binary(X)
    if table.sample_weight is None:
        return table.X, check_sample_weight(sample_weight, len(table))
    if sample_weight is not None:
        raise DataError("sample_weight must be given once; got it beside a table that has weights of its own.")
    return table.X, table.sample_weight


def convert_source(
    source: Source,
    *,
    names: Sequence[str] | None,
    missing: str,
    encode: Any,
    coding: str,
    binarize: float | None,
) -> BinaryTable:
    """Convert an opened table; the arguments are those of `read_binary`."""
    if missing not in ("error", "impute", "zero", "drop"):
        raise DataError(f'missing must be "error", "impute", "zero" or "drop"; got {missing!r}.')
    rule = _read_rule(encode, coding, binarize)
    columns = checked_names(source.names if names is None else names, source.shape[1])
    labels: Sequence[Hashable] = range(source.shape[1]) if columns is None else columns
    if source.describe_column is None:
        source = replace(source, describe_column=lambda j: f"column {labels[j]!r}")
    if rule is None and source.grid is not None:  # it will be read column by column
        source = replace(source, grid=replace(source.grid, codes=np.asfortranarray(source.grid.codes)))
    if rule is None:
        bits = _convert_columns(source, labels, _read_books(source, labels, encode))
    elif source.block is not None:
        bits = _convert_block(source, rule)
    elif source.grid is not None:
        bits = _convert_grid(source, source.grid, rule)
    elif source.sparse is not None and rule is not _SPINS:
        bits = _convert_sparse(source, rule)
    else:
        bits = _convert_columns(source, labels, [rule] * len(labels))
    return _settle(bits, source, columns, missing)


def _read_rule(encode: Any, coding: str, binarize: float | None) -> Pair | Cut | None:
    """Return the rule for numbers, or None where ``encode`` gives one per column."""
    if coding not in ("bits", "spins"):
        raise DataError(f'coding must be "bits" (0 and 1) or "spins" (-1 and 1); got {coding!r}.')
    if sum((encode is not None, coding == "spins", binarize is not None)) > 1:
        raise DataError('encode, coding="spins" and binarize must not be combined; got more than one of them.')
    if binarize is not None:
        if isinstance(binarize, bool | np.bool_) or not is_number(binarize) or not np.isfinite(binarize):
            raise DataError(f"binarize must be None or a finite number; got {binarize!r}.")
        return Cut(float(binarize))
    if encode is not None:
        return None
    return _BITS if coding == "bits" else _SPINS


def _read_books(source: Source, labels: Sequence[Hashable], encode: Any) -> Sequence[Codebook | Pair]:
    """Return a rule for every column from the argument ``encode``."""
    found: Mapping[int, Codebook]
    if isinstance(encode, str) and encode == "auto":
        levels, columns = [], []
        for j in range(len(labels)):
            levels.append(_levels(source, j).present)
            if source.grid is None:
                columns.append(replace(source.column(j), values=np.empty(0), masked=None))  # categories without cells
            else:
                columns.append(Column(np.empty(0)))
        found = choose_pairs(levels, columns, lambda j: _where(source, j), source.remark_column)
    else:
        books = read_encode(encode, labels)
        if isinstance(books, Codebook):
            return [books] * len(labels)
        found = {j: books[label] for j, label in enumerate(labels) if label in books}
    return [found.get(j, _BITS) for j in range(len(labels))]


def _convert_block(source: Source, rule: Pair | Cut) -> _Bits:
    """Convert a dense table of numbers at once."""
    table, gone = source.block, source.masked
    assert table is not None
    if rule is _BITS and table.dtype in (np.uint8, np.bool_) and gone is None:
        codes = np.ascontiguousarray(table).view(np.uint8)
        if codes.max() <= 1:
            return _Bits(codes, None, {})
    ones, bad = rule.convert(table)
    if gone is not None:
        bad &= ~gone
    if bad.any() and table.dtype.kind == "f":
        gone = np.isnan(table) if gone is None else gone | np.isnan(table)
        bad &= ~gone
    if bad.any():
        j = int(np.flatnonzero(bad.any(axis=0))[0])
        _refuse(source, j, rule, int(np.flatnonzero(bad[:, j])[0]))
    if gone is not None:
        ones = ones & ~gone
    return _Bits(np.ascontiguousarray(ones).view(np.uint8), gone, {})


def _convert_sparse(source: Source, rule: Pair | Cut) -> _Bits:
    """Fill a table of bytes with the stored entries of a sparse one."""
    matrix = source.sparse
    ones, bad = rule.convert(matrix.data)
    empty = np.isnan(matrix.data) if matrix.data.dtype.kind == "f" else np.zeros(len(matrix.data), dtype=bool)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    bad &= ~empty
    if bad.any():
        first = int(np.lexsort((rows[bad], matrix.indices[bad]))[0])
        j = int(matrix.indices[bad][first])
        _refuse(source, j, rule, int(rows[bad][first]))
    codes = np.full(matrix.shape, rule.target(0), dtype=np.uint8)
    codes[rows, matrix.indices] = ones & ~empty
    gone = None
    if empty.any():
        gone = np.zeros(matrix.shape, dtype=bool)
        gone[rows[empty], matrix.indices[empty]] = True
    return _Bits(codes, gone, {})


def _convert_grid(source: Source, grid: Grid, rule: Pair | Cut) -> _Bits:
    """Look every cell up in a list of what the distinct values mean."""
    targets = np.array([MISSING if value is None else rule.target(value) for value in grid.values], dtype=np.uint8)
    if grid.codes.dtype == np.uint8:  # bytes have the fastest table of all
        meaning = targets.tobytes().ljust(256, bytes([BAD]))
        codes = np.frombuffer(grid.codes.tobytes().translate(meaning), dtype=np.uint8).reshape(source.shape)
    else:
        codes = targets[grid.codes]
    worst = codes.max()
    if worst <= 1:
        return _Bits(codes, None, {})
    if worst == BAD:
        bad = codes == BAD
        j = int(np.flatnonzero(bad.any(axis=0))[0])
        _refuse(source, j, rule, int(np.flatnonzero(bad[:, j])[0]))
    gone = codes == MISSING
    return _Bits(np.where(gone, 0, codes).astype(np.uint8), gone, {})


def _convert_columns(source: Source, labels: Sequence[Hashable], rules: Sequence[Pair | Cut | Codebook]) -> _Bits:
    """Convert one column after the other, each by its rule."""
    codes = np.empty(source.shape, dtype=np.uint8)
    encoding = {}
    for j, label in enumerate(labels):
        rule, levels = rules[j], _levels(source, j)
        if isinstance(rule, Codebook) and all(
            _BITS.target(value) != BAD and value not in rule.entries for value in levels.present
        ):
            rule = _BITS  # the column is 0/1 already and has none of the values that are to be replaced
        targets = [
            MISSING if gone else rule.target(value) for value, gone in zip(levels.values, levels.missing, strict=True)
        ]
        if BAD in targets:
            _refuse(source, j, rule, int(np.flatnonzero(levels.inverse == targets.index(BAD))[0]))
        codes[:, j] = np.array(targets, dtype=np.uint8)[levels.inverse]
        if isinstance(rule, Codebook):
            encoding[label] = rule.pair
    gone = codes == MISSING
    if not gone.any():
        return _Bits(codes, None, encoding)
    codes[gone] = 0
    return _Bits(codes, gone, encoding)


def _settle(bits: _Bits, source: Source, names: tuple[str, ...] | None, missing: str) -> BinaryTable:
    """Deal with the missing cells and put the table together."""
    codes, gone = bits.codes, bits.missing
    row_names = None if source.row_names is None else tuple(str(label) for label in source.row_names)
    n_missing = 0 if gone is None else int(gone.sum())
    rows = None
    if n_missing and missing == "error":
        assert gone is not None
        j = int(np.flatnonzero(gone.any(axis=0))[0])
        row = source.describe_row(int(np.flatnonzero(gone[:, j])[0]))
        raise DataError(
            f"X must have no missing cells; got NaN in {_where(source, j)} ({row}; "
            f'{n_missing} missing cell(s) in all). Fill them, or choose missing="zero" or missing="drop" {_BY}.'
        )
    if n_missing and missing == "drop":
        assert gone is not None
        rows = np.flatnonzero(~gone.any(axis=1))
        if len(rows) == 0:
            raise DataError('X must have a row without missing cells for missing="drop"; got none. Drop columns first.')
        codes = codes[rows]
        row_names = None if row_names is None else tuple(row_names[i] for i in rows)
    if n_missing and missing == "zero":
        assert gone is not None
        empty = int(gone.all(axis=1).sum())
        if empty and codes.shape[1] > 1:
            warnings.warn(
                f'{empty} of {len(codes)} rows have no answer at all, and missing="zero" makes them rows of 0. Choose '
                'missing="drop" to leave them out.',
                UserWarning,
                stacklevel=4,
            )
    return BinaryTable(
        codes,
        names,
        row_names,
        rows=rows,
        n_missing=n_missing,
        n_dropped=0 if rows is None else len(bits.codes) - len(rows),
        encoding=bits.encoding,
        filled=gone if n_missing and missing == "zero" else None,
        holes=gone if n_missing and missing == "impute" else None,
    )


def _where(source: Source, j: int) -> str:
    assert source.describe_column is not None
    return source.describe_column(j)


def _levels(source: Source, j: int) -> Levels:
    if source.grid is not None:
        return find_grid_levels(source.grid, j)
    return find_levels(source.column(j), _where(source, j))


def _refuse(source: Source, j: int, rule: Pair | Cut | Codebook, row: int) -> NoReturn:
    """Say which values of a column are wrong, and what to do about it."""
    values = _levels(source, j).present
    wrong = show_values([value for value in values if rule.target(value) == BAD])
    where = f"got {wrong} in {_where(source, j)} (first in {source.describe_row(row)})"
    if isinstance(rule, Cut):
        raise DataError(
            f"X must hold finite numbers for binarize={rule.threshold:g}; {where}. Leave binarize out, or "
            "replace these values."
        )
    if isinstance(rule, Codebook):
        raise DataError(f"encode must say what every value means; {where}, which it lacks. {_lacking_remedy(rule)}")
    if rule is _SPINS:
        raise DataError(f'X must hold only -1 and 1 for coding="spins"; {where}. Leave coding out if the table is 0/1.')
    raise DataError(f"X must hold only 0 and 1; {where}. {_remedy(values)}{source.remark_column(j)}")


def _lacking_remedy(book: Codebook) -> str:
    if len(book.entries) != 1:
        return "Add them, mapped to 0, 1 or None (missing)."
    (only,) = book.entries
    return (
        f'It knows only {show_value(only)} there. If encode="auto" found this in some of the rows, such as those of '
        "fit, the column had one value in them: encode the whole table first with read_binary, or pass a mapping."
    )


def _remedy(values: list[Any]) -> str:
    if all(is_number(value) and value in (-1, 1) for value in values):
        return f'It looks like ±1 spins: pass coding="spins" {_BY}.'
    doubt = doubt_about(values)
    if doubt is not None:
        return doubt
    if len(values) == 2 and not any(looks_missing(value) for value in values):
        (book,) = choose_pairs([values], [Column(np.empty(0))], str).values()
        zero, one = (write_value(value) for value in book.pair)
        example = "" if zero is None or one is None else f", for example encode={{{one}: 1, {zero}: 0}}"
        return f'Say which is 1{example}, or pass encode="auto" {_BY}.'
    return many_values_remedy(values)
