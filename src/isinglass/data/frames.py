"""Frames of pandas, polars or pyarrow: which kind one is, and tables of the kind that came in."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from numpy.typing import NDArray

KINDS = ("pandas", "polars", "pyarrow")


def kind_of(X: object) -> str | None:
    """Return the library of a data frame, or None for everything else."""
    library = type(_unwrapped(X)).__module__.split(".")[0]
    return library if library in KINDS else None


def complete_like(X: object, values: NDArray[Any]) -> Any:  # Any: a frame of the library of X
    """Return ``values`` in a frame with the columns of ``X`` (and its index), or as they are if ``X`` is no frame."""
    kind, native = kind_of(X), _unwrapped(X)
    if kind == "pandas":
        frame = import_module(kind).DataFrame(values, columns=native.columns, index=native.index)
        return frame.infer_objects() if values.dtype.kind == "O" else frame
    if kind is None:
        return values
    library: Any = import_module(kind)
    names = native.columns if kind == "polars" else native.schema.names
    columns = {name: values[:, k].tolist() for k, name in enumerate(names)}
    return library.DataFrame(columns) if kind == "polars" else library.table(columns)


def _unwrapped(X: Any) -> Any:  # Any: frames of three libraries
    """Return the frame inside a narwhals one."""
    return X.to_native() if type(X).__module__.startswith("narwhals") else X
