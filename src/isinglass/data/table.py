"""BinaryTable: a table of 0 and 1, and what was done to get it; and what it shares with tables of categories."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from isinglass.data.coding import BITS, Coding
from isinglass.data.weights import check_sample_weight
from isinglass.errors import DataError
from isinglass.names import check_names


class RowTable:
    """What tables share whatever their cells stand for: names, weights and numbers of rows, and some of the rows."""

    _cells: ClassVar[str] = "X"  # the field that holds the bytes

    names: tuple[str, ...] | None
    row_names: tuple[str, ...] | None
    sample_weight: NDArray[np.float64] | None
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
        marks = {name: getattr(self, name) for name in ("filled", "holes") if getattr(self, name) is not None}
        marks = {name: cells_marked[rows] for name, cells_marked in marks.items()}
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


def stack_rows(tables: Sequence[Any]) -> Any:
    """Return the rows of tables that were read by one coding as one table.

    Examples
    --------
    >>> one, two = (BinaryTable(np.array(rows, dtype=np.uint8)) for rows in ([[0, 1]], [[1, 1], [0, 0]]))
    >>> stack_rows([one, two]).X.tolist()
    [[0, 1], [1, 1], [0, 0]]
    """
    first = tables[0]
    if len(tables) == 1:
        return first
    before = np.cumsum([0, *(len(table) + table.n_dropped for table in tables)])
    numbers = [np.arange(len(table)) if table.rows is None else table.rows for table in tables]
    changes: dict[str, Any] = {
        "rows": np.concatenate([rows + start for rows, start in zip(numbers, before[:-1], strict=True)]),
        "n_missing": sum(table.n_missing for table in tables),
        "n_dropped": sum(table.n_dropped for table in tables),
        "labels": {},
    }
    if all(table.row_names is not None for table in tables):
        changes["row_names"] = tuple(name for table in tables for name in table.row_names)
    else:
        changes["row_names"] = None
    for name, fill in (("sample_weight", np.ones), ("filled", np.zeros), ("holes", np.zeros)):
        each = [getattr(table, name, None) for table in tables]
        if any(values is not None for values in each):
            shapes = [len(table) if name == "sample_weight" else table.shape for table in tables]
            kind = float if name == "sample_weight" else bool
            changes[name] = np.concatenate(
                [
                    fill(shape, dtype=kind) if values is None else values
                    for values, shape in zip(each, shapes, strict=True)
                ]
            )
    cells = np.concatenate([np.asarray(table) for table in tables])
    return first.with_cells(cells, **changes)


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
        Which cells are missing and to be imputed; what stands there in ``X`` means nothing. `isinglass.complete` fills
        them, estimators and `bootstrap` do so themselves, and everything else refuses such a table.
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

    def __post_init__(self) -> None:
        X = self.X
        if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype != np.uint8 or X.size == 0 or X.max() > 1:
            raise DataError(
                f"X must be a non-empty uint8 table of 0 and 1; got {type(X).__name__}. Use read_binary(X)."
            )
        self._check_rows()

    @property
    def reading(self) -> Coding:
        """How another table is read in the same way."""
        return self.coding or Coding(self.names, (BITS,) * self.shape[1])


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
