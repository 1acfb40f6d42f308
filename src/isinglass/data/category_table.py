"""CategoryTable: a table of category numbers, with the kind of every column and the points its categories stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray
from isinglass.data.coding import KINDS, Coding, Levels
from isinglass.data.table import BinaryTable, RowTable
from isinglass.errors import ArgumentError, DataError, setting

Kinds = str | Sequence[str] | Mapping[Any, str]
Scores = Mapping[Any, ArrayLike]

MOST_CATEGORIES = 256
MOST_STEPS = MOST_CATEGORIES - 1
"""Of equal length from the smallest to the largest score."""


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
    names, row_names, sample_weight, rows, n_missing, n_dropped, coding, holes, labels
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
    coding: Coding | None = None

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
        return self if self.sample_weight is None else replace(self, sample_weight=None)

    @property
    def n_categories(self) -> NDArray[np.intp]:
        """Number of categories of every column."""
        return np.array([len(values) for values in self.categories], dtype=np.intp)

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
        same = ("names", "row_names", "sample_weight", "rows", "n_missing", "n_dropped", "holes", "labels")
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


def per_column(argument: str, given: Any, names: Sequence[Any] | None, p: int, default: Any) -> list[Any]:
    """Return one entry per column, from one word, one entry each, or a mapping by name or number; check kinds."""
    entries = [default] * p
    if isinstance(given, Mapping):
        for key, entry in given.items():
            place = names.index(key) if isinstance(key, str) and names is not None and key in names else key
            if not (isinstance(place, int) and 0 <= place < p):
                raise ArgumentError(argument, "must name columns of the table", key)
            entries[place] = entry
    elif not hasattr(given, "__len__"):
        raise ArgumentError(argument, "must be one word, one entry per column, or a mapping", given)
    else:
        entries = [given] * p if isinstance(given, str) else list(given)
        if len(entries) != p:
            raise ArgumentError(argument, f"must have one entry per column ({p})", len(entries))
    wrong = [entry for entry in entries if argument == "kinds" and entry not in (*KINDS, default)]
    if wrong:
        raise ArgumentError("kinds", f"must be {', '.join(KINDS[:-1])} or {KINDS[-1]}", wrong[0])
    return entries


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
    scores = np.arange(float(q)) if given is None else np.array(given, dtype=np.float64)
    if scores.ndim != 1 or len(scores) != q or not np.isfinite(scores).all():
        raise ArgumentError(
            "scores", f"must be one finite number for each of the {q} categories of column {column}", given
        )
    if len(np.unique(scores)) < q:
        raise ArgumentError("scores", f"must be different numbers, two or more, for column {column}", given)
    scores.flags.writeable = False
    is_plain = q == 2 and scores.tolist() == [0.0, 1.0]
    return ("binary" if is_plain else "ordinal" if q == 2 else kind), scores, values
