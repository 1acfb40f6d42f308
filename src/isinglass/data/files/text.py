"""Delimited text: its encoding, its delimiter, and its records as the csv module has them."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from isinglass.data.files.documents import Limits
from isinglass.errors import ArgumentError, DataError, setting

DELIMITERS = {"tab": "\t", "comma": ",", "semicolon": ";", "bar": "|", "blank": " "}
_SAMPLE_BYTES, SAMPLE_RECORDS = 2**16, 100
_PIECE = 2**20


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
    first in the order tab, comma, semicolon, bar. Blanks separate fields only where none of these splits all records,
    or stands before each of them in the first.
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
        _, first = next(split(separate(sample, " "), " "))
        ends = {field[-1:] for field in first[:-1]}  # a, b
        return ends.pop() if len(ends) == 1 and ends <= splits.keys() else " "
    return best if splits[best].width > 1 else ","


def _try_delimiter(sample: bytes, delimiter: str) -> _Split:
    """Return how a delimiter splits the first records."""
    records = islice(split(separate(sample, delimiter), delimiter), SAMPLE_RECORDS)
    widths: list[int] = []
    try:
        widths.extend(len(record) for _, record in records)
    except csv.Error:
        widths.append(0)  # a broken record is unlike those above it
    width, times = Counter(widths).most_common(1)[0] if widths else (0, 0)
    if width < 2:
        return _Split(0.0, 0, is_first_alike=False)
    if len(widths) > 1 and widths[0] == widths[1] - 1:  # R leaves the corner of the header out
        times += widths[1] == width
    return _Split(times / len(widths), width, widths[0] == width)


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


def split(data: bytes, delimiter: str, width: int = 0) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of its last line and the fields of every record that is not blank, as the csv module has them.

    Below the first record of a table with one column, a blank is a cell.
    """
    is_cell = False
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="surrogateescape", newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    for record in reader:
        if record and (is_cell or len(record) > 1 or record[0] == "" or record[0].strip()):
            yield reader.line_num, record
            is_cell = width == 1


def offset_of_line(data: bytes, n_lines: int) -> int:
    """Return where the line after the first ``n_lines`` begins; line ends are those of the csv module and pyarrow."""
    if n_lines == 0:
        return 0
    ends = re.finditer(rb"\r\n|\r|\n", data)
    return next((end.end() for end in islice(ends, n_lines - 1, None)), len(data))
