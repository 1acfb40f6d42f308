"""Missing cells of a table with categories: what the observed cells of a row say about every cell of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.arguments import check_count
from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.categories import CategoryNetwork
from isinglass.randomness import RandomSource, as_generator
from isinglass.simulate.category_chains import CategoryChains

_ROWS_AT_ONCE = 4096


def category_marginals(
    model: CategoryNetwork, codes: Bytes, missing: Mask, *, n_draws: int = 200, random_state: RandomSource = 0
) -> list[FloatArray]:
    """Return P(x_s = k | the observed cells of the other columns), an array (n_samples, categories) per column.

    Missing cells are averaged over: n_draws Gibbs draws of them given the observed ones, after a tenth as many sweeps.
    The draws of a row have seen all its observed cells. For one of these, the mean over the draws of the odds of any
    other category against its own estimates these odds without it. Rows without missing cells need no draws.

    Examples
    --------
    >>> model = CategoryNetwork([[0, 0, 0], [0, 0]], [[0, 1, 2], [0, 1]], [[0, 1]], [40.0])
    >>> gone = np.array([[True, False]])
    >>> [P.round(2).tolist() for P in category_marginals(model, np.array([[0, 1]], dtype=np.uint8), gone)]
    [[[0.0, 0.0, 1.0]], [[0.0, 1.0]]]
    """
    count, rng = check_count("n_draws", n_draws), as_generator(random_state)
    table = np.where(missing, 0, codes).astype(np.uint8)
    result = model.category_probabilities(table)
    holed = np.flatnonzero(missing.any(axis=1))
    for first in range(0, len(holed), _ROWS_AT_ONCE):
        rows = holed[first : first + _ROWS_AT_ONCE]
        gone, chains = missing[rows], CategoryChains(table[rows], missing[rows], random_state=rng)
        chains.sweep(model, max(10, count // 10))
        totals = [np.zeros((len(rows), P.shape[1])) for P in result]
        for _ in range(count):
            chains.sweep(model, 1)
            for s, logs in enumerate(model.category_log_probabilities(chains.table)):
                own = np.take_along_axis(logs, chains.table[:, s : s + 1].astype(np.intp), axis=1)
                totals[s] += np.exp(np.where(gone[:, s : s + 1], logs, logs - own))
        for s, total in enumerate(totals):
            result[s][rows] = total / total.sum(axis=1, keepdims=True)
    return result


def score_categories(probabilities: list[FloatArray], codes: Bytes, missing: Mask) -> FloatArray:
    """Return the sum over the observed cells of every row of the log probability of their category.

    Examples
    --------
    >>> shares = [np.array([[0.5, 0.25, 0.25]]), np.array([[0.5, 0.5]])]
    >>> gone = np.array([[False, True]])
    >>> score_categories(shares, np.array([[1, 0]], dtype=np.uint8), gone).round(4).tolist()  # log ¼
    [-1.3863]
    """
    rows, total = np.arange(len(codes)), np.zeros(len(codes))
    for s, P in enumerate(probabilities):
        total += np.where(missing[:, s], 0.0, np.log(np.where(missing[:, s], 1.0, P[rows, codes[:, s]])))
    return total


def fill_categories(
    model: CategoryNetwork, codes: Bytes, missing: Mask | None, *, draws: dict[str, Any] | None = None
) -> Bytes:
    """Return the table with every missing cell filled: its most probable category, or a draw after ``n_sweeps``.

    Examples
    --------
    >>> model = CategoryNetwork([[0, 0, 0], [0, 0]], [[0, 1, 2], [0, 1]], [[0, 1]], [40.0])
    >>> fill_categories(model, np.array([[0, 1]], dtype=np.uint8), np.array([[True, False]])).tolist()
    [[2, 1]]
    """
    if missing is None:
        return codes
    if draws is None:
        best = np.column_stack([P.argmax(axis=1) for P in category_marginals(model, codes, missing)])
        return np.where(missing, best, codes).astype(np.uint8)
    chains = CategoryChains(np.where(missing, 0, codes), missing, random_state=as_generator(draws["random_state"]))
    chains.sweep(model, check_count("n_sweeps", draws.get("n_sweeps", 200)))
    return chains.table


def label_cells(network: CategoryNetwork, codes: NDArray[Any]) -> NDArray[Any]:
    """Return the values that category numbers stand for.

    Examples
    --------
    >>> network = CategoryNetwork([[0, 0], [0, 0]], [[0, 1], [0, 1]], [], [], categories=[("no", "yes"), (1, 2)])
    >>> label_cells(network, np.array([[0, 1], [1, 0]])).tolist()
    [['no', 2], ['yes', 1]]
    """
    cells = np.empty(codes.shape, dtype=object)
    for s, field in enumerate(network.category_fields):
        values = np.empty(len(field), dtype=object)
        values[:] = range(len(field)) if network.categories is None else network.categories[s]
        cells[:, s] = values[codes[:, s]]
    plain = all(isinstance(value, int | float) for values in network.categories or () for value in values)
    return cells.astype(np.float64 if any(isinstance(v, float) for v in cells.flat) else np.int64) if plain else cells
