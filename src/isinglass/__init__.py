"""Sparse networks from tables: which variables depend on each other directly, with a certificate for every solution."""

from importlib import import_module
from typing import Any

from isinglass.version import __version__

# The stub lists all public names, for editors and type checkers; each is loaded on first use (PEP 562).
with open(f"{__file__}i", encoding="utf-8") as _stub:  # noqa: PTH123 - pathlib takes longer to load
    _LISTED = [line.split() for line in _stub if line.startswith("from isinglass") and "__version__" not in line]
_HOME = {name: module for _, module, _, name, *_ in _LISTED if module != "isinglass"}
_SUBMODULES = tuple(name for _, module, _, name, *_ in _LISTED if module == "isinglass")

# What `from isinglass import *` gives: everything that needs no optional package.
__all__ = ["__version__", *_HOME, *(name for name in _SUBMODULES if name != "plot")]


def __getattr__(name: str) -> Any:  # Any: of any type
    """Load a public name or submodule on first use."""
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in _SUBMODULES:
        value = import_module(f"isinglass.{name}")
    else:
        raise AttributeError(f"module 'isinglass' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted([*__all__, "plot"])
