"""The extended BIC of the joint pseudo-likelihood, and what each criterion chooses, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray, Frozen
from isinglass.data import counted_table, over_rows, to_weighted, which_vary
from isinglass.errors import ConstantColumnWarning, DataError, GridEndWarning, suppress_warnings
from isinglass.evaluate.nodes import text_table
from isinglass.results import Path, Solution
from isinglass.select.contract import PathFunction
from isinglass.select.cv import cross_validate
from isinglass.select.refit import nearly_free
from isinglass.select.scoring import check_width, edge_price, sum_scores, warn_at_grid_end
from isinglass.select.two_stage import TwoStage
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

    There is one value for a Solution, an array of one per network otherwise; smaller is better. logPL is the total (not
    mean) log pseudo-likelihood of the table. An edge counts twice, once for each of its two nodes. In a table with
    categories log N counts once for every parameter of an edge: one for two columns on a line, the product of
    categories − 1 where they are nominal; the term with γ counts once for the edge. Columns that are constant over the
    rows of positive weight are left out of logPL and of p: their fields are not estimates, and they can be nobody's
    neighbor.

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
        Row weights: counts if they are whole numbers, else sampling weights; `read_binary` states it otherwise. N is
        the sum of counts. Sampling weights have no scale: N is their effective number of rows, (Σ w)² / Σ w², and logPL
        is that of as many rows.

    Examples
    --------
    >>> X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [4, 1, 1, 4], axis=0)
    >>> empty = Solution.from_dense(1.0, np.zeros((2, 2)), np.zeros(2))
    >>> round(ebic(X, empty), 4)  # 2 · 20 cells · log 2
    27.7259
    """
    table, weight = to_weighted(counted_table(X, sample_weight), None)
    price = edge_price(table, weight, gamma)
    varying = np.flatnonzero(which_vary(table, weight))
    solutions = [path] if isinstance(path, Solution) else list(path)
    for solution in solutions:
        check_width(solution, table)
    judged = _relax(solutions, table, weight) if relaxed else solutions
    fitted = (over_rows(sum_scores, table, weight, estimate, varying) for estimate in judged)
    values = [price.of(one) - 2.0 * float(score) for one, score in zip(solutions, fitted, strict=True)]
    return values[0] if isinstance(path, Solution) else np.array(values)


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
    returned, which shrinks the couplings least. A `GridEndWarning` says if a better alpha may lie beyond the grid.

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

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 500))
    >>> choice = select_ebic(np.column_stack([a, b, a ^ (rng.random(500) < 0.2)]), alphas=[0.2, 0.1, 0.02, 0.0])
    >>> choice.alpha, choice.solution.edge_index.tolist()
    (0.02, [[0, 2]])
    """
    counted = counted_table(X, sample_weight)
    table, weight = to_weighted(counted, None)
    path = path_function(table, alphas, sample_weight=weight)
    scores = ebic(counted, path, gamma=gamma, relaxed=relaxed)
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
    alphas: int | float | ArrayLike = 30,
    gammas: Sequence[float] = (0.0, 0.25, 0.5),
    ebic_gamma: float = 0.25,
    others: Mapping[str, float | TwoStage] | None = None,
    path_function: PathFunction = ising_path,
    sample_weight: ArrayLike | None = None,
    **folds: Any,
) -> CriteriaComparison:
    """Show what EBIC, cross-validation and any other criterion choose from one path, beside other networks.

    A `GridEndWarning` names every criterion whose best alpha may lie beyond the path.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Table of 0 and 1.
    alphas, path_function, sample_weight
        As for `select_ebic`.
    gammas : sequence of float
        One EBIC row for each.
    ebic_gamma : float, default 0.25
        Gamma of the column that judges all rows.
    others : mapping from str to float or TwoStage, optional
        Alphas chosen elsewhere, such as ``{"StARS": stability.alpha}``, which get a row each, and a place on the path;
        and what `two_stage` found, which has folds of its own.
    **folds
        ``n_folds``, ``n_repeats``, ``random_state``, ``n_jobs``, ``checkpoint`` and ``progress`` of `cross_validate`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 500))
    >>> X = np.column_stack([a, b, a ^ (rng.random(500) < 0.2)])
    >>> compare_criteria(X, alphas=[0.2, 0.1, 0.02, 0.01, 0.0], gammas=[0.5], others={"mine": 0.05}, random_state=0)
    criterion   alpha  edges  positive  EBIC (γ=0.25)  held-out
    EBIC γ=0.5   0.01      1         1         1681.5   -1.6805
    CV best      0.01      1         1         1681.5   -1.6805
    CV 1se       0.05      1         1         1695.5   -1.6916
    mine         0.05      1         1         1695.5   -1.6916
    """
    counted = counted_table(X, sample_weight)
    table, weight = to_weighted(counted, None)
    fits = {name: found for name, found in (others or {}).items() if isinstance(found, TwoStage)}
    named = {str(name): float(alpha) for name, alpha in (others or {}).items() if not isinstance(alpha, TwoStage)}
    for name, alpha in named.items():
        if not (np.isfinite(alpha) and alpha >= 0):
            must = "others must map names to alphas that are finite and not negative"
            raise DataError(f"{must}; got {name!r}: {alpha!r}.")
    grid = alphas
    if named:  # with those chosen elsewhere among them
        path = path_function(table, alphas, sample_weight=weight)
        grid = np.union1d([solution.alpha for solution in path], list(named.values()))
    with suppress_warnings(GridEndWarning):  # given below, for all criteria alike
        cv = cross_validate(counted, alphas=grid, path_function=path_function, **folds)
    scores = {gamma: ebic(counted, cv.path, gamma=gamma) for gamma in gammas}
    chosen = {f"EBIC γ={gamma:g}": int(found.argmin()) for gamma, found in scores.items()}
    chosen |= {"CV best": cv.choose("best"), "CV 1se": cv.choose("1se")}
    for name, number in chosen.items():
        warn_at_grid_end(cv.path, number, name)
    chosen |= {name: int(np.abs(cv.alphas - alpha).argmin()) for name, alpha in named.items()}
    judged = ebic(counted, cv.path, gamma=ebic_gamma)
    rows = [(name, cv.path.solutions[k], judged[k], cv.mean[k]) for name, k in chosen.items()]
    for name, found in fits.items():
        value = ebic(counted, found.solution, gamma=ebic_gamma)
        rows.insert(0, (name, found.solution, value, found.held_out))
    names, solutions, values, held_out = zip(*rows, strict=True)
    return CriteriaComparison(
        names,
        np.array([solution.alpha for solution in solutions]),
        np.array([solution.n_edges for solution in solutions], dtype=np.int64),
        np.array([int((solution.edge_values > 0).sum()) for solution in solutions], dtype=np.int64),
        np.array(values),
        np.array(held_out),
        float(ebic_gamma),
        cv.path,
    )
