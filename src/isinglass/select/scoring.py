"""The extended BIC, and what criteria share: scores of rows, the price of an edge, and warnings about a grid.

A pair of columns on a line has one parameter, a pair of nominal columns m_s · m_t with m = categories − 1. In a
pseudo-likelihood every parameter counts twice, because a pair is seen from both of its ends; in the likelihood, once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import check_not_negative
from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.conditionals import neighbor_sums, row_scores
from isinglass.data import AnyTable, Table, as_table, category_counts, column_sd, which_occur, which_vary
from isinglass.data.counts import dimensions_of
from isinglass.errors import ArgumentError, ConvergenceWarning, GridEndWarning, setting, warn
from isinglass.matching import require_same_names
from isinglass.network import Network
from isinglass.results import HasFittedNetwork, HasNetwork, Path, Solution, solution_of
from isinglass.solve.objective import Objective


def held_out_sums(table: Table, held: Table, solutions: Iterable[Solution]) -> FloatArray:
    """Return the sum of the scores of rows that were held out of a table, by each network.

    Categories that are declared and never occur in the table have no probability: the choice does not depend on them.
    """
    unit, possible = held.unit_weight, which_occur(table)
    return np.array([unit @ row_scores(solution.network, np.asarray(held), possible) for solution in solutions])


def sum_scores(
    table: Bytes,
    weight: FloatArray | None,
    network: Network,
    columns: NDArray[np.intp] | slice = slice(None),
    possible: Mask | None = None,
) -> float:
    """Return the sum of `row_scores` under the weights."""
    rows = row_scores(network, table, possible, columns)
    if weight is None:
        return float(rows.sum())
    counted = weight > 0.0  # a row without a weight may have a category that is impossible: 0 · −inf
    return float(weight[counted] @ rows[counted])


def prediction_scores(table: Bytes, network: Network, unit: FloatArray, possible: Mask | None = None) -> FloatArray:
    """Return `row_scores` in which continuous columns are judged by their order; ``unit``: the weights of the rows.

    r is the rank correlation of the numbers of a column s with their predictors Σ_t θ_st x_t, and the mean of its
    scores is −½ log(1 − r²) with the sign of r: what normal columns with this correlation gain over independent ones.
    The field, which is free at every step and poorly known where rows are few, has no influence, and neither has the
    scale of the couplings: what counts is which columns are neighbors.
    """
    variables = network.variables
    by_order = np.isin(np.arange(variables.n_features), variables.continuous) & variables.is_modeled
    if not by_order.any():
        return row_scores(network, table, possible)
    others = np.flatnonzero(variables.is_modeled & ~by_order)
    scores = row_scores(network, table, possible, others) if len(others) else np.zeros(len(table))
    sums = neighbor_sums(network, table)
    for s in np.flatnonzero(by_order).tolist():
        ranks, predicted = (_standard_ranks(values, unit) for values in (table[:, s], sums[variables.first[s]]))
        scores += _order_scores(ranks, predicted, unit)
    return scores


def _standard_ranks(values: NDArray[np.generic], unit: FloatArray) -> FloatArray:
    """Return ranks with mean 0 and variance 1 under the weights, ties sharing theirs; 0 if all that weigh are equal."""
    place = np.unique(values, return_inverse=True)[1]
    mass = np.bincount(place, unit)
    if np.count_nonzero(mass) < 2:
        return np.zeros(len(values))
    ranks = (np.cumsum(mass) - 0.5 * mass)[place]
    ranks -= np.average(ranks, weights=unit)
    return np.asarray(ranks / np.sqrt(np.average(ranks**2, weights=unit)))


def _order_scores(ranks: FloatArray, predicted: FloatArray, unit: FloatArray) -> FloatArray:
    """Return the gain of every row in the log-likelihood of normal columns, negative where r is."""
    r = float(np.average(ranks * predicted, weights=unit))
    left = max(1.0 - r**2, 1.0 / float(unit.sum()))
    return np.asarray(math.copysign(0.5, r) * (ranks**2 - (ranks - r * predicted) ** 2 / left - np.log(left)))


def warn_at_grid_end(path: Path, index: int, criterion: str) -> None:
    """Warn if the best alpha may lie beyond the grid: not before an empty network, nor below alpha = 0."""
    chosen, last = path[index], len(path) - 1
    is_first, is_last = index == 0 and chosen.n_edges > 0, index == last and chosen.alpha > 0.0
    if last and (is_first or is_last):
        end, remedy = ("sparse", "larger") if is_first else ("dense", "smaller")
        choice = f"the {criterion} choice alpha={chosen.alpha:.6g} is the {end} end of the grid"
        remedy = f"Pass {setting('alphas')} that reach {remedy} values."
        warn(GridEndWarning(f"{choice}; a better alpha may lie beyond it. {remedy}"))


@dataclass(frozen=True)
class EdgePrice:
    """What the edges of a network add to a criterion.

    A block that the penalty shrinks uses fewer parameters than it has: 1 + (m_s m_t − 1) ‖Θ‖/‖Θ free‖, as Yuan and Lin
    (2006) derive for groups of coefficients. The free estimate is that of the block alone, ‖Θ‖ + ‖g‖ / h, where g is
    the gradient of the loss, whose norm is α ω at an optimum, and h = 2 (v_s/m_s) (v_t/m_t) the mean curvature of
    independent columns with variances v.
    """

    per_parameter: float
    per_edge: float
    dimensions: NDArray[np.intp] | None = None  # m of every column; None: 1 for all
    variances: FloatArray | None = None

    def of(self, solution: Solution, slopes: FloatArray | None = None) -> float:
        """Return the price of all edges of a network, given ‖g‖ of each; None: 0, as without penalty."""
        n_edges, edges = solution.network.n_edges, solution.edge_index
        if self.dimensions is None or self.variances is None:
            return (self.per_parameter + self.per_edge) * n_edges
        m, norm = self.dimensions[edges], np.abs(solution.edge_values)
        curvature = 2.0 * (self.variances[edges] / m).prod(axis=1)
        share = np.ones(n_edges) if slopes is None else norm / (norm + slopes / curvature)
        used = float((1.0 + (m.prod(axis=1) - 1.0) * share).sum())
        return self.per_parameter * used + self.per_edge * n_edges


def edge_price(table: AnyTable, gamma: float, n_ends: int = 2) -> EdgePrice:
    """Return what edges add to the EBIC: log N for each parameter and 2γ log(p−1) for each pair, at every end.

    p is the number of variables that vary, N the sum of the weights.
    """
    n_varying = int(np.count_nonzero(which_vary(table) & table.variables.is_modeled))
    per_edge = float(2.0 * n_ends * gamma * np.log(max(n_varying - 1, 1)))
    return _price(table, n_ends * float(np.log(table.total_weight)), per_edge)


def aic_price(table: AnyTable, n_ends: int = 2) -> EdgePrice:
    """Return what edges add to the AIC: 2 for each parameter, at every end."""
    return _price(table, n_ends * 2.0, 0.0)


def _price(table: AnyTable, per_parameter: float, per_edge: float) -> EdgePrice:
    if table.variables.has_scores.all():
        return EdgePrice(per_parameter, per_edge)
    dimensions = dimensions_of(category_counts(table), table.variables)
    return EdgePrice(per_parameter, per_edge, dimensions, column_sd(table) ** 2)


def failed(solution: Solution) -> bool:
    """Tell whether a certificate did not reach its tolerance; a network without one has not failed."""
    return not solution.converged and not math.isnan(solution.kkt_residual)


def warn_of_failed(n_failed: int, count: int, what: str) -> None:
    """Warn if some of many fits did not reach their tolerance."""
    if n_failed:
        lost = f"{n_failed} of {count} {what} did not reach the tolerance"
        warn(ConvergenceWarning(f"{lost}. Raise {setting('max_iter')} or {setting('tol')}."))


def ebic(
    X: ArrayLike,
    path: HasNetwork | HasFittedNetwork | Sequence[Solution],
    *,
    gamma: float = 0.25,
    sample_weight: ArrayLike | None = None,
) -> FloatArray:
    """Return −2·logPL + 2|E|·(log N + 2γ log(p−1)) of networks; smaller is better.

    logPL is the total (not mean) log pseudo-likelihood of the table. An edge counts twice, once for each of its two
    nodes. In a table with categories log N counts once for every parameter that an edge uses: one for two columns on a
    line, up to the product of categories − 1 where they are nominal, and fewer the more the penalty shrinks it (see the
    page on categories); the term with γ counts once for the edge. Columns that are constant over the rows of positive
    weight are left out of logPL and of p.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The table that the networks were estimated from.
    path : Solution, Fit or fitted estimator, Path or sequence of Solution
        The networks to compare, estimated by any method.
    gamma : float, default 0.25
        Weight of the number of candidate networks, not negative; 0 is the BIC, larger values choose fewer edges.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, as for `bootstrap`. N is the sum of counts. The scale of sampling weights is irrelevant: N is their
        effective number of rows, (Σ w)² / Σ w², and logPL is scaled to that many rows.

    Examples
    --------
    >>> X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [4, 1, 1, 4], axis=0)
    >>> empty = Solution.from_dense(1.0, np.zeros((2, 2)), np.zeros(2))
    >>> ebic(X, [empty]).round(4)  # 2 · 20 cells · log 2
    array([27.7259])
    """
    check_not_negative("gamma", gamma)
    table = as_table(X, sample_weight).without_holes().counted()
    solutions = [solution_of(each) for each in (path if isinstance(path, Iterable) else [path])]
    if None in solutions:
        must = "must be a Solution, a Fit, a fitted estimator, a Path or a sequence of Solutions"
        raise ArgumentError("path", must, type(path).__name__)
    return ebic_of(table, cast(list[Solution], solutions), gamma)


def ebic_of(table: AnyTable, solutions: Sequence[Solution], gamma: float) -> FloatArray:
    """Return the extended BIC of networks of a table."""
    price, columns = edge_price(table, gamma), np.flatnonzero(which_vary(table))
    for solution in solutions:
        require_same_names(table.variables, solution.network.variables)
    read = solutions[0].network.table(table) if table.is_whole and solutions else None
    possible = None if read is None else which_occur(read)
    loss = None if read is None or price.dimensions is None else Objective(read)
    fitted = (table.sum_rows(sum_scores, solution.network, columns, possible) for solution in solutions)
    slopes = (None if loss is None else loss.edge_slopes(solution.network) for solution in solutions)
    each = zip(solutions, slopes, fitted, strict=True)
    return np.array([price.of(solution, slope) - 2.0 * float(score) for solution, slope, score in each])
