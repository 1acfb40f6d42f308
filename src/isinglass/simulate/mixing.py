"""Whether Markov chains have mixed: effective sample size and split-R̂ of Vehtari et al. (2021), without ranks.

For m half-chains of n draws: W is the mean of their variances, B/n the variance of their means, and
V = W (n − 1)/n + B/n. Then R̂ = sqrt(V / W), the autocorrelation at lag t is 1 − (W − mean autocovariance)/V, and the
effective sample size m n / (1 + 2 Σ autocorrelations).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray, Frozen
from isinglass.errors import DataError

RHAT_LIMIT = 1.05
"""Largest split-R̂ of chains that have mixed: the classical 1.1 too often accepts chains in two phases of a magnet."""
ESS_PER_CHAIN = 10
"""Smallest effective sample size per chain (Gelman et al., Bayesian Data Analysis, 3rd ed., section 11.5)."""
_COLUMNS_PER_BLOCK = 64  # of the Fourier transforms, to bound their memory


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


def diagnose(states: NDArray[np.uint8], energies: FloatArray) -> MixingDiagnostics:
    """Summarize chains of shape (n_chains, n_draws, n_features) and their energies (n_chains, n_draws)."""
    of_energy = float(effective_sample_size(energies)), float(split_rhat(energies))
    return MixingDiagnostics(effective_sample_size(states), split_rhat(states), *of_energy, len(states))


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
