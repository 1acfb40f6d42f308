"""The partition function of a network, exact where possible, else sampled with bounds; entropy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from isinglass.arguments import RandomSource, as_generator, check_positive, spawn_seeds
from isinglass.arrays import Bytes, FloatArray
from isinglass.conditionals import energies, expit, log_sums
from isinglass.errors import MixingWarning, warn
from isinglass.evaluate.elimination import eliminate, elimination_order
from isinglass.machine.threads import thread_count
from isinglass.network import Network
from isinglass.results import NetworkLike, as_network
from isinglass.simulate.gibbs import draw_categories, node_logits, sampler_of
from isinglass.solve.states import log_sum
from isinglass.variables import Variables

_CHAINS = 200  # of each direction; few may all miss the same rows, which no standard error would show
_FIRST_SWEEPS, _MOST_SWEEPS = 250, 16_000  # per chain and direction
_POOR = 0.5  # nats, from which an estimate is warned about
_PILOT_SWEEPS = 100  # of the run that finds the independent columns to start from
_COUNTED_SWEEPS = 10  # of them, at the end
_SWEEPS_PER_ENERGY = 10


@dataclass(frozen=True)
class LogPartition:
    """log Z of a network, with P(x) = exp(−energy(x) − log Z), and how precisely it is known.

    ``lower`` and ``upper`` are estimates that are too small and too large on average; by chance ``lower`` may exceed
    ``upper``. An exact value has both as bounds, and an error of 0.

    Examples
    --------
    >>> from isinglass import simulate
    >>> network = simulate.grid_network(6, 10, strength=0.8, fields="balanced")
    >>> found = network.log_partition()
    >>> found.lower == found.value == found.upper, found.error
    (True, 0.0)
    """

    value: float  #: log Z
    error: float  #: standard error, or half the distance of the bounds if that is larger; 0 if exact
    lower: float  #: from chains that go from independent columns to the network
    upper: float  #: from chains that go back
    energy: float  #: mean energy of the rows of the network
    energy_error: float  #: its standard error

    @property
    def entropy(self) -> float:
        """Entropy of a row, in nats: log Z plus the mean energy."""
        return self.value + self.energy

    @property
    def entropy_error(self) -> float:
        """Standard error of the entropy."""
        return float(np.hypot(self.error, self.energy_error))


def log_partition(
    network: NetworkLike, *, tol: float = 0.02, random_state: RandomSource = 0, n_threads: int | None = None
) -> LogPartition:
    """Return log Z of a network with all kinds of columns, continuous ones on their grid.

    Exact by variable elimination where no table of neighboring columns has more than 2^22 entries, as for trees, grids
    of up to 21 rows, and any 22 columns of two values. Otherwise by annealed importance sampling in both directions,
    with more and more sweeps until the error is at most ``tol``, or 16 000 per chain and direction.

    Parameters
    ----------
    network : Network, Solution, Fit or fitted estimator
        The network.
    tol : float, default 0.02
        Target error of a sampled value, in nats.
    random_state : int, Generator, RandomState, SeedSequence or None, default 0
        Seed.
    n_threads : int, optional
        Threads of the kernels; the result does not depend on it.
    """
    goal, whole = check_positive("tol", tol), as_network(network)
    whole.variables.require_no_covariates("The joint likelihood")
    found = elimination_order(whole.variables.sizes, whole.edge_index.tolist())
    if found is not None:
        value, energy = eliminate(whole, found[0])
        return LogPartition(value, 0.0, value, value, energy, 0.0)
    return sample_partition(whole, goal, random_state, n_threads)


def sample_partition(
    network: Network, tol: float, random_state: RandomSource = 0, n_threads: int | None = None
) -> LogPartition:
    """Return log Z by sampling, with four times as many sweeps each time until its error is at most ``tol``."""
    n_sweeps, seeds = _FIRST_SWEEPS, iter(spawn_seeds(random_state, 32))
    found = anneal(network, n_sweeps, _CHAINS, next(seeds), n_threads)
    while found.error > tol and n_sweeps < _MOST_SWEEPS:
        n_sweeps = min(4 * n_sweeps, _MOST_SWEEPS)
        found = anneal(network, n_sweeps, _CHAINS, next(seeds), n_threads)
    if found.error > _POOR:
        message = (
            f"log Z is known to ±{found.error:.2g} only: it is between {found.lower:.6g} and {found.upper:.6g} "
            f"after {n_sweeps} sweeps. Weaken the couplings by a larger penalty."
        )
        warn(MixingWarning(message))
    return found


def anneal(
    network: Network, n_sweeps: int, n_chains: int, random_state: RandomSource = None, n_threads: int | None = None
) -> LogPartition:
    """Return log Z by annealed importance sampling, from ``n_chains`` chains of ``n_sweeps`` sweeps in each direction.

    Between independent columns, whose partition function is known, and the network lie the distributions with the
    exponent (1 − β) a(x) + β b(x). A chain goes through them with one Gibbs sweep each and adds up b − a at every step
    of β: the mean of exp(sum) over chains is Z / Z₀ (Neal 2001), and its logarithm is too small on average. Chains that
    start at rows of the network and go back give Z₀ / Z, and a logarithm of Z / Z₀ that is too large on average (Burda,
    Grosse and Salakhutdinov 2015). Bennett's acceptance ratio (1976) joins the two.
    """
    seeds = spawn_seeds(random_state, 5)
    shares = _pilot(network, n_chains, seeds[0], n_threads)
    base = np.log(shares) - np.log(shares)[network.variables.starts][network.variables.column]
    log_z0 = float(log_sums(network.variables, base[:, None]).sum())
    start = _draw(network.variables, shares, n_chains, as_generator(seeds[1]))
    betas = _schedule(n_sweeps)
    forward = _AnnealedChains(network, base, start, seeds[2], n_threads)
    up = forward.run(betas)
    # Rows of the network: chains in proportion to their weights, and as many sweeps as they took to get here.
    weight = np.exp(up - up.max())
    kept = as_generator(seeds[3]).choice(n_chains, n_chains, p=weight / weight.sum())
    backward = _AnnealedChains(network, base, forward.states[kept], seeds[4], n_threads)
    n_energies = max(n_sweeps // 2 // _SWEEPS_PER_ENERGY, 1)  # over the second half
    backward.run(np.ones(n_sweeps - n_energies * _SWEEPS_PER_ENERGY + 1))  # of the network, without a change
    energy = np.zeros(n_chains)
    for _ in range(n_energies):
        backward.run(np.ones(_SWEEPS_PER_ENERGY + 1))
        energy += energies(network, backward.states) / n_energies
    down = -backward.run(betas[::-1])
    value, error = _bennett(up, down, kept)
    lower = float(log_z0 + log_sum(up) - np.log(n_chains))
    upper = float(log_z0 - log_sum(-down) + np.log(n_chains))
    error = max(error, 0.5 * abs(upper - lower))
    energy_error = float(energy.std(ddof=1) / np.sqrt(n_chains))
    return LogPartition(log_z0 + value, error, lower, upper, float(energy.mean()), energy_error)


def _schedule(n_sweeps: int) -> FloatArray:
    """Return β from 0 to 1, in finer steps near both ends."""
    steps = np.linspace(-4.0, 4.0, n_sweeps + 1)
    betas = 1.0 / (1.0 + np.exp(-steps))
    return np.asarray((betas - betas[0]) / (betas[-1] - betas[0]))


def _bennett(up: FloatArray, down: FloatArray, origin: NDArray[np.intp]) -> tuple[float, float]:
    """Return log Z / Z₀ by Bennett's acceptance ratio from as many sums in each direction, and its standard error.

    ``up`` are sums of chains that go from the columns to the network, ``down`` those of chains that come from it, with
    the same sign. Each of these began where the chain ``origin`` had ended: the error is that of independent groups, of
    a chain and those that followed it.
    """
    from scipy.optimize import brentq  # slow to import

    low, high = min(up.min(), down.min()), max(up.max(), down.max())
    c = brentq(lambda c: expit(c - up).sum() - expit(down - c).sum(), low, high)
    ahead, back = expit(up - c), expit(c - down)  # the chance to be taken for one of the other direction
    groups = ahead - ahead.mean() - np.bincount(origin, back - back.mean(), minlength=len(up))
    slope = (ahead * (1.0 - ahead)).sum() + (back * (1.0 - back)).sum()
    return float(c), math.sqrt(len(up)) * float(groups.std(ddof=1)) / max(float(slope), 1e-300)


def _pilot(network: Network, n_chains: int, seed: np.random.SeedSequence, n_threads: int | None) -> FloatArray:
    """Return the share of every category at the end of a short run from random rows, smoothed."""
    variables, (at_start, at_run) = network.variables, seed.spawn(2)
    start = _draw(variables, 1.0 / variables.sizes[variables.column], n_chains, as_generator(at_start))
    chains = _AnnealedChains(network, np.zeros(len(variables.column)), start, at_run, n_threads)
    chains.run(_schedule(_PILOT_SWEEPS))
    counts = np.zeros(len(variables.column))
    for _ in range(_COUNTED_SWEEPS):
        chains.run(np.ones(2))
        counts += np.bincount(variables.flat(chains.states).ravel(), minlength=len(counts))
    smoothed = counts + 0.02 * n_chains * _COUNTED_SWEEPS
    return np.asarray(smoothed / np.add.reduceat(smoothed, variables.starts)[variables.column])


def _draw(variables: Variables, shares: FloatArray, n_rows: int, rng: np.random.Generator) -> Bytes:
    """Return rows of independent columns."""
    columns = [rng.choice(len(p), n_rows, p=p / p.sum()) for p in variables.split(shares)]
    return np.column_stack(columns).astype(np.uint8)


class _AnnealedChains:
    """Chains at a β: Gibbs sweeps with the exponent (1 − β) a(x) + β b(x), a the sum of ``base``, b that of a network.

    Chains of columns of two values have a generator each, those of others share one.
    """

    def __init__(
        self, network: Network, base: FloatArray, start: Bytes, seed: np.random.SeedSequence, n_threads: int | None
    ) -> None:
        self.states = np.array(start, dtype=np.uint8, order="C")
        self._network, self._base = network, base
        if network.variables.is_binary:
            words = np.asarray(seed.generate_state(4 * len(start), np.uint64), dtype=np.uint64).reshape(-1, 4)
            self._kernel = words, sampler_of(network), thread_count(n_threads)
        else:
            self._rng = np.random.default_rng(seed)
            self._logits = node_logits(network, range(network.n_features))

    def run(self, betas: FloatArray) -> FloatArray:
        """Sweep once at every β but the first; return Σ (β_{k+1} − β_k) (b − a)(x_k) of every chain."""
        sums = np.zeros(len(self.states))
        if self._network.variables.is_binary:
            words, sampler, n_threads = self._kernel
            sampler.anneal(words, self.states, self._base[1::2] - self._base[::2], betas, sums, n_threads)
            return sums
        base_of, rows = self._network.variables.split(self._base), np.arange(len(self.states))
        for before, beta in pairwise(betas.tolist()):
            if beta != before:
                own = self._base[self._network.variables.flat(self.states)].sum(axis=0)
                sums += (beta - before) * (-energies(self._network, self.states) - own)  # b − a
            for s, logits_of in enumerate(self._logits):
                logits = beta * logits_of(self.states, rows) + (1.0 - beta) * base_of[s]
                self.states[:, s] = draw_categories(logits, self._rng)
        return sums
