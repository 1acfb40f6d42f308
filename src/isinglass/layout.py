"""Where nodes lie in a drawing."""

from isinglass.show.layout import *  # noqa: F403 - all of it, under its public name
from isinglass.show.layout import __all__ as __all__
