"""Checks of plain numbers, with one grammar for their messages."""

from __future__ import annotations

from typing import Any

import numpy as np

from isinglass.errors import DataError

__all__ = ["check_count", "check_positive"]


def check_positive(name: str, value: Any) -> float:
    """Return ``value`` as a float if it is a finite positive number.

    Examples
    --------
    >>> check_positive("tol", 1e-7)
    1e-07
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float | np.integer | np.floating)
        or not (np.isfinite(value) and value > 0)
    ):
        raise DataError(f"{name} must be a positive number; got {value!r}.")
    return float(value)


def check_count(name: str, value: Any, *, least: int = 1) -> int:
    """Return ``value`` as an int if it is a whole number of at least ``least`` that fits 32 bits.

    Examples
    --------
    >>> check_count("max_iter", 100)
    100
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value < 2**31:
        raise DataError(f"{name} must be an integer of at least {least}; got {value!r}.")
    return int(value)
