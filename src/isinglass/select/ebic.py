"""The extended BIC of the joint pseudo-likelihood."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arguments import check_not_negative
from isinglass.arrays import FloatArray
from isinglass.data import AnyTable, as_table, which_occur, which_vary
from isinglass.errors import ArgumentError
from isinglass.matching import require_same_names
from isinglass.records import Evidence
from isinglass.results import HasFittedNetwork, HasNetwork, Solution, solution_of
from isinglass.select.scoring import edge_price, sum_scores, warn_at_grid_end
from isinglass.select.selector import Choice, Selector
from isinglass.select.settings import Alphas, check_alphas
from isinglass.select.task import Task
from isinglass.solve.objective import of as objective_of


def ebic(
    X: ArrayLike,
    path: HasNetwork | HasFittedNetwork | Sequence[Solution],
    *,
    gamma: float = 0.25,
    sample_weight: ArrayLike | None = None,
) -> FloatArray:
    """Return −2·logPL + 2|E|·(log N + 2γ log(p−1)), the node-wise criteria summed at the symmetric estimate.

    There is one value per network, also for a single Solution or fit; smaller is better. logPL is the
    total (not mean) log pseudo-likelihood of the table. An edge counts twice, once for each of its two nodes. In a
    table with categories log N counts once for every parameter that an edge uses: one for two columns on a line, up
    to the product of categories − 1 where they are nominal, and fewer the more the penalty shrinks it (see the page
    on categories); the term with γ counts once for the edge. Columns that are constant over the rows of positive
    weight are left out of logPL and of p: their fields are not estimates, and no other column can depend on them.

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
    return _ebic(table, cast(list[Solution], solutions), gamma)


def _ebic(table: AnyTable, solutions: Sequence[Solution], gamma: float) -> FloatArray:
    price, columns = edge_price(table, gamma), np.flatnonzero(which_vary(table))
    for solution in solutions:
        require_same_names(table.variables, solution.network.variables)
    read = solutions[0].network.table(table) if table.is_whole and solutions else None
    possible = None if read is None else which_occur(read)
    loss = None if read is None or price.dimensions is None else objective_of(read)
    fitted = (table.sum_rows(sum_scores, solution.network, columns, possible) for solution in solutions)
    slopes = (None if loss is None else loss.edge_slopes(solution.network) for solution in solutions)
    each = zip(solutions, slopes, fitted, strict=True)
    return np.array([price.of(solution, slope) - 2.0 * float(score) for solution, slope, score in each])


@dataclass(frozen=True, eq=False, repr=False)
class EBIC(Selector):
    """The network on a path with the smallest extended BIC; of equal ones the sparsest.

    A shrunken estimate fits worse than its edges allow, which favors networks with too many edges, however many rows
    there are; the couplings that `TwoStage` judges by it are hardly shrunken. A `GridEndWarning` says if a better alpha
    may lie beyond the grid.

    Parameters
    ----------
    alphas, gamma
        As for `IsingLassoEBIC`.

    Examples
    --------
    >>> from isinglass import Method
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 500))
    >>> X = np.column_stack([a, b, a ^ (rng.random(500) < 0.2)])
    >>> choice = Method(selector=EBIC(alphas=[0.2, 0.1, 0.02, 0.0])).choose(X)
    >>> choice.alpha, choice.solution.edge_index.tolist()
    (0.02, [[0, 2]])
    """

    name = "ebic"
    alphas: Alphas = 30
    gamma: float = 0.25

    def __post_init__(self) -> None:
        super().__post_init__()
        check_not_negative("gamma", self.gamma)
        object.__setattr__(self, "alphas", check_alphas(self.alphas))

    @property
    def words(self) -> str:
        """How it is set, in words."""
        return f"EBIC, gamma {self.gamma:g}"

    def choose(self, task: Task) -> Choice:
        """Return the network with the smallest EBIC."""
        path = task.path(self.alphas)
        scores = _ebic(task.table, path.solutions, self.gamma)
        index = int(scores.argmin())
        warn_at_grid_end(path, index, "EBIC")
        settings = {"gamma": float(self.gamma)}
        evidence = Evidence(kind="ebic", alphas=path.alphas, values=scores, choice=index, settings=settings)
        return Choice(path, index, evidence)
