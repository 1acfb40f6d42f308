"""The extended Bayesian information criterion of the joint pseudo-likelihood."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arrays import FloatArray, Frozen
from isinglass.data import check_scale, over_rows, to_weighted, units_of, which_vary
from isinglass.errors import ConstantColumnWarning, suppress_warnings
from isinglass.results import Path, Solution
from isinglass.select.contract import PathFunction
from isinglass.select.refit import nearly_free
from isinglass.select.scoring import check_width, edge_price, sum_scores, warn_at_grid_end
from isinglass.solve.path import ising_path


@dataclass(frozen=True, eq=False, repr=False)
class EbicSelection(Frozen):
    """A path, the extended BIC of its solutions, and the one with the smallest."""

    alpha: float  #: the choice
    index: int  #: its number on the path
    path: Path  #: all solutions
    scores: FloatArray  #: EBIC of each
    gamma: float  #: weight of the number of candidate networks
    relaxed: bool = False  #: whether each network was judged by the unpenalized estimate on its edges

    @property
    def solution(self) -> Solution:
        """The network at the chosen alpha."""
        return self.path.solutions[self.index]

    def __repr__(self) -> str:
        kind = f"gamma={self.gamma:g}" + (", relaxed" if self.relaxed else "")
        return (
            f"EbicSelection({kind}: alpha={self.alpha:.6g}, number {self.index} of {len(self.path)}, "
            f"{self.solution.n_edges} edges, ebic={self.scores[self.index]:.6g})"
        )


@overload
def ebic(
    X: ArrayLike, path: Solution, *, gamma: float = ..., relaxed: bool = ..., sample_weight: ArrayLike | None = ...
) -> float: ...
@overload
def ebic(
    X: ArrayLike,
    path: Path | Sequence[Solution],
    *,
    gamma: float = ...,
    relaxed: bool = ...,
    sample_weight: ArrayLike | None = ...,
) -> FloatArray: ...


def ebic(
    X: ArrayLike,
    path: Solution | Path | Sequence[Solution],
    *,
    gamma: float = 0.25,
    relaxed: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float | FloatArray:
    """Return −2·logPL + 2|E|·(log N + 2γ log(p−1)), the node-wise criteria summed at the symmetric estimate.

    logPL is the total (not mean) log pseudo-likelihood of the table. An edge counts twice, once for each of its two
    nodes. In a table with categories log N counts once for every parameter of an edge: one for two columns on a line,
    the product of categories − 1 where they are nominal; the term with γ counts once for the edge. Columns that are
    constant over the rows of positive weight are left out of logPL and of p: their fields are not estimates, and they
    can be nobody's neighbor.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The table of 0 and 1, or the CategoryTable, that the networks were estimated from.
    path : Solution, Path or sequence of Solution
        The networks to judge, from whichever path function.
    gamma : float, default 0.25
        Weight of the number of candidate networks, not negative; 0 is the BIC, larger values choose fewer edges.
    relaxed : bool, default False
        Judge each network by the unpenalized estimate on its edges instead of the shrunken one. The shrunken estimate
        fits worse than its edges allow, which speaks for more edges than are true however many rows there are. A
        penalty of a hundredth of a row keeps estimates finite where columns separate the table.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights. N is their sum: an integer weight equals repeated rows. Weights of another scale should
        have mean 1; there is a warning if they are not whole and their sum is far from the number of rows.

    Returns
    -------
    float, or ndarray of shape (n_alphas,)
        One value for a Solution, one per network otherwise; smaller is better.

    Examples
    --------
    >>> X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [4, 1, 1, 4], axis=0)
    >>> empty = Solution.from_dense(1.0, np.zeros((2, 2)), np.zeros(2))
    >>> round(ebic(X, empty), 4)  # 2 · 20 cells · log 2
    27.7259
    """
    table, weight = to_weighted(X, sample_weight)
    price = edge_price(table, weight, gamma)
    if units_of(X) is None:
        check_scale(table, weight)
    varying = np.flatnonzero(which_vary(table, weight))
    solutions = [path] if isinstance(path, Solution) else list(path)
    values = np.empty(len(solutions))
    for solution in solutions:
        check_width(solution, table)
    judged = _relax(solutions, table, weight) if relaxed else solutions
    for k, (solution, estimate) in enumerate(zip(solutions, judged, strict=True)):
        values[k] = price.of(solution) - 2.0 * float(over_rows(sum_scores, table, weight, estimate, varying))
    return float(values[0]) if isinstance(path, Solution) else values


def select_ebic(
    X: ArrayLike,
    *,
    alphas: int | float | ArrayLike = 30,
    gamma: float = 0.25,
    relaxed: bool = False,
    path_function: PathFunction = ising_path,
    sample_weight: ArrayLike | None = None,
) -> EbicSelection:
    """Fit a path and choose its solution with the smallest extended BIC; of equal ones the sparsest.

    The relaxed criterion looks at the edges alone. Of consecutive alphas with the edges it chooses, the smallest is
    returned, which shrinks the couplings least.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Table of 0 and 1, or a CategoryTable.
    alphas : int, float or array-like, default 30
        Number of log-spaced penalties from ``alpha_max`` down, or an explicit list.
    gamma : float, default 0.25
        As for `ebic`.
    relaxed : bool, default False
        As for `ebic`: finds the true edges more surely. The solutions on the path stay the penalized ones; `refit`
        gives the unpenalized estimate of the choice.
    path_function : callable, default ising_path
        ``path_function(X, alphas, *, sample_weight)``; use `functools.partial` to set its other options.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, as for `ebic`.

    Returns
    -------
    EbicSelection
        With a `GridEndWarning` if a better alpha may lie beyond the grid.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 500))
    >>> choice = select_ebic(np.column_stack([a, b, a ^ (rng.random(500) < 0.2)]), alphas=[0.2, 0.1, 0.02, 0.0])
    >>> choice.alpha, choice.solution.edge_index.tolist()
    (0.02, [[0, 2]])
    """
    table, weight = to_weighted(X, sample_weight)
    path = path_function(table, alphas, sample_weight=weight)
    judged, given = (table, weight) if units_of(X) is None else (X, sample_weight)
    scores = ebic(judged, path, gamma=gamma, relaxed=relaxed, sample_weight=given)
    index = int(scores.argmin())
    warn_at_grid_end(path, index, "EBIC")
    while relaxed and index + 1 < len(path) and np.array_equal(path[index].edge_index, path[index + 1].edge_index):
        index += 1
    return EbicSelection(path[index].alpha, index, path, scores, float(gamma), bool(relaxed))


def _relax(solutions: Sequence[Solution], table: Any, weight: FloatArray | None) -> Iterator[Solution]:
    """Yield the nearly unpenalized estimate on every network's edges."""
    previous: Solution | None = None
    for solution in solutions:
        if previous is None or not np.array_equal(previous.edge_index, solution.edge_index):
            with suppress_warnings(ConstantColumnWarning):  # the path has given it
                estimate = nearly_free(solution, table, weight)
        previous = solution
        yield estimate
