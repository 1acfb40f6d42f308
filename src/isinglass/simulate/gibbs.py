"""Gibbs sampling of rows from a network."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import RandomSource, as_generator, check_count, spawn_seeds
from isinglass.arrays import Bytes
from isinglass.data import Table
from isinglass.errors import DataError
from isinglass.machine.threads import thread_count
from isinglass.network import Network
from isinglass.network_like import NetworkLike, as_network
from isinglass.simulate.completions import Completions, sampler_of


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
        Starting states, as numbers of categories from 0; by default random rows in which every category of a column is
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
    states = None if start is None else _starting_states(whole, start, several)
    share, more = divmod(n_rows, several)
    offsets = np.concatenate([[0], np.cumsum(share + (np.arange(several) < more))])
    if whole.variables.is_binary:
        return _sample_binary(whole, offsets, before, apart, states, random_state, thread_count(n_threads))
    rows = _sample_categories(whole, offsets, before, apart, states, as_generator(random_state))
    return Table(rows, whole.variables)


def _sample_categories(
    network: Network,
    offsets: NDArray[np.int64],
    burn_in: int,
    thin: int,
    start: Bytes | None,
    rng: np.random.Generator,
) -> Bytes:
    """Return the rows ``offsets[c] … offsets[c + 1] - 1`` of every chain c."""
    drawn = rng.integers(0, network.variables.sizes, (len(offsets) - 1, network.n_features), dtype=np.uint8)
    chains = Completions(drawn if start is None else start, random_state=rng)
    chains.sweep(network, burn_in)
    rows = np.empty((int(offsets[-1]), network.n_features), dtype=np.uint8)
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
    start: Bytes | None,
    seed: RandomSource,
    n_threads: int,
) -> Bytes:
    """Return the same for columns of 0 and 1."""
    n_chains, sampler = len(offsets) - 1, sampler_of(network)
    words = np.array([child.generate_state(4, np.uint64) for child in spawn_seeds(seed, n_chains)])  # the generators
    states = np.empty((n_chains, network.n_features), dtype=np.uint8)
    sampler.start(words, states)
    if start is not None:
        states[:] = start
    rows = np.empty((int(offsets[-1]), network.n_features), dtype=np.uint8)
    sampler.record(words, states, burn_in, thin, offsets, rows, n_threads)
    return rows


def _starting_states(network: Network, start: ArrayLike, n_chains: int) -> Bytes:
    """Return starting states, a row per chain."""
    states, shape = np.asarray(start), (n_chains, network.n_features)
    if states.shape not in (shape, (1, shape[1]), shape[1:]):
        raise DataError(f"start must have shape {shape[1:]} or {shape}; got {states.shape or repr(start)}.")
    if states.dtype.kind not in "biu" or not ((states >= 0) & (states < network.variables.sizes)).all():
        raise DataError("start must hold the numbers of categories, from 0: in columns of two values 0 and 1.")
    return np.broadcast_to(states, shape).astype(np.uint8)
