"""The records of a text, column by column: the different words of a column, and which of them each record has.

The csv module splits short texts, pyarrow long ones. The words are not interpreted here.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from isinglass.data.column import number_distinct
from isinglass.data.files.documents import Limits
from isinglass.data.files.text import offset_of_line, separate, split
from isinglass.data.meaning.rules import Codes
from isinglass.errors import DataError, LimitError, plural, setting

if TYPE_CHECKING:
    import pyarrow

    from isinglass._core import Words

LONGEST_LINE = 2**26
FEW_LINES = 1000
"""Below this number the csv module is faster than pyarrow, which takes 40 ms to load and 0.1 ms for each column."""
_BLOCK, _WIDEST_BLOCK, _BYTES_PER_COLUMN = 2**20, 2**25, 2**11
"""Bytes that pyarrow splits at once: more in wide tables, for a column takes 10 microseconds beside its cells."""


@dataclass(frozen=True, eq=False)
class Records:
    """The records of a text file or a spreadsheet. The first is kept apart: it may be a header."""

    first: list[str]  # fields of the first record
    columns: list[tuple[Codes, list[str]]]  # the others: of each column the positions of its fields among its words
    # the line on which the record of a given number ends; the first record has number 0, lines count from 1
    line_of: Callable[[int], int]
    delimiter: str | None = None  # None for a spreadsheet
    n_titles: int = 0  # left out above the first record, which is a header if there are some
    wording: Mapping[str, str] = field(default_factory=dict)  # of its columns, by name
    detected: Mapping[str, str] = field(default_factory=dict)  # what was found out about the file, for the user

    @property
    def words(self) -> list[list[str]]:
        """The words of every column."""
        return [words for _, words in self.columns]


def _check_lines(data: bytes, delimiter: str, limits: Limits) -> tuple[int, int]:
    """Refuse text that would take too much memory to split; return its number of lines, and the longest length."""
    n_lines = data.count(b"\n")
    limits.check_text(n_lines, "rows of text")
    longest = max(io.BytesIO(data), key=len, default=b"")
    if len(longest) > LONGEST_LINE:
        raise LimitError(f"lines must have at most {LONGEST_LINE} bytes; got one of {len(longest)}.")
    # Quotes may hide a few delimiters, but not that many.
    limits.check_shape(1, longest.count(delimiter.encode()) // 4 + 1)
    return n_lines, len(longest)


def read_records(data: bytes, delimiter: str, limits: Limits) -> Records:
    """Read the records of RFC 4180, quoted fields included; all but the first must have the same number of fields."""
    limits.check_bytes(len(data), "a text")
    data = separate(data, delimiter)
    n_lines, longest = _check_lines(data, delimiter, limits)
    try:
        first_two = list(islice(split(data, delimiter), 2))
    except csv.Error:
        _refuse_records(data, delimiter, 0)
    if not first_two:
        raise DataError("the file has only blank lines.")
    (start, first), *others = first_two
    second = others[0][1] if others else []
    width = len(second) if len(second) == len(first) + 1 else len(first)  # R leaves the corner of the header out
    limits.check_shape(1, width)
    limits.check_text(n_lines * width, "cells of text")
    if not second:
        return Records(first, [(np.zeros(0, np.uint8), []) for _ in first], lambda _: start)
    quoted = b'"' in data  # much faster than to look at them
    if len(second) != width or (quoted and not _are_fields_whole(data, delimiter)):
        _refuse_records(data, delimiter, width)
    if n_lines < FEW_LINES:
        read = _read_few(data, delimiter, width)
    else:
        read = _read_many(data, offset_of_line(data, start), delimiter, width, longest, quoted, limits)
    try:
        columns = list(_checked(read, width, limits))
    except LimitError:
        raise
    except (csv.Error, ValueError) as error:
        _refuse_records(data, delimiter, width)
        raise DataError(f"the text of the file cannot be read: {error}.") from None
    return Records(first, columns, lambda k: next(islice(split(data, delimiter, width), k, None))[0])


def _checked(
    columns: Iterator[tuple[Codes, list[str]]], width: int, limits: Limits
) -> Iterator[tuple[Codes, list[str]]]:
    """Yield columns as they are read, while they are within the limits, with small numbers."""
    n_words = 0
    for codes, words in columns:
        n_words += len(words)
        limits.check_text(n_words, "different words")
        limits.check_shape(len(codes), width)
        yield codes.astype(np.uint8 if len(words) < 255 else np.int32, copy=False), words


def _are_fields_whole(data: bytes, delimiter: str) -> bool:
    """Tell whether quotes enclose whole fields, or are doubled within these: pyarrow reads ``"1"0`` as 10."""
    may_adjoin = np.zeros(256, dtype=bool)  # what is before an opening quote, or after a closing one
    may_adjoin[list(b'\r\n"' + delimiter.encode())] = True
    text, n_quotes = np.frombuffer(data, np.uint8), 0
    for start in range(0, len(text), _BLOCK):
        places = start + np.flatnonzero(text[start : start + _BLOCK] == ord('"'))
        opening, closing = places[n_quotes % 2 :: 2], places[1 - n_quotes % 2 :: 2]
        neighbors = np.append(opening[opening > 0] - 1, closing[closing < len(text) - 1] + 1)
        if not may_adjoin[text[neighbors]].all():
            return False
        n_quotes += len(places)
    return n_quotes % 2 == 0


def _read_few(data: bytes, delimiter: str, width: int) -> Iterator[tuple[Codes, list[str]]]:
    """Yield the columns of a text with few lines, without its first record: positions among words, and the words."""
    shared: dict[str, str] = {}  # equal words in one place
    rows = [[shared.setdefault(word, word) for word in record] for _, record in split(data, delimiter, width)]
    if any(len(row) != width for row in rows[1:]):
        raise ValueError("rows of different lengths")
    for cells in zip(*rows[1:], strict=True):
        yield number_distinct(cells)


def _read_many(
    data: bytes, start: int, delimiter: str, width: int, longest: int, quoted: bool, limits: Limits
) -> Iterator[tuple[Codes, list[str]]]:
    """Yield the columns of a text without its first record, as `_read_few` does.

    pyarrow reads words as strings, one block at a time. Its own numbering takes more than twice the time.
    """
    import pyarrow
    from pyarrow import csv as arrow

    from isinglass._core import Words

    names, body = [str(j) for j in range(width)], memoryview(data)[start:]
    parse = arrow.ParseOptions(
        delimiter=delimiter,
        newlines_in_values=quoted,  # they cost time
        # blank lines, as `split` has them
        invalid_row_handler=lambda row: "skip" if row.text.isspace() and delimiter not in row.text else "error",
    )
    convert = arrow.ConvertOptions(column_types=dict.fromkeys(names, pyarrow.string()), check_utf8=False)
    usual = max(_BLOCK, min(_WIDEST_BLOCK, _BYTES_PER_COLUMN * width), 2 * longest)  # a record must fit
    for size in (usual, len(body) + 1):  # a field with line breaks can be longer than any line
        read, view = arrow.ReadOptions(block_size=min(size, 2**31 - 1), column_names=names), memoryview(body)
        columns = [Words() for _ in names]
        block = reader = None
        try:
            reader = arrow.open_csv(pyarrow.BufferReader(view), read, parse, convert)
            for block in reader:
                for words, cells in zip(columns, block.columns, strict=True):
                    _add_words(words, cells)
                limits.check_text(sum(map(len, columns)), "different words")
            break
        except pyarrow.ArrowInvalid as error:
            if "straddling" not in str(error) or size > len(body):
                raise
        finally:
            del reader, block
            _await_release(view)
    columns.reverse()
    while columns:
        column = columns.pop()  # its memory is not needed any more
        yield column.codes, column.words


def _add_words(words: Words, cells: pyarrow.Array) -> None:
    """Give the cells of a string array their numbers."""
    _, offsets, text = cells.buffers()
    if len(cells):
        places = np.frombuffer(offsets, np.int32, len(cells) + 1, 4 * cells.offset)
        words.add(places, np.frombuffer(text or b"", np.uint8))


def _await_release(view: memoryview) -> None:
    """Wait until the threads of pyarrow have let go of a buffer, which they do shortly after they return a table.

    A thread that does so while the interpreter ends would abort the process, because Python gives it no lock any more.
    """
    for _ in range(1000):
        try:
            view.release()
            return
        except BufferError:
            time.sleep(1e-4)


def _refuse_records(data: bytes, delimiter: str, width: int) -> None:
    """Raise if a record after the first has another number of fields, or cannot be split; name its line."""
    line = 0
    try:
        for number, (line, record) in enumerate(split(data, delimiter, width)):
            if number and len(record) != width:
                remedy = f"Check quotes and delimiters there, or pass {setting('delimiter')}."
                if record[0].startswith("#"):
                    remedy = "It looks like a comment: remove it, as only those above the table are left out."
                raise DataError(
                    f"rows must have equal length; got {plural(len(record), 'field')} in line {line}, "
                    f"where {width} are expected. {remedy}"
                )
    except csv.Error as error:
        place = f"after line {line}" if line else "in its first record"
        raise DataError(f"the text of the file has a broken field {place}: {error}.") from None
