"""Kinds of arrays by name, values of cells, and immutable records."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
IntArray = NDArray[np.integer[Any]]  # Any: of any width
AnyArray = NDArray[Any]  # Any: cells of any type
Arrays = dict[str, AnyArray]
"""Arrays by name."""
Array = TypeVar("Array", bound=AnyArray)


def read_only(array: Array) -> Array:
    """Return ``array`` with writing switched off: a frozen record may share it."""
    array.flags.writeable = False
    return array


def plain_value(value: object) -> Any:  # Any: whatever the value is
    """Return a Python value, None for a missing one."""
    if isinstance(value, np.datetime64 | np.timedelta64) and isinstance(value.item(), int):  # nanoseconds
        value = value.astype(f"{value.dtype.kind}8[us]")  # Python has no finer times
    if isinstance(value, np.generic):
        value = value.item()
    elif isinstance(value, Decimal):
        value = float(value)
    try:
        missing = value is None or bool(value != value)  # NaN and NaT differ from themselves
    except (TypeError, ValueError):  # pandas.NA does not say
        missing = True
    return None if missing else value


class Frozen:
    """What frozen records share: their arrays, alone, in tuples or of sparse matrices, can only be read."""

    def __post_init__(self) -> None:
        for value in vars(self).values():
            for part in value if isinstance(value, tuple) else (value,):
                if isinstance(part, np.ndarray):
                    read_only(part)
                elif hasattr(part, "nnz"):
                    read_only(part.data)

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        Frozen.__post_init__(self)  # a copy, or what was pickled, has arrays of its own
