"""Rows drawn from a network by Gibbs sampling, and whether the chains have mixed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass._core import gibbs_record, gibbs_start, gibbs_sweep
from isinglass.arguments import RandomSource, as_generator, check_count, spawn_seeds
from isinglass.categories import CategoryNetwork
from isinglass.data import to_binary
from isinglass.errors import DataError, MixingWarning, setting, warn
from isinglass.machine import thread_count
from isinglass.network import Network, as_network
from isinglass.results import Solution
from isinglass.simulate.completions import CategoryChains, kernel_arrays
from isinglass.simulate.mixing import BURN_IN_TIMES, RHAT_LIMIT, MixingDiagnostics, diagnose
from isinglass.solve.exact import MAX_NODES

_UPDATES_PER_CALL = 30_000_000  # about a third of a second, after which an interrupt is noticed


def gibbs_sample(
    model: Network | Solution,
    n_samples: int,
    *,
    burn_in: int = 1000,
    thin: int = 1,
    n_chains: int = 1,
    start: ArrayLike | None = None,
    random_state: RandomSource = None,
    n_threads: int | None = None,
) -> Any:
    """Draw rows by Gibbs sampling: sweeps that redraw every node given the others, in order.

    Row k = 0, 1, … of a chain is its state after ``burn_in + (k + 1) * thin`` sweeps. With ``burn_in=0`` and
    ``thin=1`` the first row is one sweep away from the start, which itself is never returned.

    Parameters
    ----------
    model : Network or Solution
        Any number of nodes; the time per sweep is proportional to nodes plus edges. The chains of a network with
        categories are swept side by side: many of them, such as ``n_chains=n_samples``, take little longer than one.
    n_samples : int
        Number of rows.
    burn_in : int
        Sweeps discarded at the beginning of every chain; 0 discards none. Whether it is long enough depends
        on the model: see `gibbs_diagnostics`.
    thin : int
        Sweeps from one row to the next.
    n_chains : int
        Independent chains, at most ``n_samples``. The result holds their rows chain after chain; if
        ``n_samples`` is not a multiple of it, the first chains have one row more.
    start : array-like of shape (n_features,) or (n_chains, n_features), optional
        Where the chains start; by default at independent fair coin flips.
    random_state : int, Generator, RandomState, SeedSequence or None
        Seed; chain k gets a stream of its own, whatever ``n_chains`` is. (With categories all chains share one.)
    n_threads : int, optional
        Threads that share the chains; default as in `isinglass.ising_path`. The result does not depend on it.

    Returns
    -------
    ndarray of uint8, shape (n_samples, n_features)
        A `CategoryTable` of this shape, if the network has categories.

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
    network = as_network(model)
    share, more = divmod(n_rows, several)
    offsets = np.concatenate([[0], np.cumsum(share + (np.arange(several) < more))])
    if isinstance(network, CategoryNetwork):
        return network.table(_sample_categories(network, offsets, before, apart, start, as_generator(random_state)))
    return _sample_binary(network, offsets, before, apart, start, random_state, thread_count(n_threads))


def _sample_categories(
    network: CategoryNetwork,
    offsets: NDArray[np.int64],
    burn_in: int,
    thin: int,
    start: ArrayLike | None,
    rng: np.random.Generator,
) -> NDArray[np.uint8]:
    """Return the rows ``offsets[c] … offsets[c + 1] - 1`` of every chain c."""
    shape = (len(offsets) - 1, network.n_features)
    states = rng.integers(0, network.n_categories, shape, dtype=np.uint8)
    if start is not None:
        states[:] = _fitting(network.read_codes(np.atleast_2d(start)), start, shape)
    chains = CategoryChains(states, random_state=rng)
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
    n_chains, arrays = len(offsets) - 1, kernel_arrays(network)
    words = np.array([child.generate_state(4, np.uint64) for child in spawn_seeds(seed, n_chains)])  # the generators
    states = np.empty((n_chains, network.n_features), dtype=np.uint8)
    gibbs_start(words, states)
    if start is not None:
        states[:] = _fitting(to_binary(np.atleast_2d(start)), start, states.shape)
    step = max(1, _UPDATES_PER_CALL // (n_chains * (network.n_features + len(arrays[1]) // 8)))
    for done in range(0, burn_in, step):
        gibbs_sweep(*arrays, words, states, min(step, burn_in - done), n_threads)
    rows = np.empty((int(offsets[-1]), network.n_features), dtype=np.uint8)
    longest, step = int(np.diff(offsets).max()), max(1, step // thin)
    for first in range(0, longest, step):
        last = min(first + step, longest)
        gibbs_record(*arrays, words, states, thin, offsets, first, last, rows, n_threads)
    return rows


def _fitting(states: NDArray[np.uint8], start: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    if states.shape not in (shape, (1, shape[1])):
        raise DataError(f"start must have shape {(shape[1],)} or {shape}; got {np.shape(start)}.")
    return states


def gibbs_diagnostics(
    model: Network | Solution,
    *,
    n_samples: int = 1000,
    burn_in: int = 1000,
    thin: int = 1,
    n_chains: int = 4,
    random_state: RandomSource = None,
    n_threads: int | None = None,
) -> MixingDiagnostics:
    """Run chains from scattered starts and tell whether ``burn_in`` sweeps are enough for this model.

    The first chain starts at all zeros, the second at all ones (the last categories), the others at random: chains
    that agree after such starts have forgotten them. Agreement is evidence, not proof: a region that no chain has found
    is invisible.

    Parameters
    ----------
    model : Network or Solution
        What is to be sampled.
    n_samples : int
        Rows per chain, at least 4.
    burn_in, thin : int
        As for `gibbs_sample`.
    n_chains : int
        At least 2.
    random_state : int, Generator, RandomState, SeedSequence or None
        Seed.
    n_threads : int, optional
        As for `gibbs_sample`.

    Warns
    -----
    MixingWarning
        If the chains have not mixed; the message says what to change.

    Examples
    --------
    >>> from isinglass.simulate import chain_network
    >>> gibbs_diagnostics(chain_network(10, fields="balanced"), random_state=0).mixed
    True
    """
    n_draws, m = check_count("n_samples", n_samples, least=4), check_count("n_chains", n_chains, least=2)
    whole = as_network(model)
    at_start, at_run = spawn_seeds(random_state, 2)
    last = whole.n_categories - 1 if isinstance(whole, CategoryNetwork) else np.ones(whole.n_features, dtype=np.intp)
    start = as_generator(at_start).integers(0, last + 1, (m, whole.n_features), dtype=np.uint8)
    start[0], start[1] = 0, last
    asked: Any = {"burn_in": burn_in, "thin": thin, "n_threads": n_threads}
    rows = gibbs_sample(model, m * n_draws, n_chains=m, start=start, random_state=at_run, **asked)
    states = np.asarray(rows).reshape(m, n_draws, -1)
    diagnostics = diagnose(states, whole.energy(rows).reshape(m, n_draws), burn_in, thin)
    if not diagnostics.mixed:
        warn(MixingWarning(_mixing_message(diagnostics)))
    return diagnostics


def _mixing_message(found: MixingDiagnostics) -> str:
    time, burn_in = found.autocorrelation_time, setting("burn_in")
    why = f"an effective draw takes {time:.3g} sweeps. Raise {burn_in} to {math.ceil(BURN_IN_TIMES * time)},"
    if found.largest_rhat > RHAT_LIMIT:
        why = (
            f"chains from different starts disagree (largest split-R̂ {found.largest_rhat:.3g}, limit {RHAT_LIMIT}). "
            f"Raise {burn_in} and {setting('n_samples')} well above the {time:.3g} sweeps per effective draw seen so "
            "far, weaken the couplings,"
        )
    return (
        f"{found.burn_in} burn-in sweeps do not seem to be enough for this model: {why} or use exact_sample (up to "
        f"{MAX_NODES} nodes)."
    )
