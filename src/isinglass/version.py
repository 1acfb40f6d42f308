"""The version, where every layer may look it up."""

__all__ = ["__version__"]

__version__ = "0.1.0"
