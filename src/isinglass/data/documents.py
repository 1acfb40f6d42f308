"""The bytes of a file, an open stream or the standard input, decompressed within bounds."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from isinglass.data.limits import Limits
from isinglass.errors import DataError, LimitError

__all__ = ["Document", "open_document"]

_CHUNK = 2**20
_LZMA_MEMORY = 2**28  # an xz header may ask for 4 GiB; the strongest preset needs 65 MiB

_COMPRESSED = ((b"\x1f\x8b", "gzip"), (b"BZh", "bzip2"), (b"\xfd7zXZ\x00", "xz"))


@dataclass(frozen=True)
class Document:
    """A file in memory.

    Parameters
    ----------
    name : str
        What messages call it.
    suffix : str
        Its ending in lower case, without that of the compression: ".csv" for "votes.csv.gz".
    data : bytes
        Its content, decompressed.
    """

    name: str
    suffix: str
    data: bytes


def open_document(path: Any, limits: Limits) -> Document:
    """Read a path, "-" for the standard input, or an open file; compression is told by the first bytes."""
    if isinstance(path, str) and path == "-":
        name, stream = "standard input", getattr(sys.stdin, "buffer", sys.stdin)
    elif hasattr(path, "read"):
        name, stream = str(getattr(path, "name", "the stream")), path
    elif isinstance(path, str | PathLike):
        name, stream = str(path), Path(path).open("rb")  # noqa: SIM115 - closed below
    else:
        raise DataError(f'path must be a path, "-" or an open file; got {type(path).__name__}.')
    try:
        raw = _read_stream(stream, limits)
        kind = next((kind for magic, kind in _COMPRESSED if raw.startswith(magic)), None)
        data = raw if kind is None else _decompress(raw, kind, limits)
        if not data.strip():
            raise DataError(f"the file must be a table; got {len(data)} byte(s) without any content.")
    except (DataError, LimitError) as error:
        raise type(error)(f"{name}: {error}") from None
    finally:
        if stream is not path and name != "standard input":
            stream.close()
    return Document(name, _find_suffix(name), data)


def _find_suffix(name: str) -> str:
    endings = [ending.lower() for ending in Path(name).suffixes]
    while endings and endings[-1] in (".gz", ".bz2", ".xz"):
        endings.pop()
    return endings[-1] if endings else ""


def _read_stream(stream: Any, limits: Limits) -> bytes:
    chunks, total = [], 0
    while chunk := stream.read(_CHUNK):
        data = chunk.encode() if isinstance(chunk, str) else bytes(chunk)
        total += len(data)
        limits.check_bytes(total, "a file")
        chunks.append(data)
    return b"".join(chunks)


def _decompress(raw: bytes, kind: str, limits: Limits) -> bytes:
    """Decompress piece by piece, so that a small file that unpacks to a huge one is stopped in time."""
    pieces, total = [], 0
    try:
        for piece in _DECOMPRESSORS[kind](raw):
            total += len(piece)
            limits.check_bytes(total, "a decompressed file")
            pieces.append(piece)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise DataError(f"the file must be a complete {kind} file; got one that cannot be unpacked: {error}.") from None
    return b"".join(pieces)


def _gunzip(raw: bytes) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=io.BytesIO(raw)) as stream:
        while piece := stream.read(_CHUNK):
            yield piece


def _unpack(raw: bytes, new_decompressor: Callable[[], Any]) -> Iterator[bytes]:
    """Yield the pieces of all streams that follow each other."""
    while raw:
        decompressor = new_decompressor()
        yield decompressor.decompress(raw, _CHUNK)
        while not decompressor.eof:
            if decompressor.needs_input:
                raise EOFError("the end of the stream is missing")
            yield decompressor.decompress(b"", _CHUNK)
        raw = decompressor.unused_data.lstrip(b"\x00")  # streams of xz may be padded


_DECOMPRESSORS: dict[str, Callable[[bytes], Iterator[bytes]]] = {
    "gzip": _gunzip,
    "bzip2": lambda raw: _unpack(raw, bz2.BZ2Decompressor),
    "xz": lambda raw: _unpack(raw, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_LZMA_MEMORY)),
}
