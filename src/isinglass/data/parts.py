"""A table in parts: blocks of rows that share one coding, each kept where it is worked on.

Every quantity of the estimates is a sum over rows. A table is asked for such sums; one in parts gives them in the
order of its parts: the same bits whoever computed them. `as_table` opens tables of either kind.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, Protocol, TypeAlias, TypedDict, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import Bytes, FloatArray
from isinglass.data.backends import Backend, Part, find_backend
from isinglass.data.blocks import Block, BlockWeights, find_blocks, is_in_parts
from isinglass.data.coding import BITS, Coding, Levels, Value
from isinglass.data.conversion import convert, read_codes
from isinglass.data.files import FILE_OPTIONS
from isinglass.data.frames import kind_of
from isinglass.data.rules import Binarize, Encode
from isinglass.data.table import Kinds, Scores, Table
from isinglass.data.weights import check_sample_weight, check_weight_kind, warn_of_kind
from isinglass.errors import ArgumentError, DataError, setting
from isinglass.variables import Variables

if TYPE_CHECKING:  # arrays do without narwhals
    import scipy.sparse as sp
    from distributed import Client
    from narwhals.typing import IntoDataFrame

Function = Callable[..., Any]
"""Of codes, weights or None, and other arguments; importable from where the parts are."""
Sum = TypeVar("Sum")


@dataclass(frozen=True)
class Fold:
    """One fold of the rows, drawn in every part by itself; ``held``: its rows, or those outside it."""

    seed: int
    n_folds: int
    number: int
    held: bool

    def mask(self, part: int, n_rows: int) -> NDArray[np.bool_]:
        """Return which rows of a part belong to it."""
        draw = np.random.default_rng([self.seed, part]).permutation(n_rows) % self.n_folds
        return np.asarray((draw == self.number) == self.held)


@dataclass(frozen=True)
class RowSelection:
    """Which rows of a table in parts: all, those of a fold, those whose weight is above a floor."""

    fold: Fold | None = None
    floor: float = -1.0
    scale: float = 1.0  # what row weights are multiplied by, so that their sum is N


@dataclass(frozen=True, eq=False, repr=False)
class PartedTable:
    """A table of two-valued columns in parts. It is asked for sums over rows, as a `Table` is."""

    backend: Backend
    coding: Coding  # how all parts were read
    sizes: tuple[int, ...]  # rows of every part
    n_missing: int = 0  # cells that were filled or dropped
    n_dropped: int = 0  # rows that were left out because of them
    selection: RowSelection = RowSelection()  # which of the rows are meant
    columns: NDArray[np.intp] | None = None  # which of the columns are meant
    weight_kind: str | None = "counts"  # what the weights of the parts stand for; None if these have none

    is_whole: ClassVar[Literal[False]] = False
    sample_weight = row_names = filled = holes = rows = units = None  # the parts have weights of their own

    @property
    def file_options(self) -> dict[str, Any]:  # Any: options of `read_table`
        """The options by which another table in parts is read like this one, beside the coding."""
        first = self.backend.blocks[0]
        options = {name: value for name, value in first.options.items() if name in FILE_OPTIONS}
        return {"weights": first.weights, **options} if first.weights is not None else options

    @cached_property
    def variables(self) -> Variables:
        """What the columns are."""
        every = self.coding.variables
        return every if self.columns is None else every.take(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.variables.names

    @property
    def reading(self) -> Coding:
        """How another table is read in the same way."""
        return self.coding

    @property
    def encoding(self) -> dict[Hashable, tuple[Value, Value]]:
        """As of a `Table`."""
        return self.coding.encoding

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self), len(self.coding.columns) if self.columns is None else len(self.columns)

    @property
    def total_weight(self) -> float:
        """The number of rows: the sum of the weights."""
        return self.sum_rows(_count)

    @property
    def weight_range(self) -> tuple[float, float]:
        """Smallest and largest weight of a row."""
        least, most = zip(*self.each(_extremes), strict=True)
        return min(least), max(most)

    @property
    def codes(self) -> NoReturn:
        """There is no array of all codes."""
        self.whole()

    def __len__(self) -> int:
        fold = self.selection.fold
        if fold is None:
            return sum(self.sizes)
        return int(sum(fold.mask(k, size).sum() for k, size in enumerate(self.sizes)))

    def __repr__(self) -> str:
        n_rows, n_columns = self.shape
        return f"PartedTable({n_rows} rows × {n_columns} columns in {len(self.sizes)} parts, {self.backend!r})"

    def take(self, columns: NDArray[np.intp]) -> PartedTable:
        """Return some of the columns."""
        return replace(self, columns=columns if self.columns is None else self.columns[columns])

    def take_fold(self, fold: Fold) -> PartedTable:
        """Return the rows of a fold, or those outside it."""
        if min(self.sizes) < fold.n_folds:
            raise DataError(
                f"n_folds must be at most the number of rows of every part; got {fold.n_folds} for a part of "
                f"{min(self.sizes)}. Make larger parts."
            )
        return replace(self, selection=replace(self.selection, fold=fold))

    def above(self, floor: float) -> PartedTable:
        """Return the rows whose weight is above a floor."""
        return replace(self, selection=replace(self.selection, floor=floor))

    def with_names(self, names: Sequence[str] | None) -> PartedTable:
        """Return the same table with other names of the columns; None keeps those it has."""
        return self if names is None else replace(self, coding=replace(self.coding, names=tuple(names)))

    def bare(self) -> PartedTable:
        """Return itself: it knows nothing of single rows."""
        return self

    def without_holes(self) -> PartedTable:
        """Return itself: parts have no missing cells."""
        return self

    def counted(self, *, quiet: bool = False) -> PartedTable:
        """Return itself: the weights of parts are scaled when these are read."""
        return self

    def each(self, function: Function, *arguments: object) -> list[Any]:  # Any: what the function returns
        """Return ``function(codes, weight, *arguments)`` of every part, in order."""
        return self.backend.each(_apply, (self.selection, self.columns, function, arguments))

    def sum_rows(self, function: Callable[..., Sum], *arguments: object) -> Sum:
        """Return the sum of ``function(codes, weight, *arguments)`` over the parts, in their order.

        The function returns an array, a number, or a tuple or dict of these, and is importable where the parts are.
        """
        total: Sum = functools.reduce(_add, self.each(function, *arguments))
        return total

    def distinct_rows(self) -> Bytes:
        """Return the combinations of codes that occur, some of them more than once."""
        return np.concatenate(self.each(_distinct))

    def whole(self, *_: object, **__: object) -> NoReturn:
        """Say that rows are needed in memory."""
        raise DataError(
            "X must be one table here; got a table in parts. Paths, the two-stage estimate, EBIC, refits, predictions "
            "and scores take parts; for all else read the table, or a sample of its rows, into memory."
        )

    with_weight = without_weight = unit_weight = weighted_rows = __array__ = __getitem__ = __iter__ = whole


AnyTable = Table | PartedTable


class SparseMatrix(Protocol):
    """A sparse array or matrix of scipy."""

    def tocsr(self) -> object:
        """Return it by rows."""


TableLike: TypeAlias = "ArrayLike | Sequence[object] | AnyTable | SparseMatrix | IntoDataFrame"
"""What `as_table` takes: arrays, lists of rows, frames of any library, sparse matrices, tables, and blocks of these."""


def rows_of(part: Part, selection: RowSelection, columns: NDArray[np.intp] | None) -> tuple[Bytes, FloatArray | None]:
    """Return the rows of a part that are selected, some of their columns, and their weights."""
    codes, weight = part.table(), part.weight
    if weight is not None and selection.scale != 1.0:
        weight = weight * selection.scale
    mask = np.ones(len(codes), dtype=bool) if selection.fold is None else selection.fold.mask(part.number, len(codes))
    if weight is not None:
        mask &= weight > selection.floor
    if not mask.all():
        codes, weight = codes[mask], None if weight is None else weight[mask]
    return (codes if columns is None else np.ascontiguousarray(codes[:, columns])), weight


def _apply(
    part: Part,
    selection: RowSelection,
    columns: NDArray[np.intp] | None,
    function: Callable[..., Sum],
    arguments: Sequence[object],
) -> Sum:
    return function(*rows_of(part, selection, columns), *arguments)


def _add(a: Any, b: Any) -> Any:  # Any: numbers, arrays, or tuples or dicts of these
    if isinstance(a, dict):
        return {name: _add(a[name], b[name]) for name in a}
    return tuple(map(_add, a, b)) if isinstance(a, tuple) else a + b


def _distinct(codes: Bytes, weight: FloatArray | None) -> Bytes:
    return np.unique(codes, axis=0)


def _count(codes: Bytes, weight: FloatArray | None) -> float:
    return float(len(codes)) if weight is None else float(weight.sum())


def _extremes(codes: Bytes, weight: FloatArray | None) -> tuple[float, float]:
    return (1.0, 1.0) if weight is None or len(weight) == 0 else (float(weight.min()), float(weight.max()))


def as_table(
    X: TableLike,
    sample_weight: ArrayLike | None = None,
    *,
    weight_kind: str | None = None,
    kinds: Kinds | None = None,
    scores: Scores | None = None,
    encode: Encode = None,
    binarize: Binarize = None,
    missing: str = "error",
    names: Sequence[str] | None = None,
    variables: Variables | None = None,
    combine_indicators: bool = False,
    na_values: Collection[Hashable] = (),
    covariates: Sequence[str | int] | str = (),
) -> AnyTable:
    """Return anything that is a table as a `Table`, with its weights; what comes in parts as a `PartedTable`.

    Parameters
    ----------
    X : array, data frame, sparse matrix, list of rows, Table, or what `read_parts` opens
        NumPy arrays (also masked, memory-mapped or read-only), frames of pandas, polars or pyarrow, sparse arrays and
        matrices of scipy; it is not changed. A Table is returned as it is: the options about values do not apply to it.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights; by default those that the table has.
    weight_kind : {"sampling", "counts"}, optional
        What row weights stand for. Counts say how many equal rows a row stands for: the number of rows is their sum.
        Sampling weights say how many members of the population: a row is one row, and only ratios of weights matter.
        By default whole numbers are counts, and others sampling weights.
    kinds : {"binary", "ordinal", "nominal", "continuous"}, one of these per column, or a mapping, optional
        Whether the values of a column are 0 and 1, categories with an order, categories without, or numbers. One word
        holds for all columns, a mapping for the columns that it names. Of other columns the type decides: ordered
        categoricals of pandas and Enums of polars are ordinal, other categoricals are nominal, columns of a frame with
        fractions and more than 12 values are continuous, and everything else must be 0 and 1. A column with two values
        is binary, whatever it is called.
    scores : mapping, optional
        The points that the categories of ordinal columns lie at, by name or number of the column: numbers in the order
        of the categories, or a mapping of values to numbers. By default numbers lie where they are, in steps of their
        largest common unit, and ordered categories at 0, 1, 2, …. For a continuous column "normal" replaces numbers by
        normal scores.
    encode : mapping, "auto" or Coding, optional
        What the values mean. A mapping such as ``{"Yes": 1, "No": 0, "Don't know": None}``, where None stands for
        missing, holds for all columns, except those that have none of its values and are 0/1 already; of a column with
        categories it gives the score of each value, and equal ones put categories together. A mapping of column names
        to such mappings, or to pairs ``(zero, one)``, holds for these columns. "auto" finds the two values of every
        other column itself; what it chose is in `Table.encoding`. The coding of another table reads this one in the
        same way: columns are found by name, others are ignored.
    binarize : float or mapping of column names to floats, optional
        Numbers above this threshold are 1, the others 0.
    missing : {"error", "impute", "zero", "drop"}, default="error"
        What to do with missing cells (NaN, None, NA, NaT, masked): refuse them, keep them as holes that are drawn from
        the network when one is estimated, take them as 0, or leave out every row that has one. Those of columns with
        more than two categories cannot be taken for 0.
    names : sequence of str, optional
        Names of the columns, instead of those that the frame has.
    variables : Variables, optional
        What the columns are: arrays then hold the numbers of their categories, and frames the categories themselves.
    combine_indicators : bool, default=False
        Turn every set of neighboring 0/1 columns of which at most one is 1 in any row into one nominal column, named
        after the common part of their names. The coding of the table does the same to another one.
    na_values : sequence, optional
        Further values that stand for a missing cell, such as 99.
    covariates : sequence of str or int, optional
        Columns to adjust for, by name or number: the others are conditioned on them, and they are not modelled. Numbers
        are continuous on up to 255 steps and texts nominal unless ``kinds`` says otherwise.

    Raises
    ------
    DataError
        If a value has no meaning, or a column too many categories; the message names the column and a remedy.

    Examples
    --------
    >>> table = as_table([["Yes", "No"], ["No", None]], names=["rain", "snow"], encode="auto", missing="zero")
    >>> table.codes.tolist(), table.n_missing, table.encoding
    ([[1, 0], [0, 0]], 1, {'rain': ('No', 'Yes'), 'snow': ('No', 'Yes')})
    >>> table = as_table([[1, "red"], [3, "blue"], [2, "red"], [3, "green"]], kinds=["ordinal", "nominal"])
    >>> table
    Table(4 rows × 2 columns; 1 ordinal, 1 nominal)
    >>> table.variables.categories, table.codes.tolist()
    (((1, 2, 3), ('blue', 'green', 'red')), [[0, 2], [2, 0], [1, 2], [2, 1]])
    """
    if isinstance(X, Table | PartedTable):
        if kinds is not None or scores is not None:
            raise DataError(
                f"{setting('kinds')} and {setting('scores')} must not be given beside a table that has its own."
            )
        if covariates:
            if not isinstance(X, Table):
                raise DataError(f"{setting('covariates')} must be for a table in memory; got one in parts.")
            X = X.with_covariates(covariates)
        return _add_weight(X, sample_weight, weight_kind).with_names(names)
    options: dict[str, Any] = {"kinds": kinds, "scores": scores, "encode": encode, "binarize": binarize}
    if is_in_parts(X):
        if covariates:
            raise DataError(f"{setting('covariates')} must be for a table in memory; got one in parts.")
        given = {
            name: value for name, value in {**options, "na_values": na_values or None}.items() if value is not None
        }
        parts = read_parts(X, sample_weight=sample_weight, weight_kind=weight_kind, missing=missing, **given)
        return parts.with_names(names)
    if variables is not None and not variables.is_plain and kind_of(X) is not None:
        options = {"encode": Coding.of(variables)}
    elif variables is not None and not variables.is_binary:
        return _add_weight(read_codes(X, variables), sample_weight, weight_kind)
    options |= {"combine_indicators": combine_indicators, "na_values": na_values, "covariates": covariates}
    table = convert(X, names=names, missing=missing, **options)
    weight = sample_weight
    if weight is not None and table.rows is not None:
        weight = np.asarray(check_sample_weight(weight, len(table) + table.n_dropped))[table.rows]
    return _add_weight(table, weight, weight_kind)


def _add_weight(table: AnyTable, sample_weight: ArrayLike | None, weight_kind: str | None) -> AnyTable:
    """Return a table with its weights: those given, or those it has."""
    if weight_kind is not None:
        table = replace(table, weight_kind=weight_kind)
    if sample_weight is None:
        return table
    if isinstance(table, PartedTable):
        raise DataError("sample_weight must be given to read_parts for a table in parts; got it beside the table.")
    if table.sample_weight is not None:
        raise DataError("sample_weight must be given once; got it beside a table that has weights of its own.")
    return table.with_weight(sample_weight)


class ReadOptions(TypedDict, total=False):
    """Options of `read_table` by which all parts are read; of parts that are no files those of `as_table`."""

    missing: str
    encode: Encode
    binarize: Binarize
    na_values: Collection[Hashable] | Mapping[str | int | None, Sequence[Value]]
    kinds: Kinds | None
    scores: Scores | None
    format: str | None
    delimiter: str | None
    header: bool | str
    id_column: str | int | None
    transpose: bool
    columns: Sequence[str | int] | None
    drop: Sequence[str | int] | None
    labels: Sequence[str | int]
    encoding: str
    decimal: str | None
    sheet: str | int | None
    reverse: Sequence[str | int]
    combine_indicators: bool
    max_rows: int
    max_columns: int
    max_bytes: int | None


def read_parts(
    X: object,
    *,
    weights: str | int | None = None,
    sample_weight: BlockWeights | None = None,
    weight_kind: str | None = None,
    client: Client | Literal[False] | None = None,
    **options: Unpack[ReadOptions],
) -> PartedTable:
    """Open a table that comes in blocks of rows: files, a Dask array or frame, or a sequence of arrays or frames.

    The parts are read on the workers of Dask's current client, and stay there, one bit per cell; without a client, in
    this process. One coding holds for all: names, order and values of the columns are those of the first part (the
    values of all parts with ``encode="auto"``), and a part that disagrees is an error that names it.

    Parameters
    ----------
    X : str, path, list of these, Dask array or frame, or sequence of row blocks
        Files of any kind that `read_table` reads; a pattern such as ``"parts/*.parquet"`` stands for all that fit, in
        order of name.
    weights : str or int, optional
        The column that holds row weights.
    sample_weight : sequence of arrays, or Dask array, optional
        The weights themselves, a block per part.
    weight_kind : {"sampling", "counts"}, optional
        What these weights stand for, as for `as_table`.
    client : dask.distributed.Client, optional
        Whose workers to use; by default the current one, if there is one. False: this process.
    **options
        How values are read: ``missing``, ``encode`` and ``binarize`` as for `as_table`, for files all options of
        `read_table`.

    Returns
    -------
    PartedTable

    Raises
    ------
    DataError
        If a part cannot be read, is empty, has other columns, another order of columns, or a value that the coding
        does not know. The message names the part.

    Examples
    --------
    >>> read_parts([np.eye(3), np.ones((2, 3))])
    PartedTable(5 rows × 3 columns in 2 parts, in this process)
    """
    given = dict(options)
    if given.get("missing") == "impute":
        raise ArgumentError(
            "missing", 'must be "error", "zero" or "drop" for a table in parts', "impute", "Impute a table in memory."
        )
    kinds = " and ".join(setting(kind, python=f'kinds="{kind}"') for kind in ("ordinal", "continuous"))
    for name, shown in (("kinds", kinds), ("scores", setting("scores"))):
        if given.pop(name, None) is not None:
            raise DataError(
                f"{shown} must not be given for a table in parts, whose columns have two values. Read it into memory."
            )
    return _scale_parts(_open(find_blocks(X, weights, sample_weight, given), client, given), weight_kind)


def read_like(
    X: object,
    reading: Mapping[str, Any],
    sample_weight: BlockWeights | None,
    coding: Coding,
    missing: str,
) -> PartedTable:
    """Open a table in parts as one that was read before: by its coding, and by its options of `read_table`.

    Its column of weights is taken for one where it is there again.
    """
    options = {"encode": coding, "missing": missing}
    return _open(find_blocks(X, None, sample_weight, options, reading), None, options)


def _open(blocks: list[Block], client: Client | Literal[False] | None, options: Mapping[str, Any]) -> PartedTable:
    backend = find_backend(blocks, client)
    if options.get("encode") == "auto":
        coding = replace(_agree(backend.read(_describe, blocks)), missing=options.get("missing", "error"))
    else:
        coding = backend.read(_describe, blocks[:1])[0][0]
    backend.load(coding)
    sizes, n_missing, n_dropped = zip(*backend.each(_measure, ()), strict=True)
    return PartedTable(backend, coding, sizes, sum(n_missing), sum(n_dropped))


def _scale_parts(table: PartedTable, kind: str | None) -> PartedTable:
    """Return the table with the kind of its weights, scaled as `scale_weights` does."""
    check_weight_kind(kind, None)
    n_broken, total, n_rows, largest, n_weights = functools.reduce(_add_weights, table.each(_measure_weights))
    if not n_weights:
        return replace(table, weight_kind=None)
    if kind == "counts" and n_broken:
        raise DataError(f"counts must be whole numbers; got {n_broken} weights that are not.")
    found = kind or ("sampling" if n_broken else "counts")
    relative, square = table.sum_rows(_sum_squares, largest)
    effective = total if found == "counts" else relative**2 / square
    if kind is None:
        warn_of_kind(found, total, effective, n_rows)
    if abs(total - effective) <= 1e-9 * effective:
        return replace(table, weight_kind=found)
    return replace(table, weight_kind=found, selection=replace(table.selection, scale=effective / relative / largest))


def _measure_weights(codes: Bytes, weight: FloatArray | None) -> tuple[int, float, int, float, int]:
    """Return the number of weights that are not whole, their sum, how many are not zero, the largest, and how many."""
    if weight is None:
        return 0, float(len(codes)), len(codes), 1.0, 0
    n_broken = int((weight != np.rint(weight)).sum())
    return n_broken, float(weight.sum()), int(np.count_nonzero(weight)), float(weight.max()), len(weight)


def _add_weights(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, ...]:
    n_broken, total, n_rows, _, n_weights = map(operator.add, a, b)
    return n_broken, total, n_rows, max(a[3], b[3]), n_weights


def _sum_squares(codes: Bytes, weight: FloatArray | None, largest: float) -> tuple[float, float]:
    """Return the sum of the weights over the largest, and that of their squares."""
    relative = np.full(len(codes), 1.0 / largest) if weight is None else weight / largest
    return float(relative.sum()), float(relative @ relative)


def split_rows(cells: Bytes | sp.csr_array, weight: FloatArray | None, most: int) -> PartedTable:
    """Return a table of 0 and 1, of bytes or sparse by rows, as parts of at most so many cells, in this process.

    Examples
    --------
    >>> split_rows(np.zeros((5, 2), dtype=np.uint8), None, 4).sizes
    (2, 2, 1)
    """
    step = max(most // cells.shape[1], 1)
    cuts = range(0, cells.shape[0], step)
    weights = None if weight is None else [weight[k : k + step] for k in cuts]
    return _open(find_blocks([cells[k : k + step] for k in cuts], None, weights, {}), False, {})


def _describe(block: Block) -> tuple[Coding, list[list[Value]]]:
    """Read a part by the options; return its coding, and the values that every column takes."""
    table = block.read()
    rules, levels = table.reading.columns, []
    for rule, least, most in zip(rules, table.codes.min(axis=0), table.codes.max(axis=0), strict=True):
        entries = rule.entries if isinstance(rule, Levels) else BITS.entries
        levels.append([value for value, bit in entries.items() if bit in (least, most)])
    return table.reading, levels


def _agree(parts: list[tuple[Coding, list[list[Value]]]]) -> Coding:
    """Return the coding of a small table in which every column takes all values that it has in some part."""
    first, width = parts[0][0], len(parts[0][0].columns)
    levels: list[dict[Value, None]] = [{} for _ in range(width)]
    for coding, found in parts:
        if len(coding.columns) == width:  # else the part is refused when it is read by the coding
            for known, values in zip(levels, found, strict=True):
                known.update(dict.fromkeys(values))
    longest = max(map(len, levels))
    rows = [[list(known)[min(k, len(known) - 1)] if known else 0 for known in levels] for k in range(longest)]
    table = np.empty((longest, width), dtype=object)
    table[:] = rows
    return replace(convert(table, encode="auto").reading, names=first.names)


def _measure(part: Part) -> tuple[int, int, int]:
    return len(part.bits), part.n_missing, part.n_dropped
