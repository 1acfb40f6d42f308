"""Whether Gibbs chains have mixed: effective sample size and split-R̂ of Vehtari et al. (2021), without ranks.

For m half-chains of n draws: W is the mean of their variances, B/n the variance of their means, and
V = W (n − 1)/n + B/n. Then R̂ = sqrt(V / W), the autocorrelation at lag t is 1 − (W − mean autocovariance)/V, and the
effective sample size m n / (1 + 2 Σ autocorrelations).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from isinglass.arguments import RandomSource, as_generator, check_count, spawn_seeds
from isinglass.arrays import Bytes, FloatArray, Frozen
from isinglass.conditionals import energies
from isinglass.errors import MixingWarning, setting, warn
from isinglass.network import Network
from isinglass.results import NetworkLike, as_network
from isinglass.simulate.enumeration import can_enumerate
from isinglass.simulate.gibbs import gibbs_sample
from isinglass.variables import Variables

RHAT_LIMIT = 1.05
"""Largest split-R̂ of chains that have mixed: the classical 1.1 too often accepts chains in two phases of a magnet."""
ESS_PER_CHAIN = 10
"""Smallest effective sample size per chain (Gelman et al., Bayesian Data Analysis, 3rd ed., section 11.5)."""
_COLUMNS_AT_ONCE = 64  # of the Fourier transforms, to bound their memory


@dataclass(frozen=True, eq=False, repr=False)
class MixingDiagnostics(Frozen):
    """Effective sample size and split-R̂ of Gibbs chains from dispersed starting states."""

    ess: FloatArray  #: of the mean of every node; NaN for a node that never changed
    rhat: FloatArray
    energy_ess: float  #: of the energy of the rows
    energy_rhat: float
    n_chains: int

    @property
    def largest_rhat(self) -> float:
        """Largest split-R̂ of a node or of the energy; 1 if nothing changed."""
        return float(np.fmax.reduce([*self.rhat, self.energy_rhat, 1.0]))

    @property
    def smallest_ess(self) -> float:
        """Smallest effective sample size of a node or of the energy; infinite if nothing changed."""
        return float(np.fmin.reduce([*self.ess, self.energy_ess, np.inf]))

    @property
    def mixed(self) -> bool:
        """Whether R̂ is at most 1.05 and the effective sample size at least 10 per chain, everywhere."""
        return self.largest_rhat <= RHAT_LIMIT and self.smallest_ess >= ESS_PER_CHAIN * self.n_chains

    @property
    def words(self) -> str:
        """How far the chains agree, in words."""
        return (
            f"largest split-R̂ {self.largest_rhat:.3g} (limit {RHAT_LIMIT}), smallest effective sample size "
            f"{self.smallest_ess:.3g}"
        )

    def __repr__(self) -> str:
        return f"MixingDiagnostics({self.n_chains} chains, {'mixed' if self.mixed else 'NOT mixed'}: {self.words})"


def gibbs_diagnostics(
    network: NetworkLike,
    *,
    n_samples: int = 1000,
    burn_in: int = 1000,
    thin: int = 1,
    n_chains: int = 4,
    random_state: RandomSource = 0,
    n_threads: int | None = None,
) -> MixingDiagnostics:
    """Run chains from dispersed starting states and tell whether ``burn_in`` sweeps are enough for this model.

    A quarter of the chains starts at all zeros, a quarter at all ones (the last categories), the others at random.
    Chains that agree have probably forgotten their start; a region that no chain has visited remains undetected.

    ``n_samples`` is the number of rows per chain, at least 4; the other parameters are those of `gibbs_sample`. A
    MixingWarning says if the chains have not mixed.
    """
    check_count("n_samples", n_samples, least=4)
    check_count("n_chains", n_chains, least=2)
    whole, seeds = as_network(network), spawn_seeds(random_state, 2)
    _, diagnostics = sample_dispersed(whole, n_samples, n_chains, seeds, burn_in, thin, n_threads)
    if not diagnostics.mixed:
        other = "use exact_sample, which needs no chains" if can_enumerate(whole) else "weaken the couplings"
        message = (
            f"{burn_in} burn-in sweeps do not seem to be enough for this model: {diagnostics.words} of "
            f"{n_chains * n_samples} rows (at least {ESS_PER_CHAIN * n_chains}). Raise {setting('burn_in')} and "
            f"{setting('n_samples')}, or {other}."
        )
        warn(MixingWarning(message))
    return diagnostics


def sample_dispersed(
    network: Network,
    n_draws: int,
    n_chains: int,
    seeds: Sequence[np.random.SeedSequence],
    burn_in: int,
    thin: int,
    n_threads: int | None,
) -> tuple[Bytes, MixingDiagnostics]:
    """Return the rows of chains from dispersed states, ``n_draws`` of each, and how they have mixed.

    ``seeds``: of the states and of the chains; the others are as for `gibbs_sample`.
    """
    at_start, at_run = seeds
    start = dispersed_states(network.variables, n_chains, at_start)
    sample = partial(gibbs_sample, burn_in=burn_in, thin=thin, n_chains=n_chains, n_threads=n_threads)
    rows = np.asarray(sample(network, n_chains * n_draws, start=start, random_state=at_run))
    return rows, diagnose(rows.reshape(n_chains, n_draws, -1), energies(network, rows).reshape(n_chains, n_draws))


def dispersed_states(variables: Variables, n_chains: int, random_state: RandomSource) -> Bytes:
    """Return where chains start: a quarter at all zeros, a quarter at the last categories, the others at random."""
    last, quarter = variables.sizes - 1, max(n_chains // 4, 1)
    start = as_generator(random_state).integers(0, last + 1, (n_chains, len(last)), dtype=np.uint8)
    start[:quarter], start[quarter : 2 * quarter] = 0, last
    return start


def diagnose(states: Bytes, energies: FloatArray) -> MixingDiagnostics:
    """Summarize chains of shape (n_chains, n_draws, n_features) and their energies (n_chains, n_draws)."""
    ess, rhat = chain_statistics(states)
    (energy_ess,), (energy_rhat,) = chain_statistics(energies[:, :, None])
    return MixingDiagnostics(ess, rhat, float(energy_ess), float(energy_rhat), len(states))


def chain_statistics(draws: NDArray[np.generic]) -> tuple[FloatArray, FloatArray]:
    """Return effective sample sizes and split-R̂ of draws of shape (n_chains, n_draws, n_quantities).

    Autocorrelations are pooled over the halves of all chains and summed by Geyer's initial monotone sequence. R̂ is
    infinite if each chain is constant at a different value; both are NaN for a quantity that never changes.
    """
    half = draws.shape[1] // 2  # the middle draw of an odd number belongs to neither half
    sizes, rhats = [], []
    for first in range(0, draws.shape[2], _COLUMNS_AT_ONCE):
        some = draws[:, :, first : first + _COLUMNS_AT_ONCE]
        halves = np.concatenate([some[:, :half], some[:, -half:]]).astype(np.float64)
        within = halves.var(axis=1, ddof=1).mean(axis=0)
        total = within * (half - 1) / half + halves.mean(axis=1).var(axis=0, ddof=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            rhats.append(np.sqrt(total / within))
            correlation = 1.0 - (within - _autocovariance(halves).mean(axis=1)) / total
        sizes.append(np.where(total > 0, len(halves) * half / _correlation_time(correlation, len(halves)), np.nan))
    return np.concatenate(sizes), np.concatenate(rhats)


def _correlation_time(correlation: FloatArray, n_chains: int) -> FloatArray:
    """Return 1 + 2 Σ autocorrelations of every quantity, which are given by lag."""
    n = len(correlation)
    correlation[0] = 1.0
    # For a reversible chain, sums of neighboring lags are positive and decreasing (Geyer 1992); the rest is noise.
    pairs = correlation[0 : n - n % 2 : 2] + correlation[1:n:2]
    positive = np.logical_and.accumulate(pairs > 0, axis=0)
    monotone = np.minimum.accumulate(np.where(positive, pairs, 0.0), axis=0)
    # Antithetic chains can be more precise than independent draws; beyond this factor it is noise.
    return np.asarray(np.maximum(2.0 * monotone.sum(axis=0) - 1.0, 1.0 / np.log10(max(n_chains * n, 10))))


def _autocovariance(halves: FloatArray) -> FloatArray:
    """Return the autocovariances (divided by n) at lags 0 … n − 1, shape (n, m, quantities)."""
    n = halves.shape[1]
    centered = halves - halves.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centered, 2 * n, axis=1)
    products = np.fft.irfft(spectrum.real**2 + spectrum.imag**2, 2 * n, axis=1)[:, :n]
    return np.asarray(np.moveaxis(products, 1, 0) / n)
