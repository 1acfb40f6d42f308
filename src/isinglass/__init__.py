"""Sparse networks from tables of yes/no data, with proof that the optimum was reached."""

from importlib import import_module
from typing import Any

from isinglass.version import __version__

# Module -> the public names it defines; loaded on first use (PEP 562): `import isinglass` costs next to nothing.
_NAMES = {
    "data": "Coding Table as_table read_parts",
    "data.files": "read_table",
    "estimators": "ExactIsing IsingLasso IsingLassoCV IsingLassoEBIC IsingLassoStARS IsingNetwork NodewiseIsing",
    "fit": "Fit save",
    "model_file": "load",
    "network": "Network",
    "results": "Path Solution Stability",
    "select.bootstrap": "bootstrap",
    "select.cross_validation": "CrossValidation",
    "select.ebic": "EBIC",
    "select.method": "Method impute",
    "select.permutation": "compare_groups",
    "select.refit": "refit",
    "select.selector": "Fixed PerNode",
    "select.settings": "Run",
    "select.stars": "StARS",
    "select.two_stage": "TwoStage",
    "solve.exact": "exact_path",
    "solve.nodewise": "nodewise_ebic nodewise_path",
    "solve.path": "ising_path",
    "solve.published.stacked": "stacked_design",
    "solve.regressions": "NodewisePath",
    "variables": "Variables",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}
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
