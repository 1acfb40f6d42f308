"""Kinds of arrays by name, values of cells, and immutable records."""

from __future__ import annotations

from dataclasses import fields
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
IntArray = NDArray[np.integer[Any]]  # Any: of any width
AnyArray = NDArray[Any]  # Any: cells of any type
Arrays = dict[str, AnyArray]
"""Arrays by name."""
Array = TypeVar("Array", bound=AnyArray)
Record = TypeVar("Record", bound="DataclassInstance")


def read_only(array: Array) -> Array:
    """Return ``array`` with writing switched off: a frozen record may share it."""
    array.flags.writeable = False
    return array


def count_within(sizes: NDArray[np.integer[Any]]) -> NDArray[np.int64]:  # Any: of any width
    """Return 0, 1, …, size − 1 of every group, one group after the other."""
    return np.asarray(np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes), dtype=np.int64)


def plain_value(value: object) -> Any:  # Any: the type of the value
    """Return a Python value, None for one that is missing or masked; several values in one cell stay as they are."""
    if isinstance(value, np.datetime64 | np.timedelta64) and isinstance(value.item(), int):  # nanoseconds
        value = value.astype(f"{value.dtype.kind}8[us]")  # Python has no finer times
    if value is np.ma.masked:
        return None
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    elif isinstance(value, Decimal):
        value = float(value)
    try:
        missing = value is None or bool(value != value)  # NaN and NaT differ from themselves
    except TypeError:  # pandas.NA does not say
        missing = True
    except ValueError:  # an array or a series, which has an answer for every entry
        missing = False
    return None if missing else value


def rounding_error(values: FloatArray) -> float:
    """Return by how much sums and multiples of numbers of this size may be off."""
    return float(8.0 * np.finfo(np.float64).eps * np.abs(values).max())


def round_digits(values: FloatArray, digits: int = 6) -> FloatArray:
    """Return the values with a few significant digits."""
    rounded = [float(f"{value:.{digits}g}") for value in values.ravel().tolist()]
    return np.array(rounded, dtype=np.float64).reshape(values.shape)


def copy_unchecked(record: Record, **changes: object) -> Record:
    """Return a copy of a frozen record with other entries, which are not checked, and nothing that was computed."""
    copy = object.__new__(type(record))
    for each in fields(record):
        object.__setattr__(copy, each.name, changes[each.name] if each.name in changes else getattr(record, each.name))
    return copy


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
