"""Selectors along a path: by the extended BIC, by cross-validation, and by the stability of edges (StARS).

StARS is from Liu, Roeder and Wasserman (2010): the least penalty at which subsamples of the table still agree about the
edges. Its definition is in docs/math.md, the reasoning in docs/selection.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from isinglass import errors
from isinglass.arguments import (
    MOST_TASKS,
    RandomSource,
    check_count,
    check_not_negative,
    check_word,
    spawn_seeds,
)
from isinglass.arrays import AnyArray, Arrays, FloatArray
from isinglass.data import AnyTable, which_vary
from isinglass.errors import ArgumentError, DataError, setting, suppress_warnings, warn
from isinglass.pairs import pairs_of, symmetric_matrix
from isinglass.records import Evidence, Stability
from isinglass.select.folds import RowSet, Split, check_splits, count_units, one_by_one, split_rows, units_of
from isinglass.select.parallel import run_tasks, task_run
from isinglass.select.progress import shown
from isinglass.select.scoring import ebic_of, held_out_sums, warn_at_grid_end, warn_of_failed
from isinglass.select.selector import Choice, Selector
from isinglass.select.settings import Alphas, are_given, check_alphas, identify, seed_words
from isinglass.select.task import Task
from isinglass.solve.alphas import alpha_grid
from isinglass.storage import stored_as
from isinglass.variables import Variables

ABOVE = 1.0 + 1e-9
"""A grid starts this far above the largest alpha_max, so that rounding cannot put an edge at its first point."""
FEW_COLUMNS = 20
"""Fewer columns than this earn a warning: with 12 and 500 rows StARS finds F1 0.3 where others find 0.6."""
AT_ONCE = 4  # alphas that all subsamples run before it is decided whether to go on


@dataclass(frozen=True, eq=False, repr=False)
class EBIC(Selector):
    """The network on a path with the smallest extended BIC; of equal ones the sparsest.

    A shrunken estimate fits worse than its edges allow, which favors networks with too many edges; the couplings that
    `TwoStage` judges by it are hardly shrunken. A `GridEndWarning` says if a better alpha may lie beyond the grid.

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
        scores = ebic_of(task.table, path.solutions, self.gamma)
        index = int(scores.argmin())
        warn_at_grid_end(path, index, "EBIC")
        settings = {"gamma": float(self.gamma)}
        evidence = Evidence(kind="ebic", alphas=path.alphas, values=scores, choice=index, settings=settings)
        return Choice(path, index, evidence)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CrossValidationChoice(Choice):
    """Held-out scores along a path, and the choice they lead to."""

    scores: FloatArray  #: mean log pseudo-likelihood per held-out row, shape (n_folds, n_alphas)
    fold_weights: FloatArray  #: sum of the weights of the rows held out in each fold

    @property
    def mean(self) -> FloatArray:
        """Mean held-out score per alpha: every row counts once, or with its weight."""
        return self._over_folds(self.scores)

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of the mean per alpha, from the spread between the folds."""
        variance = self._over_folds((self.scores - self.mean) ** 2) / (len(self.scores) - 1)
        return np.asarray(np.sqrt(variance))

    def _over_folds(self, values: FloatArray) -> FloatArray:
        return np.asarray(((self.fold_weights / self.fold_weights.sum())[:, None] * values).sum(axis=0))

    def best(self, rule: str) -> int:
        """Return the number of the alpha that a rule chooses, "best" or "1se"."""
        mean = self.mean
        best = int(mean.argmax())
        return best if rule == "best" else int(np.argmax(mean >= mean[best] - self.standard_error[best]))


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(Selector):
    """The network on a path with the best log pseudo-likelihood of rows that were left out of the fit.

    It looks for the best prediction, not for the right network, and tends to keep false edges. The rule "1se" is
    sparser, and `EBIC` usually sparser still. All folds use the alphas of the whole table. A `GridEndWarning` says if a
    better alpha may lie beyond the grid. Counts are divided among the folds; a row with a sampling weight is held out
    as a whole.

    Parameters
    ----------
    alphas, rule, random_state
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
    (0.02, [[0, 2]], (10, 5))
    """

    name = "cv"
    keeps_tasks = True
    alphas: Alphas = 30
    n_folds: int = 10
    splits: Any = field(default=None, metadata=stored_as(()))  # Any: pairs of arrays, of any form when they are given
    rule: str = "best"
    random_state: RandomSource = field(default=0, metadata=stored_as(None))

    def __post_init__(self) -> None:
        super().__post_init__()
        check_word("rule", self.rule, ("best", "1se"))
        if self.splits is None:
            check_count("n_folds", self.n_folds, least=2)
        else:
            object.__setattr__(self, "splits", _as_pairs(self.splits))
        object.__setattr__(self, "alphas", check_alphas(self.alphas))

    @property
    def words(self) -> str:
        """How it is set, in words."""
        given = self.splits is not None
        folds, seed = ("given", "") if given else (str(self.n_folds), seed_words(self.random_state))
        return f'cross-validation, {folds} folds, rule "{self.rule}"{seed}'

    def check(self, table: AnyTable) -> None:
        """Refuse folds of row numbers where there are copies of rows, or will be: both parts would have some."""
        if self.splits is not None and table.is_whole and (table.holes is not None or table.units is not None):
            raise DataError(
                "Folds must be random, given by their number, where missing cells are imputed or rows are resampled, "
                "because copies of a row must stay together; got pairs of row numbers."
            )

    def choose(self, task: Task) -> CrossValidationChoice:
        """Return the network with the best score."""
        parts, origin = self.split(task)
        path = task.path(self.alphas)
        fingerprint = {
            "X": task.table,
            "groups": task.table.whole().units if task.groups is None else task.groups,
            "alphas": path.alphas,
            "n_folds": len(parts),
            "paths": task.paths,
            "random_state": origin,
        }
        fold = replace(task, run=task_run(task.run), groups=None)
        work = [(fold, path.alphas, *part) for part in parts]
        results = run_tasks(_score_path, work, "folds", "Cross-validation", run=task.run, fingerprint=fingerprint)
        scores, weights = (np.array([result[name] for result in results]) for name in ("scores", "weight"))
        found = CrossValidationChoice(path, scores=scores, fold_weights=weights)
        index, settings = found.best(self.rule), {"rule": self.rule}
        warn_at_grid_end(path, index, f'cross-validation ("{self.rule}")')
        curve = {"values": found.mean, "errors": found.standard_error}
        evidence = Evidence(kind="score", alphas=path.alphas, choice=index, settings=settings, **curve)
        return replace(found, index=index, evidence=evidence)

    def split(self, task: Task) -> tuple[list[Split], object]:
        """Return the rows of every fold, and what tells them from others."""
        table = task.table.whole()
        if self.splits is not None:
            parts = check_splits(self.splits, table)
            return parts, identify([part for pair in parts for part in pair])
        most = count_units(table, task.groups)
        if self.n_folds > most:
            units = "rows with a positive weight" if task.groups is None else "groups"
            raise DataError(f"{setting('n_folds')} must be at most the number of {units} ({most}); got {self.n_folds}.")
        task.run.require_seed(self.random_state)
        (seed,) = spawn_seeds(self.random_state, 1)
        return split_rows(table, task.groups, self.n_folds, np.random.default_rng(seed)), seed.entropy


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


@dataclass(frozen=True, eq=False, repr=False)
class StARS(Selector):
    """The network at the smallest alpha that, with all sparser ones, is stable under subsampling.

    Subsamples of the rows are drawn without replacement. The instability at an alpha is the mean over all pairs of
    2 f (1 − f), where f is the share of subsamples with that edge. The path is that of the whole table, at the alphas
    that all subsamples ran: solution k belongs to ``stability.edge_frequencies[k]``.

    Rows of one group are drawn together; sizes then count groups. The equal rows that a count stands for are drawn one
    by one. Sampling weights enter the fits, and all rows of positive weight are equally likely to be drawn.

    A `GridEndWarning` says if the choice is the first or the last alpha of the grid, a `FewColumnsWarning` if there are
    fewer than 20 columns: an edge appears in some subsamples first, and among few pairs that exceeds the threshold.

    Parameters
    ----------
    alphas, threshold, n_subsamples, subsample_size, random_state
        As for `IsingLassoStARS`; a threshold of 0.05 corresponds to 0.1 in R's huge and pulsar.

    Examples
    --------
    >>> from isinglass import Method, simulate
    >>> model = simulate.chain_network(12, strength=2.0, fields="balanced")
    >>> X = simulate.exact_sample(model, 2000, random_state=0)
    >>> network = Method(selector=StARS()).choose(X).solution
    >>> network.edge_index[:3].tolist(), network.n_edges
    ([[0, 1], [1, 2], [2, 3]], 11)
    """

    name = "stars"
    keeps_tasks = True
    alphas: Alphas = 30
    threshold: float = 0.05
    n_subsamples: int = 20
    subsample_size: int | None = None
    random_state: RandomSource = field(default=0, metadata=stored_as(None))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.subsample_size is not None:
            check_count("subsample_size", self.subsample_size)
        check_count("n_subsamples", self.n_subsamples, least=2, most=MOST_TASKS)
        if check_not_negative("threshold", self.threshold) > 0.5:
            raise ArgumentError("threshold", "must be from 0 to 0.5, the range of 2 f (1 − f)", self.threshold)
        object.__setattr__(self, "alphas", check_alphas(self.alphas))

    @property
    def words(self) -> str:
        """How it is set, in words."""
        stable = f"StARS, instability up to {self.threshold:g}"
        return f"{stable} over {self.n_subsamples} subsamples{seed_words(self.random_state)}"

    def choose(self, task: Task) -> Choice:
        """Return the stable network of the whole table."""
        stability = self.stability(task)
        path = task.path(stability.alphas[: len(stability.edge_frequencies)])
        return Choice(path, stability.index, stability=stability)

    def stability(self, task: Task) -> Stability:
        """Return how far the subsamples agree, and the alpha that follows."""
        task.run.require_seed(self.random_state)
        table, rows = one_by_one(task.table.whole())
        labels = units_of(table, None if task.groups is None else task.groups[rows])
        member = np.unique(labels, return_inverse=True)[1]
        n_units = int(member.max()) + 1
        size, seeds = self._size(n_units), spawn_seeds(self.random_state, self.n_subsamples)
        drawn = (np.random.default_rng(seed).choice(n_units, size, replace=False, shuffle=False) for seed in seeds)
        subsamples = [np.flatnonzero(np.isin(member, units)) for units in drawn]
        task = replace(task, table=table, groups=None)
        grid = self._grid([task, *(task.on(part) for part in subsamples)])
        fingerprint = {
            "X": table,
            "groups": member,
            "alphas": grid,
            "n_subsamples": self.n_subsamples,
            "subsample_size": size,
            "paths": task.paths,
            "random_state": seeds[0].entropy,
        }
        shares, disagreements, n_unconverged = self._follow(task, subsamples, grid, fingerprint)
        equal = table.with_weight(None)
        n_constant = sum(bool((which_vary(equal) & ~which_vary(equal[part])).any()) for part in subsamples)
        found = self._judge(grid, shares, disagreements, size, n_constant)
        warn_of_failed(n_unconverged, found.n_fits, "fits of subsamples")
        _warn_of_stars(found, int(table.variables.is_modeled.sum()))
        return found

    def _judge(
        self, grid: FloatArray, shares: list[sp.csr_array], disagreements: list[float], size: int, n_constant: int
    ) -> Stability:
        """Return the densest network of the grid that is stable with all sparser ones."""
        instability = np.r_[disagreements, np.full(len(grid) - len(shares), np.nan)]
        monotone = np.maximum.accumulate(instability)
        index = max(int(np.count_nonzero(monotone <= self.threshold)) - 1, 0)
        return Stability(
            alpha=float(grid[index]),
            index=index,
            alphas=grid,
            instability=instability,
            monotone=monotone,
            edge_frequencies=tuple(shares),
            threshold=self.threshold,
            subsample_size=size,
            n_subsamples=self.n_subsamples,
            n_constant=n_constant,
        )

    def _follow(
        self, task: Task, subsamples: Sequence[NDArray[np.intp]], grid: FloatArray, fingerprint: dict[str, object]
    ) -> tuple[list[sp.csr_array], list[float], int]:
        """Return the shares of subsamples with each pair and their instability until it exceeds the threshold.

        Also how many fits did not converge. All subsamples follow the grid down, some alphas at a time, until the
        choice is known: the running maximum of the instability never falls.
        """
        fold = replace(task, run=task_run(task.run))
        shares, disagreements, n_unconverged = list[sp.csr_array](), list[float](), 0
        with shown(task.run.progress):
            while len(shares) < len(grid) and max(disagreements, default=0.0) <= self.threshold:
                alphas = grid[len(shares) :][:AT_ONCE]
                work = [(fold, drawn, alphas) for drawn in subsamples]
                name = f"subsamples, {len(alphas)} alphas from {len(shares)}"
                results = run_tasks(_fit_subsample, work, name, "StARS", run=task.run, fingerprint=fingerprint)
                n_unconverged += sum(int(result["n_unconverged"].sum()) for result in results)
                for k in range(len(alphas)):
                    edges = [result["edges"][result["bounds"][k] : result["bounds"][k + 1]] for result in results]
                    share, disagreement = _agreement(edges, task.table.variables)
                    shares.append(share)
                    disagreements.append(disagreement)
        return shares, disagreements, n_unconverged

    def _size(self, n_units: int) -> int:
        """Return the number of rows or groups in a subsample."""
        if n_units < 3:
            raise DataError(f"Subsamples need at least 3 rows or groups; {setting('X')} has n_samples={n_units}.")
        if self.subsample_size is None:
            return math.isqrt(100 * n_units) if n_units > 144 else 4 * n_units // 5
        if not 2 <= self.subsample_size < n_units:
            must = f"must be from 2 to {n_units - 1}, less than all rows"
            raise ArgumentError("subsample_size", must, self.subsample_size)
        return self.subsample_size

    def _grid(self, tasks: Sequence[Task]) -> FloatArray:
        """Return the alphas, for the whole table, which comes first, and its subsamples."""
        if are_given(self.alphas):
            return alpha_grid(1.0, self.alphas, alpha_min_ratio=0.01)
        top = max(task.alpha_max() for task in tasks)
        at_zero = 0.0 if tasks[0].table.variables.is_binary else 1.0 / tasks[0].n_rows  # where alpha must not be 0
        return alpha_grid(ABOVE * top, self.alphas, alpha_min_ratio=0.01, at_zero=at_zero)


def _fit_subsample(task: Task, rows: NDArray[np.intp], alphas: FloatArray) -> Arrays:
    """Return the keys of the edges of some rows at every alpha, one alpha after the other."""
    with suppress_warnings(errors.ConvergenceWarning):
        path = task.on(rows).path(alphas)
    keys = [solution.network.edge_keys for solution in path]
    return {
        "edges": np.concatenate(keys),
        "bounds": np.cumsum([0, *map(len, keys)]),
        "n_unconverged": np.array([not solution.converged for solution in path]),
    }


def _agreement(edges: Sequence[NDArray[np.int64]], variables: Variables) -> tuple[sp.csr_array, float]:
    """Return the share f of networks with each pair, symmetric, and the mean of 2 f (1 − f) over all pairs."""
    keys, counts = np.unique(np.concatenate(edges), return_counts=True)
    n, p, p_modeled = len(edges), variables.n_features, int(variables.is_modeled.sum())
    n_pairs = max(p_modeled * (p_modeled - 1) // 2, 1)
    # Integers up to the division: a value that equals the threshold is not lost by rounding.
    instability = 2 * int((counts * (n - counts)).sum()) / (n**2 * n_pairs)
    return symmetric_matrix(pairs_of(keys, p), counts / n, p), instability


def _warn_of_stars(found: Stability, n_nodes: int) -> None:
    """Say what the user may want to change."""
    if found.n_constant:
        where = f"in {found.n_constant} of {found.n_subsamples} subsamples a column is constant, and has no edges there"
        remedy = f"Pass a larger {setting('subsample_size')} than {found.subsample_size}."
        warn(errors.ConstantColumnWarning(f"{where}. {remedy}"))
    if n_nodes == 1:
        return  # there is no edge to miss
    if n_nodes < FEW_COLUMNS:
        default = setting("select", "two-stage", python="IsingNetwork")
        missed = f"StARS was made for many columns; with {n_nodes} it misses most edges"
        warn(errors.FewColumnsWarning(f"{missed}. The default, {default}, finds more of them."))
    last, reached = len(found.alphas) - 1, float(found.monotone[found.index])
    no_choice = (last == 0 or found.alpha == 0.0) and reached <= found.threshold  # no other alpha, or none below
    if found.index in (0, last) and not no_choice:
        choice = f"alpha={found.alpha:.6g} with instability {reached:.3g} (threshold {found.threshold:g})"
        remedy = f"Pass other {setting('alphas')}, or another {setting('threshold')}."
        warn(errors.GridEndWarning(f"the choice is at an end of the grid: {choice}. {remedy}"))
