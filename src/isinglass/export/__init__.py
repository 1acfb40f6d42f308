"""Networks for other programs: tables, Gephi, JSON, networkx."""

from isinglass.export.formats import edge_table, to_networkx, write_network

__all__ = ["edge_table", "to_networkx", "write_network"]
