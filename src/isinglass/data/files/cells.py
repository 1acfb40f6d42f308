"""The fields of a text file or a spreadsheet as a table: header, columns, and which words stand for a missing cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from isinglass.data.column import BLANKS, Column
from isinglass.data.meaning.coding import Codes, Layout
from isinglass.data.meaning.values import THOUSANDS, Value, is_bit, is_number, read_cell, read_number
from isinglass.data.source import ID_NAMES, Source
from isinglass.errors import DataError, setting
from isinglass.names import tidy_name

_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?", re.ASCII)
"""A number whose thousands are grouped."""


@dataclass(frozen=True, eq=False)
class Records:
    """The records of a text file or a spreadsheet. The first is kept apart: it may be a header."""

    first: list[str]  # fields of the first record
    codes: list[Codes]  # of each column the fields, as positions in its words; entry 0 is for the first record
    words: list[list[str]]  # what the fields of each column say
    # the line on which the record of a given number ends; the first record has number 0, lines count from 1
    line_of: Callable[[int], int]


def find_decimal(columns: Iterable[Iterable[str]], missing: Collection[Value] = BLANKS) -> tuple[str, list[str]]:
    """Return what separates the decimals of numbers in columns of words, and words that may be thousands: 1,200.

    It is a comma if some columns have only numbers with it or ``missing`` words, unless all of these may be thousands.
    """
    found = []
    for words in columns:
        commas = [word.strip() for word in words if "," in word]
        read = (read_cell(word, ",") for word in words) if commas else ()
        if commas and all(value in missing or is_number(value) for value in read):
            found += commas
    return (".", found) if all(map(THOUSANDS.fullmatch, found)) else (",", [])


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
    *,
    is_sure: bool = False,
) -> Source:
    """Interpret the fields and split off the header, which has the names of one of the ``known`` lists.

    ``missing``: words for a missing cell, and what else the user declares missing in all columns. ``is_sure``: no comma
    separates decimals.
    """
    first = list(map(tidy_name, records.first))
    memory: dict[str, Value] = {}  # most columns share their words
    for words in (records.first, *records.words):
        memory.update((word, read_cell(word, decimal)) for word in words if word not in memory)
    if decimal == ".":
        memory |= _read_groups(records, memory, missing, is_sure=is_sure)
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


def _read_groups(
    records: Records, memory: Mapping[str, Value], missing: Collection[Value], *, is_sure: bool
) -> dict[str, Value]:
    """Return the numbers of words such as 1,200 in columns whose commas all group thousands.

    All other cells there are missing or numbers below 1000. Unless ``is_sure``, one number needs two commas or a point.
    """
    found: dict[str, Value] = {}
    for words in records.words:
        commas = [word for word in words if "," in word]
        if commas and all(_GROUPED.fullmatch(word.strip()) for word in commas):
            others = (memory[word] for word in words if "," not in word)
            is_clear = is_sure or any(not THOUSANDS.fullmatch(word.strip()) for word in commas)
            if is_clear and all(value in missing or (is_number(value) and abs(value) < 1000) for value in others):
                first = (word for word in records.first if _GROUPED.fullmatch(word.strip()))
                found |= {word: read_cell(word.replace(",", "")) for word in (*commas, *first)}
    return found


def _has_header(records: Records, memory: Mapping[str, Value], missing: Collection[Value]) -> bool:
    """Tell whether the first record names the columns. The first rule that applies decides.

    - It has one field less than the others: it does.
    - Its first field is a name for row names, such as "id": it does.
    - Its fields are 0, 1, 2, 3 and so on: unless each of them occurs below.
    - Its first field is a whole number from which the first column counts on: it does not.
    - It has a text and a number with decimals, or numbers that neither ascend nor descend: it does not.
    - It has texts: if more than half of them stand above columns of numbers, or more than half occur nowhere below. The
      first column is left aside, it may hold row names.
    - All its fields are different words for a missing cell: unless one of them occurs below.
    - All its fields but the first are empty: if the first is a text and no cell below it is, which would be row names.
    - It has numbers in equal steps, such as years, beside a text or nothing: if most of them do not occur below, if the
      text stands above numbers, or if they are 1, 2, 3, 4 and so on, from 0 or 1, beside a column of row names.
    - It has numbers in equal steps only: if they are farther from all numbers below than these are from each other.
    - It has a number other than 0 and 1: if everything below is 0, 1 or missing.
    """
    first, width, n_rows = records.first, len(records.codes), len(records.codes[0]) - 1
    if len(first) < width:
        return True
    start = int(width > 1)
    as_values = ([memory[word] for word in words] for words in (first, *records.words))
    read, *below = ([None if value in missing else value for value in values] for values in as_values)
    texts = [value for value in read[start:] if isinstance(value, str)]
    corner = first[0].strip().casefold()
    if start and corner and corner in ID_NAMES:
        return True
    if width > 3 and all(type(value) is int and value == k for k, value in enumerate(read)):  # by pandas
        return not all(value in column for value, column in zip(read, below, strict=True))
    counted = [memory[records.words[0][k]] for k in records.codes[0][1:4].tolist()]
    if type(read[0]) is int and len(counted) > 1 and counted == [read[0] + k for k in range(1, len(counted) + 1)]:
        return False
    numbers = [value for value in read if is_number(value)]
    in_order = all(a < b for a, b in pairwise(numbers)) or all(a > b for a, b in pairwise(numbers))
    if texts and (not in_order or any(isinstance(value, float) for value in numbers)):
        return False
    if texts:
        above_numbers = sum(
            isinstance(value, str) and all(cell is None or is_number(cell) for cell in cells)
            for value, cells in zip(read[start:], below[start:], strict=True)
        )
        named = start and (not corner or (n_rows > 2 and len(below[0]) == n_rows))
        others = {value for column in below[int(named) :] for value in column if isinstance(value, str)}
        return 2 * max(above_numbers, sum(text not in others for text in texts)) > len(texts)
    words = {word.strip() for word in first}
    if width > 1 and len(words) == width and words <= BLANKS - {""}:  # names, unless one is a cell
        return not any(word.strip() in words for column in records.words for word in column)
    if start and all(value is None for value in read[1:]):
        return isinstance(read[0], str) and not any(isinstance(value, str) for value in below[0])
    if start and (read[0] is None or isinstance(read[0], str)) and _are_steps(read[1:]):
        found = sum(value in column for value, column in zip(read[1:], below[1:], strict=True))
        names_numbers = isinstance(read[0], str) and all(map(is_number, below[0]))
        counts = width > 4 and read[1] in (0, 1) and read[2] == read[1] + 1
        return 2 * found < width - 1 or names_numbers or (counts and n_rows > 2 and len({*below[0]} - {None}) == n_rows)
    if _are_steps(read) and n_rows > 2:
        cells = [value for column in below for value in column if value is not None]
        if cells and all(map(is_number, cells)):
            ends = np.array([min(cells), max(cells)], dtype=float)
            if np.abs(np.subtract.outer(numbers, ends)).min() > np.ptp(ends):
                return True
    other = any(value is not None and value not in (0, 1) for value in read[start:])
    return other and all(value is None or is_bit(value) for column in below[start:] for value in column)


def _are_steps(values: Sequence[Value | None]) -> bool:
    """Tell whether these are at least three numbers that ascend in equal steps."""
    if len(values) < 3 or not all(map(is_number, values)):
        return False
    steps = np.diff(np.array(values, dtype=float))
    return bool(steps[0] > 0 and np.allclose(steps, steps[0], rtol=1e-6))
