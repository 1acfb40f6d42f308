"""The bytes of a file, an open stream or the standard input, decompressed within bounds."""

from __future__ import annotations

import bz2
import io
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from isinglass.data.limits import Limits
from isinglass.errors import DataError, LimitError, setting

_CHUNK = 2**20
_LZMA_MEMORY = 2**28  # an xz header may ask for 4 GiB; the strongest preset needs 65 MiB
_FEED = 2**13
"""Bytes that are unpacked at once: with more, a file of many empty streams would be copied many times over."""
_NOT_BLANK = re.compile(rb"\S")


@dataclass(frozen=True)
class Document:
    """A file in memory."""

    name: str  # what messages call it
    suffix: str  # its ending in lower case, without that of the compression: ".csv" for "votes.csv.gz"
    data: bytes  # its content, decompressed
    limits: Limits  # those for a file of its size


def open_document(path: Any, limits: Limits) -> Document:
    """Read a path, "-" for the standard input, or an open file; compression is detected from the first bytes."""
    if isinstance(path, str) and path == "-":
        name, stream = "standard input", getattr(sys.stdin, "buffer", sys.stdin)
    elif hasattr(path, "read"):
        name, stream = str(getattr(path, "name", "the stream")), path
    elif isinstance(path, str | PathLike):
        name, stream = str(path), Path(path).open("rb")  # noqa: SIM115 - closed below
    else:
        raise DataError(f'{setting("path")} must be a path, "-" or an open file; got {type(path).__name__}.')
    try:
        data, limits = _read_stream(stream, limits)
        if not _NOT_BLANK.search(data):
            raise DataError("the file must be a table; it is empty.")
    except (DataError, LimitError) as error:
        error.where = name
        raise
    finally:
        if stream is not path and name != "standard input":
            stream.close()
    return Document(name, _find_suffix(name), data, limits)


def _find_suffix(name: str) -> str:
    endings = [ending.lower() for ending in Path(name).suffixes]
    while endings and endings[-1] in (".gz", ".bz2", ".xz"):
        endings.pop()
    return endings[-1] if endings else ""


def _read_stream(stream: Any, limits: Limits) -> tuple[bytes, Limits]:
    """Return the content, unpacked if need be, and the limits for a file of its size."""
    raw = _gather(iter(lambda: stream.read(_CHUNK), None), limits, "a file")
    limits = limits.of_file(len(raw))
    kind = next((kind for kind, (magic, _) in _COMPRESSED.items() if raw.startswith(magic)), None)
    if kind is None:
        return raw, limits
    try:
        return _gather(_unpack(raw, _COMPRESSED[kind][1]), limits, "a decompressed file"), limits
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise DataError(f"the file must be a complete {kind} file; got one that cannot be unpacked: {error}.") from None


def _gather(pieces: Iterator[bytes | str], limits: Limits, what: str) -> bytes:
    """Put pieces together and count them, so that what is too large is stopped in time."""
    whole = io.BytesIO()
    for piece in pieces:
        if not piece:
            break
        limits.check_bytes(whole.tell() + len(piece), what)
        whole.write(piece.encode() if isinstance(piece, str) else piece)
    limits.check_bytes(whole.tell(), what)
    return whole.getvalue()  # without a copy


def _unpack(raw: bytes, new_unpacker: Callable[[], Any]) -> Iterator[bytes]:
    """Yield the pieces of all streams that follow each other; what goes in and what comes out is bounded."""
    source = io.BytesIO(raw)
    waiting = source.read(_FEED)
    while waiting:
        unpacker = new_unpacker()
        while not unpacker.eof:
            fed = b""
            if unpacker.needs_input:
                fed, waiting = waiting or source.read(_FEED), b""
                if not fed:
                    raise EOFError("the end of the stream is missing")
            if piece := unpacker.decompress(fed, _CHUNK):
                yield piece
        waiting = unpacker.unused_data.lstrip(b"\x00")  # streams may be padded
        while not waiting and (more := source.read(_FEED)):
            waiting = more.lstrip(b"\x00")


class _Gunzip:
    """What ``bz2`` and ``lzma`` have, for gzip."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    def decompress(self, data: bytes, most: int) -> bytes:
        """Return at most so many bytes of what the data given so far stand for."""
        return self._inner.decompress(self._inner.unconsumed_tail + data, most)

    @property
    def needs_input(self) -> bool:
        """Whether everything that was given has been used."""
        return not self._inner.unconsumed_tail

    @property
    def eof(self) -> bool:
        """Whether the stream has ended."""
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        """What follows it."""
        return self._inner.unused_data


_COMPRESSED: dict[str, tuple[bytes, Callable[[], Any]]] = {
    "gzip": (b"\x1f\x8b", _Gunzip),
    "bzip2": (b"BZh", bz2.BZ2Decompressor),
    "xz": (b"\xfd7zXZ\x00", lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_LZMA_MEMORY)),
}
