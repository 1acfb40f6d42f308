"""Records in files: frozen dataclasses of arrays, numbers, text and other records, as one ``.npz`` file.

The member ``header`` is JSON: what the file is, and its *parts*, each an object with one key, which says what the part
is: ``{"tuple": […]}``, ``{"Solution": {…}}``. Inside a part, a number, a text or null stands for itself, and ``[k]`` is
part k, which comes before; NaN and infinity are written as Python reads them. Equal parts are stored once, such as the
variables of all networks of a path. The numbers of arrays are in other members, those of one type end to end in a
member that is called by it, such as ``f8``.

Fields of dataclasses are written by their names and passed to the constructor when they are read. What a record holds
is said by its annotations, which are checked here, and what fits together by its constructor.

Nothing is pickled, sizes are checked before memory is taken, and the same content gives the same bytes.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import types
import typing
import zipfile
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
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

Record = typing.TypeVar("Record")
HEADER = "header"
MAX_MEMBERS = 100
MAX_HEADER_BYTES = 1 << 24
"""Objects of JSON take 25 times the memory of their text, so this is 400 MB at worst; a name per column fits easily."""
BYTES_PER_ENTRY, BYTES_PER_ARRAY, BYTES_PER_RECORD = 1 << 3, 1 << 8, 1 << 11
"""What parts count for when a file is read, wherever they are named: their memory, and the time to check them."""
ALWAYS_UNPACKED_BYTES, EXPANSION = 1 << 28, 25
KINDS_OF_ARRAYS = "biufcSUMm"
NOT_STORED: Mapping[str, bool] = types.MappingProxyType({"stored": False})
"""Metadata of a dataclass field that is never in the file; it needs a default."""


def stored_as(instead: object) -> Mapping[str, object]:
    """Return the metadata of a dataclass field that has another value in the file where its own cannot be stored."""
    return {"instead": instead}


_LEFT_OUT, _REFUSED = object(), object()  # what becomes of an entry that cannot be stored and has no other value


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
    parts = _Parts()
    content = parts.add(record, "")
    header = {"kind": kind, "version": version, **about, "not_stored": parts.left_out}
    text = _json({**header, "parts": parts.trees, "content": content})
    if len(text) > MAX_HEADER_BYTES:
        raise LimitError(
            f"The header of the file would have {len(text)} bytes, and at most {MAX_HEADER_BYTES} can be read back. "
            "Save fewer networks, or shorter names."
        )
    members: dict[str, Any] = {HEADER: np.frombuffer(text.encode("ascii"), dtype=np.uint8), **parts.arrays}
    with replacing(target.resolve() if follow_links else target) as file:
        np.savez_compressed(file, **members)


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


class _Parts:
    """The parts of a record, each behind those that it names."""

    def __init__(self) -> None:
        self.left_out: list[str] = []
        self._found: dict[str, tuple[int, JsonObject, AnyArray | None]] = {}  # number, and numbers of an array; by text
        self._known: dict[int, tuple[object, list[int]]] = {}  # by identity, which is quicker; held, as it is reused

    @property
    def trees(self) -> list[JsonObject]:
        """All parts."""
        return [tree for _, tree, _ in self._found.values()]

    @property
    def arrays(self) -> Arrays:
        """The numbers of all arrays, by their type."""
        by_type: dict[str, list[AnyArray]] = {}
        for _, tree, array in self._found.values():
            if array is not None:
                by_type.setdefault(tree["array"][0], []).append(array.ravel())
        return {name: np.concatenate(by_type[name]) for name in sorted(by_type)}

    def add(self, value: object, where: str) -> object:
        """Return what stands for a value inside a part; ``where`` is its place in the record."""
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, PathLike):
            value = fspath(value)
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if id(value) not in self._known:
            tree, array = self._tree(value, where)
            text = _json(tree) + ("" if array is None else hashlib.sha256(array.tobytes()).hexdigest())
            number, *_ = self._found.setdefault(text, (len(self._found), tree, array))
            self._known[id(value)] = value, [number]
        return self._known[id(value)][1]

    def _tree(self, value: object, where: str) -> tuple[JsonObject, AnyArray | None]:
        if isinstance(value, np.ndarray):
            if value.dtype.kind not in KINDS_OF_ARRAYS:
                raise NotStorableError(f"{where} holds an array of type {value.dtype}")
            array = np.asarray(value, dtype=value.dtype.newbyteorder("<"), order="C")
            return {"array": [array.dtype.str.lstrip("<|"), *array.shape]}, array
        if isinstance(value, list | tuple):
            return {type(value).__name__: [self.add(item, where) for item in value]}, None
        if isinstance(value, Mapping):  # of settings, those that cannot be stored are left out
            entries = []
            for key, item in value.items():
                tree = self._add_entry(item, where, key, _LEFT_OUT if isinstance(key, str) else _REFUSED)
                if tree is not _LEFT_OUT:
                    entries.append([self.add(key, where), tree])
            return {"mapping": entries}, None
        if is_dataclass(value) and not isinstance(value, type):
            trees = {}
            for field in fields(value):
                if field.name in vars(value) and field.metadata.get("stored", True):
                    instead = field.metadata.get("instead", _REFUSED)
                    trees[field.name] = self._add_entry(vars(value)[field.name], where, field.name, instead)
            return {type(value).__name__: {name: tree for name, tree in trees.items() if tree is not _LEFT_OUT}}, None
        if hasattr(value, "indptr"):
            layout, shape, *arrays = attrgetter("format", "shape", "data", "indices", "indptr")(value)
            return {"sparse": [layout, *map(int, shape), *(self.add(array, where) for array in arrays)]}, None
        raise NotStorableError(f"{where} holds a {type(value).__name__}")

    def _add_entry(self, value: object, where: str, key: object, instead: object) -> object:
        """Return what stands for an entry of a mapping or a record, or for ``instead`` where it cannot be stored.

        ``instead`` may be `_LEFT_OUT`, which is returned, or `_REFUSED`: then there is an error.
        """
        place, n_before = f"{where}.{key}".lstrip("."), len(self._found)
        try:
            return self.add(value, place)
        except NotStorableError:
            if instead is _REFUSED:
                raise
        while len(self._found) > n_before:  # parts of the value, which are not wanted without it
            self._found.popitem()
        self._known.clear()
        self.left_out.append(place)
        return instead if instead is _LEFT_OUT else self.add(instead, place)


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
        reading = _Reading(members, _record_classes(classes), max_bytes)
        for part in header["parts"]:
            reading.add(part)
        reading.refuse_rest()
        return reading.value(header["content"])
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
    found_kind, found = header["kind"], header["version"]
    if found_kind != kind:
        raise DamagedError(f"it is not a file of this kind, but {str(found_kind)[:80]!r}")
    if is_whole(found) and found < version:
        raise DamagedError("it was written by an older version of isinglass, whose files can no longer be read")
    if found != version:
        raise DamagedError(f"it has layout {str(found)[:80]}, and this version of isinglass reads {version}")
    return header


class _Reading:
    """The values of the parts that were read so far.

    A part takes from the room that is left what it names, so that a file cannot name a large part very often. A record
    counts as one where it is named, because its content is not checked again there.
    """

    def __init__(self, members: Arrays, classes: dict[str, type], max_bytes: int) -> None:
        self._members, self._places = members, dict.fromkeys(members, 0)
        self._classes, self._room = classes, max_bytes
        self._found: list[tuple[Any, int]] = []  # values, and what they count for
        self._size = 0  # of what the part that is being read names

    def add(self, part: JsonObject) -> None:
        """Read the next part."""
        (kind,) = part
        self._size = BYTES_PER_ENTRY * (1 + len(part[kind]))
        value = self._make(kind, part)
        self._room -= self._size
        if self._room < 0:
            raise OversizedError("it has more records than there is room for")
        self._found.append((value, BYTES_PER_RECORD if kind in self._classes else self._size))

    def value(self, tree: object) -> Any:  # Any: what the part holds
        """Return what a number, a text, null or the number of a part in brackets stands for."""
        if isinstance(tree, dict):
            raise DamagedError("it holds an object in place of a number or a text")
        if not isinstance(tree, list):
            return tree
        (number,) = tree
        if not is_whole(number) or not 0 <= number < len(self._found):
            raise DamagedError("it refers to a part that is not there")
        found, size = self._found[number]
        self._size += size
        return found

    def _make(self, kind: str, part: JsonObject) -> object:
        content = part[kind]
        if kind == "mapping":
            return {self.value(key): self.value(item) for key, item in content}
        if kind == "array":
            return self._array(*content)
        if kind in self._classes:
            self._size += BYTES_PER_RECORD
            return make_record(self._classes[kind], {name: self.value(tree) for name, tree in content.items()})
        if kind not in ("list", "tuple", "sparse"):
            raise DamagedError(f"it holds an unknown class, {kind[:80]!r}")
        values = [self.value(item) for item in content]
        return values if kind == "list" else tuple(values) if kind == "tuple" else _sparse(*values)

    def _array(self, name: str, *shape: int) -> AnyArray:
        if not all(is_whole(length) and length >= 0 for length in shape):
            raise DamagedError(f"an array has the shape {str(shape)[:80]}")
        start, size = self._places[name], math.prod(shape)
        found = self._members[name][start : start + size]
        if len(found) < size:
            raise DamagedError(f"it has fewer numbers of type {name} than its arrays")
        self._places[name] = start + size
        self._size += BYTES_PER_ARRAY + found.nbytes
        return found.reshape(shape)

    def refuse_rest(self) -> None:
        """Raise if part of the file was not read: a file must not hold anything else."""
        for name, array in self._members.items():
            if array.ndim != 1 or self._places[name] != len(array):
                raise DamagedError(f"its member {name[:80]!r} holds more than its records")


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
        if name not in hints or not _fits(value, hints[name]):
            raise DamagedError(f"{cls.__name__}.{name[:80]} is not {_shown(hints.get(name))}")
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


def _fits(value: object, hint: Any) -> bool:  # Any: an annotation
    """Tell whether a value is what an annotation says."""
    if hint is Any or isinstance(hint, typing.TypeVar):
        return True
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is typing.Literal:
        return value in inner
    if hint is float:
        return is_real(value)
    if hint is int:
        return is_whole(value)
    if origin is np.ndarray:
        kind = (typing.get_args(inner[1]) or (Any,))[0]
        return isinstance(value, np.ndarray) and (kind is Any or np.issubdtype(value.dtype, kind))
    if not isinstance(value, hint if origin is None else origin):
        return False
    if origin is tuple and inner[-1] is not Ellipsis:
        return len(value) == len(inner) and all(map(_fits, value, inner))
    if isinstance(value, Mapping) and inner:
        return all(_fits(key, inner[0]) and _fits(item, inner[1]) for key, item in value.items())
    return all(_fits(item, inner[0]) for item in value) if inner else True


def _shown(hint: object) -> str:
    if hint is None:
        return "one of its fields"
    return hint.__name__ if isinstance(hint, type) else str(hint)[:80]
