"""Tables: BinaryTable of 0 and 1, CategoryTable of category numbers, what they share, and what was done to get them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray
from isinglass.data.coding import BITS, KINDS, Coding, Levels
from isinglass.data.levels import MOST_CATEGORIES, check_scores, per_column
from isinglass.data.weights import check_sample_weight, check_weight_kind, scale_weights
from isinglass.errors import ArgumentError, DataError, setting
from isinglass.names import check_names
from isinglass.variables import Variables

Kinds = str | Sequence[str] | Mapping[Any, str]
Scores = Mapping[Any, ArrayLike]


class RowTable:
    """What tables share whatever their cells stand for: names, weights and numbers of rows, and some of the rows."""

    _cells: ClassVar[str] = "X"  # the field that holds the bytes

    names: tuple[str, ...] | None
    row_names: tuple[str, ...] | None
    sample_weight: NDArray[np.float64] | None
    weight_kind: str | None
    rows: NDArray[np.intp] | None
    n_missing: int
    n_dropped: int
    filled: NDArray[np.bool_] | None = None
    holes: NDArray[np.bool_] | None
    labels: Mapping[str, tuple[Any, ...]]

    def _check_rows(self) -> None:
        """Check what comes beside the cells."""
        cells: NDArray[np.uint8] = getattr(self, self._cells)
        n_rows = len(cells)
        object.__setattr__(self, self._cells, np.ascontiguousarray(cells))
        object.__setattr__(self, "names", None if self.names is None else check_names(self.names, cells.shape[1]))
        object.__setattr__(self, "sample_weight", check_sample_weight(self.sample_weight, n_rows))
        check_weight_kind(self.weight_kind, self.sample_weight if self.rows is None else None)  # copies share a count
        for name in ("row_names", "rows"):
            given = getattr(self, name)
            if given is not None and len(given) != n_rows:
                raise DataError(f"{name} must have one entry per row ({n_rows}); got {len(given)}.")
        for name, entries in self.labels.items():
            if len(entries) != n_rows:
                raise DataError(f"labels must have one entry per row ({n_rows}); {name!r} has {len(entries)}.")
        for name in ("filled", "holes"):
            marks = getattr(self, name)
            if marks is not None and marks.shape != cells.shape:
                raise DataError(f"{name} must have the shape of {self._cells}, {cells.shape}; got {marks.shape}.")

    @property
    def reading(self) -> Coding:
        """How another table is read in the same way."""
        raise NotImplementedError

    @property
    def encoding(self) -> dict[Hashable, tuple[Any, Any]]:
        """For each column that was not 0/1 already: its two source values, ``(zero, one)``.

        The key is the name of the column, or its number if there are no names; several values with one meaning are a
        tuple.
        """
        return self.reading.encoding

    def with_names(self, names: Sequence[str] | None) -> Self:
        """Return the same table with other names of the columns."""
        known = None if names is None else tuple(names)
        return replace(self, names=known, coding=replace(self.reading, names=known))  # type: ignore[type-var]

    def with_cells(self, cells: NDArray[np.uint8], **changes: Any) -> Self:
        """Return a table of the same columns with other rows; ``changes`` are what comes beside the cells."""
        return replace(self, **{self._cells: cells}, **changes)  # type: ignore[type-var]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        n_rows, n_columns = getattr(self, self._cells).shape
        return n_rows, n_columns

    @property
    def units(self) -> NDArray[np.intp] | None:
        """The original row of every row, if some rows are copies of one: folds and subsamples keep them together."""
        if self.rows is None or len(np.unique(self.rows)) == len(self.rows):
            return None
        return self.rows

    @property
    def scaled_weight(self) -> NDArray[np.float64] | None:
        """Row weights whose sum is the number of rows that criteria and counts speak of: see docs/tables.md."""
        return scale_weights(self.sample_weight, self.weight_kind, self.units, quiet=True)

    def __len__(self) -> int:
        return len(getattr(self, self._cells))

    def __repr__(self) -> str:
        shown = "" if self.names is None else ": " + ", ".join(map(repr, self.names[:3]))
        more = ", …" if self.names is not None and len(self.names) > 3 else ""
        n_rows, n_columns = self.shape
        return f"{type(self).__name__}({n_rows} rows × {n_columns} columns{shown}{more})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        cells = getattr(self, self._cells)
        return np.array(cells, dtype=dtype, copy=True) if copy else np.asarray(cells, dtype=dtype)

    def __getitem__(self, rows: Any) -> Self:
        """Return the same columns of some rows (a slice, numbers or a mask)."""
        try:
            cells = getattr(self, self._cells)[rows]
        except IndexError as error:
            raise IndexError(f"rows must be a slice, numbers or a mask; got {rows!r} ({error}).") from None
        if cells.ndim != 2 or cells.shape[1] != self.shape[1] or len(cells) == 0:
            raise DataError(
                f"rows must be a slice, numbers or a mask, and leave a row; got {rows!r}. For one row write [[0]]."
            )
        marks = {name: getattr(self, name)[rows] for name in ("filled", "holes") if getattr(self, name) is not None}
        gone = marks.get("holes", marks.get("filled"))
        return replace(  # type: ignore[type-var]
            self,
            row_names=None if self.row_names is None else _some(self.row_names, rows),
            sample_weight=None if self.sample_weight is None else self.sample_weight[rows],
            rows=np.arange(len(self))[rows] if self.rows is None else self.rows[rows],
            n_missing=self.n_missing if gone is None else int(gone.sum()),
            labels={name: _some(entries, rows) for name, entries in self.labels.items()},
            **{self._cells: np.ascontiguousarray(cells)},
            **marks,
        )


@dataclass(frozen=True, eq=False, repr=False)
class BinaryTable(RowTable):
    """A table of 0 and 1 with the names that came with it, and what was done to get it.

    Estimators take it wherever they take an array or a frame; ``numpy.asarray`` gives the bare table.

    Parameters
    ----------
    X : ndarray of uint8, shape (n_samples, n_features)
        Only 0 and 1, C-contiguous.
    names : tuple of str, optional
        Distinct names of the columns; None if the source had none.
    row_names : tuple of str, optional
        Names of the rows.
    sample_weight : ndarray of shape (n_samples,), optional
        Row weights that came with the table.
    weight_kind : {"sampling", "counts"}, optional
        What row weights stand for, those above or those given beside the table: see `read_binary`.
    rows : ndarray of int, optional
        Which rows of the source these are, if some were dropped.
    n_missing : int
        Missing cells that were filled or dropped.
    n_dropped : int
        Rows that were left out because of them.
    coding : Coding, optional
        How it was read; by default as a table of 0 and 1.
    filled : ndarray of bool, shape (n_samples, n_features), optional
        Which cells were missing and are 0 here; None if there are none.
    holes : ndarray of bool, shape (n_samples, n_features), optional
        Which cells are missing and to be imputed; what stands there in ``X`` means nothing. `isinglass.impute` fills
        them, estimators and `bootstrap` do so themselves, and everything else refuses such a table.
    detected : mapping of str to str
        What `read_table` found out about the file: its delimiter, decimal comma, sheet, and the column of row names.
    labels : mapping of str to tuple
        Columns of the source that are no variables and were kept as they are, such as the group of each row; None where
        a cell was missing.

    Examples
    --------
    >>> BinaryTable(np.array([[0, 1], [1, 1]], dtype=np.uint8), names=("rain", "umbrella"))
    BinaryTable(2 rows × 2 columns: 'rain', 'umbrella')
    """

    X: NDArray[np.uint8]
    names: tuple[str, ...] | None = None
    row_names: tuple[str, ...] | None = None
    sample_weight: NDArray[np.float64] | None = None
    rows: NDArray[np.intp] | None = None
    n_missing: int = 0
    coding: Coding | None = None
    filled: NDArray[np.bool_] | None = None
    n_dropped: int = 0
    holes: NDArray[np.bool_] | None = None
    labels: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    detected: Mapping[str, str] = field(default_factory=dict)
    weight_kind: str | None = None

    def __post_init__(self) -> None:
        X = self.X
        if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype != np.uint8 or X.size == 0 or X.max() > 1:
            raise DataError(
                f"X must be a non-empty uint8 table of 0 and 1; got {type(X).__name__}. Use read_binary(X)."
            )
        self._check_rows()

    @property
    def variables(self) -> Variables:
        """What the columns are."""
        return Variables.binary(self.shape[1] if self.names is None else self.names)

    @property
    def reading(self) -> Coding:
        """How another table is read in the same way."""
        return self.coding or Coding(self.names, (BITS,) * self.shape[1])


@dataclass(frozen=True, eq=False, repr=False)
class CategoryTable(RowTable):
    """A table whose columns have categories: numbers of categories, and what these stand for.

    Functions of tables take it wherever they take an array or a frame; ``numpy.asarray`` gives the category numbers.
    Some of its rows, ``table[rows]``, have all categories of the table, whichever occur in them.

    Parameters
    ----------
    codes : ndarray of uint8, shape (n_samples, n_features)
        Number of the category of every cell, from 0.
    kinds : {"binary", "ordinal", "nominal"}, or one of these per column
        Whether the categories have an order. A column of two categories is binary, whatever it is called.
    scores : sequence, optional
        For each column the points on a line that its categories stand for, None for their numbers. A nominal column of
        three or more categories has none.
    categories : sequence of sequences, optional
        For each column the values of the source in the order of their numbers; by default the numbers themselves.
    names, row_names, sample_weight, weight_kind, rows, n_missing, n_dropped, coding, holes, labels, detected
        As of a `BinaryTable`.

    Examples
    --------
    >>> codes = np.array([[0, 2], [1, 0], [1, 1]], dtype=np.uint8)
    >>> table = CategoryTable(codes, ["binary", "ordinal"], names=("rain", "mood"))
    >>> table
    CategoryTable(3 rows × 2 columns: 'rain', 'mood'; 1 binary, 1 ordinal)
    >>> table.categories, [score.tolist() for score in table.scores]
    (((0, 1), (0, 1, 2)), [[0.0, 1.0], [0.0, 1.0, 2.0]])
    """

    codes: NDArray[np.uint8]
    kinds: tuple[str, ...]
    scores: tuple[FloatArray | None, ...] = None  # type: ignore[assignment]
    categories: tuple[tuple[Any, ...], ...] = None  # type: ignore[assignment]
    names: tuple[str, ...] | None = None
    row_names: tuple[str, ...] | None = None
    sample_weight: NDArray[np.float64] | None = None
    rows: NDArray[np.intp] | None = None
    n_missing: int = 0
    n_dropped: int = 0
    holes: NDArray[np.bool_] | None = None
    labels: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    detected: Mapping[str, str] = field(default_factory=dict)
    coding: Coding | None = None
    weight_kind: str | None = None

    _cells: ClassVar[str] = "codes"

    def __post_init__(self) -> None:
        codes = self.codes
        if not isinstance(codes, np.ndarray) or codes.ndim != 2 or codes.dtype != np.uint8 or codes.size == 0:
            raise DataError(f"codes must be a non-empty uint8 table of category numbers; got {type(codes).__name__}.")
        p = codes.shape[1]
        kinds = per_column("kinds", self.kinds, None, p, "binary")
        most = codes.max(axis=0).tolist()
        given = [None] * p if self.categories is None else list(self.categories)
        points = [None] * p if self.scores is None else list(self.scores)
        if len(given) != p or len(points) != p:
            raise DataError(f"scores and categories must have one entry per column ({p}).")
        columns: list[tuple[str, FloatArray | None, tuple[Any, ...]]] = []
        for s in range(p):
            n_scores = 0 if points[s] is None else np.size(np.asarray(points[s]))
            values = range(max(int(most[s]) + 1, 2, n_scores)) if given[s] is None else given[s]
            columns.append(_check_column(s, kinds[s], points[s], tuple(values), int(most[s])))
        for name, parts in zip(("kinds", "scores", "categories"), zip(*columns, strict=True), strict=True):
            object.__setattr__(self, name, parts)
        self._check_rows()

    @property
    def X(self) -> CategoryTable:  # noqa: N802 - as of a BinaryTable
        """The table without its weights: what functions of a table and of weights take."""
        return self if self.sample_weight is None else replace(self, sample_weight=None, weight_kind=None)

    @cached_property
    def variables(self) -> Variables:
        """What the columns are."""
        return Variables.of(self.categories, self.kinds, self.scores, self.names)

    @property
    def n_categories(self) -> NDArray[np.intp]:
        """Number of categories of every column."""
        return self.variables.sizes

    @property
    def is_binary(self) -> bool:
        """Whether every column has two categories, with the scores 0 and 1."""
        return all(kind == "binary" for kind in self.kinds)

    @property
    def reading(self) -> Coding:
        """How another table is read in the same way."""
        if self.coding is not None:
            return self.coding
        points = [None if score is None else tuple(score.tolist()) for score in self.scores]
        return Coding(self.names, tuple(map(Levels, self.kinds, self.categories, points)))

    def simplest(self) -> CategoryTable | BinaryTable:
        """Return the table of 0 and 1 that it is, if every column has two categories."""
        if not self.is_binary:
            return self
        same = (
            "names",
            "row_names",
            "sample_weight",
            "rows",
            "n_missing",
            "n_dropped",
            "holes",
            "labels",
            "weight_kind",
        )
        return BinaryTable(self.codes, coding=self.reading.simplest(), **{name: getattr(self, name) for name in same})

    def __repr__(self) -> str:
        counts = ", ".join(f"{self.kinds.count(kind)} {kind}" for kind in KINDS if kind in self.kinds)
        return f"{super().__repr__()[:-1]}; {counts})"


def read_codes(X: ArrayLike) -> NDArray[np.uint8]:
    """Return a table of category numbers as bytes."""
    if isinstance(X, CategoryTable):
        return X.codes
    table = np.asarray(X)
    if table.ndim != 2:
        raise DataError(f"{setting('X')} must have rows and columns; got shape {table.shape}.")
    try:
        numbers = table.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"{setting('X')} must hold the numbers of categories, 0, 1, 2, …; got dtype {table.dtype}. Read it with "
            "read_categories."
        ) from None
    with np.errstate(invalid="ignore"):
        bad = ~((numbers >= 0) & (numbers < MOST_CATEGORIES) & (numbers == np.floor(numbers)))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ArgumentError(
            "X",
            f"must hold the numbers of categories, whole numbers from 0 to {MOST_CATEGORIES - 1}",
            table[row, column].item() if isinstance(table[row, column], np.generic) else table[row, column],
            f"See row {row}, column {column}.",
        )
    return np.ascontiguousarray(numbers.astype(np.uint8))


def _check_column(
    column: int, kind: str, given: Any, values: tuple[Any, ...], most: int
) -> tuple[str, FloatArray | None, tuple[Any, ...]]:
    """Return kind, scores and values of a column; ``most`` is the largest category number in it."""
    q = len(values)
    if not 2 <= q <= MOST_CATEGORIES or most >= q:
        raise DataError(
            f"column {column} must have 2 to {MOST_CATEGORIES} categories, and no other numbers; got {q} categories "
            f"and the number {most}."
        )
    if kind == "binary" and q > 2:
        raise DataError(
            f"column {column} is binary and must hold 0 and 1; got {q - 1}. Declare it as ordinal if its "
            "categories have an order, as nominal if they have none."
        )
    if kind == "nominal" and q > 2:
        if given is not None:
            raise DataError(f"scores must be None for the nominal column {column}; got {len(given)} of them.")
        return kind, None, values
    scores = np.array(check_scores(range(q) if given is None else given, q, f"column {column}"))
    scores.flags.writeable = False
    is_plain = q == 2 and scores.tolist() == [0.0, 1.0]
    return ("binary" if is_plain else "ordinal" if q == 2 else kind), scores, values


def stack_rows(tables: Sequence[Any]) -> Any:
    """Return the rows of tables that were read by one coding as one table.

    Examples
    --------
    >>> one, two = (BinaryTable(np.array(rows, dtype=np.uint8)) for rows in ([[0, 1]], [[1, 1], [0, 0]]))
    >>> stack_rows([one, two]).X.tolist()
    [[0, 1], [1, 1], [0, 0]]
    """
    if len(tables) == 1:
        return tables[0]
    before = np.cumsum([0, *(len(table) + table.n_dropped for table in tables)])
    numbers = [np.arange(len(table)) if table.rows is None else table.rows for table in tables]
    named = all(table.row_names is not None for table in tables)
    changes: dict[str, Any] = {
        "rows": np.concatenate([rows + start for rows, start in zip(numbers, before[:-1], strict=True)]),
        "row_names": tuple(name for table in tables for name in table.row_names) if named else None,
        "n_missing": sum(table.n_missing for table in tables),
        "n_dropped": sum(table.n_dropped for table in tables),
        "labels": {},
    }
    for name, nothing in (("sample_weight", 1.0), ("filled", False), ("holes", False)):
        if any(getattr(table, name, None) is not None for table in tables):
            shapes = [len(table) if name == "sample_weight" else table.shape for table in tables]
            each = zip((getattr(table, name, None) for table in tables), shapes, strict=True)
            changes[name] = np.concatenate([np.full(shape, nothing) if v is None else v for v, shape in each])
    return tables[0].with_cells(np.concatenate([np.asarray(table) for table in tables]), **changes)


def _some(entries: Sequence[Any], rows: Any) -> tuple[Any, ...]:
    """Return some of the entries, whatever they are."""
    objects = np.empty(len(entries), dtype=object)
    objects[:] = entries
    return tuple(objects[rows])


def units_of(X: Any) -> NDArray[np.intp] | None:
    """Return the original rows of a completed table, None for tables of any other kind."""
    return X.units if isinstance(X, RowTable) else None


def holes_of(X: Any) -> NDArray[np.bool_] | None:
    """Return the holes of a table, None for tables of any other kind."""
    return X.holes if isinstance(X, RowTable) else None


def hole_patterns(gone: NDArray[np.bool_], most: int) -> tuple[NDArray[np.bool_], NDArray[np.intp], int]:
    """Return the columns that are missing together: patterns with a hole, the most frequent first, and their rows.

    At most ``most`` of them; the third value is how many there are.

    Examples
    --------
    >>> patterns, counts, n_patterns = hole_patterns(np.array([[1, 0], [0, 0], [1, 0], [1, 1]], dtype=bool), 1)
    >>> patterns.tolist(), counts.tolist(), n_patterns
    ([[True, False]], [2], 2)
    """
    bits, counts = np.unique(np.packbits(gone, axis=1), axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    order = order[bits[order].any(axis=1)]
    patterns = np.unpackbits(bits[order[:most]], axis=1, count=gone.shape[1]).astype(bool)
    return patterns, counts[order[:most]], len(order)
