"""Pictures, each ``(result, ax=None) -> ax``, in colors that people with color vision deficiencies can tell apart."""

try:
    import matplotlib as _matplotlib  # noqa: F401
except ImportError as _error:
    raise ImportError('matplotlib is not installed. Install it: pip install "isinglass[plot]".') from _error

from isinglass.show.plot.canvas import paper_axes
from isinglass.show.plot.contrasts import group_difference, group_networks, permutations
from isinglass.show.plot.curves import certificate, instability, path, roc, sample_size
from isinglass.show.plot.drawing import Style, network
from isinglass.show.plot.heat import bootstrap_differences, edge_block, edge_frequencies
from isinglass.show.plot.rows import bootstrap_intervals, centrality, node_strength, predictability, shares

__all__ = [
    "Style",
    "bootstrap_differences",
    "bootstrap_intervals",
    "centrality",
    "certificate",
    "edge_block",
    "edge_frequencies",
    "group_difference",
    "group_networks",
    "instability",
    "network",
    "node_strength",
    "paper_axes",
    "path",
    "permutations",
    "predictability",
    "roc",
    "sample_size",
    "shares",
]
