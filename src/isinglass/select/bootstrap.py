"""How much a network changes with the rows: the bootstrap of its edges, and dropping cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import ArrayLike, NDArray

from isinglass._core import count_ones
from isinglass.arguments import check_count
from isinglass.data import read_binary, to_weighted
from isinglass.errors import ConstantColumnWarning, DataError
from isinglass.network import Network, read_only
from isinglass.pairs import pair_keys, pairs_of, spread
from isinglass.randomness import RandomSource, spawn_seeds
from isinglass.results import Solution
from isinglass.select.contract import PathFunction, solution_of, with_threads
from isinglass.select.tasks import kernel_threads, quietly, run_tasks
from isinglass.solve.path import ising_path

__all__ = ["Bootstrap", "FitAt", "bootstrap"]

FloatArray = NDArray[np.float64]

QUANTILES = (0.025, 0.5, 0.975)
DROP_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
_CELLS_PER_BLOCK = 4_000_000  # resamples × pairs held at once while the quantiles are taken
_SHOWN_EDGES = 10  # in the repr


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap:
    """Spread of edges and node strengths over resamples of the rows.

    Pairs without an edge in the whole table and in all resamples are not stored: their quantiles and shares are zero.

    Parameters
    ----------
    kind : {"rows", "case-drop"}
        Rows drawn with replacement; or a share of the rows left out.
    solution : Solution
        The network of the whole table.
    edge_index : ndarray of int32, shape (n_pairs, 2)
        Pairs with an edge in the whole table or in at least one resample, in lexicographic order.
    edge_values : ndarray of shape (n_pairs,)
        Their couplings in the whole table.
    edge_means : ndarray of shape (n_pairs,)
        Mean over the resamples, absent edges counted as zero.
    edge_quantiles : ndarray of shape (3, n_pairs)
        2.5 %, 50 % and 97.5 % quantiles over the resamples, absent edges counted as zero.
    inclusion : ndarray of shape (n_pairs,)
        Share of the resamples that have the edge.
    strengths : ndarray of shape (n_boot, n_features)
        Node strength Σ_t |θ_st| in every resample.
    dropped : ndarray of shape (n_boot,)
        Share of the rows left out of every resample; 0 for the kind "rows".
    n_constant : int
        Resamples in which a column was constant that varies in the whole table.
    """

    kind: str
    solution: Solution
    edge_index: NDArray[np.int32]
    edge_values: FloatArray
    edge_means: FloatArray
    edge_quantiles: FloatArray
    inclusion: FloatArray
    strengths: FloatArray
    dropped: FloatArray
    n_constant: int

    def __post_init__(self) -> None:
        for array in vars(self).values():
            if isinstance(array, np.ndarray):
                read_only(array)

    @property
    def n_boot(self) -> int:
        """Number of resamples."""
        return len(self.dropped)

    @property
    def strength(self) -> FloatArray:
        """Node strength Σ_t |θ_st| in the whole table."""
        return self.solution.network.strength

    @property
    def strength_quantiles(self) -> FloatArray:
        """Quantiles 2.5 %, 50 % and 97.5 % of the node strengths over the resamples, shape (3, n_features)."""
        return np.quantile(self.strengths, QUANTILES, axis=0)

    @property
    def correlations(self) -> FloatArray:
        """Correlation over the nodes of every resample's strengths with those of the whole table.

        NaN where the nodes of either do not differ in strength, as in a network without edges.
        """
        return _correlations(self.strengths, self.strength)

    def cs_coefficient(self, *, correlation: float = 0.7, probability: float = 0.95) -> float:
        """Return the largest share of rows that can be dropped while node strength keeps its order.

        This is the correlation stability (CS) coefficient of Epskamp, Borsboom and Fried (2018): the largest share at
        which the correlation with the strengths of the whole table is at least ``correlation`` with probability
        ``probability``. They advise not to interpret strengths below 0.25 and to prefer 0.5. A correlation that does
        not exist counts as too small.

        Parameters
        ----------
        correlation : float, default 0.7
            What the correlation must reach.
        probability : float, default 0.95
            Share of the resamples in which it must.

        Returns
        -------
        float
            One of the shares that were dropped, or 0 if none will do.
        """
        if self.kind != "case-drop":
            raise DataError(f'kind must be "case-drop" for a CS-coefficient; got a bootstrap of kind {self.kind!r}.')
        for value, name in ((correlation, "correlation"), (probability, "probability")):
            if not 0 < value <= 1:
                raise DataError(f"{name} must be above 0 and at most 1; got {value!r}.")
        shares = np.unique(self.dropped)
        enough = np.nan_to_num(self.correlations, nan=-1.0) >= correlation
        kept = [enough[self.dropped == share].mean() >= probability for share in shares]
        return float(shares[kept].max(initial=0.0))

    def __repr__(self) -> str:
        lines = [
            f'Bootstrap("{self.kind}": {self.n_boot} resamples, {len(self.edge_values)} pairs with an edge at least '
            f"once among {self.solution.n_features} nodes)"
        ]
        return "\n".join(lines + (self._describe_drops() if self.kind == "case-drop" else self._describe_edges()))

    def _describe_drops(self) -> list[str]:
        found = np.nan_to_num(self.correlations, nan=0.0)
        rows = [
            f"  {share:7.0%}  {found[self.dropped == share].mean():11.3f}  "
            f"{np.quantile(found[self.dropped == share], 0.05):12.3f}"
            for share in np.unique(self.dropped)
        ]
        header = "  dropped  correlation  5 % quantile"
        return [header, *rows, f"  CS-coefficient of strength: {self.cs_coefficient():g}"]

    def _describe_edges(self) -> list[str]:
        order = np.argsort(-np.abs(self.edge_values), kind="stable")[:_SHOWN_EDGES]
        rows = ["  edge         coupling     2.5 %      50 %    97.5 %  inclusion"] if len(order) else []
        for k in order:
            pair = "–".join(self.solution.names[node] for node in self.edge_index[k])
            quantiles = "  ".join(f"{value:+8.4f}" for value in self.edge_quantiles[:, k])
            rows.append(f"  {pair:<11}  {self.edge_values[k]:+8.4f}  {quantiles}  {self.inclusion[k]:9.1%}")
        more = len(self.edge_values) - len(order)
        return [*rows, f"  … and {more} more"] if more else rows


@dataclass(frozen=True, repr=False)
class FitAt:
    """The network of a path function at one alpha: what a number stands for where a fit is expected.

    Parameters
    ----------
    alpha : float
        The penalty.
    path_function : callable, default ising_path
        ``path_function(X, alphas)``; use `functools.partial` to set its other options.
    n_threads : int, optional
        Threads of its kernels, if it has any; the bootstrap sets it to 1 where fits run side by side.

    Examples
    --------
    >>> FitAt(0.05)(np.array([[0, 0], [0, 1], [1, 1]])).n_edges
    1
    """

    alpha: float
    path_function: PathFunction = ising_path
    n_threads: int | None = field(default=None, compare=False)  # any number may resume a checkpoint

    def __call__(self, X: ArrayLike) -> Solution:
        """Return the solution for this table."""
        return with_threads(self.path_function, self.n_threads)(X, [self.alpha]).solutions[0]


def bootstrap(
    X: ArrayLike,
    fit: Callable[..., Any] | float,
    *,
    n_boot: int = 1000,
    kind: str = "rows",
    drop_shares: Sequence[float] = DROP_SHARES,
    random_state: RandomSource = None,
    n_jobs: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> Bootstrap:
    """Estimate the network again from resampled rows.

    The intervals are those of the estimator that ``fit`` is. A penalty shrinks couplings in every resample alike, so
    that the intervals of a penalised fit lie around the shrunken value, not around the true one.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Table of 0 and 1.
    fit : callable or float
        Takes a table and returns a Solution, or something with a ``solution``, such as `two_stage` or `select_ebic`:
        the penalty is then chosen again in every resample. If it has a parameter ``groups``, it gets the original
        number of every row. A number is an alpha for `ising_path`.
    n_boot : int, default 1000
        Number of resamples.
    kind : {"rows", "case-drop"}, default "rows"
        Draw as many rows as there are, with replacement; or leave a share of the rows out.
    drop_shares : sequence of float
        The shares left out, for "case-drop"; the resamples are divided among them in turn.
    random_state : int, Generator, RandomState, SeedSequence or None
        Seed of the resamples.
    n_jobs : int, optional
        Fits at the same time, as in joblib; -1 is all cores. The result does not depend on it.
    checkpoint : path, optional
        Folder that keeps finished fits, so that an interrupted run can resume.
    progress : bool, optional
        Whether to show a bar on stderr; default only if that is a terminal.

    Returns
    -------
    Bootstrap

    Examples
    --------
    >>> X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [40, 10, 10, 40], axis=0)
    >>> found = bootstrap(X, 0.05, n_boot=200, random_state=0)
    >>> found.edge_index.tolist(), found.inclusion.tolist(), bool(found.edge_quantiles[0, 0] > 1)
    ([[0, 1]], [1.0], True)
    """
    source = read_binary(X)
    table, weight = to_weighted(source, None)
    if weight is not None:
        raise DataError(
            "X must have no row weights here, because rows are drawn, each as likely as the other; got a table that "
            "has. Pass its bare table X.X, or repeat rows."
        )
    count = check_count("n_boot", n_boot)
    fit_table = _as_fit(fit)
    kept, dropped = _plan(kind, drop_shares, count, len(table))
    solution = _checked(solution_of(fit_table, table), table).with_names(source.names)
    seeds = spawn_seeds(random_state, count)
    inside = replace(fit_table, n_threads=kernel_threads(n_jobs)) if isinstance(fit_table, FitAt) else fit_table
    results = run_tasks(
        _fit_resample,
        [(table, inside, seed, size) for seed, size in zip(seeds, kept, strict=True)],
        n_jobs=n_jobs,
        progress=progress,
        checkpoint=checkpoint,
        fingerprint={
            "X": table,
            "fit": fit_table,
            "kind": kind,
            "drop_shares": tuple(drop_shares) if kind == "case-drop" else None,  # not n_boot: a run may be prolonged
            "random_state": seeds[0].entropy,
            # A function that is installed is known by its name only.
            "the network of X": np.column_stack([solution.edge_index, solution.edge_values]),
        },
        stage="resamples",
        description="Bootstrap",
    )
    edges = [(result["edges"], result["values"]) for result in results]
    p = table.shape[1]
    pairs, means, quantiles, inclusion = _summarise(edges, solution)
    return Bootstrap(
        kind,
        solution,
        pairs_of(pairs, p),
        spread(solution.edge_values, pair_keys(solution.edge_index, p), pairs),
        means,
        quantiles,
        inclusion,
        np.array([Network(np.zeros(p), *network).strength for network in edges]),
        dropped,
        sum(bool(result["constant"]) for result in results),
    )


def _as_fit(fit: Callable[..., Any] | float) -> Callable[..., Any]:
    if callable(fit):
        return fit
    if isinstance(fit, bool) or not isinstance(fit, int | float | np.number) or not (np.isfinite(fit) and fit >= 0):
        raise DataError(f"fit must be a function of a table, or an alpha that is not negative; got {fit!r}.")
    return FitAt(float(fit))


def _plan(kind: str, drop_shares: Sequence[float], n_boot: int, n_rows: int) -> tuple[list[int | None], FloatArray]:
    """Return, per resample, how many rows are kept (None: drawn with replacement) and the share dropped."""
    if kind == "rows":
        return [None] * n_boot, np.zeros(n_boot)
    if kind != "case-drop":
        raise DataError(f'kind must be "rows" or "case-drop"; got {kind!r}.')
    shares = np.asarray(drop_shares, dtype=np.float64)
    if shares.ndim != 1 or not len(shares) or not ((shares > 0) & (shares < 1)).all():
        raise DataError(f"drop_shares must be between 0 and 1, both excluded, and not empty; got {drop_shares!r}.")
    dropped = np.resize(shares, n_boot)
    kept = n_rows - np.rint(dropped * n_rows).astype(int)
    if kept.min() < 1:
        raise DataError(f"drop_shares must leave at least one of {n_rows} rows; got {float(shares.max())!r}.")
    return kept.tolist(), dropped


def _fit_resample(
    table: NDArray[np.uint8], fit: Callable[..., Any], seed: SeedSequence, kept: int | None
) -> dict[str, Any]:
    """Return the edges of one resample, their couplings, and whether a column became constant."""
    rng, n = np.random.default_rng(seed), len(table)
    rows = np.sort(rng.integers(0, n, n) if kept is None else rng.permutation(n)[:kept])
    resample = table[rows]
    became_constant = count_ones(table, None)[1] & ~count_ones(resample, None)[1]
    with quietly(ConstantColumnWarning):  # counted instead
        solution = _checked(solution_of(fit, resample, rows), table)
    return {"edges": solution.edge_index, "values": solution.edge_values, "constant": became_constant.any()}


def _checked(solution: Solution, table: NDArray[np.uint8]) -> Solution:
    if not isinstance(solution, Solution):
        raise DataError(
            f"fit must return a Solution; got {type(solution).__name__}. Take one point of a path, or the choice of "
            "a selection: lambda X: select_ebic(X).solution."
        )
    if solution.n_features != table.shape[1]:
        raise DataError(f"fit must return a network of all {table.shape[1]} columns; got {solution.n_features} nodes.")
    return solution


def _summarise(
    edges: list[tuple[NDArray[np.int32], FloatArray]], solution: Solution
) -> tuple[NDArray[np.int64], FloatArray, FloatArray, FloatArray]:
    """Return the pairs seen at least once (as keys), and mean, quantiles and inclusion of each."""
    p, n_boot = solution.n_features, len(edges)
    key = np.concatenate([pair_keys(index, p) for index, _ in edges])
    value = np.concatenate([values for _, values in edges])
    draw = np.repeat(np.arange(n_boot), [len(values) for _, values in edges])
    pairs = np.union1d(key, pair_keys(solution.edge_index, p))
    place = np.searchsorted(pairs, key)
    order = np.argsort(place, kind="stable")
    place, value, draw = place[order], value[order], draw[order]
    means, inclusion, quantiles = np.empty(len(pairs)), np.empty(len(pairs)), np.empty((3, len(pairs)))
    width = max(_CELLS_PER_BLOCK // n_boot, 1)
    for first in range(0, len(pairs), width):
        last = min(first + width, len(pairs))
        some = slice(*np.searchsorted(place, [first, last]))
        block = np.zeros((last - first, n_boot))
        block[place[some] - first, draw[some]] = value[some]
        means[first:last] = block.mean(axis=1)
        inclusion[first:last] = (block != 0.0).mean(axis=1)
        quantiles[:, first:last] = np.quantile(block, QUANTILES, axis=1)
    return pairs, means, quantiles, inclusion


def _correlations(rows: FloatArray, reference: FloatArray) -> FloatArray:
    """Return Pearson's correlation of every row with the reference; NaN where one of them is constant."""
    a, b = rows - rows.mean(axis=1, keepdims=True), reference - reference.mean()
    varies = (np.ptp(rows, axis=1) > 0) & (np.ptp(reference) > 0)
    scale = np.sqrt((a**2).sum(axis=1) * (b**2).sum())
    found: FloatArray = np.divide(a @ b, scale, out=np.full(len(rows), np.nan), where=varies & (scale > 0))
    return np.clip(found, -1.0, 1.0)
