"""Read one file with pyarrow or pyreadstat, and write its columns as arrays of NumPy and JSON.

`containers` runs this as a program of its own: a damaged file can crash the library that reads it, or make it ask for
any amount of memory, and then only this program ends. It imports nothing of the package, to start fast.
"""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

LEAST_MEMORY = 2**28
"""What the libraries need for the smallest file."""
BYTES_PER_CELL = 24
"""Of a survey, whose cells become objects of Python."""


class TooLargeError(Exception):
    """Of what the file holds more than is allowed, and how many."""


def main(kind: str, source: Path, target: Path, limits: dict[str, int]) -> dict[str, Any]:
    """Write the columns to an archive and return what belongs to them; or what is too large, or what is wrong."""
    try:
        with zipfile.ZipFile(target, "w") as archive:
            return (_read_survey if kind.startswith("read_") else _read_arrow)(kind, source, archive, limits)
    except TooLargeError as error:
        return {"too_large": list(error.args)}
    except MemoryError:
        return {"too_large": ["bytes", limits["bytes"] + 1]}
    except Exception as error:  # whatever it is, the parent reports it
        return {"error": str(error) or type(error).__name__}


def load_library(kind: str) -> None:
    """Load what will be needed, before the memory is limited; not pandas, which takes as long as all the rest."""
    sys.meta_path.insert(0, _WithoutPandas())  # both libraries load it where they find it
    if kind.startswith("read_"):
        import pyreadstat  # noqa: F401
    else:
        import pyarrow.ipc
        import pyarrow.parquet  # noqa: F401


class _WithoutPandas:
    def find_spec(self, name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


def limit_resources(max_bytes: int, seconds: int) -> None:
    """Let no more memory be taken from here on, and no more time, where the system can do that."""
    try:
        import resource
    except ImportError:  # Windows
        return
    pages = Path("/proc/self/statm")
    if pages.exists():
        taken = int(pages.read_text().split()[0]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        wanted = taken + max_bytes
        resource.setrlimit(resource.RLIMIT_AS, (wanted if hard < 0 else min(wanted, hard), hard))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def check(limits: dict[str, int], **counts: int) -> None:
    """Refuse what is larger than a limit."""
    for name, count in counts.items():
        if count > limits[name]:
            raise TooLargeError(name, count)


def write(archive: zipfile.ZipFile, number: int, array: Any) -> None:
    """Put an array into the archive; whole numbers take no more room than they need."""
    if array.dtype.kind in "iu":
        least, most = int(array.min()), int(array.max())
        small = np.uint8 if least >= 0 and most < 256 else np.int8 if least >= -128 and most < 128 else array.dtype
        array = array.astype(small, copy=False)
    with archive.open(f"{number}.npy", "w", force_zip64=True) as stream:
        np.lib.format.write_array(stream, array, allow_pickle=False)


def _read_arrow(kind: str, source: Path, archive: zipfile.ZipFile, limits: dict[str, int]) -> dict[str, Any]:
    import pyarrow

    if kind == "parquet":
        schema, batches = _open_parquet(source, limits)
    else:
        file = pyarrow.ipc.open_file(source)
        schema, batches = file.schema, map(file.get_batch, range(file.num_record_batches))
    for field in schema:
        inner = field.type.value_type if pyarrow.types.is_dictionary(field.type) else field.type
        if pyarrow.types.is_nested(inner):
            raise ValueError(f"column {field.name!r} holds {inner}, not single values")
    columns: list[list[Any]] = [[] for _ in schema]
    n_rows = n_bytes = 0
    for batch in batches:
        n_rows, n_bytes = n_rows + batch.num_rows, n_bytes + batch.nbytes
        check(limits, rows=n_rows, columns=len(schema), bytes=max(n_bytes, n_rows * len(schema)))
        for column, part in zip(columns, batch.columns, strict=True):
            column.append(part)
    if n_rows == 0 or not columns:
        raise ValueError(f"it has {n_rows} rows and {len(columns)} columns")
    kinds = []
    for number in range(len(columns)):
        column = pyarrow.chunked_array(columns[number])
        columns[number] = []
        kinds.append(_write_column(archive, number, column, limits))
    return {"names": schema.names, "columns": kinds, "index": _pandas_index(schema)}


def _open_parquet(source: Path, limits: dict[str, int]) -> tuple[Any, Any]:
    from pyarrow import parquet, types

    plain = parquet.ParquetFile(source).schema_arrow
    texts = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    # Texts stay numbers of a dictionary: a long one that is repeated would be copied for every row.
    coded = [field.name for field in plain if any(is_one(field.type) for is_one in texts)]
    file = parquet.ParquetFile(source, read_dictionary=coded)
    width = sum(max(_width(field.type), 1) for field in plain)
    n_rows = file.metadata.num_rows
    check(limits, rows=n_rows, columns=len(plain), bytes=n_rows * width)
    return file.schema_arrow, file.iter_batches(batch_size=1 << 14, use_threads=False)


def _width(kind: Any) -> int:
    """Return the bytes of a value, if all have the same; 0 otherwise."""
    try:
        return int(kind.bit_width) // 8
    except ValueError:
        return 0


def _write_column(archive: zipfile.ZipFile, number: int, column: Any, limits: dict[str, int]) -> dict[str, Any]:
    """Write a column as numbers, or as positions in a list of its values, -1 where there is none."""
    import pyarrow
    from pyarrow import types

    if types.is_boolean(column.type):
        column = column.cast(pyarrow.int8())
    elif types.is_decimal(column.type):
        column = column.cast(pyarrow.float64())
    if types.is_null(column.type):
        write(archive, number, np.full(len(column), np.nan))
        return {}
    if types.is_integer(column.type) or types.is_floating(column.type):
        write(archive, number, column.to_numpy())  # NaN where it is missing
        return {}
    coded = (column if types.is_dictionary(column.type) else column.dictionary_encode()).unify_dictionaries()
    codes = [part.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64) for part in coded.chunks]
    write(archive, number, np.concatenate(codes).astype(np.int32))
    values = coded.chunk(0).dictionary
    check(limits, bytes=4 * values.nbytes)  # as JSON, and as strings
    return {"values": values.to_pylist()}


def _pandas_index(schema: Any) -> str | None:
    """Return the column that was the index of a frame of pandas, which notes it down."""
    try:
        index = json.loads(schema.metadata[b"pandas"])["index_columns"]
    except (TypeError, KeyError, ValueError):
        return None
    return index[0] if isinstance(index, list) and len(index) == 1 and isinstance(index[0], str) else None


def _read_survey(reader: str, source: Path, archive: zipfile.ZipFile, limits: dict[str, int]) -> dict[str, Any]:
    import pyreadstat

    read = getattr(pyreadstat, reader)
    _, meta = read(source, metadataonly=True, output_format="dict")
    n_rows, n_columns = meta.number_rows or 0, meta.number_columns or 0
    check(limits, rows=n_rows, columns=n_columns, bytes=BYTES_PER_CELL * n_rows * n_columns)
    columns, meta = read(source, output_format="dict", row_limit=limits["rows"] + 1)
    n_rows = len(next(iter(columns.values()))) if columns else 0
    if n_rows == 0:
        raise ValueError(f"it has {len(columns)} column(s) and no rows")
    check(limits, rows=n_rows, columns=len(columns), bytes=BYTES_PER_CELL * n_rows * len(columns))
    kinds = []
    for number, (name, column) in enumerate(columns.items()):
        seen: dict[Any, int] = {}
        codes = [-1 if cell is None or cell != cell else seen.setdefault(cell, len(seen)) for cell in column]
        write(archive, number, np.array(codes, dtype=np.int32))
        kinds.append({"values": list(seen), "labels": list(meta.variable_value_labels.get(name, {}).items())})
    return {"names": [name or "" for name in columns], "columns": kinds}  # damaged files can have nameless columns


def _plain(value: Any) -> Any:
    """Return numbers of NumPy as numbers; bytes, dates and the like as text."""
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return value.item() if hasattr(value, "item") else str(value)


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    place = Path(asked["folder"])
    load_library(asked["kind"])
    limit_resources(max(2 * asked["limits"]["bytes"], LEAST_MEMORY), asked["seconds"])
    found = main(asked["kind"], place / "source", place / "columns", asked["limits"])
    (place / "found.json").write_text(json.dumps(found, default=_plain), encoding="utf-8")
