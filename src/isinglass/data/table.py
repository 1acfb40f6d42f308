"""A table: the category of every cell as a byte, what the columns are, row weights, missing cells, and row numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from isinglass.arguments import check_kind
from isinglass.arrays import AnyArray, Bytes, FloatArray, Mask, copy_unchecked
from isinglass.data.column import as_objects
from isinglass.data.meaning.coding import Coding, Guess
from isinglass.data.meaning.values import Value
from isinglass.data.weights import NO_WEIGHT, check_sample_weight, check_weight_kind, scale_weights
from isinglass.errors import DataError, plural, setting
from isinglass.matching import match_categories
from isinglass.names import choose_places
from isinglass.variables import Variables

Kinds = str | Sequence[str] | Mapping[Any, str]  # Any: by name or number of a column
Scores = Mapping[Any, ArrayLike | Mapping[Value, float] | str]
Sum = TypeVar("Sum")
Rows = slice | Sequence[int] | NDArray[np.integer] | Mask


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A table: the category of every cell, with names, kinds, row weights and missing cells.

    Accepted in place of an array or a data frame; ``numpy.asarray`` gives the codes. ``table[rows]`` selects rows and
    keeps all categories.

    Parameters
    ----------
    codes : ndarray of uint8, shape (n_samples, n_features)
        Number of the category of every cell, from 0.
    variables : Variables, optional
        Names, kinds and categories of the columns; by default every column is 0/1.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, used by every function that takes the table.
    weight_kind : {"sampling", "counts"}, optional
        What the weights are; see `as_table`.
    holes, filled, drawn : ndarray of bool, shape (n_samples, n_features), optional
        Which cells were missing and are to be imputed (their entries in ``codes`` are ignored), are 0 here, or are
        imputed here; standard errors and tests refuse the last.
    rows : ndarray of int, optional
        Which rows of the source these are, if some were left out or repeated.
    row_names : tuple of str, optional
        Names of the rows.
    labels : mapping of str to tuple
        Columns of the source that are not variables, such as the group of each row; None where a cell is missing.
    detected : mapping of str to str
        What `read_table` found out about the file: delimiter, decimal comma, sheet, header, and column of row names.
    n_missing, n_unlabeled, n_dropped : int
        Missing cells of the source, and rows that were left out: for a missing label, and in all.
    read_by : Coding, optional
        How it was read; by default by the categories of the variables. `coding` is one of both.
    numbers : ndarray of shape (n_samples, n_features), optional
        The original numbers of continuous columns, NaN elsewhere. Imputation keeps them.
    guesses : mapping of columns to Guess
        What columns were taken for about which nothing was stated, with ``guess=True``.

    Examples
    --------
    >>> Table(np.array([[0, 1], [1, 1]], dtype=np.uint8), Variables.binary(["rain", "umbrella"]))
    Table(2 rows × 2 columns: 'rain', 'umbrella')
    """

    codes: Bytes
    variables: Variables = None  # type: ignore[assignment]  # filled in below
    sample_weight: FloatArray | None = None
    weight_kind: str | None = None
    holes: Mask | None = None
    filled: Mask | None = None
    drawn: Mask | None = None
    rows: NDArray[np.intp] | None = None
    row_names: tuple[str, ...] | None = None
    labels: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    detected: Mapping[str, str] = field(default_factory=dict)
    n_missing: int = 0
    n_unlabeled: int = 0
    n_dropped: int = 0
    read_by: Coding | None = None
    numbers: FloatArray | None = None
    guesses: Mapping[Hashable, Guess] = field(default_factory=dict)

    is_whole: ClassVar[Literal[True]] = True  # all rows are here

    def __post_init__(self) -> None:
        codes = self.codes
        if not isinstance(codes, np.ndarray) or codes.ndim != 2 or codes.dtype != np.uint8 or codes.size == 0:
            is_array = isinstance(codes, np.ndarray)
            got = f"{codes.dtype} of shape {codes.shape}" if is_array else type(codes).__name__
            raise DataError(f"codes must be a non-empty uint8 table; got {got}. Use as_table(X).")
        (n_rows, p), variables = codes.shape, self.variables
        if variables is None:
            variables = Variables.binary(p)
        if check_kind("variables", variables, Variables, "Variables.of").n_features != p:
            raise DataError(f"variables must be those of {p} columns; got {variables.n_features}.")
        _check_codes(codes, variables)
        weight = check_sample_weight(self.sample_weight, n_rows)
        check_weight_kind(self.weight_kind, weight if self.rows is None else None)  # copies of a row share a count
        checked = {"codes": np.ascontiguousarray(codes), "variables": variables, "sample_weight": weight}
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        for name, entries in {"row_names": self.row_names, "rows": self.rows, **self.labels}.items():
            if entries is not None and len(entries) != n_rows:
                raise DataError(f"{name} must have one entry per row ({n_rows}); got {len(entries)}.")
        for name in _MARKS:
            marks, kind = getattr(self, name), "float64" if name == "numbers" else "bool"
            if marks is None:
                continue
            got = f"{marks.dtype} {marks.shape}" if isinstance(marks, np.ndarray) else type(marks).__name__
            if got != f"{kind} {codes.shape}":  # ~ of whole numbers would be an index
                raise DataError(f"{name} must be an array of type {kind} and shape {codes.shape}; got {got}.")

    def _with(self, **changes: object) -> Table:
        """Return a copy with other entries, unchecked: checks cost more than a small fit."""
        return copy_unchecked(self, **changes)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns; ``x0``, ``x1``, … if the source had none (``variables.named``)."""
        return self.variables.names

    @property
    def coding(self) -> Coding:
        """How another table is read in the same way: ``as_table(X, encode=table.coding)``."""
        return self.read_by or Coding.of(self.variables)

    @property
    def missing_treatment(self) -> str | None:
        """What became of missing cells and labels of the source: "impute", "zero" or "drop"; None if there are none."""
        if self.holes is not None or self.drawn is not None:
            return "impute"
        if self.filled is not None:
            return "zero"
        return self.coding.missing if self.n_missing or self.n_unlabeled else None

    @property
    def missing_cells(self) -> Mask | None:
        """Which cells were missing in the source: those to be imputed, or those that are 0 here; None if none was."""
        return self.filled if self.holes is None else self.holes

    @property
    def encoding(self) -> dict[Hashable, tuple[Value, Value]]:
        """For each column of two values that was not 0/1 already: the values ``(zero, one)`` of the source.

        The key is the name of the column, or its number if there are no names; several values with one meaning are a
        tuple.
        """
        return self.coding.encoding

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        n_rows, n_columns = self.codes.shape
        return n_rows, n_columns

    @property
    def total_weight(self) -> float:
        """The number of rows: the sum of the weights."""
        return float(len(self.codes)) if self.sample_weight is None else float(self.sample_weight.sum())

    @property
    def unit_weight(self) -> FloatArray:
        """The weights of the rows, 1 where there are none."""
        return np.ones(len(self)) if self.sample_weight is None else self.sample_weight

    @property
    def weighted_rows(self) -> NDArray[np.intp]:
        """Numbers of the rows with a positive weight."""
        return np.arange(len(self)) if self.sample_weight is None else np.flatnonzero(self.sample_weight)

    @property
    def weight_range(self) -> tuple[float, float]:
        """Smallest and largest weight of a row."""
        weight = self.sample_weight
        return (1.0, 1.0) if weight is None else (float(weight.min()), float(weight.max()))

    @property
    def units(self) -> NDArray[np.intp] | None:
        """The original row of every row, if some rows are copies of one: folds and subsamples keep them together."""
        if self.rows is None or len(np.unique(self.rows)) == len(self.rows):
            return None
        return self.rows

    def sum_rows(self, function: Callable[..., Sum], *arguments: object) -> Sum:
        """Return ``function(codes, weight, *arguments)``: a number, an array, or a tuple or dict of these."""
        return function(self.codes, self.sample_weight, *arguments)

    def distinct_rows(self) -> Bytes:
        """Return the codes with every combination that occurs."""
        return self.codes

    def whole(self) -> Table:
        """Return the table, whose rows are all here; a table in parts refuses."""
        return self

    def without_holes(self) -> Table:
        """Return the table if no cell is missing, or say what to do."""
        if self.holes is not None:
            raise DataError(
                f"{setting('X')} must have no missing cells here; got {self.n_missing} that are still to be imputed. "
                "Pass isinglass.impute(table).table of the table that as_table(X, …), or read(X) of a fit, returns."
            )
        return self

    def with_weight(self, sample_weight: ArrayLike | None) -> Table:
        """Return the same rows with other weights of the same kind."""
        if sample_weight is self.sample_weight:
            return self
        if sample_weight is None:
            return self._with(sample_weight=None, weight_kind=None)
        weight = check_sample_weight(sample_weight, len(self))
        check_weight_kind(self.weight_kind, weight if self.rows is None else None)
        return self._with(sample_weight=weight)

    def with_weight_kind(self, kind: str) -> Table:
        """Return the same table, whose weights are of this kind."""
        return replace(self, weight_kind=kind)

    def counted(self, *, quiet: bool = False) -> Table:
        """Return the table with weights whose sum is the number of rows, N, of criteria and standard errors.

        Warns where it is not stated what the weights are and it matters, unless ``quiet``.
        """
        if self.sample_weight is None:
            return self
        scaled, kind = scale_weights(self.sample_weight, self.weight_kind, self.units, quiet=quiet)
        return self._with(sample_weight=scaled, weight_kind=kind)

    def with_names(self, names: Sequence[str] | None) -> Table:
        """Return the same table with other names of the columns; None keeps those it has."""
        variables = self.variables.with_names(names)
        if variables is self.variables:
            return self
        read_by = None if self.read_by is None else self.read_by.with_names(variables.names)
        return self._with(variables=variables, read_by=read_by)

    def with_variables(self, variables: Variables) -> Table:
        """Return the same cells as those of other variables, such as a network's (`isinglass.matching`)."""
        if variables is self.variables:
            return self
        moved, codes = match_categories(self.variables, variables), self.codes
        if moved:
            codes = codes.copy()
            for column, places in moved.items():
                codes[:, column] = places[codes[:, column]]
        if variables.categories != self.variables.categories:
            _check_codes(codes, variables, "Read the table as that of the network was read, or leave these rows out.")
        return self._with(codes=codes, variables=variables)

    def with_covariates(self, columns: Sequence[str | int] | str | int) -> Table:
        """Return the same table, of which these columns are covariates, named as in options."""
        variables = self.variables.with_covariates(columns)
        if self.holes is not None:
            refuse_holes(variables, self.holes)
        read_by = None if self.read_by is None else replace(self.read_by, covariate=variables.covariate)
        return self._with(variables=variables, read_by=read_by)

    def with_codes(self, codes: Bytes) -> Table:
        """Return a table of the same columns, and as many rows, with other cells."""
        if codes.shape != self.shape:
            raise DataError(f"codes must have the shape {self.shape} of the table; got {codes.shape}.")
        _check_codes(codes, self.variables)
        return self._with(codes=np.ascontiguousarray(codes), numbers=None)

    def bare(self, rows: NDArray[np.intp] | None = None) -> Table:
        """Return cells, columns, weights and holes, without what else is known of single rows and cells.

        Rows with equal entries in ``rows`` are copies of one; by default no row is a copy, and ``table.units`` keeps
        copies what they are.
        """
        kind = self.weight_kind if self.units is None or rows is not None else None  # copies share a count
        return self._with(rows=rows, row_names=None, labels={}, drawn=None, weight_kind=kind)

    def above(self, floor: float) -> Table:
        """Return the rows whose weight is above a floor."""
        if self.sample_weight is None:
            return self
        kept = self.sample_weight > floor
        return self if kept.all() else self[kept]

    def take(self, columns: Sequence[int] | NDArray[np.intp] | Mask) -> Table:
        """Return some of the columns, in this order."""
        chosen = choose_places(columns, self.shape[1])
        return self._with_cells(
            np.s_[:, chosen],
            self.codes[:, chosen],
            variables=self.variables.take(chosen),
            read_by=None if self.read_by is None else self.read_by.take(chosen.tolist()),
        )

    def _with_cells(self, cells: Any, codes: Bytes, **changes: object) -> Table:  # Any: selects rows or columns
        """Return some of the cells, ``codes``, with what is known of them; no marks where none of them has one."""
        for name in _MARKS:
            marks = getattr(self, name)
            chosen = None if marks is None else marks[cells]
            changes[name] = chosen if name == "numbers" or (chosen is not None and chosen.any()) else None
        taken = self._with(codes=np.ascontiguousarray(codes), **changes)
        if self.missing_cells is None:
            return taken
        return taken._with(n_missing=0 if taken.missing_cells is None else int(taken.missing_cells.sum()))

    def __getitem__(self, rows: Rows) -> Table:
        """Return the same columns of some rows (a slice, numbers or a mask)."""
        try:
            codes = self.codes[rows]
        except IndexError as error:
            raise IndexError(f"rows must be a slice, numbers or a mask; got {rows!r} ({error}).") from None
        if codes.ndim != 2 or codes.shape[1] != self.shape[1] or len(codes) == 0:
            raise DataError(
                f"rows must be a slice, numbers or a mask, and leave a row; got {rows!r}. For one row write [[0]]."
            )
        weight = None if self.sample_weight is None else self.sample_weight[rows]
        if weight is not None and not weight.any():
            raise DataError(NO_WEIGHT)
        return self._with_cells(
            rows,
            codes,
            row_names=None if self.row_names is None else tuple(as_objects(self.row_names)[rows]),
            sample_weight=weight,
            rows=np.arange(len(self))[rows] if self.rows is None else self.rows[rows],
            labels={name: tuple(as_objects(entries)[rows]) for name, entries in self.labels.items()},
        )

    def __len__(self) -> int:
        return len(self.codes)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        return np.array(self.codes, dtype=dtype, copy=True) if copy else np.asarray(self.codes, dtype=dtype)

    def __repr__(self) -> str:
        size = " × ".join(plural(n, what) for n, what in zip(self.shape, ("row", "column"), strict=True))
        variables = self.variables
        shown = ": " + ", ".join(map(repr, self.names[:3])) if variables.named else ""
        more = ", …" if variables.named and self.shape[1] > 3 else ""
        kinds = "" if variables.is_binary else f"; {variables.describe_kinds()}"
        return f"Table({size}{shown}{more}{kinds})"


_MARKS = ("filled", "holes", "drawn", "numbers")


def refuse_holes(variables: Variables, holes: Mask) -> None:
    """Refuse missing cells of covariates, which no distribution is estimated for to draw them from."""
    for s in np.flatnonzero(holes.any(axis=0) & ~variables.is_modeled).tolist():
        raise DataError(
            f"a covariate must have no missing cells; got {int(holes[:, s].sum())} in column {variables.called(s)}. "
            f"Leave out these rows ({setting('missing', 'drop')}), fill the cells, or model the column as a variable."
        )


def _check_codes(codes: Bytes, variables: Variables, remedy: str = "Read the table with as_table.") -> None:
    """Refuse codes that are no categories of their columns; ``remedy`` ends the sentence."""
    if variables.is_binary:
        if codes.max() <= 1:
            return
        over = np.flatnonzero(codes.max(axis=0) > 1)
    else:
        over = np.flatnonzero(codes.max(axis=0) >= variables.sizes)
    if len(over):
        s = int(over[0])
        raise DataError(
            f"column {variables.called(s)} has the categories 0 to {variables.sizes[s] - 1}; got {codes[:, s].max()}. "
            f"{remedy}"
        )
