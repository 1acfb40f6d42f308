"""Random networks, and rows drawn from a network: Gibbs sampling with diagnostics, and enumeration."""

from isinglass.simulate.enumeration import exact_sample
from isinglass.simulate.gibbs import gibbs_sample
from isinglass.simulate.graphs import category_network, chain_network, graph_network, grid_network, random_network
from isinglass.simulate.mixing import MixingDiagnostics, gibbs_diagnostics

__all__ = [
    "MixingDiagnostics",
    "category_network",
    "chain_network",
    "exact_sample",
    "gibbs_diagnostics",
    "gibbs_sample",
    "graph_network",
    "grid_network",
    "random_network",
]
