"""The bytes of a file, an open stream or the standard input, decompressed within bounds; texts as UTF-8."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import re
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from isinglass.arguments import check_count
from isinglass.errors import ArgumentError, DataError, LimitError, setting
from isinglass.storage import default_limit

_CHUNK = 2**20
_NOT_BLANK = re.compile(rb"\S")
LARGEST = 2**32
"""Default limit in bytes."""
BYTES_OF_TEXT = {"rows of text": 80, "cells of text": 8, "different words": 160}
"""What text costs beside its own length, about; words are counted once for each column."""
BYTES_PER_OBJECT = 24
"""Of a cell that becomes an object of Python: of surveys, spreadsheets and arrays of text."""
_COMPRESSED: dict[str, tuple[bytes, Callable[[Any], Any]]] = {
    "gzip": (b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file)),
    "bzip2": (b"BZh", bz2.BZ2File),
    "xz": (b"\xfd7zXZ\x00", lzma.LZMAFile),
}


@dataclass(frozen=True)
class Limits:
    """Bounds on a table that is read from a file, checked before the memory is taken."""

    max_rows: int = 10_000_000  # of the table in the file
    max_columns: int = 100_000
    max_bytes: int | None = None  # of the file, of what it unpacks to, and of the table with one byte per cell
    size: int = LARGEST  # of the file

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.name != "max_bytes" or self.max_bytes is not None:
                check_count(field.name, getattr(self, field.name), least=int(field.name != "size"), most=None)

    @cached_property
    def n_bytes(self) -> int:
        """The limit in bytes that is in force: by default small files may not take much memory either."""
        return default_limit(self.size, LARGEST) if self.max_bytes is None else self.max_bytes

    def check_shape(self, n_rows: int, n_columns: int) -> None:
        """Refuse a table with too many rows, columns or cells."""
        for limit, count, what in ((self.max_rows, n_rows, "rows"), (self.max_columns, n_columns, "columns")):
            if count > limit:
                raise LimitError(
                    f"{setting(f'max_{what}')} must be at least the number of {what}; got {limit} for a table of "
                    f"{count} or more. Raise {setting(f'max_{what}')} if you trust the file."
                )
        self.check_bytes(n_rows * n_columns, "a table with one byte per cell")

    def check_text(self, number: int, what: str) -> None:
        """Refuse text with more of what `BYTES_OF_TEXT` lists than there is room for."""
        self.check_bytes(BYTES_OF_TEXT[what] * number, f"{number} {what}, which take the room")

    def check_bytes(self, n_bytes: int, what: str) -> None:
        """Refuse more bytes than allowed."""
        if n_bytes > self.n_bytes:
            raise LimitError(
                f"{setting('max_bytes')} must be at least the size of the data; got {self.n_bytes} for {what} of "
                f"{n_bytes} bytes or more. Raise {setting('max_bytes')} if you trust the file."
            )

    def gather(self, read: Callable[[int], bytes | str], what: str) -> tuple[bytes, bool]:
        """Read a stream by its method, counting its bytes to stop in time; tell whether it gave text (UTF-8 here)."""
        whole, is_text = io.BytesIO(), False
        while piece := read(_CHUNK):
            is_text = isinstance(piece, str)
            self.check_bytes(whole.tell() + len(piece), what)
            try:
                whole.write(piece.encode() if isinstance(piece, str) else piece)
            except UnicodeEncodeError as error:
                raise DataError(
                    f"{setting('path')} must be a file that was opened with its encoding; got a text with half a "
                    f"character or an undecoded byte: {error}. Pass the name of the file and {setting('encoding')}."
                ) from None
        self.check_bytes(whole.tell(), what)
        return whole.getvalue(), is_text  # without a copy


@dataclass(frozen=True)
class Document:
    """A file in memory."""

    suffix: str  # its ending in lower case, without that of the compression: ".csv" for "votes.csv.gz"
    data: bytes  # its content, decompressed
    limits: Limits  # those for a file of its size
    is_decoded: bool = False  # whether it came as text, which is in UTF-8 here


def open_document(path: object, limits: Limits) -> Document:
    """Read a path, "-" for the standard input, or an open file; compression is detected from the first bytes."""
    is_decoded = False
    if isinstance(path, str) and path == "-":
        data, is_decoded = limits.gather(getattr(sys.stdin, "buffer", sys.stdin).read, "a file")
    elif isinstance(path, str | PathLike):
        with open(path, "rb") as file:  # noqa: PTH123 - the Path of "" is the working directory
            if Path(path).is_file():  # at once, without a copy
                limits.check_bytes(Path(path).stat().st_size, "a file")
            data = file.read() if Path(path).is_file() else limits.gather(file.read, "a file")[0]
    elif hasattr(path, "read"):
        data, is_decoded = limits.gather(path.read, "a file")
    else:
        raise DataError(
            f'{setting("path")} must be a path, "-" or an open file; got {type(path).__name__}. Pass a table in memory '
            "to as_table, several files to read_parts, and the content of a file as io.StringIO(text) or io.BytesIO."
        )
    limits = replace(limits, size=len(data))
    data = _unpack(data, limits)
    if not _NOT_BLANK.search(data):
        raise DataError("the file is empty.")
    endings = [end for end in Path(name_of(path).lower()).suffixes if end not in (".gz", ".bz2", ".xz")]
    return Document(["", *endings][-1], data, limits, is_decoded)


def name_of(path: object) -> str:
    """Return what messages call a file; nothing for what is none."""
    if isinstance(path, str | PathLike):
        return "standard input" if path == "-" else str(path)
    name = getattr(path, "name", None)  # of a temporary file its number, or None
    return name if isinstance(name, str) else "the stream" if hasattr(path, "read") else ""


def _unpack(data: bytes, limits: Limits) -> bytes:
    kind = next((kind for kind, (magic, _) in _COMPRESSED.items() if data.startswith(magic)), None)
    if kind is None:
        return data
    try:
        return limits.gather(_COMPRESSED[kind][1](io.BytesIO(data)).read, "a decompressed file")[0]
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise DataError(f"the {kind} file is incomplete or damaged and cannot be unpacked: {error}.") from None


def to_utf8(data: bytes, encoding: str, limits: Limits) -> bytes:
    """Return text as UTF-8 without a byte order mark."""
    if not isinstance(encoding, str):
        raise ArgumentError("encoding", "must be the name of a text encoding", encoding)
    try:
        if codecs.lookup(encoding).name == "utf-8" and data.startswith((b"\xff\xfe", b"\xfe\xff")):
            encoding = "utf-16"  # its byte order mark, which no text in UTF-8 can have
        if codecs.lookup(encoding).name not in ("utf-8", "utf-8-sig", "ascii"):
            text = io.TextIOWrapper(io.BytesIO(data), encoding=encoding, newline="")
            data, _ = limits.gather(text.read, "a text in UTF-8")
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
        for start in range(0, len(data), _CHUNK):
            decoder.decode(data[start : start + _CHUNK], final=start + _CHUNK >= len(data))
    except UnicodeDecodeError as error:
        place = start - len(decoder.getstate()[0]) + error.start
        line = data.count(b"\n", 0, place) + 1
        raise DataError(
            f"{setting('encoding')} must be that of the file; got UTF-8, but line {line} holds the byte "
            f"0x{data[place]:02x}, which is not. Pass {setting('encoding', 'cp1252')} (Windows, western Europe), "
            f"{setting('encoding', 'latin-1')} or another."
        ) from None
