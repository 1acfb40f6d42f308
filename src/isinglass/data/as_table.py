"""as_table: anything that is a table, in memory or in parts, as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from isinglass.data.column import UNTYPED
from isinglass.data.meaning.coding import Coding, Layout
from isinglass.data.meaning.conversion import convert_source, open_memory, refuse_options
from isinglass.data.meaning.known_columns import find_columns
from isinglass.data.meaning.rules import contradict
from isinglass.data.options import ReadOptions, ValueOptions, takes
from isinglass.data.parts.blocks import are_files, is_in_parts
from isinglass.data.parts.parted_table import NO_COVARIATES, AnyTable, PartedTable, is_read
from isinglass.data.parts.read_parts import open_parts
from isinglass.data.source import Source
from isinglass.data.table import Table
from isinglass.data.weights import check_weight_kind, settle_kind
from isinglass.errors import DataError, setting
from isinglass.matching import check_width

if TYPE_CHECKING:  # arrays do without narwhals
    from narwhals.typing import IntoDataFrame


class SparseMatrix(Protocol):
    """A sparse array or matrix of scipy."""

    def tocsr(self) -> object:
        """Return it by rows."""


TableLike: TypeAlias = "ArrayLike | Sequence[object] | AnyTable | SparseMatrix | IntoDataFrame"
"""What `as_table` takes: arrays, lists of rows, frames of any library, sparse matrices, tables, and blocks of these."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TableOptions(ValueOptions):
    """All options of `as_table`."""

    sample_weight: ArrayLike | None = field(default=None, kw_only=False)


@takes(TableOptions)
def as_table(X: TableLike, options: TableOptions) -> AnyTable:
    """Convert an array, a data frame or another container to a `Table`; blocks of rows to a `PartedTable`.

    Parameters
    ----------
    X : array, data frame, sparse matrix, list of rows, Table, or blocks of rows
        NumPy arrays (also masked, memory-mapped or read-only), frames of pandas, polars or pyarrow, sparse arrays and
        matrices of scipy; it is not changed. A Table keeps its values: options that it was not read by are refused.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights; by default those that the table has.
    weight_kind : {"sampling", "counts"}, optional
        What the row weights are. A count is the number of equal rows that a row stands for, and the number of rows is
        the sum of the counts. Of sampling weights only the ratios matter. By default whole numbers are counts.
    kinds : {"binary", "ordinal", "nominal", "continuous"}, one of these per column, or a mapping, optional
        Whether the values of a column are 0 and 1, categories with an order, categories without, or numbers. A mapping
        names columns by name, number from 0, range ``"A1:A5"`` or pattern ``"A*"``, as all mappings below do. For other
        columns the type decides: ordered categoricals are ordinal, other categoricals nominal, columns of a frame with
        fractions and more than 12 values continuous, and everything else must be 0 and 1. A column with two values is
        binary under any of these names.
    scores : mapping, optional
        The scores of the categories of ordinal columns: numbers in their order, or a mapping of values to numbers. By
        default numbers are their own scores, in steps of their largest common unit, and ordered categories have
        0, 1, 2, …. For a continuous column "normal" replaces numbers by normal scores.
    encode : mapping, "auto" or Coding, optional
        What the values mean: ``{"Yes": 1, "No": 0, "Don't know": None}``, where None stands for missing, for all
        columns, except 0/1 columns that have none of its values, or a mapping of columns to such mappings or to pairs
        ``(zero, one)``. For a column with categories it gives the score of each value, and equal scores merge
        categories. "auto" detects the two values of every column that is not 0/1 (`Table.encoding`);
        ``{None: "auto", "sex": {…}}`` does so for columns that are not named. The `Coding` of another table reads this
        one in the same way: columns are found by name, and others are ignored.
    binarize : float or mapping of columns to floats, optional
        Numbers above this threshold are 1, the others 0.
    reverse : sequence of str or int, default=()
        Ordered columns to reverse: the last category comes first.
    missing : {"error", "impute", "zero", "drop"}, default="error"
        What to do with missing cells (NaN, None, NA, NaT, masked): refuse them, impute them from the network when one
        is estimated, read them as 0 (columns of two values only), or leave out every row that has one.
    names : sequence of str, optional
        Names of the columns, in place of those of the frame.
    combine_indicators : bool, default=False
        Combine each set of three or more adjacent indicator (dummy) columns of 0 and 1, of which at most one is 1 in
        any row, into one nominal column, named after the common part of their names. Other options then speak of the
        combined columns.
    na_values : sequence or mapping, optional
        Further values that stand for a missing cell, such as 99. A mapping gives one or more for each column that it
        names, under None for all.
    covariates : sequence of str or int, optional
        Columns to adjust for. The network of the others is conditional on them, and they are not nodes. Unless
        ``kinds`` says otherwise, numbers are continuous with up to 255 steps, and texts are nominal.
    guess : bool, default=False
        Guess the kind of columns that no argument describes, and leave out those that are probably no variables;
        `Table.guesses` has the guesses.

    Raises
    ------
    DataError
        If a value has no meaning, or a column too many categories; the message names the column and a remedy.

    Examples
    --------
    >>> rows = [["Yes", "No"], ["No", None], ["No", "Yes"]]
    >>> table = as_table(rows, names=["rain", "snow"], encode="auto", missing="zero")
    >>> table.codes.tolist(), table.n_missing, table.encoding
    ([[1, 0], [0, 0], [0, 1]], 1, {'rain': ('No', 'Yes'), 'snow': ('No', 'Yes')})
    >>> as_table([[1, "red"], [3, "blue"], [2, "red"], [3, "green"]], kinds=["ordinal", "nominal"])
    Table(4 rows × 2 columns; 1 ordinal, 1 nominal)
    """
    return open_table(X, options, options.sample_weight)


def open_table(X: TableLike, options: ValueOptions, sample_weight: ArrayLike | None = None) -> AnyTable:
    """Return anything that is a table as one, as `as_table` does."""
    check_weight_kind(options.weight_kind, None)
    if is_read(X):  # options about its values are refused, unless it was read by them
        chosen = _choose_columns(_check_options(X, options), options.encode)
        return _add_weight(chosen, sample_weight, options.weight_kind).with_names(options.names)
    if is_in_parts(X) and not are_files(X):
        return open_parts(X, ReadOptions.of(options), sample_weight)
    return convert_source(open_memory(X, options, sample_weight), options)


def _check_options(table: AnyTable, options: ValueOptions) -> AnyTable:
    """Return a table with its covariates; refuse options about values that it was not read by."""
    names = table.names if table.variables.named else None
    columns = Source(table.shape, lambda _: UNTYPED, names=names, layout=Layout(decimal=table.coding.layout.decimal))
    stated = replace(options, encode=None) if isinstance(options.encode, Coding) else options
    refuse_options(columns, table.coding, stated)
    treatment = table.missing_treatment
    if treatment and options.missing not in ("error", treatment) and not isinstance(options.encode, Coding):
        raise DataError(
            f"{setting('missing')} must be given where the table is read (as_table, read_table); this one was read "
            f"with {setting('missing', treatment)}."
        )
    if not options.covariates:
        return table
    if not isinstance(table, Table):
        raise DataError(NO_COVARIATES)
    return table.with_covariates(list(columns.locate(dict.fromkeys(options.covariates), "covariates")))


def _choose_columns(table: AnyTable, known: object) -> AnyTable:
    """Return the columns of a table that a coding means, with its names, if both have names; refuse other values."""
    if not isinstance(known, Coding):
        return table
    if known.names not in (None, table.names) and table.variables.named:
        places = find_columns(known.called_here, table.names)
        table = table.take(np.array(places, dtype=np.intp)).with_names(known.names)
    check_width(table.shape[1], known.variables)
    for name, own, rule in zip(table.names, table.coding.columns, known.columns, strict=True):
        if contradict(own, rule):
            raise DataError(
                f"{setting('X')} must be read as the table of the fit was; the values of column {name!r} stand for "
                "something else here. Read the table by its coding, as_table(frame, encode=fit.coding)."
            )
    return table


def _add_weight(table: AnyTable, sample_weight: ArrayLike | None, weight_kind: str | None) -> AnyTable:
    """Return a table with its weights: those given, or those it has."""
    if weight_kind is not None and weight_kind != table.weight_kind:
        table = table.with_weight_kind(weight_kind)
    if sample_weight is None:
        return table
    if isinstance(table, PartedTable):
        raise DataError("sample_weight of a table in parts must be given to read_parts, not with the table.")
    if table.sample_weight is not None:
        raise DataError("sample_weight must not be given with a table that has its own weights.")
    weighted = table.with_weight(sample_weight)
    return replace(weighted, weight_kind=settle_kind(weighted.sample_weight, weighted.weight_kind))
