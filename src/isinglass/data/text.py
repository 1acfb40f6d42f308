"""Delimited text: which delimiter, which records; the fields are numbered, not interpreted.

The fast paths: text whose fields, header and row names aside, are single characters is a rectangle of bytes.
"""

from __future__ import annotations

import codecs
import csv
import io
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from isinglass.data.cells import NA_VALUES
from isinglass.data.documents import LONGEST_LINE, Limits
from isinglass.errors import ArgumentError, DataError, LimitError, setting

_CANDIDATES = ("\t", ",", ";", "|", " ")
_SAMPLE_BYTES, _SAMPLE_RECORDS = 2**16, 100
_PIECE, _SHORT_LINE = 2**20, 2**17
_UTF8 = ("utf-8", "utf8")
_WORDS = [chr(byte) for byte in range(128)]
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
    plain = encoding.lower().replace("_", "-")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) and plain in _UTF8:
        raise DataError(
            f"{setting('encoding')} must be that of the file; got {encoding!r}, but it starts like utf-16. "
            f"Pass {setting('encoding', 'utf-16')}."
        )
    try:
        if plain not in (*_UTF8, "utf-8-sig", "ascii"):
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
    try:
        return list(islice(filter(None, _reader(io.StringIO(text, newline=""), delimiter)), _SAMPLE_RECORDS))
    except csv.Error:
        return []


def _reader(lines: Iterable[str], delimiter: str) -> Any:
    """Return a reader of records; runs of blanks and tabs separate fields where the delimiter is a blank."""
    if delimiter == " ":
        lines = (line.replace("\t", " ").strip(" \r\n") + "\n" for line in lines)
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter == " ", strict=True)


def read_records(data: bytes, delimiter: str, limits: Limits) -> Records:
    """Read the records of RFC 4180, quoted fields included; all but the first must have the same number of fields."""
    check_lines(data, delimiter, limits)
    stream = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    try:
        return _collect(_split(stream, delimiter), limits)
    except UnicodeDecodeError:
        _refuse_encoding(data)


def _split(stream: io.TextIOBase, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields of every record that is not blank."""
    if delimiter == "":
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield number, list(line.rstrip("\r\n"))
        return
    reader = _reader(stream, delimiter)
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
    codes, lines, width = array("i"), array("q", [start]), len(first)
    numbering: defaultdict[str, int] = defaultdict()
    numbering.default_factory = numbering.__len__  # a number for every new word
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


def _refuse_encoding(data: bytes) -> NoReturn:
    try:
        data.decode()
        raise AssertionError("the data were invalid a moment ago")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{setting('encoding')} must be that of the file; got UTF-8, but line {line} holds the byte "
            f"0x{data[error.start]:02x}, which is not. Pass {setting('encoding', 'cp1252')} (Windows, western Europe), "
            f"{setting('encoding', 'latin-1')} or another."
        ) from None


def read_uniform(data: bytes, delimiter: str, limits: Limits) -> Records | None:
    """Return what `read_records` would, or None if a field below the first record has not exactly one character."""
    parts = _split_head(data)
    if parts is None:
        return None
    head, body, end_of_line = parts
    cells = _single_characters(body, end_of_line, delimiter)
    if cells is None:
        return None
    first = _read_first(head, delimiter, limits)
    if first is None or len(first) != cells.shape[1]:
        return None
    limits.check_shape(*cells.shape)
    return Records(first, cells, _WORDS, lambda record: record + 1)


def read_named_rows(data: bytes, delimiter: str, limits: Limits) -> Records | None:
    """Return what `read_records` would for single characters behind a first field of any length, or None."""
    parts = _split_head(data)
    if parts is None or delimiter == "":
        return None
    head, body, end_of_line = parts
    check_lines(data, delimiter, limits)
    first = _read_first(head, delimiter, limits)
    if first is None:
        return None
    numbers: dict[str, int] = {}
    names, cells = [], []
    for lines in _batches(body, end_of_line):
        peeled = _peel(lines, delimiter.encode(), end_of_line)
        part = None if peeled is None else _single_characters(memoryview(peeled[1]), end_of_line, delimiter)
        if peeled is None or part is None or len(part) != len(lines) or part.shape[1] + 1 - len(first) not in (0, 1):
            return None
        for name in peeled[0]:
            numbers.setdefault(name, len(_WORDS) + len(numbers))
        limits.check_text(n_words=len(numbers))
        names.append(np.array([numbers[name] for name in peeled[0]], dtype=np.int32))
        cells.append(part)
    if len({part.shape[1] for part in cells}) != 1:
        return None
    limits.check_shape(sum(map(len, names)), cells[0].shape[1] + 1)
    codes = np.empty((sum(map(len, names)), cells[0].shape[1] + 1), dtype=np.int32)
    codes[:, 0] = np.concatenate(names)
    np.concatenate(cells, out=codes[:, 1:], casting="unsafe")
    return Records(first, codes, [*_WORDS, *numbers], lambda record: record + 1)


def _split_head(data: bytes) -> tuple[bytes, memoryview, bytes] | None:
    """Return the first line, the others and how lines end, if the first line is not blank and closes its quotes."""
    start = data.find(b"\n") + 1
    if start == 0 or not data[:start].strip() or data.count(b'"', 0, start) % 2:
        return None
    end_of_line = b"\r\n" if data[start - 2 : start] == b"\r\n" else b"\n"
    stop = len(data)
    while stop > start:  # blank lines at the end; piece by piece, since the whole would be copied
        piece = data[max(start, stop - _PIECE) : stop]
        kept = len(piece.rstrip(b"\r\n"))
        stop -= len(piece) - kept
        if kept:
            break
    if data.startswith(end_of_line, stop):
        return data[:start], memoryview(data)[start : stop + len(end_of_line)], end_of_line
    return data[:start], memoryview(b"".join([memoryview(data)[start:stop], end_of_line])), end_of_line


def _batches(body: memoryview, end_of_line: bytes) -> Iterator[list[bytes]]:
    """Yield the lines, some thousands at a time."""
    rest = b""
    for start in range(0, len(body), _PIECE):
        *lines, rest = (rest + bytes(body[start : start + _PIECE])).split(end_of_line)
        if lines:
            yield lines


def _peel(lines: list[bytes], delimiter: bytes, end_of_line: bytes) -> tuple[list[str], bytes] | None:
    """Split the first field off every line; quotes around it are removed."""
    names, rests = [], []
    for line in lines:
        quoted = line.startswith(b'"')
        stop = line.find(b'"' + delimiter if quoted else delimiter, 1 if quoted else 0)
        name = line[1:stop] if quoted else line[:stop]
        if stop < 0 or b'"' in name or b"\r" in name or (delimiter == b" " and (not name or b"\t" in name)):
            return None
        names.append(name)
        rests.append(line[stop + 1 + quoted :])
    try:
        return b"\n".join(names).decode().split("\n"), end_of_line.join([*rests, b""])
    except UnicodeDecodeError:
        return None


def _single_characters(body: memoryview, end_of_line: bytes, delimiter: str) -> NDArray[np.uint8] | None:
    """Return the fields of lines of equal length, if they are single characters that need no interpretation."""
    pieces = ((start, bytes(body[start : start + _PIECE]).find(b"\n")) for start in range(0, len(body), _PIECE))
    width = next((start + place + 1 for start, place in pieces if place >= 0), 0)
    if width <= len(end_of_line) or len(body) % width:
        return None
    rows = np.frombuffer(body, dtype=np.uint8).reshape(-1, width)
    ends = np.frombuffer(end_of_line, dtype=np.uint8)
    if not (rows[:, -len(ends) :] == ends).all():
        return None
    rows = rows[:, : -len(ends)]
    separators = rows[:, 1::2]
    fields = rows[:, 0::2] if delimiter else rows
    if delimiter and (rows.shape[1] % 2 == 0 or not (separators == ord(delimiter)).all()):
        return None
    raw = fields.tobytes()
    special = b'"\r\n\x00' + (b" \t" if delimiter == " " else b"") + delimiter.encode()
    others = raw.translate(None, b"01")
    while others:  # one turn for each distinct character that is not a digit of a bit
        if others[0] > 127 or others[:1] in special:
            return None
        others = others.replace(others[:1], b"")
    return np.frombuffer(raw, dtype=np.uint8).reshape(fields.shape)


def _read_first(line: bytes, delimiter: str, limits: Limits) -> list[str] | None:
    """Return the fields of the first line, if it is one record."""
    if delimiter == "":
        limits.check_shape(1, len(line.rstrip(b"\r\n")))
        return list(line.decode(errors="replace").rstrip("\r\n"))
    return read_records(line, delimiter, limits).first or None
