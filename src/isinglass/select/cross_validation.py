"""Cross-validation of the log pseudo-likelihood, repeated if asked for, with the one-standard-error rule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arguments import MOST_TASKS, RandomSource, check_count, check_word, spawn_seeds
from isinglass.arrays import AnyArray, FloatArray
from isinglass.data import AnyTable
from isinglass.errors import ArgumentError, DataError, setting
from isinglass.records import Evidence
from isinglass.select.folds import RowSet, Split, check_splits, count_units, split_rows
from isinglass.select.parallel import run_tasks, task_run
from isinglass.select.scoring import held_out_sums, warn_at_grid_end
from isinglass.select.selector import Choice, Selector
from isinglass.select.settings import Alphas, check_alphas, identify, seed_words
from isinglass.select.task import Task
from isinglass.storage import stored_as


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CrossValidationChoice(Choice):
    """Held-out scores along a path, and the choice they lead to."""

    scores: FloatArray  #: mean log pseudo-likelihood per held-out row, shape (n_repeats, n_folds, n_alphas)
    fold_weights: FloatArray  #: sum of the weights of the rows held out, shape (n_repeats, n_folds)

    @property
    def mean(self) -> FloatArray:
        """Mean held-out score per alpha: every row counts once (or with its weight) in each repeat."""
        return np.asarray(self._over_folds(self.scores).mean(axis=0))

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of the mean per alpha, from the spread between the folds of a repeat.

        Repeats do not add rows: their errors are averaged (as variances), not divided by their number.
        """
        squares = (self.scores - self._over_folds(self.scores)[:, None]) ** 2
        variances = self._over_folds(squares) / (self.scores.shape[1] - 1)
        return np.asarray(np.sqrt(variances.mean(axis=0)))

    def _over_folds(self, values: FloatArray) -> FloatArray:
        """Return the mean over the folds of every repeat, under the weights of their rows."""
        shares = self.fold_weights / self.fold_weights.sum(axis=1, keepdims=True)
        return np.asarray((shares[:, :, None] * values).sum(axis=1))

    def best(self, rule: str) -> int:
        """Return the number of the alpha that a rule chooses, "best" or "1se"."""
        mean = self.mean
        best = int(mean.argmax())
        return best if rule == "best" else int(np.argmax(mean >= mean[best] - self.standard_error[best]))


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(Selector):
    """The network on a path with the best log pseudo-likelihood of rows that were left out of the fit.

    All folds use the alphas of the whole table. A column that is constant in a training part gets no edges and a
    smoothed field there, so every held-out score is finite.

    Cross-validation looks for the best prediction, not for the right network: it tends to keep false edges. The rule
    "1se" is sparser, and `EBIC` usually sparser still. A `GridEndWarning` says if a better alpha may lie beyond the
    grid. Counts are divided among the folds; a row with a sampling weight is held out as a whole.

    Parameters
    ----------
    alphas, n_repeats, rule, random_state
        As for `IsingLassoCV`.
    n_folds : int, default 10
        Number of random folds of equal size; rows of weight zero are in none.
    splits : iterable of pairs, optional
        Pairs of row numbers, training and held out, in place of random folds.

    Examples
    --------
    >>> from isinglass import Method
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 500))
    >>> X = np.column_stack([a, b, a ^ (rng.random(500) < 0.2)])
    >>> cv = Method(selector=CrossValidation(alphas=[0.2, 0.1, 0.02, 0.01, 0.0], rule="1se")).choose(X)
    >>> cv.alpha, cv.solution.edge_index.tolist(), cv.scores.shape
    (0.02, [[0, 2]], (1, 10, 5))
    """

    name = "cv"
    keeps_tasks = True
    alphas: Alphas = 30
    n_folds: int = 10
    n_repeats: int = 1
    splits: Any = field(default=None, metadata=stored_as(()))  # Any: pairs of arrays, of any form when they are given
    rule: str = "best"
    random_state: RandomSource = field(default=0, metadata=stored_as(None))

    def __post_init__(self) -> None:
        super().__post_init__()
        check_word("rule", self.rule, ("best", "1se"))
        if self.splits is None:
            check_count("n_folds", self.n_folds, least=2)
            check_count("n_repeats", self.n_repeats, most=MOST_TASKS)
        elif self.n_repeats != 1:
            raise ArgumentError("n_repeats", "must be 1 where the folds are given", self.n_repeats)
        else:
            object.__setattr__(self, "splits", _as_pairs(self.splits))
        object.__setattr__(self, "alphas", check_alphas(self.alphas))

    @property
    def words(self) -> str:
        """How it is set, in words."""
        if self.splits is not None:
            return f'cross-validation, given folds, rule "{self.rule}"'
        folds = f"{self.n_folds} folds" + (f" repeated {self.n_repeats} times" if self.n_repeats > 1 else "")
        return f'cross-validation, {folds}, rule "{self.rule}"{seed_words(self.random_state)}'

    def check(self, table: AnyTable) -> None:
        """Refuse folds of row numbers where there are copies of rows, or will be: both parts would have some."""
        if self.splits is not None and table.is_whole and (table.holes is not None or table.units is not None):
            raise DataError(
                "Folds must be random, given by their number, where missing cells are imputed or rows are resampled, "
                "because copies of a row must stay together; got pairs of row numbers."
            )

    def choose(self, task: Task) -> CrossValidationChoice:
        """Return the network with the best score."""
        parts, shape, origin = self.split(task)
        path = task.path(self.alphas)
        fingerprint = {
            "X": task.table,
            "groups": task.table.whole().units if task.groups is None else task.groups,
            "alphas": path.alphas,
            "n_folds": shape,
            "paths": task.paths,
            "random_state": origin,
        }
        fold = replace(task, run=task_run(task.run), groups=None)
        work = [(fold, path.alphas, *part) for part in parts]
        results = run_tasks(_score_path, work, "folds", "Cross-validation", run=task.run, fingerprint=fingerprint)
        scores, weights = (np.array([result[name] for result in results]) for name in ("scores", "weight"))
        scores, weights = scores.reshape(*shape, len(path)), weights.reshape(shape)
        found = CrossValidationChoice(path, scores=scores, fold_weights=weights)
        index, settings = found.best(self.rule), {"rule": self.rule}
        warn_at_grid_end(path, index, f'cross-validation ("{self.rule}")')
        curve = {"values": found.mean, "errors": found.standard_error}
        evidence = Evidence(kind="score", alphas=path.alphas, choice=index, settings=settings, **curve)
        return replace(found, index=index, evidence=evidence)

    def split(self, task: Task) -> tuple[list[Split], tuple[int, int], object]:
        """Return the rows of every fold, the number of repeats and folds, and what tells them from others."""
        table = task.table.whole()
        if self.splits is not None:
            parts = check_splits(self.splits, table)
            return parts, (1, len(parts)), identify([part for pair in parts for part in pair])
        most = count_units(table, task.groups)
        if self.n_folds > most:
            units = "rows with a positive weight" if task.groups is None else "groups"
            raise DataError(f"{setting('n_folds')} must be at most the number of {units} ({most}); got {self.n_folds}.")
        task.run.require_seed(self.random_state)
        seeds = spawn_seeds(self.random_state, self.n_repeats)
        folds = [split_rows(table, task.groups, self.n_folds, np.random.default_rng(seed)) for seed in seeds]
        return [fold for repeat in folds for fold in repeat], (self.n_repeats, self.n_folds), seeds[0].entropy


def _as_pairs(splits: Iterable[tuple[ArrayLike, ArrayLike]]) -> tuple[tuple[AnyArray, AnyArray], ...]:
    """Return given folds as pairs of arrays."""
    try:
        pairs = tuple((np.asarray(train), np.asarray(held_out)) for train, held_out in splits)
    except (TypeError, ValueError):
        remedy = "Pass list(splitter.split(X)) of a splitter; the number of random folds is n_folds."
        raise ArgumentError("splits", "must be pairs of row numbers, (training, held out)", splits, remedy) from None
    if len(pairs) < 2:
        raise DataError(f"Given folds must be at least 2 pairs; got {len(pairs)}. An iterator is empty when used.")
    return pairs


def _score_path(task: Task, alphas: FloatArray, train: RowSet, held_out: RowSet) -> dict[str, object]:
    """Return the held-out score per alpha, and the weight held out."""
    held = task.on(held_out).table.whole()
    weight = held.unit_weight.sum()
    return {"scores": held_out_sums(task.table.whole(), held, task.on(train).path(alphas)) / weight, "weight": weight}
