"""Completed tables: every observed cell as the user gave it, and values in the missing ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass.arrays import AnyArray
from isinglass.data.column import Column, as_objects
from isinglass.data.containers import as_frame, open_source
from isinglass.data.meaning.chosen_columns import take_columns
from isinglass.data.meaning.coding import Coding
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
    source = open_source(X)
    if source.block is not None and all(rule.is_plain for rule in coding.columns):
        return values
    cells = OpenCells(source, table, coding).filled(values)
    if not all(type(cell) in (int, float) for cell in cells.flat):
        return cells
    return cells.astype(np.float64 if any(isinstance(cell, float) for cell in cells.flat) else np.int64)


class OpenCells:
    """The cells of a source in the columns of a coding, as the user gave them; read once."""

    def __init__(self, source: Source, table: Table, coding: Coding) -> None:
        self.table, self.coding, self.decimal = table, coding, source.decimal or "."
        chosen, rows = take_columns(source, coding), slice(None) if table.rows is None else table.rows
        self.columns = [_own_cells(chosen.column(j), rule)[rows] for j, rule in enumerate(coding.columns)]

    def filled(self, values: AnyArray) -> AnyArray:
        """Return the cells with ``values`` in the missing ones."""
        cells = np.stack(self.columns, axis=1)
        for j, column in _fill_columns(self.columns.__getitem__, values, self.table, self.coding, self.decimal):
            cells[:, j] = column
        return cells

    def as_read(self, cells: AnyArray) -> AnyArray:
        """Return such cells with numbers in place of their texts, in columns of numbers."""
        read = [
            [cell if rule.has_words else read_word(cell, self.decimal) for cell in column]
            for rule, column in zip(self.coding.columns, cells.T.tolist(), strict=True)
        ]
        return np.stack(list(map(as_objects, read)), axis=1)


def _own_cells(column: Column, rule: Rule) -> Cells:
    """Return the cells as they came, as objects; as their labels where these are the categories of a rule."""
    labels = {value: label for value, label in column.labels.items() if label in rule.values}
    if not labels or column.values is None:
        return column.as_given
    words = column.values if column.words is None else column.words
    called = [labels.get(value, word) for value, word in zip(column.values, words, strict=True)]
    return np.asarray(as_objects([*called, None])[column.cells])


def _fill_columns(
    own: Callable[[int], Cells], values: AnyArray, table: Table, coding: Coding, decimal: str = "."
) -> Iterator[tuple[int, Cells]]:
    """Yield number and cells of every column with missing ones, which get ``values``; ``own``: the cells as given."""
    for j, gone in enumerate(() if table.missing_cells is None else table.missing_cells.T):
        if not gone.any():
            continue
        rule, cells = coding.columns[j], own(j).copy()
        if isinstance(rule, Cut):
            raise DataError(
                f"{setting('X')} must have no missing cells in column {table.variables.called(j)}, whose numbers the "
                f"fit only compares with {rule.threshold:g}: it knows no number to put there. predict_proba has the "
                "probability of a larger one."
            )
        whole = rule.decimals == 0 if isinstance(rule, Steps) else all(isinstance(value, int) for value in rule.values)
        new = [int(cell) if whole and float(cell).is_integer() else cell for cell in values[gone, j].tolist()]
        cells[gone] = as_objects(_spell_like(new, cells[~gone].tolist(), decimal))
        yield j, cells


def _spell_like(values: Sequence[Value], seen: Sequence[Value], decimal: str) -> list[Value]:
    """Return values as the observed cells of their column, ``seen``, have them: the most frequent spelling of each.

    A value that is not among them becomes a cell of their type.

    Examples
    --------
    >>> _spell_like([1.5, 2], ["1,5", "1,50", "1,50", " 3"], ",")
    ['1,50', '2']
    """
    spelling: dict[Value, Value] = {}
    are_numbers = all(isinstance(value, int | float) for value in values)
    for cell, _ in Counter(seen).most_common():
        if are_numbers and isinstance(cell, int | float):  # whose text says no more
            spelling.setdefault(cell, cell)
            continue
        text = cell.decode(errors="backslashreplace") if isinstance(cell, bytes) else str(cell)
        for value in (cell, text.strip(), read_cell(text, decimal)):
            spelling.setdefault(value, cell)
    return [spelling[value] if value in spelling else _cell_like(value, seen, decimal) for value in values]


def _cell_like(value: Value, seen: Sequence[Value], decimal: str) -> Value:
    """Return a value that no observed cell of its column has, as a cell of their type if they share one.

    Examples
    --------
    >>> _cell_like(2.5, ["1,5", "3"], ","), _cell_like("no", [b"yes"], "."), _cell_like(2.5, ["1.5", 3], ".")
    ('2,5', b'no', 2.5)
    >>> _cell_like(0, [True], "."), _cell_like(0, ["TRUE"], "."), _cell_like(0, ["true"], ".")
    (False, 'FALSE', 'false')
    """
    types = {type(cell) for cell in seen}
    if value in (0, 1) and types in ({bool}, {str}) and all(isinstance(read_cell(str(cell)), bool) for cell in seen):
        value = bool(value)
    if types == {bytes}:
        return str(value).encode()
    if types != {str}:
        return value
    if isinstance(value, bool):
        word = str(value)
        return word.upper() if seen[0].isupper() else word.lower() if seen[0].islower() else word
    return str(as_whole(value)).replace(".", decimal) if isinstance(value, float) else str(value)


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
    series = [frame[:, place_of[name]] for name in wanted]
    columns = _fill_columns(lambda j: as_objects(series[j].to_list()), values, table, coding)
    filled = [_typed_like(series[j], cells.tolist()) for j, cells in columns]
    return nw.to_native(frame.with_columns(*filled) if filled else frame)


def _typed_like(old: Series, cells: list[Value]) -> Series:
    """Return a column with other cells, of the same type where this holds them."""
    import narwhals.stable.v1 as nw

    kind, library, fits = old.dtype, old.implementation, True
    is_float = kind in (nw.Float32, nw.Float64)
    is_number = kind == nw.Boolean or (kind.is_numeric() and kind != nw.Decimal)
    if kind in (nw.Categorical, nw.Enum):  # intervals, whose values are texts here
        category_of = {str(category): category for category in old.cat.get_categories().to_list()}
        cells = [category_of.get(cell, cell) for cell in cells]
    elif kind == nw.String:
        cells = list(map(str, cells))
    elif kind == nw.Decimal:
        cells = [Decimal(str(cell)) for cell in cells]
    elif kind == nw.Boolean:
        fits = all(cell in (0, 1) for cell in cells)
    elif is_number and not is_float:
        fits = all(float(cell).is_integer() for cell in cells)
    new = nw.new_series(
        old.name, np.array(cells) if is_number else cells, native_namespace=nw.get_native_namespace(old)
    )
    before, after = nw.to_native(old), nw.to_native(new)
    if not fits:
        return new
    if library.is_pandas_like():
        after = after.astype(before.dtype)
    elif library.is_polars():
        after = after.cast(before.dtype)
    elif kind == nw.Categorical:  # a dictionary of Arrow would have the order of its first rows
        return new
    else:
        with suppress(NotImplementedError):  # of old versions, for views of text
            after = after.cast(before.type)
    typed: Series = nw.from_native(after, series_only=True)
    return typed.alias(old.name)  # an array of Arrow has no name
