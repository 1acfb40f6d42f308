"""The fast paths: text whose fields, header and row names aside, are single characters is a rectangle of bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isinglass.data.limits import Limits
from isinglass.data.text import Records, read_records

__all__ = ["read_named_rows", "read_uniform"]

_WORDS = [chr(byte) for byte in range(128)]


def read_uniform(data: bytes, delimiter: str, limits: Limits) -> Records | None:
    """Return what `read_records` would, or None if a field below the first record has not exactly one character."""
    parts = _split_head(data)
    if parts is None:
        return None
    head, body, end_of_line = parts
    cells = _read_rectangle(body, delimiter, end_of_line)
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
    peeled = _peel(body.split(end_of_line)[:-1], delimiter.encode(), end_of_line)
    cells = None if peeled is None else _read_rectangle(peeled[1] + end_of_line, delimiter, end_of_line)
    if peeled is None or cells is None or len(cells) != len(peeled[0]):
        return None
    first = _read_first(head, delimiter, limits)
    if first is None or len(first) not in (cells.shape[1], cells.shape[1] + 1):
        return None
    limits.check_shape(len(cells), cells.shape[1] + 1)
    numbers: dict[str, int] = {}
    codes = np.empty((len(cells), cells.shape[1] + 1), dtype=np.int32)
    codes[:, 0] = [numbers.setdefault(name, len(_WORDS) + len(numbers)) for name in peeled[0]]
    codes[:, 1:] = cells
    return Records(first, codes, [*_WORDS, *numbers], lambda record: record + 1)


def _split_head(data: bytes) -> tuple[bytes, bytes, bytes] | None:
    """Return the first line, the others and how lines end, if the first line is not blank and closes its quotes."""
    stop = data.find(b"\n") + 1
    if stop == 0 or not data[:stop].strip() or data.count(b'"', 0, stop) % 2:
        return None
    end_of_line = b"\r\n" if data[stop - 2 : stop] == b"\r\n" else b"\n"
    return data[:stop], data[stop:].rstrip(b"\r\n") + end_of_line, end_of_line


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
        return b"\n".join(names).decode().split("\n"), end_of_line.join(rests)
    except UnicodeDecodeError:
        return None


def _read_rectangle(body: bytes, delimiter: str, end_of_line: bytes) -> NDArray[np.uint8] | None:
    """Return the fields of lines of equal length, if they are single characters."""
    rows = _as_rectangle(body, body.find(b"\n") + 1, end_of_line)
    return None if rows is None else _single_characters(rows, delimiter)


def _as_rectangle(body: bytes, width: int, end_of_line: bytes) -> NDArray[np.uint8] | None:
    """Return the lines as rows of equal length, without their ends."""
    if width <= len(end_of_line) or len(body) % width:
        return None
    rows = np.frombuffer(body, dtype=np.uint8).reshape(-1, width)
    ends = np.frombuffer(end_of_line, dtype=np.uint8)
    if not (rows[:, -len(ends) :] == ends).all():
        return None
    return rows[:, : -len(ends)]


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
        return list(line.decode(errors="replace").rstrip("\r\n"))
    return read_records(line, delimiter, limits).first or None
