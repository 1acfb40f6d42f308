"""Published algorithms, for comparison."""

from isinglass.solve.published import *  # noqa: F403 - all of it, under its public name
from isinglass.solve.published import __all__ as __all__
