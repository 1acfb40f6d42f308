"""Matrix Market files. scipy reads them too, but broken ones can crash its reader and the interpreter with it."""

from __future__ import annotations

import io
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isinglass.data.containers import sheet_of
from isinglass.data.limits import Limits
from isinglass.data.sheet import Sheet
from isinglass.errors import DataError

__all__ = ["load_mtx"]

_FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
_SYMMETRIES = ("general", "symmetric")


class _Head(NamedTuple):
    """What the first lines say, and where the entries start."""

    layout: str
    pattern: bool
    symmetric: bool
    shape: tuple[int, int]
    n_entries: int
    start: int


def load_mtx(data: bytes, limits: Limits) -> Sheet:
    """Read a matrix of numbers in the format of Matrix Market, by coordinates or as an array."""
    head = _read_head(data)
    limits.check_shape(*head.shape)
    width = 1 if head.layout == "array" else 2 if head.pattern else 3
    if head.n_entries * 2 * width > len(data) - head.start + 1:  # a digit and a blank each
        raise DataError(f"the file must be a complete mtx file; got fewer than the {head.n_entries} entries announced.")
    entries = _read_entries(data[head.start :], width)
    if len(entries) != head.n_entries:
        raise DataError(
            f"the file must be a complete mtx file; got {len(entries)} entries where {head.n_entries} are announced."
        )
    return sheet_of(_fill_array(head, entries) if head.layout == "array" else _fill_sparse(head, entries))


def _read_head(data: bytes) -> _Head:
    stream = io.BytesIO(data)
    banner = stream.readline().decode("latin-1").lower().split()
    line = stream.readline()
    while line and (line.startswith(b"%") or not line.strip()):
        line = stream.readline()
    size = line.split()
    if len(banner) != 5 or banner[:2] != ["%%matrixmarket", "matrix"] or banner[2] not in ("coordinate", "array"):
        raise DataError("the file must start with the banner of a Matrix Market file; got another first line.")
    _, _, layout, field, symmetry = banner
    if field not in _FIELDS or symmetry not in _SYMMETRIES:
        hint = " Complex data not supported." if field == "complex" else ""
        raise DataError(f"the file must be one of {_FIELDS} and of {_SYMMETRIES}; got {field!r}, {symmetry!r}.{hint}")
    expected = 2 if layout == "array" else 3
    if len(size) != expected or not all(number.isdigit() and len(number) < 19 for number in size):
        raise DataError(f"the file must give its size in {expected} numbers; got {line[:60]!r}.")
    n_rows, n_columns, *rest = (int(number) for number in size)
    if symmetry == "symmetric" and n_rows != n_columns:
        raise DataError(f"the file must be square to be symmetric; got {n_rows} rows and {n_columns} columns.")
    stored = n_rows * (n_rows + 1) // 2 if symmetry == "symmetric" else n_rows * n_columns
    n_entries = rest[0] if rest else stored
    return _Head(layout, field == "pattern", symmetry == "symmetric", (n_rows, n_columns), n_entries, stream.tell())


def _read_entries(body: bytes, width: int) -> NDArray[np.float64]:
    """Return the lines as rows of numbers."""
    if not body.strip():
        return np.empty((0, width))
    try:
        entries = np.loadtxt(io.BytesIO(body), comments="%", ndmin=2)
    except ValueError as error:
        reason = str(error).splitlines()[0].rstrip(".;")
        raise DataError(f"the file must be a sound mtx file; got entries that cannot be read: {reason}.") from None
    if entries.shape[1] != width:
        raise DataError(f"the file must have {width} number(s) per entry; got {entries.shape[1]}.")
    return entries


def _fill_sparse(head: _Head, entries: NDArray[np.float64]) -> Any:
    from scipy import sparse

    places = entries[:, :2]
    sound = (places >= 1) & (places <= head.shape) & (places == np.floor(places))
    if not sound.all():
        entry = int(np.flatnonzero(~sound.all(axis=1))[0])
        raise DataError(
            f"the file must have entries in {head.shape[0]} rows and {head.shape[1]} columns; got the place "
            f"{tuple(places[entry].tolist())} in entry {entry + 1}."
        )
    rows, columns = (places.astype(np.intp) - 1).T
    values = np.ones(len(entries)) if head.pattern else entries[:, 2]
    if head.symmetric:
        mirrored = rows != columns
        rows, columns = np.append(rows, columns[mirrored]), np.append(columns, rows[mirrored])
        values = np.append(values, values[mirrored])
    return sparse.coo_array((values, (rows, columns)), shape=head.shape)


def _fill_array(head: _Head, entries: NDArray[np.float64]) -> NDArray[np.float64]:
    if not head.symmetric:
        return entries[:, 0].reshape(head.shape, order="F")
    table = np.zeros(head.shape)
    columns, rows = np.triu_indices(head.shape[0])  # the lower triangle, column after column
    table[rows, columns] = table[columns, rows] = entries[:, 0]
    return table
