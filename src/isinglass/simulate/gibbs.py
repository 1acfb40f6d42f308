"""Gibbs sampling of rows from a network, and whether chains forget where they started."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import RandomSource, as_generator, check_count, spawn_seeds
from isinglass.arrays import Bytes
from isinglass.conditionals import energies
from isinglass.data import Coding, Table, as_table
from isinglass.data.parts.parted_table import is_read
from isinglass.errors import DataError, MixingWarning, setting, warn
from isinglass.machine.threads import thread_count
from isinglass.network import Network
from isinglass.network_like import NetworkLike, as_network
from isinglass.simulate.completions import Completions, sampler_of
from isinglass.simulate.enumeration import can_enumerate
from isinglass.simulate.mixing import ESS_PER_CHAIN, MixingDiagnostics, diagnose
from isinglass.variables import Variables


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
    states = None if start is None else _fitting(whole, start, (several, whole.n_features))
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


def _fitting(network: Network, start: ArrayLike, shape: tuple[int, ...]) -> Bytes:
    """Return starting states as codes, a row per chain."""
    states = start if is_read(start) else np.array(start, dtype=object, ndmin=2)
    if states.shape not in (shape, (1, shape[1])):
        raise DataError(f"start must have shape {(shape[1],)} or {shape}; got {np.shape(start) or repr(start)}.")
    try:
        if not is_read(states):
            states = as_table(states, names=network.names, encode=Coding.of(network.variables), missing="impute")
        table = network.table(states)
    except DataError as error:
        problem = str(error).replace("X", "start", 1).partition(". ")[0]  # the advice is for a table
        raise DataError(f"{problem.removesuffix('.')}.") from None
    if table.n_missing:
        raise DataError(f"start must have no missing cells; got {table.n_missing}.")
    return np.broadcast_to(table.codes, shape)


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
