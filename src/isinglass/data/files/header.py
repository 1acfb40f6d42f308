"""What the records of a text or a spreadsheet say: names of columns, values, and names of rows."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from isinglass.data.column import BLANKS, Column
from isinglass.data.files.text import Records
from isinglass.data.meaning.coding import Coding, Layout
from isinglass.data.meaning.rules import Codes
from isinglass.data.meaning.values import AMOUNT, THOUSANDS, Value, is_number, read_cell
from isinglass.data.options import ReadOptions, by_column
from isinglass.data.source import Source
from isinglass.errors import DataError, plural, setting
from isinglass.names import tidy_name

ID_NAMES = frozenset({"", "id", "index", "row", "rowname", "rownames", "row_names", "unnamed: 0", "__index_level_0__"})
"""Names of a first column that names the rows. pandas and R leave it empty."""


def find_decimal(columns: Iterable[Iterable[str]], missing: Collection[Value] = BLANKS) -> str:
    """Return what separates the decimals of numbers in columns of words.

    It is a comma if some columns have only numbers with it and ``missing`` words, unless all may be thousands: 1,200.
    """
    found = []
    for words in columns:
        commas = [word.strip() for word in words if "," in word]
        read = (read_cell(word, ",") for word in words) if commas else ()
        if commas and all(value in missing or is_number(value) for value in read):
            found += commas
    return "." if all(map(THOUSANDS.fullmatch, found)) else ","


def lay_out(
    records: Records,
    header: bool | str,
    decimal: str = ".",
    missing: Collection[Value] = BLANKS,
    known: Collection[Sequence[str]] = (),
) -> Source:
    """Interpret the fields and split off the header, which has the names of one of the ``known`` lists.

    ``missing``: words for a missing cell, and what else the user declares missing in all columns.
    """
    value_of: dict[str, Value] = {}  # most columns share their words
    for words in (records.first, *(words for _, words in records.columns)):
        value_of.update((word, read_cell(word, decimal)) for word in words if word not in value_of)
    columns, names = records.columns, list(map(tidy_name, records.first))
    is_header = header is True or bool(records.wording)
    if len(names) < len(columns):
        names, is_header = _add_corner(names, columns), True
    if header == "auto" and not is_header:
        gone = {word: None if value in missing else value for word, value in value_of.items()}
        is_header = any(set(some) <= set(names) for some in known) or _is_header(records, gone)
    if not is_header:  # the first record is a row
        each = zip(columns, records.first, strict=True)
        columns = [(np.insert(codes, 0, len(words)), [*words, word]) for (codes, words), word in each]
    start, n_rows = int(is_header), len(columns[0][0])
    if n_rows == 0:
        raise DataError(
            f"the file has a header and no rows. Pass {setting('header', False)} if its first line holds data."
        )
    read = [Column(codes, [value_of[word] for word in words], blanks=BLANKS, words=words) for codes, words in columns]
    found = {"header": "first line" if is_header else "none"} | ({"decimal": decimal} if decimal == "," else {})
    table = Source(
        (n_rows, len(read)),
        read.__getitem__,
        names=names if is_header else None,
        is_file=True,
        describe_row=lambda row: f"row {row + 1}, line {records.line_of(row + start)}",
        layout=Layout(has_header=is_header, delimiter=records.delimiter, decimal=decimal),
        wording=records.wording,
        detected={**records.detected, **found},
    )
    last = len(read) - 1
    ends_blank = not any(map(str.strip, columns[last][1])) and not (is_header and names[last])
    return table.without(last) if last > 0 and ends_blank else table  # lines end with a delimiter


def _add_corner(names: list[str], columns: Sequence[tuple[Codes, list[str]]]) -> list[str]:
    """Return a name for every column below a header with one field less: R leaves out that of the row names.

    Row names are all different. Lines may also end with a delimiter, except for that of the header.
    """
    (codes, words), (_, last) = columns[0], columns[-1]
    if len(columns) > 2 and not any(map(str.strip, last)):
        return [*names, ""]
    if len(words) < len(codes) or "" in map(str.strip, words):
        raise DataError(
            f"the header must have a name for every column; got {plural(len(names), 'name')} above {len(columns)} "
            "fields, of which the first does not differ from row to row, as row names do. Add the missing name, or "
            f"pass {setting('delimiter')} if something else separates the fields."
        )
    return ["", *names]


def _is_header(records: Records, value_of: Mapping[str, Value]) -> bool:
    """Tell whether the first record names the columns.

    It does if its first field is a name of row names, such as "id". With numbers it does otherwise only if that field
    is empty above row names, which are all different. Without, it does if none of its texts occurs again below in its
    column, and is a row if all do; where some do and some do not, it could be either, and is refused.
    """
    first = [value_of[word] for word in records.first]
    below = [{value_of[word] for word in words} for _, words in records.columns]
    corner, *names = first
    if isinstance(corner, str) and corner.casefold() in ID_NAMES:
        return True
    if any(map(is_number, first)):
        has_row_names = 2 < len(records.columns[0][0]) == len(below[0] - {None})
        return corner is None and has_row_names and len({*names} - {None}) == len(names) > 0
    texts = [(value, value in cells) for value, cells in zip(first, below, strict=True) if value is not None]
    new = [value for value, occurs_below in texts if not occurs_below]
    if 0 < len(new) < len(texts):
        again = next(value for value, occurs_below in texts if occurs_below)
        raise DataError(
            f"the first line must be names of columns or a row; got {again!r}, which occurs again below in its column "
            f"as values do, and {new[0]!r}, which does not. Pass {setting('header', True)} if it names the columns, or "
            f"{setting('header', False)} if it is a row."
        )
    return len(new) > 0


def name_rows(source: Source, kind: str, options: ReadOptions) -> Source:
    """Return the table with the column of row names, if it has one, taken for these."""
    if options.id_column == "auto":
        place = None if kind in ("npy", "npz") else find_row_names(source, options)
    else:
        place = None if options.id_column is None else source.origin.find(options.id_column, "id_column")
    if place is None:
        return replace(source, row_names_at=None)
    column, name = source.column(place), source.names[place] if source.names else place
    return replace(
        source.without(place),
        row_names=[str(cell).strip() for cell in (column.entries if column.words is None else column.as_given)],
        row_names_at=place,
        layout=replace(source.layout, id_column=name),
        detected={**source.detected, "id_column": name if isinstance(name, str) and name else f"column {place + 1}"},
    )


def find_row_names(source: Source, options: ReadOptions) -> int | None:
    """Return the column that names the rows: as in the file that a coding was made for, or as the file shows.

    It is declared, or the first one if its header is empty, "id" or the like, or if it has more than two cells, all
    different and none missing, of which more than half are texts (Ann, Bob, Eve) other than amounts ($1,200, 84%).
    """
    names, coding = source.names, options.encode if isinstance(options.encode, Coding) else None
    if coding is not None and names is not None and coding.layout.id_column in names:
        return names.index(coding.layout.id_column)
    if coding is not None and (names is None or coding.names is None):
        had_one = coding.layout.id_column == 0
        n_more = source.shape[1] - coding.width  # columns than those of the coding, which are without row names
        if n_more < 0 or (n_more == 0 and not had_one):
            return None
        if n_more > 0 and had_one:
            return 0
    place = source.row_names_at
    is_named = names is not None and names[0].strip().casefold() in ID_NAMES
    if place is None and source.shape[1] > 1 and (is_named or _differ_as_names(source.column(0), source.shape[0])):
        place = 0
    return None if place is None or (names is not None and names[place] in _named_columns(options)) else place


def _differ_as_names(column: Column, n_rows: int) -> bool:
    """Tell whether all cells differ, and most of them are texts other than amounts."""
    texts = (isinstance(value, str) and not AMOUNT.fullmatch(value) for value in column.distinct)
    return 2 < n_rows == len(column.distinct) and 2 * sum(texts) > n_rows


def _named_columns(options: ReadOptions) -> set[Hashable]:
    """Return what options call columns, other than that of row names."""
    lists = (options.columns, options.drop, options.labels, options.covariates, options.reverse)
    stated = (options.kinds, options.scores, options.binarize, options.na_values, options.value_labels)
    by_name = [each for each in stated if isinstance(each, Mapping)]
    by_name += [options.encode] if by_column(options.encode) else []
    known = options.encode.called if isinstance(options.encode, Coding) else ()
    return {options.weights, *(key for keys in (*lists, *by_name, *known) for key in keys or ())}
