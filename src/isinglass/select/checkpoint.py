"""The file that a long run resumes from: finished tasks, and what they were computed from.

An ``.npz`` archive without pickles: a JSON header with the version of the layout, the fingerprint and the names of the
finished tasks, and the arrays of each. It is written to a temporary name and renamed, so that there is always one that
is whole.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import time
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import DataError

__all__ = ["Checkpoint", "describe"]

KIND, VERSION = "isinglass checkpoint", 1
PATIENCE = 10.0
"""A write waits until this many times the duration of the last one has passed: it takes a tenth of the time at most."""


def describe(value: object) -> str:
    """Return a text that two values share if and only if a task cannot tell them apart.

    Arrays are described by the SHA-256 of their bytes, functions by their name.

    Examples
    --------
    >>> describe(np.arange(3)) == describe(np.arange(3)), describe(np.arange(3)) == describe(np.arange(3.0))
    (True, False)
    >>> describe(functools.partial(describe, value=1))
    'isinglass.select.checkpoint.describe(value=1)'
    """
    if isinstance(value, np.ndarray):
        digest = hashlib.sha256(np.ascontiguousarray(value).data).hexdigest()
        return f"{value.dtype.str} {value.shape} sha256:{digest}"
    if isinstance(value, functools.partial):
        named = [f"{name}={describe(item)}" for name, item in sorted(value.keywords.items())]
        return f"{describe(value.func)}({', '.join([*map(describe, value.args), *named])})"
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, np.generic):
        value = value.item()
    return repr(value)


def _shorten(description: str | None) -> str:
    return "absent" if description is None else re.sub(r"(sha256:\w{8})\w+", r"\1…", description)


class Checkpoint:
    """Finished tasks of one run, read from a file if it exists and written there as they come.

    Use it as a context manager around the run: leaving it, even by an interrupt, writes what is finished.

    Parameters
    ----------
    path : path
        Where the file is or will be.
    fingerprint : mapping of str to object
        The data and the settings by the names the user knows, as ``describe`` tells them apart. A file that differs in
        one of them is refused with a DataError that names it.
    """

    def __init__(self, path: str | PathLike[str], fingerprint: Mapping[str, object]) -> None:
        self.path = Path(path)
        self.fingerprint = {name: describe(value) for name, value in fingerprint.items()}
        self._results: dict[str, dict[str, NDArray[Any]]] = {}
        self._pending, self._written, self._duration = False, 0.0, 0.0
        if self.path.exists():
            self._read()
        elif not self.path.parent.is_dir():  # now rather than after the first hour
            raise DataError(f"checkpoint must be in a folder that exists; got {str(self.path)!r}.")

    def get(self, key: str) -> dict[str, NDArray[Any]] | None:
        """Return the result of a task, or None if it is not finished."""
        return self._results.get(key)

    def put(self, key: str, result: Mapping[str, NDArray[Any]]) -> None:
        """Keep the result of a task, and write the file unless the last write was a moment ago."""
        self._results[key] = dict(result)
        self._pending = True
        if time.monotonic() - self._written >= PATIENCE * self._duration:
            self.write()

    def write(self) -> None:
        """Replace the file by one with everything that is finished."""
        start = time.monotonic()
        names = {key: list(result) for key, result in self._results.items()}
        header = {"kind": KIND, "version": VERSION, "fingerprint": self.fingerprint, "results": names}
        arrays = {"header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)}
        for number, result in enumerate(self._results.values()):
            arrays |= {f"{number}.{place}": array for place, array in enumerate(result.values())}
        temporary = self.path.with_name(f"{self.path.name}.{os.getpid()}.tmp")
        try:
            with temporary.open("wb") as file:
                np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
            temporary.replace(self.path)
        finally:
            temporary.unlink(missing_ok=True)
        self._pending, self._written = False, time.monotonic()
        self._duration = self._written - start

    def _read(self) -> None:
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                header = json.loads(archive["header"].tobytes())
                self._refuse_other(header)
                self._results = {
                    key: {name: archive[f"{number}.{place}"] for place, name in enumerate(names)}
                    for number, (key, names) in enumerate(header["results"].items())
                }
        except DataError:
            raise
        except Exception as error:  # damaged archives raise whatever their bytes lead to
            raise DataError(
                f"checkpoint must be a file that an earlier run wrote, and whole; {str(self.path)!r} cannot be read "
                f"({error}). Remove it to start again, or name another file."
            ) from error

    def _refuse_other(self, header: Mapping[str, Any]) -> None:
        if header["kind"] != KIND or header["version"] != VERSION:
            raise DataError(
                f"checkpoint must be of this version of isinglass (layout {VERSION}); {str(self.path)!r} has layout "
                f"{header['version']!r}. Remove it to start again, or name another file."
            )
        stored = header["fingerprint"]
        differing = [
            f"{name} ({_shorten(stored.get(name))} there, {_shorten(self.fingerprint.get(name))} here)"
            for name in dict.fromkeys([*stored, *self.fingerprint])
            if stored.get(name) != self.fingerprint.get(name)
        ]
        if differing:
            raise DataError(
                f"checkpoint must belong to the same data and settings; {str(self.path)!r} differs in "
                f"{'; '.join(differing)}. Remove it to start again, or name another file."
            )

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pending:
            self.write()
