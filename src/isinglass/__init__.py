"""Sparse networks from tables of yes/no data, with proof that the optimum was reached."""

from importlib import import_module
from typing import Any

from isinglass.version import __version__

# Public name -> module that defines it; loaded on first use (PEP 562), so that `import isinglass`
# costs next to nothing.
_HOME = {
    "BinaryTable": "data",
    "CategoryNetwork": "categories",
    "CategoryTable": "data",
    "Coding": "data",
    "ExactIsing": "estimators",
    "Fit": "fit",
    "IsingLasso": "estimators",
    "IsingLassoCV": "estimators",
    "IsingLassoEBIC": "estimators",
    "IsingLassoStARS": "estimators",
    "IsingNetwork": "estimators",
    "Network": "network",
    "NodewiseIsing": "estimators",
    "NodewisePath": "solve.regressions",
    "Path": "results",
    "Solution": "results",
    "Stability": "results",
    "bootstrap": "select.bootstrap",
    "compare_groups": "select.permutation",
    "complete": "select.impute",
    "exact_path": "solve.exact",
    "ising_path": "solve.path",
    "load": "fit",
    "nodewise_ebic": "solve.nodewise",
    "nodewise_path": "solve.nodewise",
    "read_binary": "data",
    "read_categories": "data",
    "read_parts": "data",
    "read_table": "data.files",
    "refit": "select.refit",
    "save": "fit",
    "stacked_design": "solve.published.stacked",
    "stars": "select.stars",
    "two_stage": "select.two_stage",
}
# Public module -> where it is.
_SUBMODULES = {
    "datasets": "datasets",
    "errors": "errors",
    "exact": "solve.exact",
    "export": "export",
    "layout": "show.layout",
    "metrics": "evaluate.metrics",
    "objective": "objective",
    "plot": "show.plot",
    "published": "solve.published",
    "report": "show.report",
    "select": "select",
    "simulate": "simulate",
}

# What `from isinglass import *` gives: everything that needs no optional package.
__all__ = ["__version__", *_HOME, *(name for name in _SUBMODULES if name != "plot")]


def __getattr__(name: str) -> Any:
    """Load a public name or submodule on first use."""
    if name in _HOME:
        value = getattr(import_module(f"isinglass.{_HOME[name]}"), name)
    elif name in _SUBMODULES:
        value = import_module(f"isinglass.{_SUBMODULES[name]}")
    else:
        raise AttributeError(f"module 'isinglass' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted([*__all__, "plot"])
