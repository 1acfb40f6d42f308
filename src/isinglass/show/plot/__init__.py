"""Pictures, each ``(result, ax=None) -> ax``, in colors that people with color vision deficiencies can tell apart."""

try:
    import matplotlib as _matplotlib  # noqa: F401
except ImportError as _error:
    raise ImportError('matplotlib is not installed. Install it: pip install "isinglass[plot]".') from _error

from isinglass.show.plot.canvas import paper_axes
from isinglass.show.plot.comparison import group_difference, group_networks
from isinglass.show.plot.drawing import network
from isinglass.show.plot.figures import (
    bootstrap_differences,
    bootstrap_intervals,
    centrality,
    check,
    path,
    roc,
    sample_size,
    stability,
)

__all__ = [
    "bootstrap_differences",
    "bootstrap_intervals",
    "centrality",
    "check",
    "group_difference",
    "group_networks",
    "network",
    "paper_axes",
    "path",
    "roc",
    "sample_size",
    "stability",
]
