"""Small networks by enumeration of all 2^p states: partition function, moments, likelihood and samples.

States are numbered so that bit s of the number is x_s: state 0 is all zeros, state 1 has x_0 = 1 alone,
state 2 has x_1 = 1 alone. Every vector of length 2^p is in this order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import is_whole
from isinglass.arrays import FloatArray
from isinglass.categories import CategoryNetwork
from isinglass.data import check_sample_weight
from isinglass.errors import ArgumentError, LimitError, setting
from isinglass.network import Network
from isinglass.randomness import RandomSource, as_generator

__all__ = [
    "MAX_NODES",
    "Moments",
    "can_enumerate",
    "exact_sample",
    "log_likelihood",
    "log_partition",
    "log_sum",
    "log_weights",
    "moments",
    "refuse_above_limit",
    "state_probabilities",
    "superset_sums",
]


_STATES_AT_ONCE = 2**14
MAX_NODES = 20  # 2^20 states: 8 MB per vector, about 0.2 s per Newton step on one core


class Moments(NamedTuple):
    """E[x_s] as a vector and E[x_s x_t] as a symmetric matrix whose diagonal is E[x_s]."""

    means: FloatArray
    pairs: FloatArray


# ------------------------------------------------------------------------------------------- one model


def log_partition(model: Network) -> float:
    """Return Ψ(Θ), the logarithm of the sum of exp(−energy) over all 2^p states.

    Examples
    --------
    >>> model = Network.from_couplings([[0.0]], [0.0])
    >>> round(log_partition(model), 6)  # log 2
    0.693147
    """
    return log_sum(log_weights(model.couplings, model.fields))


def state_probabilities(model: Network) -> FloatArray:
    """Return P(x) of all 2^p states; bit s of the position is x_s.

    Examples
    --------
    >>> model = Network.from_couplings([[0, 0], [0, 0]], np.log([3.0, 1.0]))
    >>> state_probabilities(model).round(3).tolist()  # 00, 10, 01, 11
    [0.125, 0.375, 0.125, 0.375]
    """
    weights = log_weights(model.couplings, model.fields)
    return np.asarray(np.exp(weights - log_sum(weights)))


def moments(model: Network) -> Moments:
    """Return the means and pair moments of the model.

    Examples
    --------
    >>> model = Network.from_couplings([[0, 0], [0, 0]], np.log([3.0, 1.0]))
    >>> moments(model).pairs.round(3).tolist()
    [[0.75, 0.375], [0.375, 0.5]]
    """
    sums = superset_sums(state_probabilities(model))
    bits = 1 << np.arange(model.n_features)
    pairs = sums[bits[:, None] | bits]
    return Moments(np.diag(pairs).copy(), pairs)


def log_likelihood(model: Network, X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return the weighted mean of log P(x) over the rows of X.

    The mean, not the sum: its negative is the exact objective without penalty. The value of single
    rows is ``-model.energy(X) - log_partition(model)``.

    Examples
    --------
    >>> model = Network.from_couplings([[0, 0], [0, 0]], np.log([3.0, 1.0]))
    >>> round(log_likelihood(model, [[1, 0], [1, 1]]), 6)  # log 0.375
    -0.980829
    """
    energies = model.energy(X)
    weight = check_sample_weight(sample_weight, len(energies))
    return float(-np.average(energies, weights=weight)) - log_partition(model)


def exact_sample(
    model: Network,
    n_samples: int,
    *,
    random_state: RandomSource = None,
) -> Any:
    """Draw independent rows from the model by enumeration: no Markov chain, no burn-in.

    Parameters
    ----------
    model : Network
        At most `MAX_NODES` nodes; with categories, at most 2^20 states.
    n_samples : int
        Number of rows, at least 1.
    random_state : int, Generator, RandomState or None
        A Generator or a RandomState is advanced, so that the next call differs.

    Returns
    -------
    ndarray of uint8, shape (n_samples, n_features)
        A `CategoryTable` of this shape, if the network has categories.

    Examples
    --------
    >>> model = Network.from_couplings([[0, 50.0], [50.0, 0]], [-25.0, -25.0])
    >>> rows = exact_sample(model, 100, random_state=0)
    >>> bool((rows[:, 0] == rows[:, 1]).all())
    True
    """
    if not is_whole(n_samples) or n_samples < 1:
        raise ArgumentError("n_samples", "must be an integer of at least 1", n_samples)
    if isinstance(model, CategoryNetwork):
        return model.table(_sample_categories(model, int(n_samples), as_generator(random_state)))
    cumulative = np.cumsum(state_probabilities(model))
    # Scaling by the last entry instead of 1 keeps rounding from pointing past the last possible state.
    draws = as_generator(random_state).random(int(n_samples)) * cumulative[-1]
    states = np.searchsorted(cumulative, draws, side="right")
    rows: NDArray[np.uint8] = ((states[:, None] >> np.arange(model.n_features)) & 1).astype(np.uint8)
    return rows


def _sample_categories(model: CategoryNetwork, n_samples: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    sizes, n_states = model.n_categories, int(model.n_categories.prod(dtype=object))
    if not can_enumerate(model):
        raise LimitError(
            f"The network must have at most {2**MAX_NODES} states for enumeration; got {n_states}. "
            "Use simulate.gibbs_sample."
        )
    parts = [np.arange(first, min(first + _STATES_AT_ONCE, n_states)) for first in range(0, n_states, _STATES_AT_ONCE)]
    weights = np.concatenate([-model.energy(_states(part, sizes)) for part in parts])
    cumulative = np.cumsum(np.exp(weights - weights.max()))
    draws = rng.random(n_samples) * cumulative[-1]
    return _states(np.searchsorted(cumulative, draws, side="right"), sizes)


def _states(numbers: NDArray[np.intp], sizes: NDArray[np.intp]) -> NDArray[np.uint8]:
    """Return the categories of states given by number."""
    return np.column_stack(np.unravel_index(numbers, sizes)).astype(np.uint8)


# ------------------------------------------------------------------------------------------- enumeration


def can_enumerate(model: Network) -> bool:
    """Tell whether the states of a network are few enough to list them all: 2^20.

    Examples
    --------
    >>> can_enumerate(Network(np.zeros(20), [], [])), can_enumerate(Network(np.zeros(21), [], []))
    (True, False)
    """
    if isinstance(model, CategoryNetwork):
        return bool(int(model.n_categories.prod(dtype=object)) <= 2**MAX_NODES)
    return model.n_features <= MAX_NODES


def refuse_above_limit(n_features: int) -> None:
    """Raise where 2^p states are too many."""
    if n_features > MAX_NODES:
        raise LimitError(
            f"The number of nodes must be at most {MAX_NODES} for enumeration; got {n_features}. "
            f"Use {setting('method', 'joint', python='ising_path')}, whose pseudo-likelihood needs no enumeration."
        )


def log_weights(couplings: FloatArray, fields: FloatArray) -> FloatArray:
    """Return −energy of all states by doubling: about 2^{p+2} additions and no 2^p × p table."""
    refuse_above_limit(len(fields))
    weights = np.zeros(1)
    for k, field in enumerate(fields):
        logit = np.full(1, field)  # θ_kk + Σ_{t<k} θ_kt x_t over the states of the nodes below k
        for t in range(k):
            logit = np.concatenate([logit, logit + couplings[k, t]])
        weights = np.concatenate([weights, weights + logit])
    return weights


def superset_sums(probabilities: FloatArray) -> FloatArray:
    """Return E[Π_{s in S} x_s] for every set S of nodes, numbered like the states.

    One pass per node. It holds all moments at once, and so the Hessian of Ψ: the covariance of two
    statistics is E[union] − E[one]·E[other].
    """
    sums = probabilities.copy()
    for s in range(len(sums).bit_length() - 1):
        halves = sums.reshape(-1, 2, 1 << s)
        halves[:, 0] += halves[:, 1]
    return sums


def log_sum(weights: FloatArray) -> float:
    """Return log Σ exp(weights), to a small relative error also where one term is nearly all of it."""
    top = int(weights.argmax())
    terms = np.exp(weights - weights[top])
    terms[top] = 0.0
    return float(weights[top] + np.log1p(terms.sum()))
