"""Completed tables: every observed cell as the user gave it, and values in the missing ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass.arrays import AnyArray
from isinglass.data.containers import as_frame, open_source
from isinglass.data.meaning.coding import Coding, Cut, Rule, Steps
from isinglass.data.meaning.conversion import take_columns
from isinglass.data.meaning.values import Value
from isinglass.data.parts.blocks import is_in_parts
from isinglass.data.parts.parted_table import is_read
from isinglass.data.source import Source
from isinglass.data.table import Table
from isinglass.errors import DataError, setting

if TYPE_CHECKING:
    from isinglass.data.containers import Frame, Series


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
    cells = complete_source(open_source(X), values, table, coding)
    if not all(isinstance(cell, int | float) for cell in cells.flat):
        return cells
    return cells.astype(np.float64 if any(isinstance(cell, float) for cell in cells.flat) else np.int64)


def complete_source(source: Source, values: AnyArray, table: Table, coding: Coding) -> AnyArray:
    """Return the cells of a source in the columns of a coding, with ``values`` in those missing in ``table``.

    Every column has cells of its own type. Columns that are combined from indicators have no cells in the source: such
    a table is returned as ``values``.
    """
    if coding.expand() is not coding:
        return values
    chosen, cells = take_columns(source, coding), np.empty(values.shape, dtype=object)
    rows = slice(None) if table.rows is None else table.rows
    for j, rule in enumerate(coding.columns):
        column = chosen.column(j)
        spelled = zip(column.values or (), column.words or (), strict=False)  # other values have no words
        truth = {value: word for value, word in spelled if isinstance(value, bool)}
        own = column.spelled() if column.words is not None and (rule.has_words or truth) else column
        cells[:, j] = own.called(rule)[rows]
        if table.gone is not None and table.gone[:, j].any():
            gone = table.gone[:, j]
            new = _fill(values[gone, j], rule, table.variables.called(j), cells[~gone, j])
            cells[gone, j] = [truth.get(cell, cell) for cell in new] if truth else new
    return cells


def _fill(values: AnyArray, rule: Rule, name: str, seen: AnyArray) -> list[Value]:
    """Return the values for the missing cells of a column; truth values if the observed ones, ``seen``, are such."""
    if isinstance(rule, Cut):
        raise DataError(
            f"{setting('X')} must have no missing cells in column {name}, whose numbers the fit only compares with "
            f"{rule.threshold:g}: it knows no number to put there. predict_proba has the probability of a larger one."
        )
    new = values.tolist()
    if len(seen) and all(isinstance(cell, bool) for cell in seen) and all(cell in (0, 1) for cell in new):
        return [bool(cell) for cell in new]
    whole = rule.is_whole if isinstance(rule, Steps) else all(isinstance(value, int) for value in rule.values)
    return [int(cell) if whole and float(cell).is_integer() else cell for cell in new]


def _complete_frame(frame: Frame, values: AnyArray, table: Table, coding: Coding) -> object:
    import narwhals.stable.v1 as nw

    place_of = {str(label): j for j, label in enumerate(frame.columns)}
    wanted = table.names if table.variables.named else list(place_of)
    if not place_of.keys() >= set(wanted) or len(wanted) != values.shape[1]:
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
    """Return a column with other cells, of the same type where these allow it."""
    import narwhals.stable.v1 as nw

    kind, library = old.dtype, old.implementation
    if kind == nw.String:
        cells = list(map(str, cells))
    is_number = kind == nw.Boolean or kind.is_numeric()
    new = nw.new_series(
        old.name, np.array(cells) if is_number else cells, native_namespace=nw.get_native_namespace(old)
    )
    if (kind == nw.Boolean and not all(cell in (0, 1) for cell in cells)) or (
        kind.is_numeric()
        and kind not in (nw.Float32, nw.Float64)
        and not all(float(cell).is_integer() for cell in cells)
    ):
        return new  # with probabilities
    if not library.is_pandas_like() and not library.is_polars():
        return new.cast(kind) if is_number else new  # a dictionary of Arrow would have the order of its first rows
    before, after = nw.to_native(old), nw.to_native(new)
    typed = after.astype(before.dtype) if library.is_pandas_like() else after.cast(before.dtype)
    return nw.from_native(typed, series_only=True)
