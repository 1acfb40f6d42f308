"""The version, where every layer may look it up."""

__version__ = "0.1.0"
