"""Tables out, of the kind that came in: pandas, polars or pyarrow, else NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

KINDS = ("pandas", "polars", "pyarrow")


def kind_of(X: Any) -> str | None:
    """Return the library of a data frame, or None for everything else.

    Examples
    --------
    >>> kind_of([[0, 1]]) is None
    True
    """
    library = type(_unwrapped(X)).__module__.split(".")[0]
    return library if library in KINDS else None


def make_frame(kind: str | None, columns: Mapping[str, NDArray[Any]]) -> Any:
    """Return a frame of these columns; a structured array if the kind is None, or its library is not installed.

    Text is in columns of Python strings: one long name must not widen all rows of a structured array.

    Examples
    --------
    >>> table = make_frame(None, {"source": np.array(["a"], dtype=object), "coupling": np.array([0.5])})
    >>> table["coupling"].tolist(), table.dtype.names
    ([0.5], ('source', 'coupling'))
    """
    try:
        if kind is not None:
            return _MAKERS[kind](import_module(kind), columns)
    except ImportError:  # a model that was saved where the library is, and loaded where it is not
        pass
    rows = np.empty(len(next(iter(columns.values()))), dtype=[(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        rows[name] = column
    return rows


def _make_pandas(pandas: Any, columns: Mapping[str, NDArray[Any]]) -> Any:
    return pandas.DataFrame(dict(columns))


def _make_polars(polars: Any, columns: Mapping[str, NDArray[Any]]) -> Any:
    # The type of text is given, or it would be another one in a table without rows; so below.
    return polars.DataFrame(
        {
            name: polars.Series(column.tolist(), dtype=polars.String) if column.dtype.kind == "O" else column
            for name, column in columns.items()
        }
    )


def _make_pyarrow(pyarrow: Any, columns: Mapping[str, NDArray[Any]]) -> Any:
    return pyarrow.table(
        {
            name: pyarrow.array(column.tolist(), type=pyarrow.string()) if column.dtype.kind == "O" else column
            for name, column in columns.items()
        }
    )


_MAKERS = {"pandas": _make_pandas, "polars": _make_polars, "pyarrow": _make_pyarrow}


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
