"""Has a Markov chain forgotten its start? Effective sample size and split-R̂, in NumPy.

Notation: m half chains of n draws; W the mean of their variances, B/n the variance of their means, and
V = W (n − 1)/n + B/n the variance that all draws together suggest. Then R̂ = sqrt(V / W), the autocorrelation
at lag t is 1 − (W − mean autocovariance)/V, and the effective sample size m n / (1 + 2 Σ autocorrelations).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray, Frozen
from isinglass.errors import DataError

RHAT_LIMIT = 1.05
"""Largest split-R̂ that counts as mixed: the classical 1.1 lets two phases of a magnet pass too often."""
BURN_IN_TIMES = 10
"""Autocorrelation times that a burn-in should last; what is left of the start is then about exp(−20)."""
_COLUMNS_PER_BLOCK = 64  # of the Fourier transforms, which would otherwise take many times the sample


def effective_sample_size(draws: ArrayLike) -> FloatArray:
    """Return how many independent draws tell as much about a mean as the draws of these chains do.

    Autocorrelations are pooled over the halves of all chains and summed by Geyer's initial monotone sequence,
    as in Vehtari et al. (2021) without ranks: chains that disagree make the number small.

    Parameters
    ----------
    draws : array-like of shape (n_chains, n_draws) or (n_chains, n_draws, n_quantities)
        At least 4 draws per chain. Rows of `gibbs_sample` become this by ``X.reshape(n_chains, -1, p)``.

    Returns
    -------
    ndarray of shape () or (n_quantities,)
        NaN for a quantity that never changes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> steps = rng.normal(size=(4, 1000))
    >>> bool(effective_sample_size(steps) > 3000), bool(effective_sample_size(steps.cumsum(axis=1)) < 40)
    (True, True)
    """
    halves, shape = _split(draws)
    blocks = range(0, halves.shape[2], _COLUMNS_PER_BLOCK)
    parts = [_ess(halves[:, :, k : k + _COLUMNS_PER_BLOCK]) for k in blocks]
    return np.concatenate(parts).reshape(shape)


def split_rhat(draws: ArrayLike) -> FloatArray:
    """Return split-R̂: the spread of all draws over the spread within halves of chains.

    Near 1 if the chains agree with each other and with themselves over time; infinite if every chain stands
    still at a place of its own.

    Parameters
    ----------
    draws : array-like of shape (n_chains, n_draws) or (n_chains, n_draws, n_quantities)
        At least 4 draws per chain.

    Returns
    -------
    ndarray of shape () or (n_quantities,)
        NaN for a quantity that never changes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> bool(split_rhat(rng.normal(size=(4, 1000))) < 1.01)
    True
    >>> float(split_rhat([[0, 0, 0, 0], [1, 1, 1, 1]]))
    inf
    """
    halves, shape = _split(draws)
    within, total = _variances(halves)
    with np.errstate(divide="ignore", invalid="ignore"):
        rhat: FloatArray = np.sqrt(total / within)
    return rhat.reshape(shape)


@dataclass(frozen=True, eq=False, repr=False)
class MixingDiagnostics(Frozen):
    """How well Gibbs chains from scattered starts have mixed."""

    ess: FloatArray  #: effective sample size and split-R̂ of the mean of every node; NaN for a node that never changed
    rhat: FloatArray
    energy_ess: float  #: the same for the energy of the rows
    energy_rhat: float
    n_chains: int  #: chains, and rows of each of them
    n_draws: int
    burn_in: int  #: sweeps discarded, and from row to row
    thin: int

    @property
    def n_constant(self) -> int:
        """Number of nodes that had one value in all rows, about which nothing can be said."""
        return int(np.isnan(self.rhat).sum())

    @property
    def largest_rhat(self) -> float:
        """Largest split-R̂ of a node or of the energy; 1 if nothing ever changed."""
        return _largest(np.append(self.rhat, self.energy_rhat))

    @property
    def autocorrelation_time(self) -> float:
        """Sweeps per effective draw of the slowest node or of the energy, at least 1."""
        return _largest(self.n_chains * self.n_draws * self.thin / np.append(self.ess, self.energy_ess))

    @property
    def mixed(self) -> bool:
        """Whether R̂ is at most 1.05 everywhere and the burn-in lasted 10 autocorrelation times."""
        return self.largest_rhat <= RHAT_LIMIT and self.burn_in >= BURN_IN_TIMES * self.autocorrelation_time

    def __repr__(self) -> str:
        smallest = np.fmin.reduce([*self.ess, self.energy_ess, np.inf])
        return (
            f"MixingDiagnostics({'mixed' if self.mixed else 'NOT mixed'}: largest split-R̂ {self.largest_rhat:.3f}, "
            f"autocorrelation time {self.autocorrelation_time:.3g} sweeps, smallest ESS "
            f"{smallest:.4g} of {self.n_chains} × {self.n_draws} rows, "
            f"burn_in={self.burn_in}, thin={self.thin}"
            + (f", {self.n_constant} constant nodes)" if self.n_constant else ")")
        )


def diagnose(states: NDArray[np.uint8], energies: FloatArray, burn_in: int, thin: int) -> MixingDiagnostics:
    """Summarize chains of shape (n_chains, n_draws, n_features) and their energies (n_chains, n_draws)."""
    m, n, _ = states.shape
    return MixingDiagnostics(
        *(effective_sample_size(states), split_rhat(states)),
        *(float(effective_sample_size(energies)), float(split_rhat(energies))),
        *(m, n, int(burn_in), int(thin)),
    )


def _split(draws: ArrayLike) -> tuple[FloatArray, tuple[int, ...]]:
    """Return the halves of all chains as (2 · n_chains, half, quantities), and the shape of the answer."""
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
    # Sums of neighboring lags are positive and decreasing for a reversible chain (Geyer 1992); from the first
    # that is not, there is only noise.
    pairs = rho[0 : n - n % 2 : 2] + rho[1:n:2]
    positive = np.logical_and.accumulate(pairs > 0, axis=0)
    monotone = np.minimum.accumulate(np.where(positive, pairs, 0.0), axis=0)
    time = 2.0 * monotone.sum(axis=0) - 1.0
    #: Chains that avoid their last value can beat independent draws; beyond this factor it is noise.
    size: FloatArray = m * n / np.maximum(time, 1.0 / np.log10(max(m * n, 10)))
    return np.where(total > 0, size, np.nan)


def _autocovariance(halves: FloatArray) -> FloatArray:
    """Return the autocovariances (divided by n) at lags 0 … n − 1, shape (n, m, quantities)."""
    n = halves.shape[1]
    centered = halves - halves.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centered, 2 * n, axis=1)
    products = np.fft.irfft(spectrum.real**2 + spectrum.imag**2, 2 * n, axis=1)[:, :n]
    return np.asarray(np.moveaxis(products, 1, 0) / n)


def _largest(values: FloatArray) -> float:
    return float(np.max(values[~np.isnan(values)], initial=1.0))
