"""Completed tables: every observed cell as the user gave it, and values in the missing ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass.arrays import AnyArray
from isinglass.data.containers import as_frame, open_source
from isinglass.data.meaning.coding import Coding
from isinglass.data.meaning.conversion import take_columns
from isinglass.data.meaning.rules import Cells, Cut, Rule, Steps
from isinglass.data.meaning.values import Value
from isinglass.data.parts.blocks import is_in_parts
from isinglass.data.parts.parted_table import is_read
from isinglass.data.source import Source
from isinglass.data.table import Table
from isinglass.errors import DataError, setting
from isinglass.names import tidy_name

if TYPE_CHECKING:
    from isinglass.data.containers import Frame, Series


def open_once(X: Any) -> Any:  # Any: a table, and its like
    """Return an array as a `Source`, which is read and then completed; tables of other kinds as they are."""
    return X if is_read(X) or is_in_parts(X) or as_frame(X) is not None else open_source(X)


def complete(X: Any, values: AnyArray, table: Table, coding: Coding) -> Any:  # Any: a table, and its like
    """Return ``X`` with ``values`` in the cells that are missing in ``table``, which was read from it by a coding.

    A frame keeps its columns, their order and, where the values allow it, their types; everything else becomes an array
    of the columns of the coding. Of a `Table` its categories are known alone, and numbers if it was read to be imputed.
    """
    if is_read(X) or is_in_parts(X):
        if table.numbers is None and len(table.variables.continuous):
            name = table.variables.called(int(table.variables.continuous[0]))
            raise DataError(
                f"{setting('X')} must have its numbers; a Table has the steps of the continuous column {name} alone, "
                f"unless it is read with {setting('missing', 'impute')}. Pass the frame or the array itself."
            )
        return values
    frame = as_frame(X)
    if frame is not None:
        return _complete_frame(frame, values, table, coding)
    if all(rule.is_plain for rule in coding.columns):
        return values
    cells = OpenCells(open_source(X), table, coding).filled(values)
    if not all(isinstance(cell, int | float) for cell in cells.flat):
        return cells
    return cells.astype(np.float64 if any(isinstance(cell, float) for cell in cells.flat) else np.int64)


class OpenCells:
    """The cells of a source in the columns of a coding, each column with cells of its own type; read once."""

    def __init__(self, source: Source, table: Table, coding: Coding) -> None:
        self.table, self.rules, self.columns = table, coding.columns, list[Cells]()
        self.truths = list[dict[bool, str]]()  # how each column spells truth values
        chosen, rows = take_columns(source, coding), slice(None) if table.rows is None else table.rows
        for j, rule in enumerate(coding.columns):
            column = chosen.column(j)
            spelled = zip(column.values or (), column.words or (), strict=False)  # other values have no words
            self.truths.append({value: word for value, word in spelled if isinstance(value, bool)})
            own = column.spelled() if column.words is not None and (rule.has_words or self.truths[j]) else column
            self.columns.append(own.called(rule)[rows])

    def filled(self, values: AnyArray) -> AnyArray:
        """Return the cells with ``values`` in the missing ones."""
        cells = np.stack(self.columns, axis=1)
        for j, gone in enumerate(() if self.table.gone is None else self.table.gone.T):
            if not gone.any():
                continue
            truth = self.truths[j]
            new = _fill(values[gone, j], self.rules[j], self.table.variables.called(j), cells[~gone, j])
            cells[gone, j] = [truth.get(cell, cell) for cell in new] if truth else new
        return cells


def _fill(values: AnyArray, rule: Rule, name: str, seen: AnyArray) -> list[Value]:
    """Return the values for the missing cells of a column; truth values or bytes if those observed, ``seen``, are."""
    if isinstance(rule, Cut):
        raise DataError(
            f"{setting('X')} must have no missing cells in column {name}, whose numbers the fit only compares with "
            f"{rule.threshold:g}: it knows no number to put there. predict_proba has the probability of a larger one."
        )
    new = values.tolist()
    if len(seen) and all(isinstance(cell, bytes) for cell in seen):
        return [str(cell).encode() for cell in new]
    if len(seen) and all(isinstance(cell, bool) for cell in seen) and all(cell in (0, 1) for cell in new):
        return [bool(cell) for cell in new]
    whole = rule.decimals == 0 if isinstance(rule, Steps) else all(isinstance(value, int) for value in rule.values)
    return [int(cell) if whole and float(cell).is_integer() else cell for cell in new]


def _complete_frame(frame: Frame, values: AnyArray, table: Table, coding: Coding) -> object:
    import narwhals.stable.v1 as nw

    place_of = {tidy_name(label): j for j, label in enumerate(frame.columns)}
    known = next((names for names in (*coding.called, table.names) if place_of.keys() >= set(names)), ())
    wanted = known if table.variables.named else list(place_of)
    if len(wanted) != values.shape[1]:
        raise DataError(
            f"{setting('X')} must have the columns of the network themselves; some were combined from indicator "
            "columns. Pass as_table(X, encode=fit.coding)."
        )
    filled = []
    for j, gone in enumerate(() if table.gone is None else table.gone.T):
        if gone.any():
            old = frame[:, place_of[wanted[j]]]
            cells = np.array([*old.to_list(), None], dtype=object)[:-1]
            cells[gone] = _fill(values[gone, j], coding.columns[j], table.variables.called(j), cells[~gone])
            filled.append(_typed_like(old, cells.tolist()))
    return nw.to_native(frame.with_columns(*filled) if filled else frame)


def _typed_like(old: Series, cells: list[Value]) -> Series:
    """Return a column with other cells, of the same type where this holds them."""
    import narwhals.stable.v1 as nw

    kind, library = old.dtype, old.implementation
    is_number = kind == nw.Boolean or kind.is_numeric()
    if kind == nw.Boolean:
        fits = all(cell in (0, 1) for cell in cells)
    else:
        fits = not is_number or kind in (nw.Float32, nw.Float64) or all(float(cell).is_integer() for cell in cells)
    as_given = np.array(cells) if is_number else list(map(str, cells)) if kind == nw.String else cells
    new = nw.new_series(old.name, as_given, native_namespace=nw.get_native_namespace(old))
    if not fits:
        return new
    if not library.is_pandas_like() and not library.is_polars():
        return new.cast(kind) if is_number else new  # a dictionary of Arrow would have the order of its first rows
    before, after = nw.to_native(old), nw.to_native(new)
    typed = after.astype(before.dtype) if library.is_pandas_like() else after.cast(before.dtype)
    return nw.from_native(typed, series_only=True)
