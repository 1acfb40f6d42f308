"""Self-contained HTML pages: about a network and its path, and about a comparison of groups."""

from isinglass.show.report.contrast import build_comparison, write_comparison
from isinglass.show.report.page import build_report, write_report

__all__ = ["build_comparison", "build_report", "write_comparison", "write_report"]
