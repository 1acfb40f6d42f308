"""Records in files: frozen dataclasses of arrays, numbers, text and other records, as one ``.npz`` file.

The member ``header`` is JSON: what the file is, and the tree of its records. Arrays are taken out of the tree: all
those of one type are stored end to end in one member that is called by the type, such as ``f8``, and the tree keeps
their shapes. Fields of dataclasses are written by their names and passed to the constructor when they are read. What a
record holds is said by its annotations, which are checked here, and what fits together by its constructor.

Nothing is pickled, sizes are checked before memory is taken, and the same content gives the same bytes.
"""

from __future__ import annotations

import functools
import json
import math
import types
import typing
import zipfile
from collections.abc import Iterator, Mapping, Sequence
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
from isinglass.json_text import JsonObject, json_text

if TYPE_CHECKING:
    import scipy.sparse as sp
    from _typeshed import DataclassInstance

Record = typing.TypeVar("Record")
HEADER = "header"
MAX_MEMBERS = 100
MAX_HEADER_BYTES = 1 << 24
"""Objects of JSON take 25 times the memory of their text, so this is 400 MB at worst; a name per column fits easily."""
BYTES_PER_RECORD = 1 << 11
"""What each record counts for when a file is read: its memory, and the time that it takes to make it."""
ALWAYS_UNPACKED_BYTES, EXPANSION = 1 << 28, 25
SHARED_CHARACTERS = 100
"""Longer parts without arrays are stored once."""
DROPPABLE: Mapping[str, bool] = types.MappingProxyType({"droppable": True})
"""Metadata of a dataclass field that is left out of the file where its value cannot be stored; it needs a default."""
NOT_STORED: Mapping[str, bool] = types.MappingProxyType({"stored": False})
"""Metadata of a dataclass field that is never in the file; it needs a default."""
_NOTHING = object()
_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


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
    if dtype.kind not in "biufcSUMm" or dtype.itemsize == 0:
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
    header = {"kind": kind, "version": version, **about, "not_stored": writing.left_out}
    text = json_text({**header, "shared": writing.shared, "content": content}, compact=True)
    if len(text) > MAX_HEADER_BYTES:
        raise LimitError(
            f"The header of the file would have {len(text)} bytes, and at most {MAX_HEADER_BYTES} can be read back. "
            "Save fewer networks, or shorter names."
        )
    members: dict[str, Any] = {HEADER: np.frombuffer(text.encode("ascii"), dtype=np.uint8)}
    members |= {name: np.concatenate(parts) for name, parts in sorted(writing.arrays.items()) if parts}
    with replacing(target.resolve() if follow_links else target) as file:
        np.savez_compressed(file, **members)


class _Writing:
    """The tree of a record as JSON, and the arrays that were taken out of it.

    An object of JSON has one key, which says what it is: a float that JSON lacks, a tuple, a tuple of equal entries, a
    mapping, an array, a tuple of arrays of one type, a sparse matrix, a part that is stored once, or a record by the
    name of its class.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, list[AnyArray]] = {}
        self.left_out: list[str] = []
        self.shared: list[Any] = []
        self._numbers: dict[str, int] = {}  # of these, by their text
        self._known: dict[int, Any] = {}  # references to these, by the identity of the value
        self._n_taken = 0

    def tree(self, value: object, where: str) -> object:
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, PathLike):
            value = fspath(value)
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, np.ndarray):
            return {"array": [self._take(value, where), *value.shape]}
        if isinstance(value, list):
            return [self.tree(item, where) for item in value]
        if isinstance(value, tuple):
            return self._tuple(value, where)
        if isinstance(value, Mapping):
            return {"mapping": list(self._entries(value, where))}
        if is_dataclass(value) and not isinstance(value, type):
            return {type(value).__name__: self._fields(value, where)}
        if hasattr(value, "indptr"):
            layout, shape, *parts = attrgetter("format", "shape", "data", "indices", "indptr")(value)
            return {"sparse": [layout, list(shape), *(self.tree(part, where) for part in parts)]}
        raise NotStorableError(f"{where} holds a {type(value).__name__}")

    def _take(self, array: AnyArray, where: str) -> str:
        if array.dtype.kind not in "biufcSUMm":
            raise NotStorableError(f"{where} holds an array of type {array.dtype}")
        plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        name = plain.dtype.str.lstrip("<|")
        self.arrays.setdefault(name, []).append(plain.ravel())
        self._n_taken += 1
        return name

    def _tuple(self, values: tuple[Any, ...], where: str) -> JsonObject:  # Any: what a tree can hold
        """Return many small arrays as one, such as a table of counts for every edge, and equal entries once."""
        kinds = {(value.dtype, value.ndim) if isinstance(value, np.ndarray) else None for value in values}
        if len(values) > 1 and len(kinds) == 1 and None not in kinds:
            shapes = self.tree(np.array([value.shape for value in values], dtype=np.int64), where)
            names = [self._take(value, where) for value in values]
            return {"arrays": [shapes, names[0]]}
        trees: list[Any] = []
        taken = self._n_taken
        for value in values:
            again = trees and value is values[0] and taken == self._n_taken  # quick: most columns of a table are alike
            trees.append(trees[0] if again else self.tree(value, where))
        if len(trees) > 2 and taken == self._n_taken:
            text = json_text(trees[0])
            if all(tree is trees[0] or json_text(tree) == text for tree in trees):
                return {"repeated": [len(trees), trees[0]]}
        return {"tuple": trees}

    def _entries(self, mapping: Mapping[object, object], where: str) -> Iterator[list[object]]:
        """Yield the entries of a mapping; settings that cannot be stored are left out, and named."""
        for key, value in mapping.items():
            tree = self._tree_or_nothing(value, f"{where}.{key}", droppable=isinstance(key, str))
            if tree is not _NOTHING:
                yield [self.tree(key, where), tree]

    def _fields(self, record: DataclassInstance, where: str) -> JsonObject:
        found = {}
        for field in fields(record):
            value, taken = vars(record).get(field.name, _NOTHING), self._n_taken
            if value is _NOTHING or not field.metadata.get("stored", True):
                continue
            tree = self._known.get(id(value))
            if tree is None:
                place, droppable = f"{where}.{field.name}".lstrip("."), field.metadata.get("droppable", False)
                tree = self._tree_or_nothing(value, place, droppable=droppable)
                if isinstance(tree, dict) and taken == self._n_taken:
                    tree = self._share(value, tree)
            if tree is not _NOTHING:
                found[field.name] = tree
        return found

    def _share(self, value: object, tree: object) -> object:
        """Store a part without arrays once if it is long: all networks of a path have the same variables."""
        text = json_text(tree, compact=True)
        if len(text) <= SHARED_CHARACTERS:
            return tree
        number = self._numbers.setdefault(text, len(self.shared))
        self.shared += [tree] if number == len(self.shared) else []
        self._known[id(value)] = {"shared": number}
        return self._known[id(value)]

    def _tree_or_nothing(self, value: object, where: str, *, droppable: bool) -> object:
        before = {name: len(parts) for name, parts in self.arrays.items()}
        try:
            return self.tree(value, where)
        except NotStorableError:
            if not droppable:
                raise
        for name, parts in self.arrays.items():
            del parts[before.get(name, 0) :]
        self.left_out.append(where)
        return _NOTHING


# --- reading ----------------------------------------------------------------------------------------------------------


def read_record(
    stream: IO[bytes], kind: str, version: int, max_bytes: int, classes: tuple[type, ...] = ()
) -> Any:  # Any: what was written, which the caller knows
    """Read what `write_record` wrote: records of these classes and of those that their annotations name.

    Raises OversizedError, or DamagedError for everything else that can be wrong with the bytes.
    """
    try:
        members = read_arrays(stream, max_bytes)
        header = json.loads(_text(members.pop(HEADER, None)), parse_constant=_refuse_constant)
        if header["kind"] != kind:
            raise DamagedError(f"it is not a file of this kind, but {str(header['kind'])[:80]!r}")
        if header["version"] != version:
            raise DamagedError(_other_version(header["version"], version))
        reading = _Reading(members, header["shared"], _record_classes(classes), max_bytes)
        found = reading.value(header["content"])
        reading.refuse_rest()
    except (DamagedError, OversizedError):
        raise
    except Exception as error:  # damaged bytes lead to errors of every kind
        raise DamagedError(str(error) or type(error).__name__) from error
    return found


def _text(header: AnyArray | None) -> bytes:
    if header is None or header.dtype != np.uint8:
        raise DamagedError("it has no header that can be read, or was written by an older version of isinglass")
    if header.size > MAX_HEADER_BYTES:
        raise OversizedError(f"its header has {header.size} bytes")
    return header.tobytes()


def _refuse_constant(word: str) -> None:
    raise DamagedError(f"its header holds {word}")


def _other_version(found: object, version: int) -> str:
    if is_whole(found) and found < version:
        return "it was written by an older version of isinglass, whose files can no longer be read"
    return f"it has layout {str(found)[:80]}, and this version of isinglass reads {version}"


class _Reading:
    """The values of a tree, with the arrays put back in the order in which they were taken out."""

    def __init__(self, members: Arrays, shared: list[object], classes: dict[str, type], max_bytes: int) -> None:
        self._members, self._places = members, dict.fromkeys(members, 0)
        self._classes, self._room = classes, max_bytes
        self._shared: list[Any] = []
        for tree in shared:  # each may refer to those before it
            self._shared.append(self.value(tree))

    def value(self, tree: object) -> Any:  # Any: what the tree holds
        if isinstance(tree, list):
            return [self.value(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        ((kind, content),) = tree.items()
        if kind == "float":
            return _FLOATS[content]
        if kind == "tuple":
            return tuple([self.value(item) for item in content])
        if kind == "repeated":
            self._spend(content[0], 8)
            return (self.value(content[1]),) * content[0]
        if kind == "mapping":
            return {self.value(key): self.value(item) for key, item in content}
        if kind == "array":
            return self._next(content[0], tuple(content[1:]))
        if kind == "arrays":
            return self._many(*content)
        if kind == "sparse":
            return self._sparse(*content)
        return self._record(kind, content)

    def _next(self, name: str, shape: tuple[int, ...]) -> AnyArray:
        if not all(is_whole(length) and length >= 0 for length in shape):
            raise DamagedError(f"an array has the shape {str(shape)[:80]}")
        start, size = self._places[name], math.prod(shape)
        if size > len(self._members[name]) - start:
            raise DamagedError(f"it has fewer numbers of type {name} than its arrays")
        self._places[name] = start + size
        return self._members[name][start : start + size].reshape(shape)

    def _many(self, shapes: object, name: str) -> tuple[AnyArray, ...]:
        lengths = self.value(shapes)
        self._spend(len(lengths), 1 << 8)
        return tuple([self._next(name, tuple(shape)) for shape in lengths.tolist()])

    def _sparse(self, layout: str, shape: Sequence[int], *parts: object) -> sp.csr_array | sp.csc_array:
        from scipy.sparse import csc_array, csr_array

        matrix = {"csr": csr_array, "csc": csc_array}[layout](tuple(map(self.value, parts)), shape=tuple(shape))
        matrix.check_format(full_check=True)
        return matrix

    def _record(self, name: str, content: Mapping[str, object]) -> object:
        if name not in self._classes:
            raise DamagedError(f"it holds an unknown class, {name[:80]!r}")
        self._spend(1, BYTES_PER_RECORD)
        return make_record(self._classes[name], {key: self._shared_or_value(tree) for key, tree in content.items()})

    def _shared_or_value(self, tree: object) -> object:
        if not isinstance(tree, dict) or tree.keys() != {"shared"}:
            return self.value(tree)
        if not is_whole(tree["shared"]) or not 0 <= tree["shared"] < len(self._shared):
            raise DamagedError("it refers to a part that is not there")
        return self._shared[tree["shared"]]

    def _spend(self, number: int, each: int) -> None:
        self._room -= number * each
        if self._room < 0:
            raise OversizedError("it has more records than there is room for")

    def refuse_rest(self) -> None:
        """Raise if part of the file was not read: a file must not hold anything else."""
        for name, array in self._members.items():
            if array.ndim != 1 or self._places[name] != len(array):
                raise DamagedError(f"its member {name[:80]!r} holds more than its records")


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


def _fits(value: Any, hint: Any) -> bool:  # Any: of any type, which is what is asked
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
