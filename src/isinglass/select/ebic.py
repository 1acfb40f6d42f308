"""The extended BIC of the joint pseudo-likelihood."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arrays import FloatArray
from isinglass.data import AnyTable, as_table, which_occur, which_vary
from isinglass.errors import ConstantColumnWarning, suppress_warnings
from isinglass.matching import require_same_names
from isinglass.network import HasFittedNetwork, HasNetwork
from isinglass.results import Path, Solution, solution_of
from isinglass.select.refit import nearly_free
from isinglass.select.scoring import edge_price, sum_scores, warn_at_grid_end
from isinglass.select.selector import Choice, Selector
from isinglass.select.settings import Alphas, check_alphas, option, settings
from isinglass.select.task import Task
from isinglass.selection_records import Evidence
from isinglass.solve.objective import of as objective_of


def ebic(
    X: ArrayLike,
    path: HasNetwork | HasFittedNetwork | Sequence[Solution],
    *,
    gamma: float = 0.25,
    relaxed: bool = False,
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
    relaxed : bool, default False
        Compute the criterion from the unpenalized estimate on the edges of each network. The shrunken estimate fits
        worse than its edges allow, which favors networks with too many edges, however many rows there are. A penalty of
        a hundredth of a row keeps estimates finite where columns separate the table.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights: counts if they are whole numbers, otherwise sampling weights, unless the table was read with
        another ``weight_kind``. N is the sum of counts. The scale of sampling weights is irrelevant: N is their
        effective number of rows, (Σ w)² / Σ w², and logPL is scaled to that many rows.

    Examples
    --------
    >>> X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [4, 1, 1, 4], axis=0)
    >>> empty = Solution.from_dense(1.0, np.zeros((2, 2)), np.zeros(2))
    >>> ebic(X, [empty]).round(4)  # 2 · 20 cells · log 2
    array([27.7259])
    """
    table = as_table(X, sample_weight).without_holes().counted()
    solution = solution_of(path)
    solutions = list(cast(Sequence[Solution], path)) if solution is None else [solution]
    return _ebic(table, solutions, gamma, relaxed)


def _ebic(table: AnyTable, solutions: Sequence[Solution], gamma: float, relaxed: bool) -> FloatArray:
    price, columns = edge_price(table, gamma), np.flatnonzero(which_vary(table))
    for solution in solutions:
        require_same_names(table.variables, solution.network.variables)
    read = solutions[0].network.table(table) if table.is_whole and solutions else None
    possible = None if read is None else which_occur(read)
    loss = None if read is None or relaxed or not price.has_blocks else objective_of(read)
    judged = _relax(solutions, table) if relaxed else solutions
    fitted = (table.sum_rows(sum_scores, estimate, columns, possible) for estimate in judged)
    slopes = (None if loss is None else loss.edge_slopes(solution.network) for solution in solutions)
    each = zip(solutions, slopes, fitted, strict=True)
    return np.array([price.of(solution, slope) - 2.0 * float(score) for solution, slope, score in each])


@settings
class EBIC(Selector):
    """The network on a path with the smallest extended BIC; of equal ones the sparsest.

    The relaxed criterion looks at the edges alone. Of consecutive alphas with the edges it chooses, the smallest is
    returned, which shrinks the couplings least. A `GridEndWarning` says if a better alpha may lie beyond the grid.

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
    alphas: Alphas = option(
        default=30, help="Number of log-spaced penalties from alpha_max down, or an explicit list of them."
    )
    gamma: float = option(
        default=0.25, help="Weight of the number of candidate networks; 0 is the BIC, larger values choose fewer edges."
    )
    relaxed: bool = option(
        default=False,
        help="Compute the criterion from the unpenalized estimate on the edges of each network, which finds the "
        "true edges more reliably.",
    )
    alpha_min_ratio: float = option(default=0.01, help="Smallest penalty over alpha_max, if alphas is a number.")

    def __post_init__(self) -> None:
        object.__setattr__(self, "alphas", check_alphas(self.alphas))

    @property
    def words(self) -> str:
        """How it is set, in words."""
        return f"EBIC, gamma {self.gamma:g}{', relaxed' if self.relaxed else ''}"

    def choose(self, task: Task) -> Choice:
        """Return the network with the smallest EBIC."""
        path = task.path(self.alphas, alpha_min_ratio=self.alpha_min_ratio)
        scores = _ebic(task.table, path.solutions, self.gamma, self.relaxed)
        index = int(scores.argmin())
        warn_at_grid_end(path, index, "EBIC")
        if self.relaxed:
            index = _last_with_same_edges(path, index)
        said = {"gamma": float(self.gamma), "relaxed": bool(self.relaxed)}
        evidence = Evidence(kind="ebic", alphas=path.alphas, values=scores, choice=index, settings=said)
        return Choice(path, index, evidence)


def _last_with_same_edges(path: Path, index: int) -> int:
    """Return the number of the last of consecutive networks with the edges of one on a path."""
    edges = path[index].edge_index
    while index + 1 < len(path) and np.array_equal(edges, path[index + 1].edge_index):
        index += 1
    return index


def _relax(solutions: Sequence[Solution], table: AnyTable) -> Iterator[Solution]:
    """Yield the nearly unpenalized estimate on every network's edges."""
    previous: Solution | None = None
    for solution in solutions:
        if previous is None or not np.array_equal(previous.edge_index, solution.edge_index):
            with suppress_warnings(ConstantColumnWarning):  # the path has given it
                estimate = nearly_free(table, solution)
        previous = solution
        yield estimate
