"""Rows with missing cells, drawn given the cells that were observed: Gibbs sweeps over the missing ones alone."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from isinglass._core import gibbs_sweep_cells
from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.machine import thread_count
from isinglass.network import Network
from isinglass.randomness import RandomSource, as_generator

KernelArrays: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], FloatArray, FloatArray]

_VISITS_PER_CALL = 30_000_000  # after which control comes back to Python


class Completions:
    """Rows whose missing cells are redrawn, each by a chain of its own; the observed cells are held.

    The chains start from what stands in the missing cells of the rows, which are copied. ``table`` has the rows as they
    are now. The draws do not depend on the number of threads.

    Examples
    --------
    >>> model = Network.from_couplings([[0, 9.0], [9.0, 0]], [-4.5, -4.5])
    >>> rows, gone = np.array([[1, 0], [0, 1]], dtype=np.uint8), np.array([[False, True], [True, False]])
    >>> chains = Completions(rows, gone, random_state=0)
    >>> chains.sweep(model, 1)
    >>> chains.table.tolist()
    [[1, 1], [1, 1]]
    """

    def __init__(
        self, table: Bytes, missing: Mask, *, random_state: RandomSource = None, n_threads: int | None = None
    ) -> None:
        self.table = np.array(table, dtype=np.uint8, order="C")
        self._first = np.concatenate([[0], np.cumsum(missing.sum(axis=1))]).astype(np.int64)
        self._cells = np.nonzero(missing)[1].astype(np.int32)
        self._words = as_generator(random_state).integers(0, 2**64, size=(len(table), 4), dtype=np.uint64)
        self._n_threads = thread_count(n_threads)

    def sweep(self, network: Network, n_sweeps: int, totals: FloatArray | None = None) -> None:
        """Redraw every missing cell so many times, in the order of the columns.

        ``totals``, one number per missing cell in the order of the table, collects the probability of a 1 at each
        visit.
        """
        arrays = kernel_arrays(network)
        step = max(1, _VISITS_PER_CALL // max(1, self.table.size + len(self._cells)))
        for done in range(0, n_sweeps, step):
            count = min(step, n_sweeps - done)
            chains = self._words, self.table, self._first, self._cells
            gibbs_sweep_cells(*arrays, *chains, count, totals, self._n_threads)


def kernel_arrays(network: Network) -> KernelArrays:
    """Return the couplings in compressed rows and the fields, as the kernel takes them."""
    rows = network.couplings_sparse
    return (
        np.asarray(rows.indptr, dtype=np.int64),
        np.asarray(rows.indices, dtype=np.int32),
        np.asarray(rows.data, dtype=np.float64),
        np.ascontiguousarray(network.fields),
    )


def start_values(table: Bytes, missing: Mask, counted: Mask, random_state: RandomSource) -> Bytes:
    """Return the table with a random answer of the same column in every missing cell.

    Answers are drawn from the rows ``counted``; where a column has none among them, its missing cells become 0.

    Examples
    --------
    >>> rows, gone = np.array([[1, 0], [0, 1]], dtype=np.uint8), np.array([[False, True], [True, False]])
    >>> start_values(rows, gone, np.array([True, True]), 0).tolist()
    [[1, 1], [1, 1]]
    """
    rng, filled = as_generator(random_state), table.copy()
    for s in np.flatnonzero(missing.any(axis=0)):
        gone = missing[:, s]
        answers = table[~gone & counted, s]
        filled[gone, s] = rng.choice(answers, int(gone.sum())) if len(answers) else 0
    return filled
