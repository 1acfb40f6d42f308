"""StARS: the least penalty at which subsamples of the table still agree about the edges.

Liu, Roeder and Wasserman (2010). The definition is in docs/math.md, the reasoning in docs/selection.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.random import SeedSequence
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import MOST_TASKS, RandomSource, check_count, is_whole, spawn_seeds
from isinglass.arrays import FloatArray
from isinglass.data import CategoryTable, are_counts, which_vary
from isinglass.errors import (
    ArgumentError,
    ConstantColumnWarning,
    ConvergenceWarning,
    DataError,
    FewColumnsWarning,
    GridEndWarning,
    setting,
    suppress_warnings,
    warn,
)
from isinglass.network import pair_keys, pairs_of, symmetric_matrix
from isinglass.results import Stability
from isinglass.select.contract import (
    PathFunction,
    alpha_max_of,
    fixed_option,
    repeated_rows,
    whole_rows,
    with_option,
)
from isinglass.select.tasks import kernel_threads, run_tasks
from isinglass.solve.grid import alpha_grid
from isinglass.solve.path import ising_path

ABOVE = 1.0 + 1e-9
"""A grid starts this far above the largest alpha_max, so that rounding cannot put an edge at its first point."""
FEW_COLUMNS = 20
"""Fewer columns than this earn a warning: with 12 and 500 rows StARS finds F1 0.3 where others find 0.6."""
PROPOSERS = 2
"""Subsamples that run the whole grid and propose where the others may stop."""


def stars(
    X: ArrayLike,
    *,
    alphas: int | float | ArrayLike = 30,
    n_subsamples: int = 20,
    subsample_size: int | None = None,
    threshold: float = 0.05,
    bounded: bool = True,
    path_function: PathFunction = ising_path,
    sample_weight: ArrayLike | None = None,
    random_state: RandomSource = None,
    n_jobs: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> Stability:
    """Choose the smallest alpha whose network, and all sparser ones, are stable under subsampling.

    Fits a path to each of several subsamples of the rows, drawn without replacement. The instability at an alpha is the
    mean over all pairs of 2 f (1 − f), where f is the share of subsamples with that edge.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Table of 0 and 1, or a CategoryTable.
    alphas : int, float or array-like, default 30
        Number of log-spaced penalties from the largest ``alpha_max`` of table and subsamples down, or an explicit list.
    n_subsamples : int, default 20
        Number of subsamples, at least 2.
    subsample_size : int, optional
        Rows in each, with all their copies in a completed table; default ⌊10 √n_samples⌋, or ⌊0.8 n_samples⌋ up to
        144 rows.
    threshold : float, default 0.05
        Largest instability that counts as stable, from 0 to 0.5. (R's huge and pulsar report twice the
        instability: their 0.1 is 0.05 here.)
    bounded : bool, default True
        Leave out the dense end of the grid where it cannot matter; the choice is the same.
    path_function : callable, default ising_path
        ``path_function(X, alphas) -> Path``: also nodewise_path, exact_path, a baseline, or a ``functools.partial``.
        With weights it is called with ``sample_weight`` too.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights of the fits. Subsamples are drawn by row, from those of positive weight: a weight of 2 is not
        the same as a row that occurs twice.
    random_state, n_jobs, checkpoint, progress
        As for `bootstrap`, with subsamples instead of resamples; a checkpoint needs a ``random_state``.
        ``joblib.parallel_config`` can send subsamples to a cluster.

    Warns
    -----
    GridEndWarning
        If the choice is the first or the last alpha of the grid.
    FewColumnsWarning
        With fewer than 20 columns. Edges are uncertain in some subsamples for a while before they are in all of them;
        among few pairs that alone exceeds the threshold, and most edges are missed.
    ConstantColumnWarning
        If a column is constant in a subsample; it has no edges there.
    ConvergenceWarning
        If fits did not converge.

    Examples
    --------
    >>> from isinglass import simulate
    >>> model = simulate.chain_network(12, strength=2.0, fields="balanced")
    >>> X = simulate.exact_sample(model, 2000, random_state=0)
    >>> chosen = stars(X, random_state=0)
    >>> network = ising_path(X, [chosen.alpha])[0]
    >>> network.edge_index[:3].tolist(), network.n_edges
    ([[0, 1], [1, 2], [2, 3]], 11)
    """
    table, weight, units = whole_rows(X, sample_weight)
    if weight is not None and are_counts(weight) and len(np.unique(units)) == len(units):
        rows = repeated_rows(weight, table.shape[1])
        table, weight, units = table[rows], None, np.arange(len(rows))
    elif weight is not None and not weight.all():  # rows of weight zero are not drawn
        rows = np.flatnonzero(weight)
        table, weight, units = table[rows], weight[rows], units[rows]
    units = np.unique(units, return_inverse=True)[1]
    size = _check_settings(int(units.max()) + 1, n_subsamples, subsample_size, threshold)
    if checkpoint is not None and random_state is None:
        raise DataError(
            "random_state must be given together with checkpoint: without it the next run draws other subsamples; "
            "got None."
        )
    seeds = spawn_seeds(random_state, n_subsamples)
    sample = _Sample(table, weight, units, size)
    constant = np.array([~which_vary(table[sample.rows(seed)], None) for seed in seeds])
    grid = _make_grid(sample, seeds, alphas, path_function)
    fingerprint = {
        "X": table,
        "alphas": grid,
        "n_subsamples": n_subsamples,
        "subsample_size": size,
        "path_function": path_function,
        "random_state": seeds[0].entropy,
    } | ({} if weight is None else {"sample_weight": weight})
    options = {"n_jobs": n_jobs, "checkpoint": checkpoint, "fingerprint": fingerprint, "progress": progress}
    inside = with_option(path_function, "n_threads", kernel_threads(n_jobs))
    runs = _Runs(sample, seeds, grid, inside, options)
    stability = _search(runs, threshold, bounded, int((constant & which_vary(table, None)).any(axis=1).sum()))
    _warn(stability, constant, runs.n_unconverged)
    return stability


def _check_settings(n_samples: int, n_subsamples: int, subsample_size: int | None, threshold: float) -> int:
    """Return the size of a subsample."""
    for name, value in (("n_subsamples", n_subsamples), ("subsample_size", subsample_size)):
        if value is not None and not is_whole(value):
            raise ArgumentError(name, "must be an integer", value)
    if n_subsamples < 2:
        raise ArgumentError("n_subsamples", "must be at least 2, or nothing can disagree", n_subsamples)
    check_count("n_subsamples", n_subsamples, most=MOST_TASKS)
    if not 0.0 <= threshold <= 0.5:
        raise ArgumentError("threshold", "must be from 0 to 0.5, the range of 2 f (1 − f)", threshold)
    if n_samples < 3:
        raise DataError(f"{setting('X')} must have at least 3 rows to draw subsamples from; got n_samples={n_samples}.")
    if subsample_size is None:
        return math.isqrt(100 * n_samples) if n_samples > 144 else 4 * n_samples // 5
    if not 2 <= subsample_size < n_samples:
        raise ArgumentError("subsample_size", f"must be from 2 to {n_samples - 1}, less than all rows", subsample_size)
    return int(subsample_size)


@dataclass(frozen=True, eq=False)
class _Sample:
    """The rows that subsamples are drawn from."""

    table: Any  # bytes, or a CategoryTable
    weight: FloatArray | None
    units: NDArray[np.intp]  # of every row, counted from 0; rows of one unit are drawn together
    size: int  # units in a subsample

    def rows(self, seed: SeedSequence) -> NDArray[np.intp]:
        """Return the rows of a subsample, in the order of the table."""
        drawn = np.random.default_rng(seed).choice(int(self.units.max()) + 1, self.size, replace=False, shuffle=False)
        return np.flatnonzero(np.isin(self.units, drawn))

    def give(self, function: Callable[..., Any], rows: Any, *arguments: Any) -> Any:
        """Call a function with some rows, and with their weights if there are any."""
        options = {} if self.weight is None else {"sample_weight": self.weight[rows]}
        return function(self.table[rows], *arguments, **options)


def _make_grid(
    sample: _Sample, seeds: Sequence[SeedSequence], alphas: int | float | ArrayLike, path_function: PathFunction
) -> FloatArray:
    ratio = fixed_option(path_function, "alpha_min_ratio") or 0.01
    given = alpha_grid(1.0, alphas, alpha_min_ratio=ratio)  # complains before anything is computed
    if np.ndim(alphas) > 0 or isinstance(alphas, float | np.floating):
        return given
    parts: list[Any] = [slice(None), *(sample.rows(seed) for seed in seeds)]
    alpha_max = alpha_max_of(path_function)
    tops = [sample.give(alpha_max, rows) for rows in parts]
    at_zero = 1.0 / len(sample.table) if isinstance(sample.table, CategoryTable) else 0.0  # where none must be zero
    return alpha_grid(ABOVE * max(tops), alphas, alpha_min_ratio=ratio, at_zero=at_zero)


def _fit_subsample(
    sample: _Sample, seed: SeedSequence, grid: FloatArray, path_function: PathFunction
) -> dict[str, NDArray[Any] | int]:
    """Return the edges along the grid, as s · p + t, one alpha after the other."""
    with suppress_warnings(ConstantColumnWarning, ConvergenceWarning):
        path = sample.give(path_function, sample.rows(seed), grid)
    if len(path) != len(grid):
        raise DataError(f"path_function must return one solution per alpha ({len(grid)}); got {len(path)}.")
    codes = [pair_keys(solution.edge_index, sample.table.shape[1]) for solution in path]
    return {
        "edges": np.concatenate(codes),
        "bounds": np.cumsum([0, *map(len, codes)]),
        "n_unconverged": sum(not solution.converged for solution in path),
    }


@dataclass
class _Runs:
    """The subsamples, what has been run of each, and the count of fits."""

    sample: _Sample
    seeds: Sequence[SeedSequence]
    grid: FloatArray
    path_function: PathFunction
    options: dict[str, Any]

    def __post_init__(self) -> None:
        self.results: list[Any] = []
        self._counted: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        self.n_fits = self.n_unconverged = 0

    def propose(self) -> None:
        """Run the first subsamples over the whole grid."""
        self._run(slice(PROPOSERS), len(self.grid), "proposal", "StARS, dense end")

    def run(self, first: int, end: int) -> None:
        """Run the subsamples from number ``first`` on over the first ``end`` alphas, in place of what they had."""
        self._run(slice(first, None), end, f"subsamples from {first}, {end} alphas", "StARS")

    def _run(self, which: slice, end: int, stage: str, description: str) -> None:
        work = [(self.sample, seed, self.grid[:end], self.path_function) for seed in self.seeds[which]]
        results = run_tasks(_fit_subsample, work, stage, description, **self.options)
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
        n_runs, p = len(self.results), self.sample.table.shape[1]
        n_pairs = max(p * (p - 1) // 2, 1)
        # Integers up to the division: a value that equals the threshold is not lost by rounding.
        disagreements = [int((counts * (n_runs - counts)).sum()) for _, counts in map(self.frequencies, range(end))]
        return np.array([2 * number / (n_runs**2 * n_pairs) for number in disagreements])

    def shares(self, k: int) -> sp.csr_array:
        """Return the share of subsamples with each pair at alpha number ``k``, symmetric."""
        (codes, counts), p = self.frequencies(k), self.sample.table.shape[1]
        return symmetric_matrix(pairs_of(codes, p), counts / len(self.results), p)


def _search(runs: _Runs, threshold: float, bounded: bool, n_constant: int) -> Stability:
    """Run what is needed and choose.

    The running maximum never falls: the choice is known as soon as it exceeds the threshold somewhere, or the grid has
    ended.
    """
    n_alphas, n_subsamples = len(runs.grid), len(runs.seeds)
    proposed, n_extensions, guess = n_alphas - 1, 0, np.zeros(n_alphas)
    if bounded and n_subsamples > PROPOSERS:
        runs.propose()
        # The expectation of D from B subsamples is proportional to 1 − 1/B.
        guess = runs.instability(n_alphas) * (1.0 - 1.0 / n_subsamples) / (1.0 - 1.0 / PROPOSERS)
        proposed = _last_stable(guess, threshold)
    first, end = len(runs.results), min(proposed + 2, n_alphas)
    runs.run(first, end)
    while end < n_alphas and (reached := runs.instability(end).max()) <= threshold:
        # Follow the proposers' curve again, scaled to what all subsamples reached here; at least a tenth of the grid.
        further = _last_stable(guess * reached, threshold * guess[:end].max()) + 2
        end, n_extensions = min(max(further, end + max(1, n_alphas // 10)), n_alphas), n_extensions + 1
        runs.run(first, end)
    instability = runs.instability(end)
    index = _last_stable(instability, threshold)
    rest = np.full(n_alphas - end, np.nan)
    return Stability(
        alpha=float(runs.grid[index]),
        index=index,
        alphas=runs.grid,
        instability=np.r_[instability, rest],
        monotone=np.r_[np.maximum.accumulate(instability), rest],
        edge_frequencies=tuple(runs.shares(k) for k in range(end)),
        threshold=threshold,
        subsample_size=runs.sample.size,
        n_subsamples=n_subsamples,
        dense_end=float(runs.grid[proposed]),
        n_extensions=n_extensions,
        n_fits=runs.n_fits,
        n_fits_saved=n_alphas * n_subsamples - runs.n_fits,
        n_constant=n_constant,
    )


def _last_stable(instability: FloatArray, threshold: float) -> int:
    """Return the number of the last alpha before the instability first exceeds the threshold, at least 0."""
    exceeds = instability > threshold
    return max(int(exceeds.argmax()) - 1, 0) if exceeds.any() else len(instability) - 1


def _warn(stability: Stability, constant: NDArray[np.bool_], n_unconverged: int) -> None:
    """Say what the user may want to change, once each."""
    affected = np.flatnonzero(constant.any(axis=0))
    if len(affected):
        shown = ", ".join(map(str, affected[:5])) + (f" and {len(affected) - 5} more" if len(affected) > 5 else "")
        where = f"in {int(constant.any(axis=1).sum())} of {len(constant)} subsamples a column is constant"
        remedy = f"A larger {setting('subsample_size')} (now {stability.subsample_size}) makes this rarer."
        warn(ConstantColumnWarning(f"{where} and has no edges there: column {shown}. {remedy}"))
    if n_unconverged:
        wrong = f"{n_unconverged} of {stability.n_fits} fits did not converge, and their edges may be wrong"
        remedy = f"Raise {setting('max_iter')} or {setting('tol')} of the path function."
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
