"""Delimited text: which delimiter, which records; the fields are numbered, not interpreted."""

from __future__ import annotations

import codecs
import csv
import io
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.data.cells import NA_VALUES
from isinglass.data.limits import LONGEST_LINE, Limits
from isinglass.errors import ArgumentError, DataError, LimitError, setting

_CANDIDATES = ("\t", ",", ";", "|", " ")
_SAMPLE_BYTES, _SAMPLE_RECORDS = 2**16, 100
_PIECE, _SHORT_LINE = 2**20, 2**17
_BYTE_ORDER_MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_DIGITS = frozenset("01") | {word for word in NA_VALUES if len(word) == 1}


@dataclass(frozen=True, eq=False)
class Records:
    """The records of a text file. The first is kept apart: it may be a header."""

    first: list[str]  # fields of the first record
    codes: NDArray[Any]  # fields of the others, as positions in `words`
    words: list[str]  # what the fields say
    # the line on which the record of a given number ends; the first record has number 0, lines count from 1
    line_of: Callable[[int], int]


def to_utf8(data: bytes, encoding: str, limits: Limits) -> bytes:
    """Return text as UTF-8 without a byte order mark; invalid UTF-8 is left for the reader of the records."""
    if not isinstance(encoding, str):
        raise ArgumentError("encoding", "must be the name of a text encoding", encoding)
    for mark, name in _BYTE_ORDER_MARKS:
        if data.startswith(mark) and encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
            raise DataError(
                f"{setting('encoding')} must be that of the file; got {encoding!r}, but it starts like {name}. "
                f"Pass {setting('encoding', name)}."
            )
    try:
        if encoding.lower().replace("_", "-") not in ("utf-8", "utf8", "utf-8-sig", "ascii"):
            if not getattr(codecs.lookup(encoding), "_is_text_encoding", True):  # such as hex
                raise LookupError(encoding)
            data = _recode(data, codecs.getincrementaldecoder(encoding)(), limits)
    except LookupError:
        raise ArgumentError("encoding", "must be a text encoding that Python knows", encoding) from None
    except UnicodeError as error:
        raise DataError(f"{setting('encoding')} must be that of the file; got {encoding!r}: {error}.") from None
    if b"\x00" in data:
        raise DataError(
            f"the file must be a text file; got NUL bytes. If it is one of the other formats, name it with "
            f"{setting('format')}; if it is text in UTF-16, pass {setting('encoding', 'utf-16')}."
        )
    return data.removeprefix(b"\xef\xbb\xbf")


def _recode(data: bytes, decoder: codecs.IncrementalDecoder, limits: Limits) -> bytes:
    """Decode piece by piece: the whole as a string can take four bytes per character."""
    whole = io.BytesIO()
    for start in range(0, len(data), _PIECE):
        whole.write(decoder.decode(data[start : start + _PIECE], final=start + _PIECE >= len(data)).encode())
        limits.check_bytes(whole.tell(), "a text in UTF-8")
    return whole.getvalue()


def check_lines(data: bytes, delimiter: str, limits: Limits) -> None:
    """Refuse text that would take too much memory to split; looks at line ends and at long lines only."""
    n_rows = max(data.count(b"\n"), data.count(b"\r"))
    limits.check_text(n_rows=n_rows, n_cells=n_rows + data.count(delimiter.encode()) if delimiter else len(data))
    start = 0
    while len(data) - start > _SHORT_LINE:
        found = [data.rfind(end, start, start + _SHORT_LINE) for end in (b"\n", b"\r")]
        if max(found) >= 0:  # every line that ends here is short
            start = max(found) + 1
            continue
        ends = [data.find(end, start) for end in (b"\n", b"\r")]
        stop = min((end for end in ends if end >= 0), default=len(data))
        if stop - start > LONGEST_LINE:
            raise LimitError(f"lines must have at most {LONGEST_LINE} bytes; got one of {stop - start}.")
        # Quotes may hide a few delimiters, or an alignment repeat blanks, but not that many.
        limits.check_shape(1, (data.count(delimiter.encode(), start, stop) // 4 if delimiter else stop - start) + 1)
        start = stop + 1


def find_delimiter(data: bytes) -> str:
    """Choose the delimiter that splits the first records into the same number of fields, the most of them.

    Of equals the first in the order tab, comma, semicolon, bar, blank wins. If none splits them evenly, it is the one
    that splits most of them alike. "" means that every character is a field: lines of one length of 0 and 1.
    """
    sample = data[:_SAMPLE_BYTES]
    if len(data) > len(sample):
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    text = sample.decode(errors="replace")
    best, best_score = "", (0.0, 0)
    for delimiter in _CANDIDATES:
        counts = [len(record) for record in _sample_records(text, delimiter)]
        modal, times = Counter(counts).most_common(1)[0] if counts else (0, 0)
        if len(counts) > 1 and counts[0] == counts[1] - 1:  # R leaves the corner of the header out
            times += counts[1] == modal
        score = (times / len(counts) if counts else 0.0, modal)
        if modal > 1 and score > best_score:
            best, best_score = delimiter, score
    if best:
        return best
    lines = text.split()
    even = len({len(line) for line in lines}) == 1 and len(lines[0]) > 1
    return "" if even and set().union(*lines) <= _DIGITS else ","


def _sample_records(text: str, delimiter: str) -> list[list[str]]:
    records: list[list[str]] = []
    try:
        for record in csv.reader(_lines(io.StringIO(text, newline=""), delimiter), **_dialect(delimiter)):
            if record:
                records.append(record)
            if len(records) == _SAMPLE_RECORDS:
                break
    except csv.Error:
        return []
    return records


def _dialect(delimiter: str) -> dict[str, Any]:
    return {"delimiter": delimiter, "skipinitialspace": delimiter == " ", "strict": True}


def _lines(stream: io.TextIOBase, delimiter: str) -> Iterator[str]:
    """Yield lines; runs of blanks and tabs separate fields where the delimiter is a blank."""
    if delimiter != " ":
        yield from stream
    else:
        for line in stream:
            yield line.replace("\t", " ").strip(" \r\n") + "\n"


class _Numbering(dict[str, int]):
    """A number for every new word."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


def read_records(data: bytes, delimiter: str, limits: Limits) -> Records:
    """Read the records of RFC 4180, quoted fields included; all but the first must have the same number of fields."""
    check_lines(data, delimiter, limits)
    stream = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    try:
        return _collect(_split(stream, delimiter), limits)
    except UnicodeDecodeError:
        raise _wrong_encoding(data) from None


def _split(stream: io.TextIOBase, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields of every record that is not blank."""
    if delimiter == "":
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield number, list(line.rstrip("\r\n"))
        return
    reader = csv.reader(_lines(stream, delimiter), **_dialect(delimiter))
    try:
        for record in reader:
            if record:
                yield reader.line_num, record
    except csv.Error as error:
        raise DataError(
            f"the file must be well-formed text; got a broken field in line {reader.line_num}: {error}."
        ) from None


def _collect(records: Iterator[tuple[int, list[str]]], limits: Limits) -> Records:
    start, first = next(((line, record) for line, record in records if not _is_blank(record)), (0, []))
    if not first:
        raise DataError("the file must be a table; got only blank lines.")
    numbering, codes, lines = _Numbering(), array("i"), array("q", [start])
    width = len(first)
    for line, record in records:
        if len(lines) == 1 and len(record) == width + 1:
            width += 1  # R leaves the corner of the header out
        if len(record) != width:
            if _is_blank(record):
                continue
            raise DataError(
                f"rows must have equal length; got {len(record)} field(s) in line {line}, "
                f"where {width} are expected. Check quotes and delimiters there, or pass {setting('delimiter')}."
            )
        codes.extend(map(numbering.__getitem__, record))
        lines.append(line)
        limits.check_shape(len(lines) - 1, width)
        limits.check_text(n_words=len(numbering))
    limits.check_shape(1, width)
    grid = np.frombuffer(codes, dtype=np.int32).reshape(len(lines) - 1, width)
    return Records(first, grid, list(numbering), lines.__getitem__)


def _is_blank(record: list[str]) -> bool:
    return len(record) == 1 and not record[0].strip()


def _wrong_encoding(data: bytes) -> DataError:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return DataError(
            f"{setting('encoding')} must be that of the file; got UTF-8, but line {line} holds the byte "
            f"0x{data[error.start]:02x}, "
            f"which is not. Pass {setting('encoding', 'cp1252')} (Windows, western Europe), "
            f"{setting('encoding', 'latin-1')} or another."
        )
    raise AssertionError("the data were invalid a moment ago")
