"""Tables in files of NumPy and scipy."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from isinglass.archive import Archive, OversizedError, read_array
from isinglass.data.limits import Limits
from isinglass.data.sheet import Sheet, as_sheet
from isinglass.data.sources import open_source
from isinglass.errors import DataError, LimitError, setting

_SPARSE_FORMATS = ("csr", "csc", "coo", "bsr", "dia")


def load_npy(data: bytes, limits: Limits) -> Sheet:
    """Read an array of NumPy; objects are refused, nothing is unpickled."""
    array = _guard("npy", limits, lambda: read_array(io.BytesIO(data), limits.n_bytes))
    _check_table(array, limits)
    return as_sheet(open_source(array))


def load_npz(data: bytes, limits: Limits) -> Sheet:
    """Read the array ``X`` or the only table of an archive of NumPy, or a sparse matrix saved by scipy."""
    arrays = _guard("npz", limits, lambda: _read_archive(data, limits))
    if {"format", "shape", "data"} <= set(arrays):
        return as_sheet(open_source(_guard("npz", limits, lambda: _read_sparse(arrays, limits))))
    tables = {name: array for name, array in arrays.items() if array.ndim == 2}
    if "X" not in tables and len(tables) != 1:
        raise DataError(f"the file must be an archive with one table, or with one called X; got {sorted(arrays)}.")
    table = tables["X"] if "X" in tables else next(iter(tables.values()))
    _check_table(table, limits)
    return as_sheet(open_source(table))


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
        reason = (str(error) or type(error).__name__).splitlines()[0][:200].rstrip(".")
        raise DataError(f"cannot read this {kind} file: {reason}.") from None


def _check_table(array: NDArray[Any], limits: Limits) -> None:
    if array.ndim == 2:
        limits.check_shape(*array.shape)
    if array.dtype.kind not in "buif":  # every cell becomes an object of Python
        limits.check_bytes(24 * array.size, "an array of text, which takes the room")


def _read_archive(data: bytes, limits: Limits) -> dict[str, NDArray[Any]]:
    archive = Archive(io.BytesIO(data), limits.n_bytes)
    if any(name.startswith(("xl/", "[Content_Types]")) for name in archive.names):
        raise DataError("the file must be a table; got a spreadsheet. Save it as CSV first.")
    names = [name.removesuffix(".npy") for name in archive.names if name.endswith(".npy")]
    return {name: archive.array(name) for name in names}


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
