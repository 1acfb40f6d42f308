"""Tables out, of the kind that came in: pandas, polars or pyarrow, else NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

KINDS = ("pandas", "polars", "pyarrow")


def kind_of(X: Any) -> str | None:
    """Return the library of a data frame, or None for everything else."""
    library = type(_unwrapped(X)).__module__.split(".")[0]
    return library if library in KINDS else None


def make_frame(kind: str | None, columns: Mapping[str, NDArray[Any]]) -> Any:
    """Return a frame of these columns; a structured array if the kind is None, or its library is not installed.

    Text is in columns of Python strings: one long name must not widen all rows of a structured array.
    """
    try:
        library: Any = None if kind is None else import_module(kind)
    except ImportError:  # an estimator from where the library is, loaded where it is not
        library = None
    if library is None:
        dtype = [(name, column.dtype) for name, column in columns.items()]
        rows = np.empty(len(next(iter(columns.values()))), dtype=dtype)
        for name, column in columns.items():
            rows[name] = column
        return rows
    if kind == "pandas":
        return library.DataFrame(dict(columns))

    def text(column: NDArray[Any]) -> Any:  # whose type would be another one in a table without rows
        if kind == "polars":
            return library.Series(column.tolist(), dtype=library.String)
        return library.array(column.tolist(), type=library.string())

    make = library.DataFrame if kind == "polars" else library.table
    return make({name: text(column) if column.dtype.kind == "O" else column for name, column in columns.items()})


def complete_like(X: Any, values: NDArray[Any]) -> Any:
    """Return ``values`` in a frame with the columns of ``X`` (and its index), or as they are if ``X`` is no frame."""
    kind, native = kind_of(X), _unwrapped(X)
    if kind == "pandas":
        frame = import_module(kind).DataFrame(values, columns=native.columns, index=native.index)
        return frame.infer_objects() if values.dtype.kind == "O" else frame
    if kind is None:
        return values
    names = native.columns if kind == "polars" else native.schema.names
    return make_frame(kind, {name: np.ascontiguousarray(values[:, k]) for k, name in enumerate(names)})


def _unwrapped(X: Any) -> Any:
    """Return the frame inside a narwhals one."""
    return X.to_native() if type(X).__module__.startswith("narwhals") else X
