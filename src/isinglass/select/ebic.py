"""The extended BIC of the joint pseudo-likelihood, and what each criterion chooses, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import RandomSource
from isinglass.arrays import FloatArray, Frozen
from isinglass.data import AnyTable, as_table, which_occur, which_vary
from isinglass.errors import ConstantColumnWarning, DataError, GridEndWarning, suppress_warnings
from isinglass.evaluate.nodes import text_table
from isinglass.results import Evidence, Path, Solution
from isinglass.select.cross_validation import CrossValidation
from isinglass.select.refit import nearly_free
from isinglass.select.scoring import check_width, edge_price, sum_scores, warn_at_grid_end
from isinglass.select.selector import Choice, Selector
from isinglass.select.settings import Alphas, Run, check_alphas, option, settings
from isinglass.select.task import PathSettings, Task
from isinglass.select.two_stage import TwoStageChoice


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

    There is one value for a Solution, an array of one per network otherwise; smaller is better. logPL is the total (not
    mean) log pseudo-likelihood of the table. An edge counts twice, once for each of its two nodes. In a table with
    categories log N counts once for every parameter of an edge: one for two columns on a line, the product of
    categories − 1 where they are nominal; the term with γ counts once for the edge. Columns that are constant over the
    rows of positive weight are left out of logPL and of p: their fields are not estimates, and no other column can
    depend on them.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The table that the networks were estimated from.
    path : Solution, Path or sequence of Solution
        The networks to judge, however they were estimated.
    gamma : float, default 0.25
        Weight of the number of candidate networks, not negative; 0 is the BIC, larger values choose fewer edges.
    relaxed : bool, default False
        Judge each network by the unpenalized estimate on its edges instead of the shrunken one. The shrunken estimate
        fits worse than its edges allow, which speaks for more edges than are true however many rows there are. A
        penalty of a hundredth of a row keeps estimates finite where columns separate the table.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights: counts if they are whole numbers, else sampling weights; `as_table` states it otherwise. N is
        the sum of counts. Sampling weights have no scale: N is their effective number of rows, (Σ w)² / Σ w², and logPL
        is that of as many rows.

    Examples
    --------
    >>> X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [4, 1, 1, 4], axis=0)
    >>> empty = Solution.from_dense(1.0, np.zeros((2, 2)), np.zeros(2))
    >>> round(ebic(X, empty), 4)  # 2 · 20 cells · log 2
    27.7259
    """
    table = as_table(X, sample_weight).without_holes().counted()
    solutions = [path] if isinstance(path, Solution) else list(path)
    values = _ebic(table, solutions, gamma, relaxed)
    return float(values[0]) if isinstance(path, Solution) else values


def _ebic(table: AnyTable, solutions: Sequence[Solution], gamma: float, relaxed: bool) -> FloatArray:
    price, columns = edge_price(table, gamma), np.flatnonzero(which_vary(table))
    possible = None
    for solution in solutions:
        check_width(solution, table)
        if table.is_whole:
            possible = which_occur(solution.network.table(table))
    judged = _relax(solutions, table) if relaxed else solutions
    fitted = (table.sum_rows(sum_scores, estimate, columns, possible) for estimate in judged)
    return np.array([price.of(one) - 2.0 * float(score) for one, score in zip(solutions, fitted, strict=True)])


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
        default=0.25,
        help="Weight of the number of candidate networks; 0 is the BIC, larger values choose fewer edges.",
    )
    relaxed: bool = option(
        default=False,
        help="Judge each network by the unpenalized estimate on its edges, which finds the true edges more surely.",
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
        while (
            self.relaxed
            and index + 1 < len(path)
            and np.array_equal(path[index].edge_index, path[index + 1].edge_index)
        ):
            index += 1
        said = {"gamma": float(self.gamma), "relaxed": bool(self.relaxed)}
        evidence = Evidence(kind="ebic", alphas=path.alphas, values=scores, choice=index, settings=said)
        return Choice(path.solutions[index], path, evidence)


def _relax(solutions: Sequence[Solution], table: AnyTable) -> Iterator[Solution]:
    """Yield the nearly unpenalized estimate on every network's edges."""
    previous: Solution | None = None
    for solution in solutions:
        if previous is None or not np.array_equal(previous.edge_index, solution.edge_index):
            with suppress_warnings(ConstantColumnWarning):  # the path has given it
                estimate = nearly_free(table, solution)
        previous = solution
        yield estimate


@dataclass(frozen=True, eq=False, repr=False)
class CriteriaComparison(Frozen):
    """One row per criterion: what it chooses, and how the other criteria judge that."""

    criterion: tuple[str, ...]  #: names of the criteria
    alpha: FloatArray  #: the choices
    edges: NDArray[np.int64]  #: number of edges there, and of those with a positive coupling
    positive_edges: NDArray[np.int64]
    ebic: FloatArray  #: EBIC of the choices, all with the same gamma (``ebic_gamma``)
    held_out: FloatArray  #: mean log pseudo-likelihood per held-out row
    ebic_gamma: float  #: gamma of the column ``ebic``
    path: Path  #: the solutions that criteria of one path chose from

    @property
    def columns(self) -> dict[str, tuple[str, ...] | NDArray[np.generic]]:
        """All columns by name, ready for a data frame."""
        names = ("criterion", "alpha", "edges", "positive_edges", "ebic", "held_out")
        return {name: getattr(self, name) for name in names}

    def __len__(self) -> int:
        return len(self.criterion)

    def __repr__(self) -> str:
        header = ["criterion", "alpha", "edges", "positive", f"EBIC (γ={self.ebic_gamma:g})", "held-out"]
        formats = ("{}", "{:.5g}", "{}", "{}", "{:.1f}", "{:.4f}")
        rows = [
            [f.format(v) for f, v in zip(formats, row, strict=True)] for row in zip(*self.columns.values(), strict=True)
        ]
        return text_table(header, rows)


def compare_criteria(
    X: ArrayLike,
    *,
    alphas: Alphas = 30,
    gammas: Sequence[float] = (0.0, 0.25, 0.5),
    ebic_gamma: float = 0.25,
    others: Mapping[str, float | TwoStageChoice] | None = None,
    paths: PathSettings = PathSettings(),
    alpha_min_ratio: float = 0.01,
    n_folds: int = 10,
    random_state: RandomSource = 0,
    sample_weight: ArrayLike | None = None,
    run: Run = Run(),
) -> CriteriaComparison:
    """Show what EBIC, cross-validation and any other criterion choose from one path, beside other networks.

    A `GridEndWarning` names every criterion whose best alpha may lie beyond the path.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        A 0/1 or categorical table, or anything that is read as one.
    alphas, alpha_min_ratio, n_folds, random_state
        As for `CrossValidation`.
    gammas : sequence of float
        One EBIC row for each.
    ebic_gamma : float, default 0.25
        Gamma of the column that judges all rows.
    others : mapping from str to float or TwoStageChoice, optional
        Alphas chosen elsewhere, such as ``{"StARS": stability.alpha}``, which get a row each, and a place on the path;
        and what `TwoStage` chose, which has folds of its own.
    paths : PathSettings or Method, optional
        How pairs are estimated.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights.
    run : Run, optional
        How the folds are run.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 500))
    >>> X = np.column_stack([a, b, a ^ (rng.random(500) < 0.2)])
    >>> compare_criteria(X, alphas=[0.2, 0.1, 0.02, 0.01, 0.0], gammas=[0.5], others={"mine": 0.05})
    criterion   alpha  edges  positive  EBIC (γ=0.25)  held-out
    EBIC γ=0.5   0.01      1         1         1681.5   -1.6805
    CV best      0.01      1         1         1681.5   -1.6805
    CV 1se       0.05      1         1         1695.5   -1.6916
    mine         0.05      1         1         1695.5   -1.6916
    """
    table = as_table(X, sample_weight).without_holes().counted()
    task = Task(table, paths, run=run)
    fits = {name: found for name, found in (others or {}).items() if isinstance(found, TwoStageChoice)}
    named = {str(name): float(alpha) for name, alpha in (others or {}).items() if not isinstance(alpha, TwoStageChoice)}
    for name, alpha in named.items():
        if not (np.isfinite(alpha) and alpha >= 0):
            must = "others must map names to alphas that are finite and not negative"
            raise DataError(f"{must}; got {name!r}: {alpha!r}.")
    grid = alphas
    if named:  # with those chosen elsewhere among them
        path = task.path(alphas, alpha_min_ratio=alpha_min_ratio)
        grid = np.union1d([solution.alpha for solution in path], list(named.values()))
    selector = CrossValidation(grid, n_folds=n_folds, random_state=random_state, alpha_min_ratio=alpha_min_ratio)
    with suppress_warnings(GridEndWarning):  # given below, for all criteria alike
        cv = selector.choose(task)
    found = cv.path
    chosen = {f"EBIC γ={gamma:g}": int(ebic(table, found, gamma=gamma).argmin()) for gamma in gammas}
    chosen |= {"CV best": cv.best("best"), "CV 1se": cv.best("1se")}
    for name, number in chosen.items():
        warn_at_grid_end(found, number, name)
    chosen |= {name: int(np.abs(found.alphas - alpha).argmin()) for name, alpha in named.items()}
    judged = ebic(table, found, gamma=ebic_gamma)
    rows = [(name, found.solutions[k], judged[k], cv.mean[k]) for name, k in chosen.items()]
    for name, fit in fits.items():
        rows.insert(0, (name, fit.solution, ebic(table, fit.solution, gamma=ebic_gamma), fit.held_out))
    names, solutions, values, held_out = zip(*rows, strict=True)
    return CriteriaComparison(
        names,
        np.array([solution.alpha for solution in solutions]),
        np.array([solution.n_edges for solution in solutions], dtype=np.int64),
        np.array([int((solution.edge_values > 0).sum()) for solution in solutions], dtype=np.int64),
        np.array(values),
        np.array(held_out),
        float(ebic_gamma),
        found,
    )
