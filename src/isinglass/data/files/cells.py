"""The fields of a text file or a spreadsheet as a table: header, columns, and which words stand for a missing cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from isinglass.data.column import BLANKS, Column
from isinglass.data.meaning.coding import Layout
from isinglass.data.meaning.rules import Codes
from isinglass.data.meaning.values import THOUSANDS, Value, is_bit, is_number, read_cell, read_number
from isinglass.data.source import ID_NAMES, Source
from isinglass.errors import DataError, setting
from isinglass.names import tidy_name

_INFINITE = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Records:
    """The records of a text file or a spreadsheet. The first is kept apart: it may be a header."""

    first: list[str]  # fields of the first record
    codes: list[Codes]  # of each column the fields, as positions in its words; entry 0 is for the first record
    words: list[list[str]]  # what the fields of each column say
    # the line on which the record of a given number ends; the first record has number 0, lines count from 1
    line_of: Callable[[int], int]


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


def count_titles(records: Iterable[Sequence[str]]) -> int:
    """Return how many records are titles above a header: at most one field, then three or more different words."""
    for k, record in enumerate(records):
        fields = [field for field in record if field.strip()]
        if len(fields) > 1:
            are_names = len(set(fields)) == len(fields) and all(read_number(field.strip()) is None for field in fields)
            return k if len(fields) > 2 and are_names else 0
    return 0


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
    first = list(map(tidy_name, records.first))
    memory: dict[str, Value] = {}  # most columns share their words
    for words in (records.first, *records.words):
        memory.update((word, read_cell(word, decimal)) for word in words if word not in memory)
    if header == "auto":
        headed = any(set(names) <= set(first) for names in known) or _has_header(records, memory, missing)
    else:
        headed = bool(header)
    missing_corner = len(first) < len(records.codes)
    names = ["", *first] if missing_corner else first
    start = int(headed or missing_corner)
    n_rows = len(records.codes[0]) - start
    if n_rows == 0:
        raise DataError(
            f"the file has a header and no rows. Pass {setting('header', False)} if its first line holds data."
        )
    if not start:  # the first record is a row
        for codes, words, word in zip(records.codes, records.words, records.first, strict=True):
            codes[0] = len(words)
            words.append(word)
    columns = [
        Column(codes[start:], [memory[word] for word in words], blanks=BLANKS, words=words)
        for codes, words in zip(records.codes, records.words, strict=True)
    ]
    table = Source(
        (n_rows, len(columns)),
        columns.__getitem__,
        names=names if start else None,
        is_file=True,
        describe_row=lambda row: f"row {row + 1}, line {records.line_of(row + start)}",
        layout=Layout(has_header=bool(start), decimal=decimal),
    )
    last = len(columns) - 1  # without name and values where lines end with a delimiter
    empty = last > 0 and not any(word.strip() for word in records.words[last]) and not (start and names[last])
    return table.without(last) if empty else table


def _has_header(records: Records, memory: Mapping[str, Value], missing: Collection[Value]) -> bool:
    """Tell whether the first record names the columns.

    The first field is looked at less than the others: it may be the name of a row, or that of a column of row names.
    """
    as_values = ([memory[word] for word in words] for words in (records.first, *records.words))
    values, *below = ([None if value in missing else value for value in values] for values in as_values)
    if len(values) < len(below):  # R leaves the corner out
        return True
    is_single = len(below) == 1
    corner = None if is_single else values[0]
    fields, columns = (values, below) if is_single else (values[1:], below[1:])
    if not is_single and records.first[0].strip().casefold() in ID_NAMES - {""}:
        return True
    if isinstance(corner, str) and not any(value is not None for value in fields):  # one name, or that of an empty row
        return not any(isinstance(value, str) for value in below[0])
    if any(isinstance(value, str) for value in fields):
        n_rows = len(records.codes[0]) - 1
        has_row_names = not is_single and (corner is None or 2 < n_rows == len({*below[0]} - {None}))
        return not is_number(corner) and _are_names(fields, columns, columns if has_row_names else below)
    if len(values) > 3 and values == list(range(len(values))):  # as pandas writes them, or a row
        return not all(value in column for value, column in zip(values, below, strict=True))
    cells = [value for column in below for value in column if value is not None]
    if not is_number(corner) and _are_steps(fields):  # years, or numbers of items
        n_below = sum(value in column for value, column in zip(fields, columns, strict=True))
        are_counted = len(fields) > 3 and fields[:2] in ([0, 1], [1, 2])
        is_above_numbers = corner is not None and all(map(is_number, below[0]))
        return are_counted or is_above_numbers or 2 * n_below < len(fields)
    if _are_steps(values) and all(map(is_number, cells)) and values[0] > 2 * max(cells) - min(cells):
        return True  # years above small numbers
    are_bits = all(value is None or is_bit(value) for column in columns for value in column)
    return are_bits and any(value is not None and not is_bit(value) for value in fields)


def _are_names(fields: Sequence[Value], columns: Sequence[Sequence[Value]], others: Sequence[Sequence[Value]]) -> bool:
    """Tell whether texts, perhaps with years among them, are names of the columns below them, and no row.

    More than half of the texts stand above columns of numbers, or do not occur among the ``others``.
    """
    numbers = [value for value in fields if is_number(value)]
    steps = np.diff(numbers)
    if any(isinstance(value, float) for value in numbers) or not ((steps > 0).all() or (steps < 0).all()):
        return False
    texts = {value: column for value, column in zip(fields, columns, strict=True) if isinstance(value, str)}
    above_numbers = sum(all(cell is None or is_number(cell) for cell in column) for column in texts.values())
    occurring = {value for column in others for value in column if isinstance(value, str)}
    return 2 * max(above_numbers, len(texts.keys() - occurring)) > len(texts)


def _are_steps(values: Sequence[Value | None]) -> bool:
    """Tell whether these are at least three numbers that ascend in equal steps."""
    if len(values) < 3 or not all(map(is_number, values)):
        return False
    steps = np.diff(np.array(values, dtype=float))
    return bool(steps[0] > 0 and np.allclose(steps, steps[0], rtol=1e-6))
