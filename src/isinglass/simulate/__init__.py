"""Random networks, and rows drawn from a network: Gibbs sampling with diagnostics, and enumeration."""

from isinglass.simulate.enumeration import exact_sample
from isinglass.simulate.gibbs import gibbs_diagnostics, gibbs_sample
from isinglass.simulate.graphs import category_network, chain_network, graph_network, grid_network, random_network
from isinglass.simulate.mixing import MixingDiagnostics, effective_sample_size, split_rhat

__all__ = [
    "MixingDiagnostics",
    "category_network",
    "chain_network",
    "effective_sample_size",
    "exact_sample",
    "gibbs_diagnostics",
    "gibbs_sample",
    "graph_network",
    "grid_network",
    "random_network",
    "split_rhat",
]
