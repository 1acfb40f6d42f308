"""Grouping rows, and means with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from paper.contract import Row


class Mean(NamedTuple):
    """A mean over trials with the half-width of its 95 % confidence interval (Student's t; NaN for one trial)."""

    mean: float
    half_width: float
    n: int

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.mean + self.half_width


def mean_of(values: Iterable[float]) -> Mean:
    """Return the mean and its interval."""
    array = np.array(list(values), dtype=float)
    n = len(array)
    if n < 2:
        return Mean(float(array.mean()) if n else math.nan, math.nan, n)
    return Mean(float(array.mean()), float(stdtrit(n - 1, 0.975) * array.std(ddof=1) / math.sqrt(n)), n)


def geometric_mean(values: Iterable[float]) -> float:
    """Return the exponential of the mean logarithm; NaN for nothing."""
    array = np.array(list(values), dtype=float)
    return float(np.exp(np.log(array).mean())) if len(array) else math.nan


def group(rows: Iterable[Row], *keys: str) -> dict[Any, list[Row]]:
    """Return the rows by the values of ``keys``, in the order of first occurrence; one key is not made a tuple."""
    found: dict[Any, list[Row]] = {}
    for row in rows:
        values = tuple(row[key] for key in keys)
        found.setdefault(values if len(keys) > 1 else values[0], []).append(row)
    return found


def where(rows: Iterable[Row], **wanted: Any) -> list[Row]:
    """Return the rows that have these values."""
    return [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]


def column(rows: Iterable[Row], name: str) -> list[Any]:
    """Return one column, without the rows that have nothing there."""
    return [row[name] for row in rows if row.get(name) is not None]


def present(rows: list[Row], methods: Iterable[str]) -> list[str]:
    """Return those of the methods that were measured."""
    return [method for method in methods if where(rows, method=method)]


def original(rows: list[Row], method: str) -> str:
    """Return the method as the paper ran it, with glmnet in R, where that was measured."""
    return f"{method}-glmnet" if where(rows, method=f"{method}-glmnet") else method
