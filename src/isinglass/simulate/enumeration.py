"""Small networks by enumeration of all states: probabilities, moments and samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isinglass.arguments import RandomSource, as_generator, check_count
from isinglass.arrays import Bytes, FloatArray
from isinglass.conditionals import energies
from isinglass.data import Table
from isinglass.errors import LimitError
from isinglass.network import Network
from isinglass.results import NetworkLike, as_network
from isinglass.solve.states import MAX_NODES, log_sum, log_weights, refuse_above_limit, superset_sums

_STATES_AT_ONCE = 2**14


class Moments(NamedTuple):
    """E[x_s] as a vector and E[x_s x_t] as a symmetric matrix whose diagonal is E[x_s]."""

    means: FloatArray
    pairs: FloatArray


def state_probabilities(network: NetworkLike) -> FloatArray:
    """Return P(x) of all 2^p states; bit s of the position is x_s.

    Examples
    --------
    >>> model = Network.from_couplings([[0, 0], [0, 0]], np.log([3.0, 1.0]))
    >>> state_probabilities(model).round(3).tolist()  # 00, 10, 01, 11
    [0.125, 0.375, 0.125, 0.375]
    """
    whole = as_network(network)
    whole.variables.require_two_values("The network")
    refuse_above_limit(whole.n_features, "Estimate them from rows that simulate.gibbs_sample draws.")
    weights = log_weights(whole.couplings, whole.fields)
    return np.asarray(np.exp(weights - log_sum(weights)))


def moments(network: NetworkLike) -> Moments:
    """Return the means and pair moments of a network.

    Examples
    --------
    >>> model = Network.from_couplings([[0, 0], [0, 0]], np.log([3.0, 1.0]))
    >>> moments(model).pairs.round(3).tolist()
    [[0.75, 0.375], [0.375, 0.5]]
    """
    sums = superset_sums(state_probabilities(network))
    bits = 1 << np.arange(len(sums).bit_length() - 1)
    pairs = sums[bits[:, None] | bits]
    return Moments(np.diag(pairs).copy(), pairs)


def exact_sample(network: NetworkLike, n_samples: int, *, random_state: RandomSource = None) -> Bytes | Table:
    """Draw independent rows from a network by enumeration: no Markov chain, no burn-in.

    Parameters
    ----------
    network : Network, Solution, Fit or fitted estimator
        At most `MAX_NODES` nodes; with categories, at most 2^20 states.
    n_samples : int
        Number of rows, at least 1.
    random_state : int, Generator, RandomState or None
        A Generator or a RandomState is advanced, so that the next call differs.

    Returns
    -------
    ndarray of uint8, shape (n_samples, n_features)
        A `Table` of this shape, if the network has categories.

    Examples
    --------
    >>> model = Network.from_couplings([[0, 50.0], [50.0, 0]], [-25.0, -25.0])
    >>> rows = exact_sample(model, 100, random_state=0)
    >>> bool((rows[:, 0] == rows[:, 1]).all())
    True
    """
    n_rows = check_count("n_samples", n_samples)
    whole = as_network(network)
    whole.variables.require_no_covariates("Sampling")
    if not can_enumerate(whole):
        raise LimitError(
            f"The network must have at most {2**MAX_NODES} states for enumeration; got {_count_states(whole)}. "
            "Use simulate.gibbs_sample."
        )
    is_binary = whole.variables.is_binary
    cumulative = np.cumsum(state_probabilities(whole) if is_binary else _category_weights(whole))
    # Scaling by the last entry instead of 1 keeps rounding from pointing past the last possible state.
    draws = as_generator(random_state).random(n_rows) * cumulative[-1]
    states = np.searchsorted(cumulative, draws, side="right")
    if is_binary:
        return np.asarray((states[:, None] >> np.arange(whole.n_features)) & 1, dtype=np.uint8)
    return Table(_rows_of(states, whole), whole.variables)


def _category_weights(network: Network) -> FloatArray:
    """Return exp(−energy) of all states, the largest of them 1."""
    n_states = _count_states(network)
    parts = np.split(np.arange(n_states), range(_STATES_AT_ONCE, n_states, _STATES_AT_ONCE))
    weights = np.concatenate([-energies(network, _rows_of(part, network)) for part in parts])
    return np.asarray(np.exp(weights - weights.max()))


def _rows_of(states: NDArray[np.intp], network: Network) -> Bytes:
    return np.column_stack(np.unravel_index(states, network.variables.sizes)).astype(np.uint8)


def _count_states(network: Network) -> int:
    return int(network.variables.sizes.prod(dtype=object))


def can_enumerate(network: Network) -> bool:
    """Tell whether the states of a network are few enough to list them all: 2^20."""
    return _count_states(network) <= 1 << MAX_NODES
