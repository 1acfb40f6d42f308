"""The partition function of a network, exact where possible, else sampled with bounds; entropy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isinglass.arguments import RandomSource, check_count, check_positive, spawn_seeds
from isinglass.errors import ArgumentError, DataError, LimitError, MixingWarning, setting, warn
from isinglass.evaluate.elimination import MAX_STATES, eliminate, elimination_order
from isinglass.network import Network, NetworkLike, as_network
from isinglass.simulate.annealing import anneal

METHODS = ("auto", "exact", "annealed")
_FIRST_SWEEPS = 250
_POOR = 0.5  # nats, from which an estimate is warned about


@dataclass(frozen=True)
class LogPartition:
    """log Z of a network, with P(x) = exp(−energy(x) − log Z), and how precisely it is known.

    ``lower`` and ``upper`` are estimates that are too small and too large on average; by chance ``lower`` may exceed
    ``upper``. An exact value has both as bounds.

    Examples
    --------
    >>> from isinglass import simulate
    >>> network = simulate.grid_network(6, 10, strength=0.8, fields="balanced")
    >>> found = network.log_partition()
    >>> found.method, found.error
    ('exact', 0.0)
    >>> sampled = log_partition(network, method="annealed", tol=0.05)
    >>> abs(sampled.value - found.value) < 3 * sampled.error
    True
    """

    value: float  #: log Z
    error: float  #: standard error, or half the distance of the bounds if that is larger; 0 if exact
    method: str  #: "exact" or "annealed"
    lower: float  #: from chains that go from independent columns to the network
    upper: float  #: from chains that go back
    energy: float  #: mean energy of the rows of the network
    energy_error: float  #: its standard error
    n_sweeps: int = 0  #: sweeps of each chain in each direction

    @property
    def entropy(self) -> float:
        """Entropy of a row, in nats: log Z plus the mean energy."""
        return self.value + self.energy

    @property
    def entropy_error(self) -> float:
        """Standard error of the entropy."""
        return float(np.hypot(self.error, self.energy_error))


def log_partition(
    network: NetworkLike,
    *,
    method: str = "auto",
    tol: float = 0.02,
    max_sweeps: int = 16_000,
    n_chains: int = 200,
    random_state: RandomSource = 0,
    n_threads: int | None = None,
) -> LogPartition:
    """Return log Z of a network with all kinds of columns, continuous ones on their grid.

    Exact by variable elimination where no table of neighboring columns has more than 2^22 entries, as for trees, grids
    of up to 21 rows, and any 22 columns of two values. Otherwise by annealed importance sampling in both directions,
    with more and more sweeps until the error is at most ``tol``.

    Parameters
    ----------
    network : Network, Solution, Fit or fitted estimator
        The network.
    method : {"auto", "exact", "annealed"}, default "auto"
        "exact" refuses a network whose tables would be too large.
    tol : float, default 0.02
        Target error, in nats.
    max_sweeps : int, default 16000
        Sweeps per chain and direction after which the estimate is taken as it is.
    n_chains : int, default 200
        Chains of each direction.
    random_state : int, Generator, RandomState, SeedSequence or None, default 0
        Seed.
    n_threads : int, optional
        Threads of the kernels; the result does not depend on it.
    """
    if method not in METHODS:
        raise ArgumentError("method", f"must be one of {', '.join(METHODS)}", method)
    goal, most = check_positive("tol", tol), check_count("max_sweeps", max_sweeps, least=10)
    chains, whole = check_count("n_chains", n_chains, least=10), as_network(network)
    if whole.variables.has_covariates:
        raise DataError("The joint likelihood needs a network without covariates: they have no distribution.")
    edges, sizes = whole.edge_index.tolist(), whole.variables.sizes
    found = None if method == "annealed" else elimination_order(sizes, edges)
    if found is not None:
        value, energy = eliminate(whole, found[0])
        return LogPartition(value, 0.0, "exact", value, value, energy, 0.0)
    if method == "exact":
        raise LimitError(
            f"The tables of neighboring columns would have more than {MAX_STATES} entries. Use "
            f"{setting('method', 'annealed')}, which samples."
        )
    return _sample(whole, goal, most, chains, random_state, n_threads)


def _sample(
    network: Network, tol: float, max_sweeps: int, n_chains: int, seed: RandomSource, n_threads: int | None
) -> LogPartition:
    n_sweeps, seeds = min(_FIRST_SWEEPS, max_sweeps), iter(spawn_seeds(seed, 32))
    while True:
        found = anneal(network, n_sweeps, n_chains, next(seeds), n_threads)
        error = max(found.standard_error, 0.5 * abs(found.upper - found.lower))
        if error <= tol or n_sweeps >= max_sweeps:
            break
        n_sweeps = min(4 * n_sweeps, max_sweeps)
    if error > _POOR:
        warn(
            MixingWarning(
                f"log Z is known to ±{error:.2g} only: it is between {found.lower:.6g} and {found.upper:.6g} "
                f"after {n_sweeps} sweeps. Raise {setting('max_sweeps')}, or weaken the couplings by a larger penalty."
            )
        )
    bounds = found.lower, found.upper, found.energy, found.energy_error
    return LogPartition(found.value, error, "annealed", *bounds, n_sweeps)
