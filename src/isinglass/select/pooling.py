"""Rubin's rules: one estimate, standard error and share of missing information from several completed tables."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy  # its parts are loaded when they are needed
from numpy.typing import NDArray

from isinglass.arguments import RandomSource, check_level, spawn_seeds
from isinglass.arrays import FloatArray, Frozen
from isinglass.data import Table, category_counts
from isinglass.errors import ArgumentError, ConstantColumnWarning, plural, suppress_warnings
from isinglass.machine.threads import thread_count
from isinglass.network import Network
from isinglass.records import Missing
from isinglass.results import Solution, as_solution
from isinglass.select.imputation import Imputation
from isinglass.select.parallel import run_tasks
from isinglass.select.refit import free_estimate, has_errors, nearly_free
from isinglass.select.sandwich import Support
from isinglass.select.settings import Run
from isinglass.select.stochastic_em import PRIOR, SWEEPS
from isinglass.simulate.gibbs import Chains, restrict_to

ROUNDS = 3  # in which each imputation forgets the common network for one of its own


@dataclass(frozen=True, eq=False, repr=False)
class Pooled(Frozen):
    """Unpenalized estimates on a support from several completed tables, pooled by Rubin's rules.

    Arrays over parameters hold the fields, then the edges, then the couplings with covariates; NaN where an estimate
    would be infinite, a column is constant or, for fields, has more than two categories.
    """

    edge_index: NDArray[np.int32]  #: the support
    values: FloatArray  #: mean over the completed tables
    within: FloatArray  #: W, mean of the squared standard errors
    between: FloatArray  #: B, variance between the completed tables
    n_imputations: int  #: M, number of completed tables
    n_features: int  #: number of columns

    @property
    def errors(self) -> FloatArray:
        """Standard errors that account for the missing cells: √(W + (1 + 1/M) B)."""
        return np.asarray(np.sqrt(self.within + self._between))

    @property
    def missing_information(self) -> FloatArray:
        """Share of the information that is lost to missing cells, (1 + 1/M) B / (W + (1 + 1/M) B)."""
        return self._between / (self.within + self._between)

    @property
    def column_information(self) -> FloatArray:
        """Missing information of every column: that of its field."""
        return self.missing_information[: self.n_features]

    @property
    def edge_values(self) -> FloatArray:
        """Couplings."""
        return self._of_edges(self.values)

    @property
    def edge_errors(self) -> FloatArray:
        """Standard errors of the couplings."""
        return self._of_edges(self.errors)

    @property
    def edge_information(self) -> FloatArray:
        """Missing information of every edge."""
        return self._of_edges(self.missing_information)

    @property
    def edge_noise(self) -> FloatArray:
        """Monte Carlo errors of the couplings, √(B / M): how much another seed would change them."""
        return self._of_edges(np.sqrt(self.between / self.n_imputations))

    def edge_intervals(self, level: float = 0.95) -> FloatArray:
        """Return the confidence interval of every coupling, shape (n_edges, 2).

        Its t distribution has (M − 1) / (share of missing information)² degrees of freedom.
        """
        with np.errstate(divide="ignore"):
            freedom = np.minimum((self.n_imputations - 1) / self.edge_information**2, 1e9)
        half = scipy.special.stdtrit(freedom, 0.5 + check_level(level) / 2) * self.edge_errors
        return np.column_stack([self.edge_values - half, self.edge_values + half])

    def note(self, missing: Missing) -> Missing:
        """Return the record of missing cells with the information that is lost to them."""
        column, edge, noise = self.column_information, self.edge_information, self.edge_noise
        return replace(missing, column_information=column, edge_information=edge, edge_noise=noise)

    @property
    def _between(self) -> FloatArray:
        return (1.0 + 1.0 / self.n_imputations) * self.between

    def _of_edges(self, values: FloatArray) -> FloatArray:
        return np.asarray(values[self.n_features : self.n_features + len(self.edge_index)])

    def __repr__(self) -> str:
        return f"Pooled({plural(len(self.edge_index), 'edge')} from {self.n_imputations} completed tables)"


def pool(
    imputation: Imputation, solution: object, *, random_state: RandomSource = 0, n_threads: int | None = None
) -> Pooled:
    """Estimate the couplings of a support without penalty from each completed table, and pool them by Rubin's rules.

    Each completed table is drawn again, from its own network, estimated on the same support from resampled rows: the
    network that cells are drawn from is itself an estimate. As for `refit`, the errors do not account for how the
    support was chosen.

    Parameters
    ----------
    imputation : Imputation
        What `impute` made of the table.
    solution : Solution, Fit or fitted estimator
        Only its edges are used.
    random_state : int, Generator, RandomState, SeedSequence or None, default 0
        Seed.
    n_threads : int, optional
        Completed tables that are worked on at the same time; the result does not depend on it.

    Examples
    --------
    >>> from isinglass import Method, impute, simulate
    >>> X = simulate.exact_sample(simulate.chain_network(4, strength=2.0, fields="balanced"), 500, random_state=0)
    >>> found = impute(np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X))
    >>> pooled = pool(found, Method().choose(found.table).solution)
    >>> bool((pooled.edge_information > 0.02).all())  # a part of what complete cells would tell is missing
    True
    """
    if not isinstance(imputation, Imputation):
        raise ArgumentError("imputation", "must be what impute returns", type(imputation).__name__)
    count = imputation.n_imputations
    if count < 2:
        raise ArgumentError("n_imputations", "must be at least 2 for Rubin's rules", count)
    found = as_solution(solution)
    index, n_features = found.edge_index.copy(), found.network.n_features
    with suppress_warnings(ConstantColumnWarning):
        if imputation.network is None:
            values, errors = free_estimate(imputation.table, found, n_threads)
            return Pooled(index, values, errors**2, np.zeros(len(values)), count, n_features)
        work = [(imputation, k, found, seed) for k, seed in enumerate(spawn_seeds(random_state, count))]
        n_at_once = min(thread_count(n_threads), count)
        estimates = run_tasks(_estimate_again, work, run=Run(progress=False), n_threads=n_at_once)
    values, errors = np.array(estimates).transpose(1, 0, 2)
    return Pooled(index, values.mean(axis=0), (errors**2).mean(axis=0), values.var(axis=0, ddof=1), count, n_features)


def can_pool(imputation: Imputation, solution: Solution) -> bool:
    """Tell whether there are couplings, several completed tables, and standard errors on these."""
    if imputation.network is None or imputation.n_imputations < 2 or not solution.n_edges:
        return False
    table = imputation.completed(0)
    return has_errors(Support.of(table, solution.network), len(table), imputation.n_imputations)


def _estimate_again(
    imputation: Imputation, number: int, solution: Solution, seed: np.random.SeedSequence
) -> tuple[FloatArray, FloatArray]:
    """Return estimates and standard errors from one completed table, drawn from its own network."""
    table, network = redraw(imputation.completed(number), solution, imputation.network, seed)
    return free_estimate(table, solution, n_threads=1, start=network)


def redraw(
    table: Table, solution: Solution, network: Network | None, seed: np.random.SeedSequence
) -> tuple[Table, Network | None]:
    """Return the table with its missing cells drawn from a network of a resample of its rows, and that network.

    Every round takes another resample: then the networks vary like estimates from the observed cells (data
    augmentation). One resample for all rounds would add variance.
    """
    rng = np.random.default_rng(seed)
    gone = np.zeros(table.shape, dtype=bool) if table.drawn is None else table.drawn
    chains, observed = Chains(table.codes, gone, random_state=rng, n_threads=1), category_counts(table) > 0.0
    for _ in range(ROUNDS):
        times = rng.multinomial(len(table), np.full(len(table), 1.0 / len(table))).astype(np.float64)
        drawn = table.with_codes(chains.table).with_weight(times * table.unit_weight)
        network = nearly_free(drawn, solution, PRIOR, n_threads=1, start=network).network
        chains.sweep(restrict_to(observed, network), SWEEPS)
    return table.with_codes(chains.table), network
