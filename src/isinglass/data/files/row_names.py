"""Row names of a file: the column that holds them, as stated, as in another file, or as its cells show."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import replace
from itertools import pairwise

from isinglass.arguments import is_whole
from isinglass.column_keys import read_column
from isinglass.data.column import Column
from isinglass.data.files.header import ID_NAMES
from isinglass.data.meaning.coding import Coding
from isinglass.data.meaning.recognition import is_identifier
from isinglass.data.meaning.values import AMOUNT, is_number
from isinglass.data.options import ReadOptions, by_column
from isinglass.data.source import Source
from isinglass.errors import DataError, MeaningWarning, setting, warn


def name_rows(source: Source, kind: str, options: ReadOptions) -> Source:
    """Return the table with the column of row names, if it has one, taken for these."""
    if options.id_column == "auto":
        place = None if kind in ("npy", "npz") else _choose_row_names(source, options)
    else:
        place = None if options.id_column is None else source.origin.find(options.id_column, "id_column")
    if place is None:
        return replace(source, row_names_at=None)
    name = source.names[place] if source.names else place
    return replace(
        source.without(place),
        row_names=_spell_cells(source.column(place)),
        row_names_at=place,
        layout=replace(source.layout, id_column=name),
        detected={**source.detected, "id_column": name if isinstance(name, str) and name else f"column {place + 1}"},
    )


def _choose_row_names(source: Source, options: ReadOptions) -> int | None:
    """Return the column that names the rows: as in the file that a coding was made for, or as its cells show."""
    coding = options.encode if isinstance(options.encode, Coding) and not options.transpose else None
    if coding is not None and source.names is not None and coding.layout.id_column in source.names:
        return source.names.index(coding.layout.id_column)
    if coding is not None and (source.names is None or coding.names is None):
        had_one, width = coding.layout.id_column == 0, coding.of_source.layout.width or len(coding.of_source.columns)
        n_more = source.shape[1] - width  # columns than those of the coding, which are without row names
        if n_more < 0 or (n_more == 0 and not had_one):
            return None
        if n_more > 0 and had_one:
            return 0
    place = find_row_names(source, numbers_are_data=options.binarize is not None, is_transposed=options.transpose)
    named = _named_columns(options)
    if place is None or (source.names is not None and source.names[place] in named):
        return None
    if coding is None:
        _doubt_row_names(source, place, named)
    return place


def _named_columns(options: ReadOptions) -> set[Hashable]:
    """Return what options call columns, other than that of row names; of a range its first column."""
    if options.transpose:  # the options speak of other columns
        return set()
    lists = (options.columns, options.drop, options.labels, options.covariates, options.reverse)
    stated = (options.kinds, options.scores, options.binarize, options.na_values, options.value_labels)
    by_name = [each for each in stated if isinstance(each, Mapping)]
    by_name += [options.encode] if by_column(options.encode) else []
    known = options.encode.called if isinstance(options.encode, Coding) else ()
    keys = {options.weights, *(key for keys in (*lists, *by_name, *known) for key in keys or ())}
    return keys | {read_column(key.partition(":")[0]) for key in keys if isinstance(key, str)}


def find_row_names(table: Source, *, numbers_are_data: bool, is_transposed: bool = False) -> int | None:
    """Return the column that names the rows: as the file itself declares, or the first one, if it looks like that.

    It does if its header is empty, "id" or the like; or if it has more than two values, all different and none missing,
    and more than half of them are texts (Ann, Bob, Eve) other than amounts ($1,200, 84%), or all are whole numbers in
    ascending order (1, 2, 3; 1990, 1992, 1999). ``numbers_are_data``: then numbers do not name rows. Two texts beside
    numbers name the variables of a file that is to be transposed.
    """
    if table.shape[1] < 2:
        return None
    if table.row_names_at is not None:
        return table.row_names_at
    if table.names is not None and table.names[0].strip().casefold() in ID_NAMES:
        return 0
    column, n_rows = table.column(0), table.shape[0]
    are_different = len(column.distinct) == n_rows  # and none is missing
    is_beside_numbers = is_transposed and all(map(is_number, table.column(1).distinct))
    if not are_different or n_rows < (2 if is_beside_numbers else 3):
        return None
    values = column.entries.tolist()
    n_texts = sum(isinstance(value, str) and not AMOUNT.fullmatch(value) for value in values)
    if 2 * n_texts > n_rows:  # fewer, beside numbers, are values that cannot be read
        return 0
    are_whole = n_rows > 2 and all(is_number(value) and value % 1 == 0 for value in values)
    ascend = are_whole and all(before < after for before, after in pairwise(values))
    return 0 if ascend and not numbers_are_data else None


def _doubt_row_names(table: Source, place: int, named: Collection[Hashable]) -> None:
    """Warn that numbers are taken for row names if only their order says so; refuse options that give numbers."""
    name = None if table.names is None else table.names[place].strip()
    has_usual_name = name is not None and (name.casefold() in ID_NAMES or is_identifier(name, has_many_values=True))
    are_numbers = all(map(is_number, table.column(place).distinct))
    if has_usual_name or not are_numbers or table.row_names_at is not None:
        return
    where, why = table.where(place), "it holds a whole number in every row, in ascending order"
    if any(is_whole(key) and key >= 0 for key in named):  # -1 is the last column in any case
        raise DataError(
            "options must name columns by name, or tell where the row names are, which numbers do not count: "
            f"{where} may hold them, as {why}. Pass {setting('id_column', place)} if it does, else "
            f"{setting('id_column', None)}."
        )
    taken = f"{where[0].upper()}{where[1:]} is taken for row names: {why}."
    warn(
        MeaningWarning(
            f"{taken} If it is a variable, say so ({setting('id_column', None)}).",
            () if name is None else (name,),
            "names rows?",
        )
    )


def _spell_cells(column: Column) -> list[str]:
    """Return the cells of a column of row names as text."""
    return [str(cell).strip() for cell in (column.entries if column.words is None else column.as_given)]
