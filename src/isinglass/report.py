"""Self-contained HTML pages about networks."""

from isinglass.show.report import *  # noqa: F403 - all of it, under its public name
from isinglass.show.report import __all__ as __all__
