"""Small networks by enumeration of all 2^p states: partition function, moments, samples, and the penalized likelihood.

States are numbered so that bit s of the number is x_s: state 0 is all zeros, state 1 has x_0 = 1 alone,
state 2 has x_1 = 1 alone. Every vector of length 2^p is in this order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import RandomSource, as_generator, is_whole
from isinglass.arrays import FloatArray
from isinglass.categories import CategoryNetwork
from isinglass.data import check_sample_weight, read_binary
from isinglass.errors import ArgumentError, LimitError, setting
from isinglass.network import Network
from isinglass.objective.reduced import Reduced, refuse_vanishing

MAX_NODES = 20  # 2^20 states: 8 MB per vector, about 0.2 s per Newton step on one core
_STATES_AT_ONCE = 2**14
_RIDGE = 1e-12  # relative; keeps the Newton matrix invertible, changes the rate and not the optimum


class Moments(NamedTuple):
    """E[x_s] as a vector and E[x_s x_t] as a symmetric matrix whose diagonal is E[x_s]."""

    means: FloatArray
    pairs: FloatArray


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


def exact_sample(model: Network, n_samples: int, *, random_state: RandomSource = None) -> Any:
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
    probabilities = _category_weights(model) if isinstance(model, CategoryNetwork) else state_probabilities(model)
    cumulative = np.cumsum(probabilities)
    # Scaling by the last entry instead of 1 keeps rounding from pointing past the last possible state.
    draws = as_generator(random_state).random(int(n_samples)) * cumulative[-1]
    states = np.searchsorted(cumulative, draws, side="right")
    if isinstance(model, CategoryNetwork):
        return model.table(_states(states, model))
    return ((states[:, None] >> np.arange(model.n_features)) & 1).astype(np.uint8)


def _category_weights(model: CategoryNetwork) -> FloatArray:
    """Return exp(−energy) of all states, the largest of them 1."""
    n_states = _count_states(model)
    if not can_enumerate(model):
        raise LimitError(
            f"The network must have at most {2**MAX_NODES} states for enumeration; got {n_states}. "
            "Use simulate.gibbs_sample."
        )
    parts = [np.arange(first, min(first + _STATES_AT_ONCE, n_states)) for first in range(0, n_states, _STATES_AT_ONCE)]
    weights = np.concatenate([-model.energy(_states(part, model)) for part in parts])
    return np.asarray(np.exp(weights - weights.max()))


def _states(numbers: NDArray[np.intp], model: CategoryNetwork) -> NDArray[np.uint8]:
    return np.column_stack(np.unravel_index(numbers, model.n_categories)).astype(np.uint8)


def _count_states(model: Network) -> int:
    return int(model.n_categories.prod(dtype=object)) if isinstance(model, CategoryNetwork) else 1 << model.n_features


def can_enumerate(model: Network) -> bool:
    """Tell whether the states of a network are few enough to list them all: 2^20."""
    return _count_states(model) <= 1 << MAX_NODES


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
    """Return E[Π_{s in S} x_s] for every set S of nodes, numbered like the states: all moments at once."""
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


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The exact penalized likelihood of a small table: sufficient statistics, objective and derivatives by enumeration.

    Of the columns that vary, with their rarer answer coded as 1: every moment is then a sum of small positive numbers,
    which floating point knows to a small relative error even if one row outweighs all others by thirteen decades. Θ in
    this coding, φ, is one vector, fields then pairs in the order of ``np.triu_indices``.
    """

    reduced: Reduced
    empirical: FloatArray  # share of each state in the table
    names: tuple[str, ...] | None  # of all columns, if they have any

    @classmethod
    def of(cls, X: ArrayLike, sample_weight: ArrayLike | None, penalty_weights: ArrayLike | str | None) -> Likelihood:
        """Check the arguments and count the states."""
        source = read_binary(X)
        refuse_above_limit(source.shape[1])
        reduced = Reduced.of(source, sample_weight, penalty_weights)
        p = len(reduced.columns)
        states = (reduced.table != reduced.is_frequent).astype(np.int64) @ (1 << np.arange(p))
        empirical = np.bincount(states, weights=reduced.weight, minlength=1 << p)
        return cls(reduced, np.asarray(empirical, dtype=np.float64), source.names)

    @property
    def n_varying(self) -> int:
        """Number of columns that vary."""
        return len(self.reduced.columns)

    @cached_property
    def pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The nodes s < t of every pair."""
        return np.triu_indices(self.n_varying, 1)

    @cached_property
    def omega(self) -> FloatArray:
        """ω, one per pair."""
        return self.reduced.penalty[self.pairs]

    @cached_property
    def masks(self) -> NDArray[np.int64]:
        """The set of nodes of each statistic, numbered like the states."""
        s, t = self.pairs
        return np.concatenate([1 << np.arange(self.n_varying), (1 << s) | (1 << t)])

    @cached_property
    def statistics(self) -> FloatArray:
        """m̂: means of the varying columns, then pair moments."""
        return superset_sums(self.empirical)[self.masks]

    @cached_property
    def independent(self) -> FloatArray:
        """φ without edges: log odds."""
        n = self.n_varying
        ones, zeros = self.statistics[:n], superset_sums(self.empirical[::-1])[self.masks[:n]]
        return np.concatenate([np.log(ones) - np.log(zeros), np.zeros(len(self.omega))])

    def penalty(self, alpha: float) -> FloatArray:
        """α ω per statistic: 0 for fields and free pairs, inf for forbidden ones (never inf·0)."""
        refuse_vanishing(alpha, self.omega)
        with np.errstate(over="ignore", invalid="ignore"):
            pairs = np.where(np.isinf(self.omega), np.inf, alpha * self.omega)
        return np.concatenate([np.zeros(self.n_varying), pairs])

    def unpack(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return (couplings, fields) of the varying columns, in this coding."""
        p = self.n_varying
        couplings = np.zeros((p, p))
        s, t = self.pairs
        couplings[s, t] = couplings[t, s] = theta[p:]
        return couplings, theta[:p]

    def decode(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return (couplings, fields) of the whole table: φ in its own coding, smoothed fields where it is constant."""
        inner, field = self.unpack(theta)
        is_flipped = self.reduced.is_frequent
        sign = np.where(is_flipped, -1.0, 1.0)
        return self.reduced.expand(sign[:, None] * inner * sign + 0.0, sign * (field + inner @ is_flipped))

    def log_probabilities(self, theta: FloatArray) -> tuple[FloatArray, float]:
        """Return log P of all states, and Ψ."""
        weights = log_weights(*self.unpack(theta))
        psi = log_sum(weights)
        return weights - psi, psi

    def objective(self, theta: FloatArray, penalty: FloatArray) -> tuple[float, float]:
        """Return F, and the size of the terms it is a sum of."""
        psi = log_sum(log_weights(*self.unpack(theta)))
        price = penalty_value(theta, penalty)
        return psi - float(theta @ self.statistics) + price, abs(psi) + float(np.abs(theta) @ self.statistics) + price

    def derivatives(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mismatch of moments g and the covariance of the statistics H."""
        sums = superset_sums(np.exp(self.log_probabilities(theta)[0]))
        expected = sums[self.masks]
        hessian = sums[self.masks[:, None] | self.masks] - np.outer(expected, expected)
        hessian[np.diag_indices_from(hessian)] += _RIDGE * expected + np.finfo(np.float64).tiny
        return expected - self.statistics, hessian


def penalty_value(theta: FloatArray, penalty: FloatArray) -> float:
    """Return Σ penalty |φ|."""
    used = theta != 0  # forbidden pairs are zero: no inf·0
    return float(penalty[used] @ np.abs(theta[used]))
