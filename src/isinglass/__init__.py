"""Sparse networks from tables of yes/no data, with proof that the optimum was reached."""

from importlib import import_module
from typing import Any

from isinglass.version import __version__

# Public name -> module that defines it; loaded on first use (PEP 562), so that `import isinglass`
# costs next to nothing.
_HOME = {
    "BinaryTable": "binary",
    "ExactIsing": "estimators",
    "IsingLasso": "estimators",
    "IsingLassoCV": "estimators",
    "IsingLassoEBIC": "estimators",
    "IsingLassoStARS": "estimators",
    "IsingModel": "model",
    "NodewiseIsing": "estimators",
    "NodewisePath": "records",
    "Path": "records",
    "Solution": "records",
    "Stability": "records",
    "bootstrap": "selection.bootstrap",
    "exact_path": "exact",
    "ising_path": "path",
    "load": "networks.modelfile",
    "nodewise_ebic": "nodewise",
    "nodewise_path": "nodewise",
    "read_binary": "binary",
    "read_table": "tables.reader",
    "refit": "selection.refit",
    "save": "networks.modelfile",
    "stacked_design": "design",
    "stars": "selection.stars",
}
_SUBMODULES = (
    "baselines",
    "datasets",
    "design",
    "errors",
    "exact",
    "glm",
    "layout",
    "metrics",
    "networks",
    "objective",
    "plot",
    "report",
    "selection",
    "simulate",
)

__all__ = ["__version__", *_HOME, *_SUBMODULES]


def __getattr__(name: str) -> Any:
    """Load a public name or submodule on first use."""
    if name in _HOME:
        value = getattr(import_module(f"isinglass.{_HOME[name]}"), name)
    elif name in _SUBMODULES:
        value = import_module(f"isinglass.{name}")
    else:
        raise AttributeError(f"module 'isinglass' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(__all__)
