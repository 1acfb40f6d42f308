"""Measures of nodes, communities and recovery."""

from isinglass.evaluate.metrics import *  # noqa: F403 - all of it, under its public name
from isinglass.evaluate.metrics import __all__ as __all__
