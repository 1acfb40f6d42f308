"""Arrays of NumPy in files: the one reader and the one writer of ``.npy`` and ``.npz``.

Reading trusts nothing: sizes are checked in the directory of an archive and in the head of an array before anything is
unpacked, and nothing is ever unpickled or evaluated. Writing gives the same bytes for the same content.
"""

from __future__ import annotations

import functools
import io
import json
import math
import re
import zipfile
from collections.abc import Mapping
from os import PathLike
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from isinglass.atomic import check_place, replacing

HEADER = "header.json"
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The oldest time an archive can hold: two runs write the same bytes."""
MOST_ENTRIES = 100
LONGEST_HEADER = 1 << 24
"""Objects of JSON take 25 times the memory of their text, so this is 400 MB at worst; a name per column fits easily."""
SMALL, EXPANSION = 1 << 28, 25
_LONGEST_HEAD = 10_000
_ARRAY_HEAD = re.compile(
    r"\s*\{(?=.*'descr': *'(?P<type>[<>|=]?[a-zA-Z][0-9]{0,9}(?:\[[a-zA-Z0-9]{1,9}\])?)')"
    r"(?=.*'fortran_order': *(?P<order>True|False))(?=.*'shape': *\((?P<shape>[0-9, ]{0,200})\))"
    r"(?: *'(?:descr|fortran_order|shape)': *(?:'[^']*'|\([^()]*\)|\w+),?){3} *\}\s*"
)
"""What the head of an array says; evaluating it as Python would be more than we need."""


class DamagedError(Exception):
    """What is wrong with the content of a file; whoever knows its name makes a sentence of it."""


class OversizedError(Exception):
    """What is larger in a file than it may be."""


def most_unpacked(size: int, limit: int) -> int:
    """Return to how many bytes a file of this size may unpack unless the user allows more."""
    return max(size, min(limit, max(SMALL, EXPANSION * size)))


def write_archive(
    path: str | PathLike[str],
    header: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    *,
    follow_links: bool = True,
) -> None:
    """Write a JSON header and arrays as an ``.npz`` archive, whole or not at all.

    The header is what JSON can hold, without NaN and infinities. A link stays a link, to a new file, unless
    ``follow_links`` is off: then the file takes its place.
    """
    target = check_place(path)
    text = json.dumps(header, allow_nan=False, indent=1, sort_keys=True)
    with replacing(target.resolve() if follow_links else target) as file, zipfile.ZipFile(file, "w") as archive:
        _put(archive, HEADER, text.encode("ascii"))
        for name, array in arrays.items():
            _put(archive, f"{name}.npy", _npy_bytes(array))


def _put(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, date_time=EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system, entry.external_attr = 3, 0o644 << 16  # not that of the machine
    archive.writestr(entry, content)


def _npy_bytes(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(array.shape)
    npy.write_array(buffer, plain, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def read_array(stream: IO[bytes], max_bytes: int) -> NDArray[Any]:
    """Read one array of numbers or text; its size is checked before the memory is taken."""
    kind, shape, order = _read_head(stream)
    try:
        dtype = np.dtype(kind)
    except TypeError:
        raise DamagedError(f"it has values of an unknown type {kind!r}") from None
    if dtype.kind not in "biufcSUMm" or dtype.itemsize == 0:
        raise DamagedError(f"it must be an array of numbers or text; got dtype {kind}")
    size = math.prod(shape) * dtype.itemsize
    if size > max_bytes:
        raise OversizedError(f"an array takes {size} bytes")
    content = stream.read(size)
    if len(content) != size or stream.read(1):
        raise DamagedError(f"an array has {len(content)} bytes, not the {size} of its shape {shape}")
    array = np.frombuffer(content, dtype=dtype)
    if dtype.kind == "U":
        _check_characters(array)
    return array.reshape(shape, order=order)


def _read_head(stream: IO[bytes]) -> tuple[str, tuple[int, ...], Any]:
    """Return type, shape and order of the array that follows."""
    magic = stream.read(8)
    if magic[:6] != b"\x93NUMPY" or magic[6:] not in (b"\x01\x00", b"\x02\x00", b"\x03\x00"):
        raise DamagedError("it is not an array of NumPy")
    length = int.from_bytes(stream.read(2 if magic[6] == 1 else 4), "little")
    head = stream.read(length) if length <= _LONGEST_HEAD else b""
    found = _ARRAY_HEAD.fullmatch(head.decode("latin-1"))
    if found is None or len(head) < length:
        raise DamagedError("the head of an array is damaged, or of objects and not of numbers or text")
    lengths = [part.strip() for part in found["shape"].split(",")]
    if lengths[-1] == "" or len(lengths) == 1:  # (3,) and (): a comma ends a tuple of one
        lengths.pop()
    if not all(re.fullmatch("[0-9]{1,18}", part) for part in lengths) or len(lengths) > 32:
        raise DamagedError(f"an array has the shape ({found['shape'][:50]})")
    return found["type"], tuple(map(int, lengths)), "F" if found["order"] == "True" else "C"


def _check_characters(array: NDArray[Any]) -> None:
    """Refuse numbers that are no characters: NumPy would make strings of them that bring the interpreter down."""
    points = array.view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
    if ((points > 0x10FFFF) | ((points >= 0xD800) & (points < 0xE000))).any():
        raise DamagedError("it holds text with invalid characters")


class Archive:
    """An ``.npz`` archive that has been opened: its arrays on demand, and its header if it has one.

    ``max_bytes`` bounds what all entries together may unpack to, ``most_entries`` their number.
    """

    def __init__(self, file: IO[bytes], max_bytes: int, *, most_entries: int = MOST_ENTRIES) -> None:
        self._zip = zipfile.ZipFile(file)
        entries = self._zip.infolist()
        self._entries = {entry.filename: entry for entry in entries}
        if len(entries) > most_entries or len(self._entries) < len(entries):
            raise DamagedError(f"it has {len(entries)} entries, too many or two of one name")
        if {entry.compress_type for entry in entries} - {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise DamagedError("it is compressed in another way")  # in ways that are unpacked without a bound
        self._max_bytes = max_bytes
        unpacked = sum(entry.file_size for entry in entries)
        if unpacked > max_bytes:
            raise OversizedError(f"it unpacks to {unpacked} bytes")

    def check_room(self, number: int, each: int, what: str) -> None:
        """Refuse more objects than there is room for: arrays of zeros compress to next to nothing, objects do not."""
        if number * each > self._max_bytes:
            raise OversizedError(f"its {number} {what} take {number * each} bytes")

    @property
    def names(self) -> list[str]:
        """The entries that have not been read."""
        return list(self._entries)

    @functools.cached_property
    def header(self) -> dict[str, Any]:
        """The header, which counts as read from here on."""
        if HEADER not in self._entries:
            raise DamagedError(f"it has no {HEADER}")
        entry = self._entries.pop(HEADER)
        if entry.file_size > LONGEST_HEADER:
            raise OversizedError(f"its header has {entry.file_size} bytes")
        with self._zip.open(entry) as stream:
            header = json.loads(stream.read(entry.file_size), parse_constant=_refuse_constant)
        if not isinstance(header, dict):
            raise DamagedError("its header is not an object of JSON")
        return header

    def array(self, name: str, dtype: str | None = None, shape: tuple[int | None, ...] | None = None) -> NDArray[Any]:
        """Return an array, after checking its type and its shape if they are given, and count it as read.

        ``dtype`` is the type in NumPy's letters, or several of them with a bar between; None in ``shape`` stands for
        any length.
        """
        if f"{name}.npy" not in self._entries:
            raise DamagedError(f"it has no {name}.npy")
        entry = self._entries.pop(f"{name}.npy")
        with self._zip.open(entry) as stream:
            try:
                array = read_array(stream, entry.file_size)
            except (DamagedError, OversizedError) as error:
                raise DamagedError(f"{name}: {error}") from None
        if dtype is not None and array.dtype.str.lstrip("<|") not in dtype.split("|"):
            raise DamagedError(f"{name} is of type {array.dtype.str}, not {dtype}")
        if shape is not None and (
            array.ndim != len(shape)
            or any(want not in (None, have) for have, want in zip(array.shape, shape, strict=True))
        ):
            raise DamagedError(f"{name} has shape {array.shape}, not {shape}")
        return array.astype(array.dtype.newbyteorder("="), order="C")

    def has(self, name: str) -> bool:
        """Tell whether an array is there and has not been read."""
        return f"{name}.npy" in self._entries

    def refuse_rest(self) -> None:
        """Raise if something has not been read: nothing that we do not know may hide in a file of ours."""
        if self._entries:
            raise DamagedError(f"it has an entry {min(self._entries)[:80]!r} that does not belong there")


def _refuse_constant(word: str) -> None:
    raise DamagedError(f"its header holds {word}")
