"""Small networks by enumeration of all states: the path of the exact likelihood, probabilities, moments and samples."""

from isinglass.simulate.enumeration import Moments, exact_sample, moments, state_probabilities
from isinglass.solve.exact_likelihood import exact_path
from isinglass.solve.states import MAX_NODES

__all__ = ["MAX_NODES", "Moments", "exact_path", "exact_sample", "moments", "state_probabilities"]
