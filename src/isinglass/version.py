"""The version, where every layer may look it up."""

__version__ = "0.1.0"
YEAR = 2026
"""The year of this version, for references to it."""
