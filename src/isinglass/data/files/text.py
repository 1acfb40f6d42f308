"""Delimited text: its encoding, delimiter and records. pyarrow splits it; the fields are not interpreted here."""

from __future__ import annotations

import codecs
import csv
import io
import re
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isinglass.data.column import number_distinct
from isinglass.data.files.cells import Records
from isinglass.data.files.documents import Limits
from isinglass.data.meaning.rules import Codes
from isinglass.errors import ArgumentError, DataError, LimitError, plural, setting

if TYPE_CHECKING:
    import pyarrow

    from isinglass._core import Words

DELIMITERS = {"tab": "\t", "comma": ",", "semicolon": ";", "bar": "|", "blank": " "}
_SAMPLE_BYTES, _SAMPLE_RECORDS = 2**16, 100
_PIECE, LONGEST_LINE = 2**20, 2**26
FEW_LINES = 1000
"""Below this number the csv module is faster than pyarrow, which takes 40 ms to load and 0.1 ms for each column."""
_BLOCK, _WIDEST_BLOCK, _BYTES_PER_COLUMN = 2**20, 2**25, 2**11
"""Bytes that pyarrow splits at once: more in wide tables, for a column takes 10 microseconds beside its cells."""


def to_utf8(data: bytes, encoding: str, limits: Limits) -> bytes:
    """Return text as UTF-8 without a byte order mark."""
    if not isinstance(encoding, str):
        raise ArgumentError("encoding", "must be the name of a text encoding", encoding)
    try:
        if codecs.lookup(encoding).name == "utf-8" and data.startswith((b"\xff\xfe", b"\xfe\xff")):
            encoding = "utf-16"  # its byte order mark, which no text in UTF-8 can have
        if codecs.lookup(encoding).name not in ("utf-8", "utf-8-sig", "ascii"):
            text = io.TextIOWrapper(io.BytesIO(data), encoding=encoding, newline="")
            data = limits.gather(text.read, "a text in UTF-8")
    except LookupError:
        raise ArgumentError("encoding", "must be a text encoding that Python knows", encoding) from None
    except UnicodeError as error:
        raise DataError(f"{setting('encoding')} must be that of the file; got {encoding!r}: {error}.") from None
    if b"\x00" in data:
        raise DataError(
            "the file is not a table: it is neither text in UTF-8 nor a file of a known format. Save the table as CSV "
            f"first; if it is a text in UTF-16, pass {setting('encoding', 'utf-16')}."
        )
    _check_utf8(data)
    data = data.removeprefix(b"\xef\xbb\xbf")
    return data if b"\n" in data else data.replace(b"\r", b"\n")


def _check_utf8(data: bytes) -> None:
    """Raise if a text is not in UTF-8; in pieces, because the characters may take four times its room."""
    if data.isascii():
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _PIECE):
            decoder.decode(data[start : start + _PIECE], final=start + _PIECE >= len(data))
    except UnicodeDecodeError as error:
        place = start - len(decoder.getstate()[0]) + error.start
        line = data.count(b"\n", 0, place) + 1
        raise DataError(
            f"{setting('encoding')} must be that of the file; got UTF-8, but line {line} holds the byte "
            f"0x{data[place]:02x}, which is not. Pass {setting('encoding', 'cp1252')} (Windows, western Europe), "
            f"{setting('encoding', 'latin-1')} or another."
        ) from None


class _Split(NamedTuple):
    """How a delimiter splits the first records; the better split is the larger one."""

    share: float  # of the records that have the usual number of fields
    width: int  # that number
    is_first_alike: bool  # whether the first record has it, too

    @property
    def is_even(self) -> bool:
        """Whether all records have the same number of fields, two or more."""
        return self.share == 1 and self.is_first_alike and self.width > 1


def find_delimiter(data: bytes, known: str | None = None) -> str:
    """Choose the delimiter that splits the first records into the same number of fields, the most of them.

    A ``known`` one that does so comes first. Of equals one that splits the first record like the others wins, then the
    first in the order tab, comma, semicolon, bar. Blanks separate fields only where none of these splits all records.
    If none splits them evenly, it is the one that splits most of them alike.
    """
    sample = data[:_SAMPLE_BYTES]
    if len(data) > len(sample):
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    if known and _try_delimiter(sample, known).is_even:
        return known
    splits = {delimiter: _try_delimiter(sample, delimiter) for delimiter in DELIMITERS.values()}
    blank = splits.pop(" ")
    best = max(splits, key=lambda delimiter: splits[delimiter])
    if not splits[best].is_even and blank > splits[best]:  # otherwise blanks are within cells
        return " "
    return best if splits[best].width > 1 else ","


def _try_delimiter(sample: bytes, delimiter: str) -> _Split:
    """Return how a delimiter splits the first records."""
    widths = _sample_widths(sample, delimiter)
    width, times = Counter(widths).most_common(1)[0] if widths else (0, 0)
    if width < 2:
        return _Split(0.0, 0, is_first_alike=False)
    if len(widths) > 1 and widths[0] == widths[1] - 1:  # R leaves the corner of the header out
        times += widths[1] == width
    return _Split(times / len(widths), width, widths[0] == width)


def _sample_widths(sample: bytes, delimiter: str) -> list[int]:
    try:
        return [len(record) for _, record in islice(split(separate(sample, delimiter), delimiter), _SAMPLE_RECORDS)]
    except csv.Error:
        return []


def separate(data: bytes, delimiter: str) -> bytes:
    """Return text with a single blank where runs of blanks separate fields."""
    if delimiter == " ":
        data = re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?\n|\r?\Z)", b"", data)
        return re.sub(rb"[ \t]+", b" ", data) if b"  " in data or b"\t" in data else data
    return data


def split(data: bytes, delimiter: str, width: int = 0) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of its last line and the fields of every record that is not blank, as the csv module has them.

    A blank is a cell of a table with one column.
    """
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="surrogateescape", newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    for record in reader:
        if record and (width == 1 or len(record) > 1 or record[0] == "" or record[0].strip()):
            yield reader.line_num, record


def check_lines(data: bytes, delimiter: str, limits: Limits) -> tuple[int, int]:
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
    n_lines, longest = check_lines(data, delimiter, limits)
    records, none = split(data, delimiter), (0, list[str]())
    try:
        start, first = next(records, none)
        _, second = next(records, none)
    except csv.Error:
        _refuse_records(data, delimiter, 0)
    if not first:
        raise DataError("the file has only blank lines.")
    width = len(second) if len(second) == len(first) + 1 else len(first)  # R leaves the corner of the header out
    limits.check_shape(1, width)
    limits.check_text(n_lines * width, "cells of text")
    if not second:
        return Records(first, [(np.zeros(0, np.uint8), []) for _ in first], lambda _: start)
    quoted = b'"' in data  # much faster than to count them
    if len(second) != width or (quoted and data.count(b'"') % 2):
        _refuse_records(data, delimiter, width)
    if n_lines < FEW_LINES:
        read = _read_few(data, delimiter, width)
    else:
        read = _read_many(data, offset_of_line(data, start), delimiter, width, longest, quoted, limits)
    columns: list[tuple[Codes, list[str]]] = []
    n_words = 0
    try:
        for codes, words in read:
            n_words += len(words)
            limits.check_text(n_words, "different words")
            limits.check_shape(len(codes), width)
            columns.append((codes.astype(np.uint8 if len(words) < 255 else np.int32, copy=False), words))
    except (csv.Error, ValueError) as error:
        if isinstance(error, LimitError):
            raise
        _refuse_records(data, delimiter, width)
        raise DataError(f"the text of the file cannot be read: {error}.") from None
    return Records(first, columns, lambda k: next(islice(split(data, delimiter, width), k, None))[0])


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
        invalid_row_handler=lambda row: "error" if row.text.strip() else "skip",
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


def offset_of_line(data: bytes, n_lines: int) -> int:
    """Return where the line after the first ``n_lines`` begins; line ends are those of the csv module and pyarrow."""
    if n_lines == 0:
        return 0
    ends = re.finditer(rb"\r\n|\r|\n", data)
    return next((end.end() for end in islice(ends, n_lines - 1, None)), len(data))


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
