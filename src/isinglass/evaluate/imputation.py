"""Missing cells of a 0/1 table, filled by a network from the cells that were observed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from isinglass.arguments import check_count
from isinglass.data import BinaryTable
from isinglass.errors import ConvergenceWarning, warn
from isinglass.network import Network
from isinglass.randomness import RandomSource, as_generator

__all__ = ["conditional_fill", "fill_missing", "gibbs_fill"]

FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]

SETTLED = 1e-10
"""Largest change of a probability in the last sweep over the missing cells."""
MOST_SWEEPS = 10_000
"""Sweeps after which this is given up; each of them improves the fit, but near a critical point only slowly."""


def fill_missing(
    network: Network,
    table: BinaryTable,
    marginals: ArrayLike,
    *,
    probabilities: bool = False,
    draws: Mapping[str, Any] | None = None,
) -> NDArray[Any]:
    """Return a table with its missing cells filled: those that it says were ``filled`` by 0 when it was read."""
    missing = np.zeros(table.shape, dtype=bool) if table.filled is None else table.filled
    if draws is None:
        means = conditional_fill(network, table.X, missing, marginals)
        cells = np.where(missing, means > 0.5, means)
    else:
        cells, means = gibbs_fill(network, table.X, missing, marginals, **draws)
    return means if probabilities else cells.astype(np.uint8)


def conditional_fill(model: Network, X: ArrayLike, missing: Mask, marginals: ArrayLike) -> FloatArray:
    """Return the table with P(x_s = 1 | the rest of the row) in every missing cell.

    The other missing cells of the row stand in with their own probabilities, from the marginals to a fixed point: the
    mean-field approximation, by coordinate ascent. Exact where no two missing cells of a row are neighbors.

    Examples
    --------
    >>> model = Network.from_couplings([[0, 2.0], [2.0, 0]], [-1.0, 0.0])
    >>> gone = np.array([[True, False]])
    >>> conditional_fill(model, [[0, 1]], gone, [0.5, 0.5]).round(3).tolist()
    [[0.731, 1.0]]
    """
    table = _start(X, missing, marginals)
    largest = 0.0

    def settle(probabilities: FloatArray, before: FloatArray) -> FloatArray:
        nonlocal largest
        largest = max(largest, float(np.abs(probabilities - before).max()))
        return probabilities

    sweep = _sweeper(model, table, missing)
    for _ in range(MOST_SWEEPS):
        largest = 0.0
        sweep(settle)
        if largest <= SETTLED:
            return table
    warn(
        ConvergenceWarning(
            f"the probabilities of missing cells still change by {largest:.1e} after {MOST_SWEEPS} sweeps (aim: "
            f'{SETTLED:g}). Use method="gibbs", or a network with weaker couplings.'
        )
    )
    return table


def gibbs_fill(
    model: Network,
    X: ArrayLike,
    missing: Mask,
    marginals: ArrayLike,
    *,
    n_sweeps: int = 200,
    random_state: RandomSource = None,
) -> tuple[FloatArray, FloatArray]:
    """Draw the missing cells given the observed ones, by Gibbs sampling with the observed cells held fixed.

    Examples
    --------
    >>> model = Network.from_couplings([[0, 2.0], [2.0, 0]], [-1.0, 0.0])
    >>> gone = np.array([[True, False]])
    >>> draws, means = gibbs_fill(model, [[0, 1]], gone, [0.5, 0.5], random_state=0)
    >>> means.round(3).tolist(), float(draws[0, 1])
    ([[0.731, 1.0]], 1.0)
    """
    check_count("n_sweeps", n_sweeps)
    rng = as_generator(random_state)
    table = _start(X, missing, marginals)
    table[missing] = rng.random(int(missing.sum())) < table[missing]
    kept: list[FloatArray] = []

    def draw(probabilities: FloatArray, before: FloatArray) -> FloatArray:
        kept.append(probabilities)
        return (rng.random(len(probabilities)) < probabilities).astype(np.float64)

    sweep = _sweeper(model, table, missing)
    total = np.zeros(int(missing.sum()))
    first = n_sweeps // 2
    for k in range(n_sweeps):
        kept.clear()
        sweep(draw)
        if k >= first and kept:
            total += np.concatenate(kept)
    means = table.copy()
    means.T[missing.T] = total / (n_sweeps - first)  # a sweep goes column by column
    return table, means


def _start(X: ArrayLike, missing: Mask, marginals: ArrayLike) -> FloatArray:
    table = np.array(X, dtype=np.float64)
    return np.where(missing, np.asarray(marginals, dtype=np.float64), table)


def _sweeper(
    model: Network, table: FloatArray, missing: Mask
) -> Callable[[Callable[[FloatArray, FloatArray], FloatArray]], None]:
    """Return a function that visits the missing cells column by column and replaces them in ``table``."""
    columns = []
    couplings = model.couplings_sparse
    for s in np.flatnonzero(missing.any(axis=0)):
        row = slice(couplings.indptr[s], couplings.indptr[s + 1])
        columns.append((s, np.flatnonzero(missing[:, s]), couplings.indices[row], couplings.data[row]))

    def sweep(replace: Callable[[FloatArray, FloatArray], FloatArray]) -> None:
        for s, rows, neighbors, values in columns:
            probabilities: FloatArray = expit(model.fields[s] + table[np.ix_(rows, neighbors)] @ values)
            table[rows, s] = replace(probabilities, table[rows, s])

    return sweep
