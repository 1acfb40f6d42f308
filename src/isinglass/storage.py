"""Records in files: frozen dataclasses of arrays, numbers, text and other records, as one ``.npz`` file.

The member ``header`` is JSON: what the file is, and its content. There a number, a text or null stands for itself, a
list for a tuple, and an object with one key for anything else: ``{"Solution": {…}}`` for a record, by the names of its
fields, ``{"same": 3}`` for a record like the fourth of the file, ``{"array": "a5"}`` for the array in that member.
NaN and infinity are written as Python reads them.

What a record holds is said by its annotations, which are checked here, and what fits together by its constructor.
Nothing is pickled, sizes are checked before memory is taken, and the same content gives the same bytes.
"""

from __future__ import annotations

import functools
import json
import math
import types
import typing
import zipfile
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from itertools import islice
from operator import attrgetter
from os import PathLike, fspath
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy

from isinglass.arguments import is_real, is_whole
from isinglass.arrays import AnyArray, Arrays
from isinglass.atomic import check_place, replacing
from isinglass.errors import LimitError
from isinglass.json_text import JsonObject

if TYPE_CHECKING:
    import scipy.sparse as sp
    from _typeshed import DataclassInstance

Record = typing.TypeVar("Record")
Json: typing.TypeAlias = Any  # what the header holds
HEADER = "header"
MAX_MEMBERS = 100_000
MAX_HEADER_BYTES = 1 << 24
"""Objects of JSON take 25 times the memory of their text, so this is 400 MB at worst; a name per column fits easily."""
BYTES_PER_ARRAY, BYTES_PER_RECORD = 1 << 8, 1 << 11
"""What arrays and records count for beside their numbers: their memory, and the time to check them."""
ALWAYS_UNPACKED_BYTES, EXPANSION = 1 << 28, 25
KINDS_OF_ARRAYS = "biufcSUMm"
NOT_STORED: Mapping[str, bool] = types.MappingProxyType({"stored": False})
"""Metadata of a dataclass field that is never in the file; it needs a default."""


def stored_as(instead: object) -> Mapping[str, object]:
    """Return the metadata of a dataclass field that has another value in the file where its own cannot be stored."""
    return {"instead": instead}


class DamagedError(Exception):
    """What is wrong with the content of a file; the caller, who knows its name, makes a sentence of it."""


class OversizedError(Exception):
    """What is larger in a file than it may be."""


class NotStorableError(Exception):
    """A value that a file cannot hold, such as a generator or a date."""


def default_limit(size: int, limit: int) -> int:
    """Return to how many bytes a file of this size may unpack unless the user allows more."""
    return max(size, min(limit, max(ALWAYS_UNPACKED_BYTES, EXPANSION * size)))


# --- arrays -----------------------------------------------------------------------------------------------------------


def read_array(stream: IO[bytes], size: int) -> AnyArray:
    """Read an ``.npy`` file of numbers or text; its shape is compared with the size of the file first."""
    version = npy.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise DamagedError("it has structured arrays, or is of a later version of NumPy")
    read_head = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran_order, dtype = read_head(stream)
    if dtype.kind not in KINDS_OF_ARRAYS or dtype.itemsize == 0:
        raise DamagedError(f"it holds an array of type {dtype}, not of numbers or text")
    if math.prod(shape) * dtype.itemsize != size - stream.tell():
        raise DamagedError(f"an array of shape {shape} and type {dtype} does not have the bytes that follow it")
    array = np.frombuffer(stream.read(), dtype=dtype)
    if dtype.kind == "U":  # NumPy makes strings of any numbers, and invalid ones bring the interpreter down
        points = array.view(np.dtype(np.uint32).newbyteorder(dtype.byteorder))
        if ((points > 0x10FFFF) | ((points >= 0xD800) & (points < 0xE000))).any():
            raise DamagedError("it holds text with invalid characters")
    plain = array.astype(dtype.newbyteorder("="), copy=False).reshape(shape, order="F" if fortran_order else "C")
    return np.ascontiguousarray(plain).reshape(shape)


def read_arrays(stream: IO[bytes], max_bytes: int) -> Arrays:
    """Read the arrays of an ``.npz`` file that unpacks to at most ``max_bytes``; other members are left alone."""
    archive = zipfile.ZipFile(stream)
    members = archive.infolist()
    if len(members) > MAX_MEMBERS or len({member.filename for member in members}) < len(members):
        raise DamagedError(f"it has {len(members)} members, too many or two of one name")
    if {member.compress_type for member in members} - {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise DamagedError("it is compressed in another way")  # in ways that are unpacked without a bound
    unpacked = sum(member.file_size for member in members)
    if unpacked > max_bytes:
        raise OversizedError(f"it unpacks to {unpacked} bytes")
    found = {}
    for member in members:
        if member.filename.endswith(".npy"):
            with archive.open(member) as part:
                found[member.filename.removesuffix(".npy")] = read_array(part, member.file_size)
    return found


# --- writing ----------------------------------------------------------------------------------------------------------


def write_record(
    path: str | PathLike[str], record: object, kind: str, version: int, *, follow_links: bool = True, **about: object
) -> None:
    """Write a record to a file, whole or not at all; ``about`` is put into the header for those who look there.

    A link stays a link, to a new file, unless ``follow_links`` is off: then the file takes its place.
    """
    target = check_place(path)
    writing = _Writing()
    content = writing.tree(record, "")
    header = {"kind": kind, "version": version, **about, "not_stored": writing.left_out, "content": content}
    text = json.dumps(header, separators=(",", ":"))
    if len(text) > MAX_HEADER_BYTES:
        raise LimitError(
            f"The header of the file would have {len(text)} bytes, and at most {MAX_HEADER_BYTES} can be read back. "
            "Save fewer networks, or shorter names."
        )
    members: dict[str, Any] = {HEADER: np.frombuffer(text.encode("ascii"), dtype=np.uint8), **writing.named_arrays()}
    with replacing(target.resolve() if follow_links else target) as file:
        np.savez_compressed(file, **members)


class _Writing:
    """What the header says about values, and the arrays that it names; an array or a record is kept once."""

    def __init__(self) -> None:
        self.left_out: list[str] = []
        self._arrays: dict[tuple[str, tuple[int, ...], bytes], str] = {}  # names by type, shape and numbers
        self._records: dict[int, tuple[object, int]] = {}  # numbers by identity; held, as identities are used again

    def named_arrays(self) -> Arrays:
        """Return the arrays by their names."""
        each = self._arrays.items()
        return {name: np.frombuffer(content, dtype).reshape(shape) for (dtype, shape, content), name in each}

    def tree(self, value: object, where: str) -> Json:
        """Return what stands for a value in the header; ``where`` is its place in the record."""
        value = value.item() if isinstance(value, np.generic) else value
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, PathLike):
            return fspath(value)
        if isinstance(value, tuple):
            return [self.tree(item, where) for item in value]
        if isinstance(value, list):
            return {"list": [self.tree(item, where) for item in value]}
        if isinstance(value, np.ndarray):
            return {"array": self._name_array(value, where)}
        if hasattr(value, "indptr"):
            layout, shape, *arrays = attrgetter("format", "shape", "data", "indices", "indptr")(value)
            return {"sparse": self.tree((layout, *map(int, shape), *arrays), where)}
        if isinstance(value, Mapping):
            entries = ((key, self._entry(item, f"{where}.{key}", isinstance(key, str))) for key, item in value.items())
            return {"mapping": [[self.tree(key, where), *tree] for key, tree in entries if tree]}
        if is_dataclass(value) and not isinstance(value, type):
            return self._record_tree(value, where)
        raise NotStorableError(f"{where} holds a {type(value).__name__}")

    def _name_array(self, array: AnyArray, where: str) -> str:
        if array.dtype.kind not in KINDS_OF_ARRAYS:
            raise NotStorableError(f"{where} holds an array of type {array.dtype}")
        dtype = array.dtype.newbyteorder("<")
        content = dtype.str, array.shape, array.astype(dtype, copy=False).tobytes()
        return self._arrays.setdefault(content, f"a{len(self._arrays)}")

    def _record_tree(self, record: DataclassInstance, where: str) -> JsonObject:
        if id(record) in self._records:
            return {"same": self._records[id(record)][1]}
        trees = {}
        for field in fields(record):
            if field.name in vars(record) and field.metadata.get("stored", True):
                has_other = "instead" in field.metadata
                entry = self._entry(vars(record)[field.name], f"{where}.{field.name}", has_other)
                trees[field.name] = entry[0] if entry else self.tree(field.metadata["instead"], where)
        self._records[id(record)] = record, len(self._records)
        return {type(record).__name__: trees}

    def _entry(self, value: object, where: str, may_be_left_out: bool) -> list[Json]:
        """Return a list with what stands for a value; an empty one for a setting that cannot be stored."""
        n_arrays, n_records, where = len(self._arrays), len(self._records), where.lstrip(".")
        try:
            return [self.tree(value, where)]
        except NotStorableError:
            if not may_be_left_out:
                raise
        self._arrays = dict(islice(self._arrays.items(), n_arrays))  # without the parts of the value
        self._records = dict(islice(self._records.items(), n_records))
        self.left_out.append(where)
        return []


# --- reading ----------------------------------------------------------------------------------------------------------


def read_record(
    stream: IO[bytes], kind: str, version: int, max_bytes: int, classes: tuple[type, ...] = ()
) -> Any:  # Any: what was written, which the caller knows
    """Read what `write_record` wrote: records of these classes and of those that their annotations name.

    Raises OversizedError, or DamagedError for everything else that can be wrong with the bytes.
    """
    try:
        members = read_arrays(stream, max_bytes)
        header = _read_header(members.pop(HEADER, None), kind, version)
        return _Reading(members, _record_classes(classes), max_bytes).value(header["content"])
    except (DamagedError, OversizedError):
        raise
    except Exception as error:  # damaged bytes lead to errors of every kind
        raise DamagedError(str(error) or type(error).__name__) from error


def _read_header(text: AnyArray | None, kind: str, version: int) -> JsonObject:
    if text is None or text.dtype != np.uint8:
        raise DamagedError("it has no header that can be read, or was written by an older version of isinglass")
    if text.size > MAX_HEADER_BYTES:
        raise OversizedError(f"its header has {text.size} bytes")
    header: JsonObject = json.loads(text.tobytes())
    found = header["kind"], header["version"]
    if found != (kind, version):
        wrong, layout = (repr(each)[:80] for each in found)
        raise DamagedError(
            f"it is of kind {wrong} and layout {layout}; this version reads {kind!r} of layout {version}"
        )
    return header


class _Reading:
    """The values of a header and its arrays.

    An array takes from the room that is left wherever it is named, because a record may copy it: a file cannot name a
    large one very often. A record takes what one by itself does, because its content is checked once.
    """

    def __init__(self, arrays: Arrays, classes: Mapping[str, type], room: int) -> None:
        self._arrays, self._classes, self._room = arrays, classes, room
        self._records: list[object] = []

    def value(self, tree: Json) -> Any:  # Any: what was written
        """Return what a part of the header stands for."""
        if isinstance(tree, list):
            return tuple(map(self.value, tree))
        if not isinstance(tree, dict):
            return tree
        ((kind, content),) = tree.items()
        if kind == "array":
            self._take(BYTES_PER_ARRAY + self._arrays[content].nbytes)
            return self._arrays[content]
        if kind == "same":
            self._take(BYTES_PER_RECORD)
            if content not in range(len(self._records)):
                raise DamagedError("it refers to a record that is not there")
            return self._records[content]
        if kind == "list":
            return list(map(self.value, content))
        if kind == "mapping":
            return {self.value(key): self.value(item) for key, item in content}
        if kind == "sparse":
            return _sparse(*self.value(content))
        if kind not in self._classes:
            raise DamagedError(f"it holds an unknown class, {kind[:80]!r}")
        values = {name: self.value(item) for name, item in content.items()}
        self._take(BYTES_PER_RECORD)
        self._records.append(make_record(self._classes[kind], values))
        return self._records[-1]

    def _take(self, n_bytes: int) -> None:
        self._room -= n_bytes
        if self._room < 0:
            raise OversizedError("it has more records than there is room for")


def _sparse(layout: str, n_rows: int, n_columns: int, *arrays: AnyArray) -> sp.csr_array | sp.csc_array:
    from scipy.sparse import csc_array, csr_array

    matrix = {"csr": csr_array, "csc": csc_array}[layout](arrays, shape=(n_rows, n_columns))
    matrix.check_format(full_check=True)
    return matrix


# --- what the annotations of a record say -----------------------------------------------------------------------------


def make_record(cls: type[Record], values: Mapping[str, object]) -> Record:
    """Return a record of values that come from elsewhere; DamagedError if one is not what its annotation says."""
    hints = _hints(cls)  # type: ignore[arg-type]  # a class is hashable
    for name, value in values.items():
        if name not in hints or not _is_of_type(value, hints[name]):
            hint = hints.get(name, "one of its fields")
            shown = hint.__name__ if isinstance(hint, type) else str(hint)[:80]
            raise DamagedError(f"{cls.__name__}.{name[:80]} is not {shown}")
    return cls(**values)


@functools.cache
def _hints(cls: type) -> dict[str, object]:
    hints = typing.get_type_hints(cls)
    return {field.name: hints[field.name] for field in fields(cls)}


def _record_classes(roots: tuple[object, ...]) -> dict[str, type]:
    """Return the dataclasses that a record may hold: those that annotations name, and their subclasses."""
    found: dict[str, type] = {}
    waiting = list(roots)
    while waiting:
        hint = waiting.pop()
        waiting += typing.get_args(hint)
        if isinstance(hint, type) and hint.__module__.startswith("isinglass") and hint.__name__ not in found:
            waiting += hint.__subclasses__()
            if is_dataclass(hint):
                found[hint.__name__] = hint
                waiting += _hints(hint).values()
    return found


def _is_of_type(value: object, hint: Any) -> bool:  # Any: an annotation
    """Tell whether a value is what an annotation says."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any or isinstance(hint, typing.TypeVar):
        return True
    if origin in (typing.Union, types.UnionType):
        return any(_is_of_type(value, one) for one in inner)
    if origin is typing.Literal:
        return value in inner
    if hint in (float, int):
        return is_real(value) if hint is float else is_whole(value)
    if not isinstance(value, origin or hint):
        return False
    if isinstance(value, np.ndarray):
        (kind, *_) = typing.get_args(inner[1]) or (Any,)
        return kind is Any or np.issubdtype(value.dtype, kind)
    if isinstance(value, Mapping):
        return all(_is_of_type(item, one) for entry in value.items() for item, one in zip(entry, inner, strict=False))
    if origin is tuple and inner[-1] is not Ellipsis:
        return len(value) == len(inner) and all(map(_is_of_type, value, inner))
    return not inner or all(_is_of_type(item, inner[0]) for item in value)
