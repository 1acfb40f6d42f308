"""One reading of ``random_state`` for everything that draws: generators, and seeds for independent tasks."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator, RandomState, SeedSequence

from isinglass.arguments import is_whole
from isinglass.errors import ArgumentError

RandomSource = int | Generator | RandomState | SeedSequence | None
"""What ``random_state`` may be. A Generator or a RandomState is advanced: the next call differs."""


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

    The root is drawn rather than spawned: the children of a SeedSequence belong to its owner, who may have
    given them to somebody else.
    """
    root = SeedSequence(as_generator(random_state).integers(0, 2**32, size=4, dtype=np.uint32).tolist())
    return root.spawn(n_tasks)
