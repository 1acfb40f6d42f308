"""Checks of plain numbers, with one grammar for their messages."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from isinglass.errors import ArgumentError


def is_whole(value: Any) -> bool:
    """Tell whether a value is an integer of Python or NumPy; True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_real(value: Any) -> bool:
    """Tell whether a value is a number of Python or NumPy; True and False are not."""
    return is_whole(value) or isinstance(value, float | np.floating)


def check_positive(name: str, value: Any) -> float:
    """Return ``value`` as a float if it is a finite positive number."""
    if not is_real(value) or not (math.isfinite(value) and value > 0):
        raise ArgumentError(name, "must be a positive number", value)
    return float(value)


def check_count(name: str, value: Any, *, least: int = 1, most: int | None = 2**31 - 1) -> int:
    """Return ``value`` as an int if it is a whole number within bounds; by default it must fit 32 bits."""
    if not is_whole(value) or value < least or (most is not None and value >= 2**31):
        raise ArgumentError(name, f"must be an integer of at least {least}", value)
    if most is not None and value > most:
        raise ArgumentError(name, f"must be at most {most} here", value)
    return int(value)
