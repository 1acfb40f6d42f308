"""One self-contained HTML page about a network: look at it, move along the path, read the proof, take the tables."""

from isinglass.show.report.page import build_report, write_report

__all__ = ["build_report", "write_report"]
