"""Tables in other files than text: of NumPy, Arrow, spreadsheets, and survey programs.

The libraries trust the file, so the sizes it declares are checked here first, and what they return is counted.
"""

from __future__ import annotations

import functools
import io
import json
import re
import struct
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from isinglass.data.column import BLANKS, Column, as_spelled, number_objects
from isinglass.data.containers import open_source
from isinglass.data.files.cells import Records, count_titles, number_texts
from isinglass.data.files.documents import Limits
from isinglass.data.meaning.rules import Cells
from isinglass.data.meaning.values import Value, as_whole
from isinglass.data.source import Source
from isinglass.errors import ArgumentError, DataError, LimitError, setting
from isinglass.names import tidy_name
from isinglass.storage import OversizedError, read_array, read_arrays

if TYPE_CHECKING:
    import pyarrow

Found = TypeVar("Found")
FindDecimal = Callable[[Iterable[Iterable[str]]], str]
"""A function of the words of columns that returns what separates the decimals of numbers."""
_SURVEYS = {"stata": "read_dta", "spss": "read_sav", "sas": "read_sas7bdat", "xport": "read_xport"}
BYTES_PER_OBJECT = 24
"""Of a cell that becomes an object of Python: of surveys, spreadsheets and arrays of text."""
_CELL = re.compile(rb'<c [^>]*?r="([A-Z]{1,3})([0-9]{1,7})"')


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


def guard(kind: str, limits: Limits, read: Callable[[], Found]) -> Found:
    """Turn any exception that a damaged file causes into one clear error; our own errors pass unchanged."""
    try:
        return read()
    except (DataError, LimitError, ImportError):
        raise
    except OversizedError as error:
        raise LimitError(
            f"{setting('max_bytes')} must be at least the size of the data; got {limits.n_bytes}, and "
            f"{error}. Raise {setting('max_bytes')} if you trust the file."
        ) from None
    except Exception as error:
        reason = [*str(error).splitlines(), type(error).__name__][0][:200].rstrip(".")
        raise DataError(f"cannot read this {kind} file: {reason}.") from None


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
    head, body = message.metadata.to_pybytes(), message.body

    def follow(table: int, number: int) -> int:
        """Return where a field of a flatbuffers table is, 0 if it is not there."""
        fields = table - struct.unpack_from("<i", head, table)[0]
        if 4 + 2 * number >= struct.unpack_from("<H", head, fields)[0]:
            return 0
        offset = struct.unpack_from("<H", head, fields + 4 + 2 * number)[0]
        return table + offset if offset else 0

    def jump(place: int) -> int:
        return place + int(struct.unpack_from("<I", head, place)[0])

    if message.type not in ("record batch", "dictionary"):
        return 0
    batch = jump(follow(jump(0), 2))
    batch = jump(follow(batch, 1)) if message.type == "dictionary" else batch
    vector, packed = jump(follow(batch, 2)), follow(batch, 3)
    total = 0
    for k in range(struct.unpack_from("<I", head, vector)[0]):
        start, length = struct.unpack_from("<qq", head, vector + 4 + 16 * k)
        total += length if not packed or length < 8 else max(struct.unpack_from("<q", body, start)[0], length - 8)
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


def load_survey(kind: str, data: bytes, limits: Limits) -> Source:
    """Read a file of Stata, SPSS or SAS, with the labels of its values."""
    try:
        import pyreadstat
    except ImportError:
        raise ImportError('reading this format needs pyreadstat: pip install "isinglass[io]"') from None
    if kind == "spss":
        _check_labelled(data)
    read = getattr(pyreadstat, _SURVEYS[kind])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "survey"
        path.write_bytes(data)
        _, meta = read(path, metadataonly=True, output_format="dict")
        _check_survey(meta.number_rows or 0, meta.number_columns or 0, limits)
        columns, meta = read(path, output_format="dict", row_limit=limits.max_rows + 1)
    n_rows = len(next(iter(columns.values()))) if columns else 0
    if n_rows == 0:
        raise DataError(f"the file must be a table; got {len(columns)} column(s) and no rows.")
    _check_survey(n_rows, len(columns), limits)
    for name in (name for name in columns if meta.readstat_variable_types.get(name) == "float"):
        spelled = as_spelled(np.array(columns[name], dtype=np.float32)).tolist()
        columns[name] = [None if old is None else new for old, new in zip(columns[name], spelled, strict=True)]
    labelled = [_label(cells, meta.variable_value_labels.get(name, {})) for name, cells in columns.items()]
    wording = {name: label for name, label in meta.column_names_to_labels.items() if label}
    names = [name or "" for name in columns]  # damaged files can have nameless columns
    return Source((n_rows, len(names)), labelled.__getitem__).of_file(names=names, wording=wording)


def _check_labelled(data: bytes) -> None:
    """Refuse an SPSS file that would end the process in pyreadstat: with value labels that cannot be assigned.

    Follows the records of its dictionary; one that is broken otherwise is left to the library, which says so.
    """
    order, encoding = "<" if data[64:65] in (b"\2", b"\3") else ">", "cp1252"
    place, segment, is_text = 176, 1, dict[int, bool]()
    values, texts = list[bytes](), list[bytes]()
    try:
        while True:
            kind, first, second, third = struct.unpack_from(f"{order}4i", data, place)
            if kind == 2:  # a variable of numbers (0), or of texts of a width; -1: the next eight bytes of a text
                if first > 255:
                    raise DataError("the SPSS file is damaged: it has a variable of an impossible width.")
                if first >= 0:
                    formats = struct.unpack_from(f"{order}2i", data, place + 16)
                    is_text[segment] = first > 0 or any(each >> 16 in (1, 2) for each in formats)
                    segment += max(-(-first // 8), 1)
                length = max(struct.unpack_from(f"{order}i", data, place + 32)[0], 0) if second else 0  # of its label
                place += 32 + 8 * abs(third) + (4 + -(-length // 4) * 4 if second else 0)
            elif kind == 3:  # value labels: a value, the length of its label, the label
                values, place = [], place + 8
                for _ in range(first):
                    values.append(data[place : place + 8])
                    place += 8 + (data[place + 8] // 8 + 1) * 8
            elif kind == 4:  # the variables that have them
                named = struct.unpack_from(f"{order}{max(first, 0)}i", data, place + 8)
                if not is_text.keys() >= set(named):
                    raise DataError("the SPSS file is damaged: it has value labels for variables that do not exist.")
                texts += values if any(is_text[each] for each in named) else []
                place += 8 + 4 * max(first, 0)
            elif kind in (6, 7):  # lines of a document, or an extension
                size = 8 + 80 * max(first, 0) if kind == 6 else 16 + max(second, 0) * max(third, 0)
                if (kind, first) == (7, 20):
                    encoding = data[place + 16 : place + size].decode()
                elif (kind, first) == (7, 3) and struct.unpack_from(f"{order}i", data, place + 44)[0] == 65001:
                    encoding = "utf-8"
                place += size
            else:
                break
        for text in texts:
            text.decode(encoding)
    except UnicodeDecodeError:
        raise DataError(f"the SPSS file is damaged: it has labelled texts that are not in {encoding}.") from None
    except (struct.error, IndexError, LookupError):
        return


def _check_survey(n_rows: int, n_columns: int, limits: Limits) -> None:
    limits.check_shape(n_rows, n_columns)
    limits.check_bytes(BYTES_PER_OBJECT * n_rows * n_columns, "the columns in memory")


def _label(cells: Sequence[Value], labels: dict[Value, Value]) -> Column:
    """Return a column with what its values are called; runs of blanks become one blank, as in messages."""
    column = number_objects(cells)
    values = [
        as_whole(value) if isinstance(value, float) else value if isinstance(value, str | int | None) else str(value)
        for value in column.values or ()
    ]
    short = {code: " ".join(label.split()) for code, label in labels.items() if isinstance(label, str)}
    labels = short if len(set(short.values())) == len(set(labels.values())) else labels
    return Column(column.cells, values, labels=labels, blanks=BLANKS) if labels else Column(column.cells, values).read()


def load_excel(
    data: bytes, limits: Limits, sheet: str | int | None, header: bool | str, find_decimal: FindDecimal
) -> tuple[Records, str]:
    """Read a sheet of a spreadsheet as text, without titles above a header, and return which.

    Numbers are written with the decimal separator of its texts.
    """
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise ImportError('reading this format needs python-calamine: pip install "isinglass[io]"') from None
    if data.startswith(b"PK"):
        _check_members(data, limits)
    if "EncryptedPackage".encode("utf-16-le") in data:  # the name of the stream that holds the workbook
        raise DataError("the workbook is protected by a password. Save it without one first.")
    book = CalamineWorkbook.from_filelike(io.BytesIO(data))
    names = book.sheet_names
    if isinstance(sheet, int) and 0 <= sheet < len(names):
        sheet = names[sheet]
    if sheet is not None and sheet not in names:
        raise ArgumentError(
            "sheet", "must be a sheet of the file", sheet, f"The file has {', '.join(map(repr, names))}."
        )
    page = book.get_sheet_by_name(names[0] if sheet is None else str(sheet))
    for name in names[1:] if sheet is None else ():
        if min(page.height, page.width) > 1:  # it may be a table; a sheet with one column explains the others
            break
        page = book.get_sheet_by_name(name)
    rows = page.to_python()
    if not rows:
        raise DataError(f"the sheet {page.name!r} is empty.")
    n_titles = count_titles([_spell(cell) for cell in row] for row in rows) if header else 0
    rows = rows[n_titles:]
    limits.check_shape(len(rows), len(rows[0]))
    cells_of = list(zip(*rows[1:], strict=True))
    decimal = find_decimal([{cell for cell in cells if isinstance(cell, str)} for cells in cells_of])
    columns = [number_texts([_spell(cell, decimal) for cell in cells]) for cells in cells_of]
    first, top = [_spell(cell, decimal) for cell in rows[0]], (page.start or (0, 0))[0] + 1 + n_titles
    columns = columns or [(np.zeros(0, np.int32), []) for _ in first]
    return Records(first, columns, lambda record: record + top), page.name


def _spell(cell: Value, decimal: str = ".") -> str:
    """Return a cell of a spreadsheet as a text file has it."""
    if not isinstance(cell, float):
        return str(cell)
    return str(int(cell)) if cell.is_integer() else str(cell).replace(".", decimal)


def _check_members(data: bytes, limits: Limits) -> None:
    """Unpack every member of a spreadsheet once, counting, and find the cell that is farthest from the first."""
    archive, left = zipfile.ZipFile(io.BytesIO(data)), limits.n_bytes
    for entry in archive.infolist():
        n_rows = n_columns = 0
        rest = b""
        with archive.open(entry) as member:
            while piece := member.read(1 << 20):
                left -= len(piece)
                if left < 0:
                    limits.check_bytes(limits.n_bytes + 1, "a spreadsheet")
                for letters, row in _CELL.findall(rest + piece):
                    n_rows = max(n_rows, int(row))
                    n_columns = max(n_columns, functools.reduce(lambda n, c: 26 * n + c - 64, letters, 0))
                rest = piece[-100:]
        limits.check_shape(n_rows, n_columns)
        limits.check_bytes(BYTES_PER_OBJECT * n_rows * n_columns, "the cells of a spreadsheet")
