"""The objective as functions of a table, a matrix of couplings and a vector of fields, as oracles have them."""

import numpy as np
import slow_objective

from isinglass import Network
from isinglass.objective import penalty_matrix, smoothed_field
from isinglass.separation import find_separation

__all__ = ["find_separation", "penalty_matrix", "smoothed_field"]


def _judge(name):
    def judge(X, couplings, fields, *alpha, sample_weight=None, penalty_weights=None):
        problem = slow_objective.of(X, sample_weight, penalty_weights=penalty_weights)
        return getattr(problem, name)(Network.from_couplings(couplings, fields), *alpha)

    return judge


def _split(network):
    return np.array(network.couplings), np.array(network.fields)


value, gradient, kkt_residual = _judge("value"), _judge("gradient"), _judge("kkt_residual")
duality_gap, relative_gap, certified_zeros = _judge("duality_gap"), _judge("relative_gap"), _judge("certified_zeros")


def alpha_max(X, sample_weight=None, *, penalty_weights=None):
    return slow_objective.of(X, sample_weight, penalty_weights=penalty_weights).alpha_max()


def null_model(X, *, sample_weight=None, penalty_weights=None):
    return _split(slow_objective.of(X, sample_weight, penalty_weights=penalty_weights).null_model())


def profile(X, couplings, fields, **options):
    return _split(_judge("profile")(X, couplings, fields, **options))
