"""What each criterion chooses, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray, Frozen
from isinglass.data import to_weighted
from isinglass.errors import DataError, GridEndWarning, suppress_warnings
from isinglass.evaluate.nodes import text_table
from isinglass.results import Path
from isinglass.select.contract import PathFunction
from isinglass.select.cv import cross_validate
from isinglass.select.ebic import ebic
from isinglass.select.scoring import warn_at_grid_end
from isinglass.select.two_stage import TwoStage
from isinglass.solve.path import ising_path


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
    table, weight = to_weighted(X, sample_weight)
    fits = {name: found for name, found in (others or {}).items() if isinstance(found, TwoStage)}
    named = {str(name): float(alpha) for name, alpha in (others or {}).items() if not isinstance(alpha, TwoStage)}
    grid = _grid(table, alphas, named, path_function, weight)
    with suppress_warnings(GridEndWarning):  # given below, for all criteria alike
        cv = cross_validate(table, alphas=grid, path_function=path_function, sample_weight=weight, **folds)
    scores = {gamma: ebic(table, cv.path, gamma=gamma, sample_weight=weight) for gamma in gammas}
    chosen = {f"EBIC γ={gamma:g}": int(found.argmin()) for gamma, found in scores.items()}
    chosen |= {"CV best": cv.choose("best"), "CV 1se": cv.choose("1se")}
    for name, number in chosen.items():
        warn_at_grid_end(cv.path, number, name)
    chosen |= {name: int(np.abs(cv.alphas - alpha).argmin()) for name, alpha in named.items()}
    judged = ebic(table, cv.path, gamma=ebic_gamma, sample_weight=weight)
    rows = [(name, cv.path.solutions[k], judged[k], cv.mean[k]) for name, k in chosen.items()]
    for name, found in fits.items():
        value = ebic(table, found.solution, gamma=ebic_gamma, sample_weight=weight)
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


def _grid(
    table: Any,
    alphas: int | float | ArrayLike,
    named: Mapping[str, float],
    path_function: PathFunction,
    weight: FloatArray | None,
) -> int | float | ArrayLike:
    """Return the alphas, with those chosen elsewhere among them."""
    for name, alpha in named.items():
        if not (np.isfinite(alpha) and alpha >= 0):
            raise DataError(
                f"others must map names to alphas that are finite and not negative; got {name!r}: {alpha!r}."
            )
    if not named:
        return alphas
    path = path_function(table, alphas, sample_weight=weight)
    return np.union1d([solution.alpha for solution in path], list(named.values()))
