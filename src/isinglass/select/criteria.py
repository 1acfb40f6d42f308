"""What each criterion chooses from one path, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import RandomSource
from isinglass.arrays import FloatArray, Frozen
from isinglass.data import as_table
from isinglass.errors import DataError, GridEndWarning, suppress_warnings
from isinglass.results import Path
from isinglass.select.cross_validation import CrossValidation
from isinglass.select.ebic import ebic
from isinglass.select.scoring import warn_at_grid_end
from isinglass.select.settings import Alphas, Run
from isinglass.select.task import PathSettings, Task
from isinglass.select.two_stage import TwoStageChoice
from isinglass.solve.columns import name_constant
from isinglass.text_tables import text_table


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
    """Compare what EBIC, cross-validation and other criteria choose from one path.

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
    name_constant(table)
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
