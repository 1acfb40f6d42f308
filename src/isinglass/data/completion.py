"""Completed tables: every observed cell as the user gave it, and values in the missing ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass.arrays import AnyArray, Mask
from isinglass.data.column import Column, as_objects
from isinglass.data.containers import as_frame, open_source
from isinglass.data.meaning.coding import Coding
from isinglass.data.meaning.known_columns import take_columns
from isinglass.data.meaning.rules import Cells, Cut, Rule, Steps
from isinglass.data.meaning.values import Value, as_whole, read_cell, read_word
from isinglass.data.parts.blocks import is_in_parts
from isinglass.data.parts.parted_table import is_read
from isinglass.data.source import Source
from isinglass.data.table import Table
from isinglass.errors import DataError, setting
from isinglass.names import tidy_name

if TYPE_CHECKING:
    from isinglass.data.containers import Frame, Series


def complete(X: Any, values: AnyArray, table: Table, coding: Coding) -> Any:  # Any: a table, and its like
    """Return ``X`` with ``values`` in the cells that are missing in ``table``, which was read from it by a coding.

    A frame keeps its columns, their order and, where these hold the values, their types; everything else becomes an
    array of the columns of the coding. Of a `Table` its categories are known alone, and numbers if it was read to be
    imputed.
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
    source = open_source(X)
    if source.block is not None and all(rule.is_plain for rule in coding.columns):
        return values
    cells = fill_cells(source, values, table, coding)
    types = set(map(type, cells.flat))
    return cells.astype(np.float64 if float in types else np.int64) if types <= {int, float} else cells


def fill_cells(source: Source, values: AnyArray, table: Table, coding: Coding) -> AnyArray:
    """Return the cells in the columns of a coding as the user gave them, with ``values`` in the missing ones."""
    chosen, rows = take_columns(source, coding), slice(None) if table.rows is None else table.rows
    cells = np.stack([_own_cells(chosen.column(j), rule)[rows] for j, rule in enumerate(coding.columns)], axis=1)
    for j, gone in _missing(table, coding):
        seen = cells[~gone, j].tolist()
        cells[gone, j] = as_objects(_spell_like(values[gone, j], seen, coding.columns[j], source.decimal or "."))
    return cells


def read_cells(cells: AnyArray, coding: Coding, decimal: str | None) -> AnyArray:
    """Return such cells with numbers in place of their texts, in columns of numbers."""
    columns = [
        [cell if rule.has_words else read_word(cell, decimal) for cell in column]
        for rule, column in zip(coding.columns, cells.T.tolist(), strict=True)
    ]
    return np.stack(list(map(as_objects, columns)), axis=1)


def _own_cells(column: Column, rule: Rule) -> Cells:
    """Return the cells as they came, as objects; as their labels where these are the categories of a rule."""
    labels = {value: label for value, label in column.labels.items() if label in rule.values}
    if not labels or column.values is None:
        return column.as_given
    words = column.values if column.words is None else column.words
    called = [labels.get(value, word) for value, word in zip(column.values, words, strict=True)]
    return np.asarray(as_objects([*called, None])[column.cells])


def _missing(table: Table, coding: Coding) -> Iterator[tuple[int, Mask]]:
    """Yield every column that has missing cells, and which these are; refuse numbers that the fit only compares."""
    for j, gone in enumerate(() if table.missing_cells is None else table.missing_cells.T):
        rule = coding.columns[j]
        if isinstance(rule, Cut) and gone.any():
            raise DataError(
                f"{setting('X')} must have no missing cells in column {table.variables.called(j)}, whose numbers the "
                f"fit only compares with {rule.threshold:g}: it knows no number to put there. predict_proba has the "
                "probability of a larger one."
            )
        if gone.any():
            yield j, gone


def _spell_like(values: AnyArray, seen: Sequence[Value], rule: Rule, decimal: str) -> list[Value]:
    """Return values as the observed cells of their column, ``seen``, have them: the most frequent spelling of each.

    A number that is not among them is spelled with the decimal separator where these are texts.
    """
    whole = rule.decimals == 0 if isinstance(rule, Steps) else all(isinstance(value, int) for value in rule.values)
    spelling: dict[Value, Value] = {}
    for cell, _ in Counter(seen).most_common():
        text = cell.decode(errors="backslashreplace") if isinstance(cell, bytes) else str(cell)
        for value in [cell] if isinstance(cell, int | float) else [cell, text.strip(), read_cell(text, decimal)]:
            spelling.setdefault(value, cell)
    are_texts = {type(cell) for cell in seen} == {str}

    def spell(value: Value) -> Value:
        value = int(value) if whole and float(value).is_integer() else value
        if value in spelling or not are_texts:
            return spelling.get(value, value)
        return str(as_whole(value)).replace(".", decimal) if isinstance(value, float) else str(value)

    return list(map(spell, values.tolist()))


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
    for j, gone in _missing(table, coding):
        old = frame[:, place_of[wanted[j]]]
        seen = as_objects(old.to_list())[~gone].tolist()
        filled.append(_put(old, gone, _spell_like(values[gone, j], seen, coding.columns[j], ".")))
    return nw.to_native(frame.with_columns(*filled) if filled else frame)


def _put(old: Series, gone: Mask, values: list[Value]) -> Series:
    """Return a column with values in its missing cells, of the same type where this holds them."""
    import narwhals.stable.v1 as nw

    kind = old.dtype
    if kind == nw.Decimal:
        values = [Decimal(str(value)) for value in values]
    elif kind in (nw.Categorical, nw.Enum):  # intervals, whose values are texts here
        category_of = {str(category): category for category in old.cat.get_categories().to_list()}
        values = [category_of.get(value, value) for value in values]
    elif kind == nw.Boolean:
        values = [bool(value) if value in (0, 1) else value for value in values]
    cells = as_objects(old.to_list())
    cells[gone] = as_objects(values)
    is_arrow = old.implementation.is_pyarrow()
    # The oldest narwhals does not know is_integer.
    is_whole = kind.is_numeric() and kind not in (nw.Float32, nw.Float64, nw.Decimal)
    keeps_type = not (is_whole and any(value % 1 for value in values))  # polars would cut their decimals off
    with suppress(Exception):  # which one says that the type does not hold them depends on the library
        if keeps_type and not is_arrow:
            return old.scatter(np.flatnonzero(gone).tolist(), values)
        if is_arrow and kind != nw.Categorical:  # a dictionary would have the order of its first rows
            import pyarrow

            array = pyarrow.chunked_array([pyarrow.array(cells.tolist(), nw.to_native(old).type)])
            typed: Series = nw.from_native(array, series_only=True)
            return typed.alias(old.name)
    return nw.new_series(old.name, cells.tolist(), native_namespace=nw.get_native_namespace(old))
