"""All states of a network of few columns of two values: their weights, and sums over them.

States are numbered so that bit s of the number is x_s: state 0 is all zeros, state 1 has x_0 = 1 alone, state 2 has
x_1 = 1 alone. Every vector of length 2^p is in this order.
"""

from __future__ import annotations

import numpy as np

from isinglass.arrays import FloatArray
from isinglass.errors import LimitError
from isinglass.penalties import EPSILON

MAX_NODES = 20  # 2^20 states: 8 MB per vector, about 0.2 s per Newton step on one core


def refuse_above_limit(n_features: int, remedy: str) -> None:
    """Raise where 2^p states are too many."""
    if n_features > MAX_NODES:
        raise LimitError(f"The number of nodes must be at most {MAX_NODES} for enumeration; got {n_features}. {remedy}")


def log_weights(couplings: FloatArray, fields: FloatArray) -> FloatArray:
    """Return −energy of all states by doubling: about 2^{p+2} additions and no 2^p × p table."""
    weights = np.zeros(1)
    for k, field in enumerate(fields):
        logit = np.full(1, field)  # θ_kk + Σ_{t<k} θ_kt x_t over the states of the nodes below k
        for t in range(k):
            logit = np.concatenate([logit, logit + couplings[k, t]])
        weights = np.concatenate([weights, weights + logit])
    return weights


def log_sum(weights: FloatArray) -> float:
    """Return log Σ exp(weights), to a small relative error also where one term is nearly all of it."""
    top = int(weights.argmax())
    terms = np.exp(weights - weights[top])
    terms[top] = 0.0
    return float(weights[top] + np.log1p(terms.sum()))


def superset_sums(probabilities: FloatArray) -> FloatArray:
    """Return E[Π_{s in S} x_s] for every set S of nodes, numbered like the states: all moments at once."""
    sums = probabilities.copy()
    for s in range(len(sums).bit_length() - 1):
        halves = sums.reshape(-1, 2, 1 << s)
        halves[:, 0] += halves[:, 1]
    return sums


def rounding_of_sums(n: int) -> float:
    """Return γ, a bound of the relative error of a sum of 2^n positive terms that are added by halves."""
    return (2 * n + 24) * EPSILON
