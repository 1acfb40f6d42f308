"""Gibbs sampling of rows from a network, with diagnostics of its convergence.

Effective sample size and split-R̂ are those of Vehtari et al. (2021), without ranks. For m half-chains of n draws: W is
the mean of their variances, B/n the variance of their means, and V = W (n − 1)/n + B/n. Then R̂ = sqrt(V / W), the
autocorrelation at lag t is 1 − (W − mean autocovariance)/V, and the effective sample size
m n / (1 + 2 Σ autocorrelations).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import RandomSource, as_generator, check_count, spawn_seeds
from isinglass.arrays import Bytes, FloatArray, Frozen
from isinglass.conditionals import energies
from isinglass.data import Coding, Table, as_table
from isinglass.data.parts.parted_table import is_read
from isinglass.errors import DataError, MixingWarning, setting, warn
from isinglass.machine.threads import thread_count
from isinglass.network import Network
from isinglass.network_like import NetworkLike, as_network
from isinglass.simulate.completions import Completions, sampler_of
from isinglass.simulate.enumeration import can_enumerate
from isinglass.variables import Variables

RHAT_LIMIT = 1.05
"""Largest split-R̂ of chains that have mixed: the classical 1.1 too often accepts chains in two phases of a magnet."""
ESS_PER_CHAIN = 10
"""Smallest effective sample size per chain (Gelman et al., Bayesian Data Analysis, 3rd ed., section 11.5)."""
_COLUMNS_PER_BLOCK = 64  # of the Fourier transforms, to bound their memory


def gibbs_sample(
    network: NetworkLike,
    n_samples: int,
    *,
    burn_in: int = 1000,
    thin: int = 1,
    n_chains: int = 1,
    start: ArrayLike | None = None,
    random_state: RandomSource = None,
    n_threads: int | None = None,
) -> Bytes | Table:
    """Draw rows by Gibbs sampling; a sweep redraws every node given the others, in order.

    Row k = 0, 1, … of a chain is its state after ``burn_in + (k + 1) * thin`` sweeps.

    Parameters
    ----------
    network : Network, Solution, Fit or fitted estimator
        The network. The chains of a network with categories are swept together: ``n_chains=n_samples`` takes little
        longer than one chain.
    n_samples : int
        Number of rows.
    burn_in : int
        Sweeps discarded at the beginning of every chain. `gibbs_diagnostics` tells whether they are enough.
    thin : int
        Sweeps from one row to the next.
    n_chains : int
        Independent chains, at most ``n_samples``. The rows come chain after chain; if ``n_samples`` is not a multiple,
        the first chains have one row more.
    start : array-like of shape (n_features,) or (n_chains, n_features), optional
        Starting states, in values of the categories; by default random rows in which every category of a column is
        equally probable.
    random_state : int, Generator, RandomState, SeedSequence or None
        Seed. Chain k has its own stream, independent of ``n_chains``; with categories all chains share one.
    n_threads : int, optional
        Number of threads; the result does not depend on it.

    Returns
    -------
    ndarray of uint8, shape (n_samples, n_features)
        A `Table` of this shape, if the network has categories.

    Examples
    --------
    >>> from isinglass.simulate import chain_network
    >>> model = chain_network(100, strength=2.0, fields="balanced")
    >>> X = gibbs_sample(model, 500, random_state=0)
    >>> X.shape, round(float((X[:, 1:] == X[:, :-1]).mean()), 2)
    ((500, 100), 0.73)
    """
    n_rows = check_count("n_samples", n_samples)
    before, apart = check_count("burn_in", burn_in, least=0), check_count("thin", thin)
    several = check_count("n_chains", n_chains, most=n_rows)
    whole = as_network(network)
    whole.variables.require_no_covariates("Sampling")
    share, more = divmod(n_rows, several)
    offsets = np.concatenate([[0], np.cumsum(share + (np.arange(several) < more))])
    if not whole.variables.is_binary:
        rows = _sample_categories(whole, offsets, before, apart, start, as_generator(random_state))
        return Table(rows, whole.variables)
    return _sample_binary(whole, offsets, before, apart, start, random_state, thread_count(n_threads))


def _sample_categories(
    network: Network,
    offsets: NDArray[np.int64],
    burn_in: int,
    thin: int,
    start: ArrayLike | None,
    rng: np.random.Generator,
) -> NDArray[np.uint8]:
    """Return the rows ``offsets[c] … offsets[c + 1] - 1`` of every chain c."""
    shape = (len(offsets) - 1, network.n_features)
    states = rng.integers(0, network.variables.sizes, shape, dtype=np.uint8)
    if start is not None:
        states[:] = _fitting(network, start, shape)
    chains = Completions(states, random_state=rng)
    chains.sweep(network, burn_in)
    rows = np.empty((int(offsets[-1]), shape[1]), dtype=np.uint8)
    for k in range(int(np.diff(offsets).max())):
        chains.sweep(network, thin)
        going = offsets[:-1] + k < offsets[1:]
        rows[offsets[:-1][going] + k] = chains.table[going]
    return rows


def _sample_binary(
    network: Network,
    offsets: NDArray[np.int64],
    burn_in: int,
    thin: int,
    start: ArrayLike | None,
    seed: RandomSource,
    n_threads: int,
) -> NDArray[np.uint8]:
    """Return the same for columns of 0 and 1."""
    n_chains, sampler = len(offsets) - 1, sampler_of(network)
    words = np.array([child.generate_state(4, np.uint64) for child in spawn_seeds(seed, n_chains)])  # the generators
    states = np.empty((n_chains, network.n_features), dtype=np.uint8)
    sampler.start(words, states)
    if start is not None:
        states[:] = _fitting(network, start, states.shape)
    rows = np.empty((int(offsets[-1]), network.n_features), dtype=np.uint8)
    sampler.record(words, states, burn_in, thin, offsets, rows, n_threads)
    return rows


def _fitting(network: Network, start: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    states = start if is_read(start) else np.array(start, dtype=object, ndmin=2)
    if states.shape not in (shape, (1, shape[1])):
        raise DataError(f"start must have shape {(shape[1],)} or {shape}; got {np.shape(start)}.")
    try:
        if not is_read(states):
            states = as_table(states, names=network.names, encode=Coding.of(network.variables), missing="impute")
        table = network.table(states)
    except DataError as error:
        problem = str(error).replace("X", "start", 1).partition(". ")[0]  # the advice is for a table
        raise DataError(f"{problem.removesuffix('.')}.") from None
    if table.n_missing:
        raise DataError(f"start must have no missing cells; got {table.n_missing}.")
    return table.codes


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
            f"{burn_in} burn-in sweeps do not seem to be enough for this model: {describe_mixing(diagnostics)} of "
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
    start = Table(dispersed_states(network.variables, n_chains, at_start), network.variables)
    sample = partial(gibbs_sample, burn_in=burn_in, thin=thin, n_chains=n_chains, n_threads=n_threads)
    rows = np.asarray(sample(network, n_chains * n_draws, start=start, random_state=at_run))
    of_rows = energies(network, rows).reshape(n_chains, n_draws)
    return rows, diagnose(rows.reshape(n_chains, n_draws, -1), of_rows)


def dispersed_states(variables: Variables, n_chains: int, random_state: RandomSource) -> Bytes:
    """Return where chains start: a quarter at all zeros, a quarter at the last categories, the others at random."""
    last, quarter = variables.sizes - 1, max(n_chains // 4, 1)
    start = as_generator(random_state).integers(0, last + 1, (n_chains, len(last)), dtype=np.uint8)
    start[:quarter], start[quarter : 2 * quarter] = 0, last
    return start


def describe_mixing(found: MixingDiagnostics) -> str:
    """Say how chains that have not mixed disagree."""
    return (
        f"largest split-R̂ {found.largest_rhat:.3g} (limit {RHAT_LIMIT}), smallest effective sample size "
        f"{found.smallest_ess:.3g}"
    )


def effective_sample_size(draws: ArrayLike) -> FloatArray:
    """Return the number of independent draws that would estimate a mean as precisely as these chains.

    Autocorrelations are pooled over the halves of all chains and summed by Geyer's initial monotone sequence; chains
    that disagree make the number small.

    ``draws`` have shape (n_chains, n_draws) or (n_chains, n_draws, n_quantities), with at least 4 draws per chain; rows
    of `gibbs_sample` become this by ``X.reshape(n_chains, -1, p)``. A quantity that never changes has NaN.
    """
    halves, shape = _split(draws)
    blocks = range(0, halves.shape[2], _COLUMNS_PER_BLOCK)
    parts = [_ess(halves[:, :, k : k + _COLUMNS_PER_BLOCK]) for k in blocks]
    return np.concatenate(parts).reshape(shape)


def split_rhat(draws: ArrayLike) -> FloatArray:
    """Return split-R̂: the standard deviation of all draws relative to that within halves of chains.

    It is near 1 if the chains agree with each other and over time, and infinite if each chain is constant at a
    different value; NaN for a quantity that never changes. ``draws`` are those of `effective_sample_size`.
    """
    halves, shape = _split(draws)
    within, total = _variances(halves)
    with np.errstate(divide="ignore", invalid="ignore"):
        rhat: FloatArray = np.sqrt(total / within)
    return rhat.reshape(shape)


@dataclass(frozen=True, eq=False)
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


def diagnose(states: NDArray[np.uint8], energies: FloatArray) -> MixingDiagnostics:
    """Summarize chains of shape (n_chains, n_draws, n_features) and their energies (n_chains, n_draws)."""
    of_energy = float(effective_sample_size(energies)), float(split_rhat(energies))
    return MixingDiagnostics(effective_sample_size(states), split_rhat(states), *of_energy, len(states))


def _split(draws: ArrayLike) -> tuple[FloatArray, tuple[int, ...]]:
    """Return the halves of all chains as (2 · n_chains, half, quantities), and the shape of the result."""
    array = np.asarray(draws)
    if array.ndim not in (2, 3) or array.shape[1] < 4 or array.size == 0:
        raise DataError(
            "draws must have shape (n_chains, n_draws) or (n_chains, n_draws, n_quantities) with at least 4 draws "
            f"per chain; got {array.shape}."
        )
    half, whole = array.shape[1] // 2, array.reshape(*array.shape[:2], -1)
    # The middle draw of an odd number belongs to neither half.
    return np.concatenate([whole[:, :half], whole[:, -half:]]).astype(np.float64), array.shape[2:]


def _variances(halves: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return W and V of every quantity."""
    n = halves.shape[1]
    within: FloatArray = halves.var(axis=1, ddof=1).mean(axis=0)
    return within, within * (n - 1) / n + halves.mean(axis=1).var(axis=0, ddof=1)


def _ess(halves: FloatArray) -> FloatArray:
    m, n, _ = halves.shape
    within, total = _variances(halves)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = 1.0 - (within - _autocovariance(halves).mean(axis=1)) / total
    rho[0] = 1.0
    # For a reversible chain, sums of neighboring lags are positive and decreasing (Geyer 1992); the rest is noise.
    pairs = rho[0 : n - n % 2 : 2] + rho[1:n:2]
    positive = np.logical_and.accumulate(pairs > 0, axis=0)
    monotone = np.minimum.accumulate(np.where(positive, pairs, 0.0), axis=0)
    time = 2.0 * monotone.sum(axis=0) - 1.0
    # Antithetic chains can be more precise than independent draws; beyond this factor it is noise.
    size: FloatArray = m * n / np.maximum(time, 1.0 / np.log10(max(m * n, 10)))
    return np.where(total > 0, size, np.nan)


def _autocovariance(halves: FloatArray) -> FloatArray:
    """Return the autocovariances (divided by n) at lags 0 … n − 1, shape (n, m, quantities)."""
    n = halves.shape[1]
    centered = halves - halves.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centered, 2 * n, axis=1)
    products = np.fft.irfft(spectrum.real**2 + spectrum.imag**2, 2 * n, axis=1)[:, :n]
    return np.asarray(np.moveaxis(products, 1, 0) / n)
