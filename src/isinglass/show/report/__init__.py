"""Self-contained HTML pages: about a network and its path, and about a comparison of groups."""

from isinglass.show.report.comparison import write_comparison
from isinglass.show.report.page import write_report

__all__ = ["write_comparison", "write_report"]
