"""How much a network changes with the rows: the bootstrap, and dropping cases."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import MOST_TASKS, RandomSource, check_count, spawn_seeds
from isinglass.arrays import FloatArray
from isinglass.data import CategoryTable, are_counts, bare_rows, read_categories, scaled_weights_of, which_vary
from isinglass.errors import ArgumentError, ConvergenceWarning, setting, warn
from isinglass.network import pair_keys, pairs_of
from isinglass.results import Solution
from isinglass.select.contract import Method, labels_of, run_method
from isinglass.select.impute import impute_first, imputes, keep_penalty_inside
from isinglass.select.method import as_method, failed, fit_quietly, run_quickly, solution_of
from isinglass.select.spread import Bootstrap
from isinglass.select.tasks import kernel_threads, run_tasks

DROP_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


def bootstrap(
    X: Any,
    method: Any = None,
    *,
    n_boot: int = 1000,
    kind: str = "rows",
    drop_shares: Sequence[float] = DROP_SHARES,
    reselect: bool = True,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: RandomSource = None,
    n_jobs: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> Bootstrap:
    """Refit the network to resampled rows, including the choice of the penalty.

    The intervals are those of the method. A penalty shrinks couplings in every resample alike, so the intervals of a
    penalized fit lie around the shrunken value, not around the true one.

    Parameters
    ----------
    X : array, data frame, sparse matrix, list of rows, BinaryTable or CategoryTable, shape (n_samples, n_features)
        Table of 0 and 1, or of what the estimator reads as such; or one with categories. A table that was read with
        ``missing="impute"`` is imputed anew in every resample; `impute_first` sets how.
    method : estimator, fit, function or float, optional
        What gives the network; `two_stage` by default, as everywhere. An estimator, fitted or not, is fitted anew to
        every resample. A function takes a table and returns a Solution or a record that has one, such as
        `select_ebic`, `nodewise_ebic` (the IsingFit network) or `stars`; set its options with `functools.partial`. A
        number is an alpha for `ising_path`.
    n_boot : int, default 1000
        Number of resamples.
    kind : {"rows", "case-drop"}, default "rows"
        Draw as many rows as there are, with replacement; or leave a share of the rows out.
    drop_shares : sequence of float
        The shares left out, for "case-drop"; the resamples are divided among them in turn. ``[0.5]`` gives the
        selection frequencies of stability selection.
    reselect : bool, default True
        Choose the penalty again in every resample; False keeps the one that was chosen for the whole table.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights: counts if they are whole numbers, else sampling weights; `read_binary` states it otherwise. The
        equal rows that a count stands for are drawn one by one; rows with sampling weights are all drawn alike, and
        keep their weights.
    groups : array-like of shape (n_samples,), optional
        Rows with equal entries are drawn together, such as the answers of one person; a method that takes ``groups``
        also keeps them in one fold.
    random_state : int, Generator, RandomState, SeedSequence or None
        Seed of the resamples.
    n_jobs : int, optional
        Resamples to run in parallel, as in joblib; -1 uses all cores. The result does not depend on it.
    checkpoint : path, optional
        Folder that keeps finished resamples: an interrupted run resumes there, and a finished one can be prolonged.
    progress : bool, optional
        Show a progress bar on stderr; by default only if that is a terminal.

    Notes
    -----
    A resample is the whole table with new weights: how often each row was drawn; with sampling weights it is a table of
    the rows that were drawn. Folds inside it are made of original rows, and a row is never held out from its own
    copies, unless counts say that equal rows are different respondents.

    Examples
    --------
    >>> X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [40, 10, 10, 40], axis=0)
    >>> found = bootstrap(X, 0.05, n_boot=200, random_state=0)
    >>> found.edge_index.tolist(), found.inclusion.tolist(), bool(found.edge_quantiles[0, 0] > 1)
    ([[0, 1]], [1.0], True)
    """
    count = check_count("n_boot", n_boot, most=MOST_TASKS)
    wanted = as_method(method)
    data = _read(X, method, wanted)
    if data.holes is not None:
        wanted = functools.partial(wanted if imputes(wanted) else impute_first(wanted), holes=data.holes)
    weight = scaled_weights_of(data, sample_weight)
    draw = _Draw.of(len(data), weight, groups)
    shares = _plan(kind, drop_shares, count, draw)
    rows = bare_rows(data)
    result = run_method(wanted, rows, sample_weight=weight, groups=draw.labels)
    fitted = getattr(method, "network_", None)  # which may know names that the table lacks
    solution = solution_of(result, wanted, rows, weight).with_names(data.names or getattr(fitted, "names", None))
    again = wanted if reselect else keep_penalty_inside(wanted, result)
    seeds = spawn_seeds(random_state, count)
    inside = run_quickly(again, kernel_threads(n_jobs))
    fingerprint = {
        "X": rows,
        "sample_weight": weight,
        "groups": draw.labels,
        "method": run_quickly(again, None),
        "kind": kind,
        "drop_shares": tuple(drop_shares) if kind == "case-drop" else None,  # not n_boot: a run may be prolonged
        "random_state": seeds[0].entropy,
        # A function that is installed is known by its name only.
        "the network of X": np.column_stack([solution.edge_index, solution.edge_values]),
    }
    options: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress, "checkpoint": checkpoint}
    work = [(rows, inside, draw, seed, share) for seed, share in zip(seeds, shares.tolist(), strict=True)]
    results = run_tasks(_fit_resample, work, "resamples", "Bootstrap", fingerprint=fingerprint, **options)
    return _gather(kind, solution, results, shares)


def _read(X: Any, method: Any, wanted: Method) -> Any:
    """Return the table, read as the estimator says; one with missing cells as it is, if the method imputes them."""
    if isinstance(X, CategoryTable):
        return X
    if hasattr(method, "get_params"):
        return read_categories(X, **(method.reading or {}))
    return read_categories(X, missing="impute") if imputes(wanted) else read_categories(X)


@dataclass(frozen=True, eq=False)
class _Draw:
    """How rows are drawn: units (rows, or groups of them), how many of each there are, and what a row then counts."""

    sizes: NDArray[np.int64]  # how many of each unit can be drawn: 1, or the count of a row
    unit: NDArray[np.intp]  # the unit of every row
    scale: FloatArray  # what a row counts each time its unit is drawn
    labels: NDArray[Any] | None  # rows with equal entries stay in one fold; None: equal rows are different respondents

    @property
    def total(self) -> int:
        """How many units there are."""
        return int(self.sizes.sum())

    @classmethod
    def of(cls, n_rows: int, weight: FloatArray | None, groups: ArrayLike | None) -> _Draw:
        """Return how the rows of a table are drawn."""
        unit, scale = np.arange(n_rows), np.ones(n_rows) if weight is None else weight
        if groups is not None:
            labels = labels_of(groups, n_rows)
            known, unit = np.unique(labels, return_inverse=True)
            return cls(np.ones(len(known), dtype=np.int64), unit, scale, labels)
        if are_counts(weight) and scale.sum() < 2**53:
            return cls(scale.astype(np.int64), unit, np.ones(n_rows), unit if scale.max() <= 1.0 else None)
        return cls((scale > 0).astype(np.int64), unit, scale, unit)

    def kept(self, share: float) -> int:
        """Return how many units stay if a share of them is dropped."""
        return self.total - round(share * self.total)

    def times(self, rng: Generator, share: float) -> NDArray[np.int64]:
        """Return how often every row is in a resample: with replacement, or without a share of the units."""
        if share:
            times = rng.multivariate_hypergeometric(self.sizes, self.kept(share), method="marginals")
        else:
            times = rng.multinomial(self.total, self.sizes / self.total)
        return np.asarray(times[self.unit])


def _plan(kind: str, drop_shares: Sequence[float], n_boot: int, draw: _Draw) -> FloatArray:
    """Return the share that each resample drops; 0: drawn with replacement."""
    if kind == "rows":
        return np.zeros(n_boot)
    if kind != "case-drop":
        raise ArgumentError("kind", 'must be "rows" or "case-drop"', kind)
    shares = np.asarray(drop_shares, dtype=np.float64)
    if shares.ndim != 1 or not len(shares) or not ((shares > 0) & (shares < 1)).all():
        raise ArgumentError("drop_shares", "must be between 0 and 1, both excluded, and not empty", drop_shares)
    if draw.kept(float(shares.max())) < 1:
        raise ArgumentError("drop_shares", f"must leave at least one of {draw.total} rows", float(shares.max()))
    return np.resize(shares, n_boot)


def _fit_resample(table: Any, method: Method, draw: _Draw, seed: SeedSequence, share: float) -> dict[str, Any]:
    """Return the network of one resample, and whether a column became constant."""
    times = draw.times(np.random.default_rng(seed), share)
    became_constant = which_vary(table, None) & ~which_vary(table[(times > 0) & (draw.scale > 0.0)], None)
    weight, labels = times * draw.scale, draw.labels
    if not are_counts(draw.scale):  # a row that was drawn twice is two rows, each with its sampling weight
        rows = np.repeat(np.arange(len(times)), times)
        assert labels is not None
        table, weight, labels = table[rows], draw.scale[rows], labels[rows]
        if imputes(method):
            method = functools.partial(method, holes=method.keywords["holes"][rows])  # type: ignore[attr-defined]
    solution = fit_quietly(method, table, weight, labels)
    return {
        "edges": solution.edge_index,
        "values": solution.edge_values,
        "fields": solution.fields,
        "alpha": solution.alpha,
        "constant": became_constant.any(),
        "converged": not failed(solution),
    }


def _gather(kind: str, solution: Solution, results: list[dict[str, Any]], shares: FloatArray) -> Bootstrap:
    """Put the networks side by side."""
    p = solution.n_features
    keys = [pair_keys(result["edges"], p) for result in results]
    pairs = np.unique(np.concatenate([*keys, pair_keys(solution.edge_index, p)]))
    values = np.concatenate([result["values"] for result in results])
    draw = np.repeat(np.arange(len(results)), [len(key) for key in keys])
    place = np.searchsorted(pairs, np.concatenate(keys))
    n_unconverged = sum(not result["converged"] for result in results)
    if n_unconverged:
        few = f"{n_unconverged} of {len(results)} resamples did not reach the tolerance"
        warn(ConvergenceWarning(f"{few}. Raise {setting('max_iter')} or {setting('tol')}."))
    draws = sp.csc_array((values, (draw, place)), shape=(len(results), len(pairs)))
    fields = np.array([result["fields"] for result in results])
    alphas = np.array([float(result["alpha"]) for result in results])
    n_constant = sum(bool(result["constant"]) for result in results)
    edge_index = pairs_of(pairs, p)
    return Bootstrap(kind, solution, edge_index, draws, fields, alphas, shares, n_constant, n_unconverged)
