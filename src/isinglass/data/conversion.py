"""read_binary, read_categories and to_binary: a table of any kind becomes bytes, of 0 and 1 or of category numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import Bytes
from isinglass.data.coding import (
    ABSENT,
    BAD,
    BITS,
    MISSING,
    UNKNOWN,
    AnyRule,
    Coding,
    Cut,
    Levels,
    Rule,
    Values,
    by_column,
    find_rules,
)
from isinglass.data.levels import find_levels
from isinglass.data.missing import settle
from isinglass.data.sources import Source, convert_numbers, open_source
from isinglass.data.table import BinaryTable, CategoryTable, Kinds, RowTable, Scores
from isinglass.data.weights import check_sample_weight, scale_weights
from isinglass.errors import ArgumentError, DataError, setting
from isinglass.names import check_names

Rows = TypeVar("Rows", bound=RowTable)
MISSING_CHOICES = ("error", "impute", "zero", "drop")


def read_binary(
    X: Any,
    *,
    names: Sequence[str] | None = None,
    missing: str = "error",
    encode: Any = None,
    binarize: Any = None,
    weight_kind: str | None = None,
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
    weight_kind : {"sampling", "counts"}, optional
        What row weights stand for that are given beside this table. Counts say how many equal rows a row stands for:
        the number of rows is their sum. Sampling weights say how many members of the population: a row is one row, and
        only ratios of weights matter. By default whole numbers are counts, and others sampling weights.

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
        return _with_kind(X if names is None else X.with_names(names), weight_kind)
    if isinstance(X, CategoryTable):
        refuse_categories(X)
    source = replace(open_source(X), declared=None)
    table = convert_source(source, names=names, missing=missing, encode=encode, binarize=binarize)
    return refuse_categories(table) if isinstance(table, CategoryTable) else _with_kind(table, weight_kind)


def _with_kind(table: Rows, weight_kind: str | None) -> Rows:
    """Return the table with the kind of its row weights, where one is stated."""
    return table if weight_kind is None else replace(table, weight_kind=weight_kind)  # type: ignore[type-var]


def read_categories(
    X: Any,
    *,
    kinds: Kinds | None = None,
    scores: Scores | None = None,
    names: Sequence[str] | None = None,
    missing: str = "error",
    encode: Any = None,
    binarize: Any = None,
    weight_kind: str | None = None,
) -> CategoryTable | BinaryTable:
    """Convert a table whose columns may have more than two categories; the input is not changed.

    Parameters
    ----------
    X : array, data frame, sparse matrix, list of rows, CategoryTable or BinaryTable
        As for `read_binary`.
    kinds : {"binary", "ordinal", "nominal"}, one of these per column, or a mapping, optional
        Whether the values of a column are 0 and 1, categories with an order, or categories without. One word holds for
        all columns, a mapping for the columns that it names. Of other columns the type decides: ordered categoricals of
        pandas and Enums of polars are ordinal, other categoricals are nominal, and everything else must be 0 and 1.
        A column with two values is binary, whatever it is called.
    scores : mapping, optional
        The points that the categories of ordinal columns lie at, by name or number of the column: numbers in the order
        of the categories, or a mapping of values to numbers. By default numbers lie where they are, in steps of their
        largest common unit, and ordered categories at 0, 1, 2, ….
    names, missing, binarize, weight_kind
        As for `read_binary`. Missing cells of columns with more than two categories cannot be taken for zero.
    encode : mapping, "auto" or Coding, optional
        As for `read_binary`. For columns of categories it gives the values numbers, which are also their scores:
        ``{"never": 0, "sometimes": 1, "often": 2, "no answer": None}``, for all columns or by column; or, by column,
        the values in their order: ``{"mood": ("low", "middling", "high")}``.

    Returns
    -------
    CategoryTable or BinaryTable
        A BinaryTable if no column has more than two categories.

    Raises
    ------
    DataError
        If a value has no meaning, or a column more than 256 categories; the message names the column and a remedy.

    Examples
    --------
    >>> table = read_categories([[1, "red"], [3, "blue"], [2, "red"], [3, "green"]], kinds=["ordinal", "nominal"])
    >>> table
    CategoryTable(4 rows × 2 columns; 1 ordinal, 1 nominal)
    >>> table.categories, table.codes.tolist()
    (((1, 2, 3), ('blue', 'green', 'red')), [[0, 2], [2, 0], [1, 2], [2, 1]])
    """
    if isinstance(X, BinaryTable | CategoryTable):
        if kinds is not None or scores is not None:
            raise DataError(
                f"{setting('kinds')} and {setting('scores')} must not be given beside a {type(X).__name__}, which has "
                "its own."
            )
        table = _with_kind(X if names is None else X.with_names(names), weight_kind)
        return table.simplest() if isinstance(table, CategoryTable) else table
    is_plain = kinds is None and scores is None and names is None and encode is None and binarize is None
    if is_plain and missing in MISSING_CHOICES and _is_bits(X):
        return BinaryTable(X, coding=Coding(None, (BITS,) * X.shape[1], missing), weight_kind=weight_kind)
    how = {"names": names, "missing": missing, "encode": encode, "binarize": binarize}
    return _with_kind(convert_source(open_source(X), kinds=kinds, scores=scores, **how), weight_kind)


def _is_bits(X: Any) -> bool:
    """Tell whether this is what `convert_source` would return, which takes longer than the fit of a few columns."""
    return type(X) is np.ndarray and X.dtype == np.uint8 and X.ndim == 2 and X.size > 0 and bool(X.max() <= 1)


def to_binary(X: Any) -> Bytes:
    """Return the table as C-contiguous ``uint8`` of 0 and 1, in the memory of an input that is that already."""
    return refuse_holes(read_binary(X)).X


def weights_of(table: RowTable, sample_weight: ArrayLike | None) -> NDArray[np.float64] | None:
    """Return the weights of the rows of a table: those given, or those it brings along."""
    if table.sample_weight is None:
        return check_sample_weight(sample_weight, len(table))
    if sample_weight is not None:
        raise DataError("sample_weight must be given once; got it beside a table that has weights of its own.")
    return table.sample_weight


def scaled_weights_of(
    table: RowTable, sample_weight: ArrayLike | None, *, quiet: bool = False
) -> NDArray[np.float64] | None:
    """Return the weights of the rows of a table, scaled to the sum N: see `scale_weights`."""
    return scale_weights(weights_of(table, sample_weight), table.weight_kind, table.units, quiet=quiet)


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
            "isinglass.impute(X).table."
        )
    return table


def convert_source(
    source: Source,
    *,
    names: Sequence[str] | None = None,
    missing: str = "error",
    encode: Any = None,
    binarize: Any = None,
    kinds: Kinds | None = None,
    scores: Scores | None = None,
) -> BinaryTable | CategoryTable:
    """Convert an opened table; the arguments are those of `read_categories`."""
    if missing not in MISSING_CHOICES:
        raise ArgumentError("missing", 'must be "error", "impute", "zero" or "drop"', missing)
    given = names if names is not None or source.names is None else [str(name) for name in source.names]
    columns = None if given is None else check_names(given, source.shape[1])
    if isinstance(encode, Coding):
        source, columns = _take_columns(source, columns, encode)
    labels: Sequence[Hashable] = range(source.shape[1]) if columns is None else columns
    if columns is not None or not source.numbers:
        source = replace(source, names=labels)
    if isinstance(encode, Coding):
        if binarize is not None or kinds is not None or scores is not None:
            raise DataError(
                f"{setting('encode')} and {setting('binarize')} or {setting('kinds')} must not be combined, if "
                f"{setting('encode')} is a Coding."
            )
        levels = {j: rule for j, rule in enumerate(encode.columns) if isinstance(rule, Levels)}
    else:
        levels = find_levels(source, labels, kinds, scores, encode, binarize)
    if levels:
        return _convert_mixed(source, labels, levels, encode, binarize, Coding(columns, (), missing))
    codes, rules = _convert(source, find_rules(source, labels, encode, binarize))
    return settle(codes, source, Coding(columns, tuple(rules), missing))


def _convert_mixed(
    source: Source, labels: Sequence[Hashable], levels: dict[int, Levels], encode: Any, binarize: Any, coding: Coding
) -> BinaryTable | CategoryTable:
    """Convert a table with columns of categories: these one by one, the others as a table of 0 and 1."""
    others = [j for j in range(len(labels)) if j not in levels]
    codes = np.empty(source.shape, dtype=np.int16)
    rules: dict[int, AnyRule] = dict(levels)
    for j, rule in levels.items():
        codes[:, j] = source.column(j).convert(rule)
    if others:
        known = [labels[j] for j in others]
        if isinstance(encode, Coding):
            encode = replace(encode, columns=tuple(encode.columns[j] for j in others), names=None)
        elif by_column(encode):
            encode = {label: entry for label, entry in encode.items() if label in set(known)} or None
        elif isinstance(encode, Mapping):  # numbers of categories are for the other columns
            encode = {value: bit for value, bit in encode.items() if bit in (0, 1, None)} or None
        part = source.take(others)
        bits, used = _convert(part, find_rules(part, known, encode, binarize))
        rules |= dict(zip(others, used, strict=True))
        codes[:, others] = np.choose(bits, [0, 1, ABSENT, UNKNOWN], out=np.empty(bits.shape, dtype=np.int16))
    every = replace(coding, columns=tuple(rules[j] for j in range(len(labels))))
    if all(rule.kind == "binary" for rule in levels.values()):
        meant = np.choose(codes % 4, [0, 1, BAD, MISSING]).astype(np.uint8)
        return settle(meant, source, every.simplest())
    return settle(codes, source, every)


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
    return _convert_columns(source, rules)


def _convert_block(table: NDArray[Any], masked: NDArray[np.bool_] | None, rule: AnyRule) -> NDArray[Any]:
    """Convert numbers at once; bytes that are bits already are not copied."""
    if rule == BITS and table.dtype in (np.uint8, np.bool_) and masked is None:
        codes = np.ascontiguousarray(table).view(np.uint8)
        if not codes.size or codes.max() <= 1:
            return codes
    return np.ascontiguousarray(convert_numbers(table, masked, rule))


def _convert_columns(source: Source, rules: list[Rule]) -> tuple[Bytes, list[Rule]]:
    """Convert one column after the other, each by its rule."""
    codes = np.empty(source.shape, dtype=np.uint8)
    used = list(rules)
    for j, rule in enumerate(rules):
        column = source.column(j)
        codes[:, j] = column.convert(rule)
        # A column that is 0/1 already, and has none of the values that are to be replaced, stays as it is.
        if rule != BITS and isinstance(rule, Values) and not (codes[:, j] <= 1).any() and (codes[:, j] == BAD).any():
            bits = column.convert(BITS)
            if not (bits == BAD).any():
                codes[:, j], used[j] = bits, BITS
    return codes, used
