"""Networks for other programs: tables, Gephi, JSON, networkx."""

from isinglass.export.formats import edge_table, write_blocks, write_edges, write_matrix, write_network, write_nodes
from isinglass.export.graphfiles import to_json, to_networkx, write_gexf, write_json

__all__ = [
    "edge_table",
    "to_json",
    "to_networkx",
    "write_blocks",
    "write_edges",
    "write_gexf",
    "write_json",
    "write_matrix",
    "write_network",
    "write_nodes",
]
