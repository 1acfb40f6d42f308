"""The fast path: text whose fields, header aside, are single characters is a rectangle of bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isinglass.tables.limits import Limits
from isinglass.tables.text import Records, read_records

__all__ = ["read_uniform"]

_WORDS = [chr(byte) for byte in range(128)]


def read_uniform(data: bytes, delimiter: str, limits: Limits) -> Records | None:
    """Return what `read_records` would, or None if a field below the first record has not exactly one character."""
    head_end = data.find(b"\n") + 1
    row_end = data.find(b"\n", head_end) + 1
    if head_end == 0 or not data[:head_end].strip() or data.count(b'"', 0, head_end) % 2:
        return None
    end_of_line = b"\r\n" if data[head_end - 2 : head_end] == b"\r\n" else b"\n"
    body = data[head_end:].rstrip(b"\r\n") + end_of_line
    width = (row_end - head_end) if row_end else len(body)
    rows = _as_rectangle(body, width, end_of_line)
    cells = None if rows is None else _single_characters(rows, delimiter)
    if cells is None:
        return None
    first = _read_first(data[:head_end], delimiter, limits)
    if first is None or len(first) != cells.shape[1]:
        return None
    limits.check_shape(*cells.shape)
    return Records(first, cells, _WORDS, lambda record: record + 1)


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
