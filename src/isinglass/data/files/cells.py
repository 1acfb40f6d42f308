"""The fields of a text file or a spreadsheet as a table: header, columns, and which words stand for a missing cell."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from isinglass.data.column import BLANKS, Column
from isinglass.data.files.header import FirstRecord
from isinglass.data.files.records import Records
from isinglass.data.meaning.coding import Layout
from isinglass.data.meaning.rules import Codes
from isinglass.data.meaning.values import THOUSANDS, Value, is_number, read_cell
from isinglass.data.source import Source
from isinglass.errors import DataError, plural, setting
from isinglass.names import tidy_name

_INFINITE = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)


def find_decimal(columns: Iterable[Iterable[str]], missing: Collection[Value] = BLANKS) -> str:
    """Return what separates the decimals of numbers in columns of words.

    It is a comma if some columns have only numbers with it, ``inf`` and ``missing`` words, unless all of these may be
    thousands: 1,200.
    """
    found = []
    for words in columns:
        commas = [word.strip() for word in words if "," in word]
        read = (read_cell(word, ",") for word in words) if commas else ()
        if commas and all(value in missing or is_number(value) or _INFINITE.fullmatch(value) for value in read):
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
    for words in (records.first, *records.words):
        value_of.update((word, read_cell(word, decimal)) for word in words if word not in value_of)
    columns, names = records.columns, list(map(tidy_name, records.first))
    lacks_corner = len(names) < len(columns)
    if lacks_corner:
        names = _add_corner(names, columns)
    is_header = header is True or lacks_corner or records.n_titles > 0
    if header == "auto" and not is_header:
        is_header = any(set(some) <= set(names) for some in known) or _looks_like_header(records, value_of, missing)
    if not is_header:  # the first record is a row
        each = zip(columns, records.first, strict=True)
        columns = [(np.insert(codes, 0, len(words)), [*words, word]) for (codes, words), word in each]
    start, n_rows = int(is_header), len(columns[0][0])
    if n_rows == 0:
        raise DataError(
            f"the file has a header and no rows. Pass {setting('header', False)} if its first line holds data."
        )
    detected = {**records.detected, "header": "first line" if is_header else "none"}
    if decimal == ",":
        detected["decimal"] = decimal
    read = [Column(codes, [value_of[word] for word in words], blanks=BLANKS, words=words) for codes, words in columns]
    table = Source(
        (n_rows, len(read)),
        read.__getitem__,
        names=names if is_header else None,
        is_file=True,
        describe_row=lambda row: f"row {row + 1}, line {records.line_of(row + start)}",
        layout=Layout(has_header=is_header, delimiter=records.delimiter, decimal=decimal),
        wording=records.wording,
        detected=detected,
    )
    last = len(read) - 1
    has_name = is_header and names[last] != ""
    if last > 0 and not has_name and not any(map(str.strip, columns[last][1])):  # lines end with a delimiter
        return table.without(last)
    return table


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


def _looks_like_header(records: Records, value_of: Mapping[str, Value], missing: Collection[Value]) -> bool:
    """Tell whether the first record has other values than those below it, as names do."""
    answer_of = {word: None if value in missing else value for word, value in value_of.items()}
    first, *below = ([answer_of[word] for word in words] for words in (records.first, *records.words))
    return FirstRecord.of(first, below, len(records.columns[0][0])).is_header
