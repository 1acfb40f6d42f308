"""Missing cells of a 0/1 table, filled by a network from the cells that were observed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import check_count
from isinglass.arrays import FloatArray, Mask
from isinglass.data import BinaryTable
from isinglass.errors import ConvergenceWarning, warn
from isinglass.network import Network, expit
from isinglass.randomness import RandomSource, as_generator
from isinglass.simulate.completions import Completions

SETTLED = 1e-10
"""Largest change of a probability in the last sweep over the missing cells."""
_ROWS_AT_ONCE = 4096
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
    """Return a table with its missing cells filled: its ``holes``, or the cells that were read as 0 (``filled``)."""
    gone = table.filled if table.holes is None else table.holes
    missing = np.zeros(table.shape, dtype=bool) if gone is None else gone
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
    means, rows = table.copy(), np.flatnonzero(missing.any(axis=1))
    if not len(rows):
        return table, means
    chains = Completions(table[rows].astype(np.uint8), missing[rows], random_state=rng)
    first = n_sweeps // 2
    chains.sweep(model, first)
    totals = np.zeros(int(missing.sum()))
    chains.sweep(model, n_sweeps - first, totals)
    table[rows] = chains.table
    means[missing] = totals / (n_sweeps - first)
    return table, means


def marginal_probabilities(
    model: Network, X: ArrayLike, missing: Mask, *, n_draws: int = 200, random_state: RandomSource = 0
) -> FloatArray:
    """Return P(x_s = 1 | the observed cells of the other columns) for every cell, missing or not.

    Missing cells are averaged over: n_draws Gibbs draws of them given the observed ones. For an observed cell, the mean
    over these draws of the odds that it were the other value estimates those odds without the missing cells, although
    the draws have seen its value. Rows without missing cells need no draws.

    Parameters
    ----------
    model : Network
        The network.
    X : array-like of shape (n_samples, n_features)
        Table of 0 and 1; what stands in missing cells does not matter.
    missing : ndarray of bool, shape (n_samples, n_features)
        Where the missing cells are.
    n_draws : int, default 200
        Draws; a tenth as many sweeps come before the first.
    random_state : int, Generator, RandomState, SeedSequence or None, default 0
        Seed.

    Returns
    -------
    ndarray of float64, shape (n_samples, n_features)

    Examples
    --------
    >>> model = Network.from_couplings([[0, 2.0], [2.0, 0]], [-1.0, 0.0])
    >>> gone = np.array([[True, False]])
    >>> marginal_probabilities(model, [[0, 1]], gone).round(1).tolist()  # both 0.731
    [[0.7, 0.7]]
    """
    count, rng = check_count("n_draws", n_draws), as_generator(random_state)
    table = np.where(missing, 0, X).astype(np.uint8)
    result: FloatArray = np.array(model.conditional_probabilities(table))
    holed = np.flatnonzero(missing.any(axis=1))
    for first in range(0, len(holed), _ROWS_AT_ONCE):
        rows = holed[first : first + _ROWS_AT_ONCE]
        gone, chains = missing[rows], Completions(table[rows], missing[rows], random_state=rng)
        chains.sweep(model, max(10, count // 10))
        total = np.zeros(gone.shape)
        for _ in range(count):
            chains.sweep(model, 1)
            logits = (model.couplings_sparse @ chains.table.T.astype(np.float64)).T + model.fields
            total += np.where(gone, expit(logits), np.exp((1.0 - 2.0 * chains.table) * logits))
        mean = total / count
        stays = 1.0 / (1.0 + mean)  # of an observed cell, the probability of its value
        result[rows] = np.where(gone, mean, np.where(table[rows] == 1, stays, 1.0 - stays))
    return result


def log_score(probabilities: FloatArray, X: ArrayLike, missing: Mask) -> FloatArray:
    """Return the sum over the observed cells of every row of the log probability of their value.

    Examples
    --------
    >>> log_score(np.array([[0.5, 0.25]]), [[1, 0]], np.array([[True, False]])).round(4).tolist()  # log ¾
    [-0.2877]
    """
    chance = np.where(np.asarray(X) == 1, probabilities, 1.0 - probabilities)
    scores: FloatArray = np.log(np.where(missing, 1.0, chance)).sum(axis=1)
    return scores


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
