"""Tables in files of NumPy and Arrow (Parquet, Feather), whose declared sizes are checked before they are read."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from isinglass.data.containers import open_source
from isinglass.data.files.documents import BYTES_PER_OBJECT, Limits
from isinglass.data.meaning.rules import Cells
from isinglass.data.source import Source
from isinglass.errors import DataError
from isinglass.names import tidy_name
from isinglass.storage import read_array, read_arrays

if TYPE_CHECKING:
    import pyarrow

_HEADER, _DATA, _BUFFERS, _COMPRESSION = 2, 1, 2, 3
"""Numbers of fields in Arrow's schema of messages: of a message, of a dictionary, and two of a batch of rows."""


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


def load_parquet(data: bytes, limits: Limits) -> Source:
    """Read a Parquet file; its declared size is checked first."""
    from pyarrow import BufferReader, parquet, types

    plain = parquet.ParquetFile(BufferReader(data))
    schema, n_rows = plain.schema_arrow, plain.metadata.num_rows
    limits.check_shape(n_rows, len(schema))
    groups = (plain.metadata.row_group(k) for k in range(plain.metadata.num_row_groups))
    declared = max(sum(group.total_byte_size for group in groups), n_rows * sum(map(_width, schema.types)))
    limits.check_bytes(declared, "the columns in memory")
    texts = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    # Texts stay numbers of a dictionary: a long one that is repeated would be copied for every row.
    coded = [field.name for field in schema if any(is_one(field.type) for is_one in texts)]
    file = parquet.ParquetFile(BufferReader(data), read_dictionary=coded)
    source = _of_arrow(_counted(file.iter_batches(use_threads=False), limits), file.schema_arrow)
    if not coded:
        return source
    are_texts = [field.name in coded for field in schema]  # their dictionary declares no categories
    return source.changed(lambda j, column: replace(column, declared=None).read() if are_texts[j] else column)


def load_feather(data: bytes, limits: Limits) -> Source:
    """Read a file of Arrow; its declared size is checked first."""
    from pyarrow import BufferReader, ipc, py_buffer

    is_file = data.startswith(b"ARROW1")
    if is_file and not data.endswith(b"ARROW1"):
        raise ValueError("its end is missing")
    stream = py_buffer(data)[8:] if is_file else py_buffer(data)
    declared = 0
    for message in ipc.MessageReader.open_stream(BufferReader(stream)):
        declared += _declared_bytes(message)
        limits.check_bytes(declared, "the columns in memory")
    reader = ipc.open_stream(BufferReader(stream))
    return _of_arrow(_counted(reader, limits), reader.schema)


def _declared_bytes(message: pyarrow.Message) -> int:
    """Return to how many bytes a batch of rows or a dictionary of Arrow unpacks, as its head says."""
    if message.type not in ("record batch", "dictionary"):
        return 0
    head, body = message.metadata.to_pybytes(), message.body  # the head is a table of flatbuffers

    def find(table: int, field: int) -> int:
        """Return where a field of a table is, 0 if it is not there."""
        fields = table - struct.unpack_from("<i", head, table)[0]
        if 4 + 2 * field >= struct.unpack_from("<H", head, fields)[0]:
            return 0
        offset = struct.unpack_from("<H", head, fields + 4 + 2 * field)[0]
        return table + offset if offset else 0

    def follow(place: int) -> int:
        """Return where the offset at a place leads."""
        return place + int(struct.unpack_from("<I", head, place)[0])

    batch = follow(find(follow(0), _HEADER))
    if message.type == "dictionary":
        batch = follow(find(batch, _DATA))
    buffers, is_compressed = follow(find(batch, _BUFFERS)), find(batch, _COMPRESSION) > 0
    total = 0
    for k in range(struct.unpack_from("<I", head, buffers)[0]):
        start, length = struct.unpack_from("<qq", head, buffers + 4 + 16 * k)
        unpacked = length
        if is_compressed and length >= 8:  # its first eight bytes are its length; -1 if it is not compressed after all
            unpacked = max(struct.unpack_from("<q", body, start)[0], length - 8)
        total += unpacked
    return total


def _counted(batches: Iterable[pyarrow.RecordBatch], limits: Limits) -> Iterator[pyarrow.RecordBatch]:
    """Yield batches of rows, whose size is checked as they come."""
    n_rows = n_bytes = 0
    for batch in batches:
        n_rows, n_bytes = n_rows + batch.num_rows, n_bytes + batch.nbytes
        limits.check_shape(n_rows, batch.num_columns)
        limits.check_bytes(n_bytes, "the columns in memory")
        yield batch


def _width(kind: pyarrow.DataType) -> int:
    """Return the bytes of a value, if all have the same; 1 otherwise."""
    try:
        return max(int(kind.bit_width) // 8, 1)
    except ValueError:
        return 1


def _of_arrow(batches: Iterable[pyarrow.RecordBatch], schema: pyarrow.Schema) -> Source:
    from pyarrow import Table, types

    for field in schema:
        inner = field.type.value_type if types.is_dictionary(field.type) else field.type
        if types.is_nested(inner):
            raise DataError(f"column {field.name!r} holds {inner}, not single values.")
    table = Table.from_batches(batches, schema)
    table.validate(full=True)  # positions beyond the end would be read, and text that is none
    if 0 in table.shape:
        raise DataError(f"the file must be a table; got {table.num_rows} rows and {table.num_columns} columns.")
    names = list(map(tidy_name, schema.names))
    try:  # pandas notes down which column was the index of the frame
        (index,) = json.loads(schema.metadata[b"pandas"])["index_columns"]
    except (TypeError, KeyError, ValueError):
        index = None
    source = open_source(table.rename_columns([str(j) for j in range(len(names))]))
    place = schema.names.index(index) if schema.names.count(index) == 1 else None
    return source.of_file(names=names, row_names_at=place)
