"""The fast paths: text whose fields, header and row names aside, are single characters is a rectangle of bytes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from isinglass.data.limits import Limits
from isinglass.data.text import Records, check_lines, read_records

_WORDS = [chr(byte) for byte in range(128)]
_PIECE = 2**20


def read_uniform(data: bytes, delimiter: str, limits: Limits) -> Records | None:
    """Return what `read_records` would, or None if a field below the first record has not exactly one character."""
    parts = _split_head(data)
    if parts is None:
        return None
    head, body, end_of_line = parts
    rows = _as_rectangle(body, end_of_line)
    cells = None if rows is None else _single_characters(rows, delimiter)
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
        rows = None if peeled is None else _as_rectangle(memoryview(peeled[1]), end_of_line)
        part = None if rows is None else _single_characters(rows, delimiter)
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


def _as_rectangle(body: memoryview, end_of_line: bytes) -> NDArray[np.uint8] | None:
    """Return lines of equal length as rows, without their ends."""
    width = _find(body, b"\n") + 1
    if width <= len(end_of_line) or len(body) % width:
        return None
    rows = np.frombuffer(body, dtype=np.uint8).reshape(-1, width)
    ends = np.frombuffer(end_of_line, dtype=np.uint8)
    if not (rows[:, -len(ends) :] == ends).all():
        return None
    return rows[:, : -len(ends)]


def _find(body: memoryview, mark: bytes) -> int:
    for start in range(0, len(body), _PIECE):
        place = bytes(body[start : start + _PIECE]).find(mark)
        if place >= 0:
            return start + place
    return -1


def _single_characters(rows: NDArray[np.uint8], delimiter: str) -> NDArray[np.uint8] | None:
    """Return the fields, if they are single characters that need no interpretation."""
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
