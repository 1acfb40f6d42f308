"""StARS: the least penalty at which subsamples of the table still agree about the edges.

Liu, Roeder and Wasserman (2010). The definition is in docs/math.md, the reasoning in docs/selection.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.random import SeedSequence
from numpy.typing import NDArray

from isinglass.arguments import MOST_TASKS, RandomSource, check_count, is_real, spawn_seeds
from isinglass.arrays import AnyArray, FloatArray, Mask
from isinglass.data import which_vary
from isinglass.errors import (
    ArgumentError,
    ConstantColumnWarning,
    ConvergenceWarning,
    DataError,
    FewColumnsWarning,
    GridEndWarning,
    listed,
    setting,
    suppress_warnings,
    warn,
)
from isinglass.pairs import pairs_of, symmetric_matrix
from isinglass.select.folds import one_by_one, units_of
from isinglass.select.parallel import run_tasks, task_run
from isinglass.select.selector import Choice, Selector
from isinglass.select.settings import Alphas, are_given, check_alphas, option, settings
from isinglass.select.task import Task
from isinglass.selection_records import Stability
from isinglass.solve.alphas import alpha_grid
from isinglass.variables import Variables

ABOVE = 1.0 + 1e-9
"""A grid starts this far above the largest alpha_max, so that rounding cannot put an edge at its first point."""
FEW_COLUMNS = 20
"""Fewer columns than this earn a warning: with 12 and 500 rows StARS finds F1 0.3 where others find 0.6."""
PROPOSERS = 2
"""Subsamples that run the whole grid and propose where the others may stop."""


@settings
class StARS(Selector):
    """The network at the smallest alpha that, with all sparser ones, is stable under subsampling.

    Fits a path to each of several subsamples of the rows, drawn without replacement. The instability at an alpha is the
    mean over all pairs of 2 f (1 − f), where f is the share of subsamples with that edge. The dense end of the grid is
    left out where it cannot matter; the choice is the same. The path is that of the whole table, at the alphas that all
    subsamples ran: solution k belongs to ``stability.edge_frequencies[k]``.

    Rows of one group are drawn together; sizes then count groups. The equal rows that a count stands for are drawn one
    by one. Sampling weights enter the fits, and all rows of positive weight are equally likely to be drawn.

    A `GridEndWarning` says if the choice is the first or the last alpha of the grid, a `FewColumnsWarning` if there are
    fewer than 20 columns: an edge appears in some subsamples before it appears in all of them, and among
    few pairs that alone exceeds the threshold. Columns that are constant in a subsample, and fits that did not
    converge, are counted in warnings as well.

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
    alphas: Alphas = option(
        default=30,
        help="Number of log-spaced penalties from the largest alpha_max of table and subsamples down, or an explicit "
        "list of them.",
    )
    threshold: float = option(
        default=0.05,
        help="Largest instability that counts as stable, from 0 to 0.5; 0.05 corresponds to 0.1 in R's huge and "
        "pulsar.",
    )
    n_subsamples: int = option(default=20, help="Number of subsamples, at least 2.")
    subsample_size: int | None = option(
        default=None, help="Rows in each; by default ⌊10 √n_samples⌋, or ⌊0.8 n_samples⌋ up to 144 rows."
    )
    random_state: RandomSource = option(default=0, help="Seed of the subsamples.", droppable=True)
    alpha_min_ratio: float = option(default=0.01, help="Smallest penalty over alpha_max, if alphas is a number.")

    def __post_init__(self) -> None:
        if self.subsample_size is not None:
            check_count("subsample_size", self.subsample_size)
        check_count("n_subsamples", self.n_subsamples, least=2, most=MOST_TASKS)
        if not is_real(self.threshold) or not 0.0 <= self.threshold <= 0.5:
            raise ArgumentError("threshold", "must be from 0 to 0.5, the range of 2 f (1 − f)", self.threshold)
        object.__setattr__(self, "alphas", check_alphas(self.alphas))

    @property
    def words(self) -> str:
        """How it is set, in words."""
        stable = f"StARS, instability up to {self.threshold:g}"
        return f"{stable} over {self.n_subsamples} subsamples, seed {self.random_state}"

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
        task = task.replace(table=table, groups=None)
        member = np.unique(labels, return_inverse=True)[1]
        units = _Units(task, member, self._size(int(member.max()) + 1))
        seeds = spawn_seeds(self.random_state, self.n_subsamples)
        equal = table.with_weight(None)
        constant = np.array([which_vary(equal) & ~which_vary(equal[units.rows(seed)]) for seed in seeds])
        grid = self._grid(units, seeds)
        fingerprint = {
            "X": table,
            "groups": member,
            "alphas": grid,
            "n_subsamples": self.n_subsamples,
            "subsample_size": units.size,
            "paths": task.paths,
            "random_state": seeds[0].entropy,
        }
        subsamples = _Subsamples(units, seeds, grid, fingerprint)
        stability = _search(subsamples, self.threshold, int(constant.any(axis=1).sum()))
        _warn(stability, table.variables, constant, subsamples.n_unconverged)
        return stability

    def _size(self, n_units: int) -> int:
        if n_units < 3:
            raise DataError(
                f"{setting('X')} must have at least 3 rows to draw subsamples from; got n_samples={n_units}."
            )
        if self.subsample_size is None:
            return math.isqrt(100 * n_units) if n_units > 144 else 4 * n_units // 5
        if not 2 <= self.subsample_size < n_units:
            must = f"must be from 2 to {n_units - 1}, less than all rows"
            raise ArgumentError("subsample_size", must, self.subsample_size)
        return int(self.subsample_size)

    def _grid(self, units: _Units, seeds: Sequence[SeedSequence]) -> FloatArray:
        shape = alpha_grid(1.0, self.alphas, alpha_min_ratio=self.alpha_min_ratio)  # complains before anything is done
        if are_given(self.alphas):
            return shape
        tops = [task.alpha_max() for task in (units.task, *(units.take(seed) for seed in seeds))]
        is_binary = units.task.table.variables.is_binary
        at_zero = 0.0 if is_binary else 1.0 / units.task.n_rows  # with categories alpha must not be 0
        return alpha_grid(ABOVE * max(tops), self.alphas, alpha_min_ratio=self.alpha_min_ratio, at_zero=at_zero)


@dataclass(frozen=True, eq=False)
class _Units:
    """The rows that subsamples are drawn from."""

    task: Task
    units: NDArray[np.intp]  # of every row, counted from 0; rows of one unit are drawn together
    size: int  # units in a subsample

    def rows(self, seed: SeedSequence) -> NDArray[np.intp]:
        """Return the rows of a subsample, in the order of the table."""
        drawn = np.random.default_rng(seed).choice(int(self.units.max()) + 1, self.size, replace=False, shuffle=False)
        return np.flatnonzero(np.isin(self.units, drawn))

    def take(self, seed: SeedSequence) -> Task:
        """Return the task of a subsample."""
        return self.task.replace(table=self.task.table[self.rows(seed)])


def _fit_subsample(units: _Units, seed: SeedSequence, grid: FloatArray) -> dict[str, AnyArray | int]:
    """Return the edges along the grid, as s · p + t, one alpha after the other."""
    with suppress_warnings(ConvergenceWarning):
        path = units.take(seed).path(grid)
    codes = [solution.network.edge_keys for solution in path]
    return {
        "edges": np.concatenate(codes),
        "bounds": np.cumsum([0, *map(len, codes)]),
        "n_unconverged": sum(not solution.converged for solution in path),
    }


@dataclass
class _Subsamples:
    """The subsamples, what has been run of each, and the count of fits."""

    units: _Units
    seeds: Sequence[SeedSequence]
    grid: FloatArray
    fingerprint: dict[str, Any]
    results: list[Any] = field(default_factory=list)  # edges along the grid of every subsample, as far as it was run
    n_fits: int = 0
    n_unconverged: int = 0
    _counted: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = field(default_factory=dict)

    def propose(self) -> None:
        """Run the first subsamples over the whole grid."""
        self._run(slice(PROPOSERS), len(self.grid), "proposal", "StARS, dense end")

    def run(self, first: int, end: int) -> None:
        """Run the subsamples from number ``first`` on over the first ``end`` alphas, in place of what they had."""
        self._run(slice(first, None), end, f"subsamples from {first}, {end} alphas", "StARS")

    def _run(self, which: slice, end: int, name: str, description: str) -> None:
        task = self.units.task
        units = replace(self.units, task=task.replace(run=task_run(task.run)))
        work = [(units, seed, self.grid[:end]) for seed in self.seeds[which]]
        results = run_tasks(_fit_subsample, work, name, description, run=task.run, fingerprint=self.fingerprint)
        self.results[which] = results
        self._counted.clear()
        self.n_fits += len(results) * end
        self.n_unconverged += sum(int(result["n_unconverged"]) for result in results)

    def frequencies(self, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the pairs that occur at alpha number ``k``, as s · p + t, and in how many subsamples."""
        if k not in self._counted:
            edges = [result["edges"][result["bounds"][k] : result["bounds"][k + 1]] for result in self.results]
            self._counted[k] = np.unique(np.concatenate(edges), return_counts=True)
        return self._counted[k]

    def instability(self, end: int) -> FloatArray:
        """Return the mean of 2 f (1 − f) over all pairs, for the first ``end`` alphas."""
        n_runs, p = len(self.results), int(self.units.task.table.variables.is_modeled.sum())
        n_pairs = max(p * (p - 1) // 2, 1)
        # Integers up to the division: a value that equals the threshold is not lost by rounding.
        disagreements = [int((counts * (n_runs - counts)).sum()) for _, counts in map(self.frequencies, range(end))]
        return np.array([2 * number / (n_runs**2 * n_pairs) for number in disagreements])

    def shares(self, k: int) -> sp.csr_array:
        """Return the share of subsamples with each pair at alpha number ``k``, symmetric."""
        (codes, counts), p = self.frequencies(k), self.units.task.table.shape[1]
        return symmetric_matrix(pairs_of(codes, p), counts / len(self.results), p)


def _search(subsamples: _Subsamples, threshold: float, n_constant: int) -> Stability:
    """Run what is needed and choose.

    The running maximum never falls: the choice is known as soon as it exceeds the threshold somewhere, or the grid has
    ended.
    """
    n_alphas, n_subsamples = len(subsamples.grid), len(subsamples.seeds)
    proposed, n_extensions, guess = n_alphas - 1, 0, np.zeros(n_alphas)
    if n_subsamples > PROPOSERS:
        subsamples.propose()
        # The expectation of D from B subsamples is proportional to 1 − 1/B.
        guess = subsamples.instability(n_alphas) * (1.0 - 1.0 / n_subsamples) / (1.0 - 1.0 / PROPOSERS)
        proposed = _last_stable(guess, threshold)
    first, end = len(subsamples.results), min(proposed + 2, n_alphas)
    subsamples.run(first, end)
    while end < n_alphas and (reached := subsamples.instability(end).max()) <= threshold:
        # Follow the proposers' curve again, scaled to what all subsamples reached here; at least a tenth of the grid.
        further = _last_stable(guess * reached, threshold * guess[:end].max()) + 2
        end, n_extensions = min(max(further, end + max(1, n_alphas // 10)), n_alphas), n_extensions + 1
        subsamples.run(first, end)
    instability = subsamples.instability(end)
    index = _last_stable(instability, threshold)
    rest = np.full(n_alphas - end, np.nan)
    return Stability(
        alpha=float(subsamples.grid[index]),
        index=index,
        alphas=subsamples.grid,
        instability=np.r_[instability, rest],
        monotone=np.r_[np.maximum.accumulate(instability), rest],
        edge_frequencies=tuple(subsamples.shares(k) for k in range(end)),
        threshold=threshold,
        subsample_size=subsamples.units.size,
        n_subsamples=n_subsamples,
        dense_end=float(subsamples.grid[proposed]),
        n_extensions=n_extensions,
        n_fits=subsamples.n_fits,
        n_fits_saved=n_alphas * n_subsamples - subsamples.n_fits,
        n_constant=n_constant,
    )


def _last_stable(instability: FloatArray, threshold: float) -> int:
    """Return the number of the last alpha before the instability first exceeds the threshold, at least 0."""
    exceeds = instability > threshold
    return max(int(exceeds.argmax()) - 1, 0) if exceeds.any() else len(instability) - 1


def _warn(stability: Stability, variables: Variables, constant: Mask, n_unconverged: int) -> None:
    """Say what the user may want to change, once each."""
    affected = [variables.called(s) for s in np.flatnonzero(constant.any(axis=0)).tolist()]
    if affected:
        where = f"in {int(constant.any(axis=1).sum())} of {len(constant)} subsamples a column is constant"
        remedy = f"A larger {setting('subsample_size')} (now {stability.subsample_size}) makes this rarer."
        warn(ConstantColumnWarning(f"{where} and has no edges there: column {listed(affected)}. {remedy}"))
    if n_unconverged:
        wrong = f"{n_unconverged} of {stability.n_fits} fits did not converge, and their edges may be wrong"
        remedy = f"Raise {setting('max_iter')} or {setting('tol')}."
        warn(ConvergenceWarning(f"{wrong}. {remedy}"))
    if constant.shape[1] < FEW_COLUMNS:
        missed = f"StARS was made for many columns; with {constant.shape[1]} it misses most edges"
        default = setting("select", "two-stage", python="IsingNetwork")
        warn(FewColumnsWarning(f"{missed}. The default, {default}, finds more of them."))
    last, reached = len(stability.alphas) - 1, float(stability.monotone[stability.index])
    no_choice = last == 0 or stability.alpha == 0.0  # there is no other alpha, or none below
    if 0 < stability.index < last or (no_choice and reached <= stability.threshold):
        return
    if reached > stability.threshold:
        remedy = f"is unstable already. Pass larger {setting('alphas')}, or a number of them"
    elif stability.index == last:
        remedy = f"is still stable. Pass smaller {setting('alphas')}, or a smaller {setting('alpha_min_ratio')}"
    else:
        larger = f"a larger {setting('threshold')}"
        remedy = f"has no edges or few, and the next one is unstable. Pass a finer grid, or {larger}"
    choice = f"alpha={stability.alpha:.6g} with instability {reached:.3g} (threshold {stability.threshold:g})"
    warn(GridEndWarning(f"the choice is at an end of the grid: {choice} {remedy}."))
