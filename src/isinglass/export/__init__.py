"""Networks for other programs: tables, Gephi, JSON, networkx."""

from isinglass.export.network_files import to_networkx, write_network
from isinglass.export.printing import write_table

__all__ = ["to_networkx", "write_network", "write_table"]
