"""A table in parts: blocks of rows that share one coding, each kept where it is worked on.

Every quantity of the estimates is a sum over rows. A table is asked for such sums; one in parts gives them in the
order of its parts: bit-identical whichever process computes them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NoReturn, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from isinglass.arguments import Options
from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.data.meaning.coding import Coding
from isinglass.data.meaning.values import Value
from isinglass.data.parts.backends import Answers, Backend, Function, Part
from isinglass.data.table import Table
from isinglass.data.weights import WeightSums, check_weight_kind, refuse_counts
from isinglass.errors import DataError, plural, setting
from isinglass.names import choose_places
from isinglass.variables import Variables

Sum = TypeVar("Sum")
_IN_PARTS = (
    "X must be in memory here; got a table in parts. Joint paths, the two-stage estimate, EBIC, refits, predictions "
    "and scores accept parts; for everything else, read the table, or a sample of its rows, into memory."
)
NO_COVARIATES = (
    f"{setting('covariates')} need a table in memory; this one is in parts. Read it into memory as one table."
)


class RowsElsewhereError(DataError, AttributeError):
    """An attribute needs the rows of a table in parts: ``hasattr`` is False for it."""


@dataclass(frozen=True)
class Fold:
    """One fold of the rows, drawn in every part by itself; ``held``: its rows, or those outside it."""

    seed: int
    n_folds: int
    number: int
    held: bool


@dataclass(frozen=True)
class RowSelection:
    """Which rows of a table in parts are meant: all, those of a fold of a fold, those whose weight is above a floor."""

    folds: tuple[Fold, ...] = ()  # each of the rows of the one before
    floor: float = -1.0
    scale: float = 1.0  # what row weights are multiplied by, so that their sum is N

    def mask(self, part: int, n_rows: int) -> Mask:
        """Return which rows of a part are in all folds."""
        mask = np.ones(n_rows, dtype=bool)
        for fold in self.folds:
            draw = np.random.default_rng([fold.seed, part]).permutation(int(mask.sum())) % fold.n_folds
            mask[mask] = (draw == fold.number) == fold.held
        return mask

    def rows(self, part: Part, columns: NDArray[np.intp] | None) -> tuple[Bytes, FloatArray | None]:
        """Return the rows of a part that are selected, some of their columns, and their weights."""
        codes, weight = part.codes(), part.weight
        if self.scale != 1.0:
            weight = np.full(len(codes), self.scale) if weight is None else weight * self.scale
        mask = self.mask(part.number, len(codes))
        if weight is not None:
            mask &= weight > self.floor
        if not mask.all():
            codes, weight = codes[mask], None if weight is None else weight[mask]
        return (codes if columns is None else np.ascontiguousarray(codes[:, columns])), weight


@dataclass(frozen=True, eq=False, repr=False)
class PartedTable:
    """A table of two-valued columns in parts. It is asked for sums over rows, as a `Table` is.

    What may be asked of any table has an answer here; what needs the rows in the memory of this process is refused.
    """

    backend: Backend
    coding: Coding  # how the columns that are meant were read
    sizes: tuple[int, ...]  # rows of every part
    n_missing: int = 0  # cells that were filled or dropped
    n_dropped: int = 0  # rows that were left out because of them
    weights: WeightSums | None = None  # the weights of all rows as they were read; None if no part has some
    selection: RowSelection = RowSelection()  # which of the rows are meant
    columns: NDArray[np.intp] | None = None  # which of the columns are meant
    weight_kind: str | None = None  # what the weights stand for; None if there are none, or it was not asked

    is_whole: ClassVar[Literal[False]] = False
    n_unlabeled: ClassVar[Literal[0]] = 0
    rows: ClassVar[None] = None
    units: ClassVar[None] = None  # no row is a copy
    holes: ClassVar[None] = None  # no cell is to be imputed
    drawn: ClassVar[None] = None  # or was imputed

    @property
    def file_options(self) -> Options:
        """The options by which another table in parts is read like this one, beside the coding."""
        return self.backend.blocks[0].options.for_files

    @cached_property
    def variables(self) -> Variables:
        """What the columns are."""
        return self.coding.variables

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.variables.names

    @property
    def missing_treatment(self) -> str | None:
        """As of a `Table`."""
        return self.coding.missing if self.n_missing else None

    @property
    def encoding(self) -> dict[Hashable, tuple[Value, Value]]:
        """As of a `Table`."""
        return self.coding.encoding

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self), len(self.coding.columns)

    @cached_property
    def total_weight(self) -> float:
        """The number of rows: the sum of the weights."""
        return float(len(self)) if self.weights is None else self.sum_rows(_count)

    @cached_property
    def weight_range(self) -> tuple[float, float]:
        """Smallest and largest weight of a row."""
        if self.weights is None:
            return 1.0, 1.0
        least, most = zip(*self.each(_extremes), strict=True)
        return min(least), max(most)

    def __len__(self) -> int:
        return sum(self._sizes)

    @cached_property
    def _sizes(self) -> tuple[int, ...]:
        """Rows of every part that are selected, also those of weight 0."""
        if not self.selection.folds:
            return self.sizes
        return tuple(int(self.selection.mask(k, size).sum()) for k, size in enumerate(self.sizes))

    def __repr__(self) -> str:
        n_rows, n_columns = self.shape
        parts = plural(len(self.sizes), "part")
        size = f"{plural(n_rows, 'row')} × {plural(n_columns, 'column')}"
        return f"PartedTable({size} in {parts}, {self.backend!r})"

    def take(self, columns: Sequence[int] | NDArray[np.intp] | Mask) -> PartedTable:
        """Return some of the columns, in this order."""
        places = choose_places(columns, self.shape[1])
        chosen = places if self.columns is None else self.columns[places]
        return replace(self, columns=chosen, coding=self.coding.take(places.tolist()))

    def take_fold(self, fold: Fold) -> PartedTable:
        """Return the rows of a fold, or those outside it."""
        smallest = min(size for size in self._sizes if size)
        if smallest < fold.n_folds:
            raise DataError(
                f"n_folds must be at most the number of rows of every part; got {fold.n_folds} for a part of "
                f"{smallest}. Make larger parts."
            )
        return replace(self, selection=replace(self.selection, folds=(*self.selection.folds, fold)))

    def above(self, floor: float) -> PartedTable:
        """Return the rows whose weight is above a floor."""
        higher = replace(self.selection, floor=max(floor, self.selection.floor))
        return self if self.weights is None else replace(self, selection=higher)

    def with_names(self, names: Sequence[str] | None) -> PartedTable:
        """Return the same table with other names of the columns; None keeps those it has."""
        variables = self.variables.with_names(names)
        return self if variables is self.variables else replace(self, coding=self.coding.with_names(variables.names))

    def with_weight_kind(self, kind: str | None) -> PartedTable:
        """Return the table with weights of this kind, or the one that is found, scaled as those of a `Table` are."""
        check_weight_kind(kind, None)
        sums = self.weights
        if sums is None:
            return replace(self, weight_kind=None)
        if kind == "counts" and sums.n_broken:
            refuse_counts(f"{plural(sums.n_broken, 'weight')} with decimals")
        kind_found, factor = sums.find_scale(kind)
        scale = 1.0 if factor is None else factor / sums.largest
        return replace(self, weight_kind=kind_found, selection=replace(self.selection, scale=scale))

    def without_holes(self) -> PartedTable:
        """Return the table, in which no cell is missing."""
        return self

    def counted(self, *, quiet: bool = False) -> PartedTable:
        """Return the table, whose weights were scaled when it was read, or before it was cut into parts."""
        return self

    def whole(self) -> NoReturn:
        """Refuse: the rows are needed in memory."""
        raise DataError(_IN_PARTS)

    def _refuse(self, *asked: object, **how: object) -> NoReturn:
        raise RowsElsewhereError(_IN_PARTS)

    # Python looks up special methods in the class: __getattr__ would not do.
    codes = unit_weight = weighted_rows = property(_refuse)
    with_weight = __getitem__ = __iter__ = __array__ = _refuse

    def each(self, function: Function, *arguments: object) -> Answers:
        """Return ``function(codes, weight, *arguments)`` of every part, in order."""
        return self.backend.each(_apply, (self.selection, self.columns, function, arguments))

    def sum_rows(self, function: Callable[..., Sum], *arguments: object) -> Sum:
        """Return the sum of ``function(codes, weight, *arguments)`` over the parts, in their order.

        The function returns an array, a number, or a tuple or dict of these, and is importable where the parts are.
        Sums without other arguments are remembered: every problem of the same rows asks for them.
        """
        total: Sum | None = None if arguments else self._remembered.get(function)
        if total is None:
            total = functools.reduce(add_up, self.each(function, *arguments))
        if not arguments:
            self._remembered[function] = total
        return total

    @cached_property
    def _remembered(self) -> dict[Function, Any]:  # Any: what the function returns
        return {}

    def gather(self) -> Table:
        """Return the rows as a table in this process; they must fit into its memory."""
        codes, weights = zip(*self.each(_rows), strict=True)
        weight = None if self.weights is None else np.concatenate(weights)
        return Table(np.concatenate(codes), self.variables, weight, self.weight_kind)

    def distinct_rows(self) -> Bytes:
        """Return the combinations of codes that occur, some of them more than once."""
        return np.concatenate(self.each(_distinct))


AnyTable = Table | PartedTable


def is_read(X: object) -> TypeGuard[AnyTable]:
    """Tell whether something is a table of this package, which has been read already."""
    return isinstance(X, AnyTable)


def _apply(
    part: Part,
    selection: RowSelection,
    columns: NDArray[np.intp] | None,
    function: Callable[..., Sum],
    arguments: Sequence[object],
) -> Sum:
    return function(*selection.rows(part, columns), *arguments)


def add_up(a: Any, b: Any) -> Any:  # Any: numbers, arrays, or tuples or dicts of these
    """Return the sum of what two parts answered."""
    if isinstance(a, dict):
        return {name: add_up(a[name], b[name]) for name in a}
    return tuple(map(add_up, a, b)) if isinstance(a, tuple) else a + b


def _rows(codes: Bytes, weight: FloatArray | None) -> tuple[Bytes, FloatArray]:
    return codes, np.ones(len(codes)) if weight is None else weight


def _distinct(codes: Bytes, weight: FloatArray | None) -> Bytes:
    return np.unique(codes, axis=0)


def _count(codes: Bytes, weight: FloatArray | None) -> float:
    return float(len(codes)) if weight is None else float(weight.sum())


def _extremes(codes: Bytes, weight: FloatArray | None) -> tuple[float, float]:
    _, weight = _rows(codes, weight)
    return float(weight.min(initial=np.inf)), float(weight.max(initial=-np.inf))
