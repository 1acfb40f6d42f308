"""A table in parts: blocks of rows that share one coding, each kept where it is worked on.

Every quantity of the estimates is a sum over rows. A table in parts is asked for such sums, and gives them in the order
of its parts: the same bits whoever computed them.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.data.blocks import Block, find_blocks, is_in_parts
from isinglass.data.coding import BITS, Coding, Values
from isinglass.data.conversion import read_binary, read_categories, refuse_holes, weights_of
from isinglass.data.hosts import Host, Part, find_host
from isinglass.data.table import BinaryTable, CategoryTable
from isinglass.data.weights import check_weight_kind, kind_of, scale_weights, warn_of_kind
from isinglass.errors import ArgumentError, DataError, setting

Function = Callable[..., Any]
"""Of a table, its weights or None, and other arguments; importable from where the parts are."""


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
class RowsMeant:
    """Which rows of a table in parts are meant: all, those of a fold, those whose weight is above a floor."""

    fold: Fold | None = None
    floor: float = -1.0
    scale: float = 1.0  # what row weights are multiplied by, so that their sum is N


@dataclass(frozen=True, eq=False, repr=False)
class PartedTable:
    """A table of 0 and 1 in parts. Functions of tables take it wherever sums over rows are all they need."""

    host: Host
    coding: Coding  # how all parts were read
    sizes: tuple[int, ...]  # rows of every part
    n_missing: int = 0  # cells that were filled or dropped
    n_dropped: int = 0  # rows that were left out because of them
    meant: RowsMeant = RowsMeant()  # which of the rows are meant
    columns: NDArray[np.intp] | None = None  # which of the columns are meant
    weight_kind: str = "counts"  # what the weights of the parts stand for

    sample_weight = scaled_weight = row_names = filled = holes = rows = None  # the parts have weights of their own

    @property
    def X(self) -> PartedTable:  # noqa: N802 - as of a BinaryTable
        """Itself: sums over rows take it as they take an array."""
        return self

    @property
    def block(self) -> Block:
        """How its parts were read: one of them, without its rows."""
        first = self.host.blocks[0]
        meaning = ("encode", "binarize", "missing")
        options = {name: value for name, value in first.options.items() if name not in meaning}
        return replace(first, what=None, sample_weight=None, options=options)

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns."""
        return self.coding.names

    @property
    def reading(self) -> Coding:
        """How another table is read in the same way."""
        return self.coding

    @property
    def encoding(self) -> dict[Any, tuple[Any, Any]]:
        """As of a `BinaryTable`."""
        return self.coding.encoding

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self), len(self.coding.columns) if self.columns is None else len(self.columns)

    def __len__(self) -> int:
        fold = self.meant.fold
        if fold is None:
            return sum(self.sizes)
        return int(sum(fold.mask(k, size).sum() for k, size in enumerate(self.sizes)))

    def __repr__(self) -> str:
        n_rows, n_columns = self.shape
        return f"PartedTable({n_rows} rows × {n_columns} columns in {len(self.sizes)} parts, {self.host!r})"

    def take_columns(self, columns: NDArray[np.intp]) -> PartedTable:
        """Return some of the columns."""
        return replace(self, columns=columns)

    def take_fold(self, fold: Fold) -> PartedTable:
        """Return the rows of a fold, or those outside it."""
        if min(self.sizes) < fold.n_folds:
            raise DataError(
                f"n_folds must be at most the number of rows of every part; got {fold.n_folds} for a part of "
                f"{min(self.sizes)}. Make larger parts."
            )
        return replace(self, meant=replace(self.meant, fold=fold))

    def above(self, floor: float) -> PartedTable:
        """Return the rows whose weight is above a floor."""
        return replace(self, meant=replace(self.meant, floor=floor))

    def with_names(self, names: Sequence[str] | None) -> PartedTable:
        """Return the same table with other names of the columns."""
        known = None if names is None else tuple(names)
        return replace(self, coding=replace(self.coding, names=known))

    def each(self, function: Function, *arguments: Any) -> list[Any]:
        """Return ``function(table, weight, *arguments)`` of every part, in order."""
        return self.host.each(_apply, (self.meant, self.columns, function, arguments))

    def refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Say that rows are needed in memory."""
        raise DataError(
            "X must be one table here; got a table in parts. Paths, the two-stage estimate, EBIC, refits, predictions "
            "and scores take parts; for all else read the table, or a sample of its rows, into memory."
        )

    __array__ = __getitem__ = __iter__ = astype = refuse


def rows_of(part: Part, meant: RowsMeant, columns: NDArray[np.intp] | None) -> tuple[Any, Any]:
    """Return the rows of a part that are meant, some of their columns, and their weights."""
    table, weight = part.table(), part.weight
    if weight is not None and meant.scale != 1.0:
        weight = weight * meant.scale
    mask = np.ones(len(table), dtype=bool) if meant.fold is None else meant.fold.mask(part.number, len(table))
    if weight is not None:
        mask &= weight > meant.floor
    if not mask.all():
        table, weight = table[mask], None if weight is None else weight[mask]
    return (table if columns is None else np.ascontiguousarray(table[:, columns])), weight


def _apply(
    part: Part, meant: RowsMeant, columns: NDArray[np.intp] | None, function: Function, arguments: Sequence[Any]
) -> Any:
    return function(*rows_of(part, meant, columns), *arguments)


def over_rows(function: Function, table: Any, weight: NDArray[np.float64] | None, *arguments: Any) -> Any:
    """Return a sum over rows: ``function(table, weight, *arguments)``, or its sum over the parts of a table.

    The function returns an array, a number, or a tuple or dict of these.
    """
    if not isinstance(table, PartedTable):
        return function(table, weight, *arguments)
    return functools.reduce(_add, table.each(function, *arguments))


def _add(a: Any, b: Any) -> Any:
    if isinstance(a, dict):
        return {name: _add(a[name], b[name]) for name in a}
    return tuple(map(_add, a, b)) if isinstance(a, tuple) else a + b


def read_parts(
    X: Any,
    *,
    weights: str | int | None = None,
    sample_weight: Any = None,
    weight_kind: str | None = None,
    client: Any = None,
    **options: Any,
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
        What these weights stand for, as for `read_binary`.
    client : dask.distributed.Client, optional
        Whose workers to use; by default the current one, if there is one. False: this process.
    **options
        How values are read: ``missing``, ``encode`` and ``binarize`` as for `read_binary`, for files all options of
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
    if options.get("missing") == "impute":
        raise ArgumentError(
            "missing", 'must be "error", "zero" or "drop" for a table in parts', "impute", "Impute a table in memory."
        )
    kinds = " and ".join(setting(kind, python=f'kinds="{kind}"') for kind in ("ordinal", "nominal"))
    for name, shown in (("kinds", kinds), ("scores", setting("scores"))):
        if options.pop(name, None) is not None:
            raise DataError(
                f"{shown} must not be given for a table in parts, whose columns have two values. Read it into memory."
            )
    return _scale_parts(_open(find_blocks(X, weights, sample_weight, options), client, options), weight_kind)


def read_rows(X: Any, **options: Any) -> Any:
    """Return a `BinaryTable`, a `CategoryTable` as it is, or a `PartedTable` of what comes in parts.

    The options are those of `read_categories`.
    """
    if isinstance(X, PartedTable | CategoryTable):
        return X
    return read_parts(X, **options) if is_in_parts(X) else read_categories(X, **options)


def open_rows(X: Any, sample_weight: ArrayLike | None) -> tuple[Any, Any, NDArray[np.float64] | None]:
    """Return what was read, and what `to_weighted` returns."""
    if not isinstance(X, PartedTable) and is_in_parts(X):
        X, sample_weight = read_parts(X, sample_weight=sample_weight), None
    if not isinstance(X, PartedTable):
        table = refuse_holes(read_categories(X))
        return table, table.X, weights_of(table, sample_weight)
    if sample_weight is not None:
        raise DataError("sample_weight must be given to read_parts for a table in parts; got it beside the table.")
    return X, X, None


def to_weighted(X: Any, sample_weight: ArrayLike | None) -> tuple[Any, NDArray[np.float64] | None]:
    """Return the table and the weights of its rows: bytes and an array, or a table in parts, which has its own.

    A table with categories stays one, without its weights.
    """
    return open_rows(X, sample_weight)[1:]


def counted_table(X: Any, sample_weight: ArrayLike | None, *, quiet: bool = False) -> Any:
    """Return the table with weights whose sum is the number of rows, N, of its criteria: see `scale_weights`."""
    source, _, weight = open_rows(X, sample_weight)
    if isinstance(source, PartedTable):
        return source
    scaled = scale_weights(weight, source.weight_kind, source.units, quiet=quiet)
    return replace(source, sample_weight=scaled, weight_kind=kind_of(scaled, source.units))


def to_counted(X: Any, sample_weight: ArrayLike | None) -> tuple[Any, NDArray[np.float64] | None]:
    """Return what `to_weighted` does, with weights whose sum is the number of rows, N, of the criteria."""
    source, table, weight = open_rows(X, sample_weight)
    if isinstance(source, PartedTable):
        return table, weight
    return table, scale_weights(weight, source.weight_kind, source.units)


def bare_rows(table: BinaryTable | CategoryTable) -> Any:
    """Return what resamples are made of: bytes, or categories without weights, holes and row numbers."""
    if isinstance(table, BinaryTable):
        return table.X
    bare = replace(table, sample_weight=None, weight_kind=None)
    return replace(bare, holes=None, rows=None, row_names=None, n_missing=0, labels={})


def read_like(X: Any, block: Block | None, sample_weight: Any = None, **options: Any) -> PartedTable:
    """Open a table in parts as one that was read before, of which ``block`` is a block without its rows.

    Its column of weights is taken for one where it is there again, and files are read by its options.
    """
    return _open(find_blocks(X, None, sample_weight, options, block), None, options)


def _open(blocks: list[Block], client: Any, options: Mapping[str, Any]) -> PartedTable:
    host = find_host(blocks, client)
    if options.get("encode") == "auto":
        coding = replace(_agree(host.read(_describe, blocks)), missing=options.get("missing", "error"))
    else:
        coding = host.read(_describe, blocks[:1])[0][0]
    host.load(coding)
    sizes, n_missing, n_dropped = zip(*host.each(_measure, ()), strict=True)
    return PartedTable(host, coding, sizes, sum(n_missing), sum(n_dropped))


def _scale_parts(table: PartedTable, kind: str | None) -> PartedTable:
    """Return the table with the kind of its weights, scaled as `scale_weights` does."""
    check_weight_kind(kind, None)
    n_broken, total, n_rows, largest = functools.reduce(_add_weights, table.each(_measure_weights))
    if kind == "counts" and n_broken:
        raise DataError(f"counts must be whole numbers; got {n_broken} weights that are not.")
    found = kind or ("sampling" if n_broken else "counts")
    relative, square = over_rows(_sum_squares, table, None, largest)
    effective = total if found == "counts" else relative**2 / square
    if kind is None:
        warn_of_kind(found, total, effective, n_rows)
    if abs(total - effective) <= 1e-9 * effective:
        return replace(table, weight_kind=found)
    return replace(table, weight_kind=found, meant=replace(table.meant, scale=effective / relative / largest))


def _measure_weights(table: Any, weight: NDArray[np.float64] | None) -> tuple[int, float, int, float]:
    """Return the number of weights that are not whole, the sum of all, how many are not zero, and the largest."""
    if weight is None:
        return 0, float(len(table)), len(table), 1.0
    return int((weight != np.rint(weight)).sum()), float(weight.sum()), int(np.count_nonzero(weight)), weight.max()


def _add_weights(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*map(operator.add, a[:3], b[:3]), max(a[3], b[3]))


def _sum_squares(table: Any, weight: NDArray[np.float64] | None, largest: float) -> tuple[float, float]:
    """Return the sum of the weights over the largest, and that of their squares."""
    relative = np.full(len(table), 1.0 / largest) if weight is None else weight / largest
    return float(relative.sum()), float(relative @ relative)


def split_rows(table: Any, weight: NDArray[np.float64] | None, most: int) -> PartedTable:
    """Return a table, of bytes or sparse by rows, as parts of at most so many cells, in this process.

    Examples
    --------
    >>> split_rows(np.zeros((5, 2), dtype=np.uint8), None, 4).sizes
    (2, 2, 1)
    """
    step = max(most // table.shape[1], 1)
    cuts = range(0, table.shape[0], step)
    weights = None if weight is None else [weight[k : k + step] for k in cuts]
    return _open(find_blocks([table[k : k + step] for k in cuts], None, weights, {}), False, {})


def _describe(block: Block) -> tuple[Coding, list[list[Any]]]:
    """Read a part by the options; return its coding, and the values that every column takes."""
    table = block.read()
    rules, levels = table.reading.columns, []
    for rule, least, most in zip(rules, table.X.min(axis=0), table.X.max(axis=0), strict=True):
        entries = rule.entries if isinstance(rule, Values) else BITS.entries
        levels.append([value for value, bit in entries.items() if bit in (least, most)])
    return table.reading, levels


def _agree(parts: list[tuple[Coding, list[list[Any]]]]) -> Coding:
    """Return the coding of a small table in which every column takes all values that it has in some part."""
    first, width = parts[0][0], len(parts[0][0].columns)
    levels: list[dict[Any, None]] = [{} for _ in range(width)]
    for coding, found in parts:
        if len(coding.columns) == width:  # else the part is refused when it is read by the coding
            for known, values in zip(levels, found, strict=True):
                known.update(dict.fromkeys(values))
    longest = max(map(len, levels))
    rows = [[list(known)[min(k, len(known) - 1)] if known else 0 for known in levels] for k in range(longest)]
    table = np.empty((longest, width), dtype=object)
    table[:] = rows
    return replace(read_binary(table, encode="auto").reading, names=first.names)


def _measure(part: Part) -> tuple[int, int, int]:
    return len(part.bits), part.n_missing, part.n_dropped
