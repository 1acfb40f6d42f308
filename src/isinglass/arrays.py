"""Kinds of arrays by name, and immutable records."""

from __future__ import annotations

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
