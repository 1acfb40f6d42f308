"""Cross-validation of the log pseudo-likelihood, repeated if asked for, with the one-standard-error rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import MOST_TASKS, RandomSource, check_count, spawn_seeds
from isinglass.arrays import FloatArray, Frozen
from isinglass.data import which_vary
from isinglass.errors import ArgumentError, ConstantColumnWarning, DataError, setting, suppress_warnings
from isinglass.results import Path, Solution
from isinglass.select.contract import PathFunction, divide_counts, labels_of, take_part, whole_rows, with_option
from isinglass.select.scoring import row_scores, warn_at_grid_end
from isinglass.select.tasks import kernel_threads, run_tasks
from isinglass.solve.path import ising_path

RowNumbers = NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(Frozen):
    """Held-out scores along a path, and the choice they lead to."""

    alpha: float  #: the choice
    index: int  #: its number on the path
    rule: str  #: how it was chosen, "best" or "1se"
    path: Path  #: solutions on the whole table
    scores: FloatArray  #: mean log pseudo-likelihood per held-out row, shape (n_repeats, n_folds, n_alphas)
    fold_weights: FloatArray  #: sum of the weights of the rows held out, shape (n_repeats, n_folds)
    n_constant: int  #: training parts in which a column was constant that varies in the whole table

    @property
    def alphas(self) -> FloatArray:
        """Penalty strengths, decreasing."""
        return np.array([solution.alpha for solution in self.path])

    @property
    def solution(self) -> Solution:
        """The network at the chosen alpha, estimated from the whole table."""
        return self.path.solutions[self.index]

    @property
    def mean(self) -> FloatArray:
        """Mean held-out score per alpha: every row counts once (or with its weight) in each repeat."""
        return _mean_and_error(self.scores, self.fold_weights)[0]

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of the mean per alpha, from the spread between the folds of a repeat.

        Repeats do not add rows: their errors are averaged (as variances), not divided by their number.
        """
        return _mean_and_error(self.scores, self.fold_weights)[1]

    def choose(self, rule: str) -> int:
        """Return the number of the alpha that a rule chooses."""
        return _choose(*_mean_and_error(self.scores, self.fold_weights), rule)

    def __repr__(self) -> str:
        repeats = f"{self.scores.shape[0]} × " if self.scores.shape[0] > 1 else ""
        return (
            f'CrossValidation({repeats}{self.scores.shape[1]} folds, rule "{self.rule}": alpha={self.alpha:.6g}, '
            f"number {self.index} of {len(self.path)}, {self.solution.n_edges} edges, "
            f"held-out score {self.mean[self.index]:.6g} ± {self.standard_error[self.index]:.2g})"
        )


def cross_validate(
    X: ArrayLike,
    *,
    alphas: int | float | ArrayLike = 30,
    n_folds: int = 10,
    n_repeats: int = 1,
    splits: Iterable[tuple[ArrayLike, ArrayLike]] | None = None,
    rule: str = "best",
    path_function: PathFunction = ising_path,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: RandomSource = None,
    n_jobs: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> CrossValidation:
    """Choose alpha by the log pseudo-likelihood of rows that were left out of the fit.

    All folds use the alphas of the whole table. A column that is constant in a training part gets no edges and a
    smoothed field there, so that every held-out score is finite; such parts are counted.

    Cross-validation looks for the best prediction, not for the right network: it tends to keep false edges. The rule
    "1se" is sparser, and `select_ebic` usually sparser still. A `GridEndWarning` says if a better alpha may lie beyond
    the grid.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Table of 0 and 1, or a CategoryTable.
    alphas, path_function
        As for `select_ebic`.
    n_folds : int, default 10
        Parts into which the rows (those of positive weight) are split at random, as equal in number as possible. The
        copies of a row in a completed table stay together.
    n_repeats : int, default 1
        Number of such splits.
    splits : iterable of pairs of row numbers, optional
        Training rows and held-out rows of every fold, in place of random folds: at least two pairs, which count as one
        repeat. This is what scikit-learn's splitters give.
    rule : {"best", "1se"}, default "best"
        The largest mean score; or the sparsest network whose mean is at most one standard error below that.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, in the fits and in the scores. Counts are divided among the folds; a row with a sampling weight is
        held out as a whole.
    groups : array-like of shape (n_samples,), optional
        Rows with equal entries stay in one fold.
    random_state, n_jobs, checkpoint, progress
        As for `bootstrap`, with splits and folds instead of resamples.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 500))
    >>> X = np.column_stack([a, b, a ^ (rng.random(500) < 0.2)])
    >>> cv = cross_validate(X, alphas=[0.2, 0.1, 0.02, 0.01, 0.0], rule="1se", random_state=0)
    >>> cv.alpha, cv.solution.edge_index.tolist(), cv.scores.shape
    (0.02, [[0, 2]], (1, 10, 5))
    """
    table, weight, units = whole_rows(X, sample_weight)
    if groups is not None:
        units = np.unique(labels_of(groups, len(table)), return_inverse=True)[1]
    rows = np.arange(len(table)) if weight is None else np.flatnonzero(weight)
    _check_rule(rule)
    parts: list[Any] | None
    if splits is None:
        folds = check_count("n_folds", n_folds, least=2, most=max(len(table), MOST_TASKS))
        repeats = check_count("n_repeats", n_repeats, most=MOST_TASKS)
        seeds = spawn_seeds(random_state, repeats)
        alone = groups is None and len(np.unique(units)) == len(units)
        parts, origin = _divide(weight, folds, seeds) if alone else None, seeds[0].entropy
        if parts is None:
            if folds > (most := len(np.unique(units[rows]))):
                positive = f"{setting('n_folds')} must be at most the number of rows with a positive weight ({most})"
                raise DataError(f"{positive}; got {folds}.")
            parts = _random_splits(rows, units, folds, seeds)
    else:
        parts = _check_splits(splits, rows, len(table))
        folds, repeats, origin = len(parts), 1, [part.tolist() for pair in parts for part in pair]
    path = path_function(table, alphas, sample_weight=weight)
    grid = np.array([solution.alpha for solution in path])
    inside = with_option(path_function, "n_threads", kernel_threads(n_jobs))
    fingerprint = {
        "X": table,
        "sample_weight": weight,
        "alphas": grid,
        "n_folds": folds,
        "n_repeats": repeats,
        "path_function": path_function,
        "random_state": origin,
        # A function that is installed is known by its name only.
        "the path of X": np.concatenate([solution.edge_values for solution in path]),
    }
    options: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress, "checkpoint": checkpoint}
    work = [(table, weight, grid, inside, *part) for part in parts]
    results = run_tasks(_score_fold, work, "folds", "Cross-validation", fingerprint=fingerprint, **options)
    scores = np.array([result["scores"] for result in results]).reshape(repeats, folds, len(grid))
    fold_weights = np.array([result["weight"] for result in results]).reshape(repeats, folds)
    n_constant = sum(bool(result["constant"]) for result in results)
    index = _choose(*_mean_and_error(scores, fold_weights), rule)
    warn_at_grid_end(path, index, f'cross-validation ("{rule}")')
    return CrossValidation(path[index].alpha, index, rule, path, scores, fold_weights, n_constant)


def _random_splits(
    rows: RowNumbers, units: RowNumbers, n_folds: int, seeds: Sequence[Any]
) -> list[tuple[RowNumbers, RowNumbers]]:
    """Return (training rows, held-out rows) of every fold, one repeat per seed; rows of one unit stay together."""
    known, member = np.unique(units[rows], return_inverse=True)
    parts = [
        part for seed in seeds for part in np.array_split(np.random.default_rng(seed).permutation(len(known)), n_folds)
    ]
    if len(known) == len(rows):
        return [(np.setdiff1d(rows, rows[part]), rows[part]) for part in parts]
    return [(rows[~np.isin(member, part)], rows[np.isin(member, part)]) for part in parts]


def _divide(
    weight: FloatArray | None, n_folds: int, seeds: Sequence[Any]
) -> list[tuple[FloatArray, FloatArray]] | None:
    """Return how many of each row are trained on and held out, one repeat per seed; None unless weights are counts."""
    if weight is None or weight.sum() < n_folds:
        return None
    parts = []
    for seed in seeds:
        divided = divide_counts(weight, n_folds, np.random.default_rng(seed))
        if divided is None:
            return None
        parts += [(weight - held, held) for held in divided]
    return parts


def _check_splits(
    splits: Iterable[tuple[ArrayLike, ArrayLike]], rows: RowNumbers, n_rows: int
) -> list[tuple[RowNumbers, RowNumbers]]:
    """Return the pairs as arrays of row numbers, without the rows of weight zero."""
    try:
        parts = [(np.asarray(train), np.asarray(held_out)) for train, held_out in splits]
    except (TypeError, ValueError):
        raise ArgumentError("splits", "must be pairs of row numbers, (training, held out)", splits) from None
    if len(parts) < 2:
        raise DataError(f"splits must hold at least 2 pairs; got {len(parts)}.")
    for k, part in ((k, part) for k, pair in enumerate(parts) for part in pair):
        if part.ndim != 1 or part.dtype.kind not in "iu" or (part.size and not 0 <= part.min() <= part.max() < n_rows):
            raise DataError(f"splits must hold row numbers from 0 to {n_rows - 1}; got others in pair {k}.")
        if not np.isin(part, rows).any():
            raise DataError(f"splits must have a row of positive weight on either side; got none in pair {k}.")
    return [(train[np.isin(train, rows)], held_out[np.isin(held_out, rows)]) for train, held_out in parts]


def _score_fold(
    table: Any,
    weight: FloatArray | None,
    alphas: FloatArray,
    path_function: PathFunction,
    train: NDArray[Any],
    held_out: NDArray[Any],
) -> dict[str, Any]:
    """Return the held-out score per alpha, the weight held out, and whether a column became constant."""
    rows, train_weight = take_part(table, weight, train)
    became_constant = which_vary(table, weight) & ~which_vary(rows, train_weight)
    with suppress_warnings(ConstantColumnWarning):  # counted instead
        path = path_function(rows, alphas, sample_weight=train_weight)
    others, held_weight = take_part(table, weight, held_out)
    unit = np.ones(len(others)) if held_weight is None else held_weight
    scores = np.array([unit @ row_scores(solution, others) for solution in path]) / unit.sum()
    return {"scores": scores, "weight": unit.sum(), "constant": became_constant.any()}


def _mean_and_error(scores: FloatArray, fold_weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the weighted mean over folds and repeats, and its standard error from the folds of a repeat."""
    share = (fold_weights / fold_weights.sum(axis=1, keepdims=True))[:, :, None]
    means = (share * scores).sum(axis=1, keepdims=True)
    variances = (share * (scores - means) ** 2).sum(axis=1) / (scores.shape[1] - 1)
    return means.mean(axis=(0, 1)), np.sqrt(variances.mean(axis=0))


def _choose(mean: FloatArray, error: FloatArray, rule: str) -> int:
    _check_rule(rule)
    best = int(mean.argmax())
    return best if rule == "best" else int(np.flatnonzero(mean >= mean[best] - error[best])[0])


def _check_rule(rule: str) -> None:
    if rule not in ("best", "1se"):
        raise ArgumentError("rule", 'must be "best" or "1se"', rule)
