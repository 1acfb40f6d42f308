"""Attributes of nodes and edges as typed columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass.errors import DataError
from isinglass.export.escaping import storable
from isinglass.names import find_nodes

Cell: TypeAlias = str | float | int | bool | None
Kind: TypeAlias = Literal["text", "real", "integer", "boolean"]

# What the files already hold under these names, or what their readers would take for something else: Gephi and networkx
# for parts of their own, Cytoscape for its own columns. Compared without case, as Cytoscape does.
_OURS = {"id", "name", "color", "r", "g", "b"}
_READERS = {"start", "end", "selected", "suid", "shared name"}
RESERVED = {
    "node": _OURS | _READERS | {"label", "field", "degree", "strength", "x", "y", "z", "viz", "pid", "parents"},
    "edge": _OURS | _READERS | {"source", "target", "coupling", "sign", "weight", "key", "interaction"},
}


@dataclass(frozen=True)
class Column:
    """Values of one kind, None where there is none."""

    kind: Kind  # what all values are
    values: tuple[Cell, ...]  # one per node or edge


def read_column(name: str, values: Iterable[Any], length: int) -> Column:
    """Return a column of the narrowest kind that holds all values.

    Booleans, then integers of 64 bits, then numbers, then text: whatever else there is becomes its ``str``. None, NaN
    and the missing values of pandas are missing.

    Examples
    --------
    >>> read_column("seats", [55, None, 44], 3)
    Column(kind='integer', values=(55, None, 44))
    >>> read_column("party", np.array(["R", "D"]), 2)
    Column(kind='text', values=('R', 'D'))
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise DataError(f"attribute {name!r} must be a column of {length} values; got {values!r}.")
    cells = [plain_value(value) for value in values]
    if len(cells) != length:
        raise DataError(f"attribute {name!r} must have one value for each of {length}; got {len(cells)}.")
    present = [cell for cell in cells if cell is not None]
    if present and all(isinstance(cell, bool) for cell in present):
        return Column("boolean", tuple(cells))
    if present and all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in present):
        if all(isinstance(cell, int) and -(2**63) <= cell < 2**63 for cell in present):
            return Column("integer", tuple(cells))
        return Column("real", tuple(None if cell is None else float(cell) for cell in cells))
    return Column("text", tuple(None if cell is None else storable(str(cell)) for cell in cells))


def pair_column(name: str, matrix: Any, edge_index: NDArray[np.integer[Any]], names: Sequence[str]) -> Column:
    """Return the entries of a symmetric matrix, dense or sparse, at the given pairs; a data frame is joined by name.

    Examples
    --------
    >>> pair_column("stability", [[0, 0.9], [0.9, 0]], np.array([[0, 1]]), ["a", "b"])
    Column(kind='real', values=(0.9,))
    """
    n_nodes = len(names)
    table = sp.csr_array(matrix) if sp.issparse(matrix) else np.asarray(matrix)
    if hasattr(matrix, "index") and hasattr(matrix, "columns") and table.shape == (n_nodes, n_nodes):
        rows, columns = (find_nodes(side, names, f"edge attribute {name!r}") for side in (matrix.index, matrix.columns))
        table = table[np.ix_(rows, columns)]  # type: ignore[arg-type]  # as many distinct nodes as there are
    if table.shape != (n_nodes, n_nodes):
        raise DataError(
            f"edge attribute {name!r} must be a matrix with one row and column per node, {(n_nodes, n_nodes)}; "
            f"got shape {table.shape}."
        )
    s, t = edge_index.T
    upper, lower = (_entries(table, *pairs) for pairs in ((s, t), (t, s)))
    column, mirrored = (read_column(name, entries, len(edge_index)) for entries in (upper, lower))
    if column != mirrored:
        raise DataError(f"edge attribute {name!r} must be symmetric; got a matrix that differs from its transpose.")
    return column


def check_name(name: Any, of: Literal["node", "edge"], taken: Sequence[str]) -> str:
    """Return the name of an attribute as the files will have it, unless it means something else there."""
    if not isinstance(name, str) or not name.strip():
        raise DataError(f"the name of an attribute must be a text that is not empty; got {name!r}.")
    if name.casefold() in RESERVED[of] or storable(name).casefold() in {other.casefold() for other in taken}:
        raise DataError(
            f"the name of an attribute of {of}s must not be one of {', '.join(sorted(RESERVED[of]))}, nor used twice, "
            f"whatever the case of its letters; got {name!r}. Rename that column."
        )
    return storable(name)


def _entries(table: Any, s: NDArray[np.intp], t: NDArray[np.intp]) -> Sequence[Any]:
    if not len(s):
        return ()
    found = table[s, t]
    return found.tolist() if isinstance(found, np.ndarray) else found.toarray().ravel().tolist()  # type: ignore[no-any-return]


def plain_value(value: Any) -> Any:
    """Return a Python value, None for all that is missing.

    Examples
    --------
    >>> plain_value(np.int8(3)), plain_value(np.nan)
    (3, None)
    """
    if isinstance(value, np.generic):
        value = value.item()
    try:
        missing = value is None or bool(value != value)  # NaN and NaT differ from themselves
    except (TypeError, ValueError):  # pandas.NA does not say
        missing = True
    return None if missing else value
