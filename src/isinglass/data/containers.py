"""Tables in files that are not text: NumPy, Parquet, Feather."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.data.limits import Limits
from isinglass.data.sheet import Sheet
from isinglass.data.sources import Source, open_source
from isinglass.errors import DataError

__all__ = ["load_feather", "load_npy", "load_npz", "load_parquet", "sheet_of"]

_SPARSE_FORMATS = ("csr", "csc", "coo", "bsr", "dia")


def sheet_of(X: Any) -> Sheet:
    """Return a table in memory as a sheet."""
    source: Source = open_source(X)
    header = None if source.names is None else [str(name) for name in source.names]
    return Sheet(source, header, None if source.row_names is None else [str(name) for name in source.row_names])


def load_npy(data: bytes, limits: Limits) -> Sheet:
    """Read an array of NumPy; objects are refused, nothing is unpickled."""
    array = _guard("npy", lambda: _read_array(io.BytesIO(data), limits))
    _check_table(array, limits)
    return sheet_of(array)


def load_npz(data: bytes, limits: Limits) -> Sheet:
    """Read the array ``X`` or the only table of an archive of NumPy, or a sparse matrix saved by scipy."""
    arrays = _guard("npz", lambda: _read_archive(data, limits))
    if {"format", "shape", "data"} <= set(arrays):
        matrix = _guard("npz", lambda: _read_sparse(arrays, limits))
        return sheet_of(matrix)
    tables = {name: array for name, array in arrays.items() if array.ndim == 2}
    if "X" not in tables and len(tables) != 1:
        raise DataError(f"the file must be an archive with one table, or with one called X; got {sorted(arrays)}.")
    table = tables["X"] if "X" in tables else next(iter(tables.values()))
    _check_table(table, limits)
    return sheet_of(table)


def load_parquet(data: bytes, limits: Limits) -> Sheet:
    """Read a Parquet file with pyarrow."""
    parquet = _import_pyarrow("parquet")
    file = _guard("parquet", lambda: parquet.ParquetFile(io.BytesIO(data)))
    limits.check_shape(file.metadata.num_rows, file.metadata.num_columns)
    return _frame_sheet(_guard("parquet", lambda: _collect(file.iter_batches(), file.schema_arrow, limits)))


def load_feather(data: bytes, limits: Limits) -> Sheet:
    """Read a Feather (Arrow) file with pyarrow."""
    ipc = _import_pyarrow("ipc")

    def read() -> Any:
        file = ipc.open_file(io.BytesIO(data))
        batches = (file.get_batch(i) for i in range(file.num_record_batches))
        return _collect(batches, file.schema, limits)

    return _frame_sheet(_guard("feather", read))


def _frame_sheet(frame: Any) -> Sheet:
    """Return an Arrow table as a sheet; pandas notes down which column was its index."""
    try:
        index = json.loads(frame.schema.metadata[b"pandas"])["index_columns"]
    except (TypeError, KeyError, ValueError):
        index = []
    names = frame.column_names
    single = isinstance(index, list) and len(index) == 1 and names.count(index[0]) == 1
    declared = names.index(index[0]) if single else None
    return replace(sheet_of(frame), declared=declared)


def _collect(batches: Any, schema: Any, limits: Limits) -> Any:
    """Put batches together; what they take in memory is counted while they come, whatever the file announced."""
    import pyarrow

    kept, n_rows, n_bytes = [], 0, 0
    for batch in batches:
        n_rows, n_bytes = n_rows + batch.num_rows, n_bytes + batch.nbytes
        limits.check_shape(n_rows, batch.num_columns)
        limits.check_bytes(n_bytes, "the columns in memory")
        kept.append(batch)
    return pyarrow.Table.from_batches(kept, schema=schema)


def _import_pyarrow(module: str) -> Any:
    try:
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise ImportError('reading this format needs pyarrow: pip install "isinglass[io]"') from None
    return getattr(pyarrow, module)


def _guard(kind: str, read: Callable[[], Any]) -> Any:
    """Turn whatever a foreign reader raises into one clear error; our own pass."""
    try:
        return read()
    except (DataError, ImportError):
        raise
    except Exception as error:
        if type(error).__module__.startswith("isinglass"):
            raise
        reason = (str(error) or type(error).__name__).splitlines()[0][:200].rstrip(".")
        raise DataError(f"the file must be a sound {kind} file; got one that cannot be read: {reason}.") from None


def _read_array(stream: Any, limits: Limits) -> NDArray[Any]:
    """Read one array; its size is checked before the memory is taken."""
    version = np.lib.format.read_magic(stream)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran_order, dtype = read_header(stream)
    if dtype.hasobject or dtype.names is not None:
        raise DataError(f"the file must be an array of numbers or text; got dtype {str(dtype)[:50]}.")
    n_bytes = math.prod(shape) * dtype.itemsize
    limits.check_bytes(n_bytes, "an array")
    content = stream.read(n_bytes)
    if len(content) != n_bytes:
        raise DataError(f"the file must be a complete array; got {len(content)} of {n_bytes} bytes.")
    if dtype.itemsize == 0:
        raise DataError("the file must be an array of numbers or text; got empty fields.")
    array = np.frombuffer(content, dtype=dtype)
    if dtype.kind == "U":
        _check_characters(array)
    return array.reshape(shape, order="F" if fortran_order else "C")


def _check_characters(array: NDArray[Any]) -> None:
    """Refuse numbers that are no characters: NumPy would make strings of them that bring the interpreter down."""
    points = array.view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
    if ((points > 0x10FFFF) | ((points >= 0xD800) & (points < 0xE000))).any():
        raise DataError("the file must be an array of numbers or text; got text with invalid characters.")


def _check_table(array: NDArray[Any], limits: Limits) -> None:
    if array.ndim == 2:
        limits.check_shape(*array.shape)


def _read_archive(data: bytes, limits: Limits) -> dict[str, NDArray[Any]]:
    arrays, total = {}, 0
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if any(member.filename.startswith(("xl/", "[Content_Types]")) for member in members):
            raise DataError("the file must be a table; got a spreadsheet. Save it as CSV first.")
        for member in members:
            total += member.file_size
            limits.check_bytes(total, "an archive")
            if member.filename.endswith(".npy"):
                with archive.open(member) as stream:
                    arrays[member.filename.removesuffix(".npy")] = _read_array(stream, limits)
    return arrays


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
    build = getattr(sparse, f"{form}_array")
    if form == "coo":
        return build((arrays["data"], (arrays["row"], arrays["col"])), shape=shape)
    if form == "dia":
        return build((arrays["data"], arrays["offsets"]), shape=shape)
    matrix = build((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
    matrix.check_format(full_check=True)
    return matrix
