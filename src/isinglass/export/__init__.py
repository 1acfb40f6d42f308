"""Networks for other programs: tables, Gephi, JSON, networkx."""

from isinglass.export.formats import to_networkx, write_network

__all__ = ["to_networkx", "write_network"]
