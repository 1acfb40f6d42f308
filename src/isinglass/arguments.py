"""Checks of arguments that are plain numbers, and what ``random_state`` may be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np
from numpy.random import Generator, RandomState, SeedSequence

from isinglass.errors import ArgumentError, DataError

LARGEST = 2**31 - 1
MOST_TASKS = 10**6
"""Resamples, permutations or subsamples of one call: each has a seed and a result in memory."""

Options = Mapping[str, Any]  # Any: arguments by name, each of a type of its own

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


def check_positive(name: str, value: object) -> float:
    """Return ``value`` as a float if it is a finite positive number."""
    if not is_real(value) or not (math.isfinite(value) and value > 0):
        raise ArgumentError(name, "must be a positive number", value)
    return float(value)


def check_level(level: object) -> float:
    """Return the level of intervals or of a test as a float, if it is between 0 and 1."""
    if not is_real(level) or not 0 < level < 1:
        raise ArgumentError("level", "must be between 0 and 1, both excluded", level)
    return float(level)


def check_gamma(gamma: object) -> None:
    """Refuse a weight of the number of candidate models that is negative or not finite."""
    if not is_real(gamma) or not (math.isfinite(gamma) and gamma >= 0):
        raise ArgumentError("gamma", "must be finite and not negative", gamma)


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
    known = isinstance(random_state, Generator | SeedSequence | None) or (is_whole(random_state) and random_state >= 0)
    if not known:
        raise ArgumentError(
            "random_state",
            "must be a non-negative integer, a Generator, a RandomState, a SeedSequence or None",
            random_state,
        )
    return np.random.default_rng(random_state)


def spawn_seeds(random_state: RandomSource, n_tasks: int) -> list[SeedSequence]:
    """Return one independent seed per task; seed k does not depend on how many there are.

    The root is drawn rather than spawned: the owner of a SeedSequence may use its children for something else.
    """
    root = SeedSequence(as_generator(random_state).integers(0, 2**32, size=4, dtype=np.uint32).tolist())
    return root.spawn(n_tasks)
