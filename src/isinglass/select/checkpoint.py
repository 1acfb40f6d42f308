"""The folder that a long run resumes from: finished tasks, one file each, and what they were computed from.

``checkpoint.json`` holds the version of the layout and the fingerprint of the run; every other file is an archive
without pickles that holds the arrays of one task. Files appear whole or not at all, so that any number of threads and
processes may share a folder, and a run that is killed loses only the tasks that were not finished.
"""

from __future__ import annotations

import functools
import hashlib
import json
import pickle
import re
import sys
import sysconfig
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from isinglass.atomic import folder_lock, open_plain, remove_abandoned, replacing
from isinglass.errors import ArgumentError, DataError
from isinglass.json_text import json_text
from isinglass.storage import read_record, write_record

KIND, TASK_KIND, VERSION = "isinglass checkpoint", "isinglass task", 3
RECORD = "checkpoint.json"
LONGEST_RECORD, LARGEST_TASK = 1 << 24, 1 << 33
LONGEST_TEXT = 300


def describe(value: Any, seen: tuple[int, ...] = ()) -> str:
    """Return a text that two values share only if a task cannot tell them apart.

    Arrays and frames are described by the digest of their content; functions by their name and, unless they belong to
    this package, by the digest of their code, their defaults, and the values and functions of their own module that
    they use; dataclasses by the fields that their equality compares. What cannot be told apart, such as an object that
    holds an open file or a lambda, is a DataError.
    """
    if isinstance(value, np.generic) and not isinstance(value, np.void):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return _shorter(repr(value))
    if id(value) in seen:
        return "itself"
    inside = functools.partial(describe, seen=(*seen, id(value)))
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            return f"objects {value.shape} {_digest(str([inside(item) for item in value.ravel()]).encode())}"
        return f"{value.dtype.str} {value.shape} {_digest(np.ascontiguousarray(value).tobytes())}"
    if isinstance(value, tuple | list):
        return _shorter(f"{'(' if isinstance(value, tuple) else '['}{', '.join(map(inside, value))})")
    if isinstance(value, Mapping | set | frozenset):
        parts = [f"{inside(k)}: {inside(value[k])}" if isinstance(value, Mapping) else inside(k) for k in value]
        return _shorter(f"{type(value).__name__}({', '.join(sorted(parts))})")
    if isinstance(value, functools.partial):
        named = [f"{name}={inside(item)}" for name, item in sorted(value.keywords.items())]
        return f"{inside(value.func)}({', '.join([*map(inside, value.args), *named])})"
    if isinstance(value, types.MethodType):
        return f"{inside(value.__func__)} of {inside(value.__self__)}"
    if isinstance(value, types.ModuleType):
        return value.__name__
    if isinstance(value, types.FunctionType):
        return _describe_function(value, inside)
    if isinstance(value, type | types.BuiltinFunctionType | np.ufunc):
        return _name(value)
    if is_dataclass(value):
        compared = [f"{field.name}={inside(getattr(value, field.name))}" for field in fields(value) if field.compare]
        return f"{_name(type(value))}({', '.join(compared)})"
    return _describe_object(value, inside)


def _describe_function(function: types.FunctionType, inside: Any) -> str:
    if _is_installed(function.__module__) and "<" not in function.__qualname__:  # <lambda> names nothing
        return _name(function)
    own = function.__globals__
    used = {name: own[name] for name in _names(function.__code__) if name in own}
    cells = [cell.cell_contents for cell in function.__closure__ or () if not _is_empty(cell)]
    parts = [
        _describe_code(function.__code__, inside),
        *(inside(part) for part in (function.__defaults__, function.__kwdefaults__, cells, used)),
    ]
    return f"{_name(function)} {_digest(' '.join(parts).encode())}"


def _is_installed(module: str) -> bool:
    """Tell whether a module is part of this package, of Python or of an installed package, and so known by its name."""
    top = module.split(".")[0]
    file = getattr(sys.modules.get(top), "__file__", None)
    places = {sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
    return top == __name__.split(".")[0] or (file is not None and any(Path(file).is_relative_to(p) for p in places))


def _describe_code(code: types.CodeType, inside: Any) -> str:
    constants = [
        _describe_code(item, inside) if isinstance(item, types.CodeType) else inside(item) for item in code.co_consts
    ]
    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {constants}"


def _names(code: types.CodeType) -> set[str]:
    inner = (item for item in code.co_consts if isinstance(item, types.CodeType))
    return set(code.co_names).union(*(_names(item) for item in inner))


def _is_empty(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is cell
    except ValueError:
        return True


def _describe_object(value: Any, inside: Any) -> str:
    """Describe what has no simpler form by how it would be sent to a worker; nothing is ever read back from that."""
    try:
        content = pickle.dumps(value, protocol=5)
    except Exception:
        raise DataError(
            f"checkpoint must be able to tell one {type(value).__name__} from another to know its own tasks; got "
            f"{str(value)[:80]!r}, which cannot be identified. Use a function, functools.partial or a dataclass."
        ) from None
    call = getattr(type(value), "__call__", None)  # noqa: B004 - the function itself is wanted
    code = f" {inside(call)}" if isinstance(call, types.FunctionType) else ""
    return f"{_name(type(value))} {_digest(content)}{code}"


def _name(value: Any) -> str:
    return f"{getattr(value, '__module__', None)}.{getattr(value, '__qualname__', None) or value.__name__}"


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _shorter(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:20]}… {_digest(text.encode(errors='surrogatepass'))}"


def _shown(description: object) -> str:
    return "absent" if description is None else re.sub(r"(sha256:\w{8})\w+", r"\1…", str(description))


class Checkpoint:
    """Finished tasks of one run, in a folder that is made if need be.

    The fingerprint holds the data and the settings by the names the user knows, told apart by `describe`. A folder that
    differs in one of them is refused with a DataError that names it.
    """

    def __init__(self, path: str | PathLike[str], fingerprint: Mapping[str, object]) -> None:
        self.path = Path(path)
        self.fingerprint = {name: describe(value) for name, value in fingerprint.items()}
        if not self.path.parent.is_dir():  # now rather than after the first hour
            raise ArgumentError("checkpoint", "must be in a folder that exists", str(self.path))
        if self.path.exists() and not self.path.is_dir():
            raise DataError(
                f"checkpoint must be a folder; got the file {str(self.path)!r}. Files of version 0.1 cannot be "
                "resumed: name another place."
            )
        self.path.mkdir(exist_ok=True)
        with folder_lock(self.path):
            remove_abandoned(self.path)
            if not any(self.path.iterdir()):
                record = {"kind": KIND, "version": VERSION, "fingerprint": self.fingerprint}
                with replacing(self.path / RECORD) as file:
                    file.write(json_text(record, indent=1).encode())
            self._refuse_other()

    def get(self, key: str) -> dict[str, NDArray[Any]] | None:
        """Return the result of a task, or None if it is not finished."""
        place = self._place(key)
        if not place.exists():
            return None
        try:
            with open_plain(place) as file:
                task = read_record(file, TASK_KIND, VERSION, LARGEST_TASK)
            if task["key"] != key:
                raise ValueError("it is of another task")
            return {str(name): np.array(array) for name, array in task["result"].items()}
        except Exception as error:  # damaged bytes lead to errors of every kind
            raise DataError(
                f"checkpoint must hold whole files of an earlier run; {str(place)!r} cannot be read ({error}). Remove "
                "this file to compute the task again, or name another folder."
            ) from error

    def put(self, key: str, result: Mapping[str, NDArray[Any]]) -> None:
        """Write the result of a task."""
        write_record(self._place(key), {"key": key, "result": dict(result)}, TASK_KIND, VERSION, follow_links=False)

    def _place(self, key: str) -> Path:
        return self.path / f"{quote(key, safe='')}.npz"

    def _refuse_other(self) -> None:
        try:
            with open_plain(self.path / RECORD) as file:
                record = json.loads(file.read(LONGEST_RECORD))
            kind, version, stored = record["kind"], record["version"], dict(record["fingerprint"])
        except Exception as error:
            raise DataError(
                f"checkpoint must be a folder that an earlier run wrote, or an empty one; {str(self.path)!r} has no "
                f"{RECORD} that can be read ({error}). Name another folder."
            ) from error
        if kind != KIND or version != VERSION:
            raise DataError(
                f"checkpoint must be of this version of isinglass (layout {VERSION}); {str(self.path)!r} has layout "
                f"{version!r}. Remove it to start again, or name another folder."
            )
        differing = [
            f"{name} ({_shown(stored.get(name))} there, {_shown(self.fingerprint.get(name))} here)"
            for name in dict.fromkeys([*stored, *self.fingerprint])
            if stored.get(name) != self.fingerprint.get(name)
        ]
        if differing:
            raise DataError(
                f"checkpoint must belong to the same data and settings; {str(self.path)!r} differs in "
                f"{'; '.join(differing)}. Remove it to start again, or name another folder."
            )
