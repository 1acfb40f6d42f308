"""Checks of arguments, and what ``random_state`` may be."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any, TypeGuard, TypeVar

import numpy as np
from numpy.random import Generator, RandomState, SeedSequence

from isinglass.arrays import FloatArray
from isinglass.errors import ArgumentError, DataError

LARGEST = 2**31 - 1
MOST_TASKS = 10**6
"""Resamples, permutations or subsamples of one call: each has a seed and a result in memory."""

Options = Mapping[str, Any]  # Any: arguments by name, each of a type of its own

Kind = TypeVar("Kind")
RandomSource = int | Generator | RandomState | SeedSequence | None
"""What ``random_state`` may be. A Generator or a RandomState is advanced: the next call differs.

The default is 0 where something is estimated, tested or drawn on paper, so that it can be repeated; it is None, a new
seed for every call, where the result is itself a random draw: samples, simulated networks, and cells imputed by draws.
"""


def require(condition: object, otherwise: str) -> None:
    """Raise a DataError unless the parts of a record fit together."""
    if not condition:
        raise DataError(otherwise)


def is_whole(value: object) -> TypeGuard[int]:
    """Tell whether a value is an integer of Python or NumPy; True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_real(value: object) -> TypeGuard[float]:
    """Tell whether a value is a number of Python or NumPy; True and False are not."""
    return is_whole(value) or isinstance(value, float | np.floating)


def _check_number(constraint: str, holds: Callable[[float], bool], name: str, value: object) -> float:
    """Return ``value`` as a float if it is a finite number for which the constraint holds."""
    if not is_real(value) or not (math.isfinite(value) and holds(value)):
        raise ArgumentError(name, constraint, value)
    return float(value)


check_positive = partial(_check_number, "must be a positive number", lambda value: value > 0)
check_not_negative = partial(_check_number, "must be finite and not negative", lambda value: value >= 0)
check_share = partial(_check_number, "must be above 0 and at most 1", lambda value: 0 < value <= 1)
check_level = partial(_check_number, "must be between 0 and 1, both excluded", lambda value: 0 < value < 1, "level")


def check_flag(name: str, value: object) -> bool:
    """Return ``value`` if it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(name, "must be True or False", value)
    return bool(value)


def check_callable(name: str, value: object) -> None:
    """Refuse what cannot be called; None is no function at all."""
    if value is not None and not callable(value):
        raise ArgumentError(name, "must be a function", value)


def check_path(name: str, value: object) -> str:
    """Return a path as text."""
    if not isinstance(value, str | os.PathLike):
        raise ArgumentError(name, "must be a path", value)
    return str(os.fspath(value))


def as_ordered(name: str, values: object, constraint: str, length: int | None = None) -> list[Any]:  # Any: of the user
    """Return the entries of a list, of this length if one is given; texts, mappings and sets are no lists."""
    has_no_order = isinstance(values, str | bytes | Mapping | set | frozenset)
    if has_no_order or not isinstance(values, Iterable) or getattr(values, "shape", None) == ():
        raise ArgumentError(name, constraint, values)
    entries = list(values)
    if length not in (None, len(entries)):
        raise ArgumentError(name, constraint, values)
    return entries


def check_word(name: str, value: object, words: Collection[str]) -> str:
    """Return ``value`` if it is one of some words."""
    if not isinstance(value, str) or value not in words:
        quoted = ", ".join(f'"{word}"' for word in words)
        raise ArgumentError(name, f"must be one of {quoted}", value)
    return value


def check_kind(name: str, value: object, kind: type[Kind], made_by: str) -> Kind:
    """Return ``value`` if it is of the class of which ``made_by`` returns an instance."""
    if not isinstance(value, kind):
        raise ArgumentError(name, f"must be a {kind.__name__}, as {made_by} returns it", type(value).__name__)
    return value


def as_numbers(name: str, values: object, shape: tuple[int, ...] | None = None) -> FloatArray:
    """Return finite numbers as an array of their own, which must have a shape if one is given."""
    try:
        array = np.asarray(values)
        if array.size and array.dtype.kind not in "buif":
            raise TypeError
        numbers = array.astype(np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(name, "must be an array of numbers", values) from None
    if shape is not None and numbers.shape != shape:
        raise DataError(f"{name} must have the shape {shape}; got {numbers.shape}.")
    if not np.isfinite(numbers).all():
        raise ArgumentError(name, "must be finite", float(numbers[~np.isfinite(numbers)][0]))
    return numbers


def check_count(name: str, value: object, *, least: int = 1, most: int | None = LARGEST) -> int:
    """Return ``value`` as an int if it is a whole number within bounds; by default it must fit 32 bits."""
    if not is_whole(value) or value < least:
        raise ArgumentError(name, f"must be an integer of at least {least}", value)
    if most is not None and value > most:
        raise ArgumentError(name, f"must be at most {most}" + (" here" if most < LARGEST else ""), value)
    return int(value)


def as_generator(random_state: RandomSource) -> Generator:
    """Return the Generator that ``random_state`` stands for."""
    if isinstance(random_state, RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint32))
    if isinstance(random_state, Generator | SeedSequence | None) or (is_whole(random_state) and random_state >= 0):
        return np.random.default_rng(random_state)
    constraint = "must be a non-negative integer, a Generator, a RandomState, a SeedSequence or None"
    raise ArgumentError("random_state", constraint, random_state)


def spawn_seeds(random_state: RandomSource, n_tasks: int) -> list[SeedSequence]:
    """Return one independent seed per task; seed k does not depend on how many there are.

    The root is drawn rather than spawned: the owner of a SeedSequence may use its children for something else.
    """
    root = SeedSequence(as_generator(random_state).integers(0, 2**32, size=4, dtype=np.uint32).tolist())
    return root.spawn(n_tasks)
