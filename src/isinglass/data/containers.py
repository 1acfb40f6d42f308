"""Tables in other files than text: of NumPy and scipy, and those that a process of its own reads.

The libraries that read Parquet, Feather, Stata and SPSS trust the file: a damaged one can end the process, and a small
one can make them ask for any amount of memory. The other process has a limit on both, and hands back plain arrays,
which are checked again here.
"""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.data import worker
from isinglass.data.documents import Limits
from isinglass.data.sheet import Sheet, as_sheet
from isinglass.data.sources import Column, Grid, open_source
from isinglass.errors import DataError, LimitError, setting
from isinglass.storage import OversizedError, read_array, read_arrays

_SPARSE_FORMATS = ("csr", "csc", "coo", "bsr", "dia")
FORMATS = {
    "parquet": ("parquet", "pyarrow"),
    "feather": ("feather", "pyarrow"),
    "stata": ("read_dta", "pyreadstat"),
    "spss": ("read_sav", "pyreadstat"),
}
"""What the worker calls each format, and the package that reads it."""
SECONDS, BYTES_PER_SECOND = 10, 2**20
"""Time for a file: so much, and more for a large one."""
ALONE = {"ARROW_DEFAULT_MEMORY_POOL": "system", "ARROW_IO_THREADS": "1", "OMP_NUM_THREADS": "1"}
ALONE |= {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
"""One thread, whose memory can be counted."""


def load_npy(data: bytes, limits: Limits) -> Sheet:
    """Read an array of NumPy; objects are refused, nothing is unpickled."""
    return _as_table(_guard("npy", limits, lambda: read_array(io.BytesIO(data), len(data))), limits)


def load_npz(data: bytes, limits: Limits) -> Sheet:
    """Read the array ``X`` or the only table of an archive of NumPy, or a sparse matrix saved by scipy."""
    arrays = _guard("npz", limits, lambda: _read_archive(data, limits))
    if {"format", "shape", "data"} <= set(arrays):
        return as_sheet(open_source(_guard("npz", limits, lambda: _read_sparse(arrays, limits))))
    tables = {name: array for name, array in arrays.items() if array.ndim == 2}
    if "X" not in tables and len(tables) != 1:
        raise DataError(f"the file must be an archive with one table, or with one called X; got {sorted(arrays)}.")
    return _as_table(tables["X"] if "X" in tables else next(iter(tables.values())), limits)


def _guard(kind: str, limits: Limits, read: Callable[[], Any]) -> Any:
    """Turn whatever a damaged file leads to into one clear error; our own pass."""
    try:
        return read()
    except (DataError, LimitError):
        raise
    except OversizedError as error:
        raise LimitError(
            f"{setting('max_bytes')} must be at least the size of the data; got {limits.n_bytes}, and "
            f"{error}. Raise {setting('max_bytes')} if the file is what it should be."
        ) from None
    except Exception as error:
        raise _unreadable(kind, str(error) or type(error).__name__) from None


def _unreadable(kind: str, reason: str) -> DataError:
    first = (reason.splitlines() or [""])[0][:200].rstrip(".")
    return DataError(f"cannot read this {kind} file: {first}.")


def _as_table(array: NDArray[Any], limits: Limits) -> Sheet:
    if array.ndim == 2:
        limits.check_shape(*array.shape)
    if array.dtype.kind not in "buif":  # every cell becomes an object of Python
        limits.check_bytes(24 * array.size, "an array of text, which takes the room")
    return as_sheet(open_source(array))


def _read_archive(data: bytes, limits: Limits) -> dict[str, NDArray[Any]]:
    if any(name.startswith(("xl/", "[Content_Types]")) for name in zipfile.ZipFile(io.BytesIO(data)).namelist()):
        raise DataError("the file must be a table; got a spreadsheet. Save it as CSV first.")
    return read_arrays(io.BytesIO(data), limits.n_bytes)


def _read_sparse(arrays: dict[str, NDArray[Any]], limits: Limits) -> Any:
    """Put a sparse matrix together from the parts that scipy saves, and check that they fit."""
    from scipy import sparse

    raw = arrays["format"].item()
    form = raw.decode() if isinstance(raw, bytes) else str(raw)
    if form not in _SPARSE_FORMATS:
        raise DataError(f"the file must be a sparse matrix in one of the formats {_SPARSE_FORMATS}; got {form!r}.")
    shape = tuple(int(size) for size in arrays["shape"].ravel())
    if len(shape) != 2 or min(shape) < 0:
        raise DataError(f"the file must be a table; got a sparse array of shape {shape}.")
    limits.check_shape(*shape)
    limits.check_bytes(32 * arrays["data"].size, "a sparse matrix, which takes")  # on its way to a dense one
    build = getattr(sparse, f"{form}_array")
    if form == "coo":
        return build((arrays["data"], (arrays["row"], arrays["col"])), shape=shape)
    if form == "dia":
        return build((arrays["data"], arrays["offsets"]), shape=shape)
    matrix = build((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


def load_apart(kind: str, data: bytes, limits: Limits) -> Sheet:
    """Read a file of one of the `FORMATS`."""
    reader, package = FORMATS[kind]
    if find_spec(package) is None:
        raise ImportError(f'reading this format needs {package}: pip install "isinglass[io]"')
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "source").write_bytes(data)
        found = _ask(reader, folder, len(data), limits)
        if "error" in found:
            raise _unreadable(kind, str(found["error"]))
        if "too_large" in found:
            what, count = found["too_large"]
            limits.check_shape(count if what == "rows" else 0, count if what == "columns" else 0)
            limits.check_bytes(int(count), "the columns in memory")
        # A reader that was led astray can have written anything.
        sheet: Sheet = _guard(kind, limits, lambda: _as_sheet(found, Path(folder) / "columns", limits))
        return sheet


def _ask(reader: str, folder: str, size: int, limits: Limits) -> Any:
    """Let another process read the file and return what it found."""
    asked = {
        "kind": reader,
        "folder": folder,
        "seconds": SECONDS + size // BYTES_PER_SECOND,
        "limits": {"rows": limits.max_rows, "columns": limits.max_columns, "bytes": limits.n_bytes},
    }
    done = subprocess.run(
        [sys.executable, "-P", worker.__file__, json.dumps(asked)],
        env={**os.environ, **ALONE, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    target = Path(folder) / "found.json"
    if target.exists() and target.stat().st_size <= limits.n_bytes:
        try:
            return json.loads(target.read_text(encoding="utf-8"))
        except ValueError as error:
            return {"error": f"its text is damaged: {error}"}
    if target.exists() or any(word in done.stderr for word in (b"bad_alloc", b"MemoryError", b"emory")):
        return {"too_large": ["bytes", limits.n_bytes + 1]}
    if -done.returncode in (getattr(signal, "SIGXCPU", 0), getattr(signal, "SIGKILL", 0)):
        raise LimitError(f"the file must be readable in {asked['seconds']} seconds; got one that takes longer.")
    return {"error": "it ends the program that reads it"}


def _as_sheet(found: dict[str, Any], path: Path, limits: Limits) -> Sheet:
    names, kinds = [str(name) for name in found["names"]], found["columns"]
    with path.open("rb") as file:
        arrays = read_arrays(file, 8 * limits.n_bytes, max_members=limits.max_columns)
    numbers = [arrays.pop(str(k)) for k in range(len(kinds))]
    shape = n_rows, _ = len(numbers[0]), len(numbers)
    limits.check_shape(*shape)
    if len(names) != len(numbers) or any(array.shape != (n_rows,) for array in numbers):
        raise ValueError("its columns have different lengths")
    if not any("values" in kind for kind in kinds) and len({array.dtype for array in numbers}) == 1:
        block = np.empty(shape, dtype=numbers[0].dtype)
        for j in range(len(numbers)):
            block[:, j] = numbers[j]
            numbers[j] = block[:, j]  # the column by itself is not needed any more
        sheet = Sheet(shape, lambda j: Column(block[:, j]), block=block, names=names)
    elif any("labels" in kind for kind in kinds):
        sheet = Sheet(shape, lambda j: _as_column(numbers[j], kinds[j]), names=names)
    else:
        limits.check_text(n_cells=n_rows * len(numbers))
        sheet = Sheet.of_grid(_as_grid(numbers, kinds), names=names)
    index = str(found.get("index"))
    return replace(sheet, index=names.index(index)) if names.count(index) == 1 else sheet


def _as_grid(numbers: list[NDArray[Any]], kinds: list[dict[str, Any]]) -> Grid:
    """Give every value of all columns a number."""
    known: dict[tuple[type, Any], int] = {(type(None), None): 0}
    codes = np.empty((len(numbers[0]), len(numbers)), dtype=np.int32)
    for j, kind in enumerate(kinds):
        places: NDArray[Any] = numbers[j]
        if "values" in kind:
            values = [*_checked(places, kind["values"]), None]  # the last stands for -1
        elif places.dtype.itemsize == 1:  # bytes need no sorting
            every = np.arange(256).astype(places.dtype).tolist()
            places = places.view(np.uint8)
            present = np.bincount(places, minlength=256) > 0
            values = [value if there else None for value, there in zip(every, present, strict=True)]
        else:
            unique, places = np.unique(places, return_inverse=True)
            values = [None if value != value else value for value in unique.tolist()]
        new = [known.setdefault((type(value), value), len(known)) for value in values]
        codes[:, j] = np.array(new, dtype=np.int32)[places]
        numbers[j] = codes[:0, j]
    return Grid(codes, [value for _, value in known])


def _checked(numbers: NDArray[Any], values: list[Any]) -> list[Any]:
    """Return the values, if all numbers are positions among them, or -1."""
    if numbers.min() < -1 or numbers.max() >= len(values):
        raise ValueError("it has cells that stand for no value")
    return values


def _as_column(numbers: NDArray[Any], kind: dict[str, Any]) -> Column:
    """Return a column; labels replace its values if all have one and they are not 0 and 1 themselves."""
    values, labels = _checked(numbers, kind["values"]), dict(kind["labels"])
    categories = None
    if not set(values) <= {0, 1} and set(values) <= set(labels):
        categories = tuple(
            dict.fromkeys(labels[code] for code in sorted(labels, key=lambda code: (isinstance(code, str), code)))
        )
        values = [labels[value] for value in values]
    words = np.empty(len(values) + 1, dtype=object)  # the last stands for -1
    words[:-1] = values
    return Column(words[numbers], categories=categories, by_code=True)
