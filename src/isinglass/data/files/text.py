"""Delimited text: its comments, delimiter, and its records, column by column.

pyarrow splits it. The csv module splits the first records, and finds the line of what is wrong.
"""

from __future__ import annotations

import csv
import io
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from isinglass.data.files.documents import Limits
from isinglass.data.meaning.rules import Codes
from isinglass.errors import ArgumentError, DataError, LimitError, plural, setting
from isinglass.names import tidy_name

if TYPE_CHECKING:
    import pyarrow

    from isinglass._core import Words

DELIMITERS = {"tab": "\t", "comma": ",", "semicolon": ";", "bar": "|", "blank": " "}
_SAMPLE_BYTES, SAMPLE_RECORDS = 2**16, 100
LONGEST_LINE = 2**26
_BLOCK, _WIDEST_BLOCK, _BYTES_PER_COLUMN = 2**20, 2**25, 2**11
"""Bytes that pyarrow splits at once: more in wide tables, for a column takes 10 microseconds beside its cells."""
_ABOVE = re.compile(rb'(?:(?i:"?sep=[^\r\n]"?)(?=[\r\n]))?(?:[\r\n]*#[^\r\n]*)*')
"""What may stand above the table: Excel's line ``sep=;``, and comments."""


@dataclass(frozen=True, eq=False)
class Records:
    """The records of a text file or a spreadsheet. The first is kept apart: it may be a header."""

    first: list[str]  # fields of the first record
    columns: list[tuple[Codes, list[str]]]  # the others: of each column the positions of its fields among its words
    # the line on which the record of a given number ends; the first record has number 0, lines count from 1
    line_of: Callable[[int], int]
    delimiter: str | None = None  # None for a spreadsheet
    wording: Mapping[str, str] = field(default_factory=dict)  # of its columns, by name
    detected: Mapping[str, str] = field(default_factory=dict)  # what was found out about the file, for the user


def read_text(data: bytes, stated: str | None, known: str | None, limits: Limits) -> Records:
    """Return the records of a text in UTF-8 without the comments above them.

    The delimiter is as ``stated``, or the one ``known`` from another file, if this splits the text evenly.
    """
    above = _ABOVE.match(data)
    n_above = 0 if above is None else above.end()
    comments, rest = data[:n_above], data[n_above:]
    found = find_delimiter(rest, known) if stated is None else stated
    delimiter = DELIMITERS.get(found, found)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in ('"', "\n", "\r", "\0"):
        raise ArgumentError("delimiter", f"must be one character or one of {tuple(DELIMITERS)}", stated)
    _refuse_doubtful_comments(comments.decode(), rest, delimiter)
    records = read_records(re.sub(rb"[^\r\n]+", b"", comments) + rest, delimiter, limits)
    detected = {"delimiter": next((name for name, each in DELIMITERS.items() if each == delimiter), delimiter)}
    if n_comments := len(re.findall(rb"[^\r\n]+", comments)) + 2 * bool(records.wording):
        detected["comments"] = str(n_comments)
    return replace(records, delimiter=delimiter, detected=detected)


def _refuse_doubtful_comments(comments: str, below: bytes, delimiter: str) -> None:
    """Refuse a comment that may be a header or a row: it has as many fields as the record below it."""
    lines = [] if delimiter == " " else comments.splitlines()  # words of a comment would be fields
    for number, line in enumerate(lines, 1):
        widths = [_width(text, delimiter) for text in (line.encode(), below)]
        if line.startswith("#") and widths[0] == widths[1] > 1:
            raise DataError(
                f"lines that begin with # above the table are comments, but line {number} has as many fields as the "
                "table. Remove the line if it is a comment, or the # if it has names or values."
            )


def _width(text: bytes, delimiter: str) -> int:
    """Return the number of fields of the first record, 0 if there is none or it is broken."""
    with suppress(csv.Error):
        return next((len(record) for _, record in split(text, delimiter)), 0)
    return 0


def find_delimiter(data: bytes, known: str | None = None) -> str:
    """Choose the delimiter that splits most of the first records into the same number of fields, the most of them.

    A ``known`` one that splits all of them evenly comes first. Of equals one that splits the first record like the
    others wins, then the first in the order tab, comma, semicolon, bar; blanks only where none of these splits all.
    """
    sample = data[:_SAMPLE_BYTES]
    if len(data) > len(sample):
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    splits = {each: _try_delimiter(sample, each) for each in DELIMITERS.values()}
    if known and splits.get(known, (0.0, 0, False))[::2] == (1.0, True):
        return known
    blank = splits.pop(" ")
    best = max(splits, key=lambda each: splits[each])
    if splits[best][::2] != (1.0, True) and blank > splits[best]:  # otherwise blanks are within cells
        return " "
    return best if splits[best][1] > 1 else ","


def _try_delimiter(sample: bytes, delimiter: str) -> tuple[float, int, bool]:
    """Return how a delimiter splits the first records.

    This is the share of them with the usual number of fields, this number, and whether the first record has it, too.
    """
    widths: list[int] = []
    try:
        widths.extend(
            len(record) for _, record in islice(split(separate(sample, delimiter), delimiter), SAMPLE_RECORDS)
        )
    except csv.Error:
        widths.append(0)  # a broken record is unlike those above it
    width, times = Counter(widths).most_common(1)[0] if widths else (0, 0)
    if width < 2:
        return 0.0, 0, False
    if len(widths) > 1 and widths[0] == widths[1] - 1:  # R leaves the corner of the header out
        times += widths[1] == width
    return times / len(widths), width, widths[0] == width


def separate(data: bytes, delimiter: str) -> bytes:
    """Return text with a single blank where runs of blanks separate fields; those within quotes stay as they are."""
    if delimiter != " ":
        return data
    data = re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?\n|\r?\Z)", b"", data)
    if b"  " not in data and b"\t" not in data:
        return data
    if b'"' in data:
        return re.sub(rb'((?<!\S)"(?:[^"]|"")*")|[ \t]+', lambda found: found[1] or b" ", data)
    return re.sub(rb"[ \t]+", b" ", data)


def split(data: bytes, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of its last line and the fields of every record that is not blank, as the csv module has them.

    Below a record of one field, blanks are a cell.
    """
    is_cell = False
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="surrogateescape", newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    for record in reader:
        if record and (is_cell or len(record) > 1 or record[0] == "" or record[0].strip()):
            yield reader.line_num, record
            is_cell = len(record) == 1


def _offset_of_line(data: bytes, n_lines: int) -> int:
    """Return where the line after the first ``n_lines`` begins; line ends are those of the csv module and pyarrow."""
    ends = re.finditer(rb"\r\n|\r|\n", data)
    return next((end.end() for end in islice(ends, n_lines - 1, None)), len(data))


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
    """Read the records of RFC 4180, quoted fields included; all but the first must have the same number of fields.

    Two lines of Qualtrics below the header, the wording of the questions and identifiers, are no records.
    """
    limits.check_bytes(len(data), "a text")
    data = separate(data, delimiter)
    n_lines, longest = _check_lines(data, delimiter, limits)
    try:
        top = list(islice(split(data, delimiter), 4))
    except csv.Error:
        raise DataError(_find_fault(data, delimiter)) from None
    if not top:
        raise DataError("the file has only blank lines.")
    first, second = top[0][1], top[1][1] if len(top) > 1 else []
    width = len(second) if len(second) == len(first) + 1 else len(first)  # R leaves the corner of the header out
    limits.check_shape(1, width)
    limits.check_text(n_lines * width, "cells of text")
    n_head, wording = 1, dict[str, str]()
    if len(top) > 2 and all(field.startswith('{"ImportId"') for field in top[2][1]):
        n_head, wording = 3, {tidy_name(name): tidy_name(text) for name, text in zip(first, second, strict=False)}
    if len(top) == n_head:
        return Records(first, [(np.zeros(0, np.uint8), []) for _ in first], lambda _: top[0][0])
    quoted = b'"' in data  # much faster than to look at them
    is_doubtful = len(second) != width or (quoted and not _are_fields_whole(data, delimiter))
    if is_doubtful and (fault := _find_fault(data, delimiter, width)):
        raise DataError(fault)
    try:
        body = memoryview(data)[_offset_of_line(data, top[n_head - 1][0]) :]
        columns = list(_split_columns(body, delimiter, width, longest, quoted, limits))
    except LimitError:
        raise
    except ValueError as error:
        fault = _find_fault(data, delimiter, width) or f"the text of the file cannot be read: {error}."
        raise DataError(fault) from None

    def line_of(record: int) -> int:
        number = record and record + n_head - 1
        return next(islice(split(data, delimiter), number, None))[0]

    return Records(first, columns, line_of, wording=wording)


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


def _split_columns(
    body: memoryview, delimiter: str, width: int, longest: int, quoted: bool, limits: Limits
) -> Iterator[tuple[Codes, list[str]]]:
    """Yield the columns of some records: the positions of their fields among the words of the column, and these.

    pyarrow reads words as strings, one block at a time. Its own numbering takes more than twice the time.
    """
    import pyarrow
    from pyarrow import csv as arrow

    from isinglass._core import Words

    names = [str(j) for j in range(width)]
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
        limits.check_shape(len(column.codes), width)
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


def _find_fault(data: bytes, delimiter: str, width: int = 0) -> str:
    """Return what is wrong with a record, and its line: another number of fields, or a broken one; "" if none is."""
    line = 0
    try:
        for number, (line, record) in enumerate(split(data, delimiter)):
            if number and width and len(record) != width:
                remedy = f"Check quotes and delimiters there, or pass {setting('delimiter')}."
                if record[0].startswith("#"):
                    remedy = "It looks like a comment: remove it, as only those above the table are left out."
                return (
                    f"rows must have equal length; got {plural(len(record), 'field')} in line {line}, "
                    f"where {width} are expected. {remedy}"
                )
    except csv.Error as error:
        place = f"after line {line}" if line else "in its first record"
        return f"the text of the file has a broken field {place}: {error}."
    return ""
