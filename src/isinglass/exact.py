"""The exact likelihood of small networks."""

from isinglass.solve.exact import *  # noqa: F403 - all of it, under its public name
from isinglass.solve.exact import __all__ as __all__
