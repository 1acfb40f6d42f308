"""What a network says about the cells of a table, missing ones included: probabilities, scores, and fillings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import RandomSource, as_generator, check_count
from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.errors import ArgumentError, ConvergenceWarning, warn
from isinglass.network import Network, expit
from isinglass.simulate.completions import CategoryChains, Completions

SETTLED = 1e-10
"""Largest change of a probability in the last sweep over the missing cells."""
_ROWS_AT_ONCE = 4096
MOST_SWEEPS = 10_000
"""Sweeps after which this is given up; each of them improves the fit, but near a critical point only slowly."""


def cell_probabilities(network: Network, table: Any) -> Any:
    """Return P(x_s = 1 | the other cells of the row) for every cell; of columns with categories a list, an array each.

    Missing cells are averaged over by Gibbs draws, and have a probability as well.
    """
    if not network.variables.is_binary:
        if table.holes is None:
            return network.probabilities(table)
        return category_marginals(network, table.codes, table.holes)
    if table.holes is None:
        return network.conditional_probabilities(table.X)
    return marginal_probabilities(network, table.X, table.holes)


def score_rows(network: Network, table: Any) -> FloatArray:
    """Return the log pseudo-likelihood of every row: over its observed cells, where some are missing."""
    if table.holes is None:
        return network.log_pseudolikelihood(table.X)
    score: Callable[..., FloatArray] = log_score if network.variables.is_binary else score_categories
    return score(cell_probabilities(network, table), np.asarray(table), table.holes)


def fill_cells(
    network: Network, table: Any, marginals: ArrayLike, *, probabilities: bool, draws: Mapping[str, Any] | None
) -> NDArray[Any]:
    """Return a table with its missing cells filled: its ``holes``, or the cells that were read as 0 (``filled``).

    Each gets its more probable value, or a draw if ``draws`` has the settings of one; of columns with categories, these
    as they are called.
    """
    if not network.variables.is_binary:
        if probabilities:
            constraint = "must be False for a network with categories"
            raise ArgumentError("probabilities", constraint, True, "Use predict_proba.")
        return label_cells(network, fill_categories(network, table.codes, table.holes, draws=draws))
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
    """
    table = _start(X, missing, marginals)
    couplings, columns = model.couplings_sparse, []
    for s in np.flatnonzero(missing.any(axis=0)):
        row = slice(couplings.indptr[s], couplings.indptr[s + 1])
        columns.append((s, np.flatnonzero(missing[:, s]), couplings.indices[row], couplings.data[row]))
    for _ in range(MOST_SWEEPS):
        largest = 0.0
        for s, rows, neighbors, values in columns:
            probabilities: FloatArray = expit(model.fields[s] + table[np.ix_(rows, neighbors)] @ values)
            largest = max(largest, float(np.abs(probabilities - table[rows, s]).max()))
            table[rows, s] = probabilities
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
    """Draw the missing cells given the observed ones, by Gibbs sampling with the observed cells held fixed."""
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

    What stands in missing cells of ``X`` does not matter. A tenth as many sweeps as draws come before the first.

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
    for rows, gone, chains in _chains(model, table, missing, max(10, count // 10), rng):
        total = np.zeros(gone.shape)
        for _ in range(count):
            chains.sweep(model, 1)
            logits = (model.couplings_sparse @ chains.table.T.astype(np.float64)).T + model.fields
            total += np.where(gone, expit(logits), np.exp((1.0 - 2.0 * chains.table) * logits))
        mean = total / count
        stays = 1.0 / (1.0 + mean)  # of an observed cell, the probability of its value
        result[rows] = np.where(gone, mean, np.where(table[rows] == 1, stays, 1.0 - stays))
    return result


def _chains(
    model: Network, table: Bytes, missing: Mask, burn_in: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.intp], Mask, Any]]:
    """Yield some of the rows with missing cells at a time, and chains of them that have forgotten their start."""
    holed = np.flatnonzero(missing.any(axis=1))
    kind = Completions if model.variables.is_binary else CategoryChains
    for first in range(0, len(holed), _ROWS_AT_ONCE):
        rows = holed[first : first + _ROWS_AT_ONCE]
        chains: Any = kind(table[rows], missing[rows], random_state=rng)
        chains.sweep(model, burn_in)
        yield rows, missing[rows], chains


def log_score(probabilities: FloatArray, X: ArrayLike, missing: Mask) -> FloatArray:
    """Return the sum over the observed cells of every row of the log probability of their value.

    Examples
    --------
    >>> log_score(np.array([[0.5, 0.25]]), [[1, 0]], np.array([[True, False]])).round(4).tolist()  # log ¾
    [-0.2877]
    """
    chance = np.where(np.asarray(X) == 1, probabilities, 1.0 - probabilities)
    return np.asarray(np.log(np.where(missing, 1.0, chance)).sum(axis=1))


def _start(X: ArrayLike, missing: Mask, marginals: ArrayLike) -> FloatArray:
    return np.where(missing, np.asarray(marginals, dtype=np.float64), np.asarray(X, dtype=np.float64))


def category_marginals(
    model: Network, codes: Bytes, missing: Mask, *, n_draws: int = 200, random_state: RandomSource = 0
) -> list[FloatArray]:
    """Return the same for categories: an array (n_samples, categories) per column.

    For an observed cell, the mean over the draws of the odds of any other category against its own estimates these odds
    without it.
    """
    count, rng = check_count("n_draws", n_draws), as_generator(random_state)
    table = np.where(missing, 0, codes).astype(np.uint8)
    result = model.probabilities(table)
    for rows, gone, chains in _chains(model, table, missing, max(10, count // 10), rng):
        totals = [np.zeros((len(rows), P.shape[1])) for P in result]
        for _ in range(count):
            chains.sweep(model, 1)
            for s, logs in enumerate(each.T for each in model.variables.split(model.log_conditionals(chains.table))):
                own = np.take_along_axis(logs, chains.table[:, s : s + 1].astype(np.intp), axis=1)
                totals[s] += np.exp(np.where(gone[:, s : s + 1], logs, logs - own))
        for s, total in enumerate(totals):
            result[s][rows] = total / total.sum(axis=1, keepdims=True)
    return result


def score_categories(probabilities: list[FloatArray], codes: Bytes, missing: Mask) -> FloatArray:
    """Return the sum over the observed cells of every row of the log probability of their category."""
    rows, total = np.arange(len(codes)), np.zeros(len(codes))
    for s, P in enumerate(probabilities):
        total += np.where(missing[:, s], 0.0, np.log(np.where(missing[:, s], 1.0, P[rows, codes[:, s]])))
    return total


def fill_categories(
    model: Network, codes: Bytes, missing: Mask | None, *, draws: Mapping[str, Any] | None = None
) -> Bytes:
    """Return the table with every missing cell filled: its most probable category, or a draw after ``n_sweeps``."""
    if missing is None:
        return codes
    if draws is None:
        best = np.column_stack([P.argmax(axis=1) for P in category_marginals(model, codes, missing)])
        return np.where(missing, best, codes).astype(np.uint8)
    chains = CategoryChains(np.where(missing, 0, codes), missing, random_state=as_generator(draws["random_state"]))
    chains.sweep(model, check_count("n_sweeps", draws.get("n_sweeps", 200)))
    return chains.table


def label_cells(network: Network, codes: NDArray[Any]) -> NDArray[Any]:
    """Return the values that category numbers stand for."""
    cells = np.empty(codes.shape, dtype=object)
    for s, known in enumerate(network.categories):
        values = np.empty(len(known), dtype=object)
        values[:] = known
        cells[:, s] = values[codes[:, s]]
    plain = all(isinstance(value, int | float) for values in network.categories for value in values)
    return cells.astype(np.float64 if any(isinstance(v, float) for v in cells.flat) else np.int64) if plain else cells
