"""Frames of pandas, polars or pyarrow: values that are missing, and tables out of the kind that came in."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

KINDS = ("pandas", "polars", "pyarrow")


def kind_of(X: Any) -> str | None:
    """Return the library of a data frame, or None for everything else."""
    library = type(_unwrapped(X)).__module__.split(".")[0]
    return library if library in KINDS else None


def complete_like(X: Any, values: NDArray[Any]) -> Any:
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


def mark_missing(X: Any, na_values: Sequence[Any]) -> Any:
    """Return an array or frame in which some values are missing.

    Examples
    --------
    >>> mark_missing(np.array([[0, 99], [1, 1]]), [99]).tolist()
    [[0.0, nan], [1.0, 1.0]]
    """
    import narwhals as nw  # a fit of an array does without it

    values = list(na_values)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        cells = np.asarray(X)
        marked = np.isin(cells.astype(object), values) if cells.dtype.kind == "O" else np.isin(cells, values)
        filled = cells.astype(np.float64 if cells.dtype.kind in "biuf" else object)
        filled[marked] = np.nan if cells.dtype.kind in "biuf" else None
        return filled
    # Values of another type than the column cannot occur in it.
    columns = []
    for name, dtype in frame.schema.items():
        known = [value for value in values if isinstance(value, str) == (dtype == nw.String)]
        columns.append(nw.when(~nw.col(name).is_in(known)).then(nw.col(name)).alias(name))
    return frame.select(columns).to_native()


def _unwrapped(X: Any) -> Any:
    """Return the frame inside a narwhals one."""
    return X.to_native() if type(X).__module__.startswith("narwhals") else X
