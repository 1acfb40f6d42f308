"""Figures; needs matplotlib."""

from isinglass.show.plot import *  # noqa: F403 - all of it, under its public name
from isinglass.show.plot import __all__ as __all__
