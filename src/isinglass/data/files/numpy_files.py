"""Tables in files of NumPy: npy and npz."""

from __future__ import annotations

import io

from isinglass.data.containers import open_source
from isinglass.data.files.documents import BYTES_PER_OBJECT, Limits
from isinglass.data.meaning.rules import Cells
from isinglass.data.source import Source
from isinglass.errors import DataError
from isinglass.storage import read_array, read_arrays


def load_npy(data: bytes, limits: Limits) -> Source:
    """Read an array of NumPy; objects are refused, nothing is unpickled."""
    return _as_table(read_array(io.BytesIO(data), len(data)), limits)


def load_npz(data: bytes, limits: Limits) -> Source:
    """Read the array ``X`` or the only table of an archive of NumPy."""
    arrays = read_arrays(io.BytesIO(data), limits.n_bytes)
    if not arrays:
        raise DataError("the file is not a table: it is an archive without arrays of NumPy. Unpack it first.")
    if arrays.keys() >= {"format", "shape"}:
        raise DataError("the file must be a table; got a sparse matrix. Pass scipy.sparse.load_npz(path) to as_table.")
    tables = {name: array for name, array in arrays.items() if array.ndim == 2}
    if "X" not in tables and len(tables) != 1:
        raise DataError(f"the file must be an archive with one table, or with one called X; got {sorted(arrays)}.")
    return _as_table(tables["X"] if "X" in tables else next(iter(tables.values())), limits)


def _as_table(array: Cells, limits: Limits) -> Source:
    if array.ndim == 2:
        limits.check_shape(*array.shape)
    if array.dtype.kind not in "buif":  # every cell becomes an object of Python
        limits.check_bytes(BYTES_PER_OBJECT * array.size, "an array of text, which takes the room")
    return open_source(array).of_file()
