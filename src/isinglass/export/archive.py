"""The container of a model file: an ``.npz`` archive with a JSON header, the same bytes for the same content.

Reading trusts nothing: sizes are checked in the directory of the archive before anything is unpacked, arrays must have
the type and the number of dimensions that are asked for, and nothing is ever unpickled.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import zipfile
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from isinglass.atomic import replacing
from isinglass.errors import DataError

__all__ = ["Archive", "DamagedError", "OversizedError", "write_archive"]

HEADER = "header.json"
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The oldest time an archive can hold: two runs write the same bytes."""
MOST_ENTRIES = 100
LONGEST_HEADER = 1 << 28
ARRAY_HEAD = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<type>[<|][a-zA-Z][0-9])', 'fortran_order': False, "
    rb"'shape': \((?P<shape>[0-9]{0,18}(?:, ?[0-9]{0,18})?)\), \} *\n",
    re.DOTALL,
)
"""How NumPy writes the head of a vector or a matrix of numbers; evaluating it as Python would be more than we need."""


class DamagedError(Exception):
    """What is wrong with the content of a file; whoever knows its name makes a sentence of it."""


class OversizedError(Exception):
    """What is larger in a file than it may be."""


def write_archive(path: str | PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write header and arrays under a temporary name in the same folder, and rename.

    Parameters
    ----------
    path : path
        The file; one that exists is replaced.
    header : mapping
        What JSON can hold, without NaN and infinities.
    arrays : mapping of str to ndarray
        Numbers and booleans.
    """
    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        raise DataError(f"path must be a file in a folder that exists; got {os.fspath(path)!r}.")
    target = target.resolve()  # a link stays a link
    text = json.dumps(header, allow_nan=False, indent=1, sort_keys=True)
    with replacing(target) as file, zipfile.ZipFile(file, "w") as archive:
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


class Archive:
    """A model file that has been opened: its header, and its arrays on demand.

    Parameters
    ----------
    file : binary file
        Opened for reading; can be searched.
    max_bytes : int
        Limit of what all entries together may unpack to.
    """

    def __init__(self, file: IO[bytes], max_bytes: int) -> None:
        self._zip = zipfile.ZipFile(file)
        entries = self._zip.infolist()
        self._entries = {entry.filename: entry for entry in entries}
        if len(entries) > MOST_ENTRIES or len(self._entries) < len(entries):
            raise DamagedError(f"it has {len(entries)} entries, too many or two of one name")
        if {entry.compress_type for entry in entries} - {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise DamagedError("it is compressed in another way")
        if HEADER not in self._entries:
            raise DamagedError(f"it has no {HEADER}")
        unpacked = sum(entry.file_size for entry in entries)
        if unpacked > max_bytes:
            raise OversizedError(f"it unpacks to {unpacked} bytes")
        if self._entries[HEADER].file_size > LONGEST_HEADER:
            raise OversizedError(f"its header has {self._entries[HEADER].file_size} bytes")
        self.header = json.loads(self._take(HEADER), parse_constant=_refuse_constant)
        if not isinstance(self.header, dict):
            raise DamagedError("its header is not an object of JSON")

    def array(self, name: str, dtype: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
        """Return an array after checking its type and its shape, in which None stands for any length.

        ``dtype`` is the type in NumPy's letters, or several of them with a bar between.
        """
        content = self._take(f"{name}.npy")
        head = ARRAY_HEAD.match(content)
        if head is None or head.end() != 10 + int.from_bytes(content[8:10], "little"):
            raise DamagedError(f"{name} is not an array of numbers in format 1.0")
        kind = head["type"].decode()
        found = tuple(int(length) for length in head["shape"].split(b",") if length.strip())
        if kind.lstrip("<|") not in dtype.split("|"):
            raise DamagedError(f"{name} is of type {kind}, not {dtype}")
        if len(found) != len(shape) or any(
            want is not None and have != want for have, want in zip(found, shape, strict=True)
        ):
            raise DamagedError(f"{name} has shape {found}, not {shape}")
        stored = np.dtype(kind)
        if math.prod(found) * stored.itemsize != len(content) - head.end():
            raise DamagedError(f"{name} has {len(content) - head.end()} bytes, not those of shape {found}")
        return np.frombuffer(content, dtype=stored, offset=head.end()).reshape(found).astype(stored.newbyteorder("="))

    def has(self, name: str) -> bool:
        """Tell whether an array is there and has not been read."""
        return f"{name}.npy" in self._entries

    def refuse_rest(self) -> None:
        """Raise if something has not been read: nothing that we do not know may hide in a model file."""
        if self._entries:
            raise DamagedError(f"it has an entry {min(self._entries)[:80]!r} that does not belong there")

    def _take(self, name: str) -> bytes:
        """Return the content of an entry, and count it as read."""
        if name not in self._entries:
            raise DamagedError(f"it has no {name}")
        entry = self._entries.pop(name)
        with self._zip.open(entry) as stream:
            content = stream.read(entry.file_size + 1)
        if len(content) != entry.file_size:
            raise DamagedError(f"{name} has {len(content)} bytes, and its directory says {entry.file_size}")
        return content


def _refuse_constant(word: str) -> None:
    raise DamagedError(f"its header holds {word}")
